//! Appium's UiAutomator2 server: the W3C WebDriver protocol, started as an instrumentation.

mod actions;
mod element;
mod find;
mod source;
mod toast;
mod uiautomator;
mod xpath;

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::{RawValue, to_raw_value};

use super::automation::{Automation, settled};
use super::http::{Request, Response};
use super::{picture, serve, touch};
use crate::app::keys;
use crate::phone::Phone;
use crate::shell::commands::Call;
use crate::shell::io::BrokenPipe;
use element::KnownElement;

pub const PACKAGE: &str = "io.appium.uiautomator2.server.test";
/// The app that changes settings for the client. Its service runs once the app is installed.
pub const SETTINGS_PACKAGE: &str = "io.appium.settings";
const ADDRESS: &str = "tcp:6790";
/// Elements that one session remembers.
const ELEMENTS_MAX: usize = 10_000;

#[derive(Default)]
pub struct Server {
    session: Mutex<Session>,
}

#[derive(Default)]
struct Session {
    id: Option<String>,
    elements: BTreeMap<String, KnownElement>,
    next: u64,
}

type CommandResult = Result<Box<RawValue>, WebDriverError>;

/// A W3C error.
#[derive(Debug, Serialize)]
pub struct WebDriverError {
    #[serde(skip)]
    status: u16,
    error: &'static str,
    message: String,
    stacktrace: String,
}

impl WebDriverError {
    fn new(status: u16, error: &'static str, message: impl Into<String>) -> WebDriverError {
        WebDriverError { status, error, message: message.into(), stacktrace: String::new() }
    }

    fn argument() -> WebDriverError {
        WebDriverError::new(400, "invalid argument", "The arguments cannot be read")
    }

    fn no_element() -> WebDriverError {
        let message = "An element could not be located on the page using the given search parameters.";
        WebDriverError::new(404, "no such element", message)
    }

    fn stale() -> WebDriverError {
        WebDriverError::new(404, "stale element reference", "The element does not exist in DOM anymore")
    }
}

fn success(value: impl Serialize) -> CommandResult {
    to_raw_value(&value).map_err(|e| WebDriverError::new(500, "unknown error", e.to_string()))
}

fn parse_arguments<T: DeserializeOwned>(body: &[u8]) -> Result<T, WebDriverError> {
    serde_json::from_slice(body).map_err(|_| WebDriverError::argument())
}

pub async fn launch(call: &Call<'_>) -> Result<u8, BrokenPipe> {
    let Some(_automation) = Automation::take(call.phone) else {
        call.io.stdout.write(Automation::REFUSED).await?;
        return Ok(1);
    };
    serve(call, ADDRESS, super::Server::Appium(std::sync::Arc::new(Server::default()))).await
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Reply<'a, T: Serialize> {
    session_id: Option<&'a str>,
    value: T,
}

impl Server {
    fn session(&self) -> MutexGuard<'_, Session> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub async fn answer(&self, phone: &Phone, request: Request) -> Response {
        let path: Vec<&str> = request.path.trim_matches('/').split('/').collect();
        let outcome = self.route(phone, &request.method, &path, &request.body).await;
        let session = self.session().id.clone();
        let (status, body) = match outcome {
            Ok(value) => (200, serde_json::to_vec(&Reply { session_id: session.as_deref(), value })),
            Err(fault) => {
                (fault.status, serde_json::to_vec(&Reply { session_id: session.as_deref(), value: fault }))
            }
        };
        match body {
            Ok(body) => Response::json(status, body),
            Err(_) => Response::text(500, "Internal Server Error"),
        }
    }

    async fn route(&self, phone: &Phone, method: &str, path: &[&str], body: &[u8]) -> CommandResult {
        match (method, path) {
            ("GET", ["status"]) => success(Status { ready: true, message: "UiAutomator2 Server is ready" }),
            ("GET", ["sessions"]) => success(Vec::<String>::new()),
            ("POST", ["session"]) => self.begin(phone),
            ("DELETE", ["session", _]) => {
                *self.session() = Session::default();
                success(())
            }
            (_, ["session", id, rest @ ..]) => {
                if self.session().id.as_deref() != Some(*id) {
                    return Err(WebDriverError::new(
                        404,
                        "invalid session id",
                        "The session identified by id is not known",
                    ));
                }
                settled(phone).await;
                self.in_session(phone, method, rest, body).await
            }
            _ => Err(unknown()),
        }
    }

    fn begin(&self, phone: &Phone) -> CommandResult {
        let id = phone.with(|state| format!("{:016x}-{:016x}", state.random.number(), state.random.number()));
        *self.session() = Session { id: Some(id.clone()), ..Session::default() };
        success(BTreeMap::from([("sessionId", id)]))
    }

    async fn in_session(&self, phone: &Phone, method: &str, path: &[&str], body: &[u8]) -> CommandResult {
        match (method, path) {
            ("GET", ["source"]) => success(source::write(phone)),
            ("GET", ["screenshot"]) => success(STANDARD.encode(picture::png(phone))),
            ("GET", ["window", _, "size" | "rect"] | ["window", "rect"]) => success(window(phone)),
            (_, ["orientation" | "rotation"]) => rotation(phone, method, path, body),
            ("POST", ["back"]) => {
                touch::key(phone, keys::BACK);
                success(())
            }
            ("POST", ["appium", "device", "press_keycode"]) => {
                touch::key(phone, parse_arguments::<KeyCode>(body)?.keycode);
                success(())
            }
            ("GET", ["appium", "device", "info"]) => success(device(phone)),
            ("GET", ["appium", "device", "pixel_ratio"]) => {
                success(phone.with(|state| f64::from(state.screen().density) / 160.0))
            }
            ("GET", ["appium", "device", "system_bars"]) => success(SystemBars { status_bar: 63 }),
            ("GET", ["appium", "device", "display_density"]) => success(phone.with(|s| s.screen().density)),
            ("GET" | "POST", ["appium", "settings"]) => success(BTreeMap::<String, String>::new()),
            ("POST", ["timeouts" | "appium", ..]) if path == ["timeouts", "implicit_wait"] => success(()),
            ("POST", ["element"]) => self.find(phone, body, None).await,
            ("POST", ["elements"]) => self.find_all(phone, body, None).await,
            ("POST", ["element", id, "element"]) => self.find(phone, body, Some(id)).await,
            ("POST", ["element", id, "elements"]) => self.find_all(phone, body, Some(id)).await,
            ("POST", ["actions"]) => actions::perform(phone, parse_arguments(body)?).await,
            ("DELETE", ["actions"]) => success(()),
            ("POST", ["appium", "gestures", name]) => self.gesture(phone, name, body).await,
            (method, ["element", id, what @ ..]) => self.element(phone, method, id, what, body),
            _ => Err(unknown()),
        }
    }
}

#[derive(serde::Deserialize)]
struct Orientation {
    orientation: String,
}

#[derive(serde::Deserialize)]
struct Rotation {
    x: i32,
    y: i32,
    z: i32,
}

/// Reads or sets the orientation (portrait or landscape), or the exact rotation.
fn rotation(phone: &Phone, method: &str, path: &[&str], body: &[u8]) -> CommandResult {
    let turns = phone.with(|state| state.display.rotation());
    let is_exact = path == ["rotation"];
    if method == "GET" {
        let degrees = turns * 90;
        return match is_exact {
            true => success(BTreeMap::from([("x", 0), ("y", 0), ("z", degrees)])),
            false => success(if turns % 2 == 1 { "LANDSCAPE" } else { "PORTRAIT" }),
        };
    }
    let wanted = if is_exact {
        let asked: Rotation = parse_arguments(body)?;
        match (asked.x, asked.y, asked.z) {
            (0, 0, 0) => 0,
            (0, 0, 90) => 1,
            (0, 0, 180) => 2,
            (0, 0, 270) => 3,
            _ => return Err(WebDriverError::argument()),
        }
    } else {
        match parse_arguments::<Orientation>(body)?.orientation.as_str() {
            // A screen that is in landscape already stays as it is.
            "LANDSCAPE" if turns % 2 == 1 => turns as u8,
            "LANDSCAPE" => 1,
            "PORTRAIT" if turns.is_multiple_of(2) => turns as u8,
            "PORTRAIT" => 0,
            _ => return Err(WebDriverError::argument()),
        }
    };
    touch::rotate(phone, wanted);
    success(())
}

fn unknown() -> WebDriverError {
    WebDriverError::new(404, "unknown command", "The command is not known to this server")
}

#[derive(Serialize)]
struct Status {
    ready: bool,
    message: &'static str,
}

#[derive(Serialize)]
struct Window {
    x: i32,
    y: i32,
    width: i32,
    height: i32,
}

fn window(phone: &Phone) -> Window {
    let screen = phone.with(|state| state.screen());
    Window { x: 0, y: 0, width: screen.width, height: screen.height }
}

#[derive(serde::Deserialize)]
struct KeyCode {
    keycode: u32,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SystemBars {
    status_bar: i32,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DeviceInfo {
    android_id: String,
    api_version: String,
    brand: String,
    manufacturer: String,
    model: String,
    platform_version: String,
    real_display_size: String,
    display_density: u32,
}

fn device(phone: &Phone) -> DeviceInfo {
    phone.with(|state| {
        let property = |name: &str| state.properties.get(name).cloned().unwrap_or_default();
        let (width, height) = state.display.physical_size();
        DeviceInfo {
            android_id: format!("{:016x}", state.config.seed),
            api_version: state.config.sdk.to_string(),
            brand: property("ro.product.brand"),
            manufacturer: property("ro.product.manufacturer"),
            model: property("ro.product.model"),
            platform_version: state.config.android_version.clone(),
            real_display_size: format!("{width}x{height}"),
            display_density: state.screen().density,
        }
    })
}
