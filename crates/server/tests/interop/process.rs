//! Runs other programs with a timeout, and ends them with the test.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU16, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use crate::lines::lines;

pub const BINARY: &str = env!("CARGO_BIN_EXE_mobile-debug-mcp");
/// Guards against a hang; nothing here tests speed.
const GUARD: Duration = Duration::from_secs(300);

/// The program that `cargo xtask test` names in this variable. `None` has been reported as a skip.
pub fn part(variable: &str, test: &str) -> Option<PathBuf> {
    if let Some(path) = std::env::var_os(variable) {
        return Some(path.into());
    }
    let message = format!("skipped: {test}: {variable} is not set, get it with: cargo xtask test");
    assert!(!std::env::var("CI").is_ok_and(|value| value == "true"), "{message}");
    // Direct to stderr: the harness hides the output of a passing test.
    std::io::stderr().write_all(format!("{message}\n").as_bytes()).unwrap();
    None
}

#[derive(Debug)]
pub struct Done {
    pub code: Option<i32>,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

impl Done {
    pub fn out(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    pub fn err(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }

    /// Returns the result after checking that the program succeeded.
    #[track_caller]
    pub fn ok(self) -> Done {
        assert_eq!(self.code, Some(0), "stdout: {}\nstderr: {}", self.out(), self.err());
        self
    }
}

/// Runs a program to its end, with empty stdin.
#[track_caller]
pub fn run(command: &mut Command) -> Done {
    let name = format!("{command:?}");
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = Running(child.unwrap_or_else(|e| panic!("{name}: {e}")));
    let stdout = collect(child.0.stdout.take().unwrap());
    let stderr = collect(child.0.stderr.take().unwrap());
    let (Ok(stdout), Ok(stderr)) = (stdout.recv_timeout(GUARD), stderr.recv_timeout(GUARD)) else {
        panic!("{name}: no end after {} s", GUARD.as_secs());
    };
    Done { code: child.0.wait().unwrap().code(), stdout, stderr }
}

fn collect(mut pipe: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (to, from) = channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if pipe.read_to_end(&mut bytes).is_ok() {
            let _ = to.send(bytes);
        }
    });
    from
}

/// A child that does not outlive its test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A program that exchanges lines with the test.
pub struct Talker {
    stdin: Option<ChildStdin>,
    stdout: Receiver<String>,
    stderr: Receiver<String>,
    child: Running,
}

impl Talker {
    pub fn start(command: &mut Command) -> Talker {
        let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = Running(pipes.spawn().unwrap());
        Talker {
            stdin: child.0.stdin.take(),
            stdout: lines(child.0.stdout.take().unwrap()),
            stderr: lines(child.0.stderr.take().unwrap()),
            child,
        }
    }

    pub fn say(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().expect("stdin is open");
        stdin.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    /// The next line of stdout; `None` at its end.
    #[track_caller]
    pub fn hear(&self) -> Option<String> {
        next(&self.stdout)
    }

    #[track_caller]
    pub fn hear_stderr(&self) -> Option<String> {
        next(&self.stderr)
    }

    pub fn id(&self) -> u32 {
        self.child.0.id()
    }

    /// Waits for the program to end, with stdin still open.
    #[track_caller]
    pub fn end(mut self) -> Option<i32> {
        while self.hear().is_some() {}
        self.child.0.wait().unwrap().code()
    }

    /// Closes stdin, waits for the program to end by itself, and returns the rest of stdout.
    #[track_caller]
    pub fn finish(mut self) -> (Option<i32>, Vec<String>) {
        self.stdin = None;
        let mut rest = Vec::new();
        while let Some(line) = self.hear() {
            rest.push(line);
        }
        (self.child.0.wait().unwrap().code(), rest)
    }
}

#[track_caller]
fn next(lines: &Receiver<String>) -> Option<String> {
    match lines.recv_timeout(GUARD) {
        Ok(line) => Some(line),
        Err(RecvTimeoutError::Disconnected) => None,
        Err(RecvTimeoutError::Timeout) => panic!("silence for {} s", GUARD.as_secs()),
    }
}

/// A temporary folder for one test. It serves as HOME too, so that no key, setting or server of the user is touched.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> Folder {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("interop-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Returns a TCP port on which nothing listens and that no other test was given.
///
/// Ports for outgoing connections are excluded: a client that checks whether its server is up could get the server's
/// own port as its source and talk to itself (adb reports "protocol fault (status 30 30 30 63?!)").
pub fn free_port() -> u16 {
    const FIRST: u16 = 20_000;
    const LAST: u16 = 31_999;
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let start = std::process::id() % u32::from(LAST - FIRST);
    for _ in FIRST..=LAST {
        let step = u32::from(NEXT.fetch_add(1, Ordering::Relaxed));
        let port = FIRST + ((start + step) % u32::from(LAST - FIRST + 1)) as u16;
        if std::net::TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
    panic!("no free port from {FIRST} to {LAST}");
}
