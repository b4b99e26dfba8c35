//! Crash reports of iOS: `.ips` (a line of JSON, then JSON) and the older `.crash` (text).

mod json;
mod text;

use mdm_core::port::CrashReport;

/// Limit of a report that is read.
pub const REPORT_BYTES_MAX: usize = 16 * 1024 * 1024;
/// The app's own binaries of which the build is kept.
const IMAGES_MAX: usize = 100;
/// The code with which the system ends an app that does not respond.
const WATCHDOG: &str = "0x8badf00d";
/// Folders of the system's own libraries.
const FOREIGN: [&str; 5] = ["/System/", "/usr/lib/", "/Library/Apple/", "/private/preboot/", "/Developer/"];

/// Reads a report, in whichever of the forms it is; `None` if it is none.
pub fn read(report: &str) -> Option<CrashReport> {
    let report = report.trim_start_matches('\u{feff}').trim_start();
    if report.len() > REPORT_BYTES_MAX {
        return None;
    }
    let (first, rest) = report.split_once('\n').unwrap_or((report, ""));
    match first.starts_with('{') {
        true if rest.trim_start().starts_with('{') => json::read(first, rest),
        // A text that got the first line of the other form.
        true => text::read(rest).or_else(|| json::read("{}", report)),
        false => text::read(report),
    }
}

/// True for a binary that the system did not bring.
fn is_own_image(path: &str) -> bool {
    !path.is_empty()
        && !FOREIGN.iter().any(|folder| path.starts_with(folder))
        && !path.contains(".simruntime/")
}

/// A frame as Apple writes it where nothing is known of its symbol: `App 0x1007da4bc 0x1007d4000 + 25788`.
fn bare_frame(image: &str, base: u64, offset: u64) -> String {
    format!("{image} {:#x} {base:#x} + {offset}", base.saturating_add(offset))
}

#[cfg(test)]
mod tests {
    use mdm_core::port::CrashKind;

    use super::*;

    const IPS: &str = r#"{"app_name":"Shop","bundleID":"com.example.shop","bug_type":"309"}
{"pid":77,"procName":"Shop","exception":{"type":"EXC_CRASH","signal":"SIGABRT"},
"termination":{"indicator":"Abort trap: 6"},"asi":{"libsystem_c.dylib":["abort() called"]},"faultingThread":1,
"lastExceptionBacktrace":[{"imageOffset":10,"imageIndex":0,"symbol":"objc_exception_throw","symbolLocation":5}],
"threads":[{"frames":[]},{"triggered":true,"queue":"com.apple.main-thread","frames":[
{"imageOffset":16,"symbol":"abort","symbolLocation":4,"imageIndex":0},{"imageOffset":32,"imageIndex":1},
{"imageOffset":48,"imageIndex":9}]}],
"usedImages":[{"base":4096,"path":"/usr/lib/libc.dylib","name":"libc.dylib"},
{"base":8192,"path":"/private/var/containers/Bundle/Application/X/Shop.app/Shop","name":"Shop"}]}"#;

    #[test]
    fn both_forms_tell_the_same() {
        let ips = read(IPS).unwrap();
        assert_eq!((ips.app.as_str(), ips.pid, ips.kind), ("com.example.shop", 77, CrashKind::Exception));
        assert_eq!((ips.exception(), ips.message()), ("EXC_CRASH (SIGABRT)", "abort() called"));
        assert_eq!(ips.thread.as_deref(), Some("1 (com.apple.main-thread)"));
        assert_eq!(ips.place().map(|frame| frame.text.as_str()), Some("Shop 0x2020 0x2000 + 32"));
        let text = "Incident Identifier: 1\nProcess:             Shop [77]\nIdentifier:          com.example.shop\n\
                    Date/Time:           2021-04-03 11:46:48.5858 +0900\n\
                    Exception Type:  EXC_BAD_ACCESS (SIGSEGV)\nException Subtype: KERN_INVALID_ADDRESS at 0x0\n\
                    Triggered by Thread:  1\n\nThread 0:\n0   libc.dylib   0x1 a + 1\n\nThread 1 name:  worker\n\
                    Thread 1 Crashed:\n0   libc.dylib       0x0000000000001010 abort + 4\n\
                    1   Shop Kit         0x0000000000002020 0x2000 + 32\n\nThread 2:\n0   x  0x1 y + 1\n\n\
                    Binary Images:\n0x1000 - 0x1fff libc.dylib arm64 <ab> /usr/lib/libc.dylib\n\
                    0x2000 - 0x2fff Shop Kit arm64 <cd> /private/var/containers/Bundle/Application/X/Shop.app/Shop Kit\n";
        let text = read(text).unwrap();
        assert_eq!((text.app.as_str(), text.pid, text.kind), ("com.example.shop", 77, CrashKind::Native));
        assert_eq!(
            (text.exception(), text.message()),
            ("EXC_BAD_ACCESS (SIGSEGV)", "KERN_INVALID_ADDRESS at 0x0")
        );
        assert_eq!((text.thread.as_deref(), text.thrown[0].frame_count), (Some("1 (worker)"), 2));
        assert_eq!(
            text.place().map(|frame| frame.text.as_str()),
            Some("Shop Kit 0x0000000000002020 0x2000 + 32")
        );
    }

    #[test]
    fn hostile_reports_are_none_or_empty_and_never_a_panic() {
        // SE-07
        for report in
            ["", "{", "{}\n{", "{}\n{\"faultingThread\":99,\"threads\":[]}", "Thread 0 Crashed:", "{}\n[]"]
        {
            let _ = read(report);
        }
        for end in 0..IPS.len() {
            let _ = read(&IPS[..end]);
        }
        assert_eq!(read("a log line"), None);
    }
}
