//! MCP over streamable HTTP: one listener, many clients, the same core as over stdin and stdout (MC-01, SE-03).
//!
//! Every request passes the [`gate`] before anything of it is read: its Host and Origin, its token, and how often its
//! address guessed wrong. What leaves passes [`outgoing`], which takes secrets out.

mod connections;
mod gate;
mod guesses;
mod outgoing;
mod replies;
mod sessions;
pub mod token;

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::body::{Body as _, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use mdm_engine::Deadline;
use rmcp::ServerHandler;
use rmcp::model::ProtocolVersion;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::secrets::Secrets;
use connections::{Connections, Place};
use gate::Gate;
pub use gate::{Admitted, Origin};
use sessions::BoundedSessions;

/// Where MCP is served.
pub const MCP_PATH: &str = "/mcp";
/// The protocol of a request. ISO dates compare as text.
const VERSION_HEADER: &str = "mcp-protocol-version";
const SESSION_HEADER: &str = "mcp-session-id";
/// Says that the server runs; asked without a token.
const HEALTH_PATH: &str = "/healthz";
/// Where clients learn who issues tokens (RFC 9728), with and without the path of the resource.
const METADATA_PATH: &str = "/.well-known/oauth-protected-resource";

/// One message, as over stdin.
const BODY_BYTES_MAX: usize = 512 * 1024;
/// Line and headers of a request.
const HEAD_BYTES_MAX: usize = 16 * 1024;
/// The head of a request, also of the next one on a connection that is kept.
const HEAD_TIME_MAX: Duration = Duration::from_secs(30);
/// The body, from the end of the head on.
const BODY_TIME_MAX: Duration = Duration::from_secs(15);
/// Requests that are worked on at the same time; more are told to come back.
const RUNNING_MAX: usize = 256;
/// Calls that run get so long to end when the server does.
const GRACE: Duration = Duration::from_secs(5);

pub type Body = BoxBody<Bytes, Infallible>;

/// Who may come in, and how the server is known outside.
#[derive(Debug, Clone, Default)]
pub struct Config {
    /// Tokens that clients may show; none: nobody is asked.
    pub tokens: token::Tokens,
    /// Names, besides those of the loopback interface and the address listened on, by which clients may call this server.
    pub hosts: Vec<String>,
    /// Origins of web pages that may call it.
    pub origins: Vec<Origin>,
    /// How the server is reached from outside, for the metadata of its resource.
    pub public_url: Option<String>,
    /// Servers that issue tokens, for those who put one in front.
    pub issuers: Vec<String>,
}

/// Serves until `ended`, then lets calls end. `make` gives the handler of one session, or of one request where the
/// protocol has no sessions.
pub async fn serve<H: ServerHandler>(
    listener: TcpListener,
    config: Config,
    secrets: Secrets,
    make: impl Fn() -> H + Send + Sync + 'static,
    session_ended: SessionEnded,
    ended: impl Future<Output = ()>,
) -> io::Result<()> {
    let address = listener.local_addr()?;
    let stopped = CancellationToken::new();
    let front = Arc::new(Front::new(address, config, secrets, make, session_ended, &stopped));
    let (graceful, connections) = (GracefulShutdown::new(), Connections::default());
    tokio::pin!(ended);
    loop {
        let accepted = tokio::select! {
            biased;
            () = &mut ended => break,
            accepted = accept(&listener, &connections) => accepted,
        };
        // A client that went away before it was accepted, or no file handle left for a moment: the next may work.
        let Some((stream, peer, place)) = accepted else { continue };
        tokio::spawn(connection(Arc::clone(&front), stream, peer, place, graceful.watcher()));
    }
    drop(listener);
    // Streams that would last for ever end; what is being answered is answered.
    stopped.cancel();
    // Time is up for those that are left: the program ends.
    let _ = Deadline::after(GRACE).bound(graceful.shutdown()).await;
    Ok(())
}

async fn accept(listener: &TcpListener, connections: &Connections) -> Option<(TcpStream, SocketAddr, Place)> {
    match listener.accept().await {
        Ok((stream, peer)) => {
            // Without it small answers wait for the acknowledgement of those before them.
            let _ = stream.set_nodelay(true);
            Some((stream, peer, connections.place().await?))
        }
        Err(_) => {
            tokio::task::yield_now().await;
            None
        }
    }
}

async fn connection<H: ServerHandler>(
    front: Arc<Front<H>>,
    stream: TcpStream,
    peer: SocketAddr,
    place: Place,
    watcher: Watcher,
) {
    let (sent_away, place) = (place.sent_away.clone(), Arc::new(place));
    let service = service_fn(move |request| {
        let (front, place) = (Arc::clone(&front), Arc::clone(&place));
        async move { Ok::<_, Infallible>(front.answer(request, peer, &place).await) }
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEAD_TIME_MAX).max_buf_size(HEAD_BYTES_MAX);
    let served = watcher.watch(builder.serve_connection(TokioIo::new(stream), service));
    tokio::select! {
        () = sent_away.cancelled() => tracing::debug!("a connection was sent away for another"),
        served = served => if let Err(problem) = served {
            tracing::debug!("a connection ended: {problem}");
        }
    }
}

/// Hears of a session that its client has ended.
pub type SessionEnded = Arc<dyn Fn(&str) + Send + Sync>;

struct Front<H> {
    gate: Gate,
    sessions: Arc<BoundedSessions>,
    session_ended: SessionEnded,
    mcp: StreamableHttpService<H, BoundedSessions>,
    running: Semaphore,
    secrets: Secrets,
    metadata: Option<String>,
}

impl<H: ServerHandler> Front<H> {
    fn new(
        address: SocketAddr,
        config: Config,
        secrets: Secrets,
        make: impl Fn() -> H + Send + Sync + 'static,
        session_ended: SessionEnded,
        stopped: &CancellationToken,
    ) -> Front<H> {
        let metadata = metadata(address, &config);
        let service_config = StreamableHttpServerConfig::default()
            .with_cancellation_token(stopped.clone())
            .with_max_request_body_bytes(BODY_BYTES_MAX)
            // The gate has looked at both.
            .disable_allowed_hosts()
            .disable_allowed_origins();
        let sessions = Arc::new(BoundedSessions::default());
        Front {
            mcp: StreamableHttpService::new(move || Ok(make()), Arc::clone(&sessions), service_config),
            sessions,
            session_ended,
            gate: Gate::new(address, config),
            running: Semaphore::new(RUNNING_MAX),
            secrets,
            metadata,
        }
    }

    async fn answer(&self, request: Request<Incoming>, peer: SocketAddr, place: &Place) -> Response<Body> {
        let origin = match self.gate.names(request.uri(), request.headers()) {
            Ok(origin) => origin,
            Err(refused) => return refused,
        };
        let mut response = self.route(request, peer, place).await;
        if let Some(origin) = origin {
            gate::share_with(&origin, response.headers_mut());
        }
        response
    }

    async fn route(&self, request: Request<Incoming>, peer: SocketAddr, place: &Place) -> Response<Body> {
        let path = request.uri().path().trim_end_matches('/');
        if request.method() == Method::OPTIONS {
            return replies::empty(StatusCode::NO_CONTENT);
        }
        let metadata = path.strip_prefix(METADATA_PATH).filter(|rest| matches!(*rest, "" | MCP_PATH));
        match (path, metadata, &self.metadata) {
            (HEALTH_PATH, ..) if request.method() == Method::GET => {
                replies::json(StatusCode::OK, HEALTH.to_owned())
            }
            (_, Some(_), Some(metadata)) if request.method() == Method::GET => {
                replies::json(StatusCode::OK, metadata.clone())
            }
            (MCP_PATH, ..) => match self.gate.admit(request.headers(), peer.ip()) {
                Ok(admitted) => self.mcp(request, admitted, place).await,
                Err(refused) => refused,
            },
            _ => replies::text(StatusCode::NOT_FOUND, "MCP is served at /mcp"),
        }
    }

    async fn mcp(&self, request: Request<Incoming>, mut admitted: Admitted, place: &Place) -> Response<Body> {
        let (mut head, body) = request.into_parts();
        let body = match read(body).await {
            Ok(body) => body,
            Err(refused) => return refused,
        };
        // A stream of events lasts as long as its client wants; only what is being worked on is counted.
        let Ok(_running) = self.running.try_acquire() else {
            return replies::busy("too many requests are worked on; try again in a second");
        };
        place.known();
        let client = admitted.client.clone();
        // From 2026-07-28 on there are no sessions, and what a client sends of one says nothing.
        let named = session_of(&head.headers).filter(|_| !is_without_sessions(&head.headers));
        if let Some(id) = named {
            // To whom a session does not belong it is not there.
            if !self.sessions.is_of(&id, client.as_deref()) {
                return replies::text(StatusCode::NOT_FOUND, "there is no such session; initialize another");
            }
            admitted.session = Some(id);
        }
        let session = admitted.session.clone();
        head.extensions.insert(admitted);
        let (ends_session, resumes) = (head.method == Method::DELETE, resumes_streams(&head.headers));
        let mut response = self.mcp.handle(Request::from_parts(head, Full::new(body))).await;
        match (session, session_of(response.headers())) {
            (None, Some(opened)) => self.sessions.give(&opened, client),
            // The specification names no status for it; clients of 2025 take no other for success.
            (Some(ended), _) if ends_session && response.status() == StatusCode::ACCEPTED => {
                *response.status_mut() = StatusCode::OK;
                (self.session_ended)(&ended);
            }
            _ => {}
        }
        outgoing::filtered(response, &self.secrets, resumes)
    }
}

fn is_without_sessions(headers: &HeaderMap) -> bool {
    let version = headers.get(VERSION_HEADER).and_then(|version| version.to_str().ok());
    version.is_some_and(|version| version >= ProtocolVersion::V_2026_07_28.as_str())
}

fn session_of(headers: &HeaderMap) -> Option<String> {
    Some(headers.get(SESSION_HEADER)?.to_str().ok()?.to_owned())
}

/// Clients from 2025-11-25 on understand an event without data, from which they resume a stream. Those before stumble over
/// it; until 2025-06-18 they did not even say which protocol they speak.
fn resumes_streams(headers: &HeaderMap) -> bool {
    let version = headers.get(VERSION_HEADER).and_then(|version| version.to_str().ok());
    version.is_some_and(|version| version >= ProtocolVersion::V_2025_11_25.as_str())
}

const HEALTH: &str = concat!(r#"{"status":"ok","version":""#, env!("CARGO_PKG_VERSION"), r#""}"#);

/// Reads a whole body within its limits: nothing is begun for a client that never finishes.
async fn read(body: Incoming) -> Result<Bytes, Response<Body>> {
    let too_large = || {
        let text = format!("a message has at most {BODY_BYTES_MAX} bytes");
        replies::closing(StatusCode::PAYLOAD_TOO_LARGE, &text)
    };
    // What a client says it will send is refused before it is waited for.
    if body.size_hint().lower() > BODY_BYTES_MAX as u64 {
        return Err(too_large());
    }
    let whole = Limited::new(body, BODY_BYTES_MAX).collect();
    match Deadline::after(BODY_TIME_MAX).bound(whole).await {
        Some(Ok(body)) => Ok(body.to_bytes()),
        Some(Err(error)) if error.is::<LengthLimitError>() => Err(too_large()),
        Some(Err(_)) => Err(replies::closing(StatusCode::BAD_REQUEST, "the body cannot be read")),
        None => Err(replies::closing(StatusCode::REQUEST_TIMEOUT, "the body did not come in time")),
    }
}

/// What clients are told of the resource and of who issues tokens for it.
fn metadata(address: SocketAddr, config: &Config) -> Option<String> {
    #[derive(serde::Serialize)]
    struct Metadata<'a> {
        resource: String,
        authorization_servers: &'a [String],
        bearer_methods_supported: [&'static str; 1],
    }
    if config.issuers.is_empty() {
        return None;
    }
    let resource = match &config.public_url {
        Some(url) => url.clone(),
        None => format!("http://{address}{MCP_PATH}"),
    };
    let told =
        Metadata { resource, authorization_servers: &config.issuers, bearer_methods_supported: ["header"] };
    serde_json::to_string(&told).ok()
}

fn plain_text() -> (hyper::header::HeaderName, HeaderValue) {
    (CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"))
}
