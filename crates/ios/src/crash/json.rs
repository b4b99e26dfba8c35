//! `.ips`: a line of JSON about the report, then the report.

use std::collections::BTreeMap;

use mdm_core::port::{CrashKind, CrashReport, NOT_RESPONDING, Thrown};
use serde::Deserialize;

use super::{IMAGES_MAX, WATCHDOG, bare_frame, is_own_image};

#[derive(Default, Deserialize)]
#[serde(default)]
struct Head {
    #[serde(rename = "bundleID")]
    bundle_id: String,
    app_name: String,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Body {
    pid: u32,
    proc_name: String,
    exception: Exception,
    termination: Termination,
    /// What programs had to say, by library.
    asi: BTreeMap<String, Vec<String>>,
    faulting_thread: Option<usize>,
    last_exception_backtrace: Vec<JsonFrame>,
    threads: Vec<Thread>,
    used_images: Vec<Image>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Exception {
    r#type: String,
    signal: String,
    subtype: String,
    message: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Termination {
    indicator: String,
    reasons: Vec<String>,
    details: Vec<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Thread {
    triggered: bool,
    name: String,
    queue: String,
    frames: Vec<JsonFrame>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct JsonFrame {
    image_offset: u64,
    image_index: usize,
    symbol: String,
    symbol_location: u64,
    source_file: String,
    source_line: u32,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Image {
    base: u64,
    path: String,
    name: String,
    uuid: String,
}

pub fn read(head: &str, body: &str) -> Option<CrashReport> {
    let head: Head = serde_json::from_str(head).unwrap_or_default();
    let body: Body = serde_json::from_str(body).ok()?;
    let at = body.faulting_thread.or_else(|| body.threads.iter().position(|thread| thread.triggered));
    let thread = at.and_then(|at| body.threads.get(at));
    if thread.is_none() && body.exception.r#type.is_empty() {
        return None;
    }
    let app = [&head.bundle_id, &head.app_name, &body.proc_name].into_iter().find(|name| !name.is_empty());
    let kind = kind(&body);
    let mut thrown = Thrown::new(&exception(&body, kind), &message(&body));
    let frames = thread.map_or(&[][..], |thread| &thread.frames);
    let thrown_at = Some(&body.last_exception_backtrace).filter(|frames| !frames.is_empty());
    for frame in thrown_at.into_iter().flatten().chain(frames) {
        let image = body.used_images.get(frame.image_index);
        thrown.push_frame(&frame_text(frame, image), image.is_some_and(|image| is_own_image(&image.path)));
    }
    Some(CrashReport {
        app: app.cloned().unwrap_or_default(),
        pid: body.pid,
        kind,
        thread: at.map(|at| thread_name(at, thread)),
        thrown: vec![thrown],
        time_ms: None,
        age_ms: None,
        images: own_images(&body.used_images),
    })
}

fn own_images(images: &[Image]) -> Vec<(String, String)> {
    let own = images.iter().filter(|image| is_own_image(&image.path)).take(IMAGES_MAX);
    own.map(|image| (image.name.clone(), image.uuid.clone())).collect()
}

fn kind(body: &Body) -> CrashKind {
    let said = || body.termination.reasons.iter().chain(&body.termination.details);
    if body.termination.indicator.contains(WATCHDOG) || said().any(|line| line.contains(WATCHDOG)) {
        CrashKind::NotResponding
    } else if body.last_exception_backtrace.is_empty() {
        CrashKind::Native
    } else {
        CrashKind::Exception
    }
}

fn exception(body: &Body, kind: CrashKind) -> String {
    let Exception { r#type, signal, .. } = &body.exception;
    match kind {
        CrashKind::NotResponding => NOT_RESPONDING.to_owned(),
        _ if signal.is_empty() => r#type.clone(),
        _ => format!("{type} ({signal})"),
    }
}

/// What says most, first.
fn message(body: &Body) -> String {
    let said = body.asi.values().flatten();
    let Exception { subtype, message, .. } = &body.exception;
    let termination = [&body.termination.indicator];
    let parts = said.chain([message, subtype]).chain(&body.termination.reasons).chain(termination);
    parts.filter(|part| !part.is_empty()).map(String::as_str).next().unwrap_or_default().to_owned()
}

fn thread_name(at: usize, thread: Option<&Thread>) -> String {
    let name = thread.map_or("", |thread| if thread.name.is_empty() { &thread.queue } else { &thread.name });
    if name.is_empty() { at.to_string() } else { format!("{at} ({name})") }
}

fn frame_text(frame: &JsonFrame, image: Option<&Image>) -> String {
    let (name, base) = image.map_or(("???", 0), |image| (image.name.as_str(), image.base));
    if frame.symbol.is_empty() {
        return bare_frame(name, base, frame.image_offset);
    }
    let mut text = format!("{name} {} + {}", frame.symbol, frame.symbol_location);
    if !frame.source_file.is_empty() {
        text.push_str(&format!(" ({}:{})", frame.source_file, frame.source_line));
    }
    text
}
