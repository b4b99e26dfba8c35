//! Starting, stopping and resetting apps.

use std::time::Duration;

use mdm_core::action::request::Action;
use mdm_core::port::{AppCommand, AppReport};
use mdm_core::screen::snapshot::Screen;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::action::{AfterArg, NamedFacts, perform};
use super::{Call, Effect, Hints, Tool};
use crate::answer::Answer;
use crate::args::DeviceArg;
use crate::refusal::Refusal;

/// Cold starts of large apps on old phones take this long.
const LAUNCH_TIMEOUT: Duration = Duration::from_secs(120);
const COMMAND_TIMEOUT: Duration = Duration::from_secs(100);

#[derive(Deserialize, JsonSchema)]
pub struct AppParams {
    app_id: String,
    #[serde(flatten)]
    after: AfterArg,
    #[serde(flatten)]
    device: DeviceArg,
}

async fn command(call: &Call<'_>, params: AppParams, action: Action) -> Result<Answer, Refusal> {
    let wanted = params.device.wanted_with(&params.app_id);
    let act = params.after.act(action, false)?;
    perform(call, &wanted, act, Some(NamedFacts::App { app_id: params.app_id })).await
}

/// What only app commands say, in the predecessor's words.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum AppFacts {
    Launched {
        details: LaunchDetails,
    },
    Terminated {
        #[serde(rename = "appTerminated")]
        app_terminated: bool,
    },
    Cleared {
        #[serde(rename = "dataCleared")]
        data_cleared: bool,
    },
    Installed {
        installed: bool,
        #[serde(rename = "versionName", skip_serializing_if = "Option::is_none")]
        version_name: Option<String>,
        #[serde(rename = "versionCode", skip_serializing_if = "Option::is_none")]
        version_code: Option<u64>,
    },
    Permitted {
        permission: String,
        granted: bool,
    },
    Nothing {},
}

#[derive(Debug, Serialize)]
pub struct LaunchDetails {
    #[serde(skip_serializing_if = "Option::is_none")]
    launch_time_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    observed_app: Option<ObservedApp>,
}

/// What was in front after the launch.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ObservedApp {
    package: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    activity: Option<String>,
    screen: String,
    matched_target: bool,
}

impl AppFacts {
    pub fn new(action: &Action, report: &AppReport, screen: Option<&Screen>) -> AppFacts {
        let wanted = match action {
            Action::App(AppCommand::Start { app }) | Action::Restart { app } => app.as_str(),
            Action::App(AppCommand::Terminate { .. }) => {
                return AppFacts::Terminated { app_terminated: true };
            }
            Action::App(AppCommand::Install { .. }) => {
                let version = report.installed.clone().unwrap_or_default();
                return AppFacts::Installed {
                    installed: true,
                    version_name: version.name,
                    version_code: version.code,
                };
            }
            Action::App(AppCommand::Uninstall { .. }) => {
                return AppFacts::Installed { installed: false, version_name: None, version_code: None };
            }
            Action::App(AppCommand::Permit { permission, .. }) => {
                let granted = report.granted.unwrap_or_default();
                return AppFacts::Permitted { permission: permission.clone(), granted };
            }
            Action::App(AppCommand::Open(open)) => {
                open.app.as_deref().or(screen.map(|screen| screen.app.as_str())).unwrap_or_default()
            }
            Action::App(AppCommand::ClearData { .. }) => return AppFacts::Cleared { data_cleared: true },
            _ => return AppFacts::Nothing {},
        };
        let observed_app = screen.map(|screen| ObservedApp {
            package: screen.app.clone(),
            activity: screen.name.clone(),
            screen: screen.short_name().to_owned(),
            matched_target: screen.app == wanted,
        });
        AppFacts::Launched { details: LaunchDetails { launch_time_ms: report.launch_time_ms, observed_app } }
    }
}

pub struct StartApp;

impl Tool for StartApp {
    type Params = AppParams;
    const NAME: &'static str = "start_app";
    const DESCRIPTION: &'static str = "Bring an app to the front, starting it if needed.";
    const EFFECT: Effect = Effect::Acts;
    const HINTS: Hints = Hints::ONLY_ADDS;
    const TIMEOUT: Duration = LAUNCH_TIMEOUT;

    async fn run(call: &Call<'_>, params: AppParams) -> Result<Answer, Refusal> {
        let start = Action::App(AppCommand::Start { app: params.app_id.clone() });
        command(call, params, start).await
    }
}

pub struct RestartApp;

impl Tool for RestartApp {
    type Params = AppParams;
    const NAME: &'static str = "restart_app";
    const DESCRIPTION: &'static str = "Stop an app and start it again. Its data stays.";
    const EFFECT: Effect = Effect::Acts;
    const TIMEOUT: Duration = LAUNCH_TIMEOUT;

    async fn run(call: &Call<'_>, params: AppParams) -> Result<Answer, Refusal> {
        let restart = Action::Restart { app: params.app_id.clone() };
        command(call, params, restart).await
    }
}

pub struct TerminateApp;

impl Tool for TerminateApp {
    type Params = AppParams;
    const NAME: &'static str = "terminate_app";
    const DESCRIPTION: &'static str = "Stop all processes of an app.";
    const EFFECT: Effect = Effect::Acts;
    const TIMEOUT: Duration = COMMAND_TIMEOUT;

    async fn run(call: &Call<'_>, params: AppParams) -> Result<Answer, Refusal> {
        let stop = Action::App(AppCommand::Terminate { app: params.app_id.clone() });
        command(call, params, stop).await
    }
}

pub struct ResetAppData;

impl Tool for ResetAppData {
    type Params = AppParams;
    const NAME: &'static str = "reset_app_data";
    const DESCRIPTION: &'static str =
        "Stop an app and delete everything it has stored, as after a fresh install.";
    const EFFECT: Effect = Effect::Destroys;
    const TIMEOUT: Duration = COMMAND_TIMEOUT;

    async fn run(call: &Call<'_>, params: AppParams) -> Result<Answer, Refusal> {
        let clear = Action::App(AppCommand::ClearData { app: params.app_id.clone() });
        command(call, params, clear).await
    }
}
