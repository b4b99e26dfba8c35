//! Shell protocol v2: stdin, stdout, stderr and the exit code as packets in one stream.

use bytes::{Buf, BufMut, Bytes, BytesMut};

use super::{WireError, u32_at, wire_error};

pub const HEADER_BYTES: usize = 5;
/// Limit of one packet; adbd reads packets into a buffer of this size.
const PACKET_BYTES_MAX: usize = 1024 * 1024;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Packet {
    Stdin(Bytes),
    Stdout(Bytes),
    Stderr(Bytes),
    Exit(u8),
    CloseStdin,
    /// Any other packet, such as a window size change.
    Other(u8),
}

impl Packet {
    pub fn encode(&self, out: &mut BytesMut) {
        let (id, data): (u8, &[u8]) = match self {
            Packet::Stdin(data) => (0, data),
            Packet::Stdout(data) => (1, data),
            Packet::Stderr(data) => (2, data),
            Packet::Exit(code) => (3, std::slice::from_ref(code)),
            Packet::CloseStdin => (4, &[]),
            Packet::Other(id) => (*id, &[]),
        };
        out.put_u8(id);
        out.put_u32_le(data.len() as u32);
        out.put_slice(data);
    }

    pub fn decode(input: &mut BytesMut) -> Result<Option<Packet>, WireError> {
        if input.len() < HEADER_BYTES {
            return Ok(None);
        }
        let (id, length) = (input[0], u32_at(input, 1) as usize);
        if length > PACKET_BYTES_MAX {
            return wire_error(format!("shell packet of {length} bytes exceeds {PACKET_BYTES_MAX}"));
        }
        if input.len() < HEADER_BYTES + length {
            return Ok(None);
        }
        input.advance(HEADER_BYTES);
        let data = input.split_to(length).freeze();
        Ok(Some(match id {
            0 => Packet::Stdin(data),
            1 => Packet::Stdout(data),
            2 => Packet::Stderr(data),
            3 => match data.first() {
                Some(code) => Packet::Exit(*code),
                None => return wire_error("shell exit packet without a code"),
            },
            4 => Packet::CloseStdin,
            other => Packet::Other(other),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exit_packet_has_the_bytes_that_adbd_sends() {
        let mut out = BytesMut::new();
        Packet::Exit(5).encode(&mut out);
        assert_eq!(out.to_vec(), [3, 1, 0, 0, 0, 5]);
    }

    #[test]
    fn a_packet_split_inside_a_character_is_decoded() {
        let mut whole = BytesMut::new();
        Packet::Stdout(Bytes::from_static("é".as_bytes())).encode(&mut whole);
        let tail = whole.split_off(6);
        assert_eq!(Packet::decode(&mut whole).unwrap(), None);
        whole.extend_from_slice(&tail);
        assert_eq!(
            Packet::decode(&mut whole).unwrap(),
            Some(Packet::Stdout(Bytes::from_static("é".as_bytes())))
        );
    }

    #[test]
    fn impossible_lengths_are_an_error() {
        let mut huge = BytesMut::from(&[1u8, 0xff, 0xff, 0xff, 0xff][..]);
        assert!(Packet::decode(&mut huge).is_err(), "SE-07");
        let mut empty_exit = BytesMut::from(&[3u8, 0, 0, 0, 0][..]);
        assert!(Packet::decode(&mut empty_exit).is_err());
    }
}
