//! The log of an iPhone: what its apps said, in the words of the unified log.

mod url_tasks;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use tokio::sync::watch;
use tokio::time::{Duration, Instant};

use super::IPhone;
use super::names::bundle_of;
use crate::clock::Civil;
use crate::logcat::{Buffer, Entry};
use crate::state::State;

/// The shortest time between two looks for apps that wake up.
const WAKE_MIN: Duration = Duration::from_millis(1);
const SPRINGBOARD_PID: u32 = 2044;

/// One message of the unified log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogMessage {
    pub sequence: u64,
    pub wall_ms: u64,
    pub pid: u32,
    pub thread: u32,
    /// The subsystem: of an app its bundle id.
    pub bundle: String,
    pub process: String,
    /// `Default`, `Info`, `Debug`, `Error` or `Fault`.
    pub kind: &'static str,
    pub category: String,
    /// The library that said it, if the app did not itself.
    pub library: Option<&'static str>,
    pub text: String,
}

impl IPhone {
    /// Returns what was logged from a sequence number on, and the number after the last.
    pub(crate) fn log_since(&self, sequence: u64) -> (Vec<LogMessage>, u64) {
        self.phone.with(|state| {
            let owners = owners(state);
            let tasks = url_tasks::numbers(state.log.since(0));
            let all = state.log.since(sequence).flat_map(|entry| messages(entry, &owners, &tasks));
            (all.collect(), state.log.next_sequence())
        })
    }
}

impl IPhone {
    /// Waits until the log may have grown: something was logged, or an app wakes up. False when nothing can come.
    pub(crate) async fn log_grows(&self, changed: &mut watch::Receiver<u64>) -> bool {
        let due = self.phone.with(|state| state.surface.next_due());
        let soonest = Instant::now() + WAKE_MIN;
        tokio::select! {
            changed = changed.changed() => changed.is_ok(),
            () = tokio::time::sleep_until(due.unwrap_or(soonest).max(soonest)), if due.is_some() => true,
        }
    }
}

/// The apps to which the processes of the log belonged, also those that have ended.
fn owners(state: &State) -> BTreeMap<u32, String> {
    let started = state.log.since(0).filter_map(|entry| {
        let (pid, rest) = entry.message.strip_prefix("Start proc ")?.split_once(':')?;
        Some((pid.parse().ok()?, rest.split_once('/')?.0.to_owned()))
    });
    let live = state.processes.iter().map(|(name, pid)| (pid, name.to_owned()));
    started.chain(live).collect()
}

/// What an entry is in the words of iOS. A request that Android's library tells in a line is told by CFNetwork in several.
fn messages(
    entry: &Entry,
    owners: &BTreeMap<u32, String>,
    tasks: &BTreeMap<u64, u32>,
) -> impl Iterator<Item = LogMessage> {
    let message = message(entry, owners);
    let told = match tasks.get(&entry.sequence) {
        Some(number) => url_tasks::lines(&entry.message, entry.pid, *number),
        None => Vec::new(),
    };
    let plain = message.clone().filter(|_| told.is_empty());
    let of_library = message.into_iter().flat_map(move |message| {
        told.clone().into_iter().map(move |text| LogMessage {
            bundle: "com.apple.CFNetwork".to_owned(),
            category: "Default".to_owned(),
            kind: "Default",
            library: Some("CFNetwork"),
            text,
            ..message.clone()
        })
    });
    plain.into_iter().chain(of_library)
}

fn message(entry: &Entry, owners: &BTreeMap<u32, String>) -> Option<LogMessage> {
    // The other buffers hold Android's own words about its own parts.
    let text = match entry.buffer {
        Buffer::Main if entry.tag != "Process" => entry.message.clone(),
        Buffer::Crash => terminating(&entry.message)?,
        Buffer::System => return started(entry),
        _ => return None,
    };
    let bundle = bundle_of(owners.get(&entry.pid)?).to_owned();
    let last = bundle.rsplit('.').next().unwrap_or(&bundle);
    let mut letters = last.chars();
    let process = letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect();
    let kind = match (entry.buffer, entry.priority) {
        (Buffer::Crash, _) => "Default",
        (_, 'V' | 'D') => "Debug",
        (_, 'I') => "Default",
        (_, 'W' | 'E') => "Error",
        _ => "Fault",
    };
    Some(LogMessage {
        sequence: entry.sequence,
        wall_ms: entry.wall_ms,
        pid: entry.pid,
        thread: entry.tid.wrapping_mul(16) | 1,
        bundle,
        process,
        kind,
        category: entry.tag.clone(),
        library: None,
        text,
    })
}

/// What the home screen says of an app that it started.
fn started(entry: &Entry) -> Option<LogMessage> {
    let (pid, rest) = entry.message.strip_prefix("Start proc ")?.split_once(':')?;
    let bundle = bundle_of(rest.split_once('/')?.0);
    Some(LogMessage {
        sequence: entry.sequence,
        wall_ms: entry.wall_ms,
        pid: SPRINGBOARD_PID,
        thread: (SPRINGBOARD_PID * 16) | 1,
        bundle: "com.apple.FrontBoard".to_owned(),
        process: "SpringBoard".to_owned(),
        kind: "Default",
        category: "Process".to_owned(),
        library: None,
        text: format!("[app<{bundle}((null))>:{pid}] Bootstrap success!"),
    })
}

/// What the Objective-C runtime says of an exception that nobody caught.
fn terminating(trace: &str) -> Option<String> {
    let exception = trace.lines().nth(2)?;
    let (class, reason) = exception.split_once(": ").unwrap_or((exception, ""));
    let class = class.rsplit('.').next().unwrap_or(class);
    Some(format!("*** Terminating app due to uncaught exception '{class}', reason: '{reason}'"))
}

impl LogMessage {
    /// Writes the message as `log` does with this style; styles that are not known are the default one.
    pub fn print(&self, style: &str, out: &mut String) {
        let Civil { year, month, day, hour, minute, second, milli } = Civil::from_ms(self.wall_ms);
        let date = format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{milli:03}");
        let LogMessage { pid, thread, process, bundle, category, text, kind, .. } = self;
        let _ = match style {
            "ndjson" => writeln!(out, "{}", self.json(&date)),
            "compact" => {
                let letters = match *kind {
                    "Debug" => "Db",
                    "Error" => "E ",
                    "Fault" => "F ",
                    "Info" => "I ",
                    _ => "Df",
                };
                writeln!(out, "{date} {letters} {process}[{pid}:{thread:x}] [{bundle}:{category}] {text}")
            }
            "syslog" => {
                writeln!(out, "{date}000+0000  localhost {process}[{pid}]: [{bundle}:{category}] {text}")
            }
            _ => writeln!(
                out,
                "{date}000+0000 {thread:#010x} {kind:<11} 0x0                  {pid:<6} 0    {process}: [{bundle}:{category}] {text}"
            ),
        };
    }

    /// A line of the relay of a device, without its end.
    pub fn relayed(&self, host: &str) -> String {
        const MONTHS: [&str; 12] =
            ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
        let at = Civil::from_ms(self.wall_ms);
        let month = MONTHS.get(at.month.saturating_sub(1) as usize).unwrap_or(&"Jan");
        let kind = if self.kind == "Default" { "Notice" } else { self.kind };
        let library = self.library.map(|name| format!("({name})")).unwrap_or_default();
        format!(
            "{month} {:2} {:02}:{:02}:{:02} {host} {}{library}[{}] <{kind}>: {}",
            at.day, at.hour, at.minute, at.second, self.process, self.pid, self.text
        )
    }

    fn json(&self, date: &str) -> serde_json::Value {
        serde_json::json!({
            "timezoneName": "",
            "messageType": self.kind,
            "eventType": "logEvent",
            "source": null,
            "formatString": "%{public}s",
            "userID": 501,
            "activityIdentifier": 0,
            "subsystem": self.bundle,
            "category": self.category,
            "threadID": self.thread,
            "processID": self.pid,
            "timestamp": format!("{date}000+0000"),
            "processImagePath": format!("/Containers/Bundle/Application/{0}.app/{0}", self.process),
            "eventMessage": self.text,
        })
    }
}
