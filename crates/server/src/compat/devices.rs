//! The list of devices.

use mdm_core::screen::snapshot::Platform;
use serde::Serialize;

use super::parts::os_version;
use super::{Block, Rendering};
use crate::answer::Facts;
use crate::tools::facts::DeviceLine;

#[derive(Serialize)]
struct Devices {
    devices: Vec<DeviceJson>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DeviceJson {
    platform: &'static str,
    id: String,
    os_version: String,
    model: String,
    simulator: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    booted: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    app_installed: Option<bool>,
}

impl DeviceJson {
    fn of(line: &DeviceLine) -> DeviceJson {
        let platform = if line.platform == "ios" { Platform::Ios } else { Platform::Android };
        let is_ios = platform == Platform::Ios;
        DeviceJson {
            platform: line.platform,
            id: line.id.clone(),
            os_version: line.os_version.as_ref().map_or_else(String::new, |os| os_version(platform, os)),
            model: line.model.clone().unwrap_or_default(),
            simulator: line.simulator.unwrap_or_default(),
            booted: is_ios.then(|| line.state == "device"),
            // Of Android it was always told, also when nobody had asked.
            app_installed: if is_ios {
                line.app_installed
            } else {
                Some(line.app_installed.unwrap_or(false))
            },
        }
    }
}

pub fn render(r: &Rendering<'_>) -> Option<Block> {
    let Facts::Devices(facts) = &r.answer.facts else { return None };
    Some(Block::json(&Devices { devices: facts.devices.iter().map(DeviceJson::of).collect() }))
}
