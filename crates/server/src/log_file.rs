//! Logs and crash reports in files, in whichever form they are.

use mdm_android::crash as android_crash;
use mdm_android::log::clock::Clock;
use mdm_android::log::text as logcat;
use mdm_core::port::{CrashReport, LineCounts, LogEntry};
use mdm_ios::{crash as ios_crash, log as ios_log};

/// Lines of which the form is told.
const PROBE_LINES: usize = 200;

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Logcat,
    /// A log of iOS, in any of its forms.
    IosLog,
    /// A report of iOS.
    IosCrash,
    /// A tombstone, or stacks of an app that did not respond.
    AndroidReport,
    Unknown,
}

impl Form {
    pub fn as_str(self) -> &'static str {
        match self {
            Form::Logcat => "logcat",
            Form::IosLog => "iOS log",
            Form::IosCrash => "iOS crash report",
            Form::AndroidReport => "Android report",
            Form::Unknown => "unknown",
        }
    }
}

#[derive(Debug)]
pub struct LogFile {
    pub form: Form,
    pub entries: Vec<LogEntry>,
    /// Of a report every line is a part of the report.
    pub counts: LineCounts,
    pub crashes: Vec<CrashReport>,
}

/// Reads a file. What it is follows from its text, never from its name.
pub fn read(bytes: &[u8]) -> LogFile {
    let text = decode(bytes);
    if let Some(report) = ios_crash::read(&text) {
        return report_file(Form::IosCrash, &text, vec![report]);
    }
    let (logcat_count, ios_count) = probe(&text);
    if logcat_count == 0 && ios_count == 0 {
        let reports = android_crash::in_text(&text);
        let form = if reports.is_empty() { Form::Unknown } else { Form::AndroidReport };
        return report_file(form, &text, reports);
    }
    if ios_count > logcat_count {
        let (entries, counts) = ios_log::read(&text);
        return LogFile { form: Form::IosLog, entries, counts, crashes: Vec::new() };
    }
    let (entries, counts) = logcat::read(&text, Clock::default());
    let crashes = android_crash::in_entries(&entries);
    LogFile { form: Form::Logcat, entries, counts, crashes }
}

fn report_file(form: Form, text: &str, crashes: Vec<CrashReport>) -> LogFile {
    let lines = text.lines().count();
    let counts = match form {
        Form::Unknown => LineCounts { defects: lines, ..LineCounts::default() },
        _ => LineCounts { continuations: lines, ..LineCounts::default() },
    };
    LogFile { form, entries: Vec::new(), counts, crashes }
}

/// How many of the first lines each reader knows.
fn probe(text: &str) -> (usize, usize) {
    let mut heads = mdm_android::log::line::Heads::default();
    let lines = || text.lines().take(PROBE_LINES);
    (
        lines().filter(|line| heads.read(line).is_some()).count(),
        lines().filter(|line| ios_log::parse(line).is_some()).count(),
    )
}

/// Text in UTF-8, or in the UTF-16 that some shells write when a log is redirected into a file.
pub fn decode(bytes: &[u8]) -> String {
    let units = |rest: &[u8], unit: fn([u8; 2]) -> u16| {
        let units: Vec<u16> = rest.chunks_exact(2).map(|pair| unit([pair[0], pair[1]])).collect();
        String::from_utf16_lossy(&units)
    };
    match bytes {
        [0xff, 0xfe, rest @ ..] => units(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => units(rest, u16::from_be_bytes),
        [0xef, 0xbb, 0xbf, rest @ ..] => String::from_utf8_lossy(rest).into_owned(),
        _ => String::from_utf8_lossy(bytes).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_follows_from_the_text() {
        for (text, form) in [
            ("01-02 11:29:59.123  77  78 E Tag: x\n", Form::Logcat),
            ("E/Tag(   77): x\n", Form::Logcat),
            ("2024-01-02 10:11:12.123 Df Shop[1:2] first\n", Form::IosLog),
            ("*** ***\npid: 1, tid: 2, name: x  >>> y <<<\nsignal 6 (SIGABRT)\n", Form::AndroidReport),
            ("Process: Shop [7]\nException Type:  EXC_CRASH (SIGABRT)\n", Form::IosCrash),
            ("shopping list\nmilk\n", Form::Unknown),
            ("", Form::Unknown),
        ] {
            let file = read(text.as_bytes());
            assert_eq!(file.form, form, "{text}");
            assert_eq!(file.counts.lines(), text.lines().count(), "every line is accounted for: {text}");
        }
    }

    #[test]
    fn utf_16_is_read_in_both_orders() {
        let text = "01-02 11:29:59.123  77  78 E Tag: ä\n";
        let little: Vec<u8> =
            [0xfeff].into_iter().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> =
            [0xfeff].into_iter().chain(text.encode_utf16()).flat_map(u16::to_be_bytes).collect();
        for bytes in [little, big] {
            assert_eq!(read(&bytes).entries[0].message, "ä");
        }
    }
}
