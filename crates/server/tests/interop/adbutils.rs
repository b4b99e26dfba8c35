//! PyPI's adbutils: files, shell, forwards, screen and input through a real adb server.

use crate::clients::{check, script};
use crate::phone::{Adb, Phone};
use crate::process::{part, run};

#[test]
fn adbutils_drives_the_phone() {
    let Some(python) = part("MDM_TEST_PYTHON", "adbutils") else { return };
    let Some(program) = part("MDM_TEST_ADB36", "adbutils") else { return };
    let phone = Phone::start(&[]);
    let adb = Adb::with(program, &phone);
    let mut command = script(&python, "python/adbutils_session.py");
    command.arg(&phone.address).arg(adb.home.path());
    let done = run(adb.environment(&mut command)).ok();
    check("adbutils 2.12.0", &done, &[]);
    phone.ran("input tap");
}
