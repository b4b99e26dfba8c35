//! The log and reports of crashes.

#[derive(Clone, PartialEq, Eq, prost::Message)]
pub struct LogRequest {
    /// Arguments of `log stream`.
    #[prost(string, repeated, tag = "1")]
    pub arguments: Vec<String>,
    #[prost(enumeration = "LogSource", tag = "2")]
    pub source: i32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub enum LogSource {
    Target = 0,
    Companion = 1,
}

#[derive(Clone, PartialEq, Eq, prost::Message)]
pub struct LogResponse {
    /// Any piece of the output: lines are not kept together.
    #[prost(bytes = "bytes", tag = "1")]
    pub output: bytes::Bytes,
}

/// An empty field restricts nothing.
#[derive(Clone, PartialEq, Eq, prost::Message)]
pub struct CrashLogQuery {
    /// Seconds since 1970.
    #[prost(uint64, tag = "1")]
    pub since: u64,
    #[prost(uint64, tag = "2")]
    pub before: u64,
    #[prost(string, tag = "3")]
    pub bundle_id: String,
    #[prost(string, tag = "4")]
    pub name: String,
}

#[derive(Clone, PartialEq, Eq, prost::Message)]
pub struct CrashLogResponse {
    #[prost(message, repeated, tag = "1")]
    pub list: Vec<CrashLogInfo>,
}

#[derive(Clone, PartialEq, Eq, prost::Message)]
pub struct CrashLogInfo {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(string, tag = "2")]
    pub bundle_id: String,
    #[prost(string, tag = "3")]
    pub process_name: String,
    #[prost(string, tag = "4")]
    pub parent_process_name: String,
    #[prost(uint64, tag = "5")]
    pub process_identifier: u64,
    #[prost(uint64, tag = "6")]
    pub parent_process_identifier: u64,
    /// Seconds since 1970.
    #[prost(uint64, tag = "7")]
    pub timestamp: u64,
}

#[derive(Clone, PartialEq, Eq, prost::Message)]
pub struct CrashShowRequest {
    #[prost(string, tag = "1")]
    pub name: String,
}

#[derive(Clone, PartialEq, Eq, prost::Message)]
pub struct CrashShowResponse {
    #[prost(message, optional, tag = "1")]
    pub info: Option<CrashLogInfo>,
    #[prost(string, tag = "2")]
    pub contents: String,
}
