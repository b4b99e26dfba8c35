//! Pinches with two fingers by writing events to the touch panel, because `input` supports only one finger. Not every
//! device lets the shell write there, so a writable panel is searched before anything is sent.

use mdm_core::screen::geometry::{Point, Rect};

use crate::adb::Script;

/// Exit code of our own script: the panel did not accept the first event.
pub const EVENT_REFUSED: u8 = 24;

/// Android recognises a pinch only while the fingers are at least 27 mm apart.
const SPAN_MIN_DP: i64 = 180;
/// A pinch starts after the distance has changed by twice the touch slop. That movement does not zoom.
const APPROACH_DP: i64 = 24;
/// Screen edges that are left free, because the system has its own gestures there.
const EDGE_DP: i64 = 32;
/// Edge of the target that is left free, because it may belong to a neighbour.
const TARGET_EDGE_PX: i64 = 4;
const FRAMES: i64 = 10;
/// Input devices that are read; the touch screen is among the first few.
const DEVICES_MAX: usize = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Axis {
    min: i64,
    max: i64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Panel {
    path: String,
    x: Axis,
    y: Axis,
    pressure: Option<Axis>,
    /// True if it reports BTN_TOUCH.
    button: bool,
}

/// The screen in its current rotation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Display {
    pub rotation: u8,
    pub width: i64,
    pub height: i64,
    pub density: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pinch {
    pub center: Point,
    /// The rectangle in which both fingers stay.
    pub within: Option<Rect>,
    pub from_px: u32,
    pub to_px: u32,
    pub duration_ms: u32,
}

/// Returns the script that reads all facts for a gesture in one round trip. They are not cached, because the screen may
/// be rotated or resized between two gestures.
pub fn query_script() -> Script {
    Script::new("getevent -p 2>/dev/null; for d in /dev/input/event*; do [ -w \"$d\" ] && echo \"writable $d\"; done; ")
        .then("wm density; dumpsys display | grep 'DisplayViewport{'")
}

/// Finds the touch screen that the shell may write to.
pub fn panel(answer: &str) -> Option<Panel> {
    let writable: Vec<&str> = answer.lines().filter_map(|line| line.strip_prefix("writable ")).collect();
    let devices = answer.split("add device ").skip(1).take(DEVICES_MAX);
    let panels = devices.filter_map(|text| {
        let path = text.lines().next()?.split_once(": ")?.1.trim();
        let number = path.strip_prefix("/dev/input/event")?;
        let is_valid = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
        // A touchpad moves a pointer; emulators leave the property out.
        let pointer = text.contains("INPUT_PROP_POINTER");
        if !is_valid || pointer || !writable.contains(&path) {
            return None;
        }
        axis(text, "002f")?;
        let panel = Panel {
            path: path.to_owned(),
            x: axis(text, "0035")?,
            y: axis(text, "0036")?,
            pressure: axis(text, "003a"),
            button: text.split_whitespace().any(|word| word == "014a"),
        };
        Some((text.contains("INPUT_PROP_DIRECT"), panel))
    });
    panels.max_by_key(|(direct, _)| *direct).map(|(_, panel)| panel)
}

/// Parses `0035  : value 0, min 0, max 1079, fuzz 0, …`. The same code in a list of keys has no range.
fn axis(text: &str, code: &str) -> Option<Axis> {
    let range = text.lines().find_map(|line| {
        let (before, range) = line.split_once("value ")?;
        let named = before.split_whitespace().rev().find(|word| *word != ":")?;
        (named == code).then_some(range)
    })?;
    let number = |name: &str| {
        let part = range.split(',').find_map(|part| part.trim().strip_prefix(name))?;
        part.trim().parse::<i32>().ok().map(i64::from)
    };
    let axis = Axis { min: number("min")?, max: number("max")? };
    (axis.max > axis.min).then_some(axis)
}

pub fn display(answer: &str) -> Option<Display> {
    let start = answer.find("DisplayViewport{type=INTERNAL").or_else(|| answer.find("DisplayViewport{"))?;
    let viewport = answer[start..].split('}').next()?;
    let rotation = viewport.split_once("orientation=")?.1.split(',').next()?.trim().parse::<u8>().ok()?;
    let frame = viewport.split_once("logicalFrame=Rect(")?.1.split_once(" - ")?.1.split(')').next()?;
    let (width, height) = frame.split_once(',')?;
    let size = |text: &str| text.trim().parse::<i64>().ok().filter(|size| (1..=100_000).contains(size));
    Some(Display {
        rotation: Some(rotation).filter(|turns| *turns < 4)?,
        width: size(width)?,
        height: size(height)?,
        density: density(answer)?,
    })
}

impl Display {
    fn px(&self, dp: i64) -> i64 {
        dp * self.density / 160
    }

    /// Converts a screen point to panel units. The panel does not rotate with the screen.
    fn panel_point(&self, (x, y): (i64, i64), panel: &Panel) -> (i64, i64) {
        let (width, height) = (self.width, self.height);
        let (upright, size) = match self.rotation {
            1 => ((height - 1 - y, x), (height, width)),
            2 => ((width - 1 - x, height - 1 - y), (width, height)),
            3 => ((y, width - 1 - x), (height, width)),
            _ => ((x, y), (width, height)),
        };
        let scaled = |at: i64, size: i64, axis: Axis| {
            // Maps to the middle of a pixel.
            let raw = axis.min + (2 * at + 1) * (axis.max - axis.min + 1) / (2 * size);
            raw.clamp(axis.min, axis.max)
        };
        (scaled(upright.0, size.0, panel.x), scaled(upright.1, size.1, panel.y))
    }
}

/// Returns the distance between the fingers for each frame, and true if they are side by side.
fn spans(pinch: &Pinch, display: &Display) -> (Vec<i64>, bool) {
    let (edge, approach) = (display.px(EDGE_DP), display.px(APPROACH_DP));
    let (x, y) = (i64::from(pinch.center.x), i64::from(pinch.center.y));
    let (mut left, mut right) = (edge, display.width - edge);
    let (mut top, mut bottom) = (edge, display.height - edge);
    if let Some(target) = pinch.within {
        (left, right) = (
            left.max(i64::from(target.left) + TARGET_EDGE_PX),
            right.min(i64::from(target.right) - TARGET_EDGE_PX),
        );
        (top, bottom) = (
            top.max(i64::from(target.top) + TARGET_EDGE_PX),
            bottom.min(i64::from(target.bottom) - TARGET_EDGE_PX),
        );
    }
    let (across, down) = ((x - left).min(right - x).max(0) * 2, (y - top).min(bottom - y).max(0) * 2);
    let (from, to) = (i64::from(pinch.from_px.max(1)), i64::from(pinch.to_px.max(1)));
    // The approach of a closing pinch takes room too.
    let room = (across.max(down) - if to < from { approach } else { 0 }).max(1);
    let (small, large) = (from.min(to), from.max(to));
    let wanted = small.max(display.px(SPAN_MIN_DP));
    let small = wanted.min(room * small / large);
    let large = (small * from.max(to) / from.min(to)).min(room);
    let (from, to) = if to < from { (large, small) } else { (small, large) };
    let first = if to < from { from + approach } else { (from - approach).max(1) };
    let frames = (0..=FRAMES).map(|frame| from + (to - from) * frame / FRAMES);
    ([first].into_iter().chain(frames).collect(), across >= down)
}

/// Returns where both fingers are in each frame, for a helper that has fingers of its own.
pub fn places(display: &Display, pinch: &Pinch) -> Vec<[Point; 2]> {
    let (spans, across) = spans(pinch, display);
    let moved = |by: i64| match across {
        true => Point { x: pinch.center.x.saturating_add(by as i32), y: pinch.center.y },
        false => Point { x: pinch.center.x, y: pinch.center.y.saturating_add(by as i32) },
    };
    spans.into_iter().map(|span| [moved(-(span / 2)), moved(span - span / 2)]).collect()
}

/// Reads the answer of `wm density`, in which the last line is the density in use.
pub fn density(answer: &str) -> Option<i64> {
    let density = answer.lines().rev().find_map(|line| line.split_once("density:")?.1.trim().parse().ok());
    density.filter(|density| (1..=10_000).contains(density))
}

/// Returns the script of a pinch. It lifts the fingers after any failure, also when the connection is gone. Each event
/// starts a process: slow, but it leaves the event's binary size, which differs between 32 and 64 bit, to the phone.
pub fn pinch_script(panel: &Panel, display: &Display, pinch: &Pinch) -> Script {
    let (spans, across) = spans(pinch, display);
    let center = (i64::from(pinch.center.x), i64::from(pinch.center.y));
    let positions = spans.iter().map(|span| {
        let (before, after) = (span / 2, span - span / 2);
        let (dx, dy) = if across { (1, 0) } else { (0, 1) };
        [
            display.panel_point((center.0 - before * dx, center.1 - before * dy), panel),
            display.panel_point((center.0 + after * dx, center.1 + after * dy), panel),
        ]
    });
    let mut script = functions(panel);
    for (index, [a, b]) in positions.enumerate() {
        script = match index {
            0 => script.then("{ down"),
            _ => pause(script.then(" &&"), pinch.duration_ms / (FRAMES as u32 + 1)).then(" && move"),
        };
        script = script.number(a.0).number(a.1).number(b.0).number(b.1);
    }
    script.then("; }; code=$?; up; exit $code; done")
}

fn functions(panel: &Panel) -> Script {
    let pressure = panel.pressure.map(|axis| i64::midpoint(axis.min, axis.max));
    let press = |script: Script| match pressure {
        Some(value) => script.then(" && e 3 58").number(value),
        None => script,
    };
    let button = |script: Script, text: &'static str| if panel.button { script.then(text) } else { script };
    // Toybox parses -1 as an option, and older programs do not know `--`.
    let mut script = Script::new("for d in").arg(&panel.path).then("; do e() { sendevent \"$d\" \"$@\"; }; ");
    script =
        script.then("lift() { e 3 47 $1; sendevent -- \"$d\" 3 57 -1 || e 3 57 -1 || e 3 57 4294967295; }; ");
    script =
        button(script.then("up() { { lift 0; lift 1; "), "e 1 330 0; ").then("e 0 0 0; } 2>/dev/null; }; ");
    script = script.then(
        "move() { e 3 47 0 && e 3 53 $1 && e 3 54 $2 && e 3 47 1 && e 3 53 $3 && e 3 54 $4 && e 0 0 0; }; ",
    );
    script = press(script.then("down() { e 3 57 1")).then(" && e 3 47 1 && e 3 57 2");
    script = button(press(script), " && e 1 330 1").then(" && move \"$@\"; }; ");
    script.then("e 3 47 0 || exit 24; trap 'up; exit 1' HUP INT TERM; ")
}

fn pause(script: Script, ms: u32) -> Script {
    script.then(" sleep").arg(&format!("{}.{:03}", ms / 1000, ms % 1000))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: &str = "add device 1: /dev/input/event0\n  name:     \"gpio\"\n  events:\n    KEY (0001): 0035  0036  014a \n";
    const TOUCH: &str = "add device 2: /dev/input/event4\n  name:     \"fts\"\n  events:\n    KEY (0001): 008f  014a \n    \
        ABS (0003): 002f  : value 0, min 0, max 9, fuzz 0, flat 0, resolution 0\n                \
        0035  : value 0, min 0, max 1079, fuzz 0, flat 0, resolution 0\n                \
        0036  : value 0, min 0, max 2399, fuzz 0, flat 0, resolution 0\n  input props:\n    INPUT_PROP_DIRECT\n";
    const WRITABLE: &str = "writable /dev/input/event0\nwritable /dev/input/event4\n";
    const UPRIGHT: &str = "Physical density: 160\n  mViewports=[DisplayViewport{type=INTERNAL, valid=true, orientation=0, \
        logicalFrame=Rect(0, 0 - 1080, 2400), physicalFrame=Rect(0, 0 - 1, 1)}]\n";

    fn panel_and_display(answer: &str) -> (Panel, Display) {
        (panel(answer).expect("a panel"), display(answer).expect("a screen"))
    }

    fn pinch(from_px: u32, to_px: u32, within: Option<Rect>) -> Pinch {
        Pinch { center: Point { x: 540, y: 1200 }, within, from_px, to_px, duration_ms: 400 }
    }

    #[test]
    fn the_touch_screen_is_found_among_keys_and_touchpads() {
        let answer = [KEYS, TOUCH, WRITABLE, UPRIGHT].concat();
        let found = panel(&answer).expect("one of two");
        assert_eq!((found.path.as_str(), found.x.max, found.y.max), ("/dev/input/event4", 1079, 2399));
        assert!(found.button && found.pressure.is_none());
        let pad = TOUCH.replace("_DIRECT", "_POINTER");
        let old = TOUCH.replace("002f", "0030");
        let odd = TOUCH.replace("event4", "event4; reboot");
        let locked = "writable /dev/input/event0\n";
        for (what, writable) in
            [(&pad, WRITABLE), (&old, WRITABLE), (&odd, WRITABLE), (&TOUCH.to_owned(), locked)]
        {
            assert_eq!(panel(&[KEYS, what, writable].concat()), None, "{what}");
        }
        assert_eq!(panel("add device \n: \nvalue"), None);
    }

    #[test]
    fn points_are_converted_to_the_unrotated_panel() {
        let (panel, upright) = panel_and_display(&[TOUCH, WRITABLE, UPRIGHT].concat());
        assert_eq!(upright.panel_point((100, 300), &panel), (100, 300));
        let turned =
            |rotation: u8, width: i64, height: i64| Display { rotation, width, height, density: 160 };
        assert_eq!(turned(1, 2400, 1080).panel_point((300, 979), &panel), (100, 300));
        assert_eq!(turned(2, 1080, 2400).panel_point((979, 2099), &panel), (100, 300));
        assert_eq!(turned(3, 2400, 1080).panel_point((2099, 100), &panel), (100, 300));
        let fine = Panel { x: Axis { min: 0, max: 32_767 }, ..panel };
        assert_eq!(upright.panel_point((540, 0), &fine).0, 16_399);
        for unknown in
            ["", "DisplayViewport{type=INTERNAL, orientation=7, logicalFrame=Rect(0, 0 - 1, 1)}", UPRIGHT]
        {
            assert_eq!(display(&unknown.replace("density", "d")), None, "{unknown}");
        }
    }

    #[test]
    fn fingers_keep_ratio_and_minimum_distance_and_stay_in_the_target() {
        let (_, screen) = panel_and_display(&[TOUCH, WRITABLE, UPRIGHT].concat());
        let ends = |pinch: &Pinch| {
            let (spans, across) = spans(pinch, &screen);
            (spans[0], spans[1], *spans.last().expect("frames"), across)
        };
        assert_eq!(ends(&pinch(200, 400, None)), (176, 200, 400, false));
        assert_eq!(ends(&pinch(400, 200, None)), (424, 400, 200, false));
        assert_eq!(ends(&pinch(20, 40, None)), (156, 180, 360, false), "27 mm at least");
        let small = Rect { left: 340, top: 1150, right: 740, bottom: 1250 };
        assert_eq!(ends(&pinch(200, 1000, Some(small))), (54, 78, 390, true), "inside of it");
        let nothing = Rect { left: 540, top: 1200, right: 540, bottom: 1200 };
        assert!(ends(&pinch(1, u32::MAX, Some(nothing))).2 >= 0);
    }

    #[test]
    fn the_script_moves_the_fingers_and_lifts_them() {
        let (panel, screen) = panel_and_display(&[TOUCH, WRITABLE, UPRIGHT].concat());
        let script = pinch_script(&panel, &screen, &pinch(200, 400, None));
        let text = script.as_str().expect("sendable");
        assert!(text.starts_with("for d in '/dev/input/event4'; do e() {"), "{text}");
        assert!(
            text.contains("{ down 540 1112 540 1288 && sleep '0.036' && move 540 1100 540 1300 &&"),
            "{text}"
        );
        assert!(text.ends_with("move 540 1000 540 1400; }; code=$?; up; exit $code; done"), "{text}");
        assert!(text.len() < 4000, "an old adbd takes no more: {}", text.len());
    }

    /// Runs the script in a real shell, where `sendevent` prints its arguments and fails for `broken`.
    #[expect(clippy::disallowed_methods, reason = "the test runs a real shell")]
    fn events(broken: &str) -> (Vec<String>, Option<i32>) {
        let (panel, screen) = panel_and_display(&[TOUCH, WRITABLE, UPRIGHT].concat());
        let script = pinch_script(&panel, &screen, &Pinch { duration_ms: 0, ..pinch(200, 400, None) });
        let text = script.as_str().expect("sendable");
        let program =
            format!("sendevent() {{ echo \"$@\"; case \"$*\" in {broken}) return 1;; esac; }}; {text}");
        let ran =
            std::process::Command::new("/bin/sh").arg("-c").arg(program).output().expect("/bin/sh runs");
        let printed =
            String::from_utf8_lossy(&ran.stdout).replace("-- ", "").replace("/dev/input/event4 ", "");
        (printed.lines().map(str::to_owned).collect(), ran.status.code())
    }

    #[test]
    fn a_real_shell_lifts_both_fingers_even_after_a_failure() {
        let lifted = ["3 47 0", "3 57 -1", "3 47 1", "3 57 -1", "1 330 0", "0 0 0"];
        let (whole, code) = events("nothing");
        assert_eq!(code, Some(0), "GE-01");
        assert_eq!(whole[..5], ["3 47 0", "3 57 1", "3 47 1", "3 57 2", "1 330 1"], "{whole:?}");
        assert_eq!(
            whole.iter().filter(|event| *event == "0 0 0").count(),
            13,
            "a way of 11 steps, down and up"
        );
        assert!(whole.ends_with(&lifted.map(str::to_owned)), "{whole:?}");
        // It fails in the middle of the movement, and at the second finger.
        for broken in ["*'3 54 1050'*", "*'3 57 2'*"] {
            let (broken, code) = events(broken);
            assert_eq!(code, Some(1));
            assert!(broken.len() < whole.len() && broken.ends_with(&lifted.map(str::to_owned)), "{broken:?}");
        }
        let (refused, code) = events("*");
        assert_eq!((refused.len(), code), (1, Some(i32::from(EVENT_REFUSED))), "nothing was sent");
        // A program without `--` gets the event in another form.
        let (old, _) = events("--*");
        assert_eq!(old.iter().filter(|event| *event == "3 57 -1").count(), 4, "{old:?}");
    }
}
