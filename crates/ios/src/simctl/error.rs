//! What simctl says when something did not work, as errors of the port.

use std::io;

use mdm_core::port::{DeviceError, DeviceErrorKind, Dispatch};

use super::process::Output;

/// Characters of simctl's own words that are told.
const WORDS_CHARS_MAX: usize = 300;
/// The exit code of `xcrun` itself when the tool is not there.
const NO_TOOL: i32 = 72;
const ERROR_HEAD: &str = "An error was encountered processing the command (";

/// Whether the command could change something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    Reads,
    Acts,
}

pub fn not_found() -> DeviceError {
    let detail = if cfg!(target_os = "macos") {
        "xcrun was not found: install Xcode and run xcode-select"
    } else {
        "xcrun was not found: simulators run on a Mac with Xcode only"
    };
    DeviceError::new(DeviceErrorKind::Local, detail)
}

/// The process could not be started, or its output could not be read.
pub fn process(error: &io::Error, effect: Effect) -> DeviceError {
    match error.kind() {
        io::ErrorKind::NotFound => not_found(),
        _ => {
            let detail = format!("xcrun could not be run: {error}");
            let failed = DeviceError::new(DeviceErrorKind::Local, detail);
            match effect {
                Effect::Acts => failed.with_dispatch(Dispatch::Unknown),
                Effect::Reads => failed,
            }
        }
    }
}

/// The command ended with another code than 0.
pub fn failed(udid: &str, output: &Output, effect: Effect) -> DeviceError {
    let Some(code) = output.code else {
        let lost = DeviceError::new(DeviceErrorKind::ConnectionLost, "simctl was ended before it answered");
        return if effect == Effect::Acts { lost.with_dispatch(Dispatch::Unknown) } else { lost };
    };
    let said = Said::of(&output.stderr);
    let words = said.words;
    let has = |part: &str| output.stderr.contains(part);
    let (kind, detail) = if code == NO_TOOL && has("unable to find utility") {
        let detail = "xcrun has no simctl: install Xcode and choose it with xcode-select";
        (DeviceErrorKind::Local, detail.to_owned())
    } else if has("Invalid device") {
        (DeviceErrorKind::Gone, format!("there is no simulator {udid} (any more)"))
    } else if has("No devices are booted") || has("current state: Shut") {
        (DeviceErrorKind::Offline, format!("the simulator {udid} is shut down: boot it first"))
    } else if has("current state: Booting") || has("current state: Creating") {
        (
            DeviceErrorKind::Offline,
            format!("the simulator {udid} is still starting: try again when it is booted"),
        )
    } else if has("returned nil for") || has("is unknown to FrontBoard") {
        (DeviceErrorKind::AppNotInstalled, format!("the app is not installed on {udid}"))
    } else if has("CoreSimulatorService connection") || has("CoreSimulator is out of date") {
        let detail =
            format!("the Mac's simulator service does not answer: open Xcode once, or restart it: {words}");
        (DeviceErrorKind::Local, detail)
    } else {
        (DeviceErrorKind::Rejected, format!("simctl said: {words}"))
    };
    let error = DeviceError::new(kind, detail);
    if effect == Effect::Acts { error.with_dispatch(Dispatch::Refused) } else { error }
}

/// The domain, the code and the words of an error.
#[derive(Debug, PartialEq, Eq)]
pub struct Said<'a> {
    pub domain: &'a str,
    pub code: Option<i64>,
    pub words: String,
}

impl Said<'_> {
    pub fn of(stderr: &str) -> Said<'_> {
        let inner = stderr.split_once(ERROR_HEAD).and_then(|(_, rest)| rest.split_once(')'));
        let (head, rest) = inner.unwrap_or(("", stderr));
        let part = |name: &str| {
            let at = head.split_once(name)?.1;
            Some(at.split(',').next().unwrap_or(at).trim())
        };
        let lines = rest.trim_start_matches(':').lines().map(str::trim).filter(|line| !line.is_empty());
        let mut words = String::new();
        for line in lines.take_while(|line| !line.starts_with("Underlying error")) {
            if !words.is_empty() {
                words.push(' ');
            }
            words.push_str(line);
        }
        if words.is_empty() {
            words.push_str("nothing");
        }
        Said {
            domain: part("domain=").unwrap_or_default(),
            code: part("code=").and_then(|code| code.parse().ok()),
            words: words.chars().take(WORDS_CHARS_MAX).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_read_from_simctls_words() {
        let stderr = "An error was encountered processing the command (domain=NSPOSIXErrorDomain, code=3):\n\
                      Simulator device failed to terminate a.b.\nfound nothing to terminate\n\
                      Underlying error (domain=NSPOSIXErrorDomain, code=3):\n\tmore\n";
        let said = Said::of(stderr);
        assert_eq!((said.domain, said.code), ("NSPOSIXErrorDomain", Some(3)));
        assert_eq!(said.words, "Simulator device failed to terminate a.b. found nothing to terminate");
        let old = Said::of("An error was encountered processing the command (code=146):\nUnable to boot\n");
        assert_eq!((old.domain, old.code, old.words.as_str()), ("", Some(146), "Unable to boot"));
        assert_eq!(Said::of("").words, "nothing");
    }

    #[test]
    fn the_kind_follows_from_the_words_and_not_from_the_code() {
        for (stderr, code, kind) in [
            ("Invalid device: X\n", 148, DeviceErrorKind::Gone),
            ("No devices are booted.\n", 1, DeviceErrorKind::Offline),
            ("…:\nUnable to lookup in current state: Shutdown\n", 149, DeviceErrorKind::Offline),
            ("…:\nUnable to lookup in current state: Shutting Down\n", 149, DeviceErrorKind::Offline),
            ("…FBSApplicationLibrary) returned nil for \"a.b\"\n", 4, DeviceErrorKind::AppNotInstalled),
            (
                "xcrun: error: unable to find utility \"simctl\", not a developer tool\n",
                72,
                DeviceErrorKind::Local,
            ),
            ("something else\n", 1, DeviceErrorKind::Rejected),
        ] {
            let output = Output { code: Some(code), stderr: stderr.to_owned(), ..Output::default() };
            let error = failed("U", &output, Effect::Acts);
            assert_eq!((error.kind, error.dispatch), (kind, Dispatch::Refused), "{stderr}");
        }
        let killed = failed("U", &Output::default(), Effect::Acts);
        assert_eq!((killed.kind, killed.dispatch), (DeviceErrorKind::ConnectionLost, Dispatch::Unknown));
    }
}
