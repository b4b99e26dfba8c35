//! Oracle 7 for touches by words, and controls that are falsely called covered.

use mdm_virtual_device::{Applied, Datum, Frame};
use serde_json::Value;

use super::{Judge, Oracle, TAP_FAULTS};
use crate::datum::{Shown, control_at, words};
use crate::world::ToolAnswer;

/// What a selector asks for, as far as it is words.
struct Asked {
    text: String,
    inside: Option<String>,
}

impl Asked {
    fn read(arguments: &Value) -> Option<Asked> {
        let selector = arguments.get("selector")?;
        let text = |of: &Value| of.get("text").and_then(Value::as_str).map(str::to_owned);
        let inside = selector.get("inside");
        Some(Asked { text: text(selector)?, inside: inside.and_then(text) })
    }

    /// Returns the nodes that show these words, within the thing that shows the others.
    fn shown<'a>(&self, frame: &'a Frame) -> Vec<Shown<'a>> {
        let whole = self.fitting(frame, &|text, words| text.eq_ignore_ascii_case(words));
        if whole.is_empty() { self.fitting(frame, &says) } else { whole }
    }

    fn fitting<'a>(&self, frame: &'a Frame, says_own: &dyn Fn(&str, &str) -> bool) -> Vec<Shown<'a>> {
        let fits = |shown: &Shown<'_>| {
            let node = shown.node();
            let own = [&node.text, &node.description, &node.hint]
                .into_iter()
                .any(|text| says_own(text, &self.text));
            let around = |inside: &String| {
                let thing = node.datum.as_ref().map(|datum| words(frame, &datum.thing)).unwrap_or_default();
                thing.iter().any(|text| says(text, inside))
            };
            own && self.inside.as_ref().is_none_or(around)
        };
        (0..frame.nodes.len()).map(|at| Shown { frame, at }).filter(fits).collect()
    }
}

/// Returns true if a text says these words: as a whole, or as one of the texts that a framework has joined.
fn says(text: &str, words: &str) -> bool {
    let parts = text.split('\n').chain(text.split(", ")).chain([text]);
    parts.into_iter().any(|part| part.eq_ignore_ascii_case(words))
}

impl Judge<'_> {
    /// Oracle 7: a touch by words lands on something that shows them, and on no silent choice among several.
    pub(super) fn named(&mut self, answer: &ToolAnswer) {
        if self.planned.tool != "tap_element" || self.had_fault(&TAP_FAULTS) {
            return;
        }
        let Some(asked) = Asked::read(&self.planned.arguments) else { return };
        for (at, input, met) in self.call.own_touches() {
            let Applied::Tap { at: point, hit } = &input else { continue };
            let Some(seen) = self.call.seen_before(at, met) else { continue };
            let fitting = asked.shown(seen);
            let meant: Vec<Datum> = fitting.iter().flat_map(|shown| shown.touchable()).collect();
            let Some(datum) = hit.as_ref().and_then(|hit| hit.datum.clone()) else { continue };
            let there = control_at(seen, *point).and_then(|node| node.datum.clone());
            let mut controls: Vec<Datum> = fitting.iter().filter_map(|shown| shown.control()).collect();
            controls.sort();
            controls.dedup();
            self.judged.by_words += 1;
            if !meant.contains(&datum) {
                if answer.tells_doubt() {
                    // Counted by the oracle of the aim.
                } else if there.is_some_and(|there| meant.contains(&there)) {
                    self.judged.moved += 1;
                } else {
                    let why = format!(
                        "asked for {:?}, and the touch met {datum}",
                        self.planned.arguments["selector"]
                    );
                    self.report(Oracle::Datum, why);
                }
            } else if controls.len() > 1
                && answer.facts.get("target").is_none_or(|t| t.get("confidence").is_none())
            {
                let asked = &self.planned.arguments["selector"];
                let why = format!("{asked} fits {controls:?}, and one was touched without a word");
                self.report(Oracle::Datum, why);
            }
        }
    }

    /// Returns true if several controls show the words that were asked for, the touch met one of them, and the answer
    /// tells how sure it is: nobody could know which of them was meant.
    pub(super) fn chose_and_said_so(&self, answer: &ToolAnswer, touch: &(u64, Applied, usize)) -> bool {
        let (at, input, met) = touch;
        let Applied::Tap { hit: Some(hit), .. } = input else { return false };
        let asked = Asked::read(&self.planned.arguments);
        let (Some(asked), Some(seen)) = (asked, self.call.seen_before(*at, *met)) else { return false };
        let fitting = asked.shown(seen);
        let mut controls: Vec<Datum> = fitting.iter().filter_map(|shown| shown.control()).collect();
        controls.sort();
        controls.dedup();
        let is_one = hit.datum.as_ref().is_some_and(|datum| controls.contains(datum));
        let is_told = answer.facts.get("target").is_some_and(|target| target.get("confidence").is_some());
        controls.len() > 1 && is_one && is_told
    }

    /// Oracle 6: a control that a touch would have reached is not called covered.
    pub(super) fn covered(&mut self, answer: &ToolAnswer) {
        let message =
            answer.facts.get("error").and_then(|error| error.get("message")).and_then(Value::as_str);
        if self.planned.tool != "tap_element" || !message.is_some_and(|message| message.contains("covered")) {
            return;
        }
        let Some(asked) = Asked::read(&self.planned.arguments) else { return };
        let Some(seen) = self.call.seen_before(self.call.to_ms, usize::MAX) else { return };
        let [one] = asked.shown(seen)[..] else { return };
        let (left, top, right, bottom) = one.node().visible;
        let there = control_at(seen, ((left + right) / 2, (top + bottom) / 2));
        let there = there.and_then(|node| node.datum.clone());
        let reachable = there.is_some_and(|there| one.touchable().contains(&there));
        self.judged.denials += 1;
        if reachable {
            let why = format!("{:?} is called covered, and a touch would have reached it", asked.text);
            self.report(Oracle::Missing, why);
        }
    }
}
