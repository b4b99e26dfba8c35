//! The programs of the phone, one file per family.

mod activity;
mod dumpsys;
mod events;
mod expression;
mod files;
mod filter;
mod find;
mod grep;
mod input;
mod install;
mod intent;
mod location;
mod logcat;
mod nc;
mod package;
mod process;
mod screen;
mod sed;
mod service;
mod settings;
mod system;
mod test;
mod text;
mod uiautomator;
mod wm;

pub use screen::pixels;
pub use test::matches;

use std::collections::BTreeMap;

use bytes::Bytes;

use super::io::{BrokenPipe, Io};
use crate::phone::Phone;
use crate::state::State;

/// Programs in /system/bin, for `which` and for clients that list it.
pub const PROGRAMS: [&str; 68] = [
    "am",
    "appops",
    "base64",
    "basename",
    "bugreportz",
    "cat",
    "chmod",
    "cmd",
    "content",
    "cp",
    "cut",
    "date",
    "dd",
    "df",
    "dirname",
    "du",
    "dumpsys",
    "echo",
    "env",
    "find",
    "getenforce",
    "getevent",
    "getprop",
    "grep",
    "head",
    "id",
    "ime",
    "input",
    "ip",
    "kill",
    "ln",
    "logcat",
    "ls",
    "md5sum",
    "mkdir",
    "monkey",
    "mv",
    "nc",
    "pgrep",
    "pidof",
    "pkill",
    "pm",
    "printf",
    "ps",
    "rm",
    "run-as",
    "screencap",
    "sed",
    "sendevent",
    "service",
    "settings",
    "setprop",
    "sh",
    "sha1sum",
    "sleep",
    "sort",
    "stat",
    "svc",
    "tail",
    "tee",
    "timeout",
    "touch",
    "toybox",
    "tr",
    "uiautomator",
    "wc",
    "wm",
    "xargs",
];

/// One run of a program.
pub struct Call<'a> {
    pub phone: &'a Phone,
    /// The program's name without its directory.
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

    /// Returns the letters of all leading options, and the words after them.
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

    /// Waits for the start of a Java program.
    pub async fn start_java(&self) {
        self.wait(self.phone.with(|state| state.config.timing.start())).await;
    }

    pub async fn wait(&self, time: std::time::Duration) {
        if !time.is_zero() {
            tokio::time::sleep(time).await;
        }
    }
}

/// What a program printed and how it ended.
#[derive(Debug, Default)]
pub struct ProgramOutput {
    pub out: Vec<u8>,
    pub err: Vec<u8>,
    pub code: u8,
}

impl ProgramOutput {
    pub fn ok() -> ProgramOutput {
        ProgramOutput::default()
    }

    pub fn out(text: impl Into<Vec<u8>>) -> ProgramOutput {
        ProgramOutput { out: text.into(), ..ProgramOutput::default() }
    }

    pub fn code(code: u8) -> ProgramOutput {
        ProgramOutput { code, ..ProgramOutput::default() }
    }

    pub fn fail(code: u8, text: impl Into<Vec<u8>>) -> ProgramOutput {
        ProgramOutput { err: text.into(), code, ..ProgramOutput::default() }
    }

    async fn send(self, io: &Io) -> Result<u8, BrokenPipe> {
        if !self.err.is_empty() {
            io.stderr.write(Bytes::from(self.err)).await?;
        }
        if !self.out.is_empty() {
            io.stdout.write(Bytes::from(self.out)).await?;
        }
        Ok(self.code)
    }
}

/// Runs a program; returns nothing when the phone has none of that name.
pub async fn run(call: &Call<'_>) -> Result<Option<u8>, BrokenPipe> {
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
        "sort" | "uniq" | "cut" | "tr" | "rev" | "tac" | "nl" | "xxd" => filter::filter(call).await?,
        "md5sum" | "md5" | "sha1sum" | "base64" => filter::bytes(call).await?,
        "sed" => sed::sed(call).await?,
        "dd" => files::dd(call).await?,
        "tee" => files::tee(call).await?,
        "nc" => nc::nc(call).await?,
        "sleep" => system::sleep(call).await,
        "input" => input::input(call).await?,
        "app_process" | "app_process64" => crate::helpers::app_process(call).await?,
        "uiautomator" => uiautomator::uiautomator(call).await?,
        "screencap" => screen::screencap(call).await?,
        "logcat" => logcat::logcat(call).await?,
        "monkey" => activity::monkey(call).await?,
        "cmd" | "pm" => service::cmd(call).await?,
        _ => return Ok(None),
    };
    Ok(Some(code))
}

/// Runs a program that needs nothing but the state.
fn quick(call: &Call<'_>) -> Option<ProgramOutput> {
    type Quick = fn(&mut State, &Call<'_>) -> ProgramOutput;
    let act: Quick = match call.name {
        "true" => |_, _| ProgramOutput::ok(),
        "false" => |_, _| ProgramOutput::code(1),
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
        "chmod" => files::chmod,
        "chown" | "sync" | "restorecon" => |_, _| ProgramOutput::ok(),
        "ln" => files::ln,
        "du" => files::du,
        "find" => find::find,
        "basename" => |_, call| find::basename(call),
        "dirname" => |_, call| find::dirname(call),
        "readlink" | "realpath" => find::readlink,
        "seq" => |_, call| find::seq(call),
        "stat" => files::stat,
        "pwd" => |_, call| ProgramOutput::out(format!("{}\n", crate::fs::shown(call.cwd))),
        "df" => system::df,
        "ip" | "ifconfig" => system::ip,
        "env" | "printenv" => system::env,
        "getprop" => system::getprop,
        "setprop" => system::setprop,
        "wm" => wm::wm,
        "getevent" => events::getevent,
        "sendevent" => events::sendevent,
        "date" => system::date,
        "id" => |_, call| system::id(call),
        "whoami" => |_, _| ProgramOutput::out("shell\n"),
        "uname" => system::uname,
        "hostname" => |_, _| ProgramOutput::out("localhost\n"),
        "uptime" => system::uptime,
        "settings" => settings::settings,
        "content" => settings::content,
        "pidof" => process::pidof,
        "ps" => process::ps,
        "top" => process::top,
        "kill" => process::kill,
        "pkill" | "killall" | "pgrep" => process::pkill,
        "am" => activity::am,
        "dumpsys" => dumpsys::dumpsys,
        "service" => service::service,
        "ime" => crate::helpers::ime::ime,
        "appops" => service::appops,
        "svc" => service::svc,
        "which" => system::which,
        "screenrecord" | "bugreportz" | "getenforce" | "setenforce" | "su" | "mktemp" | "mount"
        | "umount" => system::refused,
        _ => return None,
    };
    Some(call.phone.with(|state| act(state, call)))
}
