//! The log and reports of crashes.

use std::time::{SystemTime, UNIX_EPOCH};

use mdm_core::port::{CrashReport, DeviceError, DeviceErrorKind, LogRead, LogSource};

use super::apps::check_app_id;
use super::{IosDevice, Server, wrong_way};
use crate::idb::{LeastLevel, LogStyle};
use crate::reports;
use crate::route::{Verb, Way};
use crate::served;

/// How far back the log of a simulator is read.
const HISTORY_S: u64 = 600;
/// Reports that are read at once, the newest.
const REPORTS_MAX: usize = 10;

impl IosDevice {
    pub(super) async fn read_log(&self, app: Option<&str>) -> Result<LogRead, DeviceError> {
        if let Some(app) = app {
            check_app_id(app)?;
        }
        let mut read = match self.server(Verb::ReadLog)? {
            Server::Simctl(one) => {
                let (entries, unread_lines) = one.simctl.log_history(&one.udid, HISTORY_S, None).await?;
                let now_ms = entries.iter().rev().find_map(|entry| entry.time_ms);
                LogRead { entries, now_ms, unread_lines, more: true, ..LogRead::default() }
            }
            Server::Idb(_) | Server::Usb(_) => {
                if !self.log.is_following() {
                    self.log.follow(self.open_log(LeastLevel::Info).await?);
                    self.state().has_no_log = false;
                }
                self.log.read()
            }
            Server::Wda(_) | Server::Core(_) => return Err(wrong_way(Verb::ReadLog)),
        };
        if let Some(app) = app {
            read.app_pids = self.read_pids(app).await?;
            let known = self.state().front.by_pid.clone();
            let past =
                known.into_iter().filter(|(pid, bundle)| bundle == app && !read.app_pids.contains(pid));
            read.past_pids = past.map(|(pid, _)| pid).collect();
        }
        Ok(read)
    }

    /// Begins to keep the log where only what is followed can be read later: before the first command, whose lines are
    /// wanted afterwards. One that cannot be followed is no failure of what was asked.
    pub(super) async fn keep_log(&self) {
        let follows = matches!(self.way(Verb::ReadLog), Ok(Way::Idb | Way::Usb));
        if !follows || self.log.is_following() || self.state().has_no_log {
            return;
        }
        // It serves later questions, and not this one.
        let (opened, _) = served::noting(self.open_log(LeastLevel::Info)).await;
        match opened {
            Ok(source) => self.log.follow(source),
            Err(_) => self.state().has_no_log = true,
        }
    }

    /// `least` is what a companion is asked for; the others tell everything.
    pub(super) async fn open_log(&self, least: LeastLevel) -> Result<Box<dyn LogSource>, DeviceError> {
        match self.server(Verb::FollowLog)? {
            Server::Idb(idb) => Ok(Box::new(idb.log(LogStyle::Ndjson, least, None).await?)),
            Server::Simctl(one) => Ok(Box::new(one.simctl.follow_log(&one.udid, None)?)),
            Server::Usb(usb) => Ok(Box::new(usb.follow_log().await?)),
            Server::Wda(_) | Server::Core(_) => Err(wrong_way(Verb::FollowLog)),
        }
    }

    pub(super) async fn read_crashes(&self) -> Result<Vec<CrashReport>, DeviceError> {
        let mut reports = self.read_reports().await?;
        let now_ms = match self.way(Verb::Crashes) {
            // The simulators of a Mac have its clock.
            Ok(Way::Simctl) => {
                SystemTime::now().duration_since(UNIX_EPOCH).ok().map(|now| now.as_millis() as u64)
            }
            _ => self.log.device_now_ms(),
        };
        for report in &mut reports {
            let age = |time_ms: u64| now_ms.map(|now_ms| now_ms.saturating_sub(time_ms));
            report.age_ms = report.age_ms.or(report.time_ms.and_then(age));
        }
        Ok(reports)
    }

    async fn read_reports(&self) -> Result<Vec<CrashReport>, DeviceError> {
        match self.server(Verb::Crashes)? {
            Server::Idb(idb) => {
                let mut listed = idb.crashes(None, 0).await?;
                listed.sort_by_key(|report| report.time_s);
                let newest = listed.split_off(listed.len().saturating_sub(REPORTS_MAX));
                let mut read = Vec::new();
                for report in newest {
                    let text = idb.crash(&report.name).await?;
                    read.extend(reports::read(&text));
                }
                Ok(read)
            }
            Server::Simctl(one) => match &one.reports {
                Some(folder) => folder.crashes(&one.udid).await,
                None => {
                    let detail = "the folder of crash reports of this user is not known";
                    Err(DeviceError::new(DeviceErrorKind::Local, detail))
                }
            },
            Server::Usb(usb) => usb.crashes().await,
            Server::Wda(_) | Server::Core(_) => Err(wrong_way(Verb::Crashes)),
        }
    }
}
