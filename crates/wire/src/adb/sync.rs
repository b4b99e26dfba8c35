//! The sync service: stat, list, send and receive files.

use bytes::{BufMut, BytesMut};

use super::{WireError, u32_at, u64_at, wire_error};

/// Largest DATA chunk either side may send.
pub const CHUNK_BYTES_MAX: usize = 64 * 1024;
/// Limit of a path; adbd refuses longer ones.
pub const PATH_BYTES_MAX: usize = 1024;
/// Size of the id and the word that begin every message.
pub const HEADER_BYTES: usize = 8;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Id {
    Stat,
    StatV2,
    LstatV2,
    List,
    ListV2,
    Send,
    SendV2,
    Receive,
    ReceiveV2,
    Dent,
    DentV2,
    Data,
    Done,
    Okay,
    Fail,
    Quit,
}

const NAMES: [(Id, &[u8; 4]); 16] = [
    (Id::Stat, b"STAT"),
    (Id::StatV2, b"STA2"),
    (Id::LstatV2, b"LST2"),
    (Id::List, b"LIST"),
    (Id::ListV2, b"LIS2"),
    (Id::Send, b"SEND"),
    (Id::SendV2, b"SND2"),
    (Id::Receive, b"RECV"),
    (Id::ReceiveV2, b"RCV2"),
    (Id::Dent, b"DENT"),
    (Id::DentV2, b"DNT2"),
    (Id::Data, b"DATA"),
    (Id::Done, b"DONE"),
    (Id::Okay, b"OKAY"),
    (Id::Fail, b"FAIL"),
    (Id::Quit, b"QUIT"),
];

impl Id {
    pub fn bytes(self) -> [u8; 4] {
        NAMES.iter().find(|(id, _)| *id == self).map_or([0; 4], |(_, name)| **name)
    }

    pub fn parse(bytes: &[u8]) -> Result<Id, WireError> {
        match NAMES.iter().find(|(_, name)| bytes == name.as_slice()) {
            Some((id, _)) => Ok(*id),
            None => wire_error(format!("unknown sync id {bytes:02x?}")),
        }
    }
}

/// The beginning of a message: its id and a word, which is a length, a time or the first field of a structure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    pub id: Id,
    pub word: u32,
}

impl Header {
    pub fn decode(bytes: &[u8; HEADER_BYTES]) -> Result<Header, WireError> {
        Ok(Header { id: Id::parse(&bytes[..4])?, word: u32_at(bytes, 4) })
    }

    /// Returns the word as the length of the payload; an error if it exceeds `bytes_max`.
    pub fn length(&self, bytes_max: usize) -> Result<usize, WireError> {
        let length = self.word as usize;
        if length > bytes_max {
            return wire_error(format!("sync {:?} of {length} bytes exceeds {bytes_max}", self.id));
        }
        Ok(length)
    }
}

/// Writes id, length and payload: requests with a path, DATA, FAIL.
pub fn put_message(out: &mut BytesMut, id: Id, payload: &[u8]) {
    out.put_slice(&id.bytes());
    out.put_u32_le(payload.len() as u32);
    out.put_slice(payload);
}

/// Writes id and one word: DONE with a time, OKAY and QUIT with zero.
pub fn put_word(out: &mut BytesMut, id: Id, word: u32) {
    out.put_slice(&id.bytes());
    out.put_u32_le(word);
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stat {
    /// The device's errno, zero if the file was found. Only version 2 has it.
    pub error: u32,
    pub mode: u32,
    pub size: u64,
    pub mtime: u32,
}

impl Stat {
    pub const V1_REST_BYTES: usize = 12;
    pub const V2_REST_BYTES: usize = 68;

    pub fn is_dir(&self) -> bool {
        self.mode & 0o170_000 == 0o040_000
    }

    /// Decodes the bytes after the id: mode, size, mtime.
    pub fn decode_v1(rest: &[u8; Self::V1_REST_BYTES]) -> Stat {
        Stat { error: 0, mode: u32_at(rest, 0), size: u64::from(u32_at(rest, 4)), mtime: u32_at(rest, 8) }
    }

    /// Decodes the bytes after the id: error, dev, ino, mode, nlink, uid, gid, size, atime, mtime, ctime.
    pub fn decode_v2(rest: &[u8; Self::V2_REST_BYTES]) -> Stat {
        Stat {
            error: u32_at(rest, 0),
            mode: u32_at(rest, 20),
            size: u64_at(rest, 36),
            mtime: u64_at(rest, 52) as u32,
        }
    }

    pub fn put_v1(&self, out: &mut BytesMut) {
        out.put_u32_le(self.mode);
        out.put_u32_le(self.size.min(u64::from(u32::MAX)) as u32);
        out.put_u32_le(self.mtime);
    }

    pub fn put_v2(&self, out: &mut BytesMut) {
        out.put_u32_le(self.error);
        out.put_u64_le(1); // dev
        out.put_u64_le(1); // ino
        out.put_u32_le(self.mode);
        out.put_u32_le(1); // nlink
        out.put_u32_le(2000); // uid: shell
        out.put_u32_le(2000); // gid: shell
        out.put_u64_le(self.size);
        for _ in 0..3 {
            out.put_u64_le(u64::from(self.mtime));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_have_the_bytes_that_adb_sends() {
        let mut out = BytesMut::new();
        put_message(&mut out, Id::Receive, b"/sdcard/a");
        put_word(&mut out, Id::Quit, 0);
        assert_eq!(out.to_vec(), b"RECV\x09\0\0\0/sdcard/aQUIT\0\0\0\0");
    }

    #[test]
    fn a_stat_is_encoded_and_decoded_in_both_versions() {
        let stat = Stat { error: 0, mode: 0o100_644, size: 50_000_000, mtime: 1_700_000_000 };
        let mut v1 = BytesMut::new();
        stat.put_v1(&mut v1);
        assert_eq!(Stat::decode_v1(v1[..].try_into().unwrap()), stat);
        let mut v2 = BytesMut::new();
        stat.put_v2(&mut v2);
        assert_eq!(Stat::decode_v2(v2[..].try_into().unwrap()), stat);
    }

    #[test]
    fn lengths_over_the_limit_are_an_error() {
        let header = Header::decode(b"DATA\xff\xff\xff\xff").unwrap();
        assert!(header.length(CHUNK_BYTES_MAX).is_err(), "SE-07");
        assert!(Header::decode(b"NOPE\0\0\0\0").is_err());
    }
}
