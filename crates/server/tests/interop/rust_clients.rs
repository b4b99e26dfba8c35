//! The crates adb_client and forensic-adb, called by a small program: interop/rust-clients.

use std::process::Command;

use crate::clients::check;
use crate::phone::{Adb, Phone};
use crate::process::{Folder, part, run};

/// Through a server, this client reads the exit code but does not return it; directly, it asks for a shell without one.
const NO_EXIT_CODE: &str = "exit code";

#[test]
fn adb_client_drives_the_phone_through_a_server() {
    let Some(clients) = part("MDM_TEST_RUST_CLIENTS", "adb_client") else { return };
    let Some(program) = part("MDM_TEST_ADB36", "adb_client") else { return };
    let phone = Phone::start(&[]);
    let adb = Adb::with(program, &phone);
    let mut command = Command::new(clients);
    command.args(["adb_client-server", &adb.server_address(), &phone.address]);
    let done = run(adb.environment(&mut command)).ok();
    check("adb_client 3.2.3, through adb", &done, &[NO_EXIT_CODE]);
    phone.ran("input tap");
}

/// Runs at the speed of a real phone: this client discards answers that come within 20 ms of an uninstall request.
#[test]
fn adb_client_drives_the_phone_directly() {
    let Some(clients) = part("MDM_TEST_RUST_CLIENTS", "adb_client") else { return };
    let Some(program) = part("MDM_TEST_ADB36", "adb_client") else { return };
    let phone = Phone::paced("phone", &[]);
    let home = Folder::new();
    let key = home.path().join("adbkey");
    // Generating a key would take this client seconds.
    run(Command::new(program).arg("keygen").arg(&key).env("HOME", home.path())).ok();
    let mut command = Command::new(clients);
    command.args(["adb_client-direct", &phone.address]).arg(key);
    let done = run(command.env("HOME", home.path())).ok();
    check("adb_client 3.2.3, direct", &done, &[NO_EXIT_CODE]);
    phone.ran("input tap");
}

/// Like the real adbd, the phone answers `reverse:killforward` with a bare OKAY; this client expects a length after it.
#[test]
fn forensic_adb_drives_the_phone() {
    let Some(clients) = part("MDM_TEST_RUST_CLIENTS", "forensic-adb") else { return };
    let Some(program) = part("MDM_TEST_ADB36", "forensic-adb") else { return };
    let phone = Phone::start(&[]);
    let adb = Adb::with(program, &phone);
    let mut command = Command::new(clients);
    command.args(["forensic-adb", &adb.server_address(), &phone.address]);
    let done = run(adb.environment(&mut command)).ok();
    check("forensic-adb 0.8.1", &done, &["kill reverse"]);
    phone.ran("am force-stop com.workbench");
}
