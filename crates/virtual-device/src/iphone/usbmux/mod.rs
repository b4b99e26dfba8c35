//! A real iPhone on a cable: usbmuxd in front, lockdownd and its services behind, and from iOS 17.4 on a tunnel to
//! further services.

mod afc;
mod device;
mod dtx;
mod instruments;
mod lockdown;
mod mux;
mod pairing;
mod plists;
mod remote;
mod services;
mod testmanagerd;
mod tunnel;

use std::io;
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite, DuplexStream};
use tokio::net::TcpListener;

use super::IPhone;
use crate::unix::UnixListener;
pub use device::DeviceState;

const DUPLEX_BYTES: usize = 256 * 1024;

/// A connection in either direction.
pub(crate) trait Wire: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Wire for T {}

/// Opens a connection to a program that listens on a port of the phone.
pub type PortOpener = Arc<dyn Fn() -> io::Result<DuplexStream> + Send + Sync>;

impl IPhone {
    /// Opens a connection to usbmuxd inside this process.
    pub fn connect_usbmuxd(&self) -> io::Result<DuplexStream> {
        let (ours, theirs) = tokio::io::duplex(DUPLEX_BYTES);
        self.start_mux(ours);
        Ok(theirs)
    }

    /// Serves usbmuxd on a port, as `USBMUXD_SOCKET_ADDRESS=HOST:PORT` names it, until the listener fails.
    pub async fn serve_usbmuxd(&self, listener: TcpListener) -> io::Result<()> {
        loop {
            let (socket, _) = listener.accept().await?;
            socket.set_nodelay(true)?;
            self.start_mux(socket);
        }
    }

    /// Serves usbmuxd on a Unix socket, such as `/var/run/usbmuxd`, until the listener fails.
    pub async fn serve_usbmuxd_unix(&self, listener: UnixListener) -> io::Result<()> {
        loop {
            let (socket, _) = listener.accept().await?;
            self.start_mux(socket);
        }
    }

    /// Lets a port of the phone be reached over the cable: 8100 for WebDriverAgent.
    pub fn open_port(&self, port: u16, opener: PortOpener) {
        self.device(|device| device.open_port(port, opener));
    }

    pub(crate) fn device<R>(&self, act: impl FnOnce(&mut DeviceState) -> R) -> R {
        act(&mut self.device.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
    }

    fn start_mux<S: Wire + 'static>(&self, stream: S) {
        let phone = self.clone();
        tokio::spawn(async move {
            // What went wrong is the client's to find out: a real usbmuxd hangs up too.
            let _ = mux::serve(&phone, Box::new(stream)).await;
        });
    }
}
