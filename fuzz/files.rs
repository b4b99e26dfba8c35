//! Files for readers that want a path: one for each process and name, written anew each time.

use std::path::PathBuf;

/// In memory where the system has such a folder.
fn folder() -> PathBuf {
    let memory = PathBuf::from("/dev/shm");
    let parent = if memory.is_dir() { memory } else { std::env::temp_dir() };
    parent.join(format!("mdm-fuzz-{}", std::process::id()))
}

/// A file of this name with these bytes.
pub fn written(name: &str, bytes: &[u8]) -> PathBuf {
    let folder = folder();
    std::fs::create_dir_all(&folder).expect("a folder for temporary files");
    let file = folder.join(name);
    std::fs::write(&file, bytes).expect("a temporary file");
    file
}
