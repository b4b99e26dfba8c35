//! Runs `xcrun`: by argument list, with bounded output, and never longer than its caller waits.
//!
//! Architecture invariant: besides `idb/start.rs`, this is the only place of this crate that starts a process. A dropped future ends it.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, ChildStdout, Command};

/// Most output of one command; a screenshot is a file.
const OUTPUT_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Error output of one command that is read.
const ERRORS_BYTES_MAX: u64 = 256 * 1024;

/// The program, and how often it was started.
#[derive(Debug)]
pub struct Xcrun {
    program: PathBuf,
    started: AtomicU64,
}

/// What a command printed and how it ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Output {
    /// `None` if a signal ended it.
    pub code: Option<i32>,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

/// A command whose output is followed; it ends when this is dropped.
#[derive(Debug)]
pub struct Followed {
    pub stdout: ChildStdout,
    _child: Child,
}

impl Xcrun {
    pub fn new(program: PathBuf) -> Xcrun {
        Xcrun { program, started: AtomicU64::new(0) }
    }

    /// Looks for the program in the folders of `PATH`.
    pub fn find(path: Option<&OsStr>) -> Option<Xcrun> {
        let folders = std::env::split_paths(path?);
        folders.map(|folder| folder.join("xcrun")).find(|file| file.is_file()).map(Xcrun::new)
    }

    pub fn program(&self) -> &Path {
        &self.program
    }

    /// How many processes were started so far.
    pub fn started(&self) -> u64 {
        self.started.load(Ordering::Relaxed)
    }

    pub async fn run(&self, arguments: &[&OsStr], input: Option<&[u8]>) -> io::Result<Output> {
        let stdin = if input.is_some() { Stdio::piped() } else { Stdio::null() };
        let mut child = self.spawn(arguments, stdin, Stdio::piped())?;
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let written = async {
            if let (Some(mut stdin), Some(input)) = (child.stdin.take(), input) {
                // A program that does not want its input says so by its exit code.
                let _ = stdin.write_all(input).await;
                let _ = stdin.shutdown().await;
            }
        };
        let (stdout, stderr, ()) =
            tokio::join!(read(stdout, OUTPUT_BYTES_MAX), read(stderr, ERRORS_BYTES_MAX), written);
        let status = child.wait().await?;
        let stderr = String::from_utf8_lossy(&stderr?).into_owned();
        Ok(Output { code: status.code(), stdout: stdout?, stderr })
    }

    pub fn follow(&self, arguments: &[&OsStr]) -> io::Result<Followed> {
        // Nobody reads what it says besides; a full pipe would stop it.
        let mut child = self.spawn(arguments, Stdio::null(), Stdio::null())?;
        let stdout = child.stdout.take().ok_or_else(|| io::Error::other("no output to follow"))?;
        Ok(Followed { stdout, _child: child })
    }

    fn spawn(&self, arguments: &[&OsStr], stdin: Stdio, stderr: Stdio) -> io::Result<Child> {
        #[expect(clippy::disallowed_methods, reason = "starting xcrun is what this module is for")]
        let mut command = Command::new(&self.program);
        command.args(arguments).kill_on_drop(true);
        command.stdin(stdin).stdout(Stdio::piped()).stderr(stderr);
        let child = command.spawn()?;
        self.started.fetch_add(1, Ordering::Relaxed);
        Ok(child)
    }
}

async fn read(pipe: Option<impl AsyncRead + Unpin>, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if let Some(pipe) = pipe {
        pipe.take(most + 1).read_to_end(&mut bytes).await?;
    }
    if bytes.len() as u64 > most {
        return Err(io::Error::other(format!("it printed more than {most} bytes")));
    }
    Ok(bytes)
}
