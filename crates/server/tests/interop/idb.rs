//! PyPI's fb-idb, the command line of idb. The virtual iPhone itself plays idb's companion.

use crate::clients::{check, script};
use crate::iphone::{Face, IPhone};
use crate::process::{part, run};

#[test]
fn idb_drives_the_iphone() {
    let Some(python) = part("MDM_TEST_PYTHON", "idb") else { return };
    let phone = IPhone::start(&[Face::Companion]);
    let mut command = script(&python, "python/idb_session.py");
    command.arg(phone.place(Face::Companion));
    let done = run(command.env("HOME", phone.folder.path())).ok();
    check("fb-idb 1.7.7", &done, &[]);
}
