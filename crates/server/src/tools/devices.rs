//! Lists the devices, and which one calls go to.

use std::time::Duration;

use futures_util::future::join_all;
use mdm_core::port::{Availability, Listed};
use mdm_core::screen::snapshot::Platform;
use mdm_engine::WantedDevice;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Call, Effect, Hints, Tool};
use crate::answer::{Answer, Facts};
use crate::args::{self, JsonObject, PlatformArg};
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
    pub devices: Vec<DeviceLine>,
    /// Failures of device sources.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    issues: Vec<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DeviceLine {
    pub platform: &'static str,
    pub id: String,
    /// `device` if it is usable.
    pub state: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub os_version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub simulator: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub app_installed: Option<bool>,
    /// What it needs to do more, or anything at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<String>,
    /// Another caller that acts on it at the moment.
    #[serde(skip_serializing_if = "Option::is_none")]
    leased_by: Option<String>,
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
        let list = call.app.fleet.list(params.platform.map(Platform::from), call.progress).await;
        let app_id = params.app_id.as_deref();
        let allowed = list.devices.iter().filter(|listed| call.app.policy.allows_device(&listed.id));
        let lines = allowed.map(|device| describe(call, device, app_id));
        let issues = list.failures.iter().map(ToString::to_string).collect();
        Ok(Answer::new(Facts::Devices(DevicesFacts { devices: join_all(lines).await, issues })))
    }
}

pub struct UseDevice;

#[derive(Deserialize, JsonSchema)]
pub struct UseDeviceParams {
    device_id: String,
    /// Take it from another caller that does nothing with it at the moment.
    #[schemars(extend("hidden" = true))]
    take_over: Option<bool>,
}

/// The device that calls go to from now on.
#[derive(Debug, Serialize, JsonSchema)]
pub struct UseDeviceFacts {
    device: String,
    platform: &'static str,
}

impl Tool for UseDevice {
    type Params = UseDeviceParams;
    const NAME: &'static str = "use_device";
    const DESCRIPTION: &'static str = "Calls that name no device go to this one from now on.";
    const EFFECT: Effect = Effect::ReadOnly;
    const HINTS: Hints = Hints { writes: true, only_adds: true, idempotent: true };
    const TIMEOUT: Duration = Duration::from_secs(15);
    const OUTPUT: Option<fn() -> JsonObject> = Some(args::schema::<UseDeviceFacts>);

    async fn run(call: &Call<'_>, params: UseDeviceParams) -> Result<Answer, Refusal> {
        let wanted = WantedDevice { id: Some(params.device_id), ..WantedDevice::default() };
        let session = call.device(&wanted, call.progress).await?;
        if params.take_over == Some(true) {
            call.app.leases.take_over(session.id(), &call.by.caller)?;
        }
        let (device, platform) = (session.id().to_owned(), session.platform().as_str());
        Ok(Answer::new(Facts::UseDevice(UseDeviceFacts { device, platform })))
    }
}

async fn describe(call: &Call<'_>, listed: &Listed, app_id: Option<&str>) -> DeviceLine {
    let (app, progress) = (call.app, call.progress);
    let mut line = DeviceLine {
        platform: listed.platform.as_str(),
        id: listed.id.clone(),
        state: listed.availability.as_str().to_owned(),
        os_version: None,
        model: None,
        simulator: None,
        app_installed: None,
        missing: listed.missing.clone(),
        leased_by: app.leases.other_holder(&listed.id, &call.by.caller),
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
