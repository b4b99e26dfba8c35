//! The product on a phone with one fault at a time: every call ends, every answer is true, we send nothing twice.

use std::collections::BTreeMap;
use std::time::Duration;

use mdm_virtual_device::{Applied, Fault, Faults, PhoneConfig, Timing};
use mobile_debug_mcp::answer::Answer;
use tokio::time::Instant;

use crate::world::{APP, World, fact};

const ROUNDS: i32 = 40;
const SEED: u64 = 7;

#[tokio::test(start_paused = true)]
async fn every_answer_is_true_under_every_fault() {
    for fault in Fault::ALL {
        let mut faults = Faults::default();
        *faults.rate_mut(fault) = rate(fault);
        let config = PhoneConfig { faults, seed: SEED, timing: Timing::Brisk, ..PhoneConfig::default() };
        let world = World::with(config);
        let (answers, trees) = session(&world, fault).await;
        judge(&world, fault, &answers);
        let struck = world.phone.truth().faults.len();
        let failed = answers.values().filter(|answer| answer.is_error).count();
        println!(
            "{}: struck {struck} times; {failed} of {ROUNDS} taps and {} of {} trees failed and said so",
            fault.name(),
            trees.iter().filter(|tree| tree.is_error).count(),
            trees.len()
        );
        assert!(struck > 0, "{fault:?} never happened, so this proves nothing");
    }
}

/// Rates at which a fault occurs in a session of about ten seconds without preventing everything else.
fn rate(fault: Fault) -> f64 {
    match fault {
        Fault::Offline | Fault::Unauthorized => 20.0,
        Fault::DroppedConnection | Fault::ClockSkew | Fault::LowMemory | Fault::SystemDialog => 120.0,
        _ => 0.4,
    }
}

async fn session(world: &World, fault: Fault) -> (BTreeMap<(i32, i32), Answer>, Vec<Answer>) {
    let (mut answers, mut trees) = (BTreeMap::new(), Vec::new());
    for number in 0..ROUNDS {
        // An app that the system ended is started again, as an agent would do.
        if number % 5 == 0 {
            timely(world, "start_app", &format!(r#"{{"appId":"{APP}"}}"#), fault).await;
        }
        // Every tap has its own point, where nothing reacts.
        let point = (10 + number, 40);
        let tap = format!(r#"{{"x":{},"y":{}}}"#, point.0, point.1);
        answers.insert(point, timely(world, "tap", &tap, fault).await);
        let tree = timely(world, "get_ui_tree", "{}", fault).await;
        check_tree(fault, &tree);
        trees.push(tree);
    }
    // Waits for late taps.
    tokio::time::sleep(Duration::from_secs(5)).await;
    (answers, trees)
}

async fn timely(world: &World, tool: &str, json: &str, fault: Fault) -> Answer {
    let began = Instant::now();
    let answer = world.call(tool, json).await;
    assert!(
        began.elapsed() <= Duration::from_secs(35),
        "SY-07: {tool} under {fault:?} took {:?}",
        began.elapsed()
    );
    answer
}

/// Checks that a tree is a whole screen of the app, or is marked as partial.
fn check_tree(fault: Fault, tree: &Answer) {
    if tree.is_error {
        assert!(!fact(&tree.text(), "code").is_empty(), "{fault:?}: {}", tree.text());
        return;
    }
    let whole = ["Log in", "Workbench", "\"OK\""].iter().any(|text| tree.text().contains(text));
    let admitted = tree.text().contains(r#""partial":true"#);
    // A tree without any node is accepted, because that is what the phone answered.
    let nothing = fact(&tree.text(), "of") == "0" && fault == Fault::EmptyDump;
    assert!(whole || admitted || nothing, "{fault:?}: a false tree: {}", tree.text());
    if fault == Fault::TruncatedDump && !admitted {
        assert!(tree.text().contains("Log in"), "{fault:?} is not admitted: {}", tree.text());
    }
}

fn judge(world: &World, fault: Fault, answers: &BTreeMap<(i32, i32), Answer>) {
    let mut applied: BTreeMap<(i32, i32), usize> = BTreeMap::new();
    for input in world.phone.truth().inputs {
        if let Applied::Tap { at, .. } = input {
            *applied.entry(at).or_default() += 1;
        }
    }
    let by_the_phone = usize::from(fault == Fault::DoubleTap);
    for (point, answer) in answers {
        let times = applied.get(point).copied().unwrap_or(0);
        assert!(times <= 1 + by_the_phone, "RC-04: {times} times at {point:?} under {fault:?}");
        if !answer.is_error && fault != Fault::LostTap {
            assert!(times >= 1, "{fault:?}: reported as done at {point:?}: {}", answer.text());
        }
        if answer.is_error && !answer.text().contains("\"dispatched\":\"unknown\"") {
            assert_eq!(times, 0, "{fault:?}: reported as not done at {point:?}: {}", answer.text());
        }
    }
}
