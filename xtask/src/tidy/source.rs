//! Rules on every Rust file: its length, and what is banned in it.

use super::rust::{Fact, Kind, SourceFile};

const FILE_LINES_MAX: usize = 600;
/// The modules that start programs: those of the product, and the soak, which starts the product.
const MAY_SPAWN: [&str; 8] = [
    "crates/android/src/adb/server_start.rs",
    "crates/build/src/process.rs",
    "crates/ios/src/simctl/process.rs",
    "crates/server/src/handles.rs",
    "crates/ios/src/idb/start.rs",
    "crates/sim/src/soak/server.rs",
    "crates/virtual-device/src/framework/java.rs",
    "crates/virtual-device/src/framework/process.rs",
];
/// Spelt in two halves, or this file would break its own rule.
const UNFINISHED: &str = concat!("FIX", "ME");

pub fn check_length(sources: &[SourceFile]) -> Vec<String> {
    let long =
        sources.iter().filter(|source| !source.is_test).map(|source| (source, source.text.lines().count()));
    long.filter(|(_, lines)| *lines > FILE_LINES_MAX)
        .map(|(source, lines)| format!("{}: {lines} lines, more than {FILE_LINES_MAX}", source.path))
        .collect()
}

/// What is banned in tests too.
pub fn check_banned(sources: &[SourceFile]) -> Vec<String> {
    let mut breaches = Vec::new();
    for source in sources {
        for (at, _) in source.text.lines().enumerate().filter(|(_, line)| line.contains(UNFINISHED)) {
            breaches.push(format!("{}:{}: {}", source.path, at + 1, UNFINISHED_WORK));
        }
        for fact in source.all_facts() {
            if let Some(why) = banned(source, fact) {
                breaches.push(format!("{}:{}: {why}", source.path, fact.line));
            }
        }
    }
    breaches
}

const UNFINISHED_WORK: &str = "unfinished work: finish it, or write down the gap where users see it";

fn banned(source: &SourceFile, fact: &Fact) -> Option<&'static str> {
    // xtask starts programs and reads the clock, and so do the examples that measure.
    let is_tool = source.path.starts_with("xtask/");
    let is_example = source.path.contains("/examples/");
    match &fact.kind {
        Kind::Attribute(name) if name == "ignore" => {
            Some("#[ignore]: a test that does not run proves nothing; skip it with its reason, or delete it")
        }
        Kind::Macro(name) if name == "todo" || name == "unimplemented" => Some(UNFINISHED_WORK),
        Kind::Path(path) if ends_with(path, &["thread", "sleep"]) && !is_tool => {
            Some("thread::sleep: sleeping is not synchronisation")
        }
        Kind::Import(path) if names_std_instant(path) && !is_tool && !is_example => Some(STD_INSTANT),
        Kind::Path(path) if names_std_instant(path) && !is_tool && !is_example => Some(STD_INSTANT),
        _ => None,
    }
}

const STD_INSTANT: &str = "std::time::Instant: time is tokio::time, so that tests can pause it";

fn names_std_instant(path: &[String]) -> bool {
    matches!(path, [std, time, name, ..] if std == "std" && time == "time" && (name == "Instant" || name == "*"))
}

fn ends_with(path: &[String], end: &[&str]) -> bool {
    path.len() >= end.len() && path[path.len() - end.len()..].iter().zip(end).all(|(a, b)| a == b)
}

/// Tests start programs to be sure of them; the product does not.
pub fn check_spawns(sources: &[SourceFile]) -> Vec<String> {
    let mut breaches = Vec::new();
    for source in sources
        .iter()
        .filter(|source| !source.path.starts_with("xtask/") && !MAY_SPAWN.contains(&source.path.as_str()))
    {
        let is_spawn =
            |fact: &&Fact| matches!(&fact.kind, Kind::Path(path) if ends_with(path, &["Command", "new"]));
        for fact in source.all_facts().filter(|fact| !source.is_test && !fact.is_test).filter(is_spawn) {
            let why = "Command::new: the product starts nothing but the adb server, builds, xcrun, companions, the framework phone's Java and the program of the system's keyring";
            breaches.push(format!("{}:{}: {why}", source.path, fact.line));
        }
    }
    breaches
}

#[cfg(test)]
mod tests {
    use super::super::rust::load;
    use super::super::tree::Tree;
    use super::*;

    /// What is wrong with a tree that holds only this file.
    fn breaches(path: &str, text: &str) -> Vec<String> {
        let tree = Tree::new(&format!("source-{}", path.replace('/', "-")));
        tree.write(path, text);
        let (sources, mut breaches) = load(tree.root()).unwrap();
        breaches.extend([check_length(&sources), check_banned(&sources), check_spawns(&sources)].concat());
        breaches
    }

    #[test]
    fn a_file_has_600_lines_at_most() {
        let lines = |n: usize| "// x\n".repeat(n);
        assert_eq!(breaches("crates/a/src/fits.rs", &lines(600)), Vec::<String>::new());
        let long = breaches("crates/a/src/long.rs", &lines(601));
        assert_eq!(long, ["crates/a/src/long.rs: 601 lines, more than 600"]);
        assert_eq!(breaches("crates/a/tests/long.rs", &lines(601)), Vec::<String>::new());
    }

    #[test]
    fn each_banned_word_is_found_where_it_is_banned() {
        let unfinished = format!("// {UNFINISHED} later");
        for (name, line) in [
            ("ignore", "#[test] #[ignore = \"slow\"] fn f() {}"),
            ("unfinished", unfinished.as_str()),
            ("todo", "fn f() { todo!() }"),
            ("unimplemented", "fn f() { unimplemented!() }"),
            ("spawn", "fn f() { let c = std::process::Command::new(name); }"),
            ("spawn-imported", "use std::process::Command as C; fn f() { C::new(name); }"),
            ("sleep", "fn f() { std::thread::sleep(a); }"),
            ("sleep-imported", "use std::thread::sleep; fn f() { sleep(a); }"),
            ("instant", "fn f() { let a = std::time::Instant::now(); }"),
            ("instant-list", "use std::time::{Duration, Instant};"),
            ("instant-all", "use std::time::*;"),
            ("in-a-macro", "fn f() { assert!(std::time::Instant::now() < end); }"),
        ] {
            let found = breaches(&format!("crates/a/src/{name}.rs"), line);
            assert_eq!(found.len(), 1, "{name}: {found:?}");
        }
    }

    #[test]
    fn harmless_look_alikes_are_let_through() {
        let text = "use std::time::Duration;\nuse tokio::time::Instant;\n// thread::sleep is banned\n\
                    const A: &str = \"todo!\";\nfn f() { let b = MyCommand::new(); let c = Instant::now(); }\n\
                    use std::time::InstantLike;\nfn todo() {}\n";
        assert_eq!(breaches("crates/a/src/fine.rs", text), Vec::<String>::new());
    }

    #[test]
    fn spawning_is_for_the_one_module_and_for_tests() {
        let text = "fn f() { let c = Command::new(name); }";
        for path in [MAY_SPAWN[0], MAY_SPAWN[1], MAY_SPAWN[2], "crates/a/tests/it.rs", "xtask/src/run.rs"] {
            assert_eq!(breaches(path, text), Vec::<String>::new(), "{path}");
        }
        let tested = format!("#[cfg(test)]\nmod tests {{\n{text}\n}}\n");
        assert_eq!(breaches("crates/a/src/quoting.rs", &tested), Vec::<String>::new());
        assert_eq!(breaches("crates/server/tests/slow.rs", "fn f() { std::thread::sleep(a); }").len(), 1);
    }
}
