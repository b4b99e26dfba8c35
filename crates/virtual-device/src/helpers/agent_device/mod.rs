//! agent-device's helper: an instrumentation that reads the screen and makes gestures, either once or in a session,
//! in which each connection to a port carries one request line and one answer.

mod capture;
mod plan;
mod session;

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tokio::time::{Duration, Instant};

use super::automation::Automation;
use crate::phone::Phone;
use crate::shell::commands::Call;
use crate::shell::io::BrokenPipe;
use capture::Limits;

pub use session::Session;

pub const PACKAGE: &str = "com.callstack.agentdevice.snapshothelper";
const PROTOCOL: &str = "android-snapshot-helper-v1";
/// A version that the client passes on unread; the real helper's value is not known.
const API_VERSION: &str = "1";
const FORMAT: &str = "uiautomator-xml";
/// The time that a killed instrumentation of the same app needs to release the screen.
const CONNECT_LIMIT: Duration = Duration::from_secs(5);
/// Bytes of the tree in one status of a capture without a session.
const CHUNK_BYTES: usize = 8 * 1024;

/// Names and values, in the order of the answer.
type Fields = Vec<(&'static str, String)>;

/// An error, as the exception that the client receives.
#[derive(Debug, PartialEq, Eq)]
struct HelperError {
    kind: &'static str,
    message: String,
}

impl HelperError {
    fn argument(message: impl Into<String>) -> HelperError {
        HelperError { kind: "java.lang.IllegalArgumentException", message: message.into() }
    }

    fn state(message: impl Into<String>) -> HelperError {
        HelperError { kind: "java.lang.IllegalStateException", message: message.into() }
    }

    fn facts(self) -> Fields {
        // A header is one line.
        let message = self.message.replace(['\r', '\n'], " ");
        vec![("ok", "false".to_owned()), ("errorType", self.kind.to_owned()), ("message", message)]
    }
}

/// Returns the value of `-e NAME VALUE`.
fn extra<'a>(words: &[&'a str], name: &str) -> Option<&'a str> {
    words.windows(3).find(|w| w[0] == "-e" && w[1] == name).map(|w| w[2])
}

/// The helper's process, which `pidof` finds and `force-stop` ends.
struct HelperProcess {
    phone: Phone,
    pid: u32,
}

impl HelperProcess {
    /// Starts a process and ends the previous one.
    fn start(phone: &Phone) -> HelperProcess {
        let pid = phone.with(|state| {
            state.kill(PACKAGE, false);
            let pid = state.processes.next_pid();
            state.processes.add(PACKAGE, pid);
            let line = format!("Start proc {pid}:{PACKAGE}/u0a140 for added application {PACKAGE}");
            state.system('I', "ActivityManager", &line);
            pid
        });
        HelperProcess { phone: phone.clone(), pid }
    }

    fn runs(&self) -> bool {
        self.phone.with(|state| state.processes.pid(PACKAGE) == Some(self.pid))
    }

    /// Waits for the end of the process. Every end is logged, so the log tells when to look again.
    async fn ended(&self) {
        let mut logged = self.phone.log_watch();
        loop {
            logged.mark_unchanged();
            if !self.runs() || logged.changed().await.is_err() {
                return;
            }
        }
    }
}

impl Drop for HelperProcess {
    fn drop(&mut self) {
        self.phone.with(|state| {
            if state.processes.pid(PACKAGE) == Some(self.pid) {
                state.processes.remove(PACKAGE);
            }
            let line = format!("Process {PACKAGE} (pid {}) has died: fg  TOP ", self.pid);
            state.system('I', "ActivityManager", &line);
        });
    }
}

pub async fn launch(call: &Call<'_>) -> Result<u8, BrokenPipe> {
    let words = call.words();
    let process = HelperProcess::start(call.phone);
    let Some(_automation) = connect(call.phone).await else {
        return finish(call, HelperError::state(Automation::REFUSED).facts()).await;
    };
    if let Some(port) = extra(&words, "sessionPort") {
        return session::run(call, port, Limits::of(&words), &process).await;
    }
    let outcome = match extra(&words, "mode") {
        Some("viewport") => Ok(capture::viewport(call.phone)),
        Some("gesture") => plan::perform(call.phone, extra(&words, "payloadBase64")).await,
        Some(mode) => Err(HelperError::argument(format!("Unsupported mode: {mode}"))),
        None => snapshot(call, &words).await?,
    };
    finish(call, outcome.map_or_else(HelperError::facts, with_ok)).await
}

fn with_ok(mut facts: Fields) -> Fields {
    facts.insert(0, ("ok", "true".to_owned()));
    facts
}

async fn connect(phone: &Phone) -> Option<Automation> {
    let deadline = Instant::now() + CONNECT_LIMIT;
    let mut logged = phone.log_watch();
    loop {
        logged.mark_unchanged();
        if let Some(automation) = Automation::take(phone) {
            return Some(automation);
        }
        tokio::select! {
            biased;
            changed = logged.changed() => changed.ok()?,
            () = tokio::time::sleep_until(deadline) => return None,
        }
    }
}

/// Writes the tree to a file, or in pieces to the statuses that `am` prints.
async fn snapshot(call: &Call<'_>, words: &[&str]) -> Result<Result<Fields, HelperError>, BrokenPipe> {
    let (xml, facts) = match capture::take(call.phone, &Limits::of(words)).await {
        Ok(taken) => taken,
        Err(trouble) => return Ok(Err(trouble)),
    };
    if let Some(path) = extra(words, "outputPath") {
        let written = call.phone.with(|state| {
            let now = state.now_s();
            state.fs.write(&call.path(path), xml.clone().into(), 0o600, now)
        });
        if let Err(error) = written {
            return Ok(Err(HelperError {
                kind: "java.io.FileNotFoundException",
                message: error.text().to_owned(),
            }));
        }
    }
    if extra(words, "emitChunks") != Some("false") {
        let count = xml.len().div_ceil(CHUNK_BYTES).max(1);
        for (index, chunk) in xml.as_bytes().chunks(CHUNK_BYTES).enumerate() {
            let facts = vec![
                ("outputFormat", FORMAT.to_owned()),
                ("chunkIndex", index.to_string()),
                ("chunkCount", count.to_string()),
                ("payloadBase64", STANDARD.encode(chunk)),
            ];
            call.io.stdout.write(report("STATUS", facts, "STATUS_CODE: 0")).await?;
        }
    }
    Ok(Ok(facts))
}

/// Formats a status as `am instrument` prints it.
fn report(what: &str, facts: Fields, code: &str) -> String {
    let mut out = String::new();
    for (name, value) in with_protocol(facts) {
        let _ = writeln!(out, "INSTRUMENTATION_{what}: {name}={value}");
    }
    let _ = writeln!(out, "INSTRUMENTATION_{code}");
    out
}

fn with_protocol(facts: Fields) -> Fields {
    let first = [("agentDeviceProtocol", PROTOCOL.to_owned()), ("helperApiVersion", API_VERSION.to_owned())];
    first.into_iter().chain(facts).collect()
}

/// Prints the result; `am` exits with 0 even when the instrumentation failed.
async fn finish(call: &Call<'_>, facts: Fields) -> Result<u8, BrokenPipe> {
    let code = if facts.contains(&("ok", "true".to_owned())) { "CODE: -1" } else { "CODE: 0" };
    call.io.stdout.write(report("RESULT", facts, code)).await?;
    Ok(0)
}
