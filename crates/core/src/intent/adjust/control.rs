//! A control on one capture: finds it, reads its value, and finds where it can be touched.

use super::{ShownValue, Track, buttons, control_for, is_stub, shown};
use crate::change::tracker::Observation;
use crate::failure::{Cause, Failure};
use crate::identity::ElementId;
use crate::intent::actionable::{self, NotActionable};
use crate::intent::resolve::{self, describe, stale};
use crate::intent::scroll::{self, Axis};
use crate::intent::selector::Selector;
use crate::meaning::value::Unit;
use crate::port::{Input, Key};
use crate::screen::element::Role;
use crate::screen::geometry::Point;

/// Controls that a refusal names.
const CANDIDATES_MAX: usize = 10;

/// The value that a control showed at one time.
#[derive(Debug, Clone, PartialEq)]
pub struct ControlValue {
    pub value: f64,
    pub raw: Option<String>,
    pub unit: Option<String>,
}

impl From<&ShownValue<'_>> for ControlValue {
    fn from(shown: &ShownValue<'_>) -> ControlValue {
        let unit = match shown.unit {
            Unit::None => None,
            Unit::Percent => Some("%".to_owned()),
            Unit::Of(max) => Some(format!("of {max}")),
            Unit::Own(unit) => Some(unit.to_owned()),
        };
        ControlValue { value: shown.value, raw: shown.raw.map(str::to_owned), unit }
    }
}

/// A way to move a control by steps, without its track.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lever {
    Buttons,
    Keys,
}

/// Finds the one slider or stepper that a selector means (AC-07).
pub fn find_control(seen: &Observation, selector: &Selector) -> Result<usize, Failure> {
    let snapshot = &seen.reading.snapshot;
    let matches = selector.matches(seen);
    let mut found: Vec<usize> =
        matches.iter().filter_map(|index| control_for(snapshot, *index as usize)).collect();
    found.sort_unstable();
    found.dedup();
    if let Some(at) = selector.index {
        found = found.get(at).copied().into_iter().collect();
    }
    let describe_all = |found: &[usize]| {
        found.iter().take(CANDIDATES_MAX).map(|index| describe(seen, *index as u32)).collect()
    };
    match (&found[..], matches.is_empty(), selector.id) {
        ([only], _, _) => Ok(*only),
        ([], true, Some(id)) => Err(stale(id)),
        ([], true, None) => {
            let resolution = resolve::Resolution::NotFound { near: Vec::new() };
            Err(resolve::failure(seen, selector, &resolution).unwrap_or_else(|| not_adjustable(selector)))
        }
        ([], false, _) => Err(not_adjustable(selector)),
        (several, _, _) => {
            let message = format!("{} sliders or steppers match {}", several.len(), selector.describe());
            Err(Failure::new(Cause::AmbiguousControl, message).with_candidates(describe_all(several)))
        }
    }
}

fn not_adjustable(selector: &Selector) -> Failure {
    let message = format!(
        "what matches {} is no slider or stepper, holds no single one, and is not the name of one",
        selector.describe()
    );
    Failure::new(Cause::NotAdjustable, message)
}

/// Reads the value of the control with this id.
pub fn read_value(seen: &Observation, id: ElementId) -> Result<ControlValue, Failure> {
    let index = seen.index_of(id).ok_or_else(|| stale(id))?;
    let shown = shown(&seen.reading.snapshot, index);
    shown
        .map(|shown| ControlValue::from(&shown))
        .ok_or_else(|| Failure::new(Cause::ValueGone, format!("{id} no longer shows a value")))
}

/// Returns the way to step the control; buttons are preferred to the track. Keys work only while the slider has the
/// focus: to give it the focus, it would have to be touched.
pub fn lever(seen: &Observation, index: usize) -> Option<Lever> {
    if buttons(&seen.reading.snapshot, index).is_some() {
        return Some(Lever::Buttons);
    }
    let element = seen.reading.element(index as u32);
    let focused = element.role == Role::Slider && element.state.focused == Some(true);
    (focused && element.state.enabled != Some(false)).then_some(Lever::Keys)
}

/// The input that moves the control one step; `None` when its button takes no presses, at the end of its range.
pub fn press_input(
    seen: &Observation,
    id: ElementId,
    lever: Lever,
    up: bool,
) -> Result<Option<Input>, Failure> {
    if lever == Lever::Keys {
        return Ok(Some(Input::Key(if up { Key::DpadRight } else { Key::DpadLeft })));
    }
    let index = seen.index_of(id).ok_or_else(|| stale(id))?;
    let buttons = buttons(&seen.reading.snapshot, index).ok_or_else(|| stale(id))?;
    let Some(button) = (if up { buttons.up } else { buttons.down }) else { return Ok(None) };
    match actionable::check(&seen.reading, button) {
        Ok(point) => Ok(Some(Input::Tap(point))),
        Err(NotActionable::Disabled) => Ok(None),
        Err(_) => {
            let message = format!("the button of {id} that has to be pressed cannot be reached");
            Err(Failure::new(Cause::ButtonOutOfReach, message))
        }
    }
}

/// True if a drag along the track would move the list around it instead.
pub fn is_scrolled_along(seen: &Observation, index: usize, track: Track) -> bool {
    let axis = if track.is_upright() { Axis::Vertical } else { Axis::Horizontal };
    scroll::is_scrolled_along(&seen.reading, index as u32, axis)
}

/// Returns the control's current track, if it can be touched.
pub fn track(seen: &Observation, id: ElementId) -> Result<Track, Failure> {
    let index = seen.index_of(id).ok_or_else(|| stale(id))?;
    match actionable::check(&seen.reading, index as u32) {
        Ok(_) if is_stub(&seen.reading, index) => {
            let message = format!("most of {id} is out of sight");
            return Err(Failure::new(Cause::ControlOutOfSight, message));
        }
        Ok(_) => {}
        Err(NotActionable::Disabled) => {
            return Err(Failure::new(Cause::ControlDisabled, format!("{id} is disabled")));
        }
        Err(NotActionable::Covered { by }) => {
            let cover = seen.ids.get(by as usize).map(ToString::to_string).unwrap_or_default();
            return Err(Failure::new(Cause::ControlCovered, format!("{id} is covered by {cover}")));
        }
        Err(NotActionable::OutOfSight | NotActionable::Doubtful { .. } | NotActionable::Static { .. }) => {
            let message = format!("{id} is there but no part of it can be seen");
            return Err(Failure::new(Cause::ControlOutOfSight, message));
        }
    }
    let visible = seen.reading.nodes.get(index).and_then(|node| node.visible);
    let bounds = seen.reading.element(index as u32).bounds;
    visible.and_then(|visible| Track::of(bounds, visible)).ok_or_else(|| stale(id))
}

/// Refuses points that a tappable element covers.
pub fn uncovered(seen: &Observation, id: ElementId, points: &[Point]) -> Result<(), Failure> {
    let index = seen.index_of(id).ok_or_else(|| stale(id))? as u32;
    let others = (index + 1)..seen.reading.nodes.len() as u32;
    let takes = |other: &u32| {
        let visible = seen.reading.nodes[*other as usize].visible;
        let over = visible.is_some_and(|rect| points.iter().any(|point| rect.contains(*point)));
        over && seen.reading.element(*other).is_tappable()
    };
    match others.into_iter().find(takes) {
        None => Ok(()),
        Some(other) => {
            let over = seen.ids[other as usize];
            let message = format!("{over} lies over the place on {id} that had to be touched");
            Err(Failure::new(Cause::ControlCovered, message))
        }
    }
}
