//! A phone and a hostile host in one runtime with a paused clock, and what else targets share.

pub mod adbd;
pub mod allocation;
pub mod answering;
pub mod files;
pub mod helpers;
pub mod idb;

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use mdm_core::screen::snapshot::Snapshot;
use mdm_virtual_device::{Phone, PhoneConfig};
use mdm_wire::adb::frame::{Command, Frame};
use mdm_wire::adb::{PAYLOAD_BYTES_MAX, VERSION_SKIP_CHECKSUM};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::runtime::Runtime;

/// Timeout in the phone's time, after which the host disconnects: a script may sleep or stream for ever.
const PATIENCE: Duration = Duration::from_secs(30);
/// Bytes that the host reads before it disconnects.
const READ_BYTES_MAX: usize = 64 * 1024 * 1024;

pub fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().expect("a runtime")
}

/// Each element lies in the one that is open around it, and a defect lies in the `bytes` that were read.
pub fn check_tree(snapshot: &Snapshot, bytes: usize) {
    let mut ends = Vec::new();
    for (index, element) in snapshot.elements.iter().enumerate() {
        while ends.last().is_some_and(|&(_, end)| end as usize <= index) {
            ends.pop();
        }
        assert_eq!(element.parent, ends.last().map(|&(parent, _)| parent));
        assert!(ends.last().is_none_or(|&(_, end)| element.end <= end));
        assert!(element.end as usize > index && element.end as usize <= snapshot.elements.len());
        ends.push((index as u32, element.end));
    }
    assert!(snapshot.defects.iter().all(|defect| defect.offset <= bytes));
}

/// Sends these bytes to a new phone and reads until it is silent; then an honest host must still be served.
pub fn attack(bytes: &[u8]) {
    runtime().block_on(async {
        let phone = Phone::new(PhoneConfig::default());
        let mut host = phone.connect().expect("a new phone takes a connection");
        let _ = tokio::time::timeout(PATIENCE, exchange(&mut host, bytes)).await;
        drop(host);
        let answer = tokio::time::timeout(PATIENCE, honest(&phone)).await;
        assert!(matches!(answer, Ok(true)), "the phone does not serve others any more");
    });
}

async fn exchange(host: &mut DuplexStream, bytes: &[u8]) {
    let (mut reader, mut writer) = tokio::io::split(host);
    let read = async {
        let (mut buffer, mut total) = (vec![0; 64 * 1024], 0);
        while let Ok(read @ 1..) = reader.read(&mut buffer).await {
            total += read;
            if total > READ_BYTES_MAX {
                break;
            }
        }
    };
    let write = async {
        let _ = writer.write_all(bytes).await;
    };
    tokio::join!(read, write);
}

async fn honest(phone: &Phone) -> bool {
    let Ok(mut host) = phone.connect() else { return false };
    let hello = frames(&[connect(), open(1, "shell:echo served")]);
    if host.write_all(&hello).await.is_err() {
        return false;
    }
    let mut input = Vec::new();
    let mut buffer = [0; 4096];
    while let Ok(read @ 1..) = host.read(&mut buffer).await {
        input.extend_from_slice(&buffer[..read]);
        if input.windows(7).any(|w| w == b"served\n") {
            return true;
        }
    }
    false
}

pub fn connect() -> Frame {
    Frame::new(Command::Connect, VERSION_SKIP_CHECKSUM, PAYLOAD_BYTES_MAX, &b"host::features=shell_v2"[..])
}

pub fn open(local: u32, service: &str) -> Frame {
    Frame::new(Command::Open, local, 0, format!("{service}\0"))
}

/// A frame to the first stream of a connection, which is number one on both sides.
pub fn write(data: &[u8]) -> Frame {
    Frame::new(Command::Write, 1, 1, Bytes::copy_from_slice(data))
}

/// Acknowledges everything that the phone sends on the first stream.
pub fn okay() -> Frame {
    Frame::new(Command::Okay, 1, 1, Bytes::new())
}

pub fn frames(all: &[Frame]) -> BytesMut {
    let mut out = BytesMut::new();
    for frame in all {
        frame.encode(&mut out);
    }
    out
}
