//! Fingers on the framework phone: whole gestures, which the process plays by its clock, and single parts of them.

use super::codec::{self, HitView, Kind, Request};
use super::{FrameworkSurface, nothing};
use crate::app::geometry::Point;
use crate::surface::TouchPart;
use crate::truth::Hit;

/// How long two fingers take that zoom.
const PINCH_MS: i64 = 300;

/// The actions of `android.view.MotionEvent`.
pub const ACTION_DOWN: u8 = 0;
pub const ACTION_UP: u8 = 1;
pub const ACTION_MOVE: u8 = 2;
pub const ACTION_CANCEL: u8 = 3;

impl FrameworkSurface {
    /// Fingers that come down together at `from`, rest, and are lifted together at `to`.
    pub(super) fn gesture(&mut self, fingers: &[(Point, Point)], hold_ms: i64, ms: i64) -> Option<Hit> {
        let fill = |request: Request| {
            let request = request.u8(fingers.len() as u8).i64(hold_ms).i64(ms);
            let points = fingers.iter().map(|f| f.0).chain(fingers.iter().map(|f| f.1));
            points.fold(request, |request, (x, y)| request.i32(x).i32(y))
        };
        self.act(Kind::Gesture, fill, codec::hit)?.map(hit_of)
    }

    /// A part of a gesture; fingers that come down or are lifted do so together.
    pub(super) fn motion(&mut self, action: u8, points: &[Point]) {
        let fill = |request: Request| {
            let request = request.u8(action).u8(points.len() as u8);
            points.iter().fold(request, |request, (x, y)| request.i32(*x).i32(*y))
        };
        self.act(Kind::Motion, fill, nothing);
    }

    pub(super) fn two_fingers(&mut self, at: [Point; 2], part: TouchPart) {
        self.two_down = part != TouchPart::Up;
        let action = match part {
            TouchPart::Down => ACTION_DOWN,
            TouchPart::Move => ACTION_MOVE,
            TouchPart::Up => ACTION_UP,
        };
        self.motion(action, &at);
    }

    /// Zooms by a gesture of its own.
    pub(super) fn zoom(&mut self, [a, b]: [Point; 2], factor: f32) {
        let scaled = |at: i32, other: i32| {
            let middle = f64::midpoint(f64::from(at), f64::from(other));
            (middle + (f64::from(at) - middle) * f64::from(factor)).round() as i32
        };
        let (to_a, to_b) = ((scaled(a.0, b.0), scaled(a.1, b.1)), (scaled(b.0, a.0), scaled(b.1, a.1)));
        self.gesture(&[(a, to_a), (b, to_b)], 0, PINCH_MS);
    }
}

fn hit_of(view: HitView) -> Hit {
    let HitView { class, id, label, enabled } = view;
    Hit { class, resource_id: id, label, acted: enabled, datum: None }
}
