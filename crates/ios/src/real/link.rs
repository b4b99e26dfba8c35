//! Connections to one phone over usbmuxd, and the tasks in which the library runs.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use idevice::lockdown::LockdownClient;
use idevice::pairing_file::PairingFile;
use idevice::provider::IdeviceProvider;
use idevice::usbmuxd::UsbmuxdConnection;
use idevice::{Idevice, IdeviceError, IdeviceService};
use mdm_core::port::{DeviceError, DeviceErrorKind, Dispatch};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::task::JoinSet;

use super::LABEL;
use super::error::{Effect, told};
use super::lengths::Lengths;
use crate::connect::{Connector, Transport};

/// The way to one phone.
#[derive(Clone)]
pub struct Link {
    pub mux: Connector,
    pub udid: String,
}

impl Link {
    /// Runs `act` with a fresh way to the phone, in a task.
    pub async fn with<T, F>(
        &self,
        effect: Effect,
        act: impl FnOnce(Provider) -> F + Send + 'static,
    ) -> Result<T, DeviceError>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, IdeviceError>> + Send + 'static,
    {
        let provider = self.provider().await?;
        let done = guarded(async move { act(provider).await }).await.map_err(|error| match effect {
            Effect::Acts => error.with_dispatch(Dispatch::Unknown),
            Effect::Reads => error,
        })?;
        done.map_err(|error| told(error, &self.udid, effect))
    }

    /// Looks the phone up: its number changes whenever it is plugged in.
    pub async fn provider(&self) -> Result<Provider, DeviceError> {
        let mux = connect_mux(&self.mux).await?;
        let udid = self.udid.clone();
        let device = guarded(async move {
            let mut mux = mux;
            mux.get_device(&udid).await
        });
        let device = device.await?.map_err(|error| told(error, &self.udid, Effect::Reads))?;
        Ok(Provider { link: self.clone(), device_id: device.device_id })
    }

    pub async fn open_port(&self, port: u16) -> io::Result<Box<dyn Transport>> {
        let provider = self.provider().await.map_err(io::Error::other)?;
        let opened = guarded(async move { provider.connect(port).await }).await.map_err(io::Error::other)?;
        let idevice = opened.map_err(|error| io::Error::other(told(error, &self.udid, Effect::Reads)))?;
        let socket = idevice.get_socket().ok_or_else(|| io::Error::other("no connection"))?;
        Ok(Box::new(socket))
    }
}

/// Connects to usbmuxd.
pub async fn connect_mux(mux: &Connector) -> Result<UsbmuxdConnection, DeviceError> {
    let stream = mux().await.map_err(|error| {
        let detail = format!(
            "usbmuxd does not answer ({error}): on Linux install and start usbmuxd, on Windows install the Apple \
             devices app, or say where it listens"
        );
        DeviceError::new(DeviceErrorKind::Local, detail)
    })?;
    Ok(UsbmuxdConnection::new(Box::new(Stream { inner: stream, lengths: Lengths::of_mux() }), 0))
}

/// Begins a session with lockdownd. The other value says whether the phone needs the oldest form of TLS.
pub async fn session(
    provider: &Provider,
    record: &PairingFile,
) -> Result<(LockdownClient, bool), IdeviceError> {
    let mut lockdown = LockdownClient::connect(provider).await?;
    let is_old = lockdown.start_session(record).await?;
    lockdown.idevice = checked(lockdown.idevice, Lengths::of_lists())?;
    Ok((lockdown, is_old))
}

/// Starts a service and connects to it.
pub async fn open(provider: &Provider, name: &str) -> Result<Idevice, IdeviceError> {
    let record = provider.get_pairing_file().await?;
    let (mut lockdown, is_old) = session(provider, &record).await?;
    let (port, uses_tls) = lockdown.start_service(name).await?;
    let mut connection = provider.connect(port).await?;
    if uses_tls {
        connection.start_session(&record, is_old).await?;
    }
    Ok(connection)
}

/// Does what `connect` of the library does, and checks lengths also inside of TLS.
pub async fn service<S: IdeviceService>(provider: &Provider, lengths: Lengths) -> Result<S, IdeviceError> {
    let connection = open(provider, &S::service_name()).await?;
    S::from_stream(checked(connection, lengths)?).await
}

/// A connection on which lengths do not lie.
pub fn checked(connection: Idevice, lengths: Lengths) -> Result<Idevice, IdeviceError> {
    let socket = connection.get_socket().ok_or(IdeviceError::NoEstablishedConnection)?;
    Ok(Idevice::new(Box::new(Stream { inner: Box::new(socket), lengths }), LABEL))
}

/// Runs the library in a task: a panic becomes an error, and a caller that goes away ends it.
pub async fn guarded<T: Send + 'static>(
    work: impl Future<Output = T> + Send + 'static,
) -> Result<T, DeviceError> {
    let mut task = JoinSet::new();
    task.spawn(work);
    match task.join_next().await {
        Some(Ok(done)) => Ok(done),
        _ => {
            let detail = "the phone sent something that could not be understood";
            Err(DeviceError::new(DeviceErrorKind::Protocol, detail))
        }
    }
}

/// Makes the library's connections over ours.
#[derive(Clone)]
pub struct Provider {
    link: Link,
    device_id: u32,
}

impl fmt::Debug for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Provider").field("udid", &self.link.udid).finish_non_exhaustive()
    }
}

type Pending<T> = Pin<Box<dyn Future<Output = Result<T, IdeviceError>> + Send>>;

impl IdeviceProvider for Provider {
    fn connect(&self, port: u16) -> Pending<Idevice> {
        let (mux, device_id) = (Arc::clone(&self.link.mux), self.device_id);
        Box::pin(async move {
            let stream = Stream { inner: mux().await?, lengths: Lengths::of_port(port) };
            let mux = UsbmuxdConnection::new(Box::new(stream), device_id);
            mux.connect_to_device(device_id, port, LABEL).await
        })
    }

    fn label(&self) -> &str {
        LABEL
    }

    fn get_pairing_file(&self) -> Pending<PairingFile> {
        let (mux, udid) = (Arc::clone(&self.link.mux), self.link.udid.clone());
        Box::pin(async move {
            let stream = Stream { inner: mux().await?, lengths: Lengths::of_mux() };
            let mut mux = UsbmuxdConnection::new(Box::new(stream), 0);
            mux.get_pair_record(&udid).await
        })
    }
}

/// A connection that can be printed, which the library wants, and on which lengths do not lie.
struct Stream {
    inner: Box<dyn Transport>,
    lengths: Lengths,
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Stream")
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(context, buffer))?;
        Poll::Ready(self.lengths.check(&buffer.filled()[before..]))
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.lengths.note_sent(bytes);
        Pin::new(&mut self.inner).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}

/// A door for the fuzzer: a phone that says such things, on which lengths do not lie.
#[cfg(fuzzing)]
pub fn checked_transport(inner: Box<dyn Transport>, lengths: Lengths) -> Idevice {
    Idevice::new(Box::new(Stream { inner, lengths }), LABEL)
}
