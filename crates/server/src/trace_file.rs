//! A session kept in a file, for whoever looks at it later or plays it again (TR-03): each call with its arguments and its
//! answer, and what happened in between, a line of JSON each. Secrets are taken out. docs/trace-file.md describes the lines.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use mdm_core::action::event::Event;
use mdm_engine::{Clock, Stamped};
use serde::Serialize;

use crate::answer::Answer;
use crate::args::JsonObject;
use crate::audit::{Audited, written};
use crate::secrets::Secrets;

/// Goes up when a reader of older files would misread a line.
const VERSION: u32 = 1;
/// Bytes of a file. What comes after it is left out, and the last line says so.
const FILE_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// Bytes of one answer's text.
const ANSWER_BYTES_MAX: usize = 64 * 1024;

pub struct TraceFile {
    file: Mutex<Option<Open>>,
    clock: Clock,
    secrets: Secrets,
}

struct Open {
    file: File,
    bytes: u64,
}

#[derive(Serialize)]
#[serde(tag = "line", rename_all = "snake_case")]
enum Line<'a> {
    /// The first.
    Session {
        version: u32,
        server: &'static str,
        at_ms: u64,
    },
    Call {
        at_ms: u64,
        call: u64,
        caller: &'a str,
        tool: &'a str,
        action_id: &'a str,
        arguments: JsonObject,
    },
    Event {
        at_ms: u64,
        call: u64,
        device: &'a str,
        #[serde(flatten)]
        event: Happened<'a>,
    },
    Answer {
        at_ms: u64,
        call: u64,
        tool: &'a str,
        ms: u64,
        is_error: bool,
        outcome: String,
        text: &'a str,
    },
    /// The last, where the file became too large.
    Cut {
        at_ms: u64,
    },
}

/// An event by its name, with what belongs to it.
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum Happened<'a> {
    Looked { revision: u64, changed: bool },
    Resolved { element: Option<String>, alternate: bool },
    Obstructed { code: &'static str, again: bool },
    Recovering { strategy: &'static str },
    Sent { what: &'static str, dispatch: &'static str, code: Option<&'static str> },
    Settled { stability: &'static str },
    Judged { met: Option<bool>, changed: Option<bool>, why: &'static str },
    Waited { captures: u64, changes: u64, rest_after_ms: Option<u64> },
    Premature,
    Reached { state: &'static str },
    Working { step: &'a str },
    Crash { app: &'a str, summary: &'a str },
    DeviceCame,
    DeviceWent,
}

impl<'a> Happened<'a> {
    /// Calls have lines of their own.
    fn of(event: &'a Event) -> Option<Happened<'a>> {
        Some(match event {
            Event::CallBegan { .. } | Event::CallEnded { .. } => return None,
            Event::Looked { revision, changed } => {
                Happened::Looked { revision: *revision, changed: *changed }
            }
            Event::Resolved { element, alternate } => {
                Happened::Resolved { element: element.map(|id| id.to_string()), alternate: *alternate }
            }
            Event::Obstructed { code, again } => Happened::Obstructed { code: code.as_str(), again: *again },
            Event::Recovering { strategy } => Happened::Recovering { strategy: strategy.as_str() },
            Event::Sent { what, dispatch, error } => Happened::Sent {
                what: what.as_str(),
                dispatch: dispatch.as_str(),
                code: error.map(|code| code.as_str()),
            },
            Event::Settled { stability } => Happened::Settled { stability: stability.as_str() },
            Event::Judged { met, changed, why } => Happened::Judged { met: *met, changed: *changed, why },
            Event::Waited(wait) => Happened::Waited {
                captures: wait.captures,
                changes: wait.changes,
                rest_after_ms: wait.stabilise_ms,
            },
            Event::Premature => Happened::Premature,
            Event::Reached(state) => Happened::Reached { state: state.as_str() },
            Event::Working { step } => Happened::Working { step },
            Event::Device(mdm_core::port::DeviceEvent::Crash { app, summary }) => {
                Happened::Crash { app, summary }
            }
            Event::DeviceCame => Happened::DeviceCame,
            Event::DeviceWent => Happened::DeviceWent,
        })
    }
}

impl TraceFile {
    /// Makes a new file: a session is never written over another.
    pub fn create(path: &Path, secrets: Secrets) -> Result<TraceFile, String> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt as _;
            options.mode(0o600);
        }
        let file = options.open(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let clock = Clock::start();
        let kept = TraceFile { file: Mutex::new(Some(Open { file, bytes: 0 })), clock, secrets };
        let server = concat!("mobile-debug-mcp ", env!("CARGO_PKG_VERSION"));
        kept.write(&Line::Session { version: VERSION, server, at_ms: clock.now_ms() });
        Ok(kept)
    }

    pub fn call(&self, of: &Audited<'_>, arguments: &JsonObject) {
        let Audited { call, caller, tool, action_id, .. } = *of;
        let arguments = written(tool, arguments, &self.secrets);
        self.write(&Line::Call { at_ms: self.clock.now_ms(), call, caller, tool, action_id, arguments });
    }

    pub fn answer(&self, of: &Audited<'_>, answer: &Answer, ms: u64) {
        let text = answer.text();
        let longest = ANSWER_BYTES_MAX.min(text.len());
        let end = (0..=longest).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        self.write(&Line::Answer {
            at_ms: self.clock.now_ms(),
            call: of.call,
            tool: of.tool,
            ms,
            is_error: answer.is_error,
            outcome: answer.facts.outcome(),
            text: &text[..end],
        });
    }

    pub fn event(&self, stamped: &Stamped) {
        let Some(event) = Happened::of(&stamped.event) else { return };
        let (at_ms, call) = (stamped.at_ms, stamped.call);
        self.write(&Line::Event { at_ms, call, device: &stamped.device, event });
    }

    /// A call is not undone because its trace cannot be written; the log of the server says so, once.
    fn write(&self, line: &Line<'_>) {
        let mut place = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(open) = place.as_mut() else { return };
        let written = self.secrets.to_line(line).map_err(std::io::Error::other).and_then(|bytes| {
            let is_full = open.bytes + bytes.len() as u64 > FILE_BYTES_MAX;
            let last = || self.secrets.to_line(&Line::Cut { at_ms: self.clock.now_ms() });
            let bytes = if is_full { last().map_err(std::io::Error::other)? } else { bytes };
            open.file.write_all(&bytes)?;
            open.bytes += bytes.len() as u64;
            Ok(is_full)
        });
        match written {
            Ok(false) => {}
            Ok(true) => *place = None,
            Err(error) => {
                tracing::error!("the trace of the session cannot be written: {error}");
                *place = None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_one_new_file_of_lines_without_secrets() {
        // TR-03, SE-06
        let path = std::env::temp_dir().join(format!("mdm-trace-{}.jsonl", std::process::id()));
        let _ = std::fs::remove_file(&path);
        let secrets = Secrets::default();
        secrets.remember("kestrel-canary");
        let kept = TraceFile::create(&path, secrets.clone()).unwrap();
        assert!(TraceFile::create(&path, secrets).is_err(), "never over another session");
        let of = Audited { call: 1, caller: "a", tool: "type_text", action_id: "type_text_1", begun: true };
        let arguments = r#"{"text":"hunter2","selector":{"text":"kestrel-canary"}}"#;
        kept.call(&of, &serde_json::from_str(arguments).unwrap());
        let event = Event::Working { step: "with kestrel-canary".to_owned() };
        kept.event(&Stamped { at_ms: 1, call: 1, device: "phone".into(), event });
        let text = std::fs::read_to_string(&path).unwrap();
        let _ = std::fs::remove_file(&path);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with(r#"{"line":"session","version":1,"#), "{text}");
        assert!(
            lines[1].contains(r#""arguments":{"text":"[7 characters]","selector":{"text":"[secret]"}}"#),
            "{text}"
        );
        assert!(lines[2].contains(r#""event":"working","step":"with [secret]""#), "{text}");
        assert_eq!(lines.len(), 3);
    }
}
