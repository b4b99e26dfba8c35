//! mobile-mcp, an MCP server for phones, driven as an agent drives it; its agent on the phone is the phone's own.

use std::process::Command;

use crate::clients::{check, script};
use crate::phone::{Adb, Phone};
use crate::process::{part, run};

/// What mobile-mcp calls `adb`, whatever it is called elsewhere.
fn with_adb_on_path<'a>(command: &'a mut Command, adb: &Adb) -> &'a mut Command {
    let bin = adb.home.path().join("bin");
    std::fs::create_dir_all(&bin).unwrap();
    std::os::unix::fs::symlink(adb.program(), bin.join("adb")).unwrap();
    let old = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(bin).chain(std::env::split_paths(&old));
    command.env("PATH", std::env::join_paths(folders).unwrap()).env_remove("ANDROID_HOME")
}

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
    with_adb_on_path(adb.environment(&mut command), &adb);
    let done = run(&mut command).ok();
    check("@mobilenext/mobile-mcp 1.0.4", &done, &[]);
    phone.ran("app_process / com.mobilenext.mobilecli.DeviceServer");
}
