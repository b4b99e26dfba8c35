//! What an app file (APK) says of itself: reads the binary manifest inside of the archive.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use flate2::read::DeflateDecoder;

const MANIFEST: &[u8] = b"AndroidManifest.xml";
/// Largest manifest, unpacked.
const MANIFEST_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// Largest directory of an archive.
const DIRECTORY_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Texts of a manifest that are read.
const STRINGS_MAX: usize = 100_000;
/// The end of an archive: its fixed part and the longest comment.
const END_BYTES: u64 = 22;
/// The longest comment at the end of an archive, which the format allows.
const COMMENT_BYTES_MAX: u64 = 65_535;
/// Numbers of the attributes `android:versionCode` and `android:versionName`.
const VERSION_CODE: u32 = 0x0101_021b;
const VERSION_NAME: u32 = 0x0101_021c;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Manifest {
    pub package: String,
    pub version_code: Option<u32>,
    pub version_name: Option<String>,
    /// The name of a split; the base has none.
    pub split: Option<String>,
}

/// Reads the manifest; says what is wrong with a file that has none.
pub fn read(path: &Path) -> Result<Manifest, String> {
    let mut file = File::open(path).map_err(|error| error.to_string())?;
    let broken = || "it is no app file: no readable AndroidManifest.xml is inside".to_owned();
    let packed = unpack(&mut file).ok_or_else(broken)?;
    parse(&packed).ok_or_else(broken)
}

fn word(data: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(data.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

fn half(data: &[u8], at: usize) -> Option<usize> {
    Some(usize::from(u16::from_le_bytes(data.get(at..at.checked_add(2)?)?.try_into().ok()?)))
}

fn part(file: &mut File, from: u64, length: u64) -> Option<Vec<u8>> {
    file.seek(SeekFrom::Start(from)).ok()?;
    let mut bytes = Vec::new();
    file.take(length).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 == length).then_some(bytes)
}

/// The bytes of the manifest, found through the directory at the end of the archive.
fn unpack(file: &mut File) -> Option<Vec<u8>> {
    let size = file.metadata().ok()?.len();
    let from = size.saturating_sub(END_BYTES + COMMENT_BYTES_MAX);
    let tail = part(file, from, size - from)?;
    let end = tail.windows(4).rposition(|bytes| bytes == b"PK\x05\x06")?;
    let (length, start) = (u64::from(word(&tail, end + 12)?), u64::from(word(&tail, end + 16)?));
    if length > DIRECTORY_BYTES_MAX {
        return None;
    }
    let directory = part(file, start, length)?;
    let mut at = 0;
    while directory.get(at..at + 4)? == b"PK\x01\x02" {
        let (name, extra, comment) =
            (half(&directory, at + 28)?, half(&directory, at + 30)?, half(&directory, at + 32)?);
        if directory.get(at + 46..at + 46 + name)? == MANIFEST {
            let (method, packed) = (half(&directory, at + 10)?, word(&directory, at + 20)?);
            return entry(file, u64::from(word(&directory, at + 42)?), method, u64::from(packed));
        }
        at += 46 + name + extra + comment;
    }
    None
}

fn entry(file: &mut File, at: u64, method: usize, packed_bytes: u64) -> Option<Vec<u8>> {
    let header = part(file, at, 30)?;
    let begin = at + 30 + (half(&header, 26)? + half(&header, 28)?) as u64;
    if packed_bytes > MANIFEST_BYTES_MAX {
        return None;
    }
    let packed = part(file, begin, packed_bytes)?;
    match method {
        0 => Some(packed),
        8 => {
            let mut bytes = Vec::new();
            DeflateDecoder::new(&packed[..]).take(MANIFEST_BYTES_MAX).read_to_end(&mut bytes).ok()?;
            Some(bytes)
        }
        _ => None,
    }
}

/// Binary XML is a chunk of chunks: strings, the numbers of attributes, then the elements. The first one is `manifest`.
fn parse(xml: &[u8]) -> Option<Manifest> {
    let (mut strings, mut numbers) = (Vec::new(), Vec::new());
    let mut at = half(xml, 2)?;
    loop {
        let (kind, size) = (half(xml, at)?, word(xml, at + 4)? as usize);
        let chunk = xml.get(at..at.checked_add(size)?).filter(|chunk| chunk.len() >= 8)?;
        match kind {
            0x0001 => strings = read_strings(chunk)?,
            0x0180 => numbers = (8..chunk.len()).step_by(4).map_while(|at| word(chunk, at)).collect(),
            0x0102 => return root(chunk, &strings, &numbers),
            _ => {}
        }
        at += size;
    }
}

fn root(chunk: &[u8], strings: &[String], numbers: &[u32]) -> Option<Manifest> {
    let text = |index: u32| strings.get(index as usize).map(String::as_str);
    if text(word(chunk, 20)?)? != "manifest" {
        return None;
    }
    let mut manifest = Manifest::default();
    let first = 16 + half(chunk, 24)?;
    for index in 0..half(chunk, 28)? {
        let at = first + 20 * index;
        let (name, raw, value) = (word(chunk, at + 4)?, word(chunk, at + 8)?, word(chunk, at + 16)?);
        let number = numbers.get(name as usize).copied();
        match (number, text(name)) {
            (Some(VERSION_CODE), _) => manifest.version_code = Some(value),
            (Some(VERSION_NAME), _) => manifest.version_name = text(raw).map(str::to_owned),
            (_, Some("package")) => manifest.package = text(raw)?.to_owned(),
            (_, Some("split")) => manifest.split = text(raw).map(str::to_owned),
            _ => {}
        }
    }
    (!manifest.package.is_empty()).then_some(manifest)
}

fn read_strings(chunk: &[u8]) -> Option<Vec<String>> {
    let (count, flags, start) = (word(chunk, 8)? as usize, word(chunk, 16)?, word(chunk, 20)? as usize);
    let is_utf8 = flags & (1 << 8) != 0;
    let mut strings = Vec::new();
    for index in 0..count.min(STRINGS_MAX) {
        let at = start.checked_add(word(chunk, 28 + 4 * index)? as usize)?;
        strings.push(if is_utf8 { utf8(chunk, at) } else { utf16(chunk, at) }.unwrap_or_default());
    }
    Some(strings)
}

/// A length of one or two bytes, and where the next thing begins.
fn length(chunk: &[u8], at: usize) -> Option<(usize, usize)> {
    let first = usize::from(*chunk.get(at)?);
    if first < 0x80 {
        return Some((first, at + 1));
    }
    Some((((first & 0x7f) << 8) | usize::from(*chunk.get(at + 1)?), at + 2))
}

fn utf8(chunk: &[u8], at: usize) -> Option<String> {
    let (_, at) = length(chunk, at)?;
    let (bytes, at) = length(chunk, at)?;
    Some(String::from_utf8_lossy(chunk.get(at..at.checked_add(bytes)?)?).into_owned())
}

fn utf16(chunk: &[u8], at: usize) -> Option<String> {
    let first = half(chunk, at)?;
    let (units, at) = match first & 0x8000 {
        0 => (first, at + 2),
        _ => (((first & 0x7fff) << 16) | half(chunk, at + 2)?, at + 4),
    };
    let bytes = chunk.get(at..at.checked_add(units.checked_mul(2)?)?)?;
    let units: Vec<u16> = bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect();
    Some(String::from_utf16_lossy(&units))
}
