//! Rust files as facts: which strings, paths, calls, types and modules they hold, on which line, and whether that line
//! is code of the product or of a test.

mod facts;
mod imports;
mod macros;

use std::collections::BTreeSet;
use std::path::Path;

use super::{files, read};

pub use facts::{Fact, Kind};

/// Folders with our own Rust code.
const FOLDERS: &[&str] = &["crates", "xtask"];

pub struct SourceFile {
    /// Path below the root, with forward slashes.
    pub path: String,
    pub text: String,
    /// True if the whole file is compiled for tests only.
    pub is_test: bool,
    facts: Vec<Fact>,
}

impl SourceFile {
    pub fn all_facts(&self) -> impl Iterator<Item = &Fact> {
        self.facts.iter()
    }

    /// Facts about what is shipped: examples and tests are left out.
    pub fn product_facts(&self) -> impl Iterator<Item = &Fact> {
        let is_product = !self.is_test && self.path.contains("/src/");
        self.facts.iter().filter(move |fact| is_product && !fact.is_test)
    }

    /// True if the file belongs to the crate in this folder below `crates`.
    pub fn is_in(&self, krate: &str) -> bool {
        self.path
            .strip_prefix("crates/")
            .and_then(|rest| rest.split_once('/'))
            .is_some_and(|(name, _)| name == krate)
    }
}

/// Every file of ours that parses, and a breach for each that does not.
pub fn load(root: &Path) -> Result<(Vec<SourceFile>, Vec<String>), String> {
    let (mut sources, mut breaches) = (Vec::new(), Vec::new());
    for folder in FOLDERS {
        for path in files(root, folder, ".rs")? {
            let text = read(root, &path)?;
            let path = path.to_string_lossy().replace('\\', "/");
            match facts::facts(&module(&path), &text) {
                Ok((facts, is_test)) => {
                    let is_test = is_test || is_test_path(&path);
                    sources.push(SourceFile { path, text, is_test, facts });
                }
                Err(why) => breaches.push(format!("{path}:{why}")),
            }
        }
    }
    mark_test_modules(&mut sources);
    Ok((sources, breaches))
}

fn is_test_path(path: &str) -> bool {
    path.split('/').any(|part| part == "tests" || part == "benches" || part == "tests.rs")
}

/// Marks the files that a `#[cfg(test)] mod name;` somewhere else brings in, and the files below them.
fn mark_test_modules(sources: &mut [SourceFile]) {
    let mut test_modules = BTreeSet::new();
    for source in &*sources {
        let folder = folder_of_modules(&source.path);
        for fact in source.facts.iter().filter(|fact| fact.is_test || source.is_test) {
            if let Kind::Module(name) = &fact.kind {
                test_modules.insert(format!("{folder}/{name}"));
            }
        }
    }
    for source in sources {
        let own = source.path.trim_end_matches(".rs");
        source.is_test |= test_modules.iter().any(|module| {
            own.strip_prefix(module.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        });
    }
}

/// The folder in which the files of a file's modules are: that of `src/a.rs` and of `src/a/mod.rs` is `src/a`.
fn folder_of_modules(path: &str) -> &str {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    match name {
        "mod.rs" | "lib.rs" | "main.rs" => folder,
        _ => path.trim_end_matches(".rs"),
    }
}

/// Names of the modules from the crate's root to this file.
fn module(path: &str) -> Vec<String> {
    let folder = folder_of_modules(path);
    let below_src = folder.split_once("/src/").map_or("", |(_, rest)| rest);
    below_src.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tree::Tree;
    use super::*;

    /// Paths and strings of the product, of a tree that holds these files.
    fn product(name: &str, files: &[(&str, &str)]) -> Vec<String> {
        let tree = Tree::new(name);
        for (path, text) in files {
            tree.write(path, text);
        }
        let (sources, breaches) = load(tree.root()).unwrap();
        assert_eq!(breaches, Vec::<String>::new());
        let facts = sources.iter().flat_map(SourceFile::product_facts);
        facts
            .filter_map(|fact| match &fact.kind {
                Kind::Text(text) => Some(text.clone()),
                _ => None,
            })
            .collect()
    }

    #[test]
    fn only_what_is_for_tests_is_left_out() {
        let text = "fn a() { \"kept 1\"; }\n#[cfg(test)]\nmod tests {\n fn b() { { \"gone\"; } }\n}\n\
                    fn c() { \"kept 2\"; }\n#[cfg(all(test, unix))]\nfn d() { \"gone\"; }\n\
                    #[cfg(any(test, unix))]\nfn e() { \"kept 3\"; }\nstruct S;\n\
                    impl S {\n #[cfg(test)]\n fn f() { \"gone\"; }\n fn g() { \"kept 4\"; }\n}\n\
                    #[test]\nfn h() { \"gone\"; }\n";
        let found = product("rust-tests", &[("crates/a/src/lib.rs", text)]);
        assert_eq!(found, ["kept 1", "kept 2", "kept 3", "kept 4"]);
    }

    #[test]
    fn a_module_declared_for_tests_is_a_test_with_all_its_files() {
        let files = [
            ("crates/a/src/lib.rs", "#[cfg(test)]\nmod helper;\nmod kept;\n"),
            ("crates/a/src/helper.rs", "mod deep;\nconst A: &str = \"gone\";"),
            ("crates/a/src/helper/deep.rs", "const A: &str = \"gone\";"),
            ("crates/a/src/kept.rs", "const A: &str = \"kept\";"),
            ("crates/a/src/inner.rs", "#![cfg(test)]\nconst A: &str = \"gone\";"),
            ("crates/a/tests/it.rs", "const A: &str = \"gone\";"),
            ("crates/a/examples/it.rs", "const A: &str = \"gone\";"),
        ];
        assert_eq!(product("rust-test-modules", &files), ["kept"]);
    }

    #[test]
    fn a_file_that_does_not_parse_is_a_breach() {
        let tree = Tree::new("rust-broken");
        tree.write("crates/a/src/lib.rs", "fn a() {}\nfn b( {}\n");
        let (sources, breaches) = load(tree.root()).unwrap();
        assert!(sources.is_empty());
        assert!(breaches[0].starts_with("crates/a/src/lib.rs:2: does not parse: "), "{breaches:?}");
    }

    #[test]
    fn modules_are_named_from_the_root_of_the_crate() {
        assert_eq!(module("crates/core/src/lib.rs"), Vec::<String>::new());
        assert_eq!(module("crates/core/src/intent/mod.rs"), ["intent"]);
        assert_eq!(module("crates/core/src/intent/selector.rs"), ["intent", "selector"]);
    }
}
