//! Which tools this server offers: all, or a part that was asked for when it was started. What is not offered is neither
//! listed nor answered, also inside a flow or behind a resource (SE-04).

use std::collections::BTreeSet;

use crate::pattern::Pattern;
use crate::tools::{self, Effect, Entry, MORE, TOOLS};

/// Tools that belong together, by name. A tool may be in several sets.
const TOOLSETS: [(&str, &[&str]); 8] = [
    (
        "core",
        &[
            "list_devices",
            "use_device",
            "start_app",
            "get_ui_tree",
            "capture_screenshot",
            "tap_element",
            "type_text",
            "press_key",
            "press_back",
            "scroll_to_element",
            "wait_for_ui",
            "expect_state",
            "get_logs",
        ],
    ),
    (
        "devices",
        &[
            "list_devices",
            "use_device",
            "get_system_status",
            "set_device",
            "transfer_file",
            "set_orientation",
        ],
    ),
    (
        "apps",
        &[
            "start_app",
            "restart_app",
            "terminate_app",
            "reset_app_data",
            "install_app",
            "manage_app",
            "build_app",
            "build_and_install",
        ],
    ),
    (
        "screen",
        &[
            "get_ui_tree",
            "find_element",
            "get_current_screen",
            "get_screen_fingerprint",
            "capture_screenshot",
            "capture_debug_snapshot",
            "read_list",
        ],
    ),
    (
        "act",
        &[
            "tap",
            "tap_element",
            "long_press",
            "double_tap",
            "swipe",
            "type_text",
            "press_back",
            "press_home",
            "press_recents",
            "hide_keyboard",
            "drag",
            "pinch",
            "press_key",
            "adjust_control",
            "scroll_to_element",
            "run_flow",
        ],
    ),
    (
        "verify",
        &[
            "expect_element_visible",
            "expect_state",
            "expect_screen",
            "expect_checked",
            "expect_value",
            "expect_selected",
            "expect_expanded",
            "expect_enabled",
            "wait_for_ui",
            "wait_for_ui_change",
            "wait_for_screen_change",
            "classify_action_outcome",
        ],
    ),
    (
        "logs",
        &["get_logs", "read_log_stream", "start_log_stream", "stop_log_stream", "get_crash", "list_crashes"],
    ),
    ("network", &["get_network_activity", "mock_network"]),
];

/// How a server was told what to offer.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    pub toolsets: Vec<String>,
    pub tools: Vec<String>,
    pub without: Vec<String>,
    /// Only tools that change nothing on a device.
    pub read_only: bool,
    /// List also the tools for which another one does as well.
    pub all: bool,
    /// By the policy: these and no others, and none of those.
    pub allow: Option<Vec<Pattern>>,
    pub deny: Vec<Pattern>,
}

#[derive(Debug, Clone)]
pub struct Offer {
    listed: BTreeSet<&'static str>,
    answered: BTreeSet<&'static str>,
    /// Tools that were asked for by name and that another wish or the policy takes away.
    pub taken_away: Vec<&'static str>,
    /// Nothing is written to this machine for a caller either.
    pub read_only: bool,
}

impl Default for Offer {
    fn default() -> Offer {
        let names = |entries: &'static [Entry]| entries.iter().map(|entry| entry.name);
        Offer {
            listed: names(&TOOLS).collect(),
            answered: names(&TOOLS).chain(names(&MORE)).collect(),
            taken_away: Vec::new(),
            read_only: false,
        }
    }
}

impl Offer {
    pub fn new(wanted: &Wanted) -> Result<Offer, String> {
        let mut chosen = BTreeSet::new();
        for name in &wanted.toolsets {
            let (_, tools) =
                TOOLSETS.iter().find(|(known, _)| known == name).ok_or_else(|| no_toolset(name))?;
            chosen.extend(tools.iter().copied());
        }
        for name in &wanted.tools {
            chosen.insert(known(name)?);
        }
        let without: BTreeSet<&str> =
            wanted.without.iter().map(|name| known(name)).collect::<Result<_, _>>()?;
        let everything = wanted.toolsets.is_empty() && wanted.tools.is_empty();
        let refused = |name: &str| without.contains(name) || wanted.deny.iter().any(|p| p.matches(name));
        let offered = |entry: &Entry| {
            (everything || chosen.contains(entry.name))
                && !refused(entry.name)
                && !tools::same_as(entry.name).iter().any(|other| refused(other))
                && !(wanted.read_only && entry.effect != Effect::ReadOnly)
                && wanted.allow.as_ref().is_none_or(|allow| allow.iter().any(|p| p.matches(entry.name)))
        };
        let answered: BTreeSet<&'static str> =
            tools::all().filter(|entry| offered(entry)).map(|entry| entry.name).collect();
        if answered.is_empty() {
            return Err("no tool is left to offer".to_owned());
        }
        // What was named is listed, whichever list it is in.
        let named = |name: &str| wanted.tools.iter().any(|tool| tool == name);
        let usual = TOOLS.iter().chain(MORE.iter().filter(|entry| wanted.all || named(entry.name)));
        let listed = usual.map(|entry| entry.name).filter(|name| answered.contains(name)).collect();
        let taken_away = chosen.into_iter().filter(|name| named(name) && !answered.contains(name)).collect();
        Ok(Offer { listed, answered, taken_away, read_only: wanted.read_only })
    }

    pub fn lists(&self, tool: &str) -> bool {
        self.listed.contains(tool)
    }

    pub fn answers(&self, tool: &str) -> bool {
        self.answered.contains(tool)
    }

    /// The entry of a tool that is offered.
    pub fn find(&self, name: &str) -> Option<&'static Entry> {
        tools::find(name).filter(|entry| self.answers(entry.name))
    }
}

fn known(name: &str) -> Result<&'static str, String> {
    let entry = tools::find(name);
    entry.map(|entry| entry.name).ok_or_else(|| format!("there is no tool {name:?}; `tools` lists them"))
}

fn no_toolset(name: &str) -> String {
    let names: Vec<&str> = TOOLSETS.iter().map(|(name, _)| *name).collect();
    format!("there is no toolset {name:?}; there are {}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(toolsets: &[&str], tools: &[&str], without: &[&str]) -> Wanted {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Wanted {
            toolsets: owned(toolsets),
            tools: owned(tools),
            without: owned(without),
            ..Wanted::default()
        }
    }

    #[test]
    fn every_tool_is_in_a_set_and_every_name_in_a_set_is_a_tool() {
        let named: BTreeSet<&str> = TOOLSETS.iter().flat_map(|(_, tools)| tools.iter().copied()).collect();
        let known: BTreeSet<&str> = tools::all().map(|entry| entry.name).collect();
        assert_eq!(named, known);
    }

    #[test]
    fn without_wishes_all_are_answered_and_the_usual_listed() {
        let (offer, usual) = (Offer::new(&Wanted::default()).unwrap(), Offer::default());
        assert_eq!((&offer.listed, &offer.answered), (&usual.listed, &usual.answered));
        assert!(!usual.lists("long_press") && usual.answers("long_press"), "F40");
        let all = Offer::new(&Wanted { all: true, ..Wanted::default() }).unwrap();
        assert_eq!(all.listed, all.answered);
    }

    #[test]
    fn what_was_not_asked_for_is_not_answered() {
        // SE-04
        let offer = Offer::new(&wanted(&["network"], &["tap"], &["mock_network"])).unwrap();
        assert_eq!(offer.listed.iter().copied().collect::<Vec<_>>(), ["get_network_activity", "tap"]);
        assert!(offer.find("mock_network").is_none() && offer.find("run_flow").is_none());
        let named = Offer::new(&wanted(&[], &["long_press"], &[])).unwrap();
        assert!(named.lists("long_press"));
    }

    #[test]
    fn what_is_excluded_is_not_answered_under_another_name_either() {
        // SE-04
        let offer = Offer::new(&wanted(&[], &[], &["manage_app", "install_app"])).unwrap();
        for other in ["reset_app_data", "terminate_app", "build_and_install"] {
            assert!(!offer.answers(other), "{other}");
        }
        assert!(offer.answers("build_app"));
        let named = Wanted { read_only: true, ..wanted(&[], &["tap", "get_ui_tree"], &[]) };
        assert_eq!(Offer::new(&named).unwrap().taken_away, ["tap"]);
    }

    #[test]
    fn read_only_offers_nothing_that_acts() {
        // SE-04
        let offer = Offer::new(&Wanted { read_only: true, ..Wanted::default() }).unwrap();
        assert!(offer.answers("get_ui_tree") && offer.answers("get_logs"));
        for entry in tools::all().filter(|entry| entry.effect != Effect::ReadOnly) {
            assert!(!offer.answers(entry.name), "{}", entry.name);
        }
    }

    #[test]
    fn a_policy_takes_away_and_never_gives() {
        let allow = Some(vec!["get_*".parse().unwrap(), "tap".parse().unwrap()]);
        let deny = vec!["*_logs".parse().unwrap()];
        let offer = Offer::new(&Wanted {
            allow,
            deny,
            ..wanted(&[], &["get_logs", "get_ui_tree", "press_back"], &[])
        });
        assert_eq!(offer.unwrap().answered.into_iter().collect::<Vec<_>>(), ["get_ui_tree"]);
    }

    #[test]
    fn mistakes_are_said_at_the_start() {
        assert!(Offer::new(&wanted(&["cores"], &[], &[])).unwrap_err().contains("core, devices"));
        assert!(Offer::new(&wanted(&[], &["tapp"], &[])).is_err());
        assert!(Offer::new(&wanted(&[], &[], &["tapp"])).is_err());
        assert!(Offer::new(&wanted(&[], &["tap"], &["tap"])).is_err());
    }
}
