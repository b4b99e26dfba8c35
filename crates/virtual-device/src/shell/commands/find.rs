//! `find`, and small programs about names of files.

use super::{Call, ProgramOutput};
use crate::shell::expand::wildcard;
use crate::state::State;

/// Entries that one search shows.
const FOUND_MAX: usize = 20_000;

pub fn find(state: &mut State, call: &Call<'_>) -> ProgramOutput {
    let words = call.words();
    let split = words.iter().position(|w| w.starts_with(['-', '!', '('])).unwrap_or(words.len());
    let (starts, tests) = words.split_at(split);
    let starts: &[&str] = if starts.is_empty() { &["."] } else { starts };
    let value = |name: &str| tests.iter().position(|w| *w == name).and_then(|at| tests.get(at + 1)).copied();
    let number = |name: &str| value(name).and_then(|v| v.parse::<usize>().ok());
    let (least, most) = (number("-mindepth").unwrap_or(0), number("-maxdepth").unwrap_or(usize::MAX));
    let mut answer = ProgramOutput::ok();
    let mut found = Vec::new();
    for start in starts {
        let full = call.path(start);
        if state.fs.get(&full).is_err() {
            answer.err.extend(format!("find: '{start}': No such file or directory\n").into_bytes());
            answer.code = 1;
            continue;
        }
        let prefix = if full == "/" { "/".to_owned() } else { format!("{full}/") };
        for (path, node) in state.fs.iter().filter(|(path, _)| **path == full || path.starts_with(&prefix)) {
            let rest = path.strip_prefix(&full).unwrap_or("").trim_start_matches('/');
            let depth = if rest.is_empty() { 0 } else { rest.split('/').count() };
            let shown = if rest.is_empty() {
                (*start).to_owned()
            } else {
                format!("{}/{rest}", start.trim_end_matches('/'))
            };
            let name = shown.rsplit('/').next().unwrap_or(&shown);
            let fits = (least..=most).contains(&depth)
                && value("-name").is_none_or(|pattern| wildcard(pattern, name))
                && value("-iname").is_none_or(|p| wildcard(&p.to_lowercase(), &name.to_lowercase()))
                && value("-path").is_none_or(|pattern| wildcard(pattern, &shown))
                && value("-type").is_none_or(|kind| match kind {
                    "d" => node.is_dir(),
                    "l" => node.is_link(),
                    _ => !node.is_dir() && !node.is_link(),
                });
            if fits && found.len() < FOUND_MAX {
                found.push((shown, path.clone()));
            }
        }
    }
    if tests.contains(&"-delete") {
        for (_, path) in found.iter().rev() {
            if state.fs.remove(path, true).is_err() {
                answer.code = 1;
            }
        }
        return answer;
    }
    let end = if tests.contains(&"-print0") { '\0' } else { '\n' };
    answer.out = found.iter().map(|(shown, _)| format!("{shown}{end}")).collect::<String>().into_bytes();
    answer
}

pub fn basename(call: &Call<'_>) -> ProgramOutput {
    let words = call.words();
    let Some(path) = words.first() else { return ProgramOutput::fail(1, "basename: Needs 1 argument\n") };
    let name = path.trim_end_matches('/').rsplit('/').next().unwrap_or(path);
    let name = if name.is_empty() { "/" } else { name };
    let cut = words.get(1).and_then(|suffix| name.strip_suffix(suffix)).filter(|cut| !cut.is_empty());
    ProgramOutput::out(format!("{}\n", cut.unwrap_or(name)))
}

pub fn dirname(call: &Call<'_>) -> ProgramOutput {
    let words = call.words();
    let Some(path) = words.first() else { return ProgramOutput::fail(1, "dirname: Needs 1 argument\n") };
    let parent = match path.trim_end_matches('/').rsplit_once('/') {
        Some(("", _)) => "/",
        Some((parent, _)) => parent,
        None => ".",
    };
    ProgramOutput::out(format!("{parent}\n"))
}

pub fn readlink(state: &mut State, call: &Call<'_>) -> ProgramOutput {
    let (flags, paths) = call.options();
    let mut answer = ProgramOutput::ok();
    for path in paths {
        let full = call.path(path);
        let target = if call.name == "realpath" || flags.contains('f') {
            Some(state.fs.real(&full))
        } else {
            state.fs.link_target(&full)
        };
        match target {
            Some(target) => answer.out.extend(format!("{target}\n").into_bytes()),
            None => answer.code = 1,
        }
    }
    answer
}

pub fn seq(call: &Call<'_>) -> ProgramOutput {
    const LINES_MAX: i64 = 100_000;
    let numbers: Vec<i64> = call.words().iter().filter_map(|w| w.parse().ok()).collect();
    let (from, step, to) = match numbers.as_slice() {
        [to] => (1, 1, *to),
        [from, to] => (*from, 1, *to),
        [from, step, to] if *step != 0 => (*from, *step, *to),
        _ => return ProgramOutput::fail(1, "seq: Needs 1 argument\n"),
    };
    let mut out = String::new();
    let mut at = from;
    for _ in 0..LINES_MAX {
        if (step > 0 && at > to) || (step < 0 && at < to) {
            break;
        }
        out.push_str(&format!("{at}\n"));
        at = at.saturating_add(step);
    }
    ProgramOutput::out(out)
}
