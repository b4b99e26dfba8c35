//! PyPI's pymobiledevice3, as a process of its own, in the tunnel of an iPhone of iOS 27. The virtual iPhone itself is the
//! phone.

use crate::clients::{check, script};
use crate::iphone::{Face, IPhone};
use crate::process::{part, run};

#[test]
fn pymobiledevice3_sees_and_touches_the_iphone() {
    let Some(python) = part("MDM_TEST_PYTHON", "pymobiledevice3") else { return };
    let phone = IPhone::start_with(&[Face::Usbmuxd], &["--ios-version", "27.0"]);
    let mut command = script(&python, "python/pymobiledevice3_session.py");
    command.arg(&phone.udid).env("USBMUXD_SOCKET_ADDRESS", phone.place(Face::Usbmuxd));
    let done = run(command.env("HOME", phone.folder.path())).ok();
    check("pymobiledevice3 11.45.0", &done, &[]);
}
