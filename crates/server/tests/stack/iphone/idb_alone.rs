//! What idb can do without another program beside it.

use mdm_virtual_device::{Applied, IPhoneFaults};

use super::{IDB, started_on};
use crate::gestures;
use crate::world::fact;

#[tokio::test(start_paused = true)]
async fn any_text_is_typed_through_accessibility_and_read_back() {
    let (_, world) = started_on(IDB, IPhoneFaults::default()).await;
    let typed = world.ok("type_text", r#"{"selector":{"text":"Email"},"text":"grün 漢字"}"#).await;
    println!("{typed}");
    assert!(typed.contains(r#""read_back":"seen""#), "{typed}");
    assert_eq!(world.phone.truth().fields["email"], "grün 漢字");
    // It is added to what is there, by keys where keys have it.
    world.ok("type_text", r#"{"selector":{"resource_id":"email"},"text":" and"}"#).await;
    world.ok("type_text", r#"{"selector":{"resource_id":"email"},"text":" 👍"}"#).await;
    assert_eq!(world.phone.truth().fields["email"], "grün 漢字 and 👍");
    world.ok("type_text", r#"{"selector":{"resource_id":"email"},"text":"é","clear":true}"#).await;
    assert_eq!(world.phone.truth().fields["email"], "é");
    // A secret can be set as a whole; more of it cannot be added to what cannot be read.
    world.ok("type_text", r#"{"selector":{"text":"Password"},"text":"geheimnisß"}"#).await;
    assert_eq!(world.phone.truth().fields["password"], "geheimnisß");
    let more = world.code("type_text", r#"{"selector":{"resource_id":"password"},"text":"ß"}"#).await;
    assert_eq!(more, "ACTION_REJECTED");
    assert_eq!(world.phone.truth().fields["password"], "geheimnisß");
}

#[tokio::test(start_paused = true)]
async fn a_companion_that_cannot_set_values_refuses_a_text_before_anything_is_touched() {
    // F82
    let old = IPhoneFaults { old_companion: true, ..IPhoneFaults::default() };
    let (_, world) = started_on(IDB, old).await;
    let refused = world.call("type_text", r#"{"selector":{"text":"Email"},"text":"grün"}"#).await;
    println!("{}", refused.text());
    assert_eq!(fact(&refused.text(), "code"), "TEXT_NOT_TYPEABLE");
    assert!(refused.text().contains("US keyboard") && !refused.text().contains("adb"), "{}", refused.text());
    assert!(world.phone.truth().inputs.is_empty(), "nothing was touched");
}

#[tokio::test(start_paused = true)]
async fn a_screen_is_scrolled_although_no_container_is_told() {
    // AC-10
    let (_, world) = started_on(IDB, IPhoneFaults::default()).await;
    gestures::open_screen(&world, "GalleryActivity").await;
    for (text, direction) in [("Web page", "down"), ("Sliders", "up")] {
        // A row is one element with all that it says.
        let json = format!(
            r#"{{"selector":{{"text":"{text}","contains":true}},"direction":"{direction}","max_scrolls":40}}"#
        );
        let found = world.ok("scroll_to_element", &json).await;
        println!("{found}");
        assert_eq!(fact(&found, "lifecycle_state"), "verified", "{found}");
    }
    let strokes = world.phone.truth().inputs.len();
    assert!((2..20).contains(&strokes), "both lie apart: {strokes}");
    assert!(world.phone.truth().inputs.iter().all(|input| matches!(input, Applied::Swipe { .. })));
    let absent = r#"{"selector":{"text":"Row 99999"},"direction":"down","max_scrolls":40}"#;
    let missed = world.call("scroll_to_element", absent).await.text();
    println!("{missed}");
    assert_eq!(fact(&missed, "code"), "ELEMENT_NOT_FOUND", "{missed}");
    assert!(missed.contains("down to the end"), "{missed}");
    // What was scrolled to is what a tap lands on.
    let web = r#"{"selector":{"text":"Web page","contains":true},"direction":"up","max_scrolls":40}"#;
    let id = fact(&world.ok("scroll_to_element", web).await, "elementId");
    world.ok("tap_element", &format!(r#"{{"elementId":"{id}","settle":true}}"#)).await;
    assert_eq!(world.phone.truth().activity, "com.workbench/.WebActivity");
}

#[tokio::test(start_paused = true)]
async fn a_screen_that_does_not_scroll_is_found_out_by_looking() {
    let (_, world) = started_on(IDB, IPhoneFaults::default()).await;
    let absent = r#"{"selector":{"text":"No such thing"},"direction":"down"}"#;
    let missed = world.call("scroll_to_element", absent).await.text();
    println!("{missed}");
    assert_eq!(fact(&missed, "code"), "ELEMENT_NOT_FOUND", "{missed}");
}

#[tokio::test(start_paused = true)]
async fn the_log_is_followed_from_the_first_command_on_and_without_debugging() {
    let (iphone, world) = super::world(IDB, IPhoneFaults::default());
    let followed = || iphone.simulator(|simulator| simulator.logs_followed.clone());
    world.ok("get_ui_tree", "{}").await;
    world.ok("capture_screenshot", "{}").await;
    assert!(followed().is_empty(), "who only looks pays for no log: {:?}", followed());
    world.ok("start_app", r#"{"app_id":"com.workbench"}"#).await;
    world.ok("tap_element", r#"{"selector":{"text":"Remember me"}}"#).await;
    assert_eq!(followed(), ["--style ndjson --level info"], "once");
}
