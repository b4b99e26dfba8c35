//! Advice that can be followed where it is given, and names that are nearly right (F46).

use mdm_virtual_device::{PhoneConfig, Timing};

use crate::gestures::on_screen;
use crate::world::{World, fact};

#[tokio::test(start_paused = true)]
async fn a_name_that_is_nearly_right_comes_back_with_what_was_meant_and_where() {
    // F46
    let world = World::started(Timing::Brisk).await;
    for (tool, json) in [
        ("tap_element", r#"{"selector":{"text":"Remeber me"}}"#),
        ("find_element", r#"{"query":"Remeber me","timeout_ms":0}"#),
        ("wait_for_ui", r#"{"selector":{"text":"Remeber me"},"timeout_ms":500}"#),
        ("expect_element_visible", r#"{"selector":{"text":"Remeber me"},"timeout_ms":500}"#),
    ] {
        let text = world.call(tool, json).await.text();
        println!("{tool}\n{text}");
        let meant = text.lines().skip(1).any(|line| line.contains(" switch \"Remember me\""));
        assert!(meant, "{tool}: {text}");
        assert!(text.contains("this is LoginActivity"), "{tool}: {text}");
    }
    let far = world.call("tap_element", r#"{"selector":{"text":"Zebra crossing"}}"#).await.text();
    assert_eq!(fact(&far, "code"), "ELEMENT_NOT_FOUND");
    assert_eq!(far.lines().count(), 1, "nothing is near: {far}");
}

#[tokio::test(start_paused = true)]
async fn a_dialog_in_front_is_named_when_something_is_not_found() {
    // F46
    let config = PhoneConfig { timing: Timing::Brisk, ..PhoneConfig::default() };
    let world = on_screen("DialogsActivity", config).await;
    world.ok("tap_element", r#"{"selector":{"text":"Discard draft"}}"#).await;
    let text = world.call("tap_element", r#"{"selector":{"text":"Zebra crossing"}}"#).await.text();
    println!("{text}");
    assert!(text.contains("a dialog, "), "{text}");
}

#[tokio::test(start_paused = true)]
async fn a_step_back_that_only_closed_the_keyboard_is_not_called_more() {
    // F46
    let world = World::started(Timing::Brisk).await;
    world.ok("tap_element", r#"{"selector":{"text":"Email"}}"#).await;
    let closed = world.ok("press_back", "{}").await;
    println!("{closed}");
    assert!(closed.contains("closed the keyboard; going back"), "{closed}");
    assert!(world.phone.truth().activity.contains("LoginActivity"));
    let back = world.ok("press_back", r#"{"settle":true}"#).await;
    assert!(!back.contains("closed the keyboard"), "{back}");
    assert!(!world.phone.truth().activity.contains("LoginActivity"), "now it went back: {back}");
}

#[tokio::test(start_paused = true)]
async fn the_end_of_the_only_list_advises_nothing_that_is_not_there() {
    // F46
    let config = PhoneConfig { timing: Timing::Brisk, ..PhoneConfig::default() };
    let world = on_screen("DuplicatesActivity", config).await;
    let json = r#"{"selector":{"text":"Zebra crossing"},"max_scrolls":100}"#;
    let text = world.call("scroll_to_element", json).await.text();
    println!("{text}");
    let hint = fact(&text, "hint");
    assert_eq!(fact(&text, "code"), "ELEMENT_NOT_FOUND", "{text}");
    assert!(!hint.contains("inside") && !hint.contains("these"), "there is no other list: {text}");
}

#[tokio::test(start_paused = true)]
async fn a_screen_that_did_not_turn_is_not_called_turned() {
    // F48: a screen that is shown as it was captured stays as it is held.
    let dump = r#"<?xml version='1.0' encoding='UTF-8'?><hierarchy rotation="0"><node index="0" text="Fixed"
        class="android.widget.TextView" package="org.example" bounds="[0,0][1080,2400]"/></hierarchy>"#;
    let hierarchy = Some(bytes::Bytes::from_static(dump.as_bytes()));
    let world = World::with(PhoneConfig { hierarchy, ..PhoneConfig::default() });
    let answer = world.call("set_orientation", r#"{"orientation":"landscape"}"#).await;
    println!("{}", answer.text());
    assert!(answer.is_error && answer.text().contains("did not turn"), "{}", answer.text());
    assert_eq!(fact(&answer.text(), "code"), "VERIFICATION_FAILED");
    assert_eq!(fact(&answer.text(), "success"), "true", "LC-03: the device took the setting");
    let turned = World::started(Timing::Brisk).await;
    let text = turned.ok("set_orientation", r#"{"orientation":"landscape"}"#).await;
    assert_eq!(fact(&text, "lifecycle_state"), "verified", "LC-01: {text}");
}

#[tokio::test(start_paused = true)]
async fn an_app_that_is_not_there_is_not_started() {
    // F48
    let world = World::new(Timing::Brisk);
    for tool in ["start_app", "restart_app", "terminate_app", "reset_app_data"] {
        let answer = world.call(tool, r#"{"app_id":"com.example.absent"}"#).await;
        assert_eq!(fact(&answer.text(), "code"), "APP_NOT_INSTALLED", "{tool}: {}", answer.text());
    }
}
