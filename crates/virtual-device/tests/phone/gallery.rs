//! The gallery's screens, driven from outside.

use std::time::Duration;

use mdm_virtual_device::{Applied, Phone, PhoneConfig, Timing};
use tokio::time::Instant;

use crate::host::{Host, bounds, centre, node, phone_and_host};

async fn on(activity: &str) -> (Phone, Host) {
    on_with(activity, PhoneConfig::default()).await
}

async fn on_with(activity: &str, config: PhoneConfig) -> (Phone, Host) {
    let (phone, mut host) = phone_and_host(config).await;
    host.run(&format!("am start -n com.workbench/.{activity}")).await;
    (phone, host)
}

async fn wait(ms: u64) {
    tokio::time::sleep(Duration::from_millis(ms)).await;
}

async fn swipe(host: &mut Host, from: (i32, i32), to: (i32, i32), ms: u64) {
    host.run(&format!("input swipe {} {} {} {} {ms}", from.0, from.1, to.0, to.1)).await;
}

#[tokio::test(start_paused = true)]
async fn a_fast_swipe_throws_the_list_and_it_comes_to_rest() {
    let (_phone, mut host) = on("LongListActivity").await;
    swipe(&mut host, (540, 1600), (540, 1000), 150).await;
    let lifted = host.dump().await;
    wait(300).await;
    let moving = host.dump().await;
    wait(10_000).await;
    let rest = host.dump().await;
    let first =
        |tree: &str| tree.split("text=\"Row ").nth(1).and_then(|t| t.split('"').next()?.parse::<u32>().ok());
    let (lifted, moving, rested) = (first(&lifted).unwrap(), first(&moving).unwrap(), first(&rest).unwrap());
    assert!(lifted < moving && moving < rested, "{lifted} {moving} {rested}");
    wait(1000).await;
    assert_eq!(host.dump().await, rest, "nothing moves any more");
    assert!(rest.matches("id/row_title").count() < 20, "only rows on the screen exist");
}

#[tokio::test(start_paused = true)]
async fn a_dump_waits_for_a_thrown_list_and_a_tap_stops_it() {
    let config = PhoneConfig { timing: Timing::Brisk, ..PhoneConfig::default() };
    let (phone, mut host) = on_with("LongListActivity", config).await;
    swipe(&mut host, (540, 1600), (540, 1000), 150).await;
    let begun = Instant::now();
    let rest = host.dump().await;
    assert!(begun.elapsed() > Duration::from_millis(600), "{:?}", begun.elapsed());
    wait(5000).await;
    assert_eq!(host.dump().await, rest, "what was dumped had come to rest");
    swipe(&mut host, (540, 1600), (540, 1000), 150).await;
    host.run("input tap 540 1300").await;
    let truth = phone.truth();
    assert!(
        matches!(truth.inputs.last(), Some(Applied::Tap { hit: Some(hit), .. }) if hit.label == "a moving list")
    );
    assert!(!truth.fields.contains_key("gallery.picked"));
    let stopped = host.dump().await;
    wait(3000).await;
    assert_eq!(host.dump().await, stopped);
}

#[tokio::test(start_paused = true)]
async fn nested_containers_share_a_movement() {
    let (_phone, mut host) = on("LongListActivity").await;
    let before = host.dump().await;
    let (_, y) = centre(&before, "text=\"Card 1\"");
    swipe(&mut host, (900, y), (200, y), 2000).await;
    let sideways = host.dump().await;
    let left = |tree: &str, what: &str| bounds(tree, what)[0];
    assert!(left(&sideways, "text=\"Card 3\"") < left(&before, "text=\"Card 3\""), "the cards moved");
    assert_eq!(bounds(&sideways, "text=\"Row 1\""), bounds(&before, "text=\"Row 1\""), "the rows did not");
    // The page moves under a finger on its label; a list at its top gives the way back to the page.
    let top = |tree: &str| bounds(tree, "id/carousel\"")[1];
    let (x, y) = centre(&before, "id/picked\"");
    swipe(&mut host, (x, y), (x, y - 200), 3000).await;
    let scrolled = host.dump().await;
    assert!(top(&scrolled) < top(&before), "the page scrolled");
    swipe(&mut host, (540, 1200), (540, 1500), 5000).await;
    assert_eq!(top(&host.dump().await), top(&before), "and back");
    // The list itself takes what it can.
    swipe(&mut host, (540, 1500), (540, 1200), 5000).await;
    let inner = host.dump().await;
    assert_eq!(top(&inner), top(&before));
    assert!(bounds(&inner, "text=\"Row 4\"")[1] < bounds(&before, "text=\"Row 4\"")[1]);
}

#[tokio::test(start_paused = true)]
async fn sliders_of_every_kind_follow_the_finger() {
    let (phone, mut host) = on("SlidersActivity").await;
    let tree = host.dump().await;
    let value = |phone: &Phone, name: &str| phone.truth().sliders[&format!("gallery.{name}")];
    for (name, at, wanted) in [
        ("brightness", 0.5, 50.0),
        ("quality", 0.55, 50.0),
        ("quality", 0.7, 75.0),
        ("balance", 0.25, 75.0),
        ("warmth", 1.0, 100.0),
        ("locked", 0.9, 10.0),
    ] {
        let [left, top, right, bottom] = bounds(&tree, &format!("id/{name}\""));
        let inset = (bottom - top) / 3;
        let x = left + inset + ((right - left - 2 * inset) as f32 * at) as i32;
        host.run(&format!("input tap {x} {}", (top + bottom) / 2)).await;
        assert!((value(&phone, name) - wanted).abs() <= 0.3, "{name}: {}", value(&phone, name));
    }
    // Square scale: half of the way is a quarter of the range.
    let (x, y) = centre(&tree, "id/frequency\"");
    host.run(&format!("input tap {x} {y}")).await;
    assert!((4900.0..5200.0).contains(&value(&phone, "frequency")));
    let compose = node(&tree, "content-desc=\"Opacity 75 percent\"").unwrap();
    assert!(compose.contains("class=\"android.view.View\""), "{compose}");
    assert!(node(&tree, "id/warmth\"").unwrap().contains(" text=\"\""), "no readable value");
    assert!(node(&tree, "id/zoom_value\"").unwrap().contains(" text=\"2.0x\""));
}

#[tokio::test(start_paused = true)]
async fn a_thumb_keeps_its_distance_to_the_finger_and_a_vertical_one_goes_up() {
    let (phone, mut host) = on("SlidersActivity").await;
    let value = |phone: &Phone, name: &str| phone.truth().sliders[&format!("gallery.{name}")];
    let tree = host.dump().await;
    let [left, top, right, bottom] = bounds(&tree, "id/brightness\"");
    let inset = (bottom - top) / 3;
    let length = right - left - 2 * inset;
    let (thumb, y) = (left + inset + length * 40 / 100, (top + bottom) / 2);
    // Caught 20 px beside its middle: it moves as far as the finger does.
    swipe(&mut host, (thumb + 20, y), (thumb + 20 + length / 10, y), 500).await;
    assert!((value(&phone, "brightness") - 50.0).abs() < 0.5, "{}", value(&phone, "brightness"));
    swipe(&mut host, (540, 1800), (540, 400), 3000).await;
    let tree = host.dump().await;
    let [left, top, right, bottom] = bounds(&tree, "id/level\"");
    let inset = (right - left) / 3;
    host.run(&format!("input tap {} {}", (left + right) / 2, top + inset)).await;
    assert!(value(&phone, "level") > 99.0, "{}: {left} {top} {right} {bottom}", value(&phone, "level"));
}

#[tokio::test(start_paused = true)]
async fn presses_taps_and_drops_are_different_things() {
    let (phone, mut host) = on("GesturesActivity").await;
    let tree = host.dump().await;
    let count = |phone: &Phone, name: &str| phone.truth().sliders.get(&format!("gallery.{name}")).copied();
    let hold = centre(&tree, "id/hold\"");
    swipe(&mut host, hold, hold, 499).await;
    assert_eq!((count(&phone, "taps"), count(&phone, "long_presses")), (Some(1.0), None));
    swipe(&mut host, hold, (hold.0 + 10, hold.1), 500).await;
    assert_eq!((count(&phone, "taps"), count(&phone, "long_presses")), (Some(1.0), Some(1.0)));
    let (x, y) = centre(&tree, "id/twice\"");
    host.run(&format!("input tap {x} {y}")).await;
    assert_eq!(count(&phone, "single_taps"), None, "it might become a double tap");
    wait(300).await;
    assert_eq!(count(&phone, "single_taps"), Some(1.0));
    host.run(&format!("input tap {x} {y}")).await;
    wait(120).await;
    host.run(&format!("input tap {x} {y}")).await;
    wait(1000).await;
    assert_eq!((count(&phone, "single_taps"), count(&phone, "double_taps")), (Some(1.0), Some(1.0)));
    let (from, to) = (centre(&tree, "text=\"Green\""), centre(&tree, "id/basket\""));
    swipe(&mut host, from, to, 300).await;
    assert!(!phone.truth().fields.contains_key("gallery.dropped"), "a swipe picks nothing up");
    host.run(&format!("input draganddrop {} {} {} {} 800", from.0, from.1, to.0, to.1)).await;
    assert_eq!(phone.truth().fields["gallery.dropped"], "Green");
    assert!(host.dump().await.contains("id/basket_text") && host.dump().await.contains("text=\"Green\""));
}

/// Several processes move one finger: the points in between tell a drag from a slow swipe.
#[tokio::test(start_paused = true)]
async fn a_finger_that_rests_before_it_moves_drags() {
    let (phone, mut host) = on("GesturesActivity").await;
    let tree = host.dump().await;
    let (from, to) = (centre(&tree, "text=\"Blue\""), centre(&tree, "id/basket\""));
    for held_ms in [300, 600] {
        host.run(&format!("input motionevent DOWN {} {}", from.0, from.1)).await;
        wait(held_ms).await;
        host.run(&format!("input motionevent MOVE {} {}", to.0, to.1)).await;
        wait(400).await;
        host.run(&format!("input motionevent UP {} {}", to.0, to.1)).await;
        let dropped = phone.truth().fields.contains_key("gallery.dropped");
        assert_eq!(dropped, held_ms >= 500, "after {held_ms} ms");
    }
}

/// A list does not fling if the finger rests before it is lifted.
#[tokio::test(start_paused = true)]
async fn a_finger_that_stops_throws_nothing() {
    let (_phone, mut host) = on("LongListActivity").await;
    host.run("input motionevent DOWN 540 1600").await;
    wait(50).await;
    host.run("input motionevent MOVE 540 1000").await;
    wait(200).await;
    host.run("input motionevent UP 540 1000").await;
    let lifted = host.dump().await;
    assert!(!lifted.contains("text=\"Row 1\""), "it moved with the finger");
    wait(2000).await;
    assert_eq!(host.dump().await, lifted);
}

#[tokio::test(start_paused = true)]
async fn what_lies_on_top_takes_the_tap() {
    let (phone, mut host) = on("OverlayActivity").await;
    let tree = host.dump().await;
    let (x, y) = centre(&tree, "id/pay\"");
    host.run(&format!("input tap {x} {y}")).await;
    let truth = phone.truth();
    assert_eq!(
        (truth.sliders.get("gallery.covered"), truth.sliders.get("gallery.cover")),
        (None, Some(&1.0))
    );
    host.tap("id/lift\"").await;
    host.run(&format!("input tap {x} {y}")).await;
    assert_eq!(phone.truth().sliders["gallery.covered"], 1.0);
    host.tap("id/disabled\"").await;
    assert_eq!(phone.truth().sliders["gallery.covered"], 1.0, "disabled");
}

#[tokio::test(start_paused = true)]
async fn a_moving_button_is_elsewhere_when_the_tap_comes() {
    let (phone, mut host) = on("MovingActivity").await;
    let (x, y) = centre(&host.dump().await, "id/catch_me\"");
    wait(1500).await;
    host.run(&format!("input tap {x} {y}")).await;
    assert_eq!(phone.truth().sliders.get("gallery.caught"), None);
    let (x, y) = centre(&host.dump().await, "id/catch_me\"");
    host.run(&format!("input tap {x} {y}")).await;
    assert_eq!(phone.truth().sliders["gallery.caught"], 1.0);
}

#[tokio::test(start_paused = true)]
async fn endless_changes_keep_a_dump_from_becoming_idle() {
    let config = PhoneConfig { timing: Timing::Phone, ..PhoneConfig::default() };
    for (activity, idle) in [
        ("AnimationActivity", false),
        ("ChurnActivity", false),
        ("MovingActivity", true),
        ("UpdatesActivity", true),
    ] {
        let (_phone, mut host) = on_with(activity, config.clone()).await;
        let output = host.shell("uiautomator dump").await;
        let complained = output.err.contains("could not get idle state");
        assert_eq!(!complained, idle, "{activity}: {output:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_clock_ticks_and_updates_come_late() {
    let (_phone, mut host) = on("ClockActivity").await;
    assert!(host.dump().await.contains("text=\"00:00\""));
    wait(61_500).await;
    assert!(host.dump().await.contains("text=\"01:01\""));
    host.run("am start -n com.workbench/.UpdatesActivity").await;
    host.tap("id/late\"").await;
    wait(1400).await;
    let early = host.dump().await;
    assert!(early.contains("id/loading\"") && !early.contains("id/late_row"));
    wait(100).await;
    let late = host.dump().await;
    assert!(!late.contains("id/loading\"") && late.matches("id/late_row").count() == 3);
    host.tap("id/in_place\"").await;
    wait(400).await;
    let after = host.dump().await;
    assert_eq!(late.replace("Price: 10", "Price: 11"), after, "one text in place");
}

#[tokio::test(start_paused = true)]
async fn a_toast_is_seen_in_pixels_and_truth_and_not_in_the_dump() {
    let (phone, mut host) = on("DialogsActivity").await;
    let bare = host.service("exec:screencap").await;
    host.tap("id/show_toast\"").await;
    wait(500).await;
    let shown = host.service("exec:screencap").await;
    assert!(!host.dump().await.contains("Draft saved"));
    let toasts = phone.truth().toasts;
    let [toast] = toasts.as_slice() else { panic!("{toasts:?}") };
    assert_eq!((toast.text.as_str(), toast.until_ms - toast.from_ms), ("Draft saved", 2000));
    wait(1600).await;
    let gone = host.service("exec:screencap").await;
    assert!(bare != shown && bare == gone, "it comes and goes");
}

#[tokio::test(start_paused = true)]
async fn menus_dialogs_and_permissions_have_windows_of_their_own() {
    let (phone, mut host) = on("DialogsActivity").await;
    let anchor = bounds(&host.dump().await, "id/open_menu\"");
    host.tap("id/open_menu\"").await;
    let menu = host.dump().await;
    assert!(menu.contains("text=\"Rename\"") && !menu.contains("id/open_menu"), "only the menu's window");
    assert_eq!(bounds(&menu, "android.widget.ListView")[1], anchor[3], "it opens under its button");
    host.tap("text=\"Rename\"").await;
    assert_eq!(phone.truth().fields["gallery.dialog_result"], "menu_rename");
    host.tap("id/open_dialog\"").await;
    host.tap("android:id/button1").await;
    assert_eq!(phone.truth().fields["gallery.dialog_result"], "dialog_discard");
    host.tap("id/ask_camera\"").await;
    let ask = host.dump().await;
    assert!(ask.contains("package=\"com.google.android.permissioncontroller\""), "{ask}");
    assert!(!ask.contains("package=\"com.workbench\""));
    host.tap("id/permission_deny_button").await;
    assert_eq!(phone.truth().fields["gallery.permission"], "Camera denied");
    host.tap("id/ask_camera\"").await;
    host.tap("text=\"While using the app\"").await;
    assert_eq!(phone.truth().fields["gallery.permission"], "Camera allowed");
    host.tap("id/ask_camera\"").await;
    assert!(!phone.truth().dialog_open, "it was granted already");
}

#[tokio::test(start_paused = true)]
async fn the_shade_comes_down_with_what_apps_posted() {
    let (phone, mut host) = on("DialogsActivity").await;
    host.tap("id/notify\"").await;
    swipe(&mut host, (540, 10), (540, 1500), 300).await;
    let shade = host.dump().await;
    assert!(
        shade.contains("package=\"com.android.systemui\"") && shade.contains("text=\"Water the plants\"")
    );
    host.run("input keyevent BACK").await;
    assert!(host.dump().await.contains("id/notify\""), "Back closed only the shade");
    swipe(&mut host, (540, 10), (540, 1500), 300).await;
    host.tap("text=\"Clear all\"").await;
    assert!(host.dump().await.contains("No notifications"));
    swipe(&mut host, (540, 2000), (540, 500), 300).await;
    assert!(!phone.truth().dialog_open);
}

#[tokio::test(start_paused = true)]
async fn a_crash_is_logged_and_the_second_one_is_announced() {
    let (phone, mut host) = on("TroubleActivity").await;
    let pid = host.run("pidof com.workbench").await.trim().to_owned();
    host.tap("id/crash\"").await;
    assert_eq!(host.shell("pidof com.workbench").await.code, Some(1), "the process is gone");
    assert_eq!(phone.truth().activity, "com.android.launcher3/.uioverrides.QuickstepLauncher");
    let log = host.run("logcat -d -b crash -v threadtime").await;
    assert!(log.contains("E AndroidRuntime: FATAL EXCEPTION: main\n"), "{log}");
    assert!(log.contains(&format!("E AndroidRuntime: Process: com.workbench, PID: {pid}\n")));
    assert!(log.contains("\tat com.workbench.cart.CartOwner.require(CartOwner.kt:31)\n"));
    assert!(!phone.truth().dialog_open, "a first crash is silent");
    host.run("am start -n com.workbench/.TroubleActivity").await;
    host.tap("id/crash\"").await;
    let dialog = host.dump().await;
    assert!(dialog.contains("text=\"Workbench keeps stopping\"") && dialog.contains("package=\"android\""));
    host.tap("android:id/aerr_close").await;
    assert!(!phone.truth().dialog_open);
}

#[tokio::test(start_paused = true)]
async fn a_frozen_app_is_asked_about_and_taps_wait() {
    let (phone, mut host) = on("TroubleActivity").await;
    let tree = host.dump().await;
    let (x, y) = centre(&tree, "id/slow\"");
    host.tap("id/freeze\"").await;
    host.run(&format!("input tap {x} {y}")).await;
    wait(4900).await;
    assert!(!phone.truth().dialog_open, "input may wait for five seconds");
    wait(200).await;
    let dialog = host.dump().await;
    assert!(dialog.contains("text=\"Workbench isn't responding\""), "{dialog}");
    host.tap("android:id/aerr_wait").await;
    assert!(!phone.truth().dialog_open);
    wait(26_000).await;
    wait(4000).await;
    assert_eq!(phone.truth().sliders["gallery.slow_done"], 1.0, "the tap came when the thread was free");
    host.tap("id/freeze\"").await;
    host.run(&format!("input tap {x} {y}")).await;
    wait(5100).await;
    host.tap("android:id/aerr_close").await;
    assert_eq!(host.shell("pidof com.workbench").await.code, Some(1));
    let log = host.run("logcat -d -v brief ActivityManager:E '*:S'").await;
    assert!(log.contains("ANR in com.workbench (com.workbench/.TroubleActivity)"), "{log}");
    assert!(log.contains("Reason: Input dispatching timed out"), "{log}");
}

#[tokio::test(start_paused = true)]
async fn a_frozen_app_gives_no_tree() {
    let (_phone, mut host) = on("TroubleActivity").await;
    host.tap("id/freeze\"").await;
    let output = host.shell("uiautomator dump").await;
    assert_eq!(output.err, "ERROR: null root node returned by UiTestAutomationBridge.\n");
}

#[tokio::test(start_paused = true)]
async fn requests_are_in_the_log_with_their_answers() {
    let (phone, mut host) = on("NetworkActivity").await;
    host.tap("id/post_order\"").await;
    wait(320).await;
    assert_eq!(phone.truth().fields["gallery.post_order"], "Answer 500");
    let log = host.run("logcat -d -v tag okhttp.OkHttpClient:I '*:S'").await;
    let lines: Vec<&str> = log.lines().filter(|l| l.starts_with("I/okhttp.OkHttpClient")).collect();
    assert_eq!(
        lines,
        [
            "I/okhttp.OkHttpClient: --> POST https://api.workbench.example/v1/orders http/1.1",
            "I/okhttp.OkHttpClient: <-- 500 https://api.workbench.example/v1/orders (320ms)",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn choices_and_a_form_keep_what_was_chosen() {
    let (phone, mut host) = on("ControlsActivity").await;
    host.tap("id/size\"").await;
    host.tap("text=\"Large\"").await;
    assert!(host.dump().await.contains("text=\"Large\""));
    host.tap("text=\"Dark\"").await;
    let tree = host.dump().await;
    assert!(node(&tree, "text=\"Dark\"").unwrap().contains("checked=\"true\""));
    assert!(node(&tree, "text=\"Light\"").unwrap().contains("checked=\"false\""));
    host.tap("content-desc=\"Sounds\"").await;
    assert!(node(&host.dump().await, "content-desc=\"Sounds\"").unwrap().contains("selected=\"true\""));
    host.run("am start -n com.workbench/.FormActivity").await;
    host.tap("id/submit\"").await;
    assert_eq!(host.dump().await.matches("id/textinput_error").count(), 3);
    for (field, text) in [("form_name", "Ada"), ("form_mail", "ada@example.com"), ("form_age", "36")] {
        host.tap(&format!("id/{field}\"")).await;
        host.run(&format!("input text {text}")).await;
        host.run("input keyevent BACK").await;
    }
    host.tap("id/terms\"").await;
    host.tap("id/submit\"").await;
    assert_eq!(phone.truth().fields["gallery.form_result"], "Thank you");
}

#[tokio::test(start_paused = true)]
async fn a_turned_phone_lays_out_sideways_and_says_so() {
    let (phone, mut host) = on("FormActivity").await;
    phone.set_rotation(1);
    let tree = host.dump().await;
    assert!(
        tree.contains("<hierarchy rotation=\"1\">") && tree.contains("bounds=\"[0,0][2400,1080]\""),
        "{tree}"
    );
    let png = host.service("exec:screencap").await;
    assert_eq!(png[..8], [&2400u32.to_le_bytes()[..], &1080u32.to_le_bytes()].concat());
    host.tap("id/form_name\"").await;
    host.run("input text Bo").await;
    assert_eq!(phone.truth().fields["gallery.form_name"], "Bo");
    phone.set_rotation(0);
    assert!(host.dump().await.contains("<hierarchy rotation=\"0\">"));
}

#[tokio::test(start_paused = true)]
async fn every_framework_tells_the_same_card_its_own_way() {
    for (activity, has, lacks) in [
        ("ComposeActivity", "resource-id=\"buy\" class=\"android.view.View\"", "com.workbench:id/"),
        ("ReactActivity", "content-desc=\"Small, In stock\"", "com.workbench:id/"),
        ("FlutterActivity", "content-desc=\"Small&#10;In stock\"", "resource-id=\"buy\""),
        ("WebActivity", "class=\"android.webkit.WebView\"", "com.workbench:id/send"),
        ("GameActivity", "android.view.SurfaceView", "Teapot"),
    ] {
        let (phone, mut host) = on(activity).await;
        let tree = host.dump().await;
        assert!(tree.contains(has), "{activity}: {tree}");
        assert!(!tree.contains(lacks), "{activity}: {tree}");
        if activity == "FlutterActivity" {
            host.tap("content-desc=\"Buy\"").await;
            assert_eq!(phone.truth().sliders["gallery.buy"], 1.0);
        }
    }
}
