//! Requirement ids: what a test or a page cites is defined in docs/requirements.md.

use std::collections::BTreeSet;
use std::path::Path;

use super::{files, read};

const PAGE: &str = "docs/requirements.md";

/// Kinds of requirement; an id is one of these, a hyphen and two digits.
const KINDS: &[&str] = &[
    "ID", "ST", "SY", "AC", "LC", "VR", "AD", "SM", "VS", "RC", "TR", "DF", "GE", "OB", "MG", "EN", "MC",
    "SE", "AG", "MT", "PL", "CO",
];

/// Kinds of fault; an id is one of these and a number from 1 to 99.
const FAULTS: &[char] = &['W', 'S', 'F'];

/// Where ids are cited, and in which files. Data files use words of the same look.
const CITING: &[(&str, &[&str])] =
    &[("crates", &[".rs", ".md"]), ("scenarios", &[".md"]), ("docs", &[".md"])];

pub fn check(root: &Path) -> Result<Vec<String>, String> {
    let page = read(root, Path::new(PAGE))?;
    let mut defined = BTreeSet::new();
    let mut breaches = Vec::new();
    for (at, line) in page.lines().enumerate() {
        let Some(id) = definition(line) else { continue };
        if !defined.insert(id.to_owned()) {
            breaches.push(format!("{PAGE}:{}: {id} is defined twice", at + 1));
        }
    }
    for (folder, endings) in CITING {
        for ending in *endings {
            for path in files(root, folder, ending)? {
                for (at, line) in read(root, &path)?.lines().enumerate() {
                    let undefined = ids(line).filter(|id| !defined.contains(*id));
                    breaches.extend(
                        undefined.map(|id| {
                            format!("{}:{}: {id} is not defined in {PAGE}", path.display(), at + 1)
                        }),
                    );
                }
            }
        }
    }
    Ok(breaches)
}

/// The id of a line like `- SY-07 Every wait ends.`
fn definition(line: &str) -> Option<&str> {
    let first = line.strip_prefix("- ")?.split_whitespace().next()?;
    ids(first).next().filter(|id| *id == first)
}

fn ids(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-')).flat_map(|word| {
        // `W5-W7` and `SY-01-SY-04` are read part by part.
        let parts: Vec<&str> = word.split('-').collect();
        let fault = parts.iter().copied().filter(|part| is_fault(part)).collect::<Vec<_>>();
        let pairs = parts.windows(2).filter(|pair| KINDS.contains(&pair[0]) && is_two_digits(pair[1]));
        let requirement = pairs.map(|pair| {
            let start = pair[0].as_ptr() as usize - word.as_ptr() as usize;
            &word[start..start + pair[0].len() + 1 + pair[1].len()]
        });
        fault.into_iter().chain(requirement.collect::<Vec<_>>())
    })
}

fn is_two_digits(text: &str) -> bool {
    text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_fault(word: &str) -> bool {
    word.strip_prefix(FAULTS).is_some_and(|number| {
        matches!(number.len(), 1 | 2)
            && !number.starts_with('0')
            && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::super::tree::Tree;
    use super::*;

    fn breaches(name: &str, path: &str, text: &str) -> Vec<String> {
        let tree = Tree::new(&format!("requirements-{name}"));
        tree.write(PAGE, "# Requirements\n- SY-07 Every wait ends.\n- W5 No value is made up.\n");
        tree.write(path, text);
        check(tree.root()).unwrap()
    }

    #[test]
    fn a_defined_id_may_be_cited() {
        let text = "// SY-07, W5: SY-07. (W5)\n\"S0\" AES-12 UTF-8 SY-071 WY5 W5a S_1 F0";
        assert_eq!(breaches("good", "crates/a/src/lib.rs", text), Vec::<String>::new());
        assert_eq!(breaches("data", "docs/figures/a.tsv", "SY-99 S1"), Vec::<String>::new());
    }

    #[test]
    fn an_undefined_id_is_a_breach_wherever_it_is_cited() {
        for (name, path, text) in [
            ("test", "crates/a/tests/it.rs", "/// SY-08: waits end."),
            ("fault", "crates/a/src/lib.rs", "// W6"),
            ("range", "docs/a.md", "SY-07-SY-08"),
            ("fault-range", "docs/a.md", "W5-W6"),
            ("scenario", "scenarios/a.md", "Proves F12."),
            ("link", "docs/a.md", "[SY-08](a.md)"),
        ] {
            let found = breaches(name, path, text);
            assert!(
                found.iter().any(|breach| breach.ends_with("is not defined in docs/requirements.md")),
                "{name}"
            );
        }
        let told = breaches("told", "crates/a/src/lib.rs", "\n// SY-08\n");
        assert_eq!(told, ["crates/a/src/lib.rs:2: SY-08 is not defined in docs/requirements.md"]);
    }

    #[test]
    fn an_id_has_one_definition() {
        assert_eq!(breaches("twice", PAGE, "- SY-07 One.\n- SY-07 Two.\n").len(), 1);
    }
}
