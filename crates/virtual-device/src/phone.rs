//! The handle to one phone.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use tokio::io::DuplexStream;
use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio::sync::{broadcast, watch};
use tokio::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

use crate::adbd;
use crate::config::{DumpFault, Network, PhoneConfig};
use crate::faults::{Outage, TransportFault};
use crate::film::Film;
use crate::framework::{FrameworkConfig, FrameworkPool, FrameworkSurface};
use crate::helpers::{Helpers, own};
use crate::network::{self, Route};
use crate::state::State;
use crate::surface::SystemEvent;
use crate::truth::{Happened, Moment, ShownToast, Truth};

/// Bytes that an in-process connection buffers in each direction.
const DUPLEX_BYTES: usize = 256 * 1024;

/// Scripts that [`Phone::scripts`] keeps for a slow reader before it drops the oldest.
const SCRIPTS_BEHIND_MAX: usize = 256;
/// Adb servers that may watch one phone.
const PLUG_LISTENERS_MAX: usize = 100;

/// The longest time between two checks for due faults: a late tap may come between two timed ones.
const FAULT_CLOCK_PERIOD: Duration = Duration::from_secs(1);

/// The longest time for which a new timer of an app may be overlooked.
const APP_CLOCK_PERIOD: Duration = Duration::from_millis(20);

/// A virtual phone. It is cheap to clone, and all clones are the same phone.
#[derive(Clone)]
pub struct Phone {
    inner: Arc<Inner>,
}

struct Inner {
    scripts: broadcast::Sender<String>,
    state: Mutex<State>,
    /// The sequence number after the last log line.
    logged: watch::Sender<u64>,
    /// Differs after everything that accessibility may hear of.
    changed: watch::Sender<u64>,
    /// Cancelled to drop every transport, and replaced by a new one at the same moment.
    cut: Mutex<CancellationToken>,
    reverse: adbd::Reverse,
    helpers: Helpers,
    plug_listeners: Mutex<Vec<watch::Sender<u64>>>,
    /// True once the task runs that applies faults at their own times.
    fault_clock: AtomicBool,
    /// True once the task runs that wakes apps at their own times.
    app_clock: AtomicBool,
    needs: Vec<String>,
}

impl Phone {
    pub fn new(config: PhoneConfig) -> Phone {
        Phone::of(State::new(config), Vec::new())
    }

    /// Starts a phone whose screen is drawn by Android's own framework. This blocks for seconds.
    pub fn with_framework(config: PhoneConfig, framework: &FrameworkConfig) -> Result<Phone, String> {
        let surface = FrameworkSurface::start(framework, (config.width, config.height), config.density)?;
        let (boot, needs) = (surface.boot(), surface.needs().to_vec());
        let android_version = framework.android_version();
        let config = PhoneConfig { sdk: framework.sdk, android_version, ..config };
        Ok(Phone::of(State::with_surface(config, Box::new(surface), boot), needs))
    }

    /// Starts a phone like [`Phone::with_framework`], on the process of an earlier one if there was one. No app runs.
    pub fn with_pool(config: PhoneConfig, pool: &FrameworkPool) -> Result<Phone, String> {
        let surface = pool.surface((config.width, config.height), config.density)?;
        let boot = surface.boot();
        Ok(Phone::of(State::with_surface(config, Box::new(surface), boot), Vec::new()))
    }

    /// Returns what the framework phone's app needs and cannot have, such as native code: a sentence for each.
    pub fn needs(&self) -> &[String] {
        &self.inner.needs
    }

    fn of(state: State, needs: Vec<String>) -> Phone {
        let inner = Inner {
            scripts: broadcast::Sender::new(SCRIPTS_BEHIND_MAX),
            state: Mutex::new(state),
            logged: watch::Sender::new(0),
            changed: watch::Sender::new(0),
            cut: Mutex::new(CancellationToken::new()),
            reverse: adbd::Reverse::default(),
            helpers: Helpers::default(),
            plug_listeners: Mutex::new(Vec::new()),
            fault_clock: AtomicBool::new(false),
            app_clock: AtomicBool::new(false),
            needs,
        };
        Phone { inner: Arc::new(inner) }
    }

    /// Opens a transport inside this process. Its tasks run on the current runtime.
    pub fn connect(&self) -> io::Result<DuplexStream> {
        let (ours, theirs) = tokio::io::duplex(DUPLEX_BYTES);
        self.accept(ours, false)?;
        Ok(theirs)
    }

    /// Opens a transport for an adb server whose key was accepted before.
    pub(crate) fn connect_trusted(&self) -> io::Result<DuplexStream> {
        let (ours, theirs) = tokio::io::duplex(DUPLEX_BYTES);
        self.accept(ours, true)?;
        Ok(theirs)
    }

    pub(crate) fn is_plugged(&self) -> bool {
        self.with(|state| state.connections.is_plugged())
    }

    /// Registers a counter that grows whenever the phone is plugged in or out.
    pub(crate) fn on_plug(&self, listener: watch::Sender<u64>) {
        let mut listeners = lock(&self.inner.plug_listeners);
        if listeners.len() < PLUG_LISTENERS_MAX {
            listeners.push(listener);
        }
    }

    /// Serves adb's TCP transport until the listener fails.
    pub async fn serve(&self, listener: TcpListener) -> io::Result<()> {
        loop {
            let (socket, _) = listener.accept().await?;
            socket.set_nodelay(true)?;
            // A refused connection is simply closed: that is all a client of an unplugged phone sees.
            let _ = self.accept(socket, false);
        }
    }

    fn accept<S>(&self, socket: S, trusted: bool) -> io::Result<()>
    where
        S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Send + 'static,
    {
        let cut = self.open_connection()?;
        let phone = self.clone();
        tokio::spawn(async move {
            adbd::serve(&phone, socket, trusted, cut).await;
            phone.close_connection();
        });
        Ok(())
    }

    /// Counts a connection of any protocol in, and returns what cuts it; [`Phone::close_connection`] counts it out.
    pub(crate) fn open_connection(&self) -> io::Result<CancellationToken> {
        self.start_fault_clock();
        self.start_app_clock();
        let cut = lock(&self.inner.cut).clone();
        self.with(|state| state.connections.open())?;
        Ok(cut)
    }

    pub(crate) fn close_connection(&self) {
        self.with(|state| state.connections.close());
    }

    /// Starts the task that wakes the phone when something is due in an app, so that requests leave on time although
    /// nobody looks at the phone. It runs once, and only with a network.
    fn start_app_clock(&self) {
        let has_network = self.with(|state| state.config.network != Network::Off);
        if !has_network || self.inner.app_clock.swap(true, Ordering::Relaxed) {
            return;
        }
        let phone = Arc::downgrade(&self.inner);
        tokio::spawn(async move {
            while let Some(inner) = phone.upgrade() {
                let next = Phone { inner }.with(|state| state.surface.next_due());
                let soon = Instant::now() + APP_CLOCK_PERIOD;
                tokio::time::sleep_until(next.map_or(soon, |next| next.min(soon))).await;
            }
        });
    }

    /// Starts the task that wakes the phone whenever a fault is due, so that transports drop on time. It runs once,
    /// and only if there are faults.
    fn start_fault_clock(&self) {
        if !self.with(|state| state.faults.is_timed()) || self.inner.fault_clock.swap(true, Ordering::Relaxed)
        {
            return;
        }
        let phone = Arc::downgrade(&self.inner);
        tokio::spawn(async move {
            while let Some(inner) = phone.upgrade() {
                let next = Phone { inner }.apply_transport_faults();
                let soon = Instant::now() + FAULT_CLOCK_PERIOD;
                tokio::time::sleep_until(next.map_or(soon, |next| next.min(soon))).await;
            }
        });
    }

    /// Applies the faults of transports that are due, and returns when the next fault will be.
    fn apply_transport_faults(&self) -> Option<Instant> {
        let (due, next) = self.with(|state| (state.faults.take_transport_faults(), state.faults.next_due()));
        for fault in due {
            match fault {
                TransportFault::DropConnections => self.cut_connections(),
                TransportFault::Begins(Outage::Unauthorized) => {
                    self.with(|state| state.trust.suspend(true));
                    self.cut_connections();
                }
                TransportFault::Ends(Outage::Unauthorized) => self.with(|state| state.trust.suspend(false)),
                TransportFault::Begins(Outage::Offline) => self.set_plugged(false),
                TransportFault::Ends(Outage::Offline) => self.set_plugged(true),
            }
        }
        next
    }

    /// Returns a receiver of every shell script that hosts send from now on, verbatim.
    pub fn scripts(&self) -> broadcast::Receiver<String> {
        self.inner.scripts.subscribe()
    }

    pub(crate) fn publish_script(&self, script: &str) {
        if self.inner.scripts.receiver_count() > 0 {
            // The last reader may have gone in between; then nobody wants it.
            let _ = self.inner.scripts.send(script.to_owned());
        }
    }

    /// Returns what really happened, for tests and never for clients.
    pub fn truth(&self) -> Truth {
        self.with(State::truth)
    }

    /// Marks this moment, for [`Phone::since`].
    pub fn moment(&self) -> Moment {
        self.with(|state| state.moment())
    }

    /// Returns what really happened since a moment, for tests and never for clients.
    pub fn since(&self, moment: &Moment) -> Happened {
        self.with(|state| state.since(moment))
    }

    /// Makes the JPEG that the helper of this phone would send, so that a benchmark can tell the phone's time from ours.
    pub fn small_picture(&self, side_max: u16, quality: u8) -> Option<Vec<u8>> {
        own::picture::take(self, side_max, side_max, quality).map(|picture| picture.bytes)
    }

    /// Returns every toast so far, for tests and never for clients.
    pub fn toasts(&self) -> Vec<ShownToast> {
        self.with(|state| state.toasts())
    }

    /// Returns what the screen showed so far if [`PhoneConfig::film`] is set, for tests and never for clients.
    pub fn film(&self) -> Film {
        self.with(|state| state.film.film())
    }

    /// Drops all transports at once, at whatever byte they are. Processes on the phone go on.
    pub fn cut_connections(&self) {
        let old = std::mem::replace(&mut *lock(&self.inner.cut), CancellationToken::new());
        old.cancel();
    }

    pub fn set_plugged(&self, plugged: bool) {
        self.with(|state| state.connections.plug(plugged));
        if !plugged {
            self.cut_connections();
        }
        for listener in lock(&self.inner.plug_listeners).iter() {
            listener.send_modify(|count| *count += 1);
        }
    }

    /// Makes dumps serve this tree verbatim, or the app's tree again.
    pub fn set_hierarchy(&self, xml: Option<Bytes>) {
        self.with(|state| state.fixed_tree = xml);
    }

    /// Turns the screen by quarter turns; 0 is upright.
    pub fn set_rotation(&self, quarter_turns: u8) {
        self.with(|state| state.set_rotation(quarter_turns));
    }

    /// Shows a dialog of the system that no app asked for.
    pub fn show_alert(&self, title: &'static str, message: &'static str) {
        self.with(|state| state.surface.system(SystemEvent::Alert { title, message }, state.now));
    }

    /// Makes the next dump go wrong in this way.
    pub fn inject_dump_fault(&self, fault: DumpFault) {
        self.with(|state| state.faults.ask_for(fault));
    }

    /// Connects from the phone to `address`, such as `tcp:8081`; a reverse forward carries the connection to the
    /// host.
    pub async fn connect_from_device(&self, address: &str) -> io::Result<DuplexStream> {
        self.inner.reverse.connect(address, DUPLEX_BYTES).await
    }

    /// Ends every app and drops every transport; files and settings stay.
    pub(crate) fn reboot(&self) {
        self.with(State::reboot);
        self.cut_connections();
    }

    pub(crate) fn reverse(&self) -> &adbd::Reverse {
        &self.inner.reverse
    }

    pub(crate) fn helpers(&self) -> &Helpers {
        &self.inner.helpers
    }

    /// Runs `act` on the state after everything that is due has happened.
    pub(crate) fn with<R>(&self, act: impl FnOnce(&mut State) -> R) -> R {
        let mut state = lock(&self.inner.state);
        state.advance(Instant::now());
        let result = act(&mut state);
        state.settle();
        let now = state.now;
        state.record_frame(now);
        self.send_requests(&mut state);
        let next = state.log.next_sequence();
        let changes = state.surface.changes(now).count.wrapping_add(state.surface.toasts().len() as u64);
        drop(state);
        self.inner.changed.send_if_modified(|last| std::mem::replace(last, changes) != changes);
        self.inner.logged.send_if_modified(|last| std::mem::replace(last, next) != next);
        result
    }

    /// Installs a certificate authority as a user does in the settings; false when it cannot be read. Only apps that
    /// trust such certificates care.
    pub fn install_certificate(&self, pem: &str) -> bool {
        self.with(|state| state.certificates.add_user(pem))
    }

    /// Sends the requests of apps, or fails them when there is no network.
    fn send_requests(&self, state: &mut State) {
        for outgoing in state.take_requests() {
            let route = Route::of(&outgoing, state);
            let reversed = route.on_the_phone().is_some_and(|address| self.inner.reverse.contains(&address));
            match Handle::try_current() {
                Ok(runtime) if reversed || state.config.network != Network::Off => {
                    let phone = self.clone();
                    runtime.spawn(async move {
                        let answer = network::ask(&phone, &outgoing.request, &route).await;
                        phone.with(|state| {
                            state.surface.answer(outgoing, answer, state.now);
                            state.advance(state.now);
                        });
                    });
                }
                _ => {
                    let at = outgoing.at + network::NO_NETWORK_TIME;
                    let answer = network::unknown_host(&outgoing.request.url);
                    state.surface.answer(outgoing, answer, at);
                }
            }
        }
    }

    /// Returns what tells that something changed, without saying what.
    pub(crate) fn change_watch(&self) -> watch::Receiver<u64> {
        self.inner.changed.subscribe()
    }

    pub(crate) fn log_watch(&self) -> watch::Receiver<u64> {
        self.inner.logged.subscribe()
    }
}

impl std::fmt::Debug for Phone {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Phone").field("model", &self.with(|state| state.config.model.clone())).finish()
    }
}

/// Locks a mutex even if it is poisoned: after a panic elsewhere the phone goes on with the data as it is.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
