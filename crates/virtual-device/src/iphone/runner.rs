//! WebDriverAgent as an installed app of a real phone: it answers only while XCTest runs it.

use plist::{Dictionary, Value};
use tokio::time::Instant;

use super::IPhone;
use super::apps::AppEntry;
use super::names::package_of;

/// Under which name WebDriverAgent's project signs its runner unless somebody changes it.
pub const RUNNER_BUNDLE: &str = "com.facebook.WebDriverAgentRunner.xctrunner";
/// What Xcode puts behind the id and the name of a runner.
const BUNDLE_SUFFIX: &str = ".xctrunner";
const EXECUTABLE_SUFFIX: &str = "-Runner";
/// Where it listens, unless this variable says otherwise.
pub const PORT_VARIABLE: &str = "USE_PORT";
const PORT: u16 = 8100;

/// The process of a runner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Runner {
    pid: u32,
    package: String,
    /// The session that its environment names.
    session: Vec<u8>,
    port: u16,
    authorised: Option<Instant>,
}

/// A runner that may take part in its session, since when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Authorised {
    pub pid: u32,
    pub since: Instant,
}

pub fn is_runner(app: &AppEntry) -> bool {
    app.executable.ends_with(EXECUTABLE_SUFFIX)
}

/// The name of a runner's program, which Xcode makes of the tests' name.
pub fn executable_of(bundle: &str) -> Option<String> {
    let name = bundle.strip_suffix(BUNDLE_SUFFIX)?.rsplit('.').next()?;
    Some(format!("{name}{EXECUTABLE_SUFFIX}"))
}

impl IPhone {
    /// Installs WebDriverAgent, which does not run by that.
    pub(super) fn install_runner(&self) {
        let text = |key: &str, value: &str| (key.to_owned(), Value::from(value));
        let info: Dictionary = [
            text("CFBundleIdentifier", RUNNER_BUNDLE),
            text("CFBundleExecutable", "WebDriverAgentRunner-Runner"),
            text("CFBundleName", "WebDriverAgentRunner-Runner"),
        ]
        .into_iter()
        .collect();
        // It has all that an installation needs.
        let _ = self.install_app(&info);
        self.end_wda();
    }

    /// Starts the process of a runner, in place of the one before, and returns its pid. It waits for its session.
    pub(crate) fn launch_runner(&self, bundle: &str, session: Option<&str>, port: Option<&str>) -> u32 {
        let before = self.runner.borrow().as_ref().map(|runner| runner.pid);
        if let Some(pid) = before {
            self.end_runner(pid);
        }
        self.end_wda();
        let package = package_of(bundle).to_owned();
        let pid = self.phone.with(|state| {
            let pid = state.processes.next_pid();
            state.processes.add(&package, pid);
            pid
        });
        let port = port.and_then(|port| port.parse().ok()).unwrap_or(PORT);
        let session = session.and_then(uuid_bytes).unwrap_or_default();
        self.runner.send_replace(Some(Runner { pid, package, session, port, authorised: None }));
        pid
    }

    /// Ends the process of a runner and what it serves, if it runs.
    pub(crate) fn end_runner(&self, pid: u32) {
        let mut ended = None;
        self.runner.send_if_modified(|runner| {
            ended = runner.take_if(|runner| runner.pid == pid);
            ended.is_some()
        });
        if let Some(runner) = ended {
            self.phone.with(|state| state.processes.remove(&runner.package));
            self.end_wda();
        }
    }

    /// Lets a process take part in tests; false if no such runner waits.
    pub(crate) fn authorise_runner(&self, pid: u32) -> bool {
        self.runner.send_if_modified(|runner| match runner.as_mut().filter(|runner| runner.pid == pid) {
            Some(runner) => {
                runner.authorised = Some(Instant::now());
                true
            }
            None => false,
        })
    }

    /// Waits for the runner of a session to be authorised.
    pub(crate) async fn authorised_runner(&self, session: &[u8]) -> Authorised {
        let mut watched = self.runner.subscribe();
        loop {
            let found = watched
                .borrow_and_update()
                .as_ref()
                .filter(|runner| runner.session == session)
                .and_then(|runner| runner.authorised.map(|since| Authorised { pid: runner.pid, since }));
            if let Some(found) = found {
                return found;
            }
            if watched.changed().await.is_err() {
                return std::future::pending().await;
            }
        }
    }

    /// Waits for the end of a runner's process, also of what it serves if it does already.
    pub(crate) async fn runner_ended(&self, pid: u32, serves: bool) {
        let mut watched = self.runner.subscribe();
        let process = async {
            // The phone holds the sender.
            let _ = watched.wait_for(|runner| runner.as_ref().is_none_or(|runner| runner.pid != pid)).await;
        };
        let program = async {
            match self.wda_program.connect() {
                Ok(run) if serves => run.cancelled().await,
                Err(_) if serves => {}
                _ => std::future::pending().await,
            }
        };
        tokio::select! {
            () = process => {}
            () = program => {}
        }
    }

    /// True if a runner would listen on this port.
    pub(crate) fn runner_listens(&self, port: u16) -> bool {
        self.runner.borrow().as_ref().is_some_and(|runner| runner.port == port)
    }
}

/// The bytes of `9F1C…-…`.
fn uuid_bytes(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = text.bytes().filter(|byte| *byte != b'-').collect();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    (digits.len() == 32).then(|| digits.chunks(2).map(byte).collect())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_runner_is_known_by_its_names() {
        let name = executable_of(RUNNER_BUNDLE);
        assert_eq!(name.as_deref(), Some("WebDriverAgentRunner-Runner"));
        assert_eq!(executable_of("com.shop"), None);
        assert_eq!(uuid_bytes("00010203-0405-0607-0809-0A0B0C0D0E0F"), Some((0..16).collect()));
        assert_eq!(uuid_bytes("Ä-1"), None);
        assert_eq!(uuid_bytes("ÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄ"), None);
    }
}
