//! The iPhones that were named or are embedded, and how each is reached.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mdm_ios::connect::{self, Connector, pipe};
use mdm_ios::device::Backends;
use mdm_ios::idb::{CompanionStarter, Idb};
use mdm_ios::real::RealDevices;
use mdm_ios::reports::ReportFolder;
use mdm_ios::route::Way;
use mdm_ios::simctl::Simctl;
use mdm_ios::source::{Attached, Simulators, SourceConfig};
use mdm_ios::wda::{Runners, Wda};

use super::{EmbeddedIPhone, IosDevices, Named, VIRTUAL_IOS_ID};

/// Where a Mac and Linux have the usbmuxd of the system.
const USUAL_USBMUXD: &str = mdm_ios::real::DEFAULT_ADDRESS;
/// Where idb notes its companions.
const COMPANIONS: &str = "/tmp/idb";

/// What to look for; nothing when no iPhone can be reached from here.
pub fn source(iphone: Option<EmbeddedIPhone>, wanted: &IosDevices) -> Option<SourceConfig> {
    let usbmuxd = wanted.usbmuxd.clone().or_else(|| {
        let is_there = wanted.usual_places && Path::new(USUAL_USBMUXD).exists();
        is_there.then(|| USUAL_USBMUXD.to_owned())
    });
    let finds_xcrun = wanted.xcrun.is_some() || (wanted.usual_places && cfg!(target_os = "macos"));
    let simctl = if finds_xcrun { Simctl::find(wanted.xcrun.clone()).ok() } else { None };
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let config = SourceConfig {
        attached: attached(iphone, &wanted.idb, &wanted.wda),
        simulators: simctl.map(|simctl| Simulators {
            simctl,
            companions: PathBuf::from(COMPANIONS),
            reports: home.as_deref().map(ReportFolder::of_home),
            starter: CompanionStarter::find(std::env::var_os("PATH").as_deref()).map(Arc::new),
        }),
        runners: Arc::new(Runners::new(wanted.wda_bundle.clone())),
        usbmuxd: usbmuxd.map(|address| (RealDevices::new(&address), address)),
    };
    let has_any = !config.attached.is_empty() || config.simulators.is_some() || config.usbmuxd.is_some();
    has_any.then_some(config)
}

/// Puts together what belongs to one phone: addresses with the same id are ways to the same one.
fn attached(iphone: Option<EmbeddedIPhone>, idb: &[Named], wda: &[Named]) -> Vec<Attached> {
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

/// Returns the ways to an iPhone in this process.
pub(super) fn embedded(iphone: &EmbeddedIPhone) -> Backends {
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
        usb: has(Way::Usb).then(|| {
            let phone = phone();
            let udid = phone.config().udid.clone();
            RealDevices::with(pipe(move || phone.connect_usbmuxd())).device(&udid)
        }),
        ..Backends::default()
    }
}
