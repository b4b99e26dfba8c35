//! Gestures, keys and buttons as events for [`Idb::hid`](super::Idb::hid). Points are those of the upright screen.

use std::time::Duration;

use mdm_wire::idb::{
    HidAction, HidButton, HidButtonKind, HidDelay, HidDirection, HidEvent, HidKey, HidOrientation,
    HidOrientationKind, HidPinch, HidPress, HidPressAction, HidPressed, HidSwipe, HidTouch, Point,
};

/// Between the two taps of a double tap.
const DOUBLE_TAP_PAUSE: Duration = Duration::from_millis(100);
/// Positions of a finger that is dragged.
const DRAG_STEPS: u32 = 20;
/// Longest text that is typed key by key.
const TEXT_CHARS_MAX: usize = 10_000;
const LEFT_SHIFT: u64 = 225;
/// Usages of keys that type nothing.
pub const KEY_ENTER: u64 = 40;
pub const KEY_BACKSPACE: u64 = 42;
pub const KEY_TAB: u64 = 43;
const KEY_SPACE: u64 = 44;
pub const LEFT_COMMAND: u64 = 227;
pub const KEY_A: u64 = 4;

pub fn tap(at: Point) -> Vec<HidEvent> {
    vec![touch(at, HidDirection::Down), touch(at, HidDirection::Up)]
}

pub fn double_tap(at: Point) -> Vec<HidEvent> {
    [tap(at), vec![delay(DOUBLE_TAP_PAUSE)], tap(at)].concat()
}

pub fn long_press(at: Point, time: Duration) -> Vec<HidEvent> {
    vec![touch(at, HidDirection::Down), delay(time), touch(at, HidDirection::Up)]
}

/// The companion moves the finger, and holds it at the end so that nothing is thrown.
pub fn swipe(from: Point, to: Point, time: Duration) -> Vec<HidEvent> {
    let swipe = HidSwipe { start: Some(from), end: Some(to), delta: 0.0, duration: time.as_secs_f64() };
    vec![event(HidAction::Swipe(swipe))]
}

/// Holds the finger before it moves, for what is picked up by a long press.
pub fn drag(from: Point, to: Point, hold: Duration, time: Duration) -> Vec<HidEvent> {
    let mut events = vec![touch(from, HidDirection::Down), delay(hold)];
    for step in 1..=DRAG_STEPS {
        let share = f64::from(step) / f64::from(DRAG_STEPS);
        let at = Point { x: from.x + (to.x - from.x) * share, y: from.y + (to.y - from.y) * share };
        // A finger that is down and comes down again has moved.
        events.extend([touch(at, HidDirection::Down), delay(time / DRAG_STEPS)]);
    }
    events.push(touch(to, HidDirection::Up));
    events
}

/// Moves the finger and holds it before it is lifted.
pub fn drag_and_rest(from: Point, to: Point, time: Duration, rest: Duration) -> Vec<HidEvent> {
    let mut events = drag(from, to, Duration::ZERO, time);
    let before_up = events.len().saturating_sub(1);
    events.insert(before_up, delay(rest));
    events
}

/// `radius` is the distance of each finger from the center at the start; each ends at `radius * scale`.
pub fn pinch(center: Point, scale: f64, radius: f64, time: Duration) -> Vec<HidEvent> {
    let pinch = HidPinch { center: Some(center), scale, duration: time.as_secs_f64(), radius };
    vec![event(HidAction::Pinch(pinch))]
}

pub fn button(kind: HidButtonKind) -> Vec<HidEvent> {
    [HidDirection::Down, HidDirection::Up]
        .map(|direction| press(HidPressed::Button(HidButton { button: kind.into() }), direction))
        .to_vec()
}

/// Turns the simulator; companions before 2024 cannot.
pub fn turn(kind: HidOrientationKind) -> Vec<HidEvent> {
    vec![event(HidAction::Orientation(HidOrientation { orientation: kind.into() }))]
}

pub fn key(usage: u64) -> Vec<HidEvent> {
    vec![key_event(usage, HidDirection::Down), key_event(usage, HidDirection::Up)]
}

/// A key while another is held, such as command and A.
pub fn chord(held: u64, usage: u64) -> Vec<HidEvent> {
    [vec![key_event(held, HidDirection::Down)], key(usage), vec![key_event(held, HidDirection::Up)]].concat()
}

/// The key of an event, and whether it goes down.
pub fn key_of(event: &HidEvent) -> Option<(u64, bool)> {
    let Some(HidAction::Press(press)) = &event.event else { return None };
    let Some(HidPressed::Key(key)) = &press.action.as_ref()?.action else { return None };
    Some((key.keycode, press.direction == i32::from(HidDirection::Down)))
}

/// Nothing if a character is not on a US keyboard, or if there are too many.
pub fn text(text: &str) -> Option<Vec<HidEvent>> {
    if text.chars().count() > TEXT_CHARS_MAX {
        return None;
    }
    let mut events = Vec::new();
    for typed in text.chars() {
        let (usage, shift) = usage(typed)?;
        events.extend(if shift { chord(LEFT_SHIFT, usage) } else { key(usage) });
    }
    Some(events)
}

/// The key of a character, and whether shift is held.
fn usage(typed: char) -> Option<(u64, bool)> {
    /// Usages from 45 on, without and with shift. Number 50 is not on a US keyboard.
    const SIGNS: [(char, char, u64); 11] = [
        ('-', '_', 45),
        ('=', '+', 46),
        ('[', '{', 47),
        (']', '}', 48),
        ('\\', '|', 49),
        (';', ':', 51),
        ('\'', '"', 52),
        ('`', '~', 53),
        (',', '<', 54),
        ('.', '>', 55),
        ('/', '?', 56),
    ];
    const SHIFTED_DIGITS: &str = "!@#$%^&*()";
    let letter = |typed: char| u64::from(typed.to_ascii_lowercase()) - u64::from('a') + KEY_A;
    match typed {
        'a'..='z' => Some((letter(typed), false)),
        'A'..='Z' => Some((letter(typed), true)),
        '0' => Some((39, false)),
        '1'..='9' => Some((u64::from(typed) - u64::from('1') + 30, false)),
        ' ' => Some((KEY_SPACE, false)),
        '\n' => Some((KEY_ENTER, false)),
        '\t' => Some((KEY_TAB, false)),
        _ => {
            let digit = SHIFTED_DIGITS.find(typed).map(|index| (30 + index as u64, true));
            let sign = || SIGNS.iter().find(|(plain, shifted, _)| typed == *plain || typed == *shifted);
            digit.or_else(|| sign().map(|(_, shifted, usage)| (*usage, typed == *shifted)))
        }
    }
}

fn touch(at: Point, direction: HidDirection) -> HidEvent {
    press(HidPressed::Touch(HidTouch { point: Some(at) }), direction)
}

fn key_event(usage: u64, direction: HidDirection) -> HidEvent {
    press(HidPressed::Key(HidKey { keycode: usage }), direction)
}

fn press(pressed: HidPressed, direction: HidDirection) -> HidEvent {
    let action = Some(HidPressAction { action: Some(pressed) });
    event(HidAction::Press(HidPress { action, direction: direction.into() }))
}

fn delay(time: Duration) -> HidEvent {
    event(HidAction::Delay(HidDelay { duration: time.as_secs_f64() }))
}

fn event(action: HidAction) -> HidEvent {
    HidEvent { event: Some(action) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_printable_ascii_character_has_a_key_of_its_own() {
        let mut seen = std::collections::BTreeSet::new();
        for typed in ' '..='~' {
            let key = usage(typed).expect("a key");
            assert!(seen.insert(key), "{typed} shares {key:?}");
        }
        assert_eq!(
            (usage('a'), usage('Z'), usage('0')),
            (Some((4, false)), Some((29, true)), Some((39, false)))
        );
        assert_eq!(
            (usage('!'), usage(')'), usage('?')),
            (Some((30, true)), Some((39, true)), Some((56, true)))
        );
    }

    #[test]
    fn other_characters_and_very_long_texts_are_not_typed() {
        assert_eq!((text("grün"), text("漢")), (None, None));
        assert_eq!(text(&"a".repeat(TEXT_CHARS_MAX + 1)), None);
        assert_eq!(text(""), Some(Vec::new()));
    }
}
