//! Starts idb's companion for simulators that have none, at most one for each, and ends them with itself.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::DirBuilder;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use serde::Deserialize;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::watch;
use tokio::time::{Instant, timeout};
use tokio_util::task::AbortOnDropHandle;

use super::CompanionAddress;

const PROGRAM: &str = "idb_companion";
/// Where Homebrew puts programs; a program that was started from a desktop has no `PATH` to them.
const USUAL_FOLDERS: [&str; 2] = ["/opt/homebrew/bin", "/usr/local/bin"];
/// Companions at a time.
const STARTED_MAX: usize = 16;
/// How long a companion may take to say where it listens.
const READY_WAIT: Duration = Duration::from_secs(30);
/// Before one that failed is started again.
const AGAIN: Duration = Duration::from_secs(30);
/// The line in which a companion says where it listens.
const LINE_BYTES_MAX: u64 = 64 * 1024;
/// The end of what a companion says on stderr, for the reason of a failure.
const WORDS_BYTES_MAX: usize = 300;

pub struct CompanionStarter {
    program: PathBuf,
    started: AtomicU64,
    /// Where the sockets are; made with the first one.
    folder: OnceLock<PathBuf>,
    running: Mutex<BTreeMap<String, Started>>,
}

struct Started {
    since: Instant,
    state: watch::Receiver<StartState>,
    /// Holds the process, which ends with it.
    task: AbortOnDropHandle<()>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum StartState {
    Starting,
    Ready(CompanionAddress),
    Failed(String),
}

/// The first line of a companion's output.
#[derive(Deserialize)]
struct Told {
    grpc_path: Option<PathBuf>,
    grpc_port: Option<u16>,
}

impl CompanionStarter {
    pub fn new(program: PathBuf) -> CompanionStarter {
        CompanionStarter {
            program,
            started: AtomicU64::new(0),
            folder: OnceLock::new(),
            running: Mutex::default(),
        }
    }

    /// Looks for the program in the folders of `PATH` and where Homebrew has it.
    pub fn find(path: Option<&OsStr>) -> Option<CompanionStarter> {
        let named = path.into_iter().flat_map(std::env::split_paths);
        let folders = named.chain(USUAL_FOLDERS.map(PathBuf::from));
        let mut programs = folders.map(|folder| folder.join(PROGRAM));
        programs.find(|file| file.is_file()).map(CompanionStarter::new)
    }

    /// How many processes were started so far.
    pub fn started(&self) -> u64 {
        self.started.load(Ordering::Relaxed)
    }

    /// Returns where the companion of this simulator listens. One is started if none runs; it goes on starting when it
    /// takes longer than `wait`, and is found by the next call.
    pub async fn companion(&self, udid: &str, wait: Duration) -> Result<CompanionAddress, String> {
        let mut state = self.running_or_start(udid)?;
        let done = timeout(wait, state.wait_for(|state| *state != StartState::Starting)).await;
        match done {
            Ok(Ok(state)) => match &*state {
                StartState::Ready(address) => Ok(address.clone()),
                StartState::Failed(why) => Err(why.clone()),
                StartState::Starting => Err(starting()),
            },
            Ok(Err(_)) => Err("its companion ended".to_owned()),
            Err(_) => Err(starting()),
        }
    }

    /// Ends the companions of simulators that are not among these.
    pub fn keep_only(&self, booted: &[&str]) {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.retain(|udid, _| booted.contains(&udid.as_str()));
    }

    /// Ends all companions, and returns when they were told so.
    pub async fn end_all(&self) {
        let all = std::mem::take(&mut *self.running.lock().unwrap_or_else(PoisonError::into_inner));
        for started in all.into_values() {
            started.task.abort();
            // Its process is gone with it, however it ended.
            let _ = started.task.await;
        }
        if let Some(folder) = self.folder.get() {
            // What is left behind is a folder of the system's temporary files.
            let _ = std::fs::remove_dir_all(folder);
        }
    }

    fn running_or_start(&self, udid: &str) -> Result<watch::Receiver<StartState>, String> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(started) = running.get(udid) {
            let failed = matches!(*started.state.borrow(), StartState::Failed(_));
            if !failed || started.since.elapsed() < AGAIN {
                return Ok(started.state.clone());
            }
            running.remove(udid);
        }
        if running.len() >= STARTED_MAX {
            return Err(format!("{STARTED_MAX} companions run already"));
        }
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        if udid.is_empty() || udid.starts_with('-') || !udid.bytes().all(is_plain) {
            return Err("its UDID is not one".to_owned());
        }
        let wrong = |error: io::Error| format!("idb's companion cannot be started: {error}");
        let socket = self.socket().map_err(wrong)?;
        let child = self.spawn(udid, &socket).map_err(wrong)?;
        let (sender, state) = watch::channel(StartState::Starting);
        let task = AbortOnDropHandle::new(tokio::spawn(attend(child, sender)));
        running.insert(udid.to_owned(), Started { since: Instant::now(), state: state.clone(), task });
        Ok(state)
    }

    #[expect(clippy::disallowed_methods, reason = "this is the place that starts companions")]
    fn spawn(&self, udid: &str, socket: &Path) -> io::Result<Child> {
        self.started.fetch_add(1, Ordering::Relaxed);
        Command::new(&self.program)
            .args(["--udid", udid, "--only", "simulator", "--grpc-domain-sock"])
            .arg(socket)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
    }

    /// A new name in a folder that only this user can enter. Paths of sockets must be short.
    fn socket(&self) -> io::Result<PathBuf> {
        let folder = match self.folder.get() {
            Some(folder) => folder,
            None => {
                let made = private_folder()?;
                self.folder.get_or_init(|| made)
            }
        };
        Ok(folder.join(format!("{}.sock", self.started())))
    }
}

fn starting() -> String {
    "its companion is starting; list the devices again in a moment".to_owned()
}

fn private_folder() -> io::Result<PathBuf> {
    /// Names that are tried for a socket.
    const TRIES_MAX: u32 = 100;
    #[cfg_attr(not(unix), expect(unused_mut, reason = "folders have no mode elsewhere"))]
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    let mut last = io::Error::other("no folder for sockets");
    for number in 0..TRIES_MAX {
        let folder = std::env::temp_dir().join(format!("mdm-{}-{number}", std::process::id()));
        match builder.create(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = error,
            Err(error) => return Err(error),
        }
    }
    Err(last)
}

/// Tells when the companion is ready, and when it has ended.
async fn attend(mut child: Child, state: watch::Sender<StartState>) {
    let stderr = child.stderr.take();
    let words = tokio::spawn(async move {
        match stderr {
            Some(stderr) => last_words(stderr).await,
            None => String::new(),
        }
    });
    let words = AbortOnDropHandle::new(words);
    let Some(stdout) = child.stdout.take() else { return };
    let mut stdout = BufReader::new(stdout);
    match timeout(READY_WAIT, first_line(&mut stdout)).await {
        Ok(Ok(told)) => {
            state.send_replace(address(&told));
        }
        // It has ended, and says why below.
        Ok(Err(_)) => {}
        Err(_) => {
            let why = format!("its companion was not ready after {} s", READY_WAIT.as_secs());
            state.send_replace(StartState::Failed(why));
            return;
        }
    }
    // What it says later is of no interest, and must not fill the pipe.
    let _ = tokio::io::copy(&mut stdout, &mut tokio::io::sink()).await;
    let ended = child.wait().await;
    let words = words.await.unwrap_or_default();
    let how = ended.map_or_else(|error| error.to_string(), |status| status.to_string());
    state.send_replace(StartState::Failed(
        format!("idb's companion ended ({how}) {words}").trim_end().to_owned(),
    ));
}

async fn first_line(stdout: &mut (impl tokio::io::AsyncBufRead + Unpin)) -> io::Result<String> {
    let mut line = String::new();
    stdout.take(LINE_BYTES_MAX).read_line(&mut line).await?;
    match line.is_empty() {
        true => Err(io::ErrorKind::UnexpectedEof.into()),
        false => Ok(line),
    }
}

fn address(line: &str) -> StartState {
    match serde_json::from_str::<Told>(line) {
        Ok(Told { grpc_path: Some(path), .. }) => StartState::Ready(CompanionAddress::Unix(path)),
        Ok(Told { grpc_port: Some(port), .. }) => {
            StartState::Ready(CompanionAddress::Tcp(format!("127.0.0.1:{port}")))
        }
        _ => StartState::Failed(format!("its companion did not say where it listens: {:.200}", line.trim())),
    }
}

/// Reads to the end and keeps the last words.
async fn last_words(mut stderr: impl AsyncRead + Unpin) -> String {
    let (mut kept, mut piece) = (Vec::new(), [0; 4096]);
    while let Ok(read @ 1..) = stderr.read(&mut piece).await {
        kept.extend_from_slice(&piece[..read]);
        let old = kept.len().saturating_sub(WORDS_BYTES_MAX);
        kept.drain(..old);
    }
    String::from_utf8_lossy(&kept).split_whitespace().collect::<Vec<_>>().join(" ")
}
