//! What happens to a call when the program that reaches the iPhone ends, hangs or is late.

use std::time::Duration;

use mdm_virtual_device::{AppFile, Applied, IPhone, IPhoneConfig, IPhoneFaults, IPhoneKind};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::sleep;

use super::{BOTH, CABLE, IDB, WDA, started_on, world};
use crate::gestures;
use crate::world::{APP, World, code_of, fact};

/// A press of two seconds, in the middle of which something happens.
const PRESS: &str = r#"{"selector":{"text":"Settings"},"duration":2000}"#;

fn touches(world: &World) -> usize {
    let touch = |input: &Applied| matches!(input, Applied::Tap { .. } | Applied::Swipe { .. });
    world.phone.truth().inputs.iter().filter(|input| touch(input)).count()
}

/// Calls a tool, and lets something happen a second after the call began.
async fn while_something_happens(
    world: &World,
    tool: &str,
    json: &str,
    happens: impl Fn() + Send + 'static,
) -> String {
    let during = tokio::spawn(async move {
        sleep(Duration::from_secs(1)).await;
        happens();
    });
    let answer = world.call(tool, json).await;
    during.await.unwrap();
    println!("{}", answer.text());
    answer.text()
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_is_cut_in_the_middle_of_a_gesture_leaves_its_outcome_unknown() {
    // RC-04
    for ways in [WDA, IDB] {
        let (_, world) = started_on(ways, IPhoneFaults::default()).await;
        let phone = world.phone.clone();
        let text =
            while_something_happens(&world, "long_press", PRESS, move || phone.cut_connections()).await;
        assert_eq!(fact(&text, "code"), "CONNECTION_LOST", "{ways:?}");
        assert_eq!((fact(&text, "dispatched"), fact(&text, "retryable")), ("unknown".into(), "false".into()));
        assert_eq!(fact(&text, "lifecycle_state"), "failed");
        // The engine looked afterwards, and says what it saw.
        assert!(text.contains("snapshot_revision"), "{ways:?}: {text}");
        sleep(Duration::from_secs(10)).await;
        assert!(touches(&world) <= 1, "{ways:?}: nothing is sent twice: {:?}", world.phone.truth().inputs);
    }
}

#[tokio::test(start_paused = true)]
async fn an_expectation_that_held_before_proves_nothing_about_a_touch_whose_answer_was_lost() {
    // RC-04
    let (_, world) = started_on(WDA, IPhoneFaults::default()).await;
    let phone = world.phone.clone();
    let json = r#"{"selector":{"text":"Settings"},"duration":2000,"expect":{"text":"Remember me"}}"#;
    let text = while_something_happens(&world, "long_press", json, move || phone.cut_connections()).await;
    assert_eq!(fact(&text, "dispatched"), "unknown", "it held before, so it proves nothing: {text}");
}

#[tokio::test(start_paused = true)]
async fn a_program_that_ended_in_the_middle_of_a_gesture_is_told_with_what_starts_it() {
    for ways in [WDA, IDB] {
        let (iphone, world) = started_on(ways, IPhoneFaults::default()).await;
        let ending = iphone.clone();
        let end = move || {
            ending.end_wda();
            ending.end_companion();
        };
        let text = while_something_happens(&world, "long_press", PRESS, end).await;
        assert_eq!(fact(&text, "code"), "CONNECTION_LOST", "{ways:?}");
        assert_eq!(fact(&text, "dispatched"), "unknown", "{ways:?}");
        assert!(text.contains("the screen could not be read afterwards"), "{ways:?}: {text}");
        let gone = world.call("get_ui_tree", "{}").await.text();
        println!("{gone}");
        assert_eq!(fact(&gone, "code"), "DEVICE_OFFLINE", "{ways:?}: {gone}");
        let name = if ways == WDA { "WebDriverAgent does not answer" } else { "companion cannot be reached" };
        assert!(gone.contains(name) && gone.contains("get_system_status"), "{ways:?}: {gone}");
        iphone.start_wda();
        iphone.start_companion();
        world.ok("get_ui_tree", "{}").await;
        assert!(touches(&world) <= 1, "{ways:?}: nothing is sent twice");
    }
}

#[tokio::test(start_paused = true)]
async fn a_program_that_was_restarted_between_two_calls_is_used_again() {
    for ways in [WDA, IDB] {
        let (iphone, world) = started_on(ways, IPhoneFaults::default()).await;
        for _ in 0..3 {
            iphone.end_wda();
            iphone.end_companion();
            iphone.start_wda();
            iphone.start_companion();
            let json = r#"{"selector":{"text":"Remember me"}}"#;
            world.ok("tap_element", json).await;
        }
        assert_eq!(touches(&world), 3, "{ways:?}: once for each call");
    }
}

/// Makes a session as another client does, with the waiting that WebDriverAgent has by itself.
async fn session_of_another(iphone: &IPhone) {
    let mut pipe = iphone.connect_wda().unwrap();
    let body = r#"{"capabilities":{"alwaysMatch":{}}}"#;
    let request = format!(
        "POST /session HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{body}",
        body.len()
    );
    pipe.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    pipe.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

#[tokio::test(start_paused = true)]
async fn a_gesture_that_comes_after_the_time_was_up_is_not_repeated() {
    // RC-04; an app that never rests makes WebDriverAgent wait, and the touch comes a minute later.
    let faults = IPhoneFaults { idle_hang_ms: 60_000, ..IPhoneFaults::default() };
    let (iphone, world) = world(WDA, faults);
    gestures::open_screen(&world, "LoginActivity").await;
    session_of_another(&iphone).await;
    let tapped = world.call("tap_element", r#"{"selector":{"text":"Remember me"}}"#).await.text();
    println!("{tapped}");
    assert_eq!(fact(&tapped, "code"), "TIMEOUT", "{tapped}");
    assert_eq!((fact(&tapped, "dispatched"), fact(&tapped, "retryable")), ("unknown".into(), "false".into()));
    assert_eq!(touches(&world), 0, "it has not come yet");
    // It is still busy with the touch: whoever asks is told, and nothing more is sent.
    let busy = world.call("get_ui_tree", "{}").await.text();
    println!("{busy}");
    assert_eq!(fact(&busy, "code"), "TIMEOUT", "{busy}");
    sleep(Duration::from_secs(60)).await;
    assert_eq!(touches(&world), 1, "it came late, and once");
    assert!(world.ok("get_ui_tree", "{}").await.contains("Remember me"));
    assert!(world.phone.truth().switches["remember_me"]);
}

#[tokio::test(start_paused = true)]
async fn an_effect_that_comes_after_the_answer_is_not_called_one_before_and_not_repeated() {
    // RC-04
    let faults = IPhoneFaults { late_gesture_ms: 5_000, ..IPhoneFaults::default() };
    let (_, world) = started_on(WDA, faults).await;
    let json = r#"{"selector":{"text":"Remember me"},"expect":{"text":"Remember me","checked":true},"timeout_ms":2000}"#;
    let early = world.call("tap_element", json).await.text();
    println!("{early}");
    assert_eq!(fact(&early, "verdict"), "contradicted", "{early}");
    assert_eq!(touches(&world), 0);
    let late = world
        .ok("wait_for_ui", r#"{"selector":{"text":"Remember me"},"condition":"checked","timeout_ms":8000}"#);
    let late = late.await;
    assert!(late.contains("\"success\":true"), "{late}");
    assert_eq!(touches(&world), 1, "it came once");
}

#[tokio::test(start_paused = true)]
async fn the_hints_of_an_iphone_are_about_iphones() {
    let (iphone, world) = world(BOTH, IPhoneFaults::default());
    world.ok("start_app", &format!(r#"{{"appId":"{APP}"}}"#)).await;
    iphone.end_companion();
    let answer = world.call("tap_element", r#"{"selector":{"text":"Settings"}}"#).await;
    let tapped = answer.text();
    println!("{tapped}");
    assert!(answer.is_error && tapped.contains("idb"), "{tapped}");
    for word in ["adb", "cable", "USB debugging"] {
        assert!(!tapped.contains(word), "{word}: {tapped}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_web_page_that_idb_does_not_tell_proves_no_absence() {
    // W10
    let absent = r#"{"selector":{"text":"No such thing"},"condition":"not_exists","timeout_ms":500}"#;
    let (_, world) = started_on(IDB, IPhoneFaults::default()).await;
    gestures::open_screen(&world, "WebActivity").await;
    let tree = world.ok("get_ui_tree", "{}").await;
    println!("{tree}");
    assert!(tree.contains(r#""partial":true"#) && tree.contains("WebDriverAgent reads it"), "{tree}");
    let gone = world.call("wait_for_ui", absent).await;
    assert!(gone.is_error && gone.text().contains("WebDriverAgent reads it"), "{}", gone.text());
    let tapped = world.call("tap_element", r#"{"selector":{"text":"Contact support"}}"#).await.text();
    println!("{tapped}");
    assert_eq!(fact(&tapped, "code"), "UI_TREE_UNAVAILABLE", "{tapped}");
    assert!(tapped.contains("WebDriverAgent reads it") && tapped.contains("capture_screenshot"), "{tapped}");
    // What is beside the page is still proven to be there, and acted on.
    world.ok("press_back", "{}").await;
    let (_, world) = started_on(WDA, IPhoneFaults::default()).await;
    gestures::open_screen(&world, "WebActivity").await;
    world.ok("wait_for_ui", absent).await;
}

/// An app with a button that crashes it when nobody looks any more.
const FRAGILE: &str = r#"{"package": "org.example.fragile", "label": "Fragile", "start": "Home",
    "screens": {"Home": {"content": [
        {"type": "button", "text": "Later", "on_tap": [{"after": {"ms": 8000, "do": [{"crash": "java.io.IOException: no cart"}]}}]},
        {"type": "text", "text": "Ready"}]}}}"#;

#[tokio::test(start_paused = true)]
async fn a_crash_between_two_calls_is_told_by_the_next_answer() {
    // F44
    let cable =
        IPhoneConfig { kind: IPhoneKind::Device, ios_version: "16.7".to_owned(), ..IPhoneConfig::default() };
    for (ways, config) in [(IDB, IPhoneConfig::default()), (BOTH, IPhoneConfig::default()), (CABLE, cable)] {
        let apps = vec![AppFile::parse(FRAGILE).expect("an app")];
        let world = World::reaching(&IPhone::new(IPhoneConfig { apps, ..config }), ways);
        world.ok("start_app", r#"{"app_id":"org.example.fragile"}"#).await;
        let tapped = world.ok("tap_element", r#"{"selector":{"text":"Later"}}"#).await;
        assert!(!tapped.contains("crashed"), "{ways:?}: {tapped}");
        sleep(Duration::from_secs(30)).await;
        let next = world.ok("get_ui_tree", "{}").await;
        println!("{ways:?}: {next}");
        assert!(next.contains("org.example.fragile crashed"), "{ways:?}: {next}");
        let told = world.ok("get_ui_tree", "{}").await;
        assert!(!told.contains("crashed"), "{ways:?}: it is told once: {told}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_locked_screen_is_told_with_what_unlocks_it() {
    for ways in [WDA, BOTH] {
        let (iphone, world) = started_on(ways, IPhoneFaults::default()).await;
        iphone.set_locked(true);
        let tapped = world.call("tap_element", r#"{"selector":{"text":"Settings"}}"#).await.text();
        println!("{tapped}");
        assert_eq!(fact(&tapped, "code"), "ELEMENT_NOT_FOUND", "{tapped}");
        assert!(tapped.contains("the phone is locked") && tapped.contains("key wakeup"), "{tapped}");
        assert_eq!(touches(&world), 0, "nothing behind the lock was touched");
        if ways == WDA {
            world.ok("press_key", r#"{"key":"wakeup"}"#).await;
            world.ok("wait_for_ui", r#"{"selector":{"text":"Settings"}}"#).await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_slider_under_the_keyboard_is_not_set_by_a_drag_on_the_keyboard() {
    // AD-01, AC-05: WebDriverAgent sets a slider by dragging at its place.
    let above = r#"{"type":"text","text":"Above"},"#.repeat(9);
    let app = format!(
        r#"{{"package":"org.example.mix","label":"Mix","start":"Home","style":"view","values":{{"name":"","at":10}},
            "screens":{{"Home":{{"title":"Mix","content":[
            {{"type":"field","id":"name","value":"name","hint":"Name"}},{above}
            {{"type":"slider","id":"level","value":"at","text":"Level","min":0,"max":100}}]}}}}}}"#
    );
    let app = AppFile::parse(&app).unwrap();
    let iphone = IPhone::new(IPhoneConfig { apps: vec![app], ..IPhoneConfig::default() });
    let world = World::reaching(&iphone, WDA);
    world.ok("start_app", r#"{"appId":"org.example.mix","expect":{"text":"Mix"}}"#).await;
    world.ok("tap_element", r#"{"selector":{"resource_id":"name"}}"#).await;
    let before = world.phone.truth().inputs.len();
    let json = r#"{"selector":{"resource_id":"level"},"targetValue":90,"tolerance":1}"#;
    let refused = world.call("adjust_control", json).await;
    assert_eq!(code_of(&refused), "ELEMENT_NOT_INTERACTABLE", "{}", refused.text());
    assert_eq!(world.phone.truth().inputs.len(), before, "nothing was touched: {}", refused.text());
}
