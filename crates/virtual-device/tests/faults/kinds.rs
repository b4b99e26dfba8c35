//! Each fault by itself.

use std::time::Duration;

use mdm_virtual_device::{Applied, Fault, Faults, Phone, PhoneConfig, Timing};

use crate::host::Host;
use crate::repeat::attempt;

async fn phone(faults: Faults) -> (Phone, Host) {
    let phone = Phone::new(PhoneConfig { faults, timing: Timing::Brisk, ..PhoneConfig::default() });
    let mut host = Host::connect(&phone).await;
    host.run("am start -W -n com.workbench/.LoginActivity").await;
    (phone, host)
}

fn times(phone: &Phone, fault: Fault) -> usize {
    phone.truth().faults.iter().filter(|event| event.fault == fault).count()
}

fn taps(phone: &Phone) -> usize {
    phone.truth().inputs.iter().filter(|input| matches!(input, Applied::Tap { .. })).count()
}

const DUMP: &str =
    "rm -f /sdcard/t.xml; uiautomator dump /sdcard/t.xml >/dev/null 2>&1; cat /sdcard/t.xml 2>/dev/null";

#[tokio::test(start_paused = true)]
async fn dumps_go_wrong() {
    let (phone, mut host) = phone(Faults { slow_dump: 1.0, ..Faults::default() }).await;
    let before = tokio::time::Instant::now();
    assert!(host.run(DUMP).await.contains("Log in"));
    assert!(before.elapsed() > Duration::from_secs(1), "{:?}", before.elapsed());
    assert_eq!(times(&phone, Fault::SlowDump), 1);

    let (_, mut host) = self::phone(Faults { failing_dump: 1.0, ..Faults::default() }).await;
    for _ in 0..10 {
        assert_eq!(host.shell(DUMP).await.out, "");
    }
    let (_, mut host) = self::phone(Faults { empty_dump: 1.0, ..Faults::default() }).await;
    let mut kinds = std::collections::BTreeSet::new();
    for _ in 0..20 {
        kinds.insert(host.run(DUMP).await.len());
    }
    assert_eq!(kinds.len(), 2, "no byte, and no node: {kinds:?}");

    let (_, mut host) = self::phone(Faults { truncated_dump: 1.0, ..Faults::default() }).await;
    let tree = host.run(DUMP).await;
    assert!(!tree.is_empty() && !tree.ends_with("</hierarchy>"), "{tree}");
}

#[tokio::test(start_paused = true)]
async fn a_stale_dump_shows_what_the_one_before_showed() {
    let (phone, mut host) = phone(Faults { stale_dump: 1.0, ..Faults::default() }).await;
    let first = host.run(DUMP).await;
    host.run("input keyevent HOME").await;
    assert_eq!(host.run(DUMP).await, first);
    assert_eq!(times(&phone, Fault::StaleDump), 1, "the first had nothing to repeat");
}

#[tokio::test(start_paused = true)]
async fn there_is_no_root_between_two_activities() {
    let (_, mut host) = phone(Faults { null_root: 1.0, ..Faults::default() }).await;
    let output = host.shell("uiautomator dump /sdcard/t.xml").await;
    assert!(output.err.contains("null root node"), "{output:?}");
    assert_eq!(output.code, Some(0), "the program fails with exit 0");
    host.run("sleep 2").await;
    assert!(host.run(DUMP).await.contains("Log in"));
}

#[tokio::test(start_paused = true)]
async fn taps_are_lost_late_or_doubled() {
    let (lossy, mut host) = phone(Faults { lost_tap: 1.0, ..Faults::default() }).await;
    host.run("input tap 5 5; sleep 3").await;
    assert_eq!((taps(&lossy), times(&lossy, Fault::LostTap)), (0, 1));

    let (late, mut host) = phone(Faults { late_tap: 1.0, ..Faults::default() }).await;
    host.run("input tap 5 5").await;
    assert_eq!(taps(&late), 0);
    host.run("sleep 2").await;
    assert_eq!((taps(&late), times(&late, Fault::LateTap)), (1, 1));
    let truth = late.truth();
    assert!(truth.input_times_ms[0] >= truth.faults.last().expect("one").at_ms + 100, "at its own time");

    let (double, mut host) = phone(Faults { double_tap: 1.0, ..Faults::default() }).await;
    host.run("input tap 5 5; sleep 1").await;
    assert_eq!((taps(&double), times(&double, Fault::DoubleTap)), (2, 1));
}

#[tokio::test(start_paused = true)]
async fn connections_drop_and_spells_end() {
    for (faults, fault) in [
        (Faults { dropped_connection: 60.0, ..Faults::default() }, Fault::DroppedConnection),
        (Faults { offline: 10.0, ..Faults::default() }, Fault::Offline),
        (Faults { unauthorized: 10.0, ..Faults::default() }, Fault::Unauthorized),
    ] {
        let phone = Phone::new(PhoneConfig { faults, ..PhoneConfig::default() });
        assert_eq!(attempt(&phone, "sleep 60; echo done").await, None, "{fault:?}");
        let mut served = false;
        for _ in 0..100 {
            served |= attempt(&phone, "echo served").await.as_deref() == Some("served\n");
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        assert!(served && times(&phone, fault) >= 1, "{fault:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_clock_is_set() {
    let (phone, mut host) = phone(Faults { clock_skew: 60.0, ..Faults::default() }).await;
    let now = |text: String| text.trim().parse::<i64>().expect("seconds");
    let first = now(host.run("date +%s").await);
    let second = now(host.run("sleep 10; date +%s").await);
    assert!((second - first - 10).abs() > 10, "{first} {second}");
    assert!(times(&phone, Fault::ClockSkew) >= 5);
}

#[tokio::test(start_paused = true)]
async fn low_memory_ends_apps_and_the_log_says_so() {
    let (phone, mut host) = phone(Faults { low_memory: 60.0, ..Faults::default() }).await;
    host.run("sleep 20").await;
    assert!(times(&phone, Fault::LowMemory) >= 1);
    assert_eq!(phone.truth().activity, "com.android.launcher3/.uioverrides.QuickstepLauncher");
    let log = host.run("logcat -d").await;
    assert!(log.contains("lowmemorykiller: Kill 'com.workbench' ("), "{log}");
    assert_eq!(host.shell("pidof com.workbench").await.code, Some(1));
}

#[tokio::test(start_paused = true)]
async fn a_system_dialog_covers_the_app_until_it_is_answered() {
    let (phone, mut host) = phone(Faults { system_dialog: 30.0, ..Faults::default() }).await;
    host.run("sleep 4").await;
    let tree = host.run(DUMP).await;
    assert!(tree.contains("package=\"android\"") && !tree.contains("Log in"), "{tree}");
    host.run("input tap 500 300").await;
    assert!(
        matches!(phone.truth().inputs.last(), Some(Applied::Tap { hit: Some(hit), .. }) if hit.label == "outside the dialog")
    );
    host.tap("text=\"OK\"").await;
    assert!(host.run(DUMP).await.contains("Log in"));
    assert!(phone.truth().last_change_ms >= phone.truth().faults[0].at_ms);
}
