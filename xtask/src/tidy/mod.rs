//! The rules that no compiler checks: which crate may know which, how long things get, what is banned where, and
//! that what is generated is fresh.

mod arrows;
mod mask;
mod pages;
mod source;
#[cfg(test)]
pub mod tree;

use std::fs;
use std::path::{Path, PathBuf};

use crate::{command, docs};

/// More folders inside each other than this is a link that leads in a circle.
const FOLDER_DEPTH_MAX: usize = 32;

pub fn tidy(root: &Path) -> Result<(), String> {
    let mut breaches = arrows::check(&command::metadata(root)?.packages);
    breaches.extend(source::check(root)?);
    breaches.extend(pages::check(root)?);
    breaches.extend(pages::check_pins(root)?);
    // A product that does not build must not hide the other breaches.
    match command::debug_binary(root).and_then(|binary| docs::generate(&binary)) {
        Ok(wanted) => breaches.extend(
            docs::stale(root, &wanted)?
                .iter()
                .map(|path| format!("{}: not what the binary writes; run cargo xtask docs", path.display())),
        ),
        Err(message) => breaches.push(message),
    }
    match breaches.len() {
        0 => Ok(()),
        n => Err(format!("{}\ntidy: {n} breaches", breaches.join("\n"))),
    }
}

/// Files below `folder` with that ending, as sorted paths below `root`. Hidden folders and build output are left out.
fn files(root: &Path, folder: &str, ending: &str) -> Result<Vec<PathBuf>, String> {
    let (mut found, mut waiting) = (Vec::new(), vec![(root.join(folder), 0)]);
    while let Some((dir, depth)) = waiting.pop() {
        if !dir.is_dir() || depth > FOLDER_DEPTH_MAX {
            continue;
        }
        for entry in fs::read_dir(&dir).map_err(|e| format!("{}: {e}", dir.display()))? {
            let path = entry.map_err(|e| format!("{}: {e}", dir.display()))?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() {
                if !name.starts_with('.') && name != "target" && name != "node_modules" {
                    waiting.push((path, depth + 1));
                }
            } else if name.ends_with(ending) {
                found.push(path.strip_prefix(root).unwrap_or(&path).to_path_buf());
            }
        }
    }
    found.sort();
    Ok(found)
}

fn read(root: &Path, path: &Path) -> Result<String, String> {
    fs::read_to_string(root.join(path)).map_err(|e| format!("{}: {e}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::tree::Tree;
    use super::*;

    #[test]
    fn files_skips_build_output_and_hidden_folders() {
        let tree = Tree::new("files");
        for path in ["crates/a/src/lib.rs", "crates/target/x.rs", "crates/.git/x.rs", "crates/a/notes.md"] {
            tree.write(path, "");
        }
        assert_eq!(files(tree.root(), "crates", ".rs").unwrap(), [PathBuf::from("crates/a/src/lib.rs")]);
    }
}
