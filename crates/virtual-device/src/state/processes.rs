//! Processes by name and pid, and how many shells run.

use std::collections::BTreeMap;

const FIRST_PID: u32 = 3000;
const LAST_PID: u32 = 32_000;
const PID_STEP: u32 = 7;
/// Shells that may run at a time.
const SHELLS_MAX: usize = 256;

#[derive(Debug)]
pub struct Processes {
    pids: BTreeMap<String, u32>,
    next_pid: u32,
    shells: usize,
}

impl Processes {
    pub fn new(seed: u64) -> Processes {
        Processes { pids: BTreeMap::new(), next_pid: FIRST_PID + (seed % 1000) as u32, shells: 0 }
    }

    pub fn pid(&self, name: &str) -> Option<u32> {
        self.pids.get(name).copied()
    }

    /// Returns names and pids, by name.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, u32)> {
        self.pids.iter().map(|(name, pid)| (name.as_str(), *pid))
    }

    pub fn add(&mut self, name: &str, pid: u32) {
        self.pids.insert(name.to_owned(), pid);
    }

    pub fn remove(&mut self, name: &str) -> Option<u32> {
        self.pids.remove(name)
    }

    pub fn clear(&mut self) {
        self.pids.clear();
    }

    /// Returns a pid that no running process has had lately.
    pub fn next_pid(&mut self) -> u32 {
        self.next_pid = if self.next_pid > LAST_PID { FIRST_PID } else { self.next_pid + PID_STEP };
        self.next_pid
    }

    /// Counts a new shell; false when there are too many.
    pub fn begin_shell(&mut self) -> bool {
        let free = self.shells < SHELLS_MAX;
        self.shells += usize::from(free);
        free
    }

    pub fn end_shell(&mut self) {
        self.shells = self.shells.saturating_sub(1);
    }
}
