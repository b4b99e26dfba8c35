//! The same seed gives the same run, and the product is right more often than a naive client.

use mdm_sim::compare::{Comparison, compare};
use mdm_sim::run::session;
use mdm_sim::world::Face;

const STEPS: usize = 12;

#[test]
fn a_seed_is_replayed_to_the_byte() {
    for face in [Face::Android, Face::Ios] {
        for seed in [3, 17, 20, 45, 50, 101, 261, 572] {
            let [first, second] = [(); 2].map(|()| session(seed, STEPS, face).expect("a session").log);
            assert!(first.len() > 1000, "seed {seed} did something");
            assert_eq!(first, second, "seed {seed} on {face:?}");
        }
    }
}

#[test]
fn the_product_is_right_more_often_than_a_client_that_hopes() {
    let mut sum = Comparison::default();
    for seed in 0..25 {
        sum.add(&compare(seed, 1).expect("both ran"));
    }
    assert!(sum.product.intents > 15, "{sum}");
    assert_eq!((sum.product.false_success, sum.product.twice, sum.product.wrong_element), (0, 0, 0), "{sum}");
    assert!(sum.product.first_try > sum.naive.first_try, "{sum}");
}
