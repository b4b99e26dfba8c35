//! The program as a process, its lines and its memory.

use std::io::Write as _;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use crate::lines::lines;

const BINARY: &str = env!("CARGO_BIN_EXE_mobile-debug-mcp");
/// F62. Half of it is for a picture that has no end.
pub const MEMORY_MAX_MB: f64 = 48.0;
/// Guards against a hang; nothing here tests speed.
const GUARD: Duration = Duration::from_secs(60);

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

#[derive(Debug, Deserialize)]
pub struct Message {
    pub id: Option<Value>,
    pub error: Option<ErrorBody>,
    pub result: Option<Value>,
}

#[derive(Debug, Deserialize)]
pub struct ErrorBody {
    pub code: i64,
    pub message: String,
}

pub struct Server {
    child: Child,
    pub stdin: Option<ChildStdin>,
    stdout: Receiver<String>,
    stderr: Receiver<String>,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn call(id: u64, tool: &str, arguments: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#
    )
}

impl Server {
    /// Starts the program; `arguments` name its devices.
    pub fn start(arguments: &[&str]) -> Server {
        let (mut server, stdout) = Server::start_unread(arguments);
        server.stdout = lines(stdout);
        server.say(INITIALIZE);
        assert_eq!(server.hear().id, Some(Value::from(0)));
        server.say(INITIALIZED);
        server
    }

    /// Starts it without anybody who reads its stdout.
    pub fn start_unread(arguments: &[&str]) -> (Server, ChildStdout) {
        let home = std::env::temp_dir();
        let mut command = Command::new(BINARY);
        command.args(arguments).arg("--no-adb-server").env("HOME", home);
        let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = pipes.spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take().unwrap());
        let stderr = lines(child.stderr.take().unwrap());
        (Server { child, stdin, stdout: channel().1, stderr }, stdout)
    }

    pub fn say(&mut self, line: &str) {
        self.say_bytes(format!("{line}\n").as_bytes());
    }

    pub fn say_bytes(&mut self, bytes: &[u8]) {
        self.stdin.as_mut().expect("stdin is open").write_all(bytes).unwrap();
    }

    pub fn say_hello(&mut self) {
        self.say(INITIALIZE);
        self.say(INITIALIZED);
    }

    /// The next line of stdout.
    #[track_caller]
    pub fn hear_line(&self) -> String {
        self.stdout.recv_timeout(GUARD).expect("a line of stdout")
    }

    #[track_caller]
    pub fn hear(&self) -> Message {
        let line = self.hear_line();
        serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e} in stdout line {line:?}"))
    }

    /// Calls a tool and returns the text of its answer. Only for one call at a time.
    #[track_caller]
    pub fn call(&mut self, tool: &str, arguments: &str) -> String {
        self.say(&call(1, tool, arguments));
        loop {
            let line = self.hear_line();
            let message: Message = serde_json::from_str(&line).unwrap();
            if message.id == Some(Value::from(1)) {
                let result = message.result.unwrap_or_else(|| panic!("{tool} {arguments}: {line}"));
                return result["content"][0]["text"].as_str().unwrap().to_owned();
            }
        }
    }

    /// The next line of stderr.
    #[track_caller]
    pub fn hear_log(&self) -> String {
        self.stderr.recv_timeout(GUARD).expect("a line of stderr")
    }

    /// Ends the program as a system does that shuts down, and returns the rest of its log.
    pub fn stop(mut self) -> Vec<String> {
        let status = Command::new("kill").arg(self.child.id().to_string()).status();
        assert!(status.is_ok_and(|status| status.success()));
        let rest = rest(&self.stderr);
        assert!(self.child.wait().is_ok_and(|status| status.success()), "it ends as it was asked to");
        rest
    }

    /// Everything that came on stdout and stderr after stdin was closed.
    pub fn finish(mut self) -> (Vec<String>, Vec<String>) {
        self.stdin = None;
        (rest(&self.stdout), rest(&self.stderr))
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    #[track_caller]
    pub fn wait_for_end(&mut self, limit: Duration) {
        // The end of stderr is the end of the process.
        loop {
            match self.stderr.recv_timeout(limit) {
                Ok(_) => {}
                Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => panic!("the process is still there after {limit:?}"),
            }
        }
    }

    /// The most memory that the process ever held, in MB, without the pages of its own file: a debug build has many.
    pub fn peak_mb(&self) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let mb = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or("0");
            line.trim().trim_end_matches(" kB").parse::<f64>().unwrap_or(0.0) / 1024.0
        };
        mb("VmHWM:") - mb("RssFile:")
    }
}

fn rest(lines: &Receiver<String>) -> Vec<String> {
    let mut all = Vec::new();
    while let Ok(line) = lines.recv_timeout(GUARD) {
        all.push(line);
    }
    all
}
