//! `settings`, and the same provider through `content`.

use super::{Call, ProgramOutput};
use crate::state::State;

const NAMESPACES: [&str; 3] = ["system", "secure", "global"];

pub fn settings(state: &mut State, call: &Call<'_>) -> ProgramOutput {
    let mut words = call.words();
    if let Some(at) = words.iter().position(|w| *w == "--user") {
        words.drain(at..words.len().min(at + 2));
    }
    let (verb, rest) = match words.split_first() {
        Some((verb, rest)) => (*verb, rest),
        None => {
            return ProgramOutput::fail(
                255,
                "Settings provider (settings) commands:\n  help\n      Print this help text.\n",
            );
        }
    };
    if !matches!(verb, "get" | "put" | "delete" | "list" | "reset") {
        return ProgramOutput::fail(255, format!("Unknown command: {verb}\n"));
    }
    let Some((namespace, rest)) = rest.split_first() else {
        return ProgramOutput::fail(255, "Bad arguments\n");
    };
    let namespace = namespace.to_ascii_lowercase();
    if !NAMESPACES.contains(&namespace.as_str()) {
        return ProgramOutput::fail(255, format!("Invalid namespace '{namespace}'\n"));
    }
    match (verb, rest) {
        ("get", [key, ..]) => {
            ProgramOutput::out(format!("{}\n", state.settings.get(&namespace, key).unwrap_or("null")))
        }
        ("put", [key, value, ..]) => {
            if state.put_setting(&namespace, key, value) {
                ProgramOutput::ok()
            } else {
                ProgramOutput::fail(
                    255,
                    "Exception occurred while executing 'put':\njava.lang.IllegalStateException: You are adding too many system settings.\n",
                )
            }
        }
        ("delete", [key, ..]) => {
            let gone = state.settings.remove(&namespace, key);
            ProgramOutput::out(format!("Deleted {} rows\n", u8::from(gone)))
        }
        ("list", _) => ProgramOutput::out(
            state
                .settings
                .rows(&namespace)
                .iter()
                .map(|(key, value)| format!("{key}={value}\n"))
                .collect::<String>(),
        ),
        ("reset", _) => ProgramOutput::ok(),
        _ => ProgramOutput::fail(255, "Bad arguments\n"),
    }
}

/// Runs `content query|insert|update|delete --uri content://settings/…`.
pub fn content(state: &mut State, call: &Call<'_>) -> ProgramOutput {
    let words = call.words();
    let Some((verb, options)) = words.split_first() else { return usage() };
    let value =
        |name: &str| options.iter().position(|w| *w == name).and_then(|at| options.get(at + 1)).copied();
    let Some(uri) = value("--uri") else { return usage() };
    let Some(path) = uri.strip_prefix("content://settings/") else {
        let authority = uri.trim_start_matches("content://").split('/').next().unwrap_or("");
        return ProgramOutput::fail(
            1,
            format!(
                "Error while accessing provider:{authority}\njava.lang.IllegalStateException: Could not find provider: {authority}\n"
            ),
        );
    };
    let (namespace, named) = path.split_once('/').unwrap_or((path, ""));
    let wanted = value("--where").and_then(named_in).unwrap_or(named);
    match *verb {
        "query" => ProgramOutput::out(query(state, namespace, wanted)),
        "insert" | "update" => {
            let bound = |column: &str| {
                let prefix = format!("{column}:");
                let bind = options.iter().filter_map(|w| w.strip_prefix(&prefix)).next();
                bind.and_then(|rest| rest.split_once(':')).map(|(_, value)| value)
            };
            match (bound("name").or(Some(wanted)), bound("value")) {
                (Some(key), Some(value)) if !key.is_empty() => {
                    state.put_setting(namespace, key, value);
                    ProgramOutput::ok()
                }
                _ => ProgramOutput::fail(
                    1,
                    "Error while accessing provider:settings\njava.lang.IllegalArgumentException: name\n",
                ),
            }
        }
        "delete" => {
            state.settings.remove(namespace, wanted);
            ProgramOutput::ok()
        }
        _ => usage(),
    }
}

fn usage() -> ProgramOutput {
    ProgramOutput::fail(
        1,
        "[ERROR] Unsupported operation or missing --uri\n\nusage: adb shell content [subcommand] [options]\n",
    )
}

/// Returns the name in `name='x'`.
fn named_in(clause: &str) -> Option<&str> {
    let rest = clause.trim().strip_prefix("name")?.trim_start().strip_prefix('=')?.trim();
    Some(rest.trim_matches(['\'', '"']))
}

fn query(state: &State, namespace: &str, wanted: &str) -> String {
    let mut out = String::new();
    for (id, (key, value)) in state.settings.rows(namespace).into_iter().enumerate() {
        if wanted.is_empty() || wanted == key {
            let row = if wanted.is_empty() { id } else { 0 };
            out.push_str(&format!(
                "Row: {row} _id={}, name={key}, value={value}, is_preserved_in_restore=NULL\n",
                id + 1
            ));
        }
    }
    if out.is_empty() { "No result found.\n".to_owned() } else { out }
}
