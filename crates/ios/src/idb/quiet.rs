//! When the app in front is at rest, told by the companion as it changes.

use mdm_core::port::DeviceError;
use mdm_wire::idb::{
    AccessibilityQuiescenceRequest, AccessibilityQuiescenceResponse, AppActivity, QuiescenceEvent,
    QuiescenceTarget,
};

use super::Idb;
use super::call::{Answers, Method};

impl Idb {
    /// Follows how busy an app is, or the one in front. Companions before 2026 cannot.
    pub async fn quiet(&self, bundle: Option<&str>) -> Result<Quiescence, DeviceError> {
        const QUIET: Method = Method::read("accessibility_quiescence", "tell when the app is at rest");
        let request = AccessibilityQuiescenceRequest {
            target: bundle.map(|bundle| QuiescenceTarget::BundleId(bundle.to_owned())),
            ..AccessibilityQuiescenceRequest::default()
        };
        Ok(Quiescence { answers: self.follow(QUIET, request).await? })
    }
}

/// Dropping it ends the call.
pub struct Quiescence {
    answers: Answers<AccessibilityQuiescenceResponse>,
}

impl Quiescence {
    /// Waits for the next change; nothing when the app has ended. States that are not known are skipped.
    pub async fn next(&mut self) -> Result<Option<AppActivity>, DeviceError> {
        while let Some(answer) = self.answers.next().await? {
            match answer.event {
                Some(QuiescenceEvent::State(state)) => match AppActivity::try_from(state.state) {
                    Ok(AppActivity::Unspecified) | Err(_) => {}
                    Ok(activity) => return Ok(Some(activity)),
                },
                Some(QuiescenceEvent::TargetExited(_)) => return Ok(None),
                Some(QuiescenceEvent::TouchesCompleted(_) | QuiescenceEvent::TargetChanged(_)) | None => {}
            }
        }
        Ok(None)
    }
}
