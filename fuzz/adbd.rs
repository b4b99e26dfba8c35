//! An adbd that answers each service with the next part of an input, whatever was asked.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};

use bytes::{Bytes, BytesMut};
use mdm_android::adb::direct::Transport;
use mdm_android::adb::link::Connector;
use mdm_wire::adb::frame::{Command, Frame};
use mdm_wire::adb::shell::Packet;
use mdm_wire::adb::{PAYLOAD_BYTES_MAX, VERSION_SKIP_CHECKSUM};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

use crate::answering::{MESSAGE_END, split};

/// Stands between what a command writes to its two outputs.
const STDERR: &[u8] = b"\n%2\n";
/// The first byte of a part that is sent as it is, and of one of a command that failed.
const RAW: u8 = b'#';
const FAILED: u8 = b'!';
const PIPE_BYTES: usize = 256 * 1024;
/// The longest frame that it sends.
const PIECE_BYTES: usize = 60 * 1024;
const SHELL_V2: &str = "shell,v2";

type Parts = Arc<Mutex<VecDeque<Vec<u8>>>>;

/// Each connection is to the same phone, which has said what it has said.
pub fn connector(features: &'static str, bytes: &[u8]) -> Connector {
    let parts = split(bytes, MESSAGE_END).into_iter().map(<[u8]>::to_vec).collect();
    let left: Parts = Arc::new(Mutex::new(parts));
    Arc::new(move || {
        let (ours, theirs) = tokio::io::duplex(PIPE_BYTES);
        tokio::spawn(
            Phone { pipe: theirs, features, left: Arc::clone(&left), streams: BTreeMap::new() }.serve(),
        );
        Box::pin(async move { Ok(Box::new(ours) as Box<dyn Transport>) })
    })
}

struct Phone {
    pipe: DuplexStream,
    features: &'static str,
    left: Parts,
    /// What is to be sent yet on each stream, which has the same number on both sides.
    streams: BTreeMap<u32, VecDeque<Bytes>>,
}

impl Phone {
    async fn serve(mut self) {
        let mut input = BytesMut::new();
        loop {
            let mut out = BytesMut::new();
            while let Ok(Some(frame)) = Frame::decode(&mut input, PAYLOAD_BYTES_MAX) {
                self.answer(&frame).into_iter().for_each(|frame| frame.encode(&mut out));
            }
            if self.pipe.write_all(&out).await.is_err()
                || !matches!(self.pipe.read_buf(&mut input).await, Ok(1..))
            {
                return;
            }
        }
    }

    fn answer(&mut self, frame: &Frame) -> Vec<Frame> {
        let of_stream = |command, id| Frame::new(command, id, id, Bytes::new());
        match frame.command {
            Command::Connect => {
                let banner = format!("device::ro.product.name=fuzz;features={}", self.features);
                vec![Frame::new(Command::Connect, VERSION_SKIP_CHECKSUM, PAYLOAD_BYTES_MAX, banner)]
            }
            Command::Open => {
                let id = frame.arg0;
                let part = self.left.lock().expect("no panic holds it").pop_front();
                let Some(part) = part else { return vec![Frame::new(Command::Close, 0, id, Bytes::new())] };
                let said = if frame.payload.starts_with(SHELL_V2.as_bytes()) { packets(&part) } else { part };
                let pieces = said.chunks(PIECE_BYTES).map(Bytes::copy_from_slice).collect();
                self.streams.insert(id, pieces);
                let mut frames = vec![of_stream(Command::Okay, id)];
                frames.extend(self.next(id));
                frames
            }
            Command::Okay => self.next(frame.arg0).into_iter().collect(),
            Command::Write => vec![of_stream(Command::Okay, frame.arg0)],
            Command::Close => {
                self.streams.remove(&frame.arg0);
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    /// The next piece of a stream, or its end.
    fn next(&mut self, id: u32) -> Option<Frame> {
        match self.streams.get_mut(&id)?.pop_front() {
            Some(piece) => Some(Frame::new(Command::Write, id, id, piece)),
            None => {
                self.streams.remove(&id);
                Some(Frame::new(Command::Close, id, id, Bytes::new()))
            }
        }
    }
}

fn packets(part: &[u8]) -> Vec<u8> {
    if let [RAW, rest @ ..] = part {
        return rest.to_vec();
    }
    let (exit, part) = match part {
        [FAILED, rest @ ..] => (1, rest),
        part => (0, part),
    };
    let outputs = split(part, STDERR);
    let mut out = BytesMut::new();
    for (number, output) in outputs.into_iter().take(2).enumerate() {
        let output = Bytes::copy_from_slice(output);
        let packet = if number == 0 { Packet::Stdout(output) } else { Packet::Stderr(output) };
        packet.encode(&mut out);
    }
    Packet::Exit(exit).encode(&mut out);
    out.to_vec()
}
