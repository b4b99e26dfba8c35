//! F1, ID-02: an id never goes to another row, whatever a list does between two captures.

use mdm_core::change::tracker::Tracker;
use mdm_core::identity::{NONE, pair_swiped};
use mdm_core::screen::element::{CollectionPlace, CollectionSize, Details, Element, Role};
use mdm_core::screen::geometry::{Rect, Size};
use mdm_core::screen::reading::ScreenReading;
use mdm_core::screen::snapshot::Snapshot;
use proptest::prelude::*;

use crate::draw::screen;
use crate::random::TrueIdentity;

const ROW_HEIGHT: i32 = 100;
const WINDOW: Rect = Rect { left: 0, top: 200, right: 400, bottom: 1000 };

/// What a row shows. The number is the thing behind it, which no screen shows.
#[derive(Debug, Clone)]
struct Item {
    number: u32,
    title: &'static str,
    detail: Option<&'static str>,
}

#[derive(Debug, Clone)]
struct ListModel {
    items: Vec<Item>,
    /// Pixels of the list above the window.
    offset: i32,
    next: u32,
    /// Compose draws texts and buttons without a row around them.
    flat: bool,
    /// The device tells how many rows there are, and which of them a row is.
    told: bool,
}

impl ListModel {
    fn height(&self) -> i32 {
        self.items.len() as i32 * ROW_HEIGHT
    }

    fn scroll(&mut self, by: i32) {
        let most = (self.height() - (WINDOW.bottom - WINDOW.top)).max(0);
        self.offset = (self.offset + by).clamp(0, most);
    }

    fn draw(&self) -> ScreenReading {
        let mut elements = vec![
            element(0, Role::Container, None, Rect::new(0, 0, 400, 1000), 0),
            element(1, Role::Heading, Some("Shop"), Rect::new(0, 0, 400, 200), 0),
            element(1, Role::List, None, WINDOW, 0),
        ];
        elements[2].affordances.scrollable = true;
        let collection = Some(CollectionSize { rows: self.items.len() as i32, columns: 1 });
        elements[2].details = self.details(Details { collection, ..Details::default() });
        for (at, item) in self.items.iter().enumerate() {
            let top = WINDOW.top + at as i32 * ROW_HEIGHT - self.offset;
            let visible = Rect::new(0, top, 400, top + ROW_HEIGHT).intersection(WINDOW);
            if let Some(visible) = visible {
                self.draw_row((at, item), top, visible, &mut elements);
            }
        }
        mdm_core::screen::nesting::set_parents_and_ends(&mut elements);
        let size = Size { width: 400, height: 1000 };
        ScreenReading::new(Snapshot { elements, size, ..Snapshot::default() })
    }

    fn details(&self, details: Details) -> Option<Box<Details>> {
        self.told.then(|| Box::new(details))
    }

    fn draw_row(&self, (at, item): (usize, &Item), top: i32, visible: Rect, elements: &mut Vec<Element>) {
        let depth = if self.flat { 2 } else { 3 };
        if !self.flat {
            let mut row = element(2, Role::Container, None, visible, item.number);
            row.affordances.clickable = true;
            let item = Some(CollectionPlace { row: at as i32, column: 0 });
            row.details = self.details(Details { item, ..Details::default() });
            elements.push(row);
        }
        let mut part = |role, text, rect: Rect| {
            // What lies outside the window is not in the tree.
            if let Some(visible) = rect.intersection(WINDOW) {
                elements.push(element(depth, role, Some(text), visible, item.number));
            }
        };
        part(Role::Text, item.title, Rect::new(0, top + 10, 300, top + 50));
        if let Some(detail) = item.detail {
            part(Role::Text, detail, Rect::new(0, top + 50, 300, top + 90));
        }
        part(Role::Button, "Delete", Rect::new(300, top + 10, 400, top + 90));
    }
}

fn element(depth: u16, role: Role, text: Option<&str>, bounds: Rect, number: u32) -> Element {
    let mut element = Element {
        depth,
        role,
        class: format!("{role:?}").into(),
        text: text.map(Into::into),
        bounds,
        app: number.to_string().into(),
        ..Element::default()
    };
    element.affordances.clickable = role == Role::Button;
    element.state.enabled = Some(true);
    element
}

fn item(titles: usize) -> impl Strategy<Value = (&'static str, Option<&'static str>)> {
    const TITLES: [&str; 12] = [
        "Kowalski",
        "Nowak",
        "Wójcik",
        "Kamiński",
        "Lewandowski",
        "Zieliński",
        "Szymański",
        "Woźniak",
        "Dąbrowski",
        "Kozłowski",
        "Jankowski",
        "Mazur",
    ];
    let details = prop::option::of(prop::sample::select(vec!["Berlin", "Munich", "Kraków"]));
    (prop::sample::select(TITLES[..titles].to_vec()), details)
}

#[derive(Debug, Clone)]
enum Event {
    Scroll(i32),
    Delete(prop::sample::Index),
    Insert(prop::sample::Index, (&'static str, Option<&'static str>)),
    Detail(prop::sample::Index, &'static str),
}

fn events(titles: usize) -> impl Strategy<Value = Vec<Event>> {
    let index = any::<prop::sample::Index>;
    let event = prop_oneof![
        4 => (-900..900i32).prop_map(Event::Scroll),
        3 => index().prop_map(Event::Delete),
        1 => (index(), item(titles)).prop_map(|(at, item)| Event::Insert(at, item)),
        1 => (index(), prop::sample::select(vec!["Berlin", "Munich", "Kraków"]))
            .prop_map(|(at, detail)| Event::Detail(at, detail)),
    ];
    prop::collection::vec(event, 0..3)
}

fn list(titles: usize) -> impl Strategy<Value = (ListModel, Vec<Event>)> {
    let items = prop::collection::vec(item(titles), 2..30);
    (items, 0..2000i32, any::<bool>(), events(titles)).prop_map(|(items, offset, flat, events)| {
        let items = items.into_iter().zip(1..);
        let items: Vec<Item> =
            items.map(|((title, detail), number)| Item { number, title, detail }).collect();
        let next = items.len() as u32 + 1;
        let mut list = ListModel { items, offset: 0, next, flat, told: false };
        list.scroll(offset);
        (list, events)
    })
}

fn happen(list: &mut ListModel, event: Event) {
    match event {
        Event::Scroll(by) => list.scroll(by),
        Event::Delete(at) if !list.items.is_empty() => drop(list.items.remove(at.index(list.items.len()))),
        Event::Insert(at, (title, detail)) => {
            let item = Item { number: list.next, title, detail };
            list.next += 1;
            list.items.insert(at.index(list.items.len() + 1), item);
        }
        Event::Detail(at, detail) if !list.items.is_empty() => {
            let at = at.index(list.items.len());
            list.items[at].detail = Some(detail);
        }
        _ => {}
    }
    list.scroll(0);
}

/// The targets that were paired with those of another row, and the number of pairs.
fn wrong_pairs(before: &ScreenReading, after: &ScreenReading) -> (Vec<String>, usize) {
    wrong_pairs_swiped(before, after, 0)
}

fn wrong_pairs_swiped(before: &ScreenReading, after: &ScreenReading, down_px: i32) -> (Vec<String>, usize) {
    let pairing = pair_swiped(before, after, true, (0, down_px));
    let mut wrong = Vec::new();
    let mut pairs = 0;
    for (new, old) in pairing.to_old.iter().enumerate().filter(|(_, old)| **old != NONE) {
        let (was, is) = (before.element(*old), &after.snapshot.elements[new]);
        pairs += usize::from(is.is_tappable());
        if is.is_tappable() && TrueIdentity::of(was) != TrueIdentity::of(is) {
            let shown = |element: &Element| (element.app.clone(), element.role, element.bounds);
            wrong.push(format!("{:?} became {:?}", shown(was), shown(is)));
        }
    }
    (wrong, pairs)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2048, ..ProptestConfig::default() })]
    #[test]
    fn no_target_of_a_list_with_distinct_titles_goes_to_another_row((list, events) in list(12)) {
        let mut list = list;
        for (at, item) in list.items.iter_mut().enumerate() {
            // Titles that differ, so that names have a chance to survive.
            item.title = Box::leak(format!("Item {at}").into_boxed_str());
            item.detail = None;
        }
        let before = list.draw();
        // A row that is cut off may show only its detail, which is not its own.
        let events = events.into_iter().filter_map(|event| match event {
            Event::Insert(at, (title, _)) => Some(Event::Insert(at, (title, None))),
            Event::Detail(..) => None,
            other => Some(other),
        });
        events.for_each(|event| happen(&mut list, event));
        prop_assert_eq!(wrong_pairs(&before, &list.draw()).0, Vec::<String>::new());
    }
}

/// Rows that look alike cannot always be told apart: one may go while an equal one comes to its place, which leaves no
/// trace. The figure says how often; it may only fall.
#[test]
#[allow(clippy::print_stdout, reason = "the test prints its figure")]
fn targets_of_rows_that_look_alike_hardly_ever_go_to_another_row() {
    use proptest::strategy::ValueTree as _;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (mut wrong, mut kept, mut shown) = (0, 0, 0);
    for _ in 0..20_000 {
        let (mut list, events) = list(5).new_tree(&mut runner).expect("a list").current();
        let before = list.draw();
        events.into_iter().for_each(|event| happen(&mut list, event));
        let (wrong_now, pairs) = wrong_pairs(&before, &list.draw());
        wrong += wrong_now.len();
        kept += pairs;
        shown += before.snapshot.elements.iter().filter(|element| element.is_tappable()).count();
    }
    println!("{wrong} wrong of {kept} kept of {shown} targets");
    assert!(wrong * 4_000 <= kept && kept * 2 > shown, "{wrong} wrong of {kept} kept");
}

/// F1: where the device tells which entry of its list a row is, more rows keep their ids, and none gets that of another.
#[test]
#[allow(clippy::print_stdout, reason = "the test prints its figures")]
fn rows_whose_place_in_the_list_is_told_keep_their_ids_when_it_scrolls() {
    use proptest::strategy::ValueTree as _;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut kept = [0, 0];
    let mut wrong = [0, 0];
    for _ in 0..5_000 {
        let (mut list, _) = list(5).new_tree(&mut runner).expect("a list").current();
        let by = (-700..700i32).new_tree(&mut runner).expect("a way").current();
        list.flat = false;
        for told in [false, true] {
            list.told = told;
            let (from, before) = (list.offset, list.draw());
            list.scroll(by);
            let (wrong_now, pairs) = wrong_pairs_swiped(&before, &list.draw(), -by);
            list.scroll(from - list.offset);
            wrong[usize::from(told)] += wrong_now.len();
            kept[usize::from(told)] += pairs;
        }
    }
    println!("wrong {wrong:?} of {kept:?} kept, not told and told");
    assert_eq!(wrong[1], 0);
    assert!(kept[1] * 2 > kept[0] * 3, "{kept:?}");
}

/// F1: entries come and go, and the list scrolls, while nobody looks. More ids are kept, and fewer of them are wrong: a row
/// that came to the very place of an equal one leaves no trace.
#[test]
#[allow(clippy::print_stdout, reason = "the test prints its figures")]
fn rows_whose_place_in_the_list_is_told_go_to_another_row_less_often() {
    use proptest::strategy::ValueTree as _;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (mut wrong, mut kept) = ([0, 0], [0, 0]);
    for _ in 0..20_000 {
        let (list, events) = list(3).new_tree(&mut runner).expect("a list").current();
        for told in [false, true] {
            let mut list = ListModel { flat: false, told, ..list.clone() };
            let before = list.draw();
            events.clone().into_iter().for_each(|event| happen(&mut list, event));
            let (wrong_now, pairs) = wrong_pairs(&before, &list.draw());
            wrong[usize::from(told)] += wrong_now.len();
            kept[usize::from(told)] += pairs;
        }
    }
    println!("wrong {wrong:?} of {kept:?} kept, not told and told");
    assert!(wrong[1] * kept[0] < wrong[0] * kept[1], "{wrong:?} of {kept:?}");
    assert!(wrong[1] * 3_000 < kept[1] && kept[1] * 10 > kept[0] * 14, "{wrong:?} of {kept:?}");
}

#[track_caller]
fn check(before: &str, after: &str, expect: &str) {
    check_swiped(before, after, 0, expect);
}

/// The same after a finger went so far down.
#[track_caller]
fn check_swiped(before: &str, after: &str, down_px: i32, expect: &str) {
    let (before, after) = (ScreenReading::new(screen(before)), ScreenReading::new(screen(after)));
    let shown: Vec<String> = pair_swiped(&before, &after, true, (0, down_px))
        .to_old
        .iter()
        .map(|old| if *old == NONE { "-".to_owned() } else { old.to_string() })
        .collect();
    assert_eq!(shown.join(" "), expect);
}

/// A list of rows of text and button without a box around them, as Compose draws them.
fn flat(rows: &[&str]) -> String {
    let row = |(at, name): (usize, &&str)| {
        let y = 100 + at * 100;
        format!("\n    text \"{name}\" @0,{y},300,100\n    button \"Delete\" tap @300,{y},100,100")
    };
    let rows: String = rows.iter().enumerate().map(row).collect();
    format!("box @0,0,400,4000\n  list scrolls @0,100,400,400{rows}")
}

#[test]
fn the_button_of_a_deleted_row_is_not_the_button_of_the_next_row() {
    // F1
    let before = flat(&["Item 4", "Item 5", "Item 6", "Item 7"]);
    check(&before, &flat(&["Item 4", "Item 6", "Item 7", "Item 8"]), "0 1 2 3 6 7 8 9 - -");
    // Scrolled by two rows: the ids go with their rows.
    check(&before, &flat(&["Item 6", "Item 7", "Item 8", "Item 9"]), "0 1 6 7 8 9 - - - -");
    // Scrolled by a whole page with one equal title.
    check(&before, &flat(&["Item 8", "Item 5", "Item 9", "Item 10"]), "0 1 - - - - - - - -");
}

#[test]
fn rows_that_did_not_follow_the_finger_are_others() {
    // F1: after a long stroke the same two titles follow each other once more, one row higher.
    let before = flat(&["Eggs", "Kowalski", "Bread", "Flour"]);
    let after = flat(&["Kowalski", "Bread", "Milk", "Salt"]);
    check_swiped(&before, &after, -100, "0 1 4 5 6 7 - - - -");
    check_swiped(&before, &after, -1000, "0 1 - - - - - - - -");
    check_swiped(&before, &after, 100, "0 1 - - - - - - - -");
}

#[test]
fn a_row_with_a_shared_title_and_another_detail_is_another_row() {
    // F1: one row went and one with the same title came to its place.
    let rows = |detail: &str| {
        let row = |(at, name): (usize, &str)| {
            let y = 100 + at * 100;
            let detail = if at == 2 { detail.to_owned() } else { format!("Order {at}") };
            format!(
                "\n    box tap @0,{y},400,100\n      text \"{name}\" @0,{y},200,50\n      text \"{detail}\" @0,{y},200,50"
            )
        };
        let rows: String = ["Milk", "Eggs", "Eggs", "Bread"].into_iter().enumerate().map(row).collect();
        format!("box @0,0,400,4000\n  list scrolls @0,100,400,450{rows}")
    };
    check(&rows("Order 2"), &rows("Order 600"), "0 1 2 3 4 5 6 7 - - - 11 12 13");
    let renamed = |text: String| text.replacen("Eggs", "Flour", 1);
    let kept = "0 1 2 3 4 5 6 7 8 9 10 11 12 13";
    check(&renamed(rows("Order 2")), &renamed(rows("Order 600")), kept);
}

#[test]
fn rows_of_an_app_that_was_ended_are_others() {
    // F1: the list begins anew, and shows two rows that follow each other elsewhere, too.
    let mut tracker = Tracker::default();
    let before = tracker.observe(screen(&flat(&["Salt", "Eggs", "Nowak", "Bread"])), 0);
    tracker.note_action();
    tracker.note_end_of_app();
    let after = tracker.observe(screen(&flat(&["Eggs", "Nowak", "Milk", "Flour"])), 0);
    let eggs = &before.ids[4..8];
    assert!(!after.ids.iter().any(|id| eggs.contains(id)), "{eggs:?} in {:?}", after.ids);
}

#[test]
fn the_id_of_a_row_that_went_does_not_come_back_with_another_row() {
    // F1: Eggs is deleted, then other Eggs come, while the list stays on the screen.
    let mut tracker = Tracker::default();
    let mut ids = |rows: &[&str]| {
        // All rows are in sight, with room below them.
        let list = flat(rows).replace("@0,100,400,400", "@0,100,400,900");
        let seen = tracker.observe(screen(&list), 0);
        tracker.note_action();
        seen.ids.to_vec()
    };
    let first = ids(&["Milk", "Salt", "Eggs", "Milk", "Salt"]);
    ids(&["Milk", "Salt", "Milk", "Salt"]);
    let last = ids(&["Eggs", "Milk", "Salt", "Milk", "Salt"]);
    let eggs = &first[6..8];
    assert!(!last.iter().any(|id| eggs.contains(id)), "{eggs:?} in {last:?}");
}

#[test]
fn equal_rows_lose_their_ids_when_one_may_have_gone() {
    // F1, F21
    let twins = flat(&["Milk", "Milk", "Milk", "Milk"]);
    check(&twins, &twins, "0 1 - - - - - - - -");
    // Between rows that are proven, equal rows stay.
    let framed = flat(&["Eggs", "Milk", "Milk", "Flour"]);
    check(&framed, &framed, "0 1 2 3 4 5 6 7 8 9");
}

#[test]
fn the_buttons_of_another_dialog_are_other_buttons() {
    // F1
    let dialog = |question: &str| {
        format!(
            "box @50,400,300,300\n  text \"Delete?\"\n  text \"{question}\"\n  button \"Cancel\" tap\n  button \"Delete\" tap"
        )
    };
    let (eggs, milk) = (dialog("Eggs will be deleted"), dialog("Milk will be deleted"));
    check(&eggs, &milk, "- - - - -");
    check(&eggs, &eggs, "0 1 2 3 4");
    let wrong = format!("{eggs}\n  text \"No connection\"");
    check(&eggs, &wrong, "0 1 2 3 4 -");
}

#[test]
fn a_text_that_changes_on_a_page_that_scrolls_keeps_everything_in_place() {
    let page = |picked: &str| {
        format!(
            "box @0,0,400,4000\n  box scrolls @0,100,400,900\n    box @0,100,400,900\n      text \"Picked:{picked}\" @0,100,400,40\n      \
             list scrolls #carousel @0,140,400,100\n        button \"Card 1\" tap @0,140,200,100\n        button \"Card 2\" tap @200,140,200,100\n      \
             list scrolls #rows @0,240,400,760\n        button \"Row 1\" tap @0,240,400,400\n        button \"Row 2\" tap @0,640,400,360"
        )
    };
    check(&page(""), &page(" Row 40"), "0 1 2 3 4 5 6 7 8 9");
}
