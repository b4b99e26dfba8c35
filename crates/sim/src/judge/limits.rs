//! Oracles 8 to 11: when and where inputs arrived, and what nobody saw.

use mdm_virtual_device::{Applied, DumpShown, Film, Frame};

use super::{Judge, Oracle, TAP_FAULTS, Violation};
use crate::claim::{By, Claim, content};
use crate::world::{Call, Face, ToolAnswer};

/// How long after the end of a call's time an input may still arrive: the phone applies it a moment after it was sent.
const INPUT_GRACE_MS: u64 = 100;
const UNCHANGED_LINE: &str = "nothing that counts changed";
const SYSTEM: &str = "system window";

impl Judge<'_> {
    /// Oracle 8. The time of a call begins with the call.
    pub(super) fn deadline(&mut self) {
        let Some(timeout) = self.planned.meaning.timeout_ms else { return };
        let end = self.call.from_ms + timeout + INPUT_GRACE_MS;
        if self.had_fault(&TAP_FAULTS) {
            return;
        }
        // A swipe is noted when the finger is lifted.
        let began = |at: u64, input: &Applied| match input {
            Applied::Swipe { ms, .. } => at.saturating_sub(*ms),
            _ => at,
        };
        if let Some((at, input, _)) = self.call.inputs.iter().find(|(at, input, _)| began(*at, input) > end) {
            let why = format!("{} had until {end} ms, and at {at} ms came {input:?}", self.planned.tool);
            self.report(Oracle::Deadline, why);
        }
    }

    /// Oracle 9.
    pub(super) fn device(&mut self) {
        if let Some(why) = self.call.unbound.clone() {
            self.report(Oracle::Device, format!("{}: {why}", self.planned.tool));
        }
        if let Some(input) = self.call.elsewhere.first() {
            let why = format!(
                "{} was about {:?}, and another phone got {input:?}",
                self.planned.tool, self.call.device
            );
            self.report(Oracle::Device, why);
        }
    }

    /// Oracle 10: an action that is said to have changed nothing.
    pub(super) fn unchanged(&mut self, answer: &ToolAnswer) {
        if !answer.lines.contains(UNCHANGED_LINE) || self.had_fault(&TAP_FAULTS) {
            return;
        }
        let Some((touched, _, met)) = self.call.inputs.last().cloned() else { return };
        self.judged.unchanged += 1;
        // A look that did not end before the deadline is not one that the answer is about.
        let looked = self.last_looks().last().map_or(self.call.to_ms, |look| look.at_ms);
        let last = told_ms(&answer.lines).map_or(looked, |ms| looked.min(touched + ms));
        let frames = &self.call.film.frames;
        let (before, after) = (frames.get(met), self.call.film.at(last));
        if let (Some(before), Some(after)) = (before, after)
            && content(before) != content(after)
        {
            // Nobody can see what came up before the touch and went with it, or came with it and went before the look.
            if looked_the_same(&self.call.film, (touched, met), looked) {
                self.judged.unseen += 1;
                return;
            }
            let why = format!(
                "{} says that nothing changed after {touched} ms: {}",
                self.planned.tool,
                difference(before, after)
            );
            return self.report(Oracle::Unchanged, why);
        }
        let drawn = self.call.film.drawn_ms.iter().find(|at| (touched..=last).contains(at));
        if let Some(at) = drawn {
            let why = format!(
                "{} says that nothing changed, and at {at} ms something else was drawn",
                self.planned.tool
            );
            self.report(Oracle::Unchanged, why);
        }
    }

    /// Oracle 11: a toast is in no tree, and a dialog of the system hides the app.
    pub(super) fn unseen(&mut self, answer: &ToolAnswer) {
        // A touch that the phone held back may have its effect after the last look.
        if answer.text("verdict") != "contradicted" || self.had_fault(&TAP_FAULTS) {
            return;
        }
        let Some(Claim::Element { by: By::Text(text), .. }) = &self.planned.meaning.claim else { return };
        let in_time = |from: u64, until: u64| from <= self.call.to_ms && until >= self.call.from_ms;
        let toast = self
            .call
            .toasts
            .iter()
            .find(|toast| toast.text == *text && in_time(toast.from_ms, toast.until_ms));
        // iOS shows such a message as a text of the app, which can be looked for.
        if let Some(toast) = toast.filter(|_| self.call.device != Face::Ios.first()) {
            return self.report(
                Oracle::Unseen,
                format!("contradicts {text:?}, which is the toast at {} ms", toast.from_ms),
            );
        }
        let is_system = |frame: &&Frame| {
            let root = frame.nodes.first().and_then(|node| node.datum.as_ref());
            root.is_some_and(|datum| datum.thing.starts_with(SYSTEM))
        };
        // After a lost connection any look may have been the last one that arrived.
        let frames = self.last_frames();
        if !frames.is_empty() && frames.iter().all(is_system) {
            self.report(
                Oracle::Unseen,
                format!("contradicts {text:?} while a dialog of the system is in front"),
            );
        }
    }
}

/// Returns how long the answer says that nothing changed.
fn told_ms(lines: &str) -> Option<u64> {
    let rest = lines.split_once(UNCHANGED_LINE)?.1;
    rest.split_once(" in ")?.1.split_whitespace().next()?.parse().ok()
}

/// An action whose outcome can be asked for later.
#[derive(Debug, Clone, Copy)]
pub struct Acted {
    touched_ms: u64,
    /// The frame that the input met.
    met: usize,
    /// The end of the action, until which the product could watch.
    until_ms: u64,
    ended_ms: u64,
}

impl Acted {
    /// Returns nothing for a call that did nothing, and for one whose input the phone changed.
    pub fn of(call: &Call) -> Option<Acted> {
        let (touched_ms, _, met) = call.inputs.last()?;
        // A look that did not end in time is none.
        let told = call.answer.as_ref().and_then(|answer| told_ms(&answer.lines));
        let until_ms = told.map_or(call.to_ms, |ms| call.to_ms.min(touched_ms + ms));
        let acted = Acted { touched_ms: *touched_ms, met: *met, until_ms, ended_ms: call.to_ms };
        (!call.had_fault(&TAP_FAULTS)).then_some(acted)
    }
}

/// Oracle 10 for `classify_action_outcome`: an action that changed the screen is no `no_op`.
pub fn classified(action: Option<Acted>, call: &Call) -> Option<Violation> {
    let outcome = call.answer.as_ref()?.text("outcome");
    let action = action.filter(|_| outcome == "no_op")?;
    let (before, after) = (call.film.frames.get(action.met)?, call.film.at(action.until_ms)?);
    let drawn = call.film.drawn_ms.iter().any(|at| (action.touched_ms..=action.until_ms).contains(at));
    let same = looked_the_same(&call.film, (action.touched_ms, action.met), action.ended_ms);
    let changed = content(before) != content(after) && !same;
    let why = format!("no_op, and after {} ms {}", action.touched_ms, difference(before, after));
    (changed || drawn).then_some(Violation { oracle: Oracle::Unchanged, why })
}

/// Returns true if the last whole dump before a touch and all dumps after it show the same. `touch` is its time and the
/// frame that it met.
fn looked_the_same(film: &Film, touch: (u64, usize), until_ms: u64) -> bool {
    let (before, after): (Vec<&DumpShown>, Vec<&DumpShown>) = film
        .dumps
        .iter()
        .filter(|look| look.at_ms <= until_ms)
        .partition(|look| look.at_ms <= touch.0 && look.frame <= touch.1);
    let shown = |look: &DumpShown| film.frames.get(look.frame).map(content);
    let Some(was) = before.iter().rev().find(|look| look.is_whole).and_then(|look| shown(look)) else {
        return false;
    };
    !after.is_empty() && after.iter().all(|look| shown(look).as_ref() == Some(&was))
}

fn difference(before: &Frame, after: &Frame) -> String {
    let (was, is) = (content(before), content(after));
    let gone = was.iter().find(|line| !is.contains(line));
    let come = is.iter().find(|line| !was.contains(line));
    format!("{gone:?} became {come:?}")
}
