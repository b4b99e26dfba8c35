//! agent-device's command line. The virtual phone itself plays its helper on the phone.

use crate::clients::{check, script};
use crate::phone::{Adb, Phone};
use crate::process::{part, run};

#[test]
fn agent_device_drives_the_phone() {
    let Some(python) = part("MDM_TEST_PYTHON", "agent-device") else { return };
    let Some(program) = part("MDM_TEST_ADB36", "agent-device") else { return };
    let Some(node) = part("MDM_TEST_NODE_BIN", "agent-device") else { return };
    let Some(agent) = part("MDM_TEST_AGENT_DEVICE", "agent-device") else { return };
    let phone = Phone::start(&[]);
    let adb = Adb::with(program, &phone);
    let mut command = script(&python, "python/agent_device_session.py");
    command.arg(node).arg(agent).arg(adb.program()).arg(&phone.address).arg(adb.home.path());
    adb.on_path(adb.environment(&mut command)).env("AGENT_DEVICE_NO_UPDATE_NOTIFIER", "1");
    let done = run(&mut command).ok();
    check("agent-device 0.21.5", &done, &["pinch"]);
    phone.ran("am instrument");
}
