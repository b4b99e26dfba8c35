//! Native crashes: tombstones, the same text in the log, and the one line that bionic writes.

use mdm_core::port::{CrashKind, CrashReport, Thrown};

use super::app_of_process;

/// Folders of the platform's own libraries.
const FOREIGN: [&str; 8] =
    ["/apex/", "/system/", "/system_ext/", "/vendor/", "/product/", "/odm/", "[vdso", "<anonymous"];
/// What every program of the platform has, and where it only ends.
const EVERYWHERE: [&str; 5] = ["/bionic/", "/libbase.so", "/liblog.so", "/libc++.so", "/libutils.so"];

/// True for the line that names the process: `pid: 4321, tid: 4330, name: Thread-2  >>> com.example <<<`.
pub fn is_head(line: &str) -> bool {
    line.trim_start().starts_with("pid: ") && line.contains(">>> ")
}

/// Reads a tombstone from the line with the process on.
pub fn report(lines: &[&str]) -> Option<CrashReport> {
    let head = lines.first()?.trim_start();
    let (_, process) = head.split_once(">>> ")?;
    let process = process.split(" <<<").next()?.trim();
    let pid = head.strip_prefix("pid: ")?.split(',').next()?.trim().parse().ok()?;
    let thread =
        head.split_once(", name: ").and_then(|(_, rest)| rest.split_once(">>>")).map(|(name, _)| name.trim());
    let own = &lines[1..];
    let end = own
        .iter()
        .position(|line| is_head(line) || line.starts_with("*** ***") || line.starts_with("--- ---"));
    let own = &own[..end.unwrap_or(own.len())];
    let signal = own.iter().map(|line| line.trim_start()).find(|line| line.starts_with("signal "));
    let value = |name: &str| own.iter().find_map(|line| line.trim_start().strip_prefix(name)).map(str::trim);
    let why =
        value("Abort message: ").map(|text| text.trim_matches(['\'', '"'])).or_else(|| value("Cause: "));
    let signal_name = signal.and_then(in_brackets).unwrap_or("native crash");
    let mut thrown = Thrown::new(signal_name, why.or(signal).unwrap_or_default());
    for frame in own.iter().skip_while(|line| !is_frame(line)).take_while(|line| is_frame(line)) {
        thrown.push_frame(frame.trim_start(), is_own(frame, process));
    }
    Some(CrashReport {
        app: app_of_process(process).to_owned(),
        pid,
        kind: CrashKind::Native,
        thread: thread.map(str::to_owned),
        thrown: vec![thrown],
        time_ms: None,
        age_ms: None,
        images: Vec::new(),
    })
}

/// `Fatal signal 11 (SIGSEGV), code 1 (SEGV_MAPERR), fault addr 0x0 in tid 4330 (Thread-2), pid 4321 (com.example)`.
pub fn fatal_signal(message: &str) -> Option<CrashReport> {
    let rest = message.strip_prefix("Fatal signal ")?;
    let (what, process) = rest.rsplit_once(", pid ")?;
    let (pid, name) = process.split_once(" (")?;
    let thread = what.rsplit_once("in tid ").and_then(|(_, thread)| in_brackets(thread));
    Some(CrashReport {
        app: app_of_process(name.trim_end().trim_end_matches(')')).to_owned(),
        pid: pid.trim().parse().ok()?,
        kind: CrashKind::Native,
        thread: thread.map(str::to_owned),
        thrown: vec![Thrown::new(in_brackets(what)?, &format!("signal {what}"))],
        time_ms: None,
        age_ms: None,
        images: Vec::new(),
    })
}

fn in_brackets(text: &str) -> Option<&str> {
    text.split_once('(')?.1.split_once(')').map(|(inner, _)| inner)
}

/// `#00 pc 000603ca  /apex/…/libc.so (abort+166) (BuildId: …)`.
fn is_frame(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with('#') && line.contains(" pc ")
}

/// Of a program of the platform everything is its own that is not everywhere.
fn is_own(frame: &str, process: &str) -> bool {
    let object = frame
        .split_once(" pc ")
        .and_then(|(_, rest)| rest.trim_start().split_once(' '))
        .map(|(_, file)| file);
    let object = object.unwrap_or_default().trim_start();
    if process.starts_with('/') {
        return !EVERYWHERE.iter().any(|part| object.contains(part));
    }
    object.starts_with("/data/") || !FOREIGN.iter().any(|folder| object.starts_with(folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tombstone_tells_signal_cause_and_frames() {
        // W17
        let text = "pid: 4321, tid: 4330, name: Thread-2  >>> com.example:player <<<\nuid: 10123\n\
                    signal 11 (SIGSEGV), code 1 (SEGV_MAPERR), fault addr 0x0\nCause: null pointer dereference\n    \
                    r0  00000000  r1  000026a5\n\nbacktrace:\n      \
                    #00 pc 000603ca  /apex/com.android.runtime/lib/bionic/libc.so (strlen+6)\n      \
                    #01 pc 00001a2c  /data/app/~~x==/com.example-y==/lib/arm64/libplayer.so (decode+12) (BuildId: ab)\n\n\
                    memory near r0:\n--- --- --- --- ---\npid: 4321, tid: 1, name: x  >>> com.example <<<\n\
                    signal 6 (SIGABRT)\n";
        let lines: Vec<&str> = text.lines().collect();
        let report = report(&lines).unwrap();
        assert_eq!(
            (report.app.as_str(), report.pid, report.thread.as_deref()),
            ("com.example", 4321, Some("Thread-2"))
        );
        assert_eq!((report.exception(), report.message()), ("SIGSEGV", "null pointer dereference"));
        assert_eq!(report.thrown[0].frame_count, 2);
        assert!(report.place().unwrap().text.starts_with("#01 pc 00001a2c"), "its own library");
    }

    #[test]
    fn the_line_of_bionic_alone_is_a_crash_too() {
        let line =
            "Fatal signal 6 (SIGABRT), code -1 (SI_QUEUE) in tid 12 (RenderThread), pid 11 (com.example)";
        let report = fatal_signal(line).unwrap();
        assert_eq!((report.app.as_str(), report.pid, report.exception()), ("com.example", 11, "SIGABRT"));
        assert_eq!(report.thread.as_deref(), Some("RenderThread"));
        assert_eq!(fatal_signal("Fatal signal"), None);
    }
}
