//! iPhones of iOS 17.4 and later, whose developer services are in a tunnel: the virtual one, with the clock stopped.

#![expect(clippy::expect_used, reason = "helpers of tests may fail a test")]

use mdm_core::port::{Device as _, DeviceErrorKind, Dispatch, Input, Key, Picture};
use mdm_core::screen::geometry::Point;
use mdm_ios::connect::pipe;
use mdm_ios::device::{Backends, IosDevice};
use mdm_ios::real::{CoreDevice, Offered, RealDevice, RealDevices, runs_in};
use mdm_virtual_device::{Applied, DeveloperImage, IPhone, IPhoneConfig, IPhoneFaults, IPhoneKind};

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
    RealDevices::with(pipe(move || phone.connect_usbmuxd())).device(UDID)
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
    let png = core.screenshot().await.expect("a picture, by Instruments");
    assert!(png.starts_with(b"\x89PNG"));
    let pid = core.launch("com.shop").await.expect("a process");
    let app = device.app("com.shop").await.expect("an answer").expect("the app");
    let folder = app.path.expect("a path");
    let running = core.processes().await.expect("processes");
    let found: Vec<u32> =
        running.iter().filter(|found| runs_in(found, &folder)).map(|found| found.pid).collect();
    assert_eq!(found, [pid]);
    assert_eq!(core.kill(pid).await, Ok(()));
    let running = core.processes().await.expect("processes");
    assert!(!running.iter().any(|found| runs_in(found, &folder)));
    let error = core.launch("com.example.none").await.expect_err("not installed");
    assert_eq!((error.kind, error.dispatch), (DeviceErrorKind::Rejected, Dispatch::Refused), "{error}");
    let error = core.kill(pid).await.expect_err("ended before");
    assert_eq!(error.kind, DeviceErrorKind::Rejected, "{error}");
}

/// A phone that can be touched, as the engine sees it: nothing is installed on it.
async fn bare_device(phone: &IPhone) -> IosDevice {
    let backends =
        Backends { usb: Some(device(phone)), core: Some(core_device(phone).await), ..Backends::default() };
    IosDevice::new(UDID, backends)
}

fn taps(phone: &IPhone) -> Vec<(i32, i32)> {
    let inputs = phone.phone().truth().inputs.into_iter();
    inputs.filter_map(|input| if let Applied::Tap { at, .. } = input { Some(at) } else { None }).collect()
}

#[tokio::test(start_paused = true)]
async fn a_phone_without_anything_installed_is_seen_and_touched() {
    let phone = phone("27.0", DeveloperImage::New, IPhoneFaults::default());
    let device = bare_device(&phone).await;
    let Ok(Picture::Raw(pixels)) = device.screenshot().await else { panic!("no picture") };
    assert_eq!((pixels.size.width, pixels.size.height), (1179, 2556));
    device.input(Input::Tap(Point { x: 100, y: 300 })).await.expect("a tap");
    let at = taps(&phone);
    let [(x, y)] = at.as_slice() else { panic!("{at:?}") };
    assert!((300..=302).contains(x) && (900..=902).contains(y), "the third pixel of each point: {x} {y}");

    let swipe =
        Input::Swipe { from: Point { x: 200, y: 600 }, to: Point { x: 200, y: 200 }, duration_ms: 300 };
    device.input(swipe).await.expect("a swipe");
    let pinch = Input::Pinch {
        center: Point { x: 196, y: 400 },
        within: None,
        from_px: 100,
        to_px: 200,
        duration_ms: 200,
    };
    device.input(pinch).await.expect("a pinch");
    device.input(Input::Text("Hi!".to_owned())).await.expect("keys");
    device.input(Input::Key(Key::Home)).await.expect("a button");
    let inputs = phone.phone().truth().inputs;
    let ms = |input: &Applied| match input {
        Applied::Swipe { ms, .. } | Applied::Pinch { ms, .. } => *ms,
        _ => 0,
    };
    assert!(matches!(inputs[1], Applied::Swipe { .. }) && ms(&inputs[1]).abs_diff(300) <= 20, "{inputs:?}");
    assert!(matches!(inputs[2], Applied::Pinch { .. }) && ms(&inputs[2]).abs_diff(200) <= 20, "{inputs:?}");
    let typed: String = inputs
        .iter()
        .filter_map(|input| if let Applied::Text { text, .. } = input { Some(text.as_str()) } else { None })
        .collect();
    assert_eq!(typed, "Hi!");
    assert!(matches!(inputs.last(), Some(Applied::Key { .. })), "{inputs:?}");
}

#[tokio::test(start_paused = true)]
async fn touches_that_the_phone_drops_are_told_as_sent() {
    let faults = IPhoneFaults { hid_ignored: true, ..IPhoneFaults::default() };
    let phone = phone("27.0", DeveloperImage::New, faults);
    let device = bare_device(&phone).await;
    assert_eq!(device.input(Input::Tap(Point { x: 100, y: 300 })).await, Ok(()), "the phone never says");
    assert_eq!(taps(&phone), [], "only looking at the screen tells");
}

#[tokio::test(start_paused = true)]
async fn the_stream_ends_when_no_touch_comes_and_begins_again_with_the_next() {
    let phone = phone("27.0", DeveloperImage::New, IPhoneFaults::default());
    let device = bare_device(&phone).await;
    let tap = || device.input(Input::Tap(Point { x: 100, y: 300 }));
    tap().await.expect("a tap");
    tokio::time::sleep(std::time::Duration::from_secs(60)).await;
    tap().await.expect("another");
    phone.phone().set_plugged(false);
    let error = tap().await.expect_err("unplugged");
    assert_ne!(error.dispatch, Dispatch::Taken, "{error}");
    phone.phone().set_plugged(true);
    tap().await.expect("plugged in again");
    assert_eq!(taps(&phone).len(), 3);
}

#[tokio::test(start_paused = true)]
async fn what_a_bare_phone_cannot_do_is_refused_before_it_is_touched() {
    let phone = phone("27.0", DeveloperImage::New, IPhoneFaults::default());
    let device = bare_device(&phone).await;
    let error = device.snapshot(None).await.map(drop).expect_err("no tree");
    assert_eq!(error.kind, DeviceErrorKind::NotSupported);
    assert!(error.detail.contains("to read the screen it needs WebDriverAgent"), "{error}");
    let error = device.input(Input::Text("größer".to_owned())).await.expect_err("no such key");
    assert_eq!((error.kind, error.dispatch), (DeviceErrorKind::TextNotTypeable, Dispatch::NotSent));
    phone.phone().set_rotation(1);
    device.screenshot().await.expect("a picture");
    let error = device.input(Input::Tap(Point { x: 10, y: 10 })).await.expect_err("turned");
    assert!(error.detail.contains("upright"), "{error}");
    assert_eq!(taps(&phone), []);
}
