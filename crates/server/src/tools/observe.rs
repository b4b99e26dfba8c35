//! Looking at a device: its tree, its screen's name, its pixels.

use std::sync::Arc;
use std::time::Duration;

use mdm_core::action::failure::{ErrorCode, Failure};
use mdm_core::change::delta::delta;
use mdm_core::change::tracker::{Comparison, Observation};
use mdm_core::outline::OutlineOptions;
use mdm_engine::{Progress, Session};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Effect, Tool};
use crate::answer::Answer;
use crate::app::App;
use crate::args::{PlatformArg, element_id, wanted};
use crate::picture;
use crate::tree::{self, DeltaJson, Handle, Resolution, TreeHead, TreeJson};

/// Of an outline, unless the caller says otherwise; the largest real screens fit.
const TOKENS_DEFAULT: u32 = 8000;
const TOKENS_MAX: u32 = 100_000;

pub struct GetUiTree;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct GetUiTreeParams {
    platform: Option<PlatformArg>,
    device_id: Option<String>,
    /// outline (default): a line an element. json: every element with all attributes.
    format: Option<TreeFormat>,
    /// Only this element and what it holds: an id like e12.
    target: Option<String>,
    /// Only what changed since this snapshot_revision.
    #[serde(rename = "since_revision")]
    since_revision: Option<u64>,
    /// Add @x,y, where to tap.
    coordinates: Option<bool>,
    /// Add #ids, the developer's identifiers.
    ids: Option<bool>,
    /// Levels of nesting to show.
    depth: Option<u32>,
    /// Limit of an outline (default 8000); what is cut is said.
    #[serde(rename = "max_tokens")]
    max_tokens: Option<u32>,
    /// From a cut answer, to read on.
    #[serde(rename = "continue")]
    next: Option<String>,
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
    const TITLE: &'static str = "UI tree";
    const DESCRIPTION: &'static str = "What is on the screen, read from the device now. Ids (e12) stay with their element \
        and work in every tool that takes one. snapshot_revision goes up when something that matters changed.";
    const EFFECT: Effect = Effect::ReadOnly;
    const TIMEOUT: Duration = Duration::from_secs(30);

    async fn run(app: &App, params: GetUiTreeParams, progress: &Progress) -> Result<Answer, Failure> {
        let handle = params.next.as_deref().map(handle).transpose()?;
        let target = params.target.as_deref().map(element_id).transpose()?;
        let mut view = view(&params, handle)?;
        let session = app.fleet.choose(&wanted(params.platform, params.device_id.clone()), progress).await?;
        let look = look(&session, progress, params.since_revision).await?;
        let seen = &look.seen;
        if let Some(handle) = handle.filter(|handle| handle.revision != seen.revision) {
            return Err(moved_on(handle.revision, seen.revision));
        }
        view.options.root = match target {
            Some(id) => Some(seen.index_of(id).ok_or_else(|| mdm_engine::stale(id))?),
            None => None,
        };
        // A revision says which device it is about while only one was ever used, or when the caller names it.
        let which = (params.device_id.is_none() && app.fleet.used() > 1).then(|| session.id());
        Ok(answer(session.id(), which, &look, &view, &params))
    }
}

/// A capture and what the agent knew before it.
struct Look {
    seen: Arc<Observation>,
    fresh: bool,
    /// Against the tree that was handed out last.
    last: Option<Comparison>,
    /// Against the revision that was asked for; `None` inside when that is no longer kept.
    asked: Option<Option<Comparison>>,
}

async fn look(session: &Session, progress: &Progress, since: Option<u64>) -> Result<Look, Failure> {
    let seen = session.observe(progress).await?;
    let mut memory = session.memory();
    let asked = since.map(|revision| memory.tracker.since(revision));
    let last = memory.tracker.since_reported();
    memory.tracker.report();
    let fresh = memory.tracker.is_fresh(&seen);
    Ok(Look { seen, fresh, last, asked })
}

fn answer(
    device: &str,
    which: Option<&str>,
    look: &Look,
    view: &tree::Wanted,
    params: &GetUiTreeParams,
) -> Answer {
    let seen = &look.seen;
    let head = TreeHead::new(Some(device), seen).freshness(look.fresh).since(look.last.as_ref(), seen);
    let json = params.format == Some(TreeFormat::Json);
    match &look.asked {
        Some(Some(since)) if json => {
            let (base, now) = (&since.base.reading.snapshot, &seen.reading.snapshot);
            let delta = delta(base, now, &since.pairing);
            Answer::json(&DeltaJson::new(head, since.base.revision, &delta))
        }
        Some(Some(since)) => {
            let around = tree::Around { device: which, fresh: Some(look.fresh) };
            tree::changes_answer(around, since, seen, view)
        }
        asked => {
            let head = if asked.is_some() { head.whole_because_base_is_gone() } else { head };
            if json {
                Answer::json(&TreeJson::new(head, seen, view.options.root))
            } else {
                tree::outline_answer(head, seen, view)
            }
        }
    }
}

fn view(params: &GetUiTreeParams, handle: Option<Handle>) -> Result<tree::Wanted, Failure> {
    let max_tokens = params.max_tokens.unwrap_or(TOKENS_DEFAULT);
    if !(1..=TOKENS_MAX).contains(&max_tokens) {
        return Err(Failure::new(
            ErrorCode::InvalidArgument,
            format!("max_tokens = {max_tokens} is not between 1 and {TOKENS_MAX}"),
            "leave it out for the default of 8000",
        ));
    }
    let options = OutlineOptions {
        points: params.coordinates == Some(true),
        stable_ids: params.ids == Some(true),
        depth_max: params.depth.map_or(usize::MAX, |depth| depth as usize),
        ..OutlineOptions::default()
    };
    Ok(tree::Wanted {
        options,
        max_tokens: max_tokens as usize,
        page: handle.map_or(1, |handle| handle.page),
    })
}

fn handle(text: &str) -> Result<Handle, Failure> {
    Handle::parse(text).ok_or_else(|| {
        Failure::new(
            ErrorCode::InvalidArgument,
            format!("continue = {text:?} is not from a cut answer"),
            "pass the value of \"continue\" as it came",
        )
    })
}

fn moved_on(then: u64, now: u64) -> Failure {
    Failure::new(
        ErrorCode::StaleReference,
        format!("the outline was of revision {then}, and the screen is now at revision {now}"),
        "read the tree again without continue, or with since_revision for what changed",
    )
}

pub struct GetScreenFingerprint;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct GetScreenFingerprintParams {
    platform: Option<PlatformArg>,
    device_id: Option<String>,
}

#[derive(Serialize)]
struct FingerprintFacts<'a> {
    device: &'a str,
    fingerprint: String,
    activity: &'a str,
    snapshot_revision: u64,
    captured_at_ms: u64,
}

impl Tool for GetScreenFingerprint {
    type Params = GetScreenFingerprintParams;
    const NAME: &'static str = "get_screen_fingerprint";
    const TITLE: &'static str = "Screen fingerprint";
    const DESCRIPTION: &'static str = "A short value that stays the same while the screen only moves, scrolls or ticks, \
        and changes with the screen or the state of anything on it.";
    const EFFECT: Effect = Effect::ReadOnly;
    const TIMEOUT: Duration = Duration::from_secs(30);

    async fn run(
        app: &App,
        params: GetScreenFingerprintParams,
        progress: &Progress,
    ) -> Result<Answer, Failure> {
        let session = app.fleet.choose(&wanted(params.platform, params.device_id), progress).await?;
        let seen = session.observe(progress).await?;
        let screen = seen.reading.snapshot.screen.as_ref();
        Ok(Answer::json(&FingerprintFacts {
            device: session.id(),
            fingerprint: seen.fingerprint.to_string(),
            activity: screen.map_or("", |screen| &screen.activity),
            snapshot_revision: seen.revision,
            captured_at_ms: seen.captured_at_ms,
        }))
    }
}

pub struct GetCurrentScreen;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct GetCurrentScreenParams {
    device_id: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ScreenFacts<'a> {
    device: &'a str,
    package: &'a str,
    activity: &'a str,
    short_activity: &'a str,
}

impl Tool for GetCurrentScreen {
    type Params = GetCurrentScreenParams;
    const NAME: &'static str = "get_current_screen";
    const TITLE: &'static str = "Current screen";
    const DESCRIPTION: &'static str = "Which app and activity is in front (Android).";
    const EFFECT: Effect = Effect::ReadOnly;
    const TIMEOUT: Duration = Duration::from_secs(10);

    async fn run(app: &App, params: GetCurrentScreenParams, progress: &Progress) -> Result<Answer, Failure> {
        let session =
            app.fleet.choose(&wanted(Some(PlatformArg::Android), params.device_id), progress).await?;
        let screen = session.screen(progress).await?;
        Ok(Answer::json(&ScreenFacts {
            device: session.id(),
            package: &screen.package,
            activity: &screen.activity,
            short_activity: screen.short_activity(),
        }))
    }
}

pub struct CaptureScreenshot;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct CaptureScreenshotParams {
    platform: Option<PlatformArg>,
    device_id: Option<String>,
    /// Longest side of the picture in pixels, 100 to 4096 (default 1024).
    max_size: Option<u32>,
}

#[derive(Serialize)]
struct ScreenshotFacts<'a> {
    device: &'a str,
    result: ScreenshotResult,
    /// Multiply a picture coordinate by this to get the device pixel that tap takes.
    scale: Scale,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ScreenshotResult {
    /// Of the device's screen.
    resolution: Resolution,
    mime_type: &'static str,
    image: Resolution,
}

#[derive(Serialize)]
struct Scale {
    x: f64,
    y: f64,
}

impl Tool for CaptureScreenshot {
    type Params = CaptureScreenshotParams;
    const NAME: &'static str = "capture_screenshot";
    const TITLE: &'static str = "Screenshot";
    const DESCRIPTION: &'static str = "A picture of the screen, scaled down. Device pixel = picture pixel x scale. \
        get_ui_tree is cheaper and exact; use this for what a tree cannot show.";
    const EFFECT: Effect = Effect::ReadOnly;
    const TIMEOUT: Duration = Duration::from_secs(20);

    async fn run(app: &App, params: CaptureScreenshotParams, progress: &Progress) -> Result<Answer, Failure> {
        let side = picture::side(params.max_size)?;
        let session = app.fleet.choose(&wanted(params.platform, params.device_id), progress).await?;
        let pixels = session.screenshot(progress).await?;
        let size = pixels.size;
        let picture = progress.race("scaling the picture", picture::jpeg(pixels, side)).await?;
        let ratio =
            |device: u32, image: u32| (f64::from(device) / f64::from(image) * 10_000.0).round() / 10_000.0;
        let facts = ScreenshotFacts {
            device: session.id(),
            result: ScreenshotResult {
                resolution: size.into(),
                mime_type: picture.image.mime_type,
                image: picture.size.into(),
            },
            scale: Scale {
                x: ratio(size.width, picture.size.width),
                y: ratio(size.height, picture.size.height),
            },
        };
        Ok(Answer::json(&facts).with_image(picture.image))
    }
}
