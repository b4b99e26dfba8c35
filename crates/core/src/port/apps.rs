//! The apps of a device.

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AppVersion {
    pub code: Option<u64>,
    /// The version for people.
    pub name: Option<String>,
}

/// One installed app.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstalledApp {
    pub id: String,
    pub version_code: Option<u64>,
}

/// What a device tells of one app.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AppDetails {
    pub version: AppVersion,
    /// Its processes; empty when it does not run.
    pub pids: Vec<u32>,
    pub min_sdk: Option<u32>,
    pub target_sdk: Option<u32>,
    pub is_debuggable: bool,
    pub is_system: bool,
    /// In the device's own words.
    pub first_installed: Option<String>,
    pub last_updated: Option<String>,
    /// Permissions that are asked for while the app runs, and whether it has them.
    pub permissions: Vec<(String, bool)>,
}
