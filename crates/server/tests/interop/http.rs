//! The built binary serving over HTTP, for programs of others that come as its clients.

use std::process::Command;

use crate::process::{BINARY, Folder, Talker};

/// Serves one embedded phone at a free port of the loopback interface, until the test ends.
pub struct HttpServer {
    pub url: String,
    _talker: Talker,
    _home: Folder,
}

impl HttpServer {
    pub fn start(options: &[&str]) -> HttpServer {
        let home = Folder::new();
        let mut command = Command::new(BINARY);
        command.args([
            "serve",
            "--http",
            "127.0.0.1:0",
            "--virtual",
            "android",
            "--no-adb-server",
            "--no-ios",
        ]);
        let talker = Talker::start(command.args(options).env("HOME", home.path()));
        let line = talker.hear_stderr().expect("the server tells where it listens");
        let url = line.strip_prefix("listening on ").unwrap_or_else(|| panic!("{line}")).to_owned();
        HttpServer { url, _talker: talker, _home: home }
    }
}
