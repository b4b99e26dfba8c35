//! A client over HTTP goes away and comes back: what it had is still there, and nobody else's.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use mdm_virtual_device::{Phone, PhoneConfig};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

const BINARY: &str = env!("CARGO_BIN_EXE_mobile-debug-mcp");
/// Guards against a hang; nothing here tests speed.
const GUARD: Duration = Duration::from_secs(60);

struct World {
    runtime: Runtime,
    phones: Vec<(Phone, String)>,
    server: Child,
    address: SocketAddr,
}

impl World {
    fn new() -> World {
        let runtime = Runtime::new().unwrap();
        let mut phones = Vec::new();
        for seed in 1..=2 {
            let phone = Phone::new(PhoneConfig { seed, ..PhoneConfig::default() });
            let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
            let id = listener.local_addr().unwrap().to_string();
            let serving = phone.clone();
            runtime.spawn(async move { serving.serve(listener).await });
            phones.push((phone, id));
        }
        let mut command = Command::new(BINARY);
        command.args(["serve", "--http", "127.0.0.1:0", "--no-adb-server", "--no-ios"]);
        phones.iter().for_each(|(_, id)| _ = command.args(["--device", id]));
        let pipes = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut server = pipes.spawn().unwrap();
        let mut said = BufReader::new(server.stderr.take().unwrap()).lines();
        let line =
            said.find_map(|line| line.unwrap().strip_prefix("listening on http://").map(str::to_owned));
        let address = line.unwrap().split('/').next().unwrap().parse().unwrap();
        World { runtime, phones, server, address }
    }

    /// Waits until the server has begun on something, which only the phone tells.
    #[track_caller]
    fn wait_until(&self, what: &str, is_done: impl Fn(&Phone) -> bool) {
        let waiting = async {
            while !is_done(&self.phones[0].0) {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        let waited = self.runtime.block_on(async { tokio::time::timeout(GUARD, waiting).await });
        assert!(waited.is_ok(), "{what}: it never came");
    }

    fn client(&self, name: &str) -> Client {
        let mut client = Client { address: self.address, session: None };
        let hello = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{{"protocolVersion":"2025-11-25","capabilities":{{}},"clientInfo":{{"name":"{name}","version":"1"}}}}}}"#
        );
        let (head, _) = read(client.send(&hello));
        let session = head.lines().find_map(|line| line.strip_prefix("mcp-session-id: "));
        client.session = Some(session.unwrap().to_owned());
        drop(read(client.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)));
        client
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// A session whose every request has a connection of its own.
struct Client {
    address: SocketAddr,
    session: Option<String>,
}

impl Client {
    /// Sends a request and does not read its answer.
    fn send(&self, body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(GUARD)).unwrap();
        let session = self.session.as_ref().map_or(String::new(), |id| {
            format!("mcp-session-id: {id}\r\nmcp-protocol-version: 2025-11-25\r\n")
        });
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\n{session}Content-Length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
        stream
    }

    fn request(tool: &str, arguments: &str) -> String {
        format!(
            r#"{{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#
        )
    }

    #[track_caller]
    fn call(&self, tool: &str, arguments: &str) -> String {
        let (_, body) = read(self.send(&Client::request(tool, arguments)));
        let message = body.lines().filter_map(|line| line.strip_prefix("data:").or(Some(line)));
        let message = message.filter_map(|line| serde_json::from_str::<Value>(line.trim()).ok());
        let answer = message.rev().find(|message| message["id"] == 2).unwrap_or_else(|| panic!("{body}"));
        answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{body}")).to_owned()
    }
}

/// The head and the body of an answer, whose pieces are joined by the end of the connection.
fn read(mut stream: TcpStream) -> (String, String) {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    (head.to_owned(), body.to_owned())
}

fn id_of(tree: &str, label: &str) -> String {
    let line = tree.lines().find(|line| line.contains(label)).unwrap_or_else(|| panic!("{label} in {tree}"));
    line.split_whitespace()
        .find(|word| word.starts_with('e') && word[1..].parse::<u32>().is_ok())
        .unwrap()
        .to_owned()
}

#[test]
fn what_a_client_had_is_there_when_it_comes_back() {
    // SE-07
    let world = World::new();
    let (first, second) = (world.client("first"), world.client("second"));
    let id = &world.phones[0].1;
    first.call("use_device", &format!(r#"{{"device_id":"{id}"}}"#));
    let open = first.call("start_app", r#"{"app_id":"com.workbench","expect":{"text":"Log in"}}"#);
    assert!(open.contains(r#""verdict":"confirmed""#), "{open}");
    let tree = first.call("get_ui_tree", "{}");
    let switch = id_of(&tree, "\"Remember me\"");

    // In the middle of a call the connection breaks.
    let looked = |phone: &Phone| phone.truth().commands.len();
    let before = looked(&world.phones[0].0);
    let wait = Client::request("wait_for_ui", r#"{"selector":{"text":"never"},"timeout_ms":60000}"#);
    let broken = first.send(&wait);
    world.wait_until("the wait looks", |phone| looked(phone) > before);
    drop(broken);

    // The lease is the first client's still, and what it did not ask for was not done.
    let aimed = format!(r#"{{"selector":{{"text":"Log in"}},"device_id":"{id}"}}"#);
    let refused = second.call("tap_element", &aimed);
    assert!(refused.contains("DEVICE_LEASED"), "{refused}");
    // Its device and the ids of its elements are there too.
    let tapped = first.call(
        "tap_element",
        &format!(r#"{{"element_id":"{switch}","expect":{{"text":"Remember me","checked":true}}}}"#),
    );
    assert!(tapped.contains(r#""verdict":"confirmed""#) && tapped.contains(id.as_str()), "{tapped}");
    assert_eq!(world.phones[0].0.truth().switches.get("remember_me").copied(), Some(true));
    assert!(world.phones[1].0.truth().inputs.is_empty());
}
