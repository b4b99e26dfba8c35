//! The server: the real program, as its users start it.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, Command};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::machine::Ticks;

const START_MAX: Duration = Duration::from_secs(30);
const END_MAX: Duration = Duration::from_secs(15);

/// Lines of trouble that are kept, and characters of each.
const COMPLAINTS_MAX: usize = 20;
const LINE_CHARS_MAX: usize = 500;

pub struct Server {
    pub address: SocketAddr,
    child: Child,
    /// Reads on: a program that cannot write would end, and what it says may be a finding.
    listening: JoinHandle<Vec<String>>,
}

/// The arguments for phones at these addresses, and no others.
pub fn devices(addresses: &[String]) -> Vec<String> {
    let each = addresses.iter().flat_map(|address| ["--device".to_owned(), address.clone()]);
    each.chain(["--no-adb-server".to_owned()]).collect()
}

fn serving(binary: &Path) -> Command {
    #[expect(clippy::disallowed_methods, reason = "the product itself is what is judged")]
    let mut command = Command::new(binary);
    command.args(["serve", "--http", "127.0.0.1:0", "--no-ios"]);
    command
}

impl Server {
    pub async fn start(binary: &Path, devices: &[String]) -> Result<Server, String> {
        let mut command = serving(binary);
        command.args(devices);
        Server::of(command, binary).await
    }

    /// One that knows the phones of the adb server at this port, and those of the ids that are addresses.
    pub async fn start_on_adb_server(binary: &Path, port: u16, ids: &[String]) -> Result<Server, String> {
        let mut command = serving(binary);
        for address in ids.iter().filter(|id| id.contains(':')) {
            command.args(["--device", address]);
        }
        command.env("ADB_SERVER_SOCKET", format!("tcp:127.0.0.1:{port}"));
        Server::of(command, binary).await
    }

    async fn of(mut command: Command, binary: &Path) -> Result<Server, String> {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().map_err(|error| format!("{}: {error}", binary.display()))?;
        let stderr = child.stderr.take().ok_or("the server has no stderr")?;
        let mut said = BufReader::new(stderr).lines();
        let reading = async {
            while let Ok(Some(line)) = said.next_line().await {
                let address =
                    line.strip_prefix("listening on http://").and_then(|rest| rest.split('/').next());
                if let Some(address) = address.and_then(|address| address.parse().ok()) {
                    return Ok(address);
                }
            }
            Err("the server ended before it listened".to_owned())
        };
        let address = timeout(START_MAX, reading).await.map_err(|_| "the server does not listen")??;
        Ok(Server { address, child, listening: tokio::spawn(complaints(said)) })
    }

    /// What it holds in memory, without the pages of its own file: of a debug build ever more are read. Nothing when it
    /// has ended or the system does not tell.
    pub fn memory_kb(&self) -> Option<u64> {
        self.status_kb("RssAnon:")
    }

    /// With the pages of its own file.
    pub fn resident_kb(&self) -> Option<u64> {
        self.status_kb("VmRSS:")
    }

    pub fn ticks(&self) -> Option<Ticks> {
        Ticks::now(self.child.id()?)
    }

    fn status_kb(&self, name: &str) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()?)).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().trim_end_matches(" kB").parse().ok()
    }

    /// Ends it; returns the lines in which it told of trouble since it listened.
    pub async fn end(mut self) -> Result<Vec<String>, String> {
        self.child.start_kill().map_err(|error| error.to_string())?;
        let ended = timeout(END_MAX, self.child.wait()).await;
        ended.map_err(|_| "the server does not end")?.map_err(|error| error.to_string())?;
        let said = timeout(END_MAX, self.listening).await.map_err(|_| "the server's stderr does not end")?;
        said.map_err(|error| error.to_string())
    }
}

async fn complaints(mut said: Lines<impl AsyncBufRead + Unpin>) -> Vec<String> {
    let mut found = Vec::new();
    while let Ok(Some(line)) = said.next_line().await {
        if is_complaint(&line) && found.len() < COMPLAINTS_MAX {
            found.push(line.chars().take(LINE_CHARS_MAX).collect());
        }
    }
    found
}

/// The server was not asked for its log: it says nothing while all is well.
fn is_complaint(line: &str) -> bool {
    let line = line.to_lowercase();
    ["panic", "error", "fatal", "overflow"].iter().any(|word| line.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn panics_and_errors_are_heard() {
        let said = "thread 'main' panicked at src/x.rs:1:1:\nall is well\nERROR the list broke\n";
        let found = complaints(BufReader::new(said.as_bytes()).lines()).await;
        assert_eq!(found, ["thread 'main' panicked at src/x.rs:1:1:", "ERROR the list broke"]);
    }
}
