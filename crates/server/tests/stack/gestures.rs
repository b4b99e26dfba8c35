//! GE-01: gestures, checked against the apps and the phone's own state.

use std::sync::Arc;

use mdm_android::adb::direct::Transport;
use mdm_android::adb::key::HostKey;
use mdm_android::adb::link::Link;
use mdm_android::adb::{Adb, Script};
use mdm_virtual_device::{Applied, DevInput, PhoneConfig, Timing};

use crate::world::{World, line_of, point_of};

const OUTPUT_BYTES_MAX: usize = 1 << 20;

/// Opens a screen of Workbench that no button of the first screen leads to.
pub async fn on_screen(activity: &str, config: PhoneConfig) -> World {
    let world = World::with(config);
    open_screen(&world, activity).await;
    world
}

pub async fn open_screen(world: &World, activity: &str) {
    shell(world, &Script::new("am start -W -n").arg(&format!("com.workbench/.{activity}"))).await;
}

/// Runs a command on the phone without the server.
async fn shell(world: &World, script: &Script) {
    let phone = world.phone.clone();
    let connector = Arc::new(move || {
        let connected = phone.connect();
        Box::pin(async move { Ok(Box::new(connected?) as Box<dyn Transport>) }) as _
    });
    let adb = Adb::direct(Link::new(connector, HostKey::at("/nonexistent/adbkey")));
    adb.shell(script, OUTPUT_BYTES_MAX).await.unwrap();
}

fn timed(timing: Timing) -> PhoneConfig {
    PhoneConfig { timing, ..PhoneConfig::default() }
}

pub fn id_of(tree: &str, label: &str) -> String {
    line_of(tree, label).split_whitespace().next().expect("an id").to_owned()
}

fn count(world: &World, name: &str) -> f32 {
    world.phone.truth().sliders.get(&format!("gallery.{name}")).copied().unwrap_or(0.0)
}

#[tokio::test(start_paused = true)]
async fn a_long_press_is_not_taken_for_a_tap() {
    for timing in [Timing::Instant, Timing::Brisk, Timing::Phone] {
        let world = on_screen("GesturesActivity", timed(timing)).await;
        let tree = world.tree().await;
        let (x, y) = point_of(&tree, "Press and hold");
        world.ok("long_press", &format!(r#"{{"x":{x},"y":{y}}}"#)).await;
        assert_eq!((count(&world, "taps"), count(&world, "long_presses")), (0.0, 1.0), "GE-01");
        let id = id_of(&tree, "Press and hold");
        let expect = r#"{"text":"long_presses: 2"}"#;
        let json = format!(r#"{{"elementId":"{id}","duration":600,"expect":{expect}}}"#);
        let answer = world.ok("long_press", &json).await;
        assert!(answer.contains(&format!(r#""elementId":"{id}""#)), "{answer}");
        assert!(answer.contains(r#""verdict":"confirmed""#), "{answer}");
        assert!(answer.ends_with(r#""long_presses: 1" -> "long_presses: 2""#), "{answer}");
        assert_eq!((count(&world, "taps"), count(&world, "long_presses")), (0.0, 2.0));
    }
}

#[tokio::test(start_paused = true)]
async fn a_double_tap_is_recognised_on_slow_and_fast_phones() {
    for timing in [Timing::Instant, Timing::Brisk, Timing::Phone] {
        let world = on_screen("GesturesActivity", timed(timing)).await;
        let tree = world.tree().await;
        world.ok("double_tap", &format!(r#"{{"elementId":"{}"}}"#, id_of(&tree, "Tap twice"))).await;
        let (x, y) = point_of(&tree, "Tap twice");
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
        world.ok("double_tap", &format!(r#"{{"x":{x},"y":{y}}}"#)).await;
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
        assert_eq!((count(&world, "single_taps"), count(&world, "double_taps")), (0.0, 2.0), "{timing:?}");
        let taps = world.phone.truth().inputs;
        assert_eq!(taps.len(), 4, "each tap once: {taps:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_drag_picks_up_an_item_and_drops_it() {
    for (timing, hold) in [(Timing::Instant, 500), (Timing::Phone, 500), (Timing::Brisk, 900)] {
        let world = on_screen("GesturesActivity", timed(timing)).await;
        let tree = world.tree().await;
        let line = tree.lines().find(|line| line.contains("Drop here")).expect("a basket");
        let basket = line.split_whitespace().next().expect("an id");
        let green = id_of(&tree, "Green");
        let ids = format!(r#"{{"fromElementId":"{green}","toElementId":"{basket}","holdMs":{hold}}}"#);
        let answer = world.ok("drag", &ids).await;
        assert!(answer.contains(r#""Drop here" -> "Green""#), "the change is reported: {answer}");
        assert_eq!(
            world.phone.truth().fields.get("gallery.dropped").map(String::as_str),
            Some("Green"),
            "{timing:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_drag_without_hold_picks_up_nothing_and_old_phones_refuse_it() {
    let world = on_screen("GesturesActivity", PhoneConfig { sdk: 28, ..PhoneConfig::default() }).await;
    let tree = world.tree().await;
    let (x1, y1) = point_of(&tree, "Green");
    let drag = |hold: u32| format!(r#"{{"x1":{x1},"y1":{y1},"x2":{x1},"y2":{},"holdMs":{hold}}}"#, y1 + 200);
    world.ok("drag", &drag(0)).await;
    assert!(matches!(world.phone.truth().inputs[..], [Applied::Swipe { .. }]));
    assert!(!world.phone.truth().fields.contains_key("gallery.dropped"));
    assert_eq!(
        world.code("drag", &drag(900)).await,
        "PLATFORM_NOT_SUPPORTED",
        "no motionevent before Android 10"
    );
    assert_eq!(world.phone.truth().inputs.len(), 1, "nothing was sent");
}

#[tokio::test(start_paused = true)]
async fn bad_arguments_and_gone_elements_send_nothing() {
    let world = on_screen("GesturesActivity", timed(Timing::Instant)).await;
    for (tool, json, code) in [
        ("long_press", r#"{"x":5}"#, "INVALID_ARGUMENT"),
        ("long_press", r#"{"x":5,"y":5,"elementId":"e1"}"#, "INVALID_ARGUMENT"),
        ("long_press", r#"{"selector":{"text":"Nowhere"}}"#, "ELEMENT_NOT_FOUND"),
        ("drag", r#"{"from":{"text":"Green"},"to":{"text":"Nowhere"}}"#, "ELEMENT_NOT_FOUND"),
        ("long_press", r#"{"x":5,"y":5,"duration":100}"#, "INVALID_ARGUMENT"),
        ("long_press", r#"{"elementId":"e9999"}"#, "STALE_REFERENCE"),
        ("double_tap", r#"{"x":-5,"y":5}"#, "INVALID_ARGUMENT"),
        ("double_tap", r#"{"elementId":"e9999"}"#, "STALE_REFERENCE"),
        ("drag", r#"{"x1":5,"y1":5}"#, "INVALID_ARGUMENT"),
        ("drag", r#"{"x1":5,"y1":5,"x2":5,"y2":5,"holdMs":-1}"#, "INVALID_ARGUMENT"),
        ("drag", r#"{"x1":5,"y1":5,"toElementId":"e9999"}"#, "STALE_REFERENCE"),
        ("press_key", r#"{"key":"; reboot"}"#, "INVALID_ARGUMENT"),
        ("press_key", r#"{"key":"0"}"#, "INVALID_ARGUMENT"),
        ("press_key", r#"{"key":"70000"}"#, "INVALID_ARGUMENT"),
        ("pinch", r#"{"x":5,"y":5,"scale":0}"#, "INVALID_ARGUMENT"),
        ("set_orientation", r#"{"orientation":"sideways"}"#, "INVALID_ARGUMENT"),
    ] {
        assert_eq!(world.code(tool, json).await, code, "{tool} {json}");
    }
    assert_eq!(world.phone.truth().inputs, []);
}

/// The element takes no taps, so the outline gives it no point.
fn photo_of(tree: &str) -> String {
    let line = tree.lines().find(|line| line.contains("image \"Photo\"")).expect("a photo");
    line.split_whitespace().next().expect("an id").to_owned()
}

#[tokio::test(start_paused = true)]
async fn a_pinch_zooms_its_target_and_touches_nothing_else() {
    for timing in [Timing::Instant, Timing::Brisk, Timing::Phone] {
        let world = on_screen("ZoomActivity", timed(timing)).await;
        let photo = photo_of(&world.tree().await);
        for (scale, zoom, label) in
            [(2.0, 2.0, "Zoom 2.0×"), (0.5, 1.0, "Zoom 1.0×"), (0.5, 0.5, "Zoom 0.5×")]
        {
            let json = format!(r#"{{"elementId":"{photo}","scale":{scale},"expect":{{"text":"{label}"}}}}"#);
            let answer = world.ok("pinch", &json).await;
            assert!(answer.contains(r#""verdict":"confirmed""#), "{answer}");
            assert!(
                (count(&world, "photo_zoom") / zoom - 1.0).abs() < 0.02,
                "GE-01: {}",
                count(&world, "photo_zoom")
            );
        }
        let truth = world.phone.truth();
        assert_eq!(truth.inputs.len(), 3, "one gesture each: {:?}", truth.inputs);
        for input in &truth.inputs {
            let Applied::Pinch { from, to, hit: Some(hit), .. } = input else { panic!("{input:?}") };
            assert_eq!(hit.label, "Photo");
            assert!(from.iter().chain(to).all(|(x, _)| (42..1038).contains(x)), "inside of it: {input:?}");
        }
        assert_eq!(count(&world, "taps"), 0.0);
        let scripts = truth.commands.iter().filter(|command| command.starts_with("getevent")).count();
        assert_eq!(scripts, 3, "one look before each");
    }
}

/// The touch panel does not rotate with the screen, and has its own units.
#[tokio::test(start_paused = true)]
async fn a_pinch_hits_its_target_on_a_rotated_screen() {
    for rotation in [1, 2, 3] {
        let world = on_screen("ZoomActivity", timed(Timing::Instant)).await;
        let locked = Script::new("settings put system accelerometer_rotation 0; ");
        shell(&world, &locked.then("settings put system user_rotation").number(rotation)).await;
        let photo = photo_of(&world.tree().await);
        world.ok("pinch", &format!(r#"{{"elementId":"{photo}","scale":2}}"#)).await;
        assert!(
            (count(&world, "photo_zoom") - 2.0).abs() < 0.04,
            "{rotation}: {}",
            count(&world, "photo_zoom")
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_pinch_is_refused_when_the_shell_may_not_write_to_the_panel() {
    let locked = PhoneConfig { dev_input: DevInput::ReadOnly, ..PhoneConfig::default() };
    let world = on_screen("ZoomActivity", locked).await;
    let refused = world.call("pinch", r#"{"selector":{"text":"Photo"},"scale":2}"#).await;
    assert!(refused.is_error && refused.text().contains("PLATFORM_NOT_SUPPORTED"), "{}", refused.text());
    assert!(refused.text().contains("/dev/input") && refused.text().contains("helper"), "{}", refused.text());
    assert!(refused.text().contains("nothing was sent"), "{}", refused.text());
    let truth = world.phone.truth();
    assert_eq!((truth.inputs, count(&world, "photo_zoom")), (vec![], 0.0));
    assert!(!truth.commands.iter().any(|command| command.starts_with("sendevent")), "GE-01");
}

#[tokio::test(start_paused = true)]
async fn keys_are_pressed_once_each() {
    let world = World::started(Timing::Instant).await;
    world.tap("Email").await;
    world.ok("type_text", r#"{"text":"abc"}"#).await;
    world.ok("press_key", r#"{"key":"delete"}"#).await;
    assert_eq!(world.phone.truth().fields["email"], "ab");
    world.ok("press_key", r#"{"key":"KEYCODE_DEL"}"#).await;
    world.ok("press_key", r#"{"key":"volume_up"}"#).await;
    world.ok("press_key", r#"{"key":"82"}"#).await;
    world.ok("press_recents", "{}").await;
    world.ok("press_home", "{}").await;
    let truth = world.phone.truth();
    assert_eq!(truth.fields["email"], "a");
    assert!(truth.activity.contains("launcher"), "{}", truth.activity);
    let keys: Vec<u32> = truth
        .inputs
        .iter()
        .filter_map(|i| if let Applied::Key { code } = i { Some(*code) } else { None })
        .collect();
    assert_eq!(keys, [67, 67, 24, 82, 187, 3]);
}

#[tokio::test(start_paused = true)]
async fn hiding_the_keyboard_never_leaves_the_screen() {
    let world = World::started(Timing::Instant).await;
    world.tap("Email").await;
    assert!(world.phone.truth().keyboard_shown);
    for _ in 0..3 {
        world.ok("hide_keyboard", "{}").await;
        assert!(!world.phone.truth().keyboard_shown, "GE-01");
    }
    let truth = world.phone.truth();
    assert_eq!(truth.activity, "com.workbench/.LoginActivity");
    assert_eq!(truth.inputs.len(), 2, "a tap and one Back: {:?}", truth.inputs);
}

#[tokio::test(start_paused = true)]
async fn the_screen_is_rotated_and_back() {
    let world = World::started(Timing::Instant).await;
    let wide = async || {
        let picture = world.ok("capture_screenshot", "{}").await;
        !picture.contains(r#""image":{"width":461,"height":1024}"#)
    };
    assert!(!wide().await);
    world.ok("set_orientation", r#"{"orientation":"landscape"}"#).await;
    assert!(wide().await);
    world.ok("set_orientation", r#"{"orientation":"auto"}"#).await;
    world.ok("set_orientation", r#"{"orientation":"portrait"}"#).await;
    assert!(!wide().await);
}
