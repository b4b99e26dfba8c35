//! The recording as the phone's surface: where in it the phone is, and what an input does to that.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use tokio::time::Instant;

use super::load::{Action, Direction, Recording, Screen};
use super::tree::{Node, Typing};
use super::{load, picture};
use crate::app::geometry::{self, Point, Rect};
use crate::app::{keys, launcher};
use crate::surface::{Changes, Picture, Surface, SurfaceEvent, SurfaceTruth, Task};
use crate::truth::{Hit, ReplayTruth};

/// A finger that rests this long makes a long press.
const LONG_PRESS_MS: u64 = 500;
/// A finger that moves less than this makes no swipe.
const TOUCH_SLOP_DP: i32 = 8;
/// The longest text of a field.
const TYPED_CHARS_MAX: usize = 10_000;

pub struct Replay {
    recording: Arc<Recording>,
    at: usize,
    shown_at: Instant,
    changed_at: Instant,
    changes: u64,
    /// True if a field was tapped on this screen.
    focused: bool,
    typed: String,
    all_selected: bool,
    passed: usize,
    finished: bool,
    /// The index and tree of the screen that was dumped last: clients that poll ask for the same one again and again.
    written: Mutex<Option<(usize, Bytes)>>,
}

impl Replay {
    pub fn new(recording: Arc<Recording>, now: Instant) -> Replay {
        Replay {
            recording,
            at: 0,
            shown_at: now,
            changed_at: now,
            changes: 0,
            focused: false,
            typed: String::new(),
            all_selected: false,
            passed: 0,
            finished: false,
            written: Mutex::default(),
        }
    }

    fn screen(&self) -> Option<&Screen> {
        self.recording.screens.get(self.at)
    }

    fn action(&self) -> Option<Action> {
        if self.finished { None } else { self.screen()?.action.clone() }
    }

    fn field(&self) -> Option<Rect> {
        match self.action() {
            Some(Action::Text { field, .. }) if self.has_focus(&field) => Some(field),
            _ => None,
        }
    }

    /// Returns true if the field was tapped, or had the focus when it was recorded.
    fn has_focus(&self, field: &Rect) -> bool {
        let inside = |node: &Node| node.is("focused") && !node.bounds.intersect(field).is_empty();
        self.focused || self.screen().is_some_and(|screen| screen.tree.find(&inside).is_some())
    }

    fn changed(&mut self, now: Instant) {
        self.changes += 1;
        self.changed_at = now;
    }

    /// Takes the recorded action of this screen.
    fn pass(&mut self, now: Instant) {
        self.passed += 1;
        self.focused = false;
        self.typed.clear();
        self.all_selected = false;
        match self.screen().and_then(|screen| screen.next) {
            Some(next) => {
                self.at = next;
                self.shown_at = now;
                self.changed(now);
            }
            None => self.finished = true,
        }
    }

    fn hit(&self, x: i32, y: i32) -> Option<Hit> {
        let node = self.screen()?.tree.at(x, y)?;
        let label = if node.text.is_empty() { &node.description } else { &node.text };
        Some(Hit {
            class: node.class.clone(),
            resource_id: node.resource_id.clone(),
            label: label.clone(),
            acted: false,
            datum: None,
        })
    }

    fn check_text(&mut self, entered: bool, now: Instant) {
        if let Some(Action::Text { input, enter, .. }) = self.action()
            && self.typed == input
            && enter == entered
        {
            self.pass(now);
        }
    }

    fn typing(&self) -> Option<Typing<'_>> {
        let field = self.field()?;
        (!self.typed.is_empty()).then_some(Typing { field, text: &self.typed })
    }
}

impl Surface for Replay {
    /// Lets checks and waits pass, each at its own time. A cycle of waits of no time at all stays where the first round
    /// ends.
    fn advance(&mut self, now: Instant) {
        for _ in 0..=self.recording.screens.len() {
            let Some(Action::Wait(time)) = self.action() else { return };
            let due = self.shown_at + time;
            if due > now {
                return;
            }
            self.pass(due);
        }
    }

    fn settle(&mut self, _screen: &geometry::Screen) -> Vec<SurfaceEvent> {
        Vec::new()
    }

    fn changes(&self, _now: Instant) -> Changes {
        Changes { count: self.changes, reported_at: self.changed_at, visible_at: self.changed_at }
    }

    fn front(&self) -> (&str, &str) {
        (&self.recording.package, self.screen().map_or("", |screen| screen.activity.as_str()))
    }

    fn hierarchy(&self, _screen: &geometry::Screen, sdk: u32) -> Bytes {
        let Some(screen) = self.screen() else { return Bytes::new() };
        let typing = self.typing();
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, bytes)) = written.as_ref().filter(|(at, _)| typing.is_none() && *at == self.at) {
            return bytes.clone();
        }
        let is_recorded = typing.is_none();
        let bytes = Bytes::from(screen.tree.write(&self.recording.package, sdk, typing));
        *written = is_recorded.then(|| (self.at, bytes.clone()));
        bytes
    }

    /// Returns the recorded picture if there is one, else boxes and texts from the tree.
    fn picture(&self, screen: &geometry::Screen, _now: Instant, _wall_ms: u64) -> Picture {
        let (recording, at, screen) = (self.recording.clone(), self.at, *screen);
        let typed = self.typing().map(|typing| (typing.field, typing.text.to_owned()));
        Box::new(move || {
            let shown = recording.screens.get(at);
            let recorded = shown.and_then(|s| s.screenshot.as_ref()).and_then(|png| load::decode(png).ok());
            recorded.unwrap_or_else(|| {
                let typed = typed.as_ref().map(|(field, text)| Typing { field: *field, text });
                picture::draw(shown.map(|s| &s.tree), typed, &screen)
            })
        })
    }

    fn tap(&mut self, (x, y): Point, _screen: &geometry::Screen, now: Instant) -> Option<Hit> {
        let hit = self.hit(x, y);
        let acted = match self.action() {
            Some(Action::Tap(target)) if target.contains(x, y) => {
                self.pass(now);
                true
            }
            Some(Action::Text { field, .. }) if field.contains(x, y) => {
                self.focused = true;
                self.changed(now);
                true
            }
            _ => false,
        };
        hit.map(|hit| Hit { acted, ..hit })
    }

    fn swipe(
        &mut self,
        from: Point,
        to: Point,
        ms: u64,
        screen: &geometry::Screen,
        now: Instant,
    ) -> Option<Hit> {
        let (dx, dy) = (to.0.saturating_sub(from.0), to.1.saturating_sub(from.1));
        let slop = screen.px(TOUCH_SLOP_DP);
        let moved = dx.saturating_abs().max(dy.saturating_abs()) > slop;
        if !moved && ms < LONG_PRESS_MS {
            return self.tap(from, screen, now);
        }
        let hit = self.hit(from.0, from.1);
        let acted = match self.action() {
            Some(Action::LongPress(target)) => !moved && target.contains(from.0, from.1),
            Some(Action::Swipe { area, direction }) => {
                moved && area.contains(from.0, from.1) && direction == direction_of(dx, dy)
            }
            _ => false,
        };
        if acted {
            self.pass(now);
        }
        hit.map(|hit| Hit { acted, ..hit })
    }

    fn key(&mut self, code: u32, _screen: &geometry::Screen, now: Instant) {
        if self.action() == Some(Action::Key(code)) {
            return self.pass(now);
        }
        if self.field().is_none() {
            return;
        }
        match code {
            keys::ENTER | keys::NUMPAD_ENTER => self.check_text(true, now),
            keys::DEL => {
                if std::mem::take(&mut self.all_selected) {
                    self.typed.clear();
                } else {
                    self.typed.pop();
                }
                self.changed(now);
            }
            code => {
                if let Some(c) = keys::character(code) {
                    self.type_text(&c.to_string(), now);
                }
            }
        }
    }

    /// Types into the field of the recorded action, if that has the focus.
    fn type_text(&mut self, text: &str, now: Instant) -> Option<String> {
        let field = self.field()?;
        let into = self.screen().and_then(|screen| screen.tree.find(&|n| n.bounds == field));
        let into = into.map_or_else(String::new, |node| node.resource_id.clone());
        if std::mem::take(&mut self.all_selected) {
            self.typed.clear();
        }
        let room = TYPED_CHARS_MAX.saturating_sub(self.typed.chars().count());
        self.typed.extend(text.chars().take(room));
        self.changed(now);
        self.check_text(false, now);
        Some(into)
    }

    /// Finds the recorded app, which is always in front, and no other.
    fn launch(&mut self, package: &str, _activity: Option<&str>, _now: Instant) -> bool {
        self.recording.package == package
    }

    /// Does nothing: a recording shows what was recorded.
    fn kill(&mut self, _package: &str, _clear_data: bool, _now: Instant) {}

    fn native_size(&self) -> Option<(u32, u32)> {
        Some((self.recording.width, self.recording.height))
    }

    fn tasks(&self) -> Vec<Task<'_>> {
        let (package, activity) = self.front();
        vec![
            Task { id: 1, package: launcher::PACKAGE, stack: vec![launcher::ACTIVITY] },
            Task { id: 2, package, stack: vec![activity] },
        ]
    }

    fn truth(&self) -> SurfaceTruth {
        let state = self.screen().map_or("", |screen| screen.name.as_str()).to_owned();
        let replay = ReplayTruth { state, steps_passed: self.passed, finished: self.finished };
        SurfaceTruth { replay: Some(replay), ..SurfaceTruth::default() }
    }

    fn select_all(&mut self) {
        self.all_selected = self.field().is_some();
    }
}

fn direction_of(dx: i32, dy: i32) -> Direction {
    match (dx.saturating_abs() > dy.saturating_abs(), dx < 0, dy < 0) {
        (true, true, _) => Direction::Left,
        (true, false, _) => Direction::Right,
        (false, _, true) => Direction::Up,
        (false, _, false) => Direction::Down,
    }
}
