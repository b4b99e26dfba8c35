//! Element ids, revisions and fingerprints over a session.

use std::sync::Arc;

use mdm_core::change::tracker::{Observation, Tracker};
use mdm_core::screen::geometry::Point;
use mdm_core::screen::snapshot::Snapshot;
use proptest::prelude::*;

use crate::draw::{screen, screen_of};
use crate::random::{any_screen, edited_screen};

struct Session(Tracker, u64);

impl Session {
    fn new() -> Session {
        Session(Tracker::default(), 0)
    }

    fn observe(&mut self, snapshot: Snapshot) -> Arc<Observation> {
        self.1 += 100;
        self.0.observe(snapshot, self.1)
    }

    fn draw(&mut self, lines: &str) -> Arc<Observation> {
        self.observe(screen(lines))
    }

    fn act(&mut self) {
        self.0.note_action();
    }
}

#[test]
fn ids_start_at_one_and_are_not_reused() {
    let mut session = Session::new();
    let first = session.draw("box\n  button \"a\" tap\n  button \"b\" tap");
    assert_eq!(first.ids.iter().map(ToString::to_string).collect::<Vec<_>>(), ["e1", "e2", "e3"]);
    let second = session.draw("box\n  button \"b\" tap\n  button \"c\" tap");
    let ids: Vec<String> = second.ids.iter().map(ToString::to_string).collect();
    assert_eq!(ids, ["e1", "e3", "e4"], "ID-01, ID-02");
    assert_eq!(second.index_of("e2".parse().expect("an id")), None);
}

#[test]
fn ids_come_back_with_their_screen() {
    let mut session = Session::new();
    let form = "box\n  field \"ada\" tap #name\n  button \"Delete\" tap\n  text \"x\"\n  text \"y\"";
    let before = session.draw(form);
    let dialog =
        session.draw("box\n  text \"Really?\"\n  button \"Yes\" tap\n  button \"No\" tap\n  text \"q\"");
    assert!(dialog.ids.iter().all(|id| !before.ids[1..].contains(id)));
    let after = session.draw(form);
    assert_eq!(after.ids[1..], before.ids[1..]);
}

#[test]
fn revisions_go_up_exactly_with_relevant_changes() {
    // SY-02
    let mut session = Session::new();
    let mut revision = |lines: &str| session.draw(lines).revision;
    assert_eq!(revision("box\n  text \"a\"\n  field \"f\" tap"), 1);
    assert_eq!(revision("box\n  text \"a\"\n  field \"f\" tap"), 1);
    assert_eq!(revision("box\n  text \"a\"\n  field \"f\" tap focused"), 1);
    assert_eq!(revision("box\n  text \"a\" @0,3,9,9\n  field \"f\" tap"), 1);
    assert_eq!(revision("box\n  text \"b\"\n  field \"f\" tap"), 2);
    assert_eq!(revision("box\n  text \"b\""), 3);
    assert_eq!(revision("box\n  text \"b\"\n  field \"f\" tap"), 4);
}

#[test]
fn a_clock_tick_is_cosmetic_and_a_cart_count_is_relevant() {
    // SY-04
    let mut session = Session::new();
    let shown = |time: &str, cart: u32| format!("box\n  text \"{time}\"\n  text \"Cart {cart}\"");
    assert_eq!(session.draw(&shown("12:59", 1)).revision, 1);
    assert_eq!(session.draw(&shown("13:00", 1)).revision, 1);
    session.act();
    assert_eq!(session.draw(&shown("13:00", 2)).revision, 2);
    session.act();
    assert_eq!(session.draw(&shown("18:30", 2)).revision, 3, "set by the action");
}

#[test]
fn a_counter_is_cosmetic_after_several_ticks() {
    let mut session = Session::new();
    let revisions: Vec<u64> = (1..=7)
        .map(|n| session.draw(&format!("box\n  text \"{n} files done\"\n  text \"x\"")).revision)
        .collect();
    assert_eq!(revisions, [1, 2, 3, 3, 3, 3, 3]);
    assert_eq!(session.draw("box\n  text \"finished\"\n  text \"x\"").revision, 4);
}

#[test]
fn an_unchanged_capture_shares_the_reading_and_keeps_the_revision() {
    let mut session = Session::new();
    let before = session.draw("box\n  text \"a\"");
    let after = session.0.observe_unchanged(900).expect("there is a capture");
    assert_eq!((after.revision, after.captured_at_ms), (before.revision, 900));
    assert!(Arc::ptr_eq(&before.reading, &after.reading));
}

#[test]
fn the_fingerprint_ignores_cosmetic_changes_only() {
    // OB-01, W30
    let rows: String = (0..80).map(|n| format!("\n  text \"row {n}\"")).collect();
    let mut session = Session::new();
    let mut fingerprint = |lines: &str| session.draw(lines).fingerprint;
    let base = format!("box\n  text \"12:41\"{rows}\n  switch \"last\" tap off #last");
    let first = fingerprint(&base);
    assert_eq!(fingerprint(&base.replace("12:41", "12:43")), first, "a clock");
    assert_eq!(fingerprint(&base.replace("#last", "#last focused")), first, "focus");
    assert_eq!(fingerprint(&format!("{base}\n  box")), first, "a bare container");
    let on = fingerprint(&base.replace("off", "on"));
    assert_ne!(on, first, "the 81st element counts");
    assert_eq!(fingerprint(&base), first, "and back");
    assert_ne!(fingerprint("box\n  text \"other\""), first);
}

#[test]
fn the_fingerprint_stays_the_same_while_scrolling() {
    let list = |from: i32| {
        let rows: String = (0..4)
            .map(|n| format!("\n    switch \"row {}\" tap off @0,{},400,40", from + n, 40 + n * 40))
            .collect();
        format!("box @0,0,400,400\n  text \"Settings\" @0,0,400,40\n  list scrolls @0,40,400,160{rows}")
    };
    let mut session = Session::new();
    let top = session.draw(&list(0)).fingerprint;
    assert_eq!(session.draw(&list(1)).fingerprint, top);
    let lower = list(3);
    assert_eq!(session.draw(&lower).fingerprint, top);
    let changed = session.draw(&lower.replacen("off", "on", 1)).fingerprint;
    assert_ne!(changed, top, "a switch was turned");
    assert_eq!(session.draw(&lower).fingerprint, top, "and turned back");
    assert_eq!(session.draw(&list(1)).fingerprint, top);
}

#[test]
fn a_list_that_a_finger_moved_by_nearly_a_page_is_the_same_list() {
    // F84
    let list = |from: i32| {
        let rows: String =
            (0..9).map(|n| format!("\n    text \"row {}\" @0,{},400,40", from + n, 40 + n * 40)).collect();
        format!("box @0,0,400,400\n  text \"Settings\" @0,0,400,40\n  list scrolls @0,40,400,360{rows}")
    };
    let mut session = Session::new();
    let top = session.draw(&list(0));
    session.0.note_action();
    session.0.note_swipe(Point { x: 200, y: 390 }, Point { x: 200, y: 70 });
    let lower = session.draw(&list(7));
    assert_eq!((lower.fingerprint, lower.ids[2]), (top.fingerprint, top.ids[2]));
    assert_eq!(lower.ids[3..5], top.ids[10..12], "two rows are still there");

    // Against the finger, or without one, it is another page.
    for (from, to) in [(390, 350), (70, 390)] {
        let mut session = Session::new();
        let top = session.draw(&list(0)).fingerprint;
        session.0.note_action();
        session.0.note_swipe(Point { x: 200, y: from }, Point { x: 200, y: to });
        let other = if from < to { list(7) } else { list(20) };
        assert_ne!(session.draw(&other).fingerprint, top);
    }
}

#[test]
fn a_delta_starts_from_the_reported_capture() {
    let mut session = Session::new();
    let reported = session.observe(screen_of("A", "box\n  text \"a\" @0,0,9,9"));
    session.0.mark_reported();
    // A cosmetic change that was not reported.
    session.observe(screen_of("A", "box\n  text \"a\" @0,5,9,9"));
    session.observe(screen_of("A", "box\n  text \"b\" @0,5,9,9"));
    let since = session.0.since(reported.revision).expect("kept");
    assert_eq!(since.base.reading, reported.reading);
    assert!(session.0.since(77).is_none());
}

proptest! {
    /// Every element has an id, and no two have the same (ID-01).
    #[test]
    fn ids_are_unique(screens in prop::collection::vec(any_screen(), 1..6)) {
        let mut session = Session::new();
        for screen in screens {
            let observation = session.observe(screen);
            let mut ids = observation.ids.to_vec();
            ids.sort_unstable();
            ids.dedup();
            prop_assert_eq!(ids.len(), observation.reading.nodes.len());
        }
    }

    #[test]
    fn equal_captures_give_equal_ids_revisions_and_fingerprints(edits in prop::collection::vec(edited_screen(), 1..4)) {
        let mut sessions = [Session::new(), Session::new()];
        for edit in edits {
            for snapshot in [edit.before, edit.after] {
                let [a, b] = sessions.each_mut().map(|session| session.observe(snapshot.clone()));
                prop_assert_eq!((&a.ids, a.revision, a.fingerprint), (&b.ids, b.revision, b.fingerprint));
            }
        }
    }
}

#[test]
fn a_button_disabled_after_a_press_is_a_sign_of_loading() {
    // SY-13
    let mut session = Session::new();
    let form = "box\n  field \"ada\" tap #name\n  button \"Send\" tap #send";
    let empty = form.replace("#send", "#send disabled");
    assert!(session.draw(&empty).loading().is_none(), "an incomplete form is not loading");
    assert!(session.draw(form).loading().is_none());
    let sent = session.draw(&empty);
    assert_eq!(sent.loading().map(|loading| loading.signal.name()), Some("submit_disabled"));
    let busy = session.draw(&empty.replace("ada", "adb"));
    assert!(busy.loading().is_some(), "while it stays disabled");
    assert!(session.draw(form).loading().is_none());
}

#[test]
fn a_capture_is_fresh_until_a_relevant_change() {
    // SY-12
    let mut session = Session::new();
    let first = session.draw("box\n  text \"a\"");
    assert!(session.0.is_fresh(&first));
    let moved = session.draw("box\n  text \"a\" @0,3,9,9");
    assert!(session.0.is_fresh(&first) && session.0.is_fresh(&moved), "movement does not count");
    let changed = session.draw("box\n  text \"b\"");
    assert!(!session.0.is_fresh(&first) && session.0.is_fresh(&changed));
}
