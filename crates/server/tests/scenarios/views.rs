//! What the framework's Workbench did, by the names that the drawn phone gives its values. It is read from the view
//! objects and from the record of their listeners, never from accessibility.

use mdm_virtual_device::{FrameworkTruth, ViewTruth};

/// Where a value is found.
enum Found {
    /// The number of clicks that the view's listener got.
    Clicks,
    LongClicks,
    IsShown,
    IsDisabled,
    /// The state of the switch inside of the view.
    SwitchInside,
    /// The number that the app keeps with the view.
    Tag,
    /// The whole text.
    Text,
    /// What follows ": " in the text.
    TextAfter,
    NumberAfter,
}

/// Names, and the views that tell. Every other name is the id of a view: its state, its progress or its text.
const VALUES: [(&str, &str, Found); 17] = [
    ("opened", "card", Found::Clicks),
    ("liked", "like", Found::Clicks),
    ("usable", "usable", Found::Clicks),
    ("kept", "keep", Found::Clicks),
    ("covered", "pay", Found::Clicks),
    ("cover", "cover", Found::Clicks),
    ("long_presses", "hold", Found::LongClicks),
    ("double_taps", "double_taps", Found::NumberAfter),
    ("loading", "loading", Found::IsShown),
    ("loaded", "late_row", Found::IsShown),
    ("busy", "ring", Found::IsDisabled),
    ("staging", "row_staging", Found::SwitchInside),
    ("photo_zoom", "photo", Found::Tag),
    ("dropped", "basket_text", Found::Text),
    ("pictures", "pictures", Found::TextAfter),
    ("picked", "picked", Found::TextAfter),
    ("copied", "opened", Found::TextAfter),
];

pub fn value_of(truth: &FrameworkTruth, name: &str) -> Option<String> {
    match VALUES.iter().find(|(known, ..)| *known == name) {
        Some((_, id, Found::IsShown)) => Some(view(truth, id).is_some().to_string()),
        Some((_, id, found)) => special(truth, view(truth, id)?, found),
        None => own_value(view(truth, name)?),
    }
}

fn special(truth: &FrameworkTruth, view: &ViewTruth, found: &Found) -> Option<String> {
    let after = || view.text.split_once(": ").map(|(_, after)| after);
    match found {
        Found::Clicks => Some(calls(truth, view, "click")),
        Found::LongClicks => Some(calls(truth, view, "longClick")),
        Found::IsShown => Some("true".to_owned()),
        Found::IsDisabled => Some((!view.enabled).to_string()),
        Found::SwitchInside => {
            let inside = truth.views.iter().filter(|other| other.parent == view.number);
            inside.filter_map(|other| other.checked).next().map(|on| on.to_string())
        }
        Found::Tag => fact(view, "tag"),
        Found::Text => Some(format!("{:?}", view.text)),
        Found::TextAfter => after().map(|text| format!("{text:?}")),
        Found::NumberAfter => after().map(str::to_owned),
    }
}

fn own_value(view: &ViewTruth) -> Option<String> {
    let checked = view.checked.map(|on| on.to_string());
    checked.or_else(|| fact(view, "progress")).or_else(|| Some(format!("{:?}", view.text)))
}

fn calls(truth: &FrameworkTruth, view: &ViewTruth, what: &str) -> String {
    let calls = truth.listeners.iter().filter(|call| call.view == view.number && call.what == what);
    calls.count().to_string()
}

fn view<'a>(truth: &'a FrameworkTruth, id: &str) -> Option<&'a ViewTruth> {
    let is_it = |view: &&ViewTruth| view.id.split_once(":id/").is_some_and(|(_, name)| name == id);
    truth.views.iter().find(is_it)
}

fn fact(view: &ViewTruth, name: &str) -> Option<String> {
    view.facts.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
}

/// The number of fingers that came down on views or beside them.
pub fn fingers(truth: &FrameworkTruth) -> usize {
    truth.listeners.iter().filter(|call| call.what == "touch").count()
}

/// The words of the innermost view under the last finger.
pub fn last_touched(truth: &FrameworkTruth) -> String {
    let Some(call) = truth.listeners.iter().rev().find(|call| call.what == "touch") else {
        return "nothing: it was never touched".to_owned();
    };
    match truth.views.iter().find(|view| view.number == call.view) {
        None => "what is not on the screen any more".to_owned(),
        Some(view) if view.text.is_empty() => view.description.clone(),
        Some(view) => view.text.clone(),
    }
}
