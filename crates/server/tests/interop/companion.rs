//! idb's companion is started by the product for a simulator that has none, and ends with it.

use std::path::Path;
use std::process::Command;

use crate::iphone::{Face, IPhone};
use crate::process::{BINARY, Talker, run};

/// Looks at the list of processes before one is said to be there still.
const LOOKS_MAX: usize = 2000;
const LIST: [&str; 3] = ["call", "list_devices", "{}"];
const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;

fn server(phone: &IPhone, arguments: &[&str]) -> Command {
    let xcrun = phone.place(Face::Xcrun);
    let folder = Path::new(xcrun).parent().unwrap();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap_or_default());
    let mut command = Command::new(BINARY);
    command.env("PATH", path).env("HOME", phone.folder.path()).env("TMPDIR", phone.folder.path());
    command.args(arguments).args(["--no-adb-server", "--no-ios", "--xcrun", xcrun]);
    command
}

fn call(talker: &mut Talker, id: u32, tool: &str, arguments: &str) -> String {
    talker.say(&format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#
    ));
    loop {
        let line = talker.hear().unwrap_or_else(|| panic!("the server ended: {:?}", talker.hear_stderr()));
        if line.contains(&format!("\"id\":{id}")) {
            return line;
        }
    }
}

/// The stand-ins of companions for this simulator that run.
fn running(udid: &str) -> usize {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = processes.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    let of_this = |line: &Vec<u8>| {
        let line = String::from_utf8_lossy(line).replace('\0', " ");
        line.contains("companion-stand-in") && line.contains(&format!("--udid {udid}"))
    };
    lines.filter(of_this).count()
}

#[cfg(target_os = "linux")]
#[test]
fn a_companion_is_started_once_and_ends_with_the_server() {
    let phone = IPhone::start(&[Face::Xcrun]);
    let mut talker = Talker::start(&mut server(&phone, &["serve"]));
    talker.say(INITIALIZE);
    talker.hear().unwrap();
    talker.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    let device = &phone.udid;
    let tree = call(&mut talker, 2, "get_ui_tree", &format!(r#"{{"device_id":"{device}"}}"#));
    assert!(tree.contains("Workbench"), "its screen is read: {tree}");
    let tap = format!(
        r#"{{"device_id":"{device}","selector":{{"text":"Workbench"}},"expect":{{"text":"Log in"}}}}"#
    );
    let tapped = call(&mut talker, 3, "tap_element", &tap);
    assert!(tapped.contains("confirmed"), "and touched: {tapped}");
    for id in 4..8 {
        let listed = call(&mut talker, id, "list_devices", "{}");
        assert!(!listed.contains("missing"), "{listed}");
    }
    assert_eq!(running(&phone.udid), 1, "never more than one");
    let (code, _) = talker.finish();
    assert_eq!(code, Some(0));
    // It was told to end before the server ended; the system may take a moment.
    let has_ended = (0..LOOKS_MAX).any(|_| running(&phone.udid) == 0);
    assert!(has_ended, "it outlives the server");
    let left = std::fs::read_dir(phone.folder.path()).unwrap().flatten();
    let left: Vec<_> = left.map(|entry| entry.file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().starts_with("mdm-")), "{left:?}");
}

#[test]
fn a_simulator_says_that_the_companion_is_missing_or_why_it_does_not_start() {
    let phone = IPhone::start(&[Face::Xcrun]);
    let companion = Path::new(phone.place(Face::Xcrun)).with_file_name("idb_companion");
    std::fs::write(&companion, "#!/bin/sh\necho no such framework >&2\nexit 3\n").unwrap();
    let listed = run(&mut server(&phone, &LIST)).ok().out();
    assert!(listed.contains("\"missing\":\"its screen can be read and touched once"), "{listed}");
    assert!(listed.contains("no such framework"), "{listed}");
    std::fs::remove_file(&companion).unwrap();
    let listed = run(server(&phone, &LIST).env("PATH", "/usr/bin:/bin")).ok().out();
    assert!(listed.contains("install idb_companion"), "{listed}");
}
