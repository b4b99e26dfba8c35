//! iPhones of iOS 17.4 and later, whose developer services are in a tunnel: the virtual one, with the clock stopped.

#![expect(clippy::expect_used, reason = "helpers of tests may fail a test")]

use std::sync::Arc;

use mdm_core::port::{DeviceErrorKind, Dispatch};
use mdm_ios::connect::{Connector, Transport};
use mdm_ios::real::{CoreDevice, Offered, RealDevice, RealDevices, runs_in};
use mdm_virtual_device::{DeveloperImage, IPhone, IPhoneConfig, IPhoneFaults, IPhoneKind};

const UDID: &str = "00008130-001A2B3C4D5E6F70";

fn phone(ios_version: &str, developer_image: DeveloperImage, iphone_faults: IPhoneFaults) -> IPhone {
    IPhone::new(IPhoneConfig {
        udid: UDID.to_owned(),
        ios_version: ios_version.to_owned(),
        kind: IPhoneKind::Device,
        developer_image,
        iphone_faults,
        ..IPhoneConfig::default()
    })
}

fn device(phone: &IPhone) -> RealDevice {
    let phone = phone.clone();
    let connector: Connector = Arc::new(move || {
        let phone = phone.clone();
        Box::pin(async move { Ok(Box::new(phone.connect_usbmuxd()?) as Box<dyn Transport>) })
    });
    RealDevices::with(connector).device(UDID)
}

async fn core_device(phone: &IPhone) -> CoreDevice {
    device(phone).core_device().await.expect("a tunnel").expect("new enough")
}

#[tokio::test(start_paused = true)]
async fn what_a_phone_offers_depends_on_its_version_and_image() {
    let none = IPhoneFaults::default();
    let old = phone("16.7", DeveloperImage::Old, none);
    assert!(device(&old).core_device().await.expect("an answer").is_none(), "no tunnel before 17.4");
    for (version, image, offered) in [
        ("17.4", DeveloperImage::Old, Offered::default()),
        ("26.2", DeveloperImage::Old, Offered::default()),
        ("26.2", DeveloperImage::New, Offered::default()),
        ("27.0", DeveloperImage::Old, Offered::default()),
        ("27.0", DeveloperImage::New, Offered { pictures: true, hid: true }),
    ] {
        let phone = phone(version, image, none);
        assert_eq!(core_device(&phone).await.offered(), offered, "{version} {image:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_missing_is_said_with_what_mends_it() {
    let none = IPhoneFaults::default();
    let off = IPhoneFaults { developer_mode_off: true, ..none };
    for (phone, words) in [
        (phone("18.5", DeveloperImage::None, none), "mount its developer image"),
        (phone("18.5", DeveloperImage::New, off), "Developer Mode of the iPhone"),
    ] {
        let error = device(&phone).core_device().await.map(drop).expect_err("nothing for developers");
        assert_eq!((error.kind, error.dispatch), (DeviceErrorKind::ServiceMissing, Dispatch::NotSent));
        assert!(error.detail.contains(words), "{error}");
        assert!(device(&phone).apps(false).await.is_ok(), "lockdownd serves as ever");
    }
}

#[tokio::test(start_paused = true)]
async fn apps_are_started_found_among_the_processes_and_ended() {
    let phone = phone("26.2", DeveloperImage::Old, IPhoneFaults::default());
    let (device, core) = (device(&phone), core_device(&phone).await);
    let pid = core.launch("com.shop").await.expect("a process");
    let app = device.app("com.shop").await.expect("an answer").expect("the app");
    let folder = app.path.expect("a path");
    let running = core.processes().await.expect("processes");
    let found: Vec<u32> = running.iter().filter(|found| runs_in(found, &folder)).map(|found| found.pid).collect();
    assert_eq!(found, [pid]);
    assert_eq!(core.kill(pid).await, Ok(()));
    let running = core.processes().await.expect("processes");
    assert!(!running.iter().any(|found| runs_in(found, &folder)));
    let error = core.launch("com.example.none").await.expect_err("not installed");
    assert_eq!((error.kind, error.dispatch), (DeviceErrorKind::Rejected, Dispatch::Refused), "{error}");
    let error = core.kill(pid).await.expect_err("ended before");
    assert_eq!(error.kind, DeviceErrorKind::Rejected, "{error}");
}
