//! Lengths that usbmuxd and a phone announce, checked before the library believes them: it makes room for as many bytes as
//! they say, up to four gigabytes, and ends the process where the system does not give it so much (SE-07).

use std::io;

/// The longest message of usbmuxd; a longer one ends the connection. Records of a pairing have some kilobytes.
const MUX_BYTES_MAX: u32 = 4 * 1024 * 1024;
/// Its head, which its length counts.
const MUX_HEAD_BYTES: u32 = 16;
/// The longest answer of lockdownd; a longer one ends the connection.
const LOCKDOWN_BYTES_MAX: u32 = 16 * 1024 * 1024;
/// Where lockdownd listens on a phone.
const LOCKDOWN_PORT: u16 = 62078;
const LENGTH_BYTES: usize = 4;
/// The first bytes of TLS, whose records have lengths of two bytes.
const TLS: [u8; 2] = [0x16, 0x03];

/// What is spoken on a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Protocol {
    Mux,
    /// One message of usbmuxd, then what the phone has at this port.
    MuxUntilConnected(u16),
    Lockdown,
    /// Something else, of which the lengths are not known here.
    Other,
}

/// Watches what arrives on one connection.
#[derive(Debug)]
pub struct Lengths {
    protocol: Protocol,
    /// The length that is being read.
    length: [u8; LENGTH_BYTES],
    known: usize,
    /// Bytes until the next length.
    left: u64,
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

    fn of(protocol: Protocol) -> Lengths {
        Lengths { protocol, length: [0; LENGTH_BYTES], known: 0, left: 0 }
    }

    /// Looks at the next bytes; an error ends the connection.
    pub fn check(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while self.protocol != Protocol::Other && !bytes.is_empty() {
            if self.left > 0 {
                let passed = bytes.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
                self.left -= passed as u64;
                bytes = &bytes[passed..];
                continue;
            }
            self.length[self.known] = bytes[0];
            bytes = &bytes[1..];
            self.known += 1;
            if self.known == LENGTH_BYTES {
                self.known = 0;
                self.left = u64::from(self.rest()?);
            }
        }
        Ok(())
    }

    /// The bytes of a message that follow its length.
    fn rest(&mut self) -> io::Result<u32> {
        let lie = |length: u32| {
            let words = format!("a message of {length} bytes was announced");
            Err(io::Error::new(io::ErrorKind::InvalidData, words))
        };
        match self.protocol {
            Protocol::Mux | Protocol::MuxUntilConnected(_) => {
                let length = u32::from_le_bytes(self.length);
                if !(MUX_HEAD_BYTES..=MUX_BYTES_MAX).contains(&length) {
                    return lie(length);
                }
                if let Protocol::MuxUntilConnected(port) = self.protocol {
                    let is_lockdown = port == LOCKDOWN_PORT;
                    self.protocol = if is_lockdown { Protocol::Lockdown } else { Protocol::Other };
                }
                Ok(length - LENGTH_BYTES as u32)
            }
            Protocol::Lockdown if self.length.starts_with(&TLS) => {
                self.protocol = Protocol::Other;
                Ok(0)
            }
            Protocol::Lockdown => match u32::from_be_bytes(self.length) {
                length @ 0..=LOCKDOWN_BYTES_MAX => Ok(length),
                length => lie(length),
            },
            Protocol::Other => Ok(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mux(length: u32) -> Vec<u8> {
        let mut message = length.to_le_bytes().to_vec();
        message.resize(length.min(64) as usize, 0);
        message
    }

    fn lockdown(length: u32) -> Vec<u8> {
        [length.to_be_bytes().to_vec(), vec![b'x'; length.min(64) as usize]].concat()
    }

    #[test]
    fn a_length_that_lies_ends_the_connection_however_it_arrives() {
        // SE-07
        let honest = [mux(16), mux(40), mux(17)].concat();
        for piece in [1, 3, 4, 100] {
            let mut lengths = Lengths::of_mux();
            honest.chunks(piece).for_each(|bytes| lengths.check(bytes).unwrap());
            assert!(lengths.check(&mux(15)).is_err(), "shorter than its head");
            let mut lengths = Lengths::of_mux();
            honest.chunks(piece).for_each(|bytes| lengths.check(bytes).unwrap());
            assert!(lengths.check(&mux(u32::MAX)).is_err());
        }
    }

    #[test]
    fn lockdown_is_watched_until_tls_and_other_services_are_not() {
        let mut lengths = Lengths::of_port(LOCKDOWN_PORT);
        lengths.check(&[mux(16), lockdown(0), lockdown(60)].concat()).unwrap();
        assert!(lengths.check(&lockdown(LOCKDOWN_BYTES_MAX + 1)).is_err());
        let mut lengths = Lengths::of_port(LOCKDOWN_PORT);
        lengths
            .check(&[mux(16), lockdown(8), vec![0x16, 0x03, 0x03, 0xff, 0xff], vec![0xff; 90]].concat())
            .unwrap();
        let mut lengths = Lengths::of_port(12345);
        lengths.check(&[mux(20), vec![0xff; 100]].concat()).unwrap();
        assert!(Lengths::of_port(12345).check(&mux(1 << 30)).is_err());
    }
}
