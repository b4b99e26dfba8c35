//! The time that waiting adds to a change, and its cost while nothing changes. The phone is a separate process.

use std::path::Path;
use std::time::{Duration, Instant};

use super::adb::Adb;
use super::process::{Phone, Server, check, processor_time, tool_call};
use super::recording::{By, FLIP, Recording};
use super::table::{Line, Spread};
use super::{TREE, replay};

const CHANGES: u32 = 40;
const WARM_UP_CHANGES: u32 = 3;
const DUMPS: usize = 30;
/// The product's own stability window, which does not count as added time.
const WINDOW: Duration = Duration::from_millis(250);
/// The change comes this long after the start of the wait, and up to the spread later, at another moment each time.
const DELAY_LEAST_MS: f64 = 300.0;
const DELAY_SPREAD_MS: f64 = 400.0;
const IDLE_MS: u32 = 10_000;
const UNTIL_CHANGED: (&str, &str) = ("wait_for_ui_change", r#"{"platform":"android","timeout_ms":20000}"#);

/// Size, goals for the added time at p50 and p95 in milliseconds, and for the processor in percent of one core.
const SIZES: [(&str, f64, f64, f64); 2] = [("small", 30.0, 60.0, 1.5), ("large", 40.0, 80.0, 3.0)];

pub fn lines(binary: &Path, data: &Path) -> Result<Vec<Line>, String> {
    let mut lines = Vec::new();
    for (size, usual_ms, slow_ms, percent) in SIZES {
        let recording = Recording::of(data, size, By::Key)?;
        let phone = Phone::playing(binary, &recording.folder, false)?;
        let (mut server, _) = Server::start(binary, &phone)?;
        let mut adb = Adb::connect(&phone.address)?;
        let dump = dump_time(binary, &recording, &mut adb)?;
        let note = format!("a dump takes {:.1}, {:.1}", dump.p50_ms, dump.p95_ms);
        added(&mut server, &mut adb, WARM_UP_CHANGES)?;
        let spread = Spread::of(&added(&mut server, &mut adb, CHANGES)?);
        let what = format!("wait for a change: added, {size}");
        lines.push(Line::time(&what, spread, usual_ms).noted(note));
        lines.push(Line::slow(&what, spread, slow_ms));
        let (busy, captures) = idle(&mut server)?;
        let what = format!("wait, nothing changes: CPU, {size}");
        lines.push(Line::single(&what, busy, percent, "% of a core").noted(format!("{captures} in 10 s")));
    }
    lines.push(one_tap(binary, data)?);
    Ok(lines)
}

/// The time that the phone alone needs for the server's reads of a screen.
fn dump_time(binary: &Path, recording: &Recording, adb: &mut Adb) -> Result<Spread, String> {
    let phone = Phone::playing(binary, &recording.folder, true)?;
    let (mut server, _) = Server::start(binary, &phone)?;
    for _ in 0..3 {
        server.call(TREE.0, TREE.1)?;
    }
    let commands = phone.commands_of(|| server.call(TREE.0, TREE.1).map(drop))?;
    let times: Result<Vec<Duration>, String> = (0..DUMPS).map(|_| replay(adb, &commands)).collect();
    Ok(Spread::of(&times?))
}

/// Measures from the command that changes the screen to the answer of the wait, without the window.
fn added(server: &mut Server, adb: &mut Adb, count: u32) -> Result<Vec<Duration>, String> {
    let mut times = Vec::new();
    for number in 0..count {
        let wait = server.send(&tool_call(UNTIL_CHANGED.0, UNTIL_CHANGED.1))?;
        // The golden ratio spreads any number of moments evenly.
        let delay_ms = DELAY_LEAST_MS + (f64::from(number) * 0.618_034).fract() * DELAY_SPREAD_MS;
        pause(Duration::from_secs_f64(delay_ms / 1000.0));
        let flipped = Instant::now();
        adb.shell(FLIP)?;
        let (answer, end) = server.answer(wait)?;
        check(&answer)?;
        if !answer.contains(r#"change_detected\":true"#) {
            return Err(format!("the wait saw no change: {answer}"));
        }
        times.push((end - flipped).saturating_sub(WINDOW));
    }
    Ok(times)
}

/// Sleeps. Nothing is synchronised by it: the moments of the changes are part of the measurement.
fn pause(time: Duration) {
    std::thread::sleep(time);
}

/// Percent of a core, and the number of captures.
fn idle(server: &mut Server) -> Result<(f64, String), String> {
    let arguments =
        format!(r#"{{"platform":"android","timeout_ms":{IDLE_MS},"selector":{{"text":"No Such"}}}}"#);
    let (start, before) = (Instant::now(), processor_time(server.pid())?);
    let call = server.call("wait_for_ui", &arguments)?;
    let (took, busy) = (start.elapsed(), processor_time(server.pid())? - before);
    let captures = call.answer.split_once(r#"poll_count\":"#).map_or("?", |(_, rest)| rest);
    let captures = captures.split(|c: char| !c.is_ascii_digit()).next().unwrap_or("?");
    Ok((busy.as_secs_f64() / took.as_secs_f64() * 100.0, format!("{captures} captures")))
}

/// An action with an expectation touches the phone once, however often it captures.
fn one_tap(binary: &Path, data: &Path) -> Result<Line, String> {
    let recording = Recording::of(data, "small", By::Tap)?;
    let phone = Phone::playing(binary, &recording.folder, true)?;
    let (mut server, _) = Server::start(binary, &phone)?;
    let arguments = r#"{"platform":"android","selector":{"resource_id":"toolbar_back"},"expect":{"text":"FLIPPED TARGET"}}"#;
    let mut took = Duration::ZERO;
    let commands = phone.commands_of(|| {
        let call = server.call("tap_element", arguments)?;
        took = call.took;
        if call.answer.contains(r#"verdict\":\"confirmed"#) {
            return Ok(());
        }
        Err(format!("the tap was not confirmed: {}", call.answer))
    })?;
    let count = |word: &str| commands.iter().filter(|command| command.contains(word)).count();
    let note = format!("{} dumps, {} ms", count("uiautomator dump"), took.as_millis());
    let dispatches = count("input ") as f64;
    Ok(Line::single("tap_element with expect: dispatches", dispatches, 1.0, "commands").noted(note))
}
