//! The client of idb's companion against the companion of the virtual iPhone, in one process and with a stopped clock.
#![expect(clippy::expect_used, clippy::panic, reason = "helpers of tests may fail a test")]

use std::sync::Arc;
use std::time::Duration;

use mdm_core::port::{Captured, Device as _, DeviceError, DeviceErrorKind, Dispatch, Input};
use mdm_core::screen::element::Role;
use mdm_core::screen::snapshot::{Limits, Snapshot};
use mdm_ios::connect::{self, Connector, Transport};
use mdm_ios::device::{Backends, IosDevice};
use mdm_ios::idb::{
    AppActivity, ElementTarget, HidButtonKind, HidOrientationKind, Idb, Launch, LeastLevel, LogStyle,
    Permission, Point, ScrollDirection, SearchableKey, events,
};
use mdm_ios::tree::{self, Format};
use mdm_virtual_device::{AppFile, DumpFault, IPhone, IPhoneConfig, IPhoneFaults};
use tokio::io::AsyncWriteExt as _;

const APP: &str = "org.example.desk";
const APP_FILE: &str = r#"{
  "package": "org.example.desk", "label": "Desk", "style": "view", "start": "Main",
  "values": {"name": "", "wifi": false, "volume": 40},
  "screens": {"Main": {"content": [
    {"type": "heading", "id": "title", "text": "Desk"},
    {"type": "field", "id": "name", "value": "name", "hint": "Name"},
    {"type": "switch", "id": "wifi", "value": "wifi", "text": "Wifi"},
    {"type": "button", "id": "say", "text": "Say it",
     "on_tap": [{"log": {"priority": "W", "tag": "Desk", "message": "it was said"}}]},
    {"type": "button", "id": "crash", "text": "Fall over",
     "on_tap": [{"crash": "java.lang.IllegalStateException: the desk has three legs"}]}
  ]}}
}"#;

fn phone(faults: IPhoneFaults) -> IPhone {
    let app = AppFile::parse(APP_FILE).expect("an app");
    IPhone::new(IPhoneConfig { apps: vec![app], iphone_faults: faults, ..IPhoneConfig::default() })
}

fn pipe(phone: &IPhone) -> Connector {
    let phone = phone.clone();
    connect::pipe(move || phone.connect_companion())
}

fn idb(phone: &IPhone) -> Idb {
    Idb::new(pipe(phone))
}

async fn with_app(faults: IPhoneFaults) -> (IPhone, Idb) {
    let phone = phone(faults);
    let idb = idb(&phone);
    let pid = idb.launch(Launch { bundle: APP.to_owned(), ..Launch::default() }).await.expect("a launch");
    assert!(pid.is_some());
    (phone, idb)
}

async fn snapshot(idb: &Idb) -> Snapshot {
    let json =
        idb.tree(&["AXLabel", "AXValue", "AXUniqueId", "type", "frame", "subrole", "traits", "enabled"]);
    tree::parse(&json.await.expect("a tree"), &Limits::default())
}

/// The center of the element with this identifier, in points.
async fn place(idb: &Idb, id: &str) -> Point {
    let snapshot = snapshot(idb).await;
    let found = snapshot.elements.iter().find(|element| element.stable_id.as_deref() == Some(id));
    let bounds = found.unwrap_or_else(|| panic!("no {id} in {snapshot:?}")).bounds;
    Point { x: f64::from(bounds.left + bounds.right) / 2.0, y: f64::from(bounds.top + bounds.bottom) / 2.0 }
}

fn failed<T: std::fmt::Debug>(result: Result<T, DeviceError>) -> (DeviceErrorKind, Dispatch) {
    let error = result.expect_err("an error");
    (error.kind, error.dispatch)
}

fn wifi_is_on(phone: &IPhone) -> bool {
    phone.phone().truth().switches["org.example.desk.wifi"]
}

fn inputs(phone: &IPhone) -> Vec<String> {
    phone.phone().truth().inputs.iter().map(|input| format!("{input:?}")).collect()
}

#[tokio::test(start_paused = true)]
async fn the_simulator_describes_itself_and_its_apps() {
    let phone = phone(IPhoneFaults::default());
    let idb = idb(&phone);
    let target = idb.describe().await.expect("a description");
    assert_eq!((target.udid.as_str(), target.is_simulator), (phone.config().udid.as_str(), true));
    assert_eq!((target.os_version.as_str(), target.state.as_str()), ("18.5", "Booted"));
    let screen = target.screen.expect("a screen");
    assert_eq!((screen.width_px, screen.width_points, screen.height_points), (1179, 393, 852));
    let apps = idb.apps().await.expect("apps");
    let app = apps.iter().find(|app| app.bundle == APP).expect("the app");
    assert_eq!((app.name.as_str(), app.is_system, app.pid), ("Desk", false, None));
    assert!(apps.iter().any(|app| app.bundle == "com.apple.springboard" && app.is_system));
}

#[tokio::test(start_paused = true)]
async fn the_best_format_of_the_tree_is_found_once_and_kept() {
    let (_phone, idb) = with_app(IPhoneFaults::default()).await;
    assert_eq!(tree::detect(&idb.tree(&[]).await.expect("a tree")), Some(Format::IdbComplete));
    let (_phone, idb) = with_app(IPhoneFaults { old_companion: true, ..IPhoneFaults::default() }).await;
    for _ in 0..2 {
        let tree = idb.tree(&[]).await.expect("a tree");
        assert_eq!(tree::detect(&tree), Some(Format::IdbNested));
        let text = str::from_utf8(&tree).expect("text");
        assert!(!text.contains("\"pid\"") && !text.contains("\"traits\""), "a key that is too new: {text}");
    }
}

#[tokio::test(start_paused = true)]
async fn elements_have_the_keys_and_values_that_idb_writes() {
    let (_phone, idb) = with_app(IPhoneFaults::default()).await;
    let at = place(&idb, "wifi").await;
    let json = idb.element_at(at, &[]).await.expect("an element");
    let element: serde_json::Value = serde_json::from_slice(&json).expect("JSON");
    let frame = &element["frame"];
    let text = |name: &str| {
        let number = &frame[name];
        number.as_f64().map(|value| value.to_string()).unwrap_or_default()
    };
    let frame_text =
        format!("{{{{{}, {}}}, {{{}, {}}}}}", text("x"), text("y"), text("width"), text("height"));
    assert_eq!(element["AXFrame"], frame_text.as_str());
    for (key, value) in [
        ("AXLabel", "Wifi".into()),
        ("AXValue", "0".into()),
        ("AXUniqueId", "wifi".into()),
        ("type", "CheckBox".into()),
        ("role", "AXCheckBox".into()),
        ("role_description", "switch".into()),
        ("subrole", "AXSwitch".into()),
        ("title", serde_json::Value::Null),
        ("help", serde_json::Value::Null),
        ("enabled", true.into()),
        ("content_required", false.into()),
        ("custom_actions", serde_json::json!([])),
    ] {
        assert_eq!(element[key], value, "{key}");
    }
    let keys: Vec<&str> = element.as_object().expect("an object").keys().map(String::as_str).collect();
    assert_eq!(keys.len(), 16, "the default keys: {keys:?}");
    let asked = idb.element_at(at, &["AXLabel", "focused", "no such key"]).await.expect("an element");
    assert_eq!(asked, r#"{"AXLabel":"Wifi","focused":false}"#);
    let refused = idb.element_at(at, &["no such key"]).await;
    assert_eq!(failed(refused), (DeviceErrorKind::Rejected, Dispatch::NotSent));
    let outside = idb.element_at(Point { x: -5.0, y: 10.0 }, &[]).await;
    assert_eq!(failed(outside), (DeviceErrorKind::Rejected, Dispatch::NotSent));
}

#[tokio::test(start_paused = true)]
async fn fingers_reach_the_phone_as_inputs_of_adb_do() {
    let (phone, idb) = with_app(IPhoneFaults::default()).await;
    let wifi = place(&idb, "wifi").await;
    idb.hid(events::tap(wifi)).await.expect("a tap");
    assert!(wifi_is_on(&phone));
    idb.hid(events::double_tap(wifi)).await.expect("two taps");
    let begun = tokio::time::Instant::now();
    idb.hid(events::long_press(wifi, Duration::from_millis(800))).await.expect("a press");
    assert_eq!(begun.elapsed().as_millis(), 800);
    let to = Point { x: wifi.x, y: wifi.y - 100.0 };
    idb.hid(events::swipe(wifi, to, Duration::from_millis(300))).await.expect("a swipe");
    let (hold, time) = (Duration::from_millis(600), Duration::from_millis(400));
    idb.hid(events::drag(wifi, to, hold, time)).await.expect("a drag");
    idb.hid(events::pinch(wifi, 2.0, 50.0, Duration::from_millis(200))).await.expect("a pinch");
    let seen = inputs(&phone);
    let kinds: Vec<&str> = seen.iter().filter_map(|input| input.split([' ', '{']).next()).collect();
    assert_eq!(kinds, ["Tap", "Tap", "Tap", "Swipe", "Swipe", "Swipe", "Pinch"], "{seen:?}");
    assert!(
        seen[3].contains("ms: 800") && seen[4].contains("ms: 300") && seen[5].contains("ms: 1000"),
        "{seen:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn ascii_is_typed_with_keys_and_any_text_is_set() {
    let (phone, idb) = with_app(IPhoneFaults::default()).await;
    let field = || phone.phone().truth().fields["org.example.desk.name"].clone();
    idb.hid(events::tap(place(&idb, "name").await)).await.expect("a tap");
    idb.type_keys("Ada, 1815 (\"Q&A\")?").await.expect("keys");
    assert_eq!(field(), "Ada, 1815 (\"Q&A\")?");
    idb.hid(events::key(events::KEY_BACKSPACE)).await.expect("a key");
    assert_eq!(field(), "Ada, 1815 (\"Q&A\")");
    idb.hid(events::chord(events::LEFT_COMMAND, events::KEY_A)).await.expect("a chord");
    idb.type_keys("x").await.expect("a key");
    assert_eq!(field(), "x");
    let error = failed(idb.type_keys("grün").await);
    assert_eq!(error, (DeviceErrorKind::TextNotTypeable, Dispatch::NotSent));
    let target = ElementTarget::At(place(&idb, "name").await);
    idb.set_value(target, "grün 漢字 😀").await.expect("a value");
    assert_eq!(field(), "grün 漢字 😀");
}

#[tokio::test(start_paused = true)]
async fn elements_are_activated_by_what_they_are_called() {
    let (phone, idb) = with_app(IPhoneFaults::default()).await;
    let marker = |text: &str, key| ElementTarget::Marker { text: text.to_owned(), key };
    idb.tap_element(marker("Wif", SearchableKey::Label)).await.expect("a tap");
    assert!(wifi_is_on(&phone));
    idb.tap_element(marker("wifi", SearchableKey::UniqueId)).await.expect("a tap");
    assert!(!wifi_is_on(&phone));
    let nobody = idb.tap_element(marker("Nobody", SearchableKey::Label)).await;
    assert_eq!(failed(nobody), (DeviceErrorKind::Rejected, Dispatch::Refused));
    idb.scroll_element(marker("Wifi", SearchableKey::Label), ScrollDirection::Down).await.expect("a scroll");
}

#[tokio::test(start_paused = true)]
async fn an_old_companion_lacks_calls_and_that_is_remembered() {
    let (phone, idb) = with_app(IPhoneFaults { old_companion: true, ..IPhoneFaults::default() }).await;
    let target = ElementTarget::At(Point { x: 10.0, y: 10.0 });
    for _ in 0..2 {
        let refused = idb.set_value(target.clone(), "x").await;
        assert_eq!(failed(refused), (DeviceErrorKind::NotSupported, Dispatch::Refused));
        assert_eq!(failed(idb.orientation().await).0, DeviceErrorKind::NotSupported);
        assert_eq!(failed(idb.quiet(None).await.map(|_| ())).0, DeviceErrorKind::NotSupported);
    }
    // A pinch is an event that it does not know: it has been sent, and a part of the list may have happened.
    let pinch = idb.hid(events::pinch(Point { x: 100.0, y: 100.0 }, 2.0, 50.0, Duration::ZERO)).await;
    assert_eq!(failed(pinch), (DeviceErrorKind::Rejected, Dispatch::Unknown));
    assert!(inputs(&phone).is_empty());
}

#[tokio::test(start_paused = true)]
async fn faults_of_companions_reach_the_client() {
    let (phone, idb) = with_app(IPhoneFaults { hid_ignored: true, ..IPhoneFaults::default() }).await;
    idb.hid(events::tap(place(&idb, "wifi").await)).await.expect("success without effect");
    assert!(inputs(&phone).is_empty());
    let (_phone, idb) = with_app(IPhoneFaults { one_element_tree: true, ..IPhoneFaults::default() }).await;
    assert_eq!(snapshot(&idb).await.elements.len(), 1);
    let (_phone, idb) = with_app(IPhoneFaults { numeric_values: true, ..IPhoneFaults::default() }).await;
    let json = idb.element_at(place(&idb, "wifi").await, &["AXValue"]).await.expect("an element");
    assert_eq!(json, r#"{"AXValue":0}"#);
}

#[tokio::test(start_paused = true)]
async fn a_reading_that_fails_once_does_not_make_the_trees_flat() {
    // W10: which format a companion has is not learnt from a failure.
    let depth = |snapshot: &Snapshot| snapshot.elements.iter().map(|element| element.depth).max();
    let (phone, idb) = with_app(IPhoneFaults::default()).await;
    let whole = snapshot(&idb).await;
    phone.phone().inject_dump_fault(DumpFault::Killed);
    let error = idb.tree(&[]).await.expect_err("the reading failed");
    assert_eq!(error.kind, DeviceErrorKind::Rejected, "{error:?}");
    assert_eq!(depth(&snapshot(&idb).await), depth(&whole));
    // Before anything is known, another format is tried, and the best one the next time.
    let (phone, idb) = with_app(IPhoneFaults::default()).await;
    for _ in 0..2 {
        phone.phone().inject_dump_fault(DumpFault::Killed);
    }
    assert_eq!(depth(&snapshot(&idb).await), Some(1), "a flat list");
    assert_eq!(depth(&snapshot(&idb).await), depth(&whole));
}

#[tokio::test(start_paused = true)]
async fn rest_is_told_as_it_comes_and_goes() {
    let (phone, idb) = with_app(IPhoneFaults::default()).await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    let mut quiet = idb.quiet(Some(APP)).await.expect("a stream");
    assert_eq!(quiet.next().await, Ok(Some(AppActivity::Quiet)));
    idb.hid(events::tap(place(&idb, "wifi").await)).await.expect("a tap");
    assert_eq!(quiet.next().await, Ok(Some(AppActivity::Settling)));
    assert_eq!(quiet.next().await, Ok(Some(AppActivity::Quiet)));
    idb.terminate(APP).await.expect("an end");
    assert_eq!(quiet.next().await, Ok(None));
    assert_eq!(failed(idb.quiet(Some(APP)).await.map(|_| ())).0, DeviceErrorKind::Rejected);
    drop(phone);
}

#[tokio::test(start_paused = true)]
async fn pictures_are_of_the_whole_screen() {
    let phone = phone(IPhoneFaults::default());
    let png = idb(&phone).screenshot().await.expect("a picture");
    assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n");
    let size = |at: usize| u32::from_be_bytes([png[at], png[at + 1], png[at + 2], png[at + 3]]);
    assert_eq!((size(16), size(20)), (1179, 2556));
}

#[tokio::test(start_paused = true)]
async fn apps_are_started_ended_installed_and_removed() {
    let (phone, idb) = with_app(IPhoneFaults::default()).await;
    assert!(phone.phone().truth().activity.starts_with(APP));
    idb.terminate(APP).await.expect("an end");
    let again = idb.terminate(APP).await;
    assert_eq!(failed(again), (DeviceErrorKind::Rejected, Dispatch::Refused));
    let nobody = idb.launch(Launch { bundle: "org.nobody".to_owned(), ..Launch::default() }).await;
    assert_eq!(failed(nobody), (DeviceErrorKind::AppNotInstalled, Dispatch::Refused));

    let folder = std::env::temp_dir().join(format!("mdm-idb-{}", std::process::id()));
    let app = folder.join("New.app");
    std::fs::create_dir_all(&app).expect("a folder");
    std::fs::write(app.join("Info.plist"), INFO_PLIST).expect("a file");
    assert_eq!(idb.install(&app, |_| {}).await.as_deref(), Ok("org.example.new"));
    assert!(phone.phone().truth().packages.contains(&"org.example.new".to_owned()));
    idb.launch(Launch { bundle: "org.example.new".to_owned(), ..Launch::default() }).await.expect("a launch");
    idb.uninstall("org.example.new").await.expect("a removal");
    assert!(!phone.phone().truth().packages.contains(&"org.example.new".to_owned()));
    let system = idb.uninstall("com.apple.Preferences").await;
    assert_eq!(failed(system), (DeviceErrorKind::Rejected, Dispatch::Refused));

    std::fs::write(app.join("Info.plist"), "nothing").expect("a file");
    assert_eq!(failed(idb.install(&app, |_| {}).await).0, DeviceErrorKind::Rejected);
    std::fs::remove_dir_all(&folder).expect("an end");
}

const INFO_PLIST: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<plist version="1.0"><dict><key>CFBundleIdentifier</key><string>org.example.new</string>
<key>CFBundleExecutable</key><string>New</string><key>CFBundleName</key><string>New</string>
<key>CFBundleShortVersionString</key><string>2.1</string><key>CFBundleVersion</key><string>7</string></dict></plist>"#;

#[tokio::test(start_paused = true)]
async fn the_log_is_followed_and_crashes_are_read() {
    let (_phone, idb) = with_app(IPhoneFaults::default()).await;
    let mut logs = Vec::new();
    for style in [LogStyle::Ndjson, LogStyle::Compact, LogStyle::Syslog, LogStyle::Default] {
        logs.push(idb.log(style, LeastLevel::Debug, None).await.expect("a log"));
    }
    idb.hid(events::tap(place(&idb, "say").await)).await.expect("a tap");
    for log in &mut logs {
        let entry = loop {
            let line = log.next_line().await.expect("a line").expect("no end");
            if let Some(entry) = mdm_ios::log::parse(&line) {
                break entry;
            }
        };
        assert!(entry.message.contains("it was said"), "{entry:?}");
    }
    assert_eq!(idb.crashes(None, 0).await, Ok(Vec::new()));
    idb.hid(events::tap(place(&idb, "crash").await)).await.expect("a tap");
    let crashes = idb.crashes(Some(APP), 0).await.expect("crashes");
    assert_eq!(crashes.len(), 1, "{crashes:?}");
    let report = idb.crash(&crashes[0].name).await.expect("a report");
    let report = mdm_ios::crash::read(&report).expect("a report that can be read");
    assert_eq!((report.app.as_str(), report.pid), (APP, crashes[0].pid));
    assert_eq!(failed(idb.crash("nothing.ips").await).0, DeviceErrorKind::Rejected);
}

#[tokio::test(start_paused = true)]
async fn the_simulator_is_set_as_asked() {
    let (phone, idb) = with_app(IPhoneFaults::default()).await;
    idb.approve(APP, &[Permission::Camera, Permission::Photos]).await.expect("a permission");
    idb.revoke(APP, &[Permission::Photos]).await.expect("a permission");
    idb.set_location(47.5, -8.25).await.expect("a place");
    idb.open_url("desk://open").await.expect("a link");
    idb.send_notification(APP, r#"{"aps":{}}"#).await.expect("a notification");
    idb.clear_keychain().await.expect("a keychain");
    phone.simulator(|simulator| {
        assert_eq!(simulator.location, Some((47.5, -8.25)));
        assert_eq!(simulator.opened_urls, ["desk://open"]);
        assert_eq!(simulator.pushes.len(), 1);
        assert_eq!(simulator.privacy.get(&(APP.to_owned(), "camera".to_owned())), Some(&true));
        assert_eq!(simulator.privacy.get(&(APP.to_owned(), "photos".to_owned())), None);
    });
    assert_eq!(idb.orientation().await, Ok(Some(HidOrientationKind::Portrait)));
    idb.set_orientation(HidOrientationKind::LandscapeLeft).await.expect("a turn");
    assert_eq!(idb.orientation().await, Ok(Some(HidOrientationKind::LandscapeLeft)));
    idb.hid(events::turn(HidOrientationKind::Portrait)).await.expect("a turn");
    assert_eq!(idb.orientation().await, Ok(Some(HidOrientationKind::Portrait)));
    idb.hid(events::button(HidButtonKind::Home)).await.expect("a button");
    assert!(!phone.phone().truth().activity.starts_with(APP));
}

#[tokio::test(start_paused = true)]
async fn fingers_touch_the_upright_panel_however_the_screen_is_turned() {
    let (phone, idb) = with_app(IPhoneFaults::default()).await;
    idb.set_orientation(HidOrientationKind::LandscapeLeft).await.expect("a turn");
    let shown = place(&idb, "wifi").await;
    // A point of the screen that is turned to the left, on the panel: x runs up, y runs to the right.
    let panel = Point { x: 393.0 - shown.y, y: shown.x };
    idb.hid(events::tap(panel)).await.expect("a tap");
    assert!(wifi_is_on(&phone));
}

#[tokio::test(start_paused = true)]
async fn a_broken_connection_is_told_once_and_made_anew() {
    let (phone, idb) = with_app(IPhoneFaults::default()).await;
    let press = idb.hid(events::long_press(Point { x: 100.0, y: 400.0 }, Duration::from_secs(5)));
    let cut = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        phone.phone().cut_connections();
    };
    let (pressed, ()) = tokio::join!(press, cut);
    assert_eq!(failed(pressed), (DeviceErrorKind::ConnectionLost, Dispatch::Unknown));
    idb.describe().await.expect("a new connection");
    // A companion that is gone while nobody asks costs no call.
    phone.phone().cut_connections();
    tokio::task::yield_now().await;
    tokio::time::sleep(Duration::from_millis(1)).await;
    idb.describe().await.expect("a new connection");
    let mut log = idb.log(LogStyle::Ndjson, LeastLevel::Debug, None).await.expect("a log");
    phone.phone().set_plugged(false);
    assert_eq!(failed(log.next_line().await), (DeviceErrorKind::ConnectionLost, Dispatch::NotSent));
    assert_eq!(failed(idb.describe().await), (DeviceErrorKind::Offline, Dispatch::NotSent));
    phone.phone().set_plugged(true);
    idb.describe().await.expect("a new connection");
}

/// A peer that is no companion.
fn junk(bytes: &'static [u8]) -> Connector {
    Arc::new(move || {
        let (ours, mut theirs) = tokio::io::duplex(64 * 1024);
        tokio::spawn(async move {
            let _ = theirs.write_all(bytes).await;
        });
        Box::pin(async move { Ok(Box::new(ours) as Box<dyn Transport>) })
    })
}

#[tokio::test(start_paused = true)]
async fn what_is_no_companion_is_an_error_and_never_a_panic() {
    for bytes in [&b""[..], b"HTTP/1.1 400 Bad Request\r\n\r\n", &[0; 100], &[0xff; 5000]] {
        let idb = Idb::new(junk(bytes));
        let error = idb.describe().await.expect_err("an error");
        assert!(
            matches!(error.kind, DeviceErrorKind::ConnectionLost | DeviceErrorKind::Offline),
            "{error:?}"
        );
        let kind = failed(idb.hid(events::tap(Point { x: 1.0, y: 1.0 })).await).0;
        assert!(matches!(kind, DeviceErrorKind::ConnectionLost | DeviceErrorKind::Offline), "{kind:?}");
    }
    let nobody = Idb::new(connect::tcp("127.0.0.1:1".to_owned()));
    assert_eq!(failed(nobody.describe().await), (DeviceErrorKind::Offline, Dispatch::NotSent));
}

#[tokio::test]
async fn sockets_carry_the_same_calls() {
    let phone = phone(IPhoneFaults::default());
    let tcp = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = tcp.local_addr().expect("an address").to_string();
    let path = std::env::temp_dir().join(format!("mdm-idb-{}.sock", std::process::id()));
    let unix = tokio::net::UnixListener::bind(&path).expect("a socket");
    let (one, two) = (phone.clone(), phone.clone());
    tokio::spawn(async move { one.serve_companion(tcp).await });
    tokio::spawn(async move { two.serve_companion_unix(unix).await });
    for connector in [connect::tcp(address), connect::unix(path.clone())] {
        let idb = Idb::new(connector);
        assert!(idb.describe().await.is_ok() && idb.tree(&[]).await.is_ok());
    }
    std::fs::remove_file(&path).expect("an end");
}

#[tokio::test(start_paused = true)]
async fn the_keyboard_is_where_its_keys_are() {
    let (phone, _) = with_app(IPhoneFaults::default()).await;
    let backends = Backends { idb: Some(idb(&phone)), ..Backends::default() };
    let device = IosDevice::new("phone", backends);
    assert_eq!(device.keyboard().await.expect("an answer"), None);
    let Ok(Captured::New { snapshot, .. }) = device.snapshot(None).await.map(|read| read.screen) else {
        panic!("a tree")
    };
    let field = snapshot.elements.iter().find(|element| element.role == Role::TextField).expect("a field");
    device.input(Input::Tap(field.bounds.center())).await.expect("a tap");
    let keyboard = device.keyboard().await.expect("an answer").expect("a keyboard");
    assert!(keyboard.top > snapshot.size.height as i32 / 2, "{keyboard:?}");
    assert!(keyboard.width() > snapshot.size.width as i32 / 2, "{keyboard:?}");
}
