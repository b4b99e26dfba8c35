use proptest::prelude::*;

use super::*;
use crate::meaning::sketch::sketch;
use crate::screen::geometry::Rect;

/// A simulated slider.
#[derive(Debug, Clone, Copy)]
struct Slider {
    rect: Rect,
    inset: i32,
    min: f64,
    max: f64,
    /// Exponent of the scale; 1 is linear.
    power: f64,
    /// Values are multiples of it, counted from `min`.
    step: f64,
    backward: bool,
    taps: bool,
    /// Drags are tried first.
    drags: bool,
    value: f64,
}

impl Slider {
    fn new(rect: Rect) -> Slider {
        Slider {
            rect,
            inset: 42,
            min: 0.0,
            max: 100.0,
            power: 1.0,
            step: 0.1,
            backward: false,
            taps: true,
            drags: false,
            value: 40.0,
        }
    }

    fn at(&self, point: Point) -> f64 {
        let upright = self.rect.height() > self.rect.width();
        let (along, length) = if upright {
            (self.rect.bottom - point.y, self.rect.height())
        } else {
            (point.x - self.rect.left, self.rect.width())
        };
        let part = f64::from(along - self.inset) / f64::from((length - 2 * self.inset).max(1));
        let part = part.clamp(0.0, 1.0);
        let part = if self.backward { 1.0 - part } else { part };
        let span = self.max - self.min;
        self.min + (part.powf(self.power) * span / self.step).round() * self.step
    }

    fn touch(&mut self, touch: Touch) {
        let points = match touch {
            Touch::Tap(to) => vec![to],
            Touch::Drag { from, to } => vec![from, to],
        };
        for point in &points {
            assert!(self.rect.contains(*point), "W4: {point:?} is outside {:?}", self.rect);
        }
        if self.taps || points.len() == 2 {
            self.value = self.at(points[points.len() - 1]);
        }
    }

    fn adjust(&mut self, goal: WantedValue, unit: Unit<'_>, touches_max: u32) -> (AdjustStep, u32) {
        let track = Track::of(self.rect, self.rect).expect("a slider with an area");
        let shown = ShownValue { value: self.value, unit, raw: None, range: None, index: 0 };
        let mut planner = Planner::new(track, goal, &shown, touches_max, self.drags);
        loop {
            match planner.step() {
                AdjustStep::Touch(touch) => self.touch(touch),
                done => return (done, planner.touches()),
            }
            assert!(planner.touches() <= touches_max.clamp(1, TOUCHES_MAX), "AD-01: bounded");
            planner.learn(self.value, track);
        }
    }
}

const WIDE: Rect = Rect { left: 42, top: 400, right: 1038, bottom: 526 };
const TALL: Rect = Rect { left: 42, top: 400, right: 168, bottom: 925 };

fn goal(target: f64, tolerance: f64) -> WantedValue {
    WantedValue { target, tolerance }
}

#[track_caller]
fn reaches(slider: Slider, goal: WantedValue, unit: Unit<'_>, most: u32) {
    for drags in [false, true] {
        let mut slider = Slider { drags, ..slider };
        let (step, touches) = slider.adjust(goal, unit, 12);
        assert_eq!(step, AdjustStep::Converged, "{slider:?}");
        assert!(touches <= most, "{touches} touches for {goal:?} on {slider:?}");
    }
}

#[test]
fn plain_upright_and_mirrored_sliders_reach_their_value() {
    let plain = Slider::new(WIDE);
    for target in [0.0, 5.0, 33.0, 75.0, 100.0] {
        reaches(plain, goal(target, 1.0), Unit::None, 2);
        reaches(plain, goal(target, 1.0), Unit::Percent, 2);
        reaches(Slider { inset: 14, ..plain }, goal(target, 1.0), Unit::None, 3);
        reaches(Slider { backward: true, ..plain }, goal(target, 1.0), Unit::None, 3);
        reaches(Slider { rect: TALL, ..plain }, goal(target, 1.0), Unit::None, 2);
    }
}

#[test]
fn a_slider_with_an_unknown_scale_reaches_its_value() {
    let zoom = Slider { max: 10.0, value: 2.0, ..Slider::new(WIDE) };
    reaches(zoom, goal(7.5, 0.1), Unit::Own("x"), 2);
    reaches(zoom, goal(7.5, 0.1), Unit::None, 3);
    let square = Slider { min: 20.0, max: 20_000.0, power: 2.0, step: 1.0, value: 1000.0, ..zoom };
    reaches(square, goal(8000.0, 100.0), Unit::None, 3);
    reaches(square, goal(440.0, 20.0), Unit::None, 5);
}

#[test]
fn a_value_between_two_steps_is_refused() {
    let mut stepped = Slider { step: 25.0, value: 50.0, ..Slider::new(WIDE) };
    reaches(stepped, goal(75.0, 0.0), Unit::None, 2);
    let (step, touches) = stepped.adjust(goal(60.0, 5.0), Unit::None, 12);
    assert_eq!(
        step,
        AdjustStep::CannotReach { why: UnreachableReason::BetweenSteps, nearest: 50.0 },
        "AD-03"
    );
    assert!(touches <= 6, "{touches}");
}

#[test]
fn a_value_past_the_end_of_the_track_is_refused() {
    let mut short = Slider { max: 50.0, ..Slider::new(WIDE) };
    let (step, _) = short.adjust(goal(80.0, 1.0), Unit::None, 12);
    assert_eq!(step, AdjustStep::CannotReach { why: UnreachableReason::EndOfTrack, nearest: 50.0 }, "AD-03");
}

#[test]
fn a_slider_that_ignores_taps_is_dragged() {
    let drags = Slider { taps: false, ..Slider::new(WIDE) };
    reaches(drags, goal(75.0, 1.0), Unit::Percent, 4);
    let mut dead = Slider { taps: false, step: 1000.0, value: 0.0, ..drags };
    let (step, touches) = dead.adjust(goal(75.0, 1.0), Unit::Percent, 12);
    assert_eq!(
        (step, touches),
        (AdjustStep::CannotReach { why: UnreachableReason::NoReaction, nearest: 0.0 }, 4)
    );
}

#[test]
fn the_value_is_read_from_the_text_beside_the_slider() {
    let screen = sketch(
        r#"
        FrameLayout [0,0][1080,2400]
          LinearLayout [0,0][1080,400]
            TextView [42,100][1038,140] text:"Zoom"
            LinearLayout [42,150][1038,276]
              SeekBar [42,150][880,276] focusable id:zoom
              TextView [900,180][1038,240] text:"2.0x"
            SeekBar [42,300][880,390] focusable id:warmth
        "#,
    );
    let zoom = shown(&screen, 4).expect("a value");
    assert_eq!((zoom.value, zoom.unit, zoom.index), (2.0, Unit::Own("x"), 5));
    assert_eq!(shown(&screen, 6), None);
    assert_eq!(
        (control_for(&screen, 4), control_for(&screen, 3), control_for(&screen, 1)),
        (Some(4), Some(4), None),
        "AC-07"
    );
    assert_eq!(control_for(&screen, 2), Some(4), "its name");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn every_touch_is_inside_the_control_and_the_plan_ends(
        (left, top) in (-50..900i32, -50..2000i32),
        (width, height) in (1..1000i32, 1..1000i32),
        (inset, backward, taps) in (0..80i32, any::<bool>(), any::<bool>()),
        (power, step) in (0.3..3.0f64, prop_oneof![Just(0.1), Just(1.0), Just(5.0), Just(25.0)]),
        (start, target, tolerance) in (0.0..100.0f64, -20.0..150.0f64, 0.0..3.0f64),
        touches_max in 0..30u32,
    ) {
        let rect = Rect::new(left, top, left + width, top + height);
        let mut slider =
            Slider { inset, backward, taps, power, step, value: start, ..Slider::new(rect) };
        let goal = WantedValue { target, tolerance };
        let (end, touches) = slider.adjust(goal, Unit::None, touches_max);
        prop_assert!(touches <= TOUCHES_MAX);
        match end {
            AdjustStep::Converged => prop_assert!(goal.is_met_by(slider.value)),
            AdjustStep::CannotReach { nearest, .. } => prop_assert!(!goal.is_met_by(nearest)),
            AdjustStep::Touch(_) => prop_assert!(false, "no end"),
        }
    }

    #[test]
    fn every_reachable_value_is_reached(
        (inset, backward) in (0..80i32, any::<bool>()),
        (power, whole) in (0.5..2.5f64, any::<bool>()),
        (start, place, max) in (0.0..1.0f64, 85..915i32, 1.0..5000.0f64),
    ) {
        let step = if whole { (max / 20.0).max(0.1) } else { max / 1000.0 };
        let mut slider = Slider { inset, backward, power, step, max, value: start * max, ..Slider::new(WIDE) };
        let target = slider.at(Point { x: WIDE.left + place, y: 450 });
        let (end, touches) = slider.adjust(WantedValue { target, tolerance: max / 50.0 }, Unit::None, TOUCHES_MAX);
        prop_assert_eq!(end, AdjustStep::Converged, "after {} touches: {:?}", touches, slider);
    }
}
