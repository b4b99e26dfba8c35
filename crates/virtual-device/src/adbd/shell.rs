//! Shell services: with and without the packet protocol.

use bytes::{Bytes, BytesMut};
use mdm_wire::adb::shell::Packet;
use tokio::sync::mpsc;

use super::stream::{Reader, StreamIo, Writer};
use crate::phone::Phone;
use crate::shell;
use crate::shell::io::{Chunk, Input, Io, Output, PIPE_CHUNKS};

/// The exit code of a shell that crashed.
const ABORTED_EXIT: u8 = 134;

pub struct ShellRequest {
    /// The script; empty for a shell that reads its commands.
    pub script: String,
    /// Uses the packet protocol, which carries stderr and the exit code separately.
    pub protocol: bool,
    /// Behaves like a terminal: stdout and stderr are one stream with CR LF line ends, and an interactive shell shows
    /// prompts.
    pub terminal: bool,
}

pub async fn run(phone: &Phone, request: ShellRequest, io: StreamIo) {
    let ShellRequest { script, protocol, terminal } = request;
    let StreamIo { reader, writer } = io;
    let (stdin, stdin_end) = mpsc::channel(PIPE_CHUNKS);
    let (output, output_end) = mpsc::channel(PIPE_CHUNKS);
    let echo = terminal.then(|| output.downgrade());
    tokio::spawn(feed(reader, stdin, protocol, echo));
    let streams = Io {
        stdin: Input::channel(stdin_end),
        stdout: Output::Channel { sender: output.clone(), stderr: false },
        stderr: Output::Channel { sender: output, stderr: !terminal },
    };
    let phone = phone.clone();
    // The program runs on its own: when the host goes away it notices only at its next write.
    let program = tokio::spawn(async move {
        if script.is_empty() {
            shell::interactive(&phone, streams, terminal).await
        } else {
            shell::run(&phone, &script, streams).await
        }
    });
    if forward(output_end, &writer, protocol, terminal).await && protocol {
        let code = program.await.unwrap_or(ABORTED_EXIT);
        let mut out = BytesMut::new();
        Packet::Exit(code).encode(&mut out);
        let _ = writer.write(out.freeze()).await;
    }
}

/// Sends the program's output; false when nobody reads it any more.
async fn forward(mut output: mpsc::Receiver<Chunk>, writer: &Writer, protocol: bool, terminal: bool) -> bool {
    loop {
        let chunk = tokio::select! {
            biased;
            chunk = output.recv() => chunk,
            () = writer.0.closed() => return false,
        };
        let Some(mut chunk) = chunk else { return true };
        if terminal {
            chunk.data = with_returns(&chunk.data);
        }
        let data = if protocol { packet(chunk) } else { chunk.data };
        if writer.write(data).await.is_err() {
            return false;
        }
    }
}

pub fn packet(chunk: Chunk) -> Bytes {
    let mut out = BytesMut::with_capacity(chunk.data.len() + mdm_wire::adb::shell::HEADER_BYTES);
    let packet = if chunk.stderr { Packet::Stderr(chunk.data) } else { Packet::Stdout(chunk.data) };
    packet.encode(&mut out);
    out.freeze()
}

/// Converts line ends of the output as a terminal's line discipline does.
fn with_returns(data: &[u8]) -> Bytes {
    let mut out = BytesMut::with_capacity(data.len() + data.len() / 16);
    for line in data.split_inclusive(|b| *b == b'\n') {
        match line.strip_suffix(b"\n") {
            Some(text) => {
                out.extend_from_slice(text);
                out.extend_from_slice(b"\r\n");
            }
            None => out.extend_from_slice(line),
        }
    }
    out.freeze()
}

/// Carries the host's bytes to the program's standard input. A terminal shows what is typed on `echo`, which does not
/// keep the program's output open.
pub async fn feed(
    mut reader: Reader,
    stdin: mpsc::Sender<Chunk>,
    protocol: bool,
    echo: Option<mpsc::WeakSender<Chunk>>,
) {
    let mut stdin = Some(stdin);
    let mut buffer = BytesMut::new();
    while let Some(data) = reader.next().await {
        if !protocol {
            typed(&mut stdin, data, echo.as_ref()).await;
            continue;
        }
        buffer.extend_from_slice(&data);
        loop {
            match Packet::decode(&mut buffer) {
                Ok(Some(Packet::Stdin(data))) => typed(&mut stdin, data, echo.as_ref()).await,
                Ok(Some(Packet::CloseStdin)) => stdin = None,
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(_) => return,
            }
        }
    }
}

/// Converts input as a terminal's line discipline does: Enter ends a line, and everything is echoed.
async fn typed(stdin: &mut Option<mpsc::Sender<Chunk>>, data: Bytes, echo: Option<&mpsc::WeakSender<Chunk>>) {
    let Some(echo) = echo else { return offer(stdin, data).await };
    let data: Bytes = data.iter().map(|byte| if *byte == b'\r' { b'\n' } else { *byte }).collect();
    if let Some(output) = echo.upgrade() {
        // A program that has ended echoes nothing any more.
        let _ = output.send(Chunk { stderr: false, data: data.clone() }).await;
    }
    offer(stdin, data).await;
}

/// Drops input for a program that has ended.
async fn offer(stdin: &mut Option<mpsc::Sender<Chunk>>, data: Bytes) {
    if let Some(sender) = stdin
        && sender.send(Chunk { stderr: false, data }).await.is_err()
    {
        *stdin = None;
    }
}
