//! Apps and files of a device, and its settings: few tools with verbs (ADR 0016).

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use mdm_core::action::request::Action;
use mdm_core::failure::{Cause, Failure};
use mdm_core::port::{
    AppCommand, AppDetails, DeviceErrorKind, Extra, FileCommand, InstalledApp, NightMode, OpenRequest,
    Orientation, Place, SettingChange,
};
use mdm_core::text::quote::push_name;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::action::{self, AfterArg, LocalFacts, NamedFacts, perform};
use super::{Call, Effect, Hints, Tool};
use crate::answer::{Answer, Facts};
use crate::args::DeviceArg;
use crate::refusal::{Hint, Refusal};

const MANAGE_TIMEOUT: Duration = Duration::from_secs(120);
/// Large files over a slow connection take this long.
const TRANSFER_TIMEOUT: Duration = Duration::from_secs(1800);
/// Apps that one answer lists, and characters of a name.
const APPS_MAX: usize = 300;
/// Characters of a name in a list of apps.
const NAME_CHARS_MAX: usize = 120;
/// Bytes of a path on a device.
const REMOTE_BYTES_MAX: usize = 1024;

#[derive(Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ManageAction {
    List,
    Info,
    Open,
    Stop,
    Clear,
    Uninstall,
    Grant,
    Revoke,
}

/// A value for a screen that is opened.
#[derive(Deserialize)]
#[serde(untagged)]
enum ExtraArg {
    Flag(bool),
    Number(i64),
    Text(String),
}

impl From<ExtraArg> for Extra {
    fn from(arg: ExtraArg) -> Extra {
        match arg {
            ExtraArg::Flag(flag) => Extra::Flag(flag),
            ExtraArg::Number(number) => Extra::Number(number),
            ExtraArg::Text(text) => Extra::Text(text),
        }
    }
}

#[derive(Deserialize, JsonSchema)]
pub struct ManageParams {
    action: ManageAction,
    /// for list a part of the name
    app_id: Option<String>,
    permission: Option<String>,
    link: Option<String>,
    activity: Option<String>,
    #[schemars(with = "Option<crate::args::JsonObject>")]
    extras: Option<BTreeMap<String, ExtraArg>>,
    #[serde(flatten)]
    device: DeviceArg,
}

pub struct ManageApp;

impl Tool for ManageApp {
    type Params = ManageParams;
    const NAME: &'static str = "manage_app";
    const DESCRIPTION: &'static str =
        "List apps; tell about, stop, clear, remove or permit one; open a link or activity.";
    const EFFECT: Effect = Effect::Destroys;
    const TIMEOUT: Duration = MANAGE_TIMEOUT;

    async fn run(call: &Call<'_>, params: ManageParams) -> Result<Answer, Refusal> {
        refuse_unused(&params)?;
        match params.action {
            ManageAction::List => return list(call, &params).await,
            ManageAction::Info => return info(call, &params).await,
            _ => {}
        }
        let (command, named) = command(
            &params.action,
            params.app_id,
            params.permission,
            params.link,
            params.activity,
            params.extras,
        )?;
        let settles = matches!(command, AppCommand::Open(_));
        let wanted = params.device.wanted();
        let act = AfterArg::default().act(Action::App(command), call.settles(settles))?;
        perform(call, &wanted, act, named.map(|app_id| NamedFacts::App { app_id })).await
    }
}

/// An argument that the action does not take is a mistake that must not pass unseen.
fn refuse_unused(params: &ManageParams) -> Result<(), Refusal> {
    let opens = params.action == ManageAction::Open;
    let permits = matches!(params.action, ManageAction::Grant | ManageAction::Revoke);
    let unused = [
        ("permission", params.permission.is_some() && !permits),
        ("link", params.link.is_some() && !opens),
        ("activity", params.activity.is_some() && !opens),
        ("extras", params.extras.is_some() && !opens),
    ];
    match unused.iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((name, _)) => Err(Refusal::argument(
            format!("{name} does not belong to this action"),
            "leave it out, or change action",
        )),
    }
}

fn command(
    action: &ManageAction,
    app_id: Option<String>,
    permission: Option<String>,
    link: Option<String>,
    activity: Option<String>,
    extras: Option<BTreeMap<String, ExtraArg>>,
) -> Result<(AppCommand, Option<String>), Refusal> {
    let named = app_id.clone();
    let command = match action {
        ManageAction::Open => {
            if app_id.is_none() && (link.is_none() || activity.is_some()) {
                return Err(Refusal::argument(
                    "neither app_id nor link is given",
                    "give app_id, link or both",
                ));
            }
            let extras = extras.unwrap_or_default().into_iter().map(|(name, extra)| (name, extra.into()));
            AppCommand::Open(OpenRequest { app: app_id, activity, link, extras: extras.collect() })
        }
        ManageAction::Grant | ManageAction::Revoke => {
            let permission = permission.ok_or_else(|| {
                Refusal::argument(
                    "permission is missing",
                    "give it as android.permission.CAMERA or CAMERA, on iOS as camera",
                )
            })?;
            // Android writes its own in capitals, and they have a family name; those of iOS are small words.
            let is_androids = permission.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
            let permission =
                if is_androids { format!("android.permission.{permission}") } else { permission };
            let granted = *action == ManageAction::Grant;
            AppCommand::Permit { app: app_id.ok_or_else(no_app)?, permission, granted }
        }
        ManageAction::Stop => AppCommand::Terminate { app: app_id.ok_or_else(no_app)? },
        ManageAction::Clear => AppCommand::ClearData { app: app_id.ok_or_else(no_app)? },
        ManageAction::Uninstall | ManageAction::List | ManageAction::Info => {
            AppCommand::Uninstall { app: app_id.ok_or_else(no_app)? }
        }
    };
    Ok((command, named))
}

fn no_app() -> Refusal {
    Refusal::argument("app_id is missing", "manage_app list shows the apps of the device")
}

/// The apps of a device, or one of them.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AppsFacts {
    device: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    apps: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    app_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version_code: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    running: Option<bool>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pids: Vec<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    debuggable: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    min_sdk: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    target_sdk: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    installed: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    updated: Option<String>,
}

impl AppsFacts {
    fn empty(device: &str) -> AppsFacts {
        AppsFacts {
            device: device.to_owned(),
            apps: None,
            app_id: None,
            version_name: None,
            version_code: None,
            running: None,
            pids: Vec::new(),
            debuggable: None,
            system: None,
            min_sdk: None,
            target_sdk: None,
            installed: None,
            updated: None,
        }
    }

    fn of(device: &str, app_id: &str, details: &AppDetails) -> AppsFacts {
        AppsFacts {
            app_id: Some(app_id.to_owned()),
            version_name: details.version.name.clone(),
            version_code: details.version.code,
            running: Some(!details.pids.is_empty()),
            pids: details.pids.clone(),
            debuggable: Some(details.is_debuggable),
            system: Some(details.is_system).filter(|system| *system),
            min_sdk: details.min_sdk,
            target_sdk: details.target_sdk,
            installed: details.first_installed.clone(),
            updated: details.last_updated.clone(),
            ..AppsFacts::empty(device)
        }
    }
}

/// Apps that somebody installed; with a part of a name also those of the system.
async fn list(call: &Call<'_>, params: &ManageParams) -> Result<Answer, Refusal> {
    let session = call.device(&params.device.wanted(), call.progress).await?;
    let part = params.app_id.as_deref().unwrap_or("");
    let apps = session.apps(!part.is_empty(), call.progress).await?;
    let found: Vec<&InstalledApp> = apps.iter().filter(|app| app.id.contains(part)).collect();
    let facts = AppsFacts { apps: Some(found.len()), ..AppsFacts::empty(session.id()) };
    let mut lines = String::new();
    for app in found.iter().take(APPS_MAX) {
        push_name(&mut lines, &app.id, NAME_CHARS_MAX);
        if let Some(code) = app.version_code {
            lines.push_str(&format!(" ({code})"));
        }
        lines.push('\n');
    }
    if let Some(more) = found.len().checked_sub(APPS_MAX).filter(|more| *more > 0) {
        lines.push_str(&format!("… and {more} more; give a part of the name as app_id\n"));
    }
    Ok(Answer::new(Facts::Apps(Box::new(facts))).with_lines(&lines))
}

async fn info(call: &Call<'_>, params: &ManageParams) -> Result<Answer, Refusal> {
    let app_id = params.app_id.as_deref().ok_or_else(no_app)?;
    let session = call.device(&params.device.wanted_with(app_id), call.progress).await?;
    let details = session.app_details(app_id, call.progress).await?;
    let mut lines = String::new();
    for (permission, granted) in &details.permissions {
        push_name(&mut lines, permission, NAME_CHARS_MAX);
        lines.push_str(if *granted { ": granted\n" } else { ": not granted\n" });
    }
    let facts = AppsFacts::of(session.id(), app_id, &details);
    Ok(Answer::new(Facts::Apps(Box::new(facts))).with_lines(&lines))
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum TransferAction {
    Push,
    Pull,
}

#[derive(Deserialize, JsonSchema)]
pub struct TransferParams {
    action: TransferAction,
    local: PathBuf,
    remote: String,
    #[serde(flatten)]
    device: DeviceArg,
}

#[derive(Debug, Serialize)]
pub struct TransferFacts {
    action: &'static str,
    local: String,
    remote: String,
    bytes: u64,
}

pub struct TransferFile;

impl Tool for TransferFile {
    type Params = TransferParams;
    const NAME: &'static str = "transfer_file";
    const DESCRIPTION: &'static str = "Copy a file to or from the device.";
    // It replaces what is there.
    const EFFECT: Effect = Effect::Destroys;
    const TIMEOUT: Duration = TRANSFER_TIMEOUT;

    async fn run(call: &Call<'_>, params: TransferParams) -> Result<Answer, Refusal> {
        let remote = params.remote;
        if !remote.starts_with('/') || remote.len() > REMOTE_BYTES_MAX || remote.contains('\0') {
            let hint = "give a whole path such as /sdcard/Download/a.txt";
            return Err(Refusal::argument(format!("{remote:.60?} is no whole path on a device"), hint));
        }
        let (verb, local, command) = match params.action {
            TransferAction::Push => {
                let local = call.app.roots.readable(&params.local)?;
                if !local.is_file() {
                    let message = format!("{} is no file", local.display());
                    return Err(Refusal::argument(message, "name one file; folders are not copied"));
                }
                ("push", local.clone(), FileCommand::Push { local, remote: remote.clone() })
            }
            TransferAction::Pull => {
                let local = call.app.roots.writable(&params.local)?;
                ("pull", local.clone(), FileCommand::Pull { remote: remote.clone(), local })
            }
        };
        let session = call.device(&params.device.wanted(), call.progress).await?;
        call.check_app_in_front(&session, call.progress).await?;
        session.copy_file(&command, call.progress).await?;
        let bytes = local.metadata().map(|about| about.len()).unwrap_or_default();
        let local = local.display().to_string();
        let copied = LocalFacts::Copied(TransferFacts { action: verb, local, remote, bytes });
        Ok(action::local(call, Some(session.id().to_owned()), None, Some(copied)))
    }
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum SettingArg {
    Orientation,
    DarkMode,
    Animations,
    Wifi,
    MobileData,
    AirplaneMode,
    Location,
    Locale,
    Clipboard,
}

/// Agents write `true` as well as "on".
#[derive(Deserialize)]
#[serde(untagged)]
enum ValueArg {
    Flag(bool),
    Text(String),
}

impl ValueArg {
    fn text(self) -> String {
        match self {
            ValueArg::Flag(true) => "on".to_owned(),
            ValueArg::Flag(false) => "off".to_owned(),
            ValueArg::Text(text) => text,
        }
    }
}

#[derive(Deserialize, JsonSchema)]
pub struct SetDeviceParams {
    setting: SettingArg,
    /// on, off, auto; portrait; LAT,LON or real; de-DE or system
    #[schemars(with = "String")]
    value: ValueArg,
    /// The app whose language is meant; without it the one in front.
    #[schemars(extend("hidden" = true))]
    app_id: Option<String>,
    #[serde(flatten)]
    device: DeviceArg,
}

pub struct SetDevice;

impl Tool for SetDevice {
    type Params = SetDeviceParams;
    const NAME: &'static str = "set_device";
    const DESCRIPTION: &'static str = "Change a setting and read it back.";
    const EFFECT: Effect = Effect::Acts;
    const HINTS: Hints = Hints::IDEMPOTENT;
    const TIMEOUT: Duration = MANAGE_TIMEOUT;

    async fn run(call: &Call<'_>, params: SetDeviceParams) -> Result<Answer, Refusal> {
        let value = params.value.text();
        let wanted = params.device.wanted();
        if !matches!(params.setting, SettingArg::Locale) && params.app_id.is_some() {
            return Err(Refusal::argument("app_id belongs to locale only", "leave it out"));
        }
        let action = match params.setting {
            SettingArg::Orientation => Action::Turn(orientation(&value)?),
            SettingArg::Locale => {
                let tags = if value == "system" { String::new() } else { value };
                let app = match params.app_id {
                    Some(app) => app,
                    None => {
                        let session = call.device(&wanted, call.progress).await?;
                        session.screen(call.progress).await?.app
                    }
                };
                Action::Set(SettingChange::Locale { app, tags })
            }
            setting => Action::Set(change(setting, value)?),
        };
        if let Action::Set(change) = &action {
            refuse_cutting_off(call, &wanted, change).await?;
        }
        let named = match &action {
            Action::Turn(turn) => NamedFacts::Orientation { orientation: orientation_name(*turn) },
            Action::Set(SettingChange::Locale { app, .. }) => NamedFacts::App { app_id: app.clone() },
            _ => NamedFacts::Nothing {},
        };
        let act = AfterArg::default().act(action, false)?;
        perform(call, &wanted, act, Some(named)).await
    }
}

pub fn orientation_name(orientation: Orientation) -> &'static str {
    match orientation {
        Orientation::Portrait => "portrait",
        Orientation::Landscape => "landscape",
        Orientation::Auto => "auto",
    }
}

fn orientation(value: &str) -> Result<Orientation, Refusal> {
    let all = [Orientation::Portrait, Orientation::Landscape, Orientation::Auto];
    all.into_iter()
        .find(|orientation| orientation_name(*orientation) == value)
        .ok_or_else(|| wrong_value("orientation", value, "use portrait, landscape or auto"))
}

fn wrong_value(setting: &str, value: &str, hint: &'static str) -> Refusal {
    Refusal::argument(format!("{value:.60?} is no value of {setting}"), hint)
}

fn change(setting: SettingArg, value: String) -> Result<SettingChange, Refusal> {
    let switch = |name: &str| match value.as_str() {
        "on" | "true" | "enabled" => Ok(true),
        "off" | "false" | "disabled" => Ok(false),
        _ => Err(wrong_value(name, &value, "use on or off")),
    };
    Ok(match setting {
        SettingArg::DarkMode => SettingChange::DarkMode(match value.as_str() {
            "auto" => NightMode::Auto,
            _ if switch("dark_mode")? => NightMode::On,
            _ => NightMode::Off,
        }),
        SettingArg::Animations => SettingChange::Animations(switch("animations")?),
        SettingArg::Wifi => SettingChange::Wifi(switch("wifi")?),
        SettingArg::MobileData => SettingChange::MobileData(switch("mobile_data")?),
        SettingArg::AirplaneMode => SettingChange::AirplaneMode(switch("airplane_mode")?),
        SettingArg::Location if value == "real" => SettingChange::Location(None),
        SettingArg::Location => SettingChange::Location(Some(place(&value)?)),
        SettingArg::Clipboard | SettingArg::Orientation | SettingArg::Locale => {
            SettingChange::Clipboard(value)
        }
    })
}

/// `LATITUDE,LONGITUDE` in degrees.
fn place(value: &str) -> Result<Place, Refusal> {
    let numbers = value.split_once(',').and_then(|(latitude, longitude)| {
        Some((latitude.trim().parse::<f64>().ok()?, longitude.trim().parse::<f64>().ok()?))
    });
    match numbers {
        Some((latitude, longitude)) if latitude.abs() <= 90.0 && longitude.abs() <= 180.0 => {
            Ok(Place { latitude, longitude })
        }
        _ => Err(wrong_value("location", value, "use latitude,longitude such as 52.52,13.405, or real")),
    }
}

/// A device that is reached through its own network must not be cut off by us.
async fn refuse_cutting_off(
    call: &Call<'_>,
    wanted: &mdm_engine::WantedDevice,
    change: &SettingChange,
) -> Result<(), Refusal> {
    if !matches!(change, SettingChange::Wifi(false) | SettingChange::AirplaneMode(true)) {
        return Ok(());
    }
    let session = call.device(wanted, call.progress).await?;
    let Some((host, port)) = session.id().rsplit_once(':') else { return Ok(()) };
    let is_network = port.parse::<u16>().is_ok() && !matches!(host, "127.0.0.1" | "localhost" | "[::1]");
    if !is_network {
        return Ok(());
    }
    let message = format!("{} is reached over its own network: this would cut the connection", session.id());
    let failure = Failure::new(Cause::Device(DeviceErrorKind::NotSupported), message);
    Err(Refusal { failure, hint: Hint::Words("connect the device with a cable first".into()) })
}
