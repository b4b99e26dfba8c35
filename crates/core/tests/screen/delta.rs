//! SY-15: applying a delta to the old tree gives the new tree.

use mdm_core::change::delta::{Op, WrongBase, apply, delta};
use mdm_core::identity::pair;
use mdm_core::screen::reading::ScreenReading;
use mdm_core::screen::snapshot::Snapshot;
use proptest::prelude::*;

use crate::draw::screen;
use crate::random::{any_screen, edited_screen};

fn between(before: &Snapshot, after: &Snapshot) -> mdm_core::change::delta::Delta {
    let pairing = pair(&ScreenReading::new(before.clone()), &ScreenReading::new(after.clone()), false);
    delta(before, after, &pairing)
}

#[test]
fn one_changed_text_is_one_patch() {
    let before = screen("box\n  text \"a\"\n  text \"b\"\n  text \"c\"");
    let after = screen("box\n  text \"a\"\n  text \"x\"\n  text \"c\"");
    let ops = between(&before, &after).ops;
    let shape: Vec<&str> = ops
        .iter()
        .map(|op| match op {
            Op::Keep { .. } => "keep",
            Op::Patch { .. } => "patch",
            Op::Put { .. } => "put",
        })
        .collect();
    assert_eq!(shape, ["keep", "patch", "keep"]);
    assert_eq!(ops[0], Op::Keep { from: 0, count: 2 });
}

#[test]
fn a_delta_applied_to_another_tree_is_an_error() {
    let before = screen("box\n  text \"a\"\n  text \"b\"");
    let same = between(&before, &before);
    assert_eq!(apply(&same, &screen("box")), Err(WrongBase));
}

proptest! {
    #[test]
    fn applying_a_delta_gives_the_new_tree(edit in edited_screen()) {
        let delta = between(&edit.before, &edit.after);
        prop_assert_eq!(apply(&delta, &edit.before), Ok(edit.after));
    }

    #[test]
    fn applying_a_delta_between_unrelated_screens_gives_the_new_tree(before in any_screen(), after in any_screen()) {
        let delta = between(&before, &after);
        prop_assert_eq!(apply(&delta, &before), Ok(after));
    }

    #[test]
    fn a_delta_without_changes_is_one_keep(screen in any_screen()) {
        let count = screen.elements.len() as u32;
        let expect = if count == 0 { vec![] } else { vec![Op::Keep { from: 0, count }] };
        prop_assert_eq!(between(&screen, &screen).ops, expect);
    }
}
