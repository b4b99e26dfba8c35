//! idb's companion: gRPC over HTTP/2, one service, in front of one phone.
//!
//! It has no state but that of the calls that run. Inputs take the same way into the phone as those of any other face.

mod actions;
mod apps;
mod archive;
mod calls;
mod crashes;
mod dispatch;
mod document;
mod elements;
mod files;
pub(in crate::iphone) mod hid;
pub(in crate::iphone) mod keys;
mod log;
mod number;
mod query;
mod quiescence;
mod roles;
mod stand_in;
mod system;
mod target;

use std::convert::Infallible;
use std::io;

use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream};
use tokio::net::TcpListener;

use super::IPhone;
use crate::unix::UnixListener;
pub use elements::{AxNode, AxTree};
pub use stand_in::{STAND_IN, stand_in};

/// Bytes that a connection inside this process buffers in each direction.
const DUPLEX_BYTES: usize = 256 * 1024;
/// Calls at a time on one connection.
const CALLS_MAX: u32 = 100;

impl IPhone {
    /// Connects to the companion inside this process. Its tasks run on the current runtime.
    pub fn connect_companion(&self) -> io::Result<DuplexStream> {
        let (ours, theirs) = tokio::io::duplex(DUPLEX_BYTES);
        self.accept_companion(ours)?;
        Ok(theirs)
    }

    /// Serves clients of the companion until the listener fails.
    pub async fn serve_companion(&self, listener: TcpListener) -> io::Result<()> {
        loop {
            let (socket, _) = listener.accept().await?;
            socket.set_nodelay(true)?;
            // A refused connection is closed: that is all that a client of a companion without its phone sees.
            let _ = self.accept_companion(socket);
        }
    }

    /// Serves clients over a Unix socket until the listener fails.
    pub async fn serve_companion_unix(&self, listener: UnixListener) -> io::Result<()> {
        loop {
            let (socket, _) = listener.accept().await?;
            let _ = self.accept_companion(socket);
        }
    }

    fn accept_companion<S>(&self, socket: S) -> io::Result<()>
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let ended = self.companion_program.connect()?;
        let cut = self.phone.open_connection()?;
        let iphone = self.clone();
        tokio::spawn(async move {
            let calls = iphone.clone();
            let service = service_fn(move |request| {
                let iphone = calls.clone();
                async move { Ok::<_, Infallible>(dispatch::answer(iphone, request).await) }
            });
            let mut server = http2::Builder::new(TokioExecutor::new());
            server.timer(TokioTimer::new()).max_concurrent_streams(CALLS_MAX);
            let connection = server.serve_connection(TokioIo::new(socket), service);
            tokio::select! {
                // A client that breaks the protocol only loses its connection.
                _ = connection => {}
                () = cut.cancelled() => {}
                () = ended.cancelled() => {}
            }
            iphone.phone.close_connection();
        });
        Ok(())
    }
}
