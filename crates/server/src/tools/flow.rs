//! Several calls in one: fewer round trips for an agent that knows what it wants.

use std::fmt::Write as _;
use std::time::Duration;

use mdm_core::action::failure::{ErrorCode, Failure};
use mdm_engine::Progress;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Effect, Entry, Tool};
use crate::answer::Answer;
use crate::app::App;
use crate::args::JsonObject;

const STEPS_MAX: usize = 50;
/// Of what a step says below its facts.
const LINES_CHARS_MAX: usize = 2000;

pub struct RunFlow;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct StepArg {
    tool: String,
    /// As for the tool.
    arguments: Option<JsonObject>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunFlowParams {
    /// At most 50, like {"tool":"tap_element","arguments":{"selector":{"text":"Log in"},"expect":{"text":"Welcome"}}}.
    steps: Vec<StepArg>,
    /// For every step that names none.
    device_id: Option<String>,
}

#[derive(Serialize)]
struct Facts {
    success: bool,
    steps: usize,
    done: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    failed_step: Option<usize>,
    elapsed_ms: u64,
}

/// What of a step's answer goes into the report.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Brief {
    success: Option<bool>,
    verdict: Option<String>,
    status: Option<String>,
    observed_change: Option<String>,
    stability_state: Option<String>,
    recovered: Vec<String>,
}

impl Brief {
    fn of(answer: &Answer) -> Brief {
        let first = answer.text.lines().next().unwrap_or_default();
        serde_json::from_str(first).unwrap_or_default()
    }

    fn words(&self) -> String {
        let said = [&self.verdict, &self.status, &self.observed_change, &self.stability_state];
        let mut words: Vec<&str> = said.into_iter().flatten().map(String::as_str).collect();
        words.extend(self.recovered.iter().map(String::as_str));
        words.join(", ")
    }
}

/// A step whose tool and arguments are known to be right.
struct Ready {
    entry: &'static Entry,
    arguments: JsonObject,
}

fn ready(at: usize, step: StepArg, device_id: Option<&str>) -> Result<Ready, Failure> {
    let wrong = |message: String, hint: String| {
        Failure::new(ErrorCode::InvalidArgument, format!("step {at}: {message}"), hint)
    };
    let entry = super::find(&step.tool).filter(|entry| entry.name != RunFlow::NAME).ok_or_else(|| {
        wrong(format!("{:.60?} is no tool that a flow can use", step.tool), "nothing was done".to_owned())
    })?;
    let mut arguments = step.arguments.unwrap_or_default();
    let named = arguments.keys().any(|name| matches!(name.as_str(), "deviceId" | "device_id"));
    if let Some(device) = device_id.filter(|_| !named && entry.takes("deviceId")) {
        arguments.insert("deviceId".to_owned(), device.into());
    }
    match entry.check(arguments.clone()) {
        Ok(()) => Ok(Ready { entry, arguments }),
        Err(failure) => Err(wrong(failure.message, failure.hint.into_owned())),
    }
}

impl Tool for RunFlow {
    type Params = RunFlowParams;
    const NAME: &'static str = "run_flow";
    const TITLE: &'static str = "Run several steps";
    const DESCRIPTION: &'static str = "Run calls of other tools one after the other and stop at the first that fails; \
        one short report. All arguments are checked before the first step. Use selectors for what is not on the screen \
        yet, and expect on the actions.";
    const EFFECT: Effect = Effect::Acts;
    const TIMEOUT: Duration = Duration::from_secs(900);

    async fn run(app: &App, params: RunFlowParams, progress: &Progress) -> Result<Answer, Failure> {
        if params.steps.is_empty() || params.steps.len() > STEPS_MAX {
            let message = format!("a flow has 1 to {STEPS_MAX} steps, not {}", params.steps.len());
            return Err(Failure::new(ErrorCode::InvalidArgument, message, "nothing was done"));
        }
        let device_id = params.device_id.as_deref();
        let steps = params.steps.into_iter().enumerate();
        let steps: Vec<Ready> =
            steps.map(|(at, step)| ready(at + 1, step, device_id)).collect::<Result<_, _>>()?;
        Ok(walk(app, steps, progress).await)
    }
}

async fn walk(app: &App, steps: Vec<Ready>, progress: &Progress) -> Answer {
    let count = steps.len();
    let mut report = String::new();
    let mut image = None;
    let mut failed_step = None;
    let mut done = 0;
    for (at, Ready { entry, arguments }) in steps.into_iter().enumerate() {
        let began_ms = progress.elapsed_ms();
        if !progress.has_time_for(Duration::ZERO) {
            let _ = writeln!(report, "{} {} not begun: time is up", at + 1, entry.name);
            failed_step = Some(at + 1);
            break;
        }
        let answer = entry.call(app, arguments, progress.cancellation()).await;
        let brief = Brief::of(&answer);
        // What was expected and is not known to have come true is no ground to go on from.
        let doubtful = brief.verdict.as_deref().is_some_and(|verdict| verdict != "confirmed");
        let failed = answer.is_error || doubtful || brief.success == Some(false);
        let took = progress.elapsed_ms() - began_ms;
        let words = brief.words();
        let how = if failed { "FAILED" } else { "ok" };
        let _ = write!(report, "{} {} {how} {took} ms", at + 1, entry.name);
        let _ = if words.is_empty() { writeln!(report) } else { writeln!(report, ": {words}") };
        image = answer.image.or(image);
        let last = at + 1 == count;
        let told = if failed { answer.text.as_str() } else { below(&answer.text) };
        if failed || last {
            report.extend(told.chars().take(LINES_CHARS_MAX));
        }
        if failed {
            failed_step = Some(at + 1);
            break;
        }
        done += 1;
    }
    let facts = Facts {
        success: failed_step.is_none(),
        steps: count,
        done,
        failed_step,
        elapsed_ms: progress.elapsed_ms(),
    };
    let answer = Answer::json(&facts).with_lines(&report);
    Answer { is_error: failed_step.is_some(), image, ..answer }
}

/// What an answer says below its facts.
fn below(text: &str) -> &str {
    text.split_once('\n').map_or("", |(_, lines)| lines)
}
