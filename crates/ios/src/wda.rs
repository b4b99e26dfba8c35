//! WebDriverAgent: trees, touches, keys, apps and alerts of a real iPhone or a simulator, over HTTP.
//!
//! It answers what is in front of it at once where it can: our own session switches off its waiting for an app at rest,
//! because the engine judges that by what it sees.

mod actions;
mod http;
mod messages;
mod start;

use std::sync::{Arc, Mutex};

use base64::Engine as _;
use bytes::Bytes;
use hyper::{Method, StatusCode};
use mdm_core::port::{AlertAnswer, DeviceError, DeviceErrorKind, Dispatch, Orientation};
use mdm_core::screen::geometry::Rect;
use serde::Serialize;
use serde::de::DeserializeOwned;

pub use actions::{Actions, Path};
use http::{Http, Lost};
pub use messages::{ActiveApp, AppState, Status, WdaDevice, WdaScreen};
use messages::{
    AppBody, AppearanceBody, Capabilities, ElementId, Envelope, ErrorValue, FindBody, Frame, KeysBody,
    LocationBody, NameBody, NewSession, Nothing, OrientationBody, PasteboardBody, SessionWishes, Settings,
    SettingsBody, UrlBody,
};
pub use start::{RunnerNews, RunnerStarter, Runners, WDA_PORT};

use crate::connect::Connector;

/// Levels of the tree. The system gives no more than 62; without the setting WebDriverAgent stops at 50.
const DEPTH_MAX: u32 = 62;
const USUAL_DEPTH: u32 = 50;
/// Levels after the system refused the whole depth.
const DEPTH_WHEN_REFUSED: u32 = 30;
/// What the system says when a tree is deeper than it can tell.
const TOO_DEEP: &str = "kAXErrorIllegalArgument";
/// Characters of WebDriverAgent's own words in an error.
const DETAIL_CHARS_MAX: usize = 300;

pub struct Wda {
    http: Http,
    /// Starts it on a phone where it is installed.
    starter: Option<Arc<RunnerStarter>>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    session: Option<Session>,
}

#[derive(Clone)]
struct Session {
    id: String,
    /// We made it, so its settings are ours to change.
    is_ours: bool,
}

/// The tree as it was sent, and whether it is known to be cut.
pub struct Tree {
    pub bytes: Bytes,
    pub is_cut: bool,
}

/// Whether a request changes something.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Read,
    Effect,
}

impl Wda {
    /// `address` is what people call it, such as `127.0.0.1:8100`.
    pub fn new(connector: Connector, address: String) -> Wda {
        Wda { http: Http::new(connector, address), starter: None, state: Mutex::default() }
    }

    /// One that is started when it is asked for the first time.
    pub fn started_by(starter: Arc<RunnerStarter>, address: String) -> Wda {
        Wda { starter: Some(Arc::clone(&starter)), ..Wda::new(starter.connector(), address) }
    }

    /// False if a request would have to start it.
    pub async fn runs(&self) -> bool {
        match &self.starter {
            Some(starter) => starter.listens().await,
            None => true,
        }
    }

    pub fn address(&self) -> &str {
        self.http.address()
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    pub async fn status(&self) -> Result<Status, DeviceError> {
        self.read("/status").await
    }

    pub async fn device(&self) -> Result<WdaDevice, DeviceError> {
        self.read("/wda/device/info").await
    }

    pub async fn screen(&self) -> Result<WdaScreen, DeviceError> {
        self.read("/wda/screen").await
    }

    pub async fn active_app(&self) -> Result<ActiveApp, DeviceError> {
        self.read_in_session("/wda/activeAppInfo").await
    }

    pub async fn is_locked(&self) -> Result<bool, DeviceError> {
        self.read("/wda/locked").await
    }

    /// The levels after which trees end without a word. A session of another client has its own, or the usual number.
    pub fn depth_max(&self) -> u32 {
        if self.session_is_ours() { DEPTH_MAX } else { USUAL_DEPTH }
    }

    /// Reads the tree as JSON, in which the identifier and the label of an element are told apart.
    pub async fn tree(&self) -> Result<Tree, DeviceError> {
        // What is left out is told twice, or not read. What is visible costs a phone most, and nothing else tells it.
        let path =
            "/source?format=json&excluded_attributes=frame,nativeFrame,accessible,nativeAccessibilityElement";
        match self.in_session(Kind::Read, Method::GET, path, &()).await {
            Err(error) if error.detail.contains(TOO_DEEP) && self.session_is_ours() => {
                self.set_depth(DEPTH_WHEN_REFUSED).await?;
                let bytes = self.in_session(Kind::Read, Method::GET, path, &()).await;
                // The next tree may be shallow again.
                self.set_depth(DEPTH_MAX).await?;
                bytes.map(|bytes| Tree { bytes, is_cut: true })
            }
            read => read.map(|bytes| Tree { bytes, is_cut: false }),
        }
    }

    /// Returns where the element is that the keyboard types into. Trees do not tell it.
    pub async fn active_frame(&self) -> Result<Option<Rect>, DeviceError> {
        let found = match self.in_session(Kind::Read, Method::GET, "/element/active", &()).await {
            Ok(bytes) => value::<ElementId>(&bytes)?,
            // Nothing has it, or what had it has just gone.
            Err(error) if error.kind == DeviceErrorKind::Rejected => return Ok(None),
            Err(error) => return Err(error),
        };
        let Some(id) = found.id().filter(|id| is_session_id(id)) else { return Ok(None) };
        match self.read_in_session::<Frame>(&format!("/element/{id}/rect")).await {
            Ok(frame) => Ok(Some(frame.rect())),
            Err(error) if error.kind == DeviceErrorKind::Rejected => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns a PNG.
    pub async fn screenshot(&self) -> Result<Vec<u8>, DeviceError> {
        let text: String = self.read("/screenshot").await?;
        let undecodable = |error: base64::DecodeError| {
            let detail = format!("the picture of WebDriverAgent is not base64: {error}");
            DeviceError::new(DeviceErrorKind::ScreenshotUnavailable, detail)
        };
        let bytes: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
        base64::engine::general_purpose::STANDARD.decode(bytes).map_err(undecodable)
    }

    pub async fn perform(&self, fingers: Vec<Path>) -> Result<(), DeviceError> {
        self.act("/actions", &Actions::of(fingers)).await
    }

    /// Brings a slider to a part of its length: the one with this number of so many on the screen. Where another number of
    /// them is found, the screen has changed and nothing is done.
    pub async fn set_slider(&self, number: usize, count: usize, fraction: f64) -> Result<(), DeviceError> {
        let body = FindBody { using: "class name", value: "XCUIElementTypeSlider" };
        let found = self.in_session(Kind::Read, Method::POST, "/elements", &body).await?;
        let found: Vec<ElementId> = value(&found)?;
        let slider = found.get(number).filter(|_| found.len() == count);
        let Some(id) = slider.and_then(ElementId::id).filter(|id| is_session_id(id)) else {
            let detail = format!("{} sliders were found where the tree had {count}", found.len());
            return Err(DeviceError::new(DeviceErrorKind::Rejected, detail));
        };
        let text = format!("{fraction:.4}");
        self.act(&format!("/element/{id}/value"), &KeysBody { value: vec![&text] }).await
    }

    /// Types into the field that has the keyboard.
    pub async fn type_keys(&self, text: &str) -> Result<(), DeviceError> {
        let mut buffer = [0; 4];
        let characters: Vec<String> = text.chars().map(|c| c.encode_utf8(&mut buffer).to_owned()).collect();
        let value = characters.iter().map(String::as_str).collect();
        self.act("/wda/keys", &KeysBody { value }).await
    }

    pub async fn dismiss_keyboard(&self) -> Result<(), DeviceError> {
        self.act("/wda/keyboard/dismiss", &Nothing {}).await
    }

    pub async fn home(&self) -> Result<(), DeviceError> {
        self.act_without_session("/wda/homescreen").await
    }

    pub async fn lock(&self, locked: bool) -> Result<(), DeviceError> {
        self.act_without_session(if locked { "/wda/lock" } else { "/wda/unlock" }).await
    }

    /// `volumeUp`, `volumeDown`, `home`, and on newer phones `action` and `camera`.
    pub async fn press_button(&self, name: &str) -> Result<(), DeviceError> {
        self.act("/wda/pressButton", &NameBody { name: Some(name) }).await
    }

    pub async fn turn(&self, wanted: Orientation) -> Result<(), DeviceError> {
        let orientation = match wanted {
            Orientation::Landscape => "LANDSCAPE",
            Orientation::Portrait | Orientation::Auto => "PORTRAIT",
        };
        self.act("/orientation", &OrientationBody { orientation }).await
    }

    pub async fn launch(&self, app: &str) -> Result<(), DeviceError> {
        let body = AppBody { bundle_id: app, should_wait_for_quiescence: Some(false) };
        self.act("/wda/apps/launch", &body).await
    }

    pub async fn terminate(&self, app: &str) -> Result<(), DeviceError> {
        self.act("/wda/apps/terminate", &AppBody { bundle_id: app, should_wait_for_quiescence: None }).await
    }

    pub async fn app_state(&self, app: &str) -> Result<AppState, DeviceError> {
        let body = AppBody { bundle_id: app, should_wait_for_quiescence: None };
        let bytes = self.in_session(Kind::Read, Method::POST, "/wda/apps/state", &body).await?;
        Ok(match value::<u32>(&bytes)? {
            1 => AppState::NotRunning,
            2 | 3 => AppState::Background,
            4 => AppState::Foreground,
            _ => AppState::NotInstalledOrUnknown,
        })
    }

    pub async fn open_url(&self, url: &str, app: Option<&str>) -> Result<(), DeviceError> {
        self.act("/url", &UrlBody { url, bundle: app }).await
    }

    pub async fn answer_alert(&self, answer: &AlertAnswer) -> Result<(), DeviceError> {
        let (path, name) = match answer {
            AlertAnswer::Accept => ("/alert/accept", None),
            AlertAnswer::Dismiss => ("/alert/dismiss", None),
            AlertAnswer::Button(name) => ("/alert/accept", Some(name.as_str())),
        };
        self.act(path, &NameBody { name }).await
    }

    pub async fn set_clipboard(&self, text: &str) -> Result<(), DeviceError> {
        let content = base64::engine::general_purpose::STANDARD.encode(text);
        self.act("/wda/setPasteboard", &PasteboardBody { content_type: "plaintext", content }).await
    }

    pub async fn set_dark(&self, dark: bool) -> Result<(), DeviceError> {
        let body = AppearanceBody { name: if dark { "dark" } else { "light" } };
        let body = encode(&body)?;
        self.ask(Kind::Effect, Method::POST, "/wda/device/appearance", body).await.map(drop)
    }

    /// Tells apps this place, or the real one again.
    pub async fn set_location(&self, place: Option<(f64, f64)>) -> Result<(), DeviceError> {
        match place {
            Some((latitude, longitude)) => {
                self.act("/wda/simulatedLocation", &LocationBody { latitude, longitude }).await
            }
            None => {
                let path = "/wda/simulatedLocation";
                self.in_session(Kind::Effect, Method::DELETE, path, &()).await.map(drop)
            }
        }
    }

    pub async fn close(&self) {
        self.http.close().await;
    }

    async fn act<B: Serialize>(&self, path: &str, body: &B) -> Result<(), DeviceError> {
        self.in_session(Kind::Effect, Method::POST, path, body).await.map(drop)
    }

    async fn act_without_session(&self, path: &str) -> Result<(), DeviceError> {
        self.ask(Kind::Effect, Method::POST, path, encode(&Nothing {})?).await.map(drop)
    }

    async fn read<T: DeserializeOwned>(&self, path: &str) -> Result<T, DeviceError> {
        value(&self.ask(Kind::Read, Method::GET, path, Bytes::new()).await?.0)
    }

    async fn read_in_session<T: DeserializeOwned>(&self, path: &str) -> Result<T, DeviceError> {
        value(&self.in_session(Kind::Read, Method::GET, path, &()).await?)
    }

    /// Asks within a session. One that another client has ended is made anew: the request was then refused unread.
    async fn in_session<B: Serialize>(
        &self,
        kind: Kind,
        method: Method,
        path: &str,
        body: &B,
    ) -> Result<Bytes, DeviceError> {
        let body = if method == Method::POST { encode(body)? } else { Bytes::new() };
        for is_last in [false, true] {
            let session = self.session().await?;
            let whole = format!("/session/{session}{path}");
            match self.ask(kind, method.clone(), &whole, body.clone()).await {
                Err(error) if error.kind == DeviceErrorKind::ServiceMissing && !is_last => {
                    self.state().session = None;
                }
                asked => return asked.map(|(bytes, _)| bytes),
            }
        }
        Err(DeviceError::new(DeviceErrorKind::Protocol, "WebDriverAgent ends every session at once"))
    }

    fn session_is_ours(&self) -> bool {
        self.state().session.as_ref().is_some_and(|session| session.is_ours)
    }

    /// Returns the session in use: ours, or the one that another client made. A new one would end that.
    async fn session(&self) -> Result<String, DeviceError> {
        if let Some(session) = self.state().session.clone() {
            return Ok(session.id);
        }
        let (_, current) = self.ask(Kind::Read, Method::GET, "/status", Bytes::new()).await?;
        if let Some(id) = current.filter(|id| is_session_id(id)) {
            self.state().session = Some(Session { id: id.clone(), is_ours: false });
            return Ok(id);
        }
        let always_match = SessionWishes { should_wait_for_quiescence: false, should_terminate_app: false };
        let body = encode(&NewSession { capabilities: Capabilities { always_match } })?;
        let (_, made) = self.ask(Kind::Read, Method::POST, "/session", body).await?;
        let id = made.filter(|id| is_session_id(id)).ok_or_else(|| {
            DeviceError::new(DeviceErrorKind::Protocol, "WebDriverAgent made a session without an id")
        })?;
        self.state().session = Some(Session { id: id.clone(), is_ours: true });
        self.set_depth_of(&id, DEPTH_MAX).await?;
        Ok(id)
    }

    async fn set_depth(&self, depth: u32) -> Result<(), DeviceError> {
        let session = self.session().await?;
        self.set_depth_of(&session, depth).await
    }

    async fn set_depth_of(&self, session: &str, depth: u32) -> Result<(), DeviceError> {
        let settings = Settings {
            snapshot_max_depth: depth,
            wait_for_idle_timeout: 0.0,
            animation_cool_off_timeout: 0.0,
        };
        let path = format!("/session/{session}/appium/settings");
        let body = encode(&SettingsBody { settings })?;
        self.ask(Kind::Read, Method::POST, &path, body).await.map(drop)
    }

    /// Returns the answer and the session that it names.
    async fn ask(
        &self,
        kind: Kind,
        method: Method,
        path: &str,
        body: Bytes,
    ) -> Result<(Bytes, Option<String>), DeviceError> {
        let (status, bytes) =
            self.http.ask(method, path, body).await.map_err(|lost| self.lost(kind, lost))?;
        let envelope: Envelope<'_> = serde_json::from_slice(&bytes).map_err(|error| {
            let detail = format!("{} does not answer as WebDriverAgent does: {error}", self.address());
            DeviceError::new(DeviceErrorKind::Protocol, detail).with_dispatch(unknown(kind))
        })?;
        if status == StatusCode::OK {
            let session = envelope.session;
            return Ok((bytes, session));
        }
        let told = serde_json::from_str(envelope.value.get());
        let told = told.unwrap_or(ErrorValue { error: status.to_string(), message: String::new() });
        Err(refused(kind, &told))
    }

    fn lost(&self, kind: Kind, lost: Lost) -> DeviceError {
        match lost {
            Lost::NotStarted(error) => error,
            Lost::Unreachable(why) => {
                let detail = format!(
                    "WebDriverAgent does not answer at {}: {why}; start it on the phone and see that its port is forwarded",
                    self.address()
                );
                DeviceError::new(DeviceErrorKind::Offline, detail)
            }
            Lost::Broken(why) => {
                self.state().session = None;
                let detail = format!("the connection to WebDriverAgent at {} broke: {why}", self.address());
                DeviceError::new(DeviceErrorKind::ConnectionLost, detail).with_dispatch(unknown(kind))
            }
        }
    }
}

fn unknown(kind: Kind) -> Dispatch {
    match kind {
        Kind::Read => Dispatch::NotSent,
        Kind::Effect => Dispatch::Unknown,
    }
}

/// Turns WebDriverAgent's own words into ours. What it says it refused was not done; of what failed or timed out inside,
/// a touch may still come true later.
fn refused(kind: Kind, told: &ErrorValue) -> DeviceError {
    let (found, dispatch) = match told.error.as_str() {
        "invalid session id" => (DeviceErrorKind::ServiceMissing, Dispatch::Refused),
        "unknown command" | "unknown method" | "unsupported operation" => {
            (DeviceErrorKind::NotSupported, Dispatch::Refused)
        }
        "invalid argument" | "invalid coordinates" => (DeviceErrorKind::InvalidRequest, Dispatch::Refused),
        "no such element"
        | "no such alert"
        | "invalid element state"
        | "element not visible"
        | "stale element reference" => (DeviceErrorKind::Rejected, Dispatch::Refused),
        "unable to capture screen" => (DeviceErrorKind::ScreenshotUnavailable, unknown(kind)),
        "timeout" => (DeviceErrorKind::NotIdle, unknown(kind)),
        _ => (DeviceErrorKind::Rejected, unknown(kind)),
    };
    let words: String = told.message.chars().take(DETAIL_CHARS_MAX).collect();
    let detail = format!("WebDriverAgent: {}: {words}", told.error);
    let dispatch = if kind == Kind::Read { Dispatch::NotSent } else { dispatch };
    DeviceError::new(found, detail).with_dispatch(dispatch)
}

/// Ids are put into paths, so they may hold nothing else than what WebDriverAgent's have.
fn is_session_id(id: &str) -> bool {
    !id.is_empty() && id.len() <= 64 && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

fn encode<B: Serialize>(body: &B) -> Result<Bytes, DeviceError> {
    serde_json::to_vec(body)
        .map(Bytes::from)
        .map_err(|error| DeviceError::new(DeviceErrorKind::InvalidRequest, error.to_string()))
}

fn value<T: DeserializeOwned>(answer: &[u8]) -> Result<T, DeviceError> {
    let envelope: Result<Envelope<'_>, _> = serde_json::from_slice(answer);
    let value = envelope.and_then(|envelope| serde_json::from_str(envelope.value.get()));
    value.map_err(|error| {
        let detail = format!("WebDriverAgent answered something else than was asked for: {error}");
        DeviceError::new(DeviceErrorKind::Protocol, detail)
    })
}
