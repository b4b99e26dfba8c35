//! The listener, and what all connections share.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request};
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use rustls::RootCertStore;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::{CancellationToken, DropGuard};

pub use crate::upstream::Loopback;

use crate::authority::Authority;
use crate::body::Body;
use crate::record::{Page, Store};
use crate::rules::{Effect, Rule, RuleError, RuleState, Rules};
use crate::upstream::{Connector, Dialer, DialerConfig, Via};
use crate::{connect, forward};

/// Connections of clients at the same time; more wait in the listener's queue.
const CONNECTIONS_MAX: usize = 256;
/// The head of a request: its bytes, its headers, and the time that it may take, also after an answer.
pub(crate) const HEAD_BYTES_MAX: usize = 64 * 1024;
/// Headers of one request; a request with more is refused.
pub(crate) const HEADERS_MAX: usize = 100;
/// How long the head of a request may take; then the connection is closed.
pub(crate) const HEAD_TIME_MAX: Duration = Duration::from_secs(60);
/// Idle connections to servers that are kept for the next request.
const IDLE_PER_HOST_MAX: usize = 8;
/// How long an idle connection to a server is kept.
const IDLE_MAX: Duration = Duration::from_secs(30);
/// Asking a proxy who it is.
const IDENTITY_BYTES_MAX: u64 = 4096;
/// How long a proxy may take to say who it is; then it is taken for gone.
const IDENTITY_TIME_MAX: Duration = Duration::from_secs(1);
/// Hosts of which it is remembered that clients refuse the proxy's certificate.
const REFUSING_HOSTS_MAX: usize = 256;
/// So often a client may close an opened connection without a request before that is taken for a refusal: some connect
/// in advance, and some look at the certificate only after the handshake.
const SILENT_MAX: u8 = 2;

/// The head of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    pub method: String,
    /// The absolute URL; `host:port` of a tunnel.
    pub url: String,
    pub host: String,
}

/// Who caused a request, in the caller's words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cause {
    pub action: Option<String>,
    /// The action before that one.
    pub after: Option<String>,
    /// Why it may have been another, or none.
    pub doubt: Option<&'static str>,
}

pub type Now = Arc<dyn Fn() -> u64 + Send + Sync>;
pub type AskCause = Arc<dyn Fn(&Head) -> Cause + Send + Sync>;

pub struct Config {
    /// Milliseconds since 1970.
    pub now_ms: Now,
    /// Asked once for each request, when its head has arrived.
    pub cause: AskCause,
    /// Opens TLS if given.
    pub authority: Option<Arc<Authority>>,
    pub via: Option<Via>,
    /// What servers must be trusted by, where TLS is opened.
    pub roots: RootCertStore,
    pub loopback: Loopback,
    /// Addresses that lead to this machine from where the client is.
    pub host_aliases: Vec<String>,
    /// What the proxy answers to who asks for its identity.
    pub token: String,
}

/// A running proxy. Dropping it closes its port and all its connections.
pub struct Proxy {
    port: u16,
    shared: Arc<Shared>,
    _stop: DropGuard,
}

impl Proxy {
    /// Listens on any free port of the loopback interface.
    pub async fn start(config: Config) -> io::Result<Proxy> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let port = listener.local_addr()?.port();
        let Config { now_ms, cause, authority, via, roots, loopback, host_aliases, token } = config;
        let dialer =
            Arc::new(Dialer::new(DialerConfig { loopback, host_aliases, via, roots, own_port: port })?);
        let shared = Arc::new(Shared {
            now: now_ms,
            cause,
            token,
            store: Store::default(),
            rules: Rules::default(),
            authority: Mutex::new(authority),
            client: client(&dialer, false),
            client_http1: client(&dialer, true),
            dialer,
            trust: Mutex::default(),
            cut: Mutex::default(),
        });
        let stop = CancellationToken::new();
        tokio::spawn(stop.clone().run_until_cancelled_owned(accept(
            Arc::clone(&shared),
            listener,
            stop.clone(),
        )));
        Ok(Proxy { port, shared, _stop: stop.drop_guard() })
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// The exchanges that began after the one with this id; 0 for all that are kept.
    pub fn since(&self, cursor: u64) -> Page {
        self.shared.store.since(cursor)
    }

    /// Adds a rule, which goes before those that are there. Going offline also ends every open connection.
    pub fn add_rule(&self, rule: Rule) -> Result<u64, RuleError> {
        let is_offline = rule.effect == Effect::Offline;
        let id = self.shared.rules.add(rule)?;
        if is_offline {
            self.shared.cut_connections();
        }
        Ok(id)
    }

    pub fn clear_rules(&self) -> usize {
        self.shared.rules.clear()
    }

    pub fn rules(&self) -> Vec<RuleState> {
        self.shared.rules.list()
    }

    /// Opens TLS from now on, or does not; connections that are open end, so that it holds for all.
    pub fn set_authority(&self, authority: Option<Arc<Authority>>) {
        *lock(&self.shared.authority) = authority;
        *lock(&self.shared.trust) = Trust::default();
        self.shared.cut_connections();
    }

    /// A door for the fuzzer: serves a client that did not come through the port.
    #[cfg(fuzzing)]
    pub async fn serve_on(&self, client: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
        serve_client(Arc::clone(&self.shared), client, CancellationToken::new()).await;
    }

    pub fn opens_tls(&self) -> bool {
        self.shared.authority().is_some()
    }

    pub fn set_loopback(&self, loopback: Loopback) {
        self.shared.dialer.set_loopback(loopback);
    }

    /// Hosts that are tunnelled because a client refused the proxy's certificate.
    pub fn refusing_hosts(&self) -> Vec<String> {
        let trust = lock(&self.shared.trust);
        trust.silent.iter().filter(|(_, count)| **count >= SILENT_MAX).map(|(host, _)| host.clone()).collect()
    }
}

pub(crate) type HttpClient = Client<Connector, Body>;

fn client(dialer: &Arc<Dialer>, http1_only: bool) -> HttpClient {
    Client::builder(TokioExecutor::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(IDLE_MAX)
        .pool_max_idle_per_host(IDLE_PER_HOST_MAX)
        .http1_preserve_header_case(true)
        .http1_max_buf_size(HEAD_BYTES_MAX)
        .http1_max_headers(HEADERS_MAX)
        .build(Connector { dialer: Arc::clone(dialer), http1_only })
}

/// What is known of clients and the proxy's certificate.
#[derive(Default)]
struct Trust {
    /// How often an opened connection to a host ended without a request; a refusal counts as the limit.
    silent: BTreeMap<String, u8>,
}

pub(crate) struct Shared {
    now: Now,
    cause: AskCause,
    pub token: String,
    pub store: Store,
    pub rules: Rules,
    authority: Mutex<Option<Arc<Authority>>>,
    pub client: HttpClient,
    pub client_http1: HttpClient,
    pub dialer: Arc<Dialer>,
    trust: Mutex<Trust>,
    /// Cancelled to end every connection, and replaced by a new one at the same moment.
    cut: Mutex<CancellationToken>,
}

impl Shared {
    pub fn now_ms(&self) -> u64 {
        (self.now)()
    }

    pub fn ask_cause(&self, head: &Head) -> Cause {
        (self.cause)(head)
    }

    pub fn authority(&self) -> Option<Arc<Authority>> {
        lock(&self.authority).clone()
    }

    fn cut_connections(&self) {
        std::mem::take(&mut *lock(&self.cut)).cancel();
    }

    pub fn cut_token(&self) -> CancellationToken {
        lock(&self.cut).clone()
    }

    pub fn refuses(&self, host: &str) -> bool {
        lock(&self.trust).silent.get(host).is_some_and(|count| *count >= SILENT_MAX)
    }

    /// Notes that an opened connection ended without a request, or that the certificate was refused outright. True if the
    /// host is tunnelled from now on.
    pub fn note_silence(&self, host: &str, is_refusal: bool) -> bool {
        let mut trust = lock(&self.trust);
        if trust.silent.len() >= REFUSING_HOSTS_MAX && !trust.silent.contains_key(host) {
            trust.silent.pop_first();
        }
        let count = trust.silent.entry(host.to_owned()).or_default();
        *count = if is_refusal { SILENT_MAX } else { count.saturating_add(1) };
        *count >= SILENT_MAX
    }

    pub fn note_request(&self, host: &str) {
        lock(&self.trust).silent.remove(host);
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn accept(shared: Arc<Shared>, listener: TcpListener, stop: CancellationToken) {
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            // Out of file handles, for example: a pause keeps this from spinning until some are free.
            Err(_) => {
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        drop(stream.set_nodelay(true));
        let (shared, stop) = (Arc::clone(&shared), stop.clone());
        tokio::spawn(async move {
            let cut = shared.cut_token();
            tokio::select! {
                () = stop.cancelled() => {}
                () = cut.cancelled() => {}
                () = serve_client(shared, stream, stop.clone()) => {}
            }
            drop(place);
        });
    }
}

async fn serve_client(
    shared: Arc<Shared>,
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    stop: CancellationToken,
) {
    let service = service_fn(move |request: Request<Incoming>| {
        let (shared, stop) = (Arc::clone(&shared), stop.clone());
        async move {
            match request.method() == Method::CONNECT {
                true => connect::connect(shared, request, stop).await,
                false => forward::exchange(shared, None, request, stop).await,
            }
        }
    });
    // A client that breaks the protocol was answered by hyper, or is gone: there is nobody to tell.
    drop(
        http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD_TIME_MAX)
            .max_buf_size(HEAD_BYTES_MAX)
            .max_headers(HEADERS_MAX)
            .preserve_header_case(true)
            .serve_connection(TokioIo::new(stream), service)
            .with_upgrades()
            .await,
    );
}

/// True if the proxy with this token listens on this port of this machine.
pub async fn is_alive(port: u16, token: &str) -> bool {
    let asked = async {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).await?;
        let request =
            format!("GET {} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", crate::IDENTITY_PATH);
        stream.write_all(request.as_bytes()).await?;
        let mut answer = Vec::new();
        stream.take(IDENTITY_BYTES_MAX).read_to_end(&mut answer).await?;
        io::Result::Ok(answer)
    };
    match tokio::time::timeout(IDENTITY_TIME_MAX, asked).await {
        Ok(Ok(answer)) => answer.ends_with(format!("\r\n\r\n{token}").as_bytes()),
        _ => false,
    }
}
