//! The licences of everything in the program, in one text that goes with it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::parts::Part;
use super::runtime::Runtime;

const BEGINNINGS: [&str; 6] = ["license", "licence", "copying", "notice", "unlicense", "copyright"];
/// A longer file is no licence.
const FILE_BYTES_MAX: u64 = 256 * 1024;
const FONT: &str = "crates/virtual-device/assets/Cantarell-LICENCE.txt";

/// Each text once, below the names of those that it is for.
pub fn text(root: &Path, parts: &[Part], runtimes: &[Runtime]) -> Result<String, String> {
    let mut users: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut without = Vec::new();
    for part in parts.iter().filter(|part| !part.is_own) {
        let texts = licences(&part.folder)?;
        if texts.is_empty() {
            without.push(format!(
                "{} ({})",
                part.reference(),
                part.license.as_deref().unwrap_or("no licence named")
            ));
        }
        for text in texts {
            users.entry(text).or_default().push(part.reference());
        }
    }
    let read = |file: &str| fs::read_to_string(root.join(file)).map_err(|e| format!("{file}: {e}"));
    users.entry(read(FONT)?.trim().to_owned()).or_default().push("the font Cantarell".to_owned());
    for runtime in runtimes {
        match runtime.text {
            Some(file) => {
                users.entry(read(file)?.trim().to_owned()).or_default().push(runtime.name.to_owned())
            }
            None => without.push(format!("{} ({})", runtime.name, runtime.license)),
        }
    }
    let mut all = "This program contains parts of others, under these licences.\n".to_owned();
    if !without.is_empty() {
        all.push_str(&format!("\nThese bring no text of their licence:\n{}\n", without.join("\n")));
    }
    let rule = "-".repeat(80);
    for (text, users) in users {
        all.push_str(&format!("\n{rule}\n{}\n{rule}\n{text}\n", users.join(", ")));
    }
    Ok(all)
}

fn licences(folder: &Path) -> Result<Vec<String>, String> {
    let fail = |e: std::io::Error| format!("{}: {e}", folder.display());
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(fail)? {
        let entry = entry.map_err(fail)?;
        let name = entry.file_name().to_string_lossy().to_lowercase();
        let metadata = entry.metadata().map_err(fail)?;
        let is_source = name.ends_with(".rs") || name.ends_with(".toml");
        if BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
            && metadata.is_file()
            && metadata.len() <= FILE_BYTES_MAX
            && !is_source
        {
            files.push(entry.path());
        }
    }
    files.sort();
    let read = |file| fs::read(file).map_err(fail);
    let texts = files.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    // Windows' ends of lines would make two texts of one.
    Ok(texts
        .iter()
        .map(|bytes| String::from_utf8_lossy(bytes).replace("\r\n", "\n").trim().to_owned())
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::Tree;

    #[test]
    fn a_text_stands_once_and_who_has_none_is_named() {
        let tree = Tree::new("notices");
        tree.write(FONT, "Font licence\n");
        tree.write("a/LICENSE-MIT", "Permission\r\ngranted\n");
        tree.write("b/licence.txt", "Permission\ngranted\n\n");
        tree.write("b/license.rs", "fn no_licence() {}");
        tree.write("c/README.md", "Nothing");
        let part = |name: &str| Part {
            name: name.to_owned(),
            version: "1.0.0".to_owned(),
            license: Some("MIT".to_owned()),
            is_own: false,
            folder: tree.root().join(name),
            needs: Vec::new(),
        };
        tree.write("std.txt", "Of the standard library\n");
        let runtime = |name: &'static str, text: Option<&'static str>| Runtime {
            name,
            version: None,
            license: "Apache-2.0",
            text,
        };
        let runtimes = [runtime("std", Some("std.txt")), runtime("unwind", None)];
        let text = text(tree.root(), &[part("a"), part("b"), part("c")], &runtimes).unwrap();
        assert_eq!(text.matches("Permission\ngranted").count(), 1, "{text}");
        assert!(text.contains("\na@1.0.0, b@1.0.0\n") && text.contains("\nc@1.0.0 (MIT)\n"), "{text}");
        assert!(text.contains("\nstd\n") && text.contains("Of the standard library"), "{text}");
        assert!(text.contains("\nunwind (Apache-2.0)\n"), "{text}");
        assert!(text.contains("the font Cantarell") && !text.contains("no_licence"), "{text}");
    }
}
