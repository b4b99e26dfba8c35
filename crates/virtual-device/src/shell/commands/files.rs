//! Files and directories.

use bytes::Bytes;

use super::super::io::Broken;
use super::{Answer, Call};
use crate::clock::Civil;
use crate::fs::{FsError, Node};
use crate::state::State;

pub async fn cat(call: &Call<'_>) -> Result<u8, Broken> {
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

fn complain(answer: &mut Answer, name: &str, path: &str, error: FsError) {
    answer.err.extend(format!("{name}: {path}: {}\n", error.text()).into_bytes());
    answer.code = 1;
}

pub fn ls(state: &mut State, call: &Call<'_>) -> Answer {
    let (flags, mut paths) = call.options();
    if paths.is_empty() {
        paths.push(".");
    }
    let mut answer = Answer::ok();
    let several = paths.len() > 1;
    for path in paths {
        let full = call.path(path);
        let entries = match state.fs.get(&full) {
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
    let mut text = String::from(if node.is_dir() { "d" } else { "-" });
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

fn long_line(name: &str, node: &Node) -> String {
    format!("{} 1 shell shell {:>8} {} {name}\n", mode_text(node), node.size(), time_text(node))
}

pub fn rm(state: &mut State, call: &Call<'_>) -> Answer {
    let (flags, paths) = call.options();
    let (force, recursive) = (flags.contains('f'), flags.contains(['r', 'R']));
    let mut answer = Answer::ok();
    for path in paths {
        match state.fs.remove(&call.path(path), recursive) {
            Ok(()) => {}
            Err(FsError::NotFound) if force => {}
            Err(error) => complain(&mut answer, "rm", path, error),
        }
    }
    answer
}

pub fn mkdir(state: &mut State, call: &Call<'_>) -> Answer {
    let (flags, paths) = call.options();
    let (mut answer, now) = (Answer::ok(), state.now_s());
    for path in paths {
        if let Err(error) = state.fs.make_dir(&call.path(path), flags.contains('p'), now) {
            complain(&mut answer, "mkdir", &format!("'{path}'"), error);
        }
    }
    answer
}

pub fn rmdir(state: &mut State, call: &Call<'_>) -> Answer {
    let (_, paths) = call.options();
    let mut answer = Answer::ok();
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

/// Into a directory keeps the name.
fn target(state: &State, call: &Call<'_>, from: &str, to: &str) -> String {
    let full = call.path(to);
    match state.fs.get(&full) {
        Ok(node) if node.is_dir() => format!("{full}/{}", from.rsplit('/').next().unwrap_or(from)),
        _ => full,
    }
}

pub fn mv(state: &mut State, call: &Call<'_>) -> Answer {
    let (_, paths) = call.options();
    let Some((to, froms)) = paths.split_last().filter(|(_, froms)| !froms.is_empty()) else {
        return Answer::fail(1, "mv: Needs 2 arguments\n");
    };
    let mut answer = Answer::ok();
    for from in froms {
        let destination = target(state, call, from, to);
        if let Err(error) = state.fs.rename(&call.path(from), &destination) {
            complain(&mut answer, "mv", &format!("bad '{from}'"), error);
        }
    }
    answer
}

pub fn cp(state: &mut State, call: &Call<'_>) -> Answer {
    let (_, paths) = call.options();
    let Some((to, froms)) = paths.split_last().filter(|(_, froms)| !froms.is_empty()) else {
        return Answer::fail(1, "cp: Needs 2 arguments\n");
    };
    let (mut answer, now) = (Answer::ok(), state.now_s());
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

pub fn touch(state: &mut State, call: &Call<'_>) -> Answer {
    let (_, paths) = call.options();
    let (mut answer, now) = (Answer::ok(), state.now_s());
    for path in paths {
        if let Err(error) = state.fs.append(&call.path(path), b"", now) {
            complain(&mut answer, "touch", &format!("'{path}'"), error);
        }
    }
    answer
}

pub fn stat(state: &mut State, call: &Call<'_>) -> Answer {
    let mut answer = Answer::ok();
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
