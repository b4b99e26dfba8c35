//! The account of one phone: what really happened to it between two answers, and which request each of it belongs to.
//!
//! A phone is used by one client at a time, so everything that happens in the window of a call is that call's, or the late
//! effect of an earlier one whose fate was said to be unknown.

use std::collections::BTreeMap;
use std::time::Duration;

use mdm_virtual_device::{Applied, Moment, Phone};
use tokio::time::Instant;

use crate::answer::Answer;
use crate::phones::button;

/// After this a call whose fate was unknown has no effect any more: no command of the server waits that long.
const LATE_MAX: Duration = Duration::from_secs(30);

/// What a call was to do: one touch of one button, or one text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Intent {
    Press(usize),
    Type(String),
}

/// How often the effect may be seen in the window of the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    Once,
    Never,
    /// At most once, now or later.
    Unknown,
}

impl Fate {
    /// What the server said became of the call.
    pub fn told(intent: &Intent, answer: &Answer) -> Fate {
        let facts = &answer.facts;
        match (facts.verdict.as_deref(), facts.dispatched.as_deref()) {
            (Some("confirmed"), _) => Fate::Once,
            (_, Some("unknown")) => Fate::Unknown,
            // A text is typed in parts, and the first of them may be all that was sent.
            (_, Some("taken")) if answer.is_error && matches!(intent, Intent::Type(_)) => Fate::Unknown,
            (_, Some("taken")) => Fate::Once,
            _ if facts.success => Fate::Once,
            _ => Fate::Never,
        }
    }
}

/// What was counted over the whole run.
#[derive(Debug, Clone, Copy, Default)]
pub struct Counts {
    pub calls: u64,
    pub confirmed: u64,
    pub done: u64,
    pub not_done: u64,
    pub unknown: u64,
    /// Effects of calls with an unknown fate that came after their answer.
    pub late: u64,
    /// Touches and texts in the truth of the phone.
    pub in_truth: u64,
}

impl Counts {
    pub fn add(&mut self, other: &Counts) {
        self.calls += other.calls;
        self.confirmed += other.confirmed;
        self.done += other.done;
        self.not_done += other.not_done;
        self.unknown += other.unknown;
        self.late += other.late;
        self.in_truth += other.in_truth;
    }
}

pub struct Ledger {
    phone: Phone,
    since: Moment,
    /// Calls with an unknown fate, and when they were answered.
    open: BTreeMap<Intent, Instant>,
    /// Presses so far, which is what the app shows.
    pub presses: u64,
    pub counts: Counts,
}

impl Ledger {
    pub fn new(phone: Phone) -> Ledger {
        let since = phone.moment();
        Ledger { phone, since, open: BTreeMap::new(), presses: 0, counts: Counts::default() }
    }

    /// True if the effect of an earlier call of this kind may still come.
    pub fn is_open(&mut self, intent: &Intent) -> bool {
        let now = Instant::now();
        self.open.retain(|_, since| now.duration_since(*since) < LATE_MAX);
        self.open.contains_key(intent)
    }

    /// Closes the window of a call; every finding is a sentence.
    pub fn close(&mut self, intent: &Intent, fate: Fate, is_confirmed: bool) -> Vec<String> {
        let mut seen = self.look();
        let own = seen.remove(intent).unwrap_or(0);
        self.counts.calls += 1;
        self.counts.confirmed += u64::from(is_confirmed);
        let mut findings = self.settle_late(seen);
        match (fate, own) {
            (Fate::Once, 1) => self.counts.done += 1,
            (Fate::Never, 0) => self.counts.not_done += 1,
            (Fate::Unknown, 0) => {
                self.counts.unknown += 1;
                self.open.insert(intent.clone(), Instant::now());
            }
            (Fate::Unknown, 1) => self.counts.unknown += 1,
            _ => findings.push(format!("{intent:?} was answered {fate:?} and happened {own} times")),
        }
        findings
    }

    /// Looks once more when nobody uses the phone: nothing may happen by itself.
    pub fn close_idle(&mut self) -> Vec<String> {
        let seen = self.look();
        self.settle_late(seen)
    }

    fn settle_late(&mut self, seen: BTreeMap<Intent, u64>) -> Vec<String> {
        let mut findings = Vec::new();
        for (intent, times) in seen {
            match self.open.remove(&intent) {
                Some(since) if times == 1 && since.elapsed() < LATE_MAX => self.counts.late += 1,
                _ => findings.push(format!("{intent:?} happened {times} times without a request")),
            }
        }
        findings
    }

    /// What happened since the last look, by what it was to do. Touches of the field and keys prepare a text.
    fn look(&mut self) -> BTreeMap<Intent, u64> {
        let happened = self.phone.since(&self.since);
        self.since = self.since.after(&happened);
        let mut seen = BTreeMap::new();
        for (_, input) in happened.inputs {
            let intent = match input {
                Applied::Tap { hit: Some(hit), .. } => {
                    (0..crate::phones::BUTTONS).find(|number| button(*number) == hit.label).map(Intent::Press)
                }
                Applied::Text { text, .. } | Applied::Paste { text, .. } => Some(Intent::Type(text)),
                _ => None,
            };
            if let Some(intent) = intent {
                self.presses += u64::from(matches!(intent, Intent::Press(_)));
                *seen.entry(intent).or_insert(0) += 1;
                self.counts.in_truth += 1;
            }
        }
        seen
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::{Content, ToolResult};

    fn told(facts: &str, is_error: bool) -> Fate {
        let content = vec![Content { text: format!("{facts}\nlines") }];
        Fate::told(&Intent::Press(1), &Answer::of(ToolResult { content, is_error }))
    }

    #[test]
    fn the_fate_of_a_call_is_what_its_answer_says() {
        assert_eq!(told(r#"{"success":true,"verdict":"confirmed","device":"a"}"#, false), Fate::Once);
        assert_eq!(told(r#"{"success":true,"verdict":"contradicted"}"#, true), Fate::Once);
        assert_eq!(told(r#"{"success":false,"dispatched":"unknown"}"#, true), Fate::Unknown);
        assert_eq!(told(r#"{"success":false,"dispatched":"taken"}"#, true), Fate::Once);
        assert_eq!(told(r#"{"success":false,"error":{"code":"DEVICE_LEASED"}}"#, true), Fate::Never);
    }

    #[test]
    fn what_happens_twice_or_without_a_request_is_found() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let _inside = runtime.enter();
        let mut ledger = Ledger::new(Phone::new(mdm_virtual_device::PhoneConfig::default()));
        let press = Intent::Press(1);
        assert_eq!(ledger.close(&press, Fate::Never, false), Vec::<String>::new());
        assert_eq!(ledger.close(&press, Fate::Once, true).len(), 1, "it was lost");
        let other = || BTreeMap::from([(Intent::Press(2), 1)]);
        assert_eq!(ledger.settle_late(other()).len(), 1, "nobody asked for it");
        ledger.open.insert(Intent::Press(2), Instant::now());
        assert_eq!(ledger.settle_late(other()).len(), 0);
        assert_eq!((ledger.settle_late(other()).len(), ledger.counts.late), (1, 1), "late, and again");
    }
}
