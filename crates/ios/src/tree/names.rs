//! Type names, each read once: a screen repeats a few of them on every element.

use std::sync::Arc;

use super::text::{Faults, Text};

/// More different names than this are read anew each time; real screens have about twenty.
const NAMES_MAX: usize = 64;

#[derive(Default)]
pub(super) struct Names {
    known: Vec<Arc<str>>,
}

impl Names {
    pub fn read(&mut self, name: Text<'_>, bytes_max: usize, faults: &mut Faults) -> Arc<str> {
        // A name that is written with an escape is rare, and is only not found here.
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
