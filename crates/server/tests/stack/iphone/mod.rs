//! The product on an iPhone: the same tools and the same answers, whichever program reaches it.

use mdm_ios::route::{Verb, Way};
use mdm_virtual_device::{AppFile, DeveloperImage, IPhone, IPhoneConfig, IPhoneFaults, IPhoneKind};

use crate::world::{APP, World, code_of, fact};
use crate::{gestures, iphone_without_wda as bare, page};

mod broken;
mod idb_alone;
mod network;
mod runner;

const IDB: &[Way] = &[Way::Idb];
const WDA: &[Way] = &[Way::Wda];
const BOTH: &[Way] = &[Way::Idb, Way::Wda];
const USB: &[Way] = &[Way::Usb];
const CABLE: &[Way] = &[Way::Usb, Way::Wda];
const BARE: &[Way] = &[Way::Usb, Way::CoreDevice, Way::Hid];

fn world(ways: &[Way], faults: IPhoneFaults) -> (IPhone, World) {
    let iphone = IPhone::new(IPhoneConfig { iphone_faults: faults, ..IPhoneConfig::default() });
    let world = World::reaching(&iphone, ways);
    (iphone, world)
}

async fn started(ways: &[Way]) -> World {
    let (_, world) = world(ways, IPhoneFaults::default());
    world.ok("start_app", &format!(r#"{{"appId":"{APP}","expect":{{"text":"Log in"}}}}"#)).await;
    world
}

/// The app in front of a phone with these faults.
async fn started_on(ways: &[Way], faults: IPhoneFaults) -> (IPhone, World) {
    let (iphone, world) = world(ways, faults);
    world.ok("start_app", &format!(r#"{{"appId":"{APP}","expect":{{"text":"Log in"}}}}"#)).await;
    (iphone, world)
}

/// A failing login is debugged and mended, in each way.
async fn story(ways: &[Way]) {
    let world = started(ways).await;
    world.ok("type_text", r#"{"selector":{"text":"Email"},"text":"ada@example.com"}"#).await;
    let typed = world.ok("type_text", r#"{"selector":{"text":"Password"},"text":"correct horse"}"#).await;
    assert!(!typed.contains("horse"), "ST-07, S8: {typed}");
    let truth = world.phone.truth();
    assert_eq!(truth.fields["email"], "ada@example.com");
    assert_eq!(truth.fields["password"], "correct horse");
    let failed = r#"{"selector":{"text":"Log in"},"expect":{"text":"Could not sign in","contains":true}}"#;
    world.ok("tap_element", failed).await;
    let open = r#"{"selector":{"text":"Settings"},"expect":{"text":"Use staging server","checked":true}}"#;
    world.ok("tap_element", open).await;
    let off = r#"{"selector":{"text":"Use staging server"},"expect":{"text":"Use staging server","checked":false}}"#;
    world.ok("tap_element", off).await;
    world.ok("press_back", r#"{"expect":{"text":"Log in"}}"#).await;
    let again = r#"{"selector":{"text":"Log in"},"expect":{"text":"Welcome, Ada","contains":true}}"#;
    world.ok("tap_element", again).await;
    assert_eq!(world.phone.truth().activity, "com.workbench/.HomeActivity");
}

#[tokio::test(start_paused = true)]
async fn a_story_through_idb() {
    story(IDB).await;
}

#[tokio::test(start_paused = true)]
async fn a_story_through_web_driver_agent() {
    story(WDA).await;
}

#[tokio::test(start_paused = true)]
async fn a_story_through_both() {
    story(BOTH).await;
}

#[tokio::test(start_paused = true)]
async fn back_is_the_button_of_the_navigation_bar_or_the_swipe_from_the_edge() {
    for ways in [WDA, IDB] {
        let world = started(ways).await;
        let open = r#"{"selector":{"text":"Settings"},"expect":{"text":"Use staging server"}}"#;
        world.ok("tap_element", open).await;
        assert_eq!(world.phone.truth().activity, "com.workbench/.SettingsActivity");
        world.ok("press_back", r#"{"expect":{"text":"Log in"}}"#).await;
        assert_eq!(world.phone.truth().activity, "com.workbench/.LoginActivity", "{ways:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_lies_over_a_target_is_found_by_asking_what_is_at_the_point() {
    // AC-05 for trees that do not tell what lies in front.
    let world = started(IDB).await;
    gestures::open_screen(&world, "OverlayActivity").await;
    let before = world.phone.truth().inputs.len();
    let refused = world.call("tap_element", r#"{"selector":{"text":"Pay now"}}"#).await;
    assert!(refused.is_error, "{}", refused.text());
    assert_eq!(fact(&refused.text(), "code"), "ELEMENT_NOT_INTERACTABLE");
    assert!(refused.text().contains("We use cookies"), "{}", refused.text());
    assert_eq!(world.phone.truth().inputs.len(), before, "nothing was touched");
}

#[tokio::test(start_paused = true)]
async fn a_touch_that_is_answered_with_success_and_ignored_is_found_out() {
    let faults = IPhoneFaults { hid_ignored: true, ..IPhoneFaults::default() };
    let (_, world) = world(BOTH, faults);
    world.ok("start_app", &format!(r#"{{"appId":"{APP}"}}"#)).await;
    let json = r#"{"selector":{"text":"Settings"},"expect":{"text":"Use staging server"},"timeout_ms":2000}"#;
    let answer = world.call("tap_element", json).await;
    assert!(answer.is_error, "{}", answer.text());
    assert_eq!(fact(&answer.text(), "verdict"), "contradicted");
    assert!(world.phone.truth().inputs.is_empty(), "the companion swallowed it");
}

#[tokio::test(start_paused = true)]
async fn a_companion_of_2022_is_driven_too() {
    let faults = IPhoneFaults { old_companion: true, numeric_values: true, ..IPhoneFaults::default() };
    let (_, world) = world(IDB, faults);
    world.ok("start_app", &format!(r#"{{"appId":"{APP}","expect":{{"text":"Log in"}}}}"#)).await;
    let json = r#"{"selector":{"text":"Remember me"},"expect":{"text":"Remember me","checked":true}}"#;
    world.ok("tap_element", json).await;
    assert!(world.phone.truth().switches["remember_me"]);
}

#[tokio::test(start_paused = true)]
async fn a_tree_without_content_and_one_that_is_cut_prove_no_absence() {
    // W10
    let gone = r#"{"selector":{"text":"No such thing"},"condition":"not_exists","timeout_ms":500}"#;
    let one = IPhoneFaults { one_element_tree: true, ..IPhoneFaults::default() };
    let deep = IPhoneFaults { deep_tree: true, ..IPhoneFaults::default() };
    for (ways, faults) in [(IDB, one), (WDA, deep)] {
        let (_, world) = world(ways, faults);
        world.ok("start_app", &format!(r#"{{"appId":"{APP}"}}"#)).await;
        let answer = world.call("wait_for_ui", gone).await;
        println!("{ways:?}: {}", answer.text());
        assert!(answer.is_error, "{ways:?}: {}", answer.text());
    }
    let world = started(WDA).await;
    world.ok("wait_for_ui", gone).await;
}

#[tokio::test(start_paused = true)]
async fn a_screen_of_which_only_the_app_is_told_says_so_and_is_never_stable() {
    // SY-05, W10
    let (_, world) = world(IDB, IPhoneFaults { one_element_tree: true, ..IPhoneFaults::default() });
    world.ok("start_app", &format!(r#"{{"appId":"{APP}"}}"#)).await;
    let tree = world.ok("get_ui_tree", "{}").await;
    assert!(tree.contains("idb tells only the app and nothing in it"), "{tree}");
    let swiped = world.ok("swipe", r#"{"x1":196,"y1":680,"x2":196,"y2":320,"settle":true}"#).await;
    assert_ne!(fact(&swiped, "stability_state"), "stable", "{swiped}");
    assert!(swiped.contains("so what changed is not known"), "{swiped}");
    let absent = world.call("find_element", r#"{"selector":{"text":"No such thing"},"timeoutMs":100}"#).await;
    assert_eq!(fact(&absent.text(), "partial"), "true", "{}", absent.text());
    let waited = world.call("wait_for_ui", r#"{"condition":"stable","timeout_ms":3000}"#).await;
    assert!(waited.is_error, "{}", waited.text());
}

#[tokio::test(start_paused = true)]
async fn each_refusal_is_coded_and_says_what_is_missing() {
    let world = started(WDA).await;
    let logs = world.call("get_logs", "{}").await;
    assert!(logs.is_error && logs.text().contains("simctl or idb or usbmux"), "{}", logs.text());
    let apps = world.call("manage_app", r#"{"action":"list"}"#).await;
    assert!(apps.is_error && apps.text().contains("idb or simctl or usbmux"), "{}", apps.text());
    let world = started(IDB).await;
    let missing = world.code("start_app", r#"{"appId":"com.example.absent"}"#).await;
    assert_eq!(missing, "APP_NOT_INSTALLED");
}

#[tokio::test(start_paused = true)]
async fn any_text_is_typed_through_web_driver_agent() {
    let world = started(BOTH).await;
    world.ok("type_text", r#"{"selector":{"text":"Email"},"text":"grün 漢字 👍"}"#).await;
    assert_eq!(world.phone.truth().fields["email"], "grün 漢字 👍");
    world.ok("type_text", r#"{"selector":{"text":"Email"},"text":"plain","clear":true}"#).await;
    assert_eq!(world.phone.truth().fields["email"], "plain");
}

#[tokio::test(start_paused = true)]
async fn the_log_that_is_kept_tells_what_the_app_said() {
    let world = started(BOTH).await;
    world.ok("type_text", r#"{"selector":{"text":"Email"},"text":"ada@example.com"}"#).await;
    world.ok("type_text", r#"{"selector":{"text":"Password"},"text":"wrong","submit":true}"#).await;
    let _ = world.call("tap_element", r#"{"selector":{"text":"Log in"}}"#).await;
    let _ = world.call("wait_for_ui_change", r#"{"timeout_ms":3000}"#).await;
    let logs = world.ok("get_logs", &format!(r#"{{"app_id":"{APP}","level":"error"}}"#)).await;
    assert!(logs.contains("401"), "{logs}");
}

#[tokio::test(start_paused = true)]
async fn a_crash_is_told_by_the_action_that_caused_it_on_an_iphone_too() {
    // F44
    let world = started(BOTH).await;
    gestures::open_screen(&world, "TroubleActivity").await;
    let answer = world.call("tap_element", r#"{"selector":{"text":"Crash"}}"#).await;
    let text = answer.text();
    assert!(answer.is_error && text.contains("! com.workbench crashed"), "{text}");
    assert!(world.phone.truth().activity.contains("launcher"), "the app just went away");
}

/// Tries every kind of request in each way alone, and keeps what came of it as a page.
/// What the cells do not prove, by column.
const MATRIX_UNPROVEN: &str = "\n## What only a Mac or a real phone can prove\n\n\
    No cell is proven on Apple's own programs. What each column takes for granted, and where the list of it is:\n\n\
    | column | who drives the virtual one in the test run, unmodified | only a Mac or a phone can prove |\n|---|---|---|\n\
    | idb | fb-idb 1.7.7 | touches that a companion takes and drops (idb#964, Xcode 27); which containers its trees have; set_value and scroll |\n\
    | WebDriverAgent | facebook-wda 1.5.4, Appium 3.8.0 with xcuitest-driver 12.13.1 | times of large trees; gestures that come late; errors of deep trees |\n\
    | usbmux | libimobiledevice 1.3.0, pymobiledevice3 11.45.0, the idevice crate | trust as a person gives it; words of the accessibility audit |\n\
    | usbmux and WebDriverAgent | pymobiledevice3 11.45.0 (start through XCTest) | that XCTest starts the runner, which needs a signature |\n\
    | usbmux and CoreDevice | pymobiledevice3 11.45.0 (tunnel, apps, pictures, touches) | that touches count, and when; which image brings which service |\n\
    | simctl (order) | node-simctl 9.1.1 | every text and exit code of simctl |\n\n\
    The lists are under \"Unproven\" in [virtual-iphone.md](../virtual-iphone.md), face by face.\n";

#[tokio::test(start_paused = true)]
async fn every_cell_of_the_backend_matrix_is_tried() {
    let mut page = String::from(
        "# Which program serves what on an iPhone\n\nEach cell was tried on the virtual iPhone with that program alone \
         (`cargo test -p mobile-debug-mcp --test stack matrix`): in bold who served it, as the answer's `via` says, otherwise the \
         code of the refusal. With several programs the first of the last column that is there serves the request, and \
         whichever reads screens looks before and after it; the table is `crates/ios/src/route.rs`. simctl runs as a process and is tried by `crates/ios/tests/simctl.rs`. Nothing here was \
         tried on a real phone, nor on a Mac. The phone behind usbmux has iOS 16.7, and iOS 27 with the developer image of \
         Xcode 27 in the column of CoreDevice. The accessibility audit is no tree: it lists what is spoken, without places.\n\n| request | idb | WebDriverAgent | idb and WebDriverAgent | usbmux | usbmux and \
         WebDriverAgent | usbmux and CoreDevice | order |\n|---|---|---|---|---|---|---|---|\n",
    );
    for (name, verb, tool, json) in REQUESTS {
        let mut row = format!("| {name} |");
        for ways in [IDB, WDA, BOTH, USB, CABLE, BARE] {
            let world = world_for(ways).await;
            let answer = world.call(tool, json).await;
            if answer.is_error {
                row.push_str(&format!(" {} |", code_of(&answer)));
                continue;
            }
            // The answer itself names who served it: the first of the row that is there, and whoever read the screen.
            // Where nobody reads the screen, what it speaks is told.
            let all = verb.ways().iter().chain(instead_of(verb));
            let first = all.copied().find(|way| has(ways, *way)).map(Way::as_str);
            assert!(
                first.is_some_and(|first| answer.via.contains(first)),
                "{name} {ways:?}: {}",
                answer.text()
            );
            row.push_str(&format!(" **{}** |", answer.via));
        }
        let order: Vec<&str> = verb.ways().iter().chain(instead_of(verb)).map(|way| way.as_str()).collect();
        page.push_str(&format!("{row} {} |\n", order.join(", ")));
    }
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/figures/ios-backends.md");
    page.push_str(MATRIX_UNPROVEN);
    let difference = page::difference(&file, &page, "UPDATE_FIGURES");
    assert!(difference.is_none(), "{}", difference.unwrap_or_default());
}

fn instead_of(verb: Verb) -> &'static [Way] {
    if verb == Verb::Tree { Verb::Spoken.ways() } else { &[] }
}

fn has(ways: &[Way], way: Way) -> bool {
    ways.contains(&way) || (way == Way::Audit && ways.contains(&Way::Usb))
}

/// The app is in front. A phone on a cable is of a system that needs no tunnel, unless the tunnel is the way.
async fn world_for(ways: &[Way]) -> World {
    if !ways.contains(&Way::Usb) {
        return started(ways).await;
    }
    if ways == BARE {
        let world = World::on_cable(&bare::iphone("27.0", DeveloperImage::New, IPhoneFaults::default()));
        world.ok("start_app", &format!(r#"{{"appId":"{APP}"}}"#)).await;
        return world;
    }
    let cable =
        IPhoneConfig { kind: IPhoneKind::Device, ios_version: "16.7".to_owned(), ..IPhoneConfig::default() };
    let world = World::reaching(&IPhone::new(cable), ways);
    gestures::open_screen(&world, "LoginActivity").await;
    world
}

const REQUESTS: [(&str, Verb, &str, &str); 18] = [
    ("read the screen", Verb::Tree, "get_ui_tree", "{}"),
    ("take a picture", Verb::Picture, "capture_screenshot", "{}"),
    (
        "tap",
        Verb::Touch,
        "tap_element",
        r#"{"selector":{"text":"Remember me"},"expect":{"text":"Remember me","checked":true}}"#,
    ),
    ("tap a point", Verb::Touch, "tap", r#"{"x":100,"y":300}"#),
    ("type ASCII", Verb::Text, "type_text", r#"{"selector":{"text":"Email"},"text":"ada"}"#),
    ("type any text", Verb::Text, "type_text", r#"{"selector":{"text":"Email"},"text":"grün"}"#),
    ("home", Verb::Button, "press_key", r#"{"key":"home"}"#),
    ("go back", Verb::Touch, "press_back", "{}"),
    ("turn", Verb::Turn, "set_orientation", r#"{"orientation":"landscape"}"#),
    ("start an app", Verb::Launch, "start_app", r#"{"app_id":"com.shop"}"#),
    ("end an app", Verb::Terminate, "terminate_app", r#"{"app_id":"com.workbench"}"#),
    ("list apps", Verb::ListApps, "manage_app", r#"{"action":"list"}"#),
    (
        "change a permission",
        Verb::Permit,
        "manage_app",
        r#"{"action":"grant","app_id":"com.workbench","permission":"camera"}"#,
    ),
    ("read the log", Verb::ReadLog, "get_logs", "{}"),
    ("list crashes", Verb::Crashes, "list_crashes", "{}"),
    ("dark mode", Verb::DarkMode, "set_device", r#"{"setting":"dark_mode","value":"on"}"#),
    ("place", Verb::Location, "set_device", r#"{"setting":"location","value":"48.1,11.5"}"#),
    ("clipboard", Verb::Clipboard, "set_device", r#"{"setting":"clipboard","value":"hello"}"#),
];

#[tokio::test(start_paused = true)]
async fn a_phone_that_trusts_nobody_or_is_locked_is_said_to_be_so() {
    let refused = IPhoneFaults { pairing_refused: true, ..IPhoneFaults::default() };
    let locked = IPhoneFaults { passcode_locked: true, ..IPhoneFaults::default() };
    let wrong = IPhoneFaults { wrong_certificate: true, ..IPhoneFaults::default() };
    let mut told = String::new();
    for (name, faults) in [("refused", refused), ("locked", locked), ("wrong certificate", wrong)] {
        let config = IPhoneConfig {
            kind: IPhoneKind::Device,
            ios_version: "16.7".to_owned(),
            iphone_faults: faults,
            ..IPhoneConfig::default()
        };
        let world = World::reaching(&IPhone::new(config), CABLE);
        let listed = world.told("list_devices", "{}").await;
        let answer = world.call("manage_app", r#"{"action":"list"}"#).await;
        assert!(answer.is_error, "{name}: {}", answer.text());
        assert_eq!(code_of(&answer), "DEVICE_UNAUTHORIZED", "{name}");
        assert!(answer.text().contains("unlock the iPhone and tap Trust"), "{name}: {}", answer.text());
        told.push_str(&format!("{name}: {}\n  {}\n", listed, answer.text()));
    }
    println!("{told}");
    assert!(told.contains("unauthorized"), "{told}");
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_breaks_is_told_and_made_anew() {
    for ways in [IDB, WDA] {
        let world = started(ways).await;
        let before = world.phone.truth().connections;
        assert!(before > 0, "{ways:?}: the program is connected");
        world.phone.cut_connections();
        let first = world.call("get_ui_tree", "{}").await;
        let second = world.call("get_ui_tree", "{}").await;
        assert!(!second.is_error, "{ways:?}: {}\n{}", first.text(), second.text());
        // An unplugged phone refuses; the answer has a code, and it is found again afterwards.
        world.phone.set_plugged(false);
        let gone = world.call("tap_element", r#"{"selector":{"text":"Settings"}}"#).await;
        assert!(gone.is_error, "{ways:?}: {}", gone.text());
        println!("{ways:?}: {}", gone.text());
        world.phone.set_plugged(true);
        let back = world.call("get_ui_tree", "{}").await;
        assert!(!back.is_error, "{ways:?}: {}", back.text());
    }
}

#[tokio::test(start_paused = true)]
async fn a_slider_is_set_through_accessibility_first() {
    // AD-01: read back, and corrected by touches where that is not enough.
    for ways in [WDA, BOTH] {
        let world = started(ways).await;
        gestures::open_screen(&world, "SlidersActivity").await;
        let json = r#"{"selector":{"resource_id":"brightness"},"targetValue":75,"tolerance":1}"#;
        let answer = world.ok("adjust_control", json).await;
        assert_eq!(fact(&answer, "within_tolerance"), "true", "{answer}");
        assert_eq!(fact(&answer, "adjustment_mode"), "semantic", "{answer}");
        let real = world.phone.truth().sliders["gallery.brightness"];
        assert!((real - 75.0).abs() <= 1.0, "{ways:?}: {real}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_only_the_picture_of_an_iphone_shows_is_told() {
    // F13: trees count in points and pictures in pixels; what changes is in the lower part of the screen.
    let above = r#"{"type":"text","text":"Above"},"#.repeat(8);
    let app = format!(
        r#"{{"package":"org.example.count","label":"Count","start":"Home","style":"game","values":{{"n":0}},
            "screens":{{"Home":{{"title":"Count","content":[{above}
            {{"type":"text","text":"Points {{n}}"}},
            {{"type":"button","text":"Score","on_tap":[{{"add":{{"n":1}}}}]}}]}}}}}}"#
    );
    let app = AppFile::parse(&app).unwrap_or_else(|error| panic!("{error}"));
    let iphone = IPhone::new(IPhoneConfig { apps: vec![app], ..IPhoneConfig::default() });
    let world = World::reaching(&iphone, WDA);
    world.ok("start_app", r#"{"appId":"org.example.count"}"#).await;
    for y in (300..800).step_by(20) {
        let before = world.phone.truth().sliders["org.example.count.n"];
        let answer = world.ok("tap", &format!(r#"{{"x":196,"y":{y},"settle":true}}"#)).await;
        if world.phone.truth().sliders["org.example.count.n"] > before {
            assert_eq!(fact(&answer, "observed_change"), "pixels", "{answer}");
            return;
        }
    }
    panic!("the button was never hit");
}

#[tokio::test(start_paused = true)]
async fn the_status_tells_an_iphone_from_an_android_phone() {
    // EN-01
    let world = started(BOTH).await;
    let status = world.told("get_system_status", "{}").await;
    assert_eq!(fact(&status, "iosAvailable"), "true", "{status}");
    assert_eq!(fact(&status, "adbAvailable"), "false", "{status}");
}
