//! WebDriverAgent is installed on a phone on a cable and does not run: the first call that needs it starts it.

use std::time::Duration;

use mdm_virtual_device::{
    Applied, DeveloperImage, IPhone, IPhoneConfig, IPhoneFaults, IPhoneKind, RUNNER_BUNDLE,
};
use tokio::time::sleep;

use crate::world::{APP, World, code_of, fact};

const STARTED: &str = "started WebDriverAgent, ";
const AGAIN: &str = "WebDriverAgent had ended; started it again, ";

fn config(ios_version: &str) -> IPhoneConfig {
    IPhoneConfig {
        udid: "00008130-001A2B3C4D5E6F70".to_owned(),
        ios_version: ios_version.to_owned(),
        kind: IPhoneKind::Device,
        runner_installed: true,
        ..IPhoneConfig::default()
    }
}

fn world(config: IPhoneConfig) -> (IPhone, World) {
    let iphone = IPhone::new(config);
    let world = World::on_cable(&iphone);
    (iphone, world)
}

fn launches(world: &World) -> usize {
    let commands = world.phone.truth().commands;
    commands.iter().filter(|command| **command == format!("launch {RUNNER_BUNDLE}")).count()
}

fn touches(world: &World) -> usize {
    let touch = |input: &Applied| matches!(input, Applied::Tap { .. } | Applied::Swipe { .. });
    world.phone.truth().inputs.iter().filter(|input| touch(input)).count()
}

#[tokio::test(start_paused = true)]
async fn the_first_call_that_needs_it_starts_it_and_says_so() {
    for version in ["16.7", "18.5", "27.0"] {
        let slow = IPhoneFaults { slow_runner_ms: 12_000, ..IPhoneFaults::default() };
        let (_, world) = world(IPhoneConfig { iphone_faults: slow, ..config(version) });
        for tool in ["list_devices", "get_system_status"] {
            let told = world.told(tool, "{}").await;
            assert!(told.contains("the first call that needs it starts it"), "{version}: {told}");
        }
        let status = world.ok("get_system_status", "{}").await;
        assert_eq!(fact(&status, "status"), "ready", "{version}: nothing stands in the way: {status}");
        world.ok("manage_app", r#"{"action":"list"}"#).await;
        assert_eq!(launches(&world), 0, "{version}: looking starts nothing");
        let tree = world.ok("get_ui_tree", "{}").await;
        assert!(tree.contains(STARTED), "{version}: {tree}");
        assert!(tree.contains("12 s") || tree.contains("13 s") || tree.contains("14 s"), "{version}: {tree}");
        let start = format!(r#"{{"appId":"{APP}","expect":{{"text":"Log in"}}}}"#);
        let started = world.ok("start_app", &start).await;
        assert!(!started.contains(STARTED), "{version}: told once: {started}");
        world.ok("tap_element", r#"{"selector":{"text":"Remember me"}}"#).await;
        assert_eq!((launches(&world), touches(&world)), (1, 1), "{version}");
        let listed = world.ok("list_devices", "{}").await;
        assert!(!listed.contains("starts it"), "{version}: {listed}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_action_whose_runner_dies_is_unknown_and_the_look_afterwards_starts_it_again() {
    // RC-04
    for version in ["16.7", "18.5"] {
        let (iphone, world) = world(config(version));
        world.ok("start_app", &format!(r#"{{"appId":"{APP}","expect":{{"text":"Log in"}}}}"#)).await;
        let _ = world.ok("get_ui_tree", "{}").await;
        let during = tokio::spawn(async move {
            sleep(Duration::from_secs(1)).await;
            iphone.end_wda();
        });
        let json = r#"{"selector":{"text":"Settings"},"duration":2000}"#;
        let text = world.call("long_press", json).await.text();
        during.await.unwrap();
        println!("{version}: {text}");
        assert_eq!(fact(&text, "code"), "CONNECTION_LOST", "{version}: {text}");
        assert_eq!((fact(&text, "dispatched"), fact(&text, "retryable")), ("unknown".into(), "false".into()));
        assert!(text.contains(AGAIN), "{version}: {text}");
        assert!(text.contains("snapshot_revision"), "{version}: it looked: {text}");
        sleep(Duration::from_secs(10)).await;
        assert!(touches(&world) <= 1, "{version}: nothing is sent twice");
        assert_eq!(launches(&world), 2, "{version}");
        let next = world.ok("get_ui_tree", "{}").await;
        assert!(!next.contains(AGAIN), "{version}: {next}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_runner_that_dies_between_two_calls_is_started_again_by_the_next() {
    let (iphone, world) = world(config("18.5"));
    world.ok("get_ui_tree", "{}").await;
    iphone.end_wda();
    sleep(Duration::from_secs(5)).await;
    let next = world.ok("get_ui_tree", "{}").await;
    assert!(next.contains(AGAIN), "{next}");
}

#[tokio::test(start_paused = true)]
async fn the_session_ends_with_the_server() {
    for version in ["16.7", "18.5"] {
        let (iphone, world) = world(config(version));
        world.ok("get_ui_tree", "{}").await;
        assert!(iphone.connect_wda().is_ok());
        drop(world);
        sleep(Duration::from_secs(5)).await;
        assert!(iphone.connect_wda().is_err(), "{version}: the runner ended");
    }
}

#[tokio::test(start_paused = true)]
async fn each_failure_is_coded_and_says_what_mends_it() {
    let none = IPhoneFaults::default();
    for version in ["16.7", "18.5"] {
        let with = |iphone_faults| IPhoneConfig { iphone_faults, ..config(version) };
        for (config, words) in [
            (
                with(IPhoneFaults { untrusted_runner: true, ..none }),
                "Settings, General, VPN & Device Management",
            ),
            (with(IPhoneFaults { developer_mode_off: true, ..none }), "Developer Mode of the iPhone"),
            (
                IPhoneConfig { developer_image: DeveloperImage::None, ..config(version) },
                "mount its developer image",
            ),
        ] {
            let (_, world) = world(config);
            let answer = world.call("get_ui_tree", "{}").await;
            let text = answer.text();
            println!("{version}: {text}");
            assert!(answer.is_error, "{version}: {text}");
            assert_eq!(code_of(&answer), "DEVICE_OFFLINE", "{version}: {text}");
            assert!(text.contains(words), "{version}: {text}");
            let tapped = world.call("tap", r#"{"x":9,"y":9}"#).await;
            assert_eq!(code_of(&tapped), "DEVICE_OFFLINE", "{version}: {}", tapped.text());
            assert_eq!(touches(&world), 0, "{version}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn where_none_is_installed_the_refusal_says_that_it_would_be_started() {
    for version in ["16.7", "18.5"] {
        let (_, world) = world(IPhoneConfig { runner_installed: false, ..config(version) });
        let tapped = world.call("tap", r#"{"x":9,"y":9}"#).await;
        assert_eq!(code_of(&tapped), "PLATFORM_NOT_SUPPORTED", "{version}: {}", tapped.text());
        assert!(tapped.text().contains("once installed it is started by itself"), "{}", tapped.text());
        assert_eq!((launches(&world), touches(&world)), (0, 0), "{version}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_start_that_failed_is_listed_with_its_cause() {
    let faults = IPhoneFaults { untrusted_runner: true, ..IPhoneFaults::default() };
    let (_, world) = world(IPhoneConfig { iphone_faults: faults, ..config("18.5") });
    world.call("get_ui_tree", "{}").await;
    let listed = world.told("list_devices", "{}").await;
    assert!(listed.contains("could not be started") && listed.contains("VPN"), "{listed}");
}

#[tokio::test(start_paused = true)]
async fn a_start_that_takes_longer_than_a_call_is_finished_by_the_next() {
    let slow = IPhoneFaults { slow_runner_ms: 25_000, ..IPhoneFaults::default() };
    let (_, world) = world(IPhoneConfig { iphone_faults: slow, ..config("16.7") });
    let first = world.call("capture_screenshot", "{}").await;
    println!("{}", first.text());
    assert_eq!(code_of(&first), "TIMEOUT", "{}", first.text());
    let listed = world.told("list_devices", "{}").await;
    assert!(listed.contains("WebDriverAgent is starting"), "{listed}");
    let second = world.ok("get_ui_tree", "{}").await;
    assert!(second.contains(STARTED) && second.contains("Agent, 2"), "all of its time: {second}");
    assert_eq!(launches(&world), 1);
}
