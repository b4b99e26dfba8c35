//! The touch panel behind /dev/input: turns events of the kernel's multi-touch protocol B into gestures.

use tokio::time::Instant;

use crate::config::DevInput;
use crate::state::State;
use crate::surface::{Touch, TouchPart};
use crate::truth::Applied;

pub const PATH: &str = "/dev/input/event2";
/// The largest coordinate on both axes, in the panel's own units. They are not pixels and do not turn with the
/// screen.
pub const AXIS_MAX: i32 = 32_767;
pub const SLOTS: usize = 10;

const EV_SYN: u16 = 0;
const EV_ABS: u16 = 3;
const SYN_REPORT: u16 = 0;
const MT_SLOT: u16 = 0x2f;
const MT_X: u16 = 0x35;
const MT_Y: u16 = 0x36;
const MT_ID: u16 = 0x39;

/// The smallest distance of two fingers that Android takes for a pinch: 27 mm.
const SPAN_MIN_DP: i32 = 170;
/// The distance must change by more than twice the touch slop before anything zooms.
const SPAN_SLOP_DP: i32 = 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Contact {
    down: bool,
    raw: (i32, i32),
}

/// What the fingers are doing, from the first one down to the last one up.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
enum Contacts {
    #[default]
    None,
    One {
        slot: usize,
        from: (i32, i32),
        since: Instant,
    },
    Two(Pinch),
    /// The gesture is over, but fingers are still down.
    Over,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Pinch {
    slots: [usize; 2],
    from: [(i32, i32); 2],
    to: [(i32, i32); 2],
    since: Instant,
    first_span: f32,
    /// The distance of the fingers when they last zoomed; nothing until the movement has become a pinch.
    span: Option<f32>,
}

#[derive(Debug, Default)]
pub struct Panel {
    slot: usize,
    contacts: [Contact; SLOTS],
    touch: Contacts,
}

impl Panel {
    fn down(&self) -> Vec<usize> {
        (0..SLOTS).filter(|slot| self.contacts[*slot].down).collect()
    }
}

/// Returns the mode of the device file. The shell is in its group.
pub fn mode(access: DevInput) -> u32 {
    match access {
        DevInput::Writable => 0o020_660,
        DevInput::ReadOnly => 0o020_640,
    }
}

impl State {
    /// Takes one event that was written to the panel. As in the kernel, nothing takes effect before a report.
    pub fn panel_event(&mut self, kind: u16, code: u16, value: i32) {
        let slot = self.panel.slot;
        let contact = &mut self.panel.contacts[slot];
        match (kind, code) {
            (EV_SYN, SYN_REPORT) => self.panel_report(),
            (EV_ABS, MT_SLOT) => {
                let known = usize::try_from(value).ok().filter(|slot| *slot < SLOTS);
                self.panel.slot = known.unwrap_or(slot);
            }
            (EV_ABS, MT_X) => contact.raw.0 = value.clamp(0, AXIS_MAX),
            (EV_ABS, MT_Y) => contact.raw.1 = value.clamp(0, AXIS_MAX),
            (EV_ABS, MT_ID) => contact.down = value >= 0,
            // Pressure, size and BTN_TOUCH are not needed besides the slots.
            _ => {}
        }
    }

    /// Puts fingers where a program wants them, in pixels, and lifts all others. The way through the panel is the same for
    /// every touch; a point in the middle of a pixel comes back as that pixel.
    pub fn panel_fingers(&mut self, fingers: &[(usize, (i32, i32))]) {
        let raw = |at: (i32, i32)| self.panel_raw(at);
        let placed: Vec<(usize, (i32, i32))> = fingers.iter().map(|(slot, at)| (*slot, raw(*at))).collect();
        for (slot, contact) in self.panel.contacts.iter_mut().enumerate() {
            let here = placed.iter().find(|(placed, _)| *placed == slot);
            contact.down = here.is_some();
            contact.raw = here.map_or(contact.raw, |(_, raw)| *raw);
        }
        self.panel_report();
    }

    fn panel_raw(&self, (x, y): (i32, i32)) -> (i32, i32) {
        let screen = self.screen();
        let (width, height) = match screen.rotation % 2 {
            0 => (screen.width, screen.height),
            _ => (screen.height, screen.width),
        };
        let (x, y) = match screen.rotation {
            1 => (width - 1 - y, x),
            2 => (width - 1 - x, height - 1 - y),
            3 => (y, height - 1 - x),
            _ => (x, y),
        };
        let scaled = |at: i32, size: i32| {
            let steps = i64::from(AXIS_MAX + 1);
            ((2 * i64::from(at) + 1) * steps / (2 * i64::from(size.max(1)))).clamp(0, AXIS_MAX.into()) as i32
        };
        (scaled(x, width), scaled(y, height))
    }

    /// Converts the position of a contact to pixels of the screen as it is turned now.
    fn panel_point(&self, slot: usize) -> (i32, i32) {
        let screen = self.screen();
        let raw = self.panel.contacts[slot].raw;
        let (width, height) = match screen.rotation % 2 {
            0 => (screen.width, screen.height),
            _ => (screen.height, screen.width),
        };
        let scaled =
            |raw: i32, size: i32| (i64::from(raw) * i64::from(size) / i64::from(AXIS_MAX + 1)) as i32;
        let (x, y) = (scaled(raw.0, width), scaled(raw.1, height));
        match screen.rotation {
            1 => (y, width - 1 - x),
            2 => (width - 1 - x, height - 1 - y),
            3 => (height - 1 - y, x),
            _ => (x, y),
        }
    }

    fn panel_report(&mut self) {
        let down = self.panel.down();
        self.panel.touch = match (self.panel.touch, down.as_slice()) {
            (Contacts::None, [slot]) => {
                Contacts::One { slot: *slot, from: self.panel_point(*slot), since: self.now }
            }
            (Contacts::None, [a, b]) => self.begin_pinch([*a, *b]),
            (Contacts::One { slot, from, since }, []) => {
                let ms = self.now.saturating_duration_since(since).as_millis() as u64;
                self.swipe(from, self.panel_point(slot), ms);
                Contacts::None
            }
            (one @ Contacts::One { slot, from, .. }, [only]) if slot == *only => {
                let at = self.panel_point(slot);
                self.touch(Touch::At(at));
                self.begin_swipe(from, at, 0);
                one
            }
            (Contacts::One { .. }, [a, b]) => {
                self.touch(Touch::Cancelled);
                self.begin_pinch([*a, *b])
            }
            (Contacts::Two(pinch), [a, b]) if pinch.slots == [*a, *b] => self.move_pinch(pinch),
            (touch, down) => {
                self.end_touch(touch);
                if down.is_empty() { Contacts::None } else { Contacts::Over }
            }
        };
        self.settle();
    }

    fn begin_pinch(&mut self, slots: [usize; 2]) -> Contacts {
        let from = slots.map(|slot| self.panel_point(slot));
        self.touch(Touch::Two { at: from, part: TouchPart::Down });
        let first_span = distance(from);
        Contacts::Two(Pinch { slots, from, to: from, since: self.now, first_span, span: None })
    }

    /// Follows Android's rule: a pinch begins when the fingers are far enough apart and have moved enough; the
    /// movement until then does not count.
    fn move_pinch(&mut self, mut pinch: Pinch) -> Contacts {
        let screen = self.screen();
        pinch.to = pinch.slots.map(|slot| self.panel_point(slot));
        self.touch(Touch::Two { at: pinch.to, part: TouchPart::Move });
        let span = distance(pinch.to);
        let wide = span >= screen.px(SPAN_MIN_DP) as f32;
        let moved = (span - pinch.first_span).abs() > screen.px(SPAN_SLOP_DP) as f32;
        pinch.span = match pinch.span {
            Some(before) if wide => {
                self.touch(Touch::Zooms { fingers: pinch.from, factor: span / before });
                Some(span)
            }
            None if wide && moved => Some(span),
            _ => None,
        };
        Contacts::Two(pinch)
    }

    fn end_touch(&mut self, touch: Contacts) {
        match touch {
            Contacts::Two(Pinch { from, to, since, .. }) => {
                self.touch(Touch::Two { at: to, part: TouchPart::Up });
                let screen = self.screen();
                let ms = self.now.saturating_duration_since(since).as_millis() as u64;
                let hit = self.surface.pinch_target(from, &screen);
                self.note_input(Applied::Pinch { from, to, ms, hit });
            }
            // More than two fingers cancel what the first one began.
            Contacts::One { .. } => self.touch(Touch::Cancelled),
            Contacts::None | Contacts::Over => {}
        }
    }
}

fn distance([a, b]: [(i32, i32); 2]) -> f32 {
    let (dx, dy) = (a.0.saturating_sub(b.0) as f32, a.1.saturating_sub(b.1) as f32);
    dx.hypot(dy)
}
