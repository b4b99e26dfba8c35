//! Crashes and apps that do not respond, out of the device's log (F44).

use mdm_core::port::{CrashReport, LogEntry, LogRead, NOT_RESPONDING};

use crate::adb::Script;

/// Of each process that writes a report: longer ones are cut by the log itself.
const LINES_MAX: usize = 400;
/// Characters of one part of a report.
const CHARS_MAX: usize = 300;

/// Reads the ends of the two buffers that have such reports; the second line is for a logcat without `-v epoch`.
pub fn script() -> Script {
    Script::new("logcat -b crash -b system -d -v threadtime -v epoch -t 400 2>/dev/null || ")
        .then("logcat -b crash -b system -d -v threadtime -t 400; ")
        .then("echo; echo mdm-log-end; date '+%s %z'; echo")
}

/// All reports, oldest first.
pub fn reports(read: &LogRead) -> Vec<CrashReport> {
    let mut found: Vec<CrashReport> = Vec::new();
    for (at, entry) in read.entries.iter().enumerate() {
        let rest = || following(&read.entries, at);
        let age_ms = entry.time_ms.zip(read.now_ms).map(|(time, now)| now.saturating_sub(time));
        let report = match entry.tag.as_str() {
            "AndroidRuntime" if entry.message.starts_with("FATAL EXCEPTION") => exception(rest()),
            "ActivityManager" if entry.message.starts_with("ANR in ") => not_responding(entry, rest()),
            "DEBUG" if entry.message.contains(" >>> ") => native(entry, rest()),
            _ => None,
        };
        found.extend(report.map(|report| CrashReport { age_ms, ..report }));
    }
    found
}

/// The lines after this one that the same process wrote under the same tag.
fn following(entries: &[LogEntry], at: usize) -> Vec<&str> {
    let first = &entries[at];
    let same = |entry: &&LogEntry| entry.tag == first.tag && entry.pid == first.pid;
    let rest = entries[at + 1..].iter().filter(same).take(LINES_MAX);
    rest.map(|entry| entry.message.as_str())
        .take_while(|line| !line.starts_with("FATAL EXCEPTION") && !line.starts_with("ANR in "))
        .collect()
}

/// `Process: com.example, PID: 4321`, then the exception, then where it was thrown.
fn exception(lines: Vec<&str>) -> Option<CrashReport> {
    let (app, pid) = lines.first()?.strip_prefix("Process: ")?.split_once(", PID: ")?;
    let thrown = lines.get(1).copied().unwrap_or_default();
    let (exception, message) = thrown.split_once(": ").unwrap_or((thrown, ""));
    let frames = || lines.iter().filter_map(|line| line.trim_start().strip_prefix("at "));
    let own = frames().find(|frame| frame.starts_with(base(app)));
    Some(CrashReport {
        app: base(app).to_owned(),
        pid: pid.trim().parse().ok()?,
        exception: cut(exception),
        message: cut(message),
        place: own.or_else(|| frames().next()).map(cut),
        age_ms: None,
    })
}

/// `ANR in com.example (com.example/.Main)`, then `PID: 4321` and `Reason: …`.
fn not_responding(entry: &LogEntry, lines: Vec<&str>) -> Option<CrashReport> {
    let app = entry.message.strip_prefix("ANR in ")?.split_whitespace().next()?;
    let value = |name: &str| lines.iter().find_map(|line| line.trim_start().strip_prefix(name));
    Some(CrashReport {
        app: base(app).to_owned(),
        pid: value("PID: ")?.trim().parse().ok()?,
        exception: NOT_RESPONDING.to_owned(),
        message: cut(value("Reason: ").unwrap_or_default()),
        place: None,
        age_ms: None,
    })
}

/// `pid: 4321, tid: 4330, name: Thread-2  >>> com.example <<<`, then `signal 11 (SIGSEGV), code 1 …`.
fn native(entry: &LogEntry, lines: Vec<&str>) -> Option<CrashReport> {
    let (_, app) = entry.message.split_once(" >>> ")?;
    let pid = entry.message.strip_prefix("pid: ")?.split(',').next()?;
    let signal = lines.iter().find(|line| line.starts_with("signal "))?;
    let name = signal.split_once('(').and_then(|(_, rest)| rest.split_once(')')).map_or(*signal, |(n, _)| n);
    let frame = lines.iter().find(|line| line.trim_start().starts_with("#00 "));
    Some(CrashReport {
        app: base(app.split(" <<<").next()?).to_owned(),
        pid: pid.trim().parse().ok()?,
        exception: cut(name),
        message: cut(signal),
        place: frame.map(|frame| cut(frame.trim_start())),
        age_ms: None,
    })
}

/// The app of a process: `com.example:remote` is one of com.example's.
fn base(process: &str) -> &str {
    process.split(':').next().unwrap_or(process)
}

fn cut(text: &str) -> String {
    text.trim().chars().take(CHARS_MAX).collect()
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
            (base(process) == app).then(|| pid.trim().parse().ok())?
        }
        // `Start proc 4321:com.example/u0a123 for …`, `Process com.example (pid 4321) has died`
        "ActivityManager" => {
            if let Some(started) = message.strip_prefix("Start proc ") {
                let (pid, rest) = started.split_once(':')?;
                return (base(rest.split('/').next()?) == app).then(|| pid.parse().ok())?;
            }
            let (process, rest) = message.strip_prefix("Process ")?.split_once(" (pid ")?;
            (base(process) == app).then(|| rest.split(')').next()?.parse().ok())?
        }
        // The process that writes the report of a native crash.
        "DEBUG" => {
            let (_, process) = message.split_once(" >>> ")?;
            (base(process.split(" <<<").next()?) == app).then_some(entry.pid)?
        }
        _ => None,
    }
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
        crate::logs::read(&newest, None).unwrap()
    }

    #[test]
    fn crashes_and_apps_that_do_not_respond_are_read_out_of_the_log() {
        // F44
        let told: Vec<_> = reports(&log())
            .into_iter()
            .map(|r| (r.app, r.pid, r.exception, r.message, r.place, r.age_ms))
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

    #[test]
    fn processes_that_are_gone_are_known_by_what_the_log_says_of_them() {
        // F44
        let entries = log().entries;
        assert_eq!(past_pids(&entries, "com.example"), [4321, 4400, 4600]);
        assert_eq!(past_pids(&entries, "com.other"), [4500]);
        assert_eq!(past_pids(&entries, "com.exam"), [0; 0]);
    }
}
