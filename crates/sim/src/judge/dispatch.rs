//! 3 and 4: what reached the app, how often, and where.

use mdm_virtual_device::{Applied, Fault, Hit};
use serde_json::Value;

use super::{Bench, Oracle};
use crate::agent::{Target, was_dispatched};
use crate::world::Said;

/// Failures that are found out after the input was sent.
const AFTERWARDS: [&str; 1] = ["VERIFICATION_FAILED"];

impl Bench<'_> {
    fn acts_once(&self) -> bool {
        matches!(self.step.tool, "tap_element" | "press_back" | "swipe" | "tap")
    }

    /// 3.
    pub(super) fn once(&mut self, said: &Said) {
        let sent = self.call.commands.len();
        let reads = !self.acts_once() && !matches!(self.step.tool, "type_text" | "adjust_control" | "start_app");
        if reads && sent > 0 {
            self.blame(Oracle::Once, format!("{} only reads, and sent {:?}", self.step.tool, self.call.commands));
        }
        let unknown = said.text("dispatched") == "unknown";
        let refused = said.is_error && said.facts.get("error").is_some() && !unknown;
        if refused && !AFTERWARDS.contains(&said.code()) && said.number("attempts").is_none_or(|touches| touches == 0) {
            self.judged.unsent += 1;
            if sent > 0 {
                self.blame(Oracle::Once, format!("refused with {}, but sent {:?}", said.code(), self.call.commands));
            }
        }
        if self.acts_once() && sent > 1 {
            self.blame(Oracle::Once, format!("sent {:?}", self.call.commands));
        }
        if self.acts_once() && was_dispatched(said) {
            self.judged.sent += 1;
            let phone_lost_it = self.struck(&[Fault::LostTap, Fault::LateTap]);
            if sent == 0 || (self.call.inputs.is_empty() && !phone_lost_it) {
                self.blame(Oracle::Once, "said to be sent, and nothing arrived");
            }
        }
    }

    /// 4.
    pub(super) fn aim(&mut self, said: &Said) {
        let phone_did_it = self.struck(&[Fault::LostTap, Fault::LateTap, Fault::DoubleTap]);
        let Some(target) = self.step.about.target.clone().filter(|_| !phone_did_it) else { return };
        if !matches!(self.step.tool, "tap_element" | "adjust_control") {
            return;
        }
        // A late touch of an earlier call may arrive in this one: only what was sent now is looked at.
        let sent = self.call.commands.len();
        let inputs: Vec<(u64, Applied)> = self.call.inputs.iter().take(sent).cloned().collect();
        for (at, input) in inputs {
            let (Applied::Tap { hit, .. } | Applied::Swipe { hit, .. }) = &input else { continue };
            self.judged.touches += 1;
            if !is_it(&target, hit.as_ref()) {
                self.missed(at, &target, &input);
            }
        }
        let named = said.facts.get("target").and_then(|named| named.get("label")).and_then(Value::as_str);
        if let Some(label) = named.filter(|label| *label != target.label) {
            self.blame(Oracle::Aim, format!("asked for {:?}, and the answer names {label:?}", target.label));
        }
    }

    fn missed(&mut self, at: u64, target: &Target, input: &Applied) {
        let film = &self.call.film;
        let looked = film.dumps.iter().rev().map(|dump| dump.at_ms).find(|look| *look <= at);
        let same = looked.and_then(|look| film.at(look)).is_some_and(|seen| {
            film.at(at.saturating_sub(1).max(looked.unwrap_or(0))).is_some_and(|touched| seen.nodes == touched.nodes)
        });
        if same {
            self.blame(Oracle::Aim, format!("meant {target:?} and touched {input:?}; nothing had moved"));
        } else {
            self.judged.moved += 1;
        }
    }
}

fn is_it(target: &Target, hit: Option<&Hit>) -> bool {
    let Some(hit) = hit else { return false };
    let id = hit.resource_id.rsplit('/').next().unwrap_or_default();
    match &target.id {
        Some(wanted) => id == wanted,
        None => hit.label.eq_ignore_ascii_case(&target.label),
    }
}
