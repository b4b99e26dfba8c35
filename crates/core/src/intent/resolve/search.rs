//! A search for all candidates, as opposed to the one element that is acted on.

use super::{Candidate, best, candidates, chosen, find};
use crate::change::tracker::Observation;
use crate::intent::selector::{Selector, TextMatch};

#[derive(Debug, Clone, PartialEq)]
pub enum Search {
    /// Free words: an id, an identifier, a text, a role. `exact`: whole texts only.
    Words {
        words: String,
        exact: bool,
    },
    Selector(Selector),
}

/// The result of a search on one capture.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchResult {
    /// All candidates; free words give the best first, a selector document order.
    pub all: Vec<Candidate>,
    /// The best candidate, or several that are equally good.
    pub best: Vec<Candidate>,
}

impl Search {
    pub fn on(&self, seen: &Observation) -> SearchResult {
        let (all, index) = match self {
            Search::Words { words, exact } => (find(seen, words, *exact), None),
            Search::Selector(selector) => (candidates(seen, selector), selector.index),
        };
        let best = index.map_or_else(|| best(seen, &all), |index| chosen(&all, index));
        SearchResult { all, best }
    }

    /// The search as a selector, to tell what came near it.
    pub fn as_selector(&self) -> Selector {
        match self {
            Search::Words { words, .. } => {
                let text = Some(TextMatch::Is(words.trim().to_owned()));
                Selector { text, ..Selector::default() }
            }
            Search::Selector(selector) => selector.clone(),
        }
    }

    pub fn finds_anything(&self, seen: &Observation) -> bool {
        !self.on(seen).best.is_empty()
    }
}
