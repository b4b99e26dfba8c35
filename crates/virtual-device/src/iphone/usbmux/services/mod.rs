//! The services that lockdownd starts.

mod audit;
mod installation;
mod logs;
mod screenshot;
mod small;

use std::io;

use tokio::io::AsyncWriteExt as _;
use tokio_rustls::TlsAcceptor;

use super::Wire;
use super::afc::{self, Files, Root};
use super::device::StartedService;
use super::{instruments, testmanagerd, tunnel};
use crate::iphone::IPhone;

const SERVICES: [&str; 12] = [
    audit::NAME,
    "com.apple.afc",
    "com.apple.crashreportcopymobile",
    "com.apple.crashreportmover",
    "com.apple.mobile.diagnostics_relay",
    "com.apple.mobile.installation_proxy",
    "com.apple.mobile.notification_proxy",
    "com.apple.mobile.insecure_notification_proxy",
    "com.apple.mobile.screenshotr",
    "com.apple.os_trace_relay",
    "com.apple.springboardservices",
    "com.apple.syslog_relay",
];

/// The tunnel to the services of iOS 17, which came with 17.4.
const TUNNEL: &str = "com.apple.internal.devicecompute.CoreDeviceProxy";
const TUNNEL_SINCE: (u32, u32) = (17, 4);
/// Services of the developer image. The tunnel has them under other names since iOS 17.
const TESTS: &str = "com.apple.testmanagerd.lockdown.secure";
const INSTRUMENTS: &str = "com.apple.instruments.remoteserver.DVTSecureSocketProxy";
/// Developer services that are behind the tunnel since iOS 17.
const MOVED: [&str; 1] = ["com.apple.mobile.screenshotr"];

/// Services that leave TLS as soon as each side has proven who it is.
const HANDSHAKE_ONLY: [&str; 1] = [audit::NAME];

/// True if lockdownd of this phone starts the service.
pub fn is_offered(phone: &IPhone, name: &str) -> bool {
    let version = phone.config().version();
    match name {
        TUNNEL => version >= TUNNEL_SINCE,
        TESTS | INSTRUMENTS => version.0 < 17 && phone.config().has_developer_services(),
        name if MOVED.contains(&name) => version.0 < 17,
        name => SERVICES.contains(&name),
    }
}

/// Serves one connection to a started service, inside TLS with the host that started it.
pub async fn serve(phone: &IPhone, stream: Box<dyn Wire>, service: &StartedService) -> io::Result<()> {
    let trusted = phone.device(|device| device.trusted(&service.host));
    let trusted = trusted.ok_or_else(|| io::Error::other("nobody is trusted any more"))?;
    if HANDSHAKE_ONLY.contains(&service.name.as_str()) {
        let secure = TlsAcceptor::from(trusted.tls_for_handshake()?).accept(stream).await?;
        let (mut plain, _) = secure.into_inner();
        return run(phone, &mut plain, &service.name).await;
    }
    let mut stream = TlsAcceptor::from(trusted.tls()?).accept(stream).await?;
    let done = run(phone, &mut stream, &service.name).await;
    // The host is told that nothing more comes; it may have gone already.
    let _ = stream.shutdown().await;
    done
}

pub async fn run(phone: &IPhone, stream: &mut (impl Wire + ?Sized), name: &str) -> io::Result<()> {
    match name {
        TUNNEL => Box::pin(tunnel::serve(phone, stream)).await,
        TESTS => testmanagerd::serve(phone, stream).await,
        INSTRUMENTS => instruments::serve(phone, stream).await,
        audit::NAME => audit::serve(phone, stream).await,
        "com.apple.afc" => afc::serve(phone, stream, Root::Media).await,
        "com.apple.crashreportcopymobile" => afc::serve(phone, stream, reports(phone)).await,
        "com.apple.crashreportmover" => {
            stream.write_all(b"ping").await?;
            stream.flush().await
        }
        "com.apple.mobile.installation_proxy" => installation::serve(phone, stream).await,
        "com.apple.mobile.screenshotr" => screenshot::serve(phone, stream).await,
        "com.apple.syslog_relay" => logs::relay(phone, stream).await,
        "com.apple.os_trace_relay" => logs::trace(phone, stream).await,
        "com.apple.springboardservices" => small::home_screen(phone, stream).await,
        "com.apple.mobile.diagnostics_relay" => small::diagnostics(phone, stream).await,
        _ => small::notifications(stream).await,
    }
}

/// The reports of the moment in which the host looks.
fn reports(phone: &IPhone) -> Root {
    let removed = phone.device(|device| device.removed_reports.clone());
    let files = phone.crash_files().into_iter().filter(|file| !removed.contains(&file.name));
    let wall_ms = phone.phone().with(|state| state.clock.wall_ms(state.now));
    Root::Reports(Files::of(files.map(|file| (file.name, file.contents.into_bytes())), wall_ms))
}
