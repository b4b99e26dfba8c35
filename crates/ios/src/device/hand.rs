//! Touches, text and keys as motions of CoreDevice's hand, for a real phone without WebDriverAgent.

use mdm_core::port::{DeviceError, DeviceErrorKind, Input, Key};
use mdm_core::screen::geometry::{Point, Size};

use super::input::no_such_key;
use super::{IosDevice, wrong_way};
use crate::gesture;
use crate::idb::{HidEvent, events};
use crate::real::{Button, Finger, Motion, Place};
use crate::route::Verb;

const KEY_BACKSPACE: u16 = 42;

impl IosDevice {
    /// Writes a touch as motions on the upright screen.
    pub(super) async fn motions(&self, touch: Input) -> Result<Vec<Motion>, DeviceError> {
        let size = self.screen_size().await?;
        refuse_turned(size)?;
        refuse_outside(&touch, size)?;
        let at = |point: Point| place(point, size);
        let one = |start: Point, legs: Vec<(Point, u32)>| {
            let legs = legs.into_iter().map(|(to, ms)| (at(to), ms)).collect();
            Motion::Touch(vec![Finger { start: at(start), legs }])
        };
        Ok(match touch {
            Input::Tap(point) => vec![one(point, vec![(point, gesture::TAP_MS)])],
            Input::DoubleTap(point) => {
                let tap = || one(point, vec![(point, gesture::TAP_MS)]);
                vec![tap(), Motion::Wait(gesture::DOUBLE_TAP_GAP_MS), tap()]
            }
            Input::LongPress { point, duration_ms } => vec![one(point, vec![(point, duration_ms)])],
            Input::Swipe { from, to, duration_ms } | Input::Scroll { from, to, duration_ms } => {
                vec![one(from, vec![(to, duration_ms)])]
            }
            Input::Drag { from, to, hold_ms, duration_ms } => {
                vec![one(from, vec![(from, hold_ms), (to, duration_ms), (to, gesture::DROP_REST_MS)])]
            }
            Input::Pinch { center, within, from_px, to_px, duration_ms } => {
                let paths = gesture::pinch_paths(center, within.unwrap_or(size.rect()), from_px, to_px);
                let finger = |(from, to)| Finger { start: at(from), legs: vec![(at(to), duration_ms)] };
                vec![Motion::Touch(paths.map(finger).to_vec())]
            }
            Input::Back => {
                let (from, to) = gesture::edge_swipe(size);
                vec![one(from, vec![(to, gesture::EDGE_SWIPE_MS)])]
            }
            _ => return Err(wrong_way(Verb::Touch)),
        })
    }

    /// Writes a key of the phone, or a gesture that does the same.
    pub(super) async fn key_motions(&self, key: Key) -> Result<Vec<Motion>, DeviceError> {
        let button = match key {
            Key::Home => Button::Home,
            Key::VolumeUp => Button::VolumeUp,
            Key::VolumeDown => Button::VolumeDown,
            Key::Power | Key::Sleep | Key::Wakeup => Button::Lock,
            Key::Back => return self.motions(Input::Back).await,
            Key::Recents => {
                let size = self.screen_size().await?;
                refuse_turned(size)?;
                let (from, to) = gesture::switcher_swipe(size);
                let (from, to) = (place(from, size), place(to, size));
                let legs = vec![(to, gesture::SWITCHER_MS), (to, gesture::SWITCHER_REST_MS)];
                return Ok(vec![Motion::Touch(vec![Finger { start: from, legs }])]);
            }
            _ => return Err(no_such_key()),
        };
        Ok(vec![Motion::Press(button)])
    }
}

/// The keys of a text; nothing if a character is not on a US keyboard.
pub(super) fn text_motions(text: &str) -> Option<Vec<Motion>> {
    let key = |event: &HidEvent| {
        let (usage, down) = events::key_of(event)?;
        Some(Motion::Key { usage: u16::try_from(usage).ok()?, down })
    };
    events::text(text)?.iter().map(key).collect()
}

pub(super) fn erase_motions(characters: u32) -> Vec<Motion> {
    let key = |down: bool| Motion::Key { usage: KEY_BACKSPACE, down };
    (0..characters).flat_map(|_| [key(true), key(false)]).collect()
}

/// How places of a turned screen are told to the phone is not known, and a touch in the wrong place can do harm.
fn refuse_turned(size: Size) -> Result<(), DeviceError> {
    if size.width <= size.height {
        return Ok(());
    }
    let detail = "the iPhone is turned: without WebDriverAgent it can be touched only while it is upright";
    Err(DeviceError::new(DeviceErrorKind::NotSupported, detail))
}

/// A place outside would become one at the edge, which may be anything (F48).
fn refuse_outside(touch: &Input, size: Size) -> Result<(), DeviceError> {
    let points = match touch {
        Input::Tap(point) | Input::DoubleTap(point) | Input::LongPress { point, .. } => [*point; 2],
        Input::Swipe { from, to, .. } | Input::Scroll { from, to, .. } | Input::Drag { from, to, .. } => {
            [*from, *to]
        }
        _ => return Ok(()),
    };
    match points.into_iter().find(|point| !size.rect().contains(*point)) {
        None => Ok(()),
        Some(Point { x, y }) => {
            let Size { width, height } = size;
            let detail = format!("{x},{y} is outside of the screen, which has {width}x{height} points");
            Err(DeviceError::new(DeviceErrorKind::InvalidRequest, detail))
        }
    }
}

fn place(point: Point, size: Size) -> Place {
    let part = |at: i32, length: u32| {
        let part = (f64::from(at) + 0.5) / f64::from(length.max(1)) * 65_536.0;
        part.clamp(0.0, 65_535.0) as u16
    };
    Place { x: part(point.x, size.width), y: part(point.y, size.height) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_keys_and_points_are_parts_of_the_screen() {
        let down = |usage| Motion::Key { usage, down: true };
        let up = |usage| Motion::Key { usage, down: false };
        assert_eq!(text_motions("aB"), Some(vec![down(4), up(4), down(225), down(5), up(5), up(225)]));
        assert_eq!(text_motions("ü"), None);
        let size = Size { width: 393, height: 852 };
        assert_eq!(place(Point { x: 196, y: 426 }, size), Place { x: 32_768, y: 32_806 });
        assert_eq!(place(Point { x: 9999, y: -5 }, size), Place { x: 65_535, y: 0 });
        assert!(refuse_turned(Size { width: 852, height: 393 }).is_err());
        let tap = |x, y| refuse_outside(&Input::Tap(Point { x, y }), size).is_ok();
        assert_eq!(
            [tap(0, 0), tap(392, 851), tap(393, 0), tap(0, 852), tap(-1, 0)],
            [true, true, false, false, false]
        );
    }
}
