//! A small fake repository in a folder of its own, gone when the test ends.

use std::fs;
use std::path::{Path, PathBuf};

pub struct Tree(PathBuf);

impl Tree {
    /// `name` is unique among the tests; the process id keeps parallel runs apart.
    pub fn new(name: &str) -> Tree {
        let root = std::env::temp_dir().join(format!("mdm-xtask-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        fs::create_dir_all(&root).unwrap();
        Tree(root)
    }

    pub fn root(&self) -> &Path {
        &self.0
    }

    pub fn write(&self, path: &str, text: &str) {
        let file = self.0.join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
