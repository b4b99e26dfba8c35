//! On-device helpers that clients upload and start. They are recognised by their launch command and implemented here
//! on top of the phone's own screen and input.
//!
//! Architecture invariant: a helper sees what accessibility sees (the tree of a dump) and touches through the same path
//! as `input`; it never looks into an app.

mod agent_device;
mod appium;
mod automation;
mod device_server;
mod http;
pub mod ime;
pub mod own;
pub mod picture;
mod scroll;
mod selector;
mod touch;
mod tree;
mod uiautomator2;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::io::DuplexStream;
use tokio_util::sync::CancellationToken;

use crate::phone::Phone;
use crate::shell::commands::Call;
use crate::shell::io::BrokenPipe;
use crate::state::State;

pub use automation::Automation;
#[cfg(test)]
pub use tree::Tree as DumpTree;

/// Helpers that listen at a time.
const LISTENERS_MAX: usize = 16;
/// Bytes that a connection to a helper buffers in each direction.
const PIPE_BYTES: usize = 64 * 1024;
/// The exit code of a killed process.
const KILLED_EXIT: u8 = 137;

/// True for the app of a client's helper, which has no screen of its own.
pub fn is_helper(package: &str) -> bool {
    const PREFIXES: [&str; 3] = ["io.appium.", "com.github.uiautomator", "com.callstack.agentdevice."];
    PREFIXES.iter().any(|prefix| package.starts_with(prefix))
}

/// The protocol that a helper speaks.
#[derive(Clone)]
enum Server {
    Uiautomator2(Arc<uiautomator2::Server>),
    Device,
    Appium(Arc<appium::Server>),
    AgentDevice(Arc<agent_device::Session>),
    Own(Arc<own::Helper>),
}

impl Server {
    async fn serve(&self, phone: &Phone, socket: DuplexStream) {
        match self {
            Server::AgentDevice(session) => return session.serve(phone, socket).await,
            Server::Own(helper) => return helper.serve(phone, socket).await,
            _ => {}
        }
        let mut connection = http::Connection::new(socket);
        while let Some(request) = connection.next().await {
            let response = self.answer(phone, request).await;
            if !connection.send(&response).await {
                return;
            }
        }
    }

    async fn answer(&self, phone: &Phone, request: http::Request) -> http::Response {
        match self {
            Server::Uiautomator2(server) => server.answer(phone, request).await,
            Server::Appium(server) => server.answer(phone, request).await,
            Server::Device => device_server::answer(phone, request).await,
            Server::AgentDevice(_) | Server::Own(_) => http::Response::text(404, "Not Found"),
        }
    }
}

struct Listener {
    server: Server,
    /// Returns the command line, which `pkill -f` searches.
    command_line: String,
    stop: CancellationToken,
}

/// All listening helpers, by their address as adb names it: `tcp:9008`, `localabstract:name`.
#[derive(Default)]
pub struct Helpers {
    listeners: Mutex<BTreeMap<String, Listener>>,
}

impl Helpers {
    fn all(&self) -> MutexGuard<'_, BTreeMap<String, Listener>> {
        self.listeners.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Connects to the helper that listens at the address, if there is one.
    pub fn connect(&self, phone: &Phone, address: &str) -> Option<DuplexStream> {
        let (server, stop) = self.all().get(address).map(|l| (l.server.clone(), l.stop.clone()))?;
        let (ours, theirs) = tokio::io::duplex(PIPE_BYTES);
        let phone = phone.clone();
        tokio::spawn(async move {
            tokio::select! {
                biased;
                () = stop.cancelled() => {}
                () = server.serve(&phone, ours) => {}
            }
        });
        Some(theirs)
    }

    /// Ends helpers whose command line contains the words (`pkill -f`); returns true if there was one.
    pub fn kill(&self, words: &str) -> bool {
        let mut killed = false;
        for listener in self.all().values().filter(|l| l.command_line.contains(words)) {
            listener.stop.cancel();
            killed = true;
        }
        killed
    }

    /// Listens until `stop` is cancelled; returns nothing when the address is taken.
    fn listen(&self, address: &str, server: Server, command_line: String) -> Option<CancellationToken> {
        let mut all = self.all();
        if all.contains_key(address) || all.len() >= LISTENERS_MAX {
            return None;
        }
        let stop = CancellationToken::new();
        all.insert(address.to_owned(), Listener { server, command_line, stop: stop.clone() });
        Some(stop)
    }

    fn forget(&self, address: &str) {
        if let Some(listener) = self.all().remove(address) {
            listener.stop.cancel();
        }
    }
}

/// A listening address, which is freed when this is dropped, however the process ends.
struct Listening<'a> {
    phone: &'a Phone,
    address: String,
}

impl Drop for Listening<'_> {
    fn drop(&mut self) {
        self.phone.helpers().forget(&self.address);
    }
}

/// Runs `app_process DIRECTORY CLASS ARGUMENTS…`, for classes that the phone knows.
pub async fn app_process(call: &Call<'_>) -> Result<u8, BrokenPipe> {
    call.start_java().await;
    let words: Vec<&str> = call.words().into_iter().filter(|word| !word.starts_with("-D")).collect();
    match words.as_slice() {
        [_, uiautomator2::CLASS, rest @ ..] => uiautomator2::launch(call, rest).await,
        [_, device_server::CLASS, ..] => device_server::launch(call).await,
        [_, own::CLASS, rest @ ..] => own::launch(call, rest).await,
        [_, class, ..] => class_not_found(call, class).await,
        _ => {
            call.io.stderr.write("Usage: app_process [java-options] cmd-dir start-class-name\n").await?;
            Ok(255)
        }
    }
}

async fn class_not_found(call: &Call<'_>, class: &str) -> Result<u8, BrokenPipe> {
    let complaint = format!(
        "Error: Unable to find class '{class}'\njava.lang.ClassNotFoundException: Didn't find class \"{class}\"\n"
    );
    call.io.stderr.write(complaint).await?;
    Ok(1)
}

/// Runs `am instrument … PACKAGE/RUNNER`; returns nothing when the phone does not know the runner or its app is not
/// installed.
pub async fn instrument(call: &Call<'_>) -> Result<Option<u8>, BrokenPipe> {
    let words = call.words();
    let (["instrument", ..], Some((package, _))) =
        (words.as_slice(), words.last().and_then(|w| w.split_once('/')))
    else {
        return Ok(None);
    };
    let is_installed = call.phone.with(|state| state.packages.get(package).is_some());
    match package {
        appium::PACKAGE if is_installed => appium::launch(call).await.map(Some),
        agent_device::PACKAGE if is_installed => agent_device::launch(call).await.map(Some),
        _ => Ok(None),
    }
}

/// Returns `dumpsys activity services NAME` for the one service that a client installs and waits for.
pub fn services(state: &State, name: &str) -> Option<String> {
    let package = appium::SETTINGS_PACKAGE;
    state.packages.get(package).filter(|_| name.starts_with(package))?;
    Some(format!(
        "ACTIVITY MANAGER SERVICES (dumpsys activity services)\n  User 0 active services:\n  \
         * ServiceRecord{{5b1a7c2 u0 {package}/.ForegroundService}}\n    packageName={package}\n    \
         isForeground=true foregroundId=1 foregroundNoti=Notification(channel=main)\n"
    ))
}

/// Serves until the process is killed or the shell that it runs in goes away.
async fn serve(call: &Call<'_>, address: &str, server: Server) -> Result<u8, BrokenPipe> {
    let command_line = format!("{} {}", call.name, call.arguments.join(" "));
    let Some(stop) = call.phone.helpers().listen(address, server, command_line) else {
        call.io
            .stderr
            .write("java.net.BindException: bind failed: EADDRINUSE (Address already in use)\n")
            .await?;
        return Ok(1);
    };
    let _listening = Listening { phone: call.phone, address: address.to_owned() };
    tokio::select! {
        biased;
        () = stop.cancelled() => {}
        () = call.io.stdout.closed() => {}
    }
    Ok(KILLED_EXIT)
}
