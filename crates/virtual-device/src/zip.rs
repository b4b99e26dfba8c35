//! Reads single files out of zip archives, in memory.

use std::io::Read as _;

use flate2::read::DeflateDecoder;

/// Entries of an archive that are looked at.
const ENTRIES_MAX: usize = 100_000;

pub fn u16_at(data: &[u8], at: usize) -> Option<usize> {
    let bytes: [u8; 2] = data.get(at..at.checked_add(2)?)?.try_into().ok()?;
    Some(usize::from(u16::from_le_bytes(bytes)))
}

pub fn u32_at(data: &[u8], at: usize) -> Option<usize> {
    let bytes: [u8; 4] = data.get(at..at.checked_add(4)?)?.try_into().ok()?;
    usize::try_from(u32::from_le_bytes(bytes)).ok()
}

/// Returns the first file whose name is wanted, cut off at a number of bytes; it is found through the directory at the
/// end of the archive.
pub fn find(archive: &[u8], wanted: impl Fn(&[u8]) -> bool, bytes_max: u64) -> Option<Vec<u8>> {
    const END_BYTES: usize = 22;
    const COMMENT_BYTES_MAX: usize = 65_535;
    let from = archive.len().saturating_sub(END_BYTES + COMMENT_BYTES_MAX);
    let end = from + archive.get(from..)?.windows(4).rposition(|w| w == b"PK\x05\x06")?;
    let mut at = u32_at(archive, end + 16)?;
    for _ in 0..u16_at(archive, end + 10)?.min(ENTRIES_MAX) {
        if archive.get(at..at.checked_add(4)?)? != b"PK\x01\x02" {
            return None;
        }
        let (name, extra, comment) =
            (u16_at(archive, at + 28)?, u16_at(archive, at + 30)?, u16_at(archive, at + 32)?);
        if wanted(archive.get(at + 46..at + 46 + name)?) {
            let (method, packed_bytes) = (u16_at(archive, at + 10)?, u32_at(archive, at + 20)?);
            return entry(archive, u32_at(archive, at + 42)?, method, packed_bytes, bytes_max);
        }
        at = at.checked_add(46 + name + extra + comment)?;
    }
    None
}

fn entry(archive: &[u8], at: usize, method: usize, packed_bytes: usize, bytes_max: u64) -> Option<Vec<u8>> {
    const STORED: usize = 0;
    const DEFLATED: usize = 8;
    let from = at.checked_add(30)?.checked_add(u16_at(archive, at.checked_add(26)?)?)?;
    let from = from.checked_add(u16_at(archive, at + 28)?)?;
    let packed = archive.get(from..from.checked_add(packed_bytes)?)?;
    match method {
        STORED => Some(packed.to_vec()),
        DEFLATED => {
            let mut out = Vec::new();
            DeflateDecoder::new(packed).take(bytes_max).read_to_end(&mut out).ok()?;
            Some(out)
        }
        _ => None,
    }
}
