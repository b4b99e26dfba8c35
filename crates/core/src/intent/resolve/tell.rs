//! Candidates and refusals in words, for an agent that has to choose.

use std::fmt::Write as _;

use super::{Candidate, Resolution};
use crate::action::failure::{ErrorCode, Failure};
use crate::change::tracker::Observation;
use crate::intent::actionable::NotActionable;
use crate::intent::selector::{Selector, role_word};
use crate::meaning::{label, role};
use crate::screen::element::Role;
use crate::text::quote::push_quoted;

/// Of one text from the device in a line about a candidate.
const TEXT_CHARS_MAX: usize = 60;
/// How far up and how far into what is around an element a name for its surroundings is looked for.
const LEVELS_MAX: usize = 4;
const NEIGHBOURS_MAX: usize = 24;

/// `e10 button "Delete" in row "Milk"`: enough to tell it from others like it.
pub fn tell(seen: &Observation, index: u32) -> String {
    let snapshot = &seen.reading.snapshot;
    let element = seen.reading.element(index);
    let mut line = String::new();
    let role = role::in_context(snapshot, index as usize);
    let word = match role {
        Role::Container | Role::Unknown if element.is_tappable() => "button",
        Role::Container | Role::Unknown => "element",
        role => role_word(role),
    };
    let _ = write!(line, "{} {word}", seen.ids[index as usize]);
    let label = label::label(snapshot, index as usize).map(|label| label.text.into_owned());
    if let Some(label) = &label {
        line.push(' ');
        push_quoted(&mut line, label, TEXT_CHARS_MAX);
    } else if let Some(id) = element.stable_id.as_deref() {
        line.push_str(" #");
        push_quoted(&mut line, id.split_once(":id/").map_or(id, |(_, name)| name), TEXT_CHARS_MAX);
    }
    if let Some((around, name)) = surroundings(seen, index, label.as_deref()) {
        let _ = write!(line, " {around} ");
        push_quoted(&mut line, &name, TEXT_CHARS_MAX);
    }
    if seen.reading.nodes[index as usize].visible.is_none() {
        line.push_str(", off screen");
    }
    if element.state.enabled == Some(false) {
        line.push_str(", disabled");
    }
    line
}

fn surroundings(seen: &Observation, index: u32, own: Option<&str>) -> Option<(&'static str, String)> {
    let snapshot = &seen.reading.snapshot;
    let mut at = index;
    for _ in 0..LEVELS_MAX {
        at = seen.reading.element(at).parent.filter(|parent| *parent < at)?;
        let element = seen.reading.element(at);
        if element.role == Role::List || element.affordances.scrollable {
            return None;
        }
        let name = label::label(snapshot, at as usize).map(|label| label.text.into_owned());
        if let Some(name) = name.filter(|name| Some(&**name) != own && element.is_tappable()) {
            return Some(("in row", name));
        }
        let inside = seen.reading.range(at).skip(1).take(NEIGHBOURS_MAX);
        let others = inside.filter(|inner| !seen.reading.range(index).contains(inner));
        let mut words = others.filter_map(|inner| label::own_words(seen.reading.element(inner)));
        if let Some(words) = words.find(|words| Some(*words) != own) {
            return Some(("beside", words.to_owned()));
        }
    }
    None
}

/// Why nothing can be acted on; `None` when something can.
pub fn failure(seen: &Observation, query: &Selector, resolution: &Resolution) -> Option<Failure> {
    let told = |candidate: &Candidate| tell(seen, candidate.index);
    match resolution {
        Resolution::Found(_) => None,
        Resolution::Ambiguous(candidates) => {
            let lines = candidates.iter().map(|c| format!("{} (index {})", told(c), c.number)).collect();
            let message = format!("{} elements match {}", candidates.len(), query.describe());
            let hint = "use one of these ids, or add role, inside or index";
            Some(Failure::new(ErrorCode::AmbiguousTarget, message, hint).with_candidates(lines))
        }
        Resolution::NotFound { near } => Some(not_found(seen, query, near.iter().map(told).collect())),
        Resolution::NotActionable { candidate, why } => Some(not_actionable(seen, candidate, *why)),
    }
}

fn not_found(seen: &Observation, query: &Selector, near: Vec<String>) -> Failure {
    if let Some(id) = query.id {
        return Failure::new(
            ErrorCode::StaleReference,
            format!("{id} is not on the screen, or can no longer be proven to be the same element"),
            "read the screen with get_ui_tree and use an id from there",
        );
    }
    if !seen.reading.snapshot.is_whole() {
        // W10: what could not be read proves nobody gone.
        let message =
            format!("the screen could be read only in part, and nothing in it matches {}", query.describe());
        let hint = "the tree is damaged and the element may be in the missing part: read it again";
        return Failure::new(ErrorCode::UiTreeUnavailable, message, hint).with_candidates(near);
    }
    let hint = if near.is_empty() {
        "read the screen with get_ui_tree; it may have to be scrolled to, or waited for"
    } else {
        "one of these may be meant; use its id"
    };
    let message = format!("nothing on the screen matches {}", query.describe());
    Failure::new(ErrorCode::ElementNotFound, message, hint).with_candidates(near)
}

fn not_actionable(seen: &Observation, candidate: &Candidate, why: NotActionable) -> Failure {
    let told = tell(seen, candidate.index);
    let (message, hint) = match why {
        NotActionable::OutOfSight => {
            (format!("{told}: no part of it can be seen"), "scroll it into view, then try again")
        }
        NotActionable::Disabled => (
            format!("{told}: it takes no input now"),
            "do what enables it first: fill a form, wait, tick a box",
        ),
        NotActionable::Covered { by } => (
            format!("{told} is covered at every point by {}", tell(seen, by)),
            "act on what covers it first, or close it",
        ),
        NotActionable::Doubtful { confidence } => (
            format!("{told} is meant with a confidence of only {confidence}"),
            "name it by its id, or with more of what it says",
        ),
    };
    Failure::new(ErrorCode::ElementNotInteractable, message, hint)
}
