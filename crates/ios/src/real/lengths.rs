//! Lengths that usbmuxd and a phone announce, checked before the library believes them: it makes room for as many bytes as
//! they say, up to four gigabytes, and ends the process where the system does not give it so much (SE-07).
//!
//! What a phone says inside of TLS is looked at there, by a second watcher behind the first. What is not watched:
//! installing an app, and the tests and debug services of developers.

use std::io;

/// The longest message of usbmuxd; a longer one ends the connection. Records of a pairing have some kilobytes.
const MUX_BYTES_MAX: u32 = 4 * 1024 * 1024;
/// Its head, which its length counts.
const MUX_HEAD_BYTES: u32 = 16;
/// The longest answer of lockdownd; a longer one ends the connection.
const LOCKDOWN_BYTES_MAX: u32 = 16 * 1024 * 1024;
/// The longest message of a phone's service; a longer one ends the connection. Pictures of large screens have some tens.
const SERVICE_BYTES_MAX: u32 = 64 * 1024 * 1024;
/// The longest line of the old log; a longer one ends the connection. The library keeps whatever comes before its end.
const LINE_BYTES_MAX: u64 = 1024 * 1024;
/// Where lockdownd listens on a phone.
const LOCKDOWN_PORT: u16 = 62078;
const LENGTH_BYTES: usize = 4;
/// A byte of a record's kind and its length.
const RECORD_HEAD_BYTES: usize = 5;
/// Of a message about files: a word, two lengths of which each counts the head, a number, an operation.
const FILES_HEAD_BYTES: usize = 40;
/// The first bytes of TLS, whose records have lengths of two bytes.
const TLS: [u8; 2] = [0x16, 0x03];

/// What is spoken on a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Protocol {
    Mux,
    /// One message of usbmuxd, then what the phone has at this port.
    MuxUntilConnected(u16),
    Lockdown,
    /// Property lists with their lengths.
    Lists,
    /// Apple's file protocol.
    Files,
    /// The first answer of the log, then its records.
    LogUntilStarted,
    Log,
    /// Lines of the old log, each of which ends with a NUL.
    Lines,
    /// Something else, of which the lengths are not known here.
    Other,
}

impl Protocol {
    /// Bytes of a message that tell its length.
    fn head_bytes(self) -> usize {
        match self {
            Protocol::Files => FILES_HEAD_BYTES,
            Protocol::LogUntilStarted | Protocol::Log => RECORD_HEAD_BYTES,
            _ => LENGTH_BYTES,
        }
    }
}

/// Watches what arrives on one connection.
#[derive(Debug)]
pub struct Lengths {
    protocol: Protocol,
    /// The head that is being read.
    head: [u8; FILES_HEAD_BYTES],
    known: usize,
    /// Bytes until the next head.
    left: u64,
    /// Bytes of a line so far.
    line: u64,
}

impl Lengths {
    /// Of a connection to usbmuxd itself.
    pub fn of_mux() -> Lengths {
        Lengths::of(Protocol::Mux)
    }

    /// Of a connection that usbmuxd will pass on to a port of a phone.
    pub fn of_port(port: u16) -> Lengths {
        Lengths::of(Protocol::MuxUntilConnected(port))
    }

    /// Of a session with lockdownd or a service that speaks in property lists, without its TLS.
    pub fn of_lists() -> Lengths {
        Lengths::of(Protocol::Lists)
    }

    /// Of a service with files, without its TLS.
    pub fn of_files() -> Lengths {
        Lengths::of(Protocol::Files)
    }

    /// Of the log in records, without its TLS.
    pub fn of_log() -> Lengths {
        Lengths::of(Protocol::LogUntilStarted)
    }

    /// Of the old log, without its TLS.
    pub fn of_lines() -> Lengths {
        Lengths::of(Protocol::Lines)
    }

    fn of(protocol: Protocol) -> Lengths {
        Lengths { protocol, head: [0; FILES_HEAD_BYTES], known: 0, left: 0, line: 0 }
    }

    /// Looks at what we send: TLS begins when this side begins it, whatever the phone sends before.
    pub fn note_sent(&mut self, bytes: &[u8]) {
        if self.protocol == Protocol::Lockdown && bytes.starts_with(&TLS) {
            self.protocol = Protocol::Other;
        }
    }

    /// Looks at the next bytes that came; an error ends the connection.
    pub fn check(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        if self.protocol == Protocol::Lines {
            return self.check_lines(bytes);
        }
        while self.protocol != Protocol::Other && !bytes.is_empty() {
            if self.left > 0 {
                let passed = bytes.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
                self.left -= passed as u64;
                bytes = &bytes[passed..];
                continue;
            }
            self.head[self.known] = bytes[0];
            bytes = &bytes[1..];
            self.known += 1;
            if self.known == self.protocol.head_bytes() {
                self.known = 0;
                self.left = self.rest()?;
            }
        }
        Ok(())
    }

    fn check_lines(&mut self, bytes: &[u8]) -> io::Result<()> {
        for byte in bytes {
            self.line = if *byte == 0 { 0 } else { self.line + 1 };
            if self.line > LINE_BYTES_MAX {
                return lie(self.line);
            }
        }
        Ok(())
    }

    /// The bytes of a message that follow its head.
    fn rest(&mut self) -> io::Result<u64> {
        let [a, b, c, d, e, ..] = self.head;
        let within =
            |length: u32, max: u32| if length <= max { Ok(length.into()) } else { lie(length.into()) };
        match self.protocol {
            Protocol::Mux | Protocol::MuxUntilConnected(_) => {
                let length = u32::from_le_bytes([a, b, c, d]);
                if !(MUX_HEAD_BYTES..=MUX_BYTES_MAX).contains(&length) {
                    return lie(length.into());
                }
                if let Protocol::MuxUntilConnected(port) = self.protocol {
                    let is_lockdown = port == LOCKDOWN_PORT;
                    self.protocol = if is_lockdown { Protocol::Lockdown } else { Protocol::Other };
                }
                Ok(u64::from(length) - LENGTH_BYTES as u64)
            }
            Protocol::Lockdown => within(u32::from_be_bytes([a, b, c, d]), LOCKDOWN_BYTES_MAX),
            Protocol::Lists => within(u32::from_be_bytes([a, b, c, d]), SERVICE_BYTES_MAX),
            Protocol::LogUntilStarted => {
                self.protocol = Protocol::Log;
                within(u32::from_be_bytes([b, c, d, e]), SERVICE_BYTES_MAX)
            }
            Protocol::Log => within(u32::from_le_bytes([b, c, d, e]), SERVICE_BYTES_MAX),
            Protocol::Files => self.rest_of_files(),
            Protocol::Lines | Protocol::Other => Ok(0),
        }
    }

    /// The two lengths are of the whole message and of its head with what belongs to the operation.
    fn rest_of_files(&self) -> io::Result<u64> {
        let number =
            |at: usize| self.head[at..at + 8].iter().rev().fold(0, |all, byte| all << 8 | u64::from(*byte));
        let (whole, first) = (number(8), number(16));
        if whole > SERVICE_BYTES_MAX.into() {
            return lie(whole);
        }
        if first > whole || first < FILES_HEAD_BYTES as u64 {
            return lie(first);
        }
        Ok(whole - FILES_HEAD_BYTES as u64)
    }
}

fn lie<T>(length: u64) -> io::Result<T> {
    let words = format!("a message of {length} bytes was announced");
    Err(io::Error::new(io::ErrorKind::InvalidData, words))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mux(length: u32) -> Vec<u8> {
        let mut message = length.to_le_bytes().to_vec();
        message.resize(length.min(64) as usize, 0);
        message
    }

    fn list(length: u32) -> Vec<u8> {
        [length.to_be_bytes().to_vec(), vec![b'x'; length.min(64) as usize]].concat()
    }

    fn file(whole: u64, first: u64) -> Vec<u8> {
        let head = [0x4141_504c_3641_4643, whole, first, 1, 2].map(u64::to_le_bytes).concat();
        [head, vec![b'x'; whole.clamp(40, 104) as usize - 40]].concat()
    }

    fn record(length: u32) -> Vec<u8> {
        [&[2][..], &length.to_le_bytes(), &vec![b'x'; length.min(64) as usize]].concat()
    }

    /// What was honest passes in pieces of any size, and what lies after it does not.
    #[track_caller]
    fn check(watcher: fn() -> Lengths, honest: &[Vec<u8>], lies: &[Vec<u8>]) {
        for lie in lies {
            for piece in [1, 3, 4, 100] {
                let mut lengths = watcher();
                honest.concat().chunks(piece).for_each(|bytes| lengths.check(bytes).unwrap());
                let found = lie.chunks(piece).try_for_each(|bytes| lengths.check(bytes));
                assert_eq!(found.map_err(|error| error.kind()), Err(io::ErrorKind::InvalidData), "{lie:x?}");
            }
        }
    }

    #[test]
    fn a_length_that_lies_ends_the_connection_however_it_arrives() {
        // SE-07
        check(
            Lengths::of_mux,
            &[mux(16), mux(40), mux(17)],
            &[mux(15), mux(MUX_BYTES_MAX + 1), mux(u32::MAX)],
        );
    }

    #[test]
    fn services_are_watched_inside_of_tls() {
        // SE-07
        let too_long = SERVICE_BYTES_MAX + 1;
        check(Lengths::of_lists, &[list(0), list(60)], &[list(too_long), list(u32::MAX)]);
        let started = [vec![1], list(60)].concat();
        check(Lengths::of_log, &[started, record(0), record(30)], &[record(too_long), record(u32::MAX)]);
        check(Lengths::of_log, &[], &[[vec![1], list(too_long)].concat()]);
        let lies = [
            file(u64::from(too_long), 40),
            file(u64::MAX, u64::MAX),
            file(60, 61),
            file(60, 39),
            file(60, 0),
        ];
        check(Lengths::of_files, &[file(40, 40), file(60, 50), file(104, 104)], &lies);
    }

    #[test]
    fn lockdown_is_watched_until_we_begin_tls_whatever_the_phone_says() {
        // SE-07: the phone cannot switch the watcher off by the first bytes of TLS as a length.
        let lockdown = || Lengths::of_port(LOCKDOWN_PORT);
        let honest = [mux(16), list(0), list(60)];
        let tls_as_length = vec![0x16, 0x03, 0x00, 0x00];
        check(lockdown, &honest, &[list(LOCKDOWN_BYTES_MAX + 1), tls_as_length.clone()]);
        let mut lengths = lockdown();
        lengths.note_sent(&tls_as_length);
        lengths.check(&honest.concat()).unwrap();
        lengths.note_sent(&list(60));
        lengths.note_sent(b"<?xml");
        assert!(lengths.check(&tls_as_length).is_err(), "nothing of it was TLS");
        let mut lengths = lockdown();
        lengths.check(&honest.concat()).unwrap();
        lengths.note_sent(&[0x16, 0x03, 0x01, 0x02, 0x00]);
        lengths.check(&[vec![0x16, 0x03, 0x03, 0xff, 0xff], vec![0xff; 90]].concat()).unwrap();
    }

    #[test]
    fn a_line_of_the_log_has_an_end() {
        let mut lengths = Lengths::of_lines();
        let line = [vec![b'x'; LINE_BYTES_MAX as usize], vec![0]].concat();
        lengths.check(&line).unwrap();
        lengths.check(&line[..line.len() - 1]).unwrap();
        assert!(lengths.check(b"x").is_err(), "SE-07");
    }

    #[test]
    fn other_ports_are_watched_until_they_are_connected() {
        let mut lengths = Lengths::of_port(12345);
        lengths.check(&[mux(20), vec![0xff; 100]].concat()).unwrap();
        assert!(Lengths::of_port(12345).check(&mux(1 << 30)).is_err());
    }
}
