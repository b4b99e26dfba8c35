//! Files and directories.

use bytes::Bytes;

use super::super::io::BrokenPipe;
use super::{Call, ProgramOutput};
use crate::clock::Civil;
use crate::fs::{FsError, Node};
use crate::state::State;

pub async fn cat(call: &Call<'_>) -> Result<u8, BrokenPipe> {
    let (_, paths) = call.options();
    let mut code = 0;
    if paths.is_empty() || paths == ["-"] {
        while let Some(chunk) = call.io.stdin.next().await {
            call.io.stdout.write(chunk).await?;
        }
        return Ok(0);
    }
    for path in paths {
        match call.phone.with(|state| read(state, call, path)) {
            Ok(data) => call.io.stdout.write(data).await?,
            Err(error) => {
                call.io.stderr.write(format!("cat: {path}: {}\n", error.text())).await?;
                code = 1;
            }
        }
    }
    Ok(code)
}

pub fn read(state: &State, call: &Call<'_>, path: &str) -> Result<Bytes, FsError> {
    match path {
        "/dev/null" => Ok(Bytes::new()),
        path => state.fs.read(&call.path(path)),
    }
}

fn complain(answer: &mut ProgramOutput, name: &str, path: &str, error: FsError) {
    answer.err.extend(format!("{name}: {path}: {}\n", error.text()).into_bytes());
    answer.code = 1;
}

pub fn ls(state: &mut State, call: &Call<'_>) -> ProgramOutput {
    let (flags, mut paths) = call.options();
    if paths.is_empty() {
        paths.push(".");
    }
    let mut answer = ProgramOutput::ok();
    let several = paths.len() > 1;
    for path in paths {
        let full = call.path(path);
        let found = match state.fs.get_link(&full) {
            Ok(node) if node.is_link() && flags.contains(['l', 'd']) => Ok(node),
            _ => state.fs.get(&full),
        };
        let entries = match found {
            Ok(node) if node.is_dir() && !flags.contains('d') => state.fs.list(&full),
            Ok(node) => Ok(vec![(path.to_owned(), node.clone())]),
            Err(error) => Err(error),
        };
        match entries {
            Err(error) => complain(&mut answer, "ls", path, error),
            Ok(entries) => {
                if several {
                    answer.out.extend(format!("{path}:\n").into_bytes());
                }
                for (name, node) in
                    entries.iter().filter(|(n, _)| !n.starts_with('.') || flags.contains(['a', 'A']))
                {
                    let line = if flags.contains('l') { long_line(name, node) } else { format!("{name}\n") };
                    answer.out.extend(line.into_bytes());
                }
            }
        }
    }
    answer
}

fn mode_text(node: &Node) -> String {
    let kind = if node.is_link() { "l" } else { ["-", "c"][usize::from(node.is_device())] };
    let mut text = String::from(if node.is_dir() { "d" } else { kind });
    for shift in [6, 3, 0] {
        for (bit, letter) in [(4, 'r'), (2, 'w'), (1, 'x')] {
            text.push(if node.mode >> shift & bit != 0 { letter } else { '-' });
        }
    }
    text
}

fn time_text(node: &Node) -> String {
    let t = Civil::from_ms(u64::from(node.mtime_s) * 1000);
    format!("{:04}-{:02}-{:02} {:02}:{:02}", t.year, t.month, t.day, t.hour, t.minute)
}

/// Formats a time with its seconds.
pub fn stamp(seconds: u32) -> String {
    let t = Civil::from_ms(u64::from(seconds) * 1000);
    format!("{:04}-{:02}-{:02} {:02}:{:02}:{:02}", t.year, t.month, t.day, t.hour, t.minute, t.second)
}

fn long_line(name: &str, node: &Node) -> String {
    let target = match &node.data {
        Some(target) if node.is_link() => format!(" -> {}", String::from_utf8_lossy(target)),
        _ => String::new(),
    };
    format!("{} 1 shell shell {:>8} {} {name}{target}\n", mode_text(node), node.size(), time_text(node))
}

pub fn rm(state: &mut State, call: &Call<'_>) -> ProgramOutput {
    let (flags, paths) = call.options();
    let (force, recursive) = (flags.contains('f'), flags.contains(['r', 'R']));
    let mut answer = ProgramOutput::ok();
    for path in paths {
        match state.fs.remove(&call.path(path), recursive) {
            Ok(()) => {}
            Err(FsError::NotFound) if force => {}
            Err(error) => complain(&mut answer, "rm", path, error),
        }
    }
    answer
}

pub fn mkdir(state: &mut State, call: &Call<'_>) -> ProgramOutput {
    let (flags, paths) = call.options();
    let (mut answer, now) = (ProgramOutput::ok(), state.now_s());
    for path in paths {
        if let Err(error) = state.fs.make_dir(&call.path(path), flags.contains('p'), now) {
            complain(&mut answer, "mkdir", &format!("'{path}'"), error);
        }
    }
    answer
}

pub fn rmdir(state: &mut State, call: &Call<'_>) -> ProgramOutput {
    let (_, paths) = call.options();
    let mut answer = ProgramOutput::ok();
    for path in paths {
        let full = call.path(path);
        let removed = match state.fs.list(&full) {
            Ok(entries) if entries.is_empty() => state.fs.remove(&full, true),
            Ok(_) => Err(FsError::NotEmpty),
            Err(error) => Err(error),
        };
        if let Err(error) = removed {
            complain(&mut answer, "rmdir", path, error);
        }
    }
    answer
}

/// Returns the target of a copy or move; one into a directory keeps the name.
fn target(state: &State, call: &Call<'_>, from: &str, to: &str) -> String {
    let full = call.path(to);
    match state.fs.get(&full) {
        Ok(node) if node.is_dir() => format!("{full}/{}", from.rsplit('/').next().unwrap_or(from)),
        _ => full,
    }
}

pub fn mv(state: &mut State, call: &Call<'_>) -> ProgramOutput {
    let (_, paths) = call.options();
    let Some((to, froms)) = paths.split_last().filter(|(_, froms)| !froms.is_empty()) else {
        return ProgramOutput::fail(1, "mv: Needs 2 arguments\n");
    };
    let mut answer = ProgramOutput::ok();
    for from in froms {
        let destination = target(state, call, from, to);
        if let Err(error) = state.fs.rename(&call.path(from), &destination) {
            complain(&mut answer, "mv", &format!("bad '{from}'"), error);
        }
    }
    answer
}

pub fn cp(state: &mut State, call: &Call<'_>) -> ProgramOutput {
    let (_, paths) = call.options();
    let Some((to, froms)) = paths.split_last().filter(|(_, froms)| !froms.is_empty()) else {
        return ProgramOutput::fail(1, "cp: Needs 2 arguments\n");
    };
    let (mut answer, now) = (ProgramOutput::ok(), state.now_s());
    for from in froms {
        let destination = target(state, call, from, to);
        let copied =
            state.fs.read(&call.path(from)).and_then(|data| state.fs.write(&destination, data, 0o644, now));
        if let Err(error) = copied {
            complain(&mut answer, "cp", &format!("bad '{from}'"), error);
        }
    }
    answer
}

pub fn touch(state: &mut State, call: &Call<'_>) -> ProgramOutput {
    let (_, paths) = call.options();
    let (mut answer, now) = (ProgramOutput::ok(), state.now_s());
    for path in paths {
        if let Err(error) = state.fs.append(&call.path(path), b"", now) {
            complain(&mut answer, "touch", &format!("'{path}'"), error);
        }
    }
    answer
}

pub fn stat(state: &mut State, call: &Call<'_>) -> ProgramOutput {
    let mut answer = ProgramOutput::ok();
    let words = call.words();
    let (format, paths) = match words.as_slice() {
        ["-c", format, paths @ ..] => (Some(*format), paths),
        paths => (None, paths),
    };
    for path in paths {
        match state.fs.get(&call.path(path)) {
            Err(error) => complain(&mut answer, "stat", &format!("'{path}'"), error),
            Ok(node) => {
                let line = match format {
                    Some(format) => format
                        .replace("%s", &node.size().to_string())
                        .replace("%n", path)
                        .replace("%a", &format!("{:o}", node.mode & 0o777))
                        .replace("%A", &mode_text(node))
                        .replace("%Y", &node.mtime_s.to_string()),
                    None => format!(
                        "  File: {path}\n  Size: {}\t Blocks: 8\t IO Blocks: 4096\t{}\nAccess: ({:04o}/{})\tUid: ( 2000/   shell)\tGid: ( 2000/   shell)\nModify: {}",
                        node.size(),
                        if node.is_dir() { "directory" } else { "regular file" },
                        node.mode & 0o777,
                        mode_text(node),
                        time_text(node)
                    ),
                };
                answer.out.extend(format!("{line}\n").into_bytes());
            }
        }
    }
    answer
}

pub fn ln(state: &mut State, call: &Call<'_>) -> ProgramOutput {
    let (flags, paths) = call.options();
    let [from, to] = paths.as_slice() else { return ProgramOutput::fail(1, "ln: Needs 2 arguments\n") };
    let now = state.now_s();
    let place = target(state, call, from, to);
    if flags.contains('f') {
        // An error is ignored here: the next step fails if the file is still in the way.
        let _ = state.fs.remove(&place, false);
    }
    let made = if flags.contains('s') {
        state.fs.symlink(from, &place, now)
    } else {
        // Hard links are refused to the shell user on these file systems.
        Err(FsError::Denied)
    };
    let mut answer = ProgramOutput::ok();
    if let Err(error) = made {
        complain(&mut answer, "ln", &format!("cannot create link from '{from}' to '{to}'"), error);
    }
    answer
}

/// Parses a mode: octal, or letters as in `u+x` and `a=rw`.
pub fn chmod(state: &mut State, call: &Call<'_>) -> ProgramOutput {
    let words: Vec<&str> = call.words().into_iter().filter(|w| !matches!(*w, "-R" | "-v" | "-f")).collect();
    let Some((wanted, paths)) = words.split_first().filter(|(_, paths)| !paths.is_empty()) else {
        return ProgramOutput::fail(1, "chmod: Needs 2 arguments\n");
    };
    let mut answer = ProgramOutput::ok();
    for path in paths {
        let full = call.path(path);
        let changed = state.fs.get(&full).map(|node| node.mode).and_then(|mode| {
            let mode = new_mode(wanted, mode).ok_or(FsError::NotFound)?;
            state.fs.chmod(&full, mode)
        });
        if let Err(error) = changed {
            complain(&mut answer, "chmod", &format!("'{path}' to {wanted}"), error);
        }
    }
    answer
}

fn new_mode(wanted: &str, mode: u32) -> Option<u32> {
    if let Ok(octal) = u32::from_str_radix(wanted, 8) {
        return (octal <= 0o7777).then_some(octal);
    }
    let mut mode = mode & 0o7777;
    for clause in wanted.split(',') {
        let at = clause.find(['+', '-', '='])?;
        let (who, rest) = clause.split_at(at);
        let everyone = who.is_empty() || who.contains('a');
        let mut mask = 0;
        for (letter, bits) in [('u', 0o700), ('g', 0o070), ('o', 0o007)] {
            mask |= if everyone || who.contains(letter) { bits } else { 0 };
        }
        let mut bits = 0;
        for letter in rest[1..].chars() {
            bits |= match letter {
                'r' => 0o444,
                'w' => 0o222,
                'x' | 'X' => 0o111,
                _ => return None,
            };
        }
        mode = match rest.as_bytes().first() {
            Some(b'+') => mode | bits & mask,
            Some(b'-') => mode & !(bits & mask),
            _ => mode & !mask | bits & mask,
        };
    }
    Some(mode)
}

pub fn du(state: &mut State, call: &Call<'_>) -> ProgramOutput {
    let (_, mut paths) = call.options();
    if paths.is_empty() {
        paths.push(".");
    }
    let mut answer = ProgramOutput::ok();
    for path in paths {
        let full = call.path(path);
        match state.fs.get(&full) {
            Err(error) => complain(&mut answer, "du", path, error),
            Ok(node) => {
                let inside: u64 = state
                    .fs
                    .files_below(&full)
                    .iter()
                    .filter_map(|f| state.fs.get(f).ok())
                    .map(Node::size)
                    .sum();
                let kib = (node.size() + inside).div_ceil(1024);
                answer.out.extend(format!("{kib}\t{path}\n").into_bytes());
            }
        }
    }
    answer
}

/// Runs `dd if=A of=B bs=N count=N skip=N`.
pub async fn dd(call: &Call<'_>) -> Result<u8, BrokenPipe> {
    let value = |name: &str| call.arguments.iter().find_map(|w| w.strip_prefix(name)?.strip_prefix('='));
    let number = |name: &str| value(name).and_then(size).unwrap_or(0);
    let block = value("bs").and_then(size).unwrap_or(512).max(1);
    let data = match value("if") {
        Some(path) => match call.phone.with(|state| read(state, call, path)) {
            Ok(data) => data,
            Err(error) => {
                call.io.stderr.write(format!("dd: {path}: {}\n", error.text())).await?;
                return Ok(1);
            }
        },
        None => call.io.stdin.read_all().await,
    };
    let from = number("skip").saturating_mul(block).min(data.len());
    let most = value("count").map_or(usize::MAX, |_| number("count").saturating_mul(block));
    let part = data.slice(from..from.saturating_add(most).min(data.len()));
    let blocks = part.len() / block;
    let rest = usize::from(part.len() % block > 0);
    let bytes = part.len();
    match value("of") {
        None => call.io.stdout.write(part).await?,
        Some(path) => {
            let full = call.path(path);
            let written = call.phone.with(|state| {
                let now = state.now_s();
                state.fs.write(&full, part, 0o644, now)
            });
            if let Err(error) = written {
                call.io.stderr.write(format!("dd: {path}: {}\n", error.text())).await?;
                return Ok(1);
            }
        }
    }
    let said =
        format!("{blocks}+{rest} records in\n{blocks}+{rest} records out\n{bytes} bytes copied, 0.001 s\n");
    call.io.stderr.write(said).await?;
    Ok(0)
}

/// Parses a size such as `4096`, `4k` or `1M`.
fn size(word: &str) -> Option<usize> {
    let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match word[digits.len()..].chars().next() {
        Some('k' | 'K') => 1024,
        Some('m' | 'M') => 1024 * 1024,
        _ => 1,
    };
    digits.parse::<usize>().ok()?.checked_mul(unit)
}

pub async fn tee(call: &Call<'_>) -> Result<u8, BrokenPipe> {
    let (flags, paths) = call.options();
    let data = call.io.stdin.read_all().await;
    for path in paths {
        let full = call.path(path);
        let written = call.phone.with(|state| {
            let now = state.now_s();
            if flags.contains('a') {
                state.fs.append(&full, &data, now)
            } else {
                state.fs.write(&full, data.clone(), 0o644, now)
            }
        });
        if let Err(error) = written {
            call.io.stderr.write(format!("tee: {path}: {}\n", error.text())).await?;
        }
    }
    call.io.stdout.write(data).await?;
    Ok(0)
}
