//! 6: nothing that was there throughout the whole call is called missing or otherwise.

use super::{Bench, Oracle};
use crate::claim::{By, Claim, State};
use crate::world::Said;

impl Bench<'_> {
    pub(super) fn missing(&mut self, said: &Said) {
        let Some(claim) = self.denied(said) else { return };
        self.judged.denials += 1;
        let frames = self.call.film.between(self.call.from_ms, self.call.to_ms);
        if !frames.is_empty() && frames.iter().all(|frame| claim.must_hold(frame)) {
            self.blame(
                Oracle::Missing,
                format!("{} denies {claim:?}, which was so throughout", self.step.tool),
            );
        }
    }

    /// What the answer says was not so.
    fn denied(&self, said: &Said) -> Option<Claim> {
        let claim = self.step.about.claim.clone();
        let message = said.facts.get("error").and_then(|error| error.get("message"));
        let message = message.and_then(|message| message.as_str()).unwrap_or_default();
        match self.step.tool {
            "tap_element" if said.code() == "ELEMENT_NOT_FOUND" => {
                let target = self.step.about.target.as_ref()?;
                Some(Claim::Element { by: By::Text(target.label.clone()), state: State::Exists })
            }
            "tap_element" | "press_back" | "swipe" => {
                claim.filter(|_| said.text("verdict") == "contradicted")
            }
            "wait_for_ui" => claim.filter(|_| !said.flag("success") && message.contains("no such element")),
            "find_element" => {
                claim.filter(|_| !said.is_error && !said.flag("found") && !said.flag("partial"))
            }
            "expect_element_visible" | "expect_state" => {
                claim.filter(|_| matches!(said.code(), "ELEMENT_NOT_FOUND" | "EXPECT_STATE_MISMATCH"))
            }
            "expect_screen" => claim.filter(|_| {
                said.code() == "VERIFICATION_FAILED" && said.text("observed").starts_with("screen ")
            }),
            _ => None,
        }
    }
}
