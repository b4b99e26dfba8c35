//! Predicates about a screen. Waits, expectations and verifications all judge captures with them.

use std::borrow::Cow;

use crate::change::tracker::Observation;
use crate::intent::actionable::{NotActionable, check_within};
use crate::intent::adjust;
use crate::intent::resolve;
use crate::intent::selector::{Selector, TextMatch};
use crate::meaning::label::{self, Value};
use crate::meaning::state::{self, ControlState};
use crate::screen::element::Role;

#[derive(Debug, Clone, PartialEq)]
pub enum Predicate {
    Element {
        selector: Selector,
        expected: Expected,
    },
    /// The short or the full name of the screen in front.
    Screen(String),
    Fingerprint(String),
}

/// The property that the selected element must have.
#[derive(Debug, Clone, PartialEq)]
pub enum Expected {
    Exists,
    NotExists,
    Visible,
    /// Visible and enabled, and the element or one around it reacts to a tap.
    Clickable,
    Enabled(bool),
    Checked(bool),
    Selected(bool),
    /// The option chosen in it, by id or label.
    Choice(String),
    Focused(bool),
    Expanded(bool),
    Value {
        number: f64,
        tolerance: f64,
    },
    Text(TextMatch),
}

/// The result of a predicate on one capture.
#[derive(Debug, Clone, PartialEq)]
pub enum Judgement {
    Holds {
        /// The element for which it holds.
        index: Option<u32>,
    },
    Fails {
        index: Option<u32>,
        /// The state that was seen instead, in words.
        observed: String,
    },
    /// The capture cannot tell: it is damaged, or the platform does not say.
    Unknown { why: String },
    /// Several elements match, and the predicate gives different results for them.
    Ambiguous { indexes: Vec<u32> },
}

impl Judgement {
    pub fn holds(&self) -> bool {
        matches!(self, Judgement::Holds { .. })
    }
}

impl Predicate {
    /// The element that it is about, if it is about one.
    pub fn selector(&self) -> Option<&Selector> {
        match self {
            Predicate::Element { selector, .. } => Some(selector),
            Predicate::Screen(_) | Predicate::Fingerprint(_) => None,
        }
    }

    pub fn judge(&self, seen: &Observation) -> Judgement {
        match self {
            Predicate::Element { selector, expected } => element(seen, selector, expected),
            Predicate::Screen(name) => screen(seen, name),
            Predicate::Fingerprint(print) => {
                let observed = seen.fingerprint.to_string();
                verdict(observed == *print, None, || format!("fingerprint {observed}"))
            }
        }
    }
}

fn verdict(holds: bool, index: Option<u32>, observed: impl FnOnce() -> String) -> Judgement {
    if holds { Judgement::Holds { index } } else { Judgement::Fails { index, observed: observed() } }
}

fn screen(seen: &Observation, name: &str) -> Judgement {
    let Some(screen) = &seen.reading.snapshot.screen else {
        return Judgement::Unknown { why: "the device did not say which screen is in front".to_owned() };
    };
    verdict(screen.is_called(name), None, || format!("screen {}", screen.component()))
}

fn element(seen: &Observation, selector: &Selector, expected: &Expected) -> Judgement {
    let chosen = resolve::to_verify(seen, selector);
    if let Expected::Exists | Expected::NotExists = expected {
        return presence(seen, &chosen, *expected == Expected::Exists);
    }
    if chosen.is_empty() {
        return absent(seen);
    }
    let judgements: Vec<Judgement> = chosen.iter().map(|index| one(seen, *index, expected)).collect();
    // A row, its text and its switch all match one name, but only the switch has a checked state: results of elements
    // that do not say are ignored while another element does say.
    let silent = |judgement: &Judgement| matches!(judgement, Judgement::Unknown { .. });
    let mut telling = judgements.iter().filter(|judgement| !silent(judgement));
    let Some(first) = telling.next().or(judgements.first()) else { return absent(seen) };
    // Several elements are ambiguous only if their results differ.
    let same = |other: &Judgement| std::mem::discriminant(other) == std::mem::discriminant(first);
    if telling.all(same) { first.clone() } else { Judgement::Ambiguous { indexes: chosen } }
}

/// Absence can only be concluded from a whole capture (W10).
fn absent(seen: &Observation) -> Judgement {
    let snapshot = &seen.reading.snapshot;
    if snapshot.proves_absence() {
        return Judgement::Fails { index: None, observed: "no such element".to_owned() };
    }
    let why = if let Some(untold) = snapshot.untold() {
        untold
    } else if snapshot.is_whole() {
        "no window is on the screen"
    } else {
        "the tree is damaged, and the element may be in the missing part"
    };
    Judgement::Unknown { why: why.to_owned() }
}

impl Predicate {
    /// True if a text is expected that a toast could show.
    pub fn may_be_in_a_toast(&self) -> bool {
        let Predicate::Element { selector, expected } = self else { return false };
        selector.text.is_some() && matches!(expected, Expected::Exists | Expected::Visible)
    }

    /// True if this text, which was shown or spoken for a moment, is what was expected to be seen.
    pub fn is_met_by_words(&self, text: &str) -> bool {
        self.may_be_in_a_toast()
            && self.selector().and_then(|selector| selector.text.as_ref()).is_some_and(|t| t.matches(text))
    }
}

fn presence(seen: &Observation, chosen: &[u32], wanted: bool) -> Judgement {
    match (chosen.first(), wanted) {
        (Some(index), true) => Judgement::Holds { index: Some(*index) },
        (None, true) => absent(seen),
        (None, false) if seen.reading.snapshot.proves_absence() => Judgement::Holds { index: None },
        (None, false) => absent(seen),
        (Some(index), false) => {
            Judgement::Fails { index: Some(*index), observed: format!("{} matches", chosen.len()) }
        }
    }
}

fn one(seen: &Observation, index: u32, expected: &Expected) -> Judgement {
    let element = seen.reading.element(index);
    let state = state::read(&seen.reading.snapshot, index as usize);
    let flag = |name: &str, observed: Option<bool>, wanted: bool| match observed {
        Some(observed) => verdict(observed == wanted, Some(index), || format!("{name} {observed}")),
        None => Judgement::Unknown { why: format!("the platform does not say whether it is {name}") },
    };
    match expected {
        Expected::Exists | Expected::NotExists => Judgement::Holds { index: Some(index) },
        Expected::Visible => {
            let visible = seen.reading.nodes[index as usize].visible.is_some();
            verdict(visible, Some(index), || "it is there, but no part of it can be seen".to_owned())
        }
        Expected::Clickable => clickable(seen, index),
        Expected::Enabled(wanted) => flag("enabled", state.enabled, *wanted),
        Expected::Checked(wanted) => flag("checked", state.checked, *wanted),
        Expected::Selected(wanted) => flag("selected", state.selected, *wanted),
        Expected::Focused(wanted) => flag("focused", state.focused, *wanted),
        Expected::Expanded(wanted) => flag("expanded", state.expanded, *wanted),
        Expected::Choice(wanted) => match &state.choice {
            Some(choice) => {
                let names = [choice.id, choice.label.as_deref()];
                let named =
                    names.into_iter().flatten().any(|name| TextMatch::Is(wanted.clone()).matches(name));
                verdict(named, Some(index), || format!("chosen is {:?}", choice.label))
            }
            None => Judgement::Unknown { why: "nothing says what is chosen".to_owned() },
        },
        Expected::Value { number, tolerance } => match state.value.or_else(|| shown_value(seen, index)) {
            Some(value) => {
                verdict((value - number).abs() <= *tolerance, Some(index), || format!("value {value}"))
            }
            None => Judgement::Unknown { why: "it has no readable value".to_owned() },
        },
        Expected::Text(wanted) if element.password => {
            let _ = wanted;
            Judgement::Unknown { why: "the text of a secret field is not compared".to_owned() }
        }
        Expected::Text(wanted) => {
            let held = shown_texts(seen, index, &state);
            let shown = held.first().map(|held| held.as_ref()).unwrap_or_default();
            let is_held = held.iter().any(|held| wanted.matches(held));
            if !is_held && element.text_may_be_hint && wanted.matches("") {
                let why = format!("the field shows {shown:?}, which may be its hint: this tree does not say");
                return Judgement::Unknown { why };
            }
            let holds = is_held || (held.is_empty() && wanted.matches(""));
            verdict(holds, Some(index), || format!("text {shown:?}"))
        }
    }
}

/// The value that stands beside a control, as it is read for adjusting (F22).
fn shown_value(seen: &Observation, index: u32) -> Option<f64> {
    let snapshot = &seen.reading.snapshot;
    let control = adjust::control_for(snapshot, index as usize)?;
    adjust::shown(snapshot, control).map(|shown| shown.value)
}

/// The texts that an element shows, the best first. A field shows what it holds: its hint is no content (F83).
fn shown_texts<'a>(seen: &'a Observation, index: u32, state: &ControlState<'a>) -> Vec<Cow<'a, str>> {
    let element = seen.reading.element(index);
    if element.role == Role::TextField {
        return match state.text_value {
            Some(Value::Text(text)) => vec![Cow::Borrowed(text)],
            _ => Vec::new(),
        };
    }
    let own =
        [state.raw_value, element.text.as_deref(), element.value.as_deref(), element.description.as_deref()];
    let chosen = state.choice.as_ref().and_then(|choice| choice.label.clone());
    let label = label::label(&seen.reading.snapshot, index as usize).map(|label| label.text);
    own.into_iter().flatten().map(Cow::Borrowed).chain(chosen).chain(label).collect()
}

const NO_REACTION: &str = "nothing there reacts to a tap";

fn clickable(seen: &Observation, index: u32) -> Judgement {
    let Some((owner, _)) = resolve::owner(&seen.reading, index) else {
        return Judgement::Fails { index: Some(index), observed: NO_REACTION.to_owned() };
    };
    let observed = match check_within(&seen.reading, owner, index) {
        Ok(_) => return Judgement::Holds { index: Some(owner) },
        Err(NotActionable::OutOfSight) => "no part of it can be seen".to_owned(),
        Err(NotActionable::Covered { by }) => format!("it is covered by {}", resolve::describe(seen, by)),
        Err(NotActionable::Disabled) => "it is disabled".to_owned(),
        Err(NotActionable::Static { .. } | NotActionable::Doubtful { .. }) => NO_REACTION.to_owned(),
    };
    Judgement::Fails { index: Some(owner), observed }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::change::tracker::Tracker;
    use crate::meaning::sketch::sketch;
    use crate::screen::snapshot::{Defect, DefectKind, Snapshot};

    const FORM: &str = r#"
        FrameLayout [0,0][1080,2400]
          LinearLayout [0,0][1080,100] click
            TextView [0,0][500,100] text:"Wi-Fi"
            Switch [900,0][1080,100] check=on id:wifi
          Switch [0,100][1080,200] click check=off id:tone text:"Tone"
          Switch [0,200][1080,300] click check=on id:tone text:"Tone"
          SeekBar [0,300][1080,400] text:"38.0" id:volume
          TextView [0,2500][1080,2600] text:"Below"
          EditText [0,500][1080,600] password text:"hunter2" id:secret
        "#;

    fn seen(snapshot: Snapshot) -> Arc<Observation> {
        Tracker::default().observe(snapshot, 0)
    }

    fn judge(selector: Selector, expected: Expected) -> Judgement {
        Predicate::Element { selector, expected }.judge(&seen(sketch(FORM)))
    }

    fn text(text: &str) -> Selector {
        Selector { text: Some(TextMatch::Is(text.to_owned())), ..Selector::default() }
    }

    fn id(id: &str) -> Selector {
        Selector { resource_id: Some(id.to_owned()), ..Selector::default() }
    }

    #[test]
    fn each_kind_of_state_is_judged_on_the_capture() {
        assert!(judge(id("wifi"), Expected::Checked(true)).holds());
        assert!(matches!(
            judge(id("wifi"), Expected::Checked(false)),
            Judgement::Fails { index: Some(3), .. }
        ));
        assert!(judge(id("volume"), Expected::Value { number: 38.2, tolerance: 0.5 }).holds());
        assert!(!judge(id("volume"), Expected::Value { number: 39.0, tolerance: 0.5 }).holds());
        assert!(judge(text("Wi-Fi"), Expected::Clickable).holds(), "its row takes the tap");
        let alert = "FrameLayout [0,0][1080,2400]\n  Button [0,0][1080,100] click text:\"Pay\"\n\
                     FrameLayout [0,0][1080,2400]\n  TextView [0,0][1080,2400] click text:\"Wait\"";
        let covered = Predicate::Element { selector: text("Pay"), expected: Expected::Clickable };
        assert!(!covered.judge(&seen(sketch(alert))).holds(), "what an action would refuse is not clickable");
        assert!(matches!(judge(text("Below"), Expected::Visible), Judgement::Fails { .. }));
        assert!(judge(text("Below"), Expected::Exists).holds());
        assert!(matches!(judge(id("wifi"), Expected::Expanded(true)), Judgement::Unknown { .. }), "ST-01");
    }

    #[test]
    fn a_value_beside_a_slider_is_its_value() {
        // F22
        let zoom = r#"
            FrameLayout [0,0][1080,2400]
              LinearLayout [0,0][1080,200]
                TextView [0,0][500,100] text:"Zoom"
                TextView [900,0][1080,100] text:"5.5x"
                SeekBar [0,100][1080,200] id:zoom
            "#;
        let seen = seen(sketch(zoom));
        let value = |number| {
            let expected = Expected::Value { number, tolerance: 0.1 };
            Predicate::Element { selector: id("zoom"), expected }.judge(&seen)
        };
        assert!(value(5.5).holds(), "{:?}", value(5.5));
        assert!(matches!(value(7.0), Judgement::Fails { .. }));
    }

    #[test]
    fn matches_with_different_results_are_ambiguous() {
        // W23
        assert!(matches!(judge(id("tone"), Expected::Checked(true)), Judgement::Ambiguous { .. }));
        assert!(judge(id("tone"), Expected::Visible).holds(), "they agree");
        assert!(judge(Selector { index: Some(1), ..id("tone") }, Expected::Checked(true)).holds());
        let third = Selector { index: Some(2), ..id("tone") };
        assert!(matches!(judge(third, Expected::Checked(true)), Judgement::Fails { index: None, .. }));
    }

    #[test]
    fn a_secret_is_not_compared() {
        // ST-07
        let guess = Expected::Text(TextMatch::Is("hunter2".into()));
        assert!(matches!(judge(id("secret"), guess), Judgement::Unknown { .. }));
        assert!(matches!(judge(text("hunter2"), Expected::Exists), Judgement::Fails { .. }));
    }

    #[test]
    fn absence_needs_a_whole_tree() {
        // W10
        let gone = || Predicate::Element { selector: text("Nowhere"), expected: Expected::NotExists };
        assert!(gone().judge(&seen(sketch(FORM))).holds());
        let defect = Defect { kind: DefectKind::Truncated, offset: 0, detail: String::new() };
        let damaged = Snapshot { defects: vec![defect], ..sketch(FORM) };
        assert!(matches!(gone().judge(&seen(damaged)), Judgement::Unknown { .. }));
        let between_windows = Snapshot { elements: Vec::new(), ..sketch(FORM) };
        assert!(matches!(gone().judge(&seen(between_windows)), Judgement::Unknown { .. }));
    }
}
