//! The rules that no compiler checks: which crate and which room may know which, what is banned where, and that what is
//! written or generated beside the code fits it. Each rule reports for itself.

mod arrows;
mod pages;
mod requirements;
mod rooms;
mod rust;
mod selector;
mod source;
mod tool_names;
#[cfg(test)]
pub mod tree;
mod waiting;

use std::fs;
use std::path::{Path, PathBuf};

use crate::{command, docs, helper};

/// More folders inside each other than this is a link that leads in a circle.
const FOLDER_DEPTH_MAX: usize = 32;

/// A rule's name, and its breaches or why it could not be checked.
type Report = (&'static str, Result<Vec<String>, String>);

pub fn tidy(root: &Path) -> Result<(), String> {
    let (sources, unparsed) = rust::load(root)?;
    let reports: Vec<Report> = vec![
        ("arrows between crates", command::metadata(root).map(|metadata| arrows::check(&metadata.packages))),
        ("rooms of core", Ok(rooms::check(&sources))),
        ("every file parses", Ok(unparsed)),
        ("length of files", Ok(source::check_length(&sources))),
        ("banned words", Ok(source::check_banned(&sources))),
        ("starting programs", Ok(source::check_spawns(&sources))),
        ("waiting and clocks", Ok(waiting::check(&sources))),
        ("one selector type", Ok(selector::check(&sources))),
        ("tool names stay in the server", tool_names::check(root, &sources)),
        ("requirement ids", requirements::check(root)),
        ("pages", pages::check(root)),
        ("pins", pages::check_pins(root)),
        ("the helper's jar", helper::check(root)),
        ("generated files", stale_files(root)),
    ];
    let broken = reports.iter().filter(|report| !tell(report)).count();
    match broken {
        0 => Ok(()),
        n => Err(format!("tidy: {n} of {} rules are broken", reports.len())),
    }
}

/// Prints what a rule found; true if that is nothing.
fn tell((name, outcome): &Report) -> bool {
    let breaches = match outcome {
        Ok(breaches) => breaches.as_slice(),
        Err(message) => std::slice::from_ref(message),
    };
    match breaches.len() {
        0 => println!("tidy: {name}: ok"),
        n => println!("tidy: {name}: {n} breaches\n{}", breaches.join("\n")),
    }
    breaches.is_empty()
}

fn stale_files(root: &Path) -> Result<Vec<String>, String> {
    let wanted = docs::generate(root, &command::debug_binary(root)?)?;
    let stale = docs::stale(root, &wanted)?;
    let told =
        |path: &PathBuf| format!("{}: not what the binary writes; run cargo xtask docs", path.display());
    Ok(stale.iter().map(told).collect())
}

/// Files below `folder` with that ending, as sorted paths below `root`. Hidden folders and build output are left out.
pub fn files(root: &Path, folder: &str, ending: &str) -> Result<Vec<PathBuf>, String> {
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
