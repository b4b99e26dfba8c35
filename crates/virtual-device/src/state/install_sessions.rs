//! Install sessions that are not committed yet.

use std::collections::BTreeMap;

use bytes::Bytes;

const SESSIONS_MAX: usize = 16;
const FIRST_SESSION: u32 = 1001;

#[derive(Debug, Default)]
pub struct InstallSessions {
    /// The base file of each session, by its number.
    files: BTreeMap<u32, Bytes>,
}

impl InstallSessions {
    /// Returns nothing when too many are open.
    pub fn create(&mut self) -> Option<u32> {
        let id = self.files.keys().last().map_or(FIRST_SESSION, |last| last.saturating_add(1));
        let free = self.files.len() < SESSIONS_MAX;
        if free {
            self.files.insert(id, Bytes::new());
        }
        free.then_some(id)
    }

    /// Adds a file; the first one of a session is its base. False when there is no such session.
    pub fn write(&mut self, id: u32, file: Bytes) -> bool {
        let session = self.files.get_mut(&id);
        let known = session.is_some();
        if let Some(base) = session.filter(|base| base.is_empty()) {
            *base = file;
        }
        known
    }

    /// Ends a session and returns its base file.
    pub fn take(&mut self, id: u32) -> Option<Bytes> {
        self.files.remove(&id)
    }
}
