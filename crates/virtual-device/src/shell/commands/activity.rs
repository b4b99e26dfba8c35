//! Activities and processes: `am`, `monkey`, `pidof`, `ps`, `kill`.

use super::super::io::Broken;
use super::{Answer, Call};
use crate::state::State;

const MONKEY_ABORTED_EXIT: u8 = 252;

pub async fn monkey(call: &Call<'_>) -> Result<u8, Broken> {
    call.start_java().await;
    let mut package = None;
    let mut words = call.arguments.iter();
    while let Some(word) = words.next() {
        if word == "-p" {
            package = words.next();
        }
    }
    let launched = call.phone.with(|state| {
        package.is_some_and(|name| state.packages.get(name).is_some() && state.launch(name, None))
    });
    if !launched {
        call.io.stdout.write("** No activities found to run, monkey aborted.\n").await?;
        return Ok(MONKEY_ABORTED_EXIT);
    }
    // A shell script in front of the program prints its arguments, and the program prints them again.
    let shown: Vec<String> = call.arguments.iter().map(|a| format!("  bash arg: {a}\n")).collect();
    call.io.stderr.write(format!("args: [{}]\n", call.arguments.join(", "))).await?;
    let stats = "## Network stats: elapsed time=13ms (0ms mobile, 0ms wifi, 13ms not connected)\n";
    call.io.stdout.write(format!("{}Events injected: 1\n{stats}", shown.concat())).await?;
    Ok(0)
}

#[derive(Default)]
struct Intent<'a> {
    action: Option<&'a str>,
    package: Option<&'a str>,
    component: Option<&'a str>,
    wait: bool,
    stop_first: bool,
}

pub fn am(state: &mut State, call: &Call<'_>) -> Answer {
    let words = call.words();
    match words.as_slice() {
        ["start" | "start-activity", rest @ ..] => start(state, &intent(rest)),
        ["force-stop" | "kill", rest @ ..] => {
            if let Some(package) = rest.last() {
                state.kill(package, false);
            }
            Answer::ok()
        }
        ["broadcast", rest @ ..] => crate::helpers::ime::broadcast(state, rest).unwrap_or_else(|| {
            Answer::out("Broadcasting: Intent { flg=0x400000 }\nBroadcast completed: result=0\n")
        }),
        ["get-current-user"] => Answer::out("0\n"),
        ["instrument", ..] => Answer::out("INSTRUMENTATION_FAILED: no such instrumentation\n"),
        _ => Answer::fail(255, "Activity manager (activity) commands:\n  help\n"),
    }
}

fn intent<'a>(words: &[&'a str]) -> Intent<'a> {
    let mut intent = Intent::default();
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        match word {
            "-W" => intent.wait = true,
            "-S" => intent.stop_first = true,
            "-n" => intent.component = words.next(),
            "-p" => intent.package = words.next(),
            "-a" => intent.action = words.next(),
            "-c" | "-d" | "-t" | "-f" | "--user" | "--display" => {
                words.next();
            }
            "-e" | "--es" | "--ei" | "--ez" => {
                words.nth(1);
            }
            word if !word.starts_with('-') => intent.component = Some(word),
            _ => {}
        }
    }
    intent
}

fn start(state: &mut State, intent: &Intent<'_>) -> Answer {
    let (package, activity) = match (intent.component.and_then(|c| c.split_once('/')), intent.package) {
        (Some((package, activity)), _) => (package, Some(short(package, activity))),
        (None, Some(package)) => (package, None),
        (None, None) => (intent.component.unwrap_or(""), None),
    };
    let shown = match (&activity, intent.action) {
        (Some(activity), _) => format!("Starting: Intent {{ cmp={package}/{activity} }}\n"),
        (None, action) => format!(
            "Starting: Intent {{ act={} pkg={package} }}\n",
            action.unwrap_or("android.intent.action.MAIN")
        ),
    };
    if intent.stop_first {
        state.kill(package, false);
    }
    let was_running = state.pids.contains_key(package);
    let installed = state.packages.get(package).is_some();
    if !installed || !state.launch(package, activity.as_deref()) {
        let what = activity.map_or_else(
            || "Error: Activity not started, unable to resolve Intent".to_owned(),
            |a| format!("Error type 3\nError: Activity class {{{package}/{a}}} does not exist."),
        );
        return Answer { out: shown.into_bytes(), err: format!("{what}\n").into_bytes(), code: 1 };
    }
    if !intent.wait {
        return Answer::out(shown);
    }
    let (front, now_shown) = state.front();
    let launch = if was_running { "HOT" } else { "COLD" };
    Answer::out(format!(
        "{shown}Status: ok\nLaunchState: {launch}\nActivity: {front}/{now_shown}\nTotalTime: 312\nWaitTime: 315\nComplete\n"
    ))
}

/// `.A` and `com.x.A` name the same activity of package `com.x`.
fn short(package: &str, activity: &str) -> String {
    match activity.strip_prefix(package) {
        Some(rest) if rest.starts_with('.') => rest.to_owned(),
        _ => activity.to_owned(),
    }
}

pub fn pidof(state: &mut State, call: &Call<'_>) -> Answer {
    let found: Vec<String> =
        call.arguments.iter().filter_map(|name| state.pids.get(name)).map(u32::to_string).collect();
    if found.is_empty() { Answer::code(1) } else { Answer::out(format!("{}\n", found.join(" "))) }
}

pub fn ps(state: &mut State, _call: &Call<'_>) -> Answer {
    let mut out = "USER           PID  PPID     VSZ    RSS WCHAN            ADDR S NAME\n".to_owned();
    for (name, pid) in &state.pids {
        let user =
            state.packages.get(name).map_or("system".to_owned(), |p| format!("u0_a{}", p.uid - 10_000));
        out.push_str(&format!("{user:<12} {pid:>5}   812 1432160 148212 do_epoll_wait       0 S {name}\n"));
    }
    Answer::out(out)
}

/// The shell user may not kill what is not its own.
pub fn kill(_state: &mut State, call: &Call<'_>) -> Answer {
    let killed = call.arguments.last().is_some_and(|words| call.phone.helpers().kill(words));
    if killed && call.name == "pkill" {
        return Answer::ok();
    }
    if call.name == "kill" {
        return Answer::fail(1, "/system/bin/sh: kill: Operation not permitted\n");
    }
    Answer::code(1)
}
