//! Looking at a device: its tree, its screen's name, its pixels.

use std::time::Duration;

use mdm_core::error::Failure;
use mdm_core::outline::{OutlineOptions, outline};
use mdm_core::snapshot::Snapshot;
use mdm_engine::{Observed, Progress};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::tree_json::{Resolution, TreeHead, TreeJson};
use super::{Effect, Tool};
use crate::answer::Answer;
use crate::app::App;
use crate::args::{PlatformArg, wanted};
use crate::picture;

/// Defects named in an answer; the number of all is given as well.
const DEFECTS_SHOWN_MAX: usize = 5;

pub struct GetUiTree;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct GetUiTreeParams {
    platform: Option<PlatformArg>,
    device_id: Option<String>,
    /// outline (default): one line an element, @x,y is where to tap. json: every element with all attributes.
    format: Option<TreeFormat>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum TreeFormat {
    Outline,
    Json,
}

#[derive(Serialize)]
struct TreeFacts<'a> {
    #[serde(flatten)]
    head: TreeHead<'a>,
    shown: usize,
    of: usize,
    /// Elements outside the visible part of the screen.
    #[serde(skip_serializing_if = "is_zero")]
    off_screen: usize,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// Present when the device's answer was damaged.
#[derive(Serialize)]
pub(super) struct Partial {
    /// Elements are missing: "not there" cannot be concluded from this tree.
    partial: bool,
    defects: Vec<String>,
    defect_count: usize,
}

impl Partial {
    pub(super) fn of(snapshot: &Snapshot) -> Option<Partial> {
        if snapshot.defects.is_empty() {
            return None;
        }
        let describe =
            |d: &mdm_core::snapshot::Defect| format!("{:?} at byte {}: {:.80}", d.kind, d.offset, d.detail);
        Some(Partial {
            partial: !snapshot.is_whole(),
            defects: snapshot.defects.iter().take(DEFECTS_SHOWN_MAX).map(describe).collect(),
            defect_count: snapshot.defects.len(),
        })
    }
}

impl Tool for GetUiTree {
    type Params = GetUiTreeParams;
    const NAME: &'static str = "get_ui_tree";
    const TITLE: &'static str = "UI tree";
    const DESCRIPTION: &'static str = "What is on the screen, read from the device now. Look here before acting and to \
        check what an action did. snapshot_revision goes up when something that matters changed.";
    const EFFECT: Effect = Effect::ReadOnly;
    const TIMEOUT: Duration = Duration::from_secs(30);

    async fn run(app: &App, params: GetUiTreeParams, progress: &Progress) -> Result<Answer, Failure> {
        let session = app.fleet.choose(&wanted(params.platform, params.device_id), progress).await?;
        let observed = session.observe(progress).await?;
        let device = session.id();
        Ok(match params.format {
            Some(TreeFormat::Json) => Answer::json(&TreeJson::new(device, &observed)),
            Some(TreeFormat::Outline) | None => outline_answer(device, &observed),
        })
    }
}

fn outline_answer(device: &str, observed: &Observed) -> Answer {
    let snapshot = &observed.snapshot;
    let outline = outline(snapshot, &OutlineOptions::default());
    let facts = TreeFacts {
        head: TreeHead::new(device, observed),
        shown: outline.shown,
        of: outline.total,
        off_screen: outline.off_screen,
    };
    Answer::json(&facts).with_lines(&outline.text)
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
