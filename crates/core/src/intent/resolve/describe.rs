//! Describes candidates and failures in words, for an agent that has to choose.

use std::fmt::Write as _;

use super::{Candidate, Resolution};
use crate::change::tracker::Observation;
use crate::failure::{Cause, Failure};
use crate::identity::{ElementId, is_dialog, title};
use crate::intent::actionable::NotActionable;
use crate::intent::selector::{Selector, role_word};
use crate::meaning::{label, role};
use crate::screen::element::{Element, Role};
use crate::screen::geometry::Rect;
use crate::screen::snapshot::{LOCK_SCREEN, Platform};
use crate::text::quote::push_quoted;

/// Limit of one text from the device in a line about a candidate.
const TEXT_CHARS_MAX: usize = 60;
/// Ancestors of an element, and elements in each, that are searched for a name of its surroundings.
const LEVELS_MAX: usize = 4;
/// Elements inside one ancestor that are searched for a name.
const NEIGHBOURS_MAX: usize = 24;
/// The largest parts of the screen's width and height that the texts and buttons of an alert take. Icons of a home
/// screen take more of its height.
const ALERT_WIDTH_PERCENT_MAX: i64 = 92;
/// Share of the screen's height that an alert takes at most, in percent.
const ALERT_HEIGHT_PERCENT_MAX: i64 = 65;

/// Describes an element so that it differs from similar ones: `e10 button "Delete" in row "Milk"`.
pub fn describe(seen: &Observation, index: u32) -> String {
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
    let label = label::label(snapshot, index as usize).filter(|label| label.sure);
    let label = label.map(|label| label.text.into_owned());
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

/// Describes the window of the system that lies in front of the app, if there is one. A launcher or another app of the
/// system that fills the screen lies in front of nothing.
pub fn system_dialog(seen: &Observation) -> Option<String> {
    let snapshot = &seen.reading.snapshot;
    let front = snapshot.roots().last().map(|root| root as u32)?;
    let owner = &*seen.reading.element(front).app;
    let is_own_screen = snapshot.screen.as_ref().is_none_or(|screen| screen.app == owner);
    // iOS shows the system's alerts as an application of their own, which is also that of the home screen.
    let has_dialog =
        is_dialog(&seen.reading, front) || snapshot.platform == Platform::Ios && is_alert(seen, front);
    if !seen.reading.element(front).system_window || is_own_screen && !has_dialog {
        return None;
    }
    let mut words =
        seen.reading.range(front).filter_map(|inner| label::own_words(seen.reading.element(inner)));
    let mut line = String::new();
    push_quoted(&mut line, words.next()?, TEXT_CHARS_MAX);
    Some(line)
}

/// True if a dialog is in the application, or if what it shows has the place of one: trees of idb have no containers.
fn is_alert(seen: &Observation, application: u32) -> bool {
    let reading = &seen.reading;
    let inside = || reading.range(application).skip(1);
    if inside().any(|inner| is_dialog(reading, inner)) {
        return true;
    }
    let says = |inner: &u32| label::own_words(reading.element(*inner)).is_some();
    let shown = inside().filter(says).filter_map(|inner| reading.nodes[inner as usize].visible);
    let around = shown.reduce(|a, b| {
        Rect::new(a.left.min(b.left), a.top.min(b.top), a.right.max(b.right), a.bottom.max(b.bottom))
    });
    let size = reading.snapshot.size;
    let is_within = |part: i32, whole: u32, percent: i64| i64::from(part) * 100 < i64::from(whole) * percent;
    around.is_some_and(|around| {
        is_within(around.width(), size.width, ALERT_WIDTH_PERCENT_MAX)
            && is_within(around.height(), size.height, ALERT_HEIGHT_PERCENT_MAX)
    })
}

/// Names what is in front: a dialog of the app or the screen, by its title where it has one.
fn front(seen: &Observation) -> Option<String> {
    let reading = &seen.reading;
    let count = seen.ids.len() as u32;
    let in_sight = |index: &u32| reading.nodes[*index as usize].visible.is_some();
    let is_heading = |index: &u32| role::in_context(&reading.snapshot, *index as usize) == Role::Heading;
    let words = |index: u32| label::own_words(reading.element(index));
    let quoted = |words: &str| {
        let mut line = String::new();
        push_quoted(&mut line, words, TEXT_CHARS_MAX);
        line
    };
    let dialog = (0..count).rev().filter(in_sight).find(|index| is_dialog(reading, *index));
    if let Some(dialog) = dialog {
        let title = reading.range(dialog).find(|index| is_heading(index) && words(*index).is_some());
        let title = title.and_then(words).or_else(|| reading.range(dialog).find_map(words))?;
        return Some(format!("a dialog, {}, is in front", quoted(title)));
    }
    let screen_title = title(reading).map(quoted);
    let name = reading.snapshot.screen.as_ref().map(|screen| screen.short_name().to_owned());
    match (screen_title, name) {
        (Some(title), Some(name)) => Some(format!("this is {name}, {title}")),
        (Some(one), None) | (None, Some(one)) => Some(format!("this is {one}")),
        (None, None) => None,
    }
}

/// Explains why nothing can be acted on; `None` when something can.
pub fn failure(seen: &Observation, selector: &Selector, resolution: &Resolution) -> Option<Failure> {
    let described = |candidate: &Candidate| describe(seen, candidate.index);
    match resolution {
        Resolution::Found(_) => None,
        Resolution::Ambiguous(candidates) => {
            let lines = candidates.iter().map(|c| format!("{} (index {})", described(c), c.number)).collect();
            let message = format!("{} elements match {}", candidates.len(), selector.describe());
            Some(Failure::new(Cause::AmbiguousTarget, message).with_candidates(lines))
        }
        Resolution::NotFound { near } => {
            Some(nothing_matches(seen, selector, near.iter().map(described).collect()))
        }
        Resolution::NotActionable { candidate, why } => Some(not_actionable(seen, candidate, *why)),
    }
}

/// Refuses an id that no longer names anything (ID-02).
pub fn stale(id: ElementId) -> Failure {
    let message = format!("{id} is not on the screen, or can no longer be proven to be the same element");
    Failure::new(Cause::StaleElement, message)
}

/// Refuses a selector that matches nothing on the screen: with what is in front, and what may have been meant (F46).
pub fn not_found(seen: &Observation, selector: &Selector) -> Failure {
    let near = super::near(seen, selector).iter().map(|candidate| describe(seen, candidate.index)).collect();
    nothing_matches(seen, selector, near)
}

fn nothing_matches(seen: &Observation, selector: &Selector, near: Vec<String>) -> Failure {
    let snapshot = &seen.reading.snapshot;
    let is_bare = snapshot.is_bare() && selector.id.is_some();
    if !snapshot.is_whole() || is_bare || (snapshot.untold().is_none() && !snapshot.proves_absence()) {
        // W10: absence cannot be concluded from a damaged tree.
        let message = format!(
            "the screen could be read only in part, and nothing in it matches {}",
            selector.describe()
        );
        return Failure::new(Cause::TreeDamaged, message).with_candidates(near);
    }
    if let Some(id) = selector.id {
        return stale(id);
    }
    let wanted = selector.describe();
    let screen = snapshot.screen.as_ref();
    if screen.is_some_and(|screen| screen.name.as_deref() == Some(LOCK_SCREEN)) {
        let message = format!("the phone is locked, and nothing on its lock screen matches {wanted}");
        return Failure::new(Cause::Locked, message).with_candidates(near);
    }
    if let Some(untold) = snapshot.untold() {
        // W10: nor from what was never told.
        let message = format!("nothing that can be read matches {wanted}; {untold}");
        return Failure::new(Cause::Untold, message).with_candidates(near);
    }
    if let Some(dialog) = system_dialog(seen) {
        let message = format!("a system dialog is in front: {dialog}; nothing in it matches {wanted}");
        return Failure::new(Cause::BehindSystemDialog, message).with_candidates(near);
    }
    if near.is_empty() && shows_nothing(seen) {
        let message =
            format!("nothing on the screen matches {wanted}: its tree has no text and nothing to tap");
        return Failure::new(Cause::OnlyDrawn, message);
    }
    let cause = if near.is_empty() { Cause::NotFound } else { Cause::NotFoundButNear };
    let front = front(seen).map(|front| format!("; {front}")).unwrap_or_default();
    let message = format!("nothing on the screen matches {wanted}{front}");
    Failure::new(cause, message).with_candidates(near)
}

/// True if the tree has nothing that could be read or tapped, as that of a game or of an empty window.
pub fn shows_nothing(seen: &Observation) -> bool {
    let reading = &seen.reading;
    let elements = (0..reading.nodes.len() as u32).map(|index| reading.element(index));
    let is_silent = |element: &Element| label::own_words(element).is_none() && !element.is_tappable();
    seen.loading().is_none() && elements.into_iter().all(is_silent)
}

fn not_actionable(seen: &Observation, candidate: &Candidate, why: NotActionable) -> Failure {
    let described = describe(seen, candidate.index);
    let (cause, message) = match why {
        NotActionable::OutOfSight => (Cause::OutOfSight, format!("{described}: no part of it can be seen")),
        NotActionable::Disabled => (Cause::Disabled, format!("{described}: it takes no input now")),
        NotActionable::Covered { by } => {
            (Cause::Covered, format!("{described} is covered at every point by {}", describe(seen, by)))
        }
        NotActionable::Static { nearest } => {
            let nearest =
                nearest.map(|nearest| format!("; the nearest that does is {}", describe(seen, nearest)));
            let told = nearest.unwrap_or_default();
            (
                Cause::OnlyShows,
                format!("{described} only shows something, nothing there reacts to a tap{told}"),
            )
        }
        NotActionable::Doubtful { confidence } => {
            (Cause::Doubtful, format!("{described} is meant with a confidence of only {confidence}"))
        }
    };
    Failure::new(cause, message)
}
