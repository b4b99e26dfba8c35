//! Errors that nobody caught in JavaScript (React Native) and Dart (Flutter), as the log has them.

use mdm_core::port::{CrashKind, CrashReport, LogEntry, LogLevel, Thrown};

/// Flutter's box around an error that one of its libraries caught.
const CAUGHT_BY: &str = "EXCEPTION CAUGHT BY ";
const UNHANDLED: &str = "Unhandled Exception: ";

/// `TypeError: undefined is not an object`, then the stack, in lines of its own or behind line breaks.
pub fn react_native(entry: &LogEntry, lines: &[&str]) -> Option<CrashReport> {
    let first = entry.message.lines().next()?;
    let first =
        first.trim_start_matches("'").trim_start_matches("Possible Unhandled Promise Rejection (id: 0):");
    let (exception, message) = first.trim().split_once(": ")?;
    if entry.level < LogLevel::Error || !exception.ends_with("Error") || exception.contains(' ') {
        return None;
    }
    let mut thrown = Thrown::new(exception, message);
    let places = lines.iter().map(|line| line.trim()).filter(|line| !line.is_empty());
    for place in places.take_while(|line| is_script_frame(line)) {
        thrown.push_frame(place, !place.contains("node_modules") && !place.contains("[native code]"));
    }
    Some(report(entry, thrown))
}

fn is_script_frame(line: &str) -> bool {
    line.starts_with("at ") || line.contains('@') || line.starts_with("This error is located at")
}

/// `[ERROR:flutter/runtime/dart_vm_initializer.cc(41)] Unhandled Exception: FormatException: …`, then `#0  main (…)`.
pub fn flutter_unhandled(entry: &LogEntry, lines: &[&str]) -> Option<CrashReport> {
    let (_, what) = entry.message.split_once(UNHANDLED)?;
    Some(report(entry, dart(what.lines().next()?, lines)))
}

/// `══╡ EXCEPTION CAUGHT BY WIDGETS LIBRARY ╞══`, then `The following … was thrown building …:`, the message, the stack.
pub fn flutter_caught(entry: &LogEntry, lines: &[&str]) -> Option<CrashReport> {
    let (_, by) = entry.message.split_once(CAUGHT_BY)?;
    let by = by.split('╞').next()?.trim();
    let end = lines.iter().position(|line| line.starts_with("════")).unwrap_or(lines.len());
    let lines = &lines[..end];
    let thrown_at = lines.iter().position(|line| line.starts_with("The following "))?;
    let class = lines[thrown_at].strip_prefix("The following ")?.split(" was thrown").next()?.trim();
    let message = lines.get(thrown_at + 1).map_or("", |line| line.trim());
    let mut thrown = dart(&format!("{class}: {message}"), lines);
    if thrown.message.is_empty() {
        thrown.message = format!("caught by {}", by.to_lowercase());
    }
    Some(report(entry, thrown))
}

fn dart(what: &str, lines: &[&str]) -> Thrown {
    let (exception, message) = match what.split_once(": ") {
        Some((class, message)) if !class.contains(' ') => (class, message),
        _ => ("Exception", what),
    };
    let mut thrown = Thrown::new(exception, message);
    for frame in lines.iter().map(|line| line.trim()).filter(|line| is_dart_frame(line)) {
        let own = !["(dart:", "(package:flutter/", "<asynchronous suspension>"]
            .iter()
            .any(|part| frame.contains(part));
        thrown.push_frame(frame, own);
    }
    thrown
}

/// `#0      main.<anonymous closure> (package:app/main.dart:12:5)`.
fn is_dart_frame(line: &str) -> bool {
    line.strip_prefix('#').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        && line.contains('(')
}

/// The app is not named by such lines; who asked knows its processes.
fn report(entry: &LogEntry, thrown: Thrown) -> CrashReport {
    CrashReport {
        app: String::new(),
        pid: entry.pid.unwrap_or_default(),
        kind: CrashKind::Script,
        thread: None,
        thrown: vec![thrown],
        time_ms: None,
        age_ms: None,
        images: Vec::new(),
    }
}
