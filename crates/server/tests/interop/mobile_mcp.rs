//! mobile-mcp, another MCP server for phones, driven as by an agent. The virtual phone itself plays its helper.

use crate::clients::{check, script};
use crate::phone::{Adb, Phone};
use crate::process::{part, run};

#[test]
fn mobile_mcp_drives_the_phone() {
    let Some(python) = part("MDM_TEST_PYTHON", "mobile-mcp") else { return };
    let Some(program) = part("MDM_TEST_ADB36", "mobile-mcp") else { return };
    let Some(node) = part("MDM_TEST_NODE_BIN", "mobile-mcp") else { return };
    let Some(server) = part("MDM_TEST_MOBILE_MCP", "mobile-mcp") else { return };
    let phone = Phone::start(&[]);
    let adb = Adb::with(program, &phone);
    let mut command = script(&python, "python/mobile_mcp_session.py");
    command.arg(node).arg(server).arg(&phone.address).arg(adb.home.path());
    adb.on_path(adb.environment(&mut command));
    let done = run(&mut command).ok();
    check("@mobilenext/mobile-mcp 1.0.4", &done, &[]);
    phone.ran("app_process / com.mobilenext.mobilecli.DeviceServer");
}
