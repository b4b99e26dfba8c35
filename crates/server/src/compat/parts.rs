//! What many of the predecessor's answers have in common: the device, times, what was asked.

use mdm_core::port::DeviceInfo;
use mdm_core::screen::snapshot::Platform;
use serde::Serialize;
use serde_json::Value;

use super::element::{Number, parse_element_id};
use crate::args::{self, JsonObject};
use crate::target::SelectorArg;

#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Device {
    pub platform: &'static str,
    pub id: String,
    pub os_version: String,
    pub model: String,
    pub simulator: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub app_installed: Option<bool>,
}

impl Device {
    pub fn of(info: &DeviceInfo) -> Device {
        Device {
            platform: info.platform.as_str(),
            id: info.id.clone(),
            os_version: os_version(info.platform, &info.os_version),
            model: info.model.clone(),
            simulator: info.simulator,
            app_installed: None,
        }
    }

    /// The device of a call that reached none.
    pub fn unknown(platform: &'static str) -> Device {
        Device {
            platform,
            id: "default".to_owned(),
            os_version: String::new(),
            model: String::new(),
            simulator: false,
            app_installed: None,
        }
    }
}

/// Versions of iOS had their system's name before them.
pub fn os_version(platform: Platform, version: &str) -> String {
    match platform {
        Platform::Android => version.to_owned(),
        Platform::Ios => format!("iOS {version}"),
    }
}

/// `2026-11-15T07:58:02.911Z`
pub fn iso(ms: u64) -> String {
    let nanos = i128::from(ms) * 1_000_000;
    let at =
        time::OffsetDateTime::from_unix_timestamp_nanos(nanos).unwrap_or(time::OffsetDateTime::UNIX_EPOCH);
    let (year, month, day) = at.to_calendar_date();
    let (hour, minute, second, milli) = at.to_hms_milli();
    let month = u8::from(month);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z")
}

/// The arguments of a call as the client wrote them. Parts of them are said again in answers.
pub struct Asked {
    arguments: JsonObject,
}

impl Asked {
    pub fn new(arguments: JsonObject) -> Asked {
        Asked { arguments }
    }

    /// The value under a name of either spelling.
    pub fn get(&self, name: &str) -> Option<&Value> {
        let found = self.arguments.iter().find(|(given, _)| args::is_named(given, name));
        found.map(|(_, value)| value).filter(|value| !value.is_null())
    }

    pub fn text(&self, name: &str) -> Option<&str> {
        self.get(name)?.as_str()
    }

    pub fn number(&self, name: &str) -> Option<f64> {
        self.get(name)?.as_f64()
    }

    pub fn object(&self, name: &str) -> Option<&JsonObject> {
        self.get(name)?.as_object()
    }

    pub fn selector(&self) -> Option<&JsonObject> {
        self.object("selector")
    }

    /// The selector as ours, with the element id of the call where it has no selector.
    pub fn our_selector(&self) -> Option<mdm_core::intent::selector::Selector> {
        if let Some(id) = self.text("element_id").and_then(parse_element_id) {
            return Some(mdm_core::intent::selector::Selector { id: Some(id), ..Default::default() });
        }
        let (known, _) = super::arguments::known_keys(self.selector()?.clone());
        SelectorArg::read(known).ok()?.selector().ok()
    }
}

/// A number that the caller gave, or the usual one.
pub fn number_or(asked: &Asked, name: &str, usual: f64) -> Number {
    Number(asked.number(name).unwrap_or(usual))
}
