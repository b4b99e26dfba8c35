//! How long quiet has to last on a screen before it counts as rest, learnt from how the screen behaved (SY-19).
//!
//! Architecture invariant: pure. The same history gives the same window; times arrive as data.

use std::collections::VecDeque;

use crate::screen::snapshot::Screen;

/// Whatever was learnt, no window is shorter or longer than these.
pub const WINDOW_LEAST_MS: u64 = 100;
pub const WINDOW_MOST_MS: u64 = 2000;
/// Rests that a screen must have come to before its history says anything.
pub const RESTS_LEAST: usize = 3;
/// Rests of one screen that are remembered; the oldest is forgotten.
const RESTS_MAX: usize = 16;
/// Screens that are remembered; the one that rested longest ago is forgotten.
const SCREENS_MAX: usize = 64;
/// A change that comes within two windows, and this long, says that rest was declared too early; a later one is news.
const LATE_MS: u64 = 100;
/// Beyond the longest pause: captures see a change some time after it came.
const MARGIN_MS: u64 = 50;

/// The window that a history asks for: half as long again as the longest pause that was not yet rest.
///
/// `pauses_ms`: for each rest, the longest pause between two changes on the way to it.
pub fn window_ms(pauses_ms: impl IntoIterator<Item = u64>) -> Option<u64> {
    let (mut count, mut longest) = (0, 0u64);
    for pause in pauses_ms {
        count += 1;
        longest = longest.max(pause);
    }
    let wanted = longest.saturating_add(longest / 2).saturating_add(MARGIN_MS);
    (count >= RESTS_LEAST).then(|| wanted.clamp(WINDOW_LEAST_MS, WINDOW_MOST_MS))
}

/// What is known of a screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    pub window_ms: u64,
    pub rests: usize,
}

/// A screen that was declared to rest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rest {
    pub screen: Screen,
    pub revision: u64,
    /// When the last change was seen.
    pub changed_at_ms: u64,
    /// The quiet that was taken for rest.
    pub window_ms: u64,
    /// Actions sent to the device so far: what comes after another one is its effect.
    pub actions: u64,
}

/// How the screens of a session came to rest.
#[derive(Debug, Clone, Default)]
pub struct Paces {
    /// The one that rested last is the last.
    screens: VecDeque<(Screen, VecDeque<u64>)>,
    last: Option<Rest>,
}

impl Paces {
    /// `None` while too little is known.
    pub fn of(&self, screen: &Screen) -> Option<Pace> {
        let (_, pauses) = self.screens.iter().find(|(other, _)| other == screen)?;
        window_ms(pauses.iter().copied()).map(|window_ms| Pace { window_ms, rests: pauses.len() })
    }

    /// A screen changed and came to rest; the longest pause between two of the changes is 0 when there was one only.
    pub fn note_rest(&mut self, rest: Rest, longest_pause_ms: u64) {
        self.note(&rest.screen, longest_pause_ms);
        self.last = Some(rest);
    }

    /// A later capture. Another revision, though nothing was done meanwhile, means that the rest was a pause: without
    /// this a short window could never learn that it is too short.
    pub fn note_look(&mut self, screen: &Screen, revision: u64, actions: u64, at_ms: u64) {
        let Some(rest) = &self.last else { return };
        if rest.revision == revision && rest.actions == actions {
            return;
        }
        let pause_ms = at_ms.saturating_sub(rest.changed_at_ms);
        let late_max_ms = rest.window_ms.saturating_mul(2).saturating_add(LATE_MS);
        let is_late = rest.actions == actions && rest.screen == *screen && pause_ms <= late_max_ms;
        self.last = None;
        if is_late {
            self.note(screen, pause_ms);
        }
    }

    fn note(&mut self, screen: &Screen, pause_ms: u64) {
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
        fn generated_histories_stay_within_bounds(pauses in proptest::collection::vec(any::<u64>(), 0..40)) {
            let window = window_ms(pauses.iter().copied());
            prop_assert_eq!(window.is_some(), pauses.len() >= RESTS_LEAST, "SY-19: silent until it knows");
            prop_assert!(window.is_none_or(|ms| (WINDOW_LEAST_MS..=WINDOW_MOST_MS).contains(&ms)), "SY-19");
        }

        #[test]
        fn a_window_outlasts_every_pause_it_may(pauses in proptest::collection::vec(0u64..3000, 3..40)) {
            let window = window_ms(pauses.iter().copied()).unwrap();
            let longest = pauses.iter().copied().max().unwrap();
            prop_assert!(window > longest || window == WINDOW_MOST_MS, "{window} for {longest}");
        }

        #[test]
        fn order_does_not_count_and_longer_pauses_never_shorten(
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
        fn memory_is_bounded(rests in proptest::collection::vec((0usize..200, 0u64..3000), 0..1500)) {
            let mut paces = Paces::default();
            for (number, pause) in rests {
                paces.note_rest(rest(number, 1, 0, 0), pause);
            }
            prop_assert!(paces.screens.len() <= SCREENS_MAX);
            prop_assert!(paces.screens.iter().all(|(_, pauses)| (1..=RESTS_MAX).contains(&pauses.len())));
        }
    }

    #[test]
    fn screens_are_learnt_apart_and_old_rests_are_forgotten() {
        let mut paces = Paces::default();
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
    fn a_rest_that_was_only_a_pause_counts_as_one() {
        let mut paces = Paces::default();
        for _ in 0..3 {
            paces.note_rest(rest(1, 7, 1000, 2), 0);
        }
        let window = |paces: &Paces| paces.of(&screen(1)).unwrap().window_ms;
        let mut same = paces.clone();
        same.note_look(&screen(1), 7, 2, 1400);
        assert_eq!(window(&same), 100, "nothing changed");
        same.note_look(&screen(1), 8, 2, 1500);
        assert_eq!(window(&same), 800, "SY-19: it changed 500 ms after the last change");
        same.note_look(&screen(1), 9, 2, 1900);
        assert_eq!(window(&same), 800, "one rest is broken once");
        for (screen_number, actions, at_ms) in [(1, 3, 1500), (2, 2, 1500), (1, 2, 1601)] {
            let mut other = paces.clone();
            other.note_look(&screen(screen_number), 8, actions, at_ms);
            assert_eq!(window(&other), 100, "an action, another screen, or much later");
        }
    }
}
