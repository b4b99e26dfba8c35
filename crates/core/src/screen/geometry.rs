//! Points and rectangles in the units of the element tree, in the current rotation: pixels on Android, points on iOS.

/// Screenshot pixels per unit of the element tree: 1 on Android, 2 or 3 on most iPhones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Scale(pub u32);

impl Default for Scale {
    fn default() -> Scale {
        Scale(1)
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Point {
    pub x: i32,
    pub y: i32,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Size {
    pub width: u32,
    pub height: u32,
}

impl Size {
    /// Returns the size of the same screen after `quarter_turns` of rotation.
    pub fn rotated(self, quarter_turns: u8) -> Size {
        if quarter_turns % 2 == 1 { Size { width: self.height, height: self.width } } else { self }
    }

    pub fn rect(self) -> Rect {
        Rect { left: 0, top: 0, right: clamp_i32(self.width), bottom: clamp_i32(self.height) }
    }
}

/// A rectangle with exclusive right and bottom. Negative and inverted rectangles from devices are kept unchanged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
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

    pub fn width(self) -> i32 {
        self.right.saturating_sub(self.left)
    }

    pub fn height(self) -> i32 {
        self.bottom.saturating_sub(self.top)
    }

    pub fn is_empty(self) -> bool {
        self.width() <= 0 || self.height() <= 0
    }

    pub fn center(self) -> Point {
        let middle = |a: i32, b: i32| ((i64::from(a) + i64::from(b)).div_euclid(2)) as i32;
        Point { x: middle(self.left, self.right), y: middle(self.top, self.bottom) }
    }

    pub fn contains(self, point: Point) -> bool {
        point.x >= self.left && point.x < self.right && point.y >= self.top && point.y < self.bottom
    }

    /// Returns the common part, or `None` if there is none.
    pub fn intersection(self, other: Rect) -> Option<Rect> {
        let common = Rect {
            left: self.left.max(other.left),
            top: self.top.max(other.top),
            right: self.right.min(other.right),
            bottom: self.bottom.min(other.bottom),
        };
        (!common.is_empty()).then_some(common)
    }
}

fn clamp_i32(value: u32) -> i32 {
    i32::try_from(value).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extreme_coordinates_do_not_overflow() {
        let all = Rect::new(i32::MIN, i32::MIN, i32::MAX, i32::MAX);
        assert_eq!(all.center(), Point { x: -1, y: -1 });
        assert_eq!(all.width(), i32::MAX);
        assert_eq!(Rect::new(5, 5, 1, 1).intersection(all), None);
    }

    #[test]
    fn a_quarter_turn_swaps_width_and_height() {
        let portrait = Size { width: 1080, height: 2400 };
        assert_eq!(portrait.rotated(1), Size { width: 2400, height: 1080 });
        assert_eq!(portrait.rotated(2), portrait);
    }
}
