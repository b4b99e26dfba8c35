//! The movement of a list after a fling.

use tokio::time::{Duration, Instant};

use super::geometry::Screen;

/// The slowest and fastest fling, in dp per second.
const VELOCITY_DP_MIN: f32 = 50.0;
const VELOCITY_DP_MAX: f32 = 8000.0;
/// The interval of accessibility events while a list moves: scroll and content events take turns, each at most every
/// 100 ms.
const EVENT_EVERY: Duration = Duration::from_millis(50);

/// The platform's constants: friction of a scroll, the shape of its curve, and the look and feel factor.
const FRICTION: f32 = 0.015;
const INFLEXION: f32 = 0.35;
const TUNING: f32 = 0.84;
const STEPS_MAX: u32 = 24;

/// Gravity in inches per second squared.
const GRAVITY: f32 = 9.806_65 * 39.37;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fling {
    from_px: i32,
    distance_px: f32,
    most_px: i32,
    start: Instant,
    duration: Duration,
}

impl Fling {
    /// Starts a fling, or returns nothing when it is too slow. `velocity` is in pixels per second, positive towards
    /// the end of the list.
    pub fn throw(
        velocity: f32,
        from_px: i32,
        most_px: i32,
        screen: &Screen,
        start: Instant,
    ) -> Option<Fling> {
        let dp = screen.density.max(1) as f32 / 160.0;
        if !velocity.is_finite() || velocity.abs() < VELOCITY_DP_MIN * dp {
            return None;
        }
        let speed = velocity.abs().min(VELOCITY_DP_MAX * dp);
        let drag = FRICTION * GRAVITY * screen.density.max(1) as f32 * TUNING;
        let rate = 0.78f32.ln() / 0.9f32.ln();
        let deceleration = (INFLEXION * speed / drag).ln();
        let seconds = (deceleration / (rate - 1.0)).exp();
        let distance = drag * (rate / (rate - 1.0) * deceleration).exp();
        Some(Fling {
            from_px,
            distance_px: distance.copysign(velocity),
            most_px,
            start,
            duration: Duration::from_secs_f32(seconds.clamp(0.0, 60.0)),
        })
    }

    /// Returns the offset of the list, and true once it rests at the end of the fling or of the list.
    pub fn at(&self, now: Instant) -> (i32, bool) {
        let passed = now.saturating_duration_since(self.start);
        let part = (passed.as_secs_f32() / self.duration.as_secs_f32().max(0.001)).min(1.0);
        let free = self.from_px as f32 + self.distance_px * eased(part);
        let clamped = (free.round() as i32).clamp(0, self.most_px);
        (clamped, part >= 1.0 || free < 0.0 || free > self.most_px as f32)
    }

    /// Returns the last moment up to `now` at which accessibility heard of the movement.
    pub fn last_event(&self, now: Instant) -> Instant {
        let passed = now.saturating_duration_since(self.start).min(self.duration);
        let events = (passed.as_millis() / EVENT_EVERY.as_millis()) as u32;
        if passed == self.duration { self.start + passed } else { self.start + EVENT_EVERY * events }
    }

    /// Returns how far the list moves.
    pub fn most_px(&self) -> i32 {
        self.most_px
    }

    /// Returns when it rests at the latest.
    pub fn end(&self) -> Instant {
        self.start + self.duration
    }
}

/// Returns the share of the distance after a share of the time: a cubic through the inflexion point, solved by
/// halving.
fn eased(part: f32) -> f32 {
    if part >= 1.0 {
        return 1.0;
    }
    let (tension_start, tension_end) = (0.5, 1.0);
    let (first, second) = (tension_start * INFLEXION, 1.0 - tension_end * (1.0 - INFLEXION));
    let cubic = |x: f32, a: f32, b: f32| 3.0 * x * (1.0 - x) * ((1.0 - x) * a + x * b) + x * x * x;
    let (mut low, mut high) = (0.0f32, 1.0f32);
    for _ in 0..STEPS_MAX {
        let middle = (low + high) / 2.0;
        if cubic(middle, first, second) < part { low = middle } else { high = middle }
    }
    cubic(low, tension_start, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCREEN: Screen = Screen { width: 1080, height: 2400, density: 420, rotation: 0 };

    #[tokio::test(start_paused = true)]
    async fn a_throw_slows_down_and_rests() {
        let start = Instant::now();
        let fling = Fling::throw(3000.0, 0, 100_000, &SCREEN, start).unwrap();
        let at = |part: f32| fling.at(start + fling.duration.mul_f32(part)).0;
        let (first, second, third) = (at(0.33), at(0.66) - at(0.33), at(1.0) - at(0.66));
        assert!(first > second && second > third && third > 0, "{first} {second} {third}");
        // The platform's own scroller gives these values for this speed and density, within a few pixels.
        assert!((630..660).contains(&at(1.0)), "{}", at(1.0));
        assert!(fling.at(fling.end()).1 && !fling.at(start + fling.duration / 2).1);
    }

    #[tokio::test(start_paused = true)]
    async fn slow_fingers_throw_nothing_and_ends_stop_a_throw() {
        let start = Instant::now();
        assert_eq!(Fling::throw(130.0, 0, 1000, &SCREEN, start), None);
        let up = Fling::throw(-5000.0, 100, 1000, &SCREEN, start).unwrap();
        assert_eq!(up.at(start + Duration::from_millis(200)), (0, true));
    }
}
