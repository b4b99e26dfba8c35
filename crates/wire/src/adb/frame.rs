//! Transport frames: a 24-byte header and a payload.

use bytes::{Buf, BufMut, Bytes, BytesMut};

use super::{WireError, u32_at, wire_error};

pub const HEADER_BYTES: usize = 24;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Command {
    Sync = 0x434e_5953,
    Connect = 0x4e58_4e43,
    Auth = 0x4854_5541,
    Open = 0x4e45_504f,
    Okay = 0x5941_4b4f,
    Close = 0x4553_4c43,
    Write = 0x4554_5257,
    StartTls = 0x534c_5453,
}

impl Command {
    fn from_u32(value: u32) -> Option<Command> {
        const ALL: [Command; 8] = [
            Command::Sync,
            Command::Connect,
            Command::Auth,
            Command::Open,
            Command::Okay,
            Command::Close,
            Command::Write,
            Command::StartTls,
        ];
        ALL.into_iter().find(|c| *c as u32 == value)
    }
}

/// One message between a host and adbd. The meaning of the two arguments depends on the command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    pub command: Command,
    pub arg0: u32,
    pub arg1: u32,
    pub payload: Bytes,
}

impl Frame {
    pub fn new(command: Command, arg0: u32, arg1: u32, payload: impl Into<Bytes>) -> Frame {
        Frame { command, arg0, arg1, payload: payload.into() }
    }

    /// Appends header and payload, so that both are sent in one write. The checksum is always filled in: a peer that
    /// agreed to skip it ignores the field, any other peer requires it.
    pub fn encode(&self, out: &mut BytesMut) {
        let command = self.command as u32;
        out.reserve(HEADER_BYTES + self.payload.len());
        out.put_u32_le(command);
        out.put_u32_le(self.arg0);
        out.put_u32_le(self.arg1);
        out.put_u32_le(self.payload.len() as u32);
        out.put_u32_le(checksum(&self.payload));
        out.put_u32_le(command ^ 0xffff_ffff);
        out.put_slice(&self.payload);
    }

    /// Takes one frame off the front of `input`; `None` if more bytes are needed. A length above `payload_bytes_max` is
    /// an error before anything is allocated for it.
    pub fn decode(input: &mut BytesMut, payload_bytes_max: u32) -> Result<Option<Frame>, WireError> {
        if input.len() < HEADER_BYTES {
            return Ok(None);
        }
        let command = u32_at(input, 0);
        if u32_at(input, 20) != command ^ 0xffff_ffff {
            return wire_error(format!("frame magic does not fit command {command:#010x}"));
        }
        let Some(known) = Command::from_u32(command) else {
            return wire_error(format!("unknown frame command {command:#010x}"));
        };
        let length = u32_at(input, 12);
        if length > payload_bytes_max {
            return wire_error(format!("frame payload of {length} bytes exceeds {payload_bytes_max}"));
        }
        let total = HEADER_BYTES + length as usize;
        if input.len() < total {
            input.reserve(total - input.len());
            return Ok(None);
        }
        let (arg0, arg1, sum) = (u32_at(input, 4), u32_at(input, 8), u32_at(input, 16));
        input.advance(HEADER_BYTES);
        let payload = input.split_to(length as usize).freeze();
        // Peers that skip checksums send zero; any other value must match.
        if sum != 0 && sum != checksum(&payload) {
            return wire_error("frame checksum does not match its payload");
        }
        Ok(Some(Frame { command: known, arg0, arg1, payload }))
    }
}

fn checksum(payload: &[u8]) -> u32 {
    payload.iter().fold(0u32, |sum, byte| sum.wrapping_add(u32::from(*byte)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_connect_frame_has_the_bytes_that_adb_sends() {
        let mut out = BytesMut::new();
        Frame::new(Command::Connect, 0x0100_0001, 1024 * 1024, &b"host::"[..]).encode(&mut out);
        let expected = [
            b"CNXN".as_slice(),
            &[1, 0, 0, 1],
            &[0, 0, 16, 0],
            &[6, 0, 0, 0],
            &[0x32, 2, 0, 0], // the sum of "host::" is 562
            &[0xbc, 0xb1, 0xa7, 0xb1],
            b"host::",
        ]
        .concat();
        assert_eq!(out.to_vec(), expected);
    }

    #[test]
    fn a_length_over_the_limit_is_an_error_before_allocation() {
        let mut bytes = BytesMut::new();
        Frame::new(Command::Write, 1, 2, Bytes::new()).encode(&mut bytes);
        bytes[12..16].copy_from_slice(&u32::MAX.to_le_bytes());
        assert!(Frame::decode(&mut bytes, 1024).is_err(), "SE-07");
        assert!(bytes.capacity() < 1024);
    }

    proptest! {
        #[test]
        fn a_frame_split_anywhere_is_decoded(payload in proptest::collection::vec(any::<u8>(), 0..600),
                                    arg0: u32, arg1: u32, cut in 0usize..600) {
            let frame = Frame::new(Command::Write, arg0, arg1, payload);
            let mut whole = BytesMut::new();
            frame.encode(&mut whole);
            let cut = cut.min(whole.len() - 1);
            let tail = whole.split_off(cut);
            prop_assert_eq!(Frame::decode(&mut whole, 4096).unwrap(), None);
            whole.extend_from_slice(&tail);
            prop_assert_eq!(Frame::decode(&mut whole, 4096).unwrap(), Some(frame));
            prop_assert!(whole.is_empty());
        }

        #[test]
        fn decoding_noise_does_not_panic(noise in proptest::collection::vec(any::<u8>(), 0..200)) {
            let mut input = BytesMut::from(&noise[..]);
            while let Ok(Some(_)) = Frame::decode(&mut input, 64) {}
        }
    }
}
