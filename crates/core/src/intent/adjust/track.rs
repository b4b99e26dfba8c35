//! The line on which a slider's thumb travels.

use crate::screen::geometry::{Point, Rect};

/// A slider's track. Positions are in pixels from the left end, or from the bottom of an upright track.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Track {
    bounds: Rect,
    visible: Rect,
}

impl Track {
    /// `None` when no part of the control can be touched.
    pub fn of(bounds: Rect, visible: Rect) -> Option<Track> {
        let visible = bounds.intersection(visible)?;
        Some(Track { bounds, visible })
    }

    pub fn is_upright(&self) -> bool {
        self.bounds.height() > self.bounds.width()
    }

    pub fn length(&self) -> i32 {
        if self.is_upright() { self.bounds.height() } else { self.bounds.width() }
    }

    pub fn middle(&self) -> i32 {
        self.length() / 2
    }

    /// The first and the last position that can be touched.
    pub fn limits(&self) -> (i32, i32) {
        let (b, v) = (self.bounds, self.visible);
        let (first, past) = if self.is_upright() {
            (b.bottom.saturating_sub(v.bottom), b.bottom.saturating_sub(v.top))
        } else {
            (v.left.saturating_sub(b.left), v.right.saturating_sub(b.left))
        };
        (first, past - 1)
    }

    /// The probable ends of the thumb's range: half a thumb from the ends of the control.
    pub fn ends(&self) -> (i32, i32) {
        let across = if self.is_upright() { self.bounds.width() } else { self.bounds.height() };
        let inset = (across / 3).min(self.length() / 8);
        (inset, self.length() - 1 - inset)
    }

    /// The screen point of a position, moved into the visible part of the control if it lies outside.
    pub fn point(&self, place: i32) -> Point {
        let (low, high) = self.limits();
        let place = place.clamp(low, high);
        let center = self.visible.center();
        if self.is_upright() {
            Point { x: center.x, y: self.bounds.bottom - 1 - place }
        } else {
            Point { x: self.bounds.left + place, y: center.y }
        }
    }
}
