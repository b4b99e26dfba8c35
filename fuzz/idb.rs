//! Messages of idb's companion, in both directions.

use mdm_wire::idb;
use prost::Message;

/// Reads bytes as one kind of message.
pub type Decoder = fn(&[u8]);

/// What we read of a companion, and what the virtual companion reads of a client.
pub const DECODERS: [Decoder; 24] = [
    check::<idb::AccessibilityActionResponse>,
    check::<idb::AccessibilityInfoResponse>,
    check::<idb::AccessibilityQuiescenceResponse>,
    check::<idb::ConnectResponse>,
    check::<idb::CrashLogResponse>,
    check::<idb::CrashShowResponse>,
    check::<idb::GetOrientationResponse>,
    check::<idb::GetSettingResponse>,
    check::<idb::InstallResponse>,
    check::<idb::LaunchResponse>,
    check::<idb::ListAppsResponse>,
    check::<idb::LogResponse>,
    check::<idb::LsResponse>,
    check::<idb::PullResponse>,
    check::<idb::ScreenshotResponse>,
    check::<idb::TargetDescriptionResponse>,
    check::<idb::AccessibilityActionRequest>,
    check::<idb::AccessibilityInfoRequest>,
    check::<idb::HidEvent>,
    check::<idb::InstallRequest>,
    check::<idb::LaunchRequest>,
    check::<idb::PermissionRequest>,
    check::<idb::SettingRequest>,
    check::<idb::CrashLogQuery>,
];

/// A decoded message is the same after it is encoded and decoded again. Bytes are compared: no number is its own equal.
fn check<M: Message + Default>(bytes: &[u8]) {
    let Ok(message) = M::decode(bytes) else { return };
    let encoded = message.encode_to_vec();
    let again = M::decode(&encoded[..]).expect("what was encoded can be decoded");
    assert_eq!(again.encode_to_vec(), encoded);
}
