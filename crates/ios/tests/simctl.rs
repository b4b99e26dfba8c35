//! The client of simctl against the virtual iPhone's `xcrun`, through real processes.
//!
//! The script that stands for `xcrun` needs a program. It runs this test binary again, with `stand_in` as the only
//! test, which hands the arguments to the phone; the harness's own words go elsewhere.

#![expect(clippy::expect_used, reason = "helpers of tests may fail a test")]

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use mdm_core::port::{
    AppCommand, Device as _, DeviceErrorKind, Dispatch, Input, LogSource as _, NightMode, Place,
    SettingChange,
};
use mdm_core::screen::geometry::Point;
use mdm_ios::connect::pipe;
use mdm_ios::device::{Backends, IosDevice, OneSimulator};
use mdm_ios::idb::Idb;
use mdm_ios::reports::ReportFolder;
use mdm_ios::simctl::{Appearance, Privacy, Simctl, SimulatorState};
use mdm_ios::wda::Wda;
use mdm_virtual_device::{IPhone, IPhoneConfig, xcrun};

const SOCKET: &str = "MDM_XCRUN_SOCKET";
const ARGUMENTS: &str = "MDM_XCRUN_ARGUMENTS";
/// What the harness has as its standard output is not what the caller reads.
const REAL_STDOUT: &str = "/dev/fd/3";
const UDID: &str = "6B2F5A0C-7F0E-4C57-9F2B-2C1D4E8A9B10";
const SHOP: &str = "com.shop";

#[test]
fn stand_in() {
    let Ok(socket) = std::env::var(SOCKET) else { return };
    let arguments = std::env::var(ARGUMENTS).unwrap_or_default();
    let arguments: Vec<String> = arguments.lines().map(str::to_owned).collect();
    let mut stdout = OpenOptions::new().write(true).open(REAL_STDOUT).expect("the caller's pipe");
    let streams =
        xcrun::Streams { stdin: &mut std::io::stdin(), stdout: &mut stdout, stderr: &mut std::io::stderr() };
    let code = xcrun::client(Path::new(&socket), &arguments, streams).expect("the phone answers");
    std::process::exit(i32::from(code));
}

struct Mac {
    phone: IPhone,
    simctl: Simctl,
    folder: PathBuf,
}

impl Drop for Mac {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// A phone with its `xcrun` in a folder of its own.
fn mac() -> Mac {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("mdm-simctl-{}-{number}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let phone = IPhone::new(IPhoneConfig::default());
    let binary = std::env::current_exe().expect("this binary");
    // `xcrun-stand-in SOCKET ARGUMENTS` becomes variables, since the harness reads arguments itself.
    let program = folder.join("program");
    let script = format!(
        "#!/bin/sh\nshift\n{SOCKET}=\"$1\"; shift\n{ARGUMENTS}=$(printf '%s\\n' \"$@\")\nexport {SOCKET} {ARGUMENTS}\n\
         exec '{}' --exact stand_in --nocapture 3>&1 >/dev/null\n",
        binary.display()
    );
    std::fs::write(&program, script).expect("a script");
    make_executable(&program);
    let listener = phone.install_xcrun(&folder, &program).expect("xcrun");
    let served = phone.clone();
    tokio::spawn(async move { served.serve_xcrun(listener).await });
    let simctl = Simctl::find(Some(folder.join("xcrun"))).expect("xcrun is there");
    Mac { phone, simctl, folder }
}

fn make_executable(file: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    let mut permissions =
        File::open(file).and_then(|file| file.metadata()).expect("the script").permissions();
    permissions.set_mode(0o755);
    std::fs::set_permissions(file, permissions).expect("an executable");
}

fn bundle(folder: &Path, info: &str) -> PathBuf {
    let app = folder.join("Hello.app");
    std::fs::create_dir_all(&app).expect("a folder");
    let head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?><plist version=\"1.0\"><dict>";
    std::fs::write(app.join("Info.plist"), format!("{head}{info}</dict></plist>")).expect("a plist");
    app
}

const HELLO: &str = "<key>CFBundleIdentifier</key><string>com.example.hello</string>\
                     <key>CFBundleExecutable</key><string>Hello</string>\
                     <key>CFBundleDisplayName</key><string>Caf\u{e9} \"H\"</string>\
                     <key>CFBundleShortVersionString</key><string>2.3</string>\
                     <key>CFBundleVersion</key><string>45</string>";

/// A simulator with a companion and WebDriverAgent: simctl is a process each time, and only where nothing else can.
#[tokio::test]
async fn no_process_is_started_where_a_running_program_can_serve() {
    let mac = mac();
    let phone = mac.phone.clone();
    let idb = Idb::new(pipe(move || phone.connect_companion()));
    let phone = mac.phone.clone();
    let wda = Wda::new(pipe(move || phone.connect_wda()), "127.0.0.1:8100".to_owned());
    let simctl = Arc::new(Simctl::find(Some(mac.folder.join("xcrun"))).expect("xcrun is there"));
    let one = OneSimulator { simctl: Arc::clone(&simctl), udid: UDID.to_owned(), reports: None };
    let backends = Backends { idb: Some(idb), wda: Some(wda), simctl: Some(one), ..Backends::default() };
    let device = IosDevice::new(UDID, backends);
    let started = || simctl.processes_started();
    let launch = AppCommand::Start { app: SHOP.to_owned() };
    device.app(&launch).await.expect("the app starts");
    for _ in 0..20 {
        device.snapshot(None).await.expect("a tree");
        device.input(Input::Tap(Point { x: 5, y: 5 })).await.expect("a tap");
        device.screenshot().await.expect("a picture");
    }
    device.apps(true).await.expect("a list of apps");
    assert_eq!(started(), 0, "20 trees, 20 taps, 20 pictures, a start and a list");
    device.change(&SettingChange::DarkMode(NightMode::On)).await.expect("dark");
    assert_eq!(started(), 3, "only simctl knows how dark a simulator is: read, set, read back");
}

#[tokio::test]
async fn simulators_are_listed_with_what_is_wrong_with_them() {
    let mac = mac();
    let all = mac.simctl.list().await.expect("a list");
    let own = all.iter().find(|simulator| simulator.udid == UDID).expect("the phone");
    assert_eq!((own.state.clone(), own.runtime.as_str()), (SimulatorState::Booted, "iOS 18.5"));
    assert_eq!((own.model.as_str(), own.unavailable.clone()), ("iPhone 15 Pro", None));
    let lost = all.iter().find(|simulator| simulator.udid != UDID).expect("another");
    assert!(
        lost.unavailable.as_deref().is_some_and(|why| why.contains("runtime profile not found")),
        "{lost:?}"
    );
    assert_eq!(mac.simctl.processes_started(), 1);
}

#[tokio::test]
async fn a_simulator_that_is_shut_down_says_so_until_it_is_booted() {
    let mac = mac();
    assert_eq!(mac.simctl.shutdown(UDID).await, Ok(true));
    assert_eq!(mac.simctl.shutdown(UDID).await, Ok(false));
    let error = mac.simctl.launch(UDID, SHOP, &[]).await.expect_err("shut down");
    assert_eq!((error.kind, error.dispatch), (DeviceErrorKind::Offline, Dispatch::Refused));
    assert!(error.detail.contains("boot it first"), "{error}");
    assert_eq!(mac.simctl.boot(UDID).await, Ok(()));
    assert_eq!(mac.simctl.boot(UDID).await, Ok(()), "booted already");
    assert!(mac.simctl.launch(UDID, SHOP, &[]).await.is_ok());
    let error = mac.simctl.erase(UDID).await.expect_err("booted");
    assert_eq!(error.kind, DeviceErrorKind::Rejected);
    let error = mac.simctl.boot("nobody").await.expect_err("no such device");
    assert_eq!(error.kind, DeviceErrorKind::Gone);
}

#[tokio::test]
async fn apps_are_installed_listed_started_ended_and_removed() {
    let mac = mac();
    let (simctl, app) = (&mac.simctl, bundle(&mac.folder, HELLO));
    assert_eq!(simctl.app(UDID, "com.example.hello").await, Ok(None));
    let error = simctl.launch(UDID, "com.example.hello", &[]).await.expect_err("not there");
    assert_eq!((error.kind, error.dispatch), (DeviceErrorKind::AppNotInstalled, Dispatch::Refused));
    assert_eq!(simctl.install(UDID, &app).await, Ok(()));
    let found = simctl.app(UDID, "com.example.hello").await.expect("an answer").expect("the app");
    assert_eq!((found.name.as_str(), found.system), ("Caf\u{e9} \"H\"", false));
    assert_eq!((found.version.as_deref(), found.build.as_deref()), (Some("2.3"), Some("45")));
    let apps = simctl.apps(UDID).await.expect("a list");
    assert!(apps.iter().any(|app| app.bundle == "com.apple.Preferences" && app.system), "{apps:?}");
    assert!(apps.contains(&found), "both commands tell the same");
    let pid = simctl.launch(UDID, "com.example.hello", &["-flag", "x"]).await.expect("it starts");
    assert!(mac.phone.phone().truth().activity.starts_with("com.example.hello/"));
    assert!(simctl.running(UDID).await.expect("a list").contains(&("com.example.hello".to_owned(), pid)));
    assert!(simctl.data_folder(UDID, "com.example.hello").await.is_ok());
    assert_eq!(simctl.terminate(UDID, "com.example.hello").await, Ok(true));
    assert_eq!(simctl.terminate(UDID, "com.example.hello").await, Ok(false));
    assert_eq!(simctl.uninstall(UDID, "com.example.hello").await, Ok(()));
    assert_eq!(simctl.app(UDID, "com.example.hello").await, Ok(None));
    let gone = simctl.data_folder(UDID, "com.example.hello").await.expect_err("removed");
    assert_eq!(gone.kind, DeviceErrorKind::AppNotInstalled);
}

#[tokio::test]
async fn bundles_that_are_none_are_refused() {
    let mac = mac();
    let error = mac.simctl.install(UDID, &mac.folder.join("No.app")).await.expect_err("no folder");
    assert_eq!((error.kind, error.dispatch), (DeviceErrorKind::InvalidRequest, Dispatch::Refused));
    let nameless = bundle(&mac.folder, "<key>CFBundleExecutable</key><string>X</string>");
    let error = mac.simctl.install(UDID, &nameless).await.expect_err("no identifier");
    assert_eq!(error.kind, DeviceErrorKind::Rejected);
    assert!(error.detail.contains("bundle ID"), "{error}");
    let error = mac.simctl.launch(UDID, "--help", &[]).await.expect_err("an option");
    assert_eq!((error.kind, error.dispatch), (DeviceErrorKind::InvalidRequest, Dispatch::NotSent));
}

#[tokio::test]
async fn the_system_does_what_it_is_told() {
    let mac = mac();
    let simctl = &mac.simctl;
    let picture = simctl.screenshot(UDID).await.expect("a picture");
    assert!(picture.starts_with(b"\x89PNG"));
    assert_eq!(simctl.appearance(UDID).await, Ok(Some(Appearance::Light)));
    assert_eq!(simctl.set_appearance(UDID, Appearance::Dark).await, Ok(()));
    assert_eq!(simctl.appearance(UDID).await, Ok(Some(Appearance::Dark)));
    assert_eq!(simctl.set_pasteboard(UDID, "zwölf ✓\n").await, Ok(()));
    assert_eq!(simctl.pasteboard(UDID).await.as_deref(), Ok("zwölf ✓\n"));
    assert_eq!(simctl.open_url(UDID, "shop://item/1").await, Ok(()));
    let error = simctl.open_url(UDID, "nobody://x").await.expect_err("no app");
    assert!(error.detail.contains("no app"), "{error}");
    assert_eq!(simctl.privacy(UDID, Privacy::Grant, "photos", SHOP).await, Ok(()));
    let place = Place { latitude: 48.1, longitude: -11.5 };
    assert_eq!(simctl.set_location(UDID, Some(place)).await, Ok(()));
    assert_eq!(simctl.push(UDID, SHOP, br#"{"aps":{"alert":"hi"}}"#).await, Ok(()));
    let state = mac.phone.simulator(|state| state.clone());
    assert_eq!(state.location, Some((48.1, -11.5)));
    assert_eq!((state.pushes.len(), state.opened_urls.len()), (1, 1));
    assert_eq!(state.privacy.get(&(SHOP.to_owned(), "photos".to_owned())), Some(&true));
    assert_eq!(simctl.set_location(UDID, None).await, Ok(()));
    assert_eq!(mac.phone.simulator(|state| state.location), None);
}

#[tokio::test]
async fn the_log_is_read_and_followed() {
    let mac = mac();
    let mut log = mac.simctl.follow_log(UDID, None).expect("it starts");
    // The stream begins when its program has reached the phone, which a launch before that would not prove.
    let entry = loop {
        mac.simctl.terminate(UDID, SHOP).await.expect("an answer");
        let pid = mac.simctl.launch(UDID, SHOP, &[]).await.expect("it starts");
        let batch = tokio::time::timeout(Duration::from_millis(100), log.next()).await;
        let Ok(batch) = batch else { continue };
        let batch = batch.expect("a log").expect("it goes on");
        assert_eq!(batch.unread_lines, 0);
        let words = format!("[app<{SHOP}((null))>:{pid}] Bootstrap success!");
        if let Some(entry) = batch.entries.into_iter().find(|entry| entry.message == words) {
            break entry;
        }
    };
    assert_eq!((entry.pid, entry.tag.as_str()), (Some(2044), "com.apple.FrontBoard:Process"));
    assert!(entry.time_ms.is_some());
    let (history, unread) = mac.simctl.log_history(UDID, 3600, None).await.expect("a log");
    assert!(history.contains(&entry) && unread == 0, "{history:?}");
    let other = "process == \"SpringBoard\" AND eventMessage CONTAINS \"nothing of the kind\"";
    let (none, _) = mac.simctl.log_history(UDID, 3600, Some(other)).await.expect("a log");
    assert_eq!(none, []);
}

#[tokio::test]
async fn without_xcrun_the_error_says_what_is_missing() {
    let simctl =
        Simctl::find(Some(PathBuf::from("/nowhere/xcrun"))).expect("a path is believed until it is run");
    let error = simctl.list().await.expect_err("nothing there");
    assert_eq!((error.kind, error.dispatch), (DeviceErrorKind::Local, Dispatch::NotSent));
    assert!(error.detail.contains("xcrun was not found"), "{error}");
    assert_eq!(simctl.processes_started(), 0);
}

#[tokio::test]
async fn crash_reports_of_one_simulator_are_found_in_the_folder() {
    let mac = mac();
    let folder = mac.folder.join("reports");
    std::fs::create_dir_all(&folder).expect("a folder");
    let report = |udid: &str| {
        format!(
            "{{\"app_name\":\"Shop\",\"timestamp\":\"2026-03-02 09:00:00.00 +0000\",\"bundleID\":\"{SHOP}\"}}\n\
             {{\"pid\":7,\"procPath\":\"/Users/a/Library/Developer/CoreSimulator/Devices/{udid}/data/x\",\
             \"exception\":{{\"type\":\"EXC_CRASH\",\"signal\":\"SIGABRT\"}},\"threads\":[]}}"
        )
    };
    std::fs::write(folder.join("Shop-1.ips"), report(UDID)).expect("a report");
    std::fs::write(folder.join("Shop-2.ips"), report("OTHER")).expect("a report");
    std::fs::write(folder.join("notes.txt"), "x").expect("a file");
    let reports = ReportFolder::new(folder);
    assert_eq!(reports.list().await.map(|files| files.len()), Ok(2));
    let crashes = reports.crashes(UDID).await.expect("reports");
    assert_eq!(crashes.len(), 1);
    assert_eq!((crashes[0].app.as_str(), crashes[0].time_ms), (SHOP, Some(1_772_442_000_000)));
    let none = ReportFolder::new(mac.folder.join("nothing"));
    assert_eq!(none.list().await, Ok(Vec::new()));
}
