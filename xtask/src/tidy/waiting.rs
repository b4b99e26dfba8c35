//! Waiting and clocks have one place. A second loop that sleeps has its own idea of deadlines and cancellation, and a
//! second clock cannot be paused by the tests of the first.

use super::rust::{Kind, SourceFile};

/// Crates in which only [`MAY_WAIT`] waits or reads a clock.
const WITHOUT_CLOCK: &[&str] = &["core", "engine", "server"];

/// Files that may sleep, race a deadline and read clocks.
const MAY_WAIT: &[&str] = &["crates/engine/src/clock.rs"];

/// Crates that drive devices. Only [`MAY_TIME_OUT`] waits there.
const DRIVERS: &[&str] = &["android", "ios"];

/// Files of drivers that may bound one step of a connection, which the caller's deadline is too long for; and
/// which step that is.
const MAY_TIME_OUT: &[(&str, &str)] = &[
    ("crates/android/src/adb/server_start.rs", "the start of the adb server"),
    ("crates/android/src/adb/server.rs", "connecting to the adb server"),
    ("crates/android/src/adb/link.rs", "connecting to a phone"),
    ("crates/android/src/adb/direct.rs", "each frame of the handshake with a phone"),
    ("crates/android/src/hub.rs", "one endpoint's share of a list"),
    ("crates/android/src/helper/start.rs", "the start of the helper on a device"),
    ("crates/android/src/helper.rs", "its goodbye, and the renewal of its events while somebody listens"),
    ("crates/android/src/helper/examine.rs", "one event of a device that is examined"),
    ("crates/ios/src/source.rs", "one phone's share of a list"),
    ("crates/ios/src/idb/start.rs", "the start of a companion"),
    ("crates/ios/src/wda/start.rs", "the start of WebDriverAgent on a phone"),
    ("crates/ios/src/real/runner.rs", "the words of a phone that started nothing"),
    ("crates/ios/src/real/audit.rs", "one move of the focus, which a phone may not tell, and the whole walk"),
    ("crates/ios/src/real/pairing.rs", "a person who is asked for trust"),
    ("crates/ios/src/real/hid.rs", "a gesture: the places of its fingers are told one after the other"),
];

/// Types of `tokio::time` that hold a time and do not wait for it.
const PASSIVE: &[&str] = &["Duration", "Instant", "error"];

pub fn check(sources: &[SourceFile]) -> Vec<String> {
    let mut breaches = Vec::new();
    for source in sources {
        let has_no_clock = WITHOUT_CLOCK.iter().any(|krate| source.is_in(krate));
        let is_driver = DRIVERS.iter().any(|krate| source.is_in(krate));
        let may_wait = match (has_no_clock, is_driver) {
            (true, _) => MAY_WAIT.contains(&source.path.as_str()),
            (_, true) => MAY_TIME_OUT.iter().any(|(path, _)| *path == source.path),
            _ => true,
        };
        if may_wait {
            continue;
        }
        for fact in source.product_facts() {
            let why = match &fact.kind {
                Kind::Path(path) | Kind::Import(path) if waits(path) => Some("waits"),
                Kind::Path(path) if has_no_clock && reads_clock(path) => Some("reads a clock"),
                Kind::Method(name) if has_no_clock && name == "elapsed" => Some("reads a clock"),
                _ => None,
            };
            if let Some(why) = why {
                breaches.push(format!("{}:{}: {} {why}", source.path, fact.line, told(&fact.kind)));
            }
        }
    }
    breaches.dedup();
    breaches
}

fn waits(path: &[String]) -> bool {
    matches!(path, [tokio, time, what, ..] if tokio == "tokio" && time == "time" && !PASSIVE.contains(&what.as_str()))
}

fn reads_clock(path: &[String]) -> bool {
    matches!(path, [.., clock, method]
        if (clock == "Instant" || clock == "SystemTime") && (method == "now" || method == "elapsed"))
}

fn told(kind: &Kind) -> String {
    match kind {
        Kind::Method(name) => format!(".{name}()"),
        Kind::Path(path) | Kind::Import(path) => path.join("::"),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::rust::load;
    use super::super::tree::Tree;
    use super::*;

    fn breaches(name: &str, path: &str, text: &str) -> Vec<String> {
        let tree = Tree::new(&format!("waiting-{name}"));
        tree.write(path, text);
        check(&load(tree.root()).unwrap().0)
    }

    #[test]
    fn each_way_to_wait_or_to_read_a_clock_is_a_breach() {
        for (name, text) in [
            ("sleep", "async fn f() { tokio::time::sleep(a).await; }"),
            ("until", "async fn f() { select! { () = tokio::time::sleep_until(a) => b } }"),
            ("timeout", "use tokio::time; async fn f() { time::timeout(a, b).await; }"),
            ("interval", "use tokio::time as t; fn f() { t::interval(a); }"),
            ("imported", "use tokio::time::timeout_at;"),
            ("all", "use tokio::time::*;"),
            ("now", "use tokio::time::Instant; fn f() { Instant::now(); }"),
            ("now-passed", "use std::time::SystemTime; fn f() { a.unwrap_or_else(SystemTime::now); }"),
            ("elapsed", "fn f() { format!(\"{}\", started.elapsed().as_millis()); }"),
        ] {
            let found = breaches(name, "crates/engine/src/watch.rs", text);
            assert_eq!(found.len(), 1, "{name}: {found:?}");
        }
        let told =
            breaches("told", "crates/server/src/a.rs", "\nasync fn f() { tokio::time::sleep(a).await; }");
        assert_eq!(told, ["crates/server/src/a.rs:2: tokio::time::sleep waits"]);
    }

    #[test]
    fn the_one_place_and_tests_may_wait() {
        let text = "async fn f() { tokio::time::sleep(a).await; tokio::time::Instant::now().elapsed(); }";
        for path in
            [MAY_WAIT[0], "crates/engine/tests/a.rs", "crates/virtual-device/src/a.rs", "crates/sim/src/a.rs"]
        {
            assert_eq!(breaches("place", path, text), Vec::<String>::new(), "{path}");
        }
        let tested = format!("#[cfg(test)]\nmod tests {{ {text} }}");
        assert_eq!(breaches("tested", "crates/engine/src/watch.rs", &tested), Vec::<String>::new());
    }

    #[test]
    fn a_time_that_is_only_held_is_let_through() {
        let text = "use tokio::time::{Duration, Instant};\nfn f(end: Instant) -> Duration { a.timeout() }";
        assert_eq!(breaches("held", "crates/engine/src/watch.rs", text), Vec::<String>::new());
    }

    #[test]
    fn a_driver_waits_in_its_listed_files_only() {
        let text = "async fn f() { tokio::time::timeout(a, b).await; }";
        assert_eq!(breaches("driver", "crates/android/src/device.rs", text).len(), 1);
        assert_eq!(breaches("driver", "crates/ios/src/tree.rs", text).len(), 1);
        for (path, _) in MAY_TIME_OUT {
            assert_eq!(breaches("driver", path, text), Vec::<String>::new());
        }
    }
}
