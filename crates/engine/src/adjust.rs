//! Brings a control to a value: touch, read back, compare, again (AD-01). What is touched is always the control as it
//! was seen a moment ago, and nothing else (W4).

use std::sync::Arc;

use mdm_core::action::failure::{ErrorCode, Failure};
use mdm_core::action::recover::Strategy;
use mdm_core::action::trace::{Lifecycle, Stage, StepResult};
use mdm_core::change::tracker::Observation;
use mdm_core::identity::ElementId;
use mdm_core::intent::actionable::{self, NotActionable};
use mdm_core::intent::adjust::{self, Goal, Planner, Press, Shown, Step, Steps, Touch, Track, Why};
use mdm_core::intent::resolve;
use mdm_core::intent::scroll::{self, Axis};
use mdm_core::intent::selector::Selector;
use mdm_core::meaning::label;
use mdm_core::meaning::value::Unit;
use mdm_core::port::{Input, Key};
use mdm_core::screen::element::Role;
use mdm_core::screen::geometry::Point;

use crate::act::{Action, Run};
use crate::progress::Progress;
use crate::session::{Session, stale};

/// Slow enough that nothing is flung.
const DRAG_MS: u32 = 400;
/// A value that is reached must still be there at the next look; so often may it be gone.
const LOOKS_MAX: u32 = 3;
/// Looks between presses of keys, before the finger takes over.
const KEY_ROUNDS_MAX: u32 = 3;
const CANDIDATES_MAX: usize = 10;

#[derive(Debug, Clone, PartialEq)]
pub struct Adjustment {
    pub query: Selector,
    pub goal: Goal,
    pub touches_max: u32,
}

/// What a control showed at one time.
#[derive(Debug, Clone, PartialEq)]
pub struct ControlValue {
    pub value: f64,
    pub raw: Option<String>,
    pub unit: Option<String>,
}

/// How a control was brought to its value (AD-02).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// By the control's own means: no touch, its keys, or its buttons.
    Semantic,
    /// The thumb was dragged.
    Gesture,
    /// The track was tapped.
    Coordinate,
}

#[derive(Debug, Clone, PartialEq)]
pub enum End {
    Met,
    /// Everything worked, but the value cannot be had.
    CannotReach {
        why: Why,
        nearest: f64,
    },
    /// Something stood in the way.
    Failed(Failure),
}

/// AD-04: what was, what is, and what was done.
#[derive(Debug, Clone)]
pub struct Adjusted {
    pub id: ElementId,
    pub label: Option<String>,
    pub before: Option<ControlValue>,
    /// The last reading; `None` when nothing could be read.
    pub after: Option<ControlValue>,
    pub touches: u32,
    /// When each was sent.
    pub touched_at_ms: Vec<u64>,
    pub mode: Mode,
    pub end: End,
}

impl Session {
    pub async fn adjust(
        &self,
        action: &Action,
        asked: &Adjustment,
        progress: &Progress,
    ) -> Result<Adjusted, Failure> {
        let _turn = self.turn(progress).await?;
        let mut run = Run::new(self, action, progress);
        let done = self.adjust_now(asked, progress).await;
        if let Ok(adjusted) = &done {
            note(&mut run, adjusted);
        }
        run.end(done)
    }

    async fn adjust_now(&self, asked: &Adjustment, progress: &Progress) -> Result<Adjusted, Failure> {
        let seen = self.observe_now(progress).await?;
        let index = resolve(&seen, &asked.query)?;
        let snapshot = &seen.reading.snapshot;
        let before = adjust::shown(snapshot, index).map(|shown| reading(&shown));
        let mut done = Adjusted {
            id: seen.ids[index],
            label: label::label(snapshot, index).map(|label| label.text.into_owned()),
            after: before.clone(),
            before,
            touches: 0,
            touched_at_ms: Vec::new(),
            mode: Mode::Semantic,
            end: End::Met,
        };
        done.end = match self.converge(asked, seen, index, &mut done, progress).await {
            Ok(end) => end,
            Err(failure) => End::Failed(failure),
        };
        Ok(done)
    }

    async fn converge(
        &self,
        asked: &Adjustment,
        mut seen: Arc<Observation>,
        index: usize,
        done: &mut Adjusted,
        progress: &Progress,
    ) -> Result<End, Failure> {
        let shown = adjust::shown(&seen.reading.snapshot, index).ok_or_else(nothing_shown)?;
        if asked.goal.is_met_by(shown.value) {
            return Ok(End::Met);
        }
        check_range(&shown, asked.goal.target)?;
        if let Some(lever) = lever(&seen, index) {
            let end = self.press(asked, lever, seen, done, progress).await?;
            if lever == Lever::Buttons || end == End::Met {
                return Ok(end);
            }
            // Keys go in coarse steps: the finger does the rest.
            seen = self.observe_now(progress).await?;
        }
        let index = seen.index_of(done.id).ok_or_else(|| stale(done.id))?;
        let shown = adjust::shown(&seen.reading.snapshot, index).ok_or_else(nothing_shown)?;
        let mut track = track(&seen, done.id)?;
        let drags = !is_scrolled_along(&seen, index, track);
        let mut planner = Planner::new(track, asked.goal, &shown, asked.touches_max, drags);
        let mut looks = 0;
        loop {
            let value = match planner.step() {
                Step::CannotReach { why, nearest } => return Ok(End::CannotReach { why, nearest }),
                Step::Converged => {
                    let reached = done.after.as_ref().map(|after| after.value);
                    seen = self.observe_now(progress).await?;
                    let value = read(&seen, done)?;
                    looks += 1;
                    if Some(value) == reached || looks >= LOOKS_MAX && asked.goal.is_met_by(value) {
                        return Ok(End::Met);
                    }
                    if looks >= LOOKS_MAX {
                        return Err(restless());
                    }
                    value
                }
                Step::Touch(touch) => {
                    let was = done.after.as_ref().map(|after| after.value);
                    self.touch(&seen, touch, done, progress).await?;
                    seen = self.observe_now(progress).await?;
                    let mut value = read(&seen, done)?;
                    if Some(value) == was {
                        // The touch may not have come through yet.
                        seen = self.observe_now(progress).await?;
                        value = read(&seen, done)?;
                    }
                    value
                }
            };
            track = self::track(&seen, done.id)?;
            planner.learn(value, track);
        }
    }

    /// Brings a control to its value by presses of its own buttons or keys, several between two looks once it is known
    /// how far one goes.
    async fn press(
        &self,
        asked: &Adjustment,
        lever: Lever,
        mut seen: Arc<Observation>,
        done: &mut Adjusted,
        progress: &Progress,
    ) -> Result<End, Failure> {
        let now = done.after.as_ref().map_or(0.0, |after| after.value);
        let rounds = if lever == Lever::Keys { KEY_ROUNDS_MAX } else { asked.touches_max };
        let mut steps = Steps::new(asked.goal, now, rounds);
        loop {
            let (up, times) = match steps.press() {
                Press::Converged => return Ok(End::Met),
                Press::CannotReach { why, nearest } => return Ok(End::CannotReach { why, nearest }),
                Press::Times { up, times } => (up, times),
            };
            let Some(input) = input_of(&seen, done.id, lever, up)? else {
                steps.block();
                continue;
            };
            for _ in 0..times {
                // Counted before it is sent: a press whose answer is lost may have happened.
                done.touches += 1;
                done.touched_at_ms.push(self.clock.now_ms());
                done.mode = Mode::Semantic;
                self.send(input.clone(), progress).await?;
            }
            seen = self.observe_now(progress).await?;
            let mut value = read(&seen, done)?;
            let later = self.observe_now(progress).await?;
            if later.revision != seen.revision {
                seen = later;
                value = read(&seen, done)?;
            }
            steps.learn(value);
        }
    }

    async fn touch(
        &self,
        seen: &Observation,
        touch: Touch,
        done: &mut Adjusted,
        progress: &Progress,
    ) -> Result<(), Failure> {
        let (input, mode) = match touch {
            Touch::Tap(point) => {
                uncovered(seen, done.id, &[point])?;
                (Input::Tap(point), Mode::Coordinate)
            }
            Touch::Drag { from, to } => {
                uncovered(seen, done.id, &[from, to])?;
                (Input::Swipe { from, to, duration_ms: DRAG_MS }, Mode::Gesture)
            }
        };
        // Counted before it is sent: a touch whose answer is lost may have happened.
        done.touches += 1;
        done.touched_at_ms.push(self.clock.now_ms());
        done.mode = mode;
        self.send(input, progress).await
    }
}

/// What a control has besides its track.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lever {
    Buttons,
    Keys,
}

/// A slider has its keys only while it has the focus: to give it the focus it would have to be touched.
fn lever(seen: &Observation, index: usize) -> Option<Lever> {
    let snapshot = &seen.reading.snapshot;
    if adjust::buttons(snapshot, index).is_some() {
        return Some(Lever::Buttons);
    }
    let element = seen.reading.element(index as u32);
    let focused = element.role == Role::Slider && element.state.focused == Some(true);
    (focused && element.state.enabled != Some(false)).then_some(Lever::Keys)
}

/// `None` when its button takes no presses: the end of its range.
fn input_of(seen: &Observation, id: ElementId, lever: Lever, up: bool) -> Result<Option<Input>, Failure> {
    if lever == Lever::Keys {
        return Ok(Some(Input::Key(if up { Key::DpadRight } else { Key::DpadLeft })));
    }
    let index = seen.index_of(id).ok_or_else(|| stale(id))?;
    let buttons = adjust::buttons(&seen.reading.snapshot, index).ok_or_else(|| stale(id))?;
    let Some(button) = (if up { buttons.up } else { buttons.down }) else { return Ok(None) };
    match actionable::check(&seen.reading, button) {
        Ok(point) => Ok(Some(Input::Tap(point))),
        Err(NotActionable::Disabled) => Ok(None),
        Err(_) => Err(Failure::new(
            ErrorCode::ElementNotInteractable,
            format!("the button of {id} that has to be pressed cannot be reached"),
            "nothing more was pressed; scroll it into view with scroll_to_element, or close what covers it",
        )),
    }
}

/// A drag along the track would move the list around it instead.
fn is_scrolled_along(seen: &Observation, index: usize, track: Track) -> bool {
    let axis = if track.is_upright() { Axis::Vertical } else { Axis::Horizontal };
    scroll::is_scrolled_along(&seen.reading, index as u32, axis)
}

/// Every touch after the first is another try from where the control is then (RC-02: retry_adjustment).
fn note(run: &mut Run<'_>, adjusted: &Adjusted) {
    run.note(Stage::Resolve, StepResult::Success, adjusted.id.to_string());
    run.reach(Lifecycle::Resolved);
    for (at, sent_at_ms) in adjusted.touched_at_ms.iter().enumerate() {
        if at > 0 {
            let again = Strategy::RetryAdjustment.as_str();
            run.trace.step(Stage::Recover, StepResult::Retry, *sent_at_ms, again);
        }
        run.trace.step(Stage::Execute, StepResult::Success, *sent_at_ms, "touch");
        run.trace.reach(Lifecycle::Dispatched, *sent_at_ms);
    }
    let value = |reading: &Option<ControlValue>| reading.as_ref().map(|reading| reading.value);
    run.proved(adjusted.end == End::Met, value(&adjusted.before) != value(&adjusted.after));
}

fn reading(shown: &Shown<'_>) -> ControlValue {
    let unit = match shown.unit {
        Unit::None => None,
        Unit::Percent => Some("%".to_owned()),
        Unit::Of(max) => Some(format!("of {max}")),
        Unit::Own(unit) => Some(unit.to_owned()),
    };
    ControlValue { value: shown.value, raw: shown.raw.map(str::to_owned), unit }
}

/// The one slider that is meant (AC-07).
fn resolve(seen: &Observation, query: &Selector) -> Result<usize, Failure> {
    let snapshot = &seen.reading.snapshot;
    let matches = query.matches(seen);
    let mut found: Vec<usize> =
        matches.iter().filter_map(|index| adjust::meant(snapshot, *index as usize)).collect();
    found.sort_unstable();
    found.dedup();
    if let Some(at) = query.index {
        found = found.get(at).copied().into_iter().collect();
    }
    let told = |found: &[usize]| {
        found.iter().take(CANDIDATES_MAX).map(|index| resolve::tell(seen, *index as u32)).collect()
    };
    match (&found[..], matches.is_empty(), query.id) {
        ([only], _, _) => Ok(*only),
        ([], true, Some(id)) => Err(stale(id)),
        ([], true, None) => Err(Failure::new(
            ErrorCode::ElementNotFound,
            format!("nothing on the screen matches {}", query.describe()),
            "get_ui_tree shows what is there; scroll_to_element finds what is further down",
        )),
        ([], false, _) => Err(Failure::new(
            ErrorCode::ElementNotInteractable,
            format!(
                "what matches {} is no slider or stepper, holds no single one, and is not the name of one",
                query.describe()
            ),
            "get_ui_tree shows sliders and steppers",
        )),
        (several, _, _) => Err(Failure::new(
            ErrorCode::AmbiguousTarget,
            format!("{} sliders or steppers match {}", several.len(), query.describe()),
            "use one of these ids, or add index",
        )
        .with_candidates(told(several))),
    }
}

fn nothing_shown() -> Failure {
    Failure::new(
        ErrorCode::ElementNotInteractable,
        "the control shows no value, neither itself nor in a text beside it, so nothing could tell where it ends up",
        "nothing was touched; tap or swipe on it and look with capture_screenshot",
    )
}

fn check_range(shown: &Shown<'_>, target: f64) -> Result<(), Failure> {
    match shown.range.filter(|range| !(range.min..=range.max).contains(&target)) {
        None => Ok(()),
        Some(range) => Err(Failure::new(
            ErrorCode::InvalidArgument,
            format!("targetValue {target} is outside the control's range {}..{}", range.min, range.max),
            "nothing was touched; ask for a value in the range",
        )),
    }
}

/// Where the control is now, if it can be touched.
fn track(seen: &Observation, id: ElementId) -> Result<Track, Failure> {
    let index = seen.index_of(id).ok_or_else(|| stale(id))?;
    let refused = |message: String, hint: &'static str| {
        Err(Failure::new(ErrorCode::ElementNotInteractable, message, hint))
    };
    let out_of_sight = "scroll it into view with scroll_to_element, then call again";
    match actionable::check(&seen.reading, index as u32) {
        Ok(_) if adjust::is_stub(&seen.reading, index) => {
            return refused(format!("most of {id} is out of sight"), out_of_sight);
        }
        Ok(_) => {}
        Err(NotActionable::Disabled) => {
            return refused(format!("{id} is disabled"), "find out what enables it");
        }
        Err(NotActionable::Covered { by }) => {
            let cover = seen.ids.get(by as usize).map(ToString::to_string).unwrap_or_default();
            return refused(format!("{id} is covered by {cover}"), "close or move what covers it");
        }
        Err(NotActionable::OutOfSight | NotActionable::Doubtful { .. }) => {
            return refused(format!("{id} is there but no part of it can be seen"), out_of_sight);
        }
    }
    let visible = seen.reading.nodes.get(index).and_then(|node| node.visible);
    let bounds = seen.reading.element(index as u32).bounds;
    visible.and_then(|visible| Track::of(bounds, visible)).ok_or_else(|| stale(id))
}

/// Nothing that takes taps itself may lie over a point.
fn uncovered(seen: &Observation, id: ElementId, points: &[Point]) -> Result<(), Failure> {
    let index = seen.index_of(id).ok_or_else(|| stale(id))? as u32;
    let others = (index + 1)..seen.reading.nodes.len() as u32;
    let takes = |other: &u32| {
        let visible = seen.reading.nodes[*other as usize].visible;
        let over = visible.is_some_and(|rect| points.iter().any(|point| rect.contains(*point)));
        over && seen.reading.element(*other).is_tappable()
    };
    match others.into_iter().find(takes) {
        None => Ok(()),
        Some(other) => Err(Failure::new(
            ErrorCode::ElementNotInteractable,
            format!("{} lies over the place on {id} that had to be touched", seen.ids[other as usize]),
            "nothing more was touched; close or move what is over it",
        )),
    }
}

/// The control's value on a new look, which becomes the last one known.
fn read(seen: &Observation, done: &mut Adjusted) -> Result<f64, Failure> {
    done.after = None;
    let index = seen.index_of(done.id).ok_or_else(|| stale(done.id))?;
    let shown = adjust::shown(&seen.reading.snapshot, index).ok_or_else(|| {
        Failure::new(
            ErrorCode::VerificationFailed,
            format!("{} no longer shows a value", done.id),
            "read the screen with get_ui_tree: something else may have come up",
        )
    })?;
    done.after = Some(reading(&shown));
    Ok(shown.value)
}

fn restless() -> Failure {
    Failure::new(
        ErrorCode::ControlConvergenceFailed,
        "the value was reached and did not stay",
        "something else moves this control; read it with get_ui_tree",
    )
}
