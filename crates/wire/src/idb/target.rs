//! What is reached, its screen, and pictures of it.

use super::Compression;

#[derive(Clone, PartialEq, prost::Message)]
pub struct ConnectRequest {
    #[prost(btree_map = "string, string", tag = "1")]
    pub metadata: std::collections::BTreeMap<String, String>,
    /// A file that exists on the client's machine; a companion that sees it too is local.
    #[prost(string, tag = "4")]
    pub local_file_path: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct ConnectResponse {
    #[prost(message, optional, tag = "1")]
    pub companion: Option<CompanionInfo>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct CompanionInfo {
    #[prost(string, tag = "1")]
    pub udid: String,
    #[prost(bool, tag = "4")]
    pub is_local: bool,
    /// A JSON object.
    #[prost(bytes = "bytes", tag = "6")]
    pub metadata: bytes::Bytes,
    #[prost(enumeration = "Compression", repeated, tag = "7")]
    pub supported_compressions: Vec<i32>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct TargetDescriptionRequest {
    #[prost(bool, tag = "1")]
    pub fetch_diagnostics: bool,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct TargetDescriptionResponse {
    #[prost(message, optional, tag = "1")]
    pub target_description: Option<TargetDescription>,
    #[prost(message, optional, tag = "2")]
    pub companion: Option<CompanionInfo>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct TargetDescription {
    #[prost(string, tag = "1")]
    pub udid: String,
    #[prost(string, tag = "2")]
    pub name: String,
    #[prost(message, optional, tag = "3")]
    pub screen_dimensions: Option<ScreenDimensions>,
    /// `Booted`, `Shutdown` and so on.
    #[prost(string, tag = "4")]
    pub state: String,
    /// `simulator`, `device` or `mac`.
    #[prost(string, tag = "5")]
    pub target_type: String,
    /// Such as `iOS 18.5`.
    #[prost(string, tag = "6")]
    pub os_version: String,
    #[prost(string, tag = "7")]
    pub architecture: String,
    /// A JSON object.
    #[prost(bytes = "bytes", tag = "9")]
    pub extended: bytes::Bytes,
    #[prost(bytes = "bytes", tag = "10")]
    pub diagnostics: bytes::Bytes,
}

/// Pixels of the upright screen, and points where the companion tells them.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub struct ScreenDimensions {
    #[prost(uint64, tag = "1")]
    pub width: u64,
    #[prost(uint64, tag = "2")]
    pub height: u64,
    /// Pixels a point.
    #[prost(double, tag = "3")]
    pub density: f64,
    #[prost(uint64, tag = "4")]
    pub width_points: u64,
    #[prost(uint64, tag = "5")]
    pub height_points: u64,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct ScreenshotRequest {
    #[prost(enumeration = "PictureFormat", tag = "1")]
    pub format: i32,
    #[prost(double, tag = "2")]
    pub compression_quality: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub enum PictureFormat {
    Png = 0,
    Jpeg = 1,
    Tiff = 2,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct ScreenshotResponse {
    #[prost(bytes = "bytes", tag = "1")]
    pub image_data: bytes::Bytes,
    #[prost(string, tag = "2")]
    pub image_format: String,
    #[prost(message, optional, tag = "3")]
    pub destination: Option<PictureSize>,
    #[prost(message, optional, tag = "4")]
    pub source: Option<PictureSize>,
    /// Pixels a point.
    #[prost(double, tag = "5")]
    pub screen_scale: f64,
}

#[derive(Clone, Copy, PartialEq, Eq, prost::Message)]
pub struct PictureSize {
    #[prost(uint32, tag = "1")]
    pub width: u32,
    #[prost(uint32, tag = "2")]
    pub height: u32,
}
