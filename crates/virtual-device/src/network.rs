//! Sends requests of the phone's apps to real servers, as OkHttp does: HTTP/1.1, one request per connection, through the
//! proxy that the settings name, TLS by the certificates that the app trusts.

use std::io;
use std::sync::Arc;

use bytes::{Buf, BytesMut};
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Duration, timeout};
use tokio_rustls::TlsConnector;

use crate::app::{HttpAnswer, HttpRequest};
use crate::phone::Phone;
use crate::state::State;
use crate::surface::OutgoingRequest;

/// The time limit from connecting to the last byte, as of the usual HTTP client.
const REQUEST_LIMIT: Duration = Duration::from_secs(10);
/// How soon a phone without a network gives up on a name.
pub const NO_NETWORK_TIME: Duration = Duration::from_millis(12);
const HEAD_BYTES_MAX: usize = 64 * 1024;
const HEADERS_MAX: usize = 100;
const BODY_BYTES_MAX: usize = 1024 * 1024;
const CHUNK_LINE_BYTES_MAX: usize = 1024;
const READ_BYTES: usize = 16 * 1024;
/// Authorities that a user may install.
const USER_CERTIFICATES_MAX: usize = 50;

trait Wire: AsyncRead + AsyncWrite + Unpin + Send {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send> Wire for T {}

/// The authorities that the phone knows.
#[derive(Debug, Default)]
pub struct Certificates {
    system: Vec<CertificateDer<'static>>,
    user: Vec<CertificateDer<'static>>,
}

impl Certificates {
    /// Those that cannot be read are left out, as a phone does.
    pub fn new(system: &[String]) -> Certificates {
        let system =
            system.iter().filter_map(|pem| CertificateDer::from_pem_slice(pem.as_bytes()).ok()).collect();
        Certificates { system, user: Vec::new() }
    }

    pub fn add_user(&mut self, pem: &str) -> bool {
        let read = CertificateDer::from_pem_slice(pem.as_bytes());
        match read {
            Ok(certificate) if self.user.len() < USER_CERTIFICATES_MAX => {
                self.user.push(certificate);
                true
            }
            _ => false,
        }
    }

    fn trusted(&self, with_user: bool) -> RootCertStore {
        let mut roots = RootCertStore::empty();
        let user = self.user.iter().filter(|_| with_user);
        roots.add_parsable_certificates(self.system.iter().chain(user).cloned());
        roots
    }
}

/// How a request leaves the phone: decided when the app makes it.
pub struct Route {
    url: Option<Url>,
    /// Host and port of the proxy.
    proxy: Option<(String, u16)>,
    trusted: RootCertStore,
}

impl Route {
    pub fn of(outgoing: &OutgoingRequest, state: &State) -> Route {
        Route {
            url: Url::parse(&outgoing.request.url),
            proxy: state.settings.get("global", "http_proxy").and_then(proxy),
            trusted: state.certificates.trusted(outgoing.trusts_user),
        }
    }

    /// Returns the address on the phone itself to which the first connection goes, where a reverse forward may listen.
    pub fn on_the_phone(&self) -> Option<String> {
        let (host, port) = match (&self.proxy, &self.url) {
            (Some((host, port)), _) => (host.as_str(), *port),
            (None, Some(url)) => (url.host.as_str(), url.port),
            (None, None) => return None,
        };
        matches!(host, "localhost" | "127.0.0.1" | "::1").then(|| format!("tcp:{port}"))
    }
}

/// Parses the setting as the system does; `:0` clears it.
fn proxy(setting: &str) -> Option<(String, u16)> {
    let (host, port) = setting.split_once(':')?;
    let port = port.parse().ok().filter(|port| *port > 0)?;
    (!host.is_empty()).then(|| (host.to_owned(), port))
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Url {
    is_tls: bool,
    host: String,
    port: u16,
    path: String,
}

impl Url {
    /// Parses an `http://` or `https://` address and no other.
    pub fn parse(url: &str) -> Option<Url> {
        let (rest, is_tls) = match url.strip_prefix("http://") {
            Some(rest) => (rest, false),
            None => (url.strip_prefix("https://")?, true),
        };
        if rest.chars().any(|c| c.is_whitespace() || c.is_control()) {
            return None;
        }
        let cut = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(cut);
        let path = path.split('#').next().unwrap_or_default();
        let (host, port) = match authority.rsplit_once(':').filter(|(_, port)| !port.ends_with(']')) {
            Some((host, port)) => (host, port.parse().ok()?),
            None => (authority, if is_tls { 443 } else { 80 }),
        };
        let host = host.trim_start_matches('[').trim_end_matches(']');
        if host.is_empty() || host.contains('@') {
            return None;
        }
        let slash = if path.starts_with('/') { "" } else { "/" };
        Some(Url { is_tls, host: host.to_owned(), port, path: format!("{slash}{path}") })
    }

    /// Returns host and port as they stand in a head.
    fn authority(&self) -> String {
        let name = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        format!("{name}:{}", self.port)
    }
}

/// Returns the answer of a phone that has no network: the name of the host cannot be resolved.
pub fn unknown_host(url: &str) -> HttpAnswer {
    let host = url.split("://").nth(1).unwrap_or(url).split(['/', ':']).next().unwrap_or_default();
    HttpAnswer::Failed(format!(
        "java.net.UnknownHostException: Unable to resolve host \"{host}\": No address associated with hostname"
    ))
}

pub async fn ask(phone: &Phone, request: &HttpRequest, route: &Route) -> HttpAnswer {
    match timeout(REQUEST_LIMIT, exchange(phone, request, route)).await {
        Ok(Ok(answer)) => answer,
        Ok(Err(why)) => HttpAnswer::Failed(why),
        Err(_) => HttpAnswer::Failed("java.net.SocketTimeoutException: timeout".to_owned()),
    }
}

async fn exchange(phone: &Phone, request: &HttpRequest, route: &Route) -> Result<HttpAnswer, String> {
    let url = route
        .url
        .as_ref()
        .ok_or_else(|| format!("java.lang.IllegalArgumentException: unexpected url: {}", request.url))?;
    let (host, port) = route.proxy.clone().unwrap_or_else(|| (url.host.clone(), url.port));
    let mut wire = connect(phone, &host, port, route)
        .await
        .map_err(|_| format!("java.net.ConnectException: Failed to connect to /{host}:{port}"))?;
    if url.is_tls {
        if route.proxy.is_some() {
            wire = tunnel(wire, url).await?;
        }
        wire = open_tls(wire, url, route).await?;
    }
    let HttpRequest { method, body, .. } = request;
    let authority = url.authority();
    // To a proxy the whole address is said, except through a tunnel.
    let target = match (&route.proxy, url.is_tls) {
        (Some(_), false) => format!("http://{authority}{}", url.path),
        _ => url.path.clone(),
    };
    let mut head = format!(
        "{method} {target} HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\nUser-Agent: okhttp/4.12.0\r\n"
    );
    if !body.is_empty() || matches!(method.as_str(), "POST" | "PUT" | "PATCH") {
        head.push_str(&format!(
            "Content-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\n",
            body.len()
        ));
    }
    wire.write_all(format!("{head}\r\n{body}").as_bytes()).await.map_err(lost)?;
    wire.flush().await.map_err(lost)?;
    read_answer(&mut Reader { wire, input: BytesMut::new() }, method).await
}

fn lost(error: io::Error) -> String {
    format!("java.io.IOException: {error}")
}

async fn connect(phone: &Phone, host: &str, port: u16, route: &Route) -> io::Result<Box<dyn Wire>> {
    if let Some(address) = route.on_the_phone().filter(|address| phone.reverse().contains(address)) {
        return Ok(Box::new(phone.connect_from_device(&address).await?));
    }
    Ok(Box::new(TcpStream::connect((host, port)).await?))
}

/// Asks the proxy for a tunnel to the server.
async fn tunnel(mut wire: Box<dyn Wire>, url: &Url) -> Result<Box<dyn Wire>, String> {
    let authority = url.authority();
    let head = format!(
        "CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\nProxy-Connection: Keep-Alive\r\nUser-Agent: okhttp/4.12.0\r\n\r\n"
    );
    wire.write_all(head.as_bytes()).await.map_err(lost)?;
    wire.flush().await.map_err(lost)?;
    let mut answer = Vec::new();
    // Byte by byte: what follows the head is the server's.
    while !answer.ends_with(b"\r\n\r\n") {
        if answer.len() > HEAD_BYTES_MAX {
            return Err(BAD.to_owned());
        }
        answer.push(wire.read_u8().await.map_err(|_| CUT.to_owned())?);
    }
    let status = parse_head(&answer)?.map_or(0, |(_, head)| head.status);
    if status == 200 {
        Ok(wire)
    } else {
        Err(format!("java.io.IOException: Unexpected response code for CONNECT: {status}"))
    }
}

async fn open_tls(wire: Box<dyn Wire>, url: &Url, route: &Route) -> Result<Box<dyn Wire>, String> {
    let failed = |error: String| format!("javax.net.ssl.SSLHandshakeException: {error}");
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| failed(error.to_string()))?
        .with_root_certificates(route.trusted.clone())
        .with_no_client_auth();
    let name = ServerName::try_from(url.host.clone()).map_err(|error| failed(error.to_string()))?;
    match TlsConnector::from(Arc::new(config)).connect(name, wire).await {
        Ok(stream) => Ok(Box::new(stream)),
        Err(error) => {
            let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
            Err(match inner {
                Some(rustls::Error::InvalidCertificate(rustls::CertificateError::UnknownIssuer)) => failed(
                    "java.security.cert.CertPathValidatorException: Trust anchor for certification path not found."
                        .to_owned(),
                ),
                _ => failed(error.to_string()),
            })
        }
    }
}

struct Reader {
    wire: Box<dyn Wire>,
    input: BytesMut,
}

const CUT: &str = "java.io.IOException: unexpected end of stream";
const BAD: &str = "java.net.ProtocolException: the answer is not HTTP";

impl Reader {
    async fn more(&mut self) -> Result<bool, String> {
        self.input.reserve(READ_BYTES);
        let read = self.wire.read_buf(&mut self.input).await;
        read.map(|count| count > 0).map_err(|error| format!("java.io.IOException: {error}"))
    }

    /// Reads until `parse` has all that it needs, and drops from the input what it took.
    async fn parsed<T>(&mut self, bytes_max: usize, parse: impl Fn(&[u8]) -> Parsed<T>) -> Result<T, String> {
        loop {
            match parse(&self.input)? {
                Some((taken, value)) => {
                    self.input.advance(taken);
                    return Ok(value);
                }
                None if self.input.len() > bytes_max => {
                    return Err(format!("{BAD}: a line or head is longer than {bytes_max} bytes"));
                }
                None if !self.more().await? => return Err(CUT.to_owned()),
                None => {}
            }
        }
    }

    async fn exactly(&mut self, count: usize, body: &mut Vec<u8>) -> Result<(), String> {
        if body.len().saturating_add(count) > BODY_BYTES_MAX {
            return Err(too_long());
        }
        while self.input.len() < count {
            if !self.more().await? {
                return Err(CUT.to_owned());
            }
        }
        body.extend_from_slice(&self.input.split_to(count));
        Ok(())
    }
}

fn too_long() -> String {
    format!("java.io.IOException: the body is longer than {BODY_BYTES_MAX} bytes")
}

/// The number of bytes that were parsed and their meaning; nothing while bytes are missing.
type Parsed<T> = Result<Option<(usize, T)>, String>;

struct Head {
    status: u16,
    reason: String,
    body: BodyLength,
}

enum BodyLength {
    Chunked,
    Bytes(usize),
    UntilClosed,
}

fn parse_head(input: &[u8]) -> Parsed<Head> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut parsed = httparse::Response::new(&mut headers);
    let bad = |error| format!("{BAD}: {error}");
    let httparse::Status::Complete(taken) = parsed.parse(input).map_err(bad)? else { return Ok(None) };
    let header = |name: &str| {
        let found = parsed.headers.iter().rev().find(|header| header.name.eq_ignore_ascii_case(name));
        found.map(|header| String::from_utf8_lossy(header.value).trim().to_owned())
    };
    let chunked = header("transfer-encoding").is_some_and(|value| value.eq_ignore_ascii_case("chunked"));
    let body = match header("content-length") {
        _ if chunked => BodyLength::Chunked,
        Some(length) => BodyLength::Bytes(length.parse().map_err(|_| BAD.to_owned())?),
        None => BodyLength::UntilClosed,
    };
    let (status, reason) = (parsed.code.unwrap_or_default(), parsed.reason.unwrap_or_default().to_owned());
    Ok(Some((taken, Head { status, reason, body })))
}

async fn read_answer(reader: &mut Reader, method: &str) -> Result<HttpAnswer, String> {
    let Head { status, reason, body: length } = reader.parsed(HEAD_BYTES_MAX, parse_head).await?;
    let mut body = Vec::new();
    match length {
        _ if method == "HEAD" || status == 204 || status == 304 => {}
        BodyLength::Chunked => read_chunks(reader, &mut body).await?,
        BodyLength::Bytes(length) => reader.exactly(length, &mut body).await?,
        BodyLength::UntilClosed => {
            while reader.input.len() <= BODY_BYTES_MAX && reader.more().await? {}
            let rest = reader.input.len();
            reader.exactly(rest, &mut body).await?;
        }
    }
    let text = String::from_utf8_lossy(&body).into_owned();
    Ok(HttpAnswer::Status { status, reason, bytes: body.len(), body: text })
}

fn parse_chunk_size(input: &[u8]) -> Parsed<usize> {
    match httparse::parse_chunk_size(input) {
        Ok(httparse::Status::Complete((taken, size))) => {
            Ok(Some((taken, usize::try_from(size).map_err(|_| too_long())?)))
        }
        Ok(httparse::Status::Partial) => Ok(None),
        Err(_) => Err(BAD.to_owned()),
    }
}

/// Reads chunks up to the empty one. Trailers are not read: the connection carries one answer.
async fn read_chunks(reader: &mut Reader, body: &mut Vec<u8>) -> Result<(), String> {
    const LINE_END: usize = 2;
    loop {
        let size = reader.parsed(CHUNK_LINE_BYTES_MAX, parse_chunk_size).await?;
        if size == 0 {
            return Ok(());
        }
        reader.exactly(size, body).await?;
        reader.exactly(LINE_END, &mut Vec::new()).await?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_taken_apart() {
        let url = |text: &str| Url::parse(text).map(|u| (u.host, u.port, u.path));
        assert_eq!(url("https://host/"), Some(("host".to_owned(), 443, "/".to_owned())));
        let known = |host: &str, port, path: &str| Some((host.to_owned(), port, path.to_owned()));
        assert_eq!(url("http://127.0.0.1:8080/a?b=c#d"), known("127.0.0.1", 8080, "/a?b=c"));
        assert_eq!(url("http://host?x"), known("host", 80, "/?x"));
        assert_eq!(url("http://[::1]:81"), known("::1", 81, "/"));
        for bad in
            ["ftp://host/", "http://", "http://a b/", "http://a\r\nX: y/", "http://u@h/", "http://h:x/"]
        {
            assert_eq!(url(bad), None, "{bad}");
        }
    }

    #[test]
    fn the_setting_names_a_proxy_or_none() {
        assert_eq!(proxy("127.0.0.1:40000"), Some(("127.0.0.1".to_owned(), 40_000)));
        for none in ["", ":0", "null", "host", "host:0", "host:x"] {
            assert_eq!(proxy(none), None, "{none}");
        }
    }
}
