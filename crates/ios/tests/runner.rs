//! WebDriverAgent that is installed and does not run is started through XCTest: on the virtual iPhone, with the clock
//! stopped.

#![expect(clippy::expect_used, reason = "helpers of tests may fail a test")]

use std::time::Duration;

use mdm_core::port::{DeviceError, DeviceErrorKind, Dispatch};
use mdm_core::screen::geometry::Point;
use mdm_ios::connect::pipe;
use mdm_ios::real::{RealDevice, RealDevices};
use mdm_ios::served;
use mdm_ios::wda::{Path, RunnerNews, Runners, WDA_PORT, Wda};
use mdm_virtual_device::{DeveloperImage, IPhone, IPhoneConfig, IPhoneFaults, IPhoneKind, RUNNER_BUNDLE};
use tokio::time::{Instant, sleep};

const UDID: &str = "00008130-001A2B3C4D5E6F70";

fn config(ios_version: &str) -> IPhoneConfig {
    IPhoneConfig {
        udid: UDID.to_owned(),
        ios_version: ios_version.to_owned(),
        kind: IPhoneKind::Device,
        runner_installed: true,
        ..IPhoneConfig::default()
    }
}

fn device(phone: &IPhone) -> RealDevice {
    let phone = phone.clone();
    RealDevices::with(pipe(move || phone.connect_usbmuxd())).device(UDID)
}

/// A phone, the runners of this computer, and WebDriverAgent as it is reached through them.
struct World {
    phone: IPhone,
    device: RealDevice,
    runners: Runners,
    wda: Wda,
}

fn world(config: IPhoneConfig) -> World {
    let phone = IPhone::new(config);
    let device = device(&phone);
    let runners = Runners::default();
    let wda = Wda::new(runners.of(&device).connector(), "the phone".to_owned());
    World { phone, device, runners, wda }
}

impl World {
    /// How often the phone was asked to start the runner.
    fn launches(&self) -> usize {
        let asked = self.phone.phone().truth().commands;
        asked.iter().filter(|words| **words == format!("launch {RUNNER_BUNDLE}")).count()
    }

    async fn listens(&self) -> bool {
        self.device.connector(WDA_PORT)().await.is_ok()
    }

    async fn fails(&self) -> DeviceError {
        self.wda.status().await.map(drop).expect_err("it cannot start")
    }
}

#[tokio::test(start_paused = true)]
async fn the_first_request_starts_it_and_the_next_ones_do_not() {
    for version in ["14.8", "16.7", "17.4", "18.5", "26.2", "27.0"] {
        let world = world(config(version));
        assert!(!world.listens().await, "{version}: it is only installed");
        let (status, noted) = served::noting(world.wda.status()).await;
        status.unwrap_or_else(|error| panic!("{version}: {error}"));
        let [words] = noted.words.as_slice() else { panic!("{version}: {:?}", noted.words) };
        assert!(words.starts_with("started WebDriverAgent, "), "{version}: {words}");
        let (active, noted) = served::noting(world.wda.active_app()).await;
        active.expect("a session");
        assert_eq!((world.launches(), noted.words.len()), (1, 0), "{version}: told once");
        world.runners.end_all().await;
        sleep(Duration::from_secs(1)).await;
        assert!(!world.listens().await, "{version}: the runner ends with its session");
    }
}

#[tokio::test(start_paused = true)]
async fn a_slow_start_goes_on_without_whoever_waited_for_it() {
    let faults = IPhoneFaults { slow_runner_ms: 20_000, ..IPhoneFaults::default() };
    let world = world(IPhoneConfig { iphone_faults: faults, ..config("18.5") });
    let starter = world.runners.of(&world.device);
    assert_eq!(starter.look().await, Ok(RunnerNews::Installed));
    assert!(tokio::time::timeout(Duration::from_secs(5), world.wda.status()).await.is_err());
    assert_eq!(starter.look().await, Ok(RunnerNews::Starting));
    let begun = Instant::now();
    let (status, noted) = served::noting(world.wda.status()).await;
    status.expect("it is there at last");
    assert!((14..17).contains(&begun.elapsed().as_secs()), "{:?}", begun.elapsed());
    assert_eq!(world.launches(), 1);
    let words = noted.words.join("");
    assert!(
        words.starts_with("started WebDriverAgent, 2"),
        "all of its time, told to the next caller: {words}"
    );
}

#[tokio::test(start_paused = true)]
async fn one_that_died_is_started_again_once_and_nothing_is_sent_twice() {
    for version in ["16.7", "18.5"] {
        let world = world(config(version));
        world.wda.status().await.expect("started");
        let ending = world.phone.clone();
        let death = tokio::spawn(async move {
            sleep(Duration::from_secs(1)).await;
            ending.end_wda();
        });
        let press = vec![Path::down(Point { x: 100, y: 300 }).wait(3000).up()];
        let error = world.wda.perform(press).await.expect_err("it died");
        assert_eq!((error.kind, error.dispatch), (DeviceErrorKind::ConnectionLost, Dispatch::Unknown));
        death.await.expect("dead");
        let (status, noted) = served::noting(world.wda.status()).await;
        status.unwrap_or_else(|error| panic!("{version}: {error}"));
        let words = noted.words.join("");
        assert!(words.starts_with("WebDriverAgent had ended; started it again, "), "{version}: {words}");
        assert_eq!(world.launches(), 2);

        world.phone.end_wda();
        sleep(Duration::from_millis(100)).await;
        let error = world.fails().await;
        assert!(error.detail.contains("WebDriverAgent ended: it crashed"), "{version}: {error}");
        assert_eq!(world.launches(), 2, "{version}: not again and again");
        sleep(Duration::from_secs(60)).await;
        world.wda.status().await.expect("later it is tried again");
        let touches = world.phone.phone().truth().inputs.len();
        assert!(touches <= 1, "{version}: {touches}");
    }
}

#[tokio::test(start_paused = true)]
async fn each_failure_says_what_mends_it() {
    let none = IPhoneFaults::default();
    let untrusted = IPhoneFaults { untrusted_runner: true, ..none };
    let off = IPhoneFaults { developer_mode_off: true, ..none };
    let crash = IPhoneFaults { runner_crash_ms: 1, ..none };
    for version in ["16.7", "18.5"] {
        let with = |iphone_faults| IPhoneConfig { iphone_faults, ..config(version) };
        let no_image = IPhoneConfig { developer_image: DeveloperImage::None, ..config(version) };
        let absent = IPhoneConfig { runner_installed: false, ..config(version) };
        let kind = DeviceErrorKind::Offline;
        for (config, words) in [
            (absent, "install it once"),
            (with(untrusted), "VPN & Device Management"),
            (with(off), "Developer Mode of the iPhone"),
            (no_image, "mount its developer image"),
        ] {
            let world = world(config);
            let error = world.fails().await;
            assert_eq!((error.kind, error.dispatch), (kind, Dispatch::NotSent), "{version}: {error}");
            assert!(error.detail.contains(words), "{version}: {error}");
            assert!(error.detail.contains("WebDriverAgent"), "{version}: {error}");
            let launches = world.launches();
            let again = world.fails().await;
            assert_eq!(again.kind, kind);
            assert_eq!(world.launches(), launches, "{version}: one that failed is left alone for a while");
        }
        let world = world(with(crash));
        let mut error = None;
        for _ in 0..10_000 {
            error = world.wda.status().await.err();
            if error.is_some() {
                break;
            }
            sleep(Duration::from_millis(1)).await;
        }
        let error = error.expect("a runner that crashed answers no more");
        assert!(error.detail.contains("ended") || error.detail.contains("broke"), "{version}: {error}");
    }
    let world = world(config("17.2"));
    let error = world.fails().await;
    assert_eq!(error.kind, DeviceErrorKind::Offline);
    assert!(error.detail.contains("17.4"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn the_words_of_a_phone_that_does_not_trust_the_signer_are_told() {
    let faults = IPhoneFaults { untrusted_runner: true, ..IPhoneFaults::default() };
    for version in ["16.7", "18.5"] {
        let world = world(IPhoneConfig { iphone_faults: faults, ..config(version) });
        let error = world.fails().await;
        assert!(error.detail.contains("has not been explicitly trusted by the user"), "{version}: {error}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_runner_that_the_user_names_is_taken_and_no_other() {
    let phone = IPhone::new(config("18.5"));
    let device = device(&phone);
    assert_eq!(device.find_runner(None).await, Ok(Some(RUNNER_BUNDLE.to_owned())));
    assert_eq!(device.find_runner(Some(RUNNER_BUNDLE)).await, Ok(Some(RUNNER_BUNDLE.to_owned())));
    assert_eq!(device.find_runner(Some("org.ada.other.xctrunner")).await, Ok(None));
    let runners = Runners::new(Some("org.ada.other.xctrunner".to_owned()));
    let wda = Wda::new(runners.of(&device).connector(), "the phone".to_owned());
    let error = wda.status().await.map(drop).expect_err("not installed");
    assert!(error.detail.contains("org.ada.other.xctrunner is not installed"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_cable_that_is_pulled_ends_the_runner() {
    let world = world(config("18.5"));
    world.wda.status().await.expect("started");
    world.phone.phone().set_plugged(false);
    let error = world.fails().await;
    assert!(matches!(error.kind, DeviceErrorKind::Offline | DeviceErrorKind::ConnectionLost), "{error}");
    world.phone.phone().set_plugged(true);
    sleep(Duration::from_secs(1)).await;
    assert!(!world.listens().await);
    world.wda.status().await.expect("started again");
    assert_eq!(world.launches(), 2);
}
