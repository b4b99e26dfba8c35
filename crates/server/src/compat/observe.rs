//! Looking at a device: its tree, its screen's name, its picture.

use mdm_core::change::tracker::Observation;
use mdm_core::failure::{Cause, Failure};
use serde::Serialize;

use super::element::{Elements, TreeElement};
use super::parts::Device;
use super::waits::LoadingJson;
use super::{Block, Rendering};
use crate::answer::Facts;
use crate::basis::MadeFrom;
use crate::tree::Resolution;

#[derive(Serialize)]
pub struct TreeJson {
    device: Device,
    /// It was never told.
    screen: &'static str,
    resolution: Resolution,
    elements: Vec<TreeElement>,
    snapshot_revision: u64,
    captured_at_ms: u64,
    loading_state: Option<LoadingJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl TreeJson {
    pub fn of(device: Device, seen: &Observation) -> TreeJson {
        TreeJson {
            device,
            screen: "",
            resolution: seen.reading.snapshot.size.into(),
            elements: Elements::of(seen).tree(),
            snapshot_revision: seen.revision,
            captured_at_ms: seen.captured_at_ms,
            loading_state: seen.loading().map(LoadingJson::of),
            error: None,
        }
    }

    /// A tree that could not be read was a tree without elements.
    fn unread(r: &Rendering<'_>, failure: &Failure) -> TreeJson {
        TreeJson {
            device: r.device_or_unknown(),
            screen: "",
            resolution: Resolution::default(),
            elements: Vec::new(),
            snapshot_revision: r.revision(),
            captured_at_ms: r.now_ms,
            loading_state: None,
            error: Some(failure.message.clone()),
        }
    }
}

/// The failure of a call that had its device: what could not be read was told in the answer itself.
fn unread(r: &Rendering<'_>) -> Option<Failure> {
    r.device.as_ref()?;
    r.refused().filter(|failure| failure.cause != Cause::InvalidArgument)
}

pub fn tree(r: &Rendering<'_>) -> Option<Block> {
    match (&r.answer.basis.made_from, &r.device) {
        (MadeFrom::Screen(seen), Some(device)) => Some(Block::json(&TreeJson::of(device.clone(), seen))),
        _ => unread(r).map(|failure| Block::json(&TreeJson::unread(r, &failure))),
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ScreenJson<'a> {
    device: Device,
    package: &'a str,
    activity: &'a str,
    short_activity: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

pub fn screen(r: &Rendering<'_>) -> Option<Block> {
    let device = r.device.clone()?;
    if let Facts::Screen(facts) = &r.answer.facts {
        return Some(Block::json(&ScreenJson {
            device,
            package: &facts.package,
            activity: facts.activity.as_deref().unwrap_or_default(),
            short_activity: &facts.short_activity,
            error: None,
        }));
    }
    let error = Some(unread(r)?.message);
    Some(Block::json(&ScreenJson { device, package: "", activity: "", short_activity: "", error }))
}

#[derive(Serialize)]
struct FingerprintJson {
    fingerprint: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    activity: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

pub fn fingerprint(r: &Rendering<'_>) -> Option<Block> {
    let MadeFrom::Screen(seen) = &r.answer.basis.made_from else {
        let error = Some(unread(r)?.message);
        return Some(Block::json(&FingerprintJson { fingerprint: None, activity: None, error }));
    };
    let screen = seen.reading.snapshot.screen.as_ref();
    let activity = screen.and_then(|screen| screen.name.clone()).unwrap_or_default();
    let fingerprint = Some(seen.fingerprint.to_string());
    Some(Block::json(&FingerprintJson { fingerprint, activity: Some(activity), error: None }))
}

#[derive(Serialize)]
struct PictureJson {
    device: Device,
    result: PictureResult,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PictureResult {
    resolution: Resolution,
    mime_type: &'static str,
}

pub fn screenshot(r: &Rendering<'_>) -> Option<Vec<Block>> {
    let (MadeFrom::Picture(size), Some(image)) = (&r.answer.basis.made_from, &r.answer.image) else {
        return None;
    };
    let result = PictureResult { resolution: (*size).into(), mime_type: image.mime_type };
    let described = Block::json(&PictureJson { device: r.device_or_unknown(), result });
    Some(vec![described, Block::Image(image.clone())])
}
