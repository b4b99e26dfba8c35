//! A minimal adb client: one connection, one command at a time, blocking. Its time is the device's own time; any time
//! beyond that is the product's.

use std::io::{Read, Write};
use std::net::TcpStream;

use bytes::BytesMut;
use mdm_wire::adb::frame::{Command, Frame};
use mdm_wire::adb::shell::Packet;
use mdm_wire::adb::{PAYLOAD_BYTES_MAX, VERSION_SKIP_CHECKSUM};

const READ_BYTES: usize = 256 * 1024;

pub struct Adb {
    stream: TcpStream,
    input: BytesMut,
    chunk: Vec<u8>,
    last_id: u32,
}

/// The output of one shell command.
pub struct Answer {
    pub stdout: Vec<u8>,
    pub code: u8,
}

impl Adb {
    pub fn connect(address: &str) -> Result<Adb, String> {
        let stream = TcpStream::connect(address).map_err(|e| format!("{address}: {e}"))?;
        stream.set_nodelay(true).map_err(|e| format!("{address}: {e}"))?;
        let mut adb = Adb { stream, input: BytesMut::new(), chunk: vec![0; READ_BYTES], last_id: 0 };
        let banner = &b"host::features=shell_v2,cmd"[..];
        adb.send(&Frame::new(Command::Connect, VERSION_SKIP_CHECKSUM, PAYLOAD_BYTES_MAX, banner))?;
        match adb.receive()?.command {
            Command::Connect => Ok(adb),
            other => Err(format!("{address}: expected CNXN, not {other:?}")),
        }
    }

    /// Runs one command until its exit code arrives.
    pub fn shell(&mut self, script: &str) -> Result<Answer, String> {
        self.last_id += 1;
        let id = self.last_id;
        self.send(&Frame::new(Command::Open, id, 0, format!("shell,v2,raw:{script}\0")))?;
        let (mut stdout, mut packets) = (Vec::new(), BytesMut::new());
        loop {
            let frame = self.receive()?;
            match frame.command {
                // The end of an earlier command whose exit code has been read.
                _ if frame.arg1 != id => {}
                Command::Write => {
                    packets.extend_from_slice(&frame.payload);
                    self.send(&Frame::new(Command::Okay, id, frame.arg0, bytes::Bytes::new()))?;
                }
                Command::Okay => {}
                other => return Err(format!("{other:?} before the exit code of {script}")),
            }
            while let Some(packet) = Packet::decode(&mut packets).map_err(|e| e.to_string())? {
                match packet {
                    Packet::Stdout(bytes) => stdout.extend_from_slice(&bytes),
                    Packet::Exit(code) => return Ok(Answer { stdout, code }),
                    _ => {}
                }
            }
        }
    }

    fn send(&mut self, frame: &Frame) -> Result<(), String> {
        let mut out = BytesMut::new();
        frame.encode(&mut out);
        self.stream.write_all(&out).map_err(|e| format!("write to the phone: {e}"))
    }

    fn receive(&mut self) -> Result<Frame, String> {
        loop {
            if let Some(frame) =
                Frame::decode(&mut self.input, PAYLOAD_BYTES_MAX).map_err(|e| e.to_string())?
            {
                return Ok(frame);
            }
            match self.stream.read(&mut self.chunk) {
                Ok(0) => return Err("the phone hung up".to_owned()),
                Ok(bytes) => self.input.extend_from_slice(&self.chunk[..bytes]),
                Err(e) => return Err(format!("read from the phone: {e}")),
            }
        }
    }
}
