//! The envelope of adjust_control: it had more keys than others, and steps of its own.

use mdm_core::action::outcome::{Effect as Came, Outcome};
use mdm_core::change::tracker::Observation;
use mdm_core::failure::Failure;
use mdm_core::intent::adjust::{Adjusted, ControlValue};
use serde::Serialize;

use super::Rendering;
use super::element::{Elements, FullElement, Number, Reading, StateJson};
use super::envelope::{Details, Envelope, TargetJson, seen_before};
use super::parts::number_or;
use super::trace::{ActualState, Metadata, PointJson, TraceJson};

#[derive(Serialize)]
pub struct AdjustJson {
    target_state: TargetState,
    actual_state: Option<ActualState>,
    within_tolerance: bool,
    converged: bool,
    attempts: u64,
    adjustment_mode: &'static str,
}

#[derive(Serialize)]
struct TargetState {
    property: String,
    target_value: Number,
    tolerance: Number,
}

#[derive(Serialize)]
pub struct AdjustDetails {
    target_value: Number,
    tolerance: Number,
    property: String,
    attempts: u64,
    adjustment_mode: &'static str,
    actual_state: Option<ActualState>,
    converged: bool,
    within_tolerance: bool,
    reason: String,
}

/// What is known of one adjustment.
struct Course<'a> {
    property: String,
    target: Number,
    tolerance: Number,
    adjusted: Option<&'a Adjusted>,
    /// The control before it was touched.
    control: Option<FullElement>,
    before: Option<ActualState>,
    actual: Option<ActualState>,
    point: Option<PointJson>,
    failure: Option<&'a Failure>,
}

impl<'a> Course<'a> {
    fn of(r: &'a Rendering<'_>, outcome: Option<&'a Outcome>, failure: Option<&'a Failure>) -> Course<'a> {
        let property = r.asked.text("property").unwrap_or("value").to_owned();
        let adjusted = outcome.and_then(|outcome| match &outcome.effect {
            Came::Adjusted(adjusted) => Some(adjusted),
            _ => None,
        });
        let seen = seen_before(r, outcome);
        let index = seen.and_then(|seen| control(r, seen, adjusted));
        let state = |value: &Option<ControlValue>| value.as_ref().map(|value| actual(&property, value));
        let shown = seen.zip(index).and_then(|(seen, index)| shown(seen, index, &property));
        let point = outcome.and_then(|outcome| outcome.places.last()).map(|place| place.point);
        Course {
            target: number_or(r.asked, "target_value", 0.0),
            tolerance: Number(r.asked.number("tolerance").unwrap_or(0.0).max(0.0)),
            control: seen.zip(index).map(|(seen, index)| Elements::of(seen).full(index)),
            before: adjusted.and_then(|adjusted| state(&adjusted.before)).or_else(|| shown.clone()),
            actual: adjusted.map_or(shown, |adjusted| state(&adjusted.after)),
            point: point.map(|point| PointJson { x: point.x, y: point.y }),
            property,
            adjusted,
            failure,
        }
    }

    fn touches(&self) -> u64 {
        self.adjusted.map_or(0, |adjusted| adjusted.touches.into())
    }

    /// Where nothing was touched, a gesture is what would have been used.
    fn mode(&self) -> &'static str {
        match self.adjusted {
            Some(adjusted) if self.failure.is_none() || adjusted.touches > 0 => adjusted.mode.as_str(),
            _ => "gesture",
        }
    }

    fn reason(&self) -> String {
        match self.failure {
            Some(failure) => failure.message.clone(),
            None if self.touches() == 0 => "the control has the value already".to_owned(),
            None => format!("{} was reached", self.property),
        }
    }

    fn converged(&self) -> bool {
        self.failure.is_none()
    }

    fn is_within(&self) -> bool {
        let near = |state: &ActualState| match state.value {
            Reading::Number(Number(value)) => (value - self.target.0).abs() <= self.tolerance.0,
            Reading::Text(_) => false,
        };
        self.converged() || self.actual.as_ref().is_some_and(near)
    }
}

/// The control that was meant.
fn control(r: &Rendering<'_>, seen: &Observation, adjusted: Option<&Adjusted>) -> Option<u32> {
    if let Some(index) = adjusted.and_then(|adjusted| seen.index_of(adjusted.id)) {
        return Some(index as u32);
    }
    r.asked.our_selector()?.matches(seen).first().copied()
}

fn actual(property: &str, value: &ControlValue) -> ActualState {
    let number = Reading::Number(Number(value.value));
    ActualState { property: property.to_owned(), value: number.clone(), raw_value: Some(number) }
}

/// The value that a control shows before anything is done to it.
fn shown(seen: &Observation, index: u32, property: &str) -> Option<ActualState> {
    let (value, raw_value) = StateJson::of(&seen.reading.snapshot, index as usize)?.number()?;
    Some(ActualState { property: property.to_owned(), value, raw_value })
}

pub fn add(
    r: &Rendering<'_>,
    base: Envelope,
    outcome: Option<&Outcome>,
    failure: Option<&Failure>,
    at_ms: u64,
) -> Envelope {
    let course = Course::of(r, outcome, failure);
    let resolved = course.control.as_ref().map(|control| control.resolved.clone());
    let trace = trace(&base, &course, at_ms);
    Envelope {
        device: course.control.as_ref().and(r.device.clone()),
        target: TargetJson { resolved, ..base.target },
        trace,
        details: Some(Details::Adjusted(Box::new(details(&course)))),
        adjusted: Some(AdjustJson {
            target_state: TargetState {
                property: course.property.clone(),
                target_value: course.target,
                tolerance: course.tolerance,
            },
            actual_state: course.actual.clone(),
            within_tolerance: course.is_within(),
            converged: course.converged(),
            attempts: course.touches(),
            adjustment_mode: course.mode(),
        }),
        ..base
    }
}

fn details(course: &Course<'_>) -> AdjustDetails {
    AdjustDetails {
        target_value: course.target,
        tolerance: course.tolerance,
        property: course.property.clone(),
        attempts: course.touches(),
        adjustment_mode: course.mode(),
        actual_state: course.actual.clone(),
        converged: course.converged(),
        within_tolerance: course.is_within(),
        reason: course.reason(),
    }
}

fn trace(base: &Envelope, course: &Course<'_>, at_ms: u64) -> TraceJson {
    let mut trace = TraceJson::new(&base.action_id, base.failure.is_none(), course.touches());
    let failure_code = base.failure.as_ref().map(|failure| failure.failure_code);
    trace = match (&course.control, failure_code) {
        (Some(control), _) => {
            let current_value = course.before.as_ref().and_then(|state| match state.value {
                Reading::Number(number) => Some(number),
                Reading::Text(_) => None,
            });
            let metadata = Metadata::Control {
                resolved_target: Box::new(control.clone()),
                current_value,
                adjustment_mode: "gesture",
            };
            trace.with("resolve", "success", at_ms, metadata)
        }
        (None, code) => {
            let metadata = Metadata::ControlUnresolved {
                reason: course.reason(),
                failure_code: code.unwrap_or("UNKNOWN"),
            };
            trace.with("resolve", "failure", at_ms, metadata)
        }
    };
    trace = moves(trace, course, at_ms);
    let (Some(recovery), Some(failure_code)) = (&base.recovery, failure_code) else { return trace };
    let metadata = Metadata::ControlRecover {
        reason: course.reason(),
        failure_code,
        retry_allowed: recovery.retry_allowed,
        recovery_attempts: 0,
        retry_depth: 0,
    };
    trace.with("recover", if recovery.retry_allowed { "retry" } else { "failure" }, at_ms, metadata)
}

/// The touches, as far as they are told: the last one and the value that was read after it.
fn moves(trace: TraceJson, course: &Course<'_>, at_ms: u64) -> TraceJson {
    let touches = course.touches();
    let trace = match (touches, course.point) {
        (0, _) | (_, None) => trace,
        (attempt, Some(point)) => {
            trace.with("execute", "retry", at_ms, Metadata::Moved { attempt, mode: course.mode(), point })
        }
    };
    if touches == 0 && !course.converged() {
        return trace;
    }
    let metadata = Metadata::ValueRead {
        attempt: (touches > 0).then_some(touches),
        property: course.property.clone(),
        target_value: course.target,
        actual_state: course.actual.clone(),
        reason: course.reason(),
    };
    trace.with("verify", if course.converged() { "success" } else { "retry" }, at_ms, metadata)
}
