//! Touch plans: the position of each finger over time.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use tokio::time::{Duration, Instant};

use super::{Fields, HelperError};
use crate::helpers::touch;
use crate::phone::Phone;

const PROTOCOL: &str = "android-touch-plan-v1";
const DURATION_MS_MAX: u64 = 120_000;
/// Points of a plan: one every 4 ms for the longest plan.
const SAMPLES_MAX: usize = 30_000;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Plan {
    protocol: String,
    kind: String,
    duration_ms: u64,
    pointers: Vec<Pointer>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Pointer {
    pointer_id: u32,
    samples: Vec<Sample>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Sample {
    offset_ms: u64,
    x: f64,
    y: f64,
}

impl Sample {
    fn point(&self) -> (i32, i32) {
        (self.x.round() as i32, self.y.round() as i32)
    }
}

/// Performs a plan in the time that it takes.
pub async fn perform(phone: &Phone, payload: Option<&str>) -> Result<Fields, HelperError> {
    let plan = read(payload)?;
    let samples = one_finger(&plan)?;
    let begun = Instant::now();
    for (index, sample) in samples.iter().enumerate() {
        tokio::time::sleep_until(begun + Duration::from_millis(sample.offset_ms)).await;
        match index {
            0 => touch::down(phone, sample.point()),
            _ => touch::moved(phone, sample.point()),
        }
    }
    if let Some(last) = samples.last() {
        touch::up(phone, last.point());
    }
    Ok(vec![
        ("kind", plan.kind.clone()),
        ("injectedEvents", (samples.len() + 1).to_string()),
        ("elapsedMs", begun.elapsed().as_millis().to_string()),
    ])
}

fn read(payload: Option<&str>) -> Result<Plan, HelperError> {
    let payload = payload.ok_or_else(|| HelperError::argument("Missing payloadBase64"))?;
    let bytes = STANDARD.decode(payload).map_err(|_| HelperError::argument("bad base-64"))?;
    let plan: Plan = serde_json::from_slice(&bytes)
        .map_err(|e| HelperError { kind: "org.json.JSONException", message: e.to_string() })?;
    if plan.protocol != PROTOCOL {
        return Err(HelperError::argument(format!("Unsupported protocol: {}", plan.protocol)));
    }
    if plan.duration_ms > DURATION_MS_MAX {
        return Err(HelperError::argument("durationMs must be between 0 and 120000"));
    }
    Ok(plan)
}

/// Returns the points of the only finger; plans with more are refused.
fn one_finger(plan: &Plan) -> Result<&[Sample], HelperError> {
    let pointer = match (plan.kind.as_str(), plan.pointers.as_slice()) {
        ("swipe", [one]) => one,
        ("swipe", _) => return Err(HelperError::argument("swipe gesture requires exactly 1 pointer paths")),
        ("transform", _) => return Err(HelperError::state("this phone has no gestures of two fingers")),
        (kind, _) => return Err(HelperError::argument(format!("Unsupported kind: {kind}"))),
    };
    let samples = pointer.samples.as_slice();
    let rises = samples.windows(2).all(|pair| pair[0].offset_ms < pair[1].offset_ms);
    let ends = (samples.first().map(|s| s.offset_ms), samples.last().map(|s| s.offset_ms));
    let complaint = if pointer.pointer_id != 0 {
        "Planned pointer ids must be ordered from 0"
    } else if samples.len() < 2 {
        "Planned pointer path requires at least two samples"
    } else if samples.len() > SAMPLES_MAX {
        "Planned pointer path has too many samples"
    } else if !rises {
        "Planned sample offsets must be strictly increasing"
    } else if ends != (Some(0), Some(plan.duration_ms)) {
        "Pointer path must start at 0 and end at durationMs"
    } else if samples.iter().any(|s| !s.x.is_finite() || !s.y.is_finite()) {
        "Planned sample coordinates must be finite"
    } else {
        return Ok(samples);
    };
    Err(HelperError::argument(complaint))
}
