//! A zip file whose bytes follow from its entries, with the modes that make programs of files on Unix. The helper's
//! jar has a writer of its own: there the place of the bytes matters and nothing may be packed.

use std::io::Write as _;

use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};

use super::entry::Entry;

const LOCAL: u32 = 0x0403_4b50;
const CENTRAL: u32 = 0x0201_4b50;
const END: u32 = 0x0605_4b50;
const VERSION: u16 = 20;
/// The high byte says that modes are those of Unix.
const MADE_BY: u16 = 3 << 8 | VERSION;
const DEFLATED: u16 = 8;
/// 1 January 1980, the first day that the format knows.
const DATE: u16 = 0x0021;
/// A plain file, in the words of Unix.
const PLAIN_FILE: u32 = 0o100_000;

pub fn zipped(entries: &[Entry]) -> Result<Vec<u8>, String> {
    let mut sorted: Vec<&Entry> = entries.iter().collect();
    sorted.sort_by(|a, b| a.name.cmp(&b.name));
    let (mut zip, mut central) = (Vec::new(), Vec::new());
    for entry in &sorted {
        let too_long = |_| format!("{} is too long for a zip", entry.name);
        let packed = deflated(&entry.bytes)?;
        let facts = facts(entry, &packed)?;
        let at = u32::try_from(zip.len()).map_err(too_long)?;
        zip.extend(LOCAL.to_le_bytes());
        zip.extend(&facts);
        // No extra field.
        zip.extend([0; 2]);
        zip.extend(entry.name.as_bytes());
        zip.extend(packed);
        central.extend(CENTRAL.to_le_bytes());
        central.extend(MADE_BY.to_le_bytes());
        central.extend(&facts);
        // No extra field, no comment, disk 0, no attributes of the inside.
        central.extend([0; 2 + 2 + 2 + 2]);
        central.extend(((PLAIN_FILE | entry.mode) << 16).to_le_bytes());
        central.extend(at.to_le_bytes());
        central.extend(entry.name.as_bytes());
    }
    let too_long = |_| "the entries are too long for a zip".to_owned();
    let at = u32::try_from(zip.len()).map_err(too_long)?;
    let count = u16::try_from(sorted.len()).map_err(too_long)?;
    let central_bytes = u32::try_from(central.len()).map_err(too_long)?;
    zip.extend(central);
    zip.extend(END.to_le_bytes());
    zip.extend([0; 4]);
    zip.extend([count.to_le_bytes(), count.to_le_bytes()].concat());
    zip.extend([central_bytes.to_le_bytes(), at.to_le_bytes()].concat());
    zip.extend([0; 2]);
    Ok(zip)
}

/// The fields that both headers have, from the needed version to the length of the name.
fn facts(entry: &Entry, packed: &[u8]) -> Result<Vec<u8>, String> {
    let too_long = |_| format!("{} is too long for a zip", entry.name);
    let mut crc = Crc::new();
    crc.update(&entry.bytes);
    let (flags, time) = (0_u16, 0_u16);
    let mut facts: Vec<u8> =
        [VERSION, flags, DEFLATED, time, DATE].into_iter().flat_map(u16::to_le_bytes).collect();
    facts.extend(crc.sum().to_le_bytes());
    facts.extend(u32::try_from(packed.len()).map_err(too_long)?.to_le_bytes());
    facts.extend(u32::try_from(entry.bytes.len()).map_err(too_long)?.to_le_bytes());
    facts.extend(u16::try_from(entry.name.len()).map_err(too_long)?.to_le_bytes());
    Ok(facts)
}

fn deflated(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let mut deflate = DeflateEncoder::new(Vec::new(), Compression::best());
    deflate.write_all(bytes).and_then(|()| deflate.finish()).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;
    use crate::command::on_path;
    use crate::tidy::tree::Tree;

    fn entries() -> Vec<Entry> {
        let text = "the same words again and again, ".repeat(100);
        vec![Entry::program("server/run", text.into_bytes()), Entry::file("manifest.json", b"{}".to_vec())]
    }

    #[test]
    fn the_same_entries_give_the_same_bytes_in_any_order() {
        let mut turned = entries();
        turned.reverse();
        assert_eq!(zipped(&entries()).unwrap(), zipped(&turned).unwrap());
    }

    #[test]
    fn python_reads_what_was_written() {
        // Every machine that builds this has a Python for the third-party parts; without one the bundle's own tool
        // reads the zip in the interop test.
        let Some(python) = on_path("python3") else { return };
        let tree = Tree::new("zip");
        std::fs::write(tree.root().join("a.zip"), zipped(&entries()).unwrap()).unwrap();
        let program = "import zipfile\nz = zipfile.ZipFile('a.zip')\nassert z.testzip() is None\n\
            for i in z.infolist(): print(i.filename, oct(i.external_attr >> 16), i.file_size, len(z.read(i)))";
        let told = Command::new(python).args(["-c", program]).current_dir(tree.root()).output().unwrap();
        let text = String::from_utf8_lossy(&told.stdout);
        assert_eq!(text.trim(), "manifest.json 0o100644 2 2\nserver/run 0o100755 3200 3200", "{told:?}");
    }
}
