//! 1: what is called verified, confirmed or met was so when it was looked at last.

use mdm_virtual_device::{Frame, ShownNode};
use serde_json::Value;

use super::{Bench, Oracle, affirms};
use crate::claim::{By, Claim};
use crate::world::Said;

/// Which activity is in front is asked beside the tree, and not at the same moment.
const BESIDE_MS: u64 = 700;

impl Bench<'_> {
    pub(super) fn truthful(&mut self, said: &Said) {
        match self.step.tool {
            "type_text" => self.typed(said),
            "adjust_control" => self.adjusted(said),
            "run_flow" => self.flowed(said),
            _ => self.claimed(said),
        }
    }

    fn claimed(&mut self, said: &Said) {
        let Some(claim) = self.step.about.claim.as_ref().filter(|_| affirms(self.step.tool, said)) else {
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
        if !frames.iter().any(|frame| claim.could_hold(frame)) {
            self.blame(Oracle::Truthful, format!("{} affirms {claim:?}, which was not so", self.step.tool));
        }
    }

    /// The field holds what is said to be in it.
    fn typed(&mut self, said: &Said) {
        let Some(text) = self.step.about.text.as_ref() else { return };
        if said.text("lifecycle_state") != "verified" {
            return;
        }
        self.judged.claims += 1;
        let wanted = self.step.about.target.as_ref();
        // A field that is named is known by its hint, which stays when there is a text.
        let right =
            |node: &ShownNode| wanted.is_none_or(|target| node.hint == target.label || node.hint.is_empty());
        let held = |frame: &&Frame| {
            frame.nodes.iter().any(|node| {
                let words = [&node.text, &node.description];
                right(node) && words.into_iter().any(|said| said.contains(text.as_str()))
            })
        };
        if !self.last_frames().iter().any(held) {
            self.blame(Oracle::Truthful, format!("no field held {text:?}"));
        }
    }

    /// What its tap was meant to bring about was there at some moment; later steps may have gone on.
    fn flowed(&mut self, said: &Said) {
        let Some(claim) = self.step.about.claim.as_ref().filter(|_| said.flag("success")) else { return };
        self.judged.claims += 1;
        let frames = self.call.film.between(self.call.from_ms, self.call.to_ms);
        if !frames.iter().any(|frame| claim.could_hold(frame)) {
            self.blame(Oracle::Truthful, format!("the flow affirms {claim:?}, which never was so"));
        }
    }

    /// The slider stands where it is said to stand.
    fn adjusted(&mut self, said: &Said) {
        let Some(target) = self.step.about.target.as_ref() else { return };
        if said.text("lifecycle_state") != "verified" {
            return;
        }
        self.judged.claims += 1;
        let number = |name: &str| self.step.arguments.get(name).and_then(Value::as_f64).unwrap_or(0.0);
        let (wanted, tolerance) = (number("targetValue"), number("tolerance"));
        let near = |frame: &&Frame| {
            let by = By::Text(target.label.clone());
            let values = by.nodes(frame).filter_map(|node| node.text.parse::<f64>().ok());
            values.into_iter().any(|value| (value - wanted).abs() <= tolerance + 0.051)
        };
        if !self.last_frames().iter().any(near) {
            self.blame(Oracle::Truthful, format!("{} did not stand at {wanted} ± {tolerance}", target.label));
        }
    }
}
