//! How the dumps of another API level differ from those that are recorded, as a page of docs/figures.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::compare::compare;
use crate::framework::Nodes;
use crate::table::{Setting, State};
use crate::tree::Node;

type Recorded = BTreeMap<(String, &'static str), Option<Node>>;

/// What differs in a field of nodes at the same place.
#[derive(Default)]
struct Case {
    fields: usize,
    /// The first value on both levels.
    example: (String, String),
    states: BTreeSet<String>,
}

pub fn page(sdk: u32, table: &[State], recorded: &Recorded, settings: &[(Setting, Nodes)]) -> String {
    let (mut compared, mut differing) = (0, 0);
    let mut cases: BTreeMap<(String, String), Case> = BTreeMap::new();
    for (setting, nodes) in settings {
        for state in table {
            let key = |setting: Setting| (state.id.clone(), setting.name());
            let before = recorded.get(&key(*setting)).or(recorded.get(&key(Setting::Plain)));
            let comparison = compare(before.and_then(Option::as_ref), nodes[&state.id].as_ref());
            compared += comparison.compared;
            for found in comparison.differences {
                differing += found.weight;
                let case = cases.entry((found.path, found.field)).or_default();
                if case.fields == 0 {
                    case.example = (found.framework, found.model);
                }
                case.fields += found.weight;
                case.states.insert(format!("{} ({})", state.id, setting.name()));
            }
        }
    }
    let mut out = format!(
        "# The widgets on API level {sdk} beside level 34\n\nWritten by the test of \
         `crates/virtual-device/tests/matrix` with `MDM_MATRIX_API={sdk} UPDATE_FIGURES=1`. {differing} of {compared} \
         fields of the dumps differ.\n"
    );
    if !cases.is_empty() {
        let _ = writeln!(out, "\n| node | field | times | 34 | {sdk} | states |\n|---|---|---|---|---|---|");
    }
    for ((path, field), Case { fields, example: (before, now), states }) in &cases {
        let states: Vec<&str> = states.iter().map(String::as_str).collect();
        let _ = writeln!(out, "| {path} | {field} | {fields} | {before} | {now} | {} |", states.join(", "));
    }
    out
}
