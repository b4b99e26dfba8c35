//! Real requests of the phone's apps.

use std::time::Duration;

use bytes::Bytes;
use mdm_virtual_device::{AppFile, Network, Phone, PhoneConfig};
use mdm_wire::adb::frame::Command;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::host::{Host, phone_and_host};

/// Accepts one request, answers it, and returns it.
async fn serve_once(listener: TcpListener, answer: &'static str) -> String {
    let (mut socket, _) = listener.accept().await.unwrap();
    let mut asked = Vec::new();
    while !asked.windows(4).any(|w| w == b"\r\n\r\n") {
        assert_ne!(socket.read_buf(&mut asked).await.unwrap(), 0, "the head is whole");
    }
    socket.write_all(answer.as_bytes()).await.unwrap();
    String::from_utf8(asked).unwrap()
}

async fn phone_with(api: Option<String>) -> (Phone, Host) {
    let config = PhoneConfig { network: Network::On { api }, ..PhoneConfig::default() };
    let (phone, mut host) = phone_and_host(config).await;
    host.run("am start -n com.workbench/.NetworkActivity").await;
    (phone, host)
}

/// Waits until a field has a value: another task tells the phone of an answer.
async fn until(phone: &Phone, field: &str, wanted: &str) {
    let look = async {
        while phone.truth().fields.get(field).map(String::as_str) != Some(wanted) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), look).await.unwrap_or_else(|_| panic!("never {wanted}"));
}

#[tokio::test]
async fn workbench_asks_a_real_server_and_logs_what_came() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let api = format!("http://{}", listener.local_addr().unwrap());
    let (phone, mut host) = phone_with(Some(api.clone())).await;
    let server = tokio::spawn(serve_once(
        listener,
        "HTTP/1.1 418 I'm a teapot\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nshort\r\n4;x=y\r\n and\r\n0\r\n\r\n",
    ));
    host.tap("text=\"Send order\"").await;
    let asked = server.await.unwrap();
    assert!(
        asked.starts_with("POST /v1/orders HTTP/1.1\r\n") && asked.contains("Content-Length: 15\r\n"),
        "{asked}"
    );
    until(&phone, "gallery.post_order", "Answer 418").await;
    assert!(host.dump().await.contains("text=\"Answer 418\""));
    let log = host.run("logcat -d -s okhttp.OkHttpClient:V").await;
    assert!(log.contains(&format!("--> POST {api}/v1/orders http/1.1 (15-byte body)")), "{log}");
    assert!(
        log.contains(&format!("<-- 418 I'm a teapot {api}/v1/orders (")) && log.contains("ms, 9-byte body)"),
        "{log}"
    );
    host.tap("text=\"Load items\"").await;
    until(&phone, "gallery.get_items", "No answer").await;
    let log = host.run("logcat -d -s okhttp.OkHttpClient:V").await;
    assert!(
        log.contains("<-- HTTP FAILED: java.net.ConnectException: Failed to connect to /127.0.0.1:"),
        "{log}"
    );
}

#[tokio::test]
async fn bodies_have_a_limit_and_nonsense_is_no_answer() {
    for (answer, why) in [
        ("HTTP/1.1 200 OK\r\nContent-Length: 9999999999\r\n\r\n", "the body is longer than 1048576 bytes"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc", "unexpected end of stream"),
        ("SSH-2.0-OpenSSH\r\n\r\n", "the answer is not HTTP"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "the answer is not HTTP"),
    ] {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (phone, mut host) = phone_with(Some(format!("http://{}", listener.local_addr().unwrap()))).await;
        let server = tokio::spawn(serve_once(listener, answer));
        host.tap("text=\"Load items\"").await;
        server.await.unwrap();
        until(&phone, "gallery.get_items", "No answer").await;
        let log = host.run("logcat -d -s okhttp.OkHttpClient:V").await;
        assert!(log.contains(why), "{why}: {log}");
    }
}

const APP: &str = r#"{"package": "org.example.ask", "label": "Ask", "start": "Main",
    "values": {"status": 0, "answer": ""},
    "screens": {"Main": {"content": [
        {"type": "text", "text": "{status} {answer}"},
        {"type": "button", "text": "Ask", "on_tap": [{"http": {"url": "http://localhost:8081/x",
            "status_to": "status", "body_to": "answer",
            "ok": [{"toast": "ok"}], "failed": [{"toast": "failed"}]}}]}]}}}"#;

async fn asking(network: Network) -> (Phone, Host) {
    let config = PhoneConfig { apps: vec![AppFile::parse(APP).unwrap()], network, ..PhoneConfig::default() };
    let (phone, mut host) = phone_and_host(config).await;
    host.tap("content-desc=\"Ask\"").await;
    (phone, host)
}

#[tokio::test(start_paused = true)]
async fn without_a_network_nothing_is_asked() {
    let (phone, mut host) = asking(Network::Off).await;
    host.tap("text=\"Ask\"").await;
    tokio::time::sleep(Duration::from_millis(20)).await;
    let truth = phone.truth();
    assert_eq!(truth.toasts.last().unwrap().text, "failed");
    assert!(truth.fields["org.example.ask.answer"].contains("Unable to resolve host \"localhost\""));
    let log = host.run("logcat -d -s okhttp.OkHttpClient:V").await;
    assert!(
        log.contains("<-- HTTP FAILED: java.net.UnknownHostException") && log.contains("(12ms)"),
        "{log}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_reverse_forward_is_open_even_without_a_network() {
    let (phone, mut host) = asking(Network::Off).await;
    assert_eq!(host.service("reverse:forward:tcp:8081;tcp:3000").await, b"OKAY");
    // The phone opens its stream on the transport with the forward, which must have nothing else to read.
    Host::connect(&phone).await.tap("text=\"Ask\"").await;
    let open = host.frame().await.unwrap();
    assert_eq!((open.command, &open.payload[..]), (Command::Open, &b"tcp:3000\0"[..]));
    host.send(Command::Okay, 77, open.arg0, Bytes::new()).await;
    let asked = host.frame().await.unwrap();
    assert!(asked.payload.starts_with(b"GET /x HTTP/1.1\r\nHost: localhost:8081\r\n"), "{asked:?}");
    host.send(Command::Okay, 77, open.arg0, Bytes::new()).await;
    host.send(Command::Write, 77, open.arg0, &b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"[..]).await;
    assert_eq!(host.frame().await.unwrap().command, Command::Okay);
    until(&phone, "org.example.ask.answer", "hi").await;
    let truth = phone.truth();
    assert_eq!((truth.sliders["org.example.ask.status"], truth.toasts.len()), (200.0, 1));
    assert_eq!(truth.toasts[0].text, "ok");
}

#[tokio::test(start_paused = true)]
async fn a_silent_server_is_given_up() {
    let (phone, mut host) = asking(Network::Off).await;
    host.service("reverse:forward:tcp:8081;tcp:3000").await;
    Host::connect(&phone).await.tap("text=\"Ask\"").await;
    let open = host.frame().await.unwrap();
    host.send(Command::Okay, 77, open.arg0, Bytes::new()).await;
    assert_eq!(host.frame().await.unwrap().command, Command::Write);
    tokio::time::sleep(Duration::from_secs(9)).await;
    assert!(phone.truth().toasts.is_empty());
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(phone.truth().toasts.len(), 1);
    assert!(phone.truth().fields["org.example.ask.answer"].contains("SocketTimeoutException"));
    Host::connect(&phone).await.run("am force-stop org.example.ask").await;
    assert_eq!(phone.truth().fields["org.example.ask.answer"], "");
}

#[tokio::test(start_paused = true)]
async fn a_dead_process_hears_nothing() {
    let (phone, mut host) = asking(Network::Off).await;
    host.service("reverse:forward:tcp:8081;tcp:3000").await;
    Host::connect(&phone).await.tap("text=\"Ask\"").await;
    let open = host.frame().await.unwrap();
    host.send(Command::Okay, 77, open.arg0, Bytes::new()).await;
    assert_eq!(host.frame().await.unwrap().command, Command::Write);
    let mut other = Host::connect(&phone).await;
    other.run("am force-stop org.example.ask; monkey -p org.example.ask 1").await;
    tokio::time::sleep(Duration::from_secs(11)).await;
    let truth = phone.truth();
    assert_eq!((truth.fields["org.example.ask.answer"].as_str(), truth.toasts.len()), ("", 0));
    assert!(other.run("logcat -d -s okhttp.OkHttpClient:V").await.contains("--> GET"));
}
