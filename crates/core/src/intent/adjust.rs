//! Brings a slider to a value: plans the next touch from the values that were read after the earlier touches (AD-01 to
//! AD-03).
//!
//! Nothing about a slider is known for certain: its range, direction, scale and steps are inferred from the values that
//! are read back. Every touch lies inside the control (W4).

mod control;
mod steps;
mod track;

pub use control::{
    ControlValue, Lever, find_control, is_scrolled_along, lever, press_input, read_value, track, uncovered,
};
pub use steps::{Buttons, Press, Steps, buttons};
pub use track::Track;

use crate::failure::{Cause, Failure};
use crate::identity::ElementId;
use crate::intent::selector::Selector;
use crate::meaning::semantics::{self, ControlKind};
use crate::meaning::value::{self, Unit};
use crate::meaning::{label, state};
use crate::screen::element::ValueRange;
use crate::screen::geometry::{Point, Rect};
use crate::screen::reading::ScreenReading;
use crate::screen::snapshot::Snapshot;

/// Limit of touches in one call, even if the caller asks for more.
pub const TOUCHES_MAX: u32 = 20;
/// Touches in a row without effect before this kind of touch counts as not working.
const QUIET_MAX: u32 = 2;
/// Two touches with the same outcome this far apart, as a part of the track, show that the control has steps.
const PLATEAU: f64 = 0.04;
/// Shorter drags are taken for taps.
const SLOP_PX: i32 = 48;
/// A value this near to the predicted one, as a part of the range, confirms a guessed range.
const CONFIRMED: f64 = 0.1;
/// Levels up the tree that are searched for a list.
const LEVELS_MAX: usize = 100;
/// Tolerance for rounding errors.
const EPSILON: f64 = 1e-9;

/// The value that a control shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ShownValue<'a> {
    pub value: f64,
    pub unit: Unit<'a>,
    pub raw: Option<&'a str>,
    /// Only if the platform reports it.
    pub range: Option<ValueRange>,
    /// The element that shows it: the control or a text beside it.
    pub index: u32,
}

/// Reads the value of the slider at `index`: its own, else the one in the text beside it.
pub fn shown(snapshot: &Snapshot, index: usize) -> Option<ShownValue<'_>> {
    let state = state::read(snapshot, index);
    if let Some(value) = state.value {
        let unit = state.unit.unwrap_or(Unit::None);
        let (raw, range) = (state.raw_value, state.value_range);
        return Some(ShownValue { value, unit, raw, range, index: index as u32 });
    }
    let beside = semantics::control(snapshot, index)?.parts.value?;
    let raw = label::own_words(snapshot.elements.get(beside as usize)?)?;
    let reading = value::read(raw)?;
    Some(ShownValue { value: reading.number, unit: reading.unit, raw: Some(raw), range: None, index: beside })
}

/// Returns the slider that the element at `index` stands for: itself, the only one inside it, or the one that it labels
/// (AC-07).
pub fn control_for(snapshot: &Snapshot, index: usize) -> Option<usize> {
    if let Some(control) = semantics::control(snapshot, index).filter(|control| is_set(control.kind)) {
        return Some(control.target as usize);
    }
    let end = snapshot.elements.get(index)?.end as usize;
    let only = |mut found: Box<dyn Iterator<Item = usize> + '_>| {
        let first = found.next();
        first.filter(|_| found.next().is_none())
    };
    let sliders = || semantics::controls(snapshot).filter(|(_, control)| is_set(control.kind));
    let inside = sliders().map(|(_, c)| c.target as usize).filter(|at| (index..end).contains(at));
    let named =
        sliders().filter(|(_, c)| c.parts.label == Some(index as u32)).map(|(_, c)| c.target as usize);
    only(Box::new(inside)).or_else(|| only(Box::new(named)))
}

/// True if only a piece of the control is visible at the edge of a list: its length and orientation are unknown.
pub fn is_stub(reading: &ScreenReading, index: usize) -> bool {
    let element = reading.element(index as u32);
    let bounds = element.bounds;
    let narrow = i64::from(bounds.width()) * 4 < i64::from(reading.snapshot.size.width);
    let mut parent = element.parent;
    for _ in 0..LEVELS_MAX {
        let Some(above) = parent.filter(|above| (*above as usize) < index) else { break };
        if reading.element(above).affordances.scrollable {
            let visible = reading.nodes[above as usize].visible;
            let cut = |edge: Rect| bounds.top <= edge.top || bounds.bottom >= edge.bottom;
            return narrow && bounds.height() < bounds.width() && visible.is_some_and(cut);
        }
        parent = reading.element(above).parent;
    }
    false
}

fn is_set(kind: ControlKind) -> bool {
    matches!(
        kind,
        ControlKind::Slider | ControlKind::Rating | ControlKind::CustomAdjustable | ControlKind::Stepper
    )
}

/// A request to bring a control to a value.
#[derive(Debug, Clone, PartialEq)]
pub struct Adjustment {
    pub control: Selector,
    pub goal: WantedValue,
    pub touches_max: u32,
}

/// The means by which a control was adjusted (AD-02).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// The control already had the value, or its keys or buttons were used.
    Semantic,
    /// The thumb was dragged.
    Gesture,
    /// The track was tapped.
    Coordinate,
}

impl Mode {
    pub fn as_str(self) -> &'static str {
        match self {
            Mode::Semantic => "semantic",
            Mode::Gesture => "gesture",
            Mode::Coordinate => "coordinate",
        }
    }
}

/// The result of an adjustment: the value before and after, and what was done (AD-04).
#[derive(Debug, Clone, PartialEq)]
pub struct Adjusted {
    pub id: ElementId,
    pub label: Option<String>,
    pub before: Option<ControlValue>,
    /// The last value that was read; `None` when nothing could be read.
    pub after: Option<ControlValue>,
    pub touches: u32,
    pub mode: Mode,
    /// The nearest value that can be reached, when the wanted one cannot.
    pub nearest: Option<f64>,
}

/// Explains why the value cannot be reached.
pub fn cannot_reach(goal: WantedValue, why: UnreachableReason, nearest: f64) -> Failure {
    let (cause, reason) = match why {
        UnreachableReason::BetweenSteps => {
            (Cause::BetweenSteps, "lies between two values that the control has")
        }
        UnreachableReason::EndOfTrack => (Cause::EndOfTrack, "lies past the end of the control"),
        UnreachableReason::NoReaction => {
            (Cause::NoReaction, "was not reached: neither taps nor drags on the control change its value")
        }
        UnreachableReason::Exhausted => {
            (Cause::TouchesExhausted, "was not reached with the touches that were allowed")
        }
    };
    let WantedValue { target, tolerance } = goal;
    let message = format!("{target} ± {tolerance} {reason}; the nearest value is {nearest}");
    Failure::new(cause, message)
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WantedValue {
    pub target: f64,
    /// Zero or more.
    pub tolerance: f64,
}

impl WantedValue {
    pub fn is_met_by(self, value: f64) -> bool {
        self.misses(value) <= self.tolerance + EPSILON
    }

    fn misses(self, value: f64) -> f64 {
        (value - self.target).abs()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Touch {
    Tap(Point),
    /// `from` is the expected position of the thumb.
    Drag {
        from: Point,
        to: Point,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnreachableReason {
    /// The control's values next to the target are further away than the tolerance.
    BetweenSteps,
    /// The track ends before the target.
    EndOfTrack,
    /// Neither taps nor drags change the value.
    NoReaction,
    /// The touches that were allowed are used up.
    Exhausted,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum AdjustStep {
    Converged,
    Touch(Touch),
    CannotReach { why: UnreachableReason, nearest: f64 },
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Range {
    min: f64,
    max: f64,
    /// Reported by the platform, not guessed.
    sure: bool,
}

/// A position on the track and the value that belongs there.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Anchor {
    place: i32,
    value: f64,
    /// Read, not guessed.
    real: bool,
}

#[derive(Debug, Clone)]
pub struct Planner {
    track: Track,
    goal: WantedValue,
    range: Option<Range>,
    now: f64,
    nearest: f64,
    read: Vec<Anchor>,
    /// Position of the last touch, until its effect is read.
    pending: Option<i32>,
    quiet: u32,
    dragging: bool,
    /// Both taps and drags have been tried.
    switched: bool,
    /// The last touch was a tap.
    tapped: bool,
    /// A tap had no effect.
    tapless: bool,
    /// A touch has changed the value.
    works: bool,
    touches: u32,
    touches_max: u32,
}

impl Planner {
    /// `drags`: no list around the control takes drags, so they are tried before taps on the track (AD-02).
    pub fn new(
        track: Track,
        goal: WantedValue,
        shown: &ShownValue<'_>,
        touches_max: u32,
        drags: bool,
    ) -> Planner {
        let range = guess_range(shown, goal.target);
        Planner {
            track,
            goal,
            range,
            now: shown.value,
            nearest: shown.value,
            read: Vec::new(),
            pending: None,
            quiet: 0,
            dragging: drags && range.is_some(),
            switched: false,
            tapped: false,
            tapless: false,
            works: false,
            touches: 0,
            touches_max: touches_max.clamp(1, TOUCHES_MAX),
        }
    }

    pub fn touches(&self) -> u32 {
        self.touches
    }

    /// Takes the value that is shown after the touch that `step` asked for, and the control's current track.
    pub fn learn(&mut self, value: f64, track: Track) {
        let changed = (value - self.now).abs() > EPSILON;
        self.now = value;
        if self.goal.misses(value) < self.goal.misses(self.nearest) {
            self.nearest = value;
        }
        let place = self.pending.take();
        if track != self.track {
            // The earlier readings belong to other positions.
            self.track = track;
            self.read.clear();
            return;
        }
        self.works |= changed;
        self.tapless |= self.tapped && !changed;
        self.quiet = if changed { 0 } else { self.quiet + 1 };
        if let Some(place) = place {
            self.remember(Anchor { place, value, real: true });
        }
        if !self.works && self.quiet >= QUIET_MAX && !self.switched {
            self.dragging = !self.dragging;
            self.switched = true;
            self.quiet = 0;
            self.read.clear();
        }
    }

    pub fn step(&mut self) -> AdjustStep {
        if self.goal.is_met_by(self.now) {
            return AdjustStep::Converged;
        }
        let stop = |why| AdjustStep::CannotReach { why, nearest: self.nearest };
        if self.switched && !self.works && self.quiet >= QUIET_MAX {
            return stop(UnreachableReason::NoReaction);
        }
        if self.has_steps_around() {
            return stop(UnreachableReason::BetweenSteps);
        }
        if self.touches >= self.touches_max {
            return stop(UnreachableReason::Exhausted);
        }
        let place = match self.place() {
            Ok(place) => place,
            Err(why) => return stop(why),
        };
        let touch = self.touch(place);
        self.tapped = matches!(touch, Touch::Tap(_));
        self.pending = Some(place);
        self.touches += 1;
        AdjustStep::Touch(touch)
    }

    fn touch(&self, place: i32) -> Touch {
        let to = self.track.point(place);
        if !self.dragging {
            return Touch::Tap(to);
        }
        let thumb = match self.read.last().filter(|_| self.works) {
            Some(last) => last.place,
            None => self.range.map_or(self.track.middle(), |range| self.linear(range, self.now)),
        };
        let from = self.track.point(thumb);
        let far = (to.x - from.x).abs().max((to.y - from.y).abs()) >= SLOP_PX;
        if far || self.tapless { Touch::Drag { from, to } } else { Touch::Tap(to) }
    }

    /// Records a reading. An older reading that contradicts it is dropped: the control was still moving then.
    fn remember(&mut self, new: Anchor) {
        self.read.retain(|old| old.place != new.place);
        self.read.push(new);
        let rises = |a: &Anchor, b: &Anchor| (b.place > a.place) == (b.value > a.value);
        while let [.., third, second, first] = self.read[..] {
            let flat =
                third.value == second.value || second.value == first.value || third.value == first.value;
            let same = rises(&third, &second) == rises(&second, &first)
                && rises(&third, &first) == rises(&second, &first);
            if flat || same {
                break;
            }
            let oldest = self.read.len() - 3;
            self.read.remove(oldest);
        }
        if let Some(range) = self.range.filter(|range| !range.sure) {
            let span = range.max - range.min;
            let fits = [false, true].map(|back| (self.predicted(range, new.place, back) - new.value).abs());
            if self.works && fits[0].min(fits[1]) > span * CONFIRMED {
                self.range = None;
            }
        }
    }

    /// True if the target lies between two steps: equal values far apart, next to a jump over the target.
    fn has_steps_around(&self) -> bool {
        let (Some(below), Some(above)) = (self.neighbour(true), self.neighbour(false)) else { return false };
        if !(below.real && above.real) {
            return false;
        }
        // Every track is flat near its ends.
        let length = self.track.length();
        let inner = length / 10..length - length / 10;
        let width = |value: f64| {
            let same = |b: &&Anchor| b.value == value && inner.contains(&b.place);
            let places = || self.read.iter().filter(same).map(|b| b.place);
            places().max().zip(places().min()).map_or(0, |(last, first)| last - first)
        };
        let widest = width(below.value).max(width(above.value));
        // Neighbouring steps are about equally wide, so a gap of half a step contains no other step.
        widest >= (f64::from(length) * PLATEAU) as i32 && (above.place - below.place).abs() * 2 <= widest
    }

    /// The position of the next touch.
    fn place(&self) -> Result<i32, UnreachableReason> {
        let (low, high) = self.track.limits();
        if self.read.is_empty() {
            return Ok(self.first_place().clamp(low, high));
        }
        if self.read.len() >= 2 && self.read.iter().all(|a| a.value == self.read[0].value) {
            return self.elsewhere().ok_or(UnreachableReason::NoReaction);
        }
        let up = if self.forward() { 1 } else { -1 };
        let end = |way: i32| if way > 0 { high } else { low };
        match (self.neighbour(true), self.neighbour(false)) {
            (Some(below), Some(above)) => {
                let from = if below.real { below.place + up } else { end(-up) };
                let to = if above.real { above.place - up } else { end(up) };
                if (to - from) * up < 0 {
                    return Err(if below.real && above.real {
                        UnreachableReason::BetweenSteps
                    } else {
                        UnreachableReason::EndOfTrack
                    });
                }
                Ok(self.between(below, above).clamp(from.min(to), from.max(to)))
            }
            (Some(at), None) => self.beyond(at, up, end(up)),
            (None, Some(at)) => self.beyond(at, -up, end(-up)),
            (None, None) => Ok(self.track.middle().clamp(low, high)),
        }
    }

    /// For equal readings, which do not show in which direction values grow: the middle of the widest untried part of
    /// the track.
    fn elsewhere(&self) -> Option<i32> {
        let (low, high) = self.track.limits();
        let mut tried: Vec<i32> = self.read.iter().map(|a| a.place).chain([low - 1, high + 1]).collect();
        tried.sort_unstable();
        let gaps = tried.windows(2).filter(|gap| gap[1] - gap[0] > 1);
        gaps.max_by_key(|gap| gap[1] - gap[0]).map(|gap| i32::midpoint(gap[0], gap[1]))
    }

    fn first_place(&self) -> i32 {
        let Some(range) = self.range else { return self.track.middle() };
        let place = self.linear(range, self.goal.target);
        if range.sure {
            return place;
        }
        // A guessed range is tested away from the ends, where a reading shows more about the scale.
        let margin = self.track.length() * 3 / 20;
        place.clamp(margin, self.track.length() - 1 - margin)
    }

    fn between(&self, below: Anchor, above: Anchor) -> i32 {
        let middle = i32::midpoint(below.place, above.place);
        let both = below.real && above.real;
        // Interpolation may approach one side for ever; halving does not.
        if both && self.read.len() >= 4 && self.read.len().is_multiple_of(2) {
            return middle;
        }
        let third = self.anchors().into_iter().filter(|a| *a != below && *a != above);
        let near = |a: &Anchor| (a.place - middle).abs();
        let third = third.min_by_key(near);
        let curved = third.and_then(|third| parabola([below, above, third], self.goal.target));
        curved.unwrap_or_else(|| straight(below, above, self.goal.target))
    }

    /// A position past the outermost reading, extrapolated from the two nearest ones.
    fn beyond(&self, at: Anchor, way: i32, end: i32) -> Result<i32, UnreachableReason> {
        if (end - at.place) * way <= 0 {
            return Err(UnreachableReason::EndOfTrack);
        }
        let others = self.anchors().into_iter().filter(|other| (other.value - at.value).abs() > EPSILON);
        let nearest = others.min_by_key(|other| (other.place - at.place).abs());
        let place = match nearest {
            Some(other) => straight(at, other, self.goal.target),
            None => i32::midpoint(at.place, end),
        };
        // Beyond the thumb's range the track is flat, which would hide the slope.
        let ends = self.track.ends();
        let soft = if way > 0 { ends.1.min(end) } else { ends.0.max(end) };
        let to = if (soft - at.place) * way > 0 { soft } else { end };
        let from = at.place + way;
        Ok(place.clamp(from.min(to), from.max(to)))
    }

    /// The anchor with the nearest value below or above the target; of several with one value the innermost.
    fn neighbour(&self, below: bool) -> Option<Anchor> {
        let target = self.goal.target;
        let up = if self.forward() { 1 } else { -1 };
        let side = if below { 1 } else { -1 };
        let candidates = self.anchors().into_iter().filter(|a| (a.value < target) == below);
        candidates.max_by(|a, b| {
            let nearer = (a.value * f64::from(side)).total_cmp(&(b.value * f64::from(side)));
            nearer.then((a.place * up * side).cmp(&(b.place * up * side)))
        })
    }

    /// The readings, and the ends of the track if their values are known or likely.
    fn anchors(&self) -> Vec<Anchor> {
        let mut all = self.read.clone();
        let (first, last) = self.track.ends();
        let (low, high) = if self.forward() { (first, last) } else { (last, first) };
        let positive = self.read.iter().all(|a| a.value >= 0.0) && self.goal.target >= 0.0;
        let min = self.range.map(|range| range.min).or(positive.then_some(0.0));
        let guessed = [(low, min), (high, self.range.map(|range| range.max))];
        for (place, value) in guessed.into_iter().filter_map(|(place, value)| Some((place, value?))) {
            let fits = |a: &Anchor| {
                let (along, more) = ((a.place - place).signum(), a.value - value);
                let inward = if place == first { 1 } else { -1 };
                let rises = if self.forward() { inward } else { -inward };
                along == inward && more * f64::from(rises) > EPSILON
            };
            if self.read.iter().all(fits) {
                all.push(Anchor { place, value, real: false });
            }
        }
        all
    }

    /// True if values grow to the right or upwards.
    fn forward(&self) -> bool {
        let low = self.read.iter().min_by(|a, b| a.value.total_cmp(&b.value));
        let high = self.read.iter().max_by(|a, b| a.value.total_cmp(&b.value));
        match (low, high, self.range) {
            (Some(low), Some(high), _) if high.value - low.value > EPSILON => high.place > low.place,
            (Some(only), _, Some(range)) => {
                let miss = |back: bool| (self.predicted(range, only.place, back) - only.value).abs();
                // Steps make predictions inexact, so the other direction must be clearly better.
                miss(false) <= 2.0 * miss(true)
            }
            _ => true,
        }
    }

    fn predicted(&self, range: Range, place: i32, backward: bool) -> f64 {
        let (first, last) = self.track.ends();
        let part = f64::from(place - first) / f64::from((last - first).max(1));
        let part = if backward { 1.0 - part } else { part }.clamp(0.0, 1.0);
        range.min + part * (range.max - range.min)
    }

    fn linear(&self, range: Range, value: f64) -> i32 {
        let (first, last) = self.track.ends();
        let at = |place, value| Anchor { place, value, real: false };
        straight(at(first, range.min), at(last, range.max), value).clamp(first, last)
    }
}

fn guess_range(shown: &ShownValue<'_>, target: f64) -> Option<Range> {
    if let Some(range) = shown.range {
        return Some(Range { min: range.min, max: range.max, sure: true });
    }
    let within = |max: f64| (0.0..=max).contains(&shown.value) && (0.0..=max).contains(&target);
    let max = match shown.unit {
        Unit::Percent => 100.0,
        Unit::Of(max) => max,
        Unit::None if within(1.0) && shown.value.fract() != 0.0 => 1.0,
        Unit::None => 100.0,
        Unit::Own(_) => return None,
    };
    within(max).then_some(Range { min: 0.0, max, sure: false })
}

/// The position of `value` on the line through two anchors.
fn straight(a: Anchor, b: Anchor, value: f64) -> i32 {
    let part = (value - a.value) / (b.value - a.value);
    let place = f64::from(a.place) + part * f64::from(b.place - a.place);
    // A cast from float saturates, and NaN becomes zero.
    place.round() as i32
}

/// The position of `value` on the parabola through three anchors, between the first two. `None` where it bends back.
fn parabola([a, b, c]: [Anchor; 3], value: f64) -> Option<i32> {
    let slope = |a: Anchor, b: Anchor| (b.value - a.value) / f64::from(b.place - a.place);
    let (first, bend) = (slope(a, b), (slope(b, c) - slope(a, b)) / f64::from(c.place - a.place));
    if !first.is_finite() || !bend.is_finite() || bend == 0.0 {
        return None;
    }
    // value(x) = a + first·x + bend·x·(x − width), with x counted from a.
    let width = f64::from(b.place - a.place);
    let (p, q) = (first - bend * width, a.value - value);
    let root = (p * p - 4.0 * bend * q).sqrt();
    let within = |x: &f64| x.is_finite() && *x * width >= 0.0 && x.abs() <= width.abs();
    let x = [(-p + root) / (2.0 * bend), (-p - root) / (2.0 * bend)].into_iter().find(within)?;
    Some(a.place + x.round() as i32)
}

#[cfg(test)]
mod tests;
