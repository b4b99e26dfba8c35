//! Appium with its XCUITest driver, which attaches to a WebDriverAgent that runs already: the virtual iPhone's.

use crate::clients::{check, script};
use crate::iphone::{Face, IPhone};
use crate::process::{free_port, part, run};

#[test]
fn appium_drives_the_iphone() {
    let Some(python) = part("MDM_TEST_PYTHON", "xcuitest") else { return };
    let Some(node) = part("MDM_TEST_NODE_BIN", "xcuitest") else { return };
    let Some(appium) = part("MDM_TEST_APPIUM", "xcuitest") else { return };
    let Some(appium_home) = part("MDM_TEST_APPIUM_HOME", "xcuitest") else { return };
    let phone = IPhone::start(&[Face::Wda]);
    let mut command = script(&python, "python/appium_ios_session.py");
    command.arg(node).arg(appium).arg(free_port().to_string());
    command.arg(format!("http://{}", phone.place(Face::Wda))).arg(&phone.udid).arg(phone.folder.path());
    command.env("HOME", phone.folder.path()).env("APPIUM_HOME", appium_home);
    let done = run(&mut command).ok();
    check("Appium 3.8.0 + xcuitest-driver 12.13.1", &done, &[]);
}
