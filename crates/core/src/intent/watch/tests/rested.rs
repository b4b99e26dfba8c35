//! Captures before which the device itself waited for rest.

use super::*;

fn rested(wait: &Wait, rested_ms: u64) -> Feeder<'_> {
    let mut feeder = Feeder::since(wait, says("Cart"));
    (feeder.cost_ms, feeder.rested_ms) = (1500, rested_ms);
    feeder
}

#[test]
fn one_capture_proves_rest_if_the_device_waited_for_it() {
    // SY-05
    let wait = Wait::new(Goal::Settled, WINDOW_MS);
    let mut feeder = rested(&wait, 1000);
    feeder.ends(0, says("Order"));
    let report = feeder.finish(Ending::Reached, 1500);
    assert_eq!((report.stability, report.change_detected, report.captures), (Stability::Stable, true, 1));
    assert_eq!(report.freshness_ms, 500, "it shows no moment before the second of rest");
    let mut unchanged = rested(&wait, 1000);
    unchanged.ends(0, says("Cart"));
}

#[test]
fn rest_that_is_shorter_than_the_window_proves_nothing() {
    let long = Wait::new(Goal::Quiet, 2000);
    let mut feeder = rested(&long, 1000);
    feeder.goes_on(0, says("Order"));
    feeder.goes_on(1600, says("Order"));
    feeder.ends(3600, says("Order"));
    let wait = quiet();
    let mut untold = rested(&wait, 0);
    untold.goes_on(0, says("Cart"));
    untold.ends(1800, says("Cart"));
}

#[test]
fn a_condition_that_holds_after_rest_needs_no_second_capture() {
    let wait = Wait::new(there("Order"), WINDOW_MS);
    let mut feeder = rested(&wait, 1000);
    feeder.goes_on(0, says("Cart"));
    feeder.ends(1600, says("Order"));
    let wait = Wait::new(gone("Cart"), WINDOW_MS);
    let mut feeder = rested(&wait, 1000);
    feeder.goes_on(0, damaged(lines(&[])));
    feeder.ends(1600, says("Order"));
}
