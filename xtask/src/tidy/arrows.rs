//! Which crate may know which. A crate exists only where it buys an enforced "cannot import".

use crate::command::{Dependency, Package};

struct Crate {
    name: &'static str,
    /// Our own crates that it may depend on.
    knows: &'static [&'static str],
    /// Our own crates that only its tests may depend on.
    tests_know: &'static [&'static str],
    /// Crates of others that it may depend on.
    others: Others,
}

enum Others {
    Any,
    Only(&'static [&'static str]),
    Never(&'static [&'static str]),
}

const CORE: &str = "mdm-core";
const WIRE: &str = "mdm-wire";
const ANDROID: &str = "mdm-android";
const IOS: &str = "mdm-ios";
const BUILD: &str = "mdm-build";
const ENGINE: &str = "mdm-engine";
const PROXY: &str = "mdm-proxy";
const PHONE: &str = "mdm-virtual-device";
const SERVER: &str = "mobile-debug-mcp";
const SIM: &str = "mdm-sim";
const XTASK: &str = "xtask";
const OURS: &[&str] = &[CORE, WIRE, ANDROID, IOS, BUILD, ENGINE, PROXY, PHONE, SERVER, SIM, XTASK];

const CRATES: &[Crate] = &[
    // Pure: whatever does I/O, keeps time or serialises is not on this list.
    Crate {
        name: CORE,
        knows: &[],
        tests_know: &[],
        others: Others::Only(&["xxhash-rust", "memchr", "regex-lite"]),
    },
    Crate {
        name: WIRE,
        knows: &[],
        tests_know: &[],
        others: Others::Never(&["tokio", "mio", "async-", "smol"]),
    },
    Crate { name: ANDROID, knows: &[CORE, WIRE], tests_know: &[PHONE], others: Others::Any },
    Crate { name: IOS, knows: &[CORE, WIRE], tests_know: &[PHONE], others: Others::Any },
    // It knows no device: what it builds is installed by others.
    Crate { name: BUILD, knows: &[], tests_know: &[], others: Others::Any },
    Crate { name: ENGINE, knows: &[CORE], tests_know: &[PHONE], others: Others::Any },
    // Knows neither a device nor an action: who caused a request is told to it.
    Crate { name: PROXY, knows: &[], tests_know: &[], others: Others::Any },
    // Never core or android: it must not be able to share a misreading with the parser.
    Crate { name: PHONE, knows: &[WIRE], tests_know: &[], others: Others::Any },
    Crate {
        name: SERVER,
        knows: &[CORE, ANDROID, IOS, BUILD, ENGINE, PROXY, PHONE],
        tests_know: OURS,
        others: Others::Any,
    },
    // Its oracles know the phone; core and engine are what they judge.
    Crate { name: SIM, knows: &[ANDROID, PHONE, SERVER], tests_know: &[], others: Others::Any },
    Crate { name: XTASK, knows: &[WIRE], tests_know: &[], others: Others::Any },
];

pub fn check(packages: &[Package]) -> Vec<String> {
    let mut breaches = Vec::new();
    for package in packages {
        let Some(rules) = CRATES.iter().find(|c| c.name == package.name) else {
            breaches.push(format!(
                "{}: no arrows are written for this crate in xtask/src/tidy/arrows.rs",
                package.name
            ));
            continue;
        };
        for dependency in &package.dependencies {
            if let Some(why) = breach(rules, dependency) {
                breaches.push(format!("{} must not depend on {}: {why}", package.name, dependency.name));
            }
        }
    }
    breaches
}

fn breach(rules: &Crate, dependency: &Dependency) -> Option<&'static str> {
    let name = dependency.name.as_str();
    let is_dev = dependency.kind.as_deref() == Some("dev");
    if name == "rmcp" && rules.name != SERVER {
        return Some("only the server knows MCP");
    }
    if OURS.contains(&name) {
        let allowed = rules.knows.contains(&name) || (is_dev && rules.tests_know.contains(&name));
        return (!allowed).then_some("the arrows do not lead there");
    }
    match rules.others {
        _ if is_dev => None,
        Others::Any => None,
        Others::Only(list) => {
            (!list.contains(&name)).then_some("it is not among the few crates allowed here")
        }
        Others::Never(list) => list
            .iter()
            .any(|banned| name.starts_with(banned))
            .then_some("it is I/O, and this crate does none"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks one dependency, written like `mdm-core -> tokio` or `mdm-core -> tokio (dev)`.
    fn breaches(arrow: &str) -> usize {
        let (name, dependency) = arrow.split_once(" -> ").unwrap();
        let (dependency, kind) = match dependency.split_once(" (") {
            Some((dependency, kind)) => (dependency, Some(kind.trim_end_matches(')').to_owned())),
            None => (dependency, None),
        };
        let dependencies = vec![Dependency { name: dependency.to_owned(), kind }];
        let (version, description, license) = ("0.1.0".to_owned(), None, None);
        check(&[Package { name: name.to_owned(), version, description, license, dependencies }]).len()
    }

    #[test]
    fn the_drawn_arrows_are_allowed() {
        for arrow in [
            "mobile-debug-mcp -> mdm-engine",
            "mobile-debug-mcp -> mdm-virtual-device",
            "mobile-debug-mcp -> mdm-proxy",
            "mobile-debug-mcp -> rmcp",
            "mobile-debug-mcp -> mdm-wire (dev)",
            "mdm-android -> mdm-wire",
            "mdm-android -> mdm-virtual-device (dev)",
            "mdm-ios -> mdm-core",
            "mdm-engine -> mdm-virtual-device (dev)",
            "mdm-core -> xxhash-rust",
            "mdm-core -> proptest (dev)",
            "mdm-wire -> bytes",
            "xtask -> mdm-wire",
        ] {
            assert_eq!(breaches(arrow), 0, "{arrow}");
        }
    }

    #[test]
    fn every_other_arrow_is_a_breach() {
        for arrow in [
            "mdm-virtual-device -> mdm-core",
            "mdm-virtual-device -> mdm-android (dev)",
            "mdm-virtual-device -> mdm-engine",
            "mdm-core -> tokio",
            "mdm-core -> serde",
            "mdm-core -> quick-xml",
            "mdm-core -> mdm-virtual-device (dev)",
            "mdm-wire -> tokio",
            "mdm-wire -> tokio-util",
            "mdm-engine -> mdm-android",
            "mdm-engine -> mdm-proxy",
            "mdm-proxy -> mdm-core",
            "mdm-virtual-device -> mdm-proxy",
            "mdm-engine -> rmcp (dev)",
            "mdm-android -> mdm-virtual-device",
            "mdm-ios -> mdm-android",
            "mobile-debug-mcp -> mdm-wire",
            "xtask -> mdm-core",
            "mdm-new -> bytes",
        ] {
            assert_eq!(breaches(arrow), 1, "{arrow}");
        }
    }
}
