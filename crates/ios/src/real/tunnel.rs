//! The tunnel to the services of iOS 17.4 and later. It needs no rights of an administrator: packets go over lockdownd's
//! CoreDeviceProxy, and TCP runs inside this process.

use std::pin::Pin;
use std::sync::Arc;

use idevice::core_device_proxy::CoreDeviceProxy;
use idevice::rsd::RsdHandshake;
use idevice::tcp::handle::AdapterHandle;
use idevice::{IdeviceError, IdeviceService as _, RsdService};
use mdm_core::port::{DeviceError, DeviceErrorKind, Dispatch};
use tokio::sync::Mutex;

use super::error::{Effect, told};
use super::link::{Link, guarded};

/// Least packet that IPv6 allows.
const MTU_BYTES_MIN: u16 = 1280;

/// Futures of the library's traits are `Send` only for as long as their types are not known, so they are boxed there.
type Connecting<'a, T, E> = Pin<Box<dyn Future<Output = Result<T, E>> + Send + 'a>>;

/// A tunnel that is open, and the services that the phone listed in it.
#[derive(Clone)]
pub struct Tunnel {
    pub adapter: AdapterHandle,
    discovery: RsdHandshake,
}

impl Tunnel {
    async fn open(link: &Link) -> Result<Tunnel, DeviceError> {
        let opened = link
            .with(Effect::Reads, async |provider| {
                let proxy = CoreDeviceProxy::connect(&provider).await?;
                let info = proxy.tunnel_info();
                if info.mtu < MTU_BYTES_MIN {
                    return Err(IdeviceError::UnexpectedResponse("a tunnel of tiny packets".to_owned()));
                }
                let port = info.server_rsd_port;
                let mut adapter = proxy.create_software_tunnel()?.to_async_handle();
                let stream = adapter.connect(port).await?;
                let discovery = RsdHandshake::new(stream).await?;
                Ok(Tunnel { adapter, discovery })
            })
            .await;
        opened.map_err(|error| match error.kind {
            DeviceErrorKind::ServiceMissing => no_tunnel(&link.udid),
            _ => error,
        })
    }

    pub fn offers(&self, service: &str) -> bool {
        self.discovery.services.contains_key(service)
    }

    /// Connects to a service from inside a task.
    pub fn service<T: RsdService + Send + 'static>(&self) -> Connecting<'_, T, IdeviceError> {
        Box::pin(async move {
            let name = T::rsd_service_name();
            let service = self.discovery.services.get(name.as_ref()).ok_or(IdeviceError::ServiceNotFound)?;
            let stream = self.adapter.clone().connect(service.port).await?;
            T::from_stream(Box::new(stream)).await
        })
    }

    async fn connect<T: RsdService + Send + 'static>(&self) -> Result<Result<T, IdeviceError>, DeviceError> {
        let tunnel = self.clone();
        guarded(async move { tunnel.service().await }).await
    }
}

/// The tunnel to one phone, kept for as long as it stands.
#[derive(Clone)]
pub struct KeptTunnel {
    pub link: Link,
    open: Arc<Mutex<Option<Tunnel>>>,
}

impl KeptTunnel {
    pub fn new(link: Link) -> KeptTunnel {
        KeptTunnel { link, open: Arc::default() }
    }

    pub async fn close(&self) {
        *self.open.lock().await = None;
    }

    /// Lists the services anew, because they change when the developer image is mounted.
    pub async fn discover(&self) -> Result<Tunnel, DeviceError> {
        let mut open = self.open.lock().await;
        let tunnel = Tunnel::open(&self.link).await?;
        *open = Some(tunnel.clone());
        Ok(tunnel)
    }

    /// Connects to a service. A tunnel that fell, or was made before the service was there, is made again: nothing was
    /// asked of the phone yet.
    pub fn connect<T: RsdService + Send + 'static>(&self) -> Connecting<'_, (T, Tunnel), DeviceError> {
        Box::pin(self.connected())
    }

    async fn connected<T: RsdService + Send + 'static>(&self) -> Result<(T, Tunnel), DeviceError> {
        let mut open = self.open.lock().await;
        if let Some(tunnel) = &*open
            && let Ok(service) = tunnel.connect().await?
        {
            return Ok((service, tunnel.clone()));
        }
        *open = None;
        let tunnel = Tunnel::open(&self.link).await?;
        *open = Some(tunnel.clone());
        drop(open);
        match tunnel.connect().await? {
            Ok(service) => Ok((service, tunnel)),
            Err(IdeviceError::ServiceNotFound) => Err(self.why_missing(&T::rsd_service_name()).await),
            Err(error) => Err(told(error, &self.link.udid, Effect::Reads)),
        }
    }

    /// Runs `act` with a connection to a service, in a task.
    pub async fn with<T, R, F>(
        &self,
        effect: Effect,
        act: impl FnOnce(T) -> F + Send + 'static,
    ) -> Result<R, DeviceError>
    where
        T: RsdService + Send + 'static,
        R: Send + 'static,
        F: Future<Output = Result<R, IdeviceError>> + Send + 'static,
    {
        let (service, _) = self.connect::<T>().await?;
        let done = guarded(async move { act(service).await }).await.map_err(|error| match effect {
            Effect::Acts => error.with_dispatch(Dispatch::Unknown),
            Effect::Reads => error,
        })?;
        done.map_err(|error| told(error, &self.link.udid, effect))
    }

    /// Says why a service of the developer image is not there.
    pub async fn why_missing(&self, service: &str) -> DeviceError {
        let udid = &self.link.udid;
        let detail = match super::developer_mode(&self.link).await {
            Err(error) => return error,
            Ok(Some(false)) => super::mode_is_off(udid),
            Ok(_) => format!(
                "the iPhone {udid} does not offer {service}: mount its developer image (Xcode does it when the phone \
                 is connected; go-ios and pymobiledevice3 can too). Touches and pictures of CoreDevice need iOS 27 \
                 and the image of Xcode 27"
            ),
        };
        DeviceError::new(DeviceErrorKind::ServiceMissing, detail)
    }
}

pub(super) fn no_tunnel(udid: &str) -> DeviceError {
    let detail = format!(
        "the iPhone {udid} offers no tunnel over the cable, which came with iOS 17.4: update iOS, or use \
         WebDriverAgent"
    );
    DeviceError::new(DeviceErrorKind::ServiceMissing, detail)
}
