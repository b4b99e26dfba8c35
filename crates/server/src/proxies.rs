//! The proxies of this process, one for each device: switched on and off, and devices put back as they were.
//!
//! A device is changed only after the journal says how it was. It is put back when its proxy is switched off, when the
//! server ends, and, if the server was killed, when a later one sees the device again.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mdm_core::action::event::Event;
use mdm_core::evidence::bind::Binder;
use mdm_core::evidence::exchange::Doubt;
use mdm_core::failure::{Cause as Why, Failure};
use mdm_core::port::{DeviceErrorKind, NetworkCommand, NetworkReport};
use mdm_core::screen::snapshot::Platform;
use mdm_engine::{Progress, Session};
use mdm_proxy::{Authority, Cause, Config, Head, Loopback, Proxy, Via};
use tokio_util::sync::CancellationToken;

use crate::app::App;
use crate::journal::{Entry, Journal};
use crate::refusal::Refusal;
use crate::state_folder;

/// Devices with a proxy at a time.
const PROXIES_MAX: usize = 16;
/// Putting all devices back when the server ends.
const RESTORE_ALL: Duration = Duration::from_secs(5);
/// Putting one device back that an earlier server left.
const RECOVER: Duration = Duration::from_secs(20);
/// Addresses under which an emulator finds this machine.
const EMULATOR_HOSTS: [&str; 2] = ["10.0.2.2", "10.0.3.2"];

pub struct Proxies {
    /// Where the authority and the journal are; found when it is first needed.
    state: Option<PathBuf>,
    running: Mutex<BTreeMap<(Platform, String), Arc<Running>>>,
    authority: Mutex<Option<Arc<Authority>>>,
    /// One device is switched at a time.
    switching: tokio::sync::Mutex<()>,
    count: AtomicU64,
}

/// The proxy of one device.
pub struct Running {
    pub proxy: Proxy,
    pub since_ms: u64,
    entry: Mutex<Entry>,
}

impl Running {
    /// The proxy that the device used before, through which everything still goes.
    pub fn former(&self) -> Option<String> {
        lock(&self.entry).former.clone()
    }
}

impl Default for Proxies {
    fn default() -> Proxies {
        Proxies::in_folder(state_folder::of_process())
    }
}

impl Proxies {
    pub fn in_folder(state: Option<PathBuf>) -> Proxies {
        Proxies {
            state,
            running: Mutex::default(),
            authority: Mutex::default(),
            switching: tokio::sync::Mutex::default(),
            count: AtomicU64::new(0),
        }
    }

    pub fn of(&self, session: &Session) -> Option<Arc<Running>> {
        lock(&self.running).get(&key(session)).cloned()
    }

    fn journal(&self) -> Result<Journal, Refusal> {
        let state = self.state.as_deref().ok_or_else(|| {
            let message = "there is no folder in which to note how the device was";
            Refusal::argument(message, "start the server with --state FOLDER")
        })?;
        Ok(Journal::in_folder(state))
    }

    /// The user's own authority, made at the first time.
    pub fn authority(&self, now_ms: u64) -> Result<Arc<Authority>, Refusal> {
        let mut known = lock(&self.authority);
        if let Some(authority) = &*known {
            return Ok(Arc::clone(authority));
        }
        let folder = self.state.as_deref().ok_or_else(|| {
            Refusal::argument(
                "there is no folder for the certificate",
                "start the server with --state FOLDER",
            )
        })?;
        let opened = Authority::open(folder, now_ms).map_err(|error| {
            let message = format!("the certificate authority cannot be used: {error}");
            Refusal::argument(message, "mend what the message names")
        })?;
        let authority = Arc::new(opened);
        *known = Some(Arc::clone(&authority));
        Ok(authority)
    }

    /// Sends the device's apps to a proxy of its own, unless they are already.
    pub async fn switch_on(
        &self,
        app: &App,
        session: &Session,
        progress: &Progress,
    ) -> Result<Arc<Running>, Refusal> {
        let _one = self.switching.lock().await;
        let report = session.network(&NetworkCommand::Read, progress).await?;
        if let Some(running) = self.of(session) {
            self.mend(&running, session, &report, progress).await?;
            return Ok(running);
        }
        if lock(&self.running).len() >= PROXIES_MAX {
            return Err(Refusal::argument(
                format!("{PROXIES_MAX} devices have a proxy"),
                "switch one off first",
            ));
        }
        let journal = self.journal()?;
        let former = self.former(&journal, session, &report).await?;
        let via = match &former {
            Some(address) => Some(reachable_via(address).await?),
            None => None,
        };
        let is_emulator = session.info(progress).await.is_ok_and(|info| info.simulator);
        let (running, entry) = self.start(app, session, former, via, &report, is_emulator).await?;
        let opened = session.network(&NetworkCommand::Open { host_port: entry.host_port }, progress).await?;
        let device_port = opened.device_port.ok_or_else(|| Refusal::defect("the device opened no port"))?;
        let entry = Entry { device_port, ..entry };
        *lock(&running.entry) = entry.clone();
        journal.write(&entry).map_err(|error| {
            let message = format!("how the device was cannot be noted, so it is left alone: {error}");
            Refusal::argument(message, "mend the folder, or start the server with --state FOLDER")
        })?;
        let used = NetworkCommand::UseProxy { address: Some(entry.address()) };
        if let Err(failure) = session.network(&used, progress).await {
            // What the device took of it is not known; putting it back is right in any case.
            drop(restore(session, &journal, &entry, progress).await);
            return Err(failure.into());
        }
        lock(&self.running).insert(key(session), Arc::clone(&running));
        Ok(running)
    }

    /// The setting before anybody's proxy of ours; refuses what cannot be kept in use.
    async fn former(
        &self,
        journal: &Journal,
        session: &Session,
        report: &NetworkReport,
    ) -> Result<Option<String>, Refusal> {
        let left = journal.read(session.platform().as_str(), session.id());
        if let Some(entry) = &left
            && mdm_proxy::is_alive(entry.host_port, &entry.token).await
        {
            let message = format!("another server's proxy is on for {}", session.id());
            return Err(Refusal::argument(message, "switch it off there first; nothing was changed"));
        }
        let left = left.filter(|entry| report.proxy.as_ref() == Some(&entry.address()));
        let former = left.map_or_else(|| report.proxy.clone(), |entry| entry.former);
        let is_own = former.as_deref().is_some_and(|address| {
            let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
            matches!(host, "localhost" | "127.0.0.1" | "[::1]" | "::1")
        });
        match former {
            Some(address) if is_own => Err(Refusal::argument(
                format!("the device uses another tool's proxy already: {address}"),
                "switch that tool's proxy off first; nothing was changed",
            )),
            former => Ok(former),
        }
    }

    async fn start(
        &self,
        app: &App,
        session: &Session,
        former: Option<String>,
        via: Option<Via>,
        report: &NetworkReport,
        is_emulator: bool,
    ) -> Result<(Arc<Running>, Entry), Refusal> {
        let clock = *app.fleet.clock();
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        let token = format!("mobile-debug-mcp {} {} {number}", std::process::id(), clock.now_ms());
        let since_ms = clock.now_ms();
        let config = Config {
            now_ms: Arc::new(move || clock.now_ms()),
            cause: ask_cause(app, session, since_ms),
            authority: None,
            via,
            roots: mdm_proxy::system_roots(),
            loopback: Loopback::Mapped(report.opened.iter().copied().collect()),
            host_aliases: EMULATOR_HOSTS
                .iter()
                .filter(|_| is_emulator)
                .map(|host| (*host).to_owned())
                .collect(),
            token: token.clone(),
        };
        let proxy = Proxy::start(config).await.map_err(|error| {
            Refusal::from(Failure::new(
                Why::Device(DeviceErrorKind::Local),
                format!("no proxy could be started: {error}"),
            ))
        })?;
        let entry = Entry {
            platform: session.platform().as_str().to_owned(),
            device: session.id().to_owned(),
            former,
            device_port: 0,
            host_port: proxy.port(),
            token,
        };
        Ok((Arc::new(Running { proxy, since_ms, entry: Mutex::new(entry.clone()) }), entry))
    }

    /// Puts the way to the proxy in order after the device was plugged in again, and learns new ports of the device.
    async fn mend(
        &self,
        running: &Running,
        session: &Session,
        report: &NetworkReport,
        progress: &Progress,
    ) -> Result<(), Refusal> {
        let entry = lock(&running.entry).clone();
        let others = report.opened.iter().copied().filter(|(device, _)| *device != entry.device_port);
        running.proxy.set_loopback(Loopback::Mapped(others.collect()));
        let is_open = report.opened.contains(&(entry.device_port, entry.host_port));
        if is_open && report.proxy.as_ref() == Some(&entry.address()) {
            return Ok(());
        }
        if let Some(other) = report.proxy.as_ref().filter(|address| **address != entry.address()) {
            let message = format!("the device's proxy was set to {other} by somebody else meanwhile");
            return Err(Refusal::argument(message, "switch the proxy off, and on again if it is to be used"));
        }
        let opened = match is_open {
            true => entry.device_port,
            false => {
                let open = NetworkCommand::Open { host_port: entry.host_port };
                session.network(&open, progress).await?.device_port.unwrap_or(entry.device_port)
            }
        };
        let entry = Entry { device_port: opened, ..entry };
        self.journal()?.write(&entry).map_err(|error| Refusal::defect(error.to_string()))?;
        *lock(&running.entry) = entry.clone();
        session.network(&NetworkCommand::UseProxy { address: Some(entry.address()) }, progress).await?;
        Ok(())
    }

    /// Mends the way to the proxy if the device was plugged in again; true if that was needed and done.
    pub async fn keep(&self, running: &Running, session: &Session, progress: &Progress) -> bool {
        let _one = self.switching.lock().await;
        let Ok(report) = session.network(&NetworkCommand::Read, progress).await else { return false };
        let entry = lock(&running.entry).clone();
        let is_used = report.proxy.as_ref() == Some(&entry.address());
        let is_open = report.opened.contains(&(entry.device_port, entry.host_port));
        is_used && !is_open && self.mend(running, session, &report, progress).await.is_ok()
    }

    /// Puts the device back as it was. True if its proxy was on.
    pub async fn switch_off(&self, session: &Session, progress: &Progress) -> Result<bool, Refusal> {
        let _one = self.switching.lock().await;
        let Some(running) = self.of(session) else { return Ok(false) };
        let entry = lock(&running.entry).clone();
        restore(session, &self.journal()?, &entry, progress).await?;
        lock(&self.running).remove(&key(session));
        Ok(true)
    }

    /// Puts every device back, as far as that goes in a few seconds; the journal keeps the rest for the next start.
    pub async fn restore_all(&self, app: &App) {
        let progress = Progress::new(RESTORE_ALL, CancellationToken::new());
        let all: Vec<(Platform, String)> = lock(&self.running).keys().cloned().collect();
        let sessions = all.iter().filter_map(|(platform, id)| app.fleet.sessions().of(*platform, id));
        let sessions: Vec<Arc<Session>> = sessions.collect();
        let put_back = sessions.iter().map(|session| async {
            if let Err(refusal) = self.switch_off(session, &progress).await {
                tracing::warn!("{}: the proxy setting could not be put back now: {refusal}", session.id());
            }
        });
        futures_util::future::join_all(put_back).await;
    }

    /// Puts devices back that an earlier server left, now or when they are next seen.
    pub async fn recover(&self, app: &App) {
        let mut listener = app.fleet.bus().listen();
        while self.recover_seen(app).await > 0 {
            loop {
                match listener.next().await {
                    Some(told) if told.event == Event::DeviceCame => break,
                    Some(_) => {}
                    None => return,
                }
            }
        }
    }

    /// Puts those back that can be reached; returns how many are left.
    async fn recover_seen(&self, app: &App) -> usize {
        let Ok(journal) = self.journal() else { return 0 };
        let mut left = 0;
        for entry in journal.all() {
            let is_ours =
                lock(&self.running).values().any(|running| lock(&running.entry).token == entry.token);
            let is_known = entry.platform == Platform::Android.as_str();
            if is_ours || !is_known || mdm_proxy::is_alive(entry.host_port, &entry.token).await {
                continue;
            }
            let progress = Progress::new(RECOVER, CancellationToken::new());
            let restored = match app.fleet.find(&entry.device, Some(Platform::Android), &progress).await {
                Ok(session) => {
                    let _one = self.switching.lock().await;
                    // A proxy of this process may have been switched on meanwhile, which has taken the entry over.
                    if self.of(&session).is_some() {
                        continue;
                    }
                    restore(&session, &journal, &entry, &progress).await
                }
                Err(failure) => Err(failure.into()),
            };
            match restored {
                Ok(()) => {
                    tracing::info!("{}: the proxy setting of an earlier server was put back", entry.device)
                }
                Err(refusal) => {
                    tracing::warn!("{}: its proxy setting is to be put back: {refusal}", entry.device);
                    left += 1;
                }
            }
        }
        left
    }
}

/// Sets the proxy that was set before, if the present one is still ours, and then forgets the device.
async fn restore(
    session: &Session,
    journal: &Journal,
    entry: &Entry,
    progress: &Progress,
) -> Result<(), Refusal> {
    let report = session.network(&NetworkCommand::Read, progress).await?;
    if report.proxy.as_ref() == Some(&entry.address()) {
        session.network(&NetworkCommand::UseProxy { address: entry.former.clone() }, progress).await?;
    }
    if report.opened.iter().any(|(device, _)| *device == entry.device_port) {
        // The port leads to nothing once the proxy is gone; a failure to close it does not matter.
        drop(session.network(&NetworkCommand::Close { device_port: entry.device_port }, progress).await);
    }
    journal.remove(entry).map_err(|error| Refusal::defect(format!("the journal cannot be written: {error}")))
}

/// Tells the proxy which action a request belongs to, by the windows of the session that the device has then.
fn ask_cause(app: &App, session: &Session, since_ms: u64) -> Arc<dyn Fn(&Head) -> Cause + Send + Sync> {
    let sessions = app.fleet.sessions().clone();
    let (platform, id) = key(session);
    let binder = Mutex::new(Binder::new(since_ms));
    Arc::new(move |head| {
        let Some(session) = sessions.of(platform, &id) else { return Cause::default() };
        // Within one lock, so that requests are bound in the order of their times.
        let mut binder = lock(&binder);
        let binding = binder.bind(&session.memory().windows, &head.method, &head.url, session.now_ms());
        Cause { action: binding.action, after: binding.after, doubt: binding.doubt.map(Doubt::as_str) }
    })
}

/// A proxy on the way, once it was seen to answer from here.
async fn reachable_via(address: &str) -> Result<Via, Refusal> {
    let refuse = |why: &str| {
        let message = format!("the device uses the proxy {address} already, which {why}");
        Refusal::argument(message, "clear the device's proxy setting first; nothing was changed")
    };
    let (host, port) = address.rsplit_once(':').ok_or_else(|| refuse("is no HOST:PORT"))?;
    let port = port.parse().map_err(|_| refuse("is no HOST:PORT"))?;
    let via = Via { host: host.trim_matches(['[', ']']).to_owned(), port };
    match mdm_proxy::can_connect(&via).await {
        true => Ok(via),
        false => Err(refuse("cannot be reached from this machine")),
    }
}

fn key(session: &Session) -> (Platform, String) {
    (session.platform(), session.id().to_owned())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
