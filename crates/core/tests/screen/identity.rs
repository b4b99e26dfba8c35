//! ID-01, ID-02: an id stays with its element or is dropped.

use mdm_core::identity::{ElementId, NONE, pair};
use mdm_core::meaning::label::own_words;
use mdm_core::screen::reading::ScreenReading;
use proptest::prelude::*;

use crate::draw::{screen, screen_of};
use crate::random::{TrueIdentity, edited_screen};

/// Compares the pairing with `expect`: for each line of the later screen, its line in the earlier one, or `-`.
#[track_caller]
fn check(before: &str, after: &str, expect: &str) {
    let (before, after) = (ScreenReading::new(screen(before)), ScreenReading::new(screen(after)));
    let pairing = pair(&before, &after, false);
    let shown: Vec<String> = pairing
        .to_old
        .iter()
        .map(|old| if *old == NONE { "-".to_owned() } else { old.to_string() })
        .collect();
    assert_eq!(shown.join(" "), expect);
}

#[test]
fn a_changed_text_keeps_its_id_in_place() {
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
fn reordered_siblings_keep_their_ids() {
    check(
        "box\n  text \"a\"\n  button \"b\" tap\n  text \"c\"",
        "box\n  text \"c\"\n  button \"b\" tap\n  text \"a\"",
        "0 3 2 1",
    );
}

#[test]
fn equal_siblings_are_paired_only_if_none_moved() {
    let before =
        "list\n  box tap\n    text \"Milk\"\n  box tap\n    text \"Milk\"\n  box tap\n    text \"Eggs\"";
    check(before, before, "0 1 2 3 4 5 6");
    check(before, "list\n  box tap\n    text \"Milk\"\n  box tap\n    text \"Eggs\"", "0 - - 5 6");
}

#[test]
fn a_row_is_recognised_by_its_title() {
    check(
        "list\n  box tap\n    text \"Milk\"\n    text \"2\"\n  box tap\n    text \"Eggs\"\n    text \"6\"",
        "list\n  box tap\n    text \"Milk\"\n    text \"3\"\n  box tap\n    text \"Eggs\"\n    text \"6\"",
        "0 1 2 3 4 5 6",
    );
    // A recycled row shows other content.
    check(
        "list\n  box tap\n    text \"Milk\"\n  box tap\n    text \"Eggs\"",
        "list\n  box tap\n    text \"Eggs\"\n  box tap\n    text \"Flour\"",
        "0 3 4 - -",
    );
}

#[test]
fn a_switch_and_a_field_keep_their_ids_while_used() {
    check("box\n  text \"Wi-Fi\"\n  switch tap off", "box\n  text \"Wi-Fi\"\n  switch tap on", "0 1 2");
    check("box\n  field \"\" tap\n  text \"x\"", "box\n  field \"ada\" tap\n  text \"x\"", "0 1 2");
}

#[test]
fn a_unique_identifier_is_followed_to_another_parent() {
    check(
        "box\n  box #a\n    text \"Total\" #total\n  box #b\n    text \"x\"",
        "box\n  box #a\n    text \"y\"\n  box #b\n    text \"Total\" #total",
        "0 1 - 3 2",
    );
}

#[test]
fn another_page_of_the_same_activity_gets_new_ids() {
    // The identifiers are those of the layout; the products differ.
    let page = |name: &str, price: &str, text: &str| {
        format!(
            "box\n  text \"{name}\" #title\n  text \"{price}\" #price\n  text \"{text}\" #about\n  button \"Buy {name}\" tap #buy"
        )
    };
    check(&page("Milk", "1.20", "From a cow"), &page("Eggs", "2.40", "From a hen"), "- - - - -");
    let (home, cart) = (screen_of("Home", "box\n  text \"x\""), screen_of("Cart", "box\n  text \"x\""));
    assert_eq!(pair(&ScreenReading::new(home), &ScreenReading::new(cart), false).pairs(), 0);
}

#[test]
fn ids_are_formatted_and_parsed() {
    assert_eq!(ElementId(12).to_string(), "e12");
    assert_eq!("e12".parse(), Ok(ElementId(12)));
    for bad in ["", "e", "12", "e-1", "e+1", "e1x", "E1", "e99999999999"] {
        assert!(bad.parse::<ElementId>().is_err(), "{bad}");
    }
}

/// True if two targets have the same kind, and the same identifier or words. At the same place they cannot be told
/// apart.
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
    /// ID-02: whatever is reordered, removed, added or replaced, a target's id never goes to another target.
    #[test]
    fn an_id_never_moves_to_another_target(edit in edited_screen()) {
        let (before, after) = (ScreenReading::new(edit.before), ScreenReading::new(edit.after));
        let pairing = pair(&before, &after, false);
        for (new, old) in pairing.to_old.iter().enumerate().filter(|(_, old)| **old != NONE) {
            let (was, is) = (before.element(*old), &after.snapshot.elements[new]);
            prop_assert!(
                !is.is_tappable()
                    || TrueIdentity::of(was) == TrueIdentity::of(is)
                    || looks_like(&before, *old, &after, new as u32),
                "{was:?} became {is:?}"
            );
        }
        // Both directions agree.
        for (old, new) in pairing.to_new.iter().enumerate().filter(|(_, new)| **new != NONE) {
            prop_assert_eq!(pairing.to_old[*new as usize], old as u32);
        }
    }

    /// If every element has distinct words, reordering siblings keeps every id.
    #[test]
    fn reordering_distinct_siblings_keeps_ids(order in Just((0..8).collect::<Vec<u32>>()).prop_shuffle()) {
        let draw = |order: &[u32]| {
            let rows: String = order.iter().map(|n| format!("\n  box tap\n    text \"row {n}\"\n    button \"Delete\" tap")).collect();
            ScreenReading::new(screen(&format!("list{rows}")))
        };
        let (before, after) = (draw(&[0, 1, 2, 3, 4, 5, 6, 7]), draw(&order));
        let expect: Vec<u32> =
            std::iter::once(0).chain(order.iter().flat_map(|row| (0..3).map(move |part| row * 3 + 1 + part))).collect();
        prop_assert_eq!(pair(&before, &after, false).to_old, expect);
    }
}
