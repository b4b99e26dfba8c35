//! Properties, the display, settings, time and identity.

use tokio::time::Duration;

use super::super::io::Broken;
use super::{Answer, Call};
use crate::clock::Civil;
use crate::state::{SETTINGS_MAX, State};

const SIDE_PX_MAX: u32 = 8192;

pub fn getprop(state: &mut State, call: &Call<'_>) -> Answer {
    match call.words().as_slice() {
        [] => {
            let lines = state.properties.iter().map(|(key, value)| format!("[{key}]: [{value}]\n"));
            Answer::out(lines.collect::<String>())
        }
        [key, rest @ ..] => {
            let fallback = rest.first().copied().unwrap_or("");
            let value = state.properties.get(*key).map_or(fallback, String::as_str);
            Answer::out(format!("{value}\n"))
        }
    }
}

pub fn setprop(state: &mut State, call: &Call<'_>) -> Answer {
    match call.words().as_slice() {
        [key, _] if key.starts_with("ro.") => {
            Answer::fail(1, format!("Failed to set property '{key}'.\nSee dmesg for error reason.\n"))
        }
        [key, value] if state.properties.len() < SETTINGS_MAX => {
            state.properties.insert((*key).to_owned(), (*value).to_owned());
            Answer::ok()
        }
        _ => Answer::fail(1, "usage: setprop NAME VALUE\n"),
    }
}

pub fn wm(state: &mut State, call: &Call<'_>) -> Answer {
    match call.words().as_slice() {
        ["size"] => {
            let (width, height) = state.physical_size();
            let mut out = format!("Physical size: {width}x{height}\n");
            if let Some((width, height)) = state.size_override {
                out.push_str(&format!("Override size: {width}x{height}\n"));
            }
            Answer::out(out)
        }
        ["size", "reset"] => {
            state.size_override = None;
            state.ui.changed(state.now);
            Answer::ok()
        }
        ["size", size] => match parse_size(size) {
            Some(size) => {
                state.size_override = Some(size);
                state.ui.changed(state.now);
                Answer::ok()
            }
            None => Answer::fail(255, format!("Error: bad size {size}\n")),
        },
        ["density"] => {
            let mut out = format!("Physical density: {}\n", state.config.density);
            if let Some(density) = state.density_override {
                out.push_str(&format!("Override density: {density}\n"));
            }
            Answer::out(out)
        }
        ["density", "reset"] => {
            state.density_override = None;
            Answer::ok()
        }
        ["density", density] => match density.parse::<u32>() {
            Ok(density) if (72..=1000).contains(&density) => {
                state.density_override = Some(density);
                Answer::ok()
            }
            _ => Answer::fail(255, "Error: density must be >= 72\n"),
        },
        _ => Answer::fail(
            255,
            "Window manager (window) commands:\n  size [reset|WxH]\n  density [reset|DENSITY]\n",
        ),
    }
}

fn parse_size(word: &str) -> Option<(u32, u32)> {
    let (width, height) = word.split_once('x')?;
    let side = |w: &str| w.parse::<u32>().ok().filter(|s| (200..=SIDE_PX_MAX).contains(s));
    Some((side(width)?, side(height)?))
}

pub fn date(state: &mut State, call: &Call<'_>) -> Answer {
    let ms = state.clock.wall_ms(state.now);
    let t = Civil::from_ms(ms);
    let format = call.arguments.iter().find_map(|a| a.strip_prefix('+'));
    let Some(format) = format else {
        return Answer::out(format!(
            "{:04}-{:02}-{:02} {:02}:{:02}:{:02} UTC\n",
            t.year, t.month, t.day, t.hour, t.minute, t.second
        ));
    };
    let mut out = String::new();
    let mut chars = format.chars();
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('s') => out.push_str(&(ms / 1000).to_string()),
            Some('N') => out.push_str(&format!("{:09}", u64::from(t.milli) * 1_000_000)),
            Some('Y') => out.push_str(&format!("{:04}", t.year)),
            Some('m') => out.push_str(&format!("{:02}", t.month)),
            Some('d') => out.push_str(&format!("{:02}", t.day)),
            Some('H') => out.push_str(&format!("{:02}", t.hour)),
            Some('M') => out.push_str(&format!("{:02}", t.minute)),
            Some('S') => out.push_str(&format!("{:02}", t.second)),
            Some('T') => out.push_str(&format!("{:02}:{:02}:{:02}", t.hour, t.minute, t.second)),
            Some('F') => out.push_str(&format!("{:04}-{:02}-{:02}", t.year, t.month, t.day)),
            Some('z') => out.push_str("+0000"),
            Some('Z') => out.push_str("UTC"),
            Some(other) => out.push(other),
            None => {}
        }
    }
    Answer::out(out + "\n")
}

pub fn id(call: &Call<'_>) -> Answer {
    match call.words().as_slice() {
        ["-u"] | ["-g"] => Answer::out("2000\n"),
        ["-un"] => Answer::out("shell\n"),
        _ => Answer::out(
            "uid=2000(shell) gid=2000(shell) groups=2000(shell),1004(input),1007(log),1011(adb),1015(sdcard_rw),1028(sdcard_r),3001(net_bt_admin),3002(net_bt),3003(inet),3006(net_bw_stats) context=u:r:shell:s0\n",
        ),
    }
}

pub fn uptime(state: &mut State, _call: &Call<'_>) -> Answer {
    let seconds = state.clock.uptime(state.now).as_secs();
    Answer::out(format!(" up {} min,  0 users,  load average: 0.42, 0.40, 0.38\n", seconds / 60))
}

pub fn settings(state: &mut State, call: &Call<'_>) -> Answer {
    let words: Vec<&str> = call.words().into_iter().filter(|w| !w.starts_with("--")).collect();
    match words.as_slice() {
        ["get", namespace, key] => {
            let value = state.settings.get(&format!("{namespace}/{key}"));
            Answer::out(format!("{}\n", value.map_or("null", String::as_str)))
        }
        ["put", namespace, key, value, ..] if state.settings.len() < SETTINGS_MAX => {
            state.settings.insert(format!("{namespace}/{key}"), (*value).to_owned());
            Answer::ok()
        }
        ["delete", namespace, key] => {
            let gone = state.settings.remove(&format!("{namespace}/{key}")).is_some();
            Answer::out(format!("Deleted {} rows\n", u8::from(gone)))
        }
        ["list", namespace] => {
            let prefix = format!("{namespace}/");
            let lines = state
                .settings
                .iter()
                .filter_map(|(k, v)| Some(format!("{}={v}\n", k.strip_prefix(&prefix)?)));
            Answer::out(lines.collect::<String>())
        }
        _ => Answer::fail(1, "Settings provider (settings) commands:\n  help\n"),
    }
}

pub fn which(_state: &mut State, call: &Call<'_>) -> Answer {
    const KNOWN: [&str; 6] = ["sh", "toybox", "input", "uiautomator", "screencap", "logcat"];
    match call.arguments.first() {
        Some(name) if KNOWN.contains(&name.as_str()) => Answer::out(format!("/system/bin/{name}\n")),
        _ => Answer::code(1),
    }
}

pub async fn sleep(call: &Call<'_>) -> u8 {
    const SECONDS_MAX: f64 = 3600.0;
    let seconds = call.arguments.first().and_then(|word| {
        let number = word.trim_end_matches(['s', 'm']).parse::<f64>().ok()?;
        Some(if word.ends_with('m') { number * 60.0 } else { number })
    });
    match seconds.filter(|s| s.is_finite() && *s >= 0.0) {
        Some(seconds) => {
            tokio::time::sleep(Duration::from_secs_f64(seconds.min(SECONDS_MAX))).await;
            0
        }
        None => 1,
    }
}

/// `timeout SECONDS COMMAND…`: 124 when the command took too long.
pub async fn timeout(call: &Call<'_>) -> Result<u8, Broken> {
    let Some((seconds, rest)) = call.arguments.split_first() else { return Ok(125) };
    let seconds = seconds.trim_end_matches('s').parse::<f64>().ok().filter(|s| s.is_finite() && *s >= 0.0);
    let (Some(seconds), Some((name, arguments))) = (seconds, rest.split_first()) else { return Ok(125) };
    if is_wrapper(name) {
        return Ok(127);
    }
    let inner = Call { name, arguments, ..*call };
    let limit = Duration::from_secs_f64(seconds.min(3600.0));
    match tokio::time::timeout(limit, Box::pin(super::run(&inner))).await {
        Ok(ended) => Ok(ended?.unwrap_or(127)),
        Err(_) => Ok(124),
    }
}

pub async fn toybox(call: &Call<'_>) -> Result<u8, Broken> {
    let Some((name, arguments)) = call.arguments.split_first() else { return Ok(0) };
    if is_wrapper(name) {
        return Ok(127);
    }
    let inner = Call { name, arguments, ..*call };
    Ok(Box::pin(super::run(&inner)).await?.unwrap_or(127))
}

/// Programs that run programs do not nest here: each level would be one more future on the stack.
fn is_wrapper(name: &str) -> bool {
    matches!(name, "timeout" | "toybox")
}
