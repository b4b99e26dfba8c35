//! Fingers, keys and buttons, on the way that inputs of adb take.

use mdm_wire::idb::{
    Empty, HidAction, HidButtonKind, HidDirection, HidEvent, HidOrientationKind, HidPinch, HidPress,
    HidPressed, HidSwipe, Point,
};
use tokio::time::Duration;
use tonic::{Status, Streaming};

use super::calls::Answer;
use super::keys;
use crate::app::keys as phone_keys;
use crate::iphone::{IPhone, SCALE};
use crate::state::State;
use crate::surface::SystemEvent;

/// Events of one call.
const EVENTS_MAX: usize = 100_000;
/// Longest delay, swipe or pinch.
const TIME_MAX: Duration = Duration::from_secs(60);
/// What idb takes for a duration or a radius that is not given.
const PINCH_S: f64 = 0.5;
const PINCH_RADIUS: f64 = 100.0;
/// Android's codes.
const VOLUME_UP: u32 = 24;
const VOLUME_DOWN: u32 = 25;

pub async fn receive(iphone: &IPhone, mut events: Streaming<HidEvent>) -> Answer<Empty> {
    let mut hand = Hand { iphone, is_down: false, shift: false, command: false };
    for number in 0..EVENTS_MAX {
        let Some(event) = events.message().await? else { break };
        if number == 0 {
            hand.note(&event);
        }
        hand.take(event).await?;
    }
    Ok(Empty {})
}

/// What one call holds down.
struct Hand<'a> {
    iphone: &'a IPhone,
    /// A finger is down.
    is_down: bool,
    shift: bool,
    command: bool,
}

impl Hand<'_> {
    /// Notes the request by its first event.
    fn note(&self, event: &HidEvent) {
        let point = match &event.event {
            Some(HidAction::Press(press)) => {
                match press.action.as_ref().and_then(|action| action.action.as_ref()) {
                    Some(HidPressed::Touch(touch)) => touch.point,
                    Some(HidPressed::Key(_)) => return self.iphone.note_request(&["keys"]),
                    Some(HidPressed::Button(_)) => return self.iphone.note_request(&["button"]),
                    None => None,
                }
            }
            Some(HidAction::Swipe(swipe)) => swipe.start,
            Some(HidAction::Pinch(pinch)) => pinch.center,
            _ => None,
        };
        if let Some(point) = point {
            self.iphone.note_touch(self.pixel(point));
        }
    }

    async fn take(&mut self, event: HidEvent) -> Answer<()> {
        let old = self.iphone.config().iphone_faults.old_companion;
        match event.event {
            Some(HidAction::Press(press)) => self.press(press)?,
            Some(HidAction::Swipe(swipe)) => self.swipe(swipe).await,
            Some(HidAction::Delay(delay)) => tokio::time::sleep(seconds(delay.duration)).await,
            Some(HidAction::Pinch(pinch)) if !old => self.pinch(pinch).await,
            Some(HidAction::Orientation(turn)) if !old => {
                let kind = HidOrientationKind::try_from(turn.orientation)
                    .map_err(|_| Status::invalid_argument("Unrecognized orientation type"))?;
                self.act(|state| state.set_rotation(quarter_turns(kind)));
            }
            Some(HidAction::Shake(_)) if !old => {}
            _ => return Err(Status::invalid_argument("Unrecognized request.event")),
        }
        Ok(())
    }

    /// Lets something happen, unless the simulator takes inputs without effect.
    fn act(&self, act: impl FnOnce(&mut State)) {
        if !self.iphone.config().iphone_faults.hid_ignored {
            self.iphone.phone().with(act);
        }
    }

    fn press(&mut self, press: HidPress) -> Answer<()> {
        let Ok(direction) = HidDirection::try_from(press.direction) else {
            return Err(Status::invalid_argument("Unrecognized press.direction"));
        };
        match press.action.and_then(|action| action.action) {
            Some(HidPressed::Touch(touch)) => self.touch(touch.point.unwrap_or_default(), direction),
            Some(HidPressed::Key(key)) => self.key(key.keycode, direction),
            Some(HidPressed::Button(button)) => {
                let kind = HidButtonKind::try_from(button.button).ok().filter(|kind| self.has_button(*kind));
                let kind = kind.ok_or_else(|| Status::invalid_argument("Unrecognized hid button type"))?;
                if direction == HidDirection::Up {
                    self.button(kind);
                }
            }
            None => return Err(Status::invalid_argument("Unrecognized press.action")),
        }
        Ok(())
    }

    fn has_button(&self, kind: HidButtonKind) -> bool {
        !self.iphone.config().iphone_faults.old_companion || kind <= HidButtonKind::Siri
    }

    fn touch(&mut self, point: Point, direction: HidDirection) {
        let at = self.pixel(point);
        match direction {
            HidDirection::Down if !self.is_down => self.act(|state| state.put_finger_down(at)),
            // A finger that is down and comes down again has moved.
            HidDirection::Down => self.act(|state| state.move_finger(at)),
            HidDirection::Up if self.is_down => self.act(|state| state.lift_from_iphone(at)),
            HidDirection::Up => {}
        }
        self.is_down = direction == HidDirection::Down;
    }

    async fn swipe(&mut self, swipe: HidSwipe) {
        let (from, to) =
            (self.pixel(swipe.start.unwrap_or_default()), self.pixel(swipe.end.unwrap_or_default()));
        let time = seconds(swipe.duration);
        let ms = time.as_millis() as u64;
        self.act(|state| state.begin_swipe(from, to, ms));
        if !time.is_zero() {
            tokio::time::sleep(time).await;
        }
        self.act(|state| state.swipe(from, to, ms));
    }

    /// Two fingers left and right of the center that move apart or together.
    async fn pinch(&mut self, pinch: HidPinch) {
        let Point { x, y } = pinch.center.unwrap_or_default();
        let radius = if pinch.radius > 0.0 { pinch.radius } else { PINCH_RADIUS };
        let time = seconds(if pinch.duration > 0.0 { pinch.duration } else { PINCH_S });
        let fingers =
            |radius: f64| [self.pixel(Point { x: x - radius, y }), self.pixel(Point { x: x + radius, y })];
        let (from, to) = (fingers(radius), fingers(radius * pinch.scale));
        tokio::time::sleep(time).await;
        self.act(|state| state.pinch(from, to, time.as_millis() as u64));
    }

    fn key(&mut self, usage: u64, direction: HidDirection) {
        let down = direction == HidDirection::Down;
        if keys::SHIFTS.contains(&usage) {
            self.shift = down;
        } else if keys::COMMANDS.contains(&usage) {
            self.command = down;
        } else if down {
            let (shift, command) = (self.shift, self.command);
            self.act(|state| keys::press(state, usage, shift, command));
        }
    }

    fn button(&self, kind: HidButtonKind) {
        let code = match kind {
            HidButtonKind::Home => phone_keys::HOME,
            HidButtonKind::Lock | HidButtonKind::Side => {
                let locked = self.iphone.is_locked();
                self.act(|state| {
                    state.surface.system(SystemEvent::Locked(!locked), state.now);
                });
                return;
            }
            HidButtonKind::VolumeUp => VOLUME_UP,
            HidButtonKind::VolumeDown => VOLUME_DOWN,
            HidButtonKind::ApplePay
            | HidButtonKind::Siri
            | HidButtonKind::PlayPause
            | HidButtonKind::Eject => return,
        };
        self.act(|state| state.key(code));
    }

    fn pixel(&self, point: Point) -> (i32, i32) {
        self.iphone.phone().with(|state| upright_to_screen(state, point))
    }
}

fn upright_to_screen(state: &State, point: Point) -> (i32, i32) {
    seen_from_upright(state, to_pixels(point))
}

/// Fingers touch the upright panel; apps see the screen as it is turned.
pub fn seen_from_upright(state: &State, (x, y): (i32, i32)) -> (i32, i32) {
    let (width, height) = state.display.physical_size();
    let (right, bottom) = (width as i32 - 1, height as i32 - 1);
    match state.display.rotation() {
        1 => (y, right.saturating_sub(x)),
        2 => (right.saturating_sub(x), bottom.saturating_sub(y)),
        3 => (bottom.saturating_sub(y), x),
        _ => (x, y),
    }
}

pub fn to_pixels(point: Point) -> (i32, i32) {
    let pixel = |points: f64| (points * f64::from(SCALE)).round() as i32;
    (pixel(point.x), pixel(point.y))
}

/// The phone counts quarter turns against the clock, as it is held.
pub fn quarter_turns(kind: HidOrientationKind) -> u8 {
    match kind {
        HidOrientationKind::Portrait => 0,
        HidOrientationKind::LandscapeLeft => 1,
        HidOrientationKind::PortraitUpsideDown => 2,
        HidOrientationKind::LandscapeRight => 3,
    }
}

pub fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or_default().min(TIME_MAX)
}
