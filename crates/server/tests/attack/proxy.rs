//! The server is ended in every way while a phone uses its proxy: the phone's setting is put back.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use mdm_android::adb::key::HostKey;
use mdm_android::adb::link;
use mdm_android::{Endpoint, Hub, HubConfig};
use mdm_core::port::{DeviceSource as _, NetworkCommand};
use mdm_virtual_device::{Phone, PhoneConfig};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

use crate::server::Server;

/// Guards against a hang; nothing here tests speed.
const GUARD: Duration = Duration::from_secs(60);

/// A phone on a port, in a runtime of its own, and somebody else's adb connection to it.
struct World {
    runtime: Runtime,
    phone: Phone,
    address: SocketAddr,
    hub: Arc<Hub>,
    state: PathBuf,
}

impl World {
    fn new(name: &str) -> World {
        let runtime = Runtime::new().unwrap();
        let phone = Phone::new(PhoneConfig::default());
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        let serving = phone.clone();
        runtime.spawn(async move { serving.serve(listener).await });
        let hub = Hub::new(HubConfig {
            server: None,
            start: None,
            endpoints: vec![Endpoint { id: "phone".to_owned(), connector: link::tcp(address.to_string()) }],
            key: HostKey::at("/nonexistent/adbkey"),
            session: 1,
            problems: Vec::new(),
        });
        let state = std::env::temp_dir().join(format!("mdm-attack-{name}-{}", std::process::id()));
        World { runtime, phone, address, hub: Arc::new(hub), state }
    }

    fn server(&self) -> Server {
        let (address, state) = (self.address.to_string(), self.state.display().to_string());
        Server::start(&["serve", "--device", &address, "--state", &state])
    }

    /// The proxy of the phone, as anybody reads it.
    fn setting(&self) -> Option<String> {
        self.runtime.block_on(self.read_setting())
    }

    fn set(&self, address: Option<&str>) {
        self.runtime.block_on(async {
            let device = self.hub.find("phone").await.unwrap().expect("the phone is there").device;
            let command = NetworkCommand::UseProxy { address: address.map(str::to_owned) };
            device.network(&command).await.unwrap();
        });
    }

    /// The proxy of the phone, read inside the runtime.
    async fn read_setting(&self) -> Option<String> {
        let device = self.hub.find("phone").await.unwrap().expect("the phone is there").device;
        device.network(&NetworkCommand::Read).await.unwrap().proxy
    }

    /// Waits until another process has done something, which only looking tells.
    #[track_caller]
    fn wait_until(&self, what: &str, mut is_done: impl AsyncFnMut(&World) -> bool) {
        let waiting = async {
            while !is_done(self).await {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        let waited = self.runtime.block_on(async { tokio::time::timeout(GUARD, waiting).await });
        assert!(waited.is_ok(), "{what}: it never came");
    }

    /// Switches the proxy on and checks that the phone uses it.
    #[track_caller]
    fn switch_on(&self, server: &mut Server) -> String {
        let on = server.call("mock_network", r#"{"proxy":"on"}"#);
        assert!(on.contains(r#""proxy":"on""#), "{on}");
        self.setting().expect("a proxy is set")
    }

    fn entries(&self) -> usize {
        std::fs::read_dir(self.state.join("proxied")).map_or(0, Iterator::count)
    }
}

impl Drop for World {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.state));
    }
}

#[test]
fn a_killed_server_is_cleaned_up_after_by_the_next_start() {
    let world = World::new("kill");
    let mut server = world.server();
    let ours = world.switch_on(&mut server);
    drop(server);
    assert_eq!(world.setting(), Some(ours), "nobody could put it back");
    assert_eq!(world.entries(), 1);
    let next = world.server();
    world.wait_until("the setting is put back", async |world| world.read_setting().await.is_none());
    world.wait_until("the note is removed", async |world| world.entries() == 0);
    drop(next);
}

#[test]
fn a_phone_that_was_away_is_put_back_when_it_is_next_seen() {
    let world = World::new("away");
    let mut server = world.server();
    let ours = world.switch_on(&mut server);
    drop(server);
    world.phone.set_plugged(false);
    let mut next = world.server();
    assert!(next.call("list_devices", "{}").contains("devices"));
    assert_eq!(world.entries(), 1, "it is still to be done");
    world.phone.set_plugged(true);
    assert_eq!(world.setting(), Some(ours));
    world.wait_until("the phone is seen and put back", async |world| {
        next.call("list_devices", "{}");
        world.entries() == 0
    });
    assert_eq!(world.setting(), None);
}

#[test]
fn a_server_that_is_asked_to_end_puts_the_phone_back_first() {
    for signal in ["-TERM", "-INT", "-HUP"] {
        let world = World::new(signal);
        let mut server = world.server();
        world.switch_on(&mut server);
        assert!(Command::new("kill").args([signal, &server.pid().to_string()]).status().unwrap().success());
        server.wait_for_end(GUARD);
        assert_eq!((world.setting(), world.entries()), (None, 0), "{signal}");
    }
    let world = World::new("stdin");
    let mut server = world.server();
    world.switch_on(&mut server);
    server.stdin = None;
    server.wait_for_end(GUARD);
    assert_eq!((world.setting(), world.entries()), (None, 0), "stdin was closed");
}

#[test]
fn a_second_server_leaves_the_proxy_of_a_living_one_alone() {
    let world = World::new("two");
    let mut first = world.server();
    let ours = world.switch_on(&mut first);
    let mut second = world.server();
    let refused = second.call("mock_network", r#"{"proxy":"on"}"#);
    assert!(refused.contains("another server's proxy"), "{refused}");
    assert_eq!(world.setting(), Some(ours));
    drop(first);
    // The first is dead now: the second takes over, and knows what was set before.
    let on = second.call("mock_network", r#"{"proxy":"on"}"#);
    assert!(on.contains(r#""proxy":"on""#), "{on}");
    second.call("mock_network", r#"{"proxy":"off"}"#);
    assert_eq!((world.setting(), world.entries()), (None, 0));
}

#[test]
fn what_the_user_set_after_the_kill_is_left() {
    let world = World::new("user");
    let mut server = world.server();
    world.switch_on(&mut server);
    drop(server);
    world.set(Some("10.1.1.1:3128"));
    let next = world.server();
    world.wait_until("the note is removed", async |world| world.entries() == 0);
    assert_eq!(world.setting().as_deref(), Some("10.1.1.1:3128"));
    drop(next);
}
