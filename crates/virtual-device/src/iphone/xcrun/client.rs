//! The program behind the script: it hands over its arguments and prints what comes back.

use std::io::{self, Read, Write};
use std::path::Path;

use crate::unix::BlockingStream;

use super::frame::{EXIT, INPUT_BYTES_MAX, PIECE_BYTES_MAX, Request, STDERR, STDOUT, WANT_INPUT};

/// Where the standard streams of the program go.
pub struct Streams<'a> {
    pub stdin: &'a mut dyn Read,
    pub stdout: &'a mut dyn Write,
    pub stderr: &'a mut dyn Write,
}

/// Runs one command to its end and returns its exit code. It blocks: it is all that its process does.
pub fn client(socket: &Path, arguments: &[String], streams: Streams<'_>) -> io::Result<u8> {
    let mut stream = BlockingStream::connect(socket)?;
    let request = Request { arguments: arguments.to_vec(), folder: std::env::current_dir()? };
    send(&mut stream, &serde_json::to_vec(&request)?)?;
    loop {
        let mut kind = [0];
        stream.read_exact(&mut kind)?;
        let mut length = [0; 4];
        stream.read_exact(&mut length)?;
        let length = u32::from_be_bytes(length);
        if length > PIECE_BYTES_MAX {
            return Err(io::Error::other("a piece is too long"));
        }
        let mut content = vec![0; length as usize];
        stream.read_exact(&mut content)?;
        match kind[0] {
            STDOUT => {
                streams.stdout.write_all(&content)?;
                streams.stdout.flush()?;
            }
            STDERR => streams.stderr.write_all(&content)?,
            EXIT => return Ok(content.first().copied().unwrap_or(1)),
            WANT_INPUT => {
                let mut input = Vec::new();
                (&mut *streams.stdin).take(u64::from(INPUT_BYTES_MAX)).read_to_end(&mut input)?;
                send(&mut stream, &input)?;
            }
            _ => return Err(io::Error::other("a piece of an unknown kind")),
        }
    }
}

fn send(stream: &mut BlockingStream, bytes: &[u8]) -> io::Result<()> {
    let length = u32::try_from(bytes.len()).map_err(io::Error::other)?;
    stream.write_all(&length.to_be_bytes())?;
    stream.write_all(bytes)
}
