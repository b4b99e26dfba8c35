//! Our adb client, operation by operation: direct to the phone and through a real adb server, with the same results.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;

use mdm_android::adb::key::HostKey;
use mdm_android::adb::link::{Link, tcp};
use mdm_android::adb::server::AdbServer;
use mdm_android::adb::{Adb as Client, AdbError, Script};

use crate::phone::{Adb, Phone};
use crate::process::{BINARY, part, run};

const BYTES_MAX: usize = 64 * 1024 * 1024;

with_both_adbs! {
    started:
    both_ways_give_the_same_results,
    devices_are_tracked,
    an_absent_server_is_started,
}

fn started(variable: &str, case: &str, test: fn(Adb)) {
    let Some(program) = part(variable, case) else { return };
    test(Adb::idle(program));
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

fn both_ways_give_the_same_results(adb: Adb) {
    let phone = Phone::start(&[]);
    adb.run(&["connect", &phone.address]).ok();
    adb.run(&["wait-for-device"]).ok();
    let results = block_on(async {
        let direct = Client::direct(Link::new(tcp(phone.address.clone()), HostKey::at("/nonexistent")));
        let server = Client::through_server(AdbServer::at(adb.server_address()), &phone.address);
        (everything(&direct).await, everything(&server).await)
    });
    assert_eq!(results.0, results.1);
}

/// The result of each operation, in a form that can be compared.
async fn everything(client: &Client) -> Vec<String> {
    let mut results = Vec::new();
    for script in ["echo out; echo err >&2; exit 7", "getprop ro.product.model", "cat /nothing", "true"] {
        results.push(format!("{:?}", client.shell(&Script::new(script), BYTES_MAX).await.unwrap()));
    }
    let strange = Script::new("printf %s").arg("it's $(id); \"x\" \\ 日本 😀");
    results.push(client.shell(&strange, BYTES_MAX).await.unwrap().stdout_text());
    results.push(format!("{:?}", client.exec(&Script::new("echo raw"), BYTES_MAX).await.unwrap()));

    let content: Vec<u8> = (0..5_000_000u32).map(|i| (i * 31 % 251) as u8).collect();
    let path = "/data/local/tmp/five megabytes";
    results.push(format!(
        "{:?}",
        client.push(&mut &content[..], path, 0o640, 1_700_000_000, |_| {}).await.unwrap()
    ));
    results.push(format!("{:?}", client.stat(path).await.unwrap()));
    let mut back = Vec::new();
    client.pull(path, 1 << 30, &mut back, |_| {}).await.unwrap();
    assert!(back == content, "five megabytes come back intact");
    let refused = client.pull("/nothing", 1 << 30, &mut back, |_| {}).await;
    results.push(format!("{refused:?}"));
    assert!(matches!(refused, Err(AdbError::Refused(_))));

    let junk = client.install(&mut &b"not an apk"[..], 10, |_| {}).await;
    results.push(format!("{junk:?}"));

    let mut log = client.logcat(&Script::new("logcat -v brief")).await.unwrap();
    results.push(format!("{}", log.next(|_| {}).await.unwrap()));

    let forward = client.forward(0, "tcp:7").await.unwrap();
    let echo = tokio::task::spawn_blocking(move || {
        let mut stream = TcpStream::connect(("127.0.0.1", forward.port)).unwrap();
        stream.write_all(b"echo").unwrap();
        let mut answer = [0; 4];
        stream.read_exact(&mut answer).unwrap();
        answer
    });
    results.push(format!("{:?}", echo.await.unwrap()));
    results
}

fn devices_are_tracked(adb: Adb) {
    adb.run(&["start-server"]).ok();
    let phone = Phone::start(&[]);
    block_on(async {
        let mut tracker = AdbServer::at(adb.server_address()).track().await.unwrap();
        assert_eq!(tracker.next().await.unwrap(), []);
        adb.run(&["connect", &phone.address]).ok();
        loop {
            let devices = tracker.next().await.unwrap();
            if devices.iter().any(|device| device.serial == phone.address && device.state == "device") {
                break;
            }
        }
        adb.run(&["disconnect", &phone.address]).ok();
        while !tracker.next().await.unwrap().is_empty() {}
    });
}

/// Nothing listens on the port: the server finds this adb through ADB_PATH and starts it.
fn an_absent_server_is_started(adb: Adb) {
    let mut command = Command::new(BINARY);
    command.args(["call", "get_system_status"]).env("ADB_PATH", adb.program());
    let status = run(adb.environment(&mut command)).ok().out();
    assert!(status.contains(r#""adbAvailable":true"#), "{status}");
    assert!(TcpStream::connect(adb.server_address()).is_ok(), "it stays for the next call");
}
