//! App files as clients send them: an `.ipa` (zip), or a folder `.app` packed with tar and gzip.

use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;
use plist::Dictionary;

use crate::iphone::apps::{parse_info, read_info};
use crate::zip;

/// Largest `Info.plist`.
const INFO_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// Largest archive, unpacked, that is searched.
const UNPACKED_BYTES_MAX: u64 = 4 * 1024 * 1024 * 1024;
const ENTRIES_MAX: usize = 100_000;
/// Largest app file of this machine that is read.
const FILE_BYTES_MAX: u64 = 2 * 1024 * 1024 * 1024;
const BLOCK: usize = 512;

/// Reads the `Info.plist` of the app in an archive.
pub fn info_in(archive: &[u8]) -> Option<Dictionary> {
    let plist = if archive.starts_with(b"PK") {
        zip::find(archive, is_info, INFO_BYTES_MAX)
    } else if archive.starts_with(&[0x1f, 0x8b]) {
        in_tar(GzDecoder::new(archive).take(UNPACKED_BYTES_MAX))
    } else {
        in_tar(archive)
    };
    parse_info(&plist?)
}

/// Reads the `Info.plist` of a bundle or an app file of this machine.
pub fn info_at(path: &Path) -> Option<Dictionary> {
    let metadata = std::fs::metadata(path).ok()?;
    if metadata.is_dir() {
        return read_info(path).ok();
    }
    if metadata.len() > FILE_BYTES_MAX {
        return None;
    }
    info_in(&std::fs::read(path).ok()?)
}

/// True for the app's own `Info.plist`, and not for one of a framework or an extension inside it.
fn is_info(name: &[u8]) -> bool {
    let Ok(name) = str::from_utf8(name) else { return false };
    let mut parts = name.trim_start_matches("./").split('/').filter(|part| !part.is_empty());
    let first = parts.next().filter(|part| *part != "Payload").or_else(|| parts.next());
    first.is_some_and(|part| part.ends_with(".app"))
        && parts.next() == Some("Info.plist")
        && parts.next().is_none()
}

/// Walks the 512-byte headers of a tar archive.
fn in_tar(mut tar: impl Read) -> Option<Vec<u8>> {
    for _ in 0..ENTRIES_MAX {
        let mut header = [0; BLOCK];
        tar.read_exact(&mut header).ok()?;
        let name = header.get(..100)?.split(|byte| *byte == 0).next()?;
        if name.is_empty() {
            return None;
        }
        let size = octal(header.get(124..136)?)?;
        let padded = size.div_ceil(BLOCK as u64) * BLOCK as u64;
        let prefix = header.get(345..500)?.split(|byte| *byte == 0).next()?;
        let has_prefix = header.get(257..262) == Some(b"ustar") && !prefix.is_empty();
        let path = if has_prefix { [prefix, b"/", name].concat() } else { name.to_vec() };
        if is_info(&path) && size <= INFO_BYTES_MAX {
            let mut content = Vec::new();
            tar.take(size).read_to_end(&mut content).ok()?;
            return Some(content);
        }
        std::io::copy(&mut tar.by_ref().take(padded), &mut std::io::sink()).ok()?;
    }
    None
}

fn octal(field: &[u8]) -> Option<u64> {
    let text = str::from_utf8(field).ok()?;
    u64::from_str_radix(text.trim_matches(['\0', ' ']), 8).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_apps_own_plist_counts() {
        for name in ["Payload/Shop.app/Info.plist", "Shop.app/Info.plist", "./Shop.app/Info.plist"] {
            assert!(is_info(name.as_bytes()), "{name}");
        }
        for name in [
            "Info.plist",
            "Shop.app/Frameworks/A.framework/Info.plist",
            "Payload/Shop.app/PlugIns/W.appex/Info.plist",
            "Shop.app",
            "Payload/Info.plist",
        ] {
            assert!(!is_info(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn junk_has_no_plist() {
        for junk in [&b""[..], b"PK\x03\x04", &[0x1f, 0x8b, 8, 0], &[0xff; 2000], &[0; 1024]] {
            assert!(info_in(junk).is_none());
        }
    }
}
