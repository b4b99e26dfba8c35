//! Brings a control to a value: touch, read back, compare, again (AD-01). What is touched is always the control as it
//! was seen a moment ago, and nothing else (W4).

use std::sync::Arc;
use std::time::Duration;

use mdm_core::action::event::Event;
use mdm_core::action::outcome::{Effect, SentKind};
use mdm_core::action::recover::Strategy;
use mdm_core::action::request::Command;
use mdm_core::action::trace::Lifecycle;
use mdm_core::change::tracker::Observation;
use mdm_core::failure::{Cause, Failure};
use mdm_core::identity::ElementId;
use mdm_core::intent::adjust::{
    AdjustStep, Adjusted, Adjustment, ControlValue, Lever, Mode, Planner, Press, ShownValue, Steps, Touch,
    cannot_reach, find_control, is_scrolled_along, lever, press_input, read_value, shown, track, uncovered,
};
use mdm_core::intent::hit_test;
use mdm_core::intent::resolve::stale;
use mdm_core::intent::typing::focused_field;
use mdm_core::meaning::label;
use mdm_core::meaning::value::Unit;
use mdm_core::port::{Input, NativeAction, Support};
use mdm_core::screen::element::{Role, ValueRange};
use mdm_core::screen::geometry::Point;

use super::Run;

/// Slow enough that nothing is flung.
const DRAG_MS: u32 = 400;
/// A value that is reached must still be there at the next look; so often may it be gone.
const LOOKS_MAX: u32 = 3;
/// Looks between presses of keys, before the finger takes over.
const KEY_ROUNDS_MAX: u32 = 3;
/// The time between two looks that agree on a value, and how many of them it may take.
const REST: Duration = Duration::from_millis(250);
/// Looks until two agree on a value.
const REST_LOOKS_MAX: u32 = 4;
/// Longer than the wheel of a picker turns after a press.
const PRESS_APART: Duration = Duration::from_millis(350);

impl Run<'_> {
    pub async fn adjust(&mut self, asked: &Adjustment) -> Result<(), Failure> {
        let seen = self.session.capture_now(self.progress).await?;
        let index = find_control(&seen, &asked.control)?;
        self.outcome.before = Some(Arc::clone(&seen));
        let id = seen.ids[index];
        self.note(Event::Resolved { element: Some(id), alternate: false });
        let snapshot = &seen.reading.snapshot;
        let before = shown(snapshot, index).map(|shown| ControlValue::from(&shown));
        let mut done = Adjusted {
            id,
            label: label::label(snapshot, index).map(|label| label.text.into_owned()),
            after: before.clone(),
            before,
            touches: 0,
            mode: Mode::Semantic,
            nearest: None,
        };
        let end = self.converge(asked, seen, index, &mut done).await;
        let value = |value: &Option<ControlValue>| value.as_ref().map(|value| value.value);
        let changed = Some(value(&done.before) != value(&done.after));
        let why = if end.is_ok() { "within tolerance" } else { "not converged" };
        self.note(Event::Judged { met: Some(end.is_ok()), changed, why });
        if end.is_ok() {
            self.note(Event::Reached(Lifecycle::Verified));
        }
        self.outcome.effect = Effect::Adjusted(done);
        end
    }

    async fn converge(
        &mut self,
        asked: &Adjustment,
        mut seen: Arc<Observation>,
        index: usize,
        done: &mut Adjusted,
    ) -> Result<(), Failure> {
        let now = shown(&seen.reading.snapshot, index).ok_or_else(nothing_shown)?;
        if asked.goal.is_met_by(now.value) {
            return Ok(());
        }
        check_range(&now, asked.goal.target)?;
        let fraction = fraction(&now, asked.goal.target);
        if let Some(fraction) = fraction.filter(|_| self.sets_values(&seen, index)) {
            // Some platforms drag the slider themselves, and would touch what lies over it.
            let place = track(&seen, done.id)?;
            let middle = place.point(place.middle());
            uncovered(&seen, done.id, &[middle])?;
            self.refuse_under_keyboard(&seen, &[middle]).await?;
            seen = self.set_value(index, fraction, done).await?;
            if asked.goal.is_met_by(read(&seen, done)?) {
                return Ok(());
            }
        }
        let index = seen.index_of(done.id).ok_or_else(|| stale(done.id))?;
        if let Some(lever) = lever(&seen, index) {
            let end = self.press(asked, lever, seen, done).await;
            let coarse = end.as_ref().is_err_and(is_end_of_presses);
            if lever == Lever::Buttons || end.is_ok() || !coarse {
                return end;
            }
            // Keys go in coarse steps: the finger does the rest.
            done.nearest = None;
            seen = self.session.capture_now(self.progress).await?;
        }
        self.drag_or_tap(asked, seen, done).await
    }

    fn sets_values(&self, seen: &Observation, index: usize) -> bool {
        let is_slider = seen.reading.element(index as u32).role == Role::Slider;
        is_slider && self.session.capabilities().native_actions == Support::Yes
    }

    /// Has the platform bring a slider to a part of its length. It does so nearly; touches do the rest. A platform that
    /// refuses leaves it to them.
    async fn set_value(
        &mut self,
        index: usize,
        fraction: f64,
        done: &mut Adjusted,
    ) -> Result<Arc<Observation>, Failure> {
        let action = NativeAction::SetValue { index: index as u32, value: fraction };
        match self.send(SentKind::Value, &Command::Native(action)).await {
            Ok(_) => {
                done.touches += 1;
                done.mode = Mode::Semantic;
            }
            Err(refused) if refused.dispatch.is_safe_to_repeat() => {}
            Err(lost) => return Err(lost),
        }
        self.session.capture_now(self.progress).await
    }

    async fn drag_or_tap(
        &mut self,
        asked: &Adjustment,
        mut seen: Arc<Observation>,
        done: &mut Adjusted,
    ) -> Result<(), Failure> {
        let index = seen.index_of(done.id).ok_or_else(|| stale(done.id))?;
        let now = shown(&seen.reading.snapshot, index).ok_or_else(nothing_shown)?;
        let place = track(&seen, done.id)?;
        let drags = !is_scrolled_along(&seen, index, place);
        let mut planner = Planner::new(place, asked.goal, &now, asked.touches_max, drags);
        let mut looks = 0;
        loop {
            let value = match planner.step() {
                AdjustStep::CannotReach { why, nearest } => {
                    done.nearest = Some(nearest);
                    return Err(cannot_reach(asked.goal, why, nearest));
                }
                AdjustStep::Converged => {
                    let reached = done.after.as_ref().map(|after| after.value);
                    seen = self.look_at_rest(seen).await?;
                    let value = read(&seen, done)?;
                    looks += 1;
                    if Some(value) == reached || looks >= LOOKS_MAX && asked.goal.is_met_by(value) {
                        return Ok(());
                    }
                    if looks >= LOOKS_MAX {
                        let message = "the value was reached and did not stay";
                        return Err(Failure::new(Cause::ValueUnstable, message));
                    }
                    value
                }
                AdjustStep::Touch(touch) => {
                    let was = done.after.as_ref().map(|after| after.value);
                    self.touch(&seen, touch, done).await?;
                    seen = self.session.capture_now(self.progress).await?;
                    let mut value = read(&seen, done)?;
                    if Some(value) == was {
                        // The touch may not have come through yet.
                        seen = self.session.capture_now(self.progress).await?;
                        value = read(&seen, done)?;
                    }
                    value
                }
            };
            planner.learn(value, track(&seen, done.id)?);
        }
    }

    /// Brings a control to its value by presses of its own buttons or keys, several between two looks once it is known
    /// how far one goes.
    async fn press(
        &mut self,
        asked: &Adjustment,
        lever: Lever,
        mut seen: Arc<Observation>,
        done: &mut Adjusted,
    ) -> Result<(), Failure> {
        let now = done.after.as_ref().map_or(0.0, |after| after.value);
        let rounds = if lever == Lever::Keys { KEY_ROUNDS_MAX } else { asked.touches_max };
        let mut steps = Steps::new(asked.goal, now, rounds);
        loop {
            let (up, times) = match steps.press() {
                Press::Converged => return Ok(()),
                Press::CannotReach { why, nearest } => {
                    done.nearest = Some(nearest);
                    return Err(cannot_reach(asked.goal, why, nearest));
                }
                Press::Times { up, times } => (up, times),
            };
            let Some(input) = press_input(&seen, done.id, lever, up)? else {
                steps.block();
                continue;
            };
            for number in 0..times {
                if number > 0 && steps.loses_quick_presses() {
                    self.progress.pause("waiting for the control to take another press", PRESS_APART).await?;
                }
                self.count_and_send(input.clone(), Mode::Semantic, done).await?;
            }
            seen = self.session.capture_now(self.progress).await?;
            seen = self.look_at_rest(seen).await?;
            steps.learn(read(&seen, done)?);
        }
    }

    /// Looks again until two looks agree that lie so far apart that nothing turns any more: a wheel in motion shows a value
    /// that does not stay (F80). What never rests is believed as it was seen last.
    async fn look_at_rest(&self, mut seen: Arc<Observation>) -> Result<Arc<Observation>, Failure> {
        for _ in 0..REST_LOOKS_MAX {
            self.progress.pause("waiting for the control to come to rest", REST).await?;
            let now = self.session.capture_now(self.progress).await?;
            if now.revision == seen.revision {
                return Ok(now);
            }
            seen = now;
        }
        Ok(seen)
    }

    /// The keyboard is in no tree, and would take the touch.
    async fn refuse_under_keyboard(&self, seen: &Observation, points: &[Point]) -> Result<(), Failure> {
        if focused_field(seen).is_none() {
            return Ok(());
        }
        let keyboard = self.session.keyboard_now(self.progress).await?;
        if keyboard.is_some_and(|keyboard| points.iter().any(|point| keyboard.contains(*point))) {
            return Err(Failure::new(Cause::UnderKeyboard, "the control is under the keyboard"));
        }
        Ok(())
    }

    /// Refuses places where something else would take the touch: by the tree, the keyboard, and what the device says.
    async fn refuse_covered(
        &self,
        seen: &Observation,
        id: ElementId,
        points: &[Point],
    ) -> Result<(), Failure> {
        uncovered(seen, id, points)?;
        self.refuse_under_keyboard(seen, points).await?;
        if self.session.capabilities().hit_test == Support::No {
            return Ok(());
        }
        let index = seen.index_of(id).ok_or_else(|| stale(id))? as u32;
        for point in points {
            let Some(hit) = self.session.element_at(*point, self.progress).await? else { continue };
            if let Some(cover) = hit_test::cover(seen, index, &hit) {
                let message = format!("{} lies over the place on {id} that had to be touched", cover.words);
                return Err(Failure::new(Cause::ControlCovered, message));
            }
        }
        Ok(())
    }

    async fn touch(&mut self, seen: &Observation, touch: Touch, done: &mut Adjusted) -> Result<(), Failure> {
        let (input, mode) = match touch {
            Touch::Tap(point) => {
                self.refuse_covered(seen, done.id, &[point]).await?;
                (Input::Tap(point), Mode::Coordinate)
            }
            Touch::Drag { from, to } => {
                self.refuse_covered(seen, done.id, &[from, to]).await?;
                (Input::Swipe { from, to, duration_ms: DRAG_MS }, Mode::Gesture)
            }
        };
        self.count_and_send(input, mode, done).await
    }

    /// Every touch after the first is another try from where the control is then (RC-02: retry_adjustment). It is
    /// counted before it is sent: one whose answer is lost may have happened.
    async fn count_and_send(&mut self, input: Input, mode: Mode, done: &mut Adjusted) -> Result<(), Failure> {
        if done.touches > 0 {
            self.note(Event::Recovering { strategy: Strategy::RetryAdjustment });
        }
        done.touches += 1;
        done.mode = mode;
        let kind = if matches!(input, Input::Key(_)) { SentKind::Key } else { SentKind::Touch };
        self.send(kind, &Command::Input(input)).await.map(drop)
    }
}

/// The control's value on a new capture, which becomes the last one known.
fn read(seen: &Observation, done: &mut Adjusted) -> Result<f64, Failure> {
    done.after = None;
    let value = read_value(seen, done.id)?;
    done.after = Some(value.clone());
    Ok(value.value)
}

/// Presses came to an end without anything having gone wrong.
fn is_end_of_presses(failure: &Failure) -> bool {
    let ends = [Cause::BetweenSteps, Cause::EndOfTrack, Cause::NoReaction, Cause::TouchesExhausted];
    ends.contains(&failure.cause)
}

fn nothing_shown() -> Failure {
    Failure::new(
        Cause::NoValueShown,
        "the control shows no value, neither itself nor in a text beside it, so nothing could tell where it ends up",
    )
}

/// Which part of its length stands for a value: known where the platform tells the ends, or counts percents.
fn fraction(shown: &ShownValue<'_>, target: f64) -> Option<f64> {
    let range =
        shown.range.or((shown.unit == Unit::Percent).then_some(ValueRange { min: 0.0, max: 100.0 }))?;
    let part = (target - range.min) / (range.max - range.min);
    part.is_finite().then(|| part.clamp(0.0, 1.0))
}

fn check_range(shown: &ShownValue<'_>, target: f64) -> Result<(), Failure> {
    match shown.range.filter(|range| !(range.min..=range.max).contains(&target)) {
        None => Ok(()),
        Some(range) => {
            let message = format!("{target} is outside the control's range {}..{}", range.min, range.max);
            Err(Failure::new(Cause::OutsideRange, message))
        }
    }
}
