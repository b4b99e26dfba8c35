//! The oracles: they compare what an answer says with what the phone knows of the same time.
//!
//! Nothing here asks the product. A touch that the phone lost, delayed or doubled is not the product's fault.

mod dispatch;
mod limits;
mod negative;
mod rest;
mod truthful;
mod words;

pub use limits::{Acted, classified};

use mdm_virtual_device::{DumpShown, Fault, Frame};

use crate::agent::PlannedCall;
use crate::world::{Call, ToolAnswer};

/// How much longer than asked an answer may take. The product waits for nothing in this time.
pub const ANSWER_GRACE_MS: u64 = 100;

/// The longest time for a call that was given none.
const CALL_MAX_MS: u64 = 100_000;
/// Dumps that a device gets after an action, however slow it is.
const LOOKS_MIN: usize = 2;
const LINK_FAULTS: [Fault; 3] = [Fault::DroppedConnection, Fault::Offline, Fault::Unauthorized];
/// What the phone does to taps on its own.
pub const TAP_FAULTS: [Fault; 3] = [Fault::LostTap, Fault::LateTap, Fault::DoubleTap];

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Oracle {
    /// 1: what the answer calls verified, confirmed or met was true.
    Truthful,
    /// 2: a screen that the answer calls stable had come to rest.
    Rest,
    /// 3: no action was applied twice, and none that the answer calls unsent.
    Once,
    /// 4: the touch landed on the element that was named.
    Aim,
    /// 5: every call was answered in time and without an internal error.
    Timely,
    /// 6: an element that was there during the whole call is not called missing.
    Missing,
    /// 7: an id means the thing for which it was handed out.
    Datum,
    /// 8: no input reached the phone after the call's time.
    Deadline,
    /// 9: no input reached another phone than the one that is meant.
    Device,
    /// 10: what is called unchanged did not change.
    Unchanged,
    /// 11: what could not be seen is not called contradicted.
    Unseen,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    pub oracle: Oracle,
    pub why: String,
}

/// How often each oracle had something to judge, and cases that are counted but are no violation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Judged {
    pub claims: u64,
    pub rests: u64,
    pub unsent: u64,
    pub sent: u64,
    pub touches: u64,
    pub denials: u64,
    /// The target moved or disappeared between the dump and the touch.
    pub moved: u64,
    /// Something appeared and disappeared between two dumps.
    pub unseen: u64,
    /// Ids that were shown again, and touches by an id.
    pub ids_seen: u64,
    pub by_id: u64,
    pub by_words: u64,
    /// Another thing with the same words had come to the same place.
    pub twins: u64,
    /// Touches that met another thing, where the answer said that something may lie in front.
    pub doubts: u64,
    /// Touches of another thing with the same words, where the answer said how sure its choice was.
    pub chosen: u64,
    /// Answers that nothing changed.
    pub unchanged: u64,
}

impl Judged {
    pub fn add(&mut self, other: &Judged) {
        self.claims += other.claims;
        self.rests += other.rests;
        self.unsent += other.unsent;
        self.sent += other.sent;
        self.touches += other.touches;
        self.denials += other.denials;
        self.moved += other.moved;
        self.unseen += other.unseen;
        self.ids_seen += other.ids_seen;
        self.by_id += other.by_id;
        self.by_words += other.by_words;
        self.twins += other.twins;
        self.doubts += other.doubts;
        self.chosen += other.chosen;
        self.unchanged += other.unchanged;
    }
}

impl std::fmt::Display for Judged {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "judged: {} claims, {} rests, {} denials, {} touches ({} by an id, {} by words), {} ids shown again, {} unchanged, \
             {} sent, {} refused; apart: {} moved before the touch, {} unseen between two looks, {} replaced by a twin, {} met what the answer said may lie in front, {} chosen among equal words with a word about it",
            self.claims,
            self.rests,
            self.denials,
            self.touches,
            self.by_id,
            self.by_words,
            self.ids_seen,
            self.unchanged,
            self.sent,
            self.unsent,
            self.moved,
            self.unseen,
            self.twins,
            self.doubts,
            self.chosen,
        )
    }
}

/// One call while the oracles judge it.
pub struct Judge<'a> {
    pub planned: &'a PlannedCall,
    pub call: &'a Call,
    pub judged: Judged,
    pub violations: Vec<Violation>,
}

pub fn judge(planned: &PlannedCall, call: &Call) -> (Judged, Vec<Violation>) {
    let mut judge = Judge { planned, call, judged: Judged::default(), violations: Vec::new() };
    judge.timely();
    judge.deadline();
    judge.device();
    if let Some(answer) = &call.answer {
        judge.truthful(answer);
        judge.rest(answer);
        judge.once(answer);
        judge.aim(answer);
        judge.missing(answer);
        judge.named(answer);
        judge.covered(answer);
        judge.unchanged(answer);
        judge.unseen(answer);
    }
    (judge.judged, judge.violations)
}

impl Judge<'_> {
    fn report(&mut self, oracle: Oracle, why: impl Into<String>) {
        self.violations.push(Violation { oracle, why: why.into() });
    }

    fn had_fault(&self, faults: &[Fault]) -> bool {
        self.call.had_fault(faults)
    }

    /// Returns the last dump of the call. After a broken connection it may be any of them: nobody knows which one
    /// arrived.
    fn last_looks(&self) -> Vec<DumpShown> {
        let within = |dump: &DumpShown| (self.call.from_ms..=self.call.to_ms).contains(&dump.at_ms);
        let all: Vec<DumpShown> = self.call.film.dumps.iter().copied().filter(within).collect();
        if self.had_fault(&LINK_FAULTS) { all } else { all.last().copied().into_iter().collect() }
    }

    fn shown(&self, look: &DumpShown) -> Option<&Frame> {
        self.call.film.frames.get(look.frame)
    }

    fn last_frames(&self) -> Vec<&Frame> {
        self.last_looks().iter().filter_map(|look| self.shown(look)).collect()
    }

    /// Oracle 5.
    fn timely(&mut self) {
        let took = self.call.to_ms - self.call.from_ms;
        let Some(answer) = &self.call.answer else {
            return self
                .report(Oracle::Timely, format!("{} has no answer after {took} ms", self.planned.tool));
        };
        if answer.code() == "INTERNAL_ERROR" {
            self.report(Oracle::Timely, format!("{} broke: {}", self.planned.tool, answer.facts));
        }
        let limit = match (self.planned.tool, self.planned.meaning.timeout_ms) {
            ("wait_for_ui" | "wait_for_ui_change" | "wait_for_screen_change", Some(timeout)) => timeout,
            _ => CALL_MAX_MS,
        };
        if took > limit + ANSWER_GRACE_MS {
            self.report(Oracle::Timely, format!("{} took {took} ms and had {limit}", self.planned.tool));
        }
        self.looked_too_long();
    }

    /// Reports dumps after the end of an action's time, which begins with its touch. The dump that is under way may be
    /// finished, and a slow device gets the time for two.
    fn looked_too_long(&mut self) {
        let touched = self.call.inputs.last().map(|(at, ..)| *at).filter(|_| self.call.commands.len() == 1);
        let (Some(touched), Some(timeout)) = (touched, self.planned.meaning.timeout_ms) else { return };
        let broken = self.had_fault(&TAP_FAULTS) || self.had_fault(&LINK_FAULTS);
        if !matches!(self.planned.tool, "tap_element" | "press_back") || broken {
            return;
        }
        let end = touched + timeout;
        // A damaged dump is repeated; both count as one.
        let whole = self.call.film.dumps.iter().filter(|dump| dump.is_whole);
        let looks = whole.map(|dump| dump.at_ms).filter(|at| *at <= self.call.to_ms);
        let (early, late): (Vec<u64>, Vec<u64>) = looks.filter(|at| *at > touched).partition(|at| *at <= end);
        if late.len() > LOOKS_MIN.saturating_sub(early.len()).max(1) {
            let why = format!("{} had until {end} and looked again at {late:?}", self.planned.tool);
            self.report(Oracle::Timely, why);
        }
    }
}

/// Returns true if an answer says that a condition was met.
pub fn affirms(tool: &str, answer: &ToolAnswer) -> bool {
    match tool {
        "tap_element" | "press_back" | "swipe" => answer.text("verdict") == "confirmed",
        "find_element" => answer.flag("found"),
        "scroll_to_element" | "wait_for_ui" | "expect_element_visible" | "expect_state" | "expect_screen" => {
            answer.flag("success")
        }
        _ => false,
    }
}
