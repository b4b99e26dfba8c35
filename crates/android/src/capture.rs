//! One capture of the screen's hierarchy: the script that makes it, and what its output means.
//!
//! Every capture writes a file of its own name and removes it, so there is no old file to mistake for a new one (W8)
//! and no file that two captures share (W9). Messages go to stderr and only the XML to stdout, so a screen that shows
//! the word "ERROR" is just a screen (W7).

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use mdm_core::port::{Captured, DeviceError, DeviceErrorKind, RawAnswer};
use mdm_core::screen::geometry::Size;
use mdm_core::screen::snapshot::Screen;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::adb::Script;
use crate::adb::shell::Output;
use crate::{hierarchy, screen};

/// Ten times the largest hierarchy seen on a phone; the rest is left out and the snapshot says so. Read, it takes several
/// times as much memory (F62).
pub const XML_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Names the files of this process on the device.
pub struct FileNames {
    session: u64,
    next: AtomicU64,
}

impl FileNames {
    pub fn new(session: u64) -> FileNames {
        FileNames { session, next: AtomicU64::new(1) }
    }

    pub fn next(&self) -> String {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        format!("/data/local/tmp/.mdm-{:016x}-{number}.xml", self.session)
    }
}

/// `uiautomator dump` waits until no accessibility event came for this long before it reads the tree.
const SILENCE: Duration = Duration::from_millis(1000);
/// A dump that takes longer than the quickest one, by more than this part of it, waited for something else: for events that
/// went on, or, after the silence, for an app that was stuck and may have changed its screen right before it answered.
const SLOWER_MAX: u32 = 10;

/// How long the dumps of one connection take, from which it follows whether the screen rested before one.
#[derive(Debug, Default)]
pub struct DumpTimes {
    generation: u64,
    quickest: Option<Duration>,
}

impl DumpTimes {
    /// Returns for how long nothing changed before the tree of a dump that took this long; 0 if that is not certain.
    pub fn rested_ms(&mut self, generation: u64, took: Duration) -> u64 {
        if self.generation != generation {
            *self = DumpTimes { generation, quickest: None };
        }
        let earlier = self.quickest;
        self.quickest = Some(earlier.map_or(took, |quickest| quickest.min(took)));
        let waited =
            |quickest: Duration| quickest.min(took) >= SILENCE && took <= quickest + quickest / SLOWER_MAX;
        if earlier.is_some_and(waited) { SILENCE.as_millis() as u64 } else { 0 }
    }
}

/// `leftovers` are files of captures that were cut off. A dump that still works on one holds the device's only
/// UiAutomation, so it is ended; the files are removed on the way.
pub fn script(file: &str, leftovers: &[String]) -> Script {
    let ended = leftovers.iter().fold(Script::new(""), |script, leftover| {
        script.then("pkill -9 -f").arg(&command_line_of(leftover)).then(" >/dev/null 2>&1; ")
    });
    leftovers
        .iter()
        .fold(ended.then("rm -f").arg(file), |script, leftover| script.arg(leftover))
        .then("; uiautomator dump")
        .arg(file)
        // The size follows an override and a fold, and the front activity changes: both belong to this capture.
        .then(" >&2; r=$?; wm size >&2; dumpsys activity activities | grep -E 'ResumedActivity|mFocusedApp' >&2; if [ -f")
        .arg(file)
        .then(" ]; then cat")
        .arg(file)
        .then("; rm -f")
        .arg(file)
        .then("; fi; exit $r")
}

/// Ends the dumps of processes of ours that were killed, and removes their files.
pub fn cleaning(killed: &[u64]) -> Script {
    killed.iter().fold(Script::new(""), |script, session| {
        let session = format!("{session:016x}");
        let dump = command_line_of(&format!("/data/local/tmp/.mdm-{session}-"));
        script
            .then("pkill -9 -f")
            .arg(&dump)
            .then(" >/dev/null 2>&1; rm -f /data/local/tmp/.mdm-")
            .joined(&session)
            .then("-* /data/local/tmp/.mdm-helper-")
            .joined(&session)
            .then("-*; ")
    })
}

/// Returns a pattern for the command line of the dump that writes this file. The shell that runs `pkill` has the whole
/// script as its own command line; the brackets keep the pattern from matching itself there.
fn command_line_of(file: &str) -> String {
    format!("[L]auncher dump {file}")
}

/// Turns the script's output into a snapshot, unless it is the known one. The exit code alone proves nothing:
/// `uiautomator` prints an error and exits with zero.
pub fn read(output: &Output, known: Option<RawAnswer>) -> Result<Captured, DeviceError> {
    let xml = &output.stdout[..];
    // Old shells mix the two outputs; the messages then stand before the XML.
    let start = memchr::memmem::find(xml, b"<?xml").or_else(|| memchr::memmem::find(xml, b"<hierarchy"));
    let Some(start) = start else {
        return Err(explain(output));
    };
    let messages =
        [&String::from_utf8_lossy(&xml[..start]), &*String::from_utf8_lossy(&output.stderr)].concat();
    let (size, screen) = (screen_size(&messages).unwrap_or_default(), screen::parse(&messages));
    let raw = raw_answer(&xml[start..], size, screen.as_ref());
    if known == Some(raw) {
        return Ok(Captured::Unchanged);
    }
    let mut snapshot = hierarchy::parse(&xml[start..], &hierarchy::Limits::default());
    if snapshot.elements.is_empty() {
        return Err(nothing_at_all());
    }
    snapshot.size = size.rotated(snapshot.rotation);
    snapshot.screen = screen;
    Ok(Captured::New { raw, snapshot })
}

/// Every window has at least its frame. A tree without one proves nothing about what is on the screen.
fn nothing_at_all() -> DeviceError {
    let detail =
        "the device gave a tree without a single element: it is between two windows, or the dump was cut off";
    DeviceError::new(DeviceErrorKind::NoWindow, detail)
}

/// Of everything that a snapshot is made of. The messages around it name another file each time.
fn raw_answer(xml: &[u8], size: Size, screen: Option<&Screen>) -> RawAnswer {
    let seed = u64::from(size.width) << 32 | u64::from(size.height);
    let screen = screen.map(Screen::component).unwrap_or_default();
    RawAnswer(xxh3_64_with_seed(xml, xxh3_64_with_seed(screen.as_bytes(), seed)))
}

/// `Override size` wins over `Physical size`; both are given in the natural orientation.
fn screen_size(messages: &str) -> Option<Size> {
    let value =
        |key: &str| messages.lines().find_map(|line| line.trim().strip_prefix(key)?.strip_prefix(": "));
    let (width, height) =
        value("Override size").or_else(|| value("Physical size"))?.trim().split_once('x')?;
    Some(Size { width: width.parse().ok()?, height: height.parse().ok()? })
}

/// What the device said instead of a hierarchy.
fn explain(output: &Output) -> DeviceError {
    let text = [output.message(), output.stdout_text()].join("\n");
    let has = |part: &str| text.contains(part);
    if has("could not get idle state") {
        let detail = "the screen kept changing for as long as uiautomator waits (10 s), so it gave no tree";
        return DeviceError::new(DeviceErrorKind::NotIdle, detail);
    }
    if has("null root node") {
        let detail = "no window has the focus: the device is between two apps or locked";
        return DeviceError::new(DeviceErrorKind::NoWindow, detail);
    }
    if has("already registered") {
        let detail = "another program holds the device's UiAutomation; Android allows one at a time";
        return DeviceError::new(DeviceErrorKind::TreeBusy, detail);
    }
    let said = text.lines().map(str::trim).find(|l| !l.is_empty() && !is_ours(l)).unwrap_or("nothing");
    let detail = format!("uiautomator gave no tree (exit code {}): {said:.200}", output.exit_code);
    DeviceError::new(DeviceErrorKind::TreeUnavailable, detail)
}

/// Lines that our own script adds.
fn is_ours(line: &str) -> bool {
    line.starts_with("Physical size") || line.starts_with("Override size") || line.contains("ActivityRecord{")
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    const TREE: &str = "<?xml version='1.0' ?><hierarchy rotation=\"1\"><node class=\"android.view.View\" \
                        text=\"ERROR: no network\" bounds=\"[0,0][10,10]\" /></hierarchy>";

    fn output(stdout: &str, stderr: &str, exit_code: u8) -> Output {
        let bytes = |text: &str| Bytes::copy_from_slice(text.as_bytes());
        Output { stdout: bytes(stdout), stderr: bytes(stderr), exit_code, truncated: false }
    }

    #[test]
    fn a_screen_that_says_error_is_a_screen() {
        let messages = "UI hierchary dumped to: /x\nPhysical size: 1080x2400\nOverride size: 720x1600\n\
                        ResumedActivity: ActivityRecord{1 u0 a.b/.Main t1}";
        let answer = output(TREE, messages, 0);
        let Ok(Captured::New { raw, snapshot }) = read(&answer, None) else { panic!("a new one") };
        assert_eq!(snapshot.elements.len(), 1, "W7");
        assert_eq!(snapshot.size, Size { width: 1600, height: 720 }, "W25: rotation and override size");
        assert_eq!(snapshot.screen.unwrap().component(), "a.b/.Main");
        assert_eq!(read(&answer, Some(raw)), Ok(Captured::Unchanged));
        let other_file = messages.replace("/x", "/y");
        assert_eq!(read(&output(TREE, &other_file, 0), Some(raw)), Ok(Captured::Unchanged));
        for changed in [messages.replace("720", "700"), messages.replace("Main", "Cart")] {
            let read = read(&output(TREE, &changed, 0), Some(raw));
            assert!(matches!(read, Ok(Captured::New { .. })), "{changed}");
        }
    }

    #[test]
    fn a_screen_rested_before_a_dump_that_took_its_usual_time() {
        let ms = Duration::from_millis;
        let mut times = DumpTimes::default();
        assert_eq!(times.rested_ms(1, ms(1600)), 0, "nothing is known of the first one");
        assert_eq!(times.rested_ms(1, ms(1500)), 1000);
        assert_eq!(times.rested_ms(1, ms(1650)), 1000);
        assert_eq!(times.rested_ms(1, ms(1660)), 0, "the app may have been stuck after the silence");
        assert_eq!(times.rested_ms(1, ms(900)), 0, "nobody waited for a second in it");
        assert_eq!(times.rested_ms(1, ms(1500)), 0, "dumps do not wait here");
        assert_eq!(times.rested_ms(2, ms(1500)), 0, "another connection");
        assert_eq!(times.rested_ms(2, ms(1500)), 1000);
    }

    #[test]
    fn a_tree_without_an_element_is_no_screen() {
        for empty in
            ["<?xml version='1.0' ?><hierarchy rotation=\"0\"></hierarchy>", "<?xml version='1.0' ?><hier"]
        {
            let code = read(&output(empty, "", 0), None).unwrap_err().kind;
            assert_eq!(code, DeviceErrorKind::NoWindow, "W10: {empty}");
        }
    }

    #[test]
    fn both_outputs_in_one_stream_are_read_the_same() {
        let mixed = format!("UI hierchary dumped to: /x\r\nPhysical size: 10x20\r\n{TREE}");
        let read = read(&output(&mixed, "", 0), None);
        let Ok(Captured::New { snapshot, .. }) = read else { panic!("a new one") };
        assert_eq!(snapshot.size, Size { width: 20, height: 10 });
    }

    #[test]
    fn error_texts_become_codes_whatever_the_exit_code() {
        let code = |stderr: &str, exit| read(&output("", stderr, exit), None).unwrap_err().kind;
        assert_eq!(
            code("ERROR: could not get idle state.\nPhysical size: 1x1", 0),
            DeviceErrorKind::NotIdle,
            "W8"
        );
        let null_root = "ERROR: null root node returned by UiTestAutomationBridge.";
        assert_eq!(code(null_root, 0), DeviceErrorKind::NoWindow);
        assert_eq!(code("UiAutomationService@1 already registered!", 137), DeviceErrorKind::TreeBusy);
        let killed = read(&output("", "Physical size: 1x1\nKilled", 137), None).unwrap_err();
        assert_eq!(killed.detail, "uiautomator gave no tree (exit code 137): Killed");
    }

    #[test]
    fn every_capture_has_its_own_file_and_cleans_up_after_the_last() {
        let names = FileNames::new(0xabc);
        let (first, second) = (names.next(), names.next());
        assert_ne!(first, second, "W9");
        let script = script(&second, &[first]);
        let text = script.as_str().unwrap();
        let removed = "rm -f '/data/local/tmp/.mdm-0000000000000abc-2.xml' '/data/local/tmp/.mdm-0000000000000abc-1.xml'; ";
        assert!(text.contains(removed), "{text}");
        let ended = "pkill -9 -f '[L]auncher dump /data/local/tmp/.mdm-0000000000000abc-1.xml'";
        assert!(text.starts_with(ended), "{text}");
        assert!(!text.contains("Launcher"), "the pattern does not fit the shell that runs it: {text}");
    }
}
