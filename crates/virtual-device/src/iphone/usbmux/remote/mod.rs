//! What listens inside the tunnel: service discovery, services of lockdownd, and those of the developer image.

mod apps;
mod connection;
mod core_device;
mod discovery;
mod hid;
mod screen;
mod shim;
mod xpc;

use std::io;
use std::pin::Pin;
use std::sync::Arc;

use tokio::io::DuplexStream;

use super::tunnel::Tunnel;
use super::{instruments, testmanagerd};
use crate::iphone::IPhone;

pub const DISCOVERY_PORT: u16 = 56_307;

type Serving = Pin<Box<dyn Future<Output = io::Result<()>> + Send>>;

/// What is behind a port.
pub enum Target {
    Discovery,
    Service(String),
}

pub fn target(phone: &IPhone, port: u16) -> Option<Target> {
    if port == DISCOVERY_PORT {
        return Some(Target::Discovery);
    }
    let service = discovery::services(phone).into_iter().find(|service| service.port == port)?;
    Some(Target::Service(service.name))
}

/// Serves one connection. A service may be a tunnel again, so its future has a type with a name.
pub fn serve(phone: IPhone, tunnel: Arc<Tunnel>, target: Target, stream: DuplexStream) -> Serving {
    Box::pin(async move { run(&phone, &tunnel, target, stream).await })
}

async fn run(
    phone: &IPhone,
    tunnel: &Arc<Tunnel>,
    target: Target,
    mut stream: DuplexStream,
) -> io::Result<()> {
    let Target::Service(name) = target else { return discovery::serve(phone, stream).await };
    match name.as_str() {
        "com.apple.mobile.lockdown.remote.trusted" | "com.apple.mobile.lockdown.remote.untrusted" => {
            shim::lockdown(phone, stream).await
        }
        "com.apple.coredevice.appservice" => {
            core_device::serve(stream, |feature, input| apps::answer(phone, feature, input)).await
        }
        "com.apple.coredevice.screencaptureservice" => {
            core_device::serve(stream, |feature, input| screen::capture(phone, feature, input)).await
        }
        "com.apple.coredevice.displayservice" => {
            core_device::serve(stream, |feature, input| screen::display(tunnel, feature, input)).await
        }
        "com.apple.coredevice.hid.universalhidservice" => hid::surfaces(phone, tunnel, stream).await,
        "com.apple.instruments.dtservicehub" => instruments::serve(phone, &mut stream).await,
        "com.apple.dt.testmanagerd.remote" => testmanagerd::serve(phone, &mut stream).await,
        "com.apple.coredevice.hid.indigo" => hid::buttons(phone, tunnel, stream).await,
        name => match name.strip_suffix(".shim.remote") {
            Some(service) => shim::serve(phone, stream, service).await,
            // Not served here: the connection ends.
            None => Ok(()),
        },
    }
}
