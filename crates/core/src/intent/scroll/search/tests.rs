mod phone;

use proptest::prelude::*;

use super::*;
use crate::failure::Cause;
use crate::intent::selector::TextMatch;
use phone::{Follows, List, Phone, named};

fn called(words: &str) -> Selector {
    Selector { text: Some(TextMatch::Is(words.to_owned())), ..Selector::default() }
}

fn find(row: &str, direction: Direction) -> ScrollTo {
    ScrollTo { target: Some(called(row)), inside: None, direction, scrolls_max: 30, amount: 0.7 }
}

fn down_to(row: &str) -> ScrollTo {
    find(row, Direction::Down)
}

/// Searches, and says after how many strokes the target was wholly in sight.
#[track_caller]
fn strokes(phone: &mut Phone, asked: &ScrollTo, row: &str) -> u32 {
    let searched = phone.search(asked);
    searched.end.unwrap();
    let found = searched.done.found.unwrap();
    let list = phone.lists.iter().find(|list| list.shows_whole(row));
    let list = list.unwrap_or_else(|| panic!("{row} is not in sight: {:?}", phone.lists));
    assert!(list.seen_at(row).unwrap().contains(found.point), "{found:?}");
    assert_eq!(list.glide_px, 0, "a tap on a list that glides only stops it");
    searched.done.scrolls
}

/// Searches in vain: why, and after how many strokes.
#[track_caller]
fn fails(phone: &mut Phone, asked: &ScrollTo) -> (Cause, u32) {
    let searched = phone.search(asked);
    (searched.end.unwrap_err().cause, searched.done.scrolls)
}

#[test]
fn a_target_below_is_found() {
    let mut phone = Phone::with(List::of(100));
    let strokes = strokes(&mut phone, &down_to("Row 40"), "Row 40");
    assert!(strokes <= 5, "3100 px in steps of 700: {strokes}");
}

#[test]
fn a_stroke_that_did_not_go_out_is_not_counted() {
    let asked = down_to("Row 40");
    let mut search = ScrollSearch::new(&asked, Phone::with(List::of(100)).look());
    let mut step = search.next_step().unwrap();
    if step == ScrollStep::AskForKeyboard {
        step = search.keyboard_is(None).unwrap();
    }
    assert!(matches!(step, ScrollStep::Stroke { .. }), "{step:?}");
    search.not_sent();
    assert_eq!(search.report().scrolls, 0);
}

#[test]
fn a_target_above_is_found_when_asked_upwards() {
    let mut phone = Phone::with(List { offset_px: 4030, ..List::of(100) });
    let strokes = strokes(&mut phone, &find("Row 9", Direction::Up), "Row 9");
    assert!(strokes <= 6, "3130 px in steps of 700, and one to show it whole: {strokes}");
}

#[test]
fn a_target_in_sight_needs_no_stroke_and_no_question() {
    let mut phone = Phone::with(List::of(100));
    assert_eq!(strokes(&mut phone, &down_to("Row 4"), "Row 4"), 0);
    assert_eq!(phone.keyboard_questions, 0);
}

#[test]
fn a_target_that_takes_no_input_is_found_and_told() {
    let mut phone = Phone::with(List { disabled_row: Some("Row 30".to_owned()), ..List::of(100) });
    let searched = phone.search(&down_to("Row 30"));
    assert!(searched.end.is_ok() && searched.done.found.unwrap().disabled);
}

#[test]
fn the_end_is_reached_with_a_short_stroke_as_its_proof() {
    // Two steps of 700 px lead from the top to 100 px before the end.
    let mut phone = Phone::with(List::of(25));
    let (cause, strokes) = fails(&mut phone, &down_to("Row 99"));
    assert_eq!((cause, phone.list().offset_px), (Cause::EndReached, 1500));
    assert!(strokes <= 4, "{strokes}");
    assert!(phone.vain_px <= 110, "a long pull at the end makes lists load anew: {} px", phone.vain_px);
}

#[test]
fn the_budget_of_strokes_is_kept() {
    let mut phone = Phone::with(List::of(100));
    let asked = ScrollTo { scrolls_max: 3, ..down_to("Row 90") };
    assert_eq!(fails(&mut phone, &asked), (Cause::ScrollsExhausted, 3));
    let mut phone = Phone::with(List { offset_px: 20, ..List::of(100) });
    let asked = ScrollTo { scrolls_max: 0, ..down_to("Row 10") };
    assert!(phone.search(&asked).end.is_ok(), "a target that is cut is found, only not made whole");
    assert_eq!(phone.list().offset_px, 20);
}

#[test]
fn a_stroke_that_was_not_sent_is_not_told() {
    // F67
    let mut phone = Phone::with(List::of(100));
    let asked = down_to("Row 90");
    let mut search = ScrollSearch::new(&asked, phone.look());
    assert_eq!(search.next_step(), Ok(ScrollStep::AskForKeyboard));
    assert!(matches!(search.keyboard_is(None), Ok(ScrollStep::Stroke { .. })));
    search.not_sent();
    assert_eq!(search.report().scrolls, 0);
}

#[test]
fn without_anything_that_scrolls_nothing_is_sent() {
    let mut phone = Phone { over: "  TextView [0,400][1080,500] text:\"Words\"\n", ..Phone::default() };
    assert_eq!(fails(&mut phone, &down_to("Row 1")), (Cause::NothingScrolls, 0));
}

#[test]
fn a_list_that_does_not_move_is_at_its_end() {
    let mut phone = Phone::with(List { follows: Follows::Never, ..List::of(100) });
    let (cause, strokes) = fails(&mut phone, &down_to("Row 50"));
    assert_eq!(cause, Cause::EndReached);
    assert!(strokes <= 2, "{strokes}");
}

#[test]
fn a_target_that_is_cut_is_brought_wholly_into_sight() {
    let mut phone = Phone::with(List { offset_px: 20, ..List::of(100) });
    assert_eq!(strokes(&mut phone, &down_to("Row 10"), "Row 10"), 1);
    let mut phone = Phone::with(List { offset_px: 580, ..List::of(100) });
    assert_eq!(strokes(&mut phone, &down_to("Row 5"), "Row 5"), 1, "the other way than asked");
}

#[test]
fn a_target_under_a_bar_is_brought_out_of_it() {
    let over = "  Button [0,1200][1080,1400] click text:\"Buy\"\n";
    let mut phone = Phone { over, ..Phone::with(List::of(100)) };
    let asked = down_to("Row 9");
    assert_eq!(strokes(&mut phone, &asked, "Row 9"), 1);
    assert!(phone.list().seen_at("Row 9").unwrap().bottom <= 1200);
}

#[test]
fn a_list_that_glides_past_the_target_is_gone_back_over() {
    // At its usual speed a stroke of 700 px goes on for 1400 px.
    for row in ["Row 12", "Row 17", "Row 23", "Row 31", "Row 44"] {
        let mut phone = Phone::with(List { follows: Follows::Glides { ms: 1000 }, ..List::of(100) });
        let strokes = strokes(&mut phone, &down_to(row), row);
        assert!(strokes <= 16, "{row}: {strokes}");
    }
}

#[test]
fn a_pager_that_snaps_is_turned_page_by_page() {
    let mut phone = Phone::with(List { follows: Follows::PageByPage, ..List::of(80) });
    let strokes = strokes(&mut phone, &down_to("Row 55"), "Row 55");
    assert!(strokes <= 7, "five pages, and one back to learn that nothing lies between: {strokes}");
}

#[test]
fn a_list_that_loads_more_at_its_end_is_gone_on_with() {
    // The last step ends just at the end, or stops early, or goes most of its way.
    for rows in [24, 25, 28, 30] {
        let list = List { later: named(rows..60), later_ms: 400, ..List::of(rows) };
        strokes(&mut Phone::with(list), &down_to("Row 55"), "Row 55");
    }
}

#[test]
fn rows_that_come_without_a_sign_are_waited_for_at_the_end() {
    for rows in [24, 28] {
        let list = List { later: named(rows..60), later_ms: 2000, ..List::of(rows) };
        strokes(&mut Phone::with(list), &down_to("Row 55"), "Row 55");
    }
}

#[test]
fn rows_that_take_long_are_waited_for_while_the_list_says_so() {
    for rows in [25, 28] {
        let list = List { later: named(rows..60), later_ms: 12_000, ..List::of(rows) };
        let mut phone = Phone { shows_loading: true, ..Phone::with(list.clone()) };
        strokes(&mut phone, &down_to("Row 55"), "Row 55");
        assert_eq!(fails(&mut Phone::with(list.clone()), &down_to("Row 55")).0, Cause::EndReached);
        let never = List { later_ms: u64::MAX / 2, ..list };
        let mut phone = Phone { shows_loading: true, ..Phone::with(never) };
        assert_eq!(fails(&mut phone, &down_to("Row 55")).0, Cause::EndReached, "not for ever");
        assert!(phone.now_ms < 30_000, "{} ms", phone.now_ms);
    }
}

#[test]
fn a_search_does_not_go_on_over_another_screen() {
    let mut phone = Phone { stroke_leaves: true, ..Phone::with(List::of(100)) };
    assert_eq!(fails(&mut phone, &down_to("Row 40")), (Cause::ScreenLeft, 1));
}

#[test]
fn a_target_that_may_be_two_is_refused() {
    let mut rows = named(0..40);
    rows[3] = "Delete".to_owned();
    rows[5] = "Delete".to_owned();
    let mut phone = Phone::with(List { rows, ..List::of(40) });
    let searched = phone.search(&down_to("Delete"));
    let failure = searched.end.unwrap_err();
    assert_eq!((failure.cause, failure.candidates.len()), (Cause::AmbiguousTarget, 2));
    assert_eq!(searched.done.scrolls, 0);
}

#[test]
fn of_two_lists_the_named_one_is_scrolled() {
    let left = Rect::new(0, 400, 700, 1400);
    let left = List { id: "left", view: left, rows: named(35..55), ..List::of(0) };
    let right = Rect::new(700, 400, 1080, 1400);
    let two = || {
        let lists = vec![left.clone(), List { id: "right", view: right, ..List::of(50) }];
        Phone { lists, ..Phone::with(List::of(0)) }
    };
    let mut phone = two();
    let inside = Selector { resource_id: Some("right".to_owned()), ..Selector::default() };
    let asked = ScrollTo { inside: Some(inside), ..down_to("Row 40") };
    let found = phone.search(&asked).done.found.unwrap();
    assert!(right.contains(found.point), "the row of this name in the other list is not meant: {found:?}");
    assert!(phone.lists[1].shows_whole("Row 40") && phone.lists[0].offset_px == 0);
    let mut phone = two();
    let searched = phone.search(&down_to("Row 30"));
    let failure = searched.end.unwrap_err();
    assert_eq!((failure.cause, failure.candidates.len()), (Cause::EndReached, 1), "the other one is named");
    assert_eq!((phone.lists[1].offset_px, searched.done.others.len()), (0, 1));
}

#[test]
fn a_target_that_the_tree_places_elsewhere_is_gone_to() {
    let mut phone = Phone::with(List { tells_all: true, offset_px: 2000, ..List::of(60) });
    let strokes = strokes(&mut phone, &find("Row 50", Direction::Up), "Row 50");
    assert!(strokes <= 4, "2100 px in steps of 700: {strokes}");
}

#[test]
fn strokes_begin_above_the_keyboard() {
    let keyboard = Some(Rect::new(0, 1000, 1080, 2400));
    let mut phone = Phone { keyboard, ..Phone::with(List::of(100)) };
    let searched = phone.search(&down_to("Row 30"));
    assert!(searched.end.is_ok() && phone.list().shows_whole("Row 30"));
    assert_eq!(phone.keyboard_questions, 1, "nothing opens or closes it on the way");
}

proptest! {
    #[test]
    fn what_lies_in_the_asked_direction_is_always_found(
        rows in 1..80i32,
        target in 0..80i32,
        start_px in 0..8000i32,
        amount in 0.1..1.0f64,
        up in any::<bool>(),
        follows in prop::sample::select(vec![Follows::Exactly, Follows::Glides { ms: 300 }, Follows::Glides { ms: 1500 }]),
    ) {
        let mut list = List { follows, ..List::of(rows) };
        list.offset_px = start_px.min(list.end_px());
        let row = format!("Row {target}");
        let top_px = target * phone::ROW_PX;
        let in_sight = list.seen_at(&row).is_some();
        let ahead = if up { top_px < list.offset_px } else { top_px >= list.offset_px };
        let direction = if up { Direction::Up } else { Direction::Down };
        let mut phone = Phone::with(list);
        let asked = ScrollTo { amount, scrolls_max: 300, ..find(&row, direction) };
        let searched = phone.search(&asked);
        if target < rows && (in_sight || ahead) {
            prop_assert!(searched.end.is_ok(), "{:?}", searched.end);
            prop_assert!(phone.list().shows_whole(&row), "{:?}", phone.list());
        } else if searched.end.is_ok() {
            prop_assert!(phone.list().shows_whole(&row), "{:?}", phone.list());
        } else {
            prop_assert_eq!(searched.end.unwrap_err().cause, Cause::EndReached);
        }
    }
}
