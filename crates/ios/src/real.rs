//! Real iPhones on a cable or in the network: usbmuxd, lockdownd and its services, through the `idevice` crate.
//!
//! Architecture invariant: every use of the crate runs in a task of its own, so that a panic in it becomes an error, and
//! ends with the future that waits for it; a gesture alone goes on until its finger is lifted. Phones with iOS 17.4 and
//! later have their developer services in a tunnel (`tunnel.rs`), which `core_device.rs` uses.

mod audit;
mod core_device;
mod error;
#[cfg(fuzzing)]
pub mod fuzzing;
mod handshake;
mod hid;
mod lengths;
mod link;
mod log;
mod pairing;
mod runner;
mod tunnel;

use std::path::Path;
use std::sync::Arc;

use idevice::afc::opcode::AfcFopenMode;
use idevice::crashreportcopymobile::CrashReportCopyMobileClient;
use idevice::installation_proxy::InstallationProxyClient;
use idevice::lockdown::LockdownClient;
use idevice::screenshotr::ScreenshotService;
use idevice::{IdeviceError, IdeviceService as _};
use mdm_core::port::{CrashReport, DeviceError, DeviceErrorKind, Dispatch, Picture, SpokenScreen};
use plist::Value;

use crate::connect::{self, Connector};
use crate::crash::REPORT_BYTES_MAX;
use crate::reports;
use core_device::TunnelKind;
pub use core_device::{CoreDevice, Offered, Process, runs_in};
use error::{Effect, told};
pub use hid::{Button, Finger, KeptHand, Motion, Place};
use lengths::Lengths;
use link::{Link, Provider, guarded};
pub use log::DeviceLog;
use pairing::Pairings;

/// Where usbmuxd listens unless something else is said.
pub const DEFAULT_ADDRESS: &str = "/var/run/usbmuxd";
/// Apps that are listed, and reports that are read.
const APPS_MAX: usize = 5000;
/// Crash reports of a phone that are read, the newest ones.
const REPORTS_MAX: usize = 20;
const LABEL: &str = "mobile-debug";

/// The phones that one usbmuxd knows.
#[derive(Clone)]
pub struct RealDevices {
    mux: Connector,
    pairings: Arc<Pairings>,
}

/// How a phone is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Connection {
    Usb,
    Network,
    Other,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttachedDevice {
    pub udid: String,
    pub connection: Connection,
}

/// What a phone tells of itself to everybody.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeviceFacts {
    pub name: String,
    /// Apple's name of the model, such as `iPhone16,1`.
    pub product_type: String,
    pub ios_version: String,
}

/// One app of a phone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeviceApp {
    pub bundle: String,
    pub name: String,
    pub version: Option<String>,
    pub build: Option<String>,
    pub system: bool,
    /// Where its bundle is on the phone.
    pub path: Option<String>,
}

impl RealDevices {
    /// `address` is `HOST:PORT`, or the path of a Unix socket.
    pub fn new(address: &str) -> RealDevices {
        let is_path = address.starts_with(['/', '.', '~']) || !address.contains(':');
        let path = address.strip_prefix("UNIX:");
        let mux = match path {
            Some(path) => connect::unix(path.into()),
            None if is_path => connect::unix(address.into()),
            None => connect::tcp(address.to_owned()),
        };
        RealDevices::with(mux)
    }

    pub fn with(mux: Connector) -> RealDevices {
        RealDevices { mux, pairings: Arc::default() }
    }

    /// Lists the phones that are connected.
    pub async fn list(&self) -> Result<Vec<AttachedDevice>, DeviceError> {
        let mux = link::connect_mux(&self.mux).await?;
        let found = guarded(async move {
            let mut mux = mux;
            mux.get_devices().await
        });
        let found = found.await?.map_err(|error| told(error, "", Effect::Reads))?;
        let mut devices: Vec<AttachedDevice> = Vec::new();
        for device in found {
            let connection = match device.connection_type {
                idevice::usbmuxd::Connection::Usb => Connection::Usb,
                idevice::usbmuxd::Connection::Network(_) => Connection::Network,
                idevice::usbmuxd::Connection::Unknown(_) => Connection::Other,
            };
            // A phone on a cable and in the network is listed twice: the cable wins.
            match devices.iter_mut().find(|known| known.udid == device.udid) {
                Some(known) if connection == Connection::Usb => known.connection = connection,
                Some(_) => {}
                None => devices.push(AttachedDevice { udid: device.udid, connection }),
            }
        }
        Ok(devices)
    }

    pub fn device(&self, udid: &str) -> RealDevice {
        let link = Link { mux: Arc::clone(&self.mux), udid: udid.to_owned() };
        RealDevice { link, pairings: Arc::clone(&self.pairings) }
    }
}

/// One phone. Nothing is kept between two calls: a phone may be unplugged at any time.
#[derive(Clone)]
pub struct RealDevice {
    link: Link,
    pairings: Arc<Pairings>,
}

impl RealDevice {
    pub fn udid(&self) -> &str {
        &self.link.udid
    }

    /// Reads what a phone tells also to computers that it does not trust.
    pub async fn facts(&self) -> Result<DeviceFacts, DeviceError> {
        self.link
            .with(Effect::Reads, async |provider| {
                let mut lockdown = LockdownClient::connect(&provider).await?;
                let mut facts = DeviceFacts::default();
                for (key, place) in [
                    ("DeviceName", &mut facts.name),
                    ("ProductType", &mut facts.product_type),
                    ("ProductVersion", &mut facts.ios_version),
                ] {
                    let value = lockdown.get_value(Some(key), None).await?;
                    *place = value.as_string().unwrap_or_default().to_owned();
                }
                Ok(facts)
            })
            .await
    }

    /// Proves that the phone trusts this computer, by a session with it. A phone that was never asked is asked for its
    /// trust; the error says what to do.
    pub async fn check_trust(&self) -> Result<(), DeviceError> {
        if !self.has_record().await? {
            self.pairings.ask(&self.link).await?;
        }
        self.link
            .with(Effect::Reads, async |provider| {
                let record = idevice::provider::IdeviceProvider::get_pairing_file(&provider).await?;
                let (mut lockdown, _) = link::session(&provider, &record).await?;
                // In TLS 1.3 a refused certificate shows only when something is read.
                lockdown.get_value(Some("UniqueDeviceID"), None).await.map(drop)
            })
            .await
    }

    /// Asks usbmuxd whether this computer and the phone ever agreed.
    async fn has_record(&self) -> Result<bool, DeviceError> {
        let read = |provider: Provider| async move {
            match idevice::provider::IdeviceProvider::get_pairing_file(&provider).await {
                Ok(_) => Ok(true),
                Err(error) if error::is_record_missing(&error) => Ok(false),
                Err(error) => Err(error),
            }
        };
        self.link.with(Effect::Reads, read).await
    }

    /// Lists the apps: those that somebody installed, or all with those of the system.
    pub async fn apps(&self, with_system: bool) -> Result<Vec<DeviceApp>, DeviceError> {
        let kind = if with_system { "Any" } else { "User" };
        let found = self
            .link
            .with(Effect::Reads, async move |provider| {
                installed_apps(&provider).await?.get_apps(Some(kind), None).await
            })
            .await?;
        let mut apps: Vec<DeviceApp> =
            found.iter().take(APPS_MAX).map(|(bundle, keys)| read_app(bundle, keys)).collect();
        apps.sort_by(|one, other| one.bundle.cmp(&other.bundle));
        Ok(apps)
    }

    pub async fn app(&self, bundle: &str) -> Result<Option<DeviceApp>, DeviceError> {
        let ids = vec![bundle.to_owned()];
        let found = self
            .link
            .with(Effect::Reads, async move |provider| {
                installed_apps(&provider).await?.get_apps(Some("Any"), Some(ids)).await
            })
            .await?;
        Ok(found.get(bundle).map(|keys| read_app(bundle, keys)))
    }

    /// Installs or replaces the app in an `.ipa` file or a bundle's folder; `on_progress` hears percents.
    pub async fn install(
        &self,
        package: &Path,
        on_progress: Arc<dyn Fn(u64) + Send + Sync>,
    ) -> Result<(), DeviceError> {
        let package = package.to_owned();
        if !package.exists() {
            let detail = format!("there is no file {}", package.display());
            return Err(DeviceError::new(DeviceErrorKind::InvalidRequest, detail));
        }
        self.link
            .with(Effect::Acts, async move |provider| {
                let tell = |(percent, on_progress): (u64, Arc<dyn Fn(u64) + Send + Sync>)| async move {
                    on_progress(percent);
                };
                idevice::utils::installation::install_package_with_callback(
                    &provider,
                    &package,
                    None,
                    tell,
                    on_progress,
                )
                .await
            })
            .await
    }

    /// Removes an app. The phone is content when there is no such app, so the caller looks before.
    pub async fn uninstall(&self, bundle: &str) -> Result<(), DeviceError> {
        let bundle = bundle.to_owned();
        self.link
            .with(Effect::Acts, async move |provider| {
                installed_apps(&provider).await?.uninstall(bundle, None).await
            })
            .await
    }

    /// Follows the log from now on.
    pub async fn follow_log(&self) -> Result<DeviceLog, DeviceError> {
        log::follow(&self.link).await
    }

    /// Lists the names of the crash reports, oldest first as far as their names tell.
    pub async fn crash_names(&self) -> Result<Vec<String>, DeviceError> {
        self.link
            .with(Effect::Reads, async |provider| {
                let mut client = reports_of(&provider).await?;
                report_names(&mut client).await
            })
            .await
    }

    /// Reads the newest crashes, oldest first.
    pub async fn crashes(&self) -> Result<Vec<CrashReport>, DeviceError> {
        let texts = self
            .link
            .with(Effect::Reads, async |provider| {
                let mut client = reports_of(&provider).await?;
                let names = report_names(&mut client).await?;
                let mut texts = Vec::new();
                for name in names.iter().rev().take(REPORTS_MAX) {
                    let size = client.afc_client.get_file_info(name.as_str()).await?.size;
                    if size <= REPORT_BYTES_MAX {
                        texts.push(pull(&mut client, name).await?);
                    }
                }
                Ok(texts)
            })
            .await?;
        let reports = texts.iter().rev().filter_map(|text| reports::read(&String::from_utf8_lossy(text)));
        Ok(reports.collect())
    }

    /// Takes a picture of the screen. The phone needs its developer image for this; iOS 17 and later has it elsewhere.
    pub async fn screenshot(&self) -> Result<Picture, DeviceError> {
        let bytes = self
            .link
            .with(Effect::Reads, async |provider| {
                link::service::<ScreenshotService>(&provider, Lengths::of_lists())
                    .await?
                    .take_screenshot()
                    .await
            })
            .await;
        let unavailable = |detail: &str| DeviceError::new(DeviceErrorKind::ScreenshotUnavailable, detail);
        match bytes {
            Ok(bytes) if bytes.starts_with(b"\x89PNG") => Ok(Picture::Png(bytes)),
            Ok(_) => Err(unavailable("the phone sent a picture that is no PNG")),
            Err(error) if error.kind == DeviceErrorKind::ServiceMissing => Err(unavailable(
                "the phone offers no pictures of its screen on the cable: mount the developer image of its iOS \
                 version; from iOS 17 on use WebDriverAgent",
            )),
            Err(error) => Err(error),
        }
    }

    /// Lists what the phone speaks of its screen, in the words of its accessibility audit.
    pub async fn spoken(&self) -> Result<SpokenScreen, DeviceError> {
        audit::spoken(&self.link).await
    }

    /// Makes connections to a port of the phone, such as 8100 for WebDriverAgent.
    pub fn connector(&self, port: u16) -> Connector {
        let link = self.link.clone();
        Arc::new(move || {
            let link = link.clone();
            Box::pin(async move { link.open_port(port).await })
        })
    }

    /// Sees what the phone does for developers through its tunnel. `None` for a phone whose iOS is too old to have one;
    /// the error says what is missing.
    pub async fn core_device(&self) -> Result<Option<CoreDevice>, DeviceError> {
        let facts = self.facts().await?;
        match core_device::tunnel_of(&facts.ios_version) {
            TunnelKind::OverCable => CoreDevice::survey(self.link.clone()).await.map(Some),
            TunnelKind::OfAdministrators => Err(tunnel::no_tunnel(self.udid())),
            TunnelKind::None => Ok(None),
        }
    }

    /// Apps are started by WebDriverAgent or the debug services, not by the plumbing.
    pub fn cannot_launch(&self) -> DeviceError {
        let detail =
            "apps of a real iPhone are started and ended through WebDriverAgent: start it on the phone";
        DeviceError::new(DeviceErrorKind::NotSupported, detail).with_dispatch(Dispatch::NotSent)
    }
}

/// Where lockdownd tells whether Developer Mode is on.
const MODE_DOMAIN: &str = "com.apple.security.mac.amfi";
const MODE_KEY: &str = "DeveloperModeStatus";

/// Asks whether Developer Mode is on. Nothing from a phone that is too old to have it.
async fn developer_mode(link: &Link) -> Result<Option<bool>, DeviceError> {
    let mode = link.with(Effect::Reads, async |provider| {
        let record = idevice::provider::IdeviceProvider::get_pairing_file(&provider).await?;
        let (mut lockdown, _) = link::session(&provider, &record).await?;
        lockdown.get_value(Some(MODE_KEY), Some(MODE_DOMAIN)).await
    });
    Ok(mode.await?.as_boolean())
}

fn mode_is_off(udid: &str) -> String {
    format!(
        "Developer Mode of the iPhone {udid} is off: turn it on in Settings, Privacy & Security, and restart the phone"
    )
}

async fn installed_apps(provider: &Provider) -> Result<InstallationProxyClient, IdeviceError> {
    link::service(provider, Lengths::of_lists()).await
}

/// The service that brings reports to where they can be read, and its word when it has done so.
const REPORT_MOVER: &str = "com.apple.crashreportmover";
const MOVED: &[u8; 4] = b"ping";

/// The reports of crashes, with the newest.
async fn reports_of(provider: &Provider) -> Result<CrashReportCopyMobileClient, IdeviceError> {
    let told = link::open(provider, REPORT_MOVER).await?.read_raw(MOVED.len()).await?;
    if told != MOVED {
        return Err(IdeviceError::UnexpectedResponse("crash reports were not moved".to_owned()));
    }
    link::service(provider, Lengths::of_files()).await
}

/// `pull` of the crate leaves the file open on the phone when reading fails; the connection ends right after.
async fn pull(client: &mut CrashReportCopyMobileClient, name: &str) -> Result<Vec<u8>, IdeviceError> {
    let mut file = client.afc_client.open(format!("/{name}"), AfcFopenMode::RdOnly).await?;
    let bytes = file.read_entire().await;
    file.close().await?;
    bytes
}

async fn report_names(client: &mut CrashReportCopyMobileClient) -> Result<Vec<String>, IdeviceError> {
    let mut names = client.afc_client.list_dir("/").await?;
    names.retain(|name| reports::is_report(name));
    names.sort_by(|one, other| (date_of(one), one).cmp(&(date_of(other), other)));
    Ok(names)
}

/// `Shop-2026-03-02-090012.ips` and `Shop-2026-03-02-090012.000.ips`: what stands after the app's name.
fn date_of(name: &str) -> Option<&str> {
    let at = name.match_indices("-20").map(|(at, _)| at + 1).last()?;
    name.get(at..)
}

fn read_app(bundle: &str, keys: &Value) -> DeviceApp {
    let text = |key: &str| keys.as_dictionary()?.get(key)?.as_string().map(str::to_owned);
    let name = text("CFBundleDisplayName").filter(|name| !name.is_empty()).or_else(|| text("CFBundleName"));
    DeviceApp {
        bundle: bundle.to_owned(),
        name: name.unwrap_or_else(|| bundle.to_owned()),
        version: text("CFBundleShortVersionString"),
        build: text("CFBundleVersion"),
        system: text("ApplicationType").is_some_and(|kind| kind == "System"),
        path: text("Path"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_in_the_order_of_their_dates() {
        let mut names = vec!["Zoo-2025-01-01-000000.ips", "A-20-2026-03-02-090012.ips", "B.ips"];
        names.sort_by_key(|name| date_of(name));
        assert_eq!(names, ["B.ips", "Zoo-2025-01-01-000000.ips", "A-20-2026-03-02-090012.ips"]);
    }
}
