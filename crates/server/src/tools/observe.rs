//! Looking at a device: its tree, its screen's name, its pixels.

use std::sync::Arc;
use std::time::Duration;

use mdm_core::change::tracker::{Comparison, Observation};
use mdm_core::failure::{Cause, Failure};
use mdm_core::intent::resolve::stale;
use mdm_core::outline::OutlineOptions;
use mdm_core::port::DeviceErrorKind;
use mdm_core::text::tokens::estimate;
use mdm_engine::{Progress, Session};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Call, Effect, Tool, spoken};
use crate::answer::{self, Answer, Facts};
use crate::args::{self, DeviceArg, JsonObject, element_id};
use crate::basis::MadeFrom;
use crate::refusal::Refusal;
use crate::tree::{self, DeltaJson, Handle, OutlinePart, TreeHead, TreeJson};

/// Tokens of an outline unless the caller says otherwise; the largest real screens fit.
const TOKENS_DEFAULT: u32 = 8000;
/// Tokens that a caller may ask for; more are refused.
const TOKENS_MAX: u32 = 1_000_000;

pub struct GetUiTree;

#[derive(Deserialize, JsonSchema)]
pub struct GetUiTreeParams {
    format: Option<TreeFormat>,
    /// element id
    target: Option<String>,
    /// only changes
    since_revision: Option<u64>,
    /// add @x,y
    coordinates: Option<bool>,
    /// add #resource_id
    ids: Option<bool>,
    depth: Option<u32>,
    max_tokens: Option<u32>,
    /// from a cut answer
    #[serde(rename = "continue")]
    next: Option<String>,
    #[serde(flatten)]
    device: DeviceArg,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum TreeFormat {
    Outline,
    Json,
}

impl Tool for GetUiTree {
    type Params = GetUiTreeParams;
    const NAME: &'static str = "get_ui_tree";
    const DESCRIPTION: &'static str =
        "What is on the screen, a line an element, with ids that stay with their element.";
    const EFFECT: Effect = Effect::ReadOnly;
    const TIMEOUT: Duration = Duration::from_secs(30);

    async fn run(call: &Call<'_>, params: GetUiTreeParams) -> Result<Answer, Refusal> {
        let handle = params.next.as_deref().map(handle).transpose()?;
        let target = params.target.as_deref().map(element_id).transpose()?;
        let mut view = view(&params, handle)?;
        let session = call.device(&params.device.wanted(), call.progress).await?;
        let capture = match capture(&session, call.progress, params.since_revision).await {
            // What is spoken has no ids, so it is no answer to who asks for a part or for changes.
            Err(failure)
                if failure.is(DeviceErrorKind::NotSupported)
                    && (&handle, &target, params.since_revision) == (&None, &None, None) =>
            {
                return spoken::answer(&session, call.progress, failure).await;
            }
            capture => capture?,
        };
        let seen = &capture.seen;
        if let Some(handle) = handle.filter(|handle| handle.revision != seen.revision) {
            return Err(moved_on(handle.revision, seen.revision).into());
        }
        view.options.root = match target {
            Some(id) => Some(seen.index_of(id).ok_or_else(|| stale(id))?),
            None => None,
        };
        // A revision says which device it is about while only one was ever used, or when the caller names it.
        let which = (params.device.device_id.is_none() && call.app.fleet.used() > 1).then(|| session.id());
        let tokens = params.max_tokens.map_or(answer::TOKENS_MAX, |tokens| tokens as usize);
        let answer = tree_answer(session.id(), which, &capture, &view, &params).within_tokens(tokens);
        let answer = match params.format {
            Some(TreeFormat::Json) => fitting(answer, tokens)?,
            _ => answer,
        };
        Ok(answer.made_from(MadeFrom::Screen(capture.seen)))
    }
}

/// JSON cannot be cut: it is given whole or not at all.
fn fitting(answer: Answer, tokens_max: usize) -> Result<Answer, Refusal> {
    let whole = answer.whole();
    let (bytes, tokens) = (whole.len(), estimate(&whole));
    if bytes > answer::TEXT_BYTES_MAX {
        let message = format!("this tree has {bytes} bytes as JSON, more than this server sends");
        return Err(Refusal::argument(message, "leave format out, or name a target"));
    }
    if tokens <= tokens_max.max(answer::TOKENS_MAX) {
        return Ok(answer);
    }
    let message = format!("this tree has about {tokens} tokens as JSON, more than {tokens_max}");
    Err(Refusal::argument(
        message,
        "leave format out, name a target, or set max_tokens to have it all the same",
    ))
}

/// A tree that took longer to read is not called fresh: the screen may have changed meanwhile (F16).
const FRESH_MS_MAX: u64 = 2000;

/// A capture and what the agent knew before it.
struct KnownCapture {
    seen: Arc<Observation>,
    fresh: bool,
    read_ms: u64,
    /// Against the tree that was handed out last.
    last: Option<Comparison>,
    /// Against the revision that was asked for; `None` inside when that is no longer kept.
    asked: Option<Option<Comparison>>,
}

async fn capture(
    session: &Session,
    progress: &Progress,
    since: Option<u64>,
) -> Result<KnownCapture, Failure> {
    let seen = session.observe(progress).await?;
    let mut memory = session.memory();
    let asked = since.map(|revision| memory.tracker.since(revision));
    let last = memory.tracker.since_reported();
    memory.tracker.mark_reported();
    let read_ms = session.now_ms().saturating_sub(seen.captured_at_ms);
    let fresh = memory.tracker.is_fresh(&seen) && read_ms <= FRESH_MS_MAX;
    Ok(KnownCapture { seen, fresh, read_ms, last, asked })
}

fn tree_answer(
    device: &str,
    which: Option<&str>,
    capture: &KnownCapture,
    view: &OutlinePart,
    params: &GetUiTreeParams,
) -> Answer {
    let seen = &capture.seen;
    let head = TreeHead::new(Some(device), seen)
        .freshness(capture.fresh, capture.read_ms)
        .since(capture.last.as_ref(), seen);
    let json = params.format == Some(TreeFormat::Json);
    match &capture.asked {
        Some(Some(since)) if json => Answer::new(Facts::Delta(Box::new(DeltaJson::new(head, since, seen)))),
        Some(Some(since)) => {
            let around = tree::Around { device: which, fresh: Some(capture.fresh) };
            tree::changes_answer(around, since, seen, view)
        }
        asked => {
            let head = if asked.is_some() { head.whole_because_base_is_gone() } else { head };
            if json {
                Answer::new(Facts::Tree(Box::new(TreeJson::new(head, Arc::clone(seen), view.options.root))))
            } else {
                tree::outline_answer(head, seen, view)
            }
        }
    }
}

fn view(params: &GetUiTreeParams, handle: Option<Handle>) -> Result<OutlinePart, Refusal> {
    let max_tokens = params.max_tokens.unwrap_or(TOKENS_DEFAULT);
    if !(1..=TOKENS_MAX).contains(&max_tokens) {
        let message = format!("max_tokens = {max_tokens} is not between 1 and {TOKENS_MAX}");
        return Err(Refusal::argument(message, "leave it out for the default of 8000"));
    }
    let options = OutlineOptions {
        points: params.coordinates == Some(true),
        stable_ids: params.ids == Some(true),
        depth_max: params.depth.map_or(usize::MAX, |depth| depth as usize),
        ..OutlineOptions::default()
    };
    Ok(OutlinePart { options, max_tokens: max_tokens as usize, page: handle.map_or(1, |handle| handle.page) })
}

fn handle(text: &str) -> Result<Handle, Refusal> {
    Handle::parse(text).ok_or_else(|| {
        let message = format!("continue = {text:?} is not from a cut answer");
        Refusal::argument(message, "pass the value of \"continue\" as it came")
    })
}

fn moved_on(then: u64, now: u64) -> Failure {
    let message = format!("the outline was of revision {then}, and the screen is now at revision {now}");
    Failure::new(Cause::StaleRevision, message)
}

pub struct GetScreenFingerprint;

#[derive(Deserialize, JsonSchema)]
pub struct DeviceParams {
    #[serde(flatten)]
    device: DeviceArg,
}

#[derive(Debug, Serialize)]
pub struct FingerprintFacts {
    device: String,
    fingerprint: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    activity: Option<String>,
    snapshot_revision: u64,
    captured_at_ms: u64,
}

impl Tool for GetScreenFingerprint {
    type Params = DeviceParams;
    const NAME: &'static str = "get_screen_fingerprint";
    const DESCRIPTION: &'static str = "A short value that stays while the screen only moves, scrolls or ticks, and changes \
        with the screen or a state on it.";
    const EFFECT: Effect = Effect::ReadOnly;
    const TIMEOUT: Duration = Duration::from_secs(30);

    async fn run(call: &Call<'_>, params: DeviceParams) -> Result<Answer, Refusal> {
        let session = call.device(&params.device.wanted(), call.progress).await?;
        let seen = session.observe(call.progress).await?;
        let screen = seen.reading.snapshot.screen.as_ref();
        Ok(Answer::new(Facts::Fingerprint(FingerprintFacts {
            device: session.id().to_owned(),
            fingerprint: seen.fingerprint.to_string(),
            activity: screen.and_then(|screen| screen.name.clone()),
            snapshot_revision: seen.revision,
            captured_at_ms: seen.captured_at_ms,
        }))
        .made_from(MadeFrom::Screen(seen)))
    }
}

pub struct GetCurrentScreen;

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScreenFacts {
    device: String,
    pub package: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub activity: Option<String>,
    pub short_activity: String,
}

impl Tool for GetCurrentScreen {
    type Params = DeviceParams;
    const NAME: &'static str = "get_current_screen";
    const DESCRIPTION: &'static str = "Which app is in front, and on Android which activity.";
    const EFFECT: Effect = Effect::ReadOnly;
    const TIMEOUT: Duration = Duration::from_secs(10);
    const OUTPUT: Option<fn() -> JsonObject> = Some(args::schema::<ScreenFacts>);

    async fn run(call: &Call<'_>, params: DeviceParams) -> Result<Answer, Refusal> {
        let session = call.device(&params.device.wanted(), call.progress).await?;
        let screen = session.screen(call.progress).await?;
        Ok(Answer::new(Facts::Screen(ScreenFacts {
            device: session.id().to_owned(),
            short_activity: screen.short_name().to_owned(),
            package: screen.app,
            activity: screen.name,
        })))
    }
}
