//! MCP servers over stdio, as a client starts and asks them.

use std::io::{BufRead, BufReader, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

/// Some servers start a program on a phone first; this is only against a hang.
const ANSWER_WAIT_MAX: Duration = Duration::from_secs(120);

/// The first request, with the id 0, and the notification that follows its answer.
pub const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
"#;

/// A child that does not outlive the one who started it.
pub struct Running(pub Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What a program writes until it ends, or until the line that is waited for.
pub fn talk(
    command: &mut Command,
    input: &str,
    is_last: impl Fn(&str) -> bool + Send + 'static,
) -> Result<String, String> {
    let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = Running(pipes.spawn().map_err(|e| e.to_string())?);
    let mut stdin = child.0.stdin.take().ok_or("no stdin")?;
    stdin.write_all(input.as_bytes()).map_err(|e| e.to_string())?;
    let stdout = BufReader::new(child.0.stdout.take().ok_or("no stdout")?);
    let (to, from) = channel();
    std::thread::spawn(move || {
        let mut said = String::new();
        for line in stdout.lines().map_while(Result::ok) {
            said.push_str(&line);
            said.push('\n');
            if is_last(&line) {
                break;
            }
        }
        to.send(said)
    });
    from.recv_timeout(ANSWER_WAIT_MAX).map_err(|_| format!("no answer in {ANSWER_WAIT_MAX:?}"))
}
