//! Crash reports as files: a Mac keeps those of its simulators in a folder, a device sends its own.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use mdm_core::port::{CrashReport, DeviceError, DeviceErrorKind};
use mdm_core::text::calendar::{DAY_MS, date, days, time_of_day, zone};

use crate::crash;

/// Files of the folder that are looked at, and reports that are read at once.
const FILES_MAX: usize = 20_000;
/// Crash reports that are read at once.
const READ_MAX: usize = 50;

/// A folder with reports.
#[derive(Debug, Clone)]
pub struct ReportFolder {
    path: PathBuf,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportFile {
    pub name: String,
    pub modified_ms: u64,
    pub bytes: u64,
}

impl ReportFolder {
    pub fn new(path: PathBuf) -> ReportFolder {
        ReportFolder { path }
    }

    /// Where a Mac keeps the reports of a user's programs, simulators among them.
    pub fn of_home(home: &Path) -> ReportFolder {
        ReportFolder::new(home.join("Library/Logs/DiagnosticReports"))
    }

    /// Lists the reports, oldest first.
    pub async fn list(&self) -> Result<Vec<ReportFile>, DeviceError> {
        let folder = self.clone();
        blocking(move || folder.list_now()).await
    }

    /// Reads the newest crashes of one simulator, oldest first.
    pub async fn crashes(&self, udid: &str) -> Result<Vec<CrashReport>, DeviceError> {
        let folder = self.clone();
        let udid = udid.to_owned();
        blocking(move || {
            let files = folder.list_now()?;
            let mut found = Vec::new();
            for file in files.iter().rev() {
                // A report may be deleted between listing and reading.
                let Ok(text) = folder.read_now(&file.name) else { continue };
                if let Some(report) = is_of(&text, &udid).then(|| read(&text)).flatten() {
                    found.push(report);
                }
                if found.len() == READ_MAX {
                    break;
                }
            }
            found.reverse();
            Ok(found)
        })
        .await
    }

    /// Reads those of these reports that are of one simulator.
    pub async fn read_of(&self, udid: &str, names: Vec<String>) -> Result<Vec<CrashReport>, DeviceError> {
        let (folder, udid) = (self.clone(), udid.to_owned());
        blocking(move || {
            // A report may be deleted between listing and reading.
            let texts = names.iter().filter_map(|name| folder.read_now(name).ok());
            Ok(texts.filter(|text| is_of(text, &udid)).filter_map(|text| read(&text)).collect())
        })
        .await
    }

    fn list_now(&self) -> io::Result<Vec<ReportFile>> {
        let entries = match std::fs::read_dir(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut files = Vec::new();
        for entry in entries.take(FILES_MAX).flatten() {
            let Ok(name) = entry.file_name().into_string() else { continue };
            let Ok(facts) = entry.metadata() else { continue };
            if !facts.is_file() || !is_report(&name) {
                continue;
            }
            let modified = facts.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
            let modified_ms = modified.map_or(0, |since| since.as_millis() as u64);
            files.push(ReportFile { name, modified_ms, bytes: facts.len() });
        }
        files.sort_by(|one, other| (one.modified_ms, &one.name).cmp(&(other.modified_ms, &other.name)));
        Ok(files)
    }

    fn read_now(&self, name: &str) -> io::Result<String> {
        let mut text = Vec::new();
        let file = std::fs::File::open(self.path.join(name))?;
        file.take(crash::REPORT_BYTES_MAX as u64).read_to_end(&mut text)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }
}

/// True for a report of a program of this simulator. JSON may write a slash with a backslash before it.
fn is_of(text: &str, udid: &str) -> bool {
    let mark = format!("CoreSimulator/Devices/{udid}/");
    text.contains(&mark) || text.contains(&mark.replace('/', "\\/"))
}

/// True for the names that reports of crashes have.
pub fn is_report(name: &str) -> bool {
    name.ends_with(".ips") || name.ends_with(".crash")
}

/// Reads a report with the time that its first line tells.
pub fn read(text: &str) -> Option<CrashReport> {
    let report = crash::read(text)?;
    let time_ms = report.time_ms.or_else(|| timestamp(text));
    Some(CrashReport { time_ms, ..report })
}

/// `"timestamp":"2022-08-04 01:11:01.00 +0900"` in the first line.
fn timestamp(text: &str) -> Option<u64> {
    let (_, rest) = text.lines().next()?.split_once("\"timestamp\":\"")?;
    let mut words = rest.split('"').next()?.split(' ');
    let (Some(year), month, day) = date(words.next()?.as_bytes())? else { return None };
    // Hundredths are not exact: the report is of this second.
    let clock = words.next()?.split('.').next()?;
    let in_day_ms = time_of_day(format!("{clock}.000").as_bytes())?;
    let zone_ms = zone(words.next()?.as_bytes())?;
    u64::try_from(days(year, month, day) * DAY_MS + in_day_ms - zone_ms).ok()
}

async fn blocking<T: Send + 'static>(
    act: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<T, DeviceError> {
    let done = tokio::task::spawn_blocking(act).await;
    let done = done.map_err(io::Error::other).and_then(|done| done);
    done.map_err(|error| {
        DeviceError::new(DeviceErrorKind::Local, format!("the crash reports cannot be read: {error}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_report_is_in_its_first_line() {
        let text = "{\"app_name\":\"A\",\"timestamp\":\"2022-08-04 01:11:01.00 +0900\",\"b\":1}\n{}";
        assert_eq!(timestamp(text), Some(1_659_543_061_000));
        assert_eq!(timestamp("{\"timestamp\":\"yesterday\"}"), None);
    }
}
