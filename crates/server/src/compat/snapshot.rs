//! Everything that a device tells of one moment.

use base64::Engine as _;
use mdm_core::change::tracker::Observation;
use mdm_core::evidence::redact_log;
use mdm_core::port::{LogEntry, LogLevel};
use serde::Serialize;

use super::element::{description, text};
use super::logs::level;
use super::observe::TreeJson;
use super::waits::LoadingJson;
use super::{Block, Rendering};
use crate::basis::{MadeFrom, Moment};

/// Names of what can be acted on.
const ACTIONS_MAX: usize = 10;

#[derive(Serialize)]
struct Snapshot {
    raw: Raw,
    #[serde(skip_serializing_if = "Option::is_none")]
    semantic: Option<Semantic>,
}

#[derive(Serialize)]
struct Raw {
    timestamp: u64,
    snapshot_revision: u64,
    captured_at_ms: u64,
    reason: String,
    activity: Option<String>,
    fingerprint: Option<String>,
    screenshot: Option<String>,
    ui_tree: Option<TreeJson>,
    logs: Vec<LogJson>,
    #[serde(flatten)]
    errors: Errors,
    loading_state: Option<LoadingJson>,
}

#[derive(Default, Serialize)]
struct Errors {
    #[serde(skip_serializing_if = "Option::is_none")]
    screenshot_error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    activity_error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fingerprint_error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ui_tree_error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    logs_error: Option<String>,
}

#[derive(Serialize)]
struct LogJson {
    timestamp: Option<u64>,
    level: &'static str,
    message: String,
}

#[derive(Serialize)]
struct Semantic {
    screen: Option<String>,
    signals: Signals,
    actions_available: Option<Vec<String>>,
    confidence: f64,
    warnings: Vec<&'static str>,
}

#[derive(Serialize)]
struct Signals {
    has_activity: bool,
    has_ui_tree: bool,
    has_screenshot: bool,
    has_visible_text: bool,
    has_clickable_elements: bool,
    has_error_logs: bool,
    has_loading_signals: bool,
    has_primary_text: bool,
}

pub fn render(r: &Rendering<'_>) -> Option<Block> {
    let reason = r.asked.text("reason").unwrap_or_default().to_owned();
    let snapshot = match &r.answer.basis.made_from {
        MadeFrom::Moment(moment) => of_moment(r, moment, reason),
        // Every part failed for the same reason.
        _ => Snapshot { raw: of_nothing(r, reason, r.refused()?.message), semantic: None },
    };
    Some(Block::json(&snapshot))
}

fn of_nothing(r: &Rendering<'_>, reason: String, error: String) -> Raw {
    let error = || Some(error.clone());
    Raw {
        timestamp: r.now_ms,
        snapshot_revision: r.revision(),
        captured_at_ms: r.now_ms,
        reason,
        activity: None,
        fingerprint: None,
        screenshot: None,
        ui_tree: None,
        logs: Vec::new(),
        errors: Errors {
            screenshot_error: error(),
            activity_error: error(),
            fingerprint_error: error(),
            ui_tree_error: error(),
            logs_error: error(),
        },
        loading_state: None,
    }
}

fn of_moment(r: &Rendering<'_>, moment: &Moment, reason: String) -> Snapshot {
    let parts = &moment.parts;
    let seen = parts.seen.as_ref().ok();
    let image = r.answer.image.as_ref();
    let encode = |bytes: &Vec<u8>| base64::engine::general_purpose::STANDARD.encode(bytes);
    let logs = moment.entries.iter().map(|entry| LogJson {
        timestamp: entry.time_ms,
        level: level(entry.level),
        message: redact_log::line(&entry.message).into_owned(),
    });
    let said = |failure: &mdm_core::failure::Failure| failure.message.clone();
    let unread = parts.seen.as_ref().err().map(said);
    let activity = parts.screen.as_ref().ok().map(|screen| screen.name.clone().unwrap_or_default());
    let raw = Raw {
        timestamp: parts.began_ms,
        snapshot_revision: seen.map_or_else(|| r.revision(), |seen| seen.revision),
        captured_at_ms: seen.map_or(parts.ended_ms, |seen| seen.captured_at_ms),
        reason,
        activity: activity.clone(),
        fingerprint: seen.map(|seen| seen.fingerprint.to_string()),
        screenshot: image.map(|image| encode(&image.bytes)),
        ui_tree: seen.map(|seen| TreeJson::of(r.device_or_unknown(), seen)),
        logs: logs.collect(),
        errors: Errors {
            screenshot_error: moment.picture_failure.as_ref().map(said),
            activity_error: parts.screen.as_ref().err().map(said),
            fingerprint_error: unread.clone(),
            ui_tree_error: unread,
            logs_error: parts.log.as_ref().and_then(|log| log.as_ref().err()).map(said),
        },
        loading_state: seen.and_then(|seen| seen.loading()).map(LoadingJson::of),
    };
    let semantic = semantic(seen.map(AsRef::as_ref), activity.as_deref(), image.is_some(), &moment.entries);
    Snapshot { raw, semantic: Some(semantic) }
}

fn semantic(
    seen: Option<&Observation>,
    activity: Option<&str>,
    has_picture: bool,
    entries: &[LogEntry],
) -> Semantic {
    let names = seen.map(names).unwrap_or_default();
    let actions = seen.map(actions).unwrap_or_default();
    let has_activity = activity.is_some_and(|activity| !activity.is_empty());
    let has_errors = entries.iter().any(|entry| entry.level >= LogLevel::Error);
    let loads = seen.is_some_and(|seen| seen.loading().is_some());
    let screen = activity.filter(|_| has_activity).map(screen_name).or_else(|| names.first().cloned());
    let warnings = [
        (seen.is_none(), "ui tree unavailable"),
        (!has_activity, "activity unavailable"),
        (has_errors, "error signals present in logs"),
    ];
    Semantic {
        confidence: confidence(&[
            (seen.is_some(), 0.35),
            (screen.is_some(), 0.2),
            (has_activity, 0.15),
            (!actions.is_empty(), 0.15),
            (!names.is_empty(), 0.1),
            (has_picture, 0.05),
            (has_errors, -0.15),
            (loads, -0.05),
        ]),
        signals: Signals {
            has_activity,
            has_ui_tree: seen.is_some(),
            has_screenshot: has_picture,
            has_visible_text: !names.is_empty(),
            has_clickable_elements: !actions.is_empty(),
            has_error_logs: has_errors,
            has_loading_signals: loads,
            has_primary_text: names.iter().any(|name| is_primary(name)),
        },
        screen,
        actions_available: (!actions.is_empty()).then_some(actions),
        warnings: warnings.into_iter().filter(|(is, _)| *is).map(|(_, words)| words).collect(),
    }
}

/// How much of a screen is known, from 0 to 1 in steps of a hundredth.
fn confidence(parts: &[(bool, f64)]) -> f64 {
    let sum: f64 = parts.iter().filter(|(is, _)| *is).map(|(_, share)| share).sum();
    (sum.clamp(0.0, 1.0) * 100.0).round() / 100.0
}

/// `com.example.LoginActivity` is called "Login".
fn screen_name(activity: &str) -> String {
    let last = activity.rsplit('.').next().unwrap_or(activity);
    let name = last.strip_suffix("Activity").filter(|name| !name.is_empty()).unwrap_or(last);
    let mut letters = name.chars();
    letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect()
}

fn names(seen: &Observation) -> Vec<String> {
    let snapshot = &seen.reading.snapshot;
    let words = snapshot.elements.iter().map(|element| text(snapshot.platform, element));
    words.flatten().collect()
}

fn actions(seen: &Observation) -> Vec<String> {
    let snapshot = &seen.reading.snapshot;
    let mut names: Vec<String> = Vec::new();
    for element in &snapshot.elements {
        if names.len() == ACTIONS_MAX {
            break;
        }
        if !element.affordances.clickable || element.state.enabled == Some(false) {
            continue;
        }
        let id = || element.stable_id.as_deref().map(str::to_owned);
        let words = text(snapshot.platform, element).or_else(|| description(snapshot.platform, element));
        let name = words.or_else(id).map(|name| name.to_lowercase());
        names.extend(name.filter(|name| !names.contains(name)));
    }
    names
}

/// Words that name where one is in an app.
fn is_primary(name: &str) -> bool {
    let words = ["sign in", "log in", "login", "home", "checkout", "settings", "menu", "profile", "search"];
    let name = name.to_lowercase();
    words.into_iter().any(|word| name.contains(word))
}
