//! A proxy, a server that tells what it was asked, and a client made of bytes.

use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use mdm_proxy::{Authority, Cause, Config, Loopback, Proxy, Record, Via};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::RootCertStore;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

pub fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as u64
}

static FOLDERS: AtomicU64 = AtomicU64::new(0);

/// A folder for one test, removed afterwards.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new() -> Folder {
        let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("mdm-proxy-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Folder(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

/// An authority that the proxy trusts as it trusts those of the system: not the one of the proxy itself.
pub struct PublicCa {
    pub issuer: Issuer<'static, KeyPair>,
    pub pem: String,
    pub roots: RootCertStore,
}

impl PublicCa {
    pub fn new() -> PublicCa {
        let mut params = CertificateParams::new(Vec::<String>::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(rcgen::DnType::CommonName, "public test CA");
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap();
        let mut roots = RootCertStore::empty();
        roots.add(certificate.der().clone()).unwrap();
        PublicCa { pem: certificate.pem(), issuer: Issuer::new(params, key), roots }
    }

    fn acceptor(&self) -> TlsAcceptor {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec!["127.0.0.1".to_owned(), "localhost".to_owned()]).unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .unwrap();
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        TlsAcceptor::from(Arc::new(config))
    }
}

/// Answers `200` with what it was asked, except below `/status/`, `/bytes/` and `/slow/`.
pub async fn answer(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let (method, path) = (request.method().to_string(), request.uri().path().to_owned());
    let host = request.uri().authority().map(|authority| authority.to_string());
    let host =
        host.or_else(|| Some(request.headers().get("host")?.to_str().ok()?.to_owned())).unwrap_or_default();
    let extra = request.headers().get("x-extra").map_or("", |value| value.to_str().unwrap()).to_owned();
    let hop = request.headers().contains_key("proxy-connection");
    let body = request.into_body().collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    let number = |prefix: &str| path.strip_prefix(prefix).and_then(|rest| rest.parse::<usize>().ok());
    let mut response = Response::builder().header("X-Server", "test");
    if let Some(status) = number("/status/") {
        response = response.status(status as u16);
    }
    if let Some(ms) = number("/slow/") {
        tokio::time::sleep(Duration::from_millis(ms as u64)).await;
    }
    let bytes = match number("/bytes/") {
        Some(count) => Bytes::from(vec![b'x'; count]),
        None => format!(
            "{method} {host} {path} [{}] {extra}{}",
            String::from_utf8_lossy(&body),
            if hop { " hop" } else { "" }
        )
        .into(),
    };
    Ok(response.body(Full::new(bytes)).unwrap())
}

pub async fn http_server() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let _ = auto::Builder::new(TokioExecutor::new())
                    .serve_connection(TokioIo::new(stream), service_fn(answer))
                    .await;
            });
        }
    });
    port
}

pub async fn https_server(ca: &PublicCa) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let acceptor = ca.acceptor();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                let Ok(stream) = acceptor.accept(stream).await else { return };
                let _ = auto::Builder::new(TokioExecutor::new())
                    .serve_connection(TokioIo::new(stream), service_fn(answer))
                    .await;
            });
        }
    });
    port
}

/// A server that reads something and then sends these bytes, whatever was asked.
pub async fn raw_server(bytes: Vec<u8>, then_hold: bool) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let bytes = bytes.clone();
            tokio::spawn(async move {
                let mut buffer = [0u8; 4096];
                let _ = stream.read(&mut buffer).await;
                let _ = stream.write_all(&bytes).await;
                if then_hold {
                    std::future::pending::<()>().await;
                }
            });
        }
    });
    port
}

pub fn config() -> Config {
    Config {
        now_ms: Arc::new(now_ms),
        cause: Arc::new(|_| Cause { action: Some("tap_1".into()), after: None, doubt: None }),
        authority: None,
        via: None,
        roots: RootCertStore::empty(),
        loopback: Loopback::Any,
        host_aliases: vec![],
        token: "token".to_owned(),
    }
}

pub async fn proxy() -> Proxy {
    Proxy::start(config()).await.unwrap()
}

pub async fn proxy_via(port: u16) -> Proxy {
    // The other proxy is not this machine's own to the client, so it is named by an alias.
    let via = Some(Via { host: "10.0.2.2".to_owned(), port });
    let loopback = Loopback::Any;
    Proxy::start(Config { via, loopback, host_aliases: vec!["10.0.2.2".to_owned()], ..config() })
        .await
        .unwrap()
}

pub async fn opening_proxy(ca: &PublicCa, folder: &Folder) -> (Proxy, Arc<Authority>) {
    let authority = Arc::new(Authority::open(&folder.0, now_ms()).unwrap());
    let config = Config { authority: Some(Arc::clone(&authority)), roots: ca.roots.clone(), ..config() };
    (Proxy::start(config).await.unwrap(), authority)
}

/// Sends bytes to the proxy and reads until it closes, with a limit of time.
pub async fn send(proxy: &Proxy, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", proxy.port())).await.unwrap();
    // The proxy may have closed before all was sent; what it said is what counts.
    let _ = stream.write_all(bytes).await;
    let mut answer = Vec::new();
    let _ = tokio::time::timeout(Duration::from_secs(20), stream.read_to_end(&mut answer)).await;
    String::from_utf8_lossy(&answer).into_owned()
}

pub async fn get(proxy: &Proxy, url: &str) -> String {
    let host = url.split('/').nth(2).unwrap();
    send(
        proxy,
        format!("GET {url} HTTP/1.1\r\nHost: {host}\r\nProxy-Connection: x\r\nConnection: close\r\n\r\n")
            .as_bytes(),
    )
    .await
}

/// The one exchange so far, once it has ended.
pub async fn only(proxy: &Proxy) -> Record {
    let mut records = ended(proxy, 1).await;
    assert_eq!(records.len(), 1, "{records:?}");
    records.remove(0)
}

/// All exchanges, once at least this many have ended.
pub async fn ended(proxy: &Proxy, count: usize) -> Vec<Record> {
    for _ in 0..2000 {
        let records = proxy.since(0).records;
        if records.iter().filter(|record| record.ended_ms.is_some()).count() >= count {
            return records;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("not {count} ended: {:?}", proxy.since(0).records);
}

/// Opens a tunnel and returns it after the proxy's answer.
pub async fn tunnel(proxy: &Proxy, target: &str) -> TcpStream {
    let mut stream = TcpStream::connect(("127.0.0.1", proxy.port())).await.unwrap();
    stream.write_all(format!("CONNECT {target} HTTP/1.1\r\n\r\n").as_bytes()).await.unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.unwrap());
    }
    assert!(head.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&head));
    stream
}
