//! Controls that move in steps: steppers and number pickers by their buttons, a focused slider by its keys.

use super::{EPSILON, QUIET_MAX, UnreachableReason, WantedValue};
use crate::meaning::semantics::{self, ControlKind, Parts};
use crate::meaning::value;
use crate::screen::snapshot::Snapshot;

/// Presses between two captures.
const PRESSES_MAX: u32 = 50;
/// Elements of a picker that are searched for its buttons.
const ELEMENTS_MAX: usize = 16;

/// The buttons that lower and raise a control, by index. At the end of its range a picker shows only one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Buttons {
    pub down: Option<u32>,
    pub up: Option<u32>,
}

/// The buttons of the stepper or number picker at `index`. A picker's buttons show the values next to its own.
pub fn buttons(snapshot: &Snapshot, index: usize) -> Option<Buttons> {
    let control = semantics::control(snapshot, index).filter(|c| c.kind == ControlKind::Stepper)?;
    let Parts { decrease, increase, .. } = control.parts;
    if decrease.is_some() && increase.is_some() {
        return Some(Buttons { down: decrease, up: increase });
    }
    let now = super::shown(snapshot, index)?;
    let end = (snapshot.elements.get(index)?.end as usize).min(index + ELEMENTS_MAX);
    let of = |at: usize| {
        let element = snapshot.elements.get(at)?;
        let text = element.text.as_deref().filter(|_| element.is_tappable() && at as u32 != now.index)?;
        value::read(text).map(|reading| reading.number)
    };
    // A picker that goes round shows its last value beside its first: the nearer one is a step away (F80).
    let beside = |is_wanted: &dyn Fn(f64) -> bool| {
        let shown = (index + 1..end).filter_map(|at| Some((at as u32, of(at)?)));
        let wanted = shown.filter(|(_, shown)| is_wanted(*shown));
        let nearest = wanted.min_by(|(_, a), (_, b)| (a - now.value).abs().total_cmp(&(b - now.value).abs()));
        nearest.map(|(at, _)| at)
    };
    let down = beside(&|shown| shown < now.value);
    let up = beside(&|shown| shown > now.value);
    (down.is_some() || up.is_some()).then_some(Buttons { down, up })
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Press {
    Converged,
    Times { up: bool, times: u32 },
    CannotReach { why: UnreachableReason, nearest: f64 },
}

#[derive(Debug, Clone)]
pub struct Steps {
    goal: WantedValue,
    now: f64,
    nearest: f64,
    /// The change by one press, once it has been seen.
    step: Option<f64>,
    pending: Option<(bool, u32)>,
    quiet: u32,
    /// Of several presses some had no effect.
    loses: bool,
    /// The control went the other way, or its button takes no more presses.
    blocked: bool,
    /// Presses that bring a control back which went round its end, or the other way (F80).
    back: Option<(bool, u32)>,
    rounds: u32,
    rounds_max: u32,
}

impl Steps {
    pub fn new(goal: WantedValue, now: f64, rounds_max: u32) -> Steps {
        Steps {
            goal,
            now,
            nearest: now,
            step: None,
            pending: None,
            quiet: 0,
            loses: false,
            blocked: false,
            back: None,
            rounds: 0,
            rounds_max,
        }
    }

    /// Records that the button for the presses that `press` asked for cannot be pressed.
    pub fn block(&mut self) {
        self.blocked = true;
        self.pending = None;
    }

    /// True if the control takes no press while it still turns from the one before, as Android's pickers do.
    pub fn loses_quick_presses(&self) -> bool {
        self.loses
    }

    /// Takes the value that is shown after the presses.
    pub fn learn(&mut self, value: f64) {
        let Some((up, times)) = self.pending.take() else {
            self.now = value;
            return;
        };
        let way = if up { value - self.now } else { self.now - value };
        self.quiet = if way.abs() > EPSILON { 0 } else { self.quiet + 1 };
        if way > EPSILON {
            // A lost press must not make the known step smaller.
            let each = way / f64::from(times);
            self.loses |= self.step.is_some_and(|known| each + EPSILON < known);
            self.step = Some(self.step.map_or(each, |known| known.max(each)));
        } else if way < -EPSILON {
            self.back = Some((!up, times)).filter(|_| !self.blocked);
            self.blocked = true;
        }
        self.now = value;
        if self.goal.misses(value) < self.goal.misses(self.nearest) {
            self.nearest = value;
        }
    }

    pub fn press(&mut self) -> Press {
        if self.goal.is_met_by(self.now) {
            return Press::Converged;
        }
        if let Some((up, times)) = self.back.take() {
            self.pending = Some((up, times));
            return Press::Times { up, times };
        }
        let stop = |why, nearest| Press::CannotReach { why, nearest };
        if self.blocked || self.quiet >= QUIET_MAX {
            let why = if self.blocked || self.step.is_some() {
                UnreachableReason::EndOfTrack
            } else {
                UnreachableReason::NoReaction
            };
            return stop(why, self.nearest);
        }
        if self.rounds >= self.rounds_max {
            return stop(UnreachableReason::Exhausted, self.nearest);
        }
        let missing = self.goal.target - self.now;
        let up = missing > 0.0;
        let times = match self.step {
            None => 1,
            Some(step) => {
                let whole = (missing.abs() / step + EPSILON).floor();
                let rest = missing.abs() - whole * step;
                if whole < 1.0 && step - rest > self.goal.tolerance + EPSILON {
                    let past = self.now + if up { step } else { -step };
                    let nearer = self.goal.misses(past) < self.goal.misses(self.nearest);
                    return stop(UnreachableReason::BetweenSteps, if nearer { past } else { self.nearest });
                }
                (whole as u32).clamp(1, PRESSES_MAX)
            }
        };
        self.rounds += 1;
        self.pending = Some((up, times));
        Press::Times { up, times }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Presses a stepper that goes from 0 to `max`; returns the last value, the presses, and how it ended.
    fn run(
        goal: WantedValue,
        mut value: f64,
        step: f64,
        max: f64,
    ) -> (f64, u32, Option<(UnreachableReason, f64)>) {
        let mut steps = Steps::new(goal, value, 10);
        let mut presses = 0;
        loop {
            match steps.press() {
                Press::Converged => return (value, presses, None),
                Press::CannotReach { why, nearest } => return (value, presses, Some((why, nearest))),
                Press::Times { up, times } => {
                    presses += times;
                    let by = f64::from(times) * if up { step } else { -step };
                    value = (value + by).clamp(0.0, max);
                    steps.learn(value);
                }
            }
        }
    }

    fn goal(target: f64, tolerance: f64) -> WantedValue {
        WantedValue { target, tolerance }
    }

    #[test]
    fn the_first_press_shows_the_step_and_the_others_follow_at_once() {
        assert_eq!(run(goal(17.0, 0.0), 2.0, 1.0, 20.0), (17.0, 15, None));
        assert_eq!(run(goal(0.5, 0.0), 2.0, 0.25, 20.0), (0.5, 6, None));
        assert_eq!(run(goal(30.0, 2.0), 0.0, 4.0, 100.0), (28.0, 7, None), "AD-01: within tolerance");
    }

    /// F80: a touch on a wheel that still turns only stops it.
    #[test]
    fn a_control_that_loses_quick_presses_is_pressed_slowly() {
        let (mut steps, mut value, mut presses) = (Steps::new(goal(18.0, 0.0), 7.0, 10), 7.0, 0);
        while let Press::Times { times, .. } = steps.press() {
            presses += times;
            let taken = if steps.loses_quick_presses() { times } else { times.div_ceil(2) };
            value += f64::from(taken);
            steps.learn(value);
        }
        assert_eq!((value, presses), (18.0, 16));
    }

    /// F80: a picker that goes round is brought back to where it was, and the value is refused.
    #[test]
    fn a_control_that_goes_round_its_end_is_brought_back() {
        let round = |value: f64, by: f64| (value - 1.0 + by).rem_euclid(30.0) + 1.0;
        for (start, target) in [(15.0, 35.0), (3.0, -4.0), (30.0, 31.0)] {
            let (mut steps, mut value) = (Steps::new(goal(target, 0.0), start, 10), start);
            let end = loop {
                match steps.press() {
                    Press::Times { up, times } => {
                        value = round(value, f64::from(times) * if up { 1.0 } else { -1.0 });
                        steps.learn(value);
                    }
                    end => break end,
                }
            };
            let Press::CannotReach { why, nearest } = end else { panic!("{end:?}") };
            assert_eq!(why, UnreachableReason::EndOfTrack);
            // One press shows the step, and stays; the presses that went round are taken back.
            assert!((value - start).abs() <= 1.0, "{start} -> {target}: left at {value}");
            assert!(goal(target, 0.0).misses(nearest) <= goal(target, 0.0).misses(start));
        }
    }

    #[test]
    fn an_unreachable_value_is_refused_with_its_reason_and_the_nearest() {
        let (value, _, end) = run(goal(7.0, 0.0), 0.0, 5.0, 100.0);
        assert_eq!((value, end), (5.0, Some((UnreachableReason::BetweenSteps, 5.0))), "AD-03");
        let (_, _, end) = run(goal(9.0, 0.0), 0.0, 5.0, 100.0);
        assert_eq!(
            end,
            Some((UnreachableReason::BetweenSteps, 10.0)),
            "AD-03: the nearer value is known without a press"
        );
        let (_, _, end) = run(goal(50.0, 0.0), 3.0, 1.0, 20.0);
        assert_eq!(end, Some((UnreachableReason::EndOfTrack, 20.0)));
        let (_, presses, end) = run(goal(5.0, 0.0), 3.0, 0.0, 20.0);
        assert_eq!((presses, end), (2, Some((UnreachableReason::NoReaction, 3.0))), "a dead button");
    }
}
