//! Commands to a device that are no touch.

use std::path::PathBuf;

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
    /// Installs or replaces the app in this file of this machine.
    Install {
        file: PathBuf,
    },
    /// Opens a link as if it was tapped somewhere, in this app or in whichever takes it.
    OpenLink {
        link: String,
        app: Option<String>,
    },
}

impl AppCommand {
    /// The app that the command names.
    pub fn app(&self) -> Option<&str> {
        match self {
            AppCommand::Start { app } | AppCommand::Terminate { app } | AppCommand::ClearData { app } => {
                Some(app)
            }
            AppCommand::Install { .. } => None,
            AppCommand::OpenLink { app, .. } => app.as_deref(),
        }
    }
}

/// What the platform told about an app command.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AppReport {
    /// From the request to the first frame, as the platform measured it.
    pub launch_time_ms: Option<u64>,
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
