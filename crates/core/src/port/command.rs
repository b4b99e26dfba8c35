//! Commands to a device that are no touch.

use std::path::PathBuf;

use super::apps::AppVersion;
use super::setting::SettingReport;

/// What is done to an app.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AppCommand {
    Start {
        app: String,
    },
    Terminate {
        app: String,
    },
    ClearData {
        app: String,
    },
    /// Installs or replaces the app in these files of this machine: one file, or a base and its splits. `app` is the
    /// name in them, where it is known: what is installed afterwards is read back by it.
    Install {
        files: Vec<PathBuf>,
        app: Option<String>,
    },
    Uninstall {
        app: String,
    },
    /// Gives an app a permission, or takes it away.
    Permit {
        app: String,
        permission: String,
        granted: bool,
    },
    Open(OpenRequest),
}

/// Opens a link or a screen of an app as if it was tapped somewhere. One of `app` and `link` is there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OpenRequest {
    /// The app that takes it; without one whichever does.
    pub app: Option<String>,
    /// The app's own name for a screen that can be opened.
    pub activity: Option<String>,
    pub link: Option<String>,
    /// Values that are handed to the screen.
    pub extras: Vec<(String, Extra)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Extra {
    Text(String),
    Number(i64),
    Flag(bool),
}

impl AppCommand {
    /// The app that the command names.
    pub fn app(&self) -> Option<&str> {
        match self {
            AppCommand::Start { app }
            | AppCommand::Terminate { app }
            | AppCommand::ClearData { app }
            | AppCommand::Uninstall { app }
            | AppCommand::Permit { app, .. } => Some(app),
            AppCommand::Install { app, .. } => app.as_deref(),
            AppCommand::Open(open) => open.app.as_deref(),
        }
    }
}

/// What the platform told about a command to an app or a change of a setting.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AppReport {
    /// From the request to the first frame, as the platform measured it.
    pub launch_time_ms: Option<u64>,
    /// The version that is installed afterwards.
    pub installed: Option<AppVersion>,
    /// The app is not there any more.
    pub removed: bool,
    /// Whether the app has the permission afterwards.
    pub granted: Option<bool>,
    pub setting: Option<SettingReport>,
}

/// Copies between a file of this machine and one of the device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileCommand {
    Pull { remote: String, local: PathBuf },
    Push { local: PathBuf, remote: String },
}

/// How a dialog of the system is answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AlertAnswer {
    Accept,
    Dismiss,
    Button(String),
}

/// An action through accessibility on the element at `index` of the last capture.
#[derive(Debug, Clone, PartialEq)]
pub enum NativeAction {
    Activate { index: u32 },
    SetText { index: u32, text: String },
    SetValue { index: u32, value: f64 },
}
