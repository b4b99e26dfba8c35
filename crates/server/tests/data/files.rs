//! Finds the files with real screens.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use mdm_core::change::tracker::Observation;
use mdm_core::screen::snapshot::Snapshot;

use crate::recorded::report_missing;

/// Returns the folders and files below `folder`, in order. If the data is missing, reports that and returns nothing.
pub fn below(folder: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data").join(folder);
    let entries = std::fs::read_dir(&root).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    if paths.is_empty() {
        report_missing(&format!("real screens in {folder}"));
    }
    paths
}

/// Folders with whole screens.
pub const SCREEN_FOLDERS: [&str; 5] = ["android-ui", "ios-ui", "bench", "android-traces", "ios-traces"];

/// Returns every screen below a folder, in order; the screens of a trace are one level deeper.
pub fn screens(folder: &str) -> Vec<PathBuf> {
    let inside = |path: PathBuf| match std::fs::read_dir(&path) {
        Ok(entries) => {
            let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
            files.sort();
            files
        }
        Err(_) => vec![path],
    };
    below(folder).into_iter().flat_map(inside).filter(|path| is_screen(path)).collect()
}

/// Writes numbers only: the names and contents of the files belong to their owners.
pub fn number(path: &Path) -> String {
    let start = |name: &std::ffi::OsStr| name.to_string_lossy().split(['-', '.']).next().unwrap().to_owned();
    let file = start(path.file_name().unwrap());
    match path.parent().and_then(Path::file_name) {
        Some(trace) if file.starts_with('S') => format!("{}/{file}", start(trace)),
        _ => file,
    }
}

/// The first capture of a session that shows this screen.
pub fn seen(snapshot: Snapshot) -> Arc<Observation> {
    mobile_debug_mcp::tree::seen(snapshot)
}

pub fn is_screen(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "xml" || extension == "json")
        && path.file_name().is_some_and(|name| name != "trace.json")
}

pub fn load(path: &Path) -> Option<Snapshot> {
    mobile_debug_mcp::tree::read(&std::fs::read(path).unwrap()).map(|(_, snapshot)| snapshot)
}
