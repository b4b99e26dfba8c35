//! A real iPhone on which nothing is installed: pictures, apps and touches by coordinates, a list of what is spoken, and no
//! tree.

use std::sync::Arc;

use mdm_virtual_device::{DeveloperImage, IPhone, IPhoneConfig, IPhoneFaults, IPhoneKind};

use crate::gestures;
use crate::world::{APP, World, code_of, fact};

pub fn iphone(ios_version: &str, developer_image: DeveloperImage, iphone_faults: IPhoneFaults) -> IPhone {
    IPhone::new(IPhoneConfig {
        udid: "00008130-001A2B3C4D5E6F70".to_owned(),
        ios_version: ios_version.to_owned(),
        kind: IPhoneKind::Device,
        developer_image,
        iphone_faults,
        ..IPhoneConfig::default()
    })
}

/// A phone of iOS 27 that shows the app.
async fn started(faults: IPhoneFaults) -> (IPhone, World) {
    let iphone = iphone("27.0", DeveloperImage::New, faults);
    let world = World::on_cable(&iphone);
    world.ok("start_app", &format!(r#"{{"appId":"{APP}"}}"#)).await;
    (iphone, world)
}

/// A tap on what has this label or placeholder, where a person would see it.
fn tap_on(iphone: &IPhone, label: &str, more: &str) -> String {
    let tree = iphone.elements().expect("widgets");
    let mut found = None;
    tree.walk(&mut |element| {
        if [&element.label, &element.placeholder].contains(&&label.to_owned()) && element.visible {
            found = Some(element.frame);
        }
    });
    let frame = found.unwrap_or_else(|| panic!("no {label}"));
    let (x, y) = (frame.x + frame.width / 2.0, frame.y + frame.height / 2.0);
    format!(r#"{{"x":{x},"y":{y}{more}}}"#)
}

#[tokio::test(start_paused = true)]
async fn what_it_can_and_what_is_missing_is_listed() {
    let none = IPhoneFaults::default();
    let off = IPhoneFaults { developer_mode_off: true, ..none };
    let starts = "Start WebDriverAgent on it";
    for (version, image, faults, words) in [
        ("27.0", DeveloperImage::New, none, ["takes touches by coordinates", starts]),
        (
            "26.2",
            DeveloperImage::New,
            none,
            ["cannot be touched; it speaks of its screen and shows pictures", starts],
        ),
        ("18.5", DeveloperImage::None, none, ["mount its developer image", starts]),
        ("18.5", DeveloperImage::New, off, ["Developer Mode of the iPhone", starts]),
        ("17.3", DeveloperImage::New, none, ["which came with iOS 17.4: update iOS", starts]),
        ("16.7", DeveloperImage::New, none, ["cannot be touched and no apps start", starts]),
    ] {
        let world = World::on_cable(&iphone(version, image, faults));
        for tool in ["list_devices", "get_system_status"] {
            let told = world.told(tool, "{}").await;
            assert!(words.iter().all(|word| told.contains(word)), "{version} {image:?}: {told}");
        }
        let listed = world.ok("list_devices", "{}").await;
        assert_eq!(fact(&listed, "osVersion"), version, "it is found: {listed}");
    }
}

#[tokio::test(start_paused = true)]
async fn every_refusal_names_what_is_missing_in_the_words_of_the_list() {
    let none = IPhoneFaults::default();
    let off = IPhoneFaults { developer_mode_off: true, ..none };
    for (version, image, faults, cause) in [
        ("17.3", DeveloperImage::New, none, "which came with iOS 17.4: update iOS"),
        ("18.5", DeveloperImage::None, none, "mount its developer image"),
        ("18.5", DeveloperImage::New, off, "Developer Mode of the iPhone"),
    ] {
        let iphone = iphone(version, image, faults);
        let world = World::on_cable(&iphone);
        let listed = world.ok("list_devices", "{}").await;
        world.ok("manage_app", r#"{"action":"list"}"#).await;
        let start = format!(r#"{{"appId":"{APP}"}}"#);
        for (tool, json) in [
            ("start_app", start.as_str()),
            ("terminate_app", &start),
            ("tap_element", r#"{"selector":{"text":"Settings"}}"#),
            ("type_text", r#"{"selector":{"text":"Email"},"text":"ada"}"#),
            ("tap", r#"{"x":9,"y":9}"#),
            ("press_key", r#"{"key":"home"}"#),
            ("get_current_screen", "{}"),
            ("wait_for_ui", r#"{"selector":{"text":"Settings"},"timeout_ms":500}"#),
        ] {
            let answer = world.call(tool, json).await;
            let text = answer.text();
            assert!(answer.is_error, "{version} {tool}: {text}");
            assert_eq!(code_of(&answer), "PLATFORM_NOT_SUPPORTED", "{version} {tool}: {text}");
            assert!(
                text.contains(cause) && text.contains("Start WebDriverAgent on it"),
                "{version} {tool}: {text}"
            );
            assert!(listed.contains(cause), "{listed}");
        }
        assert!(world.phone.truth().inputs.is_empty());
        // The next call sees that it has come, without a list.
        let wda = iphone.clone();
        iphone.open_port(8100, Arc::new(move || wda.connect_wda()));
        world.ok("start_app", &start).await;
        world
            .ok("tap_element", r#"{"selector":{"text":"Settings"},"expect":{"text":"Use staging server"}}"#)
            .await;
    }
}

#[tokio::test(start_paused = true)]
async fn what_the_screen_speaks_is_told_where_there_is_no_tree() {
    for version in ["16.7", "17.2", "18.5", "27.0"] {
        let iphone = iphone(version, DeveloperImage::New, IPhoneFaults::default());
        let world = World::on_cable(&iphone);
        gestures::open_screen(&world, "LoginActivity").await;
        let answer = world.call("get_ui_tree", "{}").await;
        let text = answer.text();
        assert!(!answer.is_error, "{version}: {text}");
        assert_eq!(answer.via, "accessibility audit", "{text}");
        assert!(text.contains("\"Log in, Button\"") && text.contains("Remember me"), "{version}: {text}");
        assert!(text.contains(r#""partial":true"#) && text.contains("no places"), "{text}");
        assert!(text.contains("Start WebDriverAgent on it"), "why there is no tree: {text}");
        // It gives no element an id, so nothing can be touched by it.
        assert!(!text.contains("e1 ") && !text.contains("snapshot_revision"), "{text}");
        for (tool, json) in [
            ("tap_element", r#"{"selector":{"text":"Log in"}}"#),
            ("tap_element", r#"{"element_id":"e1"}"#),
            ("get_ui_tree", r#"{"target":"e1"}"#),
            ("wait_for_ui", r#"{"selector":{"text":"Log in"},"timeout_ms":500}"#),
        ] {
            let refused = world.call(tool, json).await;
            assert!(refused.is_error, "{version} {tool} {json}: {}", refused.text());
        }
        assert!(world.phone.truth().inputs.is_empty(), "nothing was touched");
        let picture = world.call("capture_screenshot", "{}").await;
        match version {
            "17.2" => {
                assert_eq!(code_of(&picture), "SCREENSHOT_UNAVAILABLE", "{}", picture.text());
                assert!(
                    picture.text().contains("which came with iOS 17.4: update iOS"),
                    "{}",
                    picture.text()
                );
            }
            "16.7" => assert_eq!((picture.is_error, picture.via.as_str()), (false, "usbmux")),
            _ => assert_eq!((picture.is_error, picture.via.as_str()), (false, "CoreDevice")),
        }
    }
    let off = IPhoneFaults { developer_mode_off: true, ..IPhoneFaults::default() };
    let world = World::on_cable(&iphone("18.5", DeveloperImage::New, off));
    let answer = world.call("get_ui_tree", "{}").await;
    assert_eq!(code_of(&answer), "PLATFORM_NOT_SUPPORTED", "{}", answer.text());
    assert!(answer.text().contains("turn it on in Settings"), "{}", answer.text());
}

#[tokio::test(start_paused = true)]
async fn a_phone_that_was_never_trusted_is_asked_and_every_call_says_to_tap_trust() {
    let pending = IPhoneFaults { pairing_pending_ms: 60_000, ..IPhoneFaults::default() };
    let world = World::on_cable(&iphone("16.7", DeveloperImage::New, pending));
    for (tool, json) in [
        ("get_ui_tree", "{}"),
        ("capture_screenshot", "{}"),
        ("tap", r#"{"x":9,"y":9}"#),
        ("start_app", r#"{"appId":"com.workbench"}"#),
        ("manage_app", r#"{"action":"list"}"#),
    ] {
        let answer = world.call(tool, json).await;
        assert_eq!(code_of(&answer), "DEVICE_UNAUTHORIZED", "{tool}: {}", answer.text());
        assert!(answer.text().contains("tap Trust on it"), "{tool}: {}", answer.text());
    }
    let listed = world.told("list_devices", "{}").await;
    assert!(listed.contains("unauthorized") && listed.contains("tap Trust on it"), "{listed}");
    tokio::time::sleep(std::time::Duration::from_secs(60)).await;
    world.ok("manage_app", r#"{"action":"list"}"#).await;
    for (faults, words) in [
        (IPhoneFaults { pairing_refused: true, ..IPhoneFaults::default() }, "refused to trust this computer"),
        (IPhoneFaults { passcode_locked: true, ..pending }, "is locked: unlock it"),
    ] {
        let world = World::on_cable(&iphone("16.7", DeveloperImage::New, faults));
        let answer = world.call("get_ui_tree", "{}").await;
        assert_eq!(code_of(&answer), "DEVICE_UNAUTHORIZED", "{}", answer.text());
        assert!(answer.text().contains(words), "{}", answer.text());
    }
}

#[tokio::test(start_paused = true)]
async fn apps_start_and_end_and_pictures_are_taken() {
    let (_, world) = started(IPhoneFaults::default()).await;
    assert_eq!(world.phone.truth().activity, "com.workbench/.LoginActivity");
    let picture = world.ok("capture_screenshot", "{}").await;
    assert!(picture.contains(r#""width":1179,"height":2556"#), "{picture}");
    world.ok("terminate_app", &format!(r#"{{"appId":"{APP}"}}"#)).await;
    assert!(world.phone.truth().activity.contains("launcher"));
    assert_eq!(world.code("start_app", r#"{"appId":"com.example.absent"}"#).await, "APP_NOT_INSTALLED");
}

#[tokio::test(start_paused = true)]
async fn a_touch_by_coordinates_works_and_pictures_tell_whether_something_changed() {
    // F13: no tree tells it.
    let (iphone, world) = started(IPhoneFaults::default()).await;
    let sent = world.ok("tap", &tap_on(&iphone, "Remember me", "")).await;
    assert_eq!(fact(&sent, "lifecycle_state"), "pending_verification", "nobody looked: {sent}");
    assert!(world.phone.truth().switches["remember_me"]);
    let answer = world.ok("tap", &tap_on(&iphone, "Settings", r#","settle":true"#)).await;
    assert_eq!(world.phone.truth().activity, "com.workbench/.SettingsActivity");
    assert_eq!(fact(&answer, "observed_change"), "pixels", "{answer}");
    assert!(answer.contains("a picture shows that something changed"), "{answer}");
    assert!(answer.contains("to read the screen it needs WebDriverAgent"), "{answer}");
    let idle = world.ok("tap", r#"{"x":1,"y":840,"settle":true}"#).await;
    assert!(idle.contains("pictures of 2000 ms show no change"), "{idle}");
    world.ok("press_back", r#"{"settle":true}"#).await;
    assert_eq!(world.phone.truth().activity, "com.workbench/.LoginActivity", "by the gesture");
    world.ok("tap", &tap_on(&iphone, "Email", "")).await;
    let typed = world.ok("type_text", r#"{"text":"ada@example.com"}"#).await;
    assert_eq!(world.phone.truth().fields["email"], "ada@example.com");
    assert_eq!(fact(&typed, "read_back"), "unread", "{typed}");
    let outside = world.call("tap", r#"{"x":1000,"y":300}"#).await;
    assert!(outside.is_error && outside.text().contains("393x852"), "F48: {}", outside.text());
}

#[tokio::test(start_paused = true)]
async fn an_expectation_stays_undetermined_and_a_touch_that_is_dropped_is_never_called_done() {
    for ignored in [false, true] {
        let faults = IPhoneFaults { hid_ignored: ignored, ..IPhoneFaults::default() };
        let (iphone, world) = started(faults).await;
        let expecting = tap_on(&iphone, "Settings", r#","expect":{"text":"Use staging server"}"#);
        let answer = world.call("tap", &expecting).await;
        assert!(answer.is_error, "nobody could check it: {}", answer.text());
        assert_eq!(fact(&answer.text(), "verdict"), "undetermined", "{}", answer.text());
        let told = if ignored { "show no change" } else { "shows that something changed" };
        assert!(answer.text().contains(told), "{ignored}: {}", answer.text());
        assert_eq!(world.phone.truth().inputs.is_empty(), ignored);
        if ignored {
            let answer = world.told("tap", &tap_on(&iphone, "Log in", r#","settle":true"#)).await;
            assert!(answer.contains("show no change") && !answer.contains("observed_change"), "{answer}");
            assert_eq!(fact(&answer, "lifecycle_state"), "pending_verification", "{answer}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_needs_a_tree_is_refused_until_web_driver_agent_runs() {
    let (iphone, world) = started(IPhoneFaults::default()).await;
    let tap = r#"{"selector":{"text":"Settings"},"expect":{"text":"Use staging server"}}"#;
    for (tool, json) in [
        ("tap_element", tap),
        ("get_current_screen", "{}"),
        ("type_text", r#"{"selector":{"text":"Email"},"text":"ada"}"#),
        ("scroll_to_element", r#"{"selector":{"text":"Settings"}}"#),
    ] {
        let answer = world.call(tool, json).await;
        assert!(answer.is_error, "{tool}: {}", answer.text());
        assert_eq!(code_of(&answer), "PLATFORM_NOT_SUPPORTED", "{tool}: {}", answer.text());
        assert!(answer.text().contains("Start WebDriverAgent on it"), "{tool}: {}", answer.text());
        assert!(answer.text().contains("call list_devices"), "{tool}: {}", answer.text());
    }
    let gone = r#"{"selector":{"text":"No such thing"},"condition":"not_exists","timeout_ms":500}"#;
    assert!(world.call("wait_for_ui", gone).await.is_error, "W10: nothing proves an absence");
    assert!(world.phone.truth().inputs.is_empty(), "nothing was touched");

    let wda = iphone.clone();
    iphone.open_port(8100, Arc::new(move || wda.connect_wda()));
    let listed = world.ok("list_devices", "{}").await;
    assert!(!listed.contains("missing"), "{listed}");
    world.ok("tap_element", tap).await;
    assert_eq!(world.phone.truth().activity, "com.workbench/.SettingsActivity");
}
