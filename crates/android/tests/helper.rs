//! The helper on the device, on the virtual phone: what it reads and does, and what becomes of a call when it fails.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests fail like tests"
)]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use mdm_android::adb::direct::Transport;
use mdm_android::adb::key::HostKey;
use mdm_android::adb::link::Link;
use mdm_android::adb::{Adb, Script};
use mdm_android::{AndroidDevice, HelperMode, served};
use mdm_core::port::{
    Captured, Device, DeviceErrorKind, Dispatch, Input, Key, NativeAction, RawAnswer, SaidKind, Support,
};
use mdm_core::screen::geometry::{Point, Rect};
use mdm_core::screen::snapshot::Snapshot;
use mdm_virtual_device::{Applied, Faults, Phone, PhoneConfig, Timing};
use tokio::time::{Duration, timeout};

const APP: &str = "com.workbench";

struct World {
    phone: Phone,
    device: AndroidDevice,
}

fn world(mode: HelperMode, faults: &str) -> World {
    let faults: Faults = faults.parse().unwrap();
    let phone = Phone::new(PhoneConfig { timing: Timing::Instant, faults, ..PhoneConfig::default() });
    let device = device_of(&phone, mode);
    World { phone, device }
}

fn device_of(phone: &Phone, mode: HelperMode) -> AndroidDevice {
    let connects = phone.clone();
    let connector = Arc::new(move || {
        let connected = connects.connect();
        Box::pin(async move { Ok(Box::new(connected?) as Box<dyn Transport>) }) as _
    });
    let adb = Adb::direct(Link::new(connector, HostKey::at("/nonexistent/adbkey")));
    static SESSIONS: AtomicU64 = AtomicU64::new(1);
    AndroidDevice::new("phone", adb, SESSIONS.fetch_add(1, Ordering::Relaxed)).with_helper(mode)
}

impl World {
    async fn shell(&self, command: &'static str) -> String {
        self.device.adb().shell(&Script::new(command), 1 << 20).await.unwrap().stdout_text()
    }

    async fn open(&self, activity: &str) {
        let script = Script::new("am start -n").arg(&format!("{APP}/{activity}"));
        self.device.adb().shell(&script, 1 << 20).await.unwrap();
    }

    async fn snapshot(&self) -> Snapshot {
        self.capture(None).await.1
    }

    async fn capture(&self, known: Option<RawAnswer>) -> (RawAnswer, Snapshot) {
        match self.device.snapshot(known).await.unwrap().screen {
            Captured::New { raw, snapshot } => (raw, snapshot),
            Captured::Unchanged => panic!("unchanged"),
        }
    }

    /// Helpers of ours that run on the phone.
    async fn helpers(&self) -> usize {
        self.shell("ps -A -o ARGS").await.lines().filter(|line| line.contains("mdm.helper.Main")).count()
    }
}

fn find(snapshot: &Snapshot, id: &str) -> usize {
    let is_it = |element: &mdm_core::screen::element::Element| {
        element.stable_id.as_deref().is_some_and(|known| known.ends_with(id))
    };
    snapshot.elements.iter().position(is_it).unwrap_or_else(|| panic!("no {id}"))
}

fn centre(snapshot: &Snapshot, id: &str) -> Point {
    snapshot.elements[find(snapshot, id)].bounds.center()
}

#[tokio::test(start_paused = true)]
async fn it_is_compared_with_a_dump_and_then_used() {
    let world = world(HelperMode::Auto, "");
    assert_eq!(world.device.capabilities().events, Support::No, "before its first use");
    let mut scripts = world.phone.scripts();
    let first = world.snapshot().await;
    let sent: Vec<String> = std::iter::from_fn(|| scripts.try_recv().ok()).collect();
    assert_eq!(sent.iter().filter(|script| script.contains("uiautomator dump")).count(), 1, "{sent:?}");
    let can = world.device.capabilities();
    assert_eq!((can.events, can.native_actions, can.pinch), (Support::Yes, Support::Yes, Support::Yes));
    assert_eq!(world.device.helper_note(), None);
    let again = world.snapshot().await;
    assert_eq!(first, again);
    assert!(scripts.try_recv().is_err(), "no shell any more");
    assert_eq!(world.helpers().await, 1);
    assert!(world.phone.truth().leftover_files.is_empty(), "{:?}", world.phone.truth().leftover_files);
    let (raw, _) = world.capture(None).await;
    assert_eq!(world.device.snapshot(Some(raw)).await.unwrap().screen, Captured::Unchanged);
    world.device.close().await.unwrap();
    assert_eq!(world.helpers().await, 0, "nothing is left");
    assert!(world.phone.truth().leftover_files.is_empty());
}

#[tokio::test(start_paused = true)]
async fn it_tells_what_a_dump_tells_and_more() {
    let helped = world(HelperMode::Always, "");
    let shell = device_of(&helped.phone, HelperMode::Never);
    for activity in [".LoginActivity", ".HomeActivity", ".SettingsActivity", ".GalleryActivity"] {
        helped.open(activity).await;
        let told = helped.snapshot().await;
        helped.device.close().await.unwrap();
        let Captured::New { snapshot: dumped, .. } = shell.snapshot(None).await.unwrap().screen else {
            panic!("new")
        };
        assert_eq!(told.elements.len(), dumped.elements.len(), "{activity}");
        assert_eq!((told.size, told.rotation, &told.screen), (dumped.size, dumped.rotation, &dumped.screen));
        for (told, dumped) in told.elements.iter().zip(&dumped.elements) {
            let place = |e: &mdm_core::screen::element::Element| {
                (e.parent, e.end, e.depth, e.bounds, e.drawing_order)
            };
            assert_eq!(place(told), place(dumped), "{activity}: {told:?}");
            let facts = |e: &mdm_core::screen::element::Element| {
                (
                    e.role,
                    e.class.clone(),
                    e.app.clone(),
                    e.stable_id.clone(),
                    e.description.clone(),
                    e.hint.clone(),
                )
            };
            assert_eq!(facts(told), facts(dumped), "{activity}: {told:?}");
            assert_eq!(
                (told.state, told.password, told.clock),
                (dumped.state, dumped.password, dumped.clock)
            );
            let hint_as_text = told.text.is_none() && told.hint == dumped.text;
            assert!(told.text == dumped.text || hint_as_text, "{activity}: {told:?} {dumped:?}");
        }
    }
    helped.open(".SettingsActivity").await;
    let told = helped.snapshot().await;
    let volume = &told.elements[find(&told, "volume")];
    let range = volume.value_range.as_deref().map(|range| (range.min, range.max));
    assert_eq!((volume.value.as_deref(), range), (Some("38"), Some((0.0, 100.0))), "{volume:?}");
    assert!(volume.affordances.adjustable);
    let state = volume.details.as_ref().and_then(|details| details.state_description.as_deref());
    assert_eq!(state, Some("38%"));
    helped.open(".LoginActivity").await;
    let told = helped.snapshot().await;
    let field = &told.elements[find(&told, "email")];
    assert_eq!((field.text.as_deref(), field.hint.is_some()), (None, true), "a hint is no text: {field:?}");
}

#[tokio::test(start_paused = true)]
async fn it_types_any_text_and_presses_keys() {
    let world = world(HelperMode::Auto, "");
    world.open(".LoginActivity").await;
    let screen = world.snapshot().await;
    world.device.input(Input::Tap(centre(&screen, "email"))).await.unwrap();
    let keyboard = world.device.keyboard().await.unwrap();
    assert_eq!(keyboard, Some(Rect::new(0, 1560, 1080, 2400)));
    let text = "größe 😀\nzweite \"Zeile\" 'x' $(y) 中文";
    world.device.check_text(text).await.unwrap();
    world.device.input(Input::Text(text.to_owned())).await.unwrap();
    assert_eq!(world.phone.truth().fields.get("email").map(String::as_str), Some(text));
    let field = &world.snapshot().await.elements[find(&screen, "email")].clone();
    assert_eq!(field.text.as_deref(), Some(text));
    let characters = text.chars().count() as u32;
    world.device.input(Input::Erase { characters, has_lines: true }).await.unwrap();
    assert_eq!(world.phone.truth().fields.get("email").map(String::as_str), Some(""));
    world.device.input(Input::HideKeyboard).await.unwrap();
    assert_eq!(world.device.keyboard().await.unwrap(), None);
    world.device.input(Input::HideKeyboard).await.unwrap();
    assert!(world.phone.truth().activity.ends_with(".LoginActivity"), "Back was sent once");
    world.device.input(Input::Key(Key::Home)).await.unwrap();
    assert!(!world.phone.truth().activity.contains(APP));
}

#[tokio::test(start_paused = true)]
async fn it_acts_on_elements_without_a_finger() {
    let world = world(HelperMode::Auto, "");
    world.open(".SettingsActivity").await;
    let screen = world.snapshot().await;
    let index = find(&screen, "volume") as u32;
    world.device.act_natively(&NativeAction::SetValue { index, value: 0.25 }).await.unwrap();
    assert_eq!(world.phone.truth().sliders.get("volume"), Some(&25.0));
    // The slider shows another text now, so the same element is refused until it is read again.
    let changed = world.device.act_natively(&NativeAction::SetValue { index, value: 0.5 }).await.unwrap_err();
    assert_eq!((changed.kind, changed.dispatch), (DeviceErrorKind::Rejected, Dispatch::Refused), "{changed}");
    world.open(".LoginActivity").await;
    let screen = world.snapshot().await;
    let index = find(&screen, "email") as u32;
    let text = "ä@b.c".to_owned();
    world.device.act_natively(&NativeAction::SetText { index, text }).await.unwrap();
    assert_eq!(world.phone.truth().fields.get("email").map(String::as_str), Some("ä@b.c"));
    world.open(".SettingsActivity").await;
    let gone = world.device.act_natively(&NativeAction::Activate { index }).await.unwrap_err();
    assert_eq!(gone.dispatch, Dispatch::Refused, "{gone}");
}

#[tokio::test(start_paused = true)]
async fn changes_and_toasts_are_heard() {
    let world = world(HelperMode::Auto, "");
    world.snapshot().await;
    let before = world.device.heard(0).number;
    let heard = world.device.next_heard(before);
    tokio::pin!(heard);
    assert!(
        timeout(Duration::from_secs(60), &mut heard).await.is_err(),
        "nothing happens on the home screen"
    );
    world.open(".LoginActivity").await;
    let heard = timeout(Duration::from_secs(1), heard).await.expect("a change").unwrap();
    assert!(heard.number > before);
    world.open(".DialogsActivity").await;
    let screen = world.snapshot().await;
    let before = world.device.heard(0).number;
    world.device.input(Input::Tap(centre(&screen, "show_toast"))).await.unwrap();
    tokio::time::sleep(Duration::from_millis(100)).await;
    let said = world.device.heard(before).words;
    let [said] = said.as_slice() else { panic!("{said:?}") };
    assert_eq!((said.kind, said.text.as_str(), said.app.as_str()), (SaidKind::Toast, "Draft saved", APP));
    assert!(world.device.heard(said.number).words.is_empty(), "told once");
}

#[tokio::test(start_paused = true)]
async fn a_flood_of_events_is_counted_and_not_kept() {
    let world = world(HelperMode::Always, "helper-flood=1");
    world.snapshot().await;
    world.open(".DialogsActivity").await;
    let heard = timeout(Duration::from_secs(5), world.device.next_heard(0)).await.unwrap().unwrap();
    assert!(heard.words.len() <= 64);
    assert!(!world.snapshot().await.elements.is_empty(), "answers come between events");
    assert!(world.device.heard(0).number >= 1_000, "{}", world.device.heard(0).number);
}

#[tokio::test(start_paused = true)]
async fn a_request_that_is_given_up_does_not_confuse_the_next() {
    let world = world(HelperMode::Always, "helper-delay=1");
    world.open(".LoginActivity").await;
    let point = Point { x: 500, y: 500 };
    assert!(timeout(Duration::from_millis(1), world.device.snapshot(None)).await.is_err(), "it starts");
    world.snapshot().await;
    for _ in 0..3 {
        let tap = world.device.input(Input::Tap(point));
        assert!(timeout(Duration::from_millis(1), tap).await.is_err(), "it takes at least a second");
        let screen = world.snapshot().await;
        assert!(!screen.elements.is_empty(), "the late answer was skipped");
    }
}

#[tokio::test(start_paused = true)]
async fn a_report_of_it_has_no_text_of_the_screen() {
    let world = world(HelperMode::Never, "");
    world.open(".LoginActivity").await;
    let report = world.device.examine_helper().await.join("\n");
    for part in
        ["started in", "windows and", "dump in", "the tree agrees with the dump", "picture of", "no change"]
    {
        assert!(report.contains(part), "{part}: {report}");
    }
    assert!(!report.contains("Sign in") && !report.contains("Email"), "{report}");
    assert_eq!(world.helpers().await, 0, "nothing is left");
    let liar = self::world(HelperMode::Never, "helper-lie=1");
    liar.open(".LoginActivity").await;
    let report = liar.device.examine_helper().await.join("\n");
    assert!(report.contains("! the tree differs from the dump"), "{report}");
}

#[tokio::test(start_paused = true)]
async fn a_file_that_is_no_program_is_complained_about() {
    let world = world(HelperMode::Never, "");
    let said = world.device.adb();
    let script = Script::new("CLASSPATH=/data/local/tmp/none.jar app_process / mdm.helper.Main s /x");
    let output = said.shell(&script, 1 << 16).await.unwrap();
    assert!(output.message().contains("ClassNotFoundException"), "{}", output.message());
}

#[tokio::test(start_paused = true)]
async fn fingers_pinch_and_drag() {
    let world = world(HelperMode::Auto, "");
    world.open(".LoginActivity").await;
    let screen = world.snapshot().await;
    let point = centre(&screen, "email");
    world.device.input(Input::DoubleTap(point)).await.unwrap();
    world.device.input(Input::LongPress { point, duration_ms: 700 }).await.unwrap();
    let to = Point { x: point.x, y: point.y - 300 };
    world.device.input(Input::Swipe { from: point, to, duration_ms: 300 }).await.unwrap();
    let center = Point { x: 540, y: 1200 };
    let pinch = Input::Pinch { center, within: None, from_px: 600, to_px: 300, duration_ms: 300 };
    world.device.input(pinch).await.unwrap();
    let inputs = world.phone.truth().inputs;
    let [first, second, long, swipe, pinch] = inputs.as_slice() else { panic!("{inputs:?}") };
    let at = (point.x, point.y);
    assert!(matches!(first, Applied::Tap { at: here, .. } if *here == at), "{first:?}");
    assert!(matches!(second, Applied::Tap { at: here, .. } if *here == at), "{second:?}");
    assert!(matches!(long, Applied::Swipe { from, to, ms: 700, .. } if *from == at && *to == at), "{long:?}");
    let end = (to.x, to.y);
    assert!(matches!(swipe, Applied::Swipe { from, to, .. } if *from == at && *to == end), "{swipe:?}");
    assert!(matches!(pinch, Applied::Pinch { .. }), "{pinch:?}");
}

#[tokio::test(start_paused = true)]
async fn one_that_does_not_start_is_given_up_and_the_shell_is_used() {
    let world = world(HelperMode::Auto, "helper-start=1");
    for round in 0..6 {
        let (screen, told) = served::noting(world.snapshot()).await;
        assert!(!screen.elements.is_empty());
        assert!(told.by_shell);
        assert_eq!(told.words.len(), usize::from(round == 0), "told once: {told:?}");
        tokio::time::sleep(Duration::from_secs(10)).await;
    }
    let starts = world.phone.truth().faults.len();
    assert_eq!(starts, 3, "not tried for ever");
    let note = world.device.helper_note().unwrap();
    assert!(note.contains("Aborted") && note.contains("134"), "{note}");
    assert!(world.phone.truth().leftover_files.is_empty(), "{:?}", world.phone.truth().leftover_files);
    let strict = device_of(&world.phone, HelperMode::Always);
    let error = strict.snapshot(None).await.unwrap_err();
    assert_eq!(error.kind, DeviceErrorKind::ServiceMissing, "{error}");
}

#[tokio::test(start_paused = true)]
async fn one_that_tells_another_screen_than_a_dump_is_not_believed() {
    let world = world(HelperMode::Auto, "helper-lie=1");
    world.open(".LoginActivity").await;
    let screen = world.snapshot().await;
    assert!(screen.elements.iter().all(|element| element.text.as_deref() != Some("…")));
    let note = world.device.helper_note().unwrap();
    assert!(note.contains("another screen than a dump") && note.contains("text of 1 characters"), "{note}");
    assert_eq!(world.helpers().await, 0);
    assert_eq!(world.device.capabilities().native_actions, Support::No);
}

#[tokio::test(start_paused = true)]
async fn a_death_in_the_middle_of_an_input_leaves_its_fate_unknown() {
    let world = world(HelperMode::Always, "helper-death=1");
    let reading = world.device.snapshot(None).await.unwrap_err();
    assert!(
        matches!(reading.kind, DeviceErrorKind::ServiceMissing | DeviceErrorKind::ConnectionLost),
        "{reading:?}"
    );
    let world = World { device: device_of(&world.phone, HelperMode::Always), phone: world.phone };
    tokio::time::sleep(Duration::from_secs(10)).await;
    let point = Point { x: 500, y: 500 };
    let sent = world.device.input(Input::Tap(point)).await.unwrap_err();
    assert!(matches!(sent.dispatch, Dispatch::Unknown | Dispatch::NotSent), "{sent:?}");
}

#[tokio::test(start_paused = true)]
async fn a_helper_that_dies_is_started_again_and_reads_go_on_meanwhile() {
    let world = world(HelperMode::Auto, "");
    world.snapshot().await;
    tokio::time::sleep(Duration::from_secs(10)).await;
    world.shell("pkill -9 -f mdm.helper.Main").await;
    let (screen, told) = served::noting(world.snapshot()).await;
    assert!(!screen.elements.is_empty());
    assert!(!told.by_shell, "it is started again at once: {told:?}");
    assert_eq!(world.helpers().await, 1);
    world.shell("pkill -9 -f mdm.helper.Main").await;
    let (screen, told) = served::noting(world.snapshot()).await;
    assert!(!screen.elements.is_empty());
    assert!(told.by_shell && told.words.len() == 1, "but not twice within seconds: {told:?}");
    let sent = world.device.input(Input::Tap(Point { x: 500, y: 300 })).await;
    assert_eq!(sent, Ok(()), "the shell taps");
}

#[tokio::test(start_paused = true)]
async fn another_program_that_holds_ui_automation_is_said_to() {
    let world = world(HelperMode::Auto, "");
    world.snapshot().await;
    world.device.close().await.unwrap();
    let other = device_of(&world.phone, HelperMode::Always);
    other.snapshot(None).await.unwrap();
    let strict = device_of(&world.phone, HelperMode::Always);
    let error = strict.snapshot(None).await.unwrap_err();
    assert_eq!(error.kind, DeviceErrorKind::TreeBusy, "{error}");
    let error = device_of(&world.phone, HelperMode::Never).snapshot(None).await.unwrap_err();
    assert_eq!(error.kind, DeviceErrorKind::TreeBusy, "a dump is refused just as well");
    // Half a minute without a request, and it is given back.
    tokio::time::sleep(Duration::from_secs(31)).await;
    strict.snapshot(None).await.unwrap();
}
