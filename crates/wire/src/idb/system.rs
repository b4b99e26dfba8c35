//! Permissions, the place, links, notifications and settings.

#[derive(Clone, PartialEq, Eq, prost::Message)]
pub struct OpenUrlRequest {
    #[prost(string, tag = "1")]
    pub url: String,
}

/// The fields of `approve` and of `revoke`.
#[derive(Clone, PartialEq, Eq, prost::Message)]
pub struct PermissionRequest {
    #[prost(string, tag = "1")]
    pub bundle_id: String,
    #[prost(enumeration = "Permission", repeated, tag = "2")]
    pub permissions: Vec<i32>,
    /// Of links, with [`Permission::Url`].
    #[prost(string, tag = "3")]
    pub scheme: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub enum Permission {
    Photos = 0,
    Camera = 1,
    Contacts = 2,
    Url = 3,
    Location = 4,
    Notification = 5,
    Microphone = 6,
}

#[derive(Clone, Copy, PartialEq, prost::Message)]
pub struct SetLocationRequest {
    #[prost(message, optional, tag = "1")]
    pub location: Option<Location>,
}

#[derive(Clone, Copy, PartialEq, prost::Message)]
pub struct Location {
    #[prost(double, tag = "1")]
    pub latitude: f64,
    #[prost(double, tag = "2")]
    pub longitude: f64,
}

#[derive(Clone, PartialEq, Eq, prost::Message)]
pub struct SendNotificationRequest {
    #[prost(string, tag = "1")]
    pub bundle_id: String,
    #[prost(string, tag = "2")]
    pub json_payload: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct SettingRequest {
    #[prost(oneof = "SettingChange", tags = "1, 2")]
    pub setting: Option<SettingChange>,
}

#[derive(Clone, PartialEq, Eq, prost::Oneof)]
pub enum SettingChange {
    #[prost(message, tag = "1")]
    HardwareKeyboard(HardwareKeyboard),
    #[prost(message, tag = "2")]
    Text(StringSetting),
}

#[derive(Clone, Copy, PartialEq, Eq, prost::Message)]
pub struct HardwareKeyboard {
    #[prost(bool, tag = "1")]
    pub enabled: bool,
}

#[derive(Clone, PartialEq, Eq, prost::Message)]
pub struct StringSetting {
    #[prost(enumeration = "SettingKind", tag = "1")]
    pub setting: i32,
    #[prost(string, tag = "2")]
    pub value: String,
    #[prost(string, tag = "3")]
    pub name: String,
    #[prost(string, tag = "4")]
    pub domain: String,
    #[prost(string, tag = "5")]
    pub value_type: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub enum SettingKind {
    Locale = 0,
    Any = 1,
}

#[derive(Clone, PartialEq, Eq, prost::Message)]
pub struct GetSettingRequest {
    #[prost(enumeration = "SettingKind", tag = "1")]
    pub setting: i32,
    #[prost(string, tag = "2")]
    pub name: String,
    #[prost(string, tag = "3")]
    pub domain: String,
}

#[derive(Clone, PartialEq, Eq, prost::Message)]
pub struct GetSettingResponse {
    #[prost(string, tag = "1")]
    pub value: String,
}

#[derive(Clone, PartialEq, Eq, prost::Message)]
pub struct ListSettingRequest {
    #[prost(enumeration = "SettingKind", tag = "1")]
    pub setting: i32,
}

#[derive(Clone, PartialEq, Eq, prost::Message)]
pub struct ListSettingResponse {
    #[prost(string, repeated, tag = "1")]
    pub values: Vec<String>,
}
