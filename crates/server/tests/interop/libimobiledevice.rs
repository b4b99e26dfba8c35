//! Debian's libimobiledevice and ideviceinstaller against the virtual iPhone's usbmuxd, and our own client beside them.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::iphone::{Face, IPhone};
use crate::process::{BINARY, Talker, part, run};

/// Calls until somebody has surely answered.
const CALLS_MAX: u32 = 20;

struct Tools {
    folder: PathBuf,
    phone: IPhone,
}

impl Tools {
    fn command(&self, tool: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.folder.join(tool));
        command.env("USBMUXD_SOCKET_ADDRESS", self.phone.place(Face::Usbmuxd));
        command.env("HOME", self.phone.folder.path());
        command.args(["-u", &self.phone.udid]).args(arguments);
        command
    }

    /// What a tool prints when it succeeds.
    #[track_caller]
    fn told(&self, tool: &str, arguments: &[&str]) -> String {
        run(&mut self.command(tool, arguments)).ok().out()
    }

    /// Our own product on the same phone.
    #[track_caller]
    fn call(&self, tool: &str, json: &str) -> String {
        run(&mut self.product(tool, json)).ok().out()
    }

    fn product(&self, tool: &str, json: &str) -> Command {
        let mut command = Command::new(BINARY);
        let mux = self.phone.place(Face::Usbmuxd);
        command.args(["call", "--no-adb-server", "--no-ios", "--usbmuxd", mux, tool, json]);
        command
    }
}

#[test]
fn the_tools_of_libimobiledevice_know_the_iphone() {
    let Some(folder) = part("MDM_TEST_LIBIMOBILEDEVICE", "libimobiledevice") else { return };
    let tools = Tools { folder, phone: IPhone::start(&[Face::Usbmuxd]) };
    let udid = tools.phone.udid.clone();

    let mut list = Command::new(tools.folder.join("idevice_id"));
    list.env("USBMUXD_SOCKET_ADDRESS", tools.phone.place(Face::Usbmuxd)).arg("-l");
    assert!(run(&mut list).ok().out().contains(&udid));
    assert_eq!(tools.told("ideviceinfo", &["-k", "ProductVersion"]).trim(), "16.7");
    assert_eq!(tools.told("idevicename", &[]).trim(), "Virtual iPhone");
    assert!(tools.told("idevicepair", &["validate"]).contains("SUCCESS"));
    assert!(tools.told("idevicepair", &["unpair"]).contains("SUCCESS"));
    assert!(tools.told("idevicepair", &["pair"]).contains("SUCCESS"));
    assert!(tools.told("idevicepair", &["validate"]).contains("SUCCESS"));
    assert!(tools.told("ideviceinstaller", &["-l", "-o", "list_all"]).contains("com.workbench"));

    let picture = tools.phone.folder.path().join("screen.png");
    tools.told("idevicescreenshot", &[&picture.display().to_string()]);
    assert!(std::fs::read(&picture).unwrap().starts_with(b"\x89PNG"));

    hears_the_log(&tools);
    let package = ipa(&tools);
    tools.told("ideviceinstaller", &["-i", &package.display().to_string()]);
    assert!(tools.call("manage_app", r#"{"action":"list"}"#).contains("com.example.hello"), "installed");
    tools.told("ideviceinstaller", &["-U", "com.example.hello"]);
    assert!(!tools.call("manage_app", r#"{"action":"list"}"#).contains("com.example.hello"), "removed");
}

/// The owner is asked, and both clients hear of it; what our own product agrees on serves Debian's tools too.
#[test]
fn a_phone_that_asks_its_owner_trusts_both_clients_after_the_answer() {
    let Some(folder) = part("MDM_TEST_LIBIMOBILEDEVICE", "libimobiledevice") else { return };
    let phone = IPhone::start_with(&[Face::Usbmuxd], &["--faults", "pairing-pending=3000"]);
    let tools = Tools { folder, phone };
    let asked = run(&mut tools.command("idevicepair", &["pair"]));
    assert!(asked.out().contains("accept the trust dialog"), "{}", asked.out());
    // Each call waits a second for the answer of the owner, who takes three.
    let mut calls = 0;
    let trusted = loop {
        let answer = run(&mut tools.product("manage_app", r#"{"action":"list"}"#)).out();
        calls += 1;
        if answer.contains("com.workbench") || calls == CALLS_MAX {
            break answer;
        }
        assert!(answer.contains("tap Trust on it"), "{answer}");
    };
    assert!(trusted.contains("com.workbench"), "{trusted}");
    assert!(tools.told("idevicepair", &["validate"]).contains("SUCCESS"), "by our record");
}

/// The log of one program tells what another one did.
fn hears_the_log(tools: &Tools) {
    let log = Talker::start(&mut tools.command("idevicesyslog", &[]));
    let first = log.hear().unwrap();
    assert!(first.contains("connected"), "{first}");
    tools.call("start_app", r#"{"app_id":"com.workbench","expect":{"text":"Log in"}}"#);
    while let Some(line) = log.hear() {
        if line.contains("com.workbench") {
            return;
        }
    }
    panic!("the log ended without a word of the app");
}

/// An app as a file: nothing but what says who it is.
fn ipa(tools: &Tools) -> PathBuf {
    let payload = tools.phone.folder.path().join("Payload");
    write_app(&payload.join("Hello.app"));
    let package = tools.phone.folder.path().join("hello.ipa");
    let script = "import shutil,sys; shutil.make_archive(sys.argv[2][:-4],'zip',sys.argv[1],'Payload')";
    let zip = tools.phone.folder.path().join("hello.zip");
    let mut command = Command::new("python3");
    command.args(["-c", script]).arg(tools.phone.folder.path()).arg(&zip);
    run(&mut command).ok();
    std::fs::rename(zip, &package).unwrap();
    package
}

pub fn write_app(folder: &Path) {
    std::fs::create_dir_all(folder).unwrap();
    let info = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<plist version=\"1.0\"><dict>\
                <key>CFBundleIdentifier</key><string>com.example.hello</string>\
                <key>CFBundleExecutable</key><string>Hello</string>\
                <key>CFBundleName</key><string>Hello</string>\
                <key>CFBundleShortVersionString</key><string>1.2</string>\
                <key>CFBundleVersion</key><string>7</string></dict></plist>\n";
    std::fs::write(folder.join("Info.plist"), info).unwrap();
    std::fs::write(folder.join("Hello"), b"\xcf\xfa\xed\xfe").unwrap();
}
