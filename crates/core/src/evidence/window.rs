//! When actions were sent: what a device tells afterwards belongs to the newest of them (TR-02).

use std::collections::VecDeque;

/// Actions that are remembered.
const WINDOWS_MAX: usize = 200;
/// How long after its end an action still explains what happens.
const AFTER_MS: u64 = 10_000;

/// The time in which things may have come of one action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    pub action_id: String,
    /// The caller's name for the action.
    pub name: &'static str,
    /// When the first command left for the device, by this machine's clock.
    pub sent_ms: u64,
    /// When the call ended; `None` while it runs.
    pub ended_ms: Option<u64>,
}

/// The windows of one device, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Windows {
    kept: VecDeque<Window>,
}

impl Windows {
    /// Notes that a command of this action leaves now. Only its first one counts.
    pub fn sent(&mut self, action_id: &str, name: &'static str, at_ms: u64) {
        if self.kept.back().is_some_and(|last| last.action_id == action_id) {
            return;
        }
        if self.kept.len() == WINDOWS_MAX {
            self.kept.pop_front();
        }
        self.kept.push_back(Window { action_id: action_id.to_owned(), name, sent_ms: at_ms, ended_ms: None });
    }

    /// Notes the end of an action, if it sent anything.
    pub fn ended(&mut self, action_id: &str, at_ms: u64) {
        if let Some(window) = self.kept.iter_mut().rev().find(|window| window.action_id == action_id) {
            window.ended_ms = Some(at_ms);
        }
    }

    /// The action to which something belongs that happened at this time: the newest that was sent before, unless it ended
    /// too long ago to explain anything.
    pub fn at(&self, at_ms: u64) -> Option<&Window> {
        let newest = self.kept.iter().rev().find(|window| window.sent_ms <= at_ms)?;
        newest.ended_ms.is_none_or(|ended_ms| at_ms <= ended_ms + AFTER_MS).then_some(newest)
    }

    /// The action with this id, and the time until which things belong to it.
    pub fn of(&self, action_id: &str) -> Option<(&Window, Option<u64>)> {
        let at = self.kept.iter().position(|window| window.action_id == action_id)?;
        let next_ms = self.kept.get(at + 1).map(|next| next.sent_ms);
        let late_ms = self.kept[at].ended_ms.map(|ended_ms| ended_ms + AFTER_MS + 1);
        Some((&self.kept[at], next_ms.into_iter().chain(late_ms).min()))
    }

    pub fn last(&self) -> Option<&Window> {
        self.kept.back()
    }

    /// The number of actions that may explain what happens at this time.
    pub fn in_reach(&self, at_ms: u64) -> usize {
        let reaches = |window: &&Window| {
            window.sent_ms <= at_ms && window.ended_ms.is_none_or(|ended_ms| at_ms <= ended_ms + AFTER_MS)
        };
        self.kept.iter().filter(reaches).count()
    }

    /// The action that was sent before the one with this id.
    pub fn before(&self, action_id: &str) -> Option<&Window> {
        let at = self.kept.iter().position(|window| window.action_id == action_id)?;
        self.kept.get(at.checked_sub(1)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_happens_belongs_to_the_newest_action_that_was_sent_before_it() {
        // TR-02
        let mut windows = Windows::default();
        windows.sent("a", "tap", 100);
        windows.sent("a", "tap", 150);
        windows.ended("a", 200);
        windows.sent("b", "tap", 500);
        let id = |at_ms| windows.at(at_ms).map(|window| window.action_id.as_str());
        assert_eq!((id(99), id(100), id(499), id(500)), (None, Some("a"), Some("a"), Some("b")));
        assert_eq!(id(99_000), Some("b"), "b still runs");
        assert_eq!(windows.of("a").map(|(window, until)| (window.sent_ms, until)), Some((100, Some(500))));
        windows.ended("b", 600);
        assert_eq!(windows.of("b").map(|(_, until)| until), Some(Some(10_601)));
        assert_eq!((windows.at(10_600).is_some(), windows.at(10_601)), (true, None), "it is too long ago");
        assert!(windows.of("c").is_none() && windows.last().is_some_and(|last| last.action_id == "b"));
    }

    #[test]
    fn the_oldest_actions_are_forgotten() {
        let mut windows = Windows::default();
        for number in 0..=WINDOWS_MAX as u64 {
            windows.sent(&number.to_string(), "tap", number);
        }
        assert!(windows.of("0").is_none() && windows.of("1").is_some());
    }
}
