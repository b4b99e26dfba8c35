//! ID-01, ID-02: a name stays with its element or is dropped.

use mdm_core::identity::{ElementId, NONE, pair};
use mdm_core::meaning::label::own_words;
use mdm_core::screen::reading::ScreenReading;
use proptest::prelude::*;

use crate::draw::{on, screen};
use crate::random::{Truth, edited_screen};

/// What each line of the later screen was in the earlier one: its line number, or `-`.
#[track_caller]
fn check(before: &str, after: &str, expect: &str) {
    let (before, after) = (ScreenReading::new(screen(before)), ScreenReading::new(screen(after)));
    let pairing = pair(&before, &after);
    let shown: Vec<String> = pairing
        .to_old
        .iter()
        .map(|old| if *old == NONE { "-".to_owned() } else { old.to_string() })
        .collect();
    assert_eq!(shown.join(" "), expect);
}

#[test]
fn a_changed_text_keeps_its_name_in_place() {
    check(
        "box\n  text \"1 item\"\n  button \"Add\" tap",
        "box\n  text \"2 items\"\n  button \"Add\" tap",
        "0 1 2",
    );
}

#[test]
fn a_target_with_other_words_is_another_target() {
    check("box\n  button \"Buy\" tap", "box\n  button \"Cancel\" tap", "0 -");
    check("box\n  button \"Follow\" tap #f", "box\n  button \"Following\" tap #f", "0 1");
}

#[test]
fn reordered_siblings_keep_their_names() {
    check(
        "box\n  text \"a\"\n  button \"b\" tap\n  text \"c\"",
        "box\n  text \"c\"\n  button \"b\" tap\n  text \"a\"",
        "0 3 2 1",
    );
}

#[test]
fn of_several_alike_none_is_guessed() {
    let before =
        "list\n  box tap\n    text \"Milk\"\n  box tap\n    text \"Milk\"\n  box tap\n    text \"Eggs\"";
    check(before, before, "0 1 2 3 4 5 6");
    check(before, "list\n  box tap\n    text \"Milk\"\n  box tap\n    text \"Eggs\"", "0 - - 5 6");
}

#[test]
fn a_row_is_known_by_its_title() {
    check(
        "list\n  box tap\n    text \"Milk\"\n    text \"2\"\n  box tap\n    text \"Eggs\"\n    text \"6\"",
        "list\n  box tap\n    text \"Milk\"\n    text \"3\"\n  box tap\n    text \"Eggs\"\n    text \"6\"",
        "0 1 2 3 4 5 6",
    );
    // A recycled row shows something else.
    check(
        "list\n  box tap\n    text \"Milk\"\n  box tap\n    text \"Eggs\"",
        "list\n  box tap\n    text \"Eggs\"\n  box tap\n    text \"Flour\"",
        "0 3 4 - -",
    );
}

#[test]
fn a_switch_and_a_field_keep_their_names_while_they_are_used() {
    check("box\n  text \"Wi-Fi\"\n  switch tap off", "box\n  text \"Wi-Fi\"\n  switch tap on", "0 1 2");
    check("box\n  field \"\" tap\n  text \"x\"", "box\n  field \"ada\" tap\n  text \"x\"", "0 1 2");
}

#[test]
fn an_identifier_that_nothing_else_has_is_followed_to_another_parent() {
    check(
        "box\n  box #a\n    text \"Total\" #total\n  box #b\n    text \"x\"",
        "box\n  box #a\n    text \"y\"\n  box #b\n    text \"Total\" #total",
        "0 1 - 3 2",
    );
}

#[test]
fn another_screen_of_one_activity_is_another_screen() {
    // The identifiers are those of the layout; the products differ.
    let page = |name: &str, price: &str, text: &str| {
        format!(
            "box\n  text \"{name}\" #title\n  text \"{price}\" #price\n  text \"{text}\" #about\n  button \"Buy {name}\" tap #buy"
        )
    };
    check(&page("Milk", "1.20", "From a cow"), &page("Eggs", "2.40", "From a hen"), "- - - - -");
    let (home, cart) = (on("Home", "box\n  text \"x\""), on("Cart", "box\n  text \"x\""));
    assert_eq!(pair(&ScreenReading::new(home), &ScreenReading::new(cart)).pairs(), 0);
}

#[test]
fn ids_are_written_and_read() {
    assert_eq!(ElementId(12).to_string(), "e12");
    assert_eq!("e12".parse(), Ok(ElementId(12)));
    for bad in ["", "e", "12", "e-1", "e+1", "e1x", "E1", "e99999999999"] {
        assert!(bad.parse::<ElementId>().is_err(), "{bad}");
    }
}

/// What the platform says of a target: its kind, and its identifier or its words. Two that agree in it, at the same
/// place, are one and the same to everybody.
fn looks_like(a: &ScreenReading, at: u32, b: &ScreenReading, bt: u32) -> bool {
    let (was, is) = (a.element(at), b.element(bt));
    let words = |reading: &ScreenReading, index: u32| {
        let found =
            reading.range(index).find_map(|inner| own_words(reading.element(inner)).map(str::to_owned));
        found.unwrap_or_default()
    };
    was.class == is.class
        && was.is_tappable() == is.is_tappable()
        && was.stable_id == is.stable_id
        && (was.stable_id.is_some() || words(a, at) == words(b, bt))
}

proptest! {
    /// ID-02: whatever is reordered, removed, added or replaced, a target's name never goes to another target.
    #[test]
    fn a_name_is_never_bound_to_another_target(edit in edited_screen()) {
        let (before, after) = (ScreenReading::new(edit.before), ScreenReading::new(edit.after));
        let pairing = pair(&before, &after);
        for (new, old) in pairing.to_old.iter().enumerate().filter(|(_, old)| **old != NONE) {
            let (was, is) = (before.element(*old), &after.snapshot.elements[new]);
            prop_assert!(
                !is.is_tappable()
                    || Truth::of(was) == Truth::of(is)
                    || looks_like(&before, *old, &after, new as u32),
                "{was:?} became {is:?}"
            );
        }
        // Both directions say the same.
        for (old, new) in pairing.to_new.iter().enumerate().filter(|(_, new)| **new != NONE) {
            prop_assert_eq!(pairing.to_old[*new as usize], old as u32);
        }
    }

    /// Where every element has words of its own, nothing may be lost or mixed up by reordering siblings.
    #[test]
    fn reordering_unrelated_siblings_changes_no_name(order in Just((0..8).collect::<Vec<u32>>()).prop_shuffle()) {
        let draw = |order: &[u32]| {
            let rows: String = order.iter().map(|n| format!("\n  box tap\n    text \"row {n}\"\n    button \"Delete\" tap")).collect();
            ScreenReading::new(screen(&format!("list{rows}")))
        };
        let (before, after) = (draw(&[0, 1, 2, 3, 4, 5, 6, 7]), draw(&order));
        let expect: Vec<u32> =
            std::iter::once(0).chain(order.iter().flat_map(|row| (0..3).map(move |part| row * 3 + 1 + part))).collect();
        prop_assert_eq!(pair(&before, &after).to_old, expect);
    }
}
