//! The virtual phone as a separate process, and a real adb that knows only this phone.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process::{BINARY, Done, Folder, Talker, free_port, run};

pub const APP: &str = "com.workbench";

pub struct Phone {
    /// `127.0.0.1:PORT`, which is also its serial in adb.
    pub address: String,
    talker: Talker,
}

impl Phone {
    pub fn start(options: &[&str]) -> Phone {
        Phone::paced("instant", options)
    }

    pub fn paced(timing: &str, options: &[&str]) -> Phone {
        let mut command = Command::new(BINARY);
        command.args(["virtual", "android", "--adb-port", "0", "--timing", timing, "--trace"]).args(options);
        let talker = Talker::start(&mut command);
        let first = talker.hear().expect("the phone says where it listens");
        let address =
            first.strip_prefix("adb: ").unwrap_or_else(|| panic!("first line is {first:?}")).to_owned();
        Phone { address, talker }
    }

    /// Waits until the phone reports that it runs a command with these words.
    #[track_caller]
    pub fn ran(&self, words: &str) {
        while let Some(line) = self.talker.hear_stderr() {
            if line.starts_with("cmd ") && line.contains(words) {
                return;
            }
        }
        panic!("the phone ended without running {words}");
    }
}

/// An adb client with its own adb server: own HOME, own port, no search for emulators or phones in the network.
pub struct Adb {
    program: PathBuf,
    port: u16,
    pub home: Folder,
}

impl Adb {
    /// Creates the client without starting a server.
    pub fn idle(program: PathBuf) -> Adb {
        Adb { program, port: free_port(), home: Folder::new() }
    }

    pub fn program(&self) -> &Path {
        &self.program
    }

    pub fn server_address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    pub fn start(program: PathBuf) -> Adb {
        let adb = Adb::idle(program);
        adb.run(&["start-server"]).ok();
        adb
    }

    /// Starts a server with this phone connected and ready.
    pub fn with(program: PathBuf, phone: &Phone) -> Adb {
        let adb = Adb::start(program);
        let said = adb.run(&["connect", &phone.address]).ok().out();
        assert!(said.starts_with("connected to "), "{said}");
        adb.run(&["wait-for-device"]).ok();
        adb
    }

    #[track_caller]
    pub fn run(&self, args: &[&str]) -> Done {
        run(self.environment(Command::new(&self.program).args(args)))
    }

    #[track_caller]
    pub fn shell(&self, script: &str) -> String {
        self.run(&["shell", script]).ok().out()
    }

    /// Makes a command use this adb server and none of the user's files.
    pub fn environment<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command
            .env("HOME", self.home.path())
            .env("ANDROID_USER_HOME", self.home.path().join(".android"))
            .env("ANDROID_ADB_SERVER_PORT", self.port.to_string())
            .env("ADB_LOCAL_TRANSPORT_MAX_PORT", "5553")
            .env("ADB_MDNS", "0")
            .env_remove("ADB_SERVER_SOCKET")
            .env_remove("ANDROID_SERIAL")
            .env_remove("ADB_VENDOR_KEYS")
    }

    /// Makes a command find this adb under the name `adb`.
    pub fn on_path<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        let bin = self.home.path().join("bin");
        std::fs::create_dir_all(&bin).unwrap();
        std::os::unix::fs::symlink(&self.program, bin.join("adb")).unwrap();
        let old = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(bin).chain(std::env::split_paths(&old));
        command.env("PATH", std::env::join_paths(folders).unwrap()).env_remove("ANDROID_HOME")
    }
}

impl Drop for Adb {
    fn drop(&mut self) {
        let mut command = Command::new(&self.program);
        let _ = self.environment(command.arg("kill-server")).output();
    }
}
