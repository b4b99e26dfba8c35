//! Rules on the text of Rust files.

use std::path::Path;

use super::mask::{block_end, is_word, mask, without_tests};
use super::{files, read};

const FILE_LINES_MAX: usize = 600;
const FUNCTION_LINES_MAX: usize = 70;
/// The one module of the product that starts a program.
const MAY_SPAWN: &str = "crates/android/src/adb/server_start.rs";
/// Spelt in two halves, or this file would break its own rule.
const UNFINISHED: &str = concat!("FIX", "ME");

pub fn check(root: &Path) -> Result<Vec<String>, String> {
    let mut breaches = Vec::new();
    for folder in ["crates", "xtask"] {
        for path in files(root, folder, ".rs")? {
            let text = read(root, &path)?;
            let path = path.to_string_lossy().replace('\\', "/");
            breaches.extend(check_file(&path, &text));
        }
    }
    Ok(breaches)
}

fn check_file(path: &str, text: &str) -> Vec<String> {
    let masked = mask(text);
    let product = if is_test(path) { String::new() } else { without_tests(&masked) };
    let mut breaches = banned(path, text, &masked);
    breaches.extend(banned_in_product(path, &product));
    if !is_test(path) {
        let lines = text.lines().count();
        if lines > FILE_LINES_MAX {
            breaches.push(format!("{path}: {lines} lines, more than {FILE_LINES_MAX}"));
        }
        for (line, name, lines) in functions(&product) {
            if lines > FUNCTION_LINES_MAX {
                breaches.push(format!(
                    "{path}:{line}: fn {name} has {lines} lines, more than {FUNCTION_LINES_MAX}"
                ));
            }
        }
    }
    breaches
}

fn is_test(path: &str) -> bool {
    path.split('/').any(|part| part == "tests" || part == "benches" || part == "tests.rs")
}

fn banned(path: &str, text: &str, masked: &str) -> Vec<String> {
    let is_xtask = path.starts_with("xtask/");
    let mut breaches = Vec::new();
    for (at, (raw, code)) in text.lines().zip(masked.lines()).enumerate() {
        let mut ban = |what: &str, why: &str| breaches.push(format!("{path}:{}: {what}: {why}", at + 1));
        if code.contains("#[ignore") {
            ban(
                "#[ignore]",
                "a test that does not run proves nothing; skip it with its reason, or delete it",
            );
        }
        if raw.contains(UNFINISHED) || has_word(code, "todo!") || has_word(code, "unimplemented!") {
            ban("unfinished work", "finish it, or write down the gap where users see it");
        }
        if has_word(code, "thread::sleep") && !is_xtask {
            ban("thread::sleep", "sleeping is not synchronisation");
        }
        if names_std_instant(code) && !is_xtask && !path.contains("/examples/") {
            ban("std::time::Instant", "time is tokio::time, so that tests can pause it");
        }
    }
    breaches
}

/// Tests start programs to be sure of them; the product does not.
fn banned_in_product(path: &str, product: &str) -> Vec<String> {
    if path.starts_with("xtask/") || path == MAY_SPAWN {
        return Vec::new();
    }
    let spawns = product.lines().enumerate().filter(|(_, code)| has_word(code, "Command::new"));
    spawns
        .map(|(at, _)| {
            format!("{path}:{}: Command::new: the product starts nothing but the adb server", at + 1)
        })
        .collect()
}

fn names_std_instant(code: &str) -> bool {
    let Some((_, after)) = code.split_once("std::time::") else { return false };
    let names = match after.strip_prefix('{') {
        Some(list) => list.split('}').next().unwrap_or(""),
        None => after,
    };
    names.split(',').any(|name| name.trim().split(|c: char| !c.is_alphanumeric()).next() == Some("Instant"))
}

/// Whether `word` stands there, not as the tail of a longer one.
fn has_word(code: &str, word: &str) -> bool {
    code.match_indices(word).any(|(at, _)| at == 0 || !is_word(code.as_bytes()[at - 1]))
}

/// Line, name and length of each function with a body. The length is that of clippy's `too_many_lines`: lines of code
/// within the braces.
fn functions(code: &str) -> Vec<(usize, String, usize)> {
    let bytes = code.as_bytes();
    let mut found = Vec::new();
    for (at, _) in code.match_indices("fn ") {
        if at > 0 && is_word(bytes[at - 1]) {
            continue;
        }
        let name: String = code[at + 3..].chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        let Some(open) = body(bytes, at).filter(|_| !name.is_empty()) else { continue };
        let inside = &code[open + 1..block_end(bytes, open).saturating_sub(1).max(open + 1)];
        let lines = inside.lines().filter(|line| !line.trim().is_empty()).count();
        found.push((code[..at].matches('\n').count() + 1, name, lines));
    }
    found
}

/// Where the body of the function at `at` opens: the first brace outside of parentheses, unless a semicolon comes first.
fn body(bytes: &[u8], at: usize) -> Option<usize> {
    let mut depth = 0usize;
    for (at, byte) in bytes.iter().enumerate().skip(at) {
        match byte {
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth = depth.saturating_sub(1),
            b'{' if depth == 0 => return Some(at),
            b';' if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::tree::Tree;
    use super::*;

    /// What is wrong with a tree that holds only this file.
    fn breaches(path: &str, text: &str) -> Vec<String> {
        let tree = Tree::new(&format!("source-{}", path.replace('/', "-")));
        tree.write(path, text);
        check(tree.root()).unwrap()
    }

    fn function(lines: usize) -> String {
        format!("fn long(a: [u8; 2]) -> u8 {{\n{}}}\n", "    step();\n".repeat(lines))
    }

    #[test]
    fn a_file_has_600_lines_at_most() {
        let lines = |n: usize| "// x\n".repeat(n);
        assert_eq!(breaches("crates/a/src/fits.rs", &lines(600)), Vec::<String>::new());
        assert_eq!(breaches("crates/a/src/long.rs", &lines(601)).len(), 1);
        assert_eq!(breaches("crates/a/tests/long.rs", &lines(601)), Vec::<String>::new());
    }

    #[test]
    fn a_function_has_70_lines_at_most() {
        assert_eq!(breaches("crates/a/src/f70.rs", &function(70)), Vec::<String>::new());
        let found = breaches("crates/a/src/f71.rs", &format!("// first\n{}", function(71)));
        assert_eq!(found, ["crates/a/src/f71.rs:2: fn long has 71 lines, more than 70"]);
        let tests = format!("#[cfg(test)]\nmod tests {{\n{}}}\n", function(71));
        assert_eq!(breaches("crates/a/src/tested.rs", &tests), Vec::<String>::new());
    }

    #[test]
    fn blank_lines_and_comments_do_not_make_a_function_long() {
        let text = format!("fn f() {{\n{}{}}}\n", "\n    // why\n".repeat(40), "    step();\n".repeat(70));
        assert_eq!(breaches("crates/a/src/airy.rs", &text), Vec::<String>::new());
    }

    #[test]
    fn each_banned_word_is_found_where_it_is_banned() {
        let unfinished = format!("// {UNFINISHED} later");
        for (name, line) in [
            ("ignore", "#[ignore = \"slow\"]"),
            ("unfinished", unfinished.as_str()),
            ("todo", "fn f() { todo!() }"),
            ("unimplemented", "fn f() { unimplemented!() }"),
            ("spawn", "let c = std::process::Command::new(name);"),
            ("sleep", "std::thread::sleep(a);"),
            ("instant", "let a = std::time::Instant::now();"),
            ("instant-list", "use std::time::{Duration, Instant};"),
        ] {
            let found = breaches(&format!("crates/a/src/{name}.rs"), line);
            assert_eq!(found.len(), 1, "{name}: {found:?}");
        }
    }

    #[test]
    fn harmless_look_alikes_are_let_through() {
        let text = "use std::time::Duration;\nuse tokio::time::Instant;\n// thread::sleep is banned\nlet a = \"todo!\";\n\
                    let b = MyCommand::new();\nuse std::time::InstantLike;\n";
        assert_eq!(breaches("crates/a/src/fine.rs", text), Vec::<String>::new());
    }

    #[test]
    fn spawning_is_for_the_one_module_and_for_tests() {
        let text = "let c = Command::new(name);";
        for path in [MAY_SPAWN, "crates/a/tests/it.rs", "xtask/src/run.rs"] {
            assert_eq!(breaches(path, text), Vec::<String>::new(), "{path}");
        }
        let tested = format!("#[cfg(test)]\nmod tests {{\n{text}\n}}\n");
        assert_eq!(breaches("crates/a/src/quoting.rs", &tested), Vec::<String>::new());
        assert_eq!(breaches("crates/server/tests/slow.rs", "std::thread::sleep(a);").len(), 1);
    }
}
