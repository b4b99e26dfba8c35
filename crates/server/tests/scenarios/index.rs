//! scenarios/README.md, which lists the scenarios for each requirement; a requirement without a scenario fails.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::file::Scenario;
use crate::stage::Stage;
use crate::{UPDATE, all, folder, page};

/// Groups of requirements, with the numbers that need a scenario.
const REQUIRED: [(&str, &[u32]); 9] = [
    ("SY", &[5, 6, 7, 8, 9, 10, 11, 14, 16, 17, 18, 19, 20]),
    ("AC", &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]),
    ("LC", &[1, 2, 3, 4, 5, 6]),
    ("VR", &[1, 2, 3]),
    ("AD", &[1, 2, 3, 4]),
    ("VS", &[1, 2, 3]),
    ("RC", &[1, 2, 3, 4]),
    ("TR", &[1]),
    ("GE", &[1]),
];

/// The failure modes of RFC 013 §10.
const FAILURE_MODES: [&str; 5] =
    ["endless-animation", "recomposition-churn", "toast", "delayed-navigation", "stale-cache"];

fn required() -> Vec<String> {
    let ids =
        REQUIRED.iter().flat_map(|(group, numbers)| numbers.iter().map(move |n| format!("{group}-{n:02}")));
    ids.chain(FAILURE_MODES.map(str::to_owned)).collect()
}

#[test]
fn every_requirement_has_a_scenario() {
    let mut shown: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut list = String::new();
    for (name, text) in all() {
        let scenario = Scenario::parse(&text).unwrap_or_else(|why| panic!("{name}: {why}"));
        let _ = writeln!(list, "- [{}]({name}.md)", scenario.title);
        for id in scenario.shows {
            shown.entry(id).or_default().push(name.clone());
        }
    }
    let required = required();
    let missing: Vec<&String> = required.iter().filter(|id| !shown.contains_key(*id)).collect();
    assert!(missing.is_empty(), "no scenario shows {missing:?}");
    let unknown: Vec<&String> = shown.keys().filter(|id| !required.contains(id)).collect();
    assert!(unknown.is_empty(), "not a requirement that needs a scenario: {unknown:?}");
    let page = readme(&required, &shown, &list);
    let difference = page::difference(&folder().join("README.md"), &page, UPDATE);
    assert!(difference.is_none(), "{}", difference.unwrap_or_default());
}

/// The scenarios that cannot be played everywhere, with their reasons.
fn left_out() -> String {
    let mut lines = String::new();
    for (name, text) in all() {
        let scenario = Scenario::parse(&text).unwrap_or_else(|why| panic!("{name}: {why}"));
        for (stage, phone) in [(Stage::IPhone, "an iPhone"), (Stage::Framework, "the framework phone")] {
            if let Some(reason) = scenario.reason_against(stage) {
                let _ = writeln!(lines, "\nNot on {phone}: [{name}]({name}.md), {reason}.");
            }
        }
    }
    lines
}

fn readme(required: &[String], shown: &BTreeMap<String, Vec<String>>, list: &str) -> String {
    let mut page = "# Scenarios\n\nCalls and answers that show what the requirements mean to an agent. `cargo test -p \
        mobile-debug-mcp --test scenarios` plays them through the whole server on the virtual phone. Lines that begin with \
        \"The phone:\" are checked against the phone's own state, not against the answers. `UPDATE_SCENARIOS=1` writes the \
        answers and this page; `SCENARIO=NAME` plays one. In a call `<Log in>` stands for the id that an earlier answer gave to \
        \"Log in\", `<at Log in>` for its point, `<snapshot_revision>` for the latest value of that key; in an answer `…` is a \
        time.\n\nThe folders hold the answers elsewhere: `ios` on an iPhone, `framework` on a phone with Android's own views \
        (docs/framework-phone.md), `helper` on that one with our helper. A line \"on iOS:\", \"on the framework phone:\" or \
        \"with the helper:\" is called in place of the one above it. \"The Android phone:\" means every phone but the iPhone; \
        \"The framework phone:\" and \"With the helper:\" take the place of the line above them. There the views and the record \
        of their listeners are asked. With the helper only those are played that say what it changes.\n\n"
        .to_owned();
    page.push_str(list);
    page.push_str(&left_out());
    page.push_str("\n| shown | in |\n|---|---|\n");
    for id in required {
        let link = |name: &String| format!("[{name}]({name}.md)");
        let places: Vec<String> = shown.get(id).into_iter().flatten().map(link).collect();
        let _ = writeln!(page, "| {id} | {} |", places.join(", "));
    }
    page
}
