//! `test` and `[`.

use super::{Call, ProgramOutput};
use crate::state::State;

/// Words of one test, over which the evaluation recurses.
const WORDS_MAX: usize = 64;

pub fn test(state: &mut State, call: &Call<'_>) -> ProgramOutput {
    let mut words = call.words();
    if call.name == "[" && words.pop() != Some("]") {
        return ProgramOutput::fail(2, "/system/bin/sh: [: missing ]\n");
    }
    let value = if words.len() > WORDS_MAX { None } else { evaluate(state, call, &words) };
    match value {
        Some(true) => ProgramOutput::ok(),
        Some(false) => ProgramOutput::code(1),
        None => {
            ProgramOutput::fail(2, format!("/system/bin/sh: {}: unexpected operator/operand\n", call.name))
        }
    }
}

/// Evaluates a test without running a program for it.
pub fn matches(call: &Call<'_>) -> Option<bool> {
    call.phone.with(|state| evaluate(state, call, &call.words()))
}

/// Evaluates operators: `-o` binds loosest, then `-a`, then `!`.
fn evaluate(state: &State, call: &Call<'_>, words: &[&str]) -> Option<bool> {
    for (operator, any) in [("-o", true), ("-a", false)] {
        if let Some(at) = words.iter().position(|w| *w == operator).filter(|at| *at > 0 && words.len() > 3) {
            let left = evaluate(state, call, &words[..at])?;
            let right = evaluate(state, call, &words[at + 1..])?;
            return Some(if any { left || right } else { left && right });
        }
    }
    match words {
        [] => Some(false),
        [left, operator @ ("=" | "==" | "!="), right] => compare(left, operator, right),
        ["(", inner @ .., ")"] if !inner.is_empty() => evaluate(state, call, inner),
        ["!", rest @ ..] if !rest.is_empty() => evaluate(state, call, rest).map(|value| !value),
        [word] => Some(!word.is_empty()),
        ["-z", text] => Some(text.is_empty()),
        ["-n", text] => Some(!text.is_empty()),
        [operator, path] => file_test(state, call, operator, path),
        [left, operator, right] => compare(left, operator, right),
        _ => None,
    }
}

fn file_test(state: &State, call: &Call<'_>, operator: &str, path: &str) -> Option<bool> {
    let node = state.fs.get(&call.path(path));
    Some(match operator {
        "-t" => false,
        "-e" | "-r" | "-a" => node.is_ok(),
        "-f" => node.is_ok_and(|n| !n.is_dir()),
        "-d" => node.is_ok_and(|n| n.is_dir()),
        "-s" => node.is_ok_and(|n| n.size() > 0),
        "-x" => node.is_ok_and(|n| n.is_dir() || n.mode & 0o111 != 0),
        "-w" => node.is_ok_and(|n| n.mode & if n.is_device() { 0o020 } else { 0o222 } != 0),
        "-L" | "-h" => {
            let ours = state.fs.get_link(&call.path(path)).is_ok_and(crate::fs::Node::is_link);
            ours || ["/sdcard", "/mnt/sdcard"].contains(&path)
        }
        _ => return None,
    })
}

fn compare(left: &str, operator: &str, right: &str) -> Option<bool> {
    match operator {
        "=" | "==" => return Some(left == right),
        "!=" => return Some(left != right),
        "<" => return Some(left < right),
        ">" => return Some(left > right),
        _ => {}
    }
    let (a, b) = (left.trim().parse::<i64>().ok()?, right.trim().parse::<i64>().ok()?);
    Some(match operator {
        "-eq" => a == b,
        "-ne" => a != b,
        "-lt" => a < b,
        "-le" => a <= b,
        "-gt" => a > b,
        "-ge" => a >= b,
        _ => return None,
    })
}
