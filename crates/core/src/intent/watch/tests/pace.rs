//! When the next look comes.

use super::*;

#[test]
fn the_look_that_can_end_the_wait_comes_at_the_end_of_the_window() {
    for (window_ms, cost_ms) in [(20, 0), (100, 0), (250, 0), (251, 3), (1000, 0), (600, 90)] {
        for goal in [Goal::Quiet, there("Cart"), Goal::ElementRests(called("Send"))] {
            let wait = Wait::new(goal, window_ms);
            let mut feeder = Feeder { cost_ms, ..Feeder::new(&wait) };
            let mut at_ms = 0;
            while let Next::LookIn { ms } = feeder.look(at_ms, says("Cart")) {
                at_ms += cost_ms + ms;
            }
            // A capture shows some moment of the time that it took: what it shows is certain from its end on.
            assert_eq!(at_ms, cost_ms + window_ms, "{wait:?}");
        }
    }
}

#[test]
fn the_longer_nothing_changes_the_longer_are_the_pauses() {
    let wait = Wait::new(Goal::Change, WINDOW_MS);
    let mut feeder = Feeder::new(&wait);
    let quiet_ms = [0, 9_999, 10_000, 30_000, 60_000, 600_000];
    let pauses = quiet_ms.map(|at_ms| feeder.pause_after(at_ms, says("Cart")));
    assert_eq!(pauses, [40, 40, 100, 250, 500, 500]);
    assert_eq!(feeder.pause_after(600_500, says("Order")), 40, "something moves again");
}

#[test]
fn a_slow_device_is_left_alone_for_longer() {
    let pauses = [0, 4, 15, 100].map(|cost_ms| {
        let wait = Wait::new(Goal::Change, WINDOW_MS);
        let mut feeder = Feeder { cost_ms, ..Feeder::new(&wait) };
        feeder.pause_after(0, says("Cart"))
    });
    assert_eq!(pauses, [40, 40, 150, 200]);
    let wait = Wait::new(Goal::Change, WINDOW_MS);
    let mut feeder = Feeder::new(&wait);
    let pauses = [100, 2, 100, 100, 100, 100].map(|cost_ms| {
        feeder.cost_ms = cost_ms;
        feeder.pause_after(0, says("Cart"))
    });
    assert_eq!(pauses, [200, 40, 40, 40, 40, 200], "the quickest of the last four tells");
}

#[test]
fn an_adaptive_wait_takes_the_learnt_window() {
    // SY-19
    let pace = Some(Pace { window_ms: 600, rests: 3 });
    for (adaptive, window_ms) in [(false, WINDOW_MS), (true, 600)] {
        let wait = Wait { adaptive, ..quiet() };
        let mut feeder = Feeder { pace, ..Feeder::new(&wait) };
        feeder.goes_on(0, says("Cart"));
        feeder.goes_on(window_ms - 1, says("Cart"));
        feeder.ends(window_ms, says("Cart"));
        assert_eq!(feeder.finish(Ending::Reached, window_ms).window_ms, window_ms);
    }
}
