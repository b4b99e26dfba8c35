//! `doctor`: the same facts as get_system_status, for a person.

use std::process::ExitCode;

use mdm_android::adb::server_start::Environment;
use mobile_debug_mcp::answer::Facts;
use mobile_debug_mcp::app::App;
use mobile_debug_mcp::args::JsonObject;
use mobile_debug_mcp::tools;
use tokio_util::sync::CancellationToken;

pub async fn run(app: App) -> ExitCode {
    let environment = Environment::of_process();
    let mut report = match environment.find_adb() {
        Some(adb) => format!("adb       {}\n", adb.display()),
        None => "adb       not found: install Android platform-tools and put adb on PATH, or set ADB_PATH;\n          \
                 without it, --device HOST:PORT and --virtual android still work\n"
            .to_owned(),
    };
    for problem in environment.problems() {
        report.push_str(&format!("          {problem}\n"));
    }
    let key = environment.home.map(|home| home.join(".android").join("adbkey"));
    let key = match key.filter(|key| key.is_file()) {
        Some(key) => key.display().to_string(),
        None => "none yet; made when a device first asks for it".to_owned(),
    };
    report.push_str(&format!("adb key   {key}\n"));
    let mut ready = false;
    for name in ["get_system_status", "list_devices"] {
        if let Some(tool) = tools::find(name) {
            let answer = tool.call(&app, JsonObject::new(), CancellationToken::new()).await;
            ready |= matches!(&answer.facts, Facts::Devices(devices) if devices.has_usable());
            let facts = serde_json::to_string_pretty(&answer.facts).unwrap_or_else(|error| error.to_string());
            report.push_str(&format!("{name}\n{facts}\n"));
        }
    }
    report.push_str(if ready {
        "A device can be used."
    } else {
        "No device can be used yet: see issues above."
    });
    let printed = super::print(&report);
    if ready { printed } else { ExitCode::FAILURE }
}
