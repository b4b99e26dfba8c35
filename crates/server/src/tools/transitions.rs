//! The states that an action went through, and when.

use mdm_core::action::trace::Trace;
use serde::{Serialize, Serializer};

/// The life of an action (LC-01), as an object in the order of its states.
#[derive(Debug)]
pub struct Transitions(Vec<(&'static str, u64)>);

impl Transitions {
    pub fn once(state: &'static str, at_ms: u64) -> Transitions {
        Transitions(vec![(state, at_ms)])
    }

    pub fn new(trace: &Trace) -> Transitions {
        let mut states: Vec<(&'static str, u64)> = Vec::new();
        for (state, at_ms) in &trace.transitions {
            states.retain(|(known, _)| *known != state.as_str());
            states.push((state.as_str(), at_ms.saturating_sub(trace.began_ms)));
        }
        Transitions(states)
    }
}

impl Serialize for Transitions {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().copied())
    }
}
