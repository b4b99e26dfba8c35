//! Lists the devices, and which one calls go to.

use std::time::Duration;

use futures_util::future::join_all;
use mdm_core::port::{Availability, Listed};
use mdm_core::screen::snapshot::Platform;
use mdm_engine::{Progress, WantedDevice};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Call, Effect, Tool};
use crate::answer::{Answer, Facts};
use crate::app::App;
use crate::args::PlatformArg;
use crate::refusal::Refusal;

pub struct ListDevices;

#[derive(Deserialize, JsonSchema)]
pub struct ListDevicesParams {
    platform: Option<PlatformArg>,
    /// also tell where it is installed
    app_id: Option<String>,
}

#[derive(Debug, Serialize)]
pub struct DevicesFacts {
    devices: Vec<DeviceLine>,
    /// Failures of device sources, and what iPhones lack.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    issues: Vec<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct DeviceLine {
    platform: &'static str,
    id: String,
    /// `device` if it is usable.
    state: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    os_version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    simulator: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    app_installed: Option<bool>,
    /// Why the details of a usable device are missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl DevicesFacts {
    pub fn has_usable(&self) -> bool {
        self.devices.iter().any(|device| device.state == Availability::Ready.as_str())
    }
}

impl Tool for ListDevices {
    type Params = ListDevicesParams;
    const NAME: &'static str = "list_devices";
    const DESCRIPTION: &'static str = "Connected devices. Those in state \"device\" can be used.";
    const EFFECT: Effect = Effect::ReadOnly;
    const TIMEOUT: Duration = Duration::from_secs(15);

    async fn run(call: &Call<'_>, params: ListDevicesParams) -> Result<Answer, Refusal> {
        let fleet = &call.app.fleet;
        let platform = params.platform.map(Platform::from);
        let list = fleet.list(platform, call.progress).await;
        let app_id = params.app_id.as_deref();
        let lines = list.devices.iter().map(|device| describe(call.app, device, app_id, call.progress));
        let mut issues: Vec<String> = list.failures.iter().map(ToString::to_string).collect();
        if list.devices.iter().any(|listed| listed.platform == Platform::Ios) {
            issues.extend(missing_on_ios(call).await);
        }
        Ok(Answer::new(Facts::Devices(DevicesFacts { devices: join_all(lines).await, issues })))
    }
}

/// What an iPhone can do depends on what runs for it, so what is missing is said with it.
async fn missing_on_ios(call: &Call<'_>) -> Vec<String> {
    let healths = call.app.fleet.health(call.progress).await;
    let of_ios = healths.into_iter().filter(|(platform, _)| *platform == Platform::Ios);
    of_ios.filter_map(|(_, health)| health.ok()).flat_map(|health| health.issues).collect()
}

pub struct UseDevice;

#[derive(Deserialize, JsonSchema)]
pub struct UseDeviceParams {
    device_id: String,
}

/// The device that calls go to from now on.
#[derive(Debug, Serialize)]
pub struct UseDeviceFacts {
    device: String,
    platform: &'static str,
}

impl Tool for UseDevice {
    type Params = UseDeviceParams;
    const NAME: &'static str = "use_device";
    const DESCRIPTION: &'static str = "Calls that name no device go to this one from now on.";
    const EFFECT: Effect = Effect::ReadOnly;
    const TIMEOUT: Duration = Duration::from_secs(15);

    async fn run(call: &Call<'_>, params: UseDeviceParams) -> Result<Answer, Refusal> {
        let wanted = WantedDevice { id: Some(params.device_id), ..WantedDevice::default() };
        let session = call.app.fleet.choose(&wanted, call.progress).await?;
        let (device, platform) = (session.id().to_owned(), session.platform().as_str());
        Ok(Answer::new(Facts::UseDevice(UseDeviceFacts { device, platform })))
    }
}

async fn describe(app: &App, listed: &Listed, app_id: Option<&str>, progress: &Progress) -> DeviceLine {
    let mut line = DeviceLine {
        platform: listed.platform.as_str(),
        id: listed.id.clone(),
        state: listed.availability.as_str().to_owned(),
        os_version: None,
        model: None,
        simulator: None,
        app_installed: None,
        error: None,
    };
    if listed.availability != Availability::Ready {
        return line;
    }
    match app.fleet.session(listed).info(progress).await {
        Ok(info) => {
            line.os_version = Some(info.os_version);
            line.model = Some(info.model);
            line.simulator = Some(info.simulator);
        }
        Err(failure) => line.error = Some(failure.to_string()),
    }
    if let Some(app_id) = app_id {
        match app.fleet.session(listed).app_installed(app_id, progress).await {
            Ok(installed) => line.app_installed = Some(installed),
            Err(failure) => line.error = Some(failure.to_string()),
        }
    }
    line
}
