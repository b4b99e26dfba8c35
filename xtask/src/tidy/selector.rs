//! One selector: two types for the same thing drift apart, and then a wait and a tap mean different elements.

use super::rust::{Kind, SourceFile};

/// The field that only a selector has.
const FIELD: &str = "accessibility_id";
/// Answers in the form of the predecessor name what was found; nothing is sought with them.
const ONLY_ANSWERS: &str = "crates/server/src/compat/";

struct Place {
    path: &'static str,
    name: &'static str,
    /// Crates in which this is the only such type.
    crates: &'static [&'static str],
}

const PLACES: &[Place] = &[
    Place { path: "crates/core/src/intent/selector.rs", name: "Selector", crates: &["core", "engine"] },
    // The JSON form, at the edge.
    Place { path: "crates/server/src/target.rs", name: "SelectorArg", crates: &["server"] },
];

pub fn check(sources: &[SourceFile]) -> Vec<String> {
    let mut breaches = Vec::new();
    for place in PLACES {
        let mut is_there = false;
        let asks = |source: &&SourceFile| !source.path.starts_with(ONLY_ANSWERS);
        let within = |source: &&SourceFile| place.crates.iter().any(|krate| source.is_in(krate));
        for source in sources.iter().filter(within).filter(asks) {
            for fact in source.product_facts() {
                match &fact.kind {
                    Kind::Type { name, fields } if fields.iter().any(|field| field == FIELD) => {
                        if source.path == place.path && name == place.name {
                            is_there = true;
                        } else {
                            let only = format!("the only one is {} in {}", place.name, place.path);
                            breaches.push(format!(
                                "{}:{}: {name} is a selector too; {only}",
                                source.path, fact.line
                            ));
                        }
                    }
                    _ => {}
                }
            }
        }
        if !is_there {
            breaches.push(format!("{}: no type {} with a field {FIELD}", place.path, place.name));
        }
    }
    breaches
}

#[cfg(test)]
mod tests {
    use super::super::rust::load;
    use super::super::tree::Tree;
    use super::*;

    const BOTH: [(&str, &str); 2] = [
        ("crates/core/src/intent/selector.rs", "pub struct Selector { pub accessibility_id: String }"),
        ("crates/server/src/target.rs", "pub struct SelectorArg { pub accessibility_id: String }"),
    ];

    fn breaches(name: &str, files: &[(&str, &str)]) -> Vec<String> {
        let tree = Tree::new(&format!("selector-{name}"));
        for (path, text) in files {
            tree.write(path, text);
        }
        check(&load(tree.root()).unwrap().0)
    }

    #[test]
    fn the_two_allowed_types_pass() {
        assert_eq!(breaches("good", &BOTH), Vec::<String>::new());
        let others = [
            ("crates/android/src/a.rs", "struct Node { accessibility_id: String }"),
            (
                "crates/engine/src/a.rs",
                "#[cfg(test)]\nmod tests { struct A { accessibility_id: u8 } }\nstruct B { id: u8 }",
            ),
        ];
        assert_eq!(breaches("others", &[BOTH, others].concat()), Vec::<String>::new());
    }

    #[test]
    fn a_second_type_is_a_breach_wherever_it_is() {
        for (name, path, text) in [
            ("engine", "crates/engine/src/a.rs", "struct Wanted { accessibility_id: String }"),
            ("core", "crates/core/src/intent/query.rs", "struct Query { accessibility_id: String }"),
            ("enum", "crates/core/src/intent/query.rs", "enum Query { By { accessibility_id: String } }"),
            ("server", "crates/server/src/tools/find.rs", "struct FindArg { accessibility_id: String }"),
        ] {
            let found = breaches(name, &[&BOTH[..], &[(path, text)]].concat());
            assert_eq!(found.len(), 1, "{name}: {found:?}");
        }
    }

    #[test]
    fn a_missing_type_is_a_breach() {
        assert_eq!(breaches("missing", &BOTH[..1]).len(), 1);
    }
}
