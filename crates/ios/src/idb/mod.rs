//! A client of idb's companion, the program that reaches one simulator over gRPC.
//!
//! Architecture invariant: each method is one call and its answer. Nothing is repeated, nothing waits for a screen, and
//! no limit of time is set here: whoever drops a future ends its call.

mod apps;
mod call;
mod companions;
mod crashes;
pub mod events;
mod link;
mod log;
mod quiet;
mod start;
mod system;
mod target;
mod tree;

use std::sync::Arc;

pub use apps::{IdbApp, Launch};
pub use companions::{Companion, CompanionAddress, find_companions, parse_state};
pub use crashes::IdbCrash;
pub use log::{IdbLog, LeastLevel, LogStyle};
pub use mdm_wire::idb::{
    AppActivity, HidAction, HidButtonKind, HidEvent, HidOrientationKind, Permission, Point, ScrollDirection,
    SearchableKey,
};
pub use quiet::Quiescence;
pub use start::CompanionStarter;
pub use target::{IdbScreen, IdbTarget};
pub use tree::ElementTarget;

use crate::connect::Connector;
use link::Link;

/// One companion. Clones share its connection.
#[derive(Clone)]
pub struct Idb {
    link: Arc<Link>,
}

impl Idb {
    /// Connects with the first call, and again with the first call after the connection broke.
    pub fn new(connector: Connector) -> Idb {
        Idb { link: Arc::new(Link::new(connector)) }
    }

    /// Lets go of the connection. The next call makes a new one.
    pub async fn close(&self) {
        self.link.close().await;
    }
}

impl std::fmt::Debug for Idb {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Idb").finish_non_exhaustive()
    }
}
