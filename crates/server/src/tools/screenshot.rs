//! Pictures of the screen: whole or a part of it, with the elements marked by their ids.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use mdm_core::change::tracker::Observation;
use mdm_core::intent::resolve::stale;
use mdm_core::outline::{Line, OutlineOptions, lines};
use mdm_core::screen::element::Element;
use mdm_core::screen::geometry::{Rect, Scale};
use mdm_engine::{FramedPicture, Session, Taken};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Call, Effect, Tool};
use crate::answer::{Answer, Facts};
use crate::args::{DeviceArg, element_id};
use crate::basis::MadeFrom;
use crate::picture::{self, Mark, ScaledPicture, Wish};
use crate::refusal::Refusal;
use crate::secrets::Secrets;
use crate::tree::Resolution;

/// Elements that are marked; more would hide the picture.
const MARKS_MAX: usize = 100;
/// Around an element that is shown alone.
const MARGIN: i32 = 24;

pub struct CaptureScreenshot;

#[derive(Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CaptureScreenshotParams {
    /// default 1024
    max_size: Option<u32>,
    /// only this element
    element_id: Option<String>,
    /// only [left,top,right,bottom]
    region: Option<[i32; 4]>,
    /// boxes with element ids
    marks: bool,
    #[serde(flatten)]
    device: DeviceArg,
}

#[derive(Debug, Serialize)]
pub struct ScreenshotFacts {
    device: String,
    result: ScreenshotResult,
    /// Multiply a picture coordinate by this to get the coordinate that tap takes.
    scale: ScaleFacts,
    /// Then add this; absent for the whole screen.
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<[i32; 2]>,
    #[serde(skip_serializing_if = "is_zero")]
    marked: usize,
    /// Fields with secrets that were painted over.
    #[serde(skip_serializing_if = "is_zero")]
    masked: usize,
    /// Nothing can be seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    black: Option<bool>,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ScreenshotResult {
    /// Of the device's screen.
    resolution: Resolution,
    mime_type: &'static str,
    image: Resolution,
}

#[derive(Debug, Serialize)]
struct ScaleFacts {
    x: f64,
    y: f64,
}

impl Tool for CaptureScreenshot {
    type Params = CaptureScreenshotParams;
    const NAME: &'static str = "capture_screenshot";
    const DESCRIPTION: &'static str = "A picture of the screen, for what a tree cannot show. Device pixel = picture pixel x \
        scale.";
    const EFFECT: Effect = Effect::ReadOnly;
    const TIMEOUT: Duration = Duration::from_secs(20);

    async fn run(call: &Call<'_>, params: CaptureScreenshotParams) -> Result<Answer, Refusal> {
        let side = picture::side(params.max_size)?;
        let session = call.device(&params.device.wanted(), call.progress).await?;
        // Where a tree counts in points, so do taps.
        let scale = session.info(call.progress).await?.scale;
        if !call.app.secrets.are_known() {
            let answer = open(call, &session, &params, (side, scale)).await?;
            // What another call typed meanwhile was known before it was typed.
            if !call.app.secrets.are_known() {
                return Ok(answer);
            }
        }
        guarded(call, &session, &params, (side, scale)).await
    }
}

/// A picture of a screen on which no secret is but those of password fields.
async fn open(
    call: &Call<'_>,
    session: &Arc<Session>,
    params: &CaptureScreenshotParams,
    (side, scale): (u32, Scale),
) -> Result<Answer, Refusal> {
    let needs_tree = params.marks || params.element_id.is_some();
    let seen = match needs_tree {
        true => Some(session.observe(call.progress).await?),
        false => session.memory().tracker.last().cloned(),
    };
    let (wish, words) = wish(call, params, seen.as_deref(), seen.as_deref(), (side, scale))?;
    let picture = taken(call, session, wish).await?;
    Ok(answer(session, picture, scale, &words))
}

/// A picture of which it is known where secrets are on it, or none (SE-06).
async fn guarded(
    call: &Call<'_>,
    session: &Arc<Session>,
    params: &CaptureScreenshotParams,
    sizes: (u32, Scale),
) -> Result<Answer, Refusal> {
    if let Some(answer) = framed(call, session, params, sizes, true).await? {
        return Ok(answer);
    }
    let answer = framed(call, session, params, sizes, false).await?;
    answer.ok_or_else(|| Refusal::defect("a whole picture is not enough".to_owned()))
}

/// The same; nothing if the device made a picture small that has to be painted on after all, or may be black.
async fn framed(
    call: &Call<'_>,
    session: &Arc<Session>,
    params: &CaptureScreenshotParams,
    sizes: (u32, Scale),
    may_be_small: bool,
) -> Result<Option<Answer>, Refusal> {
    let (side, scale) = sizes;
    let small = |before: &Observation| {
        let (wish, _) = wish(call, params, Some(before), [before], sizes).ok()?;
        (may_be_small && wish.is_plain()).then_some((side, picture::QUALITY))
    };
    let FramedPicture { before, picture, after } =
        session.screenshot_between_reads(small, call.progress).await?;
    let (wish, words) = wish(call, params, Some(&before), [&*before, &*after], sizes)?;
    let picture = match picture {
        Taken::Small(small) => picture::ready(small).filter(|_| wish.is_plain()),
        Taken::Whole(whole) => {
            Some(call.progress.race("scaling the picture", picture::jpeg(whole, wish)).await?)
        }
    };
    Ok(picture.map(|picture| answer(session, picture, scale, &words)))
}

/// What is asked for, and the lines of what is marked. `screens`: those on which secrets are looked for.
fn wish<'a>(
    call: &Call<'_>,
    params: &CaptureScreenshotParams,
    seen: Option<&Observation>,
    screens: impl IntoIterator<Item = &'a Observation>,
    (side, scale): (u32, Scale),
) -> Result<(Wish, Vec<String>), Refusal> {
    let region = region(params, seen, scale)?;
    let marked = if params.marks { marks(seen, scale) } else { Vec::new() };
    let (marks, words) = marked.into_iter().unzip();
    let masks = masks(&call.app.secrets, screens, scale);
    Ok((Wish { side, region, marks, masks }, words))
}

/// A whole picture on which nothing has to be painted may be made small by the device.
async fn taken(call: &Call<'_>, session: &Session, wish: Wish) -> Result<ScaledPicture, Refusal> {
    if wish.is_plain()
        && let Some(small) = session.small_screenshot((wish.side, picture::QUALITY), call.progress).await?
        && let Some(picture) = picture::ready(small)
    {
        return Ok(picture);
    }
    let taken = session.screenshot(call.progress).await?;
    Ok(call.progress.race("scaling the picture", picture::jpeg(taken, wish)).await?)
}

fn answer(session: &Arc<Session>, picture: ScaledPicture, Scale(unit): Scale, words: &[String]) -> Answer {
    let unit = unit.max(1);
    let part = picture.region;
    let ratio = |device: i32, image: u32| {
        let units = f64::from(device) / f64::from(unit);
        (units / f64::from(image) * 10_000.0).round() / 10_000.0
    };
    let whole = part == picture.original.rect();
    let facts = ScreenshotFacts {
        device: session.id().to_owned(),
        result: ScreenshotResult {
            resolution: picture.original.into(),
            mime_type: picture.image.mime_type,
            image: picture.size.into(),
        },
        scale: ScaleFacts {
            x: ratio(part.width(), picture.size.width),
            y: ratio(part.height(), picture.size.height),
        },
        origin: (!whole).then(|| [part.left / unit as i32, part.top / unit as i32]),
        marked: words.len(),
        masked: picture.masked,
        black: picture.black.then_some(true),
    };
    let mut lines = words.concat();
    if picture.black {
        lines.push_str("all is black: the window may not be photographed, or the display is off; get_ui_tree still reads it\n");
    }
    let answer = Answer::new(Facts::Screenshot(facts)).with_lines(&lines).with_image(picture.image);
    answer.made_from(MadeFrom::Picture(picture.original))
}

/// The part that is asked for, in pixels.
fn region(
    params: &CaptureScreenshotParams,
    seen: Option<&Observation>,
    scale: Scale,
) -> Result<Option<Rect>, Refusal> {
    if let Some([left, top, right, bottom]) = params.region {
        let part = Rect::new(left, top, right, bottom);
        if part.is_empty() {
            let message = "region has no width or no height";
            return Err(Refusal::argument(message, "give [left,top,right,bottom] in the coordinates of tap"));
        }
        return Ok(Some(in_pixels(part, scale)));
    }
    let (Some(id), Some(seen)) = (&params.element_id, seen) else { return Ok(None) };
    let id = element_id(id)?;
    let index = seen.ids.iter().position(|known| *known == id);
    let index = index.ok_or_else(|| Refusal::from(stale(id)))?;
    let bounds = seen.reading.snapshot.elements[index].bounds;
    let Rect { left, top, right, bottom } = bounds;
    let around = |value: i32, by: i32| value.saturating_add(by);
    let wide =
        Rect::new(around(left, -MARGIN), around(top, -MARGIN), around(right, MARGIN), around(bottom, MARGIN));
    Ok(Some(in_pixels(wide, scale)))
}

fn in_pixels(part: Rect, Scale(unit): Scale) -> Rect {
    let pixels = |value: i32| value.saturating_mul(unit.max(1) as i32);
    Rect::new(pixels(part.left), pixels(part.top), pixels(part.right), pixels(part.bottom))
}

/// Elements to act on, each with its line.
fn marks(seen: Option<&Observation>, scale: Scale) -> Vec<(Mark, String)> {
    let Some(seen) = seen else { return Vec::new() };
    let outline = lines(&seen.reading, &seen.ids, &OutlineOptions::default());
    let targets = outline.lines.into_iter().filter(|line| line.is_target).take(MARKS_MAX);
    let mark = |line: Line| {
        let place = in_pixels(seen.reading.snapshot.elements[line.index as usize].bounds, scale);
        (Mark { place, label: line.id.to_string() }, format!("{} {}\n", line.id, line.text))
    };
    targets.map(mark).collect()
}

/// Where secrets may be read off the screen: fields of passwords, and whatever shows one that is known. What has moved
/// from one of the screens to the next may have been anywhere between.
pub fn masks<'a>(
    known: &Secrets,
    screens: impl IntoIterator<Item = &'a Observation>,
    scale: Scale,
) -> Vec<Rect> {
    let screens: Vec<&Observation> = screens.into_iter().collect();
    let (mut secret, mut places) = (BTreeSet::new(), BTreeMap::new());
    for seen in &screens {
        let shown = seen.reading.snapshot.elements.iter().zip(seen.ids.iter());
        secret.extend(shown.filter(|(element, _)| shows(known, element)).map(|(_, id)| *id));
    }
    for seen in &screens {
        let shown = seen.reading.snapshot.elements.iter().zip(seen.ids.iter());
        for (element, id) in shown.filter(|(_, id)| secret.contains(id)) {
            let place = places.entry(*id).or_insert(element.bounds);
            *place = around(*place, element.bounds);
        }
    }
    places.into_values().map(|place| in_pixels(place, scale)).collect()
}

fn shows(known: &Secrets, element: &Element) -> bool {
    let words = [&element.text, &element.description, &element.hint, &element.value];
    element.password || words.into_iter().flatten().any(|words| known.are_in(words))
}

/// The smallest place with both in it.
fn around(one: Rect, other: Rect) -> Rect {
    let (left, top) = (one.left.min(other.left), one.top.min(other.top));
    Rect::new(left, top, one.right.max(other.right), one.bottom.max(other.bottom))
}

#[cfg(test)]
mod tests {
    use mdm_core::change::tracker::Tracker;
    use mdm_core::screen::element::Role;
    use mdm_core::screen::snapshot::Snapshot;

    use super::*;

    #[test]
    fn a_secret_of_either_screen_is_masked_wherever_it_may_have_been_between_them() {
        // SE-06
        let known = Secrets::default();
        known.remember("kestrel-canary-77");
        let mut tracker = Tracker::default();
        let mut seen = |text: &str, top: i32| {
            let field = Element {
                role: Role::TextField,
                stable_id: Some("org.example:id/note".into()),
                text: Some(text.into()),
                bounds: Rect::new(10, top, 110, top + 50),
                end: 1,
                ..Element::default()
            };
            tracker.observe(Snapshot { elements: vec![field], ..Snapshot::default() }, 0)
        };
        let [empty, full, moved] =
            [seen("", 100), seen("kestrel-canary-77", 100), seen("Kestrel-canary-77", 300)];
        let place = |screens: &[&Observation]| masks(&known, screens.iter().copied(), Scale(2));
        assert_eq!(place(&[&empty, &empty]), []);
        assert_eq!(place(&[&empty, &full]), [Rect::new(20, 200, 220, 300)]);
        assert_eq!(place(&[&full, &empty]), [Rect::new(20, 200, 220, 300)]);
        assert_eq!(place(&[&full, &full]), [Rect::new(20, 200, 220, 300)], "once");
        assert_eq!(place(&[&empty, &moved]), [Rect::new(20, 200, 220, 700)]);
    }
}
