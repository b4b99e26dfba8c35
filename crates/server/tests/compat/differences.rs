//! The differences that are known, with their reasons.

use serde::Deserialize;

use crate::play::Played;
use crate::shape::Difference;

#[derive(Deserialize)]
pub struct Known {
    #[serde(default)]
    pub difference: Vec<Reason>,
}

/// One reason, and what it explains.
#[derive(Deserialize)]
pub struct Reason {
    pub id: String,
    /// Names of recordings; `*` stands for any characters.
    pub calls: Vec<String>,
    /// Places in the answer, as `what path`.
    pub places: Vec<String>,
    /// For the page that is made of it.
    pub why: String,
}

impl Known {
    pub fn load() -> Known {
        let known: Known = toml::from_str(&file("differences.toml")).expect("differences.toml");
        assert!(
            known.difference.iter().all(|one| !one.why.trim().is_empty()),
            "every difference has a reason"
        );
        known
    }

    /// The reason of a difference.
    pub fn reason(&self, name: &str, difference: &Difference) -> Option<&Reason> {
        self.difference.iter().find(|reason| reason.explains(name, difference))
    }

    /// What is listed and did not occur.
    pub fn unused(&self, played: &[Played]) -> Vec<String> {
        let mut unused = Vec::new();
        for reason in &self.difference {
            let explained = |call: Option<&str>, place: Option<&str>| {
                played.iter().any(|one| {
                    let first = one.differences.iter().filter(|difference| {
                        self.reason(&one.name, difference).is_some_and(|found| found.id == reason.id)
                    });
                    call.is_none_or(|call| is_like(call, &one.name))
                        && first.into_iter().any(|d| place.is_none_or(|place| is_like(place, &place_of(d))))
                })
            };
            let calls = reason.calls.iter().filter(|call| !explained(Some(call), None));
            unused.extend(calls.map(|call| format!("{}: calls {call}", reason.id)));
            let places = reason.places.iter().filter(|place| !explained(None, Some(place)));
            unused.extend(places.map(|place| format!("{}: places {place}", reason.id)));
        }
        unused
    }
}

impl Reason {
    fn explains(&self, name: &str, difference: &Difference) -> bool {
        self.calls.iter().any(|call| is_like(call, name))
            && self.places.iter().any(|place| is_like(place, &place_of(difference)))
    }
}

pub fn place_of(difference: &Difference) -> String {
    format!("{} {}", difference.what.name(), difference.path)
}

/// A file beside this one.
pub fn file(name: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/compat").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// `*` stands for any characters.
fn is_like(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((begin, rest)) => text.strip_prefix(begin).is_some_and(|text| {
            text.char_indices().map(|(at, _)| at).chain([text.len()]).any(|at| is_like(rest, &text[at..]))
        }),
    }
}

#[test]
fn a_star_stands_for_any_characters() {
    assert!(is_like("type *.state.selected", "type 0.elements[].state.selected"));
    assert!(is_like("*", "") && is_like("a*", "a") && !is_like("a*b", "ac") && is_like("a", "a"));
}
