//! One phone with one app and the product that drives it, in one runtime whose clock stands still while work is done.

use std::fmt::Write as _;

use mdm_virtual_device::{AppFile, Applied, FaultEvent, Faults, Film, Phone, PhoneConfig, Random, Timing};
use mobile_debug_mcp::app::{App, Devices};
use mobile_debug_mcp::tools;
use serde_json::Value;
use tokio::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

use crate::plan::Plan;

/// The longest time for any tool; one that takes longer has no answer.
const ANSWER_MAX: Duration = Duration::from_secs(700);
/// An input of a failed call may still arrive on the phone within this time.
const AFTERMATH: Duration = Duration::from_millis(60);

pub struct World {
    pub seed: u64,
    pub plan: Plan,
    pub phone: Phone,
    app: App,
    boot: Instant,
    pub log: String,
}

/// A call, its answer, and what the phone recorded in that time.
pub struct Call {
    pub tool: &'static str,
    pub arguments: Value,
    /// Nothing if none came in time.
    pub answer: Option<ToolAnswer>,
    pub from_ms: u64,
    pub to_ms: u64,
    /// `input` commands that the phone ran.
    pub commands: Vec<String>,
    /// Each applied input: its time, the input, and the frame of the film that it met.
    pub inputs: Vec<(u64, Applied, usize)>,
    pub faults: Vec<FaultEvent>,
    pub film: Film,
}

/// The answer of a tool, as an agent reads it.
#[derive(Debug, Clone)]
pub struct ToolAnswer {
    pub is_error: bool,
    pub facts: Value,
    pub lines: String,
}

impl ToolAnswer {
    pub fn read(text: &str, is_error: bool) -> ToolAnswer {
        let (first, lines) = text.split_once('\n').unwrap_or((text, ""));
        let facts = serde_json::from_str(first).unwrap_or(Value::Null);
        ToolAnswer { is_error, facts, lines: lines.to_owned() }
    }

    pub fn text(&self, name: &str) -> &str {
        self.facts.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    pub fn flag(&self, name: &str) -> bool {
        self.facts.get(name).and_then(Value::as_bool).unwrap_or_default()
    }

    pub fn number(&self, name: &str) -> Option<u64> {
        self.facts.get(name).and_then(Value::as_u64)
    }

    /// Returns the code of a failure, wherever the tool writes it.
    pub fn code(&self) -> &str {
        let error = self.facts.get("error").and_then(|error| error.get("code")).and_then(Value::as_str);
        error.unwrap_or_else(|| self.text("failure_code"))
    }
}

/// Returns the phone of a seed: its timing and its faults.
pub fn config(seed: u64, plan: &Plan) -> Result<PhoneConfig, String> {
    let mut random = Random::new(seed, 2);
    let timing = match random.below(20) {
        0..=6 => Timing::Instant,
        7..=15 => Timing::Brisk,
        _ => Timing::Phone,
    };
    let mut faults = Faults::default();
    if random.percent(55) {
        for _ in 0..=random.below(2) {
            let rate = [0.05, 0.15, 0.3][random.below(3)];
            match random.below(12) {
                0 => faults.slow_dump = rate,
                1 => faults.failing_dump = rate,
                2 => faults.empty_dump = rate,
                3 | 4 => faults.truncated_dump = rate,
                5 => faults.null_root = rate * 2.0,
                6 => faults.lost_tap = rate,
                7 => faults.late_tap = rate,
                8 => faults.double_tap = rate,
                9 => faults.dropped_connection = rate * 60.0,
                10 => faults.offline = rate * 20.0,
                _ => faults.system_dialog = rate * 10.0,
            }
        }
    }
    let app = AppFile::parse(&plan.file().to_string()).map_err(|error| error.to_string())?;
    Ok(PhoneConfig { timing, faults, seed, apps: vec![app], film: true, ..PhoneConfig::default() })
}

impl World {
    pub fn new(seed: u64) -> Result<World, String> {
        let plan = Plan::random(seed);
        let phone = Phone::new(config(seed, &plan)?);
        let devices = Devices { phone: Some(phone.clone()), addresses: Vec::new(), adb_server: false };
        Ok(World { seed, plan, phone, app: App::new(devices), boot: Instant::now(), log: String::new() })
    }

    /// Returns the time since the phone was switched on.
    pub fn now_ms(&self) -> u64 {
        self.boot.elapsed().as_millis() as u64
    }

    pub async fn call(&mut self, tool: &'static str, arguments: Value) -> Call {
        let before = self.phone.truth();
        let from_ms = self.now_ms();
        let answer = self.answer(tool, &arguments).await;
        let to_ms = self.now_ms();
        if answer.as_ref().is_none_or(|answer| answer.is_error) {
            tokio::time::sleep(AFTERMATH).await;
        }
        let mut after = self.phone.truth();
        let commands = after.commands.split_off(before.commands.len().min(after.commands.len()));
        let film = self.phone.film();
        let inputs =
            after.input_times_ms.into_iter().zip(after.inputs).zip(film.input_frames.iter().copied());
        let call = Call {
            tool,
            arguments,
            answer,
            from_ms,
            to_ms,
            commands: commands.into_iter().filter(|command| command.starts_with("input ")).collect(),
            inputs: inputs.skip(before.inputs.len()).map(|((at, input), met)| (at, input, met)).collect(),
            faults: after.faults.into_iter().skip(before.faults.len()).collect(),
            film,
        };
        self.write(&call);
        call
    }

    async fn answer(&self, tool: &'static str, arguments: &Value) -> Option<ToolAnswer> {
        let entry = tools::find(tool)?;
        let given = arguments.as_object().cloned().unwrap_or_default();
        let running = entry.call(&self.app, given, CancellationToken::new());
        let answer = tokio::time::timeout(ANSWER_MAX, running).await.ok()?;
        Some(ToolAnswer::read(&answer.text(), answer.is_error))
    }

    /// Writes a call to the log, without anything that the real clock goes into: the log is the same in every run.
    fn write(&mut self, call: &Call) {
        let (facts, lines) = match &call.answer {
            None => ("no answer".to_owned(), ""),
            Some(answer) => (timeless(&answer.facts).to_string(), answer.lines.as_str()),
        };
        let _ = writeln!(
            self.log,
            "{} to {} ms: {} {}\n  {facts}\n  {}",
            call.from_ms,
            call.to_ms,
            call.tool,
            call.arguments,
            timeless_words(lines).replace('\n', "\n  ")
        );
        for (at, input, _) in &call.inputs {
            let _ = writeln!(self.log, "  applied at {at} ms: {input:?}");
        }
        for fault in &call.faults {
            let _ = writeln!(self.log, "  fault at {} ms: {}", fault.at_ms, fault.fault.name());
        }
    }
}

/// Removes the time of day from names of actions.
fn timeless_words(lines: &str) -> String {
    const DIGITS: usize = 13;
    let is_time = |word: &str| word.len() == DIGITS && word.bytes().all(|byte| byte.is_ascii_digit());
    let parts = lines.split('_').map(|part| if is_time(part) { "…" } else { part });
    parts.collect::<Vec<_>>().join("_")
}

fn timeless(facts: &Value) -> Value {
    let mut facts = facts.clone();
    if let Some(members) = facts.as_object_mut() {
        members.remove("action_id");
        members.remove("captured_at_ms");
    }
    facts
}
