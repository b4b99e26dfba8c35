//! `abb_exec` and `abb`: commands of system services with a streamed body and without a shell.

use bytes::BytesMut;
use mdm_wire::adb::shell::Packet;
use tokio::sync::mpsc;

use super::shell::packet;
use super::stream::StreamIo;
use crate::phone::Phone;
use crate::shell::commands::{self, Call};
use crate::shell::io::{Chunk, Input, Io, Output, PIPE_CHUNKS};

/// Runs a command. With packets the answer has separate streams and an exit code, as in a shell.
pub async fn binder(phone: &Phone, arguments: Vec<String>, packets: bool, io: StreamIo) {
    let StreamIo { mut reader, writer } = io;
    let (stdin, stdin_end) = mpsc::channel(PIPE_CHUNKS);
    let (output, mut output_end) = mpsc::channel::<Chunk>(PIPE_CHUNKS);
    tokio::spawn(async move {
        if packets {
            return super::shell::feed(reader, stdin, true, None).await;
        }
        while let Some(data) = reader.next().await {
            if stdin.send(Chunk { stderr: false, data }).await.is_err() {
                break;
            }
        }
    });
    let phone = phone.clone();
    let program = tokio::spawn(async move {
        let streams = Io {
            stdin: Input::channel(stdin_end),
            stdout: Output::Channel { sender: output.clone(), stderr: false },
            stderr: Output::Channel { sender: output, stderr: true },
        };
        phone.with(|state| {
            state.record.command(std::iter::once("cmd".to_owned()).chain(arguments.iter().cloned()).collect())
        });
        let settings = arguments.first().is_some_and(|a| a == "settings");
        let (name, arguments) =
            if settings { ("settings", &arguments[1..]) } else { ("cmd", &arguments[..]) };
        let variables = std::collections::BTreeMap::new();
        let call = Call { phone: &phone, name, arguments, io: &streams, variables: &variables, cwd: "/" };
        commands::run(&call).await
    });
    while let Some(chunk) = output_end.recv().await {
        let data = if packets { packet(chunk) } else { chunk.data };
        if writer.write(data).await.is_err() {
            return;
        }
    }
    let ended = program.await;
    if packets {
        let code = ended.ok().and_then(Result::ok).flatten().unwrap_or(1);
        let mut out = BytesMut::new();
        Packet::Exit(code).encode(&mut out);
        let _ = writer.write(out.freeze()).await;
    }
}
