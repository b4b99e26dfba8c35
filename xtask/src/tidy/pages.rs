//! Rules on pages and pins: what a page points to exists, and what is pinned is pinned fully.

use std::path::Path;

use super::{files, read};

/// Pages that readers are promised.
const PROMISED: &[&str] = &["README.md", "AGENTS.md", "docs/tools.md", "docs/install.md", "docs/waits.md"];

pub fn check(root: &Path) -> Result<Vec<String>, String> {
    let missing = PROMISED.iter().filter(|page| !root.join(page).is_file());
    let mut breaches: Vec<String> = missing.map(|page| format!("{page}: no such page")).collect();
    for path in files(root, "", ".md")? {
        let text = read(root, &path)?;
        let folder = root.join(&path).parent().map_or_else(|| root.to_path_buf(), Path::to_path_buf);
        for (line, target) in links(&text) {
            if !folder.join(&target).exists() {
                breaches.push(format!("{}:{line}: {target} does not exist", path.display()));
            }
        }
    }
    Ok(breaches)
}

/// Pins without a version drift, and a lock file with addresses works only where those can be reached.
pub fn check_pins(root: &Path) -> Result<Vec<String>, String> {
    let (pins, lock) = ("xtask/third-party/requirements.txt", "xtask/third-party/package-lock.json");
    let mut breaches = Vec::new();
    for (at, line) in read(root, Path::new(pins))?.lines().enumerate() {
        if !line.is_empty() && !line.starts_with('#') && !line.contains("==") {
            breaches.push(format!("{pins}:{}: {line} has no exact version", at + 1));
        }
    }
    for (at, line) in read(root, Path::new(lock))?.lines().enumerate() {
        if line.contains("\"resolved\":") {
            breaches.push(format!("{lock}:{}: names the place it was fetched from", at + 1));
        }
    }
    Ok(breaches)
}

/// Line and file of each Markdown link into this repository. Code blocks show, they do not point.
fn links(text: &str) -> Vec<(usize, String)> {
    let (mut found, mut is_code) = (Vec::new(), false);
    for (at, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        }
        for part in line.split("](").skip(1).filter(|_| !is_code) {
            let target = part.split([')', '#', ' ']).next().unwrap_or("");
            if !target.is_empty() && !target.contains("://") && !target.starts_with("mailto:") {
                found.push((at + 1, target.to_owned()));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::tree::Tree;
    use super::*;

    fn tree(name: &str) -> Tree {
        let tree = Tree::new(name);
        for page in PROMISED {
            tree.write(page, "# Page\n");
        }
        tree
    }

    #[test]
    fn links_into_the_repository_lead_somewhere() {
        let tree = tree("pages-good");
        let text = "[a](tools.md#tap) [b](https://example.org) [c](#here) [d](../README.md)\n```\n[e](gone.md)\n```\n";
        tree.write("docs/index.md", text);
        assert_eq!(check(tree.root()).unwrap(), Vec::<String>::new());
    }

    #[test]
    fn a_broken_link_is_a_breach() {
        let tree = tree("pages-broken");
        tree.write("docs/index.md", "text\n[a](gone.md)\n");
        assert_eq!(check(tree.root()).unwrap(), ["docs/index.md:2: gone.md does not exist"]);
    }

    #[test]
    fn a_promised_page_that_is_missing_is_a_breach() {
        let tree = Tree::new("pages-missing");
        assert_eq!(check(tree.root()).unwrap().len(), PROMISED.len());
    }

    #[test]
    fn pins_are_exact_and_name_no_place() {
        let tree = Tree::new("pins");
        tree.write("xtask/third-party/requirements.txt", "# why\nmcp==2.3.0\n");
        tree.write("xtask/third-party/package-lock.json", "{}\n");
        assert_eq!(check_pins(tree.root()).unwrap(), Vec::<String>::new());
        tree.write("xtask/third-party/requirements.txt", "mcp>=2\n");
        tree.write("xtask/third-party/package-lock.json", "\"resolved\": \"x\"\n");
        assert_eq!(check_pins(tree.root()).unwrap().len(), 2);
    }
}
