//! Doors for the fuzzer to services of a phone, without lockdownd and TLS before them.

use idevice::IdeviceService as _;
use idevice::crashreportcopymobile::CrashReportCopyMobileClient;
use idevice::installation_proxy::InstallationProxyClient;
use idevice::os_trace_relay::OsTraceRelayClient;
use idevice::screenshotr::ScreenshotService;
use idevice::syslog_relay::SyslogRelayClient;

use super::lengths::Lengths;
use super::link::{checked_transport, guarded};
use super::{audit, pull, read_app, report_names};
use crate::connect::Transport;

/// Records and lines of a log that are read.
const READS: usize = 50;

/// Elements of which such a phone speaks.
pub async fn spoken(phone: Box<dyn Transport>) -> Option<usize> {
    let connection = checked_transport(phone, Lengths::of_port(0));
    audit::count_on(connection.get_socket()?).await.ok()
}

pub async fn apps(phone: Box<dyn Transport>) {
    let found = guarded(async move {
        let mut client = InstallationProxyClient::new(checked_transport(phone, Lengths::of_lists()));
        client.get_apps(Some("User"), None).await
    });
    if let Ok(Ok(found)) = found.await {
        found.iter().for_each(|(bundle, keys)| assert_eq!(read_app(bundle, keys).bundle, *bundle));
    }
}

pub async fn screenshot(phone: Box<dyn Transport>) {
    let taken = guarded(async move {
        let connection = checked_transport(phone, Lengths::of_lists());
        ScreenshotService::from_stream(connection).await?.take_screenshot().await
    });
    drop(taken.await);
}

pub async fn crash_reports(phone: Box<dyn Transport>) {
    let read = guarded(async move {
        let connection = checked_transport(phone, Lengths::of_files());
        let mut client = CrashReportCopyMobileClient::from_stream(connection).await?;
        let names = report_names(&mut client).await?;
        for name in &names {
            client.afc_client.get_file_info(name.as_str()).await?;
            pull(&mut client, name).await?;
        }
        Ok::<usize, idevice::IdeviceError>(names.len())
    });
    drop(read.await);
}

pub async fn log(phone: Box<dyn Transport>) {
    let read = guarded(async move {
        let connection = checked_transport(phone, Lengths::of_log());
        let mut records = OsTraceRelayClient::from_stream(connection).await?.start_trace(None).await?;
        for _ in 0..READS {
            super::log::entry(records.next().await?);
        }
        Ok::<(), idevice::IdeviceError>(())
    });
    drop(read.await);
}

pub async fn old_log(phone: Box<dyn Transport>) {
    let read = guarded(async move {
        let connection = checked_transport(phone, Lengths::of_lines());
        let mut lines = SyslogRelayClient::from_stream(connection).await?;
        for _ in 0..READS {
            lines.next().await?;
        }
        Ok::<(), idevice::IdeviceError>(())
    });
    drop(read.await);
}
