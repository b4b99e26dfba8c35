//! AC-10, GE-01: scrolling to a target, checked against the phone's own state.

use mdm_core::text::tokens::estimate;
use mdm_virtual_device::{AppFile, Applied, PhoneConfig, Timing};

use crate::gestures::on_screen;
use crate::world::{World, code_of, fact};

const TOKENS_MAX: usize = 260;

fn timed(timing: Timing) -> PhoneConfig {
    PhoneConfig { timing, ..PhoneConfig::default() }
}

/// Counts the swipes. Checks that there was no other input and that none was fast enough to fling a list.
fn swipes(world: &World) -> usize {
    let inputs = world.phone.truth().inputs;
    for input in &inputs {
        let Applied::Swipe { from, to, ms, .. } = input else { panic!("only strokes are sent: {input:?}") };
        assert!((43..1037).contains(&from.0) && (90..2290).contains(&from.1), "system gesture: {input:?}");
        assert!(from.0 == to.0 || from.1 == to.1, "{input:?}");
        assert!(*ms >= 500, "{input:?}");
    }
    inputs.len()
}

/// Scrolls with success and returns the element's id and the number of scrolls, which the phone must confirm.
async fn scroll(world: &World, json: &str) -> (String, usize) {
    let before = world.phone.truth().inputs.len();
    let answer = world.ok("scroll_to_element", json).await;
    assert!(estimate(&answer) < TOKENS_MAX, "{answer}");
    assert_eq!(fact(&answer, "lifecycle_state"), "verified", "LC-03: {answer}");
    let scrolls: usize = fact(&answer, "scrolls").parse().expect("a number");
    let sent = world.phone.truth().inputs.len() - before;
    assert_eq!(scrolls, sent, "{answer}");
    (fact(&answer, "elementId"), scrolls)
}

/// Taps the element and returns the text that the app stored for the tap.
async fn picked(world: &World, id: &str, value: &str) -> String {
    world.ok("tap_element", &format!(r#"{{"elementId":"{id}"}}"#)).await;
    world.phone.truth().fields.get(value).cloned().unwrap_or_default()
}

#[tokio::test(start_paused = true)]
async fn content_is_found_in_all_four_directions() {
    for timing in [Timing::Instant, Timing::Brisk, Timing::Phone] {
        let world = on_screen("LongListActivity", timed(timing)).await;
        let mut scrolled = Vec::new();
        for (text, direction, inside) in [
            ("Row 60", "down", "rows"),
            ("Row 3", "up", "rows"),
            ("Card 9", "right", "carousel"),
            ("Card 1", "left", "carousel"),
        ] {
            let json = format!(
                r#"{{"selector":{{"text":"{text}"}},"direction":"{direction}","maxScrolls":40,
                    "inside":{{"resourceId":"{inside}"}}}}"#
            );
            let (id, scrolls) = scroll(&world, &json).await;
            assert!(scrolls > 0, "{text}");
            assert_eq!(picked(&world, &id, "gallery.picked").await, text, "{timing:?}: the tap lands on it");
            scrolled.push(format!("{direction} to {text}: {scrolls}"));
        }
        println!("{timing:?}: {}", scrolled.join(", "));
    }
}

#[tokio::test(start_paused = true)]
async fn no_row_is_skipped() {
    for (timing, amount) in [(Timing::Brisk, 0.7), (Timing::Phone, 1.0), (Timing::Phone, 0.3)] {
        let world = on_screen("LongListActivity", timed(timing)).await;
        let mut most = 0;
        for row in [11, 24, 37, 50, 63] {
            let json = format!(
                r#"{{"selector":{{"text":"Row {row}"}},"inside":{{"resourceId":"rows"}},"scrollAmount":{amount}}}"#
            );
            let (_, scrolls) = scroll(&world, &json).await;
            most = most.max(scrolls);
        }
        swipes(&world);
        println!("{timing:?}, {amount}: 13 rows further each time, at most {most} scrolls");
        assert_eq!(world.phone.truth().fields.get("gallery.picked"), None, "nothing was tapped");
    }
}

#[tokio::test(start_paused = true)]
async fn a_visible_target_needs_no_scroll() {
    let world = on_screen("LongListActivity", timed(Timing::Instant)).await;
    for text in ["Row 1", "Row 5", "Card 2", "Long list"] {
        let (_, scrolls) = scroll(&world, &format!(r#"{{"selector":{{"text":"{text}"}}}}"#)).await;
        assert_eq!(scrolls, 0, "{text}");
    }
    assert_eq!(swipes(&world), 0);
}

#[tokio::test(start_paused = true)]
async fn a_row_cut_at_the_edge_is_scrolled_into_view() {
    let world = on_screen("GalleryActivity", timed(Timing::Instant)).await;
    // The row that the screen's edge cuts; its neighbours all have the same height.
    let tree = world.tree().await;
    let names: Vec<&str> = tree.lines().filter_map(|line| line.split('"').nth(1)).collect();
    let last = names.last().expect("a row");
    let (id, scrolls) = scroll(&world, &format!(r#"{{"selector":{{"text":"{last}"}}}}"#)).await;
    println!("{last}: {scrolls} scrolls");
    world.ok("tap_element", &format!(r#"{{"elementId":"{id}"}}"#)).await;
    assert!(!world.phone.truth().activity.ends_with(".GalleryActivity"), "{last} was opened");
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_list_is_recognised() {
    for timing in [Timing::Instant, Timing::Phone] {
        let world = on_screen("GalleryActivity", timed(timing)).await;
        let answer = world.call("scroll_to_element", r#"{"selector":{"text":"Nothing like it"}}"#).await;
        assert_eq!(code_of(&answer), "ELEMENT_NOT_FOUND", "{}", answer.text());
        assert!(answer.text().contains(r#"last: "Zoom"#), "what was seen last: {}", answer.text());
        assert!(estimate(&answer.text()) < TOKENS_MAX, "{}", answer.text());
        let scrolls = swipes(&world);
        assert!(scrolls <= 4, "{scrolls} scrolls over one screen and a half");
        assert!(world.phone.truth().activity.ends_with(".GalleryActivity"));
        let (_, back) = scroll(&world, r#"{"selector":{"text":"Controls"},"direction":"up"}"#).await;
        assert!(back > 0);
    }
}

#[tokio::test(start_paused = true)]
async fn an_exhausted_search_reports_where_it_ended() {
    let world = on_screen("LongListActivity", timed(Timing::Brisk)).await;
    let json = r#"{"selector":{"text":"Row 400"},"inside":{"resourceId":"rows"},"maxScrolls":3}"#;
    let answer = world.call("scroll_to_element", json).await;
    assert_eq!(code_of(&answer), "ELEMENT_NOT_FOUND", "{}", answer.text());
    assert!(answer.text().contains("first row in sight: \"Row "), "{}", answer.text());
    assert!(estimate(&answer.text()) < TOKENS_MAX, "{}", answer.text());
    assert_eq!(swipes(&world), 3);
}

#[tokio::test(start_paused = true)]
async fn nested_lists_are_reported_and_scrolled_separately() {
    let world = on_screen("LongListActivity", timed(Timing::Brisk)).await;
    let (_, scrolls) = scroll(&world, r#"{"selector":{"text":"End of the page"}}"#).await;
    assert!(scrolls > 0, "the page around the list");
    let answer = world.call("scroll_to_element", r#"{"selector":{"text":"Row 99"}}"#).await;
    assert_eq!(code_of(&answer), "ELEMENT_NOT_FOUND", "{}", answer.text());
    assert!(answer.text().contains("in one of these") && answer.text().contains("rows"), "{}", answer.text());
    swipes(&world);
}

#[tokio::test(start_paused = true)]
async fn bad_arguments_and_ambiguous_targets_send_nothing() {
    let world = on_screen("LongListActivity", timed(Timing::Instant)).await;
    for (json, code) in [
        (r#"{"selector":{}}"#, "INVALID_ARGUMENT"),
        (r#"{"selector":{"text":""}}"#, "INVALID_ARGUMENT"),
        (r#"{}"#, "INVALID_ARGUMENT"),
        (r#"{"selector":{"text":"Row 9"},"direction":"north"}"#, "INVALID_ARGUMENT"),
        (r#"{"selector":{"text":"Row 9"},"maxScrolls":0}"#, "INVALID_ARGUMENT"),
        (r#"{"selector":{"text":"Row 9"},"scrollAmount":7}"#, "INVALID_ARGUMENT"),
        (r#"{"selector":{"text":"Row","contains":true}}"#, "AMBIGUOUS_TARGET"),
        (r#"{"selector":{"resourceId":"row_title"}}"#, "AMBIGUOUS_TARGET"),
        (r#"{"selector":{"text":"Row 99"},"inside":{"text":"Nowhere"}}"#, "ELEMENT_NOT_FOUND"),
        (
            r#"{"selector":{"text":"Row 99"},"inside":{"resourceId":"rows"},"direction":"left"}"#,
            "ELEMENT_NOT_INTERACTABLE",
        ),
        (r#"{"selector":{"text":"Row 99"},"inside":{"elementId":"e9999"}}"#, "STALE_REFERENCE"),
    ] {
        assert_eq!(world.code("scroll_to_element", json).await, code, "W32: {json}");
    }
    let login = World::started(Timing::Instant).await;
    let json = r#"{"selector":{"text":"Nowhere"},"direction":"right"}"#;
    assert_eq!(login.code("scroll_to_element", json).await, "ELEMENT_NOT_FOUND", "nothing scrolls sideways");
    assert_eq!((swipes(&world), swipes(&login)), (0, 0));
}

/// An app with a list between a sticky heading and a button bar, a list that does not move, and a list that loads more
/// rows at its end.
fn feed() -> String {
    let rows: Vec<String> = (1..=40).map(|row| format!(r#"{{"name":"Item {row}"}}"#)).collect();
    let more = r#"{"add_row":{"to":"few","row":{"name":"Late {n}"}}},{"add":{"n":1}}"#;
    let more = [more; 12].join(",");
    format!(
        r#"{{"package":"org.example.feed","label":"Feed","start":"Bars",
        "values":{{"picked":"","bought":0,"n":1,"busy":false,"loads":0}},
        "lists":{{"many":{{"columns":["name"],"rows":[{rows}]}},
                 "few":{{"columns":["name"],"rows":[{few}]}}}},
        "screens":{{
         "Bars":{{"title":"Bars","content":[{{"type":"stack","children":[
            {{"type":"list","rows":"many","id":"items","children":[{{"type":"text","text":"{{name}}","height":56}}],
              "on_tap":[{{"set":{{"picked":"{{name}}"}}}}]}},
            {{"type":"heading","text":"Section","height":64}},
            {{"type":"button","text":"Buy","y":560,"height":96,"on_tap":[{{"add":{{"bought":1}}}}]}}]}},
            {{"type":"text_button","text":"Stuck","on_tap":[{{"go":"Locked"}}]}},
            {{"type":"text_button","text":"Glide","on_tap":[{{"go":"Ice"}}]}},
            {{"type":"text_button","text":"More","on_tap":[{{"go":"More"}}]}}]}},
         "Ice":{{"title":"Ice","content":[
            {{"type":"list","rows":"many","id":"ice","glide":6,"on_tap":[{{"set":{{"picked":"{{name}}"}}}}],
              "children":[{{"type":"text","text":"{{name}}","height":120}}]}}]}},
         "Locked":{{"title":"Locked","content":[
            {{"type":"list","rows":"many","id":"locked","locked":true,
              "children":[{{"type":"text","text":"{{name}}","height":56}}]}}]}},
         "More":{{"title":"More","content":[
            {{"type":"list","rows":"few","id":"few","children":[{{"type":"text","text":"{{name}}","height":96}}],
              "on_end":[{{"if":{{"all":[{{"value":"busy","is":false}},{{"value":"loads","at_most":2}}],"then":[
                {{"set":{{"busy":true}}}},{{"add":{{"loads":1}}}},
                {{"after":{{"ms":2500,"do":[{{"set":{{"busy":false}}}},{more}]}}}}]}}}}]}},
            {{"type":"spinner","when":[{{"value":"busy","is":true}}]}}]}}
        }}}}"#,
        rows = rows.join(","),
        few = rows[..12].join(","),
    )
}

async fn feed_on(screen: Option<&str>, timing: Timing) -> World {
    let app = AppFile::parse(&feed()).unwrap_or_else(|error| panic!("{error}"));
    let world = World::with(PhoneConfig { apps: vec![app], ..timed(timing) });
    world.ok("start_app", r#"{"appId":"org.example.feed"}"#).await;
    if let Some(screen) = screen {
        world.ok("tap_element", &format!(r#"{{"selector":{{"text":"{screen}"}}}}"#)).await;
    }
    world
}

#[tokio::test(start_paused = true)]
async fn a_target_does_not_end_under_a_heading_or_a_bar() {
    for timing in [Timing::Instant, Timing::Phone] {
        let world = feed_on(None, timing).await;
        for (row, direction) in [(13, "down"), (25, "down"), (38, "down"), (20, "up"), (5, "up"), (9, "down")]
        {
            let json = format!(r#"{{"selector":{{"text":"Item {row}"}},"direction":"{direction}"}}"#);
            let answer = world.ok("scroll_to_element", &json).await;
            let tree = world.tree().await;
            let place = |text: &str| crate::world::point_of(&tree, text);
            let (_, y) = place(&format!("Item {row}"));
            let (buy, id) = (place("Buy").1, fact(&answer, "elementId"));
            assert!(y < buy - 100, "above the bar at {buy}: {answer}");
            let value = picked(&world, &id, "org.example.feed.picked").await;
            assert_eq!(value, format!("Item {row}"), "{answer}");
            let heading = tree.lines().find(|line| line.contains("Section")).expect("the heading stays");
            println!("{timing:?} Item {row} at {y}, {} scrolls ({heading})", fact(&answer, "scrolls"));
        }
        assert_eq!(world.phone.truth().sliders["org.example.feed.bought"], 0.0, "nothing else was pressed");
    }
}

#[tokio::test(start_paused = true)]
async fn a_target_that_was_scrolled_past_is_found_by_scrolling_back() {
    let mut went_back = 0;
    for timing in [Timing::Instant, Timing::Brisk, Timing::Phone] {
        let world = feed_on(Some("Glide"), timing).await;
        for (row, direction) in [(9, "down"), (17, "down"), (30, "down"), (12, "up"), (3, "up")] {
            let before = world.phone.truth().inputs.len();
            let json = format!(
                r#"{{"selector":{{"text":"Item {row}"}},"direction":"{direction}","maxScrolls":30}}"#
            );
            let answer = world.ok("scroll_to_element", &json).await;
            let strokes = &world.phone.truth().inputs[before..];
            let back = |input: &&Applied| match input {
                Applied::Swipe { from, to, .. } => (to.1 > from.1) == (direction == "down"),
                _ => false,
            };
            let backs = strokes.iter().filter(back).count();
            went_back += backs;
            println!(
                "{timing:?}: {direction} to Item {row}: {} scrolls, {backs} of them back",
                strokes.len()
            );
            let value = picked(&world, &fact(&answer, "elementId"), "org.example.feed.picked").await;
            assert_eq!(value, format!("Item {row}"), "{answer}");
        }
    }
    assert!(went_back > 0, "nothing was passed, or this proves nothing");
}

#[tokio::test(start_paused = true)]
async fn a_list_that_does_not_move_is_given_up_after_two_strokes() {
    let world = feed_on(Some("Stuck"), Timing::Brisk).await;
    let before = world.phone.truth().inputs.len();
    let answer = world.call("scroll_to_element", r#"{"selector":{"text":"Item 40"}}"#).await;
    assert_eq!(code_of(&answer), "ELEMENT_NOT_FOUND", "{}", answer.text());
    assert_eq!(world.phone.truth().inputs.len() - before, 2, "once, and once more to be sure");
}

#[tokio::test(start_paused = true)]
async fn rows_that_are_still_loading_are_waited_for() {
    for timing in [Timing::Instant, Timing::Brisk, Timing::Phone] {
        let world = feed_on(Some("More"), timing).await;
        let json = r#"{"selector":{"text":"Late 20"},"maxScrolls":30}"#;
        let answer = world.ok("scroll_to_element", json).await;
        println!("{timing:?}: {} scrolls, {} ms", fact(&answer, "scrolls"), fact(&answer, "elapsed_ms"));
        assert_eq!(world.phone.truth().sliders["org.example.feed.loads"], 2.0, "two loads were needed");
        let answer = world.call("scroll_to_element", r#"{"selector":{"text":"Late 99"}}"#).await;
        assert_eq!(code_of(&answer), "ELEMENT_NOT_FOUND", "{}", answer.text());
        assert!(answer.text().contains("Late 36"), "all that came was seen: {}", answer.text());
    }
}

#[tokio::test(start_paused = true)]
async fn a_lost_connection_repeats_no_stroke() {
    let (mut unknown, mut found) = (0, 0);
    for cut_ms in (0..6000).step_by(331) {
        let world = on_screen("GalleryActivity", timed(Timing::Brisk)).await;
        world.tree().await;
        let phone = world.phone.clone();
        let cutter = tokio::spawn(async move {
            tokio::time::sleep(std::time::Duration::from_millis(cut_ms)).await;
            phone.cut_connections();
        });
        let answer = world.call("scroll_to_element", r#"{"selector":{"text":"Feed"}}"#).await;
        cutter.await.expect("the cut was made");
        let sent = swipes(&world);
        if answer.is_error {
            unknown += usize::from(answer.text().contains(r#""dispatched":"unknown""#));
            assert!(answer.text().contains(r#""scrolls":"#), "{}", answer.text());
            assert!(sent <= fact(&answer.text(), "scrolls").parse().unwrap(), "RC-04: {}", answer.text());
        } else {
            found += 1;
            assert_eq!(fact(&answer.text(), "scrolls"), sent.to_string(), "RC-04: {}", answer.text());
        }
    }
    println!("{unknown} strokes of unknown fate, {found} searches that went on");
    assert!(unknown > 0 && found > 0, "the cuts must have hit both, or this proves nothing");
}
