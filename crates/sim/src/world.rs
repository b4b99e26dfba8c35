//! One phone with one app and the product that drives it, in one runtime whose clock stands still while work is done.

mod iphone;

use std::fmt::Write as _;
use std::sync::Arc;

use mdm_android::{Endpoint, HelperMode, Hub, HubConfig};
use mdm_virtual_device::{
    AppFile, Applied, DumpShown, Fault, FaultEvent, Faults, Film, Frame, Phone, PhoneConfig, Random,
    ShownToast, Timing,
};
use mobile_debug_mcp::app::{App, VIRTUAL_ANDROID_ID, VIRTUAL_IOS_ID, phone_connector};
use mobile_debug_mcp::tools;
use serde_json::Value;
use tokio::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

use crate::plan::{PACKAGE, Plan};

/// How the phone records what its helper is asked to touch, press or type.
pub const HELPER: &str = "helper ";
/// The name of the other phone.
pub const SECOND: &str = "second-phone";
/// The longest time for any tool; one that takes longer has no answer.
const ANSWER_MAX: Duration = Duration::from_secs(700);
/// The longest time by which the phone delays a tap.
const TAP_DELAY_MAX_MS: u64 = 1500;
/// An input of a failed call may still arrive on the phone within this time.
const AFTERMATH: Duration = Duration::from_millis(60);
/// The longest that a phone takes for one input command, and some more.
const UNKNOWN_AFTERMATH: Duration = Duration::from_secs(3);

/// Which phone is simulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Face {
    Android,
    /// The same phone; the product uses the program that it starts there.
    AndroidWithHelper,
    Ios,
}

impl Face {
    /// The name of the first phone.
    pub fn first(self) -> &'static str {
        match self {
            Face::Android | Face::AndroidWithHelper => VIRTUAL_ANDROID_ID,
            Face::Ios => VIRTUAL_IOS_ID,
        }
    }
}

pub struct World {
    pub seed: u64,
    pub plan: Plan,
    pub phone: Phone,
    /// Another phone with the same app, in some worlds.
    pub second: Option<Phone>,
    /// The device of the last answer that was no error: a call without a device may go there.
    bound: Option<String>,
    /// When the phone last delayed or doubled a tap.
    last_tap_fault_ms: Option<u64>,
    app: App,
    boot: Instant,
    pub log: String,
}

/// A call, its answer, and what the phone recorded in that time.
pub struct Call {
    pub tool: &'static str,
    pub arguments: Value,
    /// The device that the call was about.
    pub device: String,
    /// What is wrong with the choice of the device, if none was named and the answer is no error.
    pub unbound: Option<String>,
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
    /// A tap of an earlier call may still arrive, because the phone delayed or doubled it.
    pub tap_lingers: bool,
    /// Every toast so far.
    pub toasts: Vec<ShownToast>,
    /// Inputs that reached a phone that this call is not about.
    pub elsewhere: Vec<Applied>,
    /// `package/.Activity` that is in front after the call.
    pub front: String,
}

impl Call {
    pub fn had_fault(&self, faults: &[Fault]) -> bool {
        let lingers = self.tap_lingers && faults.contains(&Fault::LateTap);
        lingers || self.faults.iter().any(|event| faults.contains(&event.fault))
    }

    /// Returns `package/.Activity` as an answer tells it. iOS tells only the app, and a person sees the rest.
    pub fn screen_of(&self, answer: &ToolAnswer) -> String {
        let told = answer.text("screen");
        if told == PACKAGE { self.front.clone() } else { told.to_owned() }
    }

    /// Returns what the last whole dump before an input showed. `met` is the frame that the input met.
    pub fn seen_before(&self, ms: u64, met: usize) -> Option<&Frame> {
        let earlier = |look: &&DumpShown| look.is_whole && look.at_ms <= ms && look.frame <= met;
        let look = self.film.dumps.iter().rev().find(earlier)?;
        self.film.frames.get(look.frame)
    }

    /// Returns the inputs at points to which this call sent one: a touch of an earlier call may arrive late.
    pub fn own_touches(&self) -> Vec<(u64, Applied, usize)> {
        let sent = |from: (i32, i32)| {
            let place = format!(" {} {}", from.0, from.1);
            self.commands.iter().any(|command| {
                command.split_once(&place).is_some_and(|(_, rest)| rest.is_empty() || rest.starts_with(' '))
            })
        };
        let own = self.inputs.iter().filter(|(_, input, _)| match input {
            Applied::Tap { at, .. } => sent(*at),
            Applied::Swipe { from, .. } => sent(*from),
            _ => false,
        });
        own.cloned().collect()
    }
}

/// The answer of a tool, as an agent reads it.
#[derive(Debug, Clone)]
pub struct ToolAnswer {
    pub is_error: bool,
    pub facts: Value,
    pub lines: String,
}

impl ToolAnswer {
    /// True if the call was not done; a wait that timed out was.
    pub fn is_refused(&self) -> bool {
        self.is_error && self.facts.get("success").is_none() && self.facts.get("found").is_none()
    }

    pub fn read(text: &str, is_error: bool) -> ToolAnswer {
        let (first, lines) = text.split_once('\n').unwrap_or((text, ""));
        let facts = serde_json::from_str(first).unwrap_or(Value::Null);
        ToolAnswer { is_error, facts, lines: lines.to_owned() }
    }

    /// Returns true if the answer says that something may lie in front of the target.
    pub fn tells_doubt(&self) -> bool {
        let reasons =
            self.facts.get("target").and_then(|target| target.get("reasons")).and_then(Value::as_array);
        reasons.is_some_and(|reasons| reasons.iter().any(|reason| reason == "maybe_covered"))
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

    /// Returns what the answer tells to do next.
    pub fn hint(&self) -> &str {
        let error = self.facts.get("error").and_then(|error| error.get("hint"));
        error.and_then(Value::as_str).unwrap_or_default()
    }

    /// Returns the code of a failure, wherever the tool writes it.
    pub fn code(&self) -> &str {
        let error = self.facts.get("error").and_then(|error| error.get("code")).and_then(Value::as_str);
        error.unwrap_or_else(|| self.text("failure_code"))
    }
}

/// Returns a second phone in a few worlds: a little older, or the same.
fn second_phone(seed: u64, config: PhoneConfig) -> Option<Phone> {
    let mut random = Random::new(seed, 4);
    let older = random.percent(50);
    let android_version = if older { "10".to_owned() } else { config.android_version.clone() };
    random.percent(6).then(|| Phone::new(PhoneConfig { android_version, seed: seed + 1, ..config }))
}

fn timing(random: &mut Random) -> Timing {
    match random.below(20) {
        0..=6 => Timing::Instant,
        7..=15 => Timing::Brisk,
        _ => Timing::Phone,
    }
}

/// Returns the phone of a seed: its timing and its faults.
pub fn config(seed: u64, plan: &Plan) -> Result<PhoneConfig, String> {
    let mut random = Random::new(seed, 2);
    let timing = timing(&mut random);
    let mut faults = Faults::default();
    if random.percent(55) {
        for _ in 0..=random.below(2) {
            let rate = [0.05, 0.15, 0.3][random.below(3)];
            match random.below(13) {
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
                11 => faults.hanging_dump = rate / 5.0,
                _ => faults.system_dialog = rate * 10.0,
            }
        }
    }
    let app = AppFile::parse(&plan.file().to_string()).map_err(|error| error.to_string())?;
    // Dumps of older versions have no hints and no order of drawing.
    let (sdk, version) = if random.percent(20) { (30, "11") } else { (36, "16") };
    let android_version = version.to_owned();
    let apps = vec![app];
    Ok(PhoneConfig { timing, faults, seed, apps, film: true, sdk, android_version, ..PhoneConfig::default() })
}

/// Makes the helper of two phones in three fail at random: it does not start, dies, is refused, lies, tells no event or too
/// many, or takes long.
fn trouble_helper(seed: u64, faults: &mut Faults) {
    let mut random = Random::new(seed, 5);
    if !random.percent(66) {
        return;
    }
    for _ in 0..=random.below(2) {
        let fault = Fault::OF_HELPER[random.below(Fault::OF_HELPER.len())];
        let rate = [0.02, 0.1, 0.4][random.below(3)];
        // A tree that is wrong now and then cannot be told from a right one.
        *faults.rate_mut(fault) = if fault == Fault::HelperLie { 1.0 } else { rate };
    }
}

impl World {
    /// Makes a world with one phone, or sometimes two.
    pub fn new(seed: u64, face: Face) -> Result<World, String> {
        let plan = Plan::random(seed, face);
        match face {
            Face::Android | Face::AndroidWithHelper => {
                let mut config = config(seed, &plan)?;
                if face == Face::AndroidWithHelper {
                    // The film does not know who read a hint, and the helper tells hints that dumps of older versions lack.
                    (config.sdk, config.android_version) = (36, "16".to_owned());
                    trouble_helper(seed, &mut config.faults);
                }
                let phones = (Phone::new(config.clone()), second_phone(seed, config));
                Ok(World::of(seed, plan, phones))
            }
            Face::Ios => {
                let (phones, app) = iphone::phones(seed, &plan)?;
                Ok(World::with(seed, plan, phones, app))
            }
        }
    }

    /// Makes a world with one Android phone.
    pub fn alone(seed: u64) -> Result<World, String> {
        let plan = Plan::random(seed, Face::Android);
        let phone = Phone::new(config(seed, &plan)?);
        Ok(World::of(seed, plan, (phone, None)))
    }

    fn of(seed: u64, plan: Plan, (phone, second): (Phone, Option<Phone>)) -> World {
        let endpoint = |id: &str, phone: &Phone| Endpoint {
            id: id.to_owned(),
            connector: phone_connector(phone.clone()),
        };
        let endpoints = [(Face::Android.first(), Some(&phone)), (SECOND, second.as_ref())];
        let endpoints = endpoints.into_iter().filter_map(|(id, phone)| Some(endpoint(id, phone?))).collect();
        let helper = match plan.face {
            Face::AndroidWithHelper => HelperMode::Auto,
            _ => HelperMode::Never,
        };
        let hub = Hub::with_helper(HubConfig::of_process(endpoints, false), helper);
        let app = App::with_source(Arc::new(hub));
        World::with(seed, plan, (phone, second), app)
    }

    fn with(seed: u64, plan: Plan, (phone, second): (Phone, Option<Phone>), app: App) -> World {
        World {
            seed,
            plan,
            phone,
            second,
            bound: None,
            last_tap_fault_ms: None,
            app,
            boot: Instant::now(),
            log: String::new(),
        }
    }

    /// Returns the phone with this name, the first one if there is none, and the other one.
    fn phones(&self, device: &str) -> (&Phone, Option<&Phone>) {
        match &self.second {
            Some(second) if device == SECOND => (second, Some(&self.phone)),
            second => (&self.phone, second.as_ref()),
        }
    }

    /// Returns the device that a call is about: the one that it names, else the one that its answer names, else the
    /// one of the last answer.
    fn device(&self, arguments: &Value, answer: Option<&ToolAnswer>) -> String {
        let named = arguments.get("deviceId").and_then(Value::as_str);
        let told = answer.map(|answer| answer.text("device")).filter(|told| !told.is_empty());
        named.or(told).or(self.bound.as_deref()).unwrap_or(self.plan.face.first()).to_owned()
    }

    /// Returns the time since the phone was switched on.
    pub fn now_ms(&self) -> u64 {
        self.boot.elapsed().as_millis() as u64
    }

    pub async fn call(&mut self, tool: &'static str, arguments: Value) -> Call {
        let [first, second] = [Some(&self.phone), self.second.as_ref()].map(|phone| phone.map(Phone::moment));
        let from_ms = self.now_ms();
        let tap_lingers = self.last_tap_fault_ms.is_some_and(|at| at + TAP_DELAY_MAX_MS >= from_ms);
        let answer = self.answer(tool, &arguments).await;
        let to_ms = self.now_ms();
        if answer.as_ref().is_none_or(|answer| answer.is_error) {
            tokio::time::sleep(AFTERMATH).await;
        }
        // A command whose fate is not known may still be on its way.
        if answer.as_ref().is_some_and(|answer| answer.text("dispatched") == "unknown") {
            tokio::time::sleep(UNKNOWN_AFTERMATH).await;
        }
        let device = self.device(&arguments, answer.as_ref());
        let (phone, other) = self.phones(&device);
        let (own, others) = if device == SECOND { (second, first) } else { (first, second) };
        let happened = own.map(|moment| phone.since(&moment)).unwrap_or_default();
        let elsewhere =
            other.zip(others).map(|(phone, moment)| phone.since(&moment).inputs).unwrap_or_default();
        let film = phone.film();
        let inputs =
            happened.inputs.into_iter().zip(film.input_frames.iter().copied().skip(happened.inputs_before));
        let call = Call {
            tool,
            unbound: self.unbound(tool, &arguments, answer.as_ref()),
            arguments,
            device,
            answer,
            from_ms,
            to_ms,
            commands: self.inputs_of(happened.commands),
            inputs: inputs.map(|((at, input), met)| (at, input, met)).collect(),
            faults: happened.faults,
            film,
            tap_lingers,
            toasts: phone.toasts(),
            elsewhere: elsewhere.into_iter().map(|(_, input)| input).collect(),
            front: phone.truth().activity,
        };
        let delays = |event: &&FaultEvent| matches!(event.fault, Fault::LateTap | Fault::DoubleTap);
        let delayed = call.faults.iter().rev().find(delays).map(|event| event.at_ms);
        self.last_tap_fault_ms = delayed.or(self.last_tap_fault_ms);
        self.bind(&call);
        self.write(&call);
        call
    }

    /// Returns the requests that touch, press or type. An iPhone records no others.
    fn inputs_of(&self, commands: Vec<String>) -> Vec<String> {
        let is_input = |command: &String| {
            self.plan.face == Face::Ios || command.starts_with("input ") || command.starts_with(HELPER)
        };
        commands.into_iter().filter(is_input).collect()
    }

    /// Returns what is wrong with the choice of a device by a call that named none.
    fn unbound(&self, tool: &str, arguments: &Value, answer: Option<&ToolAnswer>) -> Option<String> {
        let answer = answer.filter(|answer| !answer.is_error && self.second.is_some())?;
        if arguments.get("deviceId").is_some() || tool == "classify_action_outcome" {
            return None;
        }
        let told = answer.text("device");
        let is_bound = !told.is_empty() && self.bound.as_deref() == Some(told);
        (!is_bound)
            .then(|| format!("two devices fit, the last one was {:?}, and {told:?} was used", self.bound))
    }

    /// Remembers the device that a call named, or that its answer tells if it is no error.
    fn bind(&mut self, call: &Call) {
        let reached = call.answer.as_ref().is_some_and(|answer| !answer.code().starts_with("DEVICE_"));
        let named = call.arguments.get("deviceId").and_then(Value::as_str).filter(|_| reached);
        let told =
            call.answer.as_ref().filter(|answer| !answer.is_refused()).map(|answer| answer.text("device"));
        if let Some(device) = named.or(told).filter(|device| !device.is_empty()) {
            self.bound = Some(device.to_owned());
        }
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
