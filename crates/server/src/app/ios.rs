//! The iPhones that were named or are embedded, and how each is reached.

use std::collections::BTreeMap;
use std::sync::Arc;

use mdm_ios::connect::{self, Connector, Transport};
use mdm_ios::device::Backends;
use mdm_ios::idb::Idb;
use mdm_ios::route::Way;
use mdm_ios::source::Attached;
use mdm_ios::wda::Wda;

use super::{EmbeddedIPhone, Named, VIRTUAL_IOS_ID};

/// Puts together what belongs to one phone: addresses with the same id are ways to the same one.
pub fn attached(iphone: Option<EmbeddedIPhone>, idb: &[Named], wda: &[Named]) -> Vec<Attached> {
    let mut found: BTreeMap<String, Backends> = BTreeMap::new();
    let id = |named: &Named| named.id.clone().unwrap_or_else(|| named.address.clone());
    for named in idb {
        found.entry(id(named)).or_default().idb = Some(Idb::new(companion(&named.address)));
    }
    for named in wda {
        let wda = Wda::new(connect::tcp(named.address.clone()), named.address.clone());
        found.entry(id(named)).or_default().wda = Some(wda);
    }
    let embedded =
        iphone.map(|iphone| Attached { id: VIRTUAL_IOS_ID.to_owned(), backends: embedded(&iphone) });
    let named = found.into_iter().map(|(id, backends)| Attached { id, backends });
    embedded.into_iter().chain(named).collect()
}

/// A path is a Unix socket, anything else `HOST:PORT`.
fn companion(address: &str) -> Connector {
    match address.contains('/') {
        true => connect::unix(address.into()),
        false => connect::tcp(address.to_owned()),
    }
}

fn embedded(iphone: &EmbeddedIPhone) -> Backends {
    let phone = || iphone.phone.clone();
    let has = |way: Way| iphone.ways.contains(&way);
    Backends {
        idb: has(Way::Idb).then(|| {
            let phone = phone();
            Idb::new(pipe(move || phone.connect_companion()))
        }),
        wda: has(Way::Wda).then(|| {
            let phone = phone();
            Wda::new(pipe(move || phone.connect_wda()), "127.0.0.1:8100".to_owned())
        }),
        simctl: None,
    }
}

/// Each connection is a pipe to the phone in this process.
fn pipe<S: Transport + 'static>(
    connect: impl Fn() -> std::io::Result<S> + Send + Sync + 'static,
) -> Connector {
    Arc::new(move || {
        let connected = connect();
        Box::pin(async move { Ok(Box::new(connected?) as Box<dyn Transport>) })
    })
}
