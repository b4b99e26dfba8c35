//! A file on its way into an archive.

const FILE_MODE: u32 = 0o644;
const PROGRAM_MODE: u32 = 0o755;

#[derive(Debug, Clone)]
pub struct Entry {
    /// With slashes, also on Windows.
    pub name: String,
    pub mode: u32,
    pub bytes: Vec<u8>,
}

impl Entry {
    pub fn file(name: &str, bytes: Vec<u8>) -> Entry {
        Entry { name: name.to_owned(), mode: FILE_MODE, bytes }
    }

    pub fn program(name: &str, bytes: Vec<u8>) -> Entry {
        Entry { mode: PROGRAM_MODE, ..Entry::file(name, bytes) }
    }

    /// The same file in a folder of the archive.
    pub fn below(mut self, folder: &str) -> Entry {
        self.name = format!("{folder}/{}", self.name);
        self
    }
}
