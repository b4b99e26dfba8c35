//! `uiautomator dump`: waits for quiet, then writes the tree.

use bytes::Bytes;
use tokio::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

use super::super::io::BrokenPipe;
use super::super::services::Job;
use super::Call;
use crate::app::xml;
use crate::config::DumpFault;
use crate::helpers::Automation;
use crate::phone::Phone;

const DEFAULT_PATH: &str = "/sdcard/window_dump.xml";
const KILLED_EXIT: u8 = 137;
/// `/system/bin/uiautomator` is a script that becomes this.
const JAVA_CLASS: &str = "app_process /system/bin com.android.commands.uiautomator.Launcher";
/// How long accessibility waits for an app's answer.
const INTERACTION_LIMIT: Duration = Duration::from_secs(5);

const USAGE: &str = "Usage: uiautomator <subcommand> [options]\n\nAvailable subcommands:\n\n\
    help: displays help message\n\nruntest: executes UI automation tests\n\n\
    dump: creates an XML dump of current UI hierarchy\n    dump [--verbose][file]\n\n\
    events: prints out accessibility events until terminated\n";

pub async fn uiautomator(call: &Call<'_>) -> Result<u8, BrokenPipe> {
    let words = call.words();
    let path = match words.as_slice() {
        ["dump", rest @ ..] => rest.iter().find(|w| !w.starts_with('-')).copied().unwrap_or(DEFAULT_PATH),
        _ => {
            call.io.stderr.write(USAGE).await?;
            return Ok(1);
        }
    };
    call.start_java().await;
    let Some(registered) = Automation::take(call.phone) else {
        call.io.stderr.write(format!("{}Killed \n", Automation::REFUSED)).await?;
        return Ok(KILLED_EXIT);
    };
    let process = Process::start(call.phone, format!("{JAVA_CLASS} dump {path}"));
    let outcome = tokio::select! {
        biased;
        () = process.stop.cancelled() => {
            call.io.stderr.write("Killed \n").await?;
            Ok(KILLED_EXIT)
        }
        outcome = dump(call, path) => outcome,
    };
    drop(registered);
    outcome
}

/// The process of a dump, which `ps` shows and `pkill` ends.
struct Process<'a> {
    phone: &'a Phone,
    pid: u32,
    stop: CancellationToken,
}

impl Process<'_> {
    fn start(phone: &Phone, command: String) -> Process<'_> {
        let stop = CancellationToken::new();
        let job = Job { command, stop: stop.clone() };
        let pid = phone.with(|state| {
            let pid = state.processes.next_pid();
            state.services.jobs.insert(pid, job);
            pid
        });
        Process { phone, pid, stop }
    }
}

impl Drop for Process<'_> {
    fn drop(&mut self) {
        self.phone.with(|state| state.services.jobs.remove(&self.pid));
    }
}

async fn dump(call: &Call<'_>, path: &str) -> Result<u8, BrokenPipe> {
    let fault = call.phone.with(|state| state.next_dump_fault());
    match fault {
        Some(DumpFault::Killed) => {
            call.io.stderr.write("Killed \n").await?;
            return Ok(KILLED_EXIT);
        }
        Some(DumpFault::ErrorExitZero) => return fail(call, "ERROR: could not get idle state.").await,
        Some(DumpFault::NotIdle) => {
            let limit = call.phone.with(|state| state.config.timing.idle_limit());
            tokio::time::sleep(limit).await;
            return fail(call, "ERROR: could not get idle state.").await;
        }
        Some(DumpFault::Slow(ms)) => tokio::time::sleep(Duration::from_millis(ms)).await,
        Some(DumpFault::NullRoot | DumpFault::Truncated(_) | DumpFault::NoNodes | DumpFault::Stale)
        | None => {}
    }
    if !quiet(call.phone).await {
        return fail(call, "ERROR: could not get idle state.").await;
    }
    // A stuck main thread does not answer accessibility, which waits for so long.
    if !call.phone.with(|state| state.surface.windows(&state.screen()).responding) {
        tokio::time::sleep(INTERACTION_LIMIT).await;
    }
    if fault == Some(DumpFault::NullRoot) || call.phone.with(|state| state.is_rootless()) {
        return fail(call, "ERROR: null root node returned by UiTestAutomationBridge.").await;
    }
    let mut tree = call.phone.with(|state| {
        let damaged = matches!(fault, Some(DumpFault::Truncated(_) | DumpFault::NoNodes | DumpFault::Stale));
        state.note_tree(!damaged);
        let tree = state.hierarchy();
        state.faults.tree(tree, fault == Some(DumpFault::Stale))
    });
    if fault == Some(DumpFault::NoNodes) {
        tree = Bytes::from(format!("{}<hierarchy rotation=\"0\"></hierarchy>", xml::HEADER));
    }
    if let Some(DumpFault::Truncated(bytes)) = fault {
        tree.truncate(bytes);
    }
    write(call, path, tree).await
}

/// Prints an error and exits with 0, as the real program does.
async fn fail(call: &Call<'_>, message: &str) -> Result<u8, BrokenPipe> {
    call.io.stderr.write(format!("{message}\n")).await?;
    Ok(0)
}

async fn write(call: &Call<'_>, path: &str, tree: Bytes) -> Result<u8, BrokenPipe> {
    if matches!(path, "/dev/tty" | "/dev/stdout" | "/proc/self/fd/1") {
        call.io.stdout.write(tree).await?;
    } else {
        let full = call.path(path);
        let written = call.phone.with(|state| {
            let now = state.now_s();
            state.fs.write(&full, tree, 0o666, now)
        });
        if let Err(error) = written {
            let complaint = format!(
                "java.io.FileNotFoundException: {path}: open failed: ({})\n\tat libcore.io.IoBridge.open(IoBridge.java:574)\n",
                error.text()
            );
            call.io.stderr.write(complaint).await?;
            return Ok(1);
        }
    }
    call.io.stdout.write(format!("UI hierchary dumped to: {path}\n")).await?;
    Ok(0)
}

/// Waits until no accessibility event came for the quiet time, counted from the moment of connecting at the
/// earliest; false when that did not happen within the limit.
async fn quiet(phone: &Phone) -> bool {
    let begun = Instant::now();
    let timing = phone.with(|state| state.config.timing);
    let deadline = begun + timing.idle_limit();
    loop {
        let last = phone.with(|state| state.changed_at()).max(begun);
        let calm = last + timing.quiet();
        let now = Instant::now();
        if calm <= now {
            return true;
        }
        if now >= deadline {
            return false;
        }
        tokio::time::sleep_until(calm.min(deadline)).await;
    }
}
