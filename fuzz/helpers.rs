//! A host that starts a helper on the phone and talks to it.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::{Bytes, BytesMut};
use mdm_virtual_device::{Phone, PhoneConfig};
use mdm_wire::adb::PAYLOAD_BYTES_MAX;
use mdm_wire::adb::frame::{Command, Frame};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

use crate::{PATIENCE, READ_BYTES_MAX, connect, honest, open, runtime};

/// Limit of requests in one run.
const REQUESTS_MAX: usize = 12;
/// The stream of the shell in which the helper runs.
const SHELL: u32 = 1;
/// Time between two checks whether the helper listens, and their number.
const LOOK: Duration = Duration::from_millis(20);
const LOOKS_MAX: u32 = 50;
/// Placeholder for the session's id in paths.
const ID: &str = "ID";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Helper {
    Uiautomator2,
    DeviceServer,
    Appium,
    AgentDevice,
}

impl Helper {
    pub fn of(byte: u8) -> Helper {
        match byte & 3 {
            0 => Helper::Uiautomator2,
            1 => Helper::DeviceServer,
            2 => Helper::Appium,
            _ => Helper::AgentDevice,
        }
    }

    fn address(self) -> &'static str {
        match self {
            Helper::Uiautomator2 => "tcp:9008",
            Helper::DeviceServer => "localabstract:mobilecli-server",
            Helper::Appium => "tcp:6790",
            Helper::AgentDevice => "tcp:45000",
        }
    }

    fn script(self) -> String {
        let instrument = |package: &str, rest: &str| {
            let file = "/data/local/tmp/h.apk";
            format!(
                "printf 'PK.. package={package} ' >{file}; pm install {file}; am instrument -w {rest} {package}/.Runner"
            )
        };
        let launch = match self {
            Helper::Uiautomator2 => "app_process / com.wetest.uia2.Main -p 9008".to_owned(),
            Helper::DeviceServer => "app_process / com.mobilenext.mobilecli.DeviceServer".to_owned(),
            Helper::Appium => instrument("io.appium.uiautomator2.server.test", ""),
            Helper::AgentDevice => {
                instrument("com.callstack.agentdevice.snapshothelper", "-e sessionPort 45000")
            }
        };
        format!("shell:am start -n com.workbench/.LoginActivity; {launch}")
    }
}

/// Sends these bytes to the helper of a new phone; then an honest host must still be served.
pub fn attack(helper: Helper, raw: bool, bytes: &[u8]) {
    runtime().block_on(async {
        let phone = Phone::new(PhoneConfig::default());
        let mut host = Host::new(&phone).await;
        assert!(host.start(helper).await, "{helper:?} does not listen");
        let talk = async {
            if raw {
                host.request(helper.address(), bytes).await;
            } else {
                talk(&mut host, helper, bytes).await;
            }
        };
        let _ = tokio::time::timeout(PATIENCE, talk).await;
        drop(host);
        let answer = tokio::time::timeout(PATIENCE, honest(&phone)).await;
        assert!(matches!(answer, Ok(true)), "the phone does not serve others any more");
    });
}

async fn talk(host: &mut Host, helper: Helper, bytes: &[u8]) {
    let lines = bytes.split(|byte| *byte == b'\n').take(REQUESTS_MAX);
    if helper == Helper::AgentDevice {
        for line in lines {
            host.request(helper.address(), &plan_encoded(line)).await;
        }
        return;
    }
    let id = if helper == Helper::Appium { session(host).await } else { String::new() };
    let mut all = Vec::new();
    for line in lines {
        match helper {
            Helper::Uiautomator2 => http(&mut all, "POST", "/jsonrpc/0", line),
            Helper::DeviceServer => http(&mut all, "POST", "/", line),
            _ => {
                let text = String::from_utf8_lossy(line);
                let mut words = text.splitn(3, ' ');
                let (method, path) = (words.next().unwrap_or("GET"), words.next().unwrap_or("/status"));
                let path = path.replace(ID, &id);
                http(&mut all, method, &path, words.next().unwrap_or("").as_bytes());
            }
        }
    }
    host.request(helper.address(), &all).await;
}

fn http(out: &mut Vec<u8>, method: &str, path: &str, body: &[u8]) {
    let head = format!("{method} {path} HTTP/1.1\r\nContent-Length: {}\r\n\r\n", body.len());
    out.extend_from_slice(head.as_bytes());
    out.extend_from_slice(body);
}

/// Requests as `VERB ID {…}`, because a fuzzer finds JSON sooner than base-64.
fn plan_encoded(line: &[u8]) -> Vec<u8> {
    let mut out = match line.iter().position(|byte| *byte == b'{') {
        Some(at) => [&line[..at], STANDARD.encode(&line[at..]).as_bytes()].concat(),
        None => line.to_vec(),
    };
    out.push(b'\n');
    out
}

async fn session(host: &mut Host) -> String {
    let mut bytes = Vec::new();
    http(&mut bytes, "POST", "/session", b"{}");
    let heard = host.request(Helper::Appium.address(), &bytes).await;
    let text = String::from_utf8_lossy(&heard);
    text.split("\"sessionId\":\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap_or("").to_owned()
}

struct Host {
    socket: DuplexStream,
    input: BytesMut,
    next: u32,
}

impl Host {
    async fn new(phone: &Phone) -> Host {
        let socket = phone.connect().expect("a new phone takes a connection");
        let mut host = Host { socket, input: BytesMut::new(), next: SHELL };
        host.send(connect()).await;
        host
    }

    async fn send(&mut self, frame: Frame) {
        let mut out = BytesMut::new();
        frame.encode(&mut out);
        let _ = self.socket.write_all(&out).await;
    }

    /// Waits for a frame of one stream; frames of other streams are acknowledged and discarded.
    async fn frame(&mut self, local: u32) -> Option<Frame> {
        loop {
            match Frame::decode(&mut self.input, PAYLOAD_BYTES_MAX) {
                Ok(Some(frame)) => {
                    if frame.command == Command::Write {
                        self.send(Frame::new(Command::Okay, frame.arg1, frame.arg0, Bytes::new())).await;
                    }
                    if frame.arg1 == local {
                        return Some(frame);
                    }
                }
                Ok(None) => {
                    if !matches!(self.socket.read_buf(&mut self.input).await, Ok(1..)) {
                        return None;
                    }
                }
                Err(_) => return None,
            }
        }
    }

    /// Opens a stream; `None` when it was refused.
    async fn open(&mut self, service: &str) -> Option<(u32, u32)> {
        let local = self.next;
        self.next += 1;
        self.send(open(local, service)).await;
        let frame = self.frame(local).await?;
        (frame.command == Command::Okay).then_some((local, frame.arg0))
    }

    async fn start(&mut self, helper: Helper) -> bool {
        if self.open(&helper.script()).await.is_none() {
            return false;
        }
        for _ in 0..LOOKS_MAX {
            if let Some((local, remote)) = self.open(helper.address()).await {
                self.send(Frame::new(Command::Close, local, remote, Bytes::new())).await;
                return true;
            }
            tokio::time::sleep(LOOK).await;
        }
        false
    }

    /// Sends the bytes on a new connection and returns the answer, until the helper closes it or stays silent.
    async fn request(&mut self, address: &str, bytes: &[u8]) -> Vec<u8> {
        let mut heard = Vec::new();
        let Some((local, remote)) = self.open(address).await else { return heard };
        for piece in bytes.chunks(PAYLOAD_BYTES_MAX as usize) {
            self.send(Frame::new(Command::Write, local, remote, Bytes::copy_from_slice(piece))).await;
        }
        // A gesture may take this long; with a paused clock, waiting costs no real time.
        while let Ok(Some(frame)) = tokio::time::timeout(PATIENCE / 10, self.frame(local)).await {
            heard.extend_from_slice(&frame.payload);
            if frame.command == Command::Close || heard.len() > READ_BYTES_MAX {
                break;
            }
        }
        self.send(Frame::new(Command::Close, local, remote, Bytes::new())).await;
        heard
    }
}
