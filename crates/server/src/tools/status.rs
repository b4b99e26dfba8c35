//! Whether devices can be reached and apps be built, and what mends what is missing (EN-01).

use std::time::Duration;

use mdm_android::adb::server_start::Environment;
use mdm_build::toolchain::{self, ToolStatus};
use mdm_core::port::{Availability, Listed};
use mdm_core::screen::snapshot::Platform;
use mdm_engine::{Counts, Progress};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Call, Effect, Tool};
use crate::answer::{Answer, Facts};
use crate::app::App;
use crate::refusal::Refusal;

/// What does not answer by then is reported as silent.
const ANSWER_TIME: Duration = Duration::from_millis(800);
/// Starting an adb server.
const START_TIME: Duration = Duration::from_secs(5);
const BLOCKED: &str = "blocked";
const MEND_ADB: &str = "install Android platform-tools and put adb on PATH, or set ADB_PATH; --device HOST:PORT and \
    --virtual android work without it";

pub struct GetSystemStatus;

#[derive(Deserialize, JsonSchema)]
pub struct NoParams {}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StatusFacts {
    pub success: bool,
    /// ready, degraded (something works, something does not) or blocked.
    pub status: &'static str,
    pub adb_available: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adb_version: Option<String>,
    pub devices: usize,
    pub device_states: String,
    pub ios_available: bool,
    pub issues: Vec<String>,
    /// What is worth knowing and stands in nobody's way.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    /// Whether apps can be built here, and what is missing.
    tools: Vec<ToolFacts>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    waits: Vec<WaitCounts>,
    /// Calls of this process that a defect of ours ended.
    #[serde(skip_serializing_if = "is_zero")]
    internal_errors: u64,
    /// Devices that can be used, and all that are listed, of one platform.
    #[serde(skip)]
    pub ready_android: usize,
    #[serde(skip)]
    pub ready_ios: usize,
    #[serde(skip)]
    pub listed_ios: usize,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// A program that builds or connections need.
#[derive(Debug, Serialize)]
struct ToolFacts {
    name: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    found: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
    /// What mends it.
    #[serde(skip_serializing_if = "Option::is_none")]
    mend: Option<&'static str>,
}

impl From<ToolStatus> for ToolFacts {
    fn from(tool: ToolStatus) -> ToolFacts {
        let ToolStatus { name, found, version, problem, mend, .. } = tool;
        ToolFacts { name, found: found.map(|path| path.display().to_string()), version, problem, mend }
    }
}

impl StatusFacts {
    pub fn has_usable(&self) -> bool {
        self.status != BLOCKED
    }

    /// The programs that were found, by their names and places.
    pub fn found_tools(&self) -> Vec<String> {
        let shown = |tool: &ToolFacts| Some(format!("{} {}", tool.name, tool.found.as_ref()?));
        self.tools.iter().filter_map(shown).collect()
    }

    /// What mends the tools that are missing.
    pub fn fixes(&self) -> Vec<String> {
        self.tools.iter().filter_map(|tool| tool.mend).map(str::to_owned).collect()
    }

    /// The same for a person, a line each.
    pub fn lines(&self) -> String {
        let mut out = match self.status {
            BLOCKED => "no device can be used yet\n".to_owned(),
            _ => format!("devices: {}\n", self.device_states),
        };
        self.issues.iter().for_each(|issue| out.push_str(&format!("! {issue}\n")));
        self.notes.iter().for_each(|note| out.push_str(&format!("{note}\n")));
        for tool in &self.tools {
            let name = tool.name;
            match (&tool.found, &tool.problem) {
                (Some(path), None) => {
                    let version = tool.version.as_deref().unwrap_or_default();
                    out.push_str(format!("{name}: {version} {path}").replace("  ", " ").trim_end());
                }
                (_, problem) => {
                    let problem = problem.as_deref().unwrap_or("not found");
                    out.push_str(&format!("{name}: {problem}; {}", tool.mend.unwrap_or_default()));
                }
            }
            out.push('\n');
        }
        out
    }
}

/// Statistics of the actions and waits on a device (MT-01, SY-18).
#[derive(Debug, Serialize)]
struct WaitCounts {
    device: String,
    waits: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    success_percent: Option<u64>,
    timeouts: u64,
    unreadable: u64,
    targets_gone: u64,
    stale_caught: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    mean_stabilise_ms: Option<u64>,
    captures: u64,
    changes: u64,
    premature_actions: u64,
    retries: u64,
    actions: u64,
    /// Actions that succeeded without a recovery.
    #[serde(skip_serializing_if = "Option::is_none")]
    first_try_percent: Option<u64>,
    /// Actions on a point, where no element was named.
    #[serde(skip_serializing_if = "Option::is_none")]
    by_point_percent: Option<u64>,
    /// Calls that were refused because several elements fit.
    ambiguous: u64,
    /// How long after the last change and its window of quiet a wait ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    mean_overshoot_ms: Option<u64>,
}

impl WaitCounts {
    fn new((device, counts): (String, Counts)) -> WaitCounts {
        WaitCounts {
            device,
            waits: counts.waits,
            success_percent: counts.success_rate(),
            timeouts: counts.timed_out,
            unreadable: counts.unreadable,
            targets_gone: counts.targets_gone,
            stale_caught: counts.stale_caught,
            mean_stabilise_ms: counts.mean_stabilise_ms(),
            captures: counts.captures,
            changes: counts.changes,
            premature_actions: counts.premature,
            retries: counts.retries,
            actions: counts.actions,
            first_try_percent: counts.first_try_rate(),
            by_point_percent: counts.by_point_rate(),
            ambiguous: counts.ambiguous,
            mean_overshoot_ms: counts.mean_overshoot_ms(),
        }
    }
}

impl Tool for GetSystemStatus {
    type Params = NoParams;
    const NAME: &'static str = "get_system_status";
    const DESCRIPTION: &'static str = "Whether devices can be reached, and what to mend if not.";
    const EFFECT: Effect = Effect::ReadOnly;
    const TIMEOUT: Duration = Duration::from_secs(15);

    async fn run(call: &Call<'_>, _: NoParams) -> Result<Answer, Refusal> {
        Ok(Answer::new(Facts::Status(Box::new(status(call.app, call.progress).await))))
    }
}

/// Asks everything at the same time; what does not answer soon is said not to (EN-01).
async fn status(app: &App, progress: &Progress) -> StatusFacts {
    let soon = &progress.within_next(answer_time(app, progress).await);
    let (healths, list, tools) = tokio::join!(app.fleet.health(soon), app.fleet.list(None, soon), tools());
    let (mut issues, mut notes) = (Vec::new(), Vec::new());
    let (mut adb_available, mut adb_version, mut ios_available) = (false, None, false);
    for (platform, health) in healths {
        match health {
            Ok(health) => {
                match platform {
                    Platform::Android => {
                        adb_available |= health.available;
                        adb_version = adb_version.or(health.version);
                    }
                    Platform::Ios => ios_available |= health.available,
                }
                issues.extend(health.issues);
                notes.extend(health.notes);
            }
            Err(failure) => issues.push(failure.to_string()),
        }
    }
    issues.extend(list.failures.iter().map(ToString::to_string));
    let listed = list.devices;
    let is_ready = |device: &&Listed| device.availability == Availability::Ready;
    let of = |platform: Platform| listed.iter().filter(move |device| device.platform == platform);
    let (ready_android, ready_ios) =
        (of(Platform::Android).filter(is_ready).count(), of(Platform::Ios).filter(is_ready).count());
    let (listed_ios, ready) = (of(Platform::Ios).count(), ready_android + ready_ios);
    // A list that never came does not say that there is nothing.
    if listed.is_empty() && list.failures.is_empty() {
        issues.push(
            "no device is connected: plug one in, start an emulator, or serve with --virtual android"
                .to_owned(),
        );
    }
    issues.extend(listed.iter().filter_map(issue_of));
    let something = |counts: &Counts| counts.waits + counts.premature + counts.retries + counts.actions > 0;
    let waited = app.fleet.wait_counts().into_iter().filter(|(_, counts)| something(counts));
    StatusFacts {
        success: issues.is_empty(),
        status: match (ready, issues.is_empty()) {
            (0, _) => BLOCKED,
            (_, true) => "ready",
            (_, false) => "degraded",
        },
        adb_available,
        adb_version,
        devices: listed.len(),
        device_states: count_states(&listed),
        ios_available,
        issues,
        notes,
        tools,
        waits: waited.map(WaitCounts::new).collect(),
        internal_errors: app.panics(),
        ready_android,
        ready_ios,
        listed_ios,
    }
}

/// An adb server that does not run is started, which takes longer than an answer.
async fn answer_time(app: &App, progress: &Progress) -> Duration {
    if !app.adb_server {
        return ANSWER_TIME;
    }
    let (address, _) = Environment::of_process().server_address();
    let connect = async { Ok(tokio::net::TcpStream::connect(address).await) };
    let seen = progress.within_next(ANSWER_TIME).race("looking for the adb server", connect).await;
    if matches!(seen, Ok(Err(_))) { START_TIME } else { ANSWER_TIME }
}

/// The programs that are looked for, found by their files: nothing is started.
async fn tools() -> Vec<ToolFacts> {
    let adb = Environment::of_process().find_adb();
    let adb = ToolFacts {
        name: "adb",
        problem: adb.is_none().then(|| "not found".to_owned()),
        mend: adb.is_none().then_some(MEND_ADB),
        found: adb.map(|path| path.display().to_string()),
        version: None,
    };
    let survey = || toolchain::survey(&mdm_build::Environment::of_process());
    let rest = tokio::task::spawn_blocking(survey).await.unwrap_or_default();
    std::iter::once(adb).chain(rest.into_iter().map(ToolFacts::from)).collect()
}

fn issue_of(listed: &Listed) -> Option<String> {
    let advice = match (&listed.availability, listed.platform) {
        (Availability::Ready, _) => return None,
        (Availability::Unauthorized, Platform::Android) => "accept the debugging dialog on its screen",
        (Availability::Unauthorized, Platform::Ios) => "unlock it and tap Trust on its screen",
        (Availability::Offline, _) => "reconnect it",
        (Availability::Other(_), Platform::Android) => "boot it normally",
        // A Mac has many simulators that nobody uses.
        (Availability::Other(_), Platform::Ios) => return None,
    };
    Some(format!("{} is {}: {advice}", listed.id, listed.availability.as_str()))
}

/// Counts the states in order of appearance: `1 device, 2 unauthorized`.
fn count_states(listed: &[Listed]) -> String {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for device in listed {
        let state = device.availability.as_str();
        match counts.iter_mut().find(|(known, _)| *known == state) {
            Some((_, count)) => *count += 1,
            None => counts.push((state, 1)),
        }
    }
    counts.iter().map(|(state, count)| format!("{count} {state}")).collect::<Vec<_>>().join(", ")
}
