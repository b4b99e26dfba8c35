//! Touches and keys as scripts for a device's shell. Each gesture is one script, because the screen could change
//! between two commands.

use mdm_core::port::{DeviceError, DeviceErrorKind, Key, Orientation};
use mdm_core::screen::geometry::{Point, Rect};

use crate::adb::Script;

/// Exit codes of our own scripts: Android is too old, the keyboard's state is unknown.
pub const TOO_OLD: u8 = 22;
pub const KEYBOARD_UNKNOWN: u8 = 23;

/// `input draganddrop` holds for the system's long press time. A longer hold is sent as single events.
const SYSTEM_HOLD_MS: u32 = 500;
/// Moves of a drag that is sent as single events; each starts a process.
const DRAG_MOVES: i64 = 4;
/// The key that deletes what is after the cursor.
const FORWARD_DELETE: i64 = 112;

pub fn tap(point: Point) -> Script {
    at(Script::new("input tap"), point)
}

pub fn swipe(from: Point, to: Point, duration_ms: u32) -> Script {
    at(at(Script::new("input swipe"), from), to).number(duration_ms.into())
}

/// Two taps count as one double tap when the second comes 40 to 300 ms after the first. Older systems need half a
/// second to start `input`, so the second starts while the first is still starting.
pub fn double_tap(point: Point) -> Script {
    let first = tap(point).then(" & first=$!; sleep 0.12; ");
    first.append(&tap(point)).then("; second=$?; wait $first && exit $second")
}

pub fn drag(from: Point, to: Point, hold_ms: u32, duration_ms: u32) -> Script {
    match hold_ms {
        0 => swipe(from, to, duration_ms),
        1..=SYSTEM_HOLD_MS => {
            // SDK 24 is Android 7.
            let script = since(Script::new(""), 24).then("input draganddrop");
            at(at(script, from), to).number(duration_ms.into())
        }
        _ => drag_by_events(from, to, hold_ms, duration_ms),
    }
}

/// Drags with single events. The finger is lifted after any failure.
fn drag_by_events(from: Point, to: Point, hold_ms: u32, duration_ms: u32) -> Script {
    // SDK 29 is Android 10.
    let mut script = at(since(Script::new(""), 29).then("input motionevent DOWN"), from);
    script = pause(script.then(" && {"), hold_ms);
    for step in 1..=DRAG_MOVES {
        let part = |from: i32, to: i32| {
            (i64::from(from) + (i64::from(to) - i64::from(from)) * step / DRAG_MOVES) as i32
        };
        let place = Point { x: part(from.x, to.x), y: part(from.y, to.y) };
        script = at(script.then(" && input motionevent MOVE"), place);
        script = pause(script.then(" &&"), duration_ms / DRAG_MOVES as u32);
    }
    script = at(script.then(" && input motionevent UP"), to);
    at(script.then(" || { input motionevent CANCEL"), to).then("; exit 1; }; }")
}

/// Exits with [`TOO_OLD`] on systems before `sdk`.
fn since(script: Script, sdk: i64) -> Script {
    script.then("[ \"$(getprop ro.build.version.sdk)\" -ge").number(sdk).then(" ] || exit 22; ")
}

fn pause(script: Script, ms: u32) -> Script {
    script.then(" sleep").arg(&format!("{}.{:03}", ms / 1000, ms % 1000))
}

fn at(script: Script, point: Point) -> Script {
    script.number(point.x.into()).number(point.y.into())
}

pub fn press(key: Key) -> Script {
    Script::new("input keyevent").number(code(key).into())
}

/// Moves to the end of the field, then deletes `characters` backwards. In a field with several lines that is only the
/// end of a line, so what is after it is deleted too (F81).
pub fn erase(characters: u32, has_lines: bool) -> Script {
    let end = press(Key::MoveEnd);
    let before = (0..characters).fold(end, |script, _| script.number(code(Key::Delete).into()));
    let after = if has_lines { characters } else { 0 };
    (0..after).fold(before, |script, _| script.number(FORWARD_DELETE))
}

/// Sends Back only while the keyboard is shown, because then the keyboard handles it.
pub fn hide_keyboard() -> Script {
    Script::new("case \"$(dumpsys input_method | grep 'mInputShown=')\" in ")
        .then("*mInputShown=true*) input keyevent 4;; *mInputShown=false*) ;; *) exit 23;; esac")
}

/// Reads the keyboard's touchable region, because its window may fill the screen.
pub fn keyboard() -> Script {
    Script::new("dumpsys input_method | grep mInputShown=true && ")
        .then("dumpsys window InputMethod | grep 'touchable region='")
}

/// Parses `touchable region=SkRegion((0,1500,1080,2400))`, which may have several parts.
pub fn keyboard_place(answer: &str) -> Option<Rect> {
    let region = answer.lines().find_map(|line| line.split_once("SkRegion("))?.1;
    let parts = region.split('(').filter_map(|part| {
        let mut numbers = part.split(')').next()?.split(',').map(|number| number.trim().parse().ok());
        let mut next = || numbers.next().flatten();
        Some(Rect { left: next()?, top: next()?, right: next()?, bottom: next()? })
    });
    let whole = parts.reduce(|a, b| Rect {
        left: a.left.min(b.left),
        top: a.top.min(b.top),
        right: a.right.max(b.right),
        bottom: a.bottom.max(b.bottom),
    });
    whole.filter(|rect| !rect.is_empty())
}

/// Sets the orientation. `wide`: the screen is landscape without rotation, as on many tablets.
pub fn orientation(wanted: Orientation, wide: bool) -> Script {
    let turned = match wanted {
        Orientation::Auto => return Script::new("settings put system accelerometer_rotation 1"),
        Orientation::Portrait => wide,
        Orientation::Landscape => !wide,
    };
    Script::new("settings put system accelerometer_rotation 0 && settings put system user_rotation")
        .number(turned.into())
}

/// Reads the answer of `wm size`, in which the last line is the size in use.
pub fn is_naturally_wide(answer: &str) -> bool {
    let size = answer.lines().rev().find_map(|line| line.split_once(": ")?.1.trim().split_once('x'));
    let numbers = size.and_then(|(width, height)| Some((width.parse().ok()?, height.parse().ok()?)));
    numbers.is_some_and(|(width, height): (u32, u32)| width > height)
}

pub fn code(key: Key) -> u16 {
    match key {
        Key::Home => 3,
        Key::Back => 4,
        Key::DpadUp => 19,
        Key::DpadDown => 20,
        Key::DpadLeft => 21,
        Key::DpadRight => 22,
        Key::DpadCenter => 23,
        Key::VolumeUp => 24,
        Key::VolumeDown => 25,
        Key::Power => 26,
        Key::Camera => 27,
        Key::Tab => 61,
        Key::Space => 62,
        Key::Enter => 66,
        Key::Delete => 67,
        Key::Menu => 82,
        Key::Search => 84,
        Key::MediaPlayPause => 85,
        Key::PageUp => 92,
        Key::PageDown => 93,
        Key::Escape => 111,
        Key::ForwardDelete => 112,
        Key::MoveHome => 122,
        Key::MoveEnd => 123,
        Key::VolumeMute => 164,
        Key::Recents => 187,
        Key::Sleep => 223,
        Key::Wakeup => 224,
        Key::Android(code) => code,
    }
}

pub fn pinch_not_supported(why: &str) -> DeviceError {
    let detail = format!(
        "`input` has one finger, and a pinch needs two: that takes either a shell that may write /dev/input ({why}), or a helper on the device, which is not used yet; look for zoom buttons instead"
    );
    DeviceError::new(DeviceErrorKind::NotSupported, detail)
}

pub fn cannot_hold() -> DeviceError {
    let detail = "this Android has no command that holds a finger still and then moves it (Android 7; 10 for holds over 500 ms); without a hold the finger moves at once, which is enough where no long press is needed";
    DeviceError::new(DeviceErrorKind::NotSupported, detail)
}

pub fn keyboard_unknown() -> DeviceError {
    let detail = "this device does not tell whether its keyboard is shown";
    DeviceError::new(DeviceErrorKind::KeyboardUnknown, detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: Point = Point { x: 10, y: 20 };
    const THERE: Point = Point { x: 110, y: 220 };

    #[test]
    fn each_gesture_is_one_script() {
        let text = |script: Script| script.as_str().map(str::to_owned).unwrap_or_default();
        assert_eq!(text(swipe(HERE, THERE, 300)), "input swipe 10 20 110 220 300");
        assert_eq!(
            text(double_tap(HERE)),
            "input tap 10 20 & first=$!; sleep 0.12; input tap 10 20; second=$?; wait $first && exit $second"
        );
        assert_eq!(text(press(Key::Android(287))), "input keyevent 287");
        let short_hold = text(drag(HERE, THERE, 400, 300));
        assert!(short_hold.ends_with("|| exit 22; input draganddrop 10 20 110 220 300"), "{short_hold}");
        let long_hold = text(drag(HERE, THERE, 1500, 400));
        assert!(long_hold.contains("input motionevent DOWN 10 20 && { sleep '1.500' &&"), "{long_hold}");
        assert_eq!(long_hold.matches("MOVE").count(), 4, "{long_hold}");
    }

    #[test]
    fn every_key_has_a_distinct_code() {
        let mut codes: Vec<u16> = Key::NAMED.iter().map(|(_, key)| code(*key)).collect();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), Key::NAMED.len());
    }

    #[test]
    fn the_keyboard_rectangle_is_its_touchable_region() {
        let place = |answer: &str| keyboard_place(answer).map(|r| (r.left, r.top, r.right, r.bottom));
        let shown =
            "  mShowRequested=true mInputShown=true\n    touchable region=SkRegion((0,1500,1080,2400))\n";
        assert_eq!(place(shown), Some((0, 1500, 1080, 2400)));
        let parts = "touchable region=SkRegion((0,1500,1080,1600)(0,1600,540,2400))";
        assert_eq!(place(parts), Some((0, 1500, 1080, 2400)));
        for nothing in
            ["", "touchable region=SkRegion()", "touchable region=SkRegion((0,1,", "SkRegion((a,b,c,d))"]
        {
            assert_eq!(place(nothing), None, "{nothing}");
        }
    }

    #[test]
    fn portrait_is_a_rotation_on_wide_tablets() {
        assert!(!is_naturally_wide("Physical size: 1080x2400"));
        assert!(is_naturally_wide("Physical size: 2560x1600\n"));
        assert!(is_naturally_wide("Physical size: 1080x2400\nOverride size: 1000x800"));
        assert!(!is_naturally_wide("wm: not found"));
        let script = orientation(Orientation::Portrait, true);
        assert!(script.as_str().is_some_and(|text| text.ends_with("user_rotation 1")));
    }
}
