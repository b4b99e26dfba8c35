//! Starting, stopping and resetting apps.

use std::time::Duration;

use mdm_core::device::{AppAction, AppReport};
use mdm_core::error::Failure;
use mdm_engine::{Progress, Session, Wanted};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::input::{ActionFacts, Target};
use super::{Effect, Tool};
use crate::answer::Answer;
use crate::app::App;
use crate::args::{PlatformArg, wanted};

/// Cold starts of large apps on old phones take this long.
const LAUNCH_TIMEOUT: Duration = Duration::from_secs(45);
const COMMAND_TIMEOUT: Duration = Duration::from_secs(20);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct AppParams {
    /// Package name, like com.example.app.
    app_id: String,
    platform: Option<PlatformArg>,
    device_id: Option<String>,
}

impl AppParams {
    fn wanted(&self) -> Wanted {
        Wanted { app: Some(self.app_id.clone()), ..wanted(self.platform, self.device_id.clone()) }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AppSelector<'a> {
    app_id: &'a str,
}

#[derive(Serialize)]
struct LaunchDetails<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    launch_time_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    observed_app: Option<ObservedApp<'a>>,
}

/// What was in front after the launch.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ObservedApp<'a> {
    package: &'a str,
    activity: &'a str,
    screen: &'a str,
    matched_target: bool,
}

pub struct StartApp;

impl Tool for StartApp {
    type Params = AppParams;
    const NAME: &'static str = "start_app";
    const TITLE: &'static str = "Start app";
    const DESCRIPTION: &'static str = "Bring an app to the front, starting it if needed.";
    const EFFECT: Effect = Effect::Acts;
    const TIMEOUT: Duration = LAUNCH_TIMEOUT;

    async fn run(app: &App, params: AppParams, progress: &Progress) -> Result<Answer, Failure> {
        let session = app.fleet.choose(&params.wanted(), progress).await?;
        let report = session.app(AppAction::Start, &params.app_id, progress).await?;
        Ok(launched(app, Self::NAME, &session, &params.app_id, &report, progress).await)
    }
}

pub struct RestartApp;

impl Tool for RestartApp {
    type Params = AppParams;
    const NAME: &'static str = "restart_app";
    const TITLE: &'static str = "Restart app";
    const DESCRIPTION: &'static str = "Stop an app and start it again. Its stored data stays.";
    const EFFECT: Effect = Effect::Acts;
    const TIMEOUT: Duration = LAUNCH_TIMEOUT;

    async fn run(app: &App, params: AppParams, progress: &Progress) -> Result<Answer, Failure> {
        let session = app.fleet.choose(&params.wanted(), progress).await?;
        let report = session.restart(&params.app_id, progress).await?;
        Ok(launched(app, Self::NAME, &session, &params.app_id, &report, progress).await)
    }
}

async fn launched(
    app: &App,
    action_type: &str,
    session: &Session,
    app_id: &str,
    report: &AppReport,
    progress: &Progress,
) -> Answer {
    // The launch itself has succeeded; a screen that cannot be read is not its failure.
    let screen = session.screen(progress).await.ok();
    let observed_app = screen.as_ref().map(|screen| ObservedApp {
        package: &screen.package,
        activity: &screen.activity,
        screen: screen.short_activity(),
        matched_target: screen.package == app_id,
    });
    let in_front = observed_app.as_ref().is_some_and(|observed| observed.matched_target);
    Answer::json(&ActionFacts {
        action_id: app.action_id(action_type),
        action_type,
        lifecycle_state: if in_front { "verified" } else { "pending_verification" },
        success: true,
        device: session.id(),
        target: Target { selector: AppSelector { app_id } },
        details: Some(LaunchDetails { launch_time_ms: report.launch_time_ms, observed_app }),
        elapsed_ms: progress.elapsed_ms(),
    })
}

pub struct TerminateApp;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Terminated<'a> {
    device: &'a str,
    app_terminated: bool,
}

impl Tool for TerminateApp {
    type Params = AppParams;
    const NAME: &'static str = "terminate_app";
    const TITLE: &'static str = "Stop app";
    const DESCRIPTION: &'static str = "Stop all processes of an app.";
    const EFFECT: Effect = Effect::Acts;
    const TIMEOUT: Duration = COMMAND_TIMEOUT;

    async fn run(app: &App, params: AppParams, progress: &Progress) -> Result<Answer, Failure> {
        let session = app.fleet.choose(&params.wanted(), progress).await?;
        session.app(AppAction::Terminate, &params.app_id, progress).await?;
        Ok(Answer::json(&Terminated { device: session.id(), app_terminated: true }))
    }
}

pub struct ResetAppData;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Cleared<'a> {
    device: &'a str,
    data_cleared: bool,
}

impl Tool for ResetAppData {
    type Params = AppParams;
    const NAME: &'static str = "reset_app_data";
    const TITLE: &'static str = "Reset app data";
    const DESCRIPTION: &'static str =
        "Delete everything an app has stored, as after a fresh install. Stops it.";
    const EFFECT: Effect = Effect::Destroys;
    const TIMEOUT: Duration = COMMAND_TIMEOUT;

    async fn run(app: &App, params: AppParams, progress: &Progress) -> Result<Answer, Failure> {
        let session = app.fleet.choose(&params.wanted(), progress).await?;
        session.app(AppAction::ClearData, &params.app_id, progress).await?;
        Ok(Answer::json(&Cleared { device: session.id(), data_cleared: true }))
    }
}
