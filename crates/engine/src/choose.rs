//! Which device a call means. Devices that cannot be used never count (W28).

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::join_all;
use mdm_core::failure::{Cause, Failure};
use mdm_core::port::{Availability, DeviceInfo, Listed};
use mdm_core::screen::snapshot::Platform;

use crate::progress::Progress;

/// All devices are asked at once, and one that is silent is left out after this.
const DEVICE_TIMEOUT: Duration = Duration::from_secs(5);

/// What a caller says about the device that it means.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WantedDevice {
    pub platform: Option<Platform>,
    pub id: Option<String>,
    /// Among several, those with this app installed come first.
    pub app: Option<String>,
}

/// The device of a caller's last call, which its next one goes to when it names none (F2).
#[derive(Debug, Default)]
pub struct Binding(Mutex<Option<(Platform, String)>>);

impl Binding {
    /// The same device for now; what the copy is bound to later changes nothing here.
    #[must_use]
    pub fn copied(&self) -> Binding {
        Binding(Mutex::new(self.get()))
    }

    pub fn device(&self) -> Option<String> {
        self.get().map(|(_, id)| id)
    }

    pub(crate) fn get(&self) -> Option<(Platform, String)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set(&self, platform: Platform, id: &str) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((platform, id.to_owned()));
    }
}

pub fn no_driver(platform: Platform) -> Failure {
    let message = format!("no driver for {} is part of this server", platform.as_str());
    Failure::new(Cause::PlatformUnknown, message)
}

pub async fn choose(
    listed: Vec<Listed>,
    wanted: &WantedDevice,
    progress: &Progress,
) -> Result<Listed, Failure> {
    let (mut usable, unusable): (Vec<_>, Vec<_>) =
        listed.into_iter().partition(|device| device.availability == Availability::Ready);
    match (usable.pop(), usable.is_empty()) {
        (None, _) => Err(none_usable(&unusable)),
        (Some(only), true) => Ok(only),
        (Some(last), false) => {
            usable.push(last);
            among_several(usable, wanted, progress).await
        }
    }
}

/// Refuses a device that is connected and cannot be used.
pub fn usable(listed: Listed) -> Result<Listed, Failure> {
    let (id, platform) = (&listed.id, listed.platform);
    let (cause, message) = match &listed.availability {
        Availability::Ready => return Ok(listed),
        Availability::Unauthorized => {
            (Cause::DeviceUnauthorized, format!("{id} has not authorised this computer"))
        }
        other => (Cause::DeviceOffline, format!("{id} is {}", other.as_str())),
    };
    let message = match &listed.missing {
        Some(missing) => format!("{message}: {missing}"),
        None => message,
    };
    Err(Failure::new(cause, message).on(platform))
}

pub fn not_found(id: &str, listed: &[Listed]) -> Failure {
    let message = format!("no device {id:?} is connected");
    Failure::new(Cause::DeviceNotFound, message).with_candidates(describe_all(listed))
}

/// Says why a source listed nothing, when no device could be chosen.
pub fn with_source_failures(failure: Failure, failures: &[Failure]) -> Failure {
    if failure.cause != Cause::NoDevice || failures.is_empty() {
        return failure;
    }
    let why: Vec<String> = failures.iter().map(ToString::to_string).collect();
    let message = format!("{} ({})", failure.message, why.join("; "));
    Failure { message, ..failure }
}

fn none_usable(unusable: &[Listed]) -> Failure {
    if let [only] = unusable
        && let Err(failure) = usable(only.clone())
    {
        return failure;
    }
    let message = match unusable.len() {
        0 => "no device is connected".to_owned(),
        count => format!("{count} devices are connected and none can be used"),
    };
    Failure::new(Cause::NoDevice, message).with_candidates(describe_all(unusable))
}

/// Only the app can decide between several; else the caller has to (F2).
async fn among_several(
    candidates: Vec<Listed>,
    wanted: &WantedDevice,
    progress: &Progress,
) -> Result<Listed, Failure> {
    let mut candidates = match &wanted.app {
        Some(app) => prefer_installed(candidates, app, progress).await,
        None => candidates,
    };
    if candidates.len() < 2 {
        return candidates.pop().ok_or_else(|| none_usable(&[]));
    }
    let progress = &progress.within_next(DEVICE_TIMEOUT);
    let infos = candidates
        .iter()
        .map(|device| progress.race_device("reading what the devices are", device.device.info()));
    let infos = join_all(infos).await;
    let described = candidates.iter().zip(infos).map(|(device, info)| describe(device, info.ok().as_ref()));
    let message = format!("{} devices fit and none was named", candidates.len());
    Err(Failure::new(Cause::AmbiguousDevice, message).with_candidates(described.collect()))
}

/// Refuses to go on with another device than that of the calls so far.
pub fn bound_is_gone(id: &str, listed: &[Listed]) -> Failure {
    let message = format!("{id}, the device of the calls so far, is not connected any more");
    Failure::new(Cause::DeviceNotFound, message).with_candidates(describe_all(listed))
}

async fn prefer_installed(candidates: Vec<Listed>, app: &str, progress: &Progress) -> Vec<Listed> {
    let progress = &progress.within_next(DEVICE_TIMEOUT);
    let asked = candidates
        .iter()
        .map(|device| progress.race_device("looking for the app", device.device.app_installed(app)));
    let installed = join_all(asked).await;
    let with_app = candidates.iter().zip(&installed).filter(|(_, installed)| matches!(installed, Ok(true)));
    let with_app: Vec<Listed> = with_app.map(|(device, _)| device.clone()).collect();
    if with_app.is_empty() { candidates } else { with_app }
}

fn describe_all(listed: &[Listed]) -> Vec<String> {
    listed.iter().map(|device| describe(device, None)).collect()
}

fn describe(device: &Listed, info: Option<&DeviceInfo>) -> String {
    let (id, state) = (&device.id, device.availability.as_str());
    match info {
        Some(info) => format!("{id} ({}, {} {})", info.model, info.platform.as_str(), info.os_version),
        None => format!("{id} ({state})"),
    }
}
