//! A phone that shows lists, as far as a search by scrolling can tell: what a stroke moves and what is then drawn.

use std::sync::Arc;

use super::super::*;
use crate::change::tracker::Tracker;
use crate::meaning::sketch::sketch;
use crate::screen::snapshot::{Screen, Snapshot};

pub const ROW_PX: i32 = 100;
/// A finger moves this far before anything follows it, on a screen of 2400 px.
const SLOP_PX: i32 = 24;
/// Steps of one search, before the test gives up.
const STEPS_MAX: usize = 400;
/// Captures are this far apart while a list glides.
const LOOK_MS: u64 = 40;

/// How content follows a finger.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Follows {
    /// As far as the finger goes.
    Exactly,
    /// And on after the finger was lifted, for so many milliseconds at the finger's speed.
    Glides {
        ms: i32,
    },
    /// To the next page, however far the finger goes.
    PageByPage,
    Never,
}

#[derive(Debug, Clone)]
pub struct List {
    pub id: &'static str,
    pub class: &'static str,
    pub axis: Axis,
    pub view: Rect,
    /// What each row says.
    pub rows: Vec<String>,
    pub row_px: i32,
    pub offset_px: i32,
    pub follows: Follows,
    /// Rows that come some time after the end came into sight.
    pub later: Vec<String>,
    pub later_ms: u64,
    /// Rows that are out of sight are in the tree all the same.
    pub tells_all: bool,
    pub disabled_row: Option<String>,
    pub glide_px: i32,
    pub end_seen_ms: Option<u64>,
}

impl List {
    /// A list of `Row 0`, `Row 1` and so on, of which ten are in sight.
    pub fn of(rows: i32) -> List {
        List {
            id: "list",
            class: "androidx.recyclerview.widget.RecyclerView",
            axis: Axis::Vertical,
            view: Rect::new(0, 400, 1080, 1400),
            rows: named(0..rows),
            row_px: ROW_PX,
            offset_px: 0,
            follows: Follows::Exactly,
            later: Vec::new(),
            later_ms: 0,
            tells_all: false,
            disabled_row: None,
            glide_px: 0,
            end_seen_ms: None,
        }
    }

    pub fn end_px(&self) -> i32 {
        (self.rows.len() as i32 * self.row_px - self.axis.length(self.view)).max(0)
    }

    /// Where a row is, cut at the edges of the view; `None` when it is out of sight.
    pub fn seen_at(&self, row: &str) -> Option<Rect> {
        let number = self.rows.iter().position(|words| words == row)?;
        self.place(number as i32).intersection(self.view)
    }

    /// True if a row is in sight up to one part of twenty.
    pub fn shows_whole(&self, row: &str) -> bool {
        self.seen_at(row).is_some_and(|rect| self.axis.length(rect) * 20 >= self.row_px * 19)
    }

    fn place(&self, row: i32) -> Rect {
        let start = self.axis.span(self.view).0 + row * self.row_px - self.offset_px;
        self.axis.with_span(self.view, start, start + self.row_px)
    }

    fn swipe(&mut self, finger_px: i32, duration_ms: i32) {
        let way_px = finger_px.signum() * (finger_px.abs() - SLOP_PX).max(0);
        match self.follows {
            Follows::Never => {}
            Follows::Exactly => self.go(way_px),
            Follows::Glides { ms } => {
                self.go(way_px);
                self.glide_px = way_px * ms / duration_ms;
            }
            Follows::PageByPage => self.go(way_px.signum() * self.axis.length(self.view)),
        }
    }

    fn go(&mut self, way_px: i32) {
        self.offset_px = (self.offset_px + way_px).clamp(0, self.end_px());
    }

    /// Moves on by a part of what is left of a glide; false when it rests.
    fn glide(&mut self) -> bool {
        let was_px = self.offset_px;
        let step_px = if self.glide_px.abs() < 50 { self.glide_px } else { self.glide_px / 2 };
        self.glide_px -= step_px;
        self.go(step_px);
        if self.offset_px == was_px {
            self.glide_px = 0;
        }
        self.offset_px != was_px
    }

    fn load(&mut self, now_ms: u64) {
        if self.offset_px < self.end_px() {
            self.end_seen_ms = None;
            return;
        }
        let since_ms = *self.end_seen_ms.get_or_insert(now_ms);
        if now_ms >= since_ms + self.later_ms {
            self.rows.append(&mut self.later);
        }
    }

    fn draw(&self, tree: &mut String) {
        let bounds = |rect: Rect| format!("[{},{}][{},{}]", rect.left, rect.top, rect.right, rect.bottom);
        tree.push_str(&format!("  {} {} scroll id:{}\n", self.class, bounds(self.view), self.id));
        for (number, words) in self.rows.iter().enumerate() {
            let place = self.place(number as i32);
            let drawn = if self.tells_all { Some(place) } else { place.intersection(self.view) };
            let Some(drawn) = drawn else { continue };
            let disabled = if self.disabled_row.as_ref() == Some(words) { "disabled" } else { "" };
            tree.push_str(&format!("    TextView {} click {disabled} text:\"{words}\"\n", bounds(drawn)));
        }
    }
}

pub fn named(rows: std::ops::Range<i32>) -> Vec<String> {
    rows.map(|row| format!("Row {row}")).collect()
}

#[derive(Default)]
pub struct Phone {
    pub lists: Vec<List>,
    /// More lines of the tree, drawn over the lists.
    pub over: &'static str,
    /// A circle turns while rows are on their way.
    pub shows_loading: bool,
    pub keyboard: Option<Rect>,
    pub keyboard_questions: u32,
    /// The next stroke opens another screen.
    pub stroke_leaves: bool,
    /// The longest way of a finger that moved nothing.
    pub vain_px: i32,
    pub screen: &'static str,
    pub tracker: Tracker,
    pub now_ms: u64,
}

/// What came of a search.
pub struct Searched {
    pub done: Scrolled,
    pub end: Result<(), Failure>,
}

impl Phone {
    pub fn with(list: List) -> Phone {
        Phone { lists: vec![list], screen: "Main", ..Phone::default() }
    }

    pub fn list(&self) -> &List {
        &self.lists[0]
    }

    pub fn search(&mut self, asked: &ScrollTo) -> Searched {
        let mut search = ScrollSearch::new(asked, self.look());
        let end = self.drive(&mut search);
        Searched { done: search.report(), end }
    }

    fn drive(&mut self, search: &mut ScrollSearch<'_>) -> Result<(), Failure> {
        let mut next = search.next_step()?;
        for _ in 0..STEPS_MAX {
            next = match next {
                ScrollStep::Done => return Ok(()),
                ScrollStep::AskForKeyboard => {
                    self.keyboard_questions += 1;
                    search.keyboard_is(self.keyboard)?
                }
                ScrollStep::Stroke { stroke, window_ms } => {
                    self.stroke(stroke);
                    let (seen, between) = self.settle(window_ms);
                    let stability = Stability::Stable;
                    let glides = seen.diff.is_relevant() || seen.diff.cosmetic.moved > 0;
                    let still_ms = if glides { 0 } else { window_ms };
                    let at_ms = self.now_ms;
                    search.stroked(AfterStroke { seen, stability, at_ms, still_ms, between: &between })?
                }
                ScrollStep::Rest { window_ms } => {
                    let (seen, between) = self.settle(window_ms);
                    search.rested(seen, &between)?
                }
                ScrollStep::WaitForMore { ms, .. } => search.waited(Some(self.wait(ms)))?,
            };
        }
        panic!("the search does not end");
    }

    fn stroke(&mut self, stroke: Stroke) {
        self.tracker.note_action();
        self.now_ms += u64::from(stroke.duration_ms);
        self.lists.iter_mut().for_each(|list| list.load(self.now_ms));
        if self.stroke_leaves {
            self.screen = "Other";
        }
        let under_keyboard = self.keyboard.is_some_and(|keyboard| keyboard.contains(stroke.from));
        let touched = self.lists.iter_mut().find(|list| list.view.contains(stroke.from) && !under_keyboard);
        let Some(list) = touched else { return };
        let finger_px = match list.axis {
            Axis::Vertical => stroke.from.y - stroke.to.y,
            Axis::Horizontal => stroke.from.x - stroke.to.x,
        };
        let was_px = list.offset_px;
        list.swipe(finger_px, stroke.duration_ms as i32);
        if list.offset_px == was_px {
            self.vain_px = self.vain_px.max(finger_px.abs());
        }
    }

    /// The last capture while a list may glide on, and the captures before it.
    fn settle(&mut self, window_ms: u64) -> (Arc<Observation>, Vec<Arc<Observation>>) {
        let mut between = vec![self.look()];
        while self.lists.iter_mut().any(List::glide) && between.len() < 2 {
            between.push(self.look());
        }
        self.now_ms += window_ms;
        (self.look(), between)
    }

    /// Waits for more rows; a change ends the wait.
    fn wait(&mut self, ms: u64) -> Arc<Observation> {
        let until_ms = self.now_ms + ms;
        let before = self.look();
        let mut seen = Arc::clone(&before);
        while self.now_ms < until_ms && seen.revision == before.revision {
            seen = self.look();
        }
        seen
    }

    pub fn look(&mut self) -> Arc<Observation> {
        self.now_ms += LOOK_MS;
        self.lists.iter_mut().for_each(|list| list.load(self.now_ms));
        self.tracker.observe(self.draw(), self.now_ms)
    }

    fn draw(&self) -> Snapshot {
        let mut tree = String::from("FrameLayout [0,0][1080,2400]\n");
        self.lists.iter().for_each(|list| list.draw(&mut tree));
        tree.push_str(self.over);
        if self.shows_loading && self.lists.iter().any(|list| !list.later.is_empty()) {
            tree.push_str("  ProgressBar [490,1500][590,1600]\n");
        }
        let screen = Screen { app: "com.example".to_owned(), name: Some(self.screen.to_owned()) };
        Snapshot { screen: Some(screen), ..sketch(&tree) }
    }
}
