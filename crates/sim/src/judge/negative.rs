//! Oracle 6: an element that was there during the whole call is not called missing or different.

use super::{Judge, Oracle};
use crate::claim::{By, Claim, State};
use crate::world::ToolAnswer;

impl Judge<'_> {
    pub(super) fn missing(&mut self, answer: &ToolAnswer) {
        let Some(claim) = self.denied(answer) else { return };
        self.judged.denials += 1;
        let frames = self.call.film.between(self.call.from_ms, self.call.to_ms);
        if !frames.is_empty() && frames.iter().all(|frame| claim.must_hold(frame)) {
            self.report(
                Oracle::Missing,
                format!("{} denies {claim:?}, which was so throughout", self.planned.tool),
            );
        }
    }

    /// Returns the claim that the answer denies.
    fn denied(&self, answer: &ToolAnswer) -> Option<Claim> {
        let claim = self.planned.meaning.claim.clone();
        let message = answer.facts.get("error").and_then(|error| error.get("message"));
        let message = message.and_then(|message| message.as_str()).unwrap_or_default();
        match self.planned.tool {
            "tap_element" if answer.code() == "ELEMENT_NOT_FOUND" => {
                let target = self.planned.meaning.target.as_ref()?;
                Some(Claim::Element { by: By::Text(target.label.clone()), state: State::Exists })
            }
            "tap_element" | "press_back" | "swipe" => {
                claim.filter(|_| answer.text("verdict") == "contradicted")
            }
            "wait_for_ui" => {
                claim.filter(|_| !answer.flag("success") && message.contains("nothing on the screen matches"))
            }
            "find_element" => {
                let looked = answer.facts.get("found").is_some();
                claim.filter(|_| looked && !answer.flag("found") && !answer.flag("partial"))
            }
            "expect_element_visible" | "expect_state" => {
                claim.filter(|_| matches!(answer.code(), "ELEMENT_NOT_FOUND" | "EXPECT_STATE_MISMATCH"))
            }
            "expect_screen" => claim.filter(|_| {
                answer.code() == "VERIFICATION_FAILED" && answer.text("observed").starts_with("screen ")
            }),
            _ => None,
        }
    }
}
