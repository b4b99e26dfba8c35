//! Tools and their arguments are named in the server only. A text of a lower crate that names one sends an agent to a
//! tool that the server may have renamed, and hides a dependency that no import shows.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use super::rust::{Kind, SourceFile};
use super::{files, read};
use crate::docs::SCHEMAS;

/// Crates below the server.
const BELOW_THE_SERVER: &[&str] = &["core", "wire", "engine", "android", "ios"];

/// Names that are also something else: the name, where it may stand (a file, or a folder that ends with a slash), and
/// what it is there.
const ALLOWED: &[(&str, &str, &str)] =
    &[("hold_ms", "crates/core/src/", "a field of the drag at the port, which its doc comment explains")];

pub fn check(root: &Path, sources: &[SourceFile]) -> Result<Vec<String>, String> {
    let names = names(root)?;
    if names.is_empty() {
        return Ok(vec![format!("{SCHEMAS}: names no tool; run cargo xtask docs")]);
    }
    let mut breaches = Vec::new();
    for source in sources.iter().filter(|source| BELOW_THE_SERVER.iter().any(|krate| source.is_in(krate))) {
        for fact in source.product_facts() {
            let (Kind::Text(text) | Kind::Doc(text)) = &fact.kind else { continue };
            for name in words(text).filter(|word| names.contains(*word) && !is_allowed(word, &source.path)) {
                breaches.push(format!("{}:{}: {name} is a word of the tools", source.path, fact.line));
            }
        }
    }
    Ok(breaches)
}

fn is_allowed(name: &str, path: &str) -> bool {
    let is_at = |at: &str| path == at || at.ends_with('/') && path.starts_with(at);
    ALLOWED.iter().any(|(allowed, at, _)| *allowed == name && is_at(at))
}

/// Words of a text. A name in braces is a variable of a format string, not a word.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let is_variable = move |start: usize| {
        let before = text[..start].trim_end_matches('{');
        (start - before.len()) % 2 == 1
    };
    text.split(move |c: char| !is_word(c)).filter(move |word| {
        let start = word.as_ptr() as usize - text.as_ptr() as usize;
        !word.is_empty() && !is_variable(start)
    })
}

/// Names of tools and arguments that can be nothing else: those of several words, in both spellings.
fn names(root: &Path) -> Result<BTreeSet<String>, String> {
    let mut found = BTreeSet::new();
    for path in files(root, SCHEMAS, ".json")? {
        let tool: Value =
            serde_json::from_str(&read(root, &path)?).map_err(|e| format!("{}: {e}", path.display()))?;
        if let Some(name) = tool["name"].as_str() {
            found.insert(name.to_owned());
        }
        arguments(&tool["inputSchema"], &mut found);
    }
    let spelt = found.iter().flat_map(|name| [name.clone(), snake(name), camel(name)]);
    Ok(spelt.filter(|name| is_unmistakable(name)).collect())
}

fn arguments(schema: &Value, found: &mut BTreeSet<String>) {
    match schema {
        Value::Object(map) => {
            for (key, value) in map {
                if let (true, Value::Object(properties)) = (key == "properties", value) {
                    found.extend(properties.keys().cloned());
                    properties.values().for_each(|schema| arguments(schema, found));
                } else {
                    arguments(value, found);
                }
            }
        }
        Value::Array(list) => list.iter().for_each(|schema| arguments(schema, found)),
        _ => {}
    }
}

fn is_unmistakable(name: &str) -> bool {
    name.contains('_') || name.chars().skip(1).any(char::is_uppercase)
}

fn snake(name: &str) -> String {
    name.chars().fold(String::new(), |mut out, c| {
        if c.is_uppercase() {
            out.push('_');
        }
        out.extend(c.to_lowercase());
        out
    })
}

fn camel(name: &str) -> String {
    let mut parts = name.split('_');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |mut out, part| {
        let mut chars = part.chars();
        out.extend(chars.next().into_iter().flat_map(char::to_uppercase));
        out + chars.as_str()
    })
}

#[cfg(test)]
mod tests {
    use super::super::rust::load;
    use super::super::tree::Tree;
    use super::*;

    const SCHEMA: &str = r#"{"name":"tap_element","inputSchema":{"properties":{"elementId":{"type":"string"},"holdMs":{},
        "expect":{"properties":{"timeout_ms":{}}},"platform":{}}}}"#;

    fn breaches(name: &str, path: &str, text: &str) -> Vec<String> {
        let tree = Tree::new(&format!("tool-names-{name}"));
        tree.write("crates/server/schemas/tap_element.json", SCHEMA);
        tree.write(path, text);
        let (sources, _) = load(tree.root()).unwrap();
        check(tree.root(), &sources).unwrap()
    }

    #[test]
    fn a_name_in_a_text_or_a_doc_comment_below_the_server_is_a_breach() {
        for (name, text) in [
            ("literal", "const A: &str = \"call tap_element again\";"),
            ("doc", "/// Waits as long as `timeout_ms` says.\nfn f() {}"),
            ("module-doc", "//! What tap_element needs.\n"),
            ("macro", "fn f() { format!(\"needs an elementId, not {}\", a); }"),
            ("other-spelling", "const A: &str = \"element_id\";"),
            ("nested", "const A: &str = \"timeoutMs\";"),
            ("attribute", "#[serde(rename = \"elementId\")]\nstruct A;"),
        ] {
            let found = breaches(name, "crates/core/src/a.rs", text);
            assert_eq!(found.len(), 1, "{name}: {found:?}");
        }
        let told = breaches("told", "crates/engine/src/a.rs", "\nconst A: &str = \"tap_element\";");
        assert_eq!(told, ["crates/engine/src/a.rs:2: tap_element is a word of the tools"]);
    }

    #[test]
    fn plain_words_tests_variables_and_the_server_are_let_through() {
        let text = "/// Any platform.\nfn f() { format!(\"{timeout_ms} ms, {element_id:?}\"); let tap_element = 1; }\n\
                    // tap_element\n#[cfg(test)]\nmod tests { const A: &str = \"tap_element\"; }\n\
                    const A: &str = \"tap_elements\";";
        assert_eq!(breaches("plain", "crates/core/src/a.rs", text), Vec::<String>::new());
        let text = "const A: &str = \"tap_element\";";
        for path in
            ["crates/server/src/a.rs", "crates/core/tests/a.rs", "crates/core/src/tests.rs", "xtask/src/a.rs"]
        {
            assert_eq!(breaches("server", path, text), Vec::<String>::new(), "{path}");
        }
    }

    #[test]
    fn an_allowed_name_is_let_through_in_its_place_only() {
        let text = "/// Rests for `hold_ms`.\nfn f() {}";
        assert_eq!(breaches("allowed", "crates/core/src/port/input.rs", text), Vec::<String>::new());
        assert_eq!(breaches("allowed", "crates/engine/src/input.rs", text).len(), 1);
    }

    #[test]
    fn doubled_braces_are_no_variable() {
        assert_eq!(words("{{a_b}} {c_d} {{{e_f}}}").collect::<Vec<_>>(), ["a_b"]);
    }

    #[test]
    fn without_a_tool_list_the_rule_does_not_pass() {
        let tree = Tree::new("tool-names-none");
        assert_eq!(check(tree.root(), &[]).unwrap().len(), 1);
    }
}
