//! The phone itself: screen, lock, orientation, buttons, clipboard.

use base64::Engine as _;
use serde_json::{Value, json};

use super::Agent;
use super::answer::{CommandResult, WdaError};
use super::route::Call;
use crate::app::keys;
use crate::draw;
use crate::iphone::{IPhoneKind, SCALE};
use crate::shell::commands::pixels;
use crate::state::CLIPBOARD_BYTES_MAX;
use crate::surface::SystemEvent;

const STATUS_BAR_POINTS: i64 = 54;
const BUTTONS: [&str; 3] = ["home", "volumedown", "volumeup"];
const LANDSCAPE_RIGHT: &str = "UIA_DEVICE_ORIENTATION_LANDSCAPERIGHT";
const UPSIDE_DOWN: &str = "UIA_DEVICE_ORIENTATION_PORTRAIT_UPSIDEDOWN";
/// Names by quarter turns of the screen.
const ORIENTATIONS: [&str; 4] = ["PORTRAIT", "LANDSCAPE", UPSIDE_DOWN, LANDSCAPE_RIGHT];

impl Agent<'_> {
    fn size(&self) -> (i64, i64) {
        let screen = self.phone.phone().with(|state| state.screen());
        (i64::from(screen.width) / i64::from(SCALE), i64::from(screen.height) / i64::from(SCALE))
    }

    pub fn screenshot(&self) -> Value {
        let picture = draw::encode(&pixels(self.phone.phone()));
        json!(base64::engine::general_purpose::STANDARD.encode(&picture))
    }

    pub fn window_size(&self) -> CommandResult {
        self.target()?;
        let (width, height) = self.size();
        Ok(json!({ "width": width, "height": height }))
    }

    pub fn window_rect(&self) -> CommandResult {
        self.target()?;
        let (width, height) = self.size();
        Ok(json!({ "x": 0, "y": 0, "width": width, "height": height }))
    }

    pub fn screen(&self) -> Value {
        let (width, height) = self.size();
        json!({
            "screenSize": { "width": width, "height": height },
            "statusBarSize": { "width": width, "height": STATUS_BAR_POINTS },
            "scale": SCALE,
        })
    }

    pub fn device_info(&self) -> Value {
        let config = self.phone.config();
        let night =
            self.phone.phone().with(|state| state.settings.get("secure", "ui_night_mode").map(str::to_owned));
        json!({
            "currentLocale": "en_US",
            "timeZone": "GMT",
            "name": config.name,
            "model": "iPhone",
            "uuid": config.udid,
            "userInterfaceIdiom": 0,
            "userInterfaceStyle": if night.as_deref() == Some("2") { "dark" } else { "light" },
            "isSimulator": config.kind == IPhoneKind::Simulator,
            "thermalState": 0,
        })
    }

    pub fn location(&self) -> Value {
        json!({ "authorizationStatus": 0, "latitude": 0, "longitude": 0, "altitude": 0 })
    }

    pub fn set_appearance(&self, call: &Call) -> CommandResult {
        let night = match call.text("name").map(str::to_lowercase).as_deref() {
            Some("light") => false,
            Some("dark") => true,
            _ => return Err(WdaError::argument("The appearance name must be either 'light' or 'dark'")),
        };
        self.phone.phone().with(|state| {
            state.settings.put("secure", "ui_night_mode", if night { "2" } else { "1" });
            state.surface.system(SystemEvent::NightMode(night), state.now)
        });
        Ok(Value::Null)
    }

    pub fn is_locked(&self) -> bool {
        self.phone.is_locked()
    }

    pub fn set_locked(&self, locked: bool) -> CommandResult {
        self.phone.set_locked(locked);
        Ok(Value::Null)
    }

    pub fn orientation(&self) -> Value {
        let turns = self.phone.phone().with(|state| state.screen().rotation);
        json!(ORIENTATIONS[usize::from(turns % 4)])
    }

    pub fn set_orientation(&self, call: &Call) -> CommandResult {
        let wanted = call.text("orientation").unwrap_or("");
        match ORIENTATIONS.iter().zip(0u8..).find(|(name, _)| **name == wanted) {
            // An iPhone does not turn upside down.
            Some((_, turns)) if turns != 2 => {
                self.phone.phone().set_rotation(turns);
                Ok(Value::Null)
            }
            _ => Err(WdaError::unknown("Unable To Rotate Device")),
        }
    }

    pub fn rotation(&self) -> Value {
        let turns = self.phone.phone().with(|state| state.screen().rotation);
        json!({ "x": 0, "y": 0, "z": u32::from(turns % 4) * 90 })
    }

    pub fn set_rotation(&self, call: &Call) -> CommandResult {
        let (Some(x), Some(y), Some(z)) = (call.number("x"), call.number("y"), call.number("z")) else {
            return Err(WdaError::argument("x, y and z arguments must exist in the request body"));
        };
        let turns = match (x as i64, y as i64, z as i64) {
            (0, 0, 0) => 0,
            (0, 0, 90) => 1,
            (0, 0, 270) => 3,
            _ => return Err(WdaError::unknown("The current rotation cannot be set to the given one")),
        };
        self.phone.phone().set_rotation(turns);
        Ok(Value::Null)
    }

    pub async fn press_button(&mut self, call: &Call) -> CommandResult {
        let name = call.text("name").unwrap_or("");
        match name.to_lowercase().as_str() {
            "home" => self.home().await,
            "volumeup" | "volumedown" => Ok(Value::Null),
            _ => Err(WdaError::unknown(format!(
                "The button '{name}' is not supported. The device under test only supports the following buttons: \
                 (\n    {}\n)",
                BUTTONS.join(",\n    ")
            ))),
        }
    }

    /// Knows the keys that clients send: home (menu), power, volume.
    pub async fn hid_event(&mut self, call: &Call) -> CommandResult {
        let (page, usage) = (call.number("page").unwrap_or(0.0), call.number("usage").unwrap_or(0.0));
        match (page as i64, usage as i64) {
            (0x0C, 0x40) => return self.home().await,
            (0x0C, 0x30) => return self.set_locked(!self.is_locked()),
            (0x07, 0x28) => self.phone.phone().with(|state| state.key(keys::ENTER)),
            (0x07, 0x2A) => self.phone.phone().with(|state| state.key(keys::DEL)),
            (0x07, 0x9C) => self.phone.phone().with(|state| {
                state.select_all();
                state.key(keys::DEL);
            }),
            _ => {}
        }
        Ok(Value::Null)
    }

    pub fn set_pasteboard(&self, call: &Call) -> CommandResult {
        let content = call.text("content").unwrap_or("");
        let decoded = base64::engine::general_purpose::STANDARD.decode(content.trim());
        let text = decoded.ok().filter(|bytes| bytes.len() <= CLIPBOARD_BYTES_MAX);
        let Some(text) = text.and_then(|bytes| String::from_utf8(bytes).ok()) else {
            return Err(WdaError::argument("Cannot decode the pasteboard content from base64"));
        };
        check_content_type(call)?;
        self.phone.phone().with(|state| state.clipboard = text);
        Ok(Value::Null)
    }

    pub fn pasteboard(&self, call: &Call) -> CommandResult {
        check_content_type(call)?;
        let text = self.phone.phone().with(|state| state.clipboard.clone());
        Ok(json!(base64::engine::general_purpose::STANDARD.encode(text)))
    }
}

fn check_content_type(call: &Call) -> Result<(), WdaError> {
    match call.text("contentType").unwrap_or("plaintext") {
        "plaintext" => Ok(()),
        other => Err(WdaError::unknown(format!(
            "Unsupported content type: {other}. Only the following content types are supported: (\n    plaintext,\n    \
             image,\n    url\n)"
        ))),
    }
}
