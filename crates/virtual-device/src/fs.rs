//! The phone's files, in memory.

use std::collections::BTreeMap;

use bytes::Bytes;

/// All file contents together.
pub const TOTAL_BYTES_MAX: usize = 512 * 1024 * 1024;
const ENTRIES_MAX: usize = 10_000;
const PATH_BYTES_MAX: usize = 4096;

/// Links that are followed on the way to a file.
const LINKS_MAX: usize = 8;
/// The bits of a mode that say what kind of file it is, and those of a symbolic link.
const KIND: u32 = 0o170_000;
const LINK: u32 = 0o120_000;
const DEVICE: u32 = 0o020_000;

/// Marks the folder of an app in paths of a `run-as` shell; clients cannot type it.
const PRIVATE: char = '\u{1}';
const WRITABLE: [&str; 2] = ["/data/local/tmp", "/storage/emulated/0"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FsError {
    NotFound,
    Denied,
    ReadOnly,
    IsDirectory,
    NotDirectory,
    NotEmpty,
    Exists,
    NoSpace,
    NameTooLong,
}

impl FsError {
    pub fn text(self) -> &'static str {
        match self {
            FsError::NotFound => "No such file or directory",
            FsError::Denied => "Permission denied",
            FsError::ReadOnly => "Read-only file system",
            FsError::IsDirectory => "Is a directory",
            FsError::NotDirectory => "Not a directory",
            FsError::NotEmpty => "Directory not empty",
            FsError::Exists => "File exists",
            FsError::NoSpace => "No space left on device",
            FsError::NameTooLong => "File name too long",
        }
    }

    pub fn errno(self) -> u32 {
        match self {
            FsError::NotFound => 2,
            FsError::Denied => 13,
            FsError::Exists => 17,
            FsError::NotDirectory => 20,
            FsError::IsDirectory => 21,
            FsError::NoSpace => 28,
            FsError::ReadOnly => 30,
            FsError::NameTooLong => 36,
            FsError::NotEmpty => 39,
        }
    }
}

#[derive(Debug, Clone)]
pub struct Node {
    /// `None` is a directory.
    pub data: Option<Bytes>,
    pub mode: u32,
    pub mtime_s: u32,
}

impl Node {
    pub fn is_dir(&self) -> bool {
        self.data.is_none()
    }

    pub fn is_link(&self) -> bool {
        self.mode & KIND == LINK
    }

    /// Returns true for a character device, which belongs to root and to a group of the shell.
    pub fn is_device(&self) -> bool {
        self.mode & KIND == DEVICE
    }

    pub fn size(&self) -> u64 {
        self.data.as_ref().map_or(4096, |d| d.len() as u64)
    }
}

#[derive(Debug)]
pub struct Fs {
    nodes: BTreeMap<String, Node>,
}

impl Fs {
    pub fn new(now_s: u32) -> Fs {
        let mut fs = Fs { nodes: BTreeMap::new() };
        let directories = [
            "/",
            "/data",
            "/data/local",
            "/data/local/tmp",
            "/data/app",
            "/data/data",
            "/storage",
            "/storage/emulated",
            "/storage/emulated/0",
            "/storage/emulated/0/Download",
            "/storage/emulated/0/DCIM",
            "/storage/emulated/0/Pictures",
            "/storage/emulated/0/Android",
            "/system",
            "/system/bin",
            "/system/etc",
            "/dev",
            "/dev/input",
            "/proc",
        ];
        for path in directories {
            fs.nodes.insert(path.to_owned(), Node { data: None, mode: 0o040_771, mtime_s: now_s });
        }
        let hosts = Bytes::from_static(b"127.0.0.1       localhost\n::1             ip6-localhost\n");
        fs.nodes.insert(
            "/system/etc/hosts".to_owned(),
            Node { data: Some(hosts), mode: 0o100_644, mtime_s: now_s },
        );
        let tool = Bytes::from_static(b"\x7fELF\x02\x01\x01");
        for name in crate::shell::commands::PROGRAMS {
            let node = Node { data: Some(tool.clone()), mode: 0o100_755, mtime_s: now_s };
            fs.nodes.insert(format!("/system/bin/{name}"), node);
        }
        fs
    }

    /// Adds a file that only the system may change.
    pub fn install(&mut self, path: &str, data: Bytes, now_s: u32) {
        if let Some((parent, _)) = path.rsplit_once('/') {
            self.nodes.insert(parent.to_owned(), Node { data: None, mode: 0o040_771, mtime_s: now_s });
        }
        self.nodes.insert(path.to_owned(), Node { data: Some(data), mode: 0o100_644, mtime_s: now_s });
    }

    pub fn add_device(&mut self, path: &str, mode: u32, now_s: u32) {
        self.nodes.insert(path.to_owned(), Node { data: Some(Bytes::new()), mode, mtime_s: now_s });
    }

    /// Writes the private folders and the preferences of an app.
    pub fn keep_private(&mut self, package: &str, preferences: String, now_s: u32) {
        let root = private(package);
        for folder in ["", "/cache", "/code_cache", "/files", "/shared_prefs"] {
            let path = format!("{root}{folder}");
            self.nodes.entry(path).or_insert(Node { data: None, mode: 0o040_771, mtime_s: now_s });
        }
        let path = format!("{root}/shared_prefs/{package}_preferences.xml");
        let data = Some(Bytes::from(preferences));
        self.nodes.insert(path, Node { data, mode: 0o100_660, mtime_s: now_s });
    }

    /// Deletes the private folders of an app after `pm clear` or uninstalling.
    pub fn forget_private(&mut self, package: &str) {
        self.uninstall(&private(package));
    }

    pub fn uninstall(&mut self, directory: &str) {
        let prefix = format!("{directory}/");
        self.nodes.retain(|path, _| path != directory && !path.starts_with(&prefix));
    }

    /// Returns the file that a path leads to, through links.
    pub fn get(&self, path: &str) -> Result<&Node, FsError> {
        self.nodes.get(&self.real(path)).filter(|node| !node.is_link()).ok_or(FsError::NotFound)
    }

    /// Returns the file or link that a path names; only links on the way are followed.
    pub fn get_link(&self, path: &str) -> Result<&Node, FsError> {
        self.nodes.get(&self.place(path)).ok_or(FsError::NotFound)
    }

    /// Returns every path with its node.
    pub fn iter(&self) -> impl Iterator<Item = (&String, &Node)> {
        self.nodes.iter()
    }

    pub fn link_target(&self, path: &str) -> Option<String> {
        let node = self.get_link(path).ok().filter(|node| node.is_link())?;
        node.data.as_ref().map(|target| String::from_utf8_lossy(target).into_owned())
    }

    /// Resolves a path by following every link.
    pub fn real(&self, path: &str) -> String {
        let mut path = join("/", path);
        for _ in 0..LINKS_MAX {
            match self.first_link(&path) {
                Some(next) => path = next,
                None => break,
            }
        }
        path
    }

    /// Resolves a path without following its last component.
    fn place(&self, path: &str) -> String {
        let path = join("/", path);
        match path.rsplit_once('/') {
            Some((parent, name)) if !parent.is_empty() => join("/", &format!("{}/{name}", self.real(parent))),
            _ => path,
        }
    }

    /// Replaces the first link of a path by its target.
    fn first_link(&self, path: &str) -> Option<String> {
        let ends = path.match_indices('/').map(|(at, _)| at).skip(1).chain([path.len()]);
        for end in ends {
            let node = self.nodes.get(&path[..end]).filter(|node| node.is_link());
            if let Some(target) = node.and_then(|node| node.data.as_ref()) {
                let target = String::from_utf8_lossy(target);
                return Some(join(parent(&path[..end]), &format!("{}{}", shown(&target), &path[end..])));
            }
        }
        None
    }

    pub fn symlink(&mut self, target: &str, path: &str, mtime_s: u32) -> Result<(), FsError> {
        let path = self.place(path);
        self.check_writable(&path)?;
        if path.starts_with("/storage/") {
            return Err(FsError::Denied);
        }
        if self.nodes.contains_key(&path) {
            return Err(FsError::Exists);
        }
        if self.nodes.len() >= ENTRIES_MAX || target.len() > PATH_BYTES_MAX {
            return Err(FsError::NoSpace);
        }
        let data = Some(Bytes::copy_from_slice(target.as_bytes()));
        self.nodes.insert(path, Node { data, mode: LINK | 0o777, mtime_s });
        Ok(())
    }

    pub fn chmod(&mut self, path: &str, mode: u32) -> Result<(), FsError> {
        let path = self.real(path);
        if !self.nodes.contains_key(&path) {
            return Err(FsError::NotFound);
        }
        self.check_writable(&path)?;
        if let Some(node) = self.nodes.get_mut(&path) {
            node.mode = node.mode & KIND | mode & 0o7777;
        }
        Ok(())
    }

    /// Checks that a new file could be created there, its directories included.
    pub fn check_place(&self, path: &str) -> Result<(), FsError> {
        let path = self.real(path);
        match self.check_writable(&path) {
            Err(FsError::NotFound) => Ok(()),
            other => other,
        }
    }

    pub fn read(&self, path: &str) -> Result<Bytes, FsError> {
        self.get(path)?.data.clone().ok_or(FsError::IsDirectory)
    }

    pub fn write(&mut self, path: &str, data: Bytes, mode: u32, mtime_s: u32) -> Result<(), FsError> {
        let path = self.real(path);
        self.check_writable(&path)?;
        match self.nodes.get(&path) {
            Some(node) if node.is_dir() => return Err(FsError::IsDirectory),
            None if self.nodes.len() >= ENTRIES_MAX => return Err(FsError::NoSpace),
            _ => {}
        }
        let old = self.nodes.get(&path).map_or(0, |n| n.size() as usize);
        if self.total_bytes().saturating_sub(old).saturating_add(data.len()) > TOTAL_BYTES_MAX {
            return Err(FsError::NoSpace);
        }
        self.nodes.insert(path, Node { data: Some(data), mode: 0o100_000 | (mode & 0o777), mtime_s });
        Ok(())
    }

    pub fn append(&mut self, path: &str, more: &[u8], mtime_s: u32) -> Result<(), FsError> {
        let mut data = match self.read(path) {
            Ok(data) => Vec::from(data),
            Err(FsError::NotFound) => Vec::new(),
            Err(other) => return Err(other),
        };
        data.extend_from_slice(more);
        self.write(path, data.into(), 0o644, mtime_s)
    }

    pub fn make_dir(&mut self, path: &str, parents: bool, mtime_s: u32) -> Result<(), FsError> {
        let path = self.real(path);
        if let Some(node) = self.nodes.get(&path) {
            return if parents && node.is_dir() { Ok(()) } else { Err(FsError::Exists) };
        }
        let above = parent(&path).to_owned();
        if parents && !self.nodes.contains_key(&above) {
            self.make_dir(&above, true, mtime_s)?;
        }
        self.check_writable(&path)?;
        if self.nodes.len() >= ENTRIES_MAX {
            return Err(FsError::NoSpace);
        }
        self.nodes.insert(path, Node { data: None, mode: 0o040_770, mtime_s });
        Ok(())
    }

    pub fn remove(&mut self, path: &str, recursive: bool) -> Result<(), FsError> {
        let path = self.place(path);
        let is_dir = self.nodes.get(&path).ok_or(FsError::NotFound)?.is_dir();
        if is_dir && !recursive {
            return Err(FsError::IsDirectory);
        }
        self.check_writable(&path)?;
        self.uninstall(&path);
        Ok(())
    }

    pub fn rename(&mut self, from: &str, to: &str) -> Result<(), FsError> {
        let (from, to) = (self.place(from), self.place(to));
        if self.get_link(&from)?.is_dir() && (to == from || to.starts_with(&format!("{from}/"))) {
            return Err(FsError::Exists);
        }
        self.check_writable(&from)?;
        self.check_writable(&to)?;
        let prefix = format!("{from}/");
        let moved: Vec<String> =
            self.nodes.keys().filter(|p| **p == from || p.starts_with(&prefix)).cloned().collect();
        for path in moved {
            if let Some(node) = self.nodes.remove(&path) {
                self.nodes.insert(format!("{to}{}", &path[from.len()..]), node);
            }
        }
        Ok(())
    }

    /// Returns the names and nodes directly in a directory, sorted.
    pub fn list(&self, path: &str) -> Result<Vec<(String, Node)>, FsError> {
        let path = self.real(path);
        if !self.get(&path)?.is_dir() {
            return Err(FsError::NotDirectory);
        }
        if path == "/data" || path == "/data/app" || path == "/data/data" {
            return Err(FsError::Denied);
        }
        let prefix = if path == "/" { path } else { format!("{path}/") };
        let inside = self.nodes.range(prefix.clone()..).take_while(|(p, _)| p.starts_with(&prefix));
        let direct = inside.filter_map(|(p, node)| {
            let name = &p[prefix.len()..];
            (!name.is_empty() && !name.contains('/')).then(|| (name.to_owned(), node.clone()))
        });
        Ok(direct.collect())
    }

    /// Returns every file below a directory.
    pub fn files_below(&self, directory: &str) -> Vec<String> {
        let prefix = format!("{}/", resolve("/", directory));
        self.nodes
            .iter()
            .filter(|(path, node)| path.starts_with(&prefix) && !node.is_dir())
            .map(|(path, _)| path.clone())
            .collect()
    }

    fn total_bytes(&self) -> usize {
        self.nodes.values().filter_map(|n| n.data.as_ref()).fold(0, |sum, d| sum.saturating_add(d.len()))
    }

    fn check_writable(&self, path: &str) -> Result<(), FsError> {
        if path.len() > PATH_BYTES_MAX {
            return Err(FsError::NameTooLong);
        }
        let inside =
            path.contains(PRIVATE) || WRITABLE.iter().any(|root| path.starts_with(&format!("{root}/")));
        if !inside {
            return Err(if path.starts_with("/data") { FsError::Denied } else { FsError::ReadOnly });
        }
        match self.nodes.get(parent(path)) {
            Some(node) if node.is_dir() => Ok(()),
            Some(_) => Err(FsError::NotDirectory),
            None => Err(FsError::NotFound),
        }
    }
}

/// Returns the folder of an app, in which a `run-as` shell starts. No other shell can name it.
pub fn private(package: &str) -> String {
    format!("/data/user/0/{PRIVATE}{package}")
}

/// Returns a path as people write it.
pub fn shown(path: &str) -> String {
    path.replace(PRIVATE, "")
}

/// Translates the two usual names of an app's own folder for a `run-as` shell.
fn inside_private(cwd: &str, path: String) -> String {
    let package = cwd.split('/').find_map(|part| part.strip_prefix(PRIVATE));
    let Some(package) = package else { return path };
    for root in ["/data/data/", "/data/user/0/"] {
        let rest = path.strip_prefix(root).and_then(|rest| rest.strip_prefix(package));
        if let Some(rest) = rest.filter(|rest| rest.is_empty() || rest.starts_with('/')) {
            return private(package) + rest;
        }
    }
    path
}

fn parent(path: &str) -> &str {
    match path.rsplit_once('/') {
        Some(("", _)) | None => "/",
        Some((parent, _)) => parent,
    }
}

/// Returns an absolute path without `.`, `..` and the links that every phone has.
pub fn resolve(cwd: &str, path: &str) -> String {
    let path = shown(path);
    if path.starts_with('/') { join("/", &inside_private(cwd, path)) } else { join(cwd, &path) }
}

fn join(cwd: &str, path: &str) -> String {
    let joined = if path.starts_with('/') { path.to_owned() } else { format!("{cwd}/{path}") };
    let mut parts: Vec<&str> = Vec::new();
    for part in joined.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let path = format!("/{}", parts.join("/"));
    for link in ["/sdcard", "/mnt/sdcard", "/storage/self/primary"] {
        if let Some(rest) = path.strip_prefix(link)
            && (rest.is_empty() || rest.starts_with('/'))
        {
            return format!("/storage/emulated/0{rest}");
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_resolve_through_links_and_never_escape() {
        assert_eq!(resolve("/", "/sdcard/../../../x"), "/x");
        assert_eq!(resolve("/data", "local/./tmp//a"), "/data/local/tmp/a");
        assert_eq!(resolve("/", "/sdcard/a"), "/storage/emulated/0/a");
        assert_eq!(resolve("/", "/sdcardx"), "/sdcardx");
    }

    #[test]
    fn links_lead_on_and_never_in_circles() {
        let mut fs = Fs::new(0);
        let tmp = |name: &str| format!("/data/local/tmp/{name}");
        fs.write(&tmp("file"), Bytes::from_static(b"x"), 0o644, 0).unwrap();
        fs.symlink("file", &tmp("near"), 0).unwrap();
        fs.symlink("/data/local/tmp", &tmp("here"), 0).unwrap();
        fs.symlink("a", &tmp("b"), 0).unwrap();
        fs.symlink("b", &tmp("a"), 0).unwrap();
        assert_eq!(fs.read(&tmp("here/near")).unwrap(), Bytes::from_static(b"x"));
        assert_eq!(fs.read(&tmp("a")), Err(FsError::NotFound));
        assert_eq!(fs.link_target(&tmp("near")).as_deref(), Some("file"));
        assert_eq!(fs.symlink("x", "/sdcard/x", 0), Err(FsError::Denied));
        fs.remove(&tmp("near"), false).unwrap();
        assert!(fs.read(&tmp("file")).is_ok());
    }

    #[test]
    fn only_the_shell_users_places_are_writable() {
        let mut fs = Fs::new(0);
        let write = |fs: &mut Fs, path: &str| fs.write(path, Bytes::from_static(b"x"), 0o644, 0);
        assert_eq!(write(&mut fs, "/data/local/tmp/a"), Ok(()));
        assert_eq!(write(&mut fs, "/data/x"), Err(FsError::Denied));
        assert_eq!(write(&mut fs, "/system/bin/x"), Err(FsError::ReadOnly));
        assert_eq!(write(&mut fs, "/data/local/tmp/no/dir"), Err(FsError::NotFound));
        assert_eq!(fs.remove("/system/bin/sh", false), Err(FsError::ReadOnly));
        assert_eq!(fs.files_below("/data/local/tmp"), ["/data/local/tmp/a"]);
    }
}
