//! All devices of all sources, and one session for each.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use mdm_core::action::failure::Failure;
use mdm_core::port::{DeviceSource, Listed};
use mdm_core::screen::snapshot::Platform;

use crate::choose::{self, Wanted};
use crate::clock::Clock;
use crate::progress::Progress;
use crate::session::Session;

pub struct Fleet {
    sources: Vec<Arc<dyn DeviceSource>>,
    clock: Clock,
    sessions: Mutex<BTreeMap<(Platform, String), Arc<Session>>>,
}

impl Fleet {
    pub fn new(sources: Vec<Arc<dyn DeviceSource>>) -> Fleet {
        Fleet { sources, clock: Clock::start(), sessions: Mutex::default() }
    }

    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    pub fn sources(&self) -> &[Arc<dyn DeviceSource>] {
        &self.sources
    }

    /// Every device, usable or not.
    pub async fn list(
        &self,
        platform: Option<Platform>,
        progress: &Progress,
    ) -> Result<Vec<Listed>, Failure> {
        let mut all = Vec::new();
        for source in self.sources.iter().filter(|s| platform.is_none_or(|p| p == s.platform())) {
            all.extend(progress.race("listing devices", source.list()).await?);
        }
        Ok(all)
    }

    /// The session of the device that the caller means.
    pub async fn choose(&self, wanted: &Wanted, progress: &Progress) -> Result<Arc<Session>, Failure> {
        let supported = |p: Platform| self.sources.iter().any(|s| s.platform() == p);
        if let Some(platform) = wanted.platform.filter(|p| !supported(*p)) {
            return Err(choose::not_supported(platform));
        }
        let listed = self.list(wanted.platform, progress).await?;
        let chosen = choose::choose(listed, wanted, progress).await?;
        Ok(self.session(&chosen))
    }

    /// What the waits on each device came to so far (SY-18).
    pub fn wait_counts(&self) -> Vec<(String, crate::metrics::Counts)> {
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.values().map(|session| (session.id().to_owned(), session.wait_counts())).collect()
    }

    /// How many devices were ever called.
    pub fn used(&self) -> usize {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    pub fn session(&self, listed: &Listed) -> Arc<Session> {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (listed.platform, listed.id.clone());
        let before = sessions.get(&key);
        if let Some(session) = before.filter(|s| s.drives(&listed.device)) {
            return Arc::clone(session);
        }
        // The device was plugged in again: its revisions and names go on from where they were.
        let memory = before.map(|s| s.memory().clone()).unwrap_or_default();
        let session =
            Arc::new(Session::new(listed.id.clone(), Arc::clone(&listed.device), self.clock, memory));
        if let Some(before) = before {
            session.metrics.note(|counts| *counts = before.wait_counts());
        }
        sessions.insert(key, Arc::clone(&session));
        session
    }
}
