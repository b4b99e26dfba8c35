//! Activities: `am` and `monkey`.

use super::super::io::BrokenPipe;
use super::dumpsys::tasks;
use super::intent::{Intent, parse};
use super::{Call, ProgramOutput};
use crate::state::State;

const MONKEY_ABORTED_EXIT: u8 = 252;
/// FLAG_ACTIVITY_NEW_TASK.
const NEW_TASK: u32 = 0x1000_0000;
/// FLAG_RECEIVER_FROM_SHELL.
const FROM_SHELL: u32 = 0x0040_0000;

pub async fn monkey(call: &Call<'_>) -> Result<u8, BrokenPipe> {
    call.start_java().await;
    let mut package = None;
    let mut words = call.arguments.iter();
    while let Some(word) = words.next() {
        if word == "-p" {
            package = words.next();
        }
    }
    // A shell script in front of the program prints its arguments, and the program prints them again.
    let shown: Vec<String> = call.arguments.iter().map(|a| format!("  bash arg: {a}\n")).collect();
    call.io.stderr.write(format!("args: [{}]\n", call.arguments.join(", "))).await?;
    let launched = call.phone.with(|state| {
        let is_on = |state: &State, name: &str| state.packages.get(name).is_some_and(|p| p.enabled.is_on());
        package.is_some_and(|name| is_on(state, name) && state.launch(name, None))
    });
    if !launched {
        let aborted = "** No activities found to run, monkey aborted.\n";
        call.io.stdout.write(format!("{}{aborted}", shown.concat())).await?;
        return Ok(MONKEY_ABORTED_EXIT);
    }
    let stats = "## Network stats: elapsed time=13ms (0ms mobile, 0ms wifi, 13ms not connected)\n";
    call.io.stdout.write(format!("{}Events injected: 1\n{stats}", shown.concat())).await?;
    Ok(0)
}

pub fn am(state: &mut State, call: &Call<'_>) -> ProgramOutput {
    let words = call.words();
    match words.as_slice() {
        ["start" | "start-activity", rest @ ..] => start(state, &parse(rest)),
        [
            "startservice" | "start-service" | "start-foreground-service" | "startforegroundservice",
            rest @ ..,
        ] => service(state, &parse(rest)),
        ["stopservice" | "stop-service", rest @ ..] => ProgramOutput::out(format!(
            "Stopping service: Intent {{ {} }}\nService not stopped: was not running.\n",
            parse(rest).text(0)
        )),
        ["force-stop" | "stop-app", rest @ ..] => match rest.last() {
            Some(package) => {
                state.kill(package, false);
                ProgramOutput::ok()
            }
            None => exception(
                "force-stop",
                "java.lang.IllegalArgumentException: Argument expected after \"force-stop\"",
            ),
        },
        ["kill", rest @ ..] => {
            // `am kill` ends only apps in the background.
            if let Some(package) = rest.last().filter(|package| state.front().0 != **package) {
                state.kill(package, false);
            }
            ProgramOutput::ok()
        }
        ["kill-all"] => {
            let front = state.front().0.to_owned();
            let may = |name: &str| name != front && state.packages.get(name).is_some_and(|p| !p.system);
            let all: Vec<String> = state
                .processes
                .iter()
                .map(|(name, _)| name)
                .filter(|name| may(name))
                .map(str::to_owned)
                .collect();
            for package in all {
                state.kill(&package, false);
            }
            ProgramOutput::ok()
        }
        ["broadcast", rest @ ..] => {
            if let Some(answer) = crate::helpers::ime::broadcast(state, rest) {
                return answer;
            }
            let intent = parse(rest);
            ProgramOutput::out(format!(
                "Broadcasting: Intent {{ {} }}\nBroadcast completed: result=0\n",
                intent.text(FROM_SHELL)
            ))
        }
        ["instrument", rest @ ..] => instrument(rest),
        ["stack", "list"] | ["stack"] => ProgramOutput::out(stacks(state)),
        words => other_command(state, words),
    }
}

fn other_command(state: &mut State, words: &[&str]) -> ProgramOutput {
    match words {
        ["get-current-user"] => ProgramOutput::out("0\n"),
        ["get-started-user-state", _] => ProgramOutput::out("RUNNING_UNLOCKED\n"),
        ["get-config", ..] => ProgramOutput::out(format!(
            "config: mcc310-mnc260-en-rUS-ldltr-sw411dp-w411dp-h914dp-normal-long-notround-port-notnight-{}dpi-finger-keysexposed-nokeys-navhidden-nonav-v{}\nabi: arm64-v8a,armeabi-v7a\n",
            state.screen().density,
            state.config.sdk
        )),
        ["get-standby-bucket", ..] => ProgramOutput::out("10\n"),
        ["get-inactive", ..] => ProgramOutput::out("Idle=false\n"),
        ["get-uid-state", ..] => ProgramOutput::out("2 (TOP )\n"),
        ["wait-for-broadcast-idle", ..] => ProgramOutput::out("All broadcast queues are idle!\n"),
        [
            "write"
            | "set-debug-app"
            | "clear-debug-app"
            | "set-standby-bucket"
            | "set-inactive"
            | "idle-maintenance"
            | "send-trim-memory"
            | "unlock-user"
            | "switch-user"
            | "compat"
            | "restart"
            | "crash"
            | "hang"
            | "monitor"
            | "task"
            | "dumpheap"
            | "profile"
            | "make-uid-idle"
            | "memory-factor"
            | "service-restart-backoff",
            ..,
        ] => ProgramOutput::ok(),
        ["to-uri" | "to-intent-uri", rest @ ..] => {
            let intent = parse(rest);
            let component = intent.component.map_or_else(String::new, |c| format!("component={c};"));
            ProgramOutput::out(format!("#Intent;{component}end\n"))
        }
        [] | ["help"] => ProgramOutput::fail(
            255,
            "Activity manager (activity) commands:\n  help\n      Print this help text.\n",
        ),
        [other, ..] => ProgramOutput::fail(255, format!("Unknown command: {other}\n")),
    }
}

fn exception(verb: &str, what: &str) -> ProgramOutput {
    let at = "\tat com.android.server.am.ActivityManagerShellCommand.onCommand(ActivityManagerShellCommand.java:260)\n";
    ProgramOutput::fail(255, format!("\nException occurred while executing '{verb}':\n{what}\n{at}"))
}

fn start(state: &mut State, intent: &Intent<'_>) -> ProgramOutput {
    if intent.action.is_none()
        && intent.component.is_none()
        && intent.package.is_none()
        && intent.data.is_none()
    {
        return exception("start", "java.lang.IllegalArgumentException: No intent supplied");
    }
    let shown = format!("Starting: Intent {{ {} }}\n", intent.text(0));
    let target = intent.target(state);
    let usable = |name: &str| state.packages.get(name).is_some_and(|p| p.enabled.is_on());
    let Some((package, activity)) = target.filter(|(name, named)| named.is_some() || usable(name)) else {
        return refused(
            shown,
            &format!("Error: Activity not started, unable to resolve Intent {{ {} }}", intent.text(NEW_TASK)),
        );
    };
    let installed = usable(&package);
    if intent.stop_first && installed {
        state.kill(&package, false);
    }
    let before = AppBeforeStart::of(state, &package);
    if !installed || !state.launch(&package, activity.as_deref()) {
        let what = match activity {
            Some(activity) => {
                format!("Error type 3\nError: Activity class {{{package}/{activity}}} does not exist.")
            }
            None => format!(
                "Error: Activity not started, unable to resolve Intent {{ {} }}",
                intent.text(NEW_TASK)
            ),
        };
        return refused(shown, &what);
    }
    let (front, now_shown) = state.front();
    let warning = before.warning(activity.as_deref().unwrap_or(now_shown), now_shown);
    let mut out = shown;
    if intent.wait {
        let total = before.launch_ms();
        out.push_str(&format!(
            "Status: ok\nLaunchState: {}\nActivity: {front}/{now_shown}\nTotalTime: {total}\nWaitTime: {}\nComplete\n",
            before.launch_state(),
            total + 3,
        ));
    }
    ProgramOutput { out: out.into_bytes(), err: warning.into_bytes(), code: 0 }
}

fn refused(shown: String, what: &str) -> ProgramOutput {
    ProgramOutput { out: shown.into_bytes(), err: format!("{what}\n").into_bytes(), code: 1 }
}

/// The state of an app before it was started again.
struct AppBeforeStart {
    running: bool,
    has_task: bool,
    in_front: bool,
    top: Option<String>,
}

impl AppBeforeStart {
    fn of(state: &State, package: &str) -> AppBeforeStart {
        let tasks = tasks(state);
        let task = tasks.iter().find(|task| task.package == package);
        AppBeforeStart {
            running: state.processes.pid(package).is_some(),
            has_task: task.is_some(),
            in_front: state.front().0 == package,
            top: task.and_then(|task| task.stack.last().map(|name| (*name).to_owned())),
        }
    }

    fn launch_state(&self) -> &'static str {
        match (self.running, self.has_task) {
            (true, true) => "HOT",
            (true, false) => "WARM",
            _ => "COLD",
        }
    }

    fn launch_ms(&self) -> u32 {
        match (self.running, self.has_task) {
            (true, true) => 42,
            (true, false) => 158,
            _ => 312,
        }
    }

    fn warning(&self, wanted: &str, shown: &str) -> String {
        if self.top.as_deref() != Some(wanted) || wanted != shown {
            return String::new();
        }
        if self.in_front {
            "Warning: Activity not started, intent has been delivered to currently running top-most instance.\n".to_owned()
        } else {
            "Warning: Activity not started, its current task has been brought to the front\n".to_owned()
        }
    }
}

fn service(state: &State, intent: &Intent<'_>) -> ProgramOutput {
    let shown = format!("Starting service: Intent {{ {} }}\n", intent.text(0));
    let known = intent
        .component
        .and_then(|c| c.split_once('/'))
        .is_some_and(|(p, _)| state.packages.get(p).is_some());
    if known {
        ProgramOutput::out(shown)
    } else {
        ProgramOutput {
            out: shown.into_bytes(),
            err: b"Error: Not found; no service started.\n".to_vec(),
            code: 255,
        }
    }
}

fn instrument(words: &[&str]) -> ProgramOutput {
    let Some(component) = words.iter().rfind(|w| w.contains('/')) else {
        return exception(
            "instrument",
            "java.lang.IllegalArgumentException: No instrumentation component supplied",
        );
    };
    let (package, class) = component.split_once('/').unwrap_or((component, ""));
    let full = class.strip_prefix('.').map_or(class.to_owned(), |rest| format!("{package}.{rest}"));
    let status = format!(
        "INSTRUMENTATION_STATUS: Error=Unable to find instrumentation info for: ComponentInfo{{{package}/{full}}}\n\
         INSTRUMENTATION_STATUS: id=ActivityManagerService\nINSTRUMENTATION_STATUS_CODE: -1\n"
    );
    let thrown = format!(
        "android.util.AndroidException: INSTRUMENTATION_FAILED: {component}\n\t\
         at com.android.commands.am.Instrument.run(Instrument.java:543)\n\t\
         at com.android.commands.am.Am.runInstrument(Am.java:202)\n"
    );
    if words.contains(&"-r") || words.contains(&"-w") {
        return ProgramOutput { out: status.into_bytes(), err: thrown.into_bytes(), code: 1 };
    }
    ProgramOutput { out: Vec::new(), err: thrown.into_bytes(), code: 1 }
}

fn stacks(state: &State) -> String {
    let screen = state.screen();
    let mut out = String::new();
    for (index, task) in tasks(state).iter().rev().enumerate() {
        let visible = index == 0;
        let names: Vec<String> = task.stack.iter().map(|a| format!("{}/{a}", task.package)).collect();
        out.push_str(&format!(
            "RootTask id={id} bounds=[0,0][{},{}] displayId=0 userId=0\n configuration={{1.0 310mcc260mnc [en_US] ldltr sw411dp w411dp h914dp {}dpi nrml long port finger -keyb/v/h -nav/h}}\n  \
             taskId={id}: {} bounds=[0,0][{},{}] userId=0 visible={visible} topActivity=ComponentInfo{{{}}}\n\n",
            screen.width,
            screen.height,
            screen.density,
            names.first().map_or("", String::as_str),
            screen.width,
            screen.height,
            names.last().map_or("", String::as_str),
            id = task.id,
        ));
    }
    out
}
