//! Whether devices can be reached and apps be built.

use serde::Serialize;

use super::{Block, Rendering};
use crate::answer::Facts;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Status<'a> {
    success: bool,
    status: &'a str,
    adb_available: bool,
    adb_version: &'a str,
    devices: usize,
    device_states: &'a str,
    logs_available: bool,
    env_valid: bool,
    issues: &'a [String],
    ios_available: bool,
    ios_devices: usize,
    gradle_valid: bool,
    gradle_files_checked: Vec<String>,
    gradle_suggested_fixes: Vec<String>,
    summary: Summary<'a>,
}

#[derive(Serialize)]
struct Summary<'a> {
    overall: &'a str,
    android: PlatformSummary<'a>,
    ios: PlatformSummary<'a>,
    gradle: GradleSummary,
}

#[derive(Serialize)]
struct PlatformSummary<'a> {
    ready: bool,
    summary: String,
    blockers: &'a [String],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GradleSummary {
    ready: bool,
    summary: &'static str,
    blockers: Vec<String>,
    suggested_fixes: Vec<String>,
}

pub fn render(r: &Rendering<'_>) -> Option<Block> {
    let Facts::Status(facts) = &r.answer.facts else { return None };
    let android = facts.ready_android > 0;
    let tools = facts.found_tools();
    let has_adb = facts.adb_available || android;
    Some(Block::json(&Status {
        success: facts.success,
        status: facts.status,
        adb_available: has_adb,
        adb_version: facts.adb_version.as_deref().unwrap_or_default(),
        devices: facts.devices - facts.listed_ios,
        device_states: &facts.device_states,
        // Whoever can be asked for its screen can be asked for its log.
        logs_available: android,
        env_valid: has_adb,
        issues: &facts.issues,
        ios_available: facts.ios_available,
        ios_devices: facts.ready_ios,
        gradle_valid: tools.iter().any(|tool| tool.starts_with("java")),
        gradle_files_checked: tools,
        gradle_suggested_fixes: facts.fixes(),
        summary: Summary {
            overall: facts.status,
            android: PlatformSummary {
                ready: android,
                summary: format!("{} Android device(s) can be used", facts.ready_android),
                blockers: if android { &[] } else { &facts.issues },
            },
            ios: PlatformSummary {
                ready: facts.ready_ios > 0,
                summary: format!("{} iPhone(s) or simulator(s) can be used", facts.ready_ios),
                blockers: &[],
            },
            gradle: GradleSummary {
                ready: true,
                summary: "builds use what a terminal would use",
                blockers: Vec::new(),
                suggested_fixes: Vec::new(),
            },
        },
    }))
}
