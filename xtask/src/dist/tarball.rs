//! A tar file, gzipped, whose bytes follow from its entries: sorted, with one owner, one time and no system in it.

use std::io::Write as _;

use flate2::{Compression, GzBuilder};

use super::entry::Entry;

const BLOCK_BYTES: usize = 512;
const NAME_BYTES_MAX: usize = 100;
/// 1 January 2026. A time of 0 makes some programs warn.
const TIME_SECONDS: u64 = 1_767_225_600;
/// "Unknown" in the header of gzip.
const NO_SYSTEM: u8 = 255;
/// Eleven octal digits.
const FILE_BYTES_MAX: u64 = 0o77_777_777_777;

pub fn gzipped(entries: &[Entry]) -> Result<Vec<u8>, String> {
    let mut sorted: Vec<&Entry> = entries.iter().collect();
    sorted.sort_by(|a, b| a.name.cmp(&b.name));
    let mut gzip =
        GzBuilder::new().mtime(0).operating_system(NO_SYSTEM).write(Vec::new(), Compression::best());
    let mut write = |bytes: &[u8]| gzip.write_all(bytes).map_err(|error| error.to_string());
    for entry in sorted {
        write(&header(entry)?)?;
        write(&entry.bytes)?;
        write(&vec![0; entry.bytes.len().next_multiple_of(BLOCK_BYTES) - entry.bytes.len()])?;
    }
    write(&[0; 2 * BLOCK_BYTES])?;
    gzip.finish().map_err(|error| error.to_string())
}

/// The header of a plain file in the format ustar of POSIX.
fn header(entry: &Entry) -> Result<[u8; BLOCK_BYTES], String> {
    let name = entry.name.as_bytes();
    let size = entry.bytes.len() as u64;
    if name.len() > NAME_BYTES_MAX || size > FILE_BYTES_MAX {
        return Err(format!("{} has a name or a length that tar cannot hold", entry.name));
    }
    let mut block = [0; BLOCK_BYTES];
    let mut put = |at: usize, bytes: &[u8]| block[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, name);
    put(100, format!("{:07o}", entry.mode).as_bytes());
    // User and group 0.
    put(108, b"0000000");
    put(116, b"0000000");
    put(124, format!("{size:011o}").as_bytes());
    put(136, format!("{TIME_SECONDS:011o}").as_bytes());
    // The sum counts its own field as spaces.
    put(148, b"        ");
    put(156, b"0");
    put(257, b"ustar\x0000");
    let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
    block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    Ok(block)
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;
    use crate::tidy::tree::Tree;

    fn entries() -> Vec<Entry> {
        vec![Entry::program("b/run", b"#!/bin/sh\n".to_vec()), Entry::file("a.txt", vec![b'x'; 513])]
    }

    #[test]
    fn the_same_entries_give_the_same_bytes_in_any_order() {
        let mut turned = entries();
        turned.reverse();
        assert_eq!(gzipped(&entries()).unwrap(), gzipped(&turned).unwrap());
        let mut changed = entries();
        changed[1].bytes[0] = b'y';
        assert_ne!(gzipped(&entries()).unwrap(), gzipped(&changed).unwrap());
    }

    #[test]
    fn tar_reads_what_was_written() {
        let tree = Tree::new("tarball");
        std::fs::write(tree.root().join("a.tar.gz"), gzipped(&entries()).unwrap()).unwrap();
        let list = ["--utc", "--numeric-owner", "-tvzf", "a.tar.gz"];
        let told = Command::new("tar").args(list).current_dir(tree.root()).output().unwrap();
        let told = String::from_utf8(told.stdout).unwrap();
        let words: Vec<Vec<&str>> = told.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(words[0], ["-rw-r--r--", "0/0", "513", "2026-01-01", "00:00", "a.txt"]);
        assert_eq!(words[1], ["-rwxr-xr-x", "0/0", "10", "2026-01-01", "00:00", "b/run"]);
        assert_eq!(words.len(), 2);
    }

    #[test]
    fn a_name_that_does_not_fit_is_refused() {
        assert!(gzipped(&[Entry::file(&"x".repeat(101), Vec::new())]).is_err());
    }
}
