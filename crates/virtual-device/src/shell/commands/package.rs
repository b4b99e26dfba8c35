//! `pm`, `cmd package` and the other services behind `cmd`.

use bytes::Bytes;

use super::super::io::{Broken, INPUT_BYTES_MAX};
use super::{Answer, Call, activity};
use crate::phone::Phone;
use crate::state::{CLIPBOARD_BYTES_MAX, State};

/// Install sessions that are open.
const SESSIONS_MAX: usize = 16;
const FIRST_SESSION: u32 = 1001;

pub async fn cmd(call: &Call<'_>) -> Result<u8, Broken> {
    let words = call.words();
    let answer = match (call.name, words.as_slice()) {
        ("pm", words) | (_, ["package", words @ ..]) => package_manager(call, words).await,
        (_, ["clipboard", words @ ..]) => call.phone.with(|state| clipboard(state, words)),
        (_, ["activity", ..]) => {
            let inner = Call { name: "am", arguments: &call.arguments[1..], ..*call };
            call.phone.with(|state| activity::am(state, &inner))
        }
        (_, ["-l"]) => Answer::out("Currently running services:\n  activity\n  clipboard\n  package\n"),
        (_, [service, ..]) => Answer::fail(20, format!("cmd: Can't find service: {service}\n")),
        (_, []) => Answer::fail(
            20,
            "cmd: No service specified; use -l to list all running services. Use -w to start and wait for a service.\n",
        ),
    };
    answer.send(call.io).await
}

async fn package_manager(call: &Call<'_>, words: &[&str]) -> Answer {
    match words {
        ["install", rest @ ..] => install(call, rest).await,
        ["install-write", rest @ ..] => install_write(call, rest).await,
        words => call.phone.with(|state| package_query(state, words)),
    }
}

fn package_query(state: &mut State, words: &[&str]) -> Answer {
    match words {
        ["path", rest @ ..] => match rest.last().and_then(|name| state.packages.get(name)) {
            Some(package) => Answer::out(format!("package:{}\n", package.apk())),
            None => Answer::code(1),
        },
        ["list", "packages", rest @ ..] => list(state, rest),
        ["list", "features"] => {
            Answer::out("feature:reqGlEsVersion=0x30002\nfeature:android.hardware.touchscreen\n")
        }
        ["list", "instrumentation", ..] => instrumentations(state),
        ["has-feature", feature, ..] => {
            let has = *feature == "android.hardware.touchscreen";
            Answer { out: format!("{has}\n").into_bytes(), code: u8::from(!has), ..Answer::default() }
        }
        ["clear", rest @ ..] => match rest.last().filter(|name| state.packages.get(name).is_some()) {
            Some(name) => {
                state.kill(name, true);
                Answer::out("Success\n")
            }
            None => Answer { out: b"Failed\n".to_vec(), code: 1, ..Answer::default() },
        },
        ["uninstall", rest @ ..] => {
            let name = rest.last().copied().unwrap_or("");
            state.kill(name, true);
            if state.packages.uninstall(name, &mut state.fs) {
                Answer::out("Success\n")
            } else {
                Answer {
                    out: b"Failure [DELETE_FAILED_INTERNAL_ERROR]\n".to_vec(),
                    code: 1,
                    ..Answer::default()
                }
            }
        }
        ["resolve-activity", rest @ ..] => resolve(state, rest),
        ["query-activities", ..] => query_activities(state),
        ["grant" | "revoke", ..] => Answer::ok(),
        ["dump", ..] => Answer::ok(),
        ["get-install-location"] => Answer::out("0[auto]\n"),
        ["install-create", ..] => install_create(state),
        ["install-commit", session, ..] => install_commit(state, session),
        ["install-abandon", session, ..] => {
            session.parse().ok().and_then(|id: u32| state.sessions.remove(&id));
            Answer::out("Success\n")
        }
        [other, ..] => Answer::fail(255, format!("Unknown command: {other}\n")),
        [] => Answer::fail(255, "Package manager (package) commands:\n"),
    }
}

fn list(state: &State, words: &[&str]) -> Answer {
    let filter = words.iter().find(|w| !w.starts_with('-')).copied().unwrap_or("");
    let wanted = |name: &str, system: bool| {
        name.contains(filter) && !(words.contains(&"-3") && system) && (system || !words.contains(&"-s"))
    };
    let mut out = String::new();
    for (name, package) in state.packages.iter().filter(|(name, p)| wanted(name, p.system)) {
        let path = if words.contains(&"-f") { format!("{}=", package.apk()) } else { String::new() };
        let version = match package.manifest.version_code.unwrap_or(1) {
            code if words.contains(&"--show-versioncode") => format!(" versionCode:{code}"),
            _ => String::new(),
        };
        out.push_str(&format!("package:{path}{name}{version}\n"));
    }
    Answer::out(out)
}

fn instrumentations(state: &State) -> Answer {
    let mut out = String::new();
    for (name, package) in state.packages.iter() {
        for (runner, target) in &package.manifest.instrumentations {
            out.push_str(&format!("instrumentation:{name}/{runner} (target={target})\n"));
        }
    }
    Answer::out(out)
}

fn resolve(state: &State, words: &[&str]) -> Answer {
    let name = words.last().copied().unwrap_or("");
    let app = state.packages.get(name).and_then(|_| state.ui.app(name));
    match app {
        None => Answer::out("No activity found\n"),
        Some(app) if words.contains(&"--brief") => Answer::out(format!(
            "priority=0 preferredOrder=0 match=0x108000 specificIndex=-1 isDefault=true\n{name}/{}\n",
            app.entry()
        )),
        Some(app) => {
            Answer::out(format!("ActivityInfo:\n  name={name}{}\n  packageName={name}\n", app.entry()))
        }
    }
}

/// Every activity that a launcher could start.
fn query_activities(state: &State) -> Answer {
    let apps = state.packages.iter().filter_map(|(name, _)| Some((name, state.ui.app(name)?.entry())));
    let entries: Vec<String> = apps
        .enumerate()
        .map(|(index, (name, entry))| {
            format!("  Activity #{index}:\n    priority=0 preferredOrder=0 match=0x108000 specificIndex=-1 isDefault=true\n    ActivityInfo:\n      name={name}{entry}\n      packageName={name}\n")
        })
        .collect();
    Answer::out(format!("{} activities found:\n{}", entries.len(), entries.concat()))
}

fn clipboard(state: &mut State, words: &[&str]) -> Answer {
    match words {
        ["set", "text", rest @ ..] | ["set-text", rest @ ..] => {
            let text = rest.join(" ");
            if text.len() > CLIPBOARD_BYTES_MAX {
                return Answer::fail(255, "Error: text too long\n");
            }
            state.clipboard = text;
            Answer::ok()
        }
        ["get", "text"] | ["get-text"] => Answer::out(format!("{}\n", state.clipboard)),
        ["clear"] => {
            state.clipboard.clear();
            Answer::ok()
        }
        _ => Answer::fail(255, "Clipboard service commands:\n  set text <text>\n  get text\n"),
    }
}

fn install_create(state: &mut State) -> Answer {
    let id = state.sessions.keys().last().map_or(FIRST_SESSION, |last| last.saturating_add(1));
    if state.sessions.len() >= SESSIONS_MAX {
        return failure("Failure [too many active sessions]");
    }
    state.sessions.insert(id, Bytes::new());
    Answer::out(format!("Success: created install session [{id}]\n"))
}

fn install_commit(state: &mut State, session: &str) -> Answer {
    let apk = session.parse().ok().and_then(|id: u32| state.sessions.remove(&id));
    let Some(apk) = apk else { return failure("Failure [unknown session]") };
    let now = state.now_s();
    match state.packages.install(apk, &mut state.fs, now) {
        Ok(_) => Answer::out("Success\n"),
        Err(why) => failure(&why),
    }
}

/// `install-write -S SIZE SESSION NAME -`: the first file of a session is its base.
async fn install_write(call: &Call<'_>, words: &[&str]) -> Answer {
    let (size, rest) = match words {
        ["-S", size, rest @ ..] => (size.parse::<usize>().ok().filter(|s| *s <= INPUT_BYTES_MAX), rest),
        _ => (None, words),
    };
    let id = rest.first().and_then(|word| word.parse::<u32>().ok());
    let (Some(size), Some(id)) = (size, id) else { return failure("Failure [bad size or session]") };
    let data = call.io.stdin.read(size).await;
    call.phone.with(|state| match state.sessions.get_mut(&id) {
        Some(base) => {
            if base.is_empty() {
                *base = data;
            }
            Answer::out(format!("Success: streamed {size} bytes\n"))
        }
        None => failure("Failure [unknown session]"),
    })
}

fn failure(text: &str) -> Answer {
    Answer { out: format!("{text}\n").into_bytes(), code: 1, ..Answer::default() }
}

/// From a file on the phone, or `-S SIZE` bytes from the standard input.
async fn install(call: &Call<'_>, words: &[&str]) -> Answer {
    let size = words.iter().position(|w| *w == "-S").and_then(|at| words.get(at + 1)?.parse::<usize>().ok());
    let apk = match size {
        Some(size) if size > INPUT_BYTES_MAX => {
            return Answer::fail(1, "Failure [INSTALL_FAILED_INSUFFICIENT_STORAGE]\n");
        }
        Some(size) => call.io.stdin.read(size).await,
        None => {
            let path = words.last().copied().unwrap_or("");
            match call.phone.with(|state| state.fs.read(&call.path(path))) {
                Ok(data) => data,
                Err(_) => return Answer::fail(1, format!("Error: Unable to open file: {path}\n")),
            }
        }
    };
    match install_stream(call.phone, apk) {
        Ok(()) => Answer::out("Success\n"),
        Err(why) => failure(&why),
    }
}

fn install_stream(phone: &Phone, apk: Bytes) -> Result<(), String> {
    phone.with(|state| {
        let now = state.now_s();
        let name = state.packages.install(apk, &mut state.fs, now)?;
        state.system('I', "PackageManager", &format!("Installed {name}"));
        Ok(())
    })
}
