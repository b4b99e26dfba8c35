//! Which room (top folder) of core may know which. The rooms stand in one order and imports go one way along it, so
//! that no two rooms can need each other.

use std::collections::BTreeSet;

use super::rust::{Fact, Kind, SourceFile};

/// From the bottom up: a room knows those before it.
const ROOMS: &[&str] = &[
    "text", "screen", "port", "failure", "meaning", "identity", "change", "intent", "outline", "action",
    "evidence",
];

const SOURCES: &str = "crates/core/src/";

pub fn check(sources: &[SourceFile]) -> Vec<String> {
    let mut breaches = Vec::new();
    for source in sources {
        let Some(below) = source.path.strip_prefix(SOURCES).filter(|below| *below != "lib.rs") else {
            continue;
        };
        let name = below.split('/').next().unwrap_or(below).trim_end_matches(".rs");
        let Some(room) = ROOMS.iter().position(|room| *room == name) else {
            breaches.push(format!("{}: not in a room of core ({})", source.path, ROOMS.join(", ")));
            continue;
        };
        // An import would be told again at each use of what it brings in.
        let mut told = BTreeSet::new();
        for fact in source.product_facts() {
            if let Some(why) = breach(room, fact).filter(|why| told.insert(why.clone())) {
                breaches.push(format!("{}:{}: {why}", source.path, fact.line));
            }
        }
    }
    breaches
}

fn breach(room: usize, fact: &Fact) -> Option<String> {
    let (Kind::Path(path) | Kind::Import(path)) = &fact.kind else { return None };
    let [first, other, ..] = path.as_slice() else { return None };
    if first != "crate" {
        return None;
    }
    match ROOMS.iter().position(|room| room == other) {
        Some(other) if other <= room => None,
        Some(other) => Some(format!("{} must not know {}, which comes after it", ROOMS[room], ROOMS[other])),
        None => Some(format!("crate::{other} is in no room; name the room in the path")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::rust::load;
    use super::super::tree::Tree;
    use super::*;

    fn breaches(name: &str, files: &[(&str, &str)]) -> Vec<String> {
        let tree = Tree::new(&format!("rooms-{name}"));
        for (path, text) in files {
            tree.write(path, text);
        }
        check(&load(tree.root()).unwrap().0)
    }

    #[test]
    fn a_room_knows_itself_and_those_before_it() {
        let files = [
            ("crates/core/src/lib.rs", "pub mod text;\npub mod action;\npub use action::Request;\n"),
            (
                "crates/core/src/action/request.rs",
                "use crate::screen::Element;\nuse super::Failure;\nuse std::fmt;\n",
            ),
            ("crates/core/src/text/quote.rs", "#[cfg(test)]\nmod tests { use crate::action::Request; }\n"),
            ("crates/core/src/screen/tests.rs", "use crate::action::Request;\n"),
            ("crates/core/src/outline.rs", "fn f() { crate::intent::resolve::find(); }\n"),
            ("crates/engine/src/lib.rs", "use crate::anything::Else;\n"),
        ];
        assert_eq!(breaches("good", &files), Vec::<String>::new());
    }

    #[test]
    fn each_way_to_know_a_later_room_is_a_breach() {
        for (name, text) in [
            ("import", "use crate::intent::Selector;"),
            ("list", "use crate::{screen::Element, intent::Selector};"),
            ("super", "use super::super::intent::Selector;"),
            ("path", "fn f(a: &crate::intent::Selector) {}"),
            ("short-path", "use crate::{intent}; "),
            ("macro", "fn f() { format!(\"{}\", crate::intent::find()); }"),
        ] {
            let found = breaches(name, &[("crates/core/src/change/diff.rs", text)]);
            assert_eq!(
                found,
                ["crates/core/src/change/diff.rs:1: change must not know intent, which comes after it"],
                "{name}"
            );
        }
    }

    #[test]
    fn of_two_rooms_that_need_each_other_one_breaks_the_rule() {
        let files = [
            ("crates/core/src/identity/pairing.rs", "use crate::change::Diff;"),
            ("crates/core/src/change/diff.rs", "use crate::identity::Ids;"),
        ];
        assert_eq!(breaches("cycle", &files).len(), 1);
    }

    #[test]
    fn a_file_outside_the_rooms_is_a_breach() {
        let found = breaches("stray", &[("crates/core/src/utils.rs", ""), ("crates/core/src/misc/a.rs", "")]);
        assert_eq!(found.len(), 2, "{found:?}");
    }

    #[test]
    fn a_way_around_through_the_root_is_a_breach() {
        let found = breaches("root", &[("crates/core/src/text/quote.rs", "use crate::Request;")]);
        assert_eq!(
            found,
            ["crates/core/src/text/quote.rs:1: crate::Request is in no room; name the room in the path"]
        );
    }
}
