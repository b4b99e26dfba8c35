//! Every iPhone and simulator within reach.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use mdm_core::port::{Availability, Device, DeviceSource, Listed, PortFuture, SourceHealth};
use mdm_core::screen::snapshot::Platform;

use crate::device::{Backends, IosDevice};

/// How long one that was attached may take to say who it is, before the others are listed without it.
const ANSWER_WAIT: Duration = Duration::from_secs(2);

/// An iPhone whose backends were named by the user.
pub struct Attached {
    pub id: String,
    pub backends: Backends,
}

pub struct IosSource {
    attached: Vec<Arc<IosDevice>>,
}

/// Whether an attached one answers, and if not, why.
struct Probed {
    availability: Availability,
    why: Option<String>,
}

impl IosSource {
    pub fn new(attached: Vec<Attached>) -> IosSource {
        let device = |attached: Attached| Arc::new(IosDevice::new(attached.id, attached.backends));
        IosSource { attached: attached.into_iter().map(device).collect() }
    }

    async fn list_attached(&self) -> Vec<Listed> {
        let probed = join_all(self.attached.iter().map(|device| probe(device))).await;
        let both = self.attached.iter().zip(probed);
        both.map(|(device, probed)| listed(device, probed.availability)).collect()
    }
}

async fn probe(device: &IosDevice) -> Probed {
    match tokio::time::timeout(ANSWER_WAIT, device.reach()).await {
        Ok(Ok(())) => Probed { availability: Availability::Ready, why: None },
        Ok(Err(error)) => {
            Probed { availability: Availability::Offline, why: Some(format!("{}: {error}", device.id())) }
        }
        Err(_) => {
            let why = format!("{}: no answer within {} s", device.id(), ANSWER_WAIT.as_secs());
            Probed { availability: Availability::Offline, why: Some(why) }
        }
    }
}

fn listed(device: &Arc<IosDevice>, availability: Availability) -> Listed {
    Listed {
        platform: Platform::Ios,
        id: device.id().to_owned(),
        availability,
        device: Arc::clone(device) as Arc<dyn Device>,
    }
}

impl DeviceSource for IosSource {
    fn platform(&self) -> Platform {
        Platform::Ios
    }

    fn list(&self) -> PortFuture<'_, Vec<Listed>> {
        Box::pin(async { Ok(self.list_attached().await) })
    }

    fn find<'a>(&'a self, id: &'a str) -> PortFuture<'a, Option<Listed>> {
        Box::pin(async move {
            let Some(device) = self.attached.iter().find(|device| device.id() == id) else { return Ok(None) };
            Ok(Some(listed(device, probe(device).await.availability)))
        })
    }

    fn health(&self) -> PortFuture<'_, SourceHealth> {
        Box::pin(async {
            let mut health = SourceHealth::default();
            for probed in join_all(self.attached.iter().map(|device| probe(device))).await {
                health.available |= probed.availability == Availability::Ready;
                health.issues.extend(probed.why);
            }
            Ok(health)
        })
    }
}
