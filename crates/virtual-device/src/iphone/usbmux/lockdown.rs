//! lockdownd: who the phone is, whom it trusts, and the start of every service.

use std::io;
use std::time::Duration;

use plist::{Dictionary, Value};
use tokio::time::Instant;
use tokio_rustls::TlsAcceptor;

use super::device::StartedService;
use super::pairing::{DEVICE_PUBLIC_KEY, Trusted, WIFI_ADDRESS};
use super::plists::{dictionary, read_dictionary, text, write};
use super::{Wire, services};
use crate::iphone::{IPhone, IPhoneConfig};

pub const PORT: u16 = 62_078;
const TYPE: &str = "com.apple.mobile.lockdown";

/// What comes after an answer.
enum Next {
    GoOn,
    /// TLS begins with this host.
    Secure(String),
    /// TLS ends.
    Plain,
    HangUp,
}

pub async fn serve(phone: &IPhone, mut stream: Box<dyn Wire>) -> io::Result<()> {
    loop {
        match converse(phone, &mut *stream, None).await? {
            Some(host) => {
                let trusted = phone.device(|device| device.trusted(&host));
                let trusted = trusted.ok_or_else(|| io::Error::other("nobody is trusted any more"))?;
                let mut secure = TlsAcceptor::from(trusted.tls()?).accept(stream).await?;
                converse(phone, &mut secure, Some(&host)).await?;
                stream = secure.into_inner().0;
            }
            None => return Ok(()),
        }
    }
}

/// Answers a host that is inside the tunnel, and so is trusted.
pub async fn serve_trusted(phone: &IPhone, stream: &mut (impl Wire + ?Sized)) -> io::Result<()> {
    converse(phone, stream, Some("")).await.map(drop)
}

/// The build of a version, as far as it is known which one it was.
pub fn build_version(config: &IPhoneConfig) -> &'static str {
    match config.version().0 {
        ..=16 => "20H19",
        17 => "21E219",
        18 => "22F76",
        26 => "23C55",
        _ => "24A5264n",
    }
}

/// Answers until the session begins or ends, or the host is done; returns the host whose session begins.
async fn converse(
    phone: &IPhone,
    stream: &mut (impl Wire + ?Sized),
    session: Option<&str>,
) -> io::Result<Option<String>> {
    loop {
        let request = read_dictionary(stream).await?;
        let (answer, next) = answer(phone, &request, session);
        write(stream, &answer).await?;
        match next {
            Next::GoOn => {}
            Next::Secure(host) => return Ok(Some(host)),
            Next::Plain | Next::HangUp => return Ok(None),
        }
    }
}

fn answer(phone: &IPhone, request: &Dictionary, session: Option<&str>) -> (Value, Next) {
    let verb = text(request, "Request").unwrap_or_default();
    let failed = |error: &str| (dictionary([("Request", verb.into()), ("Error", error.into())]), Next::GoOn);
    let done = || dictionary([("Request", verb.into())]);
    match verb {
        "QueryType" => (dictionary([("Request", verb.into()), ("Type", TYPE.into())]), Next::GoOn),
        "GetValue" => (get_value(phone, request), Next::GoOn),
        "SetValue" | "RemoveValue" => failed("SetProhibited"),
        "Pair" => match pair(phone, request) {
            Ok(()) => {
                let escrow = Value::Data(vec![0; 32]);
                (dictionary([("Request", verb.into()), ("EscrowBag", escrow)]), Next::GoOn)
            }
            Err(error) => failed(error),
        },
        "ValidatePair" => match known_host(phone, request) {
            Some(_) => (done(), Next::GoOn),
            None => failed("InvalidHostID"),
        },
        "Unpair" => {
            if let Some(host) = known_host(phone, request) {
                phone.device(|device| device.forget(&host));
            }
            (done(), Next::GoOn)
        }
        "StartSession" => {
            let host = text(request, "HostID").unwrap_or_default();
            if session.is_some() {
                return failed("SessionActive");
            }
            if phone.device(|device| device.trusted(host)).is_none() {
                return failed("InvalidHostID");
            }
            let started = dictionary([
                ("Request", verb.into()),
                ("EnableSessionSSL", true.into()),
                ("SessionID", "7A6B5C4D-3E2F-4A1B-8C9D-0E1F2A3B4C5D".into()),
            ]);
            (started, Next::Secure(host.to_owned()))
        }
        "StopSession" => match session {
            Some(_) => (done(), Next::Plain),
            None => failed("SessionInactive"),
        },
        "StartService" => match start_service(phone, request, session) {
            Ok(answer) => (answer, Next::GoOn),
            Err(error) => failed(error),
        },
        "Goodbye" => (dictionary([("Request", verb.into()), ("Result", "Success".into())]), Next::HangUp),
        _ => failed("UnknownRequest"),
    }
}

fn pair(phone: &IPhone, request: &Dictionary) -> Result<(), &'static str> {
    let faults = phone.config().iphone_faults;
    if faults.passcode_locked {
        return Err("PasswordProtected");
    }
    let pending = Duration::from_millis(faults.pairing_pending_ms);
    if phone.device(|device| device.asked_at.get_or_insert_with(Instant::now).elapsed()) < pending {
        return Err("PairingDialogResponsePending");
    }
    if faults.pairing_refused {
        return Err("UserDeniedPairing");
    }
    let record = request.get("PairRecord").and_then(Value::as_dictionary).ok_or("MissingPairRecord")?;
    let (host, trusted) = Trusted::of_record(record).ok_or("InvalidPairRecord")?;
    phone.device(|device| device.trust(&host, trusted));
    Ok(())
}

fn known_host(phone: &IPhone, request: &Dictionary) -> Option<String> {
    let record = request.get("PairRecord").and_then(Value::as_dictionary)?;
    let host = text(record, "HostID")?;
    phone.device(|device| device.trusted(host)).map(|_| host.to_owned())
}

fn start_service(phone: &IPhone, request: &Dictionary, session: Option<&str>) -> Result<Value, &'static str> {
    let host = session.ok_or("SessionInactive")?;
    let name = text(request, "Service").ok_or("MissingService")?;
    if phone.config().iphone_faults.passcode_locked {
        return Err("PasswordProtected");
    }
    if !services::is_offered(phone, name) {
        return Err("InvalidService");
    }
    let service = StartedService { name: name.to_owned(), host: host.to_owned() };
    let port = phone.device(|device| device.start_service(service)).ok_or("ServiceLimit")?;
    Ok(dictionary([
        ("Request", "StartService".into()),
        ("Service", name.into()),
        ("Port", u64::from(port).into()),
        ("EnableServiceSSL", true.into()),
    ]))
}

fn get_value(phone: &IPhone, request: &Dictionary) -> Value {
    let (domain, key) = (text(request, "Domain"), text(request, "Key"));
    let all = values(phone, domain);
    let value = match key {
        Some(key) => all.get(key).cloned(),
        None => Some(Value::Dictionary(all)),
    };
    let mut answer = Dictionary::new();
    answer.insert("Request".to_owned(), "GetValue".into());
    for (name, word) in [("Domain", domain), ("Key", key)] {
        if let Some(word) = word {
            answer.insert(name.to_owned(), word.into());
        }
    }
    match value {
        Some(value) => answer.insert("Value".to_owned(), value),
        None => answer.insert("Error".to_owned(), "MissingValue".into()),
    };
    Value::Dictionary(answer)
}

fn values(phone: &IPhone, domain: Option<&str>) -> Dictionary {
    let made = match domain {
        None => own_values(phone),
        Some("com.apple.mobile.battery") => dictionary([
            ("BatteryCurrentCapacity", 87_u64.into()),
            ("BatteryIsCharging", true.into()),
            ("ExternalConnected", true.into()),
            ("FullyCharged", false.into()),
        ]),
        Some("com.apple.disk_usage") => dictionary([
            ("TotalDiskCapacity", 127_989_493_760_u64.into()),
            ("TotalDataCapacity", 117_989_493_760_u64.into()),
            ("TotalDataAvailable", 84_000_000_000_u64.into()),
        ]),
        Some("com.apple.international") => {
            dictionary([("Language", "en".into()), ("Locale", "en_US".into()), ("Keyboard", "en_US".into())])
        }
        Some("com.apple.security.mac.amfi") => {
            let is_on = !phone.config().iphone_faults.developer_mode_off;
            dictionary([("DeveloperModeStatus", is_on.into())])
        }
        Some(_) => dictionary([]),
    };
    made.into_dictionary().unwrap_or_default()
}

fn own_values(phone: &IPhone) -> Value {
    let config = phone.config();
    let seconds = phone.phone().with(|state| state.clock.wall_ms(state.now)) as f64 / 1000.0;
    dictionary([
        ("ActivationState", "Activated".into()),
        ("BluetoothAddress", "a4:83:e7:12:34:57".into()),
        ("BuildVersion", build_version(config).into()),
        ("CPUArchitecture", "arm64e".into()),
        ("DeviceClass", "iPhone".into()),
        ("DeviceColor", "1".into()),
        ("DeviceName", config.name.as_str().into()),
        ("DevicePublicKey", Value::Data(DEVICE_PUBLIC_KEY.as_bytes().to_vec())),
        ("HardwareModel", "D83AP".into()),
        ("HostAttached", true.into()),
        ("ModelNumber", "MTUW3".into()),
        ("PasswordProtected", config.iphone_faults.passcode_locked.into()),
        ("ProductName", "iPhone OS".into()),
        ("ProductType", config.product_type.as_str().into()),
        ("ProductVersion", config.ios_version.as_str().into()),
        ("ProtocolVersion", "2".into()),
        ("RegionInfo", "ZD/A".into()),
        ("SerialNumber", "F2LXK0ABCDEF".into()),
        ("TelephonyCapability", true.into()),
        ("TimeIntervalSince1970", Value::Real(seconds)),
        ("TimeZone", "UTC".into()),
        ("TrustedHostAttached", true.into()),
        ("UniqueChipID", 7_654_321_098_765_432_u64.into()),
        ("UniqueDeviceID", config.udid.as_str().into()),
        ("Uses24HourClock", true.into()),
        ("WiFiAddress", WIFI_ADDRESS.into()),
    ])
}
