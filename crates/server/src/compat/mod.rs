//! The predecessor's answers, key for key: for scripts that were written for it. A call is made as ever; what it came to
//! is then written with the predecessor's keys, types and blocks. Values are ours: where this server knows something
//! better, the better value stands under the old key. `docs/compat.md` lists what differs and why.
//!
//! Architecture invariant: nothing here reads our own text again. What a rendering needs is in the facts of the answer or
//! in its basis.

mod adjust;
mod apps;
mod arguments;
mod devices;
mod element;
mod envelope;
mod expects;
mod failure;
mod find;
mod logs;
mod network;
mod observe;
mod parts;
mod snapshot;
mod status;
mod trace;
mod waits;

use std::sync::Arc;
use std::time::Duration;

use mdm_core::change::tracker::Observation;
use mdm_core::failure::Failure;
use mdm_core::port::{Availability, Listed};
use mdm_core::screen::snapshot::Platform;
use mdm_engine::{Progress, Session};
use serde::Serialize;

use crate::answer::{Answer, Facts, Image};
use crate::app::App;
use crate::args::JsonObject;
use crate::basis::MadeFrom;
use crate::refusal::Refusal;
use crate::tools::{By, Entry};
use parts::{Asked, Device};

/// For facts about the device that the call itself did not need.
const FACTS_TIME: Duration = Duration::from_secs(5);

/// The tools of the predecessor, in its order.
pub const TOOLS: [&str; 33] = [
    "start_app",
    "terminate_app",
    "restart_app",
    "reset_app_data",
    "install_app",
    "build_app",
    "get_logs",
    "list_devices",
    "get_system_status",
    "capture_screenshot",
    "capture_debug_snapshot",
    "start_log_stream",
    "read_log_stream",
    "stop_log_stream",
    "get_ui_tree",
    "get_current_screen",
    "get_screen_fingerprint",
    "wait_for_screen_change",
    "wait_for_ui_change",
    "expect_screen",
    "expect_element_visible",
    "expect_state",
    "adjust_control",
    "wait_for_ui",
    "find_element",
    "tap",
    "tap_element",
    "swipe",
    "scroll_to_element",
    "type_text",
    "press_back",
    "classify_action_outcome",
    "get_network_activity",
];

/// An answer in the predecessor's form.
pub struct Rendered {
    pub blocks: Vec<Block>,
    /// The call was refused. What else did not come true was said in the answer alone.
    pub is_refused: bool,
    /// As the same call without compatibility would have ended.
    pub is_error: bool,
}

pub enum Block {
    Text(String),
    Image(Image),
}

impl Block {
    /// Indented by two spaces, as every answer was.
    fn json(value: &impl Serialize) -> Block {
        // Our own structures always serialise; if one ever did not, the caller must hear of it.
        let text = serde_json::to_string_pretty(value);
        Block::Text(text.unwrap_or_else(|error| format!("the answer could not be written: {error}")))
    }
}

/// The answer to a call that was refused.
#[derive(Serialize)]
struct RefusedJson<'a> {
    error: ErrorJson<'a>,
}

#[derive(Serialize)]
struct ErrorJson<'a> {
    tool: &'a str,
    message: &'a str,
}

/// Arguments that had no effect, reported behind the answer.
#[derive(Serialize)]
struct UnknownJson<'a> {
    unknown_arguments: &'a [String],
}

/// What an answer is rendered from.
struct Rendering<'a> {
    tool: &'static str,
    asked: &'a Asked,
    answer: &'a Answer,
    device: Option<Device>,
    /// The process of the app that was launched, where the answer names it.
    pid: Option<u32>,
    /// The screen as it was seen last.
    last: Option<Arc<Observation>>,
    now_ms: u64,
    /// Of a call that is no action and has a trace.
    fresh_id: String,
}

impl Rendering<'_> {
    fn refused(&self) -> Option<Failure> {
        match &self.answer.basis.made_from {
            MadeFrom::Refusal(failure) => Some(failure.clone()),
            _ => None,
        }
    }

    fn action_id(&self) -> String {
        match &self.answer.facts {
            Facts::Action(facts) => facts.action_id().to_owned(),
            _ => self.fresh_id.clone(),
        }
    }

    fn platform(&self) -> Platform {
        match self.device.as_ref().map(|device| device.platform).or(self.asked.text("platform")) {
            Some("ios") => Platform::Ios,
            _ => Platform::Android,
        }
    }

    /// The revision of the screen that was seen last.
    fn revision(&self) -> u64 {
        self.last.as_ref().map_or(1, |seen| seen.revision)
    }

    fn device_or_unknown(&self) -> Device {
        self.device.clone().unwrap_or_else(|| Device::unknown(self.platform().as_str()))
    }

    /// A call that was refused before anything was done.
    fn error(&self) -> Vec<Block> {
        let failure = match &self.answer.basis.made_from {
            MadeFrom::Action(outcome) => outcome.failure.clone(),
            _ => self.refused(),
        };
        let message = failure.map_or_else(|| self.answer.text(), |failure| failure.message);
        vec![Block::json(&RefusedJson { error: ErrorJson { tool: self.tool, message: &message } })]
    }
}

/// Makes a call with the predecessor's arguments, and answers as it did.
pub async fn call(app: &App, entry: &'static Entry, given: JsonObject, by: By) -> Rendered {
    let taken = arguments::take(entry, &given);
    let cancelled = by.cancelled.clone();
    let answer = entry.call_by(app, taken.arguments, by).await;
    let progress = &Progress::new(FACTS_TIME, cancelled);
    let asked = Asked::new(given);
    let session = match &answer.basis.session {
        Some(session) => Some(Arc::clone(session)),
        None => only_device(app, &asked, progress).await,
    };
    let info = match &session {
        Some(session) => session.info(progress).await.ok(),
        None => None,
    };
    let pid = match (&session, asked.text("app_id"), entry.name) {
        (Some(session), Some(id), "start_app" | "restart_app" | "get_logs") => {
            session.app_pids(id, progress).await.ok().and_then(|pids| pids.first().copied())
        }
        _ => None,
    };
    let rendering = Rendering {
        tool: entry.name,
        asked: &asked,
        answer: &answer,
        device: info.as_ref().map(Device::of),
        pid,
        last: session.as_ref().and_then(|session| session.memory().tracker.last().cloned()),
        now_ms: app.fleet.clock().now_ms(),
        fresh_id: app.action_id(entry.name),
    };
    let (mut blocks, is_refused) = match render(&rendering) {
        // Of a tool that the predecessor did not have a failure is one as ever.
        Some(blocks) => (blocks, answer.is_error && !TOOLS.contains(&entry.name)),
        None => (rendering.error(), true),
    };
    if !taken.unknown.is_empty() {
        blocks.push(Block::json(&UnknownJson { unknown_arguments: &taken.unknown }));
    }
    Rendered { blocks, is_refused, is_error: answer.is_error }
}

/// The answer to a call that was not even begun.
pub fn refused(entry: &'static Entry, refusal: &Refusal) -> Rendered {
    let error = ErrorJson { tool: entry.name, message: &refusal.failure.message };
    Rendered { blocks: vec![Block::json(&RefusedJson { error })], is_refused: true, is_error: true }
}

/// The device that a call was meant for that was refused before it looked for one.
async fn only_device(app: &App, asked: &Asked, progress: &Progress) -> Option<Arc<Session>> {
    let platform = match asked.text("platform") {
        Some("ios") => Some(Platform::Ios),
        Some("android") => Some(Platform::Android),
        _ => None,
    };
    let list = app.fleet.list(platform, progress).await;
    let named = asked.text("device_id");
    let is_meant = |listed: &&Listed| {
        listed.availability == Availability::Ready && named.is_none_or(|id| id == listed.id)
    };
    match list.devices.iter().filter(is_meant).collect::<Vec<_>>()[..] {
        [only] => Some(app.fleet.session(only)),
        _ => None,
    }
}

/// The blocks of an answer; none for a call that was refused and had no more to say than why.
fn render(r: &Rendering<'_>) -> Option<Vec<Block>> {
    let one = |block: Option<Block>| block.map(|block| vec![block]);
    match r.tool {
        "list_devices" => one(devices::render(r)),
        "get_system_status" => one(status::render(r)),
        "get_ui_tree" => one(observe::tree(r)),
        "get_current_screen" => one(observe::screen(r)),
        "get_screen_fingerprint" => one(observe::fingerprint(r)),
        "capture_screenshot" => observe::screenshot(r),
        "capture_debug_snapshot" => one(snapshot::render(r)),
        "get_logs" => logs::logs(r),
        "start_log_stream" => one(logs::started(r)),
        "read_log_stream" => one(logs::entries(r)),
        "stop_log_stream" => one(logs::stopped(r)),
        "get_network_activity" => one(network::requests(r)),
        "classify_action_outcome" => one(network::classified(r)),
        "terminate_app" | "reset_app_data" | "install_app" | "build_app" => one(apps::render(r)),
        "build_and_install" => apps::built_and_installed(r),
        "wait_for_ui" => one(waits::element(r)),
        "wait_for_ui_change" => one(waits::change(r)),
        "wait_for_screen_change" => one(waits::screen(r)),
        "expect_element_visible" => one(expects::visible(r)),
        "expect_state" => one(expects::state(r)),
        "expect_screen" => one(expects::screen(r)),
        "find_element" => one(find::render(r)),
        "start_app" | "restart_app" | "tap" | "tap_element" | "swipe" | "type_text" | "press_back"
        | "scroll_to_element" | "adjust_control" => one(envelope::render(r)),
        // The predecessor did not have it.
        _ => {
            let text = Block::Text(r.answer.text());
            Some(std::iter::once(text).chain(r.answer.image.clone().map(Block::Image)).collect())
        }
    }
}
