//! What an action came to, from the signals around it (VR-03). The order of the rules is the contract.

use std::borrow::Cow;

use crate::action::kind::{Reach, reach};
use crate::action::trace::{Lifecycle, Trace};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestStatus {
    Success,
    Failure,
    Retryable,
}

impl RequestStatus {
    fn as_str(self) -> &'static str {
        match self {
            RequestStatus::Success => "success",
            RequestStatus::Failure => "failure",
            RequestStatus::Retryable => "retryable",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    pub endpoint: String,
    pub status: RequestStatus,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Signals {
    pub ui_changed: bool,
    pub expected_visible: bool,
    pub action_type: Option<String>,
    /// `None`: nobody looked.
    pub requests: Option<Vec<Request>>,
    pub log_errors: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Success,
    NoOp,
    BackendFailure,
    UiFailure,
    Unknown,
}

impl Outcome {
    pub fn as_str(self) -> &'static str {
        match self {
            Outcome::Success => "success",
            Outcome::NoOp => "no_op",
            Outcome::BackendFailure => "backend_failure",
            Outcome::UiFailure => "ui_failure",
            Outcome::Unknown => "unknown",
        }
    }
}

pub fn classify(signals: &Signals) -> (Outcome, Cow<'static, str>) {
    if signals.expected_visible {
        return (Outcome::Success, "expected element is visible".into());
    }
    if signals.ui_changed {
        return (Outcome::Success, "UI changed after action".into());
    }
    let Some(action) = signals.action_type.as_deref().map(str::trim).filter(|name| !name.is_empty()) else {
        return (
            Outcome::Unknown,
            "actionType was not supplied; pass the runtime action_type so the classifier can distinguish \
             local-state and side-effect routing"
                .into(),
        );
    };
    let requests = signals.requests.as_deref();
    let failed = requests.and_then(|all| all.iter().find(|one| one.status != RequestStatus::Success));
    if let Some(failed) = failed {
        let reasoning = format!("network request {} returned {}", failed.endpoint, failed.status.as_str());
        return (Outcome::BackendFailure, reasoning.into());
    }
    let noted = if signals.log_errors { " (log errors present)" } else { "" };
    if reach(action) == Reach::LocalState {
        let reasoning = format!(
            "local-state action{noted}; use expect_state, refreshed snapshot comparison, or \
             expect_element_visible instead of defaulting to network inspection"
        );
        return (Outcome::NoOp, reasoning.into());
    }
    match requests {
        None => (
            Outcome::Unknown,
            "side-effect action without network data; inspect network or log signals only if the outcome is \
             still ambiguous"
                .into(),
        ),
        Some([]) => (Outcome::NoOp, format!("side-effect action and no network activity{noted}").into()),
        Some(_) => (Outcome::UiFailure, "network requests succeeded but UI did not change".into()),
    }
}

/// The same, of an action that this server has on record: what it knows itself comes before what the rules infer.
pub fn judge(signals: &Signals, record: &Trace) -> (Outcome, Cow<'static, str>) {
    let sent = record.transitions.iter().any(|(state, _)| *state == Lifecycle::Dispatched);
    if !sent {
        let why = record.steps.iter().rev().map(|step| step.note.as_str()).find(|note| !note.is_empty());
        let why = why.unwrap_or("it was refused");
        return (Outcome::NoOp, format!("nothing was sent: {why}").into());
    }
    let (outcome, reasoning) = classify(signals);
    if outcome == Outcome::Success && record.expectation_met == Some(false) && !signals.expected_visible {
        let backend = classify(&Signals { ui_changed: false, ..signals.clone() });
        let otherwise = (Outcome::UiFailure, "the screen changed, but what was expected was not seen".into());
        return if backend.0 == Outcome::BackendFailure { backend } else { otherwise };
    }
    (outcome, reasoning)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signals(action: &str) -> Signals {
        Signals { action_type: Some(action.to_owned()), ..Signals::default() }
    }

    fn request(status: RequestStatus) -> Request {
        Request { endpoint: "/a".to_owned(), status }
    }

    fn outcome(signals: &Signals) -> Outcome {
        classify(signals).0
    }

    #[test]
    fn the_rules_hold_in_their_order() {
        // VR-03: each case breaks every rule below its own, too.
        let failed = Some(vec![request(RequestStatus::Success), request(RequestStatus::Retryable)]);
        let all = Signals {
            ui_changed: true,
            expected_visible: true,
            requests: failed.clone(),
            log_errors: true,
            action_type: None,
        };
        assert_eq!(classify(&all), (Outcome::Success, "expected element is visible".into()));
        let changed = Signals { expected_visible: false, ..all };
        assert_eq!(classify(&changed), (Outcome::Success, "UI changed after action".into()));
        let unnamed = Signals { ui_changed: false, ..changed };
        assert_eq!(outcome(&unnamed), Outcome::Unknown);
        assert_eq!(outcome(&Signals { action_type: Some("  ".into()), ..unnamed }), Outcome::Unknown);
        let backend = Signals { requests: failed, ..signals("tap") };
        let said = "network request /a returned retryable".into();
        assert_eq!(classify(&backend), (Outcome::BackendFailure, said));
        let fine = Some(vec![request(RequestStatus::Success)]);
        assert_eq!(outcome(&Signals { requests: fine.clone(), ..signals("tap") }), Outcome::NoOp);
        assert_eq!(outcome(&signals("start_app")), Outcome::Unknown);
        assert_eq!(outcome(&Signals { requests: Some(vec![]), ..signals("start_app") }), Outcome::NoOp);
        assert_eq!(outcome(&Signals { requests: fine, ..signals("start_app") }), Outcome::UiFailure);
    }

    #[test]
    fn a_slider_is_local() {
        // VR-01: its state tells, not the network.
        let quiet = Signals { requests: Some(vec![]), log_errors: true, ..signals("adjust_control") };
        let (outcome, reasoning) = classify(&quiet);
        assert_eq!(outcome, Outcome::NoOp);
        assert!(reasoning.starts_with("local-state action (log errors present); use expect_state"));
    }

    #[test]
    fn the_record_knows_what_was_sent_and_what_was_expected() {
        let changed = Signals { ui_changed: true, ..signals("tap") };
        let mut record = Trace::new("tap_1".to_owned(), "tap", 0);
        assert_eq!(judge(&changed, &record).0, Outcome::NoOp, "nothing was sent");
        record.reach(Lifecycle::Dispatched, 1);
        assert_eq!(judge(&changed, &record).0, Outcome::Success);
        record.expectation_met = Some(false);
        assert_eq!(judge(&changed, &record).0, Outcome::UiFailure);
        let failed = Signals { requests: Some(vec![request(RequestStatus::Failure)]), ..changed };
        assert_eq!(judge(&failed, &record).0, Outcome::BackendFailure);
    }
}
