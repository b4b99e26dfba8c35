//! The services that a host can open on the phone.

use bytes::Bytes;
use mdm_wire::adb::framebuffer::Header;
use tokio::io::DuplexStream;
use tokio::sync::mpsc;

use super::mux::OpenRequest;
use super::stream::{StreamIo, bridge};
use super::{install, shell, sync};
use crate::phone::Phone;
use crate::shell::commands::pixels;

/// The port of the phone's echo service.
const ECHO_PORT: &str = "7";

pub enum Service {
    Shell(shell::ShellRequest),
    Sync,
    Framebuffer,
    Echo,
    /// A program on the phone that listens at an address.
    Pipe(DuplexStream),
    /// `abb_exec`, or `abb` with packets: arguments separated by NUL.
    Binder(Vec<String>, bool),
    Reboot,
    /// Sends the pids of debuggable processes, and again whenever they change.
    TrackProcesses,
    /// Sends a text and closes.
    Say(String),
    /// Stays open and silent.
    Wait,
}

/// Finds a service by its name. If there is none the host gets a CLSE.
pub fn find(phone: &Phone, name: &str, requests: &mpsc::Sender<OpenRequest>) -> Option<Service> {
    let (kind, argument) = name.split_once(':').unwrap_or((name, ""));
    let (kind, options) = kind.split_once(',').unwrap_or((kind, ""));
    let old = phone.with(|state| state.config.old_adbd);
    Some(match kind {
        "shell" => {
            let has = |option: &str| options.split(',').any(|o| o == option);
            if old && !options.is_empty() {
                return None;
            }
            // Without a command a terminal is given unless the host wants none.
            let terminal = has("pty") || (argument.is_empty() && !has("raw"));
            Service::Shell(shell::ShellRequest { script: argument.to_owned(), protocol: has("v2"), terminal })
        }
        "exec" => Service::Shell(shell::ShellRequest {
            script: argument.to_owned(),
            protocol: false,
            terminal: false,
        }),
        "abb_exec" | "abb" if !old => {
            Service::Binder(argument.split('\0').map(str::to_owned).collect(), kind == "abb")
        }
        "sync" => Service::Sync,
        "framebuffer" => Service::Framebuffer,
        "tcp" if argument == ECHO_PORT => Service::Echo,
        "tcp" | "localabstract" => Service::Pipe(phone.helpers().connect(phone, name)?),
        "reverse" => Service::Say(phone.reverse().command(argument, requests)),
        "root" => Service::Say("adbd cannot run as root in production builds\n".to_owned()),
        "unroot" => Service::Say("adbd not running as root\n".to_owned()),
        "remount" => Service::Say("Not running as root. Try \"adb root\" first.\n".to_owned()),
        "reboot" => Service::Reboot,
        "tcpip" => Service::Say(format!("restarting in TCP mode port: {argument}\n")),
        "usb" => Service::Say("restarting in USB mode\n".to_owned()),
        "jdwp" if argument.is_empty() => Service::Say(debuggable(phone)),
        "track-jdwp" => Service::TrackProcesses,
        // Newer hosts ask for a binary form of the same list, which this phone leaves empty.
        "track-app" => Service::Wait,
        _ => return None,
    })
}

impl Service {
    pub async fn run(self, phone: &Phone, mut io: StreamIo) {
        match self {
            Service::Shell(request) => shell::run(phone, request, io).await,
            Service::Sync => sync::run(phone, io).await,
            Service::Framebuffer => framebuffer(phone, &io).await,
            Service::Echo => {
                while let Some(data) = io.reader.next().await {
                    if io.writer.write(data).await.is_err() {
                        return;
                    }
                }
            }
            Service::Pipe(pipe) => bridge(io, pipe).await,
            Service::Binder(arguments, packets) => install::binder(phone, arguments, packets, io).await,
            Service::TrackProcesses => track_processes(phone, io).await,
            Service::Reboot => phone.reboot(),
            Service::Say(text) => {
                let _ = io.writer.write(text).await;
            }
            Service::Wait => {
                let _ = io.writer.write(Bytes::from_static(b"0000")).await;
                while io.reader.next().await.is_some() {}
            }
        }
    }
}

async fn framebuffer(phone: &Phone, io: &StreamIo) {
    let pixels = pixels(phone);
    let header = Header::rgba8888(pixels.width, pixels.height).encode_v2();
    if io.writer.write(header).await.is_ok() {
        let _ = io.writer.write(Bytes::from(pixels.rgba)).await;
    }
}

/// Returns a line with the pid of every process of a debuggable app.
fn debuggable(phone: &Phone) -> String {
    phone.with(|state| {
        let may = |name: &str| state.packages.get(name).is_some_and(|package| package.debuggable);
        state.processes.iter().filter(|(name, _)| may(name)).map(|(_, pid)| format!("{pid}\n")).collect()
    })
}

/// Sends the list whenever it changes. Every start and end of a process is logged, so the log tells when to look
/// again.
async fn track_processes(phone: &Phone, mut io: StreamIo) {
    let mut logged = phone.log_watch();
    let mut told = None;
    loop {
        logged.mark_unchanged();
        let list = debuggable(phone);
        if told.as_ref() != Some(&list) {
            if io.writer.write(format!("{:04x}{list}", list.len())).await.is_err() {
                return;
            }
            told = Some(list);
        }
        tokio::select! {
            biased;
            data = io.reader.next() => if data.is_none() { return },
            changed = logged.changed() => if changed.is_err() { return },
        }
    }
}
