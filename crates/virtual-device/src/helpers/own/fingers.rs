//! Whole gestures, each sample at its own time, through the phone's touch panel.

use mdm_wire::helper::{Finger, Sample};
use tokio::time::{Duration, Instant};

use crate::app::ui::LONG_PRESS_MS;
use crate::phone::Phone;

/// Fingers between two moments at which none is down.
struct Stroke<'a> {
    samples: &'a [Sample],
    lifted_at_ms: u32,
}

/// Makes the gesture and returns when the last finger was lifted.
pub async fn touch(phone: &Phone, samples: &[Sample]) {
    let begun = Instant::now();
    for stroke in strokes(samples) {
        match still_finger(&stroke) {
            // A tap takes the way of `input tap`, on which it may get lost or come late. What it hits is decided when the
            // finger comes down.
            Some(finger) => {
                until(begun, stroke.samples[0].at_ms).await;
                phone.with(|state| state.tap(finger.x, finger.y));
                until(begun, stroke.lifted_at_ms).await;
            }
            None => move_fingers(phone, &stroke, begun).await,
        }
    }
}

async fn until(begun: Instant, at_ms: u32) {
    let at = begun + Duration::from_millis(at_ms.into());
    if at > Instant::now() {
        tokio::time::sleep_until(at).await;
    }
}

async fn move_fingers(phone: &Phone, stroke: &Stroke<'_>, begun: Instant) {
    for sample in stroke.samples {
        until(begun, sample.at_ms).await;
        let fingers = slots(&sample.fingers);
        phone.with(|state| state.panel_fingers(&fingers));
    }
    until(begun, stroke.lifted_at_ms).await;
    phone.with(|state| state.panel_fingers(&[]));
}

fn slots(fingers: &[Finger]) -> Vec<(usize, (i32, i32))> {
    fingers.iter().map(|finger| (usize::from(finger.id), (finger.x, finger.y))).collect()
}

fn strokes(samples: &[Sample]) -> Vec<Stroke<'_>> {
    let mut strokes = Vec::new();
    let mut start = 0;
    for (index, sample) in samples.iter().enumerate() {
        if !sample.fingers.is_empty() {
            continue;
        }
        if let Some(samples) = samples.get(start..index).filter(|samples| !samples.is_empty()) {
            strokes.push(Stroke { samples, lifted_at_ms: sample.at_ms });
        }
        start = index + 1;
    }
    strokes
}

/// Returns the one finger of a tap: it does not move and is lifted soon.
fn still_finger(stroke: &Stroke<'_>) -> Option<Finger> {
    let first = stroke.samples.first()?;
    let [finger] = first.fingers.as_slice() else { return None };
    let is_still = stroke.samples.iter().all(|sample| sample.fingers.as_slice() == [*finger]);
    let is_short = u64::from(stroke.lifted_at_ms.saturating_sub(first.at_ms)) < LONG_PRESS_MS;
    (is_still && is_short).then_some(*finger)
}
