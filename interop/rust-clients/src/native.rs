//! The crate `adb_client`: straight to the phone, and through an adb server.

use std::io::Cursor;
use std::net::{SocketAddr, SocketAddrV4};

use adb_client::ADBDeviceExt;
use adb_client::server::ADBServer;
use adb_client::tcp::ADBTcpDevice;

use crate::{APK, PACKAGE, Tally, expect, payload};

pub fn direct(address: &str, key: &str, tally: &mut Tally) -> Result<(), String> {
    let address: SocketAddr = address.parse().map_err(|e| format!("{e}"))?;
    let connect = || ADBTcpDevice::new_with_custom_private_key(address, key).map_err(text);
    let mut device = connect()?;
    jobs(&mut device, tally);
    // The client leaves the end of this session unread and takes it for an answer to what it asks next.
    let gone = device.uninstall(&PACKAGE, None).map_err(text);
    tally.note("uninstall", gone.and_then(|()| is_gone(&mut connect()?)));
    Ok(())
}

pub fn through_server(server: &str, serial: &str, tally: &mut Tally) -> Result<(), String> {
    let address: SocketAddrV4 = server.parse().map_err(|e| format!("{e}"))?;
    let mut server = ADBServer::new(address);
    let devices = server.devices().map_err(text)?;
    tally.note("devices", expect(devices.iter().any(|d| d.identifier == serial), &devices));
    let mut device = server.get_device_by_name(serial).map_err(text)?;
    jobs(&mut device, tally);
    let gone = device.uninstall(PACKAGE, None).map_err(text);
    tally.note("uninstall", gone.and_then(|()| is_gone(&mut device)));
    Ok(())
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn shell(device: &mut dyn ADBDeviceExt, script: &str) -> Result<String, String> {
    let mut out = Vec::new();
    device.shell_command(&script, Some(&mut out), None).map_err(text)?;
    Ok(String::from_utf8_lossy(&out).into_owned())
}

fn jobs(device: &mut dyn ADBDeviceExt, tally: &mut Tally) {
    tally.note("shell", shell(device, "echo one; echo two").and_then(|out| expect(out == "one\ntwo\n", out)));
    let mut code = None;
    let status = device.shell_command(&"exit 5", None, None).map_err(text);
    let seen = status.map(|status| code = status);
    tally.note("exit code", seen.and_then(|()| expect(code == Some(5), code)));
    tally.note("push", device.push(&mut Cursor::new(payload()), &"/sdcard/rust.bin").map_err(text));
    let mut pulled = Vec::new();
    let done = device.pull(&"/sdcard/rust.bin", &mut pulled).map_err(text);
    tally.note("pull", done.and_then(|()| expect(pulled == payload(), pulled.len())));
    let stat = device.stat(&"/sdcard/rust.bin").map_err(text);
    tally.note("stat", stat.and_then(|stat| expect(stat.file_size == 300_000, stat.file_size)));
    let list = device.list(&"/sdcard").map_err(text);
    tally.note("list", list.and_then(|list| expect(format!("{list:?}").contains("rust.bin"), list.len())));
    let started = device.run_activity(&"com.workbench", &"LoginActivity").map_err(text).and_then(|_| {
        let front = shell(device, "dumpsys activity activities | grep ResumedActivity")?;
        expect(front.contains("com.workbench/.LoginActivity"), front)
    });
    tally.note("run activity", started);
    tally.note("tap and dump", tap(device));
    tally.note("install", install(device));
    let picture = device.framebuffer_bytes().map_err(text);
    tally.note(
        "framebuffer",
        picture.and_then(|png| expect(png.starts_with(b"\x89PNG") && png.len() > 1000, png.len())),
    );
}

/// The first field gets the focus, which the next dump shows.
fn tap(device: &mut dyn ADBDeviceExt) -> Result<(), String> {
    let dump = "uiautomator dump /sdcard/r.xml >/dev/null; cat /sdcard/r.xml";
    let before = shell(device, dump)?;
    let node = before.split("<node").find(|n| n.contains("id/email\"")).ok_or("no field on the screen")?;
    let bounds = node.split("bounds=\"").nth(1).ok_or("no bounds")?;
    let sides: Vec<i32> = bounds.split(['[', ']', ',', '"']).filter_map(|n| n.parse().ok()).take(4).collect();
    let [left, top, right, bottom] = sides[..] else { return Err("no bounds".to_owned()) };
    shell(device, &format!("input tap {} {}", (left + right) / 2, (top + bottom) / 2))?;
    let after = shell(device, dump)?;
    expect(
        !before.contains("focused=\"true\"") && after.contains("focused=\"true\""),
        "the focus did not move",
    )
}

fn is_gone(device: &mut dyn ADBDeviceExt) -> Result<(), String> {
    let list = shell(device, "pm list packages")?;
    expect(list.contains("com.workbench") && !list.contains(PACKAGE), list)
}

fn install(device: &mut dyn ADBDeviceExt) -> Result<(), String> {
    let file = std::env::temp_dir().join(format!("rust-client-{}.apk", std::process::id()));
    std::fs::write(&file, APK).map_err(text)?;
    let installed = device.install(&file, None).map_err(text);
    let _ = std::fs::remove_file(&file);
    installed?;
    let list = shell(device, "pm list packages")?;
    expect(list.contains(PACKAGE), list)
}
