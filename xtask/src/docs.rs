//! What is written from the program itself: docs/tools.md, docs/limits.md, docs/compat.md and a golden file for each tool's schema. Reviewers see a changed
//! tool as a changed file.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Map, Value};

use crate::command::{debug_binary, output};
use crate::compat;
use crate::limits;

pub const TOOLS_DOC: &str = "docs/tools.md";
/// One file for each tool, named after it.
pub const SCHEMAS: &str = "crates/server/schemas";

/// Each generated file's path below the root, and what belongs in it.
pub type Generated = BTreeMap<PathBuf, String>;

pub fn write(root: &Path) -> Result<(), String> {
    let wanted = generate(root, &debug_binary(root)?)?;
    for path in stale(root, &wanted)? {
        let file = root.join(&path);
        let fail = |e: std::io::Error| format!("{}: {e}", path.display());
        match wanted.get(&path) {
            Some(text) => {
                fs::create_dir_all(file.parent().unwrap_or(root)).map_err(fail)?;
                fs::write(&file, text).map_err(fail)?;
            }
            None => fs::remove_file(&file).map_err(fail)?,
        }
        println!("{}", path.display());
    }
    Ok(())
}

pub fn generate(root: &Path, binary: &Path) -> Result<Generated, String> {
    let markdown = output(Command::new(binary).args(["tools", "--markdown"]))?;
    let json = output(Command::new(binary).args(["tools", "--json"]))?;
    let mut files = schemas(&json)?;
    files.insert(TOOLS_DOC.into(), markdown);
    files.insert(limits::PAGE.into(), limits::page(root)?);
    if let Some(page) = compat::page(root)? {
        files.insert(compat::PAGE.into(), page);
    }
    Ok(files)
}

/// Files that are missing, differ, or belong to a tool that is gone.
pub fn stale(root: &Path, wanted: &Generated) -> Result<Vec<PathBuf>, String> {
    let differs =
        |(path, text): &(&PathBuf, &String)| fs::read_to_string(root.join(path)).ok().as_ref() != Some(*text);
    let mut stale: Vec<PathBuf> = wanted.iter().filter(differs).map(|(path, _)| path.clone()).collect();
    let folder = root.join(SCHEMAS);
    if folder.is_dir() {
        for entry in fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))? {
            let name = entry.map_err(|e| format!("{}: {e}", folder.display()))?.file_name();
            let path = Path::new(SCHEMAS).join(name);
            if !wanted.contains_key(&path) {
                stale.push(path);
            }
        }
    }
    Ok(stale)
}

fn schemas(json: &str) -> Result<Generated, String> {
    let fail = |e: serde_json::Error| format!("tools --json: {e}");
    let tools: Vec<Map<String, Value>> = serde_json::from_str(json).map_err(fail)?;
    let mut files = Generated::new();
    for tool in tools {
        let name = tool.get("name").and_then(Value::as_str).unwrap_or("");
        if name.is_empty() || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
            return Err(format!("tools --json: {name:?} cannot name a file"));
        }
        // One value a line, in the order the binary gave, so that a diff shows what changed.
        let text = serde_json::to_string_pretty(&tool).map_err(fail)? + "\n";
        files.insert(Path::new(SCHEMAS).join(format!("{name}.json")), text);
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::Tree;

    const TOOLS: &str = r#"[{"name":"tap","inputSchema":{"type":"object"}}]"#;

    #[test]
    fn fresh_files_are_not_stale() {
        let wanted = schemas(TOOLS).unwrap();
        let tree = Tree::new("docs-fresh");
        for (path, text) in &wanted {
            tree.write(path.to_str().unwrap(), text);
        }
        assert_eq!(stale(tree.root(), &wanted).unwrap(), Vec::<PathBuf>::new());
    }

    #[test]
    fn a_changed_a_missing_and_an_orphaned_schema_are_stale() {
        let tree = Tree::new("docs-stale");
        let wanted = schemas(TOOLS).unwrap();
        let golden = PathBuf::from("crates/server/schemas/tap.json");
        assert_eq!(stale(tree.root(), &wanted).unwrap(), std::slice::from_ref(&golden));
        tree.write("crates/server/schemas/tap.json", "{}");
        tree.write("crates/server/schemas/gone.json", "{}");
        let orphan = PathBuf::from("crates/server/schemas/gone.json");
        assert_eq!(stale(tree.root(), &wanted).unwrap(), [golden, orphan]);
    }

    #[test]
    fn a_tool_name_cannot_leave_the_folder() {
        assert!(schemas(r#"[{"name":"../tap"}]"#).is_err());
    }
}
