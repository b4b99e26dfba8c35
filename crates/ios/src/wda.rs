//! WebDriverAgent: trees, touches, keys, apps and alerts of a real iPhone or a simulator, over HTTP.
//!
//! It answers what is in front of it at once where it can: our own session switches off its waiting for an app at rest,
//! because the engine judges that by what it sees.

mod actions;
mod http;

use std::sync::Mutex;

use base64::Engine as _;
use bytes::Bytes;
use hyper::{Method, StatusCode};
use mdm_core::port::{AlertAnswer, DeviceError, DeviceErrorKind, Dispatch, Orientation};
use mdm_core::screen::geometry::Rect;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

pub use actions::{Actions, Path};
use http::{Http, Lost};

use crate::connect::Connector;

/// Levels of the tree. The system gives no more than 62; without the setting WebDriverAgent stops at 50.
const DEPTH_MAX: u32 = 62;
/// Levels after the system refused the whole depth.
const DEPTH_WHEN_REFUSED: u32 = 30;
/// What the system says when a tree is deeper than it can tell.
const TOO_DEEP: &str = "kAXErrorIllegalArgument";
const DETAIL_CHARS_MAX: usize = 300;

pub struct Wda {
    http: Http,
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

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(default, rename = "sessionId")]
    session: Option<String>,
    #[serde(borrow)]
    value: &'a RawValue,
}

#[derive(Deserialize)]
struct ErrorValue {
    error: String,
    #[serde(default)]
    message: String,
}

#[derive(Debug, Clone, Deserialize)]
pub struct Status {
    pub os: Os,
    #[serde(default)]
    pub ios: Option<Ios>,
}

#[derive(Debug, Clone, Deserialize)]
pub struct Os {
    pub version: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Ios {
    /// Only simulators have it.
    #[serde(default)]
    pub simulator_version: Option<String>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct WdaDevice {
    pub name: Option<String>,
    pub model: Option<String>,
    pub uuid: Option<String>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
pub struct WdaScreen {
    pub scale: f64,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ActiveApp {
    pub pid: u32,
    pub bundle_id: String,
}

/// An element is named by the key of the standard, and by an older one.
#[derive(Deserialize)]
struct ElementId {
    #[serde(default, rename = "element-6066-11e4-a52e-4f735466cecf")]
    standard: Option<String>,
    #[serde(default, rename = "ELEMENT")]
    old: Option<String>,
}

impl ElementId {
    fn id(&self) -> Option<&str> {
        self.standard.as_deref().or(self.old.as_deref())
    }
}

#[derive(Deserialize)]
struct Frame {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
}

impl Frame {
    fn rect(&self) -> Rect {
        let round = |points: f64| points.round() as i32;
        Rect::new(round(self.x), round(self.y), round(self.x + self.width), round(self.y + self.height))
    }
}

/// What an app does, as XCTest counts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AppState {
    NotInstalledOrUnknown,
    NotRunning,
    Background,
    Foreground,
}

#[derive(Serialize)]
struct NewSession {
    capabilities: Capabilities,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Capabilities {
    always_match: SessionWishes,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SessionWishes {
    should_wait_for_quiescence: bool,
    /// Without it the app in front is ended with the session.
    should_terminate_app: bool,
}

#[derive(Serialize)]
struct SettingsBody {
    settings: Settings,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Settings {
    snapshot_max_depth: u32,
    wait_for_idle_timeout: f64,
    animation_cool_off_timeout: f64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AppBody<'a> {
    bundle_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    should_wait_for_quiescence: Option<bool>,
}

#[derive(Serialize)]
struct NameBody<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
}

#[derive(Serialize)]
struct KeysBody<'a> {
    value: Vec<&'a str>,
}

#[derive(Serialize)]
struct UrlBody<'a> {
    url: &'a str,
    #[serde(rename = "bundleId", skip_serializing_if = "Option::is_none")]
    bundle: Option<&'a str>,
}

#[derive(Serialize)]
struct OrientationBody {
    orientation: &'static str,
}

#[derive(Serialize)]
struct PasteboardBody {
    #[serde(rename = "contentType")]
    content_type: &'static str,
    content: String,
}

#[derive(Serialize)]
struct AppearanceBody {
    name: &'static str,
}

#[derive(Serialize)]
struct LocationBody {
    latitude: f64,
    longitude: f64,
}

#[derive(Serialize)]
struct Nothing {}

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
        Wda { http: Http::new(connector, address), state: Mutex::default() }
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

    /// Reads the tree as JSON, in which the identifier and the label of an element are told apart.
    pub async fn tree(&self) -> Result<Tree, DeviceError> {
        let path = "/source?format=json";
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
