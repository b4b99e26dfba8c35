//! Connections to the servers that clients ask for.

use std::collections::BTreeMap;
use std::future::Future;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::Uri;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::{Connected, Connection};
use hyper_util::rt::TokioIo;
use rustls::crypto::ring;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

/// How long connecting to a server may take; then the request fails.
const CONNECT_MAX: Duration = Duration::from_secs(15);
/// Bytes of another proxy's answer to `CONNECT`.
const VIA_HEAD_BYTES_MAX: usize = 16 * 1024;

/// Another proxy through which everything goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Via {
    pub host: String,
    pub port: u16,
}

/// What a name of the client's own machine leads to: to the client, `localhost` is the phone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Loopback {
    /// This machine is the client's own.
    Any,
    /// These ports of the client lead to these of this machine; no other does.
    Mapped(BTreeMap<u16, u16>),
}

/// The certificates that this machine trusts; `SSL_CERT_FILE` and `SSL_CERT_DIR` name others.
pub fn system_roots() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    roots
}

/// True if something listens there.
pub async fn can_connect(via: &Via) -> bool {
    let connected = timeout(CONNECT_MAX, TcpStream::connect((via.host.as_str(), via.port)));
    connected.await.is_ok_and(|connected| connected.is_ok())
}

/// Reaches servers, whatever stands between.
pub struct Dialer {
    loopback: Mutex<Loopback>,
    /// Addresses that lead to this machine from where the client is.
    host_aliases: Vec<String>,
    via: Option<Via>,
    own_port: u16,
    tls: Arc<ClientConfig>,
    /// For connections that must speak HTTP/1.1.
    tls_http1: Arc<ClientConfig>,
}

pub struct DialerConfig {
    pub loopback: Loopback,
    pub host_aliases: Vec<String>,
    pub via: Option<Via>,
    pub roots: RootCertStore,
    pub own_port: u16,
}

impl Dialer {
    pub fn new(config: DialerConfig) -> io::Result<Dialer> {
        let tls = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?
            .with_root_certificates(config.roots)
            .with_no_client_auth();
        let with = |protocols: &[&[u8]]| {
            let mut tls = tls.clone();
            tls.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
            Arc::new(tls)
        };
        Ok(Dialer {
            loopback: Mutex::new(config.loopback),
            host_aliases: config.host_aliases,
            via: config.via,
            own_port: config.own_port,
            tls_http1: with(&[b"http/1.1"]),
            tls: with(&[b"h2", b"http/1.1"]),
        })
    }

    pub fn set_loopback(&self, loopback: Loopback) {
        *self.loopback.lock().unwrap_or_else(PoisonError::into_inner) = loopback;
    }

    /// A connection of bytes to a server, through the other proxy where there is one.
    pub async fn tunnel(&self, host: &str, port: u16) -> io::Result<TcpStream> {
        match &self.via {
            Some(via) if self.own_machine(host, port)?.is_none() => self.tunnel_via(via, host, port).await,
            _ => self.connect(host, port).await,
        }
    }

    async fn connect(&self, host: &str, port: u16) -> io::Result<TcpStream> {
        let connected = timeout(CONNECT_MAX, async {
            let addresses = match self.own_machine(host, port)? {
                Some(own) => vec![own],
                None => self.resolve(host, port).await?,
            };
            TcpStream::connect(&addresses[..]).await
        });
        let late =
            || io::Error::new(io::ErrorKind::TimedOut, format!("no connection within {CONNECT_MAX:?}"));
        let stream = connected.await.map_err(|_| late())??;
        drop(stream.set_nodelay(true));
        Ok(stream)
    }

    /// Where on this machine a name of the client's own leads; nothing for other names.
    fn own_machine(&self, host: &str, port: u16) -> io::Result<Option<SocketAddr>> {
        let own = |port: u16| match port == self.own_port {
            true => Err(io::Error::other("the request asks the proxy for itself")),
            false => Ok(Some(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))),
        };
        if self.host_aliases.iter().any(|alias| alias == host) {
            return own(port);
        }
        if !is_loopback(host) {
            return Ok(None);
        }
        match &*self.loopback.lock().unwrap_or_else(PoisonError::into_inner) {
            Loopback::Any => own(port),
            Loopback::Mapped(ports) => match ports.get(&port) {
                Some(port) => own(*port),
                None => Err(io::Error::other(format!(
                    "port {port} of the device itself cannot be reached from here"
                ))),
            },
        }
    }

    async fn resolve(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        let found: Vec<SocketAddr> = match host.parse::<IpAddr>() {
            Ok(address) => vec![SocketAddr::new(address, port)],
            Err(_) => tokio::net::lookup_host((host, port)).await?.collect(),
        };
        // A name that leads to this machine must not open its services to the client.
        let away: Vec<SocketAddr> = found.into_iter().filter(|address| !is_own(address.ip())).collect();
        match away.is_empty() {
            true => {
                Err(io::Error::other(format!("{host} leads to this machine, which the client may not ask")))
            }
            false => Ok(away),
        }
    }

    async fn tunnel_via(&self, via: &Via, host: &str, port: u16) -> io::Result<TcpStream> {
        let mut stream = self.connect(&via.host, via.port).await?;
        let name = if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") };
        stream.write_all(format!("CONNECT {name} HTTP/1.1\r\nHost: {name}\r\n\r\n").as_bytes()).await?;
        let mut head = Vec::new();
        let read = timeout(CONNECT_MAX, async {
            // Byte by byte: what follows the head belongs to the tunnel.
            while !head.ends_with(b"\r\n\r\n") && head.len() < VIA_HEAD_BYTES_MAX {
                head.push(stream.read_u8().await?);
            }
            io::Result::Ok(())
        });
        read.await.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
        let line = String::from_utf8_lossy(head.split(|byte| *byte == b'\r').next().unwrap_or_default())
            .into_owned();
        match line.split(' ').nth(1) {
            Some("200") => Ok(stream),
            _ => Err(io::Error::other(format!("the proxy {}:{} answered {line:.100?}", via.host, via.port))),
        }
    }

    async fn dial(&self, uri: &Uri, http1_only: bool) -> io::Result<Upstream> {
        let host = uri.host().ok_or_else(|| io::Error::other("no host"))?;
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let is_tls = uri.scheme_str() == Some("https");
        let port = uri.port_u16().unwrap_or(if is_tls { 443 } else { 80 });
        if !is_tls {
            return match &self.via {
                Some(via) if self.own_machine(host, port)?.is_none() => {
                    Ok(Upstream::new(self.connect(&via.host, via.port).await?, false, true))
                }
                _ => Ok(Upstream::new(self.connect(host, port).await?, false, false)),
            };
        }
        let stream = self.tunnel(host, port).await?;
        let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
        let config = if http1_only { &self.tls_http1 } else { &self.tls };
        let handshake = TlsConnector::from(Arc::clone(config)).connect(name, stream);
        let stream =
            timeout(CONNECT_MAX, handshake).await.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
        let is_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
        Ok(Upstream::new(stream, is_http2, false))
    }
}

fn is_own(address: IpAddr) -> bool {
    let address = address.to_canonical();
    address.is_loopback() || address.is_unspecified()
}

pub fn is_loopback(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']').trim_end_matches('.');
    match host.parse::<IpAddr>() {
        Ok(address) => is_own(address),
        Err(_) => host.eq_ignore_ascii_case("localhost") || host.to_ascii_lowercase().ends_with(".localhost"),
    }
}

/// Makes connections for hyper's client.
#[derive(Clone)]
pub struct Connector {
    pub dialer: Arc<Dialer>,
    pub http1_only: bool,
}

impl tower_service::Service<Uri> for Connector {
    type Response = Upstream;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Upstream>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let Connector { dialer, http1_only } = self.clone();
        Box::pin(async move { dialer.dial(&uri, http1_only).await })
    }
}

trait Wire: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Wire for T {}

/// A connection to a server or to another proxy.
pub struct Upstream {
    io: TokioIo<Box<dyn Wire>>,
    is_http2: bool,
    is_proxy: bool,
}

impl Upstream {
    fn new(stream: impl Wire + 'static, is_http2: bool, is_proxy: bool) -> Upstream {
        Upstream { io: TokioIo::new(Box::new(stream)), is_http2, is_proxy }
    }
}

impl Connection for Upstream {
    fn connected(&self) -> Connected {
        let connected = Connected::new().proxy(self.is_proxy);
        if self.is_http2 { connected.negotiated_h2() } else { connected }
    }
}

impl Read for Upstream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_read(context, buffer)
    }
}

impl Write for Upstream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_the_clients_own_machine_leads_only_where_it_was_said() {
        // SE-02: the phone's localhost is not this machine's.
        let dialer = |loopback| {
            let host_aliases = vec!["10.0.2.2".to_owned()];
            let roots = RootCertStore::empty();
            Dialer::new(DialerConfig { loopback, host_aliases, via: None, roots, own_port: 9 }).unwrap()
        };
        let mapped = dialer(Loopback::Mapped(BTreeMap::from([(8081, 3000)])));
        let port =
            |host: &str, port| mapped.own_machine(host, port).map(|own| own.map(|address| address.port()));
        assert_eq!(port("localhost", 8081).unwrap(), Some(3000));
        assert_eq!(port("[::1]", 8081).unwrap(), Some(3000));
        for host in
            ["localhost", "LOCALHOST.", "127.8.9.1", "0.0.0.0", "::", "::ffff:127.0.0.1", "a.localhost"]
        {
            assert!(port(host, 80).is_err(), "{host}");
        }
        assert_eq!(port("example.com", 80).unwrap(), None);
        assert_eq!(port("10.0.2.2", 80).unwrap(), Some(80), "the emulator's name for this machine");
        assert!(port("10.0.2.2", 9).is_err(), "the proxy itself");
        assert!(dialer(Loopback::Any).own_machine("127.0.0.1", 80).is_ok());
    }

    #[tokio::test]
    async fn a_public_name_for_this_machine_does_not_open_it() {
        let config = DialerConfig {
            loopback: Loopback::Mapped(BTreeMap::new()),
            host_aliases: vec![],
            via: None,
            roots: RootCertStore::empty(),
            own_port: 9,
        };
        let dialer = Dialer::new(config).unwrap();
        assert!(
            dialer.resolve("127.0.0.1", 80).await.is_err() && dialer.resolve("192.0.2.1", 80).await.is_ok()
        );
    }
}
