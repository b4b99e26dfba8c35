//! Messages of idb's companion, the program that reaches one simulator over gRPC.
//!
//! Only what we send, and what we read. Numbers of fields are those of idb 1.7.7; a companion of another age sends
//! fields that are skipped here, and leaves out others. Enumerations are open: an unknown number is kept as it is.

mod accessibility;
mod apps;
mod crash;
mod files;
mod hid;
mod system;
mod target;

pub use accessibility::*;
pub use apps::*;
pub use crash::*;
pub use files::*;
pub use hid::*;
pub use system::*;
pub use target::*;

/// The service that all methods belong to: a method's path is `/idb.CompanionService/describe`.
pub const SERVICE: &str = "idb.CompanionService";

/// An answer or a request without fields.
#[derive(Clone, Copy, PartialEq, Eq, prost::Message)]
pub struct Empty {}

#[derive(Clone, Copy, PartialEq, prost::Message)]
pub struct Point {
    #[prost(double, tag = "1")]
    pub x: f64,
    #[prost(double, tag = "2")]
    pub y: f64,
}

/// Bytes of a file on their way, or where to find them.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Payload {
    #[prost(oneof = "PayloadSource", tags = "1, 2, 3, 4")]
    pub source: Option<PayloadSource>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
pub enum PayloadSource {
    /// A path on the companion's machine.
    #[prost(string, tag = "1")]
    FilePath(String),
    #[prost(bytes = "bytes", tag = "2")]
    Data(bytes::Bytes),
    #[prost(string, tag = "3")]
    Url(String),
    #[prost(enumeration = "Compression", tag = "4")]
    Compression(i32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub enum Compression {
    Gzip = 0,
    Zstd = 1,
}

#[cfg(test)]
mod tests;
