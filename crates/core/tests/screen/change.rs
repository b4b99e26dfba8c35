//! SY-03, SY-04: what counts as a change.

use mdm_core::change::diff::{ChangeKind, Diff, diff};
use mdm_core::identity::pair;
use mdm_core::screen::reading::ScreenReading;
use mdm_core::screen::snapshot::Snapshot;
use proptest::prelude::*;

use crate::draw::{on, screen};
use crate::random::{any_screen, edited_screen};

fn between(before: Snapshot, after: Snapshot) -> Diff {
    let (before, after) = (ScreenReading::new(before), ScreenReading::new(after));
    diff(&before, &after, &pair(&before, &after), |_, _| false)
}

#[track_caller]
fn check(before: &str, after: &str, expect: ChangeKind) {
    assert_eq!(between(screen(before), screen(after)).kind, expect);
}

#[test]
fn every_kind_of_change_that_counts() {
    let base = "box\n  text \"a\" #a\n  switch \"s\" tap off #s\n  button \"b\" tap #b\n  text \"d\"";
    check(base, &base.replace("\"a\"", "\"x\""), ChangeKind::Text);
    check(base, &base.replace("off", "on"), ChangeKind::State);
    check(base, &base.replace("#b", "#b disabled"), ChangeKind::State);
    check(base, &base.replace("\"d\"", "\"d\" selected"), ChangeKind::State);
    check(base, &format!("{base}\n  text \"new\""), ChangeKind::Hierarchy);
    check(base, &base.replace("\n  text \"d\"", ""), ChangeKind::Hierarchy);
    check(
        base,
        "box\n  button \"b\" tap #b\n  text \"a\" #a\n  switch \"s\" tap off #s\n  text \"d\"",
        ChangeKind::Hierarchy,
    );
}

#[test]
fn what_does_not_count() {
    let base = "box\n  text \"a\" @0,0,40,40\n  field \"x\" tap #f";
    check(base, base, ChangeKind::None);
    check(base, &base.replace("@0,0", "@0,7"), ChangeKind::Cosmetic);
    check(base, &base.replace("#f", "#f focused"), ChangeKind::Cosmetic);
}

#[test]
fn another_activity_is_navigation_and_so_is_another_page() {
    let words = "box\n  text \"a\"\n  text \"b\"\n  text \"c\"";
    assert_eq!(between(on("Home", words), on("Cart", words)).kind, ChangeKind::Navigation);
    assert_eq!(between(on("Home", words), on("Home", words)).kind, ChangeKind::None);
    check(words, "box\n  text \"x\"\n  button \"y\" tap\n  text \"z\"\n  text \"w\"", ChangeKind::Navigation);
}

#[test]
fn a_list_that_moved_is_scrolled_and_one_with_other_rows_is_not() {
    let list = |rows: &[(&str, i32)]| {
        let rows: String =
            rows.iter().map(|(name, y)| format!("\n    text \"{name}\" @0,{y},400,40")).collect();
        format!("box @0,0,400,400\n  text \"Shop\" @0,0,400,40\n  list scrolls @0,40,400,120{rows}")
    };
    let before = list(&[("a", 40), ("b", 80), ("c", 120)]);
    check(&before, &list(&[("b", 40), ("c", 80), ("d", 120)]), ChangeKind::Scroll);
    // Something came at the end and nothing moved: the list grew.
    check(&before, &list(&[("a", 40), ("b", 80), ("c", 120), ("d", 160)]), ChangeKind::Hierarchy);
    check(&before, &list(&[("a", 40), ("c", 80)]), ChangeKind::Hierarchy);
    check(&before, &list(&[("x", 40), ("y", 80), ("z", 120)]), ChangeKind::Navigation);
}

#[test]
fn a_deleted_row_is_no_scrolling() {
    // What stood below moved up, but nothing came into view.
    let before = "list scrolls\n  text \"a\" @0,0,9,9\n  text \"b\" @0,10,9,9\n  text \"c\" @0,20,9,9";
    let after = "list scrolls\n  text \"a\" @0,0,9,9\n  text \"c\" @0,10,9,9";
    check(before, after, ChangeKind::Hierarchy);
}

proptest! {
    #[test]
    fn a_screen_does_not_differ_from_itself(screen in any_screen()) {
        prop_assert_eq!(between(screen.clone(), screen), Diff::default());
    }

    /// SY-02 hangs on it: the diff finds something relevant exactly when the hashes differ.
    #[test]
    fn the_diff_and_the_hash_agree(edit in edited_screen()) {
        let (before, after) = (ScreenReading::new(edit.before), ScreenReading::new(edit.after));
        let found = diff(&before, &after, &pair(&before, &after), |_, _| false);
        prop_assert_eq!(found.is_relevant(), before.relevant != after.relevant, "{:?}", found);
    }
}
