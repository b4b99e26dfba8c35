//! The crate `forensic-adb`: through an adb server, the only way it knows.

use std::io::Cursor;

use forensic_adb::{AndroidStorageInput, DeviceInfo, Host, UnixPath};

use crate::{Tally, expect, payload};

pub fn run(server: &str, serial: &str, tally: &mut Tally) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(text)?;
    runtime.block_on(jobs(server, serial, tally))
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

async fn jobs(server: &str, serial: &str, tally: &mut Tally) -> Result<(), String> {
    let (host, port) = server.split_once(':').ok_or("SERVER is HOST:PORT")?;
    let host = Host { host: Some(host.to_owned()), port: port.parse().ok() };
    let devices: Vec<DeviceInfo> = host.devices().await.map_err(text)?;
    tally.note("devices", expect(devices.iter().any(|d| d.serial == serial), &devices));
    let serial = serial.to_owned();
    let device = host.device_or_default(Some(&serial), AndroidStorageInput::Sdcard).await.map_err(text)?;
    let out = device.execute_host_shell_command("echo one; echo two").await.map_err(text);
    tally.note("shell", out.and_then(|out| expect(out == "one\ntwo\n", out)));
    let png = device.execute_host_exec_out_command("screencap -p").await.map_err(text);
    tally.note("exec-out screenshot", png.and_then(|png| expect(png.starts_with(b"\x89PNG"), png.len())));
    let path = UnixPath::new("/sdcard/forensic/a.bin");
    let pushed = device.push(&mut Cursor::new(payload()), path, 0o644).await;
    tally.note("push", pushed.map_err(text));
    let mut pulled = Vec::new();
    let done = device.pull(path, &mut pulled).await.map_err(text);
    tally.note("pull", done.and_then(|()| expect(pulled == payload(), pulled.len())));
    let list = device.list_dir(UnixPath::new("/sdcard/forensic")).await.map_err(text);
    tally.note("list", list.and_then(|list| expect(list.iter().any(|entry| entry.name == "a.bin"), &list)));
    let exists = device.path_exists(path, false).await.map_err(text);
    tally.note("exists", exists.and_then(|exists| expect(exists, exists)));
    let removed = match device.remove(path).await {
        Ok(()) => device.path_exists(path, false).await.map_err(text).and_then(|there| expect(!there, there)),
        Err(error) => Err(text(error)),
    };
    tally.note("remove", removed);
    let installed = device.is_app_installed("com.workbench").await.map_err(text);
    tally.note("is installed", installed.and_then(|yes| expect(yes, yes)));
    let arguments: [&str; 0] = [];
    let launched = device.launch("com.workbench", ".LoginActivity", &arguments).await;
    tally.note("launch", launched.map_err(text).and_then(|done| expect(done, done)));
    let stopped = match device.force_stop("com.workbench").await {
        Ok(()) => device.execute_host_shell_command("pidof com.workbench || echo none").await.map_err(text),
        Err(error) => Err(text(error)),
    };
    tally.note("force stop", stopped.and_then(|out| expect(out.contains("none"), out)));
    let reversed = device.reverse_port(7001, 7002).await.map_err(text);
    tally.note("reverse", reversed.and_then(|port| expect(port == 7001, port)));
    tally.note("kill reverse", device.kill_reverse_port(7001).await.map_err(text));
    let again = device.reverse_port(7001, 7002).await.map_err(text).map(drop);
    let killed = match again.and(device.kill_reverse_all_ports().await.map_err(text)) {
        Ok(()) => device.execute_host_command("reverse:list-forward", true, true).await.map_err(text),
        Err(why) => Err(why),
    };
    tally.note("kill all reverse", killed.and_then(|list| expect(list.is_empty(), list)));
    Ok(())
}
