//! How a backend is reached: a TCP address, a Unix socket, or a pipe to a phone inside this process.

use std::io;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

pub trait Transport: AsyncRead + AsyncWrite + Send + Sync + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Sync + Unpin> Transport for T {}

type Connecting = Pin<Box<dyn Future<Output = io::Result<Box<dyn Transport>>> + Send>>;

/// Makes a new connection each time it is called.
pub type Connector = Arc<dyn Fn() -> Connecting + Send + Sync>;

/// `address` is `HOST:PORT`.
pub fn tcp(address: String) -> Connector {
    Arc::new(move || {
        let address = address.clone();
        Box::pin(async move {
            let stream = TcpStream::connect(address).await?;
            stream.set_nodelay(true)?;
            Ok(Box::new(stream) as Box<dyn Transport>)
        })
    })
}

#[cfg(unix)]
pub fn unix(path: PathBuf) -> Connector {
    use tokio::net::UnixStream;
    Arc::new(move || {
        let path = path.clone();
        Box::pin(async move { Ok(Box::new(UnixStream::connect(path).await?) as Box<dyn Transport>) })
    })
}

/// Windows has no sockets at paths that tokio can connect to.
#[cfg(not(unix))]
pub fn unix(path: PathBuf) -> Connector {
    Arc::new(move || {
        let why =
            format!("{}: sockets at paths are not available on this system; give HOST:PORT", path.display());
        Box::pin(async move { Err(io::Error::new(io::ErrorKind::Unsupported, why)) })
    })
}

/// Each connection is one of `connect`, such as a pipe to a phone in this process.
pub fn pipe<S: Transport + 'static>(
    connect: impl Fn() -> io::Result<S> + Send + Sync + 'static,
) -> Connector {
    Arc::new(move || {
        let connected = connect();
        Box::pin(async move { Ok(Box::new(connected?) as Box<dyn Transport>) })
    })
}
