//! Oracle 1: what the answer calls verified, confirmed or met was true in the last dump.

use mdm_virtual_device::{Frame, ShownNode, ShownToast};
use serde_json::Value;

use super::{Judge, Oracle, affirms};
use crate::claim::{By, Claim, State, levels};
use crate::world::ToolAnswer;

/// The product asks for the activity in front at another moment than for the tree.
const BESIDE_MS: u64 = 700;

impl Judge<'_> {
    pub(super) fn truthful(&mut self, answer: &ToolAnswer) {
        match self.planned.tool {
            "type_text" => self.typed(answer),
            "adjust_control" => self.adjusted(answer),
            "run_flow" => self.flowed(answer),
            _ => self.claimed(answer),
        }
    }

    fn claimed(&mut self, answer: &ToolAnswer) {
        let Some(claim) = self.planned.meaning.claim.as_ref().filter(|_| affirms(self.planned.tool, answer))
        else {
            return;
        };
        self.judged.claims += 1;
        let frames: Vec<&Frame> = match claim {
            Claim::Screen(_) => {
                let last = self.last_looks().last().map_or(self.call.from_ms, |look| look.at_ms);
                let from = last.saturating_sub(BESIDE_MS).max(self.call.from_ms);
                self.call.film.between(from, self.call.to_ms).iter().collect()
            }
            Claim::Element { .. } => self.last_frames(),
        };
        if !frames.iter().any(|frame| claim.could_hold(frame)) && !self.was_said(claim, answer) {
            self.report(
                Oracle::Truthful,
                format!("{} affirms {claim:?}, which was not so", self.planned.tool),
            );
        }
    }

    /// True if a toast said the claimed words during the call, and the answer tells that they were said.
    fn was_said(&self, claim: &Claim, answer: &ToolAnswer) -> bool {
        let Claim::Element { by: By::Text(text), state: State::Exists } = claim else { return false };
        let shown = |toast: &ShownToast| {
            toast.text == *text && toast.from_ms >= self.call.from_ms && toast.from_ms <= self.call.to_ms
        };
        answer.lines.contains(text.as_str()) && self.call.toasts.iter().any(shown)
    }

    /// Checks that the field holds the text that the answer says it holds.
    fn typed(&mut self, answer: &ToolAnswer) {
        let Some(text) = self.planned.meaning.text.as_ref() else { return };
        if answer.text("lifecycle_state") != "verified" {
            return;
        }
        self.judged.claims += 1;
        let wanted = self.planned.meaning.target.as_ref();
        // A named field is known by its hint, which stays when there is a text.
        let right =
            |node: &ShownNode| wanted.is_none_or(|target| node.hint == target.label || node.hint.is_empty());
        let held = |frame: &&Frame| {
            frame.nodes.iter().any(|node| {
                let words = [&node.text, &node.description];
                right(node) && words.into_iter().any(|shown| shown.contains(text.as_str()))
            })
        };
        if !self.last_frames().iter().any(held) {
            self.report(Oracle::Truthful, format!("no field held {text:?}"));
        }
    }

    /// Checks that what the tap was meant to bring about was there at some moment; later steps may have changed it.
    fn flowed(&mut self, answer: &ToolAnswer) {
        let Some(claim) = self.planned.meaning.claim.as_ref().filter(|_| answer.flag("success")) else {
            return;
        };
        self.judged.claims += 1;
        let frames = self.call.film.between(self.call.from_ms, self.call.to_ms);
        if !frames.iter().any(|frame| claim.could_hold(frame)) {
            self.report(Oracle::Truthful, format!("the flow affirms {claim:?}, which never was so"));
        }
    }

    /// Checks that the slider has the value that the answer says it has.
    fn adjusted(&mut self, answer: &ToolAnswer) {
        let Some(target) = self.planned.meaning.target.as_ref() else { return };
        if answer.text("lifecycle_state") != "verified" {
            return;
        }
        self.judged.claims += 1;
        let number = |name: &str| self.planned.arguments.get(name).and_then(Value::as_f64).unwrap_or(0.0);
        let (wanted, tolerance) = (number("targetValue"), number("tolerance"));
        let near = |frame: &&Frame| {
            let by = By::Text(target.label.clone());
            by.nodes(frame).flat_map(levels).any(|value| (value - wanted).abs() <= tolerance + 0.051)
        };
        if !self.last_frames().iter().any(near) {
            self.report(
                Oracle::Truthful,
                format!("{} did not stand at {wanted} ± {tolerance}", target.label),
            );
        }
    }
}
