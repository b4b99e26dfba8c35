//! What must hold: the only predicate language. Waits wait for it, expectations and verifications are judged by it.

use crate::query::{Query, TextMatch};
use crate::resolve;
use crate::state;
use crate::tracker::Seen;

#[derive(Debug, Clone, PartialEq)]
pub enum Condition {
    Element {
        query: Query,
        expected: Expected,
    },
    /// The short or the full name of the activity in front.
    Screen(String),
    Fingerprint(String),
}

/// What is asked of the element that the query means.
#[derive(Debug, Clone, PartialEq)]
pub enum Expected {
    Exists,
    NotExists,
    Visible,
    /// On the screen, enabled, and it or what is around it reacts to a tap.
    Clickable,
    Enabled(bool),
    Checked(bool),
    Selected(bool),
    /// The one option that is chosen in it, by id or label.
    Choice(String),
    Focused(bool),
    Expanded(bool),
    Value {
        number: f64,
        tolerance: f64,
    },
    Text(TextMatch),
}

/// How a condition stands on one capture.
#[derive(Debug, Clone, PartialEq)]
pub enum Standing {
    Holds {
        /// The element that it holds for.
        index: Option<u32>,
    },
    Fails {
        index: Option<u32>,
        /// What was seen instead.
        observed: String,
    },
    /// The capture cannot tell: it is damaged, or the platform does not say.
    Unknown { why: String },
    /// Several elements are meant, and they differ in what is asked.
    Ambiguous { indexes: Vec<u32> },
}

impl Standing {
    pub fn holds(&self) -> bool {
        matches!(self, Standing::Holds { .. })
    }
}

impl Condition {
    pub fn judge(&self, seen: &Seen) -> Standing {
        match self {
            Condition::Element { query, expected } => element(seen, query, expected),
            Condition::Screen(name) => screen(seen, name),
            Condition::Fingerprint(print) => {
                let observed = seen.fingerprint.to_string();
                verdict(observed == *print, None, || format!("fingerprint {observed}"))
            }
        }
    }
}

fn verdict(holds: bool, index: Option<u32>, observed: impl FnOnce() -> String) -> Standing {
    if holds { Standing::Holds { index } } else { Standing::Fails { index, observed: observed() } }
}

fn screen(seen: &Seen, name: &str) -> Standing {
    let Some(screen) = &seen.reading.snapshot.screen else {
        return Standing::Unknown { why: "the device did not say which screen is in front".to_owned() };
    };
    let names = [screen.activity.as_str(), screen.short_activity(), &screen.component()];
    verdict(names.contains(&name), None, || format!("screen {}", screen.component()))
}

fn element(seen: &Seen, query: &Query, expected: &Expected) -> Standing {
    let chosen = match query.index {
        // Counted as where something is acted on.
        Some(index) => {
            let all = resolve::candidates(seen, query);
            all.get(index).map(|candidate| candidate.matched).into_iter().collect()
        }
        None => query.matches(seen),
    };
    if let Expected::Exists | Expected::NotExists = expected {
        return presence(seen, &chosen, *expected == Expected::Exists);
    }
    if chosen.is_empty() {
        return absent(seen);
    }
    let standings: Vec<Standing> = chosen.iter().map(|index| one(seen, *index, expected)).collect();
    // A row, its words and its switch answer to one name, and only the switch is checked or not: what does not say is
    // not asked while another does.
    let silent = |standing: &Standing| matches!(standing, Standing::Unknown { .. });
    let mut telling = standings.iter().filter(|standing| !silent(standing));
    let Some(first) = telling.next().or(standings.first()) else { return absent(seen) };
    // Several that agree are no question; several that differ are one.
    let same = |other: &Standing| std::mem::discriminant(other) == std::mem::discriminant(first);
    if telling.all(same) { first.clone() } else { Standing::Ambiguous { indexes: chosen } }
}

/// "Not there" can only be said of a whole capture (W10).
fn absent(seen: &Seen) -> Standing {
    if seen.reading.snapshot.is_whole() {
        return Standing::Fails { index: None, observed: "no such element".to_owned() };
    }
    Standing::Unknown { why: "the tree is damaged, and the element may be in the missing part".to_owned() }
}

fn presence(seen: &Seen, chosen: &[u32], wanted: bool) -> Standing {
    match (chosen.first(), wanted) {
        (Some(index), true) => Standing::Holds { index: Some(*index) },
        (None, true) => absent(seen),
        (None, false) if seen.reading.snapshot.is_whole() => Standing::Holds { index: None },
        (None, false) => absent(seen),
        (Some(index), false) => {
            Standing::Fails { index: Some(*index), observed: format!("{} matches", chosen.len()) }
        }
    }
}

fn one(seen: &Seen, index: u32, expected: &Expected) -> Standing {
    let element = seen.reading.element(index);
    let state = state::read(&seen.reading.snapshot, index as usize);
    let flag = |name: &str, observed: Option<bool>, wanted: bool| match observed {
        Some(observed) => verdict(observed == wanted, Some(index), || format!("{name} {observed}")),
        None => Standing::Unknown { why: format!("the platform does not say whether it is {name}") },
    };
    match expected {
        Expected::Exists | Expected::NotExists => Standing::Holds { index: Some(index) },
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
            None => Standing::Unknown { why: "nothing says what is chosen".to_owned() },
        },
        Expected::Value { number, tolerance } => match state.value {
            Some(value) => {
                verdict((value - number).abs() <= *tolerance, Some(index), || format!("value {value}"))
            }
            None => Standing::Unknown { why: "it has no readable value".to_owned() },
        },
        Expected::Text(wanted) if element.password => {
            let _ = wanted;
            Standing::Unknown { why: "the text of a secret field is not compared".to_owned() }
        }
        Expected::Text(wanted) => {
            let held = state.raw_value.or(element.text.as_deref()).or(element.description.as_deref());
            let held = held.unwrap_or_default();
            verdict(wanted.matches(held), Some(index), || format!("text {held:?}"))
        }
    }
}

fn clickable(seen: &Seen, index: u32) -> Standing {
    let Some((owner, _)) = resolve::owner(&seen.reading, index) else {
        return Standing::Fails { index: Some(index), observed: "nothing there reacts to a tap".to_owned() };
    };
    let visible = seen.reading.nodes[index as usize].visible.is_some();
    let enabled = seen.reading.element(owner).state.enabled != Some(false);
    let why = if visible { "it is disabled" } else { "no part of it can be seen" };
    verdict(visible && enabled, Some(owner), || why.to_owned())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::sketch::sketch;
    use crate::snapshot::{Defect, DefectKind, Snapshot};
    use crate::tracker::Tracker;

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

    fn seen(snapshot: Snapshot) -> Arc<Seen> {
        Tracker::default().observe(snapshot, 0)
    }

    fn judge(query: Query, expected: Expected) -> Standing {
        Condition::Element { query, expected }.judge(&seen(sketch(FORM)))
    }

    fn text(text: &str) -> Query {
        Query { text: Some(TextMatch::Is(text.to_owned())), ..Query::default() }
    }

    fn id(id: &str) -> Query {
        Query { resource_id: Some(id.to_owned()), ..Query::default() }
    }

    #[test]
    fn state_is_judged_by_what_is_there() {
        assert!(judge(id("wifi"), Expected::Checked(true)).holds());
        assert!(matches!(
            judge(id("wifi"), Expected::Checked(false)),
            Standing::Fails { index: Some(3), .. }
        ));
        assert!(judge(id("volume"), Expected::Value { number: 38.2, tolerance: 0.5 }).holds());
        assert!(!judge(id("volume"), Expected::Value { number: 39.0, tolerance: 0.5 }).holds());
        assert!(judge(text("Wi-Fi"), Expected::Clickable).holds(), "its row takes the tap");
        assert!(matches!(judge(text("Below"), Expected::Visible), Standing::Fails { .. }));
        assert!(judge(text("Below"), Expected::Exists).holds());
        assert!(matches!(judge(id("wifi"), Expected::Expanded(true)), Standing::Unknown { .. }), "ST-01");
    }

    #[test]
    fn several_that_differ_are_a_question() {
        // W23
        assert!(matches!(judge(id("tone"), Expected::Checked(true)), Standing::Ambiguous { .. }));
        assert!(judge(id("tone"), Expected::Visible).holds(), "they agree");
        assert!(judge(Query { index: Some(1), ..id("tone") }, Expected::Checked(true)).holds());
        let third = Query { index: Some(2), ..id("tone") };
        assert!(matches!(judge(third, Expected::Checked(true)), Standing::Fails { index: None, .. }));
    }

    #[test]
    fn a_secret_is_not_compared() {
        // ST-07
        let guess = Expected::Text(TextMatch::Is("hunter2".into()));
        assert!(matches!(judge(id("secret"), guess), Standing::Unknown { .. }));
        assert!(matches!(judge(text("hunter2"), Expected::Exists), Standing::Fails { .. }));
    }

    #[test]
    fn absence_needs_a_whole_tree() {
        // W10
        let gone = || Condition::Element { query: text("Nowhere"), expected: Expected::NotExists };
        assert!(gone().judge(&seen(sketch(FORM))).holds());
        let defect = Defect { kind: DefectKind::Truncated, offset: 0, detail: String::new() };
        let damaged = Snapshot { defects: vec![defect], ..sketch(FORM) };
        assert!(matches!(gone().judge(&seen(damaged)), Standing::Unknown { .. }));
    }
}
