//! The programs of the phone, one file per family.

mod activity;
mod dumpsys;
mod files;
mod grep;
mod input;
mod logcat;
mod nc;
mod package;
mod screen;
mod system;
mod test;
mod text;
mod uiautomator;

pub use grep::Expression;
pub use screen::pixels;
pub use uiautomator::hierarchy;

use std::collections::BTreeMap;

use bytes::Bytes;

use super::io::{Broken, Io};
use crate::phone::Phone;
use crate::state::State;

/// One program that is being run.
pub struct Call<'a> {
    pub phone: &'a Phone,
    /// Without its directory.
    pub name: &'a str,
    pub arguments: &'a [String],
    pub io: &'a Io,
    pub variables: &'a BTreeMap<String, String>,
    pub cwd: &'a str,
}

impl Call<'_> {
    pub fn path(&self, path: &str) -> String {
        crate::fs::resolve(self.cwd, path)
    }

    pub fn words(&self) -> Vec<&str> {
        self.arguments.iter().map(String::as_str).collect()
    }

    /// Letters of all leading options, and what follows them.
    pub fn options(&self) -> (String, Vec<&str>) {
        let mut letters = String::new();
        let mut rest = Vec::new();
        let mut ended = false;
        for word in self.arguments {
            match word.strip_prefix('-') {
                Some("-") if !ended => ended = true,
                Some(flags) if !ended && !flags.is_empty() => letters.push_str(flags),
                _ => rest.push(word.as_str()),
            }
        }
        (letters, rest)
    }

    /// A Java program needs its time to start.
    pub async fn start_java(&self) {
        let start = self.phone.with(|state| state.config.timing.start());
        if !start.is_zero() {
            tokio::time::sleep(start).await;
        }
    }
}

/// What a program printed and how it ended.
#[derive(Debug, Default)]
pub struct Answer {
    pub out: Vec<u8>,
    pub err: Vec<u8>,
    pub code: u8,
}

impl Answer {
    pub fn ok() -> Answer {
        Answer::default()
    }

    pub fn out(text: impl Into<Vec<u8>>) -> Answer {
        Answer { out: text.into(), ..Answer::default() }
    }

    pub fn code(code: u8) -> Answer {
        Answer { code, ..Answer::default() }
    }

    pub fn fail(code: u8, text: impl Into<Vec<u8>>) -> Answer {
        Answer { err: text.into(), code, ..Answer::default() }
    }

    async fn send(self, io: &Io) -> Result<u8, Broken> {
        if !self.err.is_empty() {
            io.stderr.write(Bytes::from(self.err)).await?;
        }
        if !self.out.is_empty() {
            io.stdout.write(Bytes::from(self.out)).await?;
        }
        Ok(self.code)
    }
}

/// Runs a program; `None` when the phone has none of that name.
pub async fn run(call: &Call<'_>) -> Result<Option<u8>, Broken> {
    if call.name == "am"
        && let Some(code) = crate::helpers::instrument(call).await?
    {
        return Ok(Some(code));
    }
    if let Some(answer) = quick(call) {
        return answer.send(call.io).await.map(Some);
    }
    let code = match call.name {
        "cat" => files::cat(call).await?,
        "grep" | "egrep" | "fgrep" => grep::grep(call).await?,
        "head" | "tail" => text::head_or_tail(call).await?,
        "wc" => text::wc(call).await?,
        "md5sum" | "sort" | "tr" | "base64" => text::whole(call).await?,
        "nc" => nc::nc(call).await?,
        "sleep" => system::sleep(call).await,
        "timeout" => system::timeout(call).await?,
        "toybox" => system::toybox(call).await?,
        "app_process" | "app_process64" => crate::helpers::app_process(call).await?,
        "input" => input::input(call).await?,
        "uiautomator" => uiautomator::uiautomator(call).await?,
        "screencap" => screen::screencap(call).await?,
        "logcat" => logcat::logcat(call).await?,
        "monkey" => activity::monkey(call).await?,
        "cmd" | "pm" => package::cmd(call).await?,
        _ => return Ok(None),
    };
    Ok(Some(code))
}

/// Programs that need nothing but the state.
fn quick(call: &Call<'_>) -> Option<Answer> {
    type Quick = fn(&mut State, &Call<'_>) -> Answer;
    let act: Quick = match call.name {
        "true" => |_, _| Answer::ok(),
        "false" => |_, _| Answer::code(1),
        "echo" => |_, call| text::echo(call),
        "printf" => |_, call| text::printf(call),
        "test" | "[" => test::test,
        "ls" => files::ls,
        "rm" => files::rm,
        "mkdir" => files::mkdir,
        "rmdir" => files::rmdir,
        "mv" => files::mv,
        "cp" => files::cp,
        "touch" => files::touch,
        "chmod" | "chown" | "sync" => |_, _| Answer::ok(),
        "stat" => files::stat,
        "pwd" => |_, call| Answer::out(format!("{}\n", call.cwd)),
        "df" => |_, _| {
            Answer::out(
                "Filesystem      1K-blocks    Used Available Use% Mounted on\n/dev/block/dm-8  52428800 8388608  44040192  17% /data\n",
            )
        },
        "getprop" => system::getprop,
        "setprop" => system::setprop,
        "wm" => system::wm,
        "date" => system::date,
        "id" => |_, call| system::id(call),
        "whoami" => |_, _| Answer::out("shell\n"),
        "uname" => |_, _| Answer::out("Linux\n"),
        "uptime" => system::uptime,
        "settings" => system::settings,
        "pidof" => activity::pidof,
        "ps" => activity::ps,
        "pkill" | "kill" | "killall" => activity::kill,
        "am" => activity::am,
        "dumpsys" => dumpsys::dumpsys,
        "ime" => crate::helpers::ime::ime,
        "svc" | "appops" | "setenforce" => |_, _| Answer::ok(),
        "which" => system::which,
        "run-as" => |_, call| {
            let package = call.arguments.first().map_or("", String::as_str);
            Answer::fail(1, format!("run-as: package not debuggable: {package}\n"))
        },
        "su" => |_, _| Answer::fail(127, "/system/bin/sh: su: inaccessible or not found\n"),
        _ => return None,
    };
    Some(call.phone.with(|state| act(state, call)))
}
