//! A line for every call, for whoever has to answer for what agents did (SE-04). JSON, one object a line, secrets taken
//! out, kept in files of bounded size. An action is written down before it is done, so that a kill cannot hide it.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use mdm_core::failure::{Cause, Failure};
use mdm_engine::Session;
use serde::Serialize;
use serde_json::Value;

use crate::answer::Answer;
use crate::args::{JsonObject, is_named};
use crate::handles;
use crate::refusal::Refusal;
use crate::secrets::Secrets;

/// A file of this size is put aside for a new one.
const FILE_BYTES_MAX: u64 = 10 * 1024 * 1024;
/// Files that are kept besides the current one.
const FILES_KEPT: usize = 5;
/// Bytes of a call's arguments.
const ARGUMENTS_BYTES_MAX: usize = 4000;

pub struct Audit {
    path: PathBuf,
    file: Mutex<Option<Log>>,
    secrets: Secrets,
}

struct Log {
    file: File,
    bytes: u64,
}

/// One call, as it is written down.
#[derive(Serialize)]
struct Line<'a> {
    at: String,
    event: &'static str,
    call: u64,
    caller: &'a str,
    tool: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    action_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    device: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ms: Option<u64>,
}

/// The call that a line is about.
pub struct Audited<'a> {
    pub call: u64,
    pub caller: &'a str,
    pub tool: &'a str,
    pub action_id: &'a str,
    /// Its beginning was written down, with the arguments.
    pub begun: bool,
}

impl Audit {
    pub fn open(path: &Path, secrets: Secrets) -> Result<Audit, String> {
        let log = Log::open(path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Audit { path: path.to_owned(), file: Mutex::new(Some(log)), secrets })
    }

    /// Before an action. It is not done when it cannot be written down.
    pub fn begin(&self, of: &Audited<'_>, arguments: &JsonObject) -> Result<(), Refusal> {
        let arguments = shortened(&written(of.tool, arguments, &self.secrets));
        let line = Line { arguments: Some(&arguments), ..line("begin", of) };
        self.write(&line).map_err(|error| {
            let message = format!("the audit log cannot be written: {error}");
            Refusal::with_words(
                Failure::new(Cause::Forbidden, message),
                "nothing was done; tell whoever runs this server",
            )
        })
    }

    /// After a call. What only read is not undone when it cannot be written down; the log of the server says so.
    pub fn end(&self, of: &Audited<'_>, arguments: &JsonObject, answer: &Answer, ms: u64) {
        // An action's arguments stand in the line before, unless it was refused before it began.
        let kept = || shortened(&written(of.tool, arguments, &self.secrets));
        let arguments = (!of.begun).then(kept);
        let device = answer.facts.device().or(answer.basis.session.as_deref().map(Session::id));
        let outcome = Some(answer.facts.outcome());
        let line = Line { arguments: arguments.as_deref(), device, outcome, ms: Some(ms), ..line("end", of) };
        if let Err(error) = self.write(&line) {
            tracing::error!("the audit log cannot be written: {error}");
        }
    }

    fn write(&self, line: &Line<'_>) -> std::io::Result<()> {
        let bytes = in_one_line(self.secrets.to_line(line).map_err(std::io::Error::other)?);
        let mut place = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let mut log = match place.take() {
            Some(log) if log.bytes + bytes.len() as u64 <= FILE_BYTES_MAX => log,
            Some(log) => {
                drop(log);
                put_aside(&self.path)?;
                Log::open(&self.path)?
            }
            None => Log::open(&self.path)?,
        };
        log.file.write_all(&bytes)?;
        log.bytes += bytes.len() as u64;
        *place = Some(log);
        Ok(())
    }
}

/// JSON may hold characters at which some readers begin a new line. Nobody shall forge one.
fn in_one_line(line: Vec<u8>) -> Vec<u8> {
    let breaks = [('\u{85}', "\\u0085"), ('\u{2028}', "\\u2028"), ('\u{2029}', "\\u2029")];
    match String::from_utf8(line) {
        Ok(text) if breaks.iter().any(|(c, _)| text.contains(*c)) => {
            breaks.iter().fold(text, |text, (c, escape)| text.replace(*c, escape)).into_bytes()
        }
        Ok(text) => text.into_bytes(),
        Err(error) => error.into_bytes(),
    }
}

impl Log {
    fn open(path: &Path) -> std::io::Result<Log> {
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt as _;
            options.mode(0o600);
        }
        let file = options.open(path)?;
        let there = file.metadata()?;
        if !there.is_file() {
            return Err(std::io::Error::other("it is no regular file"));
        }
        Ok(Log { file, bytes: there.len() })
    }
}

/// `audit.jsonl` becomes `audit.jsonl.1`, that one `.2`, and the last is gone.
fn put_aside(path: &Path) -> std::io::Result<()> {
    let numbered = |number: usize| {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".{number}"));
        PathBuf::from(name)
    };
    for number in (1..FILES_KEPT).rev() {
        let from = numbered(number);
        if from.exists() {
            std::fs::rename(&from, numbered(number + 1))?;
        }
    }
    std::fs::rename(path, numbered(1))
}

fn line<'a>(event: &'static str, of: &Audited<'a>) -> Line<'a> {
    Line {
        at: now(),
        event,
        call: of.call,
        caller: of.caller,
        tool: of.tool,
        action_id: of.action_id,
        arguments: None,
        device: None,
        outcome: None,
        ms: None,
    }
}

/// The time in UTC, as in RFC 3339.
fn now() -> String {
    let now = time::OffsetDateTime::now_utc();
    let (date, clock) = (now.date(), now.time());
    let day = format!("{:04}-{:02}-{:02}", date.year(), u8::from(date.month()), date.day());
    format!(
        "{day}T{:02}:{:02}:{:02}.{:03}Z",
        clock.hour(),
        clock.minute(),
        clock.second(),
        clock.millisecond()
    )
}

/// The arguments of a call as they may be kept in a file. What is typed, and what a field is said to hold, is written
/// down by its length: that the field is one for a password may be known only when it was typed.
pub fn written(tool: &str, arguments: &JsonObject, secrets: &Secrets) -> JsonObject {
    let mut written = arguments.clone();
    hide_texts(tool, &mut written, secrets);
    written
}

fn hide_texts(tool: &str, arguments: &mut JsonObject, secrets: &Secrets) {
    let types = is_named(tool, "type_text");
    let property = arguments.iter().find(|(name, _)| is_named(name, "property"));
    let of_text =
        property.is_some_and(|(_, named)| named.as_str().is_some_and(|named| is_named(named, "text_value")));
    // A step of a flow names its tool beside its arguments.
    let step = arguments.iter().find(|(name, _)| is_named(name, "tool"));
    let step = step.and_then(|(_, tool)| tool.as_str()).unwrap_or_default().to_owned();
    for (name, value) in arguments.iter_mut() {
        let is_held = is_named(name, "text_value") || of_text && is_named(name, "expected");
        match value {
            value if is_held || types && is_named(name, "text") => hide_text(value),
            Value::Object(inner) if is_named(name, "arguments") => hide_texts(&step, inner, secrets),
            other => hide_inside(other, secrets),
        }
    }
}

fn hide_inside(value: &mut Value, secrets: &Secrets) {
    match value {
        Value::Object(inner) => hide_texts("", inner, secrets),
        Value::Array(items) => items.iter_mut().for_each(|item| hide_inside(item, secrets)),
        Value::Number(number) if secrets.are_in(&number.to_string()) => hide_text(value),
        _ => {}
    }
}

/// The name of a secret stays: it says which was typed.
fn hide_text(value: &mut Value) {
    let characters = match &*value {
        Value::Null => return,
        Value::String(text) if handles::is_name(text) => return,
        Value::String(text) => text.chars().count(),
        other => other.to_string().chars().count(),
    };
    *value = format!("[{characters} characters]").into();
}

fn shortened(arguments: &JsonObject) -> String {
    // Our own structure always serialises.
    let mut text = serde_json::to_string(arguments).unwrap_or_default();
    if text.len() > ARGUMENTS_BYTES_MAX {
        let end = (0..=ARGUMENTS_BYTES_MAX).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        text.truncate(end);
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Folder {
            let folder = std::env::temp_dir().join(format!("audit-{name}-{}", std::process::id()));
            std::fs::create_dir_all(&folder).unwrap();
            Folder(folder)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            drop(std::fs::remove_dir_all(&self.0));
        }
    }

    fn object(json: &str) -> JsonObject {
        serde_json::from_str(json).unwrap()
    }

    const OF: Audited<'static> =
        Audited { call: 7, caller: "\"agent\"", tool: "tap", action_id: "tap_1_1", begun: true };

    #[test]
    fn a_line_is_one_line_of_json_without_secrets() {
        // SE-04, S8: log injection
        let (folder, secrets) = (Folder::new("line"), Secrets::default());
        secrets.remember("hunter2-canary");
        let path = folder.0.join("audit.jsonl");
        let audit = Audit::open(&path, secrets).unwrap();
        audit.begin(&OF, &object(r#"{"text":"a\n{\"event\":\"end\"}","x":"hunter2-canary"}"#)).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text.lines().count(), 1, "{text}");
        let line: JsonObject = serde_json::from_str(&text).unwrap();
        assert_eq!(line["event"], "begin");
        assert!(!text.contains("hunter2") && text.contains("[secret]"), "{text}");
        assert!(line["at"].as_str().unwrap().ends_with('Z'));
    }

    #[test]
    fn typed_text_is_written_down_by_its_length() {
        // SE-04, SE-06, S8: that a field is one for a password is known after the line was written
        let secrets = Secrets::default();
        secrets.remember("902101");
        for (tool, given, expected) in [
            (
                "type_text",
                r#"{"text":"hunter2","selector":{"text":"Password"}}"#,
                r#"{"text":"[7 characters]","selector":{"text":"Password"}}"#,
            ),
            (
                "type_text",
                r#"{"te_Xt":90210123,"secure":true}"#,
                r#"{"te_Xt":"[8 characters]","secure":true}"#,
            ),
            (
                "type_text",
                r#"{"text":["hunter2"],"clear":true}"#,
                r#"{"text":"[11 characters]","clear":true}"#,
            ),
            ("type_text", r#"{"text":"secret://login"}"#, r#"{"text":"secret://login"}"#),
            ("type_text", r#"{"text":"secret://not a name"}"#, r#"{"text":"[19 characters]"}"#),
            (
                "type_text",
                r#"{"text":"x","expect":{"role":"field","textValue":"hunter2"}}"#,
                r#"{"text":"[1 characters]","expect":{"role":"field","textValue":"[7 characters]"}}"#,
            ),
            (
                "expect_state",
                r#"{"property":"text_value","expected":"hunter2"}"#,
                r#"{"property":"text_value","expected":"[7 characters]"}"#,
            ),
            ("expect_state", r#"{"property":"value","expected":7}"#, r#"{"property":"value","expected":7}"#),
            (
                "tap_element",
                r#"{"selector":{"text":"Log in"},"x":902101,"y":9021}"#,
                r#"{"selector":{"text":"Log in"},"x":"[6 characters]","y":9021}"#,
            ),
            (
                "run_flow",
                r#"{"steps":[{"tool":"type_text","arguments":{"Text":"hunter2"}},{"arguments":{"text":"Save"},"tool":"tap_element"},{"Tool":"TypeText","Arguments":{"text":"ä2"}}]}"#,
                r#"{"steps":[{"tool":"type_text","arguments":{"Text":"[7 characters]"}},{"arguments":{"text":"Save"},"tool":"tap_element"},{"Tool":"TypeText","Arguments":{"text":"[2 characters]"}}]}"#,
            ),
        ] {
            assert_eq!(written(tool, &object(given), &secrets), object(expected), "{tool} {given}");
        }
    }

    #[test]
    fn files_are_bounded_and_the_oldest_goes() {
        let folder = Folder::new("rotate");
        let path = folder.0.join("audit.jsonl");
        for number in 1..=FILES_KEPT {
            std::fs::write(folder.0.join(format!("audit.jsonl.{number}")), number.to_string()).unwrap();
        }
        let full = File::create(&path).unwrap();
        full.set_len(FILE_BYTES_MAX).unwrap();
        let audit = Audit::open(&path, Secrets::default()).unwrap();
        audit.begin(&OF, &object("{}")).unwrap();
        let size = |name: &str| std::fs::metadata(folder.0.join(name)).unwrap().len();
        assert!(size("audit.jsonl") < 1000 && size("audit.jsonl.1") == FILE_BYTES_MAX);
        let oldest = std::fs::read_to_string(folder.0.join(format!("audit.jsonl.{FILES_KEPT}"))).unwrap();
        assert_eq!(oldest, (FILES_KEPT - 1).to_string());
        assert_eq!(std::fs::read_dir(&folder.0).unwrap().count(), FILES_KEPT + 1);
    }

    #[test]
    fn an_action_is_not_begun_when_it_cannot_be_written_down() {
        // SE-04
        let folder = Folder::new("broken");
        let path = folder.0.join("audit.jsonl");
        let audit = Audit::open(&path, Secrets::default()).unwrap();
        *audit.file.lock().unwrap() = None;
        std::fs::remove_file(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
        let refused = audit.begin(&OF, &object("{}")).unwrap_err();
        assert_eq!(refused.failure.code().as_str(), "POLICY_DENIED");
        std::fs::remove_dir(&path).unwrap();
        assert!(audit.begin(&OF, &object("{}")).is_ok(), "it can be written again");
        assert!(Audit::open(&folder.0, Secrets::default()).is_err());
    }
}
