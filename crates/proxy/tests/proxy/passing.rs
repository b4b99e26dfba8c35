//! What is passed on, and what is written down of it.

use mdm_proxy::{Answer, Config, Effect, Kind, Lifetime, Loopback, Match, Proxy, Rule, Tls};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::world::{config, ended, get, http_server, only, proxy, proxy_via, send, tunnel};

#[tokio::test]
async fn a_plain_request_is_passed_on_and_recorded_whole() {
    let (server, proxy) = (http_server().await, proxy().await);
    let url = format!("http://127.0.0.1:{server}/v1/items?a=b");
    let request = format!(
        "POST {url} HTTP/1.1\r\nHost: 127.0.0.1:{server}\r\nX-Extra: e\r\nProxy-Connection: keep-alive\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello"
    );
    let answer = send(&proxy, request.as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
    assert!(
        answer.ends_with(&format!("POST 127.0.0.1:{server} /v1/items [hello] e")),
        "no hop header: {answer}"
    );
    let record = only(&proxy).await;
    assert_eq!(
        (record.method.as_str(), record.url.as_str(), record.status),
        ("POST", url.as_str(), Some(200))
    );
    assert_eq!((record.kind, record.tls, record.error), (Kind::Request, Tls::None, None));
    assert_eq!((record.request.bytes, record.request.body), (5, b"hello".to_vec()));
    assert!(record.response.body.starts_with(b"POST") && record.response.bytes > 10);
    assert!(record.response.headers.iter().any(|(name, value)| name == "x-server" && value == "test"));
    assert_eq!(record.cause.action.as_deref(), Some("tap_1"));
    assert!(record.ended_ms.unwrap() >= record.began_ms);
}

#[tokio::test]
async fn large_bodies_pass_whole_and_only_their_beginning_is_kept() {
    let (server, proxy) = (http_server().await, proxy().await);
    let answer = get(&proxy, &format!("http://127.0.0.1:{server}/bytes/3000000")).await;
    assert_eq!(answer.split("\r\n\r\n").nth(1).unwrap().len(), 3_000_000);
    let record = only(&proxy).await;
    assert_eq!(
        (record.response.bytes, record.response.body.len(), record.response.is_cut),
        (3_000_000, 65_536, true)
    );
}

#[tokio::test]
async fn a_tunnel_is_bytes_with_a_host_and_sizes() {
    let (server, proxy) = (http_server().await, proxy().await);
    let mut stream = tunnel(&proxy, &format!("127.0.0.1:{server}")).await;
    stream.write_all(b"GET /x HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n").await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.ends_with("GET h /x [] "), "{answer}");
    drop(stream);
    let record = only(&proxy).await;
    assert_eq!((record.kind, record.tls), (Kind::Tunnel, Tls::Tunnelled));
    assert_eq!(record.url, format!("127.0.0.1:{server}"));
    assert_eq!((record.request.bytes, record.response.bytes), (47, answer.len() as u64));
    assert!(
        record.request.body.is_empty() && record.response.body.is_empty(),
        "its content is not looked at"
    );
}

#[tokio::test]
async fn a_server_that_cannot_be_reached_is_told() {
    let proxy = proxy().await;
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
    assert!(get(&proxy, &format!("http://127.0.0.1:{free}/")).await.starts_with("HTTP/1.1 502"));
    let tunnel =
        send(&proxy, format!("CONNECT 127.0.0.1:{free} HTTP/1.1\r\nConnection: close\r\n\r\n").as_bytes())
            .await;
    assert!(tunnel.starts_with("HTTP/1.1 502"), "{tunnel}");
    let records = ended(&proxy, 2).await;
    assert!(
        records.iter().all(|record| record.error.as_ref().is_some_and(|why| why.contains("refused"))),
        "{records:?}"
    );
}

#[tokio::test]
async fn the_proxy_says_who_it_is_and_does_not_ask_itself() {
    let proxy = proxy().await;
    let own = send(&proxy, b"GET /mobile-debug-mcp HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await;
    assert!(own.ends_with("token"), "{own}");
    assert!(
        send(&proxy, b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            .await
            .starts_with("HTTP/1.1 400")
    );
    assert!(proxy.since(0).records.is_empty());
    assert!(get(&proxy, &format!("http://127.0.0.1:{}/", proxy.port())).await.starts_with("HTTP/1.1 502"));
}

#[tokio::test]
async fn the_clients_own_machine_is_not_this_one() {
    // SE-02: the phone's localhost leads here only where a port was forwarded.
    let server = http_server().await;
    let loopback = Loopback::Mapped([(8081, server)].into());
    let proxy = Proxy::start(Config { loopback, ..config() }).await.unwrap();
    assert!(get(&proxy, &format!("http://127.0.0.1:{server}/")).await.starts_with("HTTP/1.1 502"));
    assert!(get(&proxy, "http://localhost:8081/x").await.ends_with("GET localhost:8081 /x [] "));
    let tunnel =
        send(&proxy, format!("CONNECT localhost:{server} HTTP/1.1\r\nConnection: close\r\n\r\n").as_bytes())
            .await;
    assert!(tunnel.starts_with("HTTP/1.1 502"), "{tunnel}");
}

#[tokio::test]
async fn another_proxy_may_stand_behind_this_one() {
    // The former setting of a phone is kept in use.
    let server = http_server().await;
    let behind = proxy().await;
    let front = proxy_via(behind.port()).await;
    let made_up = Answer { status: 203, headers: vec![], body: b"from behind".to_vec() };
    let effect = Effect::Answer(made_up);
    behind
        .add_rule(Rule { matches: Match::default(), delay_ms: 0, effect, lifetime: Lifetime::Session })
        .unwrap();
    let answer = get(&front, &format!("http://192.0.2.1:{server}/x")).await;
    assert!(answer.starts_with("HTTP/1.1 203") && answer.ends_with("from behind"), "{answer}");
    let asked = ended(&behind, 1).await;
    assert_eq!(asked[0].url, format!("http://192.0.2.1:{server}/x"), "in absolute form");
}

#[tokio::test]
async fn a_websocket_passes() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.unwrap());
        }
        let head = String::from_utf8(head).unwrap().to_lowercase();
        assert!(head.contains("upgrade: websocket") && head.contains("sec-websocket-key: k"), "{head}");
        stream
            .write_all(
                b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
            )
            .await
            .unwrap();
        let mut frame = [0u8; 4];
        stream.read_exact(&mut frame).await.unwrap();
        stream.write_all(&frame).await.unwrap();
    });
    let proxy = proxy().await;
    let mut stream = TcpStream::connect(("127.0.0.1", proxy.port())).await.unwrap();
    let head = format!(
        "GET http://127.0.0.1:{port}/ws HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: k\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    while !answer.ends_with(b"\r\n\r\n") {
        answer.push(stream.read_u8().await.unwrap());
    }
    stream.write_all(b"ping").await.unwrap();
    let mut back = [0u8; 4];
    stream.read_exact(&mut back).await.unwrap();
    assert_eq!(&back, b"ping");
    drop(stream);
    let record = only(&proxy).await;
    assert_eq!((record.status, record.request.bytes, record.response.bytes), (Some(101), 4, 4));
}

#[tokio::test]
async fn dropping_the_proxy_closes_its_port_and_its_connections() {
    let proxy = proxy().await;
    let mut stream = TcpStream::connect(("127.0.0.1", proxy.port())).await.unwrap();
    let port = proxy.port();
    drop(proxy);
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest).await;
    assert!(rest.is_empty());
    for _ in 0..200 {
        if TcpStream::connect(("127.0.0.1", port)).await.is_err() {
            return;
        }
        tokio::task::yield_now().await;
    }
    panic!("the port is still open");
}
