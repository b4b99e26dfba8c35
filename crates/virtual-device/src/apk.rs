//! Reads the binary manifest of an app file (APK).

use std::io::Read as _;

use flate2::read::DeflateDecoder;

const LAUNCHER: &str = "android.intent.category.LAUNCHER";
const MANIFEST: &[u8] = b"AndroidManifest.xml";
/// Largest manifest, unpacked.
const MANIFEST_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// Entries of an archive that are looked at.
const ENTRIES_MAX: usize = 100_000;
const STRINGS_MAX: usize = 65_536;
const ATTRIBUTES_MAX: usize = 64;
/// Chunks of a manifest that are looked at.
const CHUNKS_MAX: usize = 65_536;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Manifest {
    pub package: String,
    pub version_code: Option<u32>,
    pub version_name: Option<String>,
    pub min_sdk: Option<u32>,
    pub target_sdk: Option<u32>,
    pub debuggable: bool,
    pub test_only: bool,
    /// The name of a split; the base has none.
    pub split: Option<String>,
    /// The app's name, if it stands in the manifest itself.
    pub label: Option<String>,
    /// Activities and their aliases.
    pub activities: Vec<String>,
    /// The activity that a launcher starts.
    pub entry: Option<String>,
    /// Names of each `<uses-permission>`.
    pub permissions: Vec<String>,
    /// Runner and target package of each `<instrumentation>`.
    pub instrumentations: Vec<(String, String)>,
}

/// True if the file has a signature of any scheme. Whose it is, and whether it is right, is not looked at.
pub fn is_signed(apk: &[u8]) -> bool {
    let has = |mark: &[u8]| apk.windows(mark.len()).any(|bytes| bytes == mark);
    has(b"APK Sig Block 42") || [&b".RSA"[..], b".DSA", b".EC"].iter().any(|end| has(end))
}

/// Returns nothing when the file is not an archive or its manifest cannot be read.
pub fn read(apk: &[u8]) -> Option<Manifest> {
    parse(&unpack(apk)?)
}

fn u16_at(data: &[u8], at: usize) -> Option<usize> {
    let bytes: [u8; 2] = data.get(at..at.checked_add(2)?)?.try_into().ok()?;
    Some(usize::from(u16::from_le_bytes(bytes)))
}

fn u32_at(data: &[u8], at: usize) -> Option<usize> {
    let bytes: [u8; 4] = data.get(at..at.checked_add(4)?)?.try_into().ok()?;
    usize::try_from(u32::from_le_bytes(bytes)).ok()
}

/// Returns the manifest's bytes.
fn unpack(apk: &[u8]) -> Option<Vec<u8>> {
    unpack_entry(apk, &|name| name == MANIFEST, MANIFEST_BYTES_MAX)
}

/// Returns the first file whose name is wanted, found through the directory at the end of the archive.
pub fn unpack_entry(apk: &[u8], is_wanted: &dyn Fn(&[u8]) -> bool, bytes_max: u64) -> Option<Vec<u8>> {
    const END_BYTES: usize = 22;
    const COMMENT_BYTES_MAX: usize = 65_535;
    let from = apk.len().saturating_sub(END_BYTES + COMMENT_BYTES_MAX);
    let end = from + apk.get(from..)?.windows(4).rposition(|w| w == b"PK\x05\x06")?;
    let mut at = u32_at(apk, end + 16)?;
    for _ in 0..u16_at(apk, end + 10)?.min(ENTRIES_MAX) {
        if apk.get(at..at.checked_add(4)?)? != b"PK\x01\x02" {
            return None;
        }
        let (name, extra, comment) = (u16_at(apk, at + 28)?, u16_at(apk, at + 30)?, u16_at(apk, at + 32)?);
        if is_wanted(apk.get(at + 46..at + 46 + name)?) {
            let packed_bytes = u32_at(apk, at + 20)?;
            return entry(apk, u32_at(apk, at + 42)?, u16_at(apk, at + 10)?, packed_bytes, bytes_max);
        }
        at = at.checked_add(46 + name + extra + comment)?;
    }
    None
}

fn entry(apk: &[u8], at: usize, method: usize, packed_bytes: usize, bytes_max: u64) -> Option<Vec<u8>> {
    const STORED: usize = 0;
    const DEFLATED: usize = 8;
    let from = at.checked_add(30)?.checked_add(u16_at(apk, at.checked_add(26)?)?)?;
    let from = from.checked_add(u16_at(apk, at + 28)?)?;
    let packed = apk.get(from..from.checked_add(packed_bytes)?)?;
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

/// Parses binary XML: chunks with a type and a size, a string pool first and then the elements.
fn parse(xml: &[u8]) -> Option<Manifest> {
    const XML: usize = 0x0003;
    const STRING_POOL: usize = 0x0001;
    const START_ELEMENT: usize = 0x0102;
    const END_ELEMENT: usize = 0x0103;
    if u16_at(xml, 0)? != XML {
        return None;
    }
    let (mut at, mut strings, mut manifest) = (u16_at(xml, 2)?, Vec::new(), Manifest::default());
    // The activity whose element is open.
    let mut activity = None;
    for _ in 0..CHUNKS_MAX {
        let (Some(kind), Some(size)) = (u16_at(xml, at), u32_at(xml, at.saturating_add(4))) else { break };
        let Some(chunk) = at.checked_add(size).and_then(|end| xml.get(at..end)).filter(|c| c.len() >= 8)
        else {
            break;
        };
        match kind {
            STRING_POOL => strings = pool(chunk)?,
            START_ELEMENT => element(chunk, &strings, &mut manifest, &mut activity),
            END_ELEMENT if is_activity(name_of(chunk, &strings)) => activity = None,
            _ => {}
        }
        at += size;
    }
    manifest.package.contains('.').then_some(manifest)
}

fn pool(chunk: &[u8]) -> Option<Vec<String>> {
    const UTF8: usize = 1 << 8;
    let (count, flags, start) = (u32_at(chunk, 8)?, u32_at(chunk, 16)?, u32_at(chunk, 20)?);
    let mut strings = Vec::new();
    for index in 0..count.min(STRINGS_MAX) {
        let at = start.checked_add(u32_at(chunk, 28 + 4 * index)?)?;
        let text = if flags & UTF8 != 0 { utf8(chunk, at) } else { utf16(chunk, at) };
        strings.push(text.unwrap_or_default());
    }
    Some(strings)
}

/// Reads a string after its two lengths, in characters and in bytes. A long length takes two bytes.
fn utf8(chunk: &[u8], at: usize) -> Option<String> {
    let length = |at: usize| -> Option<(usize, usize)> {
        let first = usize::from(*chunk.get(at)?);
        if first & 0x80 == 0 {
            return Some((first, at + 1));
        }
        Some((((first & 0x7f) << 8) | usize::from(*chunk.get(at + 1)?), at + 2))
    };
    let (_, at) = length(at)?;
    let (bytes, at) = length(at)?;
    String::from_utf8(chunk.get(at..at.checked_add(bytes)?)?.to_vec()).ok()
}

fn utf16(chunk: &[u8], at: usize) -> Option<String> {
    let first = u16_at(chunk, at)?;
    let (units, at) = if first & 0x8000 == 0 {
        (first, at + 2)
    } else {
        (((first & 0x7fff) << 16) | u16_at(chunk, at + 2)?, at + 4)
    };
    let bytes = chunk.get(at..at.checked_add(units.checked_mul(2)?)?)?;
    let units: Vec<u16> = bytes.chunks_exact(2).map(|b| u16::from_le_bytes([b[0], b[1]])).collect();
    String::from_utf16(&units).ok()
}

fn name_of<'a>(chunk: &[u8], strings: &'a [String]) -> &'a str {
    u32_at(chunk, 20).and_then(|index| strings.get(index)).map_or("", String::as_str)
}

fn is_activity(name: &str) -> bool {
    matches!(name, "activity" | "activity-alias")
}

/// One attribute of an element: the text if it is one, and the number that stands for anything else.
struct Attribute<'a> {
    key: &'a str,
    text: &'a str,
    data: Option<usize>,
}

fn attributes<'a>(chunk: &[u8], strings: &'a [String]) -> Vec<Attribute<'a>> {
    let text = |at: Option<usize>| at.and_then(|index| strings.get(index)).map_or("", String::as_str);
    let count = u16_at(chunk, 28).unwrap_or(0).min(ATTRIBUTES_MAX);
    let first = 16 + u16_at(chunk, 24).unwrap_or(0);
    let at = |index: usize| first + 20 * index;
    let read = |at: usize| Attribute {
        key: text(u32_at(chunk, at + 4)),
        text: text(u32_at(chunk, at + 8)),
        data: u32_at(chunk, at + 16),
    };
    (0..count).map(|index| read(at(index))).collect()
}

fn element(chunk: &[u8], strings: &[String], manifest: &mut Manifest, activity: &mut Option<String>) {
    let name = name_of(chunk, strings);
    let all = attributes(chunk, strings);
    let text = |key: &str| all.iter().find(|a| a.key == key && !a.text.is_empty()).map(|a| a.text.to_owned());
    let data = |key: &str| all.iter().find(|a| a.key == key).and_then(|a| a.data);
    let number = |key: &str| data(key).and_then(|n| u32::try_from(n).ok());
    let flag = |key: &str| data(key).is_some_and(|n| n != 0);
    match name {
        "manifest" => {
            manifest.package = text("package").unwrap_or_default();
            manifest.version_code = number("versionCode");
            manifest.version_name = text("versionName");
            manifest.split = text("split");
        }
        "uses-sdk" => {
            manifest.min_sdk = number("minSdkVersion");
            manifest.target_sdk = number("targetSdkVersion");
        }
        "application" => {
            manifest.debuggable = flag("debuggable");
            manifest.test_only = flag("testOnly");
            manifest.label = text("label");
        }
        "uses-permission" if manifest.permissions.len() < STRINGS_MAX => {
            manifest.permissions.extend(text("name"));
        }
        "activity" | "activity-alias" => {
            let short = text("name").map(|name| short(&manifest.package, &name));
            manifest.activities.extend(short.clone());
            *activity = short;
        }
        "category" if text("name").as_deref() == Some(LAUNCHER) && manifest.entry.is_none() => {
            manifest.entry.clone_from(activity);
        }
        "instrumentation" => {
            let target = text("targetPackage").unwrap_or_default();
            manifest.instrumentations.extend(text("name").map(|runner| (runner, target)));
        }
        _ => {}
    }
}

/// `.A` for `com.x.A` of package `com.x`; a name without a dot is one of the package too.
fn short(package: &str, activity: &str) -> String {
    match activity.strip_prefix(package) {
        Some(rest) if rest.starts_with('.') => rest.to_owned(),
        _ if activity.contains('.') => activity.to_owned(),
        _ => format!(".{activity}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_archive_has_no_manifest() {
        for junk in [
            &b""[..],
            b"PK",
            b"PK\x05\x06",
            &[0xff; 70_000],
            b"PK\x05\x06\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
        ] {
            assert_eq!(read(junk), None);
        }
    }
}
