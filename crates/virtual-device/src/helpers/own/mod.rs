//! The helper of this project: frames on a local socket, as `docs/helper-protocol.md` says.

mod events;
mod fingers;
pub mod picture;
mod real;
mod record;
mod session;
mod tree;

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use mdm_wire::helper::{FAILED_START, MAIN_CLASS, NONCE_BYTES, READY_LINE};
use tokio::io::DuplexStream;
use tokio::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

use super::{KILLED_EXIT, Listening};
use crate::faults::Fault;
use crate::phone::Phone;
use crate::shell::commands::Call;
use crate::shell::io::BrokenPipe;
use crate::shell::services::Job;

pub const CLASS: &str = MAIN_CLASS;
/// How a zip archive begins.
const ARCHIVE_START: &[u8] = b"PK";
const ABORTED_EXIT: u8 = 134;
/// A helper ends after so many connections.
const CONNECTIONS_MAX: u32 = 10;
/// The helper ends when it was asked nothing for this long.
const IDLE_LIMIT: Duration = Duration::from_secs(600);

/// What the process and its one connection share.
pub struct Helper {
    nonce: [u8; NONCE_BYTES],
    connected: AtomicBool,
    /// Connections of others than the client, which did not know the nonce.
    strangers: AtomicU32,
    asked_at: Mutex<Instant>,
    /// The connection has ended, or the client said goodbye.
    ended: CancellationToken,
}

impl Helper {
    /// Serves one connection at a time; others are closed at once. The first one that knew the nonce is the last one.
    pub async fn serve(&self, phone: &Phone, socket: DuplexStream) {
        if self.connected.swap(true, Ordering::Relaxed) {
            return;
        }
        let ended = self.ended.clone().drop_guard();
        let greeted = match phone.with(|state| state.surface.helper_jar()) {
            Some(_) => real::serve(self, phone, socket).await,
            None => session::serve(self, phone, socket).await,
        };
        if !greeted && self.strangers.fetch_add(1, Ordering::Relaxed) + 1 < CONNECTIONS_MAX {
            ended.disarm();
            self.connected.store(false, Ordering::Relaxed);
        }
    }

    fn note_request(&self) {
        *self.asked_at.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    async fn idle(&self) {
        loop {
            let until = *self.asked_at.lock().unwrap_or_else(PoisonError::into_inner) + IDLE_LIMIT;
            if until <= Instant::now() {
                return;
            }
            tokio::time::sleep_until(until).await;
        }
    }
}

/// Runs `CLASSPATH=FILE app_process / mdm.helper.Main SOCKET FILE`.
pub async fn launch(call: &Call<'_>, words: &[&str]) -> Result<u8, BrokenPipe> {
    let path = call.variables.get("CLASSPATH").map(|path| call.path(path)).unwrap_or_default();
    let is_archive =
        call.phone.with(|state| state.fs.read(&path).is_ok_and(|file| file.starts_with(ARCHIVE_START)));
    if !is_archive {
        return super::class_not_found(call, CLASS).await;
    }
    if call.phone.with(|state| state.faults.happens(Fault::HelperStart, state.now)) {
        call.io.stderr.write("Aborted \n").await?;
        return Ok(ABORTED_EXIT);
    }
    let is_known = call.phone.with(|state| {
        let runs = state.surface.helper_jar();
        runs.is_none_or(|jar| state.fs.read(&path).is_ok_and(|file| file == jar))
    });
    if !is_known {
        return fail(call, "this phone runs another build of the helper: cargo xtask framework renews it")
            .await;
    }
    let [socket, file] = words else {
        return fail(call, "needs SOCKET and FILE").await;
    };
    let Some(nonce) = call.io.stdin.line().await.and_then(|line| parse_nonce(line.trim())) else {
        return fail(call, "no nonce of 32 hexadecimal digits came").await;
    };
    serve(call, socket, file, nonce).await
}

async fn serve(
    call: &Call<'_>,
    socket: &str,
    file: &str,
    nonce: [u8; NONCE_BYTES],
) -> Result<u8, BrokenPipe> {
    let ended = CancellationToken::new();
    let helper = std::sync::Arc::new(Helper {
        nonce,
        connected: AtomicBool::new(false),
        strangers: AtomicU32::new(0),
        asked_at: Mutex::new(Instant::now()),
        ended: ended.clone(),
    });
    let address = format!("localabstract:{socket}");
    let command = format!("app_process / {CLASS} {socket} {file}");
    let server = super::Server::Own(std::sync::Arc::clone(&helper));
    let Some(stop) = call.phone.helpers().listen(&address, server, command.clone()) else {
        return fail(call, "java.io.IOException: Address already in use").await;
    };
    let _listening = Listening { phone: call.phone, address };
    let _process = Process::start(call.phone, Job { command, stop: stop.clone() });
    let full = call.path(file);
    // A file that is gone already does no harm.
    call.phone.with(|state| state.fs.remove(&full, false).ok());
    call.io.stdout.write(format!("{READY_LINE}\n")).await?;
    let stdin_ended = async { while call.io.stdin.next().await.is_some() {} };
    tokio::select! {
        biased;
        () = stop.cancelled() => return Ok(KILLED_EXIT),
        () = ended.cancelled() => {}
        () = stdin_ended => {}
        () = call.io.stdout.closed() => {}
        () = helper.idle() => {}
    }
    Ok(0)
}

async fn fail(call: &Call<'_>, why: &str) -> Result<u8, BrokenPipe> {
    call.io.stdout.write(format!("{FAILED_START}{why}\n")).await?;
    Ok(1)
}

fn parse_nonce(line: &str) -> Option<[u8; NONCE_BYTES]> {
    let mut nonce = [0; NONCE_BYTES];
    let digits = line.as_bytes();
    if digits.len() != NONCE_BYTES * 2 {
        return None;
    }
    for (byte, pair) in nonce.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(nonce)
}

/// The helper's process, which `ps` shows and `kill` ends.
struct Process<'a> {
    phone: &'a Phone,
    pid: u32,
}

impl Process<'_> {
    fn start(phone: &Phone, job: Job) -> Process<'_> {
        let pid = phone.with(|state| {
            let pid = state.processes.next_pid();
            state.services.jobs.insert(pid, job);
            pid
        });
        Process { phone, pid }
    }
}

impl Drop for Process<'_> {
    fn drop(&mut self) {
        self.phone.with(|state| state.services.jobs.remove(&self.pid));
    }
}
