//! Which device a call means. Devices that cannot be used never count (W28).

use std::cmp::Reverse;

use mdm_core::action::failure::{ErrorCode, Failure};
use mdm_core::port::{Availability, DeviceInfo, Listed};
use mdm_core::screen::snapshot::Platform;

use crate::progress::Progress;

#[derive(Debug, Clone, Default)]
pub struct Wanted {
    pub platform: Option<Platform>,
    pub device_id: Option<String>,
    /// Among several, those with this app installed come first.
    pub app: Option<String>,
}

pub(crate) fn not_supported(platform: Platform) -> Failure {
    Failure::new(
        ErrorCode::PlatformNotSupported,
        format!("no driver for {} is part of this server", platform.as_str()),
        "use platform \"android\"",
    )
}

pub(crate) async fn choose(
    listed: Vec<Listed>,
    wanted: &Wanted,
    progress: &Progress,
) -> Result<Listed, Failure> {
    if let Some(id) = &wanted.device_id {
        return named(listed, id);
    }
    let (usable, unusable): (Vec<_>, Vec<_>) =
        listed.into_iter().partition(|device| device.availability == Availability::Ready);
    match usable.len() {
        0 => Err(none_usable(&unusable)),
        1 => usable.into_iter().next().ok_or_else(|| none_usable(&unusable)),
        _ => among_several(usable, wanted, progress).await,
    }
}

fn named(listed: Vec<Listed>, id: &str) -> Result<Listed, Failure> {
    let candidates = describe_all(&listed);
    let Some(device) = listed.into_iter().find(|device| device.id == id) else {
        let hint = "use the id of a connected device, or leave deviceId out when there is only one";
        let failure = Failure::new(ErrorCode::DeviceNotFound, format!("no device {id:?} is connected"), hint);
        return Err(failure.with_candidates(candidates));
    };
    match device.availability {
        Availability::Ready => Ok(device),
        _ => Err(unusable_device(&device)),
    }
}

fn unusable_device(device: &Listed) -> Failure {
    let id = &device.id;
    match &device.availability {
        Availability::Unauthorized => Failure::new(
            ErrorCode::DeviceUnauthorized,
            format!("{id} has not authorised this computer"),
            "unlock the device and accept the debugging dialog, then call again",
        ),
        other => Failure::new(
            ErrorCode::DeviceOffline,
            format!("{id} is {}", other.as_str()),
            "reconnect it and wait until list_devices shows it as ready",
        ),
    }
}

fn none_usable(unusable: &[Listed]) -> Failure {
    if let [only] = unusable {
        return unusable_device(only);
    }
    let hint = "connect a device or start an emulator; get_system_status names what is missing";
    let message = match unusable.len() {
        0 => "no device is connected".to_owned(),
        count => format!("{count} devices are connected and none can be used"),
    };
    Failure::new(ErrorCode::NoDevice, message, hint).with_candidates(describe_all(unusable))
}

/// With the app, then real rather than simulated, then the newest system; a tie is the caller's to break.
async fn among_several(usable: Vec<Listed>, wanted: &Wanted, progress: &Progress) -> Result<Listed, Failure> {
    let mut candidates = usable;
    if let Some(app) = &wanted.app {
        candidates = prefer_installed(candidates, app, progress).await;
    }
    let mut known = Vec::new();
    for device in candidates {
        let info = progress.race("reading what the devices are", device.device.info()).await.ok();
        known.push((device, info));
    }
    if known.iter().any(|(_, info)| is_real(info.as_ref())) {
        known.retain(|(_, info)| is_real(info.as_ref()));
    }
    known.sort_by_key(|(_, info)| Reverse(version(info.as_ref())));
    let tied = known.get(1).is_some_and(|second| version(second.1.as_ref()) == version(known[0].1.as_ref()));
    if tied {
        let failure = Failure::new(
            ErrorCode::AmbiguousDevice,
            format!("{} devices fit and none was named", known.len()),
            "name one of these in deviceId",
        );
        let candidates = known.iter().map(|(device, info)| describe(device, info.as_ref())).collect();
        return Err(failure.with_candidates(candidates));
    }
    known.into_iter().next().map(|(device, _)| device).ok_or_else(|| none_usable(&[]))
}

async fn prefer_installed(candidates: Vec<Listed>, app: &str, progress: &Progress) -> Vec<Listed> {
    let mut with_app = Vec::new();
    for device in &candidates {
        let installed = progress.race("looking for the app", device.device.app_installed(app)).await;
        if installed.unwrap_or(false) {
            with_app.push(device.clone());
        }
    }
    if with_app.is_empty() { candidates } else { with_app }
}

fn is_real(info: Option<&DeviceInfo>) -> bool {
    info.is_some_and(|info| !info.simulator)
}

fn version(info: Option<&DeviceInfo>) -> (u32, u32) {
    let text = info.map_or("", |info| info.os_version.as_str());
    let mut numbers = text.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok());
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
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
