//! Pages for agents (AG-02): every skill can be found by its frontmatter, and no page names a tool that is not there.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{files, read};
use crate::docs::{SCHEMAS, TOOLS_DOC};

const SKILLS: &str = "skills";
const PAGE: &str = "SKILL.md";
/// Pages that name tools and are written by hand.
const PAGES: [&str; 3] = ["AGENTS.md", "README.md", "docs/waits.md"];
/// Limits of the format, which clients check.
const NAME_CHARS_MAX: usize = 64;
const DESCRIPTION_CHARS_MAX: usize = 1024;
const LINES_MAX: usize = 500;
/// Words of several parts in code that are no tools: keys of answers and of selectors, and other programs' words.
const OTHERS: &[&str] = &[
    "accessibility_id",
    "idb_companion",
    "mcp_servers",
    "resource_id",
    "serde_json",
    "snapshot_revision",
    "test_tag",
];

pub fn check(root: &Path) -> Result<Vec<String>, String> {
    let skills = files(root, SKILLS, PAGE)?;
    let mut breaches = Vec::new();
    if skills.is_empty() {
        breaches.push(format!("{SKILLS}: holds no skill"));
    }
    for path in &skills {
        let text = read(root, path)?;
        breaches.extend(frontmatter(path, &text).into_iter().map(|why| format!("{}: {why}", path.display())));
    }
    let known = known(root)?;
    let promised = PAGES.iter().map(PathBuf::from).filter(|page| root.join(page).is_file());
    for path in skills.iter().cloned().chain(promised) {
        for (line, word) in words(&read(root, &path)?) {
            if !known.contains(&word) && !OTHERS.contains(&word.as_str()) {
                breaches.push(format!("{}:{line}: {word} is no tool and no argument of one", path.display()));
            }
        }
    }
    Ok(breaches)
}

/// What is wrong with the head of a skill, whose name is that of its folder.
fn frontmatter(path: &Path, text: &str) -> Vec<String> {
    let folder = path.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
    let head = text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n")).map(|(head, _)| head);
    let Some(head) = head else { return vec!["begins with no frontmatter between two lines ---".to_owned()] };
    let value = |key: &str| head.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(": "));
    let (name, description) = (value("name").unwrap_or(""), value("description").unwrap_or(""));
    let mut wrong = Vec::new();
    let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if name != folder || name.len() > NAME_CHARS_MAX || !name.chars().all(is_name) {
        wrong.push(format!("its name is {name:?}, not that of its folder in small letters"));
    }
    // A colon in a plain value ends it for parsers of YAML.
    if !(1..=DESCRIPTION_CHARS_MAX).contains(&description.chars().count()) || description.contains(": ") {
        wrong.push(format!(
            "its description has none, or more than {DESCRIPTION_CHARS_MAX} characters, or a colon"
        ));
    }
    if text.lines().count() > LINES_MAX {
        wrong.push(format!("it has more than {LINES_MAX} lines"));
    }
    wrong
}

/// Every tool, listed or not, and every argument and value that their schemas name.
fn known(root: &Path) -> Result<BTreeSet<String>, String> {
    let page = read(root, Path::new(TOOLS_DOC))?;
    let mut known: BTreeSet<String> =
        page.lines().filter_map(|line| line.strip_prefix("## ")).map(str::to_owned).collect();
    for path in files(root, SCHEMAS, ".json")? {
        let tool: Value =
            serde_json::from_str(&read(root, &path)?).map_err(|e| format!("{}: {e}", path.display()))?;
        collect(&tool["inputSchema"], &mut known);
    }
    Ok(known)
}

fn collect(schema: &Value, known: &mut BTreeSet<String>) {
    match schema {
        Value::Object(map) => {
            known.extend(map.keys().cloned());
            map.values().for_each(|value| collect(value, known));
        }
        Value::Array(list) => list.iter().for_each(|value| collect(value, known)),
        Value::String(word) => drop(known.insert(word.clone())),
        _ => {}
    }
}

/// Words such as `tap_element` in spans of code, with their line. Blocks of code hold programs of all kinds.
fn words(text: &str) -> Vec<(usize, String)> {
    let (mut found, mut is_block) = (Vec::new(), false);
    for (at, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            is_block = !is_block;
        }
        for span in line.split('`').skip(1).step_by(2).filter(|_| !is_block) {
            let parts =
                span.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '/' | '.' | '-')));
            let is_word =
                |word: &&str| word.contains('_') && word.chars().all(|c| c.is_ascii_lowercase() || c == '_');
            found.extend(parts.filter(is_word).map(|word| (at + 1, word.to_owned())));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::tree::Tree;
    use super::*;

    const GOOD: &str = "---\nname: fix-apps\ndescription: Fix apps. Use when one is broken.\n---\n\n# Fix\n";

    fn tree(name: &str, skill: &str) -> Tree {
        let tree = Tree::new(&format!("skills-{name}"));
        tree.write(TOOLS_DOC, "# Tools\n\n## tap_element\n\n## long_press\n");
        let schema = r#"{"name":"tap_element","inputSchema":{"properties":{"device_id":{},"change":{"enum":["text_change"]}}}}"#;
        tree.write("crates/server/schemas/tap_element.json", schema);
        tree.write("skills/fix-apps/SKILL.md", skill);
        tree
    }

    fn breaches(name: &str, skill: &str) -> Vec<String> {
        check(tree(name, skill).root()).unwrap()
    }

    #[test]
    fn a_skill_with_a_head_and_real_tools_is_let_through() {
        let text = "`tap_element` with `{\"device_id\":1}`, `text_change`, `long_press`, `a/b_c.rs`, `E12_X` and tap_nothing\n\
            ```sh\n`no_tool`\n```\n";
        assert_eq!(breaches("good", &format!("{GOOD}{text}")), Vec::<String>::new());
    }

    #[test]
    fn a_tool_that_is_not_there_is_a_breach_on_every_page() {
        assert_eq!(
            breaches("tool", &format!("{GOOD}\nCall `tap_button` first.\n")),
            ["skills/fix-apps/SKILL.md:8: tap_button is no tool and no argument of one"]
        );
        let tree = tree("page", GOOD);
        tree.write("AGENTS.md", "`wait_for_luck`");
        assert_eq!(check(tree.root()).unwrap().len(), 1);
    }

    #[test]
    fn a_head_that_clients_cannot_read_is_a_breach() {
        for (name, text) in [
            ("none", "# Fix\n".to_owned()),
            ("name", GOOD.replace("fix-apps", "Fix Apps")),
            ("other", GOOD.replace("fix-apps", "fix-app")),
            ("empty", GOOD.replace("Fix apps. Use when one is broken.", "")),
            ("colon", GOOD.replace("apps.", "apps: all.")),
            ("long", GOOD.replace("apps.", &"x".repeat(DESCRIPTION_CHARS_MAX))),
            ("lines", format!("{GOOD}{}", "x\n".repeat(LINES_MAX))),
        ] {
            assert_eq!(breaches(name, &text).len(), 1, "{name}");
        }
        assert!(check(Tree::new("skills-none").root()).is_err(), "no tools to compare with");
    }
}
