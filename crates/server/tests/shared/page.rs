//! Pages that are generated from real calls and compared with the files in the repository.

use std::path::Path;

/// Number of digits of a time in milliseconds since 1970, in this century.
const EPOCH_MS_DIGITS: usize = 13;

/// Replaces values that differ in every run, times and ids made of them, by `…`; and what this machine has installed.
pub fn without_time(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let text = without_machine(text);
    let mut rest = text.as_str();
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        out.push_str(&rest[..start]);
        rest = &rest[start..];
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        out.push_str(if end == EPOCH_MS_DIGITS { "…" } else { &rest[..end] });
        rest = &rest[end..];
    }
    out.push_str(rest);
    out
}

/// The programs that get_system_status found are those of this machine.
fn without_machine(text: &str) -> String {
    const START: &str = "\"tools\":[";
    let Some((before, rest)) = text.split_once(START) else { return text.to_owned() };
    let after = rest.split_once(']').map_or("", |(_, after)| after);
    format!("{before}{START}…]{after}")
}

/// Returns the first difference between the file and the page. With `variable` set, the file is written instead.
pub fn difference(file: &Path, page: &str, variable: &str) -> Option<String> {
    if std::env::var_os(variable).is_some() {
        std::fs::write(file, page).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    }
    let kept = std::fs::read_to_string(file).unwrap_or_default();
    if kept == page {
        return None;
    }
    let (mut now, mut before) = (page.lines(), kept.lines());
    let (now, before) = loop {
        match (now.next(), before.next()) {
            (now, before) if now == before && now.is_some() => {}
            (now, before) => break (now.unwrap_or("(the end)"), before.unwrap_or("(the end)")),
        }
    };
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    Some(format!(
        "{name} is not as it was; read the answers, then {variable}=1 writes them\n now: {now}\n was: {before}"
    ))
}
