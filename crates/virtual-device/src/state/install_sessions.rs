//! Install sessions that are not committed yet.

use std::collections::BTreeMap;

use bytes::Bytes;

const SESSIONS_MAX: usize = 16;
/// Files of one session.
const FILES_MAX: usize = 128;
const FIRST_SESSION: u32 = 1001;

#[derive(Debug, Default)]
pub struct InstallSessions {
    /// The files of each session, by its number.
    files: BTreeMap<u32, Vec<Bytes>>,
}

impl InstallSessions {
    /// Returns nothing when too many are open.
    pub fn create(&mut self) -> Option<u32> {
        let id = self.files.keys().last().map_or(FIRST_SESSION, |last| last.saturating_add(1));
        let free = self.files.len() < SESSIONS_MAX;
        if free {
            self.files.insert(id, Vec::new());
        }
        free.then_some(id)
    }

    /// Adds a file. False when there is no such session, or it has too many files.
    pub fn write(&mut self, id: u32, file: Bytes) -> bool {
        let session = self.files.get_mut(&id).filter(|files| files.len() < FILES_MAX);
        let fits = session.is_some();
        if let Some(files) = session {
            files.push(file);
        }
        fits
    }

    /// Ends a session and returns its files.
    pub fn take(&mut self, id: u32) -> Option<Vec<Bytes>> {
        self.files.remove(&id)
    }
}
