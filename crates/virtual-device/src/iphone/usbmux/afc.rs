//! AFC: the files of the phone that hosts may reach.

use std::collections::BTreeMap;
use std::io;

use plist::Dictionary;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::Wire;
use crate::iphone::IPhone;
use crate::iphone::apps::parse_info;
use crate::zip;

const MAGIC: u64 = u64::from_le_bytes(*b"CFA6LPAA");
const HEAD_BYTES: u64 = 40;
/// Largest packet, and largest file.
const PACKET_BYTES_MAX: u64 = 16 * 1024 * 1024;
const FILE_BYTES_MAX: usize = 512 * 1024 * 1024;
const FILES_MAX: usize = 20_000;
const OPEN_MAX: usize = 256;
/// Bytes of an unpacked `Info.plist`.
const INFO_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Operations.
const STATUS: u64 = 1;
const DATA: u64 = 2;
const READ_DIR: u64 = 3;
const REMOVE: u64 = 8;
const MAKE_DIR: u64 = 9;
const FILE_INFO: u64 = 10;
const DEVICE_INFO: u64 = 11;
const OPEN: u64 = 13;
const OPENED: u64 = 14;
const READ: u64 = 15;
const WRITE: u64 = 16;
const SEEK: u64 = 17;
const TELL: u64 = 18;
const TOLD: u64 = 19;
const CLOSE: u64 = 20;
const SET_SIZE: u64 = 21;
const CONNECTION_INFO: u64 = 22;
const RENAME: u64 = 24;
const SET_TIME: u64 = 30;
const REMOVE_ALL: u64 = 34;

/// Statuses.
const SUCCESS: u64 = 0;
const INVALID: u64 = 7;
const NOT_FOUND: u64 = 8;
const IS_DIR: u64 = 9;
const NOT_SUPPORTED: u64 = 15;
const NO_SPACE: u64 = 18;
const NOT_EMPTY: u64 = 33;

/// A tree of files. Paths have no slash at either end; the root is the empty one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Files {
    /// `None` is a folder.
    nodes: BTreeMap<String, Option<Vec<u8>>>,
    wall_ms: u64,
}

impl Default for Files {
    fn default() -> Files {
        let folders = ["", "DCIM", "Downloads", "Photos"];
        Files { nodes: folders.into_iter().map(|name| (name.to_owned(), None)).collect(), wall_ms: 0 }
    }
}

impl Files {
    /// Files that exist only to be read, such as crash reports.
    pub fn of(files: impl IntoIterator<Item = (String, Vec<u8>)>, wall_ms: u64) -> Files {
        let mut nodes: BTreeMap<String, Option<Vec<u8>>> =
            files.into_iter().map(|(name, content)| (name, Some(content))).collect();
        nodes.insert(String::new(), None);
        Files { nodes, wall_ms }
    }

    /// The `Info.plist` of a bundle that is an archive or a folder here.
    pub fn info_of(&self, path: &str) -> Result<Dictionary, &'static str> {
        let path = clean(path);
        let bytes = match self.nodes.get(&path) {
            None => return Err("there is no package at this path"),
            Some(Some(archive)) => {
                let is_info = |name: &[u8]| {
                    let mut parts = name.split(|byte| *byte == b'/');
                    parts.next() == Some(b"Payload".as_slice())
                        && parts.next().is_some_and(|app| app.ends_with(b".app"))
                        && parts.next() == Some(b"Info.plist".as_slice())
                        && parts.next().is_none()
                };
                zip::find(archive, is_info, INFO_BYTES_MAX).ok_or("the package has no Info.plist")?
            }
            Some(None) => match self.nodes.get(&format!("{path}/Info.plist")) {
                Some(Some(bytes)) => bytes.clone(),
                _ => return Err("the bundle has no Info.plist"),
            },
        };
        parse_info(&bytes).ok_or("the Info.plist cannot be read")
    }

    fn list(&self, path: &str) -> Option<Vec<u8>> {
        self.nodes.get(path)?.is_none().then_some(())?;
        let prefix = if path.is_empty() { String::new() } else { format!("{path}/") };
        let mut out = b".\0..\0".to_vec();
        for name in self.nodes.keys().filter_map(|name| name.strip_prefix(&prefix)) {
            if !name.is_empty() && !name.contains('/') {
                out.extend_from_slice(name.as_bytes());
                out.push(0);
            }
        }
        Some(out)
    }

    fn info(&self, path: &str) -> Option<Vec<u8>> {
        let node = self.nodes.get(path)?;
        let size = node.as_ref().map_or(64, Vec::len).to_string();
        let kind = if node.is_none() { "S_IFDIR" } else { "S_IFREG" };
        let time = (self.wall_ms * 1_000_000).to_string();
        Some(pairs(&[
            ("st_size", &size),
            ("st_blocks", "8"),
            ("st_nlink", "1"),
            ("st_ifmt", kind),
            ("st_mtime", &time),
            ("st_birthtime", &time),
        ]))
    }

    fn make_dir(&mut self, path: &str) -> u64 {
        if self.nodes.len() >= FILES_MAX {
            return NO_SPACE;
        }
        // The folders above come with it, as real phones make them.
        let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        for folder in ends.filter_map(|end| path.get(..end)) {
            self.nodes.entry(folder.to_owned()).or_insert(None);
        }
        SUCCESS
    }

    fn remove(&mut self, path: &str, with_contents: bool) -> u64 {
        let prefix = format!("{path}/");
        let has_contents = self.nodes.keys().any(|name| name.starts_with(&prefix));
        match (self.nodes.contains_key(path), has_contents, with_contents) {
            (false, ..) => NOT_FOUND,
            (true, true, false) => NOT_EMPTY,
            _ => {
                self.nodes.retain(|name, _| name != path && !name.starts_with(&prefix));
                SUCCESS
            }
        }
    }

    fn rename(&mut self, from: &str, to: &str) -> u64 {
        match self.nodes.remove(from) {
            Some(node) => {
                self.nodes.insert(to.to_owned(), node);
                SUCCESS
            }
            None => NOT_FOUND,
        }
    }

    /// Opens as `fopen` would: 1 reads, 2 reads and writes, 3 and 4 empty the file, 5 and 6 append.
    fn open(&mut self, path: &str, mode: u64) -> Result<OpenFile, u64> {
        let full = self.nodes.len() >= FILES_MAX;
        match self.nodes.get_mut(path) {
            Some(None) => return Err(IS_DIR),
            Some(Some(content)) => {
                if matches!(mode, 3 | 4) {
                    content.clear();
                }
            }
            None if mode == 1 => return Err(NOT_FOUND),
            None if full => return Err(NO_SPACE),
            None => {
                self.nodes.insert(path.to_owned(), Some(Vec::new()));
            }
        }
        let end = self.content(path).map_or(0, <[u8]>::len);
        Ok(OpenFile { path: path.to_owned(), at: if matches!(mode, 5 | 6) { end } else { 0 } })
    }

    fn content(&self, path: &str) -> Option<&[u8]> {
        self.nodes.get(path)?.as_deref()
    }

    fn write(&mut self, file: &mut OpenFile, bytes: &[u8]) -> u64 {
        let Some(Some(content)) = self.nodes.get_mut(&file.path) else { return NOT_FOUND };
        let end = file.at.saturating_add(bytes.len());
        if end > FILE_BYTES_MAX {
            return NO_SPACE;
        }
        if content.len() < end {
            content.resize(end, 0);
        }
        if let Some(place) = content.get_mut(file.at..end) {
            place.copy_from_slice(bytes);
        }
        file.at = end;
        SUCCESS
    }

    fn set_size(&mut self, file: &OpenFile, size: u64) -> u64 {
        let Some(Some(content)) = self.nodes.get_mut(&file.path) else { return NOT_FOUND };
        match usize::try_from(size) {
            Ok(size) if size <= FILE_BYTES_MAX => {
                content.resize(size, 0);
                SUCCESS
            }
            _ => NO_SPACE,
        }
    }
}

#[derive(Debug)]
struct OpenFile {
    path: String,
    at: usize,
}

struct Packet {
    number: u64,
    operation: u64,
    head: Vec<u8>,
    body: Vec<u8>,
}

/// Where the files of a session are.
pub enum Root {
    /// The phone's media folder, shared by all sessions.
    Media,
    /// Files of this session's own, and what becomes of one that is removed.
    Reports(Files),
}

struct Session<'a> {
    phone: &'a IPhone,
    root: Root,
    open: BTreeMap<u64, OpenFile>,
    next: u64,
}

pub async fn serve(phone: &IPhone, stream: &mut (impl Wire + ?Sized), root: Root) -> io::Result<()> {
    let mut session = Session { phone, root, open: BTreeMap::new(), next: 1 };
    loop {
        let packet = match read(stream).await {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            packet => packet?,
        };
        let (operation, head, body) = session.answer(&packet);
        write(stream, packet.number, operation, &head, &body).await?;
    }
}

impl Session<'_> {
    fn answer(&mut self, packet: &Packet) -> (u64, Vec<u8>, Vec<u8>) {
        let path = clean(&first_text(&packet.head));
        let status = |code: u64| (STATUS, code.to_le_bytes().to_vec(), Vec::new());
        let data = |found: Option<Vec<u8>>| match found {
            Some(found) => (DATA, Vec::new(), found),
            None => status(NOT_FOUND),
        };
        match packet.operation {
            READ_DIR => data(self.with(|files| files.list(&path))),
            FILE_INFO => data(self.with(|files| files.info(&path))),
            DEVICE_INFO => data(Some(pairs(&[
                ("Model", &self.phone.config().product_type),
                ("FSTotalBytes", "127989493760"),
                ("FSFreeBytes", "84000000000"),
                ("FSBlockSize", "4096"),
            ]))),
            CONNECTION_INFO => data(Some(Vec::new())),
            MAKE_DIR => status(self.with(|files| files.make_dir(&path))),
            REMOVE | REMOVE_ALL => {
                let code = self.with(|files| files.remove(&path, packet.operation == REMOVE_ALL));
                if let (SUCCESS, Root::Reports(_)) = (code, &self.root) {
                    self.phone.device(|device| device.removed_reports.push(path));
                }
                status(code)
            }
            RENAME => {
                let to = packet.head.split(|byte| *byte == 0).nth(1).unwrap_or_default();
                let to = clean(&String::from_utf8_lossy(to));
                status(self.with(|files| files.rename(&path, &to)))
            }
            SET_TIME => status(SUCCESS),
            _ => self.answer_file(packet),
        }
    }

    /// Operations on an open file, and opening one.
    fn answer_file(&mut self, packet: &Packet) -> (u64, Vec<u8>, Vec<u8>) {
        let status = |code: u64| (STATUS, code.to_le_bytes().to_vec(), Vec::new());
        let word = |at: usize| {
            let bytes = packet.head.get(at * 8..at * 8 + 8)?.try_into().ok()?;
            Some(u64::from_le_bytes(bytes))
        };
        let Some(first) = word(0) else { return status(NOT_SUPPORTED) };
        if packet.operation == OPEN {
            let path = clean(&first_text(packet.head.get(8..).unwrap_or_default()));
            if self.open.len() >= OPEN_MAX {
                return status(NO_SPACE);
            }
            return match self.with(|files| files.open(&path, first)) {
                Ok(file) => {
                    let number = self.next;
                    self.next += 1;
                    self.open.insert(number, file);
                    (OPENED, number.to_le_bytes().to_vec(), Vec::new())
                }
                Err(code) => status(code),
            };
        }
        let Some(mut file) = self.open.remove(&first) else { return status(INVALID) };
        let answer = match packet.operation {
            CLOSE => return status(SUCCESS),
            READ => {
                let most = word(1).unwrap_or(0).min(PACKET_BYTES_MAX - HEAD_BYTES) as usize;
                let read = self.with(|files| {
                    let content = files.content(&file.path)?;
                    let from = content.get(file.at..).unwrap_or_default();
                    Some(from.get(..most).unwrap_or(from).to_vec())
                });
                file.at += read.as_ref().map_or(0, Vec::len);
                read.map_or_else(|| status(NOT_FOUND), |read| (DATA, Vec::new(), read))
            }
            WRITE => status(self.with(|files| files.write(&mut file, &packet.body))),
            TELL => (TOLD, (file.at as u64).to_le_bytes().to_vec(), Vec::new()),
            SEEK => {
                let length = self.with(|files| files.content(&file.path).map_or(0, <[u8]>::len));
                let base = match word(1) {
                    Some(1) => file.at,
                    Some(2) => length,
                    _ => 0,
                };
                let offset = word(2).unwrap_or(0).cast_signed();
                let at = (base as i64).checked_add(offset).and_then(|at| usize::try_from(at).ok());
                file.at = at.unwrap_or(file.at).min(FILE_BYTES_MAX);
                status(if at.is_some() { SUCCESS } else { INVALID })
            }
            SET_SIZE => status(self.with(|files| files.set_size(&file, word(1).unwrap_or(0)))),
            _ => status(NOT_SUPPORTED),
        };
        self.open.insert(first, file);
        answer
    }

    fn with<R>(&mut self, act: impl FnOnce(&mut Files) -> R) -> R {
        match &mut self.root {
            Root::Media => self.phone.device(|device| act(&mut device.files)),
            Root::Reports(files) => act(files),
        }
    }
}

fn first_text(bytes: &[u8]) -> String {
    let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(text).into_owned()
}

/// `/a//./b/` is `a/b`; nothing leads out of the folder.
fn clean(path: &str) -> String {
    let mut parts = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

fn pairs(pairs: &[(&str, &str)]) -> Vec<u8> {
    pairs.iter().flat_map(|(key, value)| [key.as_bytes(), b"\0", value.as_bytes(), b"\0"].concat()).collect()
}

async fn read(stream: &mut (impl Wire + ?Sized)) -> io::Result<Packet> {
    let magic = stream.read_u64_le().await?;
    let whole = stream.read_u64_le().await?;
    let head = stream.read_u64_le().await?;
    let number = stream.read_u64_le().await?;
    let operation = stream.read_u64_le().await?;
    if magic != MAGIC || whole > PACKET_BYTES_MAX || head < HEAD_BYTES || head > whole {
        return Err(io::Error::other("no packet"));
    }
    let mut head_bytes = vec![0; (head - HEAD_BYTES) as usize];
    stream.read_exact(&mut head_bytes).await?;
    let mut body = vec![0; (whole - head) as usize];
    stream.read_exact(&mut body).await?;
    Ok(Packet { number, operation, head: head_bytes, body })
}

async fn write(
    stream: &mut (impl Wire + ?Sized),
    number: u64,
    operation: u64,
    head: &[u8],
    body: &[u8],
) -> io::Result<()> {
    let this = HEAD_BYTES + head.len() as u64;
    let words = [MAGIC, this + body.len() as u64, this, number, operation].map(u64::to_le_bytes).concat();
    stream.write_all(&[words.as_slice(), head, body].concat()).await?;
    stream.flush().await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_inside() {
        for (path, cleaned) in [("/", ""), ("/a//./b/", "a/b"), ("../../etc", "etc"), ("a/../..", "")] {
            assert_eq!(clean(path), cleaned);
        }
    }

    #[test]
    fn files_are_written_listed_and_removed() {
        let mut files = Files::default();
        assert_eq!(files.make_dir("PublicStaging/x"), SUCCESS);
        let mut file = files.open("PublicStaging/a.ipa", 3).expect("a file");
        assert_eq!((files.write(&mut file, b"abc"), files.write(&mut file, b"d")), (SUCCESS, SUCCESS));
        assert_eq!(files.content("PublicStaging/a.ipa"), Some(b"abcd".as_slice()));
        assert_eq!(files.list("PublicStaging"), Some(b".\0..\0a.ipa\0x\0".to_vec()));
        assert_eq!(
            (files.remove("PublicStaging", false), files.remove("PublicStaging", true)),
            (NOT_EMPTY, SUCCESS)
        );
        assert_eq!(files.list("PublicStaging"), None);
        assert_eq!(files.open("nothing", 1).map(|_| ()), Err(NOT_FOUND));
        assert_eq!(files.open("DCIM", 1).map(|_| ()), Err(IS_DIR));
    }
}
