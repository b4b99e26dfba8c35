//! The embedded virtual iPhone: inside the server, or as a process of its own for clients of its protocols.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use mdm_ios::route::Way;
use mdm_virtual_device::{IPhone, IPhoneConfig, IPhoneKind, Timing, UnixListener, companion, xcrun};
use mobile_debug_mcp::app::EmbeddedIPhone;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::cli::{DeviceArgs, VirtualIos};
use crate::virtual_phone::load_apps;
use crate::{fail, print};

/// Where WebDriverAgent listens on a phone.
const WDA_PORT: u16 = mdm_ios::wda::WDA_PORT;

/// The iPhone inside this process, with every face that the product can use.
pub fn embedded(args: &DeviceArgs) -> Result<EmbeddedIPhone, String> {
    let given = args.faults.unwrap_or_default();
    let phone = IPhone::new(IPhoneConfig {
        timing: args.timing.map_or(Timing::Brisk, Timing::from),
        apps: load_apps(&args.apps)?,
        faults: given.faults,
        iphone_faults: given.iphone,
        ..IPhoneConfig::default()
    });
    Ok(EmbeddedIPhone { phone, ways: vec![Way::Idb, Way::Wda] })
}

pub async fn run(options: VirtualIos) -> ExitCode {
    match serve(options).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => fail(&problem),
    }
}

async fn serve(options: VirtualIos) -> Result<(), String> {
    let usual = match &options.usbmuxd {
        Some(_) => phone_on_a_cable(),
        None => IPhoneConfig::default(),
    };
    let phone = IPhone::new(IPhoneConfig {
        udid: options.udid.unwrap_or(usual.udid),
        ios_version: options.ios_version.unwrap_or(usual.ios_version),
        apps: load_apps(&options.apps)?,
        runner_installed: options.wda_installed,
        timing: options.timing.into(),
        faults: options.faults.faults,
        iphone_faults: options.faults.iphone,
        seed: options.seed,
        ..usual
    });
    let mut faces = JoinSet::new();
    if let Some(port) = options.companion_port {
        let listener = listen("companion", port).await?;
        let phone = phone.clone();
        faces.spawn(async move { phone.serve_companion(listener).await });
    }
    if let Some(port) = options.wda_port {
        let listener = listen("wda", port).await?;
        let phone = phone.clone();
        faces.spawn(async move { phone.serve_wda(listener).await });
    }
    if let Some(file) = &options.companion_socket {
        let listener = UnixListener::bind(file).map_err(|error| format!("{}: {error}", file.display()))?;
        let phone = phone.clone();
        told("companion socket", &file.display().to_string());
        faces.spawn(async move { phone.serve_companion_unix(listener).await });
    }
    if let Some(address) = &options.usbmuxd {
        if !options.wda_installed {
            let wda = phone.clone();
            phone.open_port(WDA_PORT, Arc::new(move || wda.connect_wda()));
        }
        serve_usbmuxd(&phone, address, &mut faces).await?;
    }
    if let Some(folder) = &options.xcrun {
        let program = std::env::current_exe().map_err(|error| error.to_string())?;
        let listener = phone.install_xcrun(folder, &program);
        let listener = listener.map_err(|error| format!("{}: {error}", folder.display()))?;
        let companions = phone.install_companion(folder, &program);
        let companions = companions.map_err(|error| format!("{}: {error}", folder.display()))?;
        let companion = phone.clone();
        faces.spawn(async move { companion.serve_companion_unix(companions).await });
        let phone = phone.clone();
        told("xcrun", &folder.join("xcrun").display().to_string());
        faces.spawn(async move { phone.serve_xcrun(listener).await });
    }
    match faces.join_next().await {
        None => Err("no face was asked for: name at least one port or socket".to_owned()),
        Some(Ok(Ok(()))) => Ok(()),
        Some(Ok(Err(error))) => Err(error.to_string()),
        Some(Err(error)) => Err(error.to_string()),
    }
}

/// A real phone whose services are all lockdownd's, as most clients know them.
fn phone_on_a_cable() -> IPhoneConfig {
    IPhoneConfig {
        udid: "00008130-001A2B3C4D5E6F70".to_owned(),
        ios_version: "16.7".to_owned(),
        kind: IPhoneKind::Device,
        ..IPhoneConfig::default()
    }
}

async fn serve_usbmuxd(
    phone: &IPhone,
    address: &str,
    faces: &mut JoinSet<std::io::Result<()>>,
) -> Result<(), String> {
    let wrong = |error: std::io::Error| format!("cannot listen on {address}: {error}");
    let phone = phone.clone();
    if address.contains('/') {
        let listener = UnixListener::bind(address).map_err(wrong)?;
        told("usbmuxd", address);
        faces.spawn(async move { phone.serve_usbmuxd_unix(listener).await });
    } else {
        let listener = TcpListener::bind(address).await.map_err(wrong)?;
        told("usbmuxd", &listener.local_addr().map_err(wrong)?.to_string());
        faces.spawn(async move { phone.serve_usbmuxd(listener).await });
    }
    Ok(())
}

/// Listens on the loopback interface and prints where.
async fn listen(face: &str, port: u16) -> Result<TcpListener, String> {
    let listener = TcpListener::bind(("127.0.0.1", port)).await;
    let listener = listener.map_err(|error| format!("cannot listen on port {port}: {error}"))?;
    told(face, &listener.local_addr().map_err(|error| error.to_string())?.to_string());
    Ok(listener)
}

/// A reader that went away does not end the phone.
fn told(face: &str, place: &str) {
    let _ = print(&format!("{face}: {place}"));
}

/// What the script `idb_companion` of an iPhone runs.
pub async fn companion(socket: &Path, udid: &str, arguments: &[String]) -> ExitCode {
    match companion::stand_in(socket, udid, arguments, &mut std::io::stdout()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&error.to_string()),
    }
}

/// What the script `xcrun` of an iPhone runs.
pub fn xcrun(socket: &Path, arguments: &[String]) -> ExitCode {
    let (mut stdin, mut stdout, mut stderr) = (std::io::stdin(), std::io::stdout(), std::io::stderr());
    let streams = xcrun::Streams { stdin: &mut stdin, stdout: &mut stdout, stderr: &mut stderr };
    match xcrun::client(socket, arguments, streams) {
        Ok(code) => ExitCode::from(code),
        Err(error) => fail(&format!("the virtual iPhone does not answer: {error}")),
    }
}
