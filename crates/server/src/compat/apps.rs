//! Stopping, resetting, installing and building apps: answers of few words.

use mdm_core::action::request::{Action, What};
use mdm_core::failure::Cause;
use mdm_core::port::AppCommand;
use serde::Serialize;

use super::parts::Device;
use super::{Block, Rendering};
use crate::answer::Facts;
use crate::basis::MadeFrom;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AppJson {
    device: Device,
    #[serde(skip_serializing_if = "Option::is_none")]
    app_terminated: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data_cleared: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    installed: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum BuildJson {
    #[serde(rename_all = "camelCase")]
    Made {
        artifact_path: String,
    },
    Failed {
        error: String,
    },
}

/// How a call about an app ended.
struct Ending {
    is_success: bool,
    error: Option<String>,
}

impl Ending {
    /// Nothing for what was refused as wrong, and for a device that is not there.
    fn of(r: &Rendering<'_>) -> Option<Ending> {
        if let MadeFrom::Action(outcome) = &r.answer.basis.made_from {
            let error = outcome.failure.as_ref().map(|failure| failure.message.clone());
            return Some(Ending { is_success: error.is_none(), error });
        }
        let Facts::Action(facts) = &r.answer.facts else { return None };
        match r.refused() {
            None => Some(Ending { is_success: facts.code().is_none(), error: None }),
            Some(failure) if failure.cause == Cause::InvalidArgument && r.tool.ends_with("_app_data") => None,
            Some(failure) => Some(Ending { is_success: false, error: Some(failure.message) }),
        }
    }
}

pub fn render(r: &Rendering<'_>) -> Option<Block> {
    let ending = Ending::of(r)?;
    if r.tool == "build_app" {
        return Some(Block::json(&build(r, ending)));
    }
    // Only an installation that failed told of the device that it was meant for.
    let is_installation = r.tool == "install_app";
    if r.device.is_none() && !is_installation {
        return None;
    }
    let success = Some(ending.is_success);
    let is = |tool: &str| success.filter(|_| r.tool == tool);
    Some(Block::json(&AppJson {
        device: r.device_or_unknown(),
        app_terminated: is("terminate_app"),
        data_cleared: is("reset_app_data"),
        installed: is("install_app"),
        output: (is_installation && ending.is_success).then(|| "Success".to_owned()),
        error: ending.error.filter(|_| is_installation),
    }))
}

fn build(r: &Rendering<'_>, ending: Ending) -> BuildJson {
    match artifact(r) {
        Some(artifact_path) if ending.is_success => BuildJson::Made { artifact_path },
        _ => BuildJson::Failed { error: ending.error.unwrap_or_else(|| "no file was made".to_owned()) },
    }
}

/// The file that was built, or that was installed after it was built.
fn artifact(r: &Rendering<'_>) -> Option<String> {
    if let MadeFrom::Action(outcome) = &r.answer.basis.made_from
        && let What::Act(act) = &outcome.request.what
        && let Action::App(AppCommand::Install { files, .. }) = &act.action
    {
        return files.first().map(|file| file.display().to_string());
    }
    match &r.answer.facts {
        Facts::Action(facts) => facts.artifact().map(str::to_owned),
        _ => None,
    }
}

/// One line about a part of the work.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Event<'a> {
    #[serde(rename = "type")]
    part: &'static str,
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    platform: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    artifact_path: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    device: Option<&'a Device>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Installed<'a> {
    success: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    artifact_path: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    device: Option<&'a Device>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
}

pub fn built_and_installed(r: &Rendering<'_>) -> Option<Vec<Block>> {
    let ending = Ending::of(r)?;
    let (artifact, device) = (artifact(r), r.device_or_unknown());
    let artifact = artifact.as_deref();
    let event = |part: &'static str, status: &'static str| Event {
        part,
        status,
        platform: None,
        artifact_path: artifact.filter(|_| (part, status) != ("build", "started")),
        device: None,
        error: None,
    };
    let failed = |part: &'static str| Event {
        error: ending.error.as_deref().or(Some("unknown")),
        artifact_path: None,
        ..event(part, "failed")
    };
    let mut events = vec![Event { platform: Some(r.platform().as_str()), ..event("build", "started") }];
    match (artifact, ending.is_success) {
        (None, _) => events.push(failed("build")),
        (Some(_), is_success) => {
            events.extend([event("build", "finished"), event("install", "started")]);
            events.push(match is_success {
                true => Event { device: Some(&device), ..event("install", "finished") },
                false => failed("install"),
            });
        }
    }
    let last = Installed {
        success: ending.is_success,
        artifact_path: artifact.filter(|_| ending.is_success),
        device: ending.is_success.then_some(&device),
        output: ending.is_success.then_some("Success"),
        error: ending.error.as_deref(),
    };
    // Our own structures always serialise.
    let line = |event: &Event<'_>| serde_json::to_string(event).unwrap_or_default() + "\n";
    Some(vec![Block::Text(events.iter().map(line).collect()), Block::json(&last)])
}
