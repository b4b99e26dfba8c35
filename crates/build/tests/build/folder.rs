//! A temporary folder with files.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> Folder {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("mdm-build-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::create_dir_all(&path).unwrap();
        Folder(path.canonicalize().unwrap())
    }

    /// Holds these files; a name that ends with `/` is an empty folder.
    pub fn with(files: &[(&str, &str)]) -> Folder {
        let folder = Folder::new();
        for (name, text) in files {
            folder.put(name, text);
        }
        folder
    }

    pub fn put(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        if name.ends_with('/') {
            std::fs::create_dir_all(&path).unwrap();
        } else {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, text).unwrap();
        }
        path
    }

    pub fn program(&self, name: &str, text: &str) -> PathBuf {
        use std::os::unix::fs::PermissionsExt as _;
        let path = self.put(name, text);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
