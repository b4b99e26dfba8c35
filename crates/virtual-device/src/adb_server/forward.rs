//! Forwards: ports of the host that lead to services of a phone.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

use tokio::net::TcpListener;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{AdbServer, lock};

const FORWARDS_MAX: usize = 100;

struct Forward {
    serial: String,
    remote: String,
    /// Stops the listener.
    _stop: DropGuard,
}

#[derive(Default)]
pub struct Forwards {
    all: Mutex<BTreeMap<String, Forward>>,
}

impl Forwards {
    fn all(&self) -> MutexGuard<'_, BTreeMap<String, Forward>> {
        lock(&self.all)
    }

    pub fn list(&self) -> String {
        self.all().iter().map(|(local, f)| format!("{} {local} {}\n", f.serial, f.remote)).collect()
    }

    pub fn remove(&self, local: &str) -> Result<(), String> {
        match self.all().remove(local) {
            Some(_) => Ok(()),
            None => Err(format!("listener '{local}' not found")),
        }
    }

    pub fn remove_all(&self) {
        self.all().clear();
    }

    pub fn remove_serial(&self, serial: &str) {
        self.all().retain(|_, f| f.serial != serial);
    }
}

/// Listens on `local` for a device and returns the port that `tcp:0` became.
pub async fn add(
    server: &AdbServer,
    serial: &str,
    local: &str,
    remote: &str,
    rebind: bool,
) -> Result<Option<u16>, String> {
    let port = local.strip_prefix("tcp:").and_then(|p| p.parse::<u16>().ok());
    let port = port.ok_or_else(|| format!("cannot bind listener: unsupported address '{local}'"))?;
    let forwards = &server.inner.forwards;
    let (known, count) = {
        let all = forwards.all();
        (all.contains_key(local), all.len())
    };
    if known && !rebind {
        return Err(format!("cannot rebind existing socket: {local}"));
    }
    if count >= FORWARDS_MAX {
        return Err("too many forwards".to_owned());
    }
    if known {
        // The port stays bound; only where it leads changes.
        if let Some(forward) = forwards.all().get_mut(local) {
            serial.clone_into(&mut forward.serial);
            remote.clone_into(&mut forward.remote);
        }
        return Ok(None);
    }
    let listener =
        TcpListener::bind(("127.0.0.1", port)).await.map_err(|e| format!("cannot bind listener: {e}"))?;
    let bound = listener.local_addr().map_err(|e| e.to_string())?.port();
    let local = format!("tcp:{bound}");
    let stop = CancellationToken::new();
    tokio::spawn(listen(server.clone(), listener, local.clone(), stop.clone()));
    let forward = Forward { serial: serial.to_owned(), remote: remote.to_owned(), _stop: stop.drop_guard() };
    forwards.all().insert(local, forward);
    Ok((port == 0).then_some(bound))
}

async fn listen(server: AdbServer, listener: TcpListener, local: String, stop: CancellationToken) {
    loop {
        let mut socket = tokio::select! {
            biased;
            () = stop.cancelled() => return,
            accepted = listener.accept() => match accepted {
                Ok((socket, _)) => socket,
                Err(_) => return,
            },
        };
        let target = server.inner.forwards.all().get(&local).map(|f| (f.serial.clone(), f.remote.clone()));
        let server = server.clone();
        tokio::spawn(async move {
            let _ = socket.set_nodelay(true);
            let Some((serial, remote)) = target else { return };
            let Ok((_, device)) = server.pick(Some(&serial)) else { return };
            if let Ok(mut stream) = server.open(&device, &remote).await {
                let _ = tokio::io::copy_bidirectional(&mut socket, &mut stream).await;
            }
        });
    }
}
