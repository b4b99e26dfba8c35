//! A session: each connection sends one line, `VERB ID [PAYLOAD]`, and receives headers, an empty line and perhaps a
//! tree.

use std::fmt::Write as _;
use std::sync::Arc;

use bytes::BytesMut;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio_util::sync::CancellationToken;

use super::capture::{self, Limits};
use super::{Fields, HelperError, HelperProcess, finish, plan, report, with_ok, with_protocol};
use crate::helpers::{KILLED_EXIT, Listening, Server};
use crate::phone::Phone;
use crate::shell::commands::Call;
use crate::shell::io::BrokenPipe;

/// The longest request line: a plan of two minutes fits into it.
const LINE_BYTES_MAX: usize = 4 * 1024 * 1024;

pub struct Session {
    limits: Limits,
    quit: CancellationToken,
}

/// Serves until the client sends `quit` or the process ends otherwise.
pub async fn run(
    call: &Call<'_>,
    port: &str,
    limits: Limits,
    process: &HelperProcess,
) -> Result<u8, BrokenPipe> {
    let Some(port) = port.parse::<u16>().ok().filter(|port| *port > 0) else {
        return finish(call, HelperError::argument(format!("bad sessionPort: {port}")).facts()).await;
    };
    let quit = CancellationToken::new();
    let session = Arc::new(Session { limits, quit: quit.clone() });
    let address = format!("tcp:{port}");
    let command_line = format!("{} {}", call.name, call.arguments.join(" "));
    let Some(stop) = call.phone.helpers().listen(&address, Server::AgentDevice(session), command_line) else {
        let message = "bind failed: EADDRINUSE (Address already in use)".to_owned();
        return finish(call, HelperError { kind: "java.net.BindException", message }.facts()).await;
    };
    let listening = Listening { phone: call.phone, address };
    let ready = vec![("sessionReady", "true".to_owned()), ("sessionPort", port.to_string())];
    call.io.stdout.write(report("STATUS", ready, "STATUS_CODE: 0")).await?;
    tokio::select! {
        biased;
        () = quit.cancelled() => {}
        () = stop.cancelled() => return Ok(KILLED_EXIT),
        () = call.io.stdout.closed() => return Ok(KILLED_EXIT),
        () = process.ended() => {
            // The message of `am` for an instrumentation whose process is gone.
            call.io.stdout.write("INSTRUMENTATION_RESULT: shortMsg=Process crashed.\nINSTRUMENTATION_CODE: 0\n").await?;
            return Ok(0);
        }
    }
    drop(listening);
    finish(call, with_ok(vec![("sessionEnded", "true".to_owned())])).await
}

impl Session {
    /// Handles one request and closes the connection.
    pub async fn serve(&self, phone: &Phone, mut socket: DuplexStream) {
        let Some(line) = line(&mut socket).await else { return };
        let line = String::from_utf8_lossy(&line);
        let mut words = line.split_whitespace();
        let (verb, id) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
        let (outcome, body) = match verb {
            "snapshot" => match capture::take(phone, &self.limits).await {
                Ok((xml, mut facts)) => {
                    facts.push(("byteLength", xml.len().to_string()));
                    (Ok(facts), xml)
                }
                Err(trouble) => (Err(trouble), String::new()),
            },
            "viewport" => (Ok(capture::viewport(phone)), String::new()),
            "gesture" => (plan::perform(phone, words.next()).await, String::new()),
            "quit" => (Ok(Vec::new()), String::new()),
            "" => (Err(HelperError::argument("empty command")), String::new()),
            _ => (Err(HelperError::argument("unknown session command")), String::new()),
        };
        let answer = headers(id, outcome.map_or_else(HelperError::facts, with_ok)) + &body;
        let said = socket.write_all(answer.as_bytes()).await.is_ok();
        let _ = socket.shutdown().await;
        if verb == "quit" && said {
            self.quit.cancel();
        }
    }
}

fn headers(id: &str, facts: Fields) -> String {
    let mut out = String::new();
    let id = ("requestId", id.to_owned());
    for (name, value) in with_protocol(facts).into_iter().chain([id]) {
        let _ = writeln!(out, "{name}={value}");
    }
    out.push('\n');
    out
}

/// Reads a line; nothing when the client leaves before its end, or sends too much.
async fn line(socket: &mut DuplexStream) -> Option<BytesMut> {
    let mut input = BytesMut::new();
    let mut searched = 0;
    loop {
        if let Some(end) = input[searched..].iter().position(|byte| *byte == b'\n') {
            return Some(input.split_to(searched + end));
        }
        searched = input.len();
        if searched > LINE_BYTES_MAX || !matches!(socket.read_buf(&mut input).await, Ok(1..)) {
            return None;
        }
    }
}
