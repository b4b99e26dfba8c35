//! The figures of the comparison, kept in docs/figures/matrix.md.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::PathBuf;

use crate::compare::{Comparison, Difference, compare};
use crate::framework::recorded;
use crate::model;
use crate::page::difference;
use crate::table::{Setting, State, states};

/// Why the model phone may differ: where, and the reason. Everything else is a failure of this test.
const REASONS: [Reason; 4] = [
    Reason {
        holds: |about| about.setting == Setting::Arabic && WORDS.contains(&about.field),
        why: "the model phone speaks English only, writes Latin digits and lays out from left to right",
    },
    Reason {
        holds: |about| about.state == "frame_overlap",
        why: "accessibility lists overlapping children by their places, the model phone in the app's order",
    },
    Reason {
        holds: |about| about.state == "spinner_dialog" && about.field == "long-clickable",
        why: "a drop-down of the model phone always opens as a popup, which takes long presses",
    },
    Reason {
        holds: |about| about.state == "list_headed" && about.setting == Setting::LargeFont,
        why: "rows of the model phone do not grow with the font, so they still fit",
    },
];
/// What the language of a phone changes.
const WORDS: [&str; 4] = ["text", "content-desc", "resource-id", "index"];
const AGREEMENT_MIN: f64 = 0.99;
const WIDGETS_MIN: usize = 60;
const STATES_MIN: usize = 200;

/// A difference of one state in one setting.
struct About<'a> {
    state: &'a str,
    setting: Setting,
    field: &'a str,
}

struct Reason {
    holds: fn(&About<'_>) -> bool,
    why: &'static str,
}

#[derive(Default)]
struct Figures {
    compared: BTreeMap<&'static str, usize>,
    agreed: BTreeMap<&'static str, usize>,
    /// Fields that differ by reason, with the states.
    explained: BTreeMap<&'static str, (usize, BTreeSet<String>)>,
    unexplained: Vec<String>,
}

impl Figures {
    fn add(&mut self, state: &State, setting: Setting, comparison: &Comparison, problem: Option<&str>) {
        *self.compared.entry(setting.name()).or_default() += comparison.compared;
        *self.agreed.entry(setting.name()).or_default() += comparison.agreed();
        for difference in &comparison.differences {
            let about = About { state: &state.id, setting, field: &difference.field };
            match REASONS.iter().find(|reason| (reason.holds)(&about)) {
                Some(reason) => {
                    let (fields, states) = self.explained.entry(reason.why).or_default();
                    *fields += difference.weight;
                    states.insert(state.id.clone());
                }
                None => self.unexplained.push(line(state, setting, difference, problem)),
            }
        }
    }

    fn totals(&self) -> (usize, usize) {
        (self.agreed.values().sum(), self.compared.values().sum())
    }
}

fn line(state: &State, setting: Setting, difference: &Difference, problem: Option<&str>) -> String {
    let Difference { path, field, framework, model, .. } = difference;
    let problem = problem.unwrap_or_default();
    format!(
        "{} {}: {path} {field}: framework {framework:?}, model {model:?} {problem}",
        setting.name(),
        state.id
    )
}

#[tokio::test(start_paused = true)]
async fn the_model_phone_shows_what_the_framework_shows() {
    let (table, recorded) = (states(), recorded());
    let mut figures = Figures::default();
    for state in table.iter().filter(|state| state.unjudged.is_none()) {
        for setting in Setting::ALL {
            let key = |setting: Setting| (state.id.clone(), setting.name());
            let framework = recorded.get(&key(setting)).or(recorded.get(&key(Setting::Plain)));
            let framework = framework.unwrap_or_else(|| panic!("{} is not recorded", state.id));
            let (problem, model) = match model::node(state, setting).await {
                Ok(node) => (None, node),
                Err(problem) => (Some(problem), None),
            };
            let comparison = compare(framework.as_ref(), model.as_ref());
            figures.add(state, setting, &comparison, problem.as_deref());
        }
    }
    let (agreed, compared) = figures.totals();
    println!("{agreed} of {compared} fields agree");
    assert!(figures.unexplained.is_empty(), "no reason is given for:\n{}", figures.unexplained.join("\n"));
    assert_eq!(figures.explained.len(), REASONS.len(), "a reason explains nothing any more");
    assert!(agreed as f64 / compared as f64 >= AGREEMENT_MIN, "{agreed} of {compared}");
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/figures/matrix.md");
    if let Some(problem) = difference(&file, &page(&table, &figures), "UPDATE_FIGURES") {
        panic!("{problem}");
    }
}

#[test]
fn the_table_is_large_enough_and_the_app_knows_its_names() {
    let table = states();
    let widgets: BTreeSet<&str> = table.iter().map(|state| state.widget.as_str()).collect();
    assert!(widgets.len() >= WIDGETS_MIN && table.len() >= STATES_MIN, "{} {}", widgets.len(), table.len());
    let names: BTreeSet<&str> = table.iter().map(|state| state.id.as_str()).collect();
    assert_eq!(names.len(), table.len(), "a name stands for one state");
}

fn percent(agreed: usize, compared: usize) -> String {
    format!("{:.2} %", 100.0 * agreed as f64 / compared.max(1) as f64)
}

fn page(table: &[State], figures: &Figures) -> String {
    let widgets: BTreeSet<&str> = table.iter().map(|state| state.widget.as_str()).collect();
    let (agreed, compared) = figures.totals();
    let mut out = format!(
        "# The model phone beside the framework\n\n{} widgets in {} states and four settings: the nodes of a dump, \
         field by field (class, resource-id, text, content-desc, ten flags, index, NAF, and whether it can be seen). \
         Bounds are not compared: the model phone lays out by itself. Recorded from Android 14's own views by \
         `crates/virtual-device/tests/matrix`.\n\n| setting | fields | agree | |\n|---|---|---|---|\n",
        widgets.len(),
        table.len()
    );
    for setting in Setting::ALL {
        let (fields, same) = (figures.compared[setting.name()], figures.agreed[setting.name()]);
        let _ = writeln!(out, "| {} | {fields} | {same} | {} |", setting.name(), percent(same, fields));
    }
    let _ = writeln!(out, "| all | {compared} | {agreed} | {} |", percent(agreed, compared));
    out.push_str("\n## Differences and their reasons\n\n| fields | states | reason |\n|---|---|---|\n");
    for (why, (fields, states)) in &figures.explained {
        let names: Vec<&str> = states.iter().map(String::as_str).collect();
        let _ = writeln!(out, "| {fields} | {} | {why} |", names.join(", "));
    }
    out.push_str("\n## Not judged\n\n");
    for state in table {
        if let Some(why) = &state.unjudged {
            let _ = writeln!(out, "- {} ({}): {why}", state.widget, state.state);
        }
    }
    out.push_str("\n## States\n\n| widget | states |\n|---|---|\n");
    for widget in widgets {
        let all = table.iter().filter(|state| state.widget == widget);
        let all: Vec<&str> = all.map(|state| state.state.as_str()).collect();
        let _ = writeln!(out, "| {widget} | {} |", all.join("; "));
    }
    out
}
