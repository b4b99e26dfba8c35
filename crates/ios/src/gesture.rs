//! Gestures of an iPhone, in points, before a backend writes them in its own form.

use mdm_core::screen::geometry::{Point, Rect, Size};

/// How long a finger of a tap stays down. XCTest loses shorter ones.
pub const TAP_MS: u32 = 60;
/// Between the two taps of a double tap.
pub const DOUBLE_TAP_GAP_MS: u32 = 80;
/// How long the finger rests before it is lifted, so that what was dragged is dropped and not thrown.
pub const DROP_REST_MS: u32 = 120;
/// A swipe from the edge goes over this part of the width, in percent.
const EDGE_SWIPE_PERCENT: u32 = 70;
pub const EDGE_SWIPE_MS: u32 = 250;
/// The app switcher opens when a finger from the lower edge rests in the middle.
pub const SWITCHER_MS: u32 = 400;
pub const SWITCHER_REST_MS: u32 = 700;
/// Fingers of a pinch stay this far inside their target.
const PINCH_EDGE: i32 = 4;

/// The swipe that goes back in navigation of iOS.
pub fn edge_swipe(screen: Size) -> (Point, Point) {
    let middle = (screen.height / 2) as i32;
    let to = (screen.width * EDGE_SWIPE_PERCENT / 100) as i32;
    (Point { x: 1, y: middle }, Point { x: to, y: middle })
}

/// The swipe that opens the app switcher when the finger rests at its end.
pub fn switcher_swipe(screen: Size) -> (Point, Point) {
    let x = (screen.width / 2) as i32;
    (Point { x, y: screen.height as i32 - 2 }, Point { x, y: (screen.height / 2) as i32 })
}

/// Where the two fingers of a pinch begin and end. Both distances are scaled alike until they fit.
pub fn pinch_paths(center: Point, within: Rect, from: u32, to: u32) -> [(Point, Point); 2] {
    let room = (center.x - within.left).min(within.right - center.x).max(0) - PINCH_EDGE;
    let widest = from.max(to).max(1) as f64 / 2.0;
    let factor = (f64::from(room.max(1)) / widest).min(1.0);
    let half = |distance: u32| (f64::from(distance) / 2.0 * factor).round() as i32;
    let beside = |side: i32, distance: u32| Point { x: center.x + side * half(distance), y: center.y };
    [-1, 1].map(|side| (beside(side, from), beside(side, to)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pinch_stays_inside_and_keeps_its_ratio() {
        let center = Point { x: 100, y: 50 };
        let paths = pinch_paths(center, Rect::new(0, 0, 200, 100), 200, 400);
        let [left, right] = paths;
        assert_eq!((left.1.x, right.1.x), (4, 196));
        assert_eq!((left.0.x, right.0.x), (52, 148));
        let free = pinch_paths(center, Rect::new(-1000, 0, 1000, 100), 100, 50);
        assert_eq!((free[0].0.x, free[0].1.x), (50, 75));
    }
}
