//! Servers and clients that lie, never end or speak nonsense: bounded, and others are served meanwhile.

use std::time::Duration;

use mdm_proxy::Proxy;
use rand_xoshiro::Xoshiro256StarStar;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::world::{Folder, PublicCa, ended, get, http_server, opening_proxy, proxy, raw_server, send};

/// The proxy still does its work.
async fn check_alive(proxy: &Proxy) {
    let server = http_server().await;
    assert!(get(proxy, &format!("http://127.0.0.1:{server}/alive")).await.contains("/alive"));
}

#[tokio::test]
async fn heads_of_clients_are_bounded() {
    let proxy = proxy().await;
    let endless_line = [b"GET http://h/".as_slice(), &vec![b'a'; 1 << 20]].concat();
    let many_headers = [b"GET http://h/ HTTP/1.1\r\n".as_slice(), &b"A: b\r\n".repeat(100_000)].concat();
    let long_header =
        [b"GET http://h/ HTTP/1.1\r\nA: ".as_slice(), &vec![b'a'; 1 << 20], b"\r\n\r\n"].concat();
    for head in [endless_line, many_headers, long_header] {
        let answer = send(&proxy, &head).await;
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "{answer:.100}");
    }
    assert!(proxy.since(0).records.is_empty(), "none of them became a request");
    check_alive(&proxy).await;
}

#[tokio::test]
async fn garbage_from_clients_is_refused() {
    let proxy = proxy().await;
    let mut random = Xoshiro256StarStar::seed_from_u64(11);
    for _ in 0..200 {
        let mut bytes = vec![0u8; (random.next_u64() % 600) as usize];
        random.fill_bytes(&mut bytes);
        let mut stream = TcpStream::connect(("127.0.0.1", proxy.port())).await.unwrap();
        let _ = stream.write_all(&bytes).await;
        let _ = stream.shutdown().await;
        let mut answer = Vec::new();
        let read = tokio::time::timeout(Duration::from_secs(10), stream.read_to_end(&mut answer)).await;
        assert!(read.is_ok(), "closed");
    }
    for request in [
        "CONNECT nowhere HTTP/1.1\r\n\r\n",
        "CONNECT :80 HTTP/1.1\r\n\r\n",
        "GET ftp://h/ HTTP/1.1\r\nHost: h\r\n\r\n",
        "GET http:///x HTTP/1.1\r\nHost: h\r\n\r\n",
        "POST http://127.0.0.1:1/ HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
        "POST http://127.0.0.1:1/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 6\r\n\r\nzz\r\n",
    ] {
        let mut stream = TcpStream::connect(("127.0.0.1", proxy.port())).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        stream.shutdown().await.unwrap();
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer).await;
        assert!(
            answer.is_empty() || answer.starts_with("HTTP/1.1 4") || answer.starts_with("HTTP/1.1 502"),
            "{request}: {answer}"
        );
    }
    check_alive(&proxy).await;
}

#[tokio::test]
async fn lies_of_servers_become_errors() {
    let cases: [(&[u8], &str); 7] = [
        (b"garbage that is no HTTP\r\n\r\n", "502"),
        (b"", "502"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 3, 4\r\n\r\nabc", "502"),
        (b"HTTP/1.1 999999 X\r\n\r\n", "502"),
        // These begin well: the head has passed before the lie shows.
        (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort", "200"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nnot hex", "200"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nx", "200"),
    ];
    for (bytes, status) in cases {
        let (server, proxy) = (raw_server(bytes.to_vec(), false).await, proxy().await);
        let answer = get(&proxy, &format!("http://127.0.0.1:{server}/")).await;
        let shown = String::from_utf8_lossy(bytes).into_owned();
        assert!(
            answer.is_empty() || answer.starts_with(&format!("HTTP/1.1 {status}")),
            "{shown}: {answer:.80}"
        );
        let record = ended(&proxy, 1).await.remove(0);
        assert!(record.error.is_some(), "{shown}: {record:?}");
        check_alive(&proxy).await;
    }
}

#[tokio::test]
async fn endless_heads_of_servers_are_bounded() {
    let endless = [b"HTTP/1.1 200 OK\r\n".as_slice(), &b"A: b\r\n".repeat(200_000)].concat();
    let (server, proxy) = (raw_server(endless, true).await, proxy().await);
    assert!(get(&proxy, &format!("http://127.0.0.1:{server}/")).await.starts_with("HTTP/1.1 502"));
    check_alive(&proxy).await;
}

#[tokio::test]
async fn a_silent_server_holds_up_nobody_else() {
    let (silent, proxy) = (raw_server(Vec::new(), true).await, proxy().await);
    let mut waiting = Vec::new();
    for _ in 0..50 {
        let mut stream = TcpStream::connect(("127.0.0.1", proxy.port())).await.unwrap();
        let head = format!("GET http://127.0.0.1:{silent}/ HTTP/1.1\r\nHost: h\r\n\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        waiting.push(stream);
    }
    check_alive(&proxy).await;
    drop(waiting);
    let records = ended(&proxy, 51).await;
    let gone =
        records.iter().filter(|record| record.error.as_ref().is_some_and(|why| why.contains("went away")));
    assert_eq!(gone.count(), 50);
}

#[tokio::test]
async fn what_is_no_tls_inside_connect_is_tunnelled_and_broken_tls_ends() {
    let (ca, folder) = (PublicCa::new(), Folder::new());
    let (proxy, _) = opening_proxy(&ca, &folder).await;
    let server = http_server().await;
    let answer = send(
        &proxy,
        format!("CONNECT 127.0.0.1:{server} HTTP/1.1\r\n\r\nGET /plain HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n").as_bytes(),
    )
    .await;
    assert!(answer.contains("GET h /plain"), "{answer}");
    let broken = [b"CONNECT b.example:443 HTTP/1.1\r\n\r\n".as_slice(), &[0x16; 3000]].concat();
    send(&proxy, &broken).await;
    let records = ended(&proxy, 2).await;
    assert!(records[1].error.as_ref().is_some_and(|why| why.contains("refused")), "{records:?}");
    check_alive(&proxy).await;
}
