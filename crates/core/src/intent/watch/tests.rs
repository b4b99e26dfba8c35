use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::change::tracker::Tracker;
use crate::failure::Cause;
use crate::intent::predicate::Expected;
use crate::intent::selector::TextMatch;
use crate::meaning::sketch::sketch;
use crate::port::DeviceErrorKind;
use crate::screen::snapshot::{Defect, DefectKind, Screen, Snapshot};

mod damage;
mod heard;
mod pace;
mod rested;

const WINDOW_MS: u64 = 250;
const REACHED: Next = Next::Done(Ending::Reached);

/// Shows screens to a watch as the engine does, with the time as data.
struct Feeder<'a> {
    tracker: Tracker,
    watch: Watch<'a>,
    /// How long the device takes for one capture.
    cost_ms: u64,
    /// How long the device says that the screen had rested before each capture.
    rested_ms: u64,
    heard: HeardAround,
    pace: Option<Pace>,
}

impl<'a> Feeder<'a> {
    fn new(wait: &'a Wait) -> Feeder<'a> {
        Feeder {
            tracker: Tracker::default(),
            watch: Watch::new(wait, None, 0),
            cost_ms: 0,
            rested_ms: 0,
            heard: HeardAround::default(),
            pace: None,
        }
    }

    /// A watch that counts changes from this screen on, which was captured before the wait began.
    fn since(wait: &'a Wait, screen: Snapshot) -> Feeder<'a> {
        let mut tracker = Tracker::default();
        let base = tracker.observe(screen, 0);
        Feeder {
            tracker,
            watch: Watch::new(wait, Some(base), 0),
            cost_ms: 0,
            rested_ms: 0,
            heard: HeardAround::default(),
            pace: None,
        }
    }

    fn look(&mut self, began_ms: u64, screen: Snapshot) -> Next {
        let ended_ms = began_ms + self.cost_ms;
        let seen = self.tracker.observe(screen, began_ms);
        let against = |earlier: &Option<Arc<Observation>>| {
            let earlier = earlier.as_ref().filter(|earlier| earlier.revision != seen.revision)?;
            self.tracker.compare_with(Arc::clone(earlier))
        };
        let (step, total) = (against(&self.watch.last), against(&self.watch.base));
        let tracker = &self.tracker;
        let only_ticked =
            self.watch.changed_elements().is_some_and(|mut ids| ids.all(|id| tracker.is_ticking(id)));
        let look = Look {
            seen,
            step,
            total,
            only_ticked,
            pace: self.pace,
            began_ms,
            ended_ms,
            rested_ms: self.rested_ms,
            heard: self.heard,
        };
        self.watch.looked(look, ended_ms)
    }

    fn pause_after(&mut self, at_ms: u64, screen: Snapshot) -> u64 {
        match self.look(at_ms, screen) {
            Next::LookIn { ms } => ms,
            Next::Done(ending) => panic!("{ending:?} at {at_ms} ms"),
        }
    }

    #[track_caller]
    fn goes_on(&mut self, at_ms: u64, screen: Snapshot) {
        let next = self.look(at_ms, screen);
        assert!(matches!(next, Next::LookIn { .. }), "{next:?} at {at_ms} ms");
    }

    #[track_caller]
    fn ends(&mut self, at_ms: u64, screen: Snapshot) {
        assert_eq!(self.look(at_ms, screen), REACHED, "at {at_ms} ms");
    }

    fn finish(self, ending: Ending, now_ms: u64) -> WatchReport {
        self.watch.finish(ending, now_ms, now_ms)
    }
}

/// A screen with one line of text and a button. The words hold no numbers, so that no change is a tick.
fn says(words: &str) -> Snapshot {
    lines(&[words])
}

fn lines(words: &[&str]) -> Snapshot {
    let mut tree = String::from(
        "FrameLayout [0,0][1080,2400]\n  Button [0,2000][500,2100] click id:send text:\"Send\"\n",
    );
    for (line, words) in words.iter().enumerate() {
        let (top, bottom) = (line * 100, line * 100 + 90);
        tree.push_str(&format!("  TextView [0,{top}][1080,{bottom}] id:line_{line} text:\"{words}\"\n"));
    }
    sketch(&tree)
}

fn damaged(screen: Snapshot) -> Snapshot {
    let defect = Defect { kind: DefectKind::Truncated, offset: 0, detail: String::new() };
    Snapshot { defects: vec![defect], ..screen }
}

fn called(words: &str) -> Selector {
    Selector { text: Some(TextMatch::Is(words.to_owned())), ..Selector::default() }
}

fn there(words: &str) -> Goal {
    Goal::Holds(Predicate::Element { selector: called(words), expected: Expected::Exists })
}

fn gone(words: &str) -> Goal {
    Goal::Holds(Predicate::Element { selector: called(words), expected: Expected::NotExists })
}

fn quiet() -> Wait {
    Wait::new(Goal::Quiet, WINDOW_MS)
}

fn failed(kind: DeviceErrorKind) -> Failure {
    Failure::new(Cause::Device(kind), "no tree")
}

#[test]
fn quiet_needs_one_whole_window_after_the_last_change() {
    // SY-05
    let wait = quiet();
    let mut feeder = Feeder::new(&wait);
    feeder.goes_on(0, says("Cart"));
    feeder.goes_on(100, says("Order"));
    feeder.goes_on(349, says("Order"));
    feeder.ends(350, says("Order"));
    let report = feeder.finish(Ending::Reached, 350);
    assert!(report.is_success() && report.is_stable() && report.change_detected);
    assert_eq!((report.captures, report.changes, report.observed), (4, 1, ChangeKind::Text));
    assert_eq!((report.stabilise_ms, report.freshness_ms, report.moving), (250, 0, vec![]));
    let rest = report.rest.unwrap();
    assert_eq!((rest.changed_at_ms, rest.longest_pause_ms), (100, 0), "SY-19");
}

#[test]
fn every_change_restarts_the_window() {
    // SY-05
    let wait = quiet();
    let mut feeder = Feeder::new(&wait);
    feeder.goes_on(0, says("Cart"));
    feeder.goes_on(240, says("Order"));
    feeder.goes_on(480, says("Cart"));
    feeder.goes_on(729, says("Cart"));
    feeder.ends(730, says("Cart"));
    let report = feeder.finish(Ending::Reached, 730);
    assert_eq!((report.changes, report.stabilise_ms), (2, 490));
    assert_eq!(report.rest.unwrap().longest_pause_ms, 240, "SY-19");
}

#[test]
fn the_first_look_proves_nothing_about_the_time_before() {
    let wait = quiet();
    let mut feeder = Feeder::new(&wait);
    feeder.goes_on(1000, says("Cart"));
    feeder.goes_on(1249, says("Cart"));
    feeder.ends(1250, says("Cart"));
    let mut feeder = Feeder::since(&wait, says("Cart"));
    feeder.goes_on(1000, says("Cart"));
    feeder.ends(1250, says("Cart"));
}

#[test]
fn quiet_is_certain_only_from_the_end_of_one_capture_to_the_start_of_another() {
    // W31
    let wait = quiet();
    let mut feeder = Feeder { cost_ms: 100, ..Feeder::new(&wait) };
    feeder.goes_on(0, says("Cart"));
    feeder.goes_on(200, says("Order"));
    feeder.goes_on(549, says("Order"));
    feeder.ends(550, says("Order"));
    assert_eq!(feeder.finish(Ending::Reached, 650).freshness_ms, 100, "as old as its question");
}

#[test]
fn a_change_since_the_named_revision_counts() {
    // SY-10
    let wait = Wait { since_revision: Some(1), ..Wait::new(Goal::Change, WINDOW_MS) };
    let mut feeder = Feeder::since(&wait, says("Cart"));
    feeder.goes_on(1000, says("Order"));
    feeder.ends(1250, says("Order"));
    let report = feeder.finish(Ending::Reached, 1250);
    assert!(report.change_detected);
    assert_eq!(report.since.unwrap().base.revision, 1);
}

#[test]
fn a_condition_has_to_hold_in_two_captures_and_for_the_window() {
    let wait = Wait::new(there("Order"), WINDOW_MS);
    let mut feeder = Feeder::new(&wait);
    feeder.goes_on(0, says("Cart"));
    feeder.goes_on(100, says("Order"));
    feeder.goes_on(349, says("Order"));
    feeder.ends(350, says("Order"));
    assert!(feeder.finish(Ending::Reached, 350).judgement.unwrap().holds());
    let at_once = Wait::new(there("Order"), 0);
    let mut feeder = Feeder::new(&at_once);
    feeder.goes_on(1000, says("Order"));
    feeder.ends(1020, says("Order"));
}

#[test]
fn a_condition_that_flickers_starts_anew() {
    let wait = Wait::new(there("Order"), WINDOW_MS);
    let mut feeder = Feeder::new(&wait);
    feeder.goes_on(0, says("Order"));
    feeder.goes_on(200, says("Cart"));
    feeder.goes_on(240, says("Order"));
    feeder.goes_on(489, says("Order"));
    feeder.ends(490, says("Order"));
}

#[test]
fn an_element_rests_only_while_it_neither_moves_nor_changes() {
    let wait = Wait::new(Goal::ElementRests(called("Send")), WINDOW_MS);
    let moved = |x: i32| {
        let mut screen = says("Cart");
        screen.elements[1].bounds.right = x;
        screen
    };
    let mut feeder = Feeder::new(&wait);
    feeder.goes_on(0, moved(500));
    feeder.goes_on(200, moved(520));
    feeder.goes_on(449, moved(520));
    feeder.ends(450, moved(520));
    let mut feeder = Feeder::new(&wait);
    feeder.goes_on(0, says("Cart"));
    feeder.goes_on(200, says("Order"));
    feeder.ends(250, says("Order"));
    assert!(!feeder.finish(Ending::Reached, 250).is_stable(), "the rest of the screen does not");
}

#[test]
fn only_a_change_of_the_wanted_kind_satisfies() {
    let wait = Wait { filter: Some(ChangeKind::Text), ..Wait::new(Goal::Change, WINDOW_MS) };
    let ticked_off = |words: &str| {
        let mut screen = says(words);
        screen.elements[1].state.enabled = Some(false);
        screen
    };
    let mut feeder = Feeder::new(&wait);
    feeder.goes_on(0, says("Cart"));
    feeder.goes_on(100, ticked_off("Cart"));
    feeder.goes_on(1000, ticked_off("Cart"));
    feeder.goes_on(1100, ticked_off("Order"));
    feeder.ends(1350, ticked_off("Order"));
    assert_eq!(feeder.finish(Ending::Reached, 1350).observed, ChangeKind::Text);
}

#[test]
fn what_is_ignored_does_not_disturb() {
    // SY-09
    let ignore = vec![Selector { resource_id: Some("line_1".to_owned()), ..Selector::default() }];
    let wait = Wait { scope: Scope { ignore, ..Scope::default() }, ..quiet() };
    let mut feeder = Feeder::new(&wait);
    feeder.goes_on(0, lines(&["Cart", "Red"]));
    feeder.goes_on(200, lines(&["Cart", "Blue"]));
    feeder.ends(250, lines(&["Cart", "Green"]));
}

#[test]
fn a_counter_is_forgotten_as_a_change_once_it_is_known_to_tick() {
    // SY-04
    let wait = Wait::new(Goal::Change, WINDOW_MS);
    let mut feeder = Feeder::new(&wait);
    for second in 0..8 {
        feeder.goes_on(200 * second, says(&format!("{second} of 90 s")));
    }
    feeder.goes_on(5000, says("7 of 90 s"));
    feeder.goes_on(5100, lines(&["7 of 90 s", "Done"]));
    feeder.ends(5350, lines(&["8 of 90 s", "Done"]));
    let report = feeder.finish(Ending::Reached, 5350);
    assert_eq!((report.changes, report.observed), (1, ChangeKind::Hierarchy));
}

#[test]
fn what_appears_on_a_page_whose_own_words_tick_is_no_tick() {
    // React Native joins the words of a page, so that the page ticks with the counter on it.
    let page = |second: u64, offer: &str| {
        let words = format!("{second} of 90 s{offer}");
        let more = if offer.is_empty() { "" } else { "Button [0,200][400,300] click text:\"Offer\"" };
        sketch(&format!(
            "
            FrameLayout [0,0][400,800]
              Other [0,0][400,800] desc:\"{words}\"
                TextView [0,0][400,50] text:\"{second} of 90 s\"
                Button [0,100][400,150] click text:Pay
                Button [0,150][400,200] click text:Save
                Button [0,300][400,350] click text:Share
                Button [0,350][400,400] click text:Print
                {more}"
        ))
    };
    let wait = Wait::new(there("Nowhere"), WINDOW_MS);
    let mut feeder = Feeder::since(&wait, page(0, ""));
    for second in 1..5 {
        feeder.goes_on(200 * second, page(second, ""));
    }
    for second in 5..12 {
        feeder.goes_on(200 * second, page(second, " Offer"));
    }
    let report = feeder.finish(Ending::Timeout, 2600);
    assert!(report.observed.is_relevant(), "{:?}", report.observed);
}

#[test]
fn patience_ends_a_wait_only_after_its_captures() {
    // W2
    let wait = Wait::new(there("Order"), WINDOW_MS).with_patience(100, 3);
    let mut feeder = Feeder::new(&wait);
    feeder.goes_on(0, says("Cart"));
    feeder.goes_on(5000, says("Cart"));
    assert_eq!(feeder.look(9000, says("Cart")), Next::Done(Ending::Timeout));
    let mut feeder = Feeder::new(&wait);
    for at_ms in [0, 30, 60, 99] {
        feeder.goes_on(at_ms, says("Cart"));
    }
    assert_eq!(feeder.look(100, says("Cart")), Next::Done(Ending::Timeout));
}

#[test]
fn a_screen_that_is_never_idle_gets_one_second_chance() {
    let wait = Wait::new(there("Order"), WINDOW_MS);
    let not_idle = || failed(DeviceErrorKind::NotIdle);
    let mut watch = Feeder::new(&wait).watch;
    assert!(matches!(watch.look_failed(not_idle(), 10_000), Next::LookIn { .. }));
    assert_eq!(watch.look_failed(not_idle(), 20_000), Next::Done(Ending::Unreadable(not_idle())));
    let other = failed(DeviceErrorKind::NoWindow);
    let mut watch = Feeder::new(&wait).watch;
    assert_eq!(watch.look_failed(other.clone(), 10), Next::Done(Ending::Unreadable(other)));
}

#[test]
fn a_look_between_two_failures_gives_another_chance_and_proves_anew() {
    let wait = Wait::new(there("Order"), WINDOW_MS);
    let mut feeder = Feeder::new(&wait);
    feeder.goes_on(0, says("Order"));
    for at_ms in [100, 400] {
        let next = feeder.watch.look_failed(failed(DeviceErrorKind::NotIdle), at_ms);
        assert!(matches!(next, Next::LookIn { .. }), "{next:?}");
        feeder.goes_on(at_ms + 200, says("Order"));
    }
    feeder.ends(850, says("Order"));
}

#[test]
fn another_revision_ends_a_wait_at_rest_or_not() {
    let wait = Wait::new(Goal::Revision { than: 1 }, WINDOW_MS);
    let mut feeder = Feeder::since(&wait, says("Cart"));
    feeder.goes_on(1000, says("Cart"));
    feeder.ends(1010, says("Order"));
    assert_eq!(feeder.finish(Ending::Reached, 1010).stability, Stability::Transient);
}

#[test]
fn another_screen_ends_a_wait_once_it_rests() {
    let on = |name: &str, words: &str| {
        let screen = Screen { app: "com.example".into(), name: Some(name.into()) };
        Snapshot { screen: Some(screen), ..says(words) }
    };
    let from = Tracker::default().observe(on("Cart", "Cart"), 0).fingerprint;
    let wait = Wait::new(Goal::ScreenChange { from }, WINDOW_MS);
    let mut feeder = Feeder::new(&wait);
    feeder.goes_on(0, on("Cart", "Cart"));
    feeder.goes_on(1000, on("Cart", "Cart"));
    feeder.goes_on(1040, on("Order", "Cart"));
    feeder.goes_on(1289, on("Order", "Cart"));
    feeder.ends(1290, on("Order", "Cart"));
    let report = feeder.finish(Ending::Reached, 1290);
    assert!(report.change_detected && report.is_stable());
}

#[test]
fn a_search_ends_with_the_first_look_that_shows_something() {
    // W24
    let wait = Wait::new(Goal::Found(Search::Selector(called("Order"))), WINDOW_MS);
    Feeder::new(&wait).ends(0, says("Order"));
    let mut feeder = Feeder::new(&wait);
    feeder.goes_on(0, says("Cart"));
    feeder.ends(40, says("Order"));
}

#[test]
fn a_wait_that_failed_never_says_stable() {
    // SY-07
    let wait = Wait::new(there("Order"), WINDOW_MS);
    for ending in [Ending::Timeout, Ending::Unreadable(failed(DeviceErrorKind::NotIdle))] {
        let mut feeder = Feeder::new(&wait);
        feeder.goes_on(0, says("Cart"));
        feeder.goes_on(1000, says("Cart"));
        let report = feeder.finish(ending, 1000);
        assert!(!report.is_success());
        assert_eq!(report.stability, Stability::Stabilizing);
        assert!(report.rest.is_none() && matches!(report.judgement, Some(Judgement::Fails { .. })));
    }
    let report = Feeder::new(&wait).finish(Ending::Timeout, 1000);
    assert_eq!((report.stability, report.seen.is_none()), (Stability::Transient, true), "nobody looked");
}

#[test]
fn what_moved_most_often_is_named_first() {
    let wait = quiet();
    let mut feeder = Feeder::new(&wait);
    let screens = [
        ["red", "up", "calm"],
        ["green", "up", "calm"],
        ["blue", "down", "calm"],
        ["red", "down", "upset"],
        ["green", "up", "upset"],
    ];
    for (number, words) in screens.iter().enumerate() {
        feeder.goes_on(100 * number as u64, lines(words));
    }
    let ids = Arc::clone(&feeder.watch.last.as_ref().unwrap().ids);
    let report = feeder.finish(Ending::Timeout, 400);
    let named: Vec<_> =
        report.moving.iter().map(|moving| (moving.id, moving.times, moving.every_ms)).collect();
    assert_eq!(named, [(ids[2], 4, Some(100)), (ids[3], 2, Some(200))], "what changed once has come to rest");
    let mut feeder = Feeder::new(&wait);
    feeder.goes_on(0, says("Cart"));
    feeder.goes_on(100, says("Order"));
    let report = feeder.finish(Ending::Timeout, 100);
    assert_eq!(
        report.moving.iter().map(|moving| (moving.times, moving.every_ms)).collect::<Vec<_>>(),
        [(1, None)]
    );
}

/// One capture of a generated sequence: the pause before it, how long it takes, and whether it shows a change.
type Capture = (u64, u64, bool);

fn run(window_ms: u64, captures: &[Capture]) -> Vec<Next> {
    let wait = Wait::new(Goal::Quiet, window_ms);
    let mut feeder = Feeder::new(&wait);
    let (mut at_ms, mut shown) = (0, false);
    let mut said = Vec::new();
    for (pause_ms, cost_ms, changed) in captures {
        at_ms += pause_ms;
        shown ^= changed;
        feeder.cost_ms = *cost_ms;
        said.push(feeder.look(at_ms, says(if shown { "Cart" } else { "Order" })));
        at_ms += cost_ms;
        if said.last() == Some(&REACHED) {
            break;
        }
    }
    said
}

/// SY-05 word by word: the number of the first capture that shows no change, and before which an earlier capture stands
/// at least a window away with no change between the two.
fn first_proof(window_ms: u64, captures: &[Capture]) -> Option<usize> {
    let mut now_ms = 0;
    let mut times = Vec::new();
    for (number, (pause_ms, cost_ms, changed)) in captures.iter().enumerate() {
        let began_ms = now_ms + pause_ms;
        now_ms = began_ms + cost_ms;
        times.push((began_ms, now_ms, number > 0 && *changed));
    }
    (0..times.len()).find(|last| {
        let (last_began_ms, _, changed) = times[*last];
        let proves = |first: usize| {
            let (_, ended_ms, _) = times[first];
            let undisturbed = !times[first + 1..=*last].iter().any(|(_, _, changed)| *changed);
            undisturbed && (window_ms == 0 || last_began_ms >= ended_ms + window_ms)
        };
        !changed && (0..=*last).any(proves)
    })
}

proptest! {
    #[test]
    fn quiet_is_said_exactly_when_a_whole_window_was_seen(
        window_ms in prop::sample::select(vec![0u64, 1, 40, 250, 1000]),
        captures in prop::collection::vec(
            (prop_oneof![0..60u64, 200..300u64, 900..1100u64], 0..30u64, prop::bool::weighted(0.3)),
            0..24,
        ),
    ) {
        // SY-05, SY-06
        let said = run(window_ms, &captures);
        let reached = said.iter().position(|next| *next == REACHED);
        prop_assert_eq!(reached, first_proof(window_ms, &captures));
        prop_assert_eq!(run(window_ms, &captures), said);
    }
}
