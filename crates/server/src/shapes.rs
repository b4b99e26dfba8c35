//! Takes texts that are sensitive by their shape out of what leaves, and numbers them, so that two of them can be told
//! apart (SE-06). What a caller wrote itself it may read.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, RandomState};
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use mdm_core::evidence::sensitive::{self, Kind};
use serde_json::Value;

use crate::args::JsonObject;

/// Texts that have a number or were told; further ones have none.
const NUMBERED_MAX: usize = 4096;
/// Texts that were told and are remembered.
const TOLD_MAX: usize = 1024;
/// Levels of an answer that are searched for secrets.
const NESTING_MAX: usize = 16;

#[derive(Default)]
pub struct Shapes {
    /// Not the texts: what stays in memory shall tell nobody anything.
    hashes: RandomState,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    shown: Vec<Kind>,
    numbers: BTreeMap<(Kind, u64), usize>,
    /// The last number of each kind.
    last: BTreeMap<Kind, usize>,
    told: BTreeMap<u64, ()>,
}

impl std::fmt::Debug for Shapes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Shapes")
    }
}

impl Shapes {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn show(&self, kinds: &[Kind]) {
        self.state().shown.extend(kinds);
    }

    /// What a caller wrote in its arguments is no secret for it.
    pub fn note_told(&self, arguments: &JsonObject) {
        arguments.values().for_each(|value| self.note_value(value, 0));
    }

    fn note_value(&self, value: &Value, depth: usize) {
        match value {
            _ if depth > NESTING_MAX => {}
            Value::String(text) => {
                for (place, _) in sensitive::find(text) {
                    let hash = self.hash(&text[place]);
                    let mut state = self.state();
                    if state.told.len() < TOLD_MAX {
                        state.told.insert(hash, ());
                    }
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.note_value(item, depth + 1)),
            Value::Object(object) => object.values().for_each(|item| self.note_value(item, depth + 1)),
            _ => {}
        }
    }

    fn hash(&self, text: &str) -> u64 {
        self.hashes.hash_one(text.to_ascii_lowercase())
    }

    fn hidden(&self, text: &str) -> Vec<(Range<usize>, Kind, u64)> {
        let found = sensitive::find(text);
        if found.is_empty() {
            return Vec::new();
        }
        let state = self.state();
        let hidden = found.into_iter().filter_map(|(place, kind)| {
            let hash = self.hash(&text[place.clone()]);
            (!state.shown.contains(&kind) && !state.told.contains_key(&hash)).then_some((place, kind, hash))
        });
        hidden.collect()
    }

    pub fn occur_in(&self, text: &str) -> bool {
        !self.hidden(text).is_empty()
    }

    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let hidden = self.hidden(text);
        if hidden.is_empty() {
            return Cow::Borrowed(text);
        }
        let (mut out, mut done) = (String::with_capacity(text.len()), 0);
        for (place, kind, hash) in hidden {
            out.push_str(&text[done..place.start]);
            out.push_str(&self.mark(kind, hash));
            done = place.end;
        }
        out.push_str(&text[done..]);
        Cow::Owned(out)
    }

    /// `[email 2]`: the second address that was seen.
    fn mark(&self, kind: Kind, hash: u64) -> String {
        let State { numbers, last, .. } = &mut *self.state();
        if let Some(number) = numbers.get(&(kind, hash)) {
            return format!("[{} {number}]", kind.as_str());
        }
        if numbers.len() >= NUMBERED_MAX {
            return format!("[{}]", kind.as_str());
        }
        let number = last.entry(kind).or_default();
        *number += 1;
        numbers.insert((kind, hash), *number);
        format!("[{} {number}]", kind.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_text_has_the_same_number_and_another_another() {
        // SE-06
        let shapes = Shapes::default();
        assert_eq!(shapes.redact("a@b.io c@d.io A@b.io"), "[email 1] [email 2] [email 1]");
        assert_eq!(shapes.redact("to c@d.io, 4111111111111111"), "to [email 2], [card 1]");
        assert!(matches!(shapes.redact("nothing here"), Cow::Borrowed(_)));
        for number in 0..NUMBERED_MAX {
            shapes.redact(&format!("a{number}@b.io"));
        }
        assert_eq!(shapes.redact("A@b.io new@b.io"), "[email 1] [email]");
    }

    #[test]
    fn what_has_no_number_any_more_is_hidden_all_the_same() {
        let shapes = Shapes::default();
        let all: String = (0..NUMBERED_MAX + 2).map(|number| format!("a{number}@b.io ")).collect();
        let shown = shapes.redact(&all).into_owned();
        assert!(shown.ends_with(&format!("[email {NUMBERED_MAX}] [email] [email] ")), "{shown:.100}");
        assert_eq!(shapes.redact(&all), shown, "the numbers stay");
    }

    #[test]
    fn what_a_caller_wrote_it_may_read() {
        let shapes = Shapes::default();
        let arguments = r#"{"steps":[{"arguments":{"text":"ada@example.com"}}]}"#;
        shapes.note_told(&serde_json::from_str(arguments).unwrap());
        assert_eq!(shapes.redact("ada@example.com or bob@example.com"), "ada@example.com or [email 1]");
        assert!(!shapes.occur_in("ADA@example.com"));
    }

    #[test]
    fn kinds_can_be_shown() {
        let shapes = Shapes::default();
        shapes.show(&[Kind::Email]);
        assert_eq!(shapes.redact("a@b.io 4111111111111111"), "a@b.io [card 1]");
    }
}
