//! The server is killed in the middle of its work: what it left on a phone is gone after the next start (SE-07).

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use mdm_android::adb::key::HostKey;
use mdm_android::adb::link::{self, Link};
use mdm_android::adb::{Adb, Script};
use mdm_virtual_device::{Phone, PhoneConfig, Timing};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

use crate::server::Server;

/// Guards against a hang; nothing here tests speed.
const GUARD: Duration = Duration::from_secs(60);

struct World {
    runtime: Runtime,
    phone: Phone,
    address: SocketAddr,
    state: PathBuf,
}

impl World {
    fn new(name: &str, timing: Timing) -> World {
        let runtime = Runtime::new().unwrap();
        let phone = Phone::new(PhoneConfig { timing, ..PhoneConfig::default() });
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        let serving = phone.clone();
        runtime.spawn(async move { serving.serve(listener).await });
        let state = std::env::temp_dir().join(format!("mdm-killed-{name}-{}", std::process::id()));
        World { runtime, phone, address, state }
    }

    fn server(&self, helper: &str) -> Server {
        let (address, state) = (self.address.to_string(), self.state.display().to_string());
        Server::start(&["serve", "--device", &address, "--state", &state, "--helper", helper, "--no-ios"])
    }

    /// Waits for what the phone says of itself.
    #[track_caller]
    fn wait_until(&self, what: &str, is_done: impl Fn(&Phone) -> bool) {
        let waiting = async {
            while !is_done(&self.phone) {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        let waited = self.runtime.block_on(async { tokio::time::timeout(GUARD, waiting).await });
        let truth = self.phone.truth();
        assert!(waited.is_ok(), "{what}: it never came; files {:?}", truth.leftover_files);
    }

    /// The numbers that living and killed servers have noted, that of the newest first.
    fn sessions(&self) -> Vec<String> {
        let note = std::fs::read_to_string(self.state.join("processes").join("0")).unwrap();
        note.lines().map(str::to_owned).collect()
    }

    /// Runs a command on the phone, as anybody can.
    fn shell(&self, command: &str) {
        let adb =
            Adb::direct(Link::new(link::tcp(self.address.to_string()), HostKey::at("/nonexistent/adbkey")));
        let script = Script::new("sh -c").arg(command);
        let output = self.runtime.block_on(adb.shell(&script, 10_000)).unwrap();
        assert_eq!(output.exit_code, 0, "{}", output.message());
    }
}

impl Drop for World {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.state));
    }
}

#[test]
fn files_of_a_killed_server_are_gone_after_the_next_start_and_those_of_others_are_not() {
    // SE-07
    let world = World::new("files", Timing::Instant);
    let mut killed = world.server("never");
    killed.call("get_ui_tree", "{}");
    let session = world.sessions().remove(0);
    drop(killed);
    // What a dump leaves that was not read to its end, and a helper that was pushed and never started.
    world.shell(&format!(
        "touch /data/local/tmp/.mdm-{session}-7.xml /data/local/tmp/.mdm-helper-{session}-1.jar \
         /data/local/tmp/.mdm-0123456789abcdef-1.xml /data/local/tmp/others"
    ));
    assert_eq!(world.phone.truth().leftover_files.len(), 4);
    let mut next = world.server("never");
    assert!(world.sessions().contains(&session), "it is noted as killed");
    let tree = next.call("get_ui_tree", "{}");
    assert!(!tree.contains("\"error\""), "{tree}");
    let left = world.phone.truth().leftover_files;
    assert_eq!(left.len(), 2, "{left:?}");
    assert!(left.iter().all(|file| !file.contains(&session)), "{left:?}");
}

#[test]
fn the_helper_of_a_killed_server_ends_and_leaves_nothing() {
    // SE-07
    let world = World::new("helper", Timing::Brisk);
    let mut server = world.server("always");
    let tree = server.call("get_ui_tree", "{}");
    assert!(!tree.contains("\"via\":\"shell\""), "{tree}");
    drop(server);
    world.wait_until("the server is gone", |phone| phone.truth().connections == 0);
    let mut next = world.server("always");
    let tree = next.call("get_ui_tree", "{}");
    assert!(!tree.contains("\"error\""), "the next helper starts beside nothing: {tree}");
    drop(next);
    world.wait_until("both are gone", |phone| phone.truth().connections == 0);
    world.wait_until("nothing is left", |phone| phone.truth().leftover_files.is_empty());
}
