//! Oracles 3 and 4: how often an action reached the app, and on which element.

use mdm_virtual_device::{Applied, Fault, Hit, ShownNode};
use serde_json::Value;

use super::{Judge, Oracle, TAP_FAULTS};
use crate::agent::{Target, was_dispatched};
use crate::claim::By;
use crate::world::{HELPER, ToolAnswer};

/// Failures that are noticed after the input was sent.
const AFTERWARDS: [&str; 1] = ["VERIFICATION_FAILED"];

/// What hides an open keyboard: the Back key, or WebDriverAgent's own request.
const HIDE: [&str; 3] = ["input keyevent 4", "helper keys 4", "dismiss keyboard"];

impl Judge<'_> {
    fn acts_once(&self) -> bool {
        matches!(self.planned.tool, "tap_element" | "press_back" | "swipe" | "tap" | "run_flow")
    }

    /// Oracle 3.
    pub(super) fn once(&mut self, answer: &ToolAnswer) {
        // The product hides a keyboard that covers the target first, and says so.
        let taps = matches!(self.planned.tool, "tap_element" | "run_flow")
            || tells_step_back(answer)
            || tells_open_keyboard(answer);
        let hidden =
            taps && self.call.commands.first().is_some_and(|command| HIDE.contains(&command.as_str()));
        let sent = self.call.commands.len() - usize::from(hidden);
        let told = |what: &str, call: &crate::world::Call| format!("{what}; sent {:?}", call.commands);
        if sent > 0 && self.only_reads() {
            self.report(Oracle::Once, told("this tool only reads", self.call));
        }
        if self.says_unsent(answer) {
            self.judged.unsent += 1;
            // The helper's own refusal is true if nothing was done.
            let refused_there = self.call.inputs.is_empty()
                && self.call.commands.iter().all(|command| command.starts_with(HELPER));
            if sent > 0 && !refused_there {
                self.report(Oracle::Once, told(&format!("refused with {}", answer.code()), self.call));
            }
        }
        if self.acts_once() && sent > 1 {
            self.report(Oracle::Once, told("one action", self.call));
        }
        let scrolls = answer.number("scrolls").filter(|_| self.planned.tool == "scroll_to_element");
        if scrolls.is_some_and(|scrolls| scrolls != sent as u64) && answer.text("dispatched") != "unknown" {
            self.report(Oracle::Once, told(&format!("{scrolls:?} scrolls are told"), self.call));
        }
        if self.acts_once() && was_dispatched(answer) {
            self.judged.sent += 1;
            let phone_lost_it = self.had_fault(&[Fault::LostTap, Fault::LateTap]);
            if sent == 0 || (self.call.inputs.is_empty() && !phone_lost_it) {
                self.report(Oracle::Once, "said to be sent, and nothing arrived");
            }
        }
    }

    fn only_reads(&self) -> bool {
        !self.acts_once()
            && !matches!(self.planned.tool, "type_text" | "adjust_control" | "scroll_to_element")
    }

    /// Returns true for a failure after which an agent may believe that nothing was done to the device.
    fn says_unsent(&self, answer: &ToolAnswer) -> bool {
        let unknown = matches!(answer.text("dispatched"), "unknown" | "taken");
        let touched =
            ["attempts", "scrolls"].iter().any(|name| answer.number(name).is_some_and(|times| times > 0));
        let flowed = self.planned.tool == "run_flow" && answer.code() != "INVALID_ARGUMENT";
        let failed = answer.is_error && answer.facts.get("error").is_some();
        failed && !unknown && !touched && !flowed && !AFTERWARDS.contains(&answer.code())
    }

    /// Oracle 4.
    pub(super) fn aim(&mut self, answer: &ToolAnswer) {
        let phone_did_it = self.had_fault(&TAP_FAULTS);
        let Some(target) = self.planned.meaning.target.clone().filter(|_| !phone_did_it) else { return };
        if !matches!(self.planned.tool, "tap_element" | "adjust_control") {
            return;
        }
        for touch in self.call.own_touches() {
            let chose = self.chose_and_said_so(answer, &touch);
            let (at, input, met) = touch;
            let (Applied::Tap { hit, .. } | Applied::Swipe { hit, .. }) = &input else { continue };
            self.judged.touches += 1;
            if !is_it(&target, hit.as_ref()) && answer.tells_doubt() {
                self.judged.doubts += 1;
            } else if !is_it(&target, hit.as_ref()) && chose {
                self.judged.chosen += 1;
            } else if !is_it(&target, hit.as_ref()) {
                self.missed(at, &target, &input, met);
            }
        }
        let named = answer.facts.get("target").and_then(|named| named.get("label")).and_then(Value::as_str);
        if let Some(label) =
            named.filter(|label| *label != target.label && !self.is_another_name(&target, label))
        {
            self.report(Oracle::Aim, format!("asked for {:?}, and the answer names {label:?}", target.label));
        }
    }

    /// Returns true if the label is another name of the target: a control has a name and shows a value.
    fn is_another_name(&self, target: &Target, label: &str) -> bool {
        if label.parse::<f64>().is_ok() {
            return true;
        }
        let by = By::Text(target.label.clone());
        let frames = self.call.film.between(self.call.from_ms, self.call.to_ms);
        // Older systems show a field's hint as its text, so that it looks like what the field holds.
        let is_field = |node: &ShownNode| node.class.ends_with("EditText") && node.hint.is_empty();
        if frames.iter().flat_map(|frame| by.nodes(frame)).all(is_field) {
            return true;
        }
        frames
            .iter()
            .flat_map(|frame| by.nodes(frame))
            .any(|node| node.text == label || node.description == label)
    }

    fn missed(&mut self, at: u64, target: &Target, input: &Applied, met: usize) {
        // A finger lands at the beginning of a swipe.
        let at = if let Applied::Swipe { ms, .. } = input { at.saturating_sub(*ms) } else { at };
        let film = &self.call.film;
        let looked = film.dumps.iter().rev().find(|look| look.at_ms <= at && look.frame <= met);
        let seen = looked.and_then(|look| self.shown(look));
        let same = seen.zip(film.frames.get(met)).is_some_and(|(seen, met)| seen.nodes == met.nodes);
        let (Applied::Tap { hit, .. } | Applied::Swipe { hit, .. }) = input else { return };
        if same && !hit.as_ref().is_some_and(Hit::went_away) {
            self.report(Oracle::Aim, format!("meant {target:?} and touched {input:?}; nothing had moved"));
        } else {
            self.judged.moved += 1;
        }
    }
}

/// Returns true if the answer says that the keyboard was asked to close and did not.
fn tells_open_keyboard(answer: &ToolAnswer) -> bool {
    let message = answer.facts.get("error").and_then(|error| error.get("message")).and_then(Value::as_str);
    message.is_some_and(|message| message.contains("could not be closed"))
}

fn tells_step_back(answer: &ToolAnswer) -> bool {
    let recovery = answer.facts.get("recovery").and_then(|recovery| recovery.get("strategies"));
    recovery.and_then(Value::as_array).is_some_and(|told| told.iter().any(|name| name == "step_back"))
}

fn is_it(target: &Target, hit: Option<&Hit>) -> bool {
    let Some(hit) = hit else { return false };
    let id = hit.resource_id.rsplit('/').next().unwrap_or_default();
    match &target.id {
        Some(wanted) => id == wanted,
        None => hit.label.eq_ignore_ascii_case(&target.label),
    }
}
