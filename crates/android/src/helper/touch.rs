//! Gestures as samples of fingers over time.

use mdm_core::screen::geometry::Point;
use mdm_wire::helper::{Finger, Sample};

/// A finger is told about this often, as a touch screen of a phone does (120 Hz).
const SAMPLE_MS: u32 = 8;
/// Samples of one gesture, less than the helper takes.
const SAMPLES_MAX: u32 = 1_900;
/// The helper takes gestures of up to a minute.
const GESTURE_MS_MAX: u32 = 59_000;
/// How much quicker content is moved if the finger can be held still at the end, the least time that it takes, and how long
/// it is held.
const QUICKER: u32 = 6;
const SCROLL_MS_MIN: u32 = 120;
const STILL_MS: u32 = 120;
const TAP_MS: u32 = 50;
/// The second tap of a double tap begins so long after the first.
const DOUBLE_TAP_MS: u32 = 150;

pub fn tap(point: Point) -> Vec<Sample> {
    press(point, TAP_MS)
}

pub fn press(point: Point, duration_ms: u32) -> Vec<Sample> {
    vec![down(0, point), lifted(duration_ms.clamp(1, GESTURE_MS_MAX))]
}

pub fn double_tap(point: Point) -> Vec<Sample> {
    let second = DOUBLE_TAP_MS;
    vec![down(0, point), lifted(TAP_MS), down(second, point), lifted(second + TAP_MS)]
}

/// Holds the finger still for a while and then moves it evenly.
pub fn drag(from: Point, to: Point, hold_ms: u32, duration_ms: u32) -> Vec<Sample> {
    let hold_ms = hold_ms.min(GESTURE_MS_MAX / 2);
    let duration_ms = duration_ms.clamp(1, GESTURE_MS_MAX - hold_ms);
    let mut samples = if hold_ms > 0 { vec![down(0, from)] } else { Vec::new() };
    for at_ms in times(duration_ms) {
        samples.push(down(hold_ms + at_ms, between(from, to, at_ms, duration_ms)));
    }
    samples.push(lifted(hold_ms + duration_ms + 1));
    samples
}

/// Moves the finger quickly and holds it still before it is lifted, so that nothing is thrown: Android takes a finger for
/// still 40 ms after its last movement. `even_ms` is how long a movement at an even pace would take.
pub fn scroll(from: Point, to: Point, even_ms: u32) -> Vec<Sample> {
    let move_ms = (even_ms / QUICKER).clamp(SCROLL_MS_MIN, GESTURE_MS_MAX - STILL_MS);
    let mut samples = drag(from, to, 0, move_ms);
    if let Some(lift) = samples.last_mut() {
        lift.at_ms += STILL_MS;
    }
    samples
}

/// Two fingers at these places, one pair after the other in equal times.
pub fn two_fingers(places: &[[Point; 2]], duration_ms: u32) -> Vec<Sample> {
    let last = u32::try_from(places.len().saturating_sub(1)).unwrap_or(u32::MAX).max(1);
    let duration_ms = duration_ms.clamp(last, GESTURE_MS_MAX);
    let mut samples: Vec<Sample> = (0u32..)
        .zip(places)
        .map(|(step, [a, b])| Sample {
            at_ms: (u64::from(duration_ms) * u64::from(step) / u64::from(last)) as u32,
            fingers: vec![finger(0, *a), finger(1, *b)],
        })
        .collect();
    samples.push(lifted(duration_ms + 1));
    samples
}

fn times(duration_ms: u32) -> impl Iterator<Item = u32> {
    let step = SAMPLE_MS.max(duration_ms.div_ceil(SAMPLES_MAX));
    (0..duration_ms).step_by(step as usize).chain([duration_ms])
}

fn between(from: Point, to: Point, at_ms: u32, duration_ms: u32) -> Point {
    let part = |from: i32, to: i32| {
        let way = i64::from(to) - i64::from(from);
        (i64::from(from) + way * i64::from(at_ms) / i64::from(duration_ms.max(1))) as i32
    };
    Point { x: part(from.x, to.x), y: part(from.y, to.y) }
}

fn down(at_ms: u32, point: Point) -> Sample {
    Sample { at_ms, fingers: vec![finger(0, point)] }
}

fn lifted(at_ms: u32) -> Sample {
    Sample { at_ms, fingers: Vec::new() }
}

fn finger(id: u8, point: Point) -> Finger {
    Finger { id, x: point.x, y: point.y }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gestures_are_in_order_of_time_and_end_without_a_finger() {
        let (here, there) = (Point { x: 10, y: 900 }, Point { x: 500, y: 100 });
        let pairs = [[here, there], [there, here], [here, there]];
        for samples in [
            tap(here),
            press(here, 0),
            press(here, 1_000_000),
            double_tap(here),
            drag(here, there, 0, 300),
            drag(here, there, 600, 300),
            drag(here, there, 0, 0),
            drag(here, there, u32::MAX, u32::MAX),
            scroll(here, there, 1700),
            scroll(here, there, u32::MAX),
            two_fingers(&pairs, 0),
            two_fingers(&pairs, 400),
            two_fingers(&[], 400),
        ] {
            assert!(samples.is_sorted_by_key(|sample| sample.at_ms), "{samples:?}");
            let last = samples.last().expect("at least the lift");
            assert!(last.fingers.is_empty() && last.at_ms <= 60_000, "{last:?}");
            assert!(samples.len() <= 2_000, "{}", samples.len());
        }
        let swipe = drag(here, there, 0, 300);
        assert_eq!(swipe.first().map(|s| s.fingers[0]), Some(finger(0, here)));
        assert_eq!(swipe[swipe.len() - 2].fingers, [finger(0, there)]);
        let moved = scroll(here, there, 1700);
        let [.., last_move, lift] = moved.as_slice() else { panic!("two samples") };
        assert!(lift.at_ms >= last_move.at_ms + 100 && lift.at_ms < 500, "{last_move:?} {lift:?}");
        assert!(swipe.len() > 30, "120 a second: {}", swipe.len());
    }
}
