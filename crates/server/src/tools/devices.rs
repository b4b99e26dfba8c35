//! Lists the devices and reports whether they can be used.

use std::time::Duration;

use futures_util::future::join_all;
use mdm_core::port::{Availability, Listed};
use mdm_core::screen::snapshot::Platform;
use mdm_engine::{Counts, Progress, WantedDevice};
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
    /// Failures of device sources.
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
        let list = call.app.fleet.list(params.platform.map(Platform::from), call.progress).await;
        let app_id = params.app_id.as_deref();
        let lines = list.devices.iter().map(|device| describe(call.app, device, app_id, call.progress));
        let issues = list.failures.iter().map(ToString::to_string).collect();
        Ok(Answer::new(Facts::Devices(DevicesFacts { devices: join_all(lines).await, issues })))
    }
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

pub struct GetSystemStatus;

#[derive(Deserialize, JsonSchema)]
pub struct NoParams {}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StatusFacts {
    success: bool,
    /// ready, degraded (something works, something does not) or blocked.
    status: &'static str,
    adb_available: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    adb_version: Option<String>,
    devices: usize,
    device_states: String,
    ios_available: bool,
    issues: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    waits: Vec<WaitCounts>,
}

/// Statistics of the waits on a device (SY-18).
#[derive(Debug, Serialize)]
struct WaitCounts {
    device: String,
    waits: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    success_percent: Option<u64>,
    timeouts: u64,
    unreadable: u64,
    targets_gone: u64,
    stale_caught: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    mean_stabilise_ms: Option<u64>,
    captures: u64,
    changes: u64,
    premature_actions: u64,
    retries: u64,
}

impl WaitCounts {
    fn new((device, counts): (String, Counts)) -> WaitCounts {
        WaitCounts {
            device,
            waits: counts.waits,
            success_percent: counts.success_rate(),
            timeouts: counts.timed_out,
            unreadable: counts.unreadable,
            targets_gone: counts.targets_gone,
            stale_caught: counts.stale_caught,
            mean_stabilise_ms: counts.mean_stabilise_ms(),
            captures: counts.captures,
            changes: counts.changes,
            premature_actions: counts.premature,
            retries: counts.retries,
        }
    }
}

impl Tool for GetSystemStatus {
    type Params = NoParams;
    const NAME: &'static str = "get_system_status";
    const DESCRIPTION: &'static str =
        "Whether devices can be reached, what to mend if not, and how waits went.";
    const EFFECT: Effect = Effect::ReadOnly;
    const TIMEOUT: Duration = Duration::from_secs(15);

    async fn run(call: &Call<'_>, _: NoParams) -> Result<Answer, Refusal> {
        Ok(Answer::new(Facts::Status(Box::new(status(call.app, call.progress).await))))
    }
}

async fn status(app: &App, progress: &Progress) -> StatusFacts {
    let mut issues = Vec::new();
    let (mut adb_available, mut adb_version) = (false, None);
    for health in app.fleet.health(progress).await {
        match health {
            Ok(health) => {
                adb_available |= health.available;
                adb_version = adb_version.or(health.version);
                issues.extend(health.issues);
            }
            Err(failure) => issues.push(failure.to_string()),
        }
    }
    let list = app.fleet.list(None, progress).await;
    issues.extend(list.failures.iter().map(ToString::to_string));
    let listed = list.devices;
    let ready = listed.iter().filter(|d| d.availability == Availability::Ready).count();
    if listed.is_empty() {
        issues.push(
            "no device is connected: plug one in, start an emulator, or serve with --virtual android"
                .to_owned(),
        );
    }
    issues.extend(listed.iter().filter_map(issue_of));
    let something = |counts: &Counts| counts.waits + counts.premature + counts.retries > 0;
    let waited = app.fleet.wait_counts().into_iter().filter(|(_, counts)| something(counts));
    StatusFacts {
        success: issues.is_empty(),
        status: match (ready, issues.is_empty()) {
            (0, _) => "blocked",
            (_, true) => "ready",
            (_, false) => "degraded",
        },
        adb_available,
        adb_version,
        devices: listed.len(),
        device_states: count_states(&listed),
        ios_available: false,
        issues,
        waits: waited.map(WaitCounts::new).collect(),
    }
}

fn issue_of(listed: &Listed) -> Option<String> {
    let advice = match &listed.availability {
        Availability::Ready => return None,
        Availability::Unauthorized => "accept the debugging dialog on its screen",
        Availability::Offline => "reconnect it",
        Availability::Other(_) => "boot it normally",
    };
    Some(format!("{} is {}: {advice}", listed.id, listed.availability.as_str()))
}

/// Counts the states in order of appearance: `1 device, 2 unauthorized`.
fn count_states(listed: &[Listed]) -> String {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for device in listed {
        let state = device.availability.as_str();
        match counts.iter_mut().find(|(known, _)| *known == state) {
            Some((_, count)) => *count += 1,
            None => counts.push((state, 1)),
        }
    }
    counts.iter().map(|(state, count)| format!("{count} {state}")).collect::<Vec<_>>().join(", ")
}
