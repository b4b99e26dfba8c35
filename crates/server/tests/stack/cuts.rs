//! A thousand taps and captures with random connection cuts: no call outlives its deadline, every answer is true, no
//! tap is repeated.

use std::collections::BTreeMap;
use std::time::Duration;

use mdm_virtual_device::{Applied, Timing};
use proptest::test_runner::{RngAlgorithm, TestRng};
use tokio::time::Instant;

use crate::world::{World, code_of, fact};

const TAPS: i32 = 1000;
const CUTS: usize = 50;

#[tokio::test(start_paused = true)]
async fn answers_stay_true_through_fifty_connection_cuts() {
    let seed: u64 = std::env::var("MDM_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(20_261_115);
    println!("seed {seed} (MDM_SEED replays another)");
    let mut random = Random::new(seed);
    let world = World::started(Timing::Brisk).await;
    let started = Instant::now();
    // One tap and one capture take about 100 ms of phone time, so the cuts spread over the whole run.
    let span_ms = u64::try_from(TAPS).unwrap_or(0) * 100;
    let mut moments: Vec<u64> = (0..CUTS).map(|_| random.below(span_ms)).collect();
    moments.sort_unstable();
    let phone = world.phone.clone();
    let cutter = tokio::spawn(async move {
        for moment in moments {
            tokio::time::sleep_until(started + Duration::from_millis(moment)).await;
            phone.cut_connections();
        }
    });

    let mut answers = BTreeMap::new();
    let (mut trees, mut lost_trees) = (0, 0);
    for number in 0..TAPS {
        // Every tap has its own point, where nothing reacts.
        let (x, y) = (number % 100, 30 + number / 100);
        let began = Instant::now();
        let answer = world.call("tap", &format!(r#"{{"x":{x},"y":{y}}}"#)).await;
        assert!(began.elapsed() <= Duration::from_secs(10), "SY-07: tap {number} took {:?}", began.elapsed());
        answers.insert((x, y), answer);
        let began = Instant::now();
        let tree = world.call("get_ui_tree", "{}").await;
        assert!(began.elapsed() <= Duration::from_secs(30), "SY-07");
        if tree.is_error {
            lost_trees += 1;
            assert!(
                ["CONNECTION_LOST", "UI_TREE_UNAVAILABLE"].contains(&code_of(&tree).as_str()),
                "{}",
                tree.text()
            );
        } else {
            trees += 1;
            assert!(tree.text().contains("Log in"), "a true tree: {}", tree.text());
        }
    }
    cutter.await.expect("every cut was made");
    judge(&world, &answers);
    let lost = answers.values().filter(|answer| answer.is_error).count();
    println!("{TAPS} taps ({lost} of unknown fate), {trees} trees, {lost_trees} lost, {CUTS} cuts");
    assert!(lost > 0, "the cuts must have hit something, or this proves nothing");
    assert_eq!(
        world.phone.truth().leftover_files,
        Vec::<String>::new(),
        "interrupted captures are cleaned up"
    );
}

/// Compares every answer with the phone's own state.
fn judge(world: &World, answers: &BTreeMap<(i32, i32), mobile_debug_mcp::answer::Answer>) {
    let mut applied: BTreeMap<(i32, i32), usize> = BTreeMap::new();
    for input in world.phone.truth().inputs {
        if let Applied::Tap { at, .. } = input {
            *applied.entry(at).or_default() += 1;
        }
    }
    for (point, answer) in answers {
        let times = applied.get(point).copied().unwrap_or(0);
        match answer.is_error {
            false => assert_eq!(times, 1, "reported as done at {point:?}"),
            true if answer.text().contains("\"dispatched\":\"unknown\"") => {
                assert!(times <= 1, "RC-04: twice at {point:?}")
            }
            true => {
                assert_eq!(
                    (times, fact(&answer.text(), "retryable").as_str()),
                    (0, "true"),
                    "{}",
                    answer.text()
                )
            }
        }
    }
}

struct Random(TestRng);

impl Random {
    fn new(seed: u64) -> Random {
        let mut bytes = [0u8; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        Random(TestRng::from_seed(RngAlgorithm::ChaCha, &bytes))
    }

    fn below(&mut self, limit: u64) -> u64 {
        use proptest::prelude::Rng as _;
        self.0.next_u64() % limit.max(1)
    }
}
