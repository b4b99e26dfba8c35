//! Which files of this machine a caller may name: only what lies below one of the allowed folders (SE-02).
//!
//! The check is on the real place of a file. Links are followed first, so none of them leads out of a folder.

use std::io;
use std::path::{Component, Path, PathBuf};

use crate::refusal::Refusal;

/// Bytes of a path that a caller may name.
const PATH_BYTES_MAX: usize = 4096;
/// Folders that may be allowed.
const ROOTS_MAX: usize = 64;

const HINT: &str = "name a file below one of the allowed folders; the server's --root DIR allows another";

/// The folders below which files may be read and written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Roots {
    /// As given, for messages.
    named: Vec<PathBuf>,
    /// Their real places.
    real: Vec<PathBuf>,
    /// Real places of files and folders of the server itself, wherever they lie.
    own: Vec<PathBuf>,
}

impl Roots {
    /// Allows these folders, or the current one and the system's for temporary files when none is given. A folder that
    /// is not there is an error: allowing nothing by mistake would look like a refusal of everything.
    pub fn new(given: &[PathBuf]) -> Result<Roots, String> {
        if given.len() > ROOTS_MAX {
            return Err(format!("more than {ROOTS_MAX} folders were given with --root"));
        }
        if given.is_empty() {
            return Ok(Roots::of_process());
        }
        let mut roots = Roots::default();
        for folder in given {
            let real =
                folder.canonicalize().map_err(|error| format!("--root {}: {error}", folder.display()))?;
            if !real.is_dir() {
                return Err(format!("--root {} is not a folder", folder.display()));
            }
            roots.named.push(folder.clone());
            roots.real.push(real);
        }
        Ok(roots)
    }

    /// Allows the current folder and the system's for temporary files. Being started in `/` allows nothing more.
    pub fn of_process() -> Roots {
        let mut roots = Roots::default();
        for folder in std::env::current_dir().ok().into_iter().chain([std::env::temp_dir()]) {
            let Ok(real) = folder.canonicalize() else { continue };
            if real.parent().is_some() {
                roots.named.push(folder);
                roots.real.push(real);
            }
        }
        roots
    }

    /// Keeps the server's own files from its callers: its policy, tokens, secrets, audit, state. One that is not there yet
    /// is kept by the folder that it will be in.
    #[must_use]
    pub fn keeping<'a>(mut self, own: impl IntoIterator<Item = &'a Path>) -> Roots {
        for path in own {
            let in_folder = || Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?));
            let in_this = || Some(Path::new(".").canonicalize().ok()?.join(path));
            self.own.extend(path.canonicalize().ok().or_else(in_folder).or_else(in_this));
        }
        self
    }

    fn is_own(&self, real: &Path) -> bool {
        // What is rotated away keeps its name with a number behind it.
        let of = |own: &PathBuf| {
            let rotated = own.file_name().zip(real.file_name()).is_some_and(|(own_name, name)| {
                own.parent() == real.parent()
                    && name.to_string_lossy().starts_with(&format!("{}.", own_name.to_string_lossy()))
            });
            real.starts_with(own) || rotated
        };
        self.own.iter().any(of)
    }

    /// The real place of a file or folder that exists below an allowed folder.
    pub fn readable(&self, path: &Path) -> Result<PathBuf, Refusal> {
        check_text(path)?;
        let real = path.canonicalize().map_err(|error| self.unusable(path, &error))?;
        self.inside(path, real)
    }

    /// The real place of a file that may be written: a new one in a folder that exists, or a regular file that is there.
    pub fn writable(&self, path: &Path) -> Result<PathBuf, Refusal> {
        check_text(path)?;
        let name = match path.components().next_back() {
            Some(Component::Normal(name)) => name,
            _ => return Err(refused(format!("{} names no file", path.display()))),
        };
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let folder = folder.canonicalize().map_err(|error| self.unusable(path, &error))?;
        let place = self.inside(path, folder.join(name))?;
        // The link itself is looked at, not what it leads to: writing through one could leave the allowed folders.
        match place.symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(place),
            Err(error) => Err(refused(format!("{}: {error}", path.display()))),
            Ok(there) if there.is_file() => Ok(place),
            Ok(_) => Err(refused(format!("{} is there and is not a regular file", path.display()))),
        }
    }

    fn inside(&self, asked: &Path, real: PathBuf) -> Result<PathBuf, Refusal> {
        if self.is_own(&real) {
            return Err(refused(format!("{} belongs to the server itself", asked.display())));
        }
        if self.real.iter().any(|root| real.starts_with(root)) {
            return Ok(real);
        }
        Err(refused(format!("{} is outside the allowed folders: {}", asked.display(), self.names())))
    }

    /// Outside the allowed folders, whether something exists is not told.
    fn unusable(&self, asked: &Path, error: &io::Error) -> Refusal {
        let may_be_told = asked.ancestors().find_map(|part| match part.as_os_str().is_empty() {
            true => Path::new(".").canonicalize().ok(),
            false => part.canonicalize().ok(),
        });
        match may_be_told.is_some_and(|real| self.real.iter().any(|root| real.starts_with(root))) {
            true => refused(format!("{}: {error}", asked.display())),
            false => refused(format!("{} is outside the allowed folders: {}", asked.display(), self.names())),
        }
    }

    fn names(&self) -> String {
        if self.named.is_empty() {
            return "there are none".to_owned();
        }
        let names: Vec<String> = self.named.iter().map(|root| root.display().to_string()).collect();
        names.join(", ")
    }
}

fn check_text(path: &Path) -> Result<(), Refusal> {
    let bytes = path.as_os_str().as_encoded_bytes();
    if bytes.is_empty() || bytes.len() > PATH_BYTES_MAX {
        return Err(refused(format!("a path has 1 to {PATH_BYTES_MAX} bytes, this one has {}", bytes.len())));
    }
    if bytes.iter().any(|byte| byte.is_ascii_control()) {
        return Err(refused("a path with control characters".to_owned()));
    }
    Ok(())
}

fn refused(message: String) -> Refusal {
    Refusal::argument(message, HINT)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with `allowed/in.txt`, `allowed/sub/`, `secret.txt` beside it, and links from inside to outside.
    struct Place {
        base: PathBuf,
    }

    impl Place {
        fn new(name: &str) -> Place {
            let base = std::env::temp_dir().join(format!("paths-{name}-{}", std::process::id()));
            std::fs::create_dir_all(base.join("allowed/sub")).unwrap();
            std::fs::create_dir_all(base.join("allowed-not")).unwrap();
            std::fs::write(base.join("allowed/in.txt"), "in").unwrap();
            std::fs::write(base.join("secret.txt"), "secret").unwrap();
            #[cfg(unix)]
            {
                let link =
                    |to: &str, at: &str| std::os::unix::fs::symlink(base.join(to), base.join(at)).unwrap();
                link("secret.txt", "allowed/link.txt");
                link("", "allowed/up");
                link("nothing-there", "allowed/dangling");
                link("allowed", "way-in");
            }
            Place { base }
        }

        fn roots(&self) -> Roots {
            Roots::new(&[self.base.join("allowed")]).unwrap()
        }

        fn path(&self, path: &str) -> PathBuf {
            self.base.join(path)
        }
    }

    impl Drop for Place {
        fn drop(&mut self) {
            drop(std::fs::remove_dir_all(&self.base));
        }
    }

    #[test]
    fn only_what_really_lies_below_an_allowed_folder_is_read() {
        // SE-02
        let place = Place::new("read");
        let roots = place.roots();
        for good in ["allowed/in.txt", "allowed/sub/../in.txt", "way-in/in.txt", "allowed", "allowed/sub"] {
            assert!(roots.readable(&place.path(good)).is_ok(), "{good}");
        }
        for bad in [
            "secret.txt",
            "allowed/../secret.txt",
            "allowed/link.txt",
            "allowed/up/secret.txt",
            "allowed/dangling",
            "allowed/missing.txt",
            "allowed-not",
            "",
        ] {
            assert!(roots.readable(&place.path(bad)).is_err(), "{bad}");
        }
        assert_eq!(
            roots.readable(&place.path("way-in/in.txt")).unwrap(),
            place.path("allowed/in.txt").canonicalize().unwrap()
        );
    }

    #[test]
    fn nothing_is_written_outside_through_links_or_over_what_is_no_file() {
        // SE-02
        let place = Place::new("write");
        let roots = place.roots();
        for good in ["allowed/new.har", "allowed/in.txt", "allowed/sub/../new", "way-in/sub/new"] {
            assert!(roots.writable(&place.path(good)).is_ok(), "{good}");
        }
        for bad in [
            "secret.txt",
            "new.txt",
            "allowed/../new.txt",
            "allowed/link.txt",
            "allowed/dangling",
            "allowed/up/new.txt",
            "allowed/sub",
            "allowed/missing/new.txt",
            "allowed/sub/..",
            "allowed-not/new.txt",
        ] {
            assert!(roots.writable(&place.path(bad)).is_err(), "{bad}");
        }
        assert!(roots.writable(Path::new("/dev/null")).is_err() && roots.writable(Path::new("")).is_err());
        assert!(roots.writable(&place.path("allowed/new\nline")).is_err(), "SE-05");
    }

    #[test]
    fn a_refusal_names_the_allowed_folders_and_not_what_lies_outside_them() {
        let place = Place::new("words");
        let roots = place.roots();
        let there = roots.readable(&place.path("secret.txt")).unwrap_err().failure.message;
        let missing = roots.readable(&place.path("no-secret.txt")).unwrap_err().failure.message;
        assert_eq!(
            there.replace("no-", ""),
            missing.replace("no-", ""),
            "it is not told which of them exists"
        );
        assert!(there.contains("allowed"), "{there}");
        let inside = roots.readable(&place.path("allowed/missing.txt")).unwrap_err().failure.message;
        assert!(!inside.contains("outside"), "{inside}");
    }

    #[test]
    fn a_folder_that_cannot_be_allowed_is_said_at_the_start() {
        let place = Place::new("start");
        assert!(Roots::new(&[place.path("missing")]).is_err());
        assert!(Roots::new(&[place.path("secret.txt")]).is_err());
        let here = Roots::new(&[]).unwrap();
        assert!(here.readable(Path::new("Cargo.toml")).is_ok(), "the current folder is allowed");
        assert!(here.writable(&std::env::temp_dir().join("new.har")).is_ok());
        assert!(here.readable(Path::new("/etc/passwd")).is_err());
    }

    #[test]
    fn the_servers_own_files_are_neither_read_nor_written() {
        // SE-02, SE-04
        let place = Place::new("own");
        let roots = Roots::new(&[place.path("allowed")]).unwrap();
        let (audit, state) = (place.path("allowed/audit.jsonl"), place.path("allowed/sub"));
        let roots = roots.keeping([audit.as_path(), state.as_path()]);
        for own in ["allowed/audit.jsonl", "allowed/audit.jsonl.1", "allowed/sub/http-token"] {
            assert!(roots.writable(&place.path(own)).is_err(), "{own}");
        }
        std::fs::write(&audit, "{}").unwrap();
        assert!(roots.readable(&audit).is_err());
        assert!(roots.writable(&place.path("allowed/other.jsonl")).is_ok());
        assert!(roots.readable(&place.path("allowed/in.txt")).is_ok());
    }
}
