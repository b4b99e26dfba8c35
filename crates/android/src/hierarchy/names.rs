//! Caches class and package names, because a screen repeats a few of them on every node.

use std::sync::Arc;

use super::value::{self, ValueFaults};

/// Names that are cached; real screens have about twenty.
const NAMES_MAX: usize = 64;

#[derive(Default)]
pub(super) struct Names<'a> {
    /// Raw names with their decoded text.
    known: Vec<(&'a [u8], Arc<str>)>,
}

impl<'a> Names<'a> {
    pub fn read(&mut self, raw: &'a [u8], bytes_max: usize, faults: &mut ValueFaults) -> Arc<str> {
        if let Some((_, name)) = self.known.iter().find(|(known, _)| *known == raw) {
            return Arc::clone(name);
        }
        let name: Arc<str> = value::text(raw, bytes_max, faults).unwrap_or_default().into();
        if self.known.len() < NAMES_MAX {
            self.known.push((raw, Arc::clone(&name)));
        }
        name
    }
}
