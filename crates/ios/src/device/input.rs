//! Touches, keys and text.

use std::time::Duration;

use mdm_core::port::{DeviceError, DeviceErrorKind, Input, Key, NativeAction, Orientation};
use mdm_core::screen::geometry::Point;

use super::{IosDevice, Server, hand, screen, wrong_way};
use crate::gesture;
use crate::idb::{self, HidButtonKind, HidEvent, HidOrientationKind, Idb, events};
use crate::route::{Verb, Way};
use crate::served;
use crate::tree;
use crate::wda::{Path, Wda};

/// Deletes before the cursor, as a character that is typed.
const DELETE: &str = "\u{8}";
/// Characters that are deleted at once.
const ERASE_MAX: u32 = 10_000;
/// Longest text that is typed at once.
const TEXT_CHARS_MAX: usize = 10_000;
/// Usage of the key V, which pastes while command is held.
const KEY_V: u64 = 25;

/// Why a text is refused that no key has.
const ONLY_KEYS: &str = "this companion of idb types only the characters of a US keyboard; others need a newer one, \
                         WebDriverAgent, or simctl to paste them";

impl IosDevice {
    pub(super) async fn send(&self, input: Input) -> Result<(), DeviceError> {
        self.state().keyboard = None;
        self.keep_log().await;
        match input {
            Input::Text(text) => self.type_text(&text).await,
            Input::Erase { characters, .. } => self.erase(characters.min(ERASE_MAX)).await,
            Input::Key(key) => self.press(key).await,
            Input::HideKeyboard => match self.server(Verb::HideKeyboard)? {
                Server::Wda(wda) => wda.dismiss_keyboard().await,
                _ => Err(wrong_way(Verb::HideKeyboard)),
            },
            Input::Orientation(wanted) => self.turn(wanted).await,
            touch => match self.server(Verb::Touch)? {
                Server::Idb(idb) => idb.hid(self.hid_events(idb, touch).await?).await,
                Server::Wda(wda) => wda.perform(self.fingers(touch).await?).await,
                Server::Core(core) => core.hand().perform(self.motions(touch).await?).await,
                Server::Simctl(_) | Server::Usb(_) => Err(wrong_way(Verb::Touch)),
            },
        }
    }

    /// Refuses a text before anything is touched (F82).
    pub(super) async fn find_text_typeable(&self, text: &str) -> Result<(), DeviceError> {
        if text.chars().count() > TEXT_CHARS_MAX {
            let detail = format!("the text has more than {TEXT_CHARS_MAX} characters; type it in parts");
            return Err(DeviceError::new(DeviceErrorKind::InvalidRequest, detail));
        }
        match self.server(Verb::Text)? {
            Server::Idb(idb) if !has_keys(text) && !self.can_type_anything() => {
                match idb.acts_on_elements().await? {
                    true => Ok(()),
                    false => Err(DeviceError::new(DeviceErrorKind::TextNotTypeable, ONLY_KEYS)),
                }
            }
            Server::Core(_) if !has_keys(text) => Err(not_on_keyboard()),
            _ => Ok(()),
        }
    }

    fn can_type_anything(&self) -> bool {
        self.backends.simctl.is_some() || self.backends.wda.is_some()
    }

    async fn type_text(&self, text: &str) -> Result<(), DeviceError> {
        let idb = match self.server(Verb::Text)? {
            Server::Wda(wda) => return wda.type_keys(text).await,
            Server::Core(core) => {
                let keys = hand::text_motions(text).ok_or_else(not_on_keyboard)?;
                return core.hand().perform(keys).await;
            }
            Server::Simctl(_) | Server::Usb(_) => return Err(wrong_way(Verb::Text)),
            Server::Idb(idb) => idb,
        };
        // Which way a text takes depends on its characters alone.
        match (has_keys(text), &self.backends.simctl, &self.backends.wda) {
            (true, ..) => idb.type_keys(text).await,
            (false, Some(one), _) => {
                served::note(Way::Simctl);
                one.simctl.set_pasteboard(&one.udid, text).await?;
                idb.hid(events::chord(events::LEFT_COMMAND, KEY_V)).await
            }
            (false, None, Some(wda)) => {
                served::note(Way::Wda);
                wda.type_keys(text).await
            }
            (false, None, None) => self.add_to_field(idb, text).await,
        }
    }

    /// Sets what the field with the keyboard holds to that and the text: no key of a companion types such a one.
    async fn add_to_field(&self, idb: &Idb, text: &str) -> Result<(), DeviceError> {
        let refused = |detail: &str| DeviceError::new(DeviceErrorKind::Rejected, detail);
        let snapshot = screen::parse(idb.tree(&screen::TREE_KEYS).await?).await?;
        let field = tree::focused_field(&snapshot).ok_or_else(|| refused("no field has the keyboard"))?;
        let held = field.text.as_deref().unwrap_or_default();
        if field.password && !held.is_empty() {
            return Err(refused(
                "what a secret field holds cannot be read, and only all of it can be set: clear it",
            ));
        }
        let middle = field.bounds.center();
        let at = idb::Point { x: f64::from(middle.x), y: f64::from(middle.y) };
        idb.set_value(idb::ElementTarget::At(at), &format!("{held}{text}")).await
    }

    async fn erase(&self, characters: u32) -> Result<(), DeviceError> {
        match self.server(Verb::Text)? {
            Server::Wda(wda) => wda.type_keys(&DELETE.repeat(characters as usize)).await,
            Server::Idb(idb) => {
                let keys = (0..characters).flat_map(|_| events::key(events::KEY_BACKSPACE)).collect();
                idb.hid(keys).await
            }
            Server::Core(core) => core.hand().perform(hand::erase_motions(characters)).await,
            Server::Simctl(_) | Server::Usb(_) => Err(wrong_way(Verb::Text)),
        }
    }

    /// Sets what the platform can set: the value of a slider, as a part of its length. Programs count sliders in the order
    /// of the tree that was read last.
    pub(super) async fn set_natively(&self, action: &NativeAction) -> Result<(), DeviceError> {
        let NativeAction::SetValue { index, value } = action else {
            return Err(DeviceError::not_supported("act on this element other than by touch"));
        };
        let (number, count) = {
            let state = self.state();
            (state.sliders.iter().position(|slider| slider == index), state.sliders.len())
        };
        let number =
            number.ok_or_else(|| DeviceError::not_supported("set the value of what is no slider"))?;
        match self.server(Verb::SetValue)? {
            Server::Wda(wda) => wda.set_slider(number, count, *value).await,
            _ => Err(wrong_way(Verb::SetValue)),
        }
    }

    async fn turn(&self, wanted: Orientation) -> Result<(), DeviceError> {
        match self.server(Verb::Turn)? {
            Server::Wda(wda) => wda.turn(wanted).await,
            Server::Idb(idb) => {
                let kind = match wanted {
                    Orientation::Landscape => HidOrientationKind::LandscapeLeft,
                    Orientation::Portrait | Orientation::Auto => HidOrientationKind::Portrait,
                };
                idb.hid(events::turn(kind)).await
            }
            Server::Simctl(_) | Server::Usb(_) | Server::Core(_) => Err(wrong_way(Verb::Turn)),
        }
    }

    /// Writes a touch as the paths of its fingers.
    async fn fingers(&self, touch: Input) -> Result<Vec<Path>, DeviceError> {
        let one = |path: Path| Ok(vec![path]);
        match touch {
            Input::Tap(at) => one(Path::down(at).wait(gesture::TAP_MS).up()),
            Input::DoubleTap(at) => {
                let tap = || Path::down(at).wait(gesture::TAP_MS).up();
                one(tap().wait(gesture::DOUBLE_TAP_GAP_MS).then(tap()))
            }
            Input::LongPress { point, duration_ms } => one(Path::down(point).wait(duration_ms).up()),
            Input::Swipe { from, to, duration_ms } | Input::Scroll { from, to, duration_ms } => {
                one(Path::down(from).move_to(to, duration_ms).up())
            }
            Input::Drag { from, to, hold_ms, duration_ms } => {
                let held = Path::down(from).wait(hold_ms);
                one(held.move_to(to, duration_ms).wait(gesture::DROP_REST_MS).up())
            }
            Input::Pinch { center, within, from_px, to_px, duration_ms } => {
                let within = within.unwrap_or(self.screen_size().await?.rect());
                let paths = gesture::pinch_paths(center, within, from_px, to_px);
                Ok(paths.map(|(from, to)| Path::down(from).move_to(to, duration_ms).up()).to_vec())
            }
            Input::Back => {
                let (from, to) = gesture::edge_swipe(self.screen_size().await?);
                one(Path::down(from).move_to(to, gesture::EDGE_SWIPE_MS).up())
            }
            _ => Err(wrong_way(Verb::Touch)),
        }
    }

    /// Writes a touch as events of the companion, which counts points of the upright screen.
    async fn hid_events(&self, idb: &Idb, touch: Input) -> Result<Vec<HidEvent>, DeviceError> {
        let held = self.held(idb).await?;
        let at = |point: Point| held.upright(point);
        let time = |ms: u32| Duration::from_millis(ms.into());
        Ok(match touch {
            Input::Tap(point) => events::long_press(at(point), time(gesture::TAP_MS)),
            Input::DoubleTap(point) => events::double_tap(at(point)),
            Input::LongPress { point, duration_ms } => events::long_press(at(point), time(duration_ms)),
            Input::Swipe { from, to, duration_ms } | Input::Scroll { from, to, duration_ms } => {
                events::swipe(at(from), at(to), time(duration_ms))
            }
            Input::Drag { from, to, hold_ms, duration_ms } => {
                events::drag(at(from), at(to), time(hold_ms), time(duration_ms))
            }
            Input::Pinch { center, within, from_px, to_px, duration_ms } => {
                let within = within.unwrap_or(self.screen_size().await?.rect());
                let [(from, to), _] = gesture::pinch_paths(center, within, from_px, to_px);
                let radius = f64::from((center.x - from.x).max(1));
                let scale = f64::from((center.x - to.x).max(1)) / radius;
                events::pinch(at(center), scale, radius, time(duration_ms))
            }
            Input::Back => {
                let (from, to) = gesture::edge_swipe(self.screen_size().await?);
                events::swipe(at(from), at(to), time(gesture::EDGE_SWIPE_MS))
            }
            _ => return Err(wrong_way(Verb::Touch)),
        })
    }

    /// How the simulator is held. It is asked for only where the tree is wider than high.
    async fn held(&self, idb: &Idb) -> Result<Held, DeviceError> {
        let size = self.screen_size().await?;
        let (width, height) = (size.width.min(size.height), size.width.max(size.height));
        let kind = match size.width > size.height {
            false => HidOrientationKind::Portrait,
            true => match idb.orientation().await {
                Ok(kind) => kind.unwrap_or(HidOrientationKind::LandscapeLeft),
                Err(error) if error.kind == DeviceErrorKind::NotSupported => {
                    HidOrientationKind::LandscapeLeft
                }
                Err(error) => return Err(error),
            },
        };
        Ok(Held { kind, width: f64::from(width), height: f64::from(height) })
    }

    async fn press(&self, key: Key) -> Result<(), DeviceError> {
        let typed = match key {
            Key::Enter => "\n",
            Key::Tab => "\t",
            Key::Space => " ",
            Key::Delete => return self.erase(1).await,
            _ => "",
        };
        if !typed.is_empty() {
            return self.type_text(typed).await;
        }
        match self.server(Verb::Button)? {
            Server::Idb(idb) => self.press_by_idb(idb, key).await,
            Server::Wda(wda) => self.press_by_wda(wda, key).await,
            Server::Core(core) => core.hand().perform(self.key_motions(key).await?).await,
            Server::Simctl(_) | Server::Usb(_) => Err(wrong_way(Verb::Button)),
        }
    }

    async fn press_by_wda(&self, wda: &Wda, key: Key) -> Result<(), DeviceError> {
        match key {
            Key::Home => wda.home().await,
            Key::VolumeUp => wda.press_button("volumeUp").await,
            Key::VolumeDown => wda.press_button("volumeDown").await,
            Key::Power | Key::Sleep => wda.lock(true).await,
            Key::Wakeup => wda.lock(false).await,
            Key::Back => wda.perform(self.fingers(Input::Back).await?).await,
            Key::Recents => {
                let (from, to) = gesture::switcher_swipe(self.screen_size().await?);
                let path = Path::down(from).move_to(to, gesture::SWITCHER_MS);
                wda.perform(vec![path.wait(gesture::SWITCHER_REST_MS).up()]).await
            }
            _ => Err(no_such_key()),
        }
    }

    async fn press_by_idb(&self, idb: &Idb, key: Key) -> Result<(), DeviceError> {
        let button = match key {
            Key::Home => HidButtonKind::Home,
            Key::VolumeUp => HidButtonKind::VolumeUp,
            Key::VolumeDown => HidButtonKind::VolumeDown,
            Key::Power | Key::Sleep | Key::Wakeup => HidButtonKind::Lock,
            Key::MediaPlayPause => HidButtonKind::PlayPause,
            Key::Back => return idb.hid(self.hid_events(idb, Input::Back).await?).await,
            Key::Recents => {
                let (from, to) = gesture::switcher_swipe(self.screen_size().await?);
                let held = self.held(idb).await?;
                let time = Duration::from_millis(gesture::SWITCHER_MS.into());
                let rest = Duration::from_millis(gesture::SWITCHER_REST_MS.into());
                return idb
                    .hid(events::drag_and_rest(held.upright(from), held.upright(to), time, rest))
                    .await;
            }
            _ => return Err(no_such_key()),
        };
        idb.hid(events::button(button)).await
    }
}

fn has_keys(text: &str) -> bool {
    events::text(text).is_some()
}

fn not_on_keyboard() -> DeviceError {
    let detail = "CoreDevice types only the characters of a US keyboard; others need WebDriverAgent";
    DeviceError::new(DeviceErrorKind::TextNotTypeable, detail)
}

pub(super) fn no_such_key() -> DeviceError {
    DeviceError::not_supported("press this key: iPhones have none like it")
}

/// How the simulator is held, and the size of its upright screen.
struct Held {
    kind: HidOrientationKind,
    width: f64,
    height: f64,
}

impl Held {
    /// Turns a point of the screen as it is seen into one of the upright screen.
    fn upright(&self, seen: Point) -> idb::Point {
        let (x, y) = (f64::from(seen.x), f64::from(seen.y));
        let (x, y) = match self.kind {
            HidOrientationKind::Portrait => (x, y),
            HidOrientationKind::PortraitUpsideDown => (self.width - x, self.height - y),
            HidOrientationKind::LandscapeLeft => (self.width - y, x),
            HidOrientationKind::LandscapeRight => (y, self.height - x),
        };
        idb::Point { x, y }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_of_a_turned_screen_are_those_of_the_upright_one() {
        let at = |kind, x, y| {
            let held = Held { kind, width: 400.0, height: 800.0 };
            let point = held.upright(Point { x, y });
            (point.x, point.y)
        };
        assert_eq!(at(HidOrientationKind::Portrait, 10, 20), (10.0, 20.0));
        assert_eq!(at(HidOrientationKind::PortraitUpsideDown, 10, 20), (390.0, 780.0));
        assert_eq!(at(HidOrientationKind::LandscapeLeft, 10, 20), (380.0, 10.0));
        assert_eq!(at(HidOrientationKind::LandscapeRight, 10, 20), (20.0, 790.0));
    }
}
