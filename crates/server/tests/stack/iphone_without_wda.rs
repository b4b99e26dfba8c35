//! A real iPhone on which nothing is installed: pictures, apps and touches by coordinates, and no tree.

use std::sync::Arc;

use mdm_virtual_device::{DeveloperImage, IPhone, IPhoneConfig, IPhoneFaults, IPhoneKind};

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
        ("26.2", DeveloperImage::New, none, ["neither read nor touched; it shows pictures", starts]),
        ("18.5", DeveloperImage::None, none, ["mount its developer image", starts]),
        ("18.5", DeveloperImage::New, off, ["Developer Mode of the iPhone", starts]),
        ("17.3", DeveloperImage::New, none, ["neither read nor touched, and no apps start", starts]),
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
async fn without_developer_services_every_refusal_is_coded_and_says_to_start_web_driver_agent() {
    let none = IPhoneFaults::default();
    let off = IPhoneFaults { developer_mode_off: true, ..none };
    for (version, image, faults) in [
        ("17.3", DeveloperImage::New, none),
        ("18.5", DeveloperImage::None, none),
        ("18.5", DeveloperImage::New, off),
    ] {
        let iphone = iphone(version, image, faults);
        let world = World::on_cable(&iphone);
        let start = format!(r#"{{"appId":"{APP}"}}"#);
        for (tool, json) in [
            ("capture_screenshot", "{}"),
            ("start_app", &start),
            ("get_ui_tree", "{}"),
            ("tap", r#"{"x":9,"y":9}"#),
        ] {
            let answer = world.call(tool, json).await;
            assert!(answer.is_error, "{version} {tool}: {}", answer.text());
            assert_eq!(code_of(&answer), "DEVICE_OFFLINE", "{version} {tool}: {}", answer.text());
            assert!(answer.text().contains("WebDriverAgent does not answer"), "{}", answer.text());
        }
        world.ok("manage_app", r#"{"action":"list"}"#).await;
        assert!(world.phone.truth().inputs.is_empty());
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
        ("get_ui_tree", "{}"),
        ("tap_element", tap),
        ("get_current_screen", "{}"),
        ("type_text", r#"{"selector":{"text":"Email"},"text":"ada"}"#),
        ("scroll_to_element", r#"{"selector":{"text":"Settings"}}"#),
    ] {
        let answer = world.call(tool, json).await;
        assert!(answer.is_error, "{tool}: {}", answer.text());
        assert_eq!(code_of(&answer), "PLATFORM_NOT_SUPPORTED", "{tool}: {}", answer.text());
        assert!(answer.text().contains("start WebDriverAgent on it"), "{tool}: {}", answer.text());
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
