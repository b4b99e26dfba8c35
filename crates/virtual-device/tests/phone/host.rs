//! The smallest host that can test a phone. It shares the codecs with the phone and nothing else.

use bytes::{Bytes, BytesMut};
use mdm_virtual_device::{Phone, PhoneConfig};
use mdm_wire::adb::frame::{Command, Frame};
use mdm_wire::adb::shell::Packet;
use mdm_wire::adb::{PAYLOAD_BYTES_MAX, VERSION_SKIP_CHECKSUM};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

pub struct Host {
    socket: DuplexStream,
    input: BytesMut,
    next_id: u32,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Output {
    pub out: String,
    pub err: String,
    /// The exit code; nothing when the stream ended without one.
    pub code: Option<u8>,
}

impl Host {
    /// Returns a transport before any frame.
    pub fn raw(phone: &Phone) -> Host {
        Host { socket: phone.connect().expect("plugged"), input: BytesMut::new(), next_id: 1 }
    }

    pub async fn connect(phone: &Phone) -> Host {
        let mut host = Host::raw(phone);
        host.send(
            Command::Connect,
            VERSION_SKIP_CHECKSUM,
            PAYLOAD_BYTES_MAX,
            &b"host::features=shell_v2,cmd"[..],
        )
        .await;
        let answer = host.frame().await.expect("an answer to CNXN");
        assert_eq!(answer.command, Command::Connect);
        host
    }

    pub async fn send(&mut self, command: Command, arg0: u32, arg1: u32, payload: impl Into<Bytes>) {
        let mut out = BytesMut::new();
        Frame::new(command, arg0, arg1, payload).encode(&mut out);
        self.send_bytes(&out).await;
    }

    /// Sends a frame. An error is ignored: tests check what comes back.
    pub async fn send_bytes(&mut self, bytes: &[u8]) {
        let _ = self.socket.write_all(bytes).await;
    }

    /// Returns the next frame, or nothing when the phone has hung up.
    pub async fn frame(&mut self) -> Option<Frame> {
        loop {
            if let Some(frame) =
                Frame::decode(&mut self.input, PAYLOAD_BYTES_MAX).expect("frames of the phone are valid")
            {
                return Some(frame);
            }
            if self.socket.read_buf(&mut self.input).await.ok()? == 0 {
                return None;
            }
        }
    }

    /// Opens a service and returns its local and remote id, or nothing when it was refused.
    pub async fn open(&mut self, service: &str) -> Option<(u32, u32)> {
        let local = self.next_id;
        self.next_id += 1;
        self.send(Command::Open, local, 0, format!("{service}\0")).await;
        let answer = self.frame().await?;
        assert_eq!(answer.arg1, local, "an answer to another stream: {answer:?}");
        (answer.command == Command::Okay).then_some((local, answer.arg0))
    }

    /// Returns everything that one stream sends until it closes.
    pub async fn read_to_end(&mut self, (local, remote): (u32, u32)) -> Vec<u8> {
        let mut all = Vec::new();
        while let Some(frame) = self.frame().await {
            match frame.command {
                Command::Write => {
                    all.extend_from_slice(&frame.payload);
                    self.send(Command::Okay, local, remote, Bytes::new()).await;
                }
                Command::Close => break,
                _ => {}
            }
        }
        all
    }

    pub async fn service(&mut self, service: &str) -> Vec<u8> {
        let ids = self.open(service).await.expect("the service exists");
        self.read_to_end(ids).await
    }

    pub async fn shell(&mut self, script: &str) -> Output {
        let bytes = self.service(&format!("shell,v2,raw:{script}")).await;
        packets(&bytes)
    }

    /// Runs a script that must succeed and returns its standard output.
    pub async fn run(&mut self, script: &str) -> String {
        let output = self.shell(script).await;
        assert_eq!(output.code, Some(0), "{script}: {output:?}");
        output.out
    }

    pub async fn dump(&mut self) -> String {
        let script = "f=/data/local/tmp/.t.xml; rm -f \"$f\"; uiautomator dump \"$f\" >/dev/null; cat \"$f\"; rm -f \"$f\"";
        self.run(script).await
    }

    /// Taps the middle of the widget whose node contains this attribute.
    pub async fn tap(&mut self, attribute: &str) {
        let tree = self.dump().await;
        let (x, y) = centre(&tree, attribute);
        self.run(&format!("input tap {x} {y}")).await;
    }
}

/// Decodes the packets of a shell.
pub fn packets(bytes: &[u8]) -> Output {
    let mut input = BytesMut::from(bytes);
    let mut output = Output::default();
    let (mut out, mut err) = (Vec::new(), Vec::new());
    while let Some(packet) = Packet::decode(&mut input).expect("packets of the phone are valid") {
        match packet {
            Packet::Stdout(data) => out.extend_from_slice(&data),
            Packet::Stderr(data) => err.extend_from_slice(&data),
            Packet::Exit(code) => output.code = Some(code),
            other => panic!("unexpected {other:?}"),
        }
    }
    output.out = String::from_utf8(out).expect("text");
    output.err = String::from_utf8(err).expect("text");
    output
}

/// Returns the node that contains this attribute, as text.
pub fn node<'a>(tree: &'a str, attribute: &str) -> Option<&'a str> {
    tree.split("<node").find(|node| node.contains(attribute))
}

pub fn bounds(tree: &str, attribute: &str) -> [i32; 4] {
    let node = node(tree, attribute).unwrap_or_else(|| panic!("no {attribute} in {tree}"));
    let text = node.split("bounds=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("bounds");
    let numbers: Vec<i32> = text.split(['[', ']', ',']).filter_map(|n| n.parse().ok()).collect();
    numbers.try_into().expect("four numbers")
}

pub fn centre(tree: &str, attribute: &str) -> (i32, i32) {
    let [left, top, right, bottom] = bounds(tree, attribute);
    ((left + right) / 2, (top + bottom) / 2)
}

pub async fn phone_and_host(config: PhoneConfig) -> (Phone, Host) {
    let phone = Phone::new(config);
    let host = Host::connect(&phone).await;
    (phone, host)
}

/// A phone with Workbench in front.
pub async fn workbench() -> (Phone, Host) {
    let (phone, mut host) = phone_and_host(PhoneConfig::default()).await;
    host.run("am start -W -n com.workbench/.LoginActivity").await;
    (phone, host)
}

/// Types a password and taps the button; the answer comes 600 ms later.
pub async fn log_in(host: &mut Host, password: &str) {
    host.tap("resource-id=\"com.workbench:id/email\"").await;
    host.run("input text ada@example.com").await;
    host.tap("resource-id=\"com.workbench:id/password\"").await;
    host.run(&format!("input text '{password}'")).await;
    host.tap("text=\"Log in\"").await;
}
