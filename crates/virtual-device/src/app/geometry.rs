//! Points and rectangles in screen pixels.

/// A point: pixels right and down from the upper left corner of the screen.
pub type Point = (i32, i32);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rect {
    pub left: i32,
    pub top: i32,
    pub right: i32,
    pub bottom: i32,
}

impl Rect {
    pub fn new(left: i32, top: i32, right: i32, bottom: i32) -> Rect {
        Rect { left, top, right, bottom }
    }

    pub fn width(&self) -> i32 {
        self.right.saturating_sub(self.left)
    }

    pub fn height(&self) -> i32 {
        self.bottom.saturating_sub(self.top)
    }

    pub fn contains(&self, x: i32, y: i32) -> bool {
        x >= self.left && x < self.right && y >= self.top && y < self.bottom
    }

    pub fn is_empty(&self) -> bool {
        self.width() <= 0 || self.height() <= 0
    }

    pub fn intersect(&self, other: &Rect) -> Rect {
        Rect {
            left: self.left.max(other.left),
            top: self.top.max(other.top),
            right: self.right.min(other.right),
            bottom: self.bottom.min(other.bottom),
        }
    }

    /// Left, top, right and bottom.
    pub fn sides(&self) -> (i32, i32, i32, i32) {
        (self.left, self.top, self.right, self.bottom)
    }

    pub fn inset(&self, by: i32) -> Rect {
        Rect::new(self.left + by, self.top + by, self.right - by, self.bottom - by)
    }
}

/// The screen that a tree is laid out for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Screen {
    pub width: i32,
    pub height: i32,
    pub density: u32,
    /// Quarter turns: 0 is upright, 1 and 3 are landscape.
    pub rotation: u8,
}

impl Screen {
    pub fn px(&self, dp: i32) -> i32 {
        (i64::from(dp) * i64::from(self.density) / 160) as i32
    }

    pub fn rect(&self) -> Rect {
        Rect::new(0, 0, self.width, self.height)
    }

    /// Returns the place of the keyboard, the lower 35 % of the screen.
    pub fn keyboard(&self) -> Rect {
        Rect::new(0, self.height - self.height * 35 / 100, self.width, self.height)
    }
}
