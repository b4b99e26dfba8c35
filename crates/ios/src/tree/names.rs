//! Caches type names, because a screen repeats a few of them on every element.

use std::sync::Arc;

use super::text::{Faults, Text};

/// Names that are cached; real screens have about twenty.
const NAMES_MAX: usize = 64;

#[derive(Default)]
pub(super) struct Names {
    known: Vec<Arc<str>>,
}

impl Names {
    pub fn read(&mut self, name: Text<'_>, bytes_max: usize, faults: &mut Faults) -> Arc<str> {
        // A name with an escape is never found here, which only costs time and is rare.
        if let Some(known) = self.known.iter().find(|known| known.as_bytes() == name.raw()) {
            return Arc::clone(known);
        }
        let read: Arc<str> = name.read(bytes_max, faults).unwrap_or_default().into();
        if self.known.len() < NAMES_MAX {
            self.known.push(Arc::clone(&read));
        }
        read
    }
}
