//! Crashes and apps that do not respond, out of the device's log (F44) and out of files.

pub mod follow;
mod java;
mod native;
mod not_responding;
mod script;

use std::collections::BTreeMap;

use mdm_core::port::{CrashKind, CrashReport, LogEntry, LogRead};

use crate::adb::Script;

pub use java::is_own;

/// Of one report: a stack that is deeper is cut by the log itself.
const LINES_MAX: usize = 2000;
/// Reports of one reading; the newest are kept.
const REPORTS_MAX: usize = 50;
/// The lines of which reports are made. `flutter` writes what it caught with level I, and so does ActivityManager which
/// process is whose.
const WANTED: &str = " AndroidRuntime:E DEBUG:F libc:F ActivityManager:I ReactNativeJS:E flutter:I '*:S'";

/// Reads the buffers that have such lines, filtered on the device; the second line is for a logcat without `-v epoch`.
pub fn script() -> Script {
    Script::new("logcat -b main -b crash -b system -d -v threadtime -v epoch")
        .then(WANTED)
        .then(" 2>/dev/null || logcat -b main -b crash -b system -d -v threadtime")
        .then(WANTED)
        .then("; echo; echo mdm-log-end; date '+%s %z %N'; echo")
}

/// Follows the same lines as they are written, after a line with the device's clock.
pub fn follow_script() -> Script {
    Script::new("date '+%s %z %N'; logcat -b main -b crash -b system -v threadtime -v epoch -T 1")
        .then(WANTED)
        .then(" 2>/dev/null || logcat -b main -b crash -b system -v threadtime -T 1")
        .then(WANTED)
}

/// All reports of a reading, oldest first.
pub fn reports(read: &LogRead) -> Vec<CrashReport> {
    in_entries(&read.entries)
        .into_iter()
        .map(|report| CrashReport {
            age_ms: report.time_ms.zip(read.now_ms).map(|(time, now)| now.saturating_sub(time)),
            ..report
        })
        .collect()
}

/// All reports in these entries, oldest first.
pub fn in_entries(entries: &[LogEntry]) -> Vec<CrashReport> {
    let processes = processes(entries);
    let mut found: Vec<CrashReport> = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        let Some(report) = report_at(entries, at) else { continue };
        let mut report = CrashReport { time_ms: entry.time_ms, ..report };
        if let Some(process) = processes.get(&report.pid).filter(|_| report.app.is_empty()) {
            report.app = app_of_process(process).to_owned();
        }
        // The line of bionic comes before the tombstone of the same process, and tells less.
        match found.iter_mut().rev().find(|known| is_native_end(known, &report)) {
            Some(known) => *known = report,
            None => found.push(report),
        }
    }
    let old = found.len().saturating_sub(REPORTS_MAX);
    found.split_off(old)
}

fn is_native_end(known: &CrashReport, report: &CrashReport) -> bool {
    let is_native = |report: &CrashReport| report.kind == CrashKind::Native;
    is_native(known) && is_native(report) && known.pid == report.pid
}

fn report_at(entries: &[LogEntry], at: usize) -> Option<CrashReport> {
    let entry = &entries[at];
    let message = entry.message.as_str();
    match entry.tag.as_str() {
        "AndroidRuntime" if message.contains("FATAL EXCEPTION") => exception(entry, &following(entries, at)),
        "ActivityManager" if message.starts_with("ANR in ") => {
            not_responding::report(message.lines().next()?, &following(entries, at))
        }
        "DEBUG" if native::is_head(message) => {
            let mut lines = vec![message.lines().next()?];
            lines.extend(following(entries, at));
            native::report(&lines)
        }
        "libc" => native::fatal_signal(message),
        "ReactNativeJS" => script::react_native(entry, &following(entries, at)),
        "flutter" if message.contains("Unhandled Exception: ") => {
            script::flutter_unhandled(entry, &following(entries, at))
        }
        "flutter" if message.contains("EXCEPTION CAUGHT BY ") => {
            script::flutter_caught(entry, &following(entries, at))
        }
        _ => None,
    }
}

/// The lines after the first one of this entry, then those that the same process wrote under the same tag.
fn following(entries: &[LogEntry], at: usize) -> Vec<&str> {
    let first = &entries[at];
    let same =
        |entry: &&LogEntry| entry.tag == first.tag && entry.pid == first.pid && entry.level == first.level;
    let rest = entries[at + 1..].iter().filter(same).flat_map(|entry| lines_of(&entry.message));
    let is_head = |line: &&str| {
        !line.contains("FATAL EXCEPTION") && !line.starts_with("ANR in ") && !native::is_head(line)
    };
    lines_of(&first.message).skip(1).chain(rest).take_while(is_head).take(LINES_MAX).collect()
}

/// A message without text is a line without text.
fn lines_of(message: &str) -> impl Iterator<Item = &str> {
    message.split('\n')
}

/// `Process: com.example, PID: 4321`, then the exception, then where it was thrown. A process may have no name.
fn exception(entry: &LogEntry, lines: &[&str]) -> Option<CrashReport> {
    let (process, pid) = match lines.first()?.strip_prefix("Process: ") {
        Some(named) => named.split_once(", PID: ")?,
        None => ("", lines.first()?.strip_prefix("PID: ")?),
    };
    let app = app_of_process(process);
    let thrown = java::thrown(&lines[1..], app);
    if thrown.is_empty() {
        return None;
    }
    let thread = entry.message.lines().next()?.split_once("FATAL EXCEPTION: ").map(|(_, name)| name.trim());
    Some(CrashReport {
        app: app.to_owned(),
        pid: pid.trim().parse().ok()?,
        kind: CrashKind::Exception,
        thread: thread.map(str::to_owned),
        thrown,
        time_ms: None,
        age_ms: None,
        images: Vec::new(),
    })
}

/// Reports in a text that is no log: tombstones, and stacks of apps that did not respond.
pub fn in_text(text: &str) -> Vec<CrashReport> {
    let lines: Vec<&str> = text.lines().collect();
    let read = |at: usize| match lines[at] {
        line if native::is_head(line) => native::report(&lines[at..lines.len().min(at + LINES_MAX)]),
        line if line.starts_with("----- pid ") => not_responding::stacks(&lines[at..]),
        _ => None,
    };
    let mut found: Vec<CrashReport> = Vec::new();
    for report in (0..lines.len()).filter_map(read) {
        // A tombstone lists the other threads of its process in the same way.
        if found.len() < REPORTS_MAX && !found.iter().any(|known| known.pid == report.pid) {
            found.push(report);
        }
    }
    found
}

/// Processes that the log names.
fn processes(entries: &[LogEntry]) -> BTreeMap<u32, &str> {
    entries.iter().filter_map(start_of).collect()
}

/// The app of a process: `com.example:remote` is one of com.example's.
pub fn app_of_process(process: &str) -> &str {
    process.split(':').next().unwrap_or(process)
}

/// The processes that the log shows to have been the app's, also when they are gone (F44): started, crashed, or ended.
pub fn past_pids(entries: &[LogEntry], app: &str) -> Vec<u32> {
    let mut pids: Vec<u32> = entries.iter().filter_map(|entry| past_pid(entry, app)).collect();
    pids.sort_unstable();
    pids.dedup();
    pids
}

fn past_pid(entry: &LogEntry, app: &str) -> Option<u32> {
    let message = entry.message.as_str();
    match entry.tag.as_str() {
        // `Process: com.example, PID: 4321`
        "AndroidRuntime" => {
            let (process, pid) = message.strip_prefix("Process: ")?.split_once(", PID: ")?;
            (app_of_process(process) == app).then(|| pid.trim().parse().ok())?
        }
        // `Start proc 4321:com.example/u0a123 for …`, `Process com.example (pid 4321) has died`
        "ActivityManager" => {
            if let Some((pid, process)) = start_of(entry) {
                return (app_of_process(process) == app).then_some(pid);
            }
            let (process, rest) = message.strip_prefix("Process ")?.split_once(" (pid ")?;
            (app_of_process(process) == app).then(|| rest.split(')').next()?.parse().ok())?
        }
        // The process that writes the report of a native crash.
        "DEBUG" => {
            let (_, process) = message.split_once(" >>> ")?;
            (app_of_process(process.split(" <<<").next()?) == app).then_some(entry.pid)?
        }
        _ => None,
    }
}

/// `Start proc 4321:com.example/u0a123 for …`.
pub fn start_of(entry: &LogEntry) -> Option<(u32, &str)> {
    let started = entry.message.strip_prefix("Start proc ").filter(|_| entry.tag == "ActivityManager")?;
    let (pid, rest) = started.split_once(':')?;
    Some((pid.parse().ok()?, rest.split('/').next()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adb::shell::Newest;

    const LOG: &str = "\
--------- beginning of system
1700000000.100  600  700 I ActivityManager: Start proc 4321:com.example/u0a123 for next-top-activity {com.example}
1700000000.200  600  700 I ActivityManager: Start proc 4400:com.example:remote/u0a123 for service
1700000000.300  600  700 I ActivityManager: Start proc 4500:com.other/u0a124 for service
--------- beginning of crash
1700000007.000  4321  4321 E AndroidRuntime: FATAL EXCEPTION: main
1700000007.000  4321  4321 E AndroidRuntime: Process: com.example, PID: 4321
1700000007.000  4321  4321 E AndroidRuntime: java.lang.IllegalStateException: no owner: 7
1700000007.000  4321  4321 E AndroidRuntime: \tat java.util.Objects.require(Objects.java:1)
1700000007.000  4321  4321 E AndroidRuntime: \tat com.example.Cart.pay(Cart.kt:31)
1700000008.000  600  700 E ActivityManager: ANR in com.other (com.other/.Main)
1700000008.000  600  700 E ActivityManager: PID: 4500
1700000008.000  600  700 E ActivityManager: Reason: Input dispatching timed out
1700000009.000  4600  4600 F DEBUG   : pid: 4400, tid: 4401, name: worker  >>> com.example:remote <<<
1700000009.000  4600  4600 F DEBUG   : signal 11 (SIGSEGV), code 1 (SEGV_MAPERR), fault addr 0x0
1700000009.000  4600  4600 F DEBUG   :       #00 pc 0004  /lib/libx.so (crash+4)

mdm-log-end
1700000010 +0000

";

    fn log() -> LogRead {
        let mut newest = Newest::new(100_000);
        newest.push(LOG.as_bytes());
        newest.finish();
        crate::log::read(&newest, None).unwrap()
    }

    #[test]
    fn crashes_and_apps_that_do_not_respond_are_read_out_of_the_log() {
        // F44
        let told: Vec<_> = reports(&log())
            .into_iter()
            .map(|r| {
                let (exception, message) = (r.exception().to_owned(), r.message().to_owned());
                let place = r.place().map(|frame| frame.text.clone());
                (r.app, r.pid, exception, message, place, r.age_ms)
            })
            .collect();
        let signal = "signal 11 (SIGSEGV), code 1 (SEGV_MAPERR), fault addr 0x0";
        let place = |text: &str| Some(text.to_owned());
        let own = |text: &str| text.to_owned();
        assert_eq!(
            told,
            [
                (
                    own("com.example"),
                    4321,
                    own("java.lang.IllegalStateException"),
                    own("no owner: 7"),
                    place("com.example.Cart.pay(Cart.kt:31)"),
                    Some(3000)
                ),
                (own("com.other"), 4500, own("ANR"), own("Input dispatching timed out"), None, Some(2000)),
                (
                    own("com.example"),
                    4400,
                    own("SIGSEGV"),
                    own(signal),
                    place("#00 pc 0004  /lib/libx.so (crash+4)"),
                    Some(1000)
                ),
            ]
        );
    }

    fn told(text: &str) -> Vec<(String, u32, String)> {
        let (entries, _) = crate::log::text::read(text, crate::log::clock::Clock::default());
        in_entries(&entries).iter().map(|report| (report.app.clone(), report.pid, report.summary())).collect()
    }

    #[test]
    fn errors_of_javascript_and_dart_name_their_app_and_place() {
        // W17
        let found = told(
            "01-02 11:29:59.123   600   700 I ActivityManager: Start proc 4321:com.example/u0a123 for next-top-activity\n\
             01-02 11:29:59.123  4321  4330 E ReactNativeJS: TypeError: undefined is not an object (evaluating 'a.b')\n\
             01-02 11:29:59.123  4321  4330 E ReactNativeJS: onPress@http://localhost:8081/index.bundle:120:34\n\
             01-02 11:29:59.123  4321  4330 E ReactNativeJS: a plain message of console.error\n\
             01-02 11:30:59.123  4321  4340 E flutter : [ERROR:flutter/runtime/dart_vm_initializer.cc(41)] \
             Unhandled Exception: FormatException: Invalid date format\n\
             01-02 11:30:59.123  4321  4340 E flutter : no date\n\
             01-02 11:30:59.123  4321  4340 E flutter : #0      DateTime.parse (dart:core/date_time.dart:369:7)\n\
             01-02 11:30:59.123  4321  4340 E flutter : #1      load (package:shop/main.dart:12:5)\n\
             01-02 11:31:59.123  4321  4340 I flutter : ══╡ EXCEPTION CAUGHT BY RENDERING LIBRARY ╞═══\n\
             01-02 11:31:59.123  4321  4340 I flutter : The following assertion was thrown during layout:\n\
             01-02 11:31:59.123  4321  4340 I flutter : A RenderFlex overflowed by 42 pixels on the right.\n\
             01-02 11:31:59.123  4321  4340 I flutter : ════════════\n\
             01-02 11:31:59.123  4321  4340 I flutter : a print of the app\n",
        );
        let expected = [
            "com.example has an uncaught error: TypeError: \"undefined is not an object (evaluating 'a.b')\" at \
             onPress@http://localhost:8081/index.bundle:120:34",
            "com.example has an uncaught error: FormatException: \"Invalid date format\" at \
             #1      load (package:shop/main.dart:12:5)",
            "com.example has an uncaught error: assertion: \"A RenderFlex overflowed by 42 pixels on the right.\"",
        ];
        assert_eq!(found, expected.map(|line| ("com.example".to_owned(), 4321, line.to_owned())));
    }

    #[test]
    fn a_tombstone_replaces_the_line_of_the_same_process() {
        let found = told(
            "F/libc    ( 4321): Fatal signal 6 (SIGABRT), code -1 in tid 4330 (worker), pid 4321 (com.example)\n\
             F/DEBUG   ( 4400): pid: 4321, tid: 4330, name: worker  >>> com.example <<<\n\
             F/DEBUG   ( 4400): signal 6 (SIGABRT), code -1 (SI_QUEUE)\nF/DEBUG   ( 4400): Abort message: 'no'\n\
             F/libc    ( 5000): Fatal signal 11 (SIGSEGV), code 1 in tid 5000 (main), pid 5000 (com.other)\n",
        );
        let lines: Vec<&str> = found.iter().map(|(_, _, line)| line.as_str()).collect();
        assert_eq!(lines[0], "com.example crashed: SIGABRT: \"no\"");
        assert!(lines.len() == 2 && lines[1].starts_with("com.other crashed: SIGSEGV"), "{lines:?}");
    }

    #[test]
    fn processes_that_are_gone_are_known_by_what_the_log_says_of_them() {
        // F44
        let entries = log().entries;
        assert_eq!(past_pids(&entries, "com.example"), [4321, 4400, 4600]);
        assert_eq!(past_pids(&entries, "com.other"), [4500]);
        assert_eq!(past_pids(&entries, "com.exam"), [0; 0]);
    }
}
