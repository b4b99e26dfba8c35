//! Lists that follow a finger that is still down.

use tokio::time::{Duration, Instant};

use super::touch::TOUCH_SLOP_DP;
use super::{ScrollKey, Ui};
use crate::app::geometry::Screen;

/// The interval of accessibility events while a list moves.
const EVENT_EVERY: Duration = Duration::from_millis(50);
/// A finger that nobody lifts is forgotten this long after the end of its movement.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, Copy)]
pub(super) struct Drag {
    key: ScrollKey,
    /// The list's offset when the finger came down.
    base_px: i32,
    most_px: i32,
    /// How far the finger moves.
    way_px: i32,
    slop_px: i32,
    start: Instant,
    time: Duration,
}

impl Drag {
    /// The same drag of a list that became shorter.
    pub(super) fn within(self, key: ScrollKey, most_px: i32) -> Drag {
        if self.key == key { Drag { most_px, ..self } } else { self }
    }
}

impl Ui {
    /// Puts a finger down that will move evenly. The list below follows it until `gesture` ends the movement.
    pub fn begin_drag(
        &mut self,
        from: (i32, i32),
        to: (i32, i32),
        time: Duration,
        screen: &Screen,
        now: Instant,
    ) {
        self.end_drag();
        let (dx, dy) = (to.0.saturating_sub(from.0), to.1.saturating_sub(from.1));
        let slop_px = screen.px(TOUCH_SLOP_DP);
        let sideways = dx.saturating_abs() > dy.saturating_abs();
        let way_px = if sideways { dx } else { dy };
        let on_keyboard = self.keyboard && screen.keyboard().contains(from.0, from.1);
        let is_away = self.system_window_open() || !self.responds();
        if way_px.saturating_abs() <= slop_px || on_keyboard || is_away {
            return;
        }
        let window = self.top_window(screen);
        if window.hit(from.0, from.1, &|w| w.appearance.slider().is_some()).is_some() {
            return;
        }
        let chain = window.hits(from.0, from.1, &|w| w.flags.scrollable && w.key.is_some());
        let Some(key) = chain.iter().filter(|w| w.scrolls_sideways() == sideways).find_map(|w| w.key) else {
            return;
        };
        self.fling = None;
        let whole = self.scroll_key(key);
        let base_px = self.scroll.get(&whole).copied().unwrap_or(0);
        let most_px = self.scroll_most(key, screen);
        self.drag = Some(Drag { key: whole, base_px, most_px, way_px, slop_px, start: now, time });
        self.move_drag(now);
    }

    pub(super) fn move_drag(&mut self, now: Instant) {
        let Some(drag) = self.drag else { return };
        let passed = now.saturating_duration_since(drag.start);
        if passed > drag.time + FORGOTTEN_AFTER {
            self.drag = None;
            return;
        }
        let part =
            if drag.time.is_zero() { 1.0 } else { (passed.as_secs_f64() / drag.time.as_secs_f64()).min(1.0) };
        let gone = (f64::from(drag.way_px) * part) as i32;
        let counted = gone.signum() * (gone.saturating_abs() - drag.slop_px).max(0);
        let at = drag.base_px.saturating_sub(counted).clamp(0, drag.most_px);
        if self.scroll.insert(drag.key, at).unwrap_or(0) != at {
            let events = (passed.as_millis() / EVENT_EVERY.as_millis()) as u32;
            self.changed(self.changed_at.max(drag.start + EVENT_EVERY * events));
            self.visible_at = now;
        }
    }

    /// Lifts the finger and puts the list back: `gesture` then moves it as a whole.
    pub(super) fn end_drag(&mut self) {
        if let Some(drag) = self.drag.take() {
            self.scroll.insert(drag.key, drag.base_px);
        }
    }
}
