//! Runs one program to its end: by argument list, in a process group of its own, with bounded memory.
//!
//! Architecture invariant: this is the only place of the server's side that starts builds. Whatever the program started
//! ends with it: when it exits, when its time is up, when the caller cancels or goes away, and when this program ends.

use std::collections::{BTreeMap, VecDeque};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::Child;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Newest lines of output that are kept.
pub const LINES_MAX: usize = 4000;
/// Bytes of a line that are kept.
pub const LINE_BYTES_MAX: usize = 4096;
/// Lines that wait to be collected before the program has to wait.
const QUEUE_LINES: usize = 256;
const READ_BYTES: usize = 16 * 1024;
/// The time between asking a group to end and ending it.
const GRACE: Duration = Duration::from_secs(3);
/// How long output is still read after the program has ended, when something it started holds the pipe open.
const DRAIN: Duration = Duration::from_secs(2);
/// How long the end of a killed group is awaited, and how often it is looked at.
const GONE: Duration = Duration::from_secs(2);
const GONE_POLL: Duration = Duration::from_millis(10);

/// One program with everything that it is given. Nothing is inherited but what stands here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    pub program: PathBuf,
    pub arguments: Vec<OsString>,
    pub folder: PathBuf,
    pub variables: BTreeMap<OsString, OsString>,
}

impl Command {
    /// The command line for people; it is not meant for a shell.
    pub fn shown(&self) -> String {
        let words = self.arguments.iter().map(|word| word.to_string_lossy().into_owned());
        std::iter::once(self.program.display().to_string()).chain(words).collect::<Vec<_>>().join(" ")
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The exit code; `None` if a signal ended it.
    Exited(Option<i32>),
    TimedOut,
    Cancelled,
}

/// What a program printed and how it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    pub ending: Ending,
    /// The newest lines of stdout and stderr, in the order in which they came.
    pub lines: VecDeque<String>,
    /// Older lines that were not kept.
    pub dropped_lines: usize,
    pub elapsed: Duration,
}

/// The programs that run. Whoever ends waits here until none of them is left.
#[derive(Debug, Clone, Default)]
pub struct Processes {
    tasks: TaskTracker,
    closing: CancellationToken,
}

impl Processes {
    /// Ends every program and what it started, and waits until they are gone.
    pub async fn end_all(&self) {
        self.closing.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }
}

/// Runs a program. `on_line` hears every line at once. A dropped future ends the program and what it started.
pub async fn run(
    processes: &Processes,
    command: &Command,
    time: Duration,
    cancelled: &CancellationToken,
    mut on_line: impl FnMut(&str),
) -> std::io::Result<Output> {
    let began = Instant::now();
    let (mut child, group) = start(command)?;
    let (sender, mut receiver) = mpsc::channel(QUEUE_LINES);
    let mut readers = JoinSet::new();
    if let Some(pipe) = child.stdout.take() {
        readers.spawn(read_lines(pipe, sender.clone()));
    }
    if let Some(pipe) = child.stderr.take() {
        readers.spawn(read_lines(pipe, sender.clone()));
    }
    drop(sender);
    let stop = cancelled.child_token();
    let _guard = stop.clone().drop_guard();
    let closing = processes.closing.clone();
    let watched = processes.tasks.spawn(watch(child, group, readers, time, stop, closing));
    let (mut lines, mut dropped_lines) = (VecDeque::new(), 0);
    while let Some(line) = receiver.recv().await {
        on_line(&line);
        if lines.len() == LINES_MAX {
            lines.pop_front();
            dropped_lines += 1;
        }
        lines.push_back(line);
    }
    let ending = watched.await.map_err(std::io::Error::other)??;
    Ok(Output { ending, lines, dropped_lines, elapsed: began.elapsed() })
}

fn start(command: &Command) -> std::io::Result<(Child, Group)> {
    #[expect(clippy::disallowed_methods, reason = "starting builds is what this module is for")]
    let mut process = tokio::process::Command::new(&command.program);
    process.args(&command.arguments).current_dir(&command.folder);
    process.env_clear().envs(&command.variables).kill_on_drop(true);
    process.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    #[cfg(unix)]
    process.process_group(0);
    let child = process.spawn()?;
    let group = Group { leader: child.id() };
    Ok((child, group))
}

/// Waits for the program in a task of its own, so that it is ended properly even if nobody waits for the result.
async fn watch(
    mut child: Child,
    group: Group,
    mut readers: JoinSet<()>,
    time: Duration,
    stop: CancellationToken,
    closing: CancellationToken,
) -> std::io::Result<Ending> {
    let early = tokio::select! {
        biased;
        () = stop.cancelled() => Ending::Cancelled,
        () = closing.cancelled() => Ending::Cancelled,
        status = child.wait() => Ending::Exited(status?.code()),
        () = sleep(time) => Ending::TimedOut,
    };
    if !matches!(early, Ending::Exited(_)) {
        group.signal(Strength::Ask);
        if timeout(GRACE, child.wait()).await.is_err() {
            group.signal(Strength::Force);
            let _ = child.start_kill();
        }
    }
    let _ = timeout(DRAIN, async { while readers.join_next().await.is_some() {} }).await;
    readers.abort_all();
    // What the program left behind must not outlive it.
    group.signal(Strength::Force);
    child.wait().await?;
    let gone = async {
        while group.is_there() {
            sleep(GONE_POLL).await;
        }
    };
    let _ = timeout(GONE, gone).await;
    Ok(early)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Strength {
    Ask,
    Force,
}

/// The processes of one program. Dropping it ends them.
struct Group {
    #[cfg_attr(not(unix), expect(dead_code, reason = "a process has no group elsewhere"))]
    leader: Option<u32>,
}

#[cfg(unix)]
impl Group {
    fn id(&self) -> Option<rustix::process::Pid> {
        rustix::process::Pid::from_raw(i32::try_from(self.leader?).ok()?)
    }

    fn signal(&self, strength: Strength) {
        use rustix::process::{Signal, kill_process_group};
        let signal = if strength == Strength::Ask { Signal::TERM } else { Signal::KILL };
        // A group that is gone already is what was wanted.
        let _ = self.id().map(|id| kill_process_group(id, signal));
    }

    fn is_there(&self) -> bool {
        self.id().is_some_and(|id| rustix::process::test_kill_process_group(id).is_ok())
    }
}

#[cfg(not(unix))]
impl Group {
    fn signal(&self, _strength: Strength) {}

    fn is_there(&self) -> bool {
        false
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.signal(Strength::Force);
    }
}

/// Sends the lines of a pipe. A carriage return ends a line too, since progress bars are written with it.
async fn read_lines(mut pipe: impl AsyncRead + Unpin, to: mpsc::Sender<String>) {
    let mut buffer = vec![0_u8; READ_BYTES];
    let mut line = Vec::new();
    while let Ok(count @ 1..) = pipe.read(&mut buffer).await {
        for byte in &buffer[..count] {
            if !matches!(byte, b'\n' | b'\r') {
                if line.len() < LINE_BYTES_MAX {
                    line.push(*byte);
                }
                continue;
            }
            if !line.is_empty() && to.send(text_of(&line)).await.is_err() {
                return;
            }
            line.clear();
        }
    }
    if !line.is_empty() {
        let _ = to.send(text_of(&line)).await;
    }
}

/// The text of a line, without the colours that a program writes for a terminal.
fn text_of(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        if c == '\u{1b}' && characters.peek() == Some(&'[') {
            characters.next();
            // A sequence ends with its first letter.
            while characters.next().is_some_and(|c| !c.is_ascii_alphabetic()) {}
        } else if c == '\t' || !c.is_control() {
            plain.push(c);
        }
    }
    plain
}
