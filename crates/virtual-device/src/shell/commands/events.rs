//! `getevent` and `sendevent`: the input devices below Android.

use std::fmt::Write as _;

use super::{Call, ProgramOutput};
use crate::panel;
use crate::state::State;

struct Device {
    path: &'static str,
    name: &'static str,
    keys: &'static [(u16, &'static str)],
    /// Code, name and largest value.
    axes: &'static [(u16, &'static str, i32)],
    property: &'static str,
}

const DEVICES: [Device; 3] = [
    Device {
        path: "/dev/input/event0",
        name: "gpio-keys",
        keys: &[(0x72, "KEY_VOLUMEDOWN"), (0x73, "KEY_VOLUMEUP")],
        axes: &[],
        property: "<none>",
    },
    Device {
        path: "/dev/input/event1",
        name: "power-key",
        keys: &[(0x74, "KEY_POWER")],
        axes: &[],
        property: "<none>",
    },
    Device {
        path: panel::PATH,
        name: "virtual_touchscreen",
        keys: &[(0x14a, "BTN_TOUCH")],
        axes: &[
            (0x2f, "ABS_MT_SLOT", panel::SLOTS as i32 - 1),
            (0x30, "ABS_MT_TOUCH_MAJOR", 255),
            (0x35, "ABS_MT_POSITION_X", panel::AXIS_MAX),
            (0x36, "ABS_MT_POSITION_Y", panel::AXIS_MAX),
            (0x39, "ABS_MT_TRACKING_ID", 65_535),
            (0x3a, "ABS_MT_PRESSURE", 255),
        ],
        property: "INPUT_PROP_DIRECT",
    },
];

/// Prints the lists of `getevent -p`; it never prints events, because nobody touches this panel by hand.
pub fn getevent(_state: &mut State, call: &Call<'_>) -> ProgramOutput {
    let (letters, paths) = call.options();
    if !letters.contains('p') || letters.contains(|c| c != 'p' && c != 'l') {
        return ProgramOutput::fail(
            1,
            "getevent: this phone lists its devices (-p, -pl) and streams no events\n",
        );
    }
    let mut answer = ProgramOutput::ok();
    let wanted = |device: &&Device| paths.is_empty() || paths.contains(&device.path);
    for (device, number) in DEVICES.iter().filter(wanted).zip(1..) {
        let listing = listing(device, letters.contains('l'));
        answer.out.extend(format!("add device {number}: {}\n{listing}", device.path).into_bytes());
    }
    for path in paths.iter().filter(|path| !DEVICES.iter().any(|device| device.path == **path)) {
        answer.err.extend(format!("could not open {path}, No such file or directory\n").into_bytes());
        answer.code = 1;
    }
    answer
}

fn listing(device: &Device, labels: bool) -> String {
    let word = |code: u16, name: &str| {
        if labels { format!(" {name:<20} ") } else { format!(" {code:04x} ") }
    };
    let keys: String = device.keys.iter().map(|(code, name)| word(*code, name)).collect();
    let mut text = format!("  name:     \"{}\"\n  events:\n    KEY (0001):{keys}\n", device.name);
    for (at, (code, name, max)) in device.axes.iter().enumerate() {
        let begin = if at == 0 { "    ABS (0003):" } else { "               " };
        let axis = word(*code, name);
        let _ = writeln!(text, "{begin}{axis} : value 0, min 0, max {max}, fuzz 0, flat 0, resolution 0");
    }
    let _ = writeln!(text, "  input props:\n    {}", device.property);
    text
}

/// Runs `sendevent DEVICE TYPE CODE VALUE`. toybox takes `-1` for an option unless `--` came before.
pub fn sendevent(state: &mut State, call: &Call<'_>) -> ProgramOutput {
    let words = call.words();
    let words = match words.as_slice() {
        ["--", rest @ ..] => rest,
        plain => {
            if let Some(option) = plain.iter().find(|word| word.len() > 1 && word.starts_with('-')) {
                return ProgramOutput::fail(1, format!("sendevent: Unknown option '{}'\n", &option[1..]));
            }
            plain
        }
    };
    let [path, kind, code, value] = words else {
        return ProgramOutput::fail(1, "sendevent: Need 4 arguments\n");
    };
    let full = call.path(path);
    let complaint = match state.fs.get(&full) {
        Err(error) => Some(error.text()),
        Ok(_) if !DEVICES.iter().any(|device| device.path == full) => Some("Inappropriate ioctl for device"),
        Ok(node) if node.mode & 0o020 == 0 => Some("Permission denied"),
        Ok(_) => None,
    };
    if let Some(complaint) = complaint {
        return ProgramOutput::fail(1, format!("sendevent: {path}: {complaint}\n"));
    }
    if full == panel::PATH {
        state.panel_event(number(kind) as u16, number(code) as u16, number(value) as i32);
    }
    ProgramOutput::ok()
}

/// Parses a number like C's `atoi` on a 64-bit machine: other text is 0, and 4294967295 becomes -1 in an event.
fn number(word: &str) -> i64 {
    let digits = word.strip_prefix('-').unwrap_or(word);
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    let value = digits[..end].parse::<i64>().unwrap_or(0);
    if word.starts_with('-') { -value } else { value }
}
