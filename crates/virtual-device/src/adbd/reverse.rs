//! Reverse forwards: ports on the phone that lead to the host.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::io::DuplexStream;
use tokio::sync::mpsc;

use super::mux::{OpenRequest, open};

/// Listeners at a time.
const LISTENERS_MAX: usize = 100;
/// Ports given out for `tcp:0`.
const FIRST_FREE_PORT: u16 = 40_000;

struct Listener {
    host: String,
    requests: mpsc::Sender<OpenRequest>,
}

/// All listeners of the phone, by their address on the phone.
#[derive(Default)]
pub struct Reverse {
    listeners: Mutex<BTreeMap<String, Listener>>,
}

impl Reverse {
    fn all(&self) -> MutexGuard<'_, BTreeMap<String, Listener>> {
        self.listeners.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn contains(&self, address: &str) -> bool {
        self.all().contains_key(address)
    }

    pub async fn connect(&self, address: &str, buffer_bytes: usize) -> io::Result<DuplexStream> {
        let (host, requests) = match self.all().get(address) {
            Some(listener) => (listener.host.clone(), listener.requests.clone()),
            None => return Err(io::Error::new(io::ErrorKind::ConnectionRefused, "nothing listens there")),
        };
        open(&requests, &host, buffer_bytes).await
    }

    /// Removes the listeners of a transport that has ended.
    pub fn forget(&self, requests: &mpsc::Sender<OpenRequest>) {
        self.all().retain(|_, listener| !listener.requests.same_channel(requests));
    }

    /// Handles `reverse:COMMAND` and returns the answer.
    pub fn command(&self, command: &str, requests: &mpsc::Sender<OpenRequest>) -> String {
        let mut all = self.all();
        if command == "list-forward" {
            let lines = all.iter().map(|(phone, listener)| format!("(reverse) {phone} {}\n", listener.host));
            return text(&lines.collect::<String>());
        }
        if command == "killforward-all" {
            all.clear();
            return "OKAY".to_owned();
        }
        if let Some(address) = command.strip_prefix("killforward:") {
            return match all.remove(address) {
                Some(_) => "OKAY".to_owned(),
                None => fail(&format!("listener '{address}' not found")),
            };
        }
        let Some(forward) = command.strip_prefix("forward:") else { return fail("unknown reverse command") };
        let (forward, rebind) = match forward.strip_prefix("norebind:") {
            Some(forward) => (forward, false),
            None => (forward, true),
        };
        let Some((phone, host)) = forward.split_once(';') else { return fail("bad forward") };
        if all.len() >= LISTENERS_MAX {
            return fail("too many listeners");
        }
        let listener = Listener { host: host.to_owned(), requests: requests.clone() };
        if phone == "tcp:0" {
            let free = (FIRST_FREE_PORT..).find(|port| !all.contains_key(&format!("tcp:{port}")));
            let port = free.unwrap_or(FIRST_FREE_PORT);
            all.insert(format!("tcp:{port}"), listener);
            return format!("OKAY{}", text(&port.to_string()));
        }
        if !rebind && all.contains_key(phone) {
            return fail(&format!("cannot rebind existing socket: {phone}"));
        }
        all.insert(phone.to_owned(), listener);
        "OKAY".to_owned()
    }
}

fn text(body: &str) -> String {
    format!("{:04x}{body}", body.len())
}

fn fail(message: &str) -> String {
    format!("FAIL{}", text(message))
}
