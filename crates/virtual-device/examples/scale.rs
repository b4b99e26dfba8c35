//! How fast one phone dumps and what hundreds of them cost: `scale [PHONES]`. Prints one `name value` a line; `cargo
//! xtask bench` reads them.
#![expect(clippy::print_stdout, reason = "an example talks to whoever runs it")]
#![expect(clippy::unwrap_used, reason = "a benchmark that fails has nothing to say")]

use std::fmt::Write as _;
use std::path::PathBuf;

use bytes::{Bytes, BytesMut};
use mdm_virtual_device::{AdbServer, Phone, PhoneConfig, Recording};
use mdm_wire::adb::frame::{Command, Frame};
use mdm_wire::adb::{PAYLOAD_BYTES_MAX, VERSION_SKIP_CHECKSUM};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Instant;

const PHONES: usize = 500;
const DUMPS: usize = 400;
/// Of the screen that is dumped.
const NODES: usize = 300;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let phones = std::env::args().nth(1).map_or(PHONES, |word| word.parse().unwrap());
    one_phone().await;
    many(phones).await;
}

/// A recorded screen of as many nodes as the goal speaks of, and the app's own first screen.
async fn one_phone() {
    let folder = recording();
    let replay = Some(Recording::load(&folder).unwrap());
    std::fs::remove_dir_all(&folder).unwrap();
    let mut host = Host::connect(&Phone::new(PhoneConfig { replay, ..PhoneConfig::default() })).await;
    let (nodes, ms) = dumps(&mut host).await;
    println!("dump_nodes {nodes}\ndump_ms {ms:.4}");
    let mut host = Host::connect(&Phone::new(PhoneConfig::default())).await;
    host.shell("am start -n com.workbench/.LoginActivity").await;
    let (nodes, ms) = dumps(&mut host).await;
    println!("app_dump_nodes {nodes}\napp_dump_ms {ms:.4}");
    println!("shell_ms {:.4}", median(&mut host, "true").await.1);
}

fn recording() -> PathBuf {
    let folder = std::env::temp_dir().join(format!("scale-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut tree =
        String::from("<hierarchy rotation=\"0\"><node class=\"Root\" bounds=\"[0,0][1080,2400]\">");
    for n in 1..NODES {
        let top = n * 7;
        let _ = write!(
            tree,
            "<node class=\"android.widget.TextView\" resource-id=\"com.scale:id/row_{n}\" text=\"Row {n} &amp; more\" \
             clickable=\"true\" bounds=\"[0,{top}][1080,{}]\"/>",
            top + 7
        );
    }
    tree.push_str("</node></hierarchy>");
    std::fs::write(folder.join("s.xml"), tree).unwrap();
    std::fs::write(folder.join("trace.json"), r#"{"steps":[{"state":"S0","tree":"s.xml"}]}"#).unwrap();
    folder
}

async fn dumps(host: &mut Host) -> (usize, f64) {
    let (tree, ms) = median(host, "uiautomator dump /dev/tty").await;
    (tree.matches("<node").count(), ms)
}

async fn median(host: &mut Host, script: &str) -> (String, f64) {
    let mut times = Vec::new();
    let mut last = String::new();
    for _ in 0..DUMPS {
        let start = Instant::now();
        last = host.shell(script).await;
        times.push(start.elapsed().as_secs_f64() * 1000.0);
    }
    times.sort_by(f64::total_cmp);
    (last, times[times.len() / 2])
}

async fn many(count: usize) {
    let before_kb = memory_kb();
    let start = Instant::now();
    let server = AdbServer::new();
    let (mut phones, mut hosts) = (Vec::new(), Vec::new());
    for seed in 1..=count as u64 {
        let phone = Phone::new(PhoneConfig { seed, ..PhoneConfig::default() });
        hosts.push(Host::connect(&phone).await);
        server.add(&format!("VIRTUAL{seed:04}"), "device", phone.clone());
        phones.push(phone);
    }
    println!("phones {count}\nconnect_ms {:.1}", start.elapsed().as_secs_f64() * 1000.0);
    let start = Instant::now();
    let listed = list(server).await;
    println!("listed {listed}\nlist_ms {:.1}", start.elapsed().as_secs_f64() * 1000.0);
    let start = Instant::now();
    let mut whole = 0;
    for host in &mut hosts {
        host.shell("am start -n com.workbench/.LoginActivity").await;
        whole += usize::from(host.shell("uiautomator dump /dev/tty").await.contains("</hierarchy>"));
    }
    println!("dumped {whole}\ndump_all_ms {:.1}", start.elapsed().as_secs_f64() * 1000.0);
    println!("rss_mb {:.1}", (memory_kb() - before_kb) as f64 / 1024.0);
}

/// What `adb devices` asks its server.
async fn list(server: AdbServer) -> usize {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { server.serve(listener).await });
    let mut client = TcpStream::connect(address).await.unwrap();
    client.write_all(b"000chost:devices").await.unwrap();
    let mut answer = String::new();
    client.read_to_string(&mut answer).await.unwrap();
    answer.matches("\tdevice").count()
}

fn memory_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or("0");
    line.split_whitespace().next().unwrap_or("0").parse().unwrap()
}

struct Host {
    socket: DuplexStream,
    input: BytesMut,
    next: u32,
}

impl Host {
    async fn connect(phone: &Phone) -> Host {
        let mut host = Host { socket: phone.connect().unwrap(), input: BytesMut::new(), next: 1 };
        host.send(Command::Connect, VERSION_SKIP_CHECKSUM, PAYLOAD_BYTES_MAX, "host::").await;
        host.frame().await;
        host
    }

    async fn send(&mut self, command: Command, arg0: u32, arg1: u32, payload: impl Into<Bytes>) {
        let mut out = BytesMut::new();
        Frame::new(command, arg0, arg1, payload).encode(&mut out);
        self.socket.write_all(&out).await.unwrap();
    }

    async fn frame(&mut self) -> Frame {
        loop {
            if let Some(frame) = Frame::decode(&mut self.input, PAYLOAD_BYTES_MAX).unwrap() {
                return frame;
            }
            assert!(self.socket.read_buf(&mut self.input).await.unwrap() > 0, "the phone hung up");
        }
    }

    async fn shell(&mut self, script: &str) -> String {
        let local = self.next;
        self.next += 1;
        self.send(Command::Open, local, 0, format!("shell:{script}\0")).await;
        let mut out = Vec::new();
        loop {
            let frame = self.frame().await;
            match frame.command {
                Command::Write => {
                    out.extend_from_slice(&frame.payload);
                    self.send(Command::Okay, local, frame.arg0, Bytes::new()).await;
                }
                Command::Close => return String::from_utf8_lossy(&out).into_owned(),
                _ => {}
            }
        }
    }
}
