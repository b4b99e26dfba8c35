//! `simctl list devices -j` and the property lists of apps.

use std::collections::BTreeMap;

use plist::Value;
use serde::Deserialize;

const RUNTIME: &str = "com.apple.CoreSimulator.SimRuntime.";
const DEVICE_TYPE: &str = "com.apple.CoreSimulator.SimDeviceType.";
/// Simulators and apps that are listed.
const LISTED_MAX: usize = 5000;

/// One simulator of this Mac.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Simulator {
    pub udid: String,
    pub name: String,
    pub state: SimulatorState,
    /// `iOS 18.5`.
    pub runtime: String,
    /// `18.5`.
    pub os_version: String,
    /// `iPhone 15 Pro`; empty where it is not told.
    pub model: String,
    /// Why it cannot be used at all: its runtime was deleted, or needs another Xcode.
    pub unavailable: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SimulatorState {
    Booted,
    Shutdown,
    /// `Booting`, `Shutting Down`, `Creating`, or a word that is not known yet.
    Other(String),
}

/// One app of a simulator.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SimulatorApp {
    pub bundle: String,
    pub name: String,
    /// For people; simulators do not always tell it.
    pub version: Option<String>,
    pub build: Option<String>,
    pub system: bool,
    /// The bundle's folder on this Mac.
    pub path: Option<String>,
}

#[derive(Deserialize)]
struct Listing {
    devices: BTreeMap<String, Vec<Device>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Device {
    udid: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    state: String,
    is_available: Option<bool>,
    availability_error: Option<String>,
    device_type_identifier: Option<String>,
}

/// Reads the list, newest runtime of each platform last; `None` if it is none.
pub fn devices(json: &[u8]) -> Option<Vec<Simulator>> {
    let listing: Listing = serde_json::from_slice(json).ok()?;
    let mut all = Vec::new();
    for (runtime, devices) in listing.devices {
        let (platform, os_version) = runtime_name(&runtime);
        let runtime = format!("{platform} {os_version}").trim_end().to_owned();
        for device in devices {
            if all.len() == LISTED_MAX {
                return Some(all);
            }
            all.push(simulator(device, &runtime, &os_version));
        }
    }
    Some(all)
}

fn simulator(device: Device, runtime: &str, os_version: &str) -> Simulator {
    let unavailable = match (device.is_available, device.availability_error) {
        (Some(false), error) => Some(error.unwrap_or_else(|| "its runtime is not installed".to_owned())),
        _ => None,
    };
    let model = device.device_type_identifier.as_deref().and_then(|id| id.strip_prefix(DEVICE_TYPE));
    Simulator {
        state: match device.state.as_str() {
            "Booted" => SimulatorState::Booted,
            "Shutdown" => SimulatorState::Shutdown,
            other => SimulatorState::Other(other.to_owned()),
        },
        model: model.unwrap_or_default().replace('-', " ").trim_end().to_owned(),
        udid: device.udid,
        name: device.name,
        runtime: runtime.to_owned(),
        os_version: os_version.to_owned(),
        unavailable,
    }
}

/// `com.apple.CoreSimulator.SimRuntime.iOS-18-5` or `iOS 18.5`: the platform and the version.
fn runtime_name(id: &str) -> (String, String) {
    let name = id.strip_prefix(RUNTIME).unwrap_or(id);
    let (platform, version) = name.split_once(['-', ' ']).unwrap_or((name, ""));
    (platform.to_owned(), version.replace('-', "."))
}

/// Reads what `listapps` prints; `None` if it is none.
pub fn apps(text: &[u8]) -> Option<Vec<SimulatorApp>> {
    let listing = property_list(text)?.into_dictionary()?;
    let apps = listing.into_iter().take(LISTED_MAX).filter_map(|(bundle, app)| read_app(&bundle, &app));
    Some(apps.collect())
}

/// Reads what `appinfo` prints. Of an app that is not there it prints a dictionary too, with nothing in it.
pub fn app(text: &[u8], bundle: &str) -> Option<SimulatorApp> {
    let info = property_list(text)?;
    info.as_dictionary()?.get("ApplicationType")?;
    read_app(bundle, &info)
}

fn read_app(bundle: &str, app: &Value) -> Option<SimulatorApp> {
    let keys = app.as_dictionary()?;
    let text = |key: &str| match keys.get(key)? {
        Value::String(text) => Some(text.clone()),
        Value::Integer(number) => Some(number.to_string()),
        _ => None,
    };
    let name = text("CFBundleDisplayName").filter(|name| !name.is_empty()).or_else(|| text("CFBundleName"));
    Some(SimulatorApp {
        bundle: bundle.to_owned(),
        name: name.unwrap_or_else(|| bundle.to_owned()),
        version: text("CFBundleShortVersionString"),
        build: text("CFBundleVersion"),
        system: text("ApplicationType").is_some_and(|kind| kind != "User"),
        path: text("Path"),
    })
}

/// simctl prints the old form of property lists; XML in case that ever changes.
fn property_list(text: &[u8]) -> Option<Value> {
    if text.trim_ascii_start().starts_with(b"<?xml") {
        return plist::from_bytes(text).ok();
    }
    Value::from_reader_ascii(text).ok()
}

/// `PID\tStatus\tLabel` lines of `launchctl list`: the apps that run.
pub fn running(text: &str) -> Vec<(String, u32)> {
    let line = |line: &str| {
        let mut fields = line.split('\t');
        let (pid, _status, label) = (fields.next()?, fields.next()?, fields.next()?);
        let bundle = label.strip_prefix("UIKitApplication:")?.split('[').next()?;
        Some((bundle.to_owned(), pid.parse().ok()?))
    };
    text.lines().filter_map(line).take(LISTED_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_of_all_runtimes_are_read() {
        let json = br#"{"devices":{"com.apple.CoreSimulator.SimRuntime.iOS-26-0":[
            {"udid":"A","name":"iPhone 17","state":"Booted","isAvailable":true,
             "deviceTypeIdentifier":"com.apple.CoreSimulator.SimDeviceType.iPhone-17","dataPathSize":12}],
            "com.apple.CoreSimulator.SimRuntime.tvOS-14-2":[
            {"udid":"B","name":"TV","state":"Shutting Down","isAvailable":false,"availabilityError":"runtime profile not found"}],
            "iOS 8.1":[{"udid":"C","state":"Shutdown"}],"com.apple.CoreSimulator.SimRuntime.watchOS-11-5":[]}}"#;
        let all = devices(json).expect("a list");
        assert_eq!(all.len(), 3);
        assert_eq!((all[0].runtime.as_str(), all[0].model.as_str()), ("iOS 26.0", "iPhone 17"));
        assert_eq!((all[0].os_version.as_str(), &all[0].state), ("26.0", &SimulatorState::Booted));
        assert_eq!(all[1].unavailable.as_deref(), Some("runtime profile not found"));
        assert_eq!(all[1].state, SimulatorState::Other("Shutting Down".to_owned()));
        assert_eq!((all[2].runtime.as_str(), all[2].unavailable.as_deref()), ("iOS 8.1", None));
        assert_eq!(devices(b"{\"devices\":3}"), None);
    }

    #[test]
    fn the_old_form_of_property_lists_is_read() {
        let text = b"{\n    \"com.apple.Preferences\" =     {\n        ApplicationType = System;\n        CFBundleDisplayName = Settings;\n        CFBundleVersion = 1;\n        GroupContainers =         {\n        };\n        SBAppTags =         (\n        );\n    };\n    \"a.Caf\\U00e9\" =     {\n        ApplicationType = User;\n        CFBundleName = \"Caf\\U00e9 \\\"x\\\"\";\n        Path = \"/a b/c.app\";\n    };\n}\n";
        let all = apps(text).expect("a list");
        assert_eq!(all.len(), 2);
        assert_eq!((all[0].name.as_str(), all[0].system), ("Settings", true));
        assert_eq!((all[1].bundle.as_str(), all[1].name.as_str()), ("a.Caf\u{e9}", "Caf\u{e9} \"x\""));
        assert_eq!((all[1].path.as_deref(), all[1].system), (Some("/a b/c.app"), false));
        assert_eq!(app(b"{\n CFBundleIdentifier = \"a.b\";\n SBAppTags = (\n );\n}\n", "a.b"), None);
        assert_eq!(apps(b"nonsense {{{"), None);
    }

    #[test]
    fn running_apps_have_their_pids() {
        let text = "PID\tStatus\tLabel\n-\t0\tcom.apple.x\n1119\t0\tUIKitApplication:a.b[4c7a][rb-legacy]\n";
        assert_eq!(running(text), [("a.b".to_owned(), 1119)]);
    }
}
