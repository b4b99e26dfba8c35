//! The server is killed in the middle of its work: what it left on a phone is gone after the next start (SE-07).

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use mdm_virtual_device::{Phone, PhoneConfig, Timing};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

use crate::server::{Server, call};

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

    fn dumps(&self) -> usize {
        self.phone.truth().argvs.iter().filter(|words| words.iter().any(|word| word == "uiautomator")).count()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.state));
    }
}

#[test]
fn a_dump_that_a_killed_server_began_leaves_no_file_after_the_next_start() {
    // SE-07
    let world = World::new("dump", Timing::Phone);
    let mut server = world.server("never");
    server.say(&call(7, "get_ui_tree", "{}"));
    world.wait_until("a dump runs", |_| world.dumps() > 0);
    drop(server);
    // The dump goes on without its server, and writes a file that nobody reads.
    world.wait_until("the file is written", |phone| !phone.truth().leftover_files.is_empty());
    world.wait_until("the server is gone", |phone| phone.truth().connections == 0);
    let left = world.phone.truth().leftover_files;
    let mut next = world.server("never");
    let tree = next.call("get_ui_tree", "{}");
    assert!(tree.contains("device"), "{tree}");
    let files = world.phone.truth().leftover_files;
    assert_eq!(files, Vec::<String>::new(), "left by the killed server: {left:?}");
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
