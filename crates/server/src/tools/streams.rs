//! Logs that are followed: lines since the last reading, of one app, from process to process (OB-01).

use std::time::Duration;

use mdm_core::evidence::join::joined;
use mdm_core::evidence::stream::{KEPT_BYTES_MAX, Wanted};
use mdm_core::failure::{Cause, Failure};
use mdm_core::port::{DeviceErrorKind, LogLevel, Support};
use mdm_engine::{STREAMS_MAX, Session, StreamState, WantedDevice};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::log_lines::{self, Time};
use super::logs::Level;
use super::{Call, Effect, Tool};
use crate::answer::{Answer, Facts};
use crate::args::DeviceArg;
use crate::basis::MadeFrom;
use crate::refusal::Refusal;

const NAME_DEFAULT: &str = "default";
/// Characters of the name of a log that is followed; a longer one is refused.
const NAME_CHARS_MAX: usize = 64;
/// Lines of an answer unless the caller says otherwise.
const LIMIT_DEFAULT: u32 = 100;
/// Lines that a caller may ask for; more are refused.
const LIMIT_MAX: u32 = 1000;
const TIMEOUT: Duration = Duration::from_secs(20);

#[derive(Debug, Default, Serialize)]
pub struct StreamFacts {
    device: String,
    session_id: String,
    /// False when nothing is followed under that name any more.
    following: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_started: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    app_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<usize>,
    /// Pass it as `after` to read on.
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<u64>,
    #[serde(skip_serializing_if = "is_zero")]
    more: u64,
    /// Lines after the cursor that came and were dropped before anyone read them.
    #[serde(skip_serializing_if = "is_zero")]
    dropped: u64,
    /// Times that the connection was lost; lines may be missing.
    #[serde(skip_serializing_if = "is_zero")]
    gaps: u64,
    #[serde(skip_serializing_if = "is_zero")]
    unread_lines: u64,
    /// Processes of the app so far; empty while it has not run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pids: Option<Vec<u32>>,
}

impl StreamFacts {
    /// False of an app that has not run yet.
    pub fn is_running(&self) -> bool {
        self.pids.as_ref().is_none_or(|pids| !pids.is_empty())
    }
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ReadParams {
    app_id: Option<String>,
    #[schemars(extend("hidden" = true))]
    level: Option<Level>,
    /// cursor of the last answer
    after: Option<u64>,
    /// default 100
    limit: Option<u32>,
    /// end it
    stop: bool,
    #[schemars(extend("hidden" = true))]
    session_id: Option<String>,
    #[serde(flatten)]
    device: DeviceArg,
}

pub struct ReadLogStream;

impl Tool for ReadLogStream {
    type Params = ReadParams;
    const NAME: &'static str = "read_log_stream";
    const DESCRIPTION: &'static str =
        "All log lines since the last call; the first begins to follow the log.";
    const EFFECT: Effect = Effect::ReadOnly;
    const TIMEOUT: Duration = TIMEOUT;

    async fn run(call: &Call<'_>, params: ReadParams) -> Result<Answer, Refusal> {
        let name = name(call, params.session_id.as_deref())?;
        let limit = params.limit.unwrap_or(LIMIT_DEFAULT);
        if !(1..=LIMIT_MAX).contains(&limit) {
            let message = format!("limit = {limit} is not 1 to {LIMIT_MAX}");
            return Err(Refusal::argument(message, "read on with after instead"));
        }
        let session = choose(call, params.app_id.as_deref(), &params.device).await?;
        let known = session.log_streams().wanted(&name.key);
        let another =
            params.app_id.is_some() && known.as_ref().is_some_and(|known| known.app != params.app_id);
        let begun = !params.stop && (known.is_none() || another);
        if begun {
            begin(call, &session, &name, params.app_id.clone(), params.level).await?;
        }
        let Some(state) = read(call, &session, &name, params.after.filter(|_| !begun), limit).await else {
            return Ok(ended(&session, &name));
        };
        if params.stop {
            session.log_streams().stop(&name.key);
        }
        // The cursor has passed these lines: what was left out here would never be read.
        Ok(page(&session, &name, state, begun, params.stop).within_tokens(usize::MAX))
    }
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct StartParams {
    package_name: Option<String>,
    app_id: Option<String>,
    level: Option<Level>,
    session_id: Option<String>,
    #[serde(flatten)]
    device: DeviceArg,
}

pub struct StartLogStream;

impl Tool for StartLogStream {
    type Params = StartParams;
    const NAME: &'static str = "start_log_stream";
    const DESCRIPTION: &'static str = "Begin to follow the log of an app.";
    const EFFECT: Effect = Effect::ReadOnly;
    const TIMEOUT: Duration = TIMEOUT;

    async fn run(call: &Call<'_>, params: StartParams) -> Result<Answer, Refusal> {
        let name = name(call, params.session_id.as_deref())?;
        let app = params.package_name.or(params.app_id);
        let session = choose(call, app.as_deref(), &params.device).await?;
        begin(call, &session, &name, app, params.level).await?;
        match read(call, &session, &name, None, 1).await {
            Some(state) => Ok(page(&session, &name, state, true, false)),
            None => Ok(ended(&session, &name)),
        }
    }
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct StopParams {
    session_id: Option<String>,
    #[serde(flatten)]
    device: DeviceArg,
}

pub struct StopLogStream;

impl Tool for StopLogStream {
    type Params = StopParams;
    const NAME: &'static str = "stop_log_stream";
    const DESCRIPTION: &'static str = "End following a log.";
    const EFFECT: Effect = Effect::ReadOnly;
    const TIMEOUT: Duration = TIMEOUT;

    async fn run(call: &Call<'_>, params: StopParams) -> Result<Answer, Refusal> {
        let name = name(call, params.session_id.as_deref())?;
        let session = choose(call, None, &params.device).await?;
        session.log_streams().stop(&name.key);
        Ok(ended(&session, &name))
    }
}

/// A followed log belongs to its caller: others may use the same name for one of theirs.
struct Name {
    key: String,
    given: String,
}

/// A name is only ever looked up, so any text that is not long will do (S2).
fn name(call: &Call<'_>, given: Option<&str>) -> Result<Name, Refusal> {
    let name = given.unwrap_or(NAME_DEFAULT);
    if (1..=NAME_CHARS_MAX).contains(&name.chars().count()) {
        let key = format!("{}{name}", call.by.caller.streams());
        return Ok(Name { key, given: name.to_owned() });
    }
    let message = format!("session_id has not 1 to {NAME_CHARS_MAX} characters");
    Err(Refusal::argument(message, "use a short name, or none"))
}

async fn choose(
    call: &Call<'_>,
    app: Option<&str>,
    device: &DeviceArg,
) -> Result<std::sync::Arc<Session>, Refusal> {
    let wanted = WantedDevice { app: app.map(str::to_owned), ..device.wanted() };
    call.device(&wanted, call.progress).await
}

async fn begin(
    call: &Call<'_>,
    session: &Session,
    name: &Name,
    app: Option<String>,
    level: Option<Level>,
) -> Result<(), Refusal> {
    if session.capabilities().log_stream == Support::No {
        let message = "this device cannot have its log followed";
        return Err(Failure::new(Cause::Device(DeviceErrorKind::NotSupported), message).into());
    }
    let pids = match &app {
        Some(app) => session.app_pids(app, call.progress).await?,
        None => Vec::new(),
    };
    let wanted = Wanted { app, level: level.map(LogLevel::from) };
    if session.follow_log(&name.key, wanted, &pids) {
        return Ok(());
    }
    let all = session.log_streams().names();
    let own: Vec<&str> = all.iter().filter_map(|name| name.strip_prefix(&call.by.caller.streams())).collect();
    let (id, names) = (session.id(), own.join(", "));
    let message = format!("{STREAMS_MAX} logs are followed on {id} already; of this client: {names}");
    Err(Refusal::argument(message, "end one of them with stop:true and its session_id"))
}

/// The device is asked for the app's processes too: a log need not tell of every start.
async fn read(
    call: &Call<'_>,
    session: &Session,
    name: &Name,
    after: Option<u64>,
    limit: u32,
) -> Option<StreamState> {
    let app = session.log_streams().wanted(&name.key)?.app;
    let pids = match app {
        Some(app) => session.app_pids(&app, call.progress).await.unwrap_or_default(),
        None => Vec::new(),
    };
    session.log_streams().read(&name.key, after, limit as usize, &pids)
}

fn ended(session: &Session, name: &Name) -> Answer {
    let (device, session_id) = (session.id().to_owned(), name.given.clone());
    Answer::new(Facts::LogStream(StreamFacts { device, session_id, ..StreamFacts::default() }))
}

fn page(session: &Session, name: &Name, state: StreamState, begun: bool, stopped: bool) -> Answer {
    let StreamState { page, wanted, pids, gaps, ended, unread_lines, .. } = state;
    let mut lines = String::new();
    let count = page.entries.len();
    let entries = joined(page.entries);
    entries.iter().for_each(|entry| log_lines::push(&mut lines, entry, 1, Time::OfDay));
    if page.dropped > 0 {
        lines.push_str(&format!(
            "{} lines were dropped: {} MB are kept, read more often or with a level\n",
            page.dropped,
            KEPT_BYTES_MAX >> 20
        ));
    }
    let facts = StreamFacts {
        device: session.id().to_owned(),
        session_id: name.given.clone(),
        following: !ended && !stopped,
        stream_started: begun.then_some(true),
        count: Some(count),
        cursor: Some(page.cursor),
        more: page.more,
        dropped: page.dropped,
        gaps,
        unread_lines,
        pids: wanted.app.as_ref().map(|_| pids),
        app_id: wanted.app,
    };
    Answer::new(Facts::LogStream(facts)).with_lines(&lines).made_from(MadeFrom::Log(entries, Vec::new()))
}
