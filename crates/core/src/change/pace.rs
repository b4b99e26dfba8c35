//! Learns per screen how long it must stay quiet before it counts as settled (SY-19).
//!
//! Architecture invariant: pure. The same history gives the same window; times arrive as data.

use std::collections::VecDeque;

use crate::screen::snapshot::Screen;

/// Limits of a learned window.
const WINDOW_MS_MIN: u64 = 100;
/// The longest learned window.
const WINDOW_MS_MAX: u64 = 2000;
/// Rests of a screen that are needed before a window is learned from them.
const RESTS_MIN: usize = 3;
/// Rests that are remembered per screen; the oldest is forgotten first.
const RESTS_MAX: usize = 16;
/// Screens that are remembered; the one that rested longest ago is forgotten first.
const SCREENS_MAX: usize = 64;
/// A change within two windows plus this time shows that rest was declared too early. A later change is independent.
const LATE_MS: u64 = 100;
/// Added to the longest pause, because a capture sees a change some time after it happened.
const MARGIN_MS: u64 = 50;

/// Returns the learned window: one and a half times the longest pause that was not yet rest.
///
/// `pauses_ms`: for each rest, the longest pause between two changes before it.
fn window_ms(pauses_ms: impl IntoIterator<Item = u64>) -> Option<u64> {
    let (mut count, mut longest) = (0, 0u64);
    for pause in pauses_ms {
        count += 1;
        longest = longest.max(pause);
    }
    let wanted = longest.saturating_add(longest / 2).saturating_add(MARGIN_MS);
    (count >= RESTS_MIN).then(|| wanted.clamp(WINDOW_MS_MIN, WINDOW_MS_MAX))
}

/// The learned window of a screen, and the number of rests it was learned from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    pub window_ms: u64,
    pub rests: usize,
}

/// A screen that was declared settled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rest {
    pub screen: Screen,
    pub revision: u64,
    /// The time of the capture that showed the last change.
    pub changed_at_ms: u64,
    /// The quiet time after which it was declared settled.
    pub window_ms: u64,
    /// Actions sent to the device so far. A change after a further action is the effect of that action.
    pub actions: u64,
}

/// The pauses before each rest, for the screens of a session.
#[derive(Debug, Clone, Default)]
pub struct PaceHistory {
    /// Ordered by the time of the last rest, the newest last.
    screens: VecDeque<(Screen, VecDeque<u64>)>,
    last: Option<Rest>,
}

impl PaceHistory {
    /// Returns what was learned about a screen; `None` while it had too few rests.
    pub fn of(&self, screen: &Screen) -> Option<Pace> {
        let (_, pauses) = self.screens.iter().find(|(other, _)| other == screen)?;
        window_ms(pauses.iter().copied()).map(|window_ms| Pace { window_ms, rests: pauses.len() })
    }

    /// Records that a screen changed and settled. The longest pause between two changes is 0 after a single change.
    pub fn note_rest(&mut self, rest: Rest, longest_pause_ms: u64) {
        self.push_pause(&rest.screen, longest_pause_ms);
        self.last = Some(rest);
    }

    /// Records a later capture. A new revision without a further action means that the rest was only a pause. Without
    /// this, a window that is too short could never grow.
    pub fn note_capture(&mut self, screen: &Screen, revision: u64, actions: u64, at_ms: u64) {
        let Some(rest) = &self.last else { return };
        if rest.revision == revision && rest.actions == actions {
            return;
        }
        let pause_ms = at_ms.saturating_sub(rest.changed_at_ms);
        let late_max_ms = rest.window_ms.saturating_mul(2).saturating_add(LATE_MS);
        let is_late = rest.actions == actions && rest.screen == *screen && pause_ms <= late_max_ms;
        self.last = None;
        if is_late {
            self.push_pause(screen, pause_ms);
        }
    }

    fn push_pause(&mut self, screen: &Screen, pause_ms: u64) {
        let known = self.screens.iter().position(|(other, _)| other == screen);
        let mut entry = match known.and_then(|at| self.screens.remove(at)) {
            Some(entry) => entry,
            None => (screen.clone(), VecDeque::new()),
        };
        entry.1.push_back(pause_ms);
        if entry.1.len() > RESTS_MAX {
            entry.1.pop_front();
        }
        self.screens.push_back(entry);
        if self.screens.len() > SCREENS_MAX {
            self.screens.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn screen(number: usize) -> Screen {
        Screen { app: "com.example".to_owned(), name: Some(format!("com.example.Screen{number}")) }
    }

    fn rest(number: usize, revision: u64, changed_at_ms: u64, actions: u64) -> Rest {
        Rest { screen: screen(number), revision, changed_at_ms, window_ms: 250, actions }
    }

    proptest! {
        #[test]
        fn the_window_stays_within_its_limits(pauses in proptest::collection::vec(any::<u64>(), 0..40)) {
            let window = window_ms(pauses.iter().copied());
            prop_assert_eq!(window.is_some(), pauses.len() >= RESTS_MIN, "SY-19: none before enough rests");
            prop_assert!(window.is_none_or(|ms| (WINDOW_MS_MIN..=WINDOW_MS_MAX).contains(&ms)), "SY-19");
        }

        #[test]
        fn the_window_outlasts_every_pause(pauses in proptest::collection::vec(0u64..3000, 3..40)) {
            let window = window_ms(pauses.iter().copied()).unwrap();
            let longest = pauses.iter().copied().max().unwrap();
            prop_assert!(window > longest || window == WINDOW_MS_MAX, "{window} for {longest}");
        }

        #[test]
        fn the_window_ignores_order_and_never_shrinks_with_more_pauses(
            mut pauses in proptest::collection::vec(0u64..3000, 3..40),
            more in 0u64..3000,
        ) {
            let before = window_ms(pauses.iter().copied());
            pauses.reverse();
            prop_assert_eq!(window_ms(pauses.iter().copied()), before, "SY-19: deterministic");
            pauses.push(more);
            prop_assert!(window_ms(pauses.iter().copied()) >= before);
        }

        #[test]
        fn the_history_is_limited(rests in proptest::collection::vec((0usize..200, 0u64..3000), 0..1500)) {
            let mut paces = PaceHistory::default();
            for (number, pause) in rests {
                paces.note_rest(rest(number, 1, 0, 0), pause);
            }
            prop_assert!(paces.screens.len() <= SCREENS_MAX);
            prop_assert!(paces.screens.iter().all(|(_, pauses)| (1..=RESTS_MAX).contains(&pauses.len())));
        }
    }

    #[test]
    fn each_screen_has_its_own_window_and_old_rests_are_forgotten() {
        let mut paces = PaceHistory::default();
        for _ in 0..3 {
            paces.note_rest(rest(1, 1, 0, 0), 0);
            paces.note_rest(rest(2, 1, 0, 0), 400);
        }
        assert_eq!(paces.of(&screen(1)), Some(Pace { window_ms: 100, rests: 3 }), "SY-19: least");
        assert_eq!(paces.of(&screen(2)), Some(Pace { window_ms: 650, rests: 3 }), "SY-19");
        assert_eq!(paces.of(&screen(3)), None, "nothing is known of it");
        for _ in 0..RESTS_MAX {
            paces.note_rest(rest(2, 1, 0, 0), 100);
        }
        assert_eq!(paces.of(&screen(2)), Some(Pace { window_ms: 200, rests: RESTS_MAX }));
    }

    #[test]
    fn a_late_change_turns_a_rest_into_a_pause() {
        let mut paces = PaceHistory::default();
        for _ in 0..3 {
            paces.note_rest(rest(1, 7, 1000, 2), 0);
        }
        let window = |paces: &PaceHistory| paces.of(&screen(1)).unwrap().window_ms;
        let mut same = paces.clone();
        same.note_capture(&screen(1), 7, 2, 1400);
        assert_eq!(window(&same), 100, "nothing changed");
        same.note_capture(&screen(1), 8, 2, 1500);
        assert_eq!(window(&same), 800, "SY-19: it changed 500 ms after the last change");
        same.note_capture(&screen(1), 9, 2, 1900);
        assert_eq!(window(&same), 800, "one rest is broken once");
        for (screen_number, actions, at_ms) in [(1, 3, 1500), (2, 2, 1500), (1, 2, 1601)] {
            let mut other = paces.clone();
            other.note_capture(&screen(screen_number), 8, actions, at_ms);
            assert_eq!(window(&other), 100, "an action, another screen, or much later");
        }
    }
}
