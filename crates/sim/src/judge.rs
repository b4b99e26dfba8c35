//! The oracles: what an answer says, held against what the phone knows of the same time.
//!
//! Nothing here asks the product. What the phone did on its own (a lost, late or doubled touch) is not the product's.

mod dispatch;
mod negative;
mod open;
mod rest;
mod truthful;

use mdm_virtual_device::{DumpShown, Fault, Frame};

use crate::agent::Step;
use crate::world::{Call, Said};

/// What an answer may take beyond the time that was asked for: nothing is waited for in it.
pub const ANSWER_GRACE_MS: u64 = 100;

/// No call with an answer of its own takes longer.
const CALL_MAX_MS: u64 = 100_000;
/// What a device gets after an action, however slow it is.
const LOOKS_MIN: usize = 2;
const LINK_FAULTS: [Fault; 3] = [Fault::DroppedConnection, Fault::Offline, Fault::Unauthorized];
/// What the phone does to taps on its own.
const TAP_FAULTS: [Fault; 3] = [Fault::LostTap, Fault::LateTap, Fault::DoubleTap];

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Oracle {
    /// 1: what is called verified, confirmed or met was so.
    Truthful,
    /// 2: what is called stable had come to rest.
    Rest,
    /// 3: nothing was applied twice, and nothing that is called unsent.
    Once,
    /// 4: no other element was touched than the one that was named.
    Aim,
    /// 5: every call answered in time, and none broke.
    Timely,
    /// 6: nothing that was there throughout is called missing.
    Missing,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    pub oracle: Oracle,
    pub why: String,
}

/// How often each oracle had something to judge, and what is counted apart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Judged {
    pub claims: u64,
    pub rests: u64,
    pub unsent: u64,
    pub sent: u64,
    pub touches: u64,
    pub denials: u64,
    /// The target moved or went between the look and the touch.
    pub moved: u64,
    /// Something came and went again between two looks.
    pub unseen: u64,
    /// Known defects that are not mended yet, see [`open`].
    pub open: u64,
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
        self.open += other.open;
    }
}

impl std::fmt::Display for Judged {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "judged: {} claims, {} rests, {} denials, {} touches, {} sent, {} refused; apart: {} moved before the touch, \
             {} unseen between two looks, {} by known defects",
            self.claims,
            self.rests,
            self.denials,
            self.touches,
            self.sent,
            self.unsent,
            self.moved,
            self.unseen,
            self.open
        )
    }
}

pub struct Bench<'a> {
    pub step: &'a Step,
    pub call: &'a Call,
    pub judged: Judged,
    pub violations: Vec<Violation>,
}

pub fn judge(step: &Step, call: &Call) -> (Judged, Vec<Violation>) {
    let mut bench = Bench { step, call, judged: Judged::default(), violations: Vec::new() };
    bench.timely();
    if let Some(said) = &call.answer {
        bench.truthful(said);
        bench.rest(said);
        bench.once(said);
        bench.aim(said);
        bench.missing(said);
    }
    (bench.judged, bench.violations)
}

impl Bench<'_> {
    fn blame(&mut self, oracle: Oracle, why: impl Into<String>) {
        let violation = Violation { oracle, why: why.into() };
        if self.call.answer.as_ref().is_some_and(|said| open::is_known(&violation, said)) {
            self.judged.open += 1;
        } else {
            self.violations.push(violation);
        }
    }

    fn struck(&self, faults: &[Fault]) -> bool {
        self.call.faults.iter().any(|event| faults.contains(&event.fault))
    }

    /// The last look of the call. After a broken connection nobody knows which look arrived, so it may be any of them.
    fn last_looks(&self) -> Vec<DumpShown> {
        let within = |dump: &DumpShown| (self.call.from_ms..=self.call.to_ms).contains(&dump.at_ms);
        let all: Vec<DumpShown> = self.call.film.dumps.iter().copied().filter(within).collect();
        if self.struck(&LINK_FAULTS) { all } else { all.last().copied().into_iter().collect() }
    }

    fn shown(&self, look: &DumpShown) -> Option<&Frame> {
        self.call.film.frames.get(look.frame)
    }

    fn last_frames(&self) -> Vec<&Frame> {
        self.last_looks().iter().filter_map(|look| self.shown(look)).collect()
    }

    /// 5.
    fn timely(&mut self) {
        let took = self.call.to_ms - self.call.from_ms;
        let Some(said) = &self.call.answer else {
            return self.blame(Oracle::Timely, format!("{} has no answer after {took} ms", self.step.tool));
        };
        if said.code() == "INTERNAL_ERROR" {
            self.blame(Oracle::Timely, format!("{} broke: {}", self.step.tool, said.facts));
        }
        let limit = match (self.step.tool, self.step.about.timeout_ms) {
            ("wait_for_ui" | "wait_for_ui_change" | "wait_for_screen_change", Some(timeout)) => timeout,
            _ => CALL_MAX_MS,
        };
        if took > limit + ANSWER_GRACE_MS {
            self.blame(Oracle::Timely, format!("{} took {took} ms and had {limit}", self.step.tool));
        }
        self.looked_too_long();
    }

    /// The time of an action begins with its touch. When it is over the look that is under way is finished, and a slow
    /// device gets the time for two looks; nothing more is read.
    fn looked_too_long(&mut self) {
        let touched = self.call.inputs.last().map(|(at, ..)| *at).filter(|_| self.call.commands.len() == 1);
        let (Some(touched), Some(timeout)) = (touched, self.step.about.timeout_ms) else { return };
        let broken = self.struck(&TAP_FAULTS) || self.struck(&LINK_FAULTS);
        if !matches!(self.step.tool, "tap_element" | "press_back") || broken {
            return;
        }
        let end = touched + timeout;
        // A damaged look is made again, and is one look with that.
        let whole = self.call.film.dumps.iter().filter(|dump| dump.is_whole);
        let looks = whole.map(|dump| dump.at_ms).filter(|at| *at <= self.call.to_ms);
        let (early, late): (Vec<u64>, Vec<u64>) = looks.filter(|at| *at > touched).partition(|at| *at <= end);
        if late.len() > LOOKS_MIN.saturating_sub(early.len()).max(1) {
            let why = format!("{} had until {end} and looked again at {late:?}", self.step.tool);
            self.blame(Oracle::Timely, why);
        }
    }
}

/// Whether an answer says that a condition was met.
pub fn affirms(tool: &str, said: &Said) -> bool {
    match tool {
        "tap_element" | "press_back" | "swipe" => said.text("verdict") == "confirmed",
        "find_element" => said.flag("found"),
        "scroll_to_element" | "wait_for_ui" | "expect_element_visible" | "expect_state" | "expect_screen" => {
            said.flag("success")
        }
        _ => false,
    }
}
