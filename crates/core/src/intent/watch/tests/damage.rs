//! Captures that show only a part of the screen.

use super::*;
use crate::screen::snapshot::Platform;

#[test]
fn a_damaged_capture_proves_no_absence_and_is_no_baseline() {
    // W10, W11
    let wait = Wait::new(gone("Cart"), 0);
    let mut feeder = Feeder::new(&wait);
    for at_ms in [0, 20, 40] {
        feeder.goes_on(at_ms, damaged(lines(&[])));
    }
    feeder.goes_on(60, says("Cart"));
    let wait = Wait::new(Goal::Change, WINDOW_MS);
    let mut feeder = Feeder::new(&wait);
    feeder.goes_on(0, damaged(lines(&[])));
    feeder.goes_on(20, says("Cart"));
    feeder.goes_on(100, damaged(lines(&[])));
    feeder.goes_on(1000, says("Cart"));
    let report = feeder.finish(Ending::Timeout, 1000);
    assert_eq!((report.change_detected, report.changes, report.damaged), (false, 0, 2));
}

#[test]
fn a_target_missing_from_a_damaged_capture_is_not_gone() {
    // W10
    let base = Tracker::default().observe(says("Cart"), 0);
    let target = base.ids[2];
    let scope = Scope { target: Some(target), ..Scope::default() };
    let wait = Wait { scope, ..Wait::new(Goal::Change, WINDOW_MS) };
    let mut feeder = Feeder::since(&wait, says("Cart"));
    for at_ms in [20, 40, 60, 80, 100, 120] {
        feeder.goes_on(at_ms, damaged(lines(&[])));
    }
    feeder.goes_on(140, says("Cart"));
    assert_eq!(feeder.look(160, lines(&[])), Next::Done(Ending::TargetGone(target)));
    let report = feeder.finish(Ending::TargetGone(target), 160);
    assert_eq!(report.seen.unwrap().ids.len(), 2, "the capture that shows it");
}

#[test]
fn what_a_damaged_capture_shows_is_there() {
    let wait = Wait::new(there("Cart"), WINDOW_MS);
    let mut feeder = Feeder::new(&wait);
    feeder.goes_on(0, damaged(says("Cart")));
    feeder.ends(250, damaged(says("Cart")));
    let found = Wait::new(Goal::Found(Search::Selector(called("Cart"))), WINDOW_MS);
    let mut feeder = Feeder::new(&found);
    feeder.goes_on(0, damaged(lines(&[])));
    feeder.ends(20, damaged(says("Cart")));
}

#[test]
fn five_equal_damaged_captures_are_taken_for_the_screen() {
    let wait = quiet();
    let mut feeder = Feeder::new(&wait);
    for at_ms in [0, 20, 40, 60, 80, 329] {
        feeder.goes_on(at_ms, damaged(says("Cart")));
    }
    feeder.ends(330, damaged(says("Cart")));
    assert_eq!(feeder.finish(Ending::Reached, 330).damaged, 7);
    let mut feeder = Feeder::new(&wait);
    for (number, words) in ["Cart", "Order", "Cart", "Order", "Cart", "Order", "Cart"].into_iter().enumerate()
    {
        let pause_ms = feeder.pause_after(1000 * number as u64, damaged(says(words)));
        assert_eq!(pause_ms, 20, "a damaged one is read again soon");
    }
    assert!(feeder.finish(Ending::Timeout, 7000).seen.is_none());
}

#[test]
fn a_screen_without_elements_is_none() {
    let empty = || Snapshot { elements: Vec::new(), ..says("") };
    for goal in [Goal::Quiet, Goal::Change, gone("Cart")] {
        let wait = Wait::new(goal, WINDOW_MS);
        let mut feeder = Feeder::new(&wait);
        feeder.goes_on(0, says("Cart"));
        for number in 1..10 {
            feeder.goes_on(number * 200, empty());
        }
        let report = feeder.finish(Ending::Timeout, 2000);
        assert_eq!((report.changes, report.stability), (0, Stability::Stabilizing), "{:?}", wait.goal);
    }
}

#[test]
fn an_application_with_nothing_in_it_is_not_called_stable() {
    // SY-05: idb tells no more of some screens, whatever moves on them.
    let bare = || {
        let application = r#"Application [0,0][393,852] role:Container text:"Sim""#;
        Snapshot { platform: Platform::Ios, ..sketch(application) }
    };
    for goal in [Goal::Quiet, Goal::Change] {
        let wait = Wait::new(goal, WINDOW_MS);
        let mut feeder = Feeder::new(&wait);
        for number in 0..20 {
            feeder.goes_on(number * 100, bare());
        }
    }
    let settled = Wait::new(Goal::Settled, WINDOW_MS);
    let mut feeder = Feeder::since(&settled, says("Cart"));
    let ended = (0..20).find(|number| feeder.look(number * 100, bare()) == REACHED);
    let report = feeder.finish(Ending::Reached, ended.unwrap() * 100);
    assert_eq!(report.stability, Stability::Stabilizing, "an action goes on, and does not call it stable");
    assert_eq!((report.changes, report.change_detected), (0, false), "what is not told is not gone");
}
