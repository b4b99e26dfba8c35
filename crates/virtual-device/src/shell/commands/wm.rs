//! `wm`, also known as `cmd window`.

use super::{Call, ProgramOutput};
use crate::state::State;
use crate::surface::SystemEvent;

const SIDE_PX_MAX: u32 = 8192;

pub fn wm(state: &mut State, call: &Call<'_>) -> ProgramOutput {
    let mut words = call.words();
    if let Some(at) = words.iter().position(|w| *w == "-d") {
        words.drain(at..words.len().min(at + 2));
    }
    match words.as_slice() {
        ["size", rest @ ..] => size(state, rest),
        ["density", rest @ ..] => density(state, rest),
        ["user-rotation" | "set-user-rotation", rest @ ..] => user_rotation(state, rest),
        ["fixed-to-user-rotation" | "set-fix-to-user-rotation"] => ProgramOutput::out("default\n"),
        ["fixed-to-user-rotation" | "set-fix-to-user-rotation", _] => ProgramOutput::ok(),
        ["dismiss-keyguard" | "reset" | "scaling" | "set-ignore-orientation-request", ..] => {
            ProgramOutput::ok()
        }
        ["get-ignore-orientation-request"] => {
            ProgramOutput::out("ignoreOrientationRequest false for displayId=0\n")
        }
        ["folded-area", ..] => ProgramOutput::out("Folded area: none\n"),
        [] | ["help" | "-h"] => ProgramOutput::out(
            "Window manager (window) commands:\n  help\n      Print this help text.\n  size [reset|WxH|WdpxHdp] [-d DISPLAY_ID]\n      \
             Return or override display size.\n  density [reset|DENSITY] [-d DISPLAY_ID] [-u UNIQUE_ID]\n      \
             Return or override display density.\n  user-rotation [-d DISPLAY_ID] [free|lock] [rotation]\n      \
             Print or set user rotation mode and user rotation.\n",
        ),
        [other, ..] => ProgramOutput::fail(255, format!("Unknown command: {other}\n")),
    }
}

fn size(state: &mut State, words: &[&str]) -> ProgramOutput {
    let wanted = match words {
        [] => {
            let (width, height) = state.display.physical_size();
            let mut out = format!("Physical size: {width}x{height}\n");
            if let Some((width, height)) = state.display.size_override() {
                out.push_str(&format!("Override size: {width}x{height}\n"));
            }
            return ProgramOutput::out(out);
        }
        ["reset", ..] => None,
        [size, ..] => match parse_size(size) {
            Some(size) => Some(size),
            None => return ProgramOutput::fail(255, format!("Error: bad size {size}\n")),
        },
    };
    state.display.override_size(wanted);
    state.surface.system(SystemEvent::ConfigurationChanged, state.now);
    ProgramOutput::ok()
}

fn density(state: &mut State, words: &[&str]) -> ProgramOutput {
    let wanted = match words {
        [] => {
            let mut out = format!("Physical density: {}\n", state.display.physical_density());
            if let Some(density) = state.display.density_override() {
                out.push_str(&format!("Override density: {density}\n"));
            }
            return ProgramOutput::out(out);
        }
        ["reset", ..] => None,
        [density, ..] => match density.parse::<u32>() {
            Ok(density) if (72..=1000).contains(&density) => Some(density),
            Ok(_) => return ProgramOutput::fail(255, "Error: density must be >= 72\n"),
            Err(_) => {
                return ProgramOutput::fail(
                    255,
                    format!("Error: bad number For input string: \"{density}\"\n"),
                );
            }
        },
    };
    state.display.override_density(wanted);
    state.surface.system(SystemEvent::ConfigurationChanged, state.now);
    ProgramOutput::ok()
}

fn parse_size(word: &str) -> Option<(u32, u32)> {
    let (width, height) = word.split_once('x')?;
    let side = |w: &str| w.parse::<u32>().ok().filter(|s| (200..=SIDE_PX_MAX).contains(s));
    Some((side(width)?, side(height)?))
}

fn user_rotation(state: &mut State, words: &[&str]) -> ProgramOutput {
    let turns = state.settings.get("system", "user_rotation").unwrap_or("0").to_owned();
    match words {
        [] if state.settings.rotation_is_locked() => ProgramOutput::out(format!("lock {turns}\n")),
        [] => ProgramOutput::out("free\n"),
        ["free", ..] => {
            state.put_setting("system", "accelerometer_rotation", "1");
            ProgramOutput::ok()
        }
        ["lock", rest @ ..] => {
            let wanted = rest.first().copied().unwrap_or(&turns);
            if !matches!(wanted, "0" | "1" | "2" | "3") {
                return ProgramOutput::fail(255, format!("Error: rotation must be 0, 1, 2 or 3: {wanted}\n"));
            }
            let wanted = wanted.to_owned();
            state.put_setting("system", "accelerometer_rotation", "0");
            state.put_setting("system", "user_rotation", &wanted);
            ProgramOutput::ok()
        }
        [other, ..] => {
            ProgramOutput::fail(255, format!("Error: expecting 'lock' or 'free', but got {other}\n"))
        }
    }
}
