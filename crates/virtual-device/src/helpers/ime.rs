//! Input methods: the phone's keyboard, and the one that clients install to type any text by broadcast.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::app::keys;
use crate::shell::commands::{Call, ProgramOutput};
use crate::state::State;

use crate::shell::services::IME as OWN;
const OWN_PACKAGE: &str = "com.android.inputmethod.latin";
/// The input method that is installed with the helper's app.
const ADB_KEYBOARD: &str = "com.github.uiautomator/.AdbKeyboard";
const ADB_KEYBOARD_PACKAGE: &str = "com.github.uiautomator";
const DEFAULT_KEY: &str = "default_input_method";
const ENABLED_KEY: &str = "enabled_input_methods";

fn installed(state: &State) -> Vec<&'static str> {
    let added = state.packages.get(ADB_KEYBOARD_PACKAGE).map(|_| ADB_KEYBOARD);
    std::iter::once(OWN).chain(added).collect()
}

fn enabled(state: &State) -> Vec<String> {
    let listed = state.settings.get("secure", ENABLED_KEY).unwrap_or(OWN);
    listed.split(':').map(str::to_owned).collect()
}

fn current(state: &State) -> &str {
    state.settings.get("secure", DEFAULT_KEY).unwrap_or(OWN)
}

pub fn ime(state: &mut State, call: &Call<'_>) -> ProgramOutput {
    let words = call.words();
    match words.as_slice() {
        ["list", options @ ..] => list(state, options),
        ["enable", id] => {
            let Some(id) = known(state, id) else { return unknown(id) };
            let mut all = enabled(state);
            let was = all.iter().any(|one| one == id);
            if !was {
                all.push(id.to_owned());
            }
            state.settings.put("secure", ENABLED_KEY, &all.join(":"));
            let now = if was { "already enabled" } else { "now enabled" };
            ProgramOutput::out(format!("Input method {id}: {now} for user #0\n"))
        }
        ["disable", id] => {
            let Some(id) = known(state, id) else { return unknown(id) };
            let rest: Vec<String> = enabled(state).into_iter().filter(|one| one != id).collect();
            state.settings.put("secure", ENABLED_KEY, &rest.join(":"));
            if current(state) == id {
                state.settings.put("secure", DEFAULT_KEY, OWN);
            }
            ProgramOutput::out(format!("Input method {id}: now disabled for user #0\n"))
        }
        ["set", id] => match known(state, id).filter(|id| enabled(state).iter().any(|one| one == id)) {
            Some(id) => {
                state.settings.put("secure", DEFAULT_KEY, id);
                ProgramOutput::out(format!("Input method {id} selected for user #0\n"))
            }
            None => unknown(id),
        },
        ["reset", ..] => {
            state.settings.remove("secure", ENABLED_KEY);
            state.settings.remove("secure", DEFAULT_KEY);
            ProgramOutput::out(format!(
                "Reset current and enabled IMEs for user #0\n  Newly selected IMEs:\n    {OWN}\n"
            ))
        }
        _ => ProgramOutput::fail(
            255,
            "ime <command>:\n  list [-a] [-s]\n  enable <ID>\n  disable <ID>\n  set <ID>\n  reset\n",
        ),
    }
}

fn known(state: &State, id: &str) -> Option<&'static str> {
    installed(state).into_iter().find(|one| *one == id)
}

fn unknown(id: &str) -> ProgramOutput {
    ProgramOutput::fail(255, format!("Unknown input method {id} cannot be selected for user #0\n"))
}

fn list(state: &State, options: &[&str]) -> ProgramOutput {
    let enabled = enabled(state);
    let shown = |id: &&str| options.contains(&"-a") || enabled.iter().any(|one| one == id);
    let line = |id: &str| {
        if options.contains(&"-s") {
            format!("{id}\n")
        } else {
            let package = if id == OWN { OWN_PACKAGE } else { ADB_KEYBOARD_PACKAGE };
            format!("{id}:\n  mId={id} mSettingsActivityName=null\n  Service:\n    packageName={package}\n")
        }
    };
    ProgramOutput::out(installed(state).into_iter().filter(shown).map(line).collect::<String>())
}

/// Handles a broadcast to the installed keyboard and returns its result code and data; nothing when the keyboard is
/// not in use or does not know the action.
pub fn broadcast(state: &mut State, words: &[&str]) -> Option<ProgramOutput> {
    let after = |flag: &str| words.iter().position(|w| *w == flag).and_then(|at| words.get(at + 1)).copied();
    let extra = |key: &str| {
        let at = words.windows(3).find(|w| matches!(w[0], "--es" | "-e" | "--ei") && w[1] == key)?;
        Some(at[2])
    };
    let action = after("-a")?;
    if !action.starts_with("ADB_KEYBOARD_") || current(state) != ADB_KEYBOARD {
        return None;
    }
    let done = match action {
        "ADB_KEYBOARD_INPUT_TEXT" | "ADB_KEYBOARD_SET_TEXT" => {
            let text = extra("text").and_then(|text| STANDARD.decode(text).ok());
            text.and_then(|bytes| String::from_utf8(bytes).ok()).is_some_and(|text| {
                if action == "ADB_KEYBOARD_SET_TEXT" {
                    state.select_all();
                }
                state.type_text(&text);
                true
            })
        }
        "ADB_KEYBOARD_CLEAR_TEXT" => {
            state.select_all();
            state.key(keys::DEL);
            true
        }
        "ADB_KEYBOARD_SMART_ENTER" | "ADB_KEYBOARD_EDITOR_CODE" => {
            state.key(keys::ENTER);
            true
        }
        "ADB_KEYBOARD_INPUT_KEYCODE" => {
            let code = extra("code").and_then(|code| code.parse().ok());
            code.is_some_and(|code| {
                state.key(code);
                true
            })
        }
        "ADB_KEYBOARD_HIDE" => {
            if state.keyboard_shown() {
                state.key(keys::BACK);
            }
            true
        }
        _ => false,
    };
    let outcome = if done { "result=-1, data=\"success\"" } else { "result=0" };
    Some(ProgramOutput::out(format!(
        "Broadcasting: Intent {{ act={action} flg=0x400000 (has extras) }}\nBroadcast completed: {outcome}\n"
    )))
}
