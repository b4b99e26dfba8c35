//! Installing: whole files, streams and sessions.

use super::super::io::INPUT_BYTES_MAX;
use super::{Call, ProgramOutput};
use crate::state::State;

pub fn create(state: &mut State) -> ProgramOutput {
    match state.install_sessions.create() {
        Some(id) => ProgramOutput::out(format!("Success: created install session [{id}]\n")),
        None => failure("Failure [too many active sessions]"),
    }
}

pub fn commit(state: &mut State, session: &str) -> ProgramOutput {
    let files = session.parse().ok().and_then(|id: u32| state.install_sessions.take(id));
    let Some(files) = files else { return failure("Failure [unknown session]") };
    match state.install(&files) {
        Ok(_) => ProgramOutput::out("Success\n"),
        Err(why) => failure(&why),
    }
}

pub fn abandon(state: &mut State, session: &str) -> ProgramOutput {
    match session.parse().ok().and_then(|id: u32| state.install_sessions.take(id)) {
        Some(_) => ProgramOutput::out("Success\n"),
        None => ProgramOutput::fail(
            255,
            format!(
                "Exception occurred while executing 'install-abandon':\njava.lang.SecurityException: Caller has no access to session {session}\n"
            ),
        ),
    }
}

/// Runs `install-write [-S SIZE] SESSION NAME [PATH|-]`.
pub async fn write(call: &Call<'_>, words: &[&str]) -> ProgramOutput {
    let (size, rest) = match words {
        ["-S", size, rest @ ..] => (size.parse::<usize>().ok().filter(|s| *s <= INPUT_BYTES_MAX), rest),
        _ => (None, words),
    };
    let Some(id) = rest.first().and_then(|word| word.parse::<u32>().ok()) else {
        return failure("Failure [bad session]");
    };
    let data = match (rest.get(2).copied().filter(|path| *path != "-"), size) {
        (Some(path), _) => match call.phone.with(|state| state.fs.read(&call.path(path))) {
            Ok(data) => data,
            Err(_) => return ProgramOutput::fail(1, format!("Error: Unable to open file: {path}\n")),
        },
        (None, Some(size)) => call.io.stdin.read(size).await,
        (None, None) => return ProgramOutput::fail(1, "Error: must specify a APK size\n"),
    };
    let size = data.len();
    call.phone.with(|state| match state.install_sessions.write(id, data) {
        true => ProgramOutput::out(format!("Success: streamed {size} bytes\n")),
        false => ProgramOutput::fail(
            255,
            format!("Exception occurred while executing 'install-write':\njava.lang.SecurityException: Caller has no access to session {id}\n"),
        ),
    })
}

fn failure(text: &str) -> ProgramOutput {
    ProgramOutput { out: format!("{text}\n").into_bytes(), code: 1, ..ProgramOutput::default() }
}

/// Installs a file on the phone, or `-S SIZE` bytes from the standard input.
pub async fn install(call: &Call<'_>, words: &[&str]) -> ProgramOutput {
    let size = words.iter().position(|w| *w == "-S").and_then(|at| words.get(at + 1)?.parse::<usize>().ok());
    let apk = match size {
        Some(size) if size > INPUT_BYTES_MAX => {
            return ProgramOutput::fail(1, "Failure [INSTALL_FAILED_INSUFFICIENT_STORAGE]\n");
        }
        Some(size) => call.io.stdin.read(size).await,
        None => {
            let path = words.last().copied().unwrap_or("");
            match call.phone.with(|state| state.fs.read(&call.path(path))) {
                Ok(data) => data,
                Err(_) => return ProgramOutput::fail(1, format!("Error: Unable to open file: {path}\n")),
            }
        }
    };
    match call.phone.with(|state| state.install(&[apk])) {
        Ok(_) => ProgramOutput::out("Success\n"),
        Err(why) => failure(&why),
    }
}
