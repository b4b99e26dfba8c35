//! The verbs of the port that no tool uses yet, against the virtual phone: events, files, install, links, close.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests fail like tests"
)]

use std::sync::Arc;

use mdm_android::AndroidDevice;
use mdm_android::adb::Adb;
use mdm_android::adb::direct::Transport;
use mdm_android::adb::key::HostKey;
use mdm_android::adb::link::Link;
use mdm_core::port::{
    AlertAnswer, AppCommand, Device, DeviceErrorKind, Dispatch, FileCommand, NativeAction, OpenRequest,
    Support,
};
use mdm_virtual_device::{Phone, PhoneConfig, Timing};

fn device() -> (Phone, AndroidDevice) {
    let phone = Phone::new(PhoneConfig { timing: Timing::Instant, ..PhoneConfig::default() });
    let connects = phone.clone();
    let connector = Arc::new(move || {
        let connected = connects.connect();
        Box::pin(async move { Ok(Box::new(connected?) as Box<dyn Transport>) }) as _
    });
    let adb = Adb::direct(Link::new(connector, HostKey::at("/nonexistent/adbkey")));
    (phone, AndroidDevice::new("phone", adb, 7))
}

fn start(app: &str) -> AppCommand {
    AppCommand::Start { app: app.to_owned() }
}

#[tokio::test(start_paused = true)]
async fn the_log_is_followed_in_batches_of_entries() {
    let (_phone, device) = device();
    let mut log = device.follow_log(None).await.unwrap();
    device.app(&start("com.workbench")).await.unwrap();
    let displayed = loop {
        let batch = log.next().await.unwrap().expect("the log goes on");
        assert_eq!(batch.unread_lines, 0, "{batch:?}");
        let displayed = batch.entries.into_iter().find(|e| e.message.contains("Displayed com.workbench/"));
        if let Some(displayed) = displayed {
            break displayed;
        }
    };
    assert_eq!(displayed.tag, "ActivityTaskManager");
    assert!(displayed.time_ms.is_some() && displayed.tid.is_some(), "{displayed:?}");
}

#[tokio::test]
async fn files_go_both_ways() {
    let (_phone, device) = device();
    let folder = std::env::temp_dir().join(format!("mdm-port-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (sent, back) = (folder.join("sent"), folder.join("back"));
    std::fs::write(&sent, b"hello").unwrap();
    let remote = "/data/local/tmp/a file".to_owned();
    device.files(&FileCommand::Push { local: sent, remote: remote.clone() }).await.unwrap();
    device.files(&FileCommand::Pull { remote, local: back.clone() }).await.unwrap();
    assert_eq!(std::fs::read(&back).unwrap(), b"hello");
    let absent = FileCommand::Pull { remote: "/nothing".to_owned(), local: back };
    assert_eq!(device.files(&absent).await.unwrap_err().dispatch, Dispatch::Refused);
    let unread = AppCommand::Install { files: vec![folder.join("no.apk")], app: None };
    assert_eq!(device.app(&unread).await.unwrap_err().kind, DeviceErrorKind::Local);
    let junk = folder.join("junk.apk");
    std::fs::write(&junk, b"not an apk").unwrap();
    let refused = device.app(&AppCommand::Install { files: vec![junk], app: None }).await.unwrap_err();
    assert_eq!(refused.dispatch, Dispatch::Refused, "{refused:?}");
    std::fs::remove_dir_all(folder).unwrap();
}

#[tokio::test(start_paused = true)]
async fn what_became_of_a_command_is_said() {
    let (phone, device) = device();
    let absent = device.app(&start("com.nobody.has")).await.unwrap_err();
    assert_eq!((absent.kind, absent.dispatch), (DeviceErrorKind::AppNotInstalled, Dispatch::Refused));
    let malformed = device.app(&start("a;b")).await.unwrap_err();
    assert_eq!((malformed.kind, malformed.dispatch), (DeviceErrorKind::InvalidRequest, Dispatch::NotSent));
    let link = AppCommand::Open(OpenRequest {
        link: Some("https://example.com/?a=1&b='2".to_owned()),
        ..OpenRequest::default()
    });
    let nobody = device.app(&link).await.unwrap_err();
    assert_eq!(
        (nobody.kind, nobody.dispatch),
        (DeviceErrorKind::Rejected, Dispatch::Refused),
        "no app takes links here"
    );
    phone.set_plugged(false);
    let away = device.app(&start("com.workbench")).await.unwrap_err();
    assert!(away.dispatch.is_safe_to_repeat(), "{away:?}");
    assert!(!device.is_connected());
    phone.set_plugged(true);
    device.app(&start("com.workbench")).await.unwrap();
    assert!(device.is_connected());
    device.close().await.unwrap();
    assert!(!device.is_connected(), "the next call connects again");
    device.app(&start("com.workbench")).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn verbs_that_a_device_does_not_have_are_refused_by_name() {
    let (_phone, device) = device();
    let can = device.capabilities();
    assert_eq!((can.alerts, can.native_actions, can.pinch), (Support::No, Support::No, Support::Maybe));
    let alert = device.alert(&AlertAnswer::Accept).await.unwrap_err();
    let native = device.act_natively(&NativeAction::Activate { index: 0 }).await.unwrap_err();
    for error in [alert, native] {
        assert_eq!((error.kind, error.dispatch), (DeviceErrorKind::NotSupported, Dispatch::NotSent));
    }
}
