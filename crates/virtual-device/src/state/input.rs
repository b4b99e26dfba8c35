//! Inputs, from whoever sends them, on their way to the surface. Each one is recorded for [`crate::Truth`].

use tokio::time::{Duration, Instant};

use super::State;
use crate::app::datum::Datum;
use crate::app::geometry::Point;
use crate::app::keys;
use crate::app::ui::LONG_PRESS_MS;
use crate::faults::TapOutcome;
use crate::surface::{Performed, Touch};
use crate::truth::{Applied, Hit};

/// A finger that one command put down and another will lift.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldFinger {
    from: Point,
    since: Instant,
    /// The control that it came down on.
    on: Option<Datum>,
    /// The frame of the film that it met.
    met: usize,
    moved: bool,
}

impl State {
    /// Taps, unless a fault loses or delays the tap.
    pub fn tap(&mut self, x: i32, y: i32) {
        match self.faults.tap((x, y), self.now) {
            TapOutcome::Applied | TapOutcome::Double => self.apply_tap((x, y)),
            TapOutcome::Lost | TapOutcome::Late => {}
        }
    }

    pub fn apply_tap(&mut self, at: Point) {
        self.begin_input();
        let hit = self.surface.tap(at, &self.display.screen(), self.now);
        self.note_input(Applied::Tap { at, hit });
        self.settle();
    }

    pub fn swipe(&mut self, from: Point, to: Point, ms: u64) {
        self.begin_input();
        let hit = self.surface.swipe(from, to, ms, &self.display.screen(), self.now);
        self.note_input(Applied::Swipe { from, to, ms, hit });
        self.settle();
    }

    /// Returns how long a drag still takes after [`State::drag_and_drop`]; `None` if it is over then.
    pub fn drag_time(&self, ms: u64) -> Option<Duration> {
        self.surface.drag_time(ms)
    }

    /// Makes a long press that moves and lets go.
    pub fn drag_and_drop(&mut self, from: Point, to: Point, ms: u64) {
        self.begin_input();
        let hit = self.surface.drag_and_drop(from, to, ms, &self.display.screen(), self.now);
        self.note_input(Applied::Swipe { from, to, ms, hit });
        self.settle();
    }

    /// Puts a finger down for a swipe that `swipe` will end.
    pub fn begin_swipe(&mut self, from: Point, to: Point, ms: u64) {
        self.touch(Touch::Begins { from, to, time: Duration::from_millis(ms) });
    }

    pub fn touch(&mut self, touch: Touch) {
        self.surface.touch(touch, &self.display.screen(), self.now);
    }

    pub fn put_finger_down(&mut self, at: Point) {
        let on = self.surface.control_at(at, &self.display.screen());
        let met = self.film.last_frame();
        self.touch(Touch::Down(at));
        self.finger = Some(HeldFinger { from: at, since: self.now, on, met, moved: false });
    }

    /// Lifts the finger of an iPhone. One that neither moved nor rested for long taps what it came down on, if that is
    /// still there.
    pub fn lift_from_iphone(&mut self, at: Point) {
        let Some(finger) = self.finger.take() else { return };
        let ms = self.now.saturating_duration_since(finger.since).as_millis() as u64;
        if finger.moved || at != finger.from || ms >= LONG_PRESS_MS {
            return self.swipe(finger.from, at, ms);
        }
        match self.faults.tap(at, self.now) {
            TapOutcome::Applied | TapOutcome::Double => self.apply_tap_of(&finger),
            TapOutcome::Lost | TapOutcome::Late => {}
        }
    }

    fn apply_tap_of(&mut self, finger: &HeldFinger) {
        let (at, screen) = (finger.from, self.display.screen());
        self.begin_input();
        let hit = if self.surface.control_at(at, &screen) == finger.on {
            self.surface.tap(at, &screen, self.now)
        } else {
            Some(Hit::gone(finger.on.clone()))
        };
        self.surface.caused_by(None);
        self.film.note_input_at(finger.met);
        self.record.input(Applied::Tap { at, hit }, self.clock.uptime_ms(finger.since));
        self.settle();
    }

    pub fn move_finger(&mut self, to: Point) {
        self.touch(Touch::At(to));
        if let Some(finger) = &mut self.finger {
            finger.moved |= to != finger.from;
            let from = finger.from;
            self.begin_swipe(from, to, 0);
        }
    }

    pub fn lift_finger(&mut self, at: Point) {
        if let Some(finger) = self.finger.take() {
            let ms = self.now.saturating_duration_since(finger.since).as_millis() as u64;
            self.swipe(finger.from, at, ms);
        }
    }

    pub fn cancel_finger(&mut self) {
        self.finger = None;
        self.touch(Touch::Cancelled);
    }

    /// Two fingers that came down at `from` and were lifted at `to`.
    pub fn pinch(&mut self, from: [Point; 2], to: [Point; 2], ms: u64) {
        let apart = |a: i32, b: i32| f64::from(a) - f64::from(b);
        let span = |[a, b]: [Point; 2]| apart(a.0, b.0).hypot(apart(a.1, b.1)).max(1.0);
        let hit = self.surface.pinch_target(from, &self.screen());
        self.touch(Touch::Zooms { fingers: from, factor: (span(to) / span(from)) as f32 });
        self.note_input(Applied::Pinch { from, to, ms, hit });
        self.settle();
    }

    pub fn type_text(&mut self, text: &str) {
        self.begin_input();
        let into = self.surface.type_text(text, self.now);
        self.note_input(Applied::Text { text: text.to_owned(), into });
        self.settle();
    }

    /// Holds a key until it repeats once.
    pub fn long_key(&mut self, code: u32) {
        match code {
            // The system takes these: HOME opens the assistant, and Back acts when it is released.
            keys::HOME => self.note_input(Applied::Key { code }),
            keys::BACK => self.key(code),
            // A click happens on release, unless it has become a long press.
            keys::ENTER | keys::DPAD_CENTER => {
                self.begin_input();
                if self.surface.long_press_focused(&self.display.screen(), self.now) {
                    self.note_input(Applied::Key { code });
                    self.settle();
                } else {
                    self.key(code);
                }
            }
            _ => {
                self.key(code);
                self.key(code);
            }
        }
    }

    pub fn key(&mut self, code: u32) {
        self.begin_input();
        if code == keys::PASTE {
            let text = self.clipboard.clone();
            let into = self.surface.type_text(&text, self.now);
            self.note_input(Applied::Paste { text, into });
        } else {
            self.surface.key(code, &self.display.screen(), self.now);
            self.note_input(Applied::Key { code });
        }
        self.settle();
    }

    /// Replaces the text of the field at a point; false when there is none.
    pub fn set_text(&mut self, at: Point, text: &str) -> bool {
        self.begin_input();
        let into = self.surface.set_text(at, text, &self.display.screen(), self.now);
        let done = into.is_some();
        self.note_input(Applied::Text { text: text.to_owned(), into });
        self.settle();
        done
    }

    /// Lets accessibility act on a node; false when the node does not take it.
    pub fn perform(&mut self, node: usize, action: &Performed) -> bool {
        self.begin_input();
        let hit = self.surface.perform(node, action, &self.display.screen(), self.now);
        let done = hit.is_some();
        let applied = match action {
            Performed::SetText(text) => {
                Applied::Text { text: text.clone(), into: hit.map(|hit| hit.resource_id) }
            }
            other => Applied::Performed { action: format!("{other:?}"), hit },
        };
        self.note_input(applied);
        self.settle();
        done
    }

    pub fn select_all(&mut self) {
        self.surface.select_all();
        self.note_input(Applied::Key { code: keys::A });
    }

    /// What happens until the input is noted, the input caused.
    fn begin_input(&mut self) {
        self.surface.caused_by(Some(self.record.inputs_seen()));
    }

    pub fn note_input(&mut self, input: Applied) {
        self.surface.caused_by(None);
        self.film.note_input();
        self.record.input(input, self.clock.uptime_ms(self.now));
    }
}
