//! Touches: taps, long presses, drags, scrolling.

use tokio::time::{Duration, Instant};

use super::{ScrollKey, Ui, ios};
use crate::app::fling::Fling;
use crate::app::geometry::{Point, Screen};
use crate::app::keyboard::Board;
use crate::app::widget::{Appearance, Key, Widget};
use crate::config::Platform;
use crate::truth::Hit;

/// A finger that moves less than this makes no swipe.
pub(super) const TOUCH_SLOP_DP: i32 = 8;
/// A finger that rests this long makes a long press.
pub const LONG_PRESS_MS: u64 = 500;
/// The time between the taps of a double tap. A later tap is another single one; an earlier one is a bounce of the
/// finger.
const DOUBLE_TAP_MAX: Duration = Duration::from_millis(300);
const DOUBLE_TAP_MIN: Duration = Duration::from_millis(40);
/// The last part of a movement that counts for its final speed.
const VELOCITY_MS: u64 = 100;
/// Remembered points of one finger's movement.
const MOVES_MAX: usize = 256;
const THUMB_RADIUS_DP: i32 = 12;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PendingTap {
    package: &'static str,
    key: Key,
    since: Instant,
    pub until: Instant,
    cause: Option<u64>,
}

/// A finished movement of one finger.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gesture {
    pub from: (i32, i32),
    pub to: (i32, i32),
    pub ms: u64,
    /// How long the finger rested before it moved.
    pub held_ms: u64,
    /// The final speed in pixels per second, right and down.
    pub velocity: (f32, f32),
}

impl Gesture {
    /// An even movement, as `input swipe` makes it.
    pub fn swipe(from: (i32, i32), to: (i32, i32), ms: u64) -> Gesture {
        let seconds = ms.max(1) as f32 / 1000.0;
        let speed = |from: i32, to: i32| to.saturating_sub(from) as f32 / seconds;
        Gesture { from, to, ms, held_ms: 0, velocity: (speed(from.0, to.0), speed(from.1, to.1)) }
    }

    /// A movement with known points in between: how many milliseconds ago, and where, the oldest first.
    pub fn along(
        from: (i32, i32),
        to: (i32, i32),
        ms: u64,
        points: &[(u64, (i32, i32))],
        screen: &Screen,
    ) -> Gesture {
        let slop = screen.px(TOUCH_SLOP_DP);
        let far = |at: (i32, i32)| at.0.abs_diff(from.0).max(at.1.abs_diff(from.1)) > slop.unsigned_abs();
        let moved = points.iter().find(|(_, at)| far(*at)).map_or(0, |(ago, _)| *ago);
        let all = [(ms, from)].into_iter().chain(points.iter().copied());
        let recent = all.into_iter().find(|(ago, _)| *ago <= VELOCITY_MS);
        let velocity = match recent {
            Some((ago, at)) => Gesture::swipe(at, to, ago).velocity,
            None => (0.0, 0.0),
        };
        Gesture { from, to, ms, held_ms: ms.saturating_sub(moved), velocity }
    }

    /// A long press that then moves.
    pub fn drag(from: (i32, i32), to: (i32, i32), ms: u64) -> Gesture {
        Gesture { from, to, ms, held_ms: LONG_PRESS_MS, velocity: (0.0, 0.0) }
    }
}

impl Ui {
    pub fn tap(&mut self, (x, y): Point, screen: &Screen, now: Instant) -> Option<Hit> {
        if self.keyboard && screen.keyboard().contains(x, y) {
            return Some(self.tap_keyboard(x, y, screen, now));
        }
        if let Some(hit) = self.wait_in_queue(&Gesture::swipe((x, y), (x, y), 0), screen, now) {
            return hit;
        }
        // A finger on a moving list only stops it. A finger beside it does not.
        if self.is_on_moving_list((x, y), screen) {
            self.fling = None;
            self.changed(now);
            return Some(Hit::named("a moving list"));
        }
        let package = self.front().0;
        let window = match self.dialog_window(screen) {
            Some(dialog) if !dialog.visible.contains(x, y) => {
                if !self.system_window_open() {
                    self.with_app(package, now, |app, _| app.cancel_dialog());
                }
                return Some(Hit::named("outside the dialog"));
            }
            Some(dialog) => dialog,
            None => self.activity_window(screen),
        };
        let wanted = |w: &Widget| w.flags.clickable || w.appearance.slider().is_some();
        let widget = window.hit(x, y, &wanted)?;
        let hit = Hit::of(widget);
        if let (true, Some(key)) = (hit.acted, widget.key) {
            if self.system_window_open() {
                self.answer_system_window(key, now);
            } else if key == ios::BACK {
                self.finish(now);
            } else {
                self.act_on(package, key, widget, (x, y), now);
            }
        }
        Some(hit)
    }

    fn is_on_moving_list(&self, at: (i32, i32), screen: &Screen) -> bool {
        let Some(((_, _, key), _)) = self.fling else { return false };
        let window = self.top_window(screen);
        window.find(&|w| w.key == Some(key)).is_some_and(|list| list.visible.contains(at.0, at.1))
    }

    pub(super) fn act_on(
        &mut self,
        package: &'static str,
        key: Key,
        widget: &Widget,
        at: (i32, i32),
        now: Instant,
    ) {
        if widget.appearance == Appearance::Field {
            self.focus_on(key, now);
            self.keyboard = true;
            self.board = Board::first(self.platform);
        } else if widget.appearance.slider().is_some() {
            // A tap on the track moves the thumb there; iOS knows no such taps.
            if self.platform == Platform::Android {
                let fraction = fraction_of(widget, at);
                self.with_app(package, now, |app, context| app.slide(key, fraction, context));
            }
        } else if widget.flags.double_tap {
            self.maybe_double(package, key, now);
        } else {
            self.with_app(package, now, |app, context| app.tap(key, context));
        }
    }

    fn maybe_double(&mut self, package: &'static str, key: Key, now: Instant) {
        match self.pending.take() {
            Some(first) if first.key == key && now >= first.since + DOUBLE_TAP_MIN => {
                self.with_app(package, now, |app, context| app.double_tap(key, context));
            }
            _ => {
                let until = now + DOUBLE_TAP_MAX;
                self.pending = Some(PendingTap { package, key, since: now, until, cause: self.cause });
            }
        }
    }

    pub(super) fn single_tap(&mut self, now: Instant) {
        if let Some(PendingTap { package, key, cause, .. }) = self.pending.take() {
            let before = std::mem::replace(&mut self.cause, cause);
            self.with_app(package, now, |app, context| app.tap(key, context));
            self.cause = before;
        }
    }

    /// Remembers where the finger that is down is now.
    pub fn moved(&mut self, at: (i32, i32), now: Instant) {
        if self.moves.len() == MOVES_MAX {
            self.moves.pop_front();
        }
        self.moves.push_back((now, at));
    }

    /// Handles a finger that went down at `from` and up at `to`; returns what it began on.
    pub fn swipe(
        &mut self,
        from: (i32, i32),
        to: (i32, i32),
        ms: u64,
        screen: &Screen,
        now: Instant,
    ) -> Option<Hit> {
        let ago = |at: Instant| now.saturating_duration_since(at).as_millis() as u64;
        let points: Vec<_> = self.moves.drain(..).map(|(at, point)| (ago(at), point)).collect();
        let gesture = match points.iter().position(|(ago, _)| *ago <= ms) {
            Some(first) => Gesture::along(from, to, ms, &points[first..], screen),
            None => Gesture::swipe(from, to, ms),
        };
        self.gesture(&gesture, screen, now)
    }

    pub fn gesture(&mut self, gesture: &Gesture, screen: &Screen, now: Instant) -> Option<Hit> {
        self.end_drag();
        let (from, to) = (gesture.from, gesture.to);
        let (dx, dy) = (to.0.saturating_sub(from.0), to.1.saturating_sub(from.1));
        let slop = screen.px(TOUCH_SLOP_DP);
        if dx.saturating_abs() <= slop && dy.saturating_abs() <= slop {
            return if gesture.ms >= LONG_PRESS_MS {
                self.long_press(from, screen, now)
            } else {
                self.tap(from, screen, now)
            };
        }
        if let Some(hit) = self.swipe_from_edge(from, (dx, dy), screen, now) {
            return Some(hit);
        }
        if self.keyboard && screen.keyboard().contains(from.0, from.1) {
            return Some(Hit::named("keyboard"));
        }
        if let Some(hit) = self.swipe_shade(from, dy, screen, now) {
            return Some(hit);
        }
        if let Some(hit) = self.wait_in_queue(gesture, screen, now) {
            return hit;
        }
        self.fling = None;
        let window = self.top_window(screen);
        if gesture.held_ms >= LONG_PRESS_MS && self.takes_held_finger(&window, from) {
            return self.drag_and_drop(&window, gesture, screen, now);
        }
        let slider = window.hit(from.0, from.1, &|w| w.appearance.slider().is_some());
        if let Some((widget, key)) = slider.and_then(|w| Some((w, w.key?))) {
            let mut hit = Hit::of(widget);
            hit.acted &= self.takes_slider(widget, from, screen);
            if hit.acted {
                let (fraction, package) = (dragged_to(widget, from, to, screen), self.front().0);
                self.with_app(package, now, |app, context| app.slide(key, fraction, context));
            }
            return Some(hit);
        }
        self.scroll_chain(&window, gesture, screen, now)
    }

    /// Makes a long press with a key on the focused widget; returns false if that takes none.
    pub fn long_press_focused(&mut self, screen: &Screen, now: Instant) -> bool {
        let Some(focus) = self.focus else { return false };
        let window = self.top_window(screen);
        let widget = window.find(&|w| w.key == Some(focus));
        let takes = widget.is_some_and(|w| {
            w.flags.long_clickable && !w.flags.disabled && w.appearance != Appearance::Field
        });
        if takes {
            let package = self.front().0;
            self.with_app(package, now, |app, context| app.long_press(focus, context));
        }
        takes
    }

    fn long_press(&mut self, at: (i32, i32), screen: &Screen, now: Instant) -> Option<Hit> {
        if let Some(hit) = self.wait_in_queue(&Gesture::swipe(at, at, LONG_PRESS_MS), screen, now) {
            return hit;
        }
        let window = self.top_window(screen);
        let widget = window.hit(at.0, at.1, &|w| w.flags.clickable || w.flags.long_clickable)?;
        let mut hit = Hit::of(widget);
        hit.acted &= widget.flags.long_clickable && widget.appearance != Appearance::Field;
        if let (true, Some(key), false) = (hit.acted, widget.key, self.system_window_open()) {
            let package = self.front().0;
            self.with_app(package, now, |app, context| app.long_press(key, context));
        }
        Some(hit)
    }

    /// Picks up a draggable widget and drops it on the widget at the end point.
    fn drag_and_drop(
        &mut self,
        window: &Widget,
        gesture: &Gesture,
        screen: &Screen,
        now: Instant,
    ) -> Option<Hit> {
        let (from, to) = (gesture.from, gesture.to);
        let Some(picked) = window.hit(from.0, from.1, &|w| w.flags.draggable) else {
            // Nothing moves under a finger that pressed long.
            return self.long_press(from, screen, now);
        };
        let hit = Hit::of(picked);
        let below =
            window.hit(to.0, to.1, &|w| w.key.is_some() && w.key != picked.key && !w.flags.scrollable);
        if let (true, Some(key), Some(onto)) = (hit.acted, picked.key, below.and_then(|w| w.key)) {
            let package = self.front().0;
            self.with_app(package, now, |app, context| app.dropped(key, onto, context));
        }
        Some(hit)
    }

    /// Scrolls the innermost container in that direction; the rest of the movement goes to the next one outside.
    fn scroll_chain(
        &mut self,
        window: &Widget,
        gesture: &Gesture,
        screen: &Screen,
        now: Instant,
    ) -> Option<Hit> {
        let (from, to) = (gesture.from, gesture.to);
        let (dx, dy) = (to.0.saturating_sub(from.0), to.1.saturating_sub(from.1));
        let sideways = dx.saturating_abs() > dy.saturating_abs();
        let (way, velocity) = if sideways { (dx, gesture.velocity.0) } else { (dy, gesture.velocity.1) };
        let chain = window.hits(from.0, from.1, &|w| w.flags.scrollable && w.key.is_some());
        let hit = chain.first().map(|w| Hit::of(w))?;
        // The slop is used up before anything moves.
        let mut left = -(way - way.signum() * screen.px(TOUCH_SLOP_DP));
        let mut last = None;
        let along = chain.iter().filter(|w| w.scrolls_sideways() == sideways && !w.flags.locked);
        for key in along.filter_map(|w| w.key) {
            let used = self.scroll_by(key, left, screen, now);
            left -= used;
            if used != 0 {
                last = Some(key);
            }
            if left == 0 {
                break;
            }
        }
        if let Some(key) = last.filter(|_| left == 0) {
            let whole = self.scroll_key(key);
            let at = self.scroll.get(&whole).copied().unwrap_or(0);
            let most = self.scroll_most(key, screen);
            let glide = chain.iter().find(|w| w.key == Some(key)).map_or(1, |w| w.glide);
            self.fling =
                Fling::throw(-velocity * glide as f32, at, most, screen, now).map(|fling| (whole, fling));
        }
        Some(hit)
    }

    pub(super) fn scroll_key(&self, key: Key) -> ScrollKey {
        let (package, activity) = self.front();
        (package, activity, key)
    }

    /// Scrolls a container and returns how far it moved.
    pub(super) fn scroll_by(&mut self, key: Key, by: i32, screen: &Screen, now: Instant) -> i32 {
        let most = self.scroll_most(key, screen);
        let offset = self.scroll.entry(self.scroll_key(key)).or_insert(0);
        let before = *offset;
        *offset = before.saturating_add(by).clamp(0, most);
        let used = *offset - before;
        if used != 0 {
            self.changed(now);
            self.maybe_at_end(key, most, now);
        }
        used
    }

    /// Tells the app when the end of a list comes into sight, so that it can load more.
    pub(super) fn maybe_at_end(&mut self, key: Key, most: i32, now: Instant) {
        let at = self.scroll.get(&self.scroll_key(key)).copied().unwrap_or(0);
        if most > 0 && at >= most {
            let package = self.front().0;
            self.with_app(package, now, |app, context| app.end_reached(key, context));
        }
    }

    /// Returns how far a container can scroll, measured before rows out of sight are dropped.
    pub fn scroll_most(&self, key: Key, screen: &Screen) -> i32 {
        let (package, activity) = self.front();
        let window = self.activity_window(screen);
        let Some(placed) = window.find(&|w| w.key == Some(key)).map(|w| w.bounds) else { return 0 };
        let Some(app) = self.app(package) else { return 0 };
        let view = app.view(activity, screen);
        view.find(&|w| w.key == Some(key)).map_or(0, |w| w.scroll_most(&placed, screen))
    }

    /// Limits scroll offsets: a list that became shorter must not stay scrolled past its end.
    pub fn clamp_scroll(&mut self, screen: &Screen) {
        if !std::mem::take(&mut self.unclamped) {
            return;
        }
        let (package, activity) = self.front();
        let keys: Vec<Key> = self
            .scroll
            .keys()
            .filter(|(p, a, _)| (*p, *a) == (package, activity))
            .map(|(_, _, key)| *key)
            .collect();
        for key in keys {
            let (whole, most) = ((package, activity, key), self.scroll_most(key, screen));
            if self.scroll.get(&whole).is_some_and(|offset| *offset > most) {
                self.scroll.insert(whole, most);
                // The layout that follows a change puts the rows elsewhere, at the same moment.
                self.changes += 1;
                // What moves the list knows only how long it was.
                self.fling = self.fling.filter(|(thrown, _)| *thrown != whole);
                self.drag = self.drag.map(|drag| drag.within(whole, most));
            }
        }
    }
}

/// Returns where on the track a point lies and how long the track is, in the slider's direction. The thumb moves
/// between the paddings at both ends.
fn along(widget: &Widget, at: (i32, i32)) -> (i32, i32) {
    let b = widget.bounds;
    let upright = matches!(widget.appearance, Appearance::SliderUp(_));
    let inset = if upright { b.width() } else { b.height() } / 3;
    let (length, point) = match widget.appearance {
        Appearance::SliderUp(_) => (b.height(), b.bottom.saturating_sub(at.1)),
        Appearance::SliderLeft(_) => (b.width(), b.right.saturating_sub(at.0)),
        _ => (b.width(), at.0.saturating_sub(b.left)),
    };
    ((length - 2 * inset).max(1), point.saturating_sub(inset))
}

fn fraction_of(widget: &Widget, at: (i32, i32)) -> f32 {
    let (length, point) = along(widget, at);
    point as f32 / length as f32
}

/// Returns how far a point is from the middle of a slider's thumb, along the slider, in pixels.
pub(super) fn thumb_distance(widget: &Widget, at: (i32, i32)) -> f32 {
    let (length, point) = along(widget, at);
    (widget.appearance.slider().unwrap_or(0.0) * length as f32 - point as f32).abs()
}

/// Returns the fraction to which a drag moves the thumb. A thumb that was caught off its middle keeps that distance;
/// a touch beside it makes it jump.
fn dragged_to(widget: &Widget, from: (i32, i32), to: (i32, i32), screen: &Screen) -> f32 {
    let (length, point) = along(widget, from);
    let thumb = widget.appearance.slider().unwrap_or(0.0) * length as f32;
    let off = thumb - point as f32;
    let caught = off.abs() <= screen.px(THUMB_RADIUS_DP) as f32;
    fraction_of(widget, to) + if caught { off / length as f32 } else { 0.0 }
}
