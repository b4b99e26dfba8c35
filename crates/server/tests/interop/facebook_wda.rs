//! PyPI's facebook-wda. The virtual iPhone itself plays WebDriverAgent.

use crate::clients::{check, script};
use crate::iphone::{Face, IPhone};
use crate::process::{part, run};

#[test]
fn facebook_wda_drives_the_iphone() {
    let Some(python) = part("MDM_TEST_PYTHON", "facebook-wda") else { return };
    let phone = IPhone::start(&[Face::Wda]);
    let mut command = script(&python, "python/facebook_wda_session.py");
    command.arg(format!("http://{}", phone.place(Face::Wda)));
    let done = run(command.env("HOME", phone.folder.path())).ok();
    check("facebook-wda 1.5.4", &done, &[]);
}
