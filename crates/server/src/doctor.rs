//! `doctor`: what get_system_status tells, for a person; and a trial of the helper on devices.

use std::process::ExitCode;

use mdm_android::adb::server_start::Environment;
use mdm_android::{Hub, HubConfig};
use mobile_debug_mcp::answer::Facts;
use mobile_debug_mcp::app::{self, App, Devices};
use mobile_debug_mcp::args::JsonObject;
use mobile_debug_mcp::tools;
use tokio_util::sync::CancellationToken;

pub async fn run(app: App) -> ExitCode {
    let Some(status) = tools::find("get_system_status") else { return ExitCode::FAILURE };
    let answer = status.call(&app, JsonObject::new(), CancellationToken::new()).await;
    let key = Environment::of_process().home.map(|home| home.join(".android").join("adbkey"));
    let key = match key.filter(|key| key.is_file()) {
        Some(key) => key.display().to_string(),
        None => "none yet; made when a device first asks for it".to_owned(),
    };
    let Facts::Status(status) = &answer.facts else { return super::fail(&answer.text()) };
    let ready = status.has_usable();
    let end =
        if ready { "A device can be used." } else { "No device can be used yet: see the lines with !." };
    let printed = super::print(&format!("{}adb key: {key}\n{end}", status.lines()));
    if ready { printed } else { ExitCode::FAILURE }
}

/// Tries the helper on every Android device.
pub async fn try_helper(devices: Devices) -> ExitCode {
    let endpoints = app::endpoints(devices.phone, devices.addresses);
    let hub = Hub::new(HubConfig::of_process(endpoints, devices.adb_server));
    let reports = hub.examine_helpers().await;
    if reports.is_empty() {
        return super::fail("no Android device can be used");
    }
    let is_bad = |line: &String| line.starts_with('!');
    let good = !reports.iter().any(|(_, lines)| lines.iter().any(is_bad));
    let text: String =
        reports.iter().map(|(id, lines)| format!("{id}\n  {}\n", lines.join("\n  "))).collect();
    let end =
        if good { "The helper can be used." } else { "The helper cannot be used: see the lines with !." };
    let printed = super::print(&format!("mobile-debug-mcp {}\n{text}{end}", env!("CARGO_PKG_VERSION")));
    if good { printed } else { ExitCode::FAILURE }
}
