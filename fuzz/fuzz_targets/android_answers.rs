//! Any bytes as what the shell of a phone answers: each question gets the next parts of them. The first byte chooses the
//! question, and whether the shell tells its outputs apart.
#![no_main]

use std::path::PathBuf;
use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use mdm_android::AndroidDevice;
use mdm_android::adb::Adb;
use mdm_android::adb::key::HostKey;
use mdm_android::adb::link::Link;
use mdm_core::port::{
    AppCommand, Captured, Device, FileCommand, Input, Key, NetworkCommand, NightMode, OpenRequest,
    Orientation, Picture, Place, SettingChange,
};
use mdm_core::screen::geometry::Point;
use mdm_fuzz::{adbd, check_tree, runtime};

/// Limit of the waiting for one answer, in the time of the paused clock.
const ANSWER_MAX: Duration = Duration::from_secs(60);
/// Batches of a log that is followed.
const BATCHES_MAX: usize = 50;
const OLD_SHELL: u8 = 128;
const QUESTIONS: u8 = 17;
const APP: &str = "com.example";

fuzz_target!(|data: &[u8]| {
    let [choice, said @ ..] = data else { return };
    let features = if choice & OLD_SHELL == 0 { "shell_v2,cmd,stat_v2,abb_exec" } else { "cmd" };
    runtime().block_on(async {
        let link = Link::new(adbd::connector(features, said), HostKey::at("/dev/null/none"));
        let device = AndroidDevice::new("fuzz", Adb::direct(link), 1);
        let asking = ask(&device, (choice & !OLD_SHELL) % QUESTIONS, said.len());
        let _ = tokio::time::timeout(ANSWER_MAX, asking).await;
    });
});

async fn ask(device: &AndroidDevice, question: u8, bytes: usize) {
    match question {
        0 => {
            if let Ok(capture) = device.snapshot(None).await
                && let Captured::New { raw, snapshot } = capture.screen
            {
                check_tree(&snapshot, bytes);
                assert!(!snapshot.elements.is_empty());
                let _ = device.snapshot(Some(raw)).await;
            }
        }
        1 => drop(device.info().await),
        2 => drop(device.screen().await),
        3 => {
            if let Ok(Picture::Raw(pixels)) = device.screenshot().await {
                let count = pixels.size.width as usize * pixels.size.height as usize;
                assert_eq!(pixels.rgba.len(), count * 4);
            }
        }
        4 => {
            let _ = device.keyboard().await;
            let _ = device.shows_toast().await;
        }
        5 => drop(device.logs(Some(APP)).await),
        6 => drop(device.crashes().await),
        7 => follow(device).await,
        8 => drop(device.app_pids(APP).await),
        9 => drop(device.apps(true).await),
        10 => drop(device.app_details(APP).await),
        11 => change(device).await,
        12 => network(device).await,
        13 => files(device).await,
        14 => commands(device).await,
        15 => input(device).await,
        _ => drop(device.app_installed(APP).await),
    }
}

async fn follow(device: &AndroidDevice) {
    if let Ok(mut log) = device.follow_log(Some(1_700_000_000_000)).await {
        for _ in 0..BATCHES_MAX {
            let Ok(Some(_)) = log.next().await else { break };
        }
    }
    if let Ok(mut crashes) = device.follow_crashes().await {
        for _ in 0..BATCHES_MAX {
            let Ok(Some(_)) = crashes.next().await else { break };
        }
    }
}

async fn change(device: &AndroidDevice) {
    for change in [
        SettingChange::DarkMode(NightMode::On),
        SettingChange::Animations(false),
        SettingChange::Wifi(true),
        SettingChange::AirplaneMode(false),
        SettingChange::Location(Some(Place { latitude: 41.4, longitude: 2.2 })),
        SettingChange::Locale { app: APP.to_owned(), tags: "de-DE".to_owned() },
        SettingChange::Clipboard("text".to_owned()),
    ] {
        let _ = device.change(&change).await;
    }
}

async fn network(device: &AndroidDevice) {
    let address = Some("127.0.0.1:1".to_owned());
    for command in [
        NetworkCommand::Read,
        NetworkCommand::Open { host_port: 1 },
        NetworkCommand::UseProxy { address },
        NetworkCommand::Close { device_port: 1 },
    ] {
        let _ = device.network(&command).await;
    }
}

/// The sync protocol: stat, and the parts of a file.
async fn files(device: &AndroidDevice) {
    let _ = device.adb().stat("/sdcard/file").await;
    let mut pulled = Vec::new();
    let _ = device.adb().pull("/sdcard/file", 1 << 20, &mut pulled, |_| {}).await;
    assert!(pulled.len() <= 1 << 20);
    let push = FileCommand::Push { local: PathBuf::from("/dev/null"), remote: "/sdcard/file".to_owned() };
    let _ = device.files(&push).await;
}

async fn commands(device: &AndroidDevice) {
    let app = || APP.to_owned();
    let permission = "android.permission.CAMERA".to_owned();
    let link = Some("https://example.com".to_owned());
    for command in [
        AppCommand::Start { app: app() },
        AppCommand::Permit { app: app(), permission, granted: true },
        AppCommand::Uninstall { app: app() },
        AppCommand::ClearData { app: app() },
        AppCommand::Terminate { app: app() },
        AppCommand::Open(OpenRequest { link, ..OpenRequest::default() }),
    ] {
        let _ = device.app(&command).await;
    }
}

/// Two fingers need the names and axes of the touch panel.
async fn input(device: &AndroidDevice) {
    let center = Point { x: 100, y: 100 };
    for input in [
        Input::Pinch { center, within: None, from_px: 10, to_px: 90, duration_ms: 50 },
        Input::Text("a text".to_owned()),
        Input::Orientation(Orientation::Landscape),
        Input::HideKeyboard,
        Input::Key(Key::Home),
    ] {
        let _ = device.input(input).await;
    }
}
