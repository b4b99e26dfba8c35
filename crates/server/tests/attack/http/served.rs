//! The program as it serves over HTTP, with folders of its own.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::client::Client;
use crate::server::Server;

pub struct Served {
    pub server: Server,
    pub address: SocketAddr,
    pub folder: Folder,
}

/// A folder that goes with its test.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> Folder {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path =
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("http-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path.canonicalize().unwrap())
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn write(&self, name: &str, text: &str) -> String {
        std::fs::write(self.0.join(name), text).unwrap();
        self.name_of(name)
    }

    pub fn name_of(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl Served {
    pub fn start(options: &[&str]) -> Served {
        Served::start_with(Folder::new(), &[], options)
    }

    /// Starts it with an embedded phone: options of the program, and of serving, which may name files of `folder`.
    pub fn start_with(folder: Folder, program: &[&str], options: &[&str]) -> Served {
        let state = folder.name_of("state");
        let serve = ["serve", "--http", "127.0.0.1:0", "--virtual", "android", "--no-ios", "--state", &state];
        let (server, _) = Server::start_unread(&[program, &serve, options].concat());
        let address = loop {
            let line = server.hear_log();
            if let Some(url) = line.strip_prefix("listening on http://") {
                break url.trim_end_matches("/mcp").parse().unwrap();
            }
        };
        Served { server, address, folder }
    }

    /// The server still does what it is for.
    #[track_caller]
    pub fn still_serves(&self) {
        let mut client = Client::stateless(self.address, "somebody else");
        assert!(client.call("list_devices", serde_json::json!({})).done().contains("virtual-android"));
    }
}
