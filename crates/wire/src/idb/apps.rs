//! Apps: which there are, starting, ending, installing.

use super::Payload;

#[derive(Clone, PartialEq, Eq, prost::Message)]
pub struct ListAppsRequest {
    #[prost(bool, tag = "1")]
    pub suppress_process_state: bool,
}

#[derive(Clone, PartialEq, Eq, prost::Message)]
pub struct ListAppsResponse {
    #[prost(message, repeated, tag = "1")]
    pub apps: Vec<InstalledAppInfo>,
}

#[derive(Clone, PartialEq, Eq, prost::Message)]
pub struct InstalledAppInfo {
    #[prost(string, tag = "1")]
    pub bundle_id: String,
    #[prost(string, tag = "2")]
    pub name: String,
    #[prost(string, repeated, tag = "3")]
    pub architectures: Vec<String>,
    /// `system`, `user` and so on.
    #[prost(string, tag = "4")]
    pub install_type: String,
    #[prost(enumeration = "AppProcessState", tag = "5")]
    pub process_state: i32,
    #[prost(bool, tag = "6")]
    pub debuggable: bool,
    #[prost(uint64, tag = "7")]
    pub process_identifier: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub enum AppProcessState {
    Unknown = 0,
    NotRunning = 1,
    Running = 2,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct LaunchRequest {
    #[prost(oneof = "LaunchControl", tags = "1, 2")]
    pub control: Option<LaunchControl>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
pub enum LaunchControl {
    #[prost(message, tag = "1")]
    Start(LaunchStart),
    #[prost(message, tag = "2")]
    Stop(super::Empty),
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct LaunchStart {
    #[prost(string, tag = "1")]
    pub bundle_id: String,
    #[prost(btree_map = "string, string", tag = "2")]
    pub env: std::collections::BTreeMap<String, String>,
    #[prost(string, repeated, tag = "3")]
    pub app_args: Vec<String>,
    /// False: the companion refuses to launch what already runs.
    #[prost(bool, tag = "4")]
    pub foreground_if_running: bool,
    /// The call lasts, with the app's output, until it is stopped.
    #[prost(bool, tag = "5")]
    pub wait_for: bool,
    #[prost(bool, tag = "6")]
    pub wait_for_debugger: bool,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct LaunchResponse {
    #[prost(message, optional, tag = "3")]
    pub output: Option<ProcessOutput>,
    /// Also without a debugger: its pid is the app's.
    #[prost(message, optional, tag = "4")]
    pub debugger: Option<DebuggerInfo>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct ProcessOutput {
    #[prost(enumeration = "OutputInterface", tag = "1")]
    pub interface: i32,
    #[prost(bytes = "bytes", tag = "2")]
    pub data: bytes::Bytes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub enum OutputInterface {
    Stdout = 0,
    Stderr = 1,
}

#[derive(Clone, PartialEq, Eq, prost::Message)]
pub struct DebuggerInfo {
    #[prost(uint64, tag = "1")]
    pub pid: u64,
    #[prost(string, tag = "2")]
    pub host: String,
    #[prost(uint64, tag = "3")]
    pub port: u64,
}

/// The one field of `terminate` and `uninstall`.
#[derive(Clone, PartialEq, Eq, prost::Message)]
pub struct BundleRequest {
    #[prost(string, tag = "1")]
    pub bundle_id: String,
}

/// Sent several times: first the destination, then options, then the payload in pieces.
#[derive(Clone, PartialEq, prost::Message)]
pub struct InstallRequest {
    #[prost(oneof = "InstallPart", tags = "1, 2, 3, 4, 7, 8")]
    pub value: Option<InstallPart>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
pub enum InstallPart {
    #[prost(enumeration = "InstallDestination", tag = "1")]
    Destination(i32),
    #[prost(message, tag = "2")]
    Payload(Payload),
    #[prost(string, tag = "3")]
    NameHint(String),
    #[prost(bool, tag = "4")]
    MakeDebuggable(bool),
    #[prost(bool, tag = "7")]
    OverrideModificationTime(bool),
    #[prost(bool, tag = "8")]
    SkipSigningBundles(bool),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub enum InstallDestination {
    App = 0,
    Xctest = 1,
    Dylib = 2,
    Dsym = 3,
    Framework = 4,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct InstallResponse {
    /// The bundle id.
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(string, tag = "2")]
    pub uuid: String,
    /// From 0 to 1.
    #[prost(double, tag = "3")]
    pub progress: f64,
}
