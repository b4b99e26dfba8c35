//! `doctor`: what get_system_status tells, for a person.

use std::process::ExitCode;

use mdm_android::adb::server_start::Environment;
use mobile_debug_mcp::answer::Facts;
use mobile_debug_mcp::app::App;
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
