//! Several calls in one: fewer round trips for an agent that knows what it wants.

use std::fmt::Write as _;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Call, Effect, Entry, Tool};
use crate::answer::{Answer, Facts, Image};
use crate::args::{self, JsonObject};
use crate::refusal::Refusal;

/// Steps of one flow; more are refused.
const STEPS_MAX: usize = 50;
/// Characters of what one step says below its facts, and of all of them.
const LINES_CHARS_MAX: usize = 2000;
/// Characters of what all steps of a flow say; the rest is left out.
const REPORT_CHARS_MAX: usize = 12_000;

/// The tool whose steps are calls of other tools.
pub const NAME: &str = "run_flow";
const STEPS: &str = "steps";

pub struct RunFlow;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FlowStep {
    tool: String,
    arguments: Option<JsonObject>,
}

#[derive(Deserialize, JsonSchema)]
pub struct RunFlowParams {
    steps: Vec<FlowStep>,
    device_id: Option<String>,
}

#[derive(Debug, Serialize)]
pub struct FlowFacts {
    action_id: String,
    action_type: &'static str,
    lifecycle_state: &'static str,
    pub success: bool,
    /// The device of the last step that says which it used.
    #[serde(skip_serializing_if = "Option::is_none")]
    device: Option<String>,
    steps: usize,
    done: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    failed_step: Option<usize>,
    elapsed_ms: u64,
}

/// A step whose tool and arguments are known to be right.
struct ReadyStep {
    entry: &'static Entry,
    arguments: JsonObject,
}

/// The calls in a flow, read as the flow itself reads them. One that cannot be read has none: it is refused.
pub fn steps(entry: &Entry, arguments: &JsonObject) -> Vec<(&'static Entry, JsonObject)> {
    if entry.name != RunFlow::NAME {
        return Vec::new();
    }
    let given = arguments.iter().filter(|(name, _)| args::is_named(name, STEPS));
    let read = given.filter_map(|(_, steps)| serde_json::from_value::<Vec<FlowStep>>(steps.clone()).ok());
    let known = |step: FlowStep| Some((super::find(&step.tool)?, step.arguments.unwrap_or_default()));
    read.flatten().filter_map(known).collect()
}

/// What is not offered, and apps that the policy does not allow, are refused before the first step.
fn ready(call: &Call<'_>, at: usize, step: FlowStep, device_id: Option<&str>) -> Result<ReadyStep, Refusal> {
    let wrong = |message: String, hint: String| Refusal::argument(format!("step {at}: {message}"), hint);
    let can_be_used = |entry: &&Entry| entry.name != RunFlow::NAME;
    let entry = call.app.offer.find(&step.tool).filter(can_be_used).ok_or_else(|| {
        wrong(format!("{:.60?} is no tool that a flow can use", step.tool), "nothing was done".to_owned())
    })?;
    let mut arguments = step.arguments.unwrap_or_default();
    let named = arguments.keys().any(|name| matches!(name.as_str(), "deviceId" | "device_id"));
    if let Some(device) = device_id.filter(|_| !named && entry.takes("device_id")) {
        arguments.insert("device_id".to_owned(), device.into());
    }
    if entry.effect != Effect::ReadOnly {
        let apps = arguments.iter().filter(|(name, _)| args::is_app(name));
        apps.filter_map(|(_, id)| id.as_str()).try_for_each(|id| call.app.policy.check_app(id))?;
    }
    match entry.check(arguments.clone()) {
        Ok(()) => Ok(ReadyStep { entry, arguments }),
        Err(refusal) => Err(wrong(refusal.failure.message.clone(), refusal.hint.text().to_owned())),
    }
}

impl Tool for RunFlow {
    type Params = RunFlowParams;
    const NAME: &'static str = NAME;
    const DESCRIPTION: &'static str = "Run up to 50 calls of other tools in order and stop at the first that fails. All \
        arguments are checked before the first. Use selectors for what is not on the screen yet.";
    // A step may be a tool that destroys (F52).
    const EFFECT: Effect = Effect::Destroys;
    const TIMEOUT: Duration = Duration::from_secs(900);

    async fn run(call: &Call<'_>, params: RunFlowParams) -> Result<Answer, Refusal> {
        if params.steps.is_empty() || params.steps.len() > STEPS_MAX {
            let message = format!("a flow has 1 to {STEPS_MAX} steps, not {}", params.steps.len());
            return Err(Refusal::argument(message, "nothing was done"));
        }
        let device_id = params.device_id.as_deref();
        let steps = params.steps.into_iter().enumerate();
        let steps: Vec<ReadyStep> =
            steps.map(|(at, step)| ready(call, at + 1, step, device_id)).collect::<Result<_, _>>()?;
        Ok(walk(call, steps).await)
    }
}

/// Runs the steps in order, all by the flow's deadline, and stops at the first that failed.
async fn walk(call: &Call<'_>, steps: Vec<ReadyStep>) -> Answer {
    let progress = call.progress;
    let count = steps.len();
    let mut report = Report::default();
    let mut failed_step = None;
    let mut done = 0;
    for (at, step) in steps.into_iter().enumerate() {
        if !progress.has_time_left() {
            let _ = writeln!(report.text, "{} {} not begun: time is up", at + 1, step.entry.name);
            failed_step = Some(at + 1);
            break;
        }
        let last = at + 1 == count;
        if !report.add((at + 1, last), step, call).await {
            failed_step = Some(at + 1);
            break;
        }
        done += 1;
    }
    let facts = FlowFacts {
        action_id: call.action_id.clone(),
        action_type: RunFlow::NAME,
        lifecycle_state: if failed_step.is_none() { "verified" } else { "failed" },
        success: failed_step.is_none(),
        device: report.device,
        steps: count,
        done,
        failed_step,
        elapsed_ms: progress.elapsed_ms(),
    };
    let answer = Answer::new(Facts::Flow(facts)).with_lines(&report.text);
    Answer { image: report.image, ..answer }
}

/// What the steps said so far.
#[derive(Default)]
struct Report {
    text: String,
    image: Option<Image>,
    device: Option<String>,
}

impl Report {
    /// Runs one step and writes down how it went; false when it failed. What a read printed is what it was for, so it is
    /// kept; of actions only the last says what it changed.
    async fn add(&mut self, (number, last): (usize, bool), step: ReadyStep, call: &Call<'_>) -> bool {
        let ReadyStep { entry, arguments } = step;
        let progress = call.progress;
        let began_ms = progress.elapsed_ms();
        let answer = entry.call_within(call.app, arguments, call.by, progress).await;
        let gist = answer.facts.gist();
        self.device = answer.facts.device().map(str::to_owned).or(self.device.take());
        let how = if gist.failed { "FAILED" } else { "ok" };
        let _ = write!(self.text, "{number} {} {how} {} ms", entry.name, progress.elapsed_ms() - began_ms);
        let words = gist.words.join(", ");
        let _ = if words.is_empty() { writeln!(self.text) } else { writeln!(self.text, ": {words}") };
        let told = match entry.effect {
            _ if gist.failed => answer.text(),
            Effect::ReadOnly => answer.lines,
            _ if last => answer.lines,
            _ => String::new(),
        };
        let room = REPORT_CHARS_MAX.saturating_sub(self.text.chars().count()).min(LINES_CHARS_MAX);
        push_within(&mut self.text, &told, room);
        self.image = answer.image.or(self.image.take());
        !gist.failed
    }
}

/// As many whole lines as there is room for, and how many were left out.
fn push_within(out: &mut String, lines: &str, mut room: usize) {
    let mut left = 0;
    for line in lines.lines() {
        let needs = line.chars().count() + 1;
        if left == 0 && needs <= room {
            room -= needs;
            out.push_str(line);
            out.push('\n');
        } else {
            left += 1;
        }
    }
    if left > 0 {
        let _ = writeln!(out, "… {left} more lines; call the tool by itself to read them");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_step_said_is_cut_between_lines_and_says_so() {
        // MC-01
        let mut out = String::from("1 get_logs ok\n");
        push_within(&mut out, "one\ntwo\nthree", 9);
        assert_eq!(out, "1 get_logs ok\none\ntwo\n… 1 more lines; call the tool by itself to read them\n");
        let mut whole = String::new();
        push_within(&mut whole, "one\ntwo", 8);
        assert_eq!(whole, "one\ntwo\n");
    }
}
