//! Faults that were found on Android's own views, each with its id in docs/requirements.md.

use std::collections::BTreeMap;

use mdm_android::HelperMode;
use mdm_virtual_device::{Phone, ViewTruth};
use tokio::time::Duration;

use crate::lines::{self, Line};
use crate::product::{Product, Reply, phone};
use crate::views::fact;
use crate::{api, home};

const PACKAGE: &str = "org.mdm.widgets";

async fn fingerprint(product: &Product) -> String {
    product.call("get_screen_fingerprint", "{}").await.fact("fingerprint").to_owned()
}

/// F84: rows that are made while something reads the screen differ from those before in what a dump says of them.
#[tokio::test(start_paused = true)]
async fn a_list_that_scrolls_keeps_its_fingerprint() {
    let Some(home) = home("a_list_that_scrolls_keeps_its_fingerprint") else { return };
    let product = Product::start(home, api());
    assert!(product.open(".view.List1").await);
    let first = fingerprint(&product).await;
    for (row, way) in [("American Cheese", "down"), ("Baylough", "down"), ("Abbaye de Belloc", "up")] {
        let wanted = format!(r#"{{"selector":{{"text":"{row}"}},"direction":"{way}"}}"#);
        let reply = product.call("scroll_to_element", &wanted).await;
        assert!(!reply.is_error, "{}", reply.text);
        assert_eq!(fingerprint(&product).await, first, "{row}");
    }
}

/// The app of widgets, with one of the two ways to read and touch it.
struct Page {
    product: Product,
    phone: Phone,
}

impl Page {
    async fn open(phone: &Phone, helper: HelperMode, name: &str) -> Page {
        let product = Product::on(phone, PACKAGE, helper);
        assert!(product.open(&format!(".{name}Activity")).await, "{name}");
        Page { product, phone: phone.clone() }
    }

    async fn call(&self, tool: &str, json: &str) -> Reply {
        self.product.call(tool, json).await
    }

    #[track_caller]
    fn ok<'a>(&'a self, tool: &'a str, json: &'a str) -> impl Future<Output = Reply> + 'a {
        let caller = std::panic::Location::caller();
        async move {
            let reply = self.call(tool, json).await;
            assert!(!reply.is_error, "{caller}: {tool} {json} failed: {}", reply.text);
            reply
        }
    }

    fn views(&self) -> Vec<ViewTruth> {
        self.phone.truth().framework.unwrap().views
    }

    fn view(&self, name: &str) -> ViewTruth {
        let found = self.views().into_iter().find(|view| view.id.ends_with(&format!("/{name}")));
        found.unwrap_or_else(|| panic!("no view {name}"))
    }

    /// Returns for the id of each "Delete" in sight whom it deletes, by the tag of the view at its place.
    async fn people(&self) -> BTreeMap<String, String> {
        let tree = self.product.tree().await;
        let views = self.views();
        let mut people = BTreeMap::new();
        let deletes = |line: &&Line| line.label().is_some_and(|label| label.is("Delete"));
        for line in lines::read(&tree.text).iter().filter(deletes) {
            let Some((x, y)) = line.point else { continue };
            let holds = |view: &&ViewTruth| {
                let (left, top, right, bottom) = view.visible;
                fact(view, "tag").is_some() && (left..right).contains(&x) && (top..bottom).contains(&y)
            };
            let person = views.iter().find(holds).and_then(|view| fact(view, "tag"));
            let person = person.unwrap_or_else(|| panic!("nobody at {x},{y}: {}", tree.text));
            people.insert(line.element.clone(), person.to_owned());
        }
        people
    }

    fn fact(&self, name: &str, key: &str) -> String {
        fact(&self.view(name), key).unwrap_or_else(|| panic!("{name} has no {key}")).to_owned()
    }
}

/// One test, because each start of the framework takes seconds.
#[tokio::test(start_paused = true)]
async fn what_strangers_found_on_androids_own_views_is_mended() {
    let Some(home) = home("what_strangers_found_on_androids_own_views_is_mended") else { return };
    let phone = phone(home, "widgets", api());
    for helper in [HelperMode::Never, HelperMode::Always] {
        println!("== {helper:?}");
        pickers_go_round(&phone, helper).await;
        texts_are_cleared_whole(&phone, helper).await;
        a_hint_is_no_value(&phone, helper).await;
        a_slider_that_moved_is_not_unchanged(&phone, helper).await;
        a_clock_that_ticks_is_stopped(&phone, helper).await;
        a_toast_contradicts_nothing(&phone, helper).await;
        what_is_drawn_above_is_tapped(&phone, helper).await;
        an_id_stays_with_its_person(&phone, helper).await;
    }
}

/// F80: from 7 the shortest way to 18 of 0 to 20 leads past the end.
async fn pickers_go_round(phone: &Phone, helper: HelperMode) {
    let page = Page::open(phone, helper, "Picker").await;
    let set = page.ok("adjust_control", r#"{"selector":{"role":"stepper"},"target_value":18}"#).await;
    assert_eq!((page.fact("number_picker", "value").as_str(), set.fact("within_tolerance")), ("18", "true"));
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(page.fact("number_picker", "value"), "18", "F80: it stays where it was said to be");
    let beyond = page.call("adjust_control", r#"{"selector":{"role":"stepper"},"target_value":25}"#).await;
    assert!(beyond.is_error, "{}", beyond.text);
    let left: i32 = page.fact("number_picker", "value").parse().unwrap();
    assert!((17..=20).contains(&left), "F80: {left} after {}", beyond.text);
}

/// F81, F82: all lines of a field go, and nothing goes where the new text cannot be typed.
async fn texts_are_cleared_whole(phone: &Phone, helper: HelperMode) {
    let page = Page::open(phone, helper, "Text").await;
    page.ok("type_text", r#"{"selector":{"resource_id":"multiline"},"text":"new","clear":true}"#).await;
    assert_eq!(page.view("multiline").text, "new", "F81");
    let typed = r#"{"selector":{"resource_id":"name"},"text":"Zoë","clear":true}"#;
    let reply = page.call("type_text", typed).await;
    let held = page.view("name").text;
    match reply.is_error {
        true => assert_eq!(held, "Ada", "F82: {}", reply.text),
        false => assert_eq!(held, "Zoë", "F82: {}", reply.text),
    }
    assert!(helper == HelperMode::Never || !reply.is_error, "{}", reply.text);
}

/// F83: an empty field that shows its hint.
async fn a_hint_is_no_value(phone: &Phone, helper: HelperMode) {
    let page = Page::open(phone, helper, "Text").await;
    let state = |value: &str| {
        format!(r#"{{"selector":{{"resource_id":"empty"}},"property":"text_value","expected":"{value}"}}"#)
    };
    let hint = page.call("expect_state", &state("Say something")).await;
    let empty = page.call("expect_state", &state("")).await;
    if helper == HelperMode::Always {
        assert!(hint.is_error, "F83: a hint was verified as the value: {}", hint.text);
        assert!(!empty.is_error, "F83: {}", empty.text);
    } else {
        // A dump does not tell the two apart: words that are shown are shown, and nobody can say that the field is empty.
        assert!(!hint.is_error, "{}", hint.text);
        assert!(empty.is_error && empty.text.contains("may be its hint"), "F83: {}", empty.text);
    }
}

/// F86: a dump has no value of a slider, so that nobody can say that nothing changed.
async fn a_slider_that_moved_is_not_unchanged(phone: &Phone, helper: HelperMode) {
    let page = Page::open(phone, helper, "Range").await;
    let (left, top, right, bottom) = page.view("seek_half").visible;
    let y = i32::midpoint(top, bottom);
    let (from, to) = (i32::midpoint(left, right), right - 60);
    let swipe = format!(r#"{{"x1":{from},"y1":{y},"x2":{to},"y2":{y},"duration":400,"settle":true}}"#);
    let reply = page.ok("swipe", &swipe).await;
    let progress: i32 = page.fact("seek_half", "progress").parse().unwrap();
    assert!(progress > 80, "{progress}: {}", reply.text);
    let outcome = page.call("classify_action_outcome", "{}").await;
    assert!(!outcome.text.contains("no_op"), "F86: {} {}", reply.text, outcome.text);
}

/// F23, F88: a chronometer that ticks keeps a dump from ending, and not the helper.
async fn a_clock_that_ticks_is_stopped(phone: &Phone, helper: HelperMode) {
    let page = Page::open(phone, helper, "Clock").await;
    page.ok("tap_element", r#"{"selector":{"text":"Start"},"settle":false}"#).await;
    tokio::time::sleep(Duration::from_secs(3)).await;
    let started = page.view("chronometer").text;
    let tree = page.call("get_ui_tree", "{}").await;
    let tapped = page.call("tap_element", r#"{"selector":{"text":"Start"}}"#).await;
    for reply in [&tree, &tapped] {
        assert_eq!(reply.is_error, helper == HelperMode::Never, "F23, F88: {}", reply.text);
        assert!(!reply.is_error || reply.text.contains("UI_NOT_IDLE"), "{}", reply.text);
    }
    let shown = page.view("chronometer").text;
    assert!(helper == HelperMode::Never || shown < started, "F88: {started}, then {shown}: {}", tapped.text);
}

/// F14: what a toast said cannot be read in a dump, so it is not called contradicted.
async fn a_toast_contradicts_nothing(phone: &Phone, helper: HelperMode) {
    let page = Page::open(phone, helper, "Dialog").await;
    let tap = r#"{"selector":{"text":"Toast"},"expect":{"text":"Saved"},"timeout_ms":6000}"#;
    let reply = page.call("tap_element", tap).await;
    let verdict = if helper == HelperMode::Never { "undetermined" } else { "confirmed" };
    assert!(reply.text.contains(verdict), "F14: {}", reply.text);
    assert!(!reply.text.contains("contradicted"), "F14: {}", reply.text);
}

/// F30: order in the tree is not the order of drawing.
async fn what_is_drawn_above_is_tapped(phone: &Phone, helper: HelperMode) {
    let page = Page::open(phone, helper, "Layers").await;
    page.ok("tap_element", r#"{"selector":{"text":"Over"}}"#).await;
    assert_eq!(page.view("pressed").text, "over", "F30");
    let reply = page.call("tap_element", r#"{"selector":{"text":"Under"}}"#).await;
    // A dump of this level does not say what is drawn above, and names the larger of two first.
    assert_eq!(reply.is_error, helper == HelperMode::Always, "F30: {}", reply.text);
}

/// F1: after a swipe every id that is left deletes the person that it was handed out for.
async fn an_id_stays_with_its_person(phone: &Phone, helper: HelperMode) {
    let page = Page::open(phone, helper, "Twins").await;
    page.product.tree().await;
    // The helper runs now: Android tells places of rows that are made while something reads them.
    assert!(page.product.open(".TwinsActivity").await);
    let people = page.people().await;
    assert!(people.len() > 8, "{people:?}");
    for (from, to) in [(1800, 1200), (1800, 1200), (900, 1500)] {
        let swipe = format!(r#"{{"x1":400,"y1":{from},"x2":400,"y2":{to},"duration":600,"settle":true}}"#);
        page.ok("swipe", &swipe).await;
        let now = page.people().await;
        let kept: Vec<_> = people.iter().filter(|(id, _)| now.contains_key(*id)).collect();
        println!("{helper:?}: {} of {} people keep their ids", kept.len(), people.len());
        assert!(helper == HelperMode::Never || kept.len() > 2, "F1: the helper tells which entry a row is");
        for (id, person) in kept {
            assert_eq!(now.get(id), Some(person), "F1: {id}");
        }
    }
    // Of the ids that were handed out first, each deletes its person or nobody.
    let mut went = 0;
    for (id, person) in &people {
        let reply = page.call("tap_element", &format!(r#"{{"element_id":"{id}"}}"#)).await;
        let deleted = page.view("deleted").text;
        match reply.is_error {
            false => assert_eq!(&deleted, person, "F1: {id}: {}", reply.text),
            true => assert_ne!(&deleted, person, "F1: {id}: {}", reply.text),
        }
        went += usize::from(!reply.is_error);
    }
    println!("{helper:?}: {went} people deleted by the ids that were handed out first");
    assert!(helper == HelperMode::Never || went > 0, "F1: no id was used");
}
