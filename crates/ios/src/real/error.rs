//! What the library says, as errors of the port with what mends them.

use std::io;

use idevice::IdeviceError;
use idevice::core_device::CoreDeviceError;
use idevice::usbmuxd::errors::UsbmuxdError;
use mdm_core::port::{DeviceError, DeviceErrorKind, Dispatch};

/// Whether the command could change something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    Reads,
    Acts,
}

pub fn told(error: IdeviceError, udid: &str, effect: Effect) -> DeviceError {
    use DeviceErrorKind::{
        ConnectionLost, Gone, InvalidRequest, Protocol, Rejected, ServiceMissing, Unauthorized,
    };
    let (kind, detail) = match error {
        IdeviceError::DeviceNotFound | IdeviceError::Usbmuxd(UsbmuxdError::BadDevice) => {
            (Gone, format!("the iPhone {udid} is not connected (any more): plug it in"))
        }
        IdeviceError::Usbmuxd(UsbmuxdError::ConnectionRefused) => {
            (ServiceMissing, format!("nothing listens on this port of the iPhone {udid}"))
        }
        IdeviceError::InvalidHostID => (Unauthorized, untrusted(udid)),
        error if is_record_missing(&error) => (Unauthorized, untrusted(udid)),
        IdeviceError::UserDeniedPairing => {
            let detail = format!(
                "the owner of the iPhone {udid} refused to trust this computer: plug it in again and tap Trust"
            );
            (Unauthorized, detail)
        }
        IdeviceError::PairingDialogResponsePending => {
            (Unauthorized, format!("the iPhone {udid} asks whether to trust this computer: tap Trust on it"))
        }
        IdeviceError::PasswordProtected | IdeviceError::DeviceLocked => {
            (Unauthorized, format!("the iPhone {udid} is locked: unlock it with its passcode"))
        }
        IdeviceError::DeveloperModeNotEnabled => (Rejected, super::mode_is_off(udid)),
        // TLS says what it dislikes as bad data.
        IdeviceError::Socket(error) if error.kind() == io::ErrorKind::InvalidData => {
            (Unauthorized, broken_trust(udid, &error.to_string()))
        }
        IdeviceError::Rustls(error) => (Unauthorized, broken_trust(udid, &error.to_string())),
        IdeviceError::PemParseFailed(_) | IdeviceError::TlsBuilderFailed(_) => {
            (Unauthorized, broken_trust(udid, "its record cannot be read"))
        }
        IdeviceError::Socket(error) => {
            (ConnectionLost, format!("the connection to the iPhone {udid} broke: {error}"))
        }
        IdeviceError::UnknownErrorType(what) if what.starts_with("InvalidService") => {
            (ServiceMissing, format!("the iPhone {udid} does not offer this service"))
        }
        IdeviceError::ServiceNotFound => {
            (ServiceMissing, format!("the iPhone {udid} does not offer this service"))
        }
        IdeviceError::ApplicationVerificationFailed(why) => {
            (Rejected, format!("the app may not run on this iPhone; is it signed for it? {why:.300}"))
        }
        IdeviceError::InstallationProxy(error) => {
            (Rejected, format!("the iPhone did not install or remove the app: {error:.300}"))
        }
        IdeviceError::CoreDevice(CoreDeviceError::DeviceError(what)) => {
            (Rejected, format!("the iPhone said no: {what:.300}"))
        }
        // The words of the library for a stream that ended.
        IdeviceError::UnexpectedResponse(what) if what.contains("closed by peer") => {
            (ConnectionLost, format!("the iPhone {udid} closed the connection"))
        }
        IdeviceError::NotFound => (InvalidRequest, "the package has no app in it".to_owned()),
        IdeviceError::Afc(error) => (Rejected, format!("the iPhone refused a file: {error:.300}")),
        IdeviceError::UnknownErrorType(what) => (Rejected, format!("the iPhone said no: {what:.300}")),
        other => (Protocol, format!("the iPhone {udid} broke its protocol: {other:.300}")),
    };
    DeviceError::new(kind, detail).with_dispatch(dispatch(effect, kind))
}

/// True if usbmuxd has no record of the phone, in the words of the library.
pub fn is_record_missing(error: &IdeviceError) -> bool {
    matches!(error, IdeviceError::UnexpectedResponse(what) if what.contains("PairRecordData"))
}

fn dispatch(effect: Effect, kind: DeviceErrorKind) -> Dispatch {
    match (effect, kind) {
        (Effect::Reads, _) => Dispatch::NotSent,
        (Effect::Acts, DeviceErrorKind::ConnectionLost | DeviceErrorKind::Protocol) => Dispatch::Unknown,
        (Effect::Acts, DeviceErrorKind::Rejected) => Dispatch::Refused,
        // The way to the service was not there.
        (Effect::Acts, _) => Dispatch::NotSent,
    }
}

fn untrusted(udid: &str) -> String {
    format!("the iPhone {udid} does not trust this computer: unlock it, plug it in and tap Trust")
}

fn broken_trust(udid: &str, why: &str) -> String {
    format!(
        "the certificates of this computer and the iPhone {udid} do not fit ({why}): remove the pairing and trust the \
         computer again"
    )
}
