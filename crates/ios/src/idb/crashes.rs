//! Reports of crashes.

use mdm_core::port::DeviceError;
use mdm_wire::idb::{CrashLogQuery, CrashLogResponse, CrashShowRequest, CrashShowResponse};

use super::Idb;
use super::call::Method;

/// A report that can be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdbCrash {
    pub name: String,
    pub process: String,
    pub pid: u32,
    /// Since 1970.
    pub time_s: u64,
}

impl Idb {
    /// Lists reports, of one app or of all, that are newer than a time in seconds since 1970.
    pub async fn crashes(&self, bundle: Option<&str>, since_s: u64) -> Result<Vec<IdbCrash>, DeviceError> {
        const LIST: Method = Method::read("crash_list", "list reports of crashes");
        let query = CrashLogQuery {
            since: since_s,
            bundle_id: bundle.unwrap_or_default().to_owned(),
            ..CrashLogQuery::default()
        };
        let answer: CrashLogResponse = self.ask(LIST, query).await?;
        let crash = |crash: mdm_wire::idb::CrashLogInfo| IdbCrash {
            name: crash.name,
            process: crash.process_name,
            pid: u32::try_from(crash.process_identifier).unwrap_or(0),
            time_s: crash.timestamp,
        };
        Ok(answer.list.into_iter().map(crash).collect())
    }

    /// Returns the whole report, for `crate::crash`.
    pub async fn crash(&self, name: &str) -> Result<String, DeviceError> {
        const SHOW: Method = Method::read("crash_show", "read the report of a crash");
        let answer: CrashShowResponse = self.ask(SHOW, CrashShowRequest { name: name.to_owned() }).await?;
        Ok(answer.contents)
    }
}
