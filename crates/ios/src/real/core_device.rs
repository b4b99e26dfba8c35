//! What a phone of iOS 17.4 and later does without anything installed on it: apps, processes, pictures and touches,
//! through the developer services in its tunnel.

use idevice::core_device::{AppServiceClient, ImageFormat, ScreenCaptureServiceClient};
use idevice::dvt::remote_server::RemoteServerClient;
use idevice::dvt::screenshot::ScreenshotClient;
use idevice::{IdeviceError, ReadWrite};
use mdm_core::port::{DeviceError, DeviceErrorKind};

use super::error::Effect;
use super::hid::KeptHand;
use super::link::Link;
use super::tunnel::KeptTunnel;

/// Since when developer services are in a tunnel, and since when that opens without rights of an administrator.
const TUNNEL_NEEDED_SINCE: u32 = 17;
const TUNNEL_SINCE: (u32, u32) = (17, 4);
const APPS: &str = "com.apple.coredevice.appservice";
const PICTURES: &str = "com.apple.coredevice.screencaptureservice";
const DISPLAY: &str = "com.apple.coredevice.displayservice";
const TOUCHES: &str = "com.apple.coredevice.hid.universalhidservice";
const BUTTONS: &str = "com.apple.coredevice.hid.indigo";
/// Processes of which a list is read.
const PROCESSES_MAX: usize = 10_000;
/// Ends a process without asking it.
const SIGKILL: u32 = 9;

type Stream = Box<dyn ReadWrite>;

/// What the developer image of a phone can do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Offered {
    /// Pictures without the older protocol of Instruments.
    pub pictures: bool,
    /// Touches, keys and buttons.
    pub hid: bool,
}

/// A process, and the file that it runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    pub pid: u32,
    pub path: String,
}

#[derive(Clone)]
pub struct CoreDevice {
    tunnel: KeptTunnel,
    hand: KeptHand,
    offered: Offered,
}

impl CoreDevice {
    /// Opens the tunnel and sees what the phone offers in it; the error says what is missing.
    pub(super) async fn survey(link: Link) -> Result<CoreDevice, DeviceError> {
        let tunnel = KeptTunnel::new(link);
        let open = tunnel.discover().await?;
        if !open.offers(APPS) {
            return Err(tunnel.why_missing(APPS).await);
        }
        let hid = [DISPLAY, TOUCHES, BUTTONS].iter().all(|service| open.offers(service));
        Ok(CoreDevice {
            hand: KeptHand::new(tunnel.clone()),
            tunnel,
            offered: Offered { pictures: open.offers(PICTURES), hid },
        })
    }

    pub fn offered(&self) -> Offered {
        self.offered
    }

    /// Fingers, keys and buttons.
    pub fn hand(&self) -> &KeptHand {
        &self.hand
    }

    /// Ends the stream of the screen and the tunnel.
    pub async fn close(&self) {
        self.hand.lower().await;
        self.tunnel.close().await;
    }

    /// Takes a picture of the screen, as PNG.
    pub async fn screenshot(&self) -> Result<Vec<u8>, DeviceError> {
        let png = if self.offered.pictures {
            let take = async |mut service: ScreenCaptureServiceClient<Stream>| {
                service.take_screenshot(None, ImageFormat::Png).await
            };
            self.tunnel.with(Effect::Reads, take).await?
        } else {
            let take = async |mut service: RemoteServerClient<Stream>| {
                ScreenshotClient::new(&mut service).await?.take_screenshot().await
            };
            self.tunnel.with(Effect::Reads, take).await?
        };
        match png.starts_with(b"\x89PNG") {
            true => Ok(png),
            false => {
                let detail = "the phone sent a picture that is no PNG";
                Err(DeviceError::new(DeviceErrorKind::ScreenshotUnavailable, detail))
            }
        }
    }

    /// Starts an app, or brings it to the front when it runs, and returns its process.
    pub async fn launch(&self, bundle: &str) -> Result<u32, DeviceError> {
        let bundle = bundle.to_owned();
        let launch = async move |mut service: AppServiceClient<Stream>| {
            let launched = service.launch_application(bundle, &[], false, false, None, None, None).await?;
            Ok(launched.pid)
        };
        self.tunnel.with(Effect::Acts, launch).await
    }

    /// Lists what runs.
    pub async fn processes(&self) -> Result<Vec<Process>, DeviceError> {
        let list = async |mut service: AppServiceClient<Stream>| service.list_processes().await;
        let found = self.tunnel.with(Effect::Reads, list).await?;
        let process = |token: idevice::core_device::ProcessToken| Process {
            pid: token.pid,
            path: token.executable_url.map(|url| path_of(&url.relative)).unwrap_or_default(),
        };
        Ok(found.into_iter().take(PROCESSES_MAX).map(process).collect())
    }

    /// Ends a process.
    pub async fn kill(&self, pid: u32) -> Result<(), DeviceError> {
        let kill = async move |mut service: AppServiceClient<Stream>| {
            match service.send_signal(pid, SIGKILL).await {
                // What came back is of no use, and its form varies.
                Ok(_) | Err(IdeviceError::UnexpectedResponse(_)) => Ok(()),
                Err(error) => Err(error),
            }
        };
        self.tunnel.with(Effect::Acts, kill).await
    }
}

/// How the developer services of a phone are reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TunnelKind {
    /// lockdownd starts them.
    None,
    /// Through a tunnel that only administrators can open.
    OfAdministrators,
    OverCable,
}

pub(super) fn tunnel_of(ios_version: &str) -> TunnelKind {
    let mut numbers = ios_version.split('.').map(|number| number.parse().unwrap_or(0));
    match (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) {
        version if version >= TUNNEL_SINCE => TunnelKind::OverCable,
        (TUNNEL_NEEDED_SINCE.., _) => TunnelKind::OfAdministrators,
        _ => TunnelKind::None,
    }
}

/// `file:///private/var/…` and `/var/…` name the same file.
fn path_of(url: &str) -> String {
    let path = url.strip_prefix("file://").unwrap_or(url);
    path.strip_prefix("/private").filter(|rest| rest.starts_with("/var/")).unwrap_or(path).replace("%20", " ")
}

/// True if the file is the program of the bundle in this folder.
pub fn runs_in(process: &Process, folder: &str) -> bool {
    let folder = path_of(folder);
    let rest =
        process.path.strip_prefix(folder.trim_end_matches('/')).and_then(|rest| rest.strip_prefix('/'));
    // Extensions of an app are in folders below its own.
    rest.is_some_and(|rest| !rest.is_empty() && !rest.contains('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_belong_to_the_bundle_whose_program_they_run() {
        let process = |path: &str| Process { pid: 1, path: path_of(path) };
        let shop = "/private/var/containers/Bundle/Application/A-1/Shop.app";
        assert!(runs_in(
            &process("file:///private/var/containers/Bundle/Application/A-1/Shop.app/Shop"),
            shop
        ));
        assert!(runs_in(&process("/var/containers/Bundle/Application/A-1/Shop.app/Shop"), shop));
        let extension = "/var/containers/Bundle/Application/A-1/Shop.app/PlugIns/W.appex/W";
        assert!(!runs_in(&process(extension), shop), "an extension is another process");
        assert!(!runs_in(&process("/var/containers/Bundle/Application/A-1/Shop.app2/Shop"), shop));
        assert!(!runs_in(&process(""), shop));
    }

    #[test]
    fn tunnels_came_with_17_4() {
        use TunnelKind::{None, OfAdministrators, OverCable};
        for (version, kind) in [
            ("16.7", None),
            ("17.0", OfAdministrators),
            ("17.3.1", OfAdministrators),
            ("17.4", OverCable),
            ("26.0.1", OverCable),
            ("27", OverCable),
            ("", None),
        ] {
            assert_eq!(tunnel_of(version), kind, "{version}");
        }
    }
}
