//! Logs that are followed on a device, each under a name of the caller's (OB-01, W15).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mdm_core::evidence::stream::{Page, Stream, Wanted};
use mdm_core::port::Device;

use crate::background::{Background, Tries};

/// Logs that are followed at the same time on one device.
pub const STREAMS_MAX: usize = 4;

#[derive(Debug, Default)]
pub struct LogStreams {
    by_name: Mutex<BTreeMap<String, Followed>>,
}

#[derive(Debug)]
struct Followed {
    stream: Arc<Mutex<Stream>>,
    work: Background,
}

/// What is known of a stream when it is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamState {
    pub page: Page,
    pub wanted: Wanted,
    pub pids: Vec<u32>,
    pub lines: u64,
    pub unread_lines: u64,
    pub dropped: u64,
    pub gaps: u64,
    /// The device ended it, and it could not be followed again.
    pub ended: bool,
}

impl LogStreams {
    /// Follows the log under this name; one of the same name ends. False when there are too many.
    pub fn start(&self, name: &str, wanted: Wanted, pids: &[u32], device: Arc<dyn Device>) -> bool {
        let mut streams = self.lock();
        if streams.len() >= STREAMS_MAX && !streams.contains_key(name) {
            return false;
        }
        let stream = Arc::new(Mutex::new(Stream::new(wanted, pids)));
        let work = Background::spawn(follow(Arc::clone(&stream), device));
        streams.insert(name.to_owned(), Followed { stream, work });
        true
    }

    /// True if there was one.
    pub fn stop(&self, name: &str) -> bool {
        self.lock().remove(name).is_some()
    }

    pub fn names(&self) -> Vec<String> {
        self.lock().keys().cloned().collect()
    }

    /// Ends all whose names begin like this.
    pub fn stop_all(&self, prefix: &str) {
        self.lock().retain(|name, _| !name.starts_with(prefix));
    }

    /// The app whose log is followed under this name.
    pub fn wanted(&self, name: &str) -> Option<Wanted> {
        self.lock().get(name).map(|followed| lock(&followed.stream).wanted().clone())
    }

    /// Reads on after a cursor, or the newest lines. `pids`: processes of the app that the device named.
    pub fn read(&self, name: &str, after: Option<u64>, limit: usize, pids: &[u32]) -> Option<StreamState> {
        let streams = self.lock();
        let followed = streams.get(name)?;
        let mut stream = lock(&followed.stream);
        stream.learn(pids);
        Some(StreamState {
            page: stream.read(after, limit),
            wanted: stream.wanted().clone(),
            pids: stream.pids().collect(),
            lines: stream.lines,
            unread_lines: stream.unread_lines,
            dropped: stream.dropped(),
            gaps: stream.gaps,
            ended: followed.work.has_ended(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Followed>> {
        lock(&self.by_name)
    }
}

async fn follow(stream: Arc<Mutex<Stream>>, device: Arc<dyn Device>) {
    let mut tries = Tries::default();
    loop {
        let since_ms = lock(&stream).newest_ms();
        let mut seen = lock(&stream).seen();
        if let Ok(mut source) = device.follow_log(since_ms).await {
            while let Ok(Some(batch)) = source.next().await {
                tries.worked();
                lock(&stream).take_again(batch, &mut seen);
            }
        }
        lock(&stream).gaps += 1;
        if !tries.again().await {
            return;
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
