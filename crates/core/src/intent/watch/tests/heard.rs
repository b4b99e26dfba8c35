//! Changes that the device told of, and when.

use super::*;

/// A look of 60 ms at a screen that says this, with what was heard by its begin and its end.
fn look(feeder: &mut Feeder<'_>, began_ms: u64, words: &str, (began, ended): (u64, u64)) -> Next {
    let earlier = feeder.heard.began;
    feeder.heard = HeardAround { earlier, began, at_ms: Some(began_ms), ended };
    feeder.look(began_ms, says(words))
}

fn feeder(wait: &Wait) -> Feeder<'_> {
    let mut feeder = Feeder::since(wait, says("Cart"));
    feeder.cost_ms = 60;
    feeder
}

fn pause(next: Next) -> u64 {
    let Next::LookIn { ms } = next else { panic!("{next:?}") };
    ms
}

#[test]
fn a_change_that_was_told_before_the_look_is_older_than_the_look() {
    let wait = Wait::new(Goal::Change, WINDOW_MS);
    let mut feeder = feeder(&wait);
    let ms = pause(look(&mut feeder, 20, "Order", (1, 1)));
    assert_eq!(80 + ms, 20 + WINDOW_MS, "the next look is made when the window can be over");
    assert_eq!(look(&mut feeder, 270, "Order", (1, 1)), REACHED, "SY-05");
}

#[test]
fn a_change_of_which_nothing_was_told_is_as_old_as_the_end_of_the_look() {
    let wait = Wait::new(Goal::Change, WINDOW_MS);
    let mut feeder = feeder(&wait);
    look(&mut feeder, 20, "Order", (0, 0));
    pause(look(&mut feeder, 320, "Order", (0, 0)));
    assert_eq!(look(&mut feeder, 330, "Order", (0, 0)), REACHED, "80 ms and the window");
}

#[test]
fn what_is_told_during_or_after_the_look_may_be_a_later_change() {
    let wait = Wait::new(Goal::Change, WINDOW_MS);
    let mut during = feeder(&wait);
    look(&mut during, 20, "Order", (1, 2));
    pause(look(&mut during, 270, "Order", (2, 2)));
    let mut late = feeder(&wait);
    look(&mut late, 20, "Order", (1, 1));
    // The same screen, but something was told since: the window begins at the end of the first look.
    let ms = pause(look(&mut late, 270, "Order", (1, 2)));
    assert!(ms <= 20, "{ms}");
    assert_eq!(look(&mut late, 330, "Order", (2, 2)), REACHED);
}

#[test]
fn a_look_that_was_made_otherwise_shows_what_was_not_told() {
    // Found by the simulation: the helper ended while a list still glided, and a dump showed where it had got to.
    let wait = Wait::new(Goal::Change, WINDOW_MS);
    let shell = |feeder: &mut Feeder<'_>, began_ms: u64, words: &str| {
        feeder.heard = HeardAround { earlier: feeder.heard.began, began: 1, at_ms: None, ended: 1 };
        feeder.look(began_ms, says(words))
    };
    let mut changed = feeder(&wait);
    shell(&mut changed, 20, "Order");
    pause(shell(&mut changed, 270, "Order"));
    assert_eq!(shell(&mut changed, 330, "Order"), REACHED, "80 ms and the window");
    let mut silent = feeder(&wait);
    look(&mut silent, 20, "Order", (1, 1));
    pause(shell(&mut silent, 270, "Order"));
    assert_eq!(shell(&mut silent, 330, "Order"), REACHED, "nobody tells of a change during the first look");
}
