//! The same seed gives the same faults at the same times.

use mdm_virtual_device::{Fault, Faults, Phone, PhoneConfig, Timing, Truth};
use mdm_wire::adb::frame::Command;
use mdm_wire::adb::{PAYLOAD_BYTES_MAX, VERSION_SKIP_CHECKSUM};

use crate::host::{Host, packets};

const EVERYTHING: &str = "slow-dump,failing-dump,empty-dump,stale-dump=0.6,truncated-dump=0.3,null-root=1,lost-tap,late-tap,\
                          hanging-dump=0.05,double-tap,dropped-connection=6,offline=3,unauthorized=3,clock-skew=5,low-memory=6,system-dialog=4";

/// Runs one script over its own connection; returns nothing when the phone did not let it end.
pub async fn attempt(phone: &Phone, script: &str) -> Option<String> {
    phone.connect().ok()?;
    let mut host = Host::raw(phone);
    host.send(Command::Connect, VERSION_SKIP_CHECKSUM, PAYLOAD_BYTES_MAX, &b"host::features=shell_v2"[..])
        .await;
    if host.frame().await?.command != Command::Connect {
        return None;
    }
    host.send(Command::Open, 1, 0, format!("shell,v2,raw:{script}\0")).await;
    let mut all = Vec::new();
    loop {
        let frame = host.frame().await?;
        match frame.command {
            Command::Write => {
                all.extend_from_slice(&frame.payload);
                host.send(Command::Okay, 1, frame.arg0, bytes::Bytes::new()).await;
            }
            Command::Close => return packets(&all).code.map(|_| packets(&all).out),
            _ => {}
        }
    }
}

async fn three_minutes(seed: u64) -> Truth {
    let faults: Faults = EVERYTHING.parse().expect("names of faults");
    let phone = Phone::new(PhoneConfig { faults, seed, timing: Timing::Brisk, ..PhoneConfig::default() });
    for round in 0..180 {
        let script = match round % 4 {
            0 => "am start -n com.workbench/.LoginActivity".to_owned(),
            1 => format!("input tap {} 40", round),
            2 => "uiautomator dump /sdcard/t.xml".to_owned(),
            _ => "date".to_owned(),
        };
        attempt(&phone, &script).await;
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    }
    phone.truth()
}

#[tokio::test(start_paused = true)]
async fn the_same_seed_gives_the_same_truth() {
    let first = three_minutes(11).await;
    let again = three_minutes(11).await;
    assert_eq!(first.faults, again.faults);
    assert_eq!(first, again);
    let kinds: std::collections::BTreeSet<Fault> = first.faults.iter().map(|event| event.fault).collect();
    let missing: Vec<Fault> = Fault::ALL.into_iter().filter(|fault| !kinds.contains(fault)).collect();
    assert!(missing.is_empty(), "never happened: {missing:?} among {:?}", first.faults);
    assert!(first.faults.is_sorted_by_key(|event| event.at_ms));
    assert_ne!(first.faults, three_minutes(12).await.faults, "another seed, other troubles");
}

#[tokio::test(start_paused = true)]
async fn one_fault_does_not_shift_another() {
    let run = |faults: Faults| async move {
        let phone = Phone::new(PhoneConfig { faults, seed: 5, ..PhoneConfig::default() });
        for x in 0..100 {
            attempt(&phone, &format!("input tap {x} 40; uiautomator dump /sdcard/t.xml")).await;
        }
        phone.truth().inputs
    };
    let alone = run(Faults { lost_tap: 0.3, ..Faults::default() }).await;
    let together = run(Faults { lost_tap: 0.3, slow_dump: 0.5, ..Faults::default() }).await;
    assert_eq!(alone, together);
    assert!((50..85).contains(&alone.len()), "about two thirds of a hundred: {}", alone.len());
}
