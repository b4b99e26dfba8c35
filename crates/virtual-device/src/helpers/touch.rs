//! Inputs of helpers, which take the same way into the phone as `input`.

use tokio::time::Duration;

use crate::phone::Phone;
use crate::surface::Touch;

/// Longest gesture.
const GESTURE_MS_MAX: u64 = 60_000;

pub fn tap(phone: &Phone, (x, y): (i32, i32)) {
    phone.with(|state| state.tap(x, y));
}

/// Puts a finger down, moves it along a line for this time, and lifts it. If it does not move it is a press for that
/// time.
pub async fn swipe(phone: &Phone, from: (i32, i32), to: (i32, i32), ms: u64) {
    let ms = ms.min(GESTURE_MS_MAX);
    if ms > 0 {
        tokio::time::sleep(Duration::from_millis(ms)).await;
    }
    phone.with(|state| state.swipe(from, to, ms));
}

pub fn down(phone: &Phone, at: (i32, i32)) {
    phone.with(|state| state.put_finger_down(at));
}

pub fn moved(phone: &Phone, at: (i32, i32)) {
    phone.with(|state| state.touch(Touch::At(at)));
}

/// Lifts the finger; no effect if it is not down.
pub fn up(phone: &Phone, at: (i32, i32)) {
    phone.with(|state| state.lift_finger(at));
}

pub fn key(phone: &Phone, code: u32) {
    phone.with(|state| state.key(code));
}

/// Turns the screen and locks the rotation, as UiAutomation does.
pub fn rotate(phone: &Phone, quarter_turns: u8) {
    phone.with(|state| {
        state.put_setting("system", "accelerometer_rotation", "0");
        state.put_setting("system", "user_rotation", &quarter_turns.to_string());
    });
}

/// Replaces the text of the field at a point by the accessibility action; returns false when there is no field.
pub fn set_text(phone: &Phone, at: (i32, i32), text: &str) -> bool {
    phone.with(|state| state.set_text(at, text))
}

/// Erases the focused field.
pub fn clear_focused(phone: &Phone) {
    phone.with(|state| {
        state.select_all();
        state.key(crate::app::keys::DEL);
    });
}
