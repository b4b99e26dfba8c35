//! PyPI's uiautomator2. The virtual phone itself plays its server on the phone.

use crate::clients::{check, script};
use crate::phone::{Adb, Phone};
use crate::process::{part, run};

#[test]
fn uiautomator2_drives_the_phone() {
    let Some(python) = part("MDM_TEST_PYTHON", "uiautomator2") else { return };
    let Some(program) = part("MDM_TEST_ADB36", "uiautomator2") else { return };
    let phone = Phone::start(&[]);
    let adb = Adb::with(program, &phone);
    let mut command = script(&python, "python/uiautomator2_session.py");
    command.arg(&phone.address);
    let done = run(adb.environment(&mut command)).ok();
    check("uiautomator2 3.7.1", &done, &["pinch"]);
    phone.ran("app_process / com.wetest.uia2.Main");
}
