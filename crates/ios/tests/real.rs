//! Real iPhones, which are the virtual one behind usbmuxd: all in this process, with the clock stopped.

#![expect(clippy::expect_used, reason = "helpers of tests may fail a test")]

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use mdm_core::port::{CrashKind, DeviceErrorKind, Dispatch, LogLevel, LogSource as _, Picture};
use mdm_ios::connect::pipe;
use mdm_ios::real::{Connection, RealDevice, RealDevices};
use mdm_virtual_device::{AppFile, IPhone, IPhoneConfig, IPhoneFaults, IPhoneKind};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

const UDID: &str = "00008130-001A2B3C4D5E6F70";
const TROUBLE: &str = r#"{
    "package": "com.example.trouble", "label": "Trouble", "start": "main",
    "screens": { "main": { "content": [{ "type": "text", "text": "hello" }], "on_open": [
        { "log": { "priority": "E", "tag": "Net", "message": "cannot reach the server" } },
        { "after": { "ms": 500, "do": [{ "crash": "java.lang.IllegalStateException: cart is empty" }] } }
    ] } }
}"#;

fn phone(faults: IPhoneFaults) -> IPhone {
    IPhone::new(IPhoneConfig {
        udid: UDID.to_owned(),
        name: "Test iPhone".to_owned(),
        ios_version: "16.7".to_owned(),
        kind: IPhoneKind::Device,
        apps: vec![AppFile::parse(TROUBLE).expect("an app")],
        iphone_faults: faults,
        ..IPhoneConfig::default()
    })
}

fn devices(phone: &IPhone) -> RealDevices {
    let phone = phone.clone();
    RealDevices::with(pipe(move || phone.connect_usbmuxd()))
}

fn device(phone: &IPhone) -> RealDevice {
    devices(phone).device(UDID)
}

#[tokio::test(start_paused = true)]
async fn a_phone_is_listed_and_tells_who_it_is() {
    let phone = phone(IPhoneFaults::default());
    let listed = devices(&phone).list().await.expect("a list");
    assert_eq!(listed.len(), 1);
    assert_eq!((listed[0].udid.as_str(), listed[0].connection), (UDID, Connection::Usb));
    let facts = device(&phone).facts().await.expect("facts");
    assert_eq!((facts.name.as_str(), facts.product_type.as_str()), ("Test iPhone", "iPhone16,1"));
    assert_eq!(facts.ios_version, "16.7");
    assert_eq!(device(&phone).check_trust().await, Ok(()));
    let simulator = IPhone::new(IPhoneConfig::default());
    assert_eq!(devices(&simulator).list().await, Ok(Vec::new()), "simulators are on no cable");
}

#[tokio::test(start_paused = true)]
async fn apps_are_listed_installed_with_progress_and_removed() {
    let phone = phone(IPhoneFaults::default());
    let device = device(&phone);
    let own = device.apps(false).await.expect("a list");
    assert!(own.iter().any(|app| app.bundle == "com.shop") && own.iter().all(|app| !app.system), "{own:?}");
    let all = device.apps(true).await.expect("a list");
    assert!(all.iter().any(|app| app.bundle == "com.apple.Preferences" && app.system), "{all:?}");
    assert_eq!(device.app("com.example.hello").await, Ok(None));

    let package = Package::new("hello");
    let heard = Arc::new(Mutex::new(Vec::new()));
    let hears = Arc::clone(&heard);
    let on_progress = Arc::new(move |percent| hears.lock().expect("no panic").push(percent));
    assert_eq!(device.install(&package.file, on_progress).await, Ok(()));
    let heard = heard.lock().expect("no panic").clone();
    assert!(heard.is_sorted() && heard.last() == Some(&90), "{heard:?}");
    let app = device.app("com.example.hello").await.expect("an answer").expect("the app");
    assert_eq!((app.name.as_str(), app.version.as_deref()), ("Hello", Some("2.3")));
    assert!(phone.launch_app("com.example.hello", false).is_some());
    assert_eq!(device.uninstall("com.example.hello").await, Ok(()));
    assert_eq!(device.app("com.example.hello").await, Ok(None));
}

#[tokio::test(start_paused = true)]
async fn packages_and_apps_that_cannot_be_had_are_refused() {
    let phone = phone(IPhoneFaults::default());
    let device = device(&phone);
    let missing = device.install(&PathBuf::from("/nowhere/a.ipa"), Arc::new(|_| {})).await;
    let missing = missing.expect_err("no file");
    assert_eq!((missing.kind, missing.dispatch), (DeviceErrorKind::InvalidRequest, Dispatch::NotSent));
    let broken = Package::of("broken", b"no archive at all");
    let error = device.install(&broken.file, Arc::new(|_| {})).await.expect_err("no archive");
    assert_eq!(error.kind, DeviceErrorKind::Rejected, "{error}");
    let error = device.uninstall("com.apple.Preferences").await.expect_err("of the system");
    assert_eq!((error.kind, error.dispatch), (DeviceErrorKind::Rejected, Dispatch::Refused), "{error}");
}

#[tokio::test(start_paused = true)]
async fn the_log_comes_with_its_parts_apart() {
    let phone = phone(IPhoneFaults::default());
    let mut log = device(&phone).follow_log().await.expect("a log");
    let pid = phone.launch_app("com.example.trouble", false).expect("it starts");
    let entry = loop {
        let batch = log.next().await.expect("a log").expect("it goes on");
        if let Some(entry) = batch.entries.into_iter().find(|entry| entry.pid == Some(pid)) {
            break entry;
        }
    };
    assert_eq!((entry.tag.as_str(), entry.level), ("com.example.trouble:Net", LogLevel::Error));
    assert_eq!(entry.message, "cannot reach the server");
    assert_eq!(entry.time_ms.map(|ms| ms / 1_000_000), Some(1_772_442), "by the phone's clock");
}

#[tokio::test(start_paused = true)]
async fn crashes_are_read_from_the_phone() {
    let phone = phone(IPhoneFaults::default());
    let device = device(&phone);
    assert_eq!(device.crashes().await, Ok(Vec::new()));
    let pid = phone.launch_app("com.example.trouble", false).expect("it starts");
    tokio::time::advance(std::time::Duration::from_secs(1)).await;
    let names = device.crash_names().await.expect("names");
    assert_eq!(names, ["Trouble-2026-03-02-090000.ips"]);
    let crashes = device.crashes().await.expect("reports");
    assert_eq!(crashes.len(), 1);
    assert_eq!((crashes[0].app.as_str(), crashes[0].pid), ("com.example.trouble", pid));
    assert_eq!((crashes[0].kind, crashes[0].time_ms), (CrashKind::Exception, Some(1_772_442_000_000)));
    assert!(crashes[0].message().contains("cart is empty"), "{:?}", crashes[0]);
}

#[tokio::test(start_paused = true)]
async fn a_picture_is_taken_and_a_port_is_reached() {
    let phone = phone(IPhoneFaults::default());
    let device = device(&phone);
    let Ok(Picture::Png(png)) = device.screenshot().await else { panic!("no picture") };
    assert!(png.starts_with(b"\x89PNG"));
    let refused = device.connector(8100)().await.map(drop).expect_err("nothing listens");
    assert!(refused.to_string().contains("nothing listens on this port"), "{refused}");
    phone.open_port(
        8100,
        Arc::new(|| {
            let (ours, theirs) = tokio::io::duplex(64);
            tokio::spawn(async move {
                let (mut read, mut write) = tokio::io::split(ours);
                let _ = tokio::io::copy(&mut read, &mut write).await;
            });
            Ok(theirs)
        }),
    );
    let mut stream = device.connector(8100)().await.expect("a connection");
    stream.write_all(b"ping").await.expect("written");
    let mut answer = [0; 4];
    stream.read_exact(&mut answer).await.expect("an answer");
    assert_eq!(&answer, b"ping");
}

#[tokio::test(start_paused = true)]
async fn what_stands_between_is_said_with_what_mends_it() {
    for (faults, words) in [
        (IPhoneFaults { pairing_refused: true, ..IPhoneFaults::default() }, "tap Trust"),
        (IPhoneFaults { wrong_certificate: true, ..IPhoneFaults::default() }, "certificates"),
        (IPhoneFaults { passcode_locked: true, ..IPhoneFaults::default() }, "unlock it with its passcode"),
    ] {
        let phone = phone(faults);
        let error = device(&phone).apps(false).await.expect_err("no trust");
        assert_eq!(error.kind, DeviceErrorKind::Unauthorized, "{error}");
        assert!(error.detail.contains(words), "{error}");
        assert!(device(&phone).facts().await.is_ok(), "told to everybody");
    }
}

#[tokio::test(start_paused = true)]
async fn a_phone_that_is_unplugged_is_gone() {
    let phone = phone(IPhoneFaults::default());
    let device = device(&phone);
    let mut log = device.follow_log().await.expect("a log");
    phone.phone().set_plugged(false);
    let error = log.next().await.expect_err("unplugged in the middle");
    assert_eq!(error.kind, DeviceErrorKind::ConnectionLost, "{error}");
    let error = device.apps(false).await.expect_err("unplugged");
    assert_eq!(error.kind, DeviceErrorKind::Gone, "{error}");
    phone.phone().set_plugged(true);
    assert!(device.apps(false).await.is_ok());
}

#[tokio::test]
async fn without_usbmuxd_the_error_says_what_to_install() {
    let error = RealDevices::new("/nowhere/usbmuxd").list().await.expect_err("nothing there");
    assert_eq!(error.kind, DeviceErrorKind::Local);
    assert!(error.detail.contains("usbmuxd does not answer"), "{error}");
}

/// An app file in a folder of its own.
struct Package {
    file: PathBuf,
}

impl Package {
    fn new(name: &str) -> Package {
        let info = "<?xml version=\"1.0\" encoding=\"UTF-8\"?><plist version=\"1.0\"><dict>\
                    <key>CFBundleIdentifier</key><string>com.example.hello</string>\
                    <key>CFBundleExecutable</key><string>Hello</string>\
                    <key>CFBundleName</key><string>Hello</string>\
                    <key>CFBundleShortVersionString</key><string>2.3</string></dict></plist>";
        Package::of(name, &archive(&[("Payload/Hello.app/Info.plist", info.as_bytes())]))
    }

    fn of(name: &str, bytes: &[u8]) -> Package {
        let file = std::env::temp_dir().join(format!("mdm-{}-{name}.ipa", std::process::id()));
        std::fs::write(&file, bytes).expect("a file");
        Package { file }
    }
}

impl Drop for Package {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.file);
    }
}

/// A zip archive of files that are not packed.
fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for (name, content) in files {
        let at = out.len() as u32;
        let mut facts = vec![20, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        facts.extend(crc32(content).to_le_bytes());
        facts.extend([(content.len() as u32).to_le_bytes(), (content.len() as u32).to_le_bytes()].concat());
        facts.extend([(name.len() as u16).to_le_bytes(), [0, 0]].concat());
        out.extend([b"PK\x03\x04", facts.as_slice(), name.as_bytes(), content].concat());
        let place = [[0; 6].as_slice(), &[0; 4], &at.to_le_bytes()].concat();
        directory.extend([b"PK\x01\x02\x14\0", facts.as_slice(), &place, name.as_bytes()].concat());
    }
    let count = (files.len() as u16).to_le_bytes();
    let (size, at) = ((directory.len() as u32).to_le_bytes(), (out.len() as u32).to_le_bytes());
    out.extend(directory);
    out.extend([b"PK\x05\x06\0\0\0\0".as_slice(), &count, &count, &size, &at, &[0, 0]].concat());
    out
}

fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32, byte: &u8| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg()))
    };
    !bytes.iter().fold(u32::MAX, step)
}

#[tokio::test(start_paused = true)]
async fn what_the_screen_speaks_is_listed_from_its_first_element_again_and_again() {
    for version in ["16.7", "17.2", "27.0"] {
        let config = IPhoneConfig {
            udid: UDID.to_owned(),
            ios_version: version.to_owned(),
            kind: IPhoneKind::Device,
            ..IPhoneConfig::default()
        };
        let phone = IPhone::new(config);
        let device = device(&phone);
        let before = tokio::time::Instant::now();
        let first = device.spoken().await.expect("a list");
        let words: Vec<&str> = first.items.iter().map(|item| item.words.as_str()).collect();
        assert!(words.len() > 3 && words[0].ends_with(", Button"), "{version}: {words:?}");
        assert!(
            words.contains(&"Settings, Button") && words.contains(&"page 1 of 1, Adjustable"),
            "{words:?}"
        );
        assert_eq!(first.cut, None, "the focus went around");
        // Two steps aside, one to the first element, and one from each.
        let moves = before.elapsed().as_millis() / 100;
        assert_eq!(moves as usize, words.len() + 3, "{version}: none was waited for in vain");
        assert_eq!(device.spoken().await.as_ref(), Ok(&first), "the focus was left elsewhere");
        assert!(phone.phone().truth().inputs.is_empty(), "nothing was touched");
    }
}

#[tokio::test(start_paused = true)]
async fn a_screen_that_does_not_speak_says_why() {
    let off = IPhoneFaults { developer_mode_off: true, ..IPhoneFaults::default() };
    let error = device(&phone(off)).spoken().await.expect_err("nobody is there");
    assert_eq!(error.kind, DeviceErrorKind::TreeUnavailable);
    assert!(
        error.detail.contains("Developer Mode of the iPhone") && error.detail.contains("is off"),
        "{error}"
    );
    let locked = IPhoneFaults { passcode_locked: true, ..IPhoneFaults::default() };
    let error = device(&phone(locked)).spoken().await.expect_err("it is locked");
    assert!(error.detail.contains("unlock it"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_phone_that_was_never_asked_is_asked_for_trust_until_its_owner_answers() {
    let pending = IPhoneFaults { pairing_pending_ms: 20_000, ..IPhoneFaults::default() };
    let phone = phone(pending);
    let device = device(&phone);
    for _ in 0..3 {
        let error = device.check_trust().await.expect_err("nobody answered yet");
        assert_eq!(error.kind, DeviceErrorKind::Unauthorized);
        assert!(error.detail.contains("tap Trust on it"), "{error}");
    }
    tokio::time::sleep(std::time::Duration::from_secs(20)).await;
    assert_eq!(device.check_trust().await, Ok(()), "the question was still open");
    assert!(!device.apps(false).await.expect("a list").is_empty());
    // usbmuxd keeps the record, for every other program too.
    assert_eq!(devices(&phone).device(UDID).check_trust().await, Ok(()));
}

#[tokio::test(start_paused = true)]
async fn an_owner_who_refuses_and_a_locked_phone_are_told() {
    let refused =
        IPhoneFaults { pairing_pending_ms: 5_000, pairing_refused: true, ..IPhoneFaults::default() };
    let device_of_refused = device(&phone(refused));
    let asked = device_of_refused.check_trust().await.expect_err("no answer yet");
    assert!(asked.detail.contains("asks whether to trust"), "{asked}");
    tokio::time::sleep(std::time::Duration::from_secs(10)).await;
    let answered = device_of_refused.check_trust().await.expect_err("refused");
    assert!(answered.detail.contains("refused to trust this computer"), "{answered}");
    let locked = IPhoneFaults { pairing_pending_ms: 5_000, passcode_locked: true, ..IPhoneFaults::default() };
    let error = device(&phone(locked)).check_trust().await.expect_err("locked");
    assert_eq!(error.kind, DeviceErrorKind::Unauthorized);
    assert!(error.detail.contains("is locked: unlock it"), "{error}");
}
