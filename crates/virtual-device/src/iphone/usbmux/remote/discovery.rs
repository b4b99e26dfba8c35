//! Remote service discovery: who the phone is, and the ports of its services.
//!
//! The names, entitlements and properties are those that an iPhone of iOS 18 with its developer image told in public.

use std::io;

use super::DISCOVERY_PORT;
use super::connection::Connection;
use super::xpc::Xpc;
use crate::iphone::IPhone;
use crate::iphone::config::DeveloperImage;
use crate::iphone::usbmux::Wire;
use crate::iphone::usbmux::lockdown;

const FIRST_PORT: u16 = 49_600;
const TRUSTED: &str = "com.apple.mobile.lockdown.remote.trusted";
const PROTOCOL_VERSION: u64 = 5;
const VERSION_FLAGS: u64 = 0x0100_0000_0000_0006;
const UUID: [u8; 16] = *b"\x3f\x7b\x38\xf5\xdd\xaa\x43\xa4\xb1\x68\x24\x29\x40\x62\x10\xa3";

/// Services of lockdownd, which are here under their names with `.shim.remote`.
const SHIMS: [&str; 40] = [
    "com.apple.GPUTools.MobileService",
    "com.apple.PurpleReverseProxy.Conn",
    "com.apple.PurpleReverseProxy.Ctrl",
    "com.apple.accessibility.axAuditDaemon.remoteserver",
    "com.apple.afc",
    "com.apple.amfi.lockdown",
    "com.apple.atc",
    "com.apple.atc2",
    "com.apple.backgroundassets.lockdownservice",
    "com.apple.bluetooth.BTPacketLogger",
    "com.apple.carkit.service",
    "com.apple.commcenter.mobile-helper-cbupdateservice",
    "com.apple.companion_proxy",
    "com.apple.crashreportcopymobile",
    "com.apple.crashreportmover",
    "com.apple.dt.remotepairingdeviced.lockdown",
    "com.apple.idamd",
    "com.apple.internal.devicecompute.CoreDeviceProxy",
    "com.apple.iosdiagnostics.relay",
    "com.apple.misagent",
    "com.apple.mobile.MCInstall",
    "com.apple.mobile.assertion_agent",
    "com.apple.mobile.diagnostics_relay",
    "com.apple.mobile.file_relay",
    "com.apple.mobile.heartbeat",
    "com.apple.mobile.house_arrest",
    "com.apple.mobile.installation_proxy",
    "com.apple.mobile.mobile_image_mounter",
    "com.apple.mobile.notification_proxy",
    "com.apple.mobileactivationd",
    "com.apple.mobilebackup2",
    "com.apple.mobilesync",
    "com.apple.os_trace_relay",
    "com.apple.pcapd",
    "com.apple.preboardservice",
    "com.apple.preboardservice_v2",
    "com.apple.springboardservices",
    "com.apple.streaming_zip_conduit",
    "com.apple.syslog_relay",
    "com.apple.webinspector",
];

const APP_FEATURES: [&str; 14] = [
    "com.apple.coredevice.feature.launchapplication",
    "com.apple.coredevice.feature.spawnexecutable",
    "com.apple.coredevice.feature.monitorprocesstermination",
    "com.apple.coredevice.feature.installapp",
    "com.apple.coredevice.feature.uninstallapp",
    "com.apple.coredevice.feature.listroots",
    "com.apple.coredevice.feature.installroot",
    "com.apple.coredevice.feature.uninstallroot",
    "com.apple.coredevice.feature.sendsignaltoprocess",
    "com.apple.coredevice.feature.sendmemorywarningtoprocess",
    "com.apple.coredevice.feature.listprocesses",
    "com.apple.coredevice.feature.rebootdevice",
    "com.apple.coredevice.feature.listapps",
    "com.apple.coredevice.feature.fetchappicons",
];

/// From where a service comes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum From {
    System,
    /// Any developer image.
    Image,
    /// The developer image of Xcode 27, on iOS 27.
    NewImage,
}

/// A service that is no shim.
struct Entry {
    name: &'static str,
    entitlement: &'static str,
    from: From,
    uses_xpc: Option<bool>,
    version: Option<i64>,
    features: Option<&'static [&'static str]>,
}

const fn plain(name: &'static str, entitlement: &'static str, uses_xpc: bool, version: i64) -> Entry {
    let version = if version == 0 { None } else { Some(version) };
    Entry { name, entitlement, from: From::System, uses_xpc: Some(uses_xpc), version, features: None }
}

const fn image(
    name: &'static str,
    entitlement: &'static str,
    from: From,
    features: &'static [&'static str],
) -> Entry {
    Entry { name, entitlement, from, uses_xpc: Some(true), version: Some(1), features: Some(features) }
}

const ENTRIES: [Entry; 25] = [
    plain("com.apple.carkit.remote-iap.service", "AppleInternal", true, 0),
    plain("com.apple.corecaptured.remoteservice", "com.apple.corecaptured.remoteservice-access", true, 0),
    plain(
        "com.apple.dt.ViewHierarchyAgent.remote",
        "com.apple.private.dt.ViewHierarchyAgent.client",
        true,
        0,
    ),
    plain("com.apple.fusion.remote.service", "com.apple.fusion.remote.service", true, 1),
    plain("com.apple.internal.devicecompute.CoreDeviceProxy", "AppleInternal", false, 1),
    plain(
        "com.apple.internal.dt.coredevice.untrusted.tunnelservice",
        "com.apple.dt.coredevice.tunnelservice.client",
        true,
        2,
    ),
    plain(
        "com.apple.mobile.insecure_notification_proxy.remote",
        "com.apple.mobile.insecure_notification_proxy.remote",
        true,
        1,
    ),
    plain(
        "com.apple.mobile.insecure_notification_proxy.shim.remote",
        "com.apple.mobile.lockdown.remote.untrusted",
        false,
        0,
    ),
    plain(TRUSTED, TRUSTED, false, 1),
    plain(
        "com.apple.mobile.lockdown.remote.untrusted",
        "com.apple.mobile.lockdown.remote.untrusted",
        false,
        1,
    ),
    plain(
        "com.apple.mobile.notification_proxy.remote",
        "com.apple.mobile.notification_proxy.remote",
        true,
        1,
    ),
    plain("com.apple.osanalytics.logTransfer", "com.apple.ReportCrash.antenna-access", true, 0),
    plain(
        "com.apple.remote.installcoordination_proxy",
        "com.apple.private.InstallCoordinationRemote",
        true,
        1,
    ),
    plain("com.apple.sysdiagnose.remote", "com.apple.private.sysdiagnose.remote", true, 0),
    image(
        "com.apple.coredevice.appservice",
        "com.apple.private.CoreDevice.canInstallCustomerContent",
        From::Image,
        &APP_FEATURES,
    ),
    image(
        "com.apple.coredevice.deviceinfo",
        "com.apple.private.CoreDevice.canRetrieveDeviceInfo",
        From::Image,
        &[
            "com.apple.coredevice.feature.getdisplayinfo",
            "com.apple.coredevice.feature.getdeviceinfo",
            "com.apple.coredevice.feature.querymobilegestalt",
            "com.apple.coredevice.feature.getlockstate",
        ],
    ),
    image(
        "com.apple.coredevice.diagnosticsservice",
        "com.apple.private.CoreDevice.canObtainDiagnostics",
        From::Image,
        &["com.apple.coredevice.feature.capturesysdiagnose"],
    ),
    image(
        "com.apple.coredevice.openstdiosocket",
        "com.apple.private.CoreDevice.canInstallCustomerContent",
        From::Image,
        &[],
    ),
    Entry {
        name: "com.apple.instruments.dtservicehub",
        entitlement: "com.apple.private.dt.instruments.dtservicehub.client",
        from: From::Image,
        uses_xpc: None,
        version: None,
        features: Some(&["com.apple.dt.profile"]),
    },
    Entry {
        name: "com.apple.dt.testmanagerd.remote",
        entitlement: "com.apple.private.dt.testmanagerd.client",
        from: From::Image,
        uses_xpc: Some(false),
        version: None,
        features: None,
    },
    image(
        "com.apple.internal.dt.remote.debugproxy",
        "com.apple.private.CoreDevice.canDebugApplicationsOnDevice",
        From::Image,
        &["com.apple.coredevice.feature.debugserverproxy"],
    ),
    image(
        "com.apple.coredevice.screencaptureservice",
        "com.apple.private.CoreDevice.canCaptureScreen",
        From::NewImage,
        &["com.apple.coredevice.feature.capturescreenshot"],
    ),
    image(
        "com.apple.coredevice.displayservice",
        "com.apple.private.CoreDevice.canStreamDisplay",
        From::NewImage,
        &[
            "com.apple.coredevice.feature.getmediasupportinfo",
            "com.apple.coredevice.feature.getmediastreamserverstatus",
            "com.apple.coredevice.feature.startmediastream",
            "com.apple.coredevice.feature.stopmediastream",
        ],
    ),
    image(
        "com.apple.coredevice.hid.indigo",
        "com.apple.private.CoreDevice.canSendHIDEvents",
        From::NewImage,
        &["com.apple.coredevice.feature.remote.hid.button"],
    ),
    image(
        "com.apple.coredevice.hid.universalhidservice",
        "com.apple.private.CoreDevice.canSendHIDEvents",
        From::NewImage,
        &["com.apple.coredevice.feature.remote.universalhidservice"],
    ),
];

/// A service that this phone has now.
pub struct Service {
    pub name: String,
    pub port: u16,
    described: Xpc,
}

/// Lists what the phone offers in its present state. A service keeps its port.
pub fn services(phone: &IPhone) -> Vec<Service> {
    let config = phone.config();
    let is_there = |from: From| match from {
        From::System => true,
        From::Image => config.has_developer_services(),
        From::NewImage => {
            let is_new = config.developer_image == DeveloperImage::New && config.version() >= (27, 0);
            is_new && config.has_developer_services()
        }
    };
    let shims = SHIMS.iter().map(|name| {
        let properties = Xpc::dictionary([("UsesRemoteXPC", Xpc::Bool(false))]);
        (format!("{name}.shim.remote"), TRUSTED, From::System, properties)
    });
    let entries = ENTRIES
        .iter()
        .map(|entry| (entry.name.to_owned(), entry.entitlement, entry.from, entry.properties()));
    let numbered = shims.chain(entries).zip(FIRST_PORT..);
    let present = numbered.filter(|((_, _, from, _), _)| is_there(*from));
    let service = |((name, entitlement, _, properties), port): ((String, &str, From, Xpc), u16)| Service {
        name,
        port,
        described: Xpc::dictionary([
            ("Entitlement", Xpc::text(entitlement)),
            ("Port", Xpc::Text(port.to_string())),
            ("Properties", properties),
        ]),
    };
    present.map(service).collect()
}

impl Entry {
    fn properties(&self) -> Xpc {
        let mut pairs = Vec::new();
        if let Some(features) = self.features {
            let features = features.iter().map(|feature| Xpc::text(feature)).collect();
            pairs.push(("Features".to_owned(), Xpc::Array(features)));
        }
        pairs.extend(self.version.map(|version| ("ServiceVersion".to_owned(), Xpc::Int(version))));
        pairs.extend(self.uses_xpc.map(|uses| ("UsesRemoteXPC".to_owned(), Xpc::Bool(uses))));
        Xpc::Dictionary(pairs)
    }
}

/// Tells everything once, and listens for as long as the client stays.
pub async fn serve<S: Wire>(phone: &IPhone, stream: S) -> io::Result<()> {
    const { assert!(DISCOVERY_PORT > FIRST_PORT, "discovery has a port of its own") };
    let mut connection = Connection::accept(stream).await?;
    let listed = services(phone).into_iter().map(|service| (service.name, service.described)).collect();
    let told = Xpc::dictionary([
        ("MessageType", Xpc::text("Handshake")),
        ("MessagingProtocolVersion", Xpc::Uint(PROTOCOL_VERSION)),
        ("Properties", properties(phone)),
        ("Services", Xpc::Dictionary(listed)),
        ("UUID", Xpc::Uuid(UUID)),
    ]);
    connection.tell(told).await?;
    loop {
        connection.next().await?;
    }
}

fn properties(phone: &IPhone) -> Xpc {
    let config = phone.config();
    let version = || Xpc::text(&config.ios_version);
    let build = || Xpc::text(lockdown::build_version(config));
    let product = || Xpc::text(&config.product_type);
    Xpc::dictionary([
        ("AppleInternal", Xpc::Bool(false)),
        ("BuildVersion", build()),
        ("CPUArchitecture", Xpc::text("arm64e")),
        ("ChipID", Xpc::Uint(33_072)),
        ("DeviceClass", Xpc::text("iPhone")),
        ("DeviceColor", Xpc::text("1")),
        ("DeviceSupportsLockdown", Xpc::Bool(true)),
        ("HWModel", Xpc::text("D83AP")),
        ("HumanReadableProductVersionString", version()),
        ("IsVirtualDevice", Xpc::Bool(false)),
        ("ModelNumber", Xpc::text("MTUW3")),
        ("OSInstallEnvironment", Xpc::Bool(false)),
        ("OSVersion", version()),
        ("ProductName", Xpc::text("iPhone OS")),
        ("ProductType", product()),
        ("RegionInfo", Xpc::text("ZD/A")),
        ("RemoteXPCVersionFlags", Xpc::Uint(VERSION_FLAGS)),
        ("SensitivePropertiesVisible", Xpc::Bool(true)),
        ("SerialNumber", Xpc::text("F2LXK0ABCDEF")),
        ("SupplementalBuildVersion", build()),
        ("ThinningProductType", product()),
        ("UniqueChipID", Xpc::Uint(7_654_321_098_765_432)),
        ("UniqueDeviceID", Xpc::text(&config.udid)),
    ])
}
