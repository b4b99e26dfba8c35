//! What only Unix has is named in few files, and there behind a condition, so that the others have an answer too. Windows
//! builds are made by the release workflow only; this rule notices a break before that.

use super::rust::{Kind, SourceFile};

/// Beginnings of paths.
const ONLY_UNIX: &[&[&str]] = &[
    &["std", "os", "unix"],
    &["std", "os", "fd"],
    &["tokio", "net", "UnixDatagram"],
    &["tokio", "net", "UnixListener"],
    &["tokio", "net", "UnixSocket"],
    &["tokio", "net", "UnixStream"],
    &["tokio", "net", "unix"],
    &["tokio", "signal", "unix"],
    &["rustix"],
];

/// Who may, and for what.
const LISTED: &[(&str, &str)] = &[
    ("crates/android/src/adb/key.rs", "the mode of the key"),
    ("crates/build/src/environment.rs", "whether a file may be run"),
    ("crates/build/src/process.rs", "groups of processes"),
    ("crates/ios/src/connect.rs", "sockets of usbmuxd and of companions"),
    ("crates/ios/src/idb/start.rs", "the mode of a folder for sockets"),
    ("crates/proxy/src/authority.rs", "the mode of the authority's key"),
    ("crates/server/src/audit.rs", "the mode of the audit log"),
    ("crates/server/src/killed.rs", "the lock by which a process that is gone is told"),
    ("crates/server/src/main.rs", "signals, and a stdout that was closed"),
    ("crates/server/src/rules.rs", "the mode of the file with the token"),
    ("crates/server/src/trace_file.rs", "the mode of a session's file"),
    ("crates/virtual-device/src/unix.rs", "sockets and scripts of the virtual iPhone"),
    ("xtask/src/bench/peers.rs", "a link"),
];

pub fn check(sources: &[SourceFile]) -> Vec<String> {
    let mut breaches = Vec::new();
    for source in sources {
        let is_listed = LISTED.iter().any(|(path, _)| *path == source.path);
        for fact in source.product_facts() {
            let (Kind::Path(path) | Kind::Import(path)) = &fact.kind else { continue };
            if !ONLY_UNIX.iter().any(|beginning| begins(path, beginning)) {
                continue;
            }
            let at = format!("{}:{}: {}", source.path, fact.line, path.join("::"));
            if !fact.is_unix {
                breaches.push(format!(
                    "{at} is not behind #[cfg(unix)]: give other systems an answer such as \"not available on Windows\""
                ));
            } else if !is_listed {
                breaches.push(format!("{at} is not in the list of xtask/src/tidy/unix.rs"));
            }
        }
    }
    breaches
}

fn begins(path: &[String], beginning: &[&str]) -> bool {
    path.len() >= beginning.len() && path.iter().zip(beginning).all(|(a, b)| a == b)
}

#[cfg(test)]
mod tests {
    use super::super::rust::load;
    use super::super::tree::Tree;
    use super::*;

    fn breaches(name: &str, path: &str, text: &str) -> usize {
        let tree = Tree::new(&format!("unix-{name}"));
        tree.write(path, text);
        let (sources, unparsed) = load(tree.root()).unwrap();
        assert_eq!(unparsed, Vec::<String>::new());
        check(&sources).len()
    }

    #[test]
    fn what_only_unix_has_stands_behind_a_condition() {
        let listed = LISTED[0].0;
        for (name, text, wanted) in [
            ("import", "use tokio::net::{TcpStream, UnixStream};", 1),
            ("path", "fn f() { let id = rustix::process::getpid(); }", 1),
            ("short", "#[cfg(unix)]\nuse std::os::unix;\nfn f() { unix::fs::symlink(a, b); }", 1),
            ("other-condition", "#[cfg(not(unix))]\nuse std::os::unix::fs::symlink;", 1),
            ("any", "#[cfg(any(unix, windows))]\nuse std::os::unix::fs::symlink;", 1),
            ("item", "#[cfg(unix)]\nuse std::os::unix::fs::symlink;", 0),
            ("block", "fn f() {\n #[cfg(unix)]\n { use std::os::unix::fs::symlink; symlink(a, b); }\n}", 0),
            ("call", "fn f() {\n #[cfg(unix)]\n std::os::unix::fs::symlink(a, b);\n}", 0),
            (
                "local",
                "fn f() {\n #[cfg(target_os = \"linux\")]\n let a = tokio::net::unix::pipe::open();\n}",
                0,
            ),
            ("method", "struct S;\nimpl S {\n #[cfg(unix)]\n fn f() { rustix::f(); }\n}", 0),
            ("all", "#[cfg(all(unix, feature = \"a\"))]\nmod m { use rustix::process; }", 0),
            ("test", "#[cfg(test)]\nmod tests { use std::os::unix::fs::symlink; }", 0),
            ("other", "use tokio::net::TcpStream;\nfn f() { let unix = 1; }", 0),
        ] {
            assert_eq!(breaches(name, listed, text), wanted, "{name}");
        }
    }

    #[test]
    fn a_file_that_is_not_listed_may_not() {
        let text = "#[cfg(unix)]\nuse std::os::unix::fs::symlink;";
        assert_eq!(breaches("unlisted", "crates/core/src/a.rs", text), 1);
        assert_eq!(breaches("tool", "xtask/src/a.rs", text), 1, "a release is packed by it on every system");
        assert_eq!(breaches("tests", "crates/a/tests/a.rs", "use std::os::unix::fs::symlink;"), 0);
    }
}
