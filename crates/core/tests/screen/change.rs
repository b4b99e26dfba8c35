//! SY-03, SY-04: which changes are relevant and which are cosmetic.

use mdm_core::change::diff::{ChangeKind, Diff, diff};
use mdm_core::identity::pair;
use mdm_core::screen::reading::ScreenReading;
use mdm_core::screen::snapshot::Snapshot;
use proptest::prelude::*;

use crate::draw::{screen, screen_of};
use crate::random::{any_screen, edited_screen};

fn between(before: Snapshot, after: Snapshot) -> Diff {
    let (before, after) = (ScreenReading::new(before), ScreenReading::new(after));
    diff(&before, &after, &pair(&before, &after, false), false, |_, _| false)
}

#[track_caller]
fn check(before: &str, after: &str, expect: ChangeKind) {
    assert_eq!(between(screen(before), screen(after)).kind, expect);
}

#[test]
fn relevant_changes_have_their_kind() {
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
fn movement_and_focus_are_cosmetic() {
    let base = "box\n  text \"a\" @0,0,40,40\n  field \"x\" tap #f";
    check(base, base, ChangeKind::None);
    check(base, &base.replace("@0,0", "@0,7"), ChangeKind::Cosmetic);
    check(base, &base.replace("#f", "#f focused"), ChangeKind::Cosmetic);
}

#[test]
fn another_activity_or_replaced_content_is_navigation() {
    let words = "box\n  text \"a\"\n  text \"b\"\n  text \"c\"";
    assert_eq!(between(screen_of("Home", words), screen_of("Cart", words)).kind, ChangeKind::Navigation);
    assert_eq!(between(screen_of("Home", words), screen_of("Home", words)).kind, ChangeKind::None);
    check(words, "box\n  text \"x\"\n  button \"y\" tap\n  text \"z\"\n  text \"w\"", ChangeKind::Navigation);
}

#[test]
fn a_list_is_scrolled_only_if_its_rows_moved() {
    let list = |rows: &[(&str, i32)]| {
        let rows: String =
            rows.iter().map(|(name, y)| format!("\n    text \"{name}\" @0,{y},400,40")).collect();
        format!("box @0,0,400,400\n  text \"Shop\" @0,0,400,40\n  list scrolls @0,40,400,120{rows}")
    };
    let before = list(&[("a", 40), ("b", 80), ("c", 120)]);
    check(&before, &list(&[("b", 40), ("c", 80), ("d", 120)]), ChangeKind::Scroll);
    // A row was added at the end and nothing moved: the list grew.
    check(&before, &list(&[("a", 40), ("b", 80), ("c", 120), ("d", 160)]), ChangeKind::Hierarchy);
    check(&before, &list(&[("a", 40), ("c", 80)]), ChangeKind::Hierarchy);
    check(&before, &list(&[("x", 40), ("y", 80), ("z", 120)]), ChangeKind::Navigation);
}

#[test]
fn a_group_that_unfolds_is_not_scrolling() {
    // F85
    let list = |rows: &[(&str, i32)]| {
        let rows: String =
            rows.iter().map(|(name, y)| format!("\n    text \"{name}\" @0,{y},400,40")).collect();
        format!("box @0,0,400,400\n  text \"Shop\" @0,0,400,40\n  list scrolls @0,40,400,200{rows}")
    };
    let folded = list(&[("Fruit", 40), ("Tools", 80), ("Toys", 120), ("Books", 160), ("Games", 200)]);
    let unfolded = list(&[("Fruit", 40), ("Pear", 80), ("Tools", 120), ("Toys", 160), ("Books", 200)]);
    check(&folded, &unfolded, ChangeKind::Hierarchy);
    // Under a finger the first row may be a header that stays in sight.
    let (before, after) = (ScreenReading::new(screen(&folded)), ScreenReading::new(screen(&unfolded)));
    let pairing = pair(&before, &after, false);
    assert_eq!(diff(&before, &after, &pairing, true, |_, _| false).kind, ChangeKind::Scroll);
}

#[test]
fn a_deleted_row_is_not_scrolling() {
    // The rows below moved up, but no row came into view.
    let before = "list scrolls\n  text \"a\" @0,0,9,9\n  text \"b\" @0,10,9,9\n  text \"c\" @0,20,9,9";
    let after = "list scrolls\n  text \"a\" @0,0,9,9\n  text \"c\" @0,10,9,9";
    check(before, after, ChangeKind::Hierarchy);
}

proptest! {
    #[test]
    fn a_screen_has_no_diff_to_itself(screen in any_screen()) {
        prop_assert_eq!(between(screen.clone(), screen), Diff::default());
    }

    /// SY-02 depends on it: the diff is relevant exactly when the hashes differ.
    #[test]
    fn the_diff_is_relevant_exactly_when_the_hashes_differ(edit in edited_screen()) {
        let (before, after) = (ScreenReading::new(edit.before), ScreenReading::new(edit.after));
        let found = diff(&before, &after, &pair(&before, &after, false), false, |_, _| false);
        prop_assert_eq!(found.is_relevant(), before.relevant != after.relevant, "{:?}", found);
    }
}
