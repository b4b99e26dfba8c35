//! Forwards ports: local ports to the device (forward), and device ports to this machine (reverse).

use std::io;

use mdm_wire::adb::host;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{Adb, AdbError};

/// Connections that one forward serves at the same time; more wait in the listener's queue.
const CONNECTIONS_MAX: usize = 64;
/// Largest text of a list of reverse forwards.
const LIST_BYTES_MAX: usize = 64 * 1024;
/// Largest text of an answer to a reverse request.
const ANSWER_BYTES_MAX: usize = 1024;

/// A local port that is connected to a service of the device. Dropping it closes the port.
pub struct Forward {
    pub port: u16,
    _stop: DropGuard,
}

impl Adb {
    /// Listens on a port of the loopback interface (0 for any) and connects each caller to `service` on the device,
    /// for example `tcp:8080` or `localabstract:name`.
    pub async fn forward(&self, port: u16, service: &str) -> Result<Forward, AdbError> {
        let local = |e: io::Error| AdbError::Local(format!("cannot listen on port {port}: {e}"));
        let listener = TcpListener::bind(("127.0.0.1", port)).await.map_err(local)?;
        let port = listener.local_addr().map_err(local)?.port();
        let stop = CancellationToken::new();
        tokio::spawn(stop.clone().run_until_cancelled_owned(serve(
            self.clone(),
            listener,
            service.to_owned(),
        )));
        Ok(Forward { port, _stop: stop.drop_guard() })
    }

    /// Makes `host_port` of this machine reachable as `device_port` on the device (0 for any). Returns that port.
    pub async fn reverse(&self, device_port: u16, host_port: u16) -> Result<u16, AdbError> {
        let target = format!("tcp:{host_port}");
        if let Some(link) = self.link() {
            link.allow_reverse(&target).await?;
        }
        let answer = self.reverse_request(&format!("reverse:forward:tcp:{device_port};{target}")).await?;
        match answer.parse() {
            Ok(port) => Ok(port),
            // The device may omit the port if the request named it.
            Err(_) => Ok(device_port),
        }
    }

    pub async fn remove_reverse(&self, device_port: u16) -> Result<(), AdbError> {
        self.reverse_request(&format!("reverse:killforward:tcp:{device_port}")).await.map(drop)
    }

    /// Ports of the device and the ports of this machine that they lead to.
    pub async fn reverse_list(&self) -> Result<Vec<(u16, u16)>, AdbError> {
        let list = self.reverse_request_to("reverse:list-forward", LIST_BYTES_MAX).await?;
        Ok(list.lines().filter_map(reversed).collect())
    }

    async fn reverse_request(&self, service: &str) -> Result<String, AdbError> {
        self.reverse_request_to(service, ANSWER_BYTES_MAX).await
    }

    async fn reverse_request_to(&self, service: &str, bytes_max: usize) -> Result<String, AdbError> {
        let mut stream = self.open(service).await?;
        let (answer, _) = stream.read_to_limit(bytes_max).await?;
        let text = |from: usize| String::from_utf8_lossy(answer.get(from..).unwrap_or_default()).into_owned();
        if answer.starts_with(host::OKAY) {
            Ok(text(8))
        } else if answer.starts_with(host::FAIL) {
            Err(AdbError::Refused(text(8)))
        } else {
            Err(AdbError::Protocol(format!("unexpected answer to a reverse request: {:?}", text(0))))
        }
    }
}

/// `(reverse) tcp:8081 tcp:3000`, or another word in front.
fn reversed(line: &str) -> Option<(u16, u16)> {
    let mut words = line.split_whitespace().rev();
    let (host, device) = (words.next()?, words.next()?);
    let port = |word: &str| word.strip_prefix("tcp:")?.parse().ok();
    Some((port(device)?, port(host)?))
}

async fn serve(adb: Adb, listener: TcpListener, service: String) {
    let mut connections = tokio::task::JoinSet::new();
    loop {
        tokio::select! {
            biased;
            Some(_) = connections.join_next() => {}
            accepted = listener.accept(), if connections.len() < CONNECTIONS_MAX => {
                let Ok((caller, _)) = accepted else { continue };
                let (adb, service) = (adb.clone(), service.clone());
                connections.spawn(async move {
                    // If the device refuses the service, the caller's connection is closed: TCP cannot report more.
                    if let Ok(stream) = adb.open(&service).await {
                        pump(caller, stream).await;
                    }
                });
            }
        }
    }
}

pub(super) async fn connect_target(target: &str) -> io::Result<TcpStream> {
    let port = target.strip_prefix("tcp:").and_then(|p| p.parse().ok()).ok_or(io::ErrorKind::Unsupported)?;
    TcpStream::connect(("127.0.0.1", port)).await
}

/// Copies both ways until either side ends, because adb has no half-close.
pub(super) async fn pump<S: AsyncRead + AsyncWrite + Unpin>(local: TcpStream, device: S) {
    drop(local.set_nodelay(true));
    let (mut local_in, mut local_out) = local.into_split();
    let (mut device_in, mut device_out) = tokio::io::split(device);
    // The result is not needed: both connections are closed.
    tokio::select! {
        _ = copy_flushing(&mut local_in, &mut device_out) => {}
        _ = tokio::io::copy(&mut device_in, &mut local_out) => {}
    }
}

async fn copy_flushing(
    from: &mut (impl AsyncRead + Unpin),
    to: &mut (impl AsyncWrite + Unpin),
) -> io::Result<()> {
    use tokio::io::AsyncWriteExt as _;
    let mut buffer = vec![0u8; 64 * 1024];
    loop {
        let count = from.read(&mut buffer).await?;
        if count == 0 {
            return Ok(());
        }
        to.write_all(&buffer[..count]).await?;
        to.flush().await?;
    }
}
