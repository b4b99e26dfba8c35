//! `input`: touches, text and keys.

use tokio::time::Duration;

use super::super::io::BrokenPipe;
use super::Call;
use crate::app::keys;

/// Longest swipe.
const SWIPE_MS_MAX: u64 = 60_000;
const SWIPE_MS_DEFAULT: u64 = 300;
const LONG_PRESS_MS: u64 = 500;
const DOUBLE_TAP_MS: u64 = 40;
const SOURCES: [&str; 9] =
    ["touchscreen", "keyboard", "mouse", "touchpad", "dpad", "stylus", "joystick", "trackball", "gamepad"];

const USAGE: &str = "Usage: input [<source>] [-d DISPLAY_ID] <command> [<arg>...]\n\n\
    The commands and default sources are:\n      text <string> (Default: keyboard)\n      \
    keyevent [--longpress|--doubletap|--async] [--delay <duration between keycodes in ms>] <key code number or name> ... (Default: keyboard)\n      \
    tap <x> <y> (Default: touchscreen)\n      swipe <x1> <y1> <x2> <y2> [duration(ms)] (Default: touchscreen)\n";

pub async fn input(call: &Call<'_>) -> Result<u8, BrokenPipe> {
    call.start_java().await;
    let mut words = call.words();
    if words.first().is_some_and(|w| SOURCES.contains(w)) {
        words.remove(0);
    }
    if words.first() == Some(&"-d") {
        words.drain(..words.len().min(2));
    }
    let outcome = match words.as_slice() {
        ["tap", rest @ ..] => tap(call, rest),
        [how @ ("swipe" | "draganddrop"), rest @ ..] => swipe(call, how, rest).await,
        ["text", text] => type_text(call, text),
        ["keyevent", rest @ ..] => keyevent(call, rest).await,
        ["keycombination", rest @ ..] => combination(call, rest),
        ["motionevent", rest @ ..] => motion(call, rest),
        // A trackball and a wheel that the apps of this phone do not notice.
        ["roll" | "press" | "scroll", ..] => Ok(()),
        _ => {
            call.io.stderr.write(USAGE).await?;
            return Ok(255);
        }
    };
    match outcome {
        Ok(()) => Ok(0),
        Err(complaint) => {
            call.io.stderr.write(complaint).await?;
            Ok(255)
        }
    }
}

/// Parses a number; an error is Java's exception.
fn number(word: &str) -> Result<i32, String> {
    let value = word.parse::<f32>().ok().filter(|v| v.is_finite());
    let value = value.ok_or_else(|| {
        format!(
            "Exception occurred while executing 'tap':\njava.lang.NumberFormatException: For input string: \"{word}\"\n\tat jdk.internal.math.FloatingDecimal.readJavaFormatString(FloatingDecimal.java:2054)\n"
        )
    })?;
    Ok(value as i32)
}

fn missing() -> String {
    "Error: Invalid arguments for command\n".to_owned() + USAGE
}

fn tap(call: &Call<'_>, words: &[&str]) -> Result<(), String> {
    let [x, y] = words else { return Err(missing()) };
    let (x, y) = (number(x)?, number(y)?);
    call.phone.with(|state| state.tap(x, y));
    Ok(())
}

async fn swipe(call: &Call<'_>, how: &str, words: &[&str]) -> Result<(), String> {
    let (points, ms) = match words {
        [points @ .., ms] if points.len() == 4 => (points, ms.parse().map_err(|_| missing())?),
        points if points.len() == 4 => (points, SWIPE_MS_DEFAULT),
        _ => return Err(missing()),
    };
    let mut numbers = [0; 4];
    for (to, word) in numbers.iter_mut().zip(points) {
        *to = number(word)?;
    }
    let ms = ms.min(SWIPE_MS_MAX);
    let [x1, y1, x2, y2] = numbers;
    let drag_time = call.phone.with(|state| state.drag_time(ms)).filter(|_| how == "draganddrop");
    if let Some(time) = drag_time {
        call.phone.with(|state| state.drag_and_drop((x1, y1), (x2, y2), ms));
        tokio::time::sleep(time).await;
        return Ok(());
    }
    if ms > 0 {
        if how == "swipe" {
            call.phone.with(|state| state.begin_swipe((x1, y1), (x2, y2), ms));
        }
        tokio::time::sleep(Duration::from_millis(ms)).await;
    }
    call.phone.with(|state| match how {
        "swipe" => state.swipe((x1, y1), (x2, y2), ms),
        _ => state.drag_and_drop((x1, y1), (x2, y2), ms),
    });
    Ok(())
}

/// Handles `motionevent`: one process puts a finger down and another lifts it.
fn motion(call: &Call<'_>, words: &[&str]) -> Result<(), String> {
    let [action, x, y] = words else { return Err(missing()) };
    let at = (number(x)?, number(y)?);
    call.phone.with(|state| match *action {
        "DOWN" => {
            state.put_finger_down(at);
            Ok(())
        }
        "UP" => {
            state.lift_finger(at);
            Ok(())
        }
        "MOVE" => {
            state.move_finger(at);
            Ok(())
        }
        "CANCEL" => {
            state.cancel_finger();
            Ok(())
        }
        _ => Err(missing()),
    })
}

/// Types a text, in which `%s` is a space. If no key types one of the characters, nothing is typed at all.
fn type_text(call: &Call<'_>, text: &str) -> Result<(), String> {
    let text = text.replace("%s", " ");
    if text.chars().any(|c| !(' '..='~').contains(&c) && c != '\n' && c != '\t') {
        return Err("Exception occurred while executing 'text':\n\
             java.lang.NullPointerException: Attempt to get length of null array\n\t\
             at com.android.server.input.InputShellCommand.sendText(InputShellCommand.java:400)\n\t\
             at com.android.server.input.InputShellCommand.runText(InputShellCommand.java:388)\n"
            .to_owned());
    }
    call.phone.with(|state| state.type_text(&text));
    Ok(())
}

async fn keyevent(call: &Call<'_>, words: &[&str]) -> Result<(), String> {
    let (mut codes, mut long, mut double, mut delay_ms) = (Vec::new(), false, false, 0);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match *word {
            "--longpress" => long = true,
            "--doubletap" => double = true,
            "--async" => {}
            "--delay" => delay_ms = words.next().and_then(|w| w.parse().ok()).unwrap_or(0),
            "--duration" => {
                words.next();
            }
            word => codes.push(keys::parse(word).ok_or_else(|| {
                format!("Exception occurred while executing 'keyevent':\njava.lang.IllegalArgumentException: Unknown keycode: {word}\n")
            })?),
        }
    }
    if codes.is_empty() {
        return Err(missing());
    }
    for (at, code) in codes.into_iter().enumerate() {
        if at > 0 {
            wait(delay_ms).await;
        }
        if long {
            wait(LONG_PRESS_MS).await;
            call.phone.with(|state| state.long_key(code));
        } else {
            call.phone.with(|state| state.key(code));
        }
        if double {
            wait(DOUBLE_TAP_MS).await;
            call.phone.with(|state| state.key(code));
        }
    }
    Ok(())
}

async fn wait(ms: u64) {
    if ms > 0 {
        tokio::time::sleep(Duration::from_millis(ms.min(SWIPE_MS_MAX))).await;
    }
}

/// Handles a key combination; the apps of this phone know only Ctrl+A.
fn combination(call: &Call<'_>, words: &[&str]) -> Result<(), String> {
    let codes: Option<Vec<u32>> = words.iter().filter(|w| **w != "-t").map(|w| keys::parse(w)).collect();
    match codes.as_deref() {
        Some([keys::CTRL_LEFT | keys::CTRL_RIGHT, keys::A]) => call.phone.with(|state| state.select_all()),
        Some([_, _, ..]) => {}
        _ => return Err(missing()),
    }
    Ok(())
}
