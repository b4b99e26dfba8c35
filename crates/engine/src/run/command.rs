//! From an action whose places are known to the commands that are sent.

use mdm_core::action::outcome::{Place, SentKind};
use mdm_core::action::request::{Action, Command, SwipePath};
use mdm_core::intent::scroll::Direction;
use mdm_core::port::{AppCommand, Input};
use mdm_core::screen::geometry::{Point, Rect};

const PINCH_MS: u32 = 400;
/// The distance between the fingers where they are nearest to each other.
const PINCH_PX: f64 = 200.0;
/// A swipe over an element leaves this part of it out at each end, as a fraction.
const SWIPE_EDGE: (i32, i32) = (1, 5);

/// The commands of an action, in order. Actions with steps of their own (typing, scrolling, adjusting) have none here.
pub fn commands(action: &Action, places: &[Place]) -> Vec<(SentKind, Command)> {
    let point = |at: usize| places.get(at).map(|place| place.point).unwrap_or_default();
    let input = |kind, input| vec![(kind, Command::Input(input))];
    match action {
        Action::Tap { .. } => input(SentKind::Touch, Input::Tap(point(0))),
        Action::LongPress { duration_ms, .. } => {
            input(SentKind::Touch, Input::LongPress { point: point(0), duration_ms: *duration_ms })
        }
        Action::DoubleTap { .. } => input(SentKind::Touch, Input::DoubleTap(point(0))),
        Action::Drag { hold_ms, duration_ms, .. } => {
            let (from, to) = (point(0), point(1));
            let drag = Input::Drag { from, to, hold_ms: *hold_ms, duration_ms: *duration_ms };
            input(SentKind::Touch, drag)
        }
        Action::Swipe { path, duration_ms } => {
            let (from, to) = match path {
                SwipePath::Points { from, to } => (*from, *to),
                SwipePath::Across { direction, .. } => across(places.first(), *direction),
            };
            input(SentKind::Touch, Input::Swipe { from, to, duration_ms: *duration_ms })
        }
        Action::Pinch { scale, .. } => {
            input(SentKind::Touch, pinch(point(0), places.first().and_then(|place| place.visible), *scale))
        }
        Action::Key(key) => input(SentKind::Key, Input::Key(*key)),
        Action::Back => input(SentKind::Key, Input::Back),
        Action::HideKeyboard => input(SentKind::Key, Input::HideKeyboard),
        Action::Turn(orientation) => input(SentKind::Turn, Input::Orientation(*orientation)),
        Action::App(command) => vec![(SentKind::App, Command::App(command.clone()))],
        Action::Set(change) => vec![(SentKind::Setting, Command::Set(change.clone()))],
        Action::Restart { app } => {
            let stop = AppCommand::Terminate { app: app.clone() };
            let start = AppCommand::Start { app: app.clone() };
            [stop, start].map(|command| (SentKind::App, Command::App(command))).to_vec()
        }
        Action::Type(_) | Action::Adjust(_) | Action::ScrollTo(_) | Action::ReadList(_) => Vec::new(),
    }
}

fn pinch(center: Point, within: Option<Rect>, scale: f64) -> Input {
    let (from, to) = if scale >= 1.0 { (PINCH_PX, PINCH_PX * scale) } else { (PINCH_PX / scale, PINCH_PX) };
    let (from_px, to_px) = (from.round() as u32, to.round() as u32);
    Input::Pinch { center, within, from_px, to_px, duration_ms: PINCH_MS }
}

/// The finger's way over most of an element, but not its edges.
fn across(place: Option<&Place>, direction: Direction) -> (Point, Point) {
    let at = place.map(|place| place.point).unwrap_or_default();
    let here = Rect { left: at.x, right: at.x, top: at.y, bottom: at.y };
    let rect = place.and_then(|place| place.visible).unwrap_or(here);
    let (part, of) = SWIPE_EDGE;
    let center = rect.center();
    let (dx, dy) = ((rect.right - rect.left) * part / of, (rect.bottom - rect.top) * part / of);
    let (left, right) = (Point { x: rect.left + dx, ..center }, Point { x: rect.right - dx, ..center });
    let (top, bottom) = (Point { y: rect.top + dy, ..center }, Point { y: rect.bottom - dy, ..center });
    match direction {
        Direction::Up => (bottom, top),
        Direction::Down => (top, bottom),
        Direction::Left => (right, left),
        Direction::Right => (left, right),
    }
}

/// The app that an action brings to the front.
pub fn launched_app(action: &Action) -> Option<&str> {
    match action {
        Action::App(AppCommand::Start { app }) | Action::Restart { app } => Some(app),
        _ => None,
    }
}

/// True if the action brings some app to the front.
pub fn launches(action: &Action) -> bool {
    launched_app(action).is_some() || matches!(action, Action::App(AppCommand::Open(_)))
}

#[cfg(test)]
mod tests {
    use mdm_core::intent::target::Target;

    use super::*;

    #[test]
    fn a_swipe_stays_inside_its_element() {
        let rect = Rect { left: 100, top: 200, right: 600, bottom: 1200 };
        let place = Place { point: rect.center(), visible: Some(rect), target: None };
        assert_eq!(
            across(Some(&place), Direction::Up),
            (Point { x: 350, y: 1000 }, Point { x: 350, y: 400 })
        );
        assert_eq!(
            across(Some(&place), Direction::Right),
            (Point { x: 200, y: 700 }, Point { x: 500, y: 700 })
        );
    }

    #[test]
    fn zooming_in_and_out_are_the_same_two_lengths() {
        let lengths = |scale| match pinch(Point::default(), None, scale) {
            Input::Pinch { from_px, to_px, .. } => (from_px, to_px),
            other => panic!("{other:?}"),
        };
        assert_eq!((lengths(2.0), lengths(0.5)), ((200, 400), (400, 200)));
    }

    #[test]
    fn a_restart_is_two_commands_and_a_tap_is_one() {
        let tap = Action::Tap { at: Target::Point(Point { x: 1, y: 2 }) };
        let place = Place { point: Point { x: 1, y: 2 }, visible: None, target: None };
        assert_eq!(commands(&tap, &[place]).len(), 1);
        let restart = Action::Restart { app: "a".to_owned() };
        assert_eq!(commands(&restart, &[]).len(), 2);
        assert_eq!(launched_app(&restart), Some("a"));
    }
}
