//! Which devices were sent to a proxy, on disk: written before a device is changed and removed after it is as it was, so
//! that a later start can put right what a killed one left.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

const FOLDER: &str = "proxied";
/// Devices on record.
const ENTRIES_MAX: usize = 100;
/// One entry; a larger file is not read.
const ENTRY_BYTES_MAX: u64 = 8 * 1024;
/// Bytes of a device's id that go into the name of its file.
const NAME_BYTES_MAX: usize = 100;

/// A device that is, or was, sent to a proxy of ours.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    pub platform: String,
    pub device: String,
    /// The proxy that was set before, as `host:port`.
    pub former: Option<String>,
    /// The port of the device that leads to the proxy.
    pub device_port: u16,
    /// The proxy's port on this machine, and what it answers to who asks for its identity.
    pub host_port: u16,
    pub token: String,
}

impl Entry {
    /// The proxy that the device was told to use.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.device_port)
    }
}

#[derive(Debug, Clone)]
pub struct Journal {
    folder: PathBuf,
}

impl Journal {
    pub fn in_folder(state: &Path) -> Journal {
        Journal { folder: state.join(FOLDER) }
    }

    /// Writes in one step: a start that reads at the same time sees all of an entry or nothing.
    pub fn write(&self, entry: &Entry) -> io::Result<()> {
        std::fs::create_dir_all(&self.folder)?;
        let file = self.file(&entry.platform, &entry.device);
        if !file.exists() && self.files().len() >= ENTRIES_MAX {
            return Err(io::Error::other(format!("{} has {ENTRIES_MAX} entries", self.folder.display())));
        }
        let temporary = file.with_extension(format!("new-{}", std::process::id()));
        let mut out = std::fs::File::create(&temporary)?;
        out.write_all(&serde_json::to_vec(entry).map_err(io::Error::other)?)?;
        out.sync_all()?;
        std::fs::rename(&temporary, file)
    }

    pub fn read(&self, platform: &str, device: &str) -> Option<Entry> {
        let entry = read(&self.file(platform, device))?;
        (entry.device == device && entry.platform == platform).then_some(entry)
    }

    /// Every entry that can be read.
    pub fn all(&self) -> Vec<Entry> {
        self.files().iter().take(ENTRIES_MAX).filter_map(|file| read(file)).collect()
    }

    pub fn remove(&self, entry: &Entry) -> io::Result<()> {
        match std::fs::remove_file(self.file(&entry.platform, &entry.device)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    fn files(&self) -> Vec<PathBuf> {
        let Ok(found) = std::fs::read_dir(&self.folder) else { return Vec::new() };
        let files = found.filter_map(|entry| Some(entry.ok()?.path()));
        files
            .filter(|file| file.extension().is_some_and(|ending| ending == "json"))
            .take(ENTRIES_MAX + 1)
            .collect()
    }

    /// A device's id may hold anything, so its file is named by its bytes in hexadecimal.
    fn file(&self, platform: &str, device: &str) -> PathBuf {
        let bytes = device.bytes().take(NAME_BYTES_MAX);
        let name: String = bytes.map(|byte| format!("{byte:02x}")).collect();
        self.folder.join(format!("{platform}-{name}.json"))
    }
}

fn read(file: &Path) -> Option<Entry> {
    let size = std::fs::metadata(file).ok()?.len();
    let text = if size <= ENTRY_BYTES_MAX { std::fs::read(file).ok()? } else { return None };
    serde_json::from_slice(&text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_kept_until_it_is_removed() {
        let folder = std::env::temp_dir().join(format!("journal-{}", std::process::id()));
        let journal = Journal::in_folder(&folder);
        let entry = |device: &str| Entry {
            platform: "android".into(),
            device: device.into(),
            former: Some("10.0.0.5:8080".into()),
            device_port: 40_000,
            host_port: 50_000,
            token: "t".into(),
        };
        assert_eq!(journal.all(), []);
        for device in ["../../etc/passwd", "192.168.1.20:5555", "a/b\\c"] {
            journal.write(&entry(device)).unwrap();
            assert_eq!(journal.read("android", device), Some(entry(device)), "SE-02");
        }
        assert_eq!(journal.all().len(), 3);
        std::fs::write(folder.join(FOLDER).join("broken.json"), "{").unwrap();
        std::fs::write(folder.join(FOLDER).join("android-00.json.new-1"), "{}").unwrap();
        assert_eq!(journal.all().len(), 3, "what cannot be read is not believed");
        journal.remove(&entry("a/b\\c")).unwrap();
        journal.remove(&entry("a/b\\c")).unwrap();
        assert_eq!((journal.all().len(), journal.read("android", "a/b\\c")), (2, None));
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
