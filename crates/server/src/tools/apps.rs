//! Starting, stopping and resetting apps.

use std::time::Duration;

use mdm_core::action::failure::Failure;
use mdm_core::port::AppAction;
use mdm_engine::{Deed, Progress, Wanted};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::follow::{self, AfterArg, Done};
use super::{Effect, Tool};
use crate::answer::Answer;
use crate::app::App;
use crate::args::DeviceArg;

/// Cold starts of large apps on old phones take this long.
const LAUNCH_TIMEOUT: Duration = Duration::from_secs(120);
const COMMAND_TIMEOUT: Duration = Duration::from_secs(100);

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AppParams {
    /// Package name, like com.example.app.
    app_id: String,
    #[serde(flatten)]
    device: DeviceArg,
    #[serde(flatten)]
    after: AfterArg,
}

impl AppParams {
    fn wanted(&self) -> Wanted {
        Wanted { app: Some(self.app_id.clone()), ..self.device.wanted() }
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
        let start = Deed::App { action: AppAction::Start, app: params.app_id.clone() };
        launch(app, Self::NAME, &params, &start, progress).await
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
        launch(app, Self::NAME, &params, &Deed::Restart { app: params.app_id.clone() }, progress).await
    }
}

async fn launch(
    app: &App,
    tool: &'static str,
    params: &AppParams,
    deed: &Deed,
    progress: &Progress,
) -> Result<Answer, Failure> {
    let app_id = params.app_id.as_str();
    let action = app.action(tool, params.after.follow(false)?);
    let session = app.fleet.choose(&params.wanted(), progress).await?;
    let acted = session.act(&action, [], |[]| deed.clone(), progress).await?;
    // The launch itself has succeeded; a screen that cannot be read is not its failure.
    let screen = session.screen(progress).await.ok();
    let observed_app = screen.as_ref().map(|screen| ObservedApp {
        package: &screen.package,
        activity: &screen.activity,
        screen: screen.short_activity(),
        matched_target: screen.package == app_id,
    });
    let in_front = observed_app.as_ref().is_some_and(|observed| observed.matched_target);
    let details = LaunchDetails { launch_time_ms: acted.report.launch_time_ms, observed_app };
    let done = Done::named(&acted, Some(AppSelector { app_id })).with_details(details, in_front);
    Ok(follow::answer(&action, &session, done, progress))
}

/// Stops or clears; what its answer says beyond the envelope is what the predecessor said.
async fn command(
    app: &App,
    tool: &'static str,
    params: &AppParams,
    (command, told): (AppAction, impl Serialize),
    progress: &Progress,
) -> Result<Answer, Failure> {
    let action = app.action(tool, params.after.follow(false)?);
    let session = app.fleet.choose(&params.wanted(), progress).await?;
    let deed = Deed::App { action: command, app: params.app_id.clone() };
    let acted = session.act(&action, [], |[]| deed.clone(), progress).await?;
    if acted.after.is_none() {
        return Ok(Answer::json(&CommandFacts { device: session.id(), told }));
    }
    let done = Done::named(&acted, Some(AppSelector { app_id: &params.app_id })).with_details(told, false);
    Ok(follow::answer(&action, &session, done, progress))
}

#[derive(Serialize)]
struct CommandFacts<'a, T: Serialize> {
    device: &'a str,
    #[serde(flatten)]
    told: T,
}

pub struct TerminateApp;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Terminated {
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
        let stop = (AppAction::Terminate, Terminated { app_terminated: true });
        command(app, Self::NAME, &params, stop, progress).await
    }
}

pub struct ResetAppData;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Cleared {
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
        let clear = (AppAction::ClearData, Cleared { data_cleared: true });
        command(app, Self::NAME, &params, clear, progress).await
    }
}
