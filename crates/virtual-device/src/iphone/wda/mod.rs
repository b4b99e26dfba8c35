//! WebDriverAgent's HTTP server in front of the phone.
//!
//! Like the real one it does one thing at a time, finishes what it began when the client has gone, and has one session
//! at most. There is no MJPEG stream.

mod actions;
mod alert;
mod answer;
mod apps;
mod chain;
mod device;
mod element;
mod find;
mod gesture;
mod predicate;
mod route;
mod settings;
mod snapshot;
mod source;
mod xpath;

use std::io;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream};
use tokio::net::TcpListener;
use tokio::sync::Mutex;
use tokio::time::{Duration, Instant};

use super::IPhone;
use super::element::UiElement;
use crate::config::DumpFault;
use answer::{CommandResult, WdaError, envelope};
use settings::Settings;
use snapshot::{DEPTH_MAX, Snapshot};

/// Bytes that a connection in this process buffers in each direction.
const DUPLEX_BYTES: usize = 256 * 1024;
/// The longest body of a request.
const BODY_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Elements that a session remembers.
const ELEMENTS_MAX: usize = 1024;
/// A screen that has not changed for this long is at rest.
const REST: Duration = Duration::from_millis(150);
const REST_POLL: Duration = Duration::from_millis(50);
const QUERY_TIMED_OUT: &str = "Failed to get matching snapshots: Timed out while evaluating UI query.";
/// How long a reading waits for an app that does not answer.
const SNAPSHOT_TIMEOUT: Duration = Duration::from_secs(60);

impl IPhone {
    /// Opens a connection to WebDriverAgent inside this process. Its tasks run on the current runtime.
    pub fn connect_wda(&self) -> io::Result<DuplexStream> {
        let (ours, theirs) = tokio::io::duplex(DUPLEX_BYTES);
        self.accept_wda(ours)?;
        Ok(theirs)
    }

    /// Serves WebDriverAgent until the listener fails.
    pub async fn serve_wda(&self, listener: TcpListener) -> io::Result<()> {
        loop {
            let (socket, _) = listener.accept().await?;
            socket.set_nodelay(true)?;
            // A refused connection is closed: that is all that a client of an unplugged phone sees.
            let _ = self.accept_wda(socket);
        }
    }

    fn accept_wda<S>(&self, socket: S) -> io::Result<()>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let ended = self.wda_program.connect()?;
        let cut = self.phone.open_connection()?;
        let (server, phone) = (self.wda_server(), self.phone.clone());
        tokio::spawn(async move {
            tokio::select! {
                () = serve_connection(server, socket) => {}
                () = cut.cancelled() => {}
                () = ended.cancelled() => {}
            }
            phone.close_connection();
        });
        Ok(())
    }

    /// Returns the XML that WebDriverAgent would write now, for tests.
    #[cfg(test)]
    pub(crate) async fn wda_source(&self) -> String {
        let mut state = WdaState::default();
        let agent = Agent { phone: self, state: &mut state };
        let snapshot = agent.snapshot().await.unwrap();
        let wanted = source::Wanted::of(&[]);
        source::write(&snapshot, &wanted, &Settings::default()).unwrap().as_str().unwrap().to_owned()
    }

    fn wda_server(&self) -> Arc<Server> {
        let state = self.wda.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone();
        Arc::new(Server { phone: self.clone(), state })
    }
}

/// Whoever holds it is WebDriverAgent's main thread.
pub type MainThread = Arc<Mutex<WdaState>>;

/// What WebDriverAgent remembers between requests. All connections of a phone share it.
#[derive(Debug, Default)]
pub struct WdaState {
    session: Option<Session>,
    settings: Settings,
    sessions_so_far: u64,
}

#[derive(Debug)]
struct Session {
    id: String,
    /// The bundle id of the app under test, when the session was created with one.
    tested: Option<String>,
    /// False after the client itself ended the app.
    expected_to_run: bool,
    terminates_app: bool,
    /// Ids of elements that were handed out, the oldest first.
    elements: Vec<String>,
}

struct Server {
    phone: IPhone,
    state: MainThread,
}

async fn serve_connection<S>(server: Arc<Server>, socket: S)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let service = service_fn(move |request| {
        let server = Arc::clone(&server);
        async move {
            let answered = respond(server, request).await;
            Ok::<_, std::convert::Infallible>(answered)
        }
    });
    // A client that goes away or does not speak HTTP ends its own connection only.
    let _ = http1::Builder::new().serve_connection(TokioIo::new(socket), service).await;
}

async fn respond(server: Arc<Server>, request: hyper::Request<Incoming>) -> hyper::Response<Full<Bytes>> {
    let (head, body) = request.into_parts();
    let body = match Limited::new(body, BODY_BYTES_MAX).collect().await {
        Ok(body) => body.to_bytes(),
        Err(_) => return response(413, "text/plain", Bytes::from_static(b"Request Entity Too Large")),
    };
    if head.uri.path() == "/health" {
        let page = "<!DOCTYPE html><html><title>Health Check</title><body><p>I-AM-ALIVE</p></body></html>";
        return response(200, "text/html", Bytes::from_static(page.as_bytes()));
    }
    let call = route::Call::new(head.method.as_str(), &head.uri, &body);
    // What was begun is finished, whether or not the client waits for it.
    let handled = tokio::spawn(async move {
        let mut state = server.state.lock().await;
        let mut agent = Agent { phone: &server.phone, state: &mut state };
        let result = agent.run(&call).await;
        envelope(agent.state.session.as_ref().map(|session| session.id.as_str()), &result)
    });
    match handled.await {
        Ok((status, value)) => {
            let body = serde_json::to_vec_pretty(&value).unwrap_or_default();
            response(status, "application/json;charset=UTF-8", Bytes::from(body))
        }
        Err(_) => response(500, "text/plain", Bytes::from_static(b"Internal Server Error")),
    }
}

fn response(status: u16, kind: &'static str, body: Bytes) -> hyper::Response<Full<Bytes>> {
    let mut response = hyper::Response::new(Full::new(body));
    *response.status_mut() =
        hyper::StatusCode::from_u16(status).unwrap_or(hyper::StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert("Content-Type", hyper::header::HeaderValue::from_static(kind));
    response
}

/// WebDriverAgent while it handles one request.
struct Agent<'a> {
    phone: &'a IPhone,
    state: &'a mut WdaState,
}

/// The application that a command works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    App,
    /// The home screen, or what the system lays over the app.
    System,
}

impl Agent<'_> {
    /// Returns the application that commands work on: the app under test as long as it is in front, or else what is
    /// in front.
    fn target(&self) -> Result<Target, WdaError> {
        let Some(front) = self.phone.applications() else { return Ok(Target::App) };
        let over = front.system.is_some();
        let tested = self.state.session.as_ref().and_then(|session| {
            let bundle_id = session.tested.as_deref()?;
            Some((bundle_id, session.expected_to_run))
        });
        let Some((tested, expected)) = tested else {
            return Ok(if over { Target::System } else { Target::App });
        };
        if front.bundle_id == tested {
            let respects = self.state.settings.flag("respectSystemAlerts");
            return Ok(if over && respects { Target::System } else { Target::App });
        }
        if expected && apps::state(self.phone, tested) == apps::NOT_RUNNING {
            return Err(WdaError::element_state(format!(
                "The application under test with bundle id '{tested}' is not running, possibly crashed"
            )));
        }
        Ok(if over { Target::System } else { Target::App })
    }

    /// Reads the tree of the target.
    async fn snapshot(&self) -> Result<Snapshot, WdaError> {
        let target = self.target()?;
        self.read(target).await
    }

    async fn read(&self, target: Target) -> Result<Snapshot, WdaError> {
        let depth = self.state.settings.number("snapshotMaxDepth");
        let pid = apps::front_pid(self.phone);
        if depth > DEPTH_MAX as f64 {
            return Err(WdaError::stale(format!(
                "The previously found element \"Target Application\" is not present in the current view anymore. \
                 Make sure the application UI has the expected state. Original error: Error kAXErrorIllegalArgument \
                 getting snapshot for element <AXUIElement Application pid={pid}> "
            )));
        }
        let deadline = Instant::now() + SNAPSHOT_TIMEOUT;
        while target == Target::App && !apps::responds(self.phone) {
            if Instant::now() >= deadline {
                return Err(WdaError::unknown(QUERY_TIMED_OUT));
            }
            tokio::time::sleep(REST_POLL).await;
        }
        let Some(front) = self.phone.applications() else {
            return Err(WdaError::unknown("Cannot get the source of the current application"));
        };
        let (bundle_id, application) = match (target, front.system) {
            (Target::System, Some(system)) => ("com.apple.springboard".to_owned(), system),
            _ => (front.bundle_id, front.app),
        };
        let application = if self.phone.config().iphone_faults.deep_tree && target == Target::App {
            deepened(application)
        } else {
            application
        };
        let pid = apps::pid(self.phone, &bundle_id).unwrap_or(pid);
        Ok(Snapshot::new(application, bundle_id, pid, depth.max(1.0) as usize))
    }

    /// Waits until the screen is at rest, for this many seconds at most; 0 does not wait.
    async fn rest(&self, seconds: f64) {
        if seconds <= 0.0 {
            return;
        }
        let hang = Duration::from_millis(self.phone.config().iphone_faults.idle_hang_ms);
        if !hang.is_zero() {
            tokio::time::sleep(hang).await;
        }
        let deadline = Instant::now() + Duration::from_secs_f64(seconds);
        while Instant::now() < deadline && !apps::is_at_rest(self.phone, REST) {
            tokio::time::sleep(REST_POLL.min(deadline - Instant::now())).await;
        }
    }

    /// Waits as XCTest does before and after every touch and key.
    async fn rest_for_event(&self) {
        self.rest(self.state.settings.seconds("waitForIdleTimeout")).await;
    }

    async fn source(&self, call: &route::Call) -> CommandResult {
        let wanted = source::Wanted::of(&call.query);
        if wanted.is_xml() {
            self.rest(self.state.settings.seconds("animationCoolOffTimeout")).await;
        }
        let snapshot = self.timed_snapshot().await?;
        source::write(&snapshot, &wanted, &self.state.settings)
    }

    /// Reads the tree as a client asks for it: it takes its time, and sometimes fails.
    async fn timed_snapshot(&self) -> Result<Snapshot, WdaError> {
        let (fault, timing) = self.phone.phone().with(|state| (state.next_dump_fault(), state.config.timing));
        match fault {
            Some(DumpFault::Slow(ms)) => tokio::time::sleep(Duration::from_millis(ms)).await,
            Some(DumpFault::Killed | DumpFault::ErrorExitZero | DumpFault::NotIdle) => {
                return Err(WdaError::unknown(QUERY_TIMED_OUT));
            }
            Some(DumpFault::NullRoot | DumpFault::Truncated(_) | DumpFault::NoNodes | DumpFault::Stale)
            | None => {}
        }
        let mut snapshot = self.snapshot().await?;
        let is_bare = !matches!(fault, None | Some(DumpFault::Slow(_)));
        if is_bare {
            snapshot.keep_application();
        }
        self.phone.phone().with(|state| state.note_tree(!is_bare));
        // The elements are read first; to tell each one's attributes takes longer.
        let pause = timing.wda_tree(snapshot.nodes.len());
        if !pause.is_zero() {
            tokio::time::sleep(pause).await;
        }
        Ok(snapshot)
    }

    async fn accessible_source(&self) -> CommandResult {
        let snapshot = self.snapshot().await?;
        Ok(source::accessible_tree(&snapshot, 0).unwrap_or_else(|| Value::Object(Default::default())))
    }
}

/// Puts so many views around the content that a snapshot cannot reach it.
fn deepened(mut application: UiElement) -> UiElement {
    let place = application.frame;
    for window in &mut application.children {
        let mut children = std::mem::take(&mut window.children);
        for _ in 0..DEPTH_MAX {
            let mut outer = UiElement::new("Other", place);
            outer.children = children;
            children = vec![outer];
        }
        window.children = children;
    }
    application
}

#[cfg(test)]
mod tests;
