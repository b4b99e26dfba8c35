//! Hears of crashes by looking for new reports: no program tells of them by itself.
//!
//! Names are compared, and only new reports are read.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mdm_core::port::{CrashReport, CrashSource, DeviceError, PortFuture};

use crate::idb::Idb;
use crate::real::RealDevice;
use crate::reports::{self, ReportFolder};

/// Between two looks. A look at a phone on a cable opens connections.
const PAUSE: Duration = Duration::from_secs(3);
const PAUSE_OF_PHONE: Duration = Duration::from_secs(15);
/// Reports that are read at once, the newest.
const REPORTS_MAX: usize = 10;
/// Names that are compared.
const NAMES_MAX: usize = 20_000;

/// Where reports appear.
pub enum Watched {
    Companion(Idb),
    Folder { folder: ReportFolder, udid: String },
    Phone(RealDevice),
}

/// What is remembered of the reports while connections come and go: those of before, once somebody has looked.
#[derive(Default)]
pub struct CrashWatch {
    known: Known,
}

type Known = Arc<Mutex<Option<BTreeSet<String>>>>;

impl CrashWatch {
    pub fn follow(&self, watched: Watched) -> PolledCrashes {
        PolledCrashes { watched, known: Arc::clone(&self.known) }
    }
}

pub struct PolledCrashes {
    watched: Watched,
    known: Known,
}

impl PolledCrashes {
    async fn look(&mut self) -> Result<Option<Vec<CrashReport>>, DeviceError> {
        let fresh = self.fresh(self.watched.names().await?);
        let read = if fresh.is_empty() { Vec::new() } else { self.watched.read(fresh).await? };
        Ok(Some(read))
    }

    /// The names that were not there before, and none of those that were there first.
    fn fresh(&self, names: Vec<String>) -> Vec<String> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let names: BTreeSet<String> = names.into_iter().take(NAMES_MAX).collect();
        let fresh = match known.as_ref() {
            Some(known) => names.difference(known).cloned().collect(),
            None => Vec::new(),
        };
        *known = Some(names);
        fresh
    }
}

impl Watched {
    async fn names(&self) -> Result<Vec<String>, DeviceError> {
        match self {
            Watched::Companion(idb) => {
                let mut listed = idb.crashes(None, 0).await?;
                listed.sort_by_key(|report| report.time_s);
                Ok(listed.into_iter().map(|report| report.name).collect())
            }
            Watched::Folder { folder, .. } => {
                Ok(folder.list().await?.into_iter().map(|file| file.name).collect())
            }
            Watched::Phone(phone) => phone.crash_names().await,
        }
    }

    /// Reads new reports. A companion may lose one between listing and reading, and a phone reads its newest ones.
    async fn read(&self, mut names: Vec<String>) -> Result<Vec<CrashReport>, DeviceError> {
        let count = names.len().min(REPORTS_MAX);
        let names = names.split_off(names.len() - count);
        match self {
            Watched::Companion(idb) => {
                let mut read = Vec::new();
                for name in &names {
                    read.extend(idb.crash(name).await.ok().and_then(|text| reports::read(&text)));
                }
                Ok(read)
            }
            Watched::Folder { folder, udid } => folder.read_of(udid, names).await,
            Watched::Phone(phone) => {
                let mut read = phone.crashes().await?;
                Ok(read.split_off(read.len().saturating_sub(count)))
            }
        }
    }
}

impl CrashSource for PolledCrashes {
    fn next(&mut self) -> PortFuture<'_, Option<Vec<CrashReport>>> {
        Box::pin(self.look())
    }

    fn pause(&self) -> Option<Duration> {
        Some(match &self.watched {
            Watched::Phone(_) => PAUSE_OF_PHONE,
            Watched::Companion(_) | Watched::Folder { .. } => PAUSE,
        })
    }
}
