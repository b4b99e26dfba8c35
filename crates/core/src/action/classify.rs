//! Classifies the outcome of an action from the signals around it (VR-03). The order of the rules is the contract.

use crate::action::kind::Reach;
use crate::action::trace::{Lifecycle, Stage, StepResult, Trace};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestStatus {
    Success,
    Failure,
    Retryable,
}

impl RequestStatus {
    pub fn as_str(self) -> &'static str {
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
    /// Where the action's effect shows; `None` when the action is not known.
    pub reach: Option<Reach>,
    /// `None` when the network was not observed.
    pub requests: Option<Vec<Request>>,
    pub log_errors: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Classification {
    Success,
    NoOp,
    BackendFailure,
    UiFailure,
    Unknown,
}

impl Classification {
    pub fn as_str(self) -> &'static str {
        match self {
            Classification::Success => "success",
            Classification::NoOp => "no_op",
            Classification::BackendFailure => "backend_failure",
            Classification::UiFailure => "ui_failure",
            Classification::Unknown => "unknown",
        }
    }
}

/// The rule that decided. The server puts it into words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    ExpectedVisible,
    UiChanged,
    /// The action is not known.
    Unnamed,
    RequestFailed(Request),
    LocalState {
        log_errors: bool,
    },
    NoNetworkData,
    NoNetworkActivity {
        log_errors: bool,
    },
    RequestsWithoutChange,
    /// The record shows that nothing was sent.
    NothingSent {
        last: String,
    },
    /// The action was not sent, but something was that prepared it.
    OnlyPrepared {
        sent: String,
        last: String,
    },
    /// The screen changed, but the expected state was not seen.
    ChangedOtherwise,
    /// The action was sent, and the screen was not captured afterwards.
    NobodyLooked,
    /// The app crashed or stopped responding.
    Crashed {
        summary: String,
    },
}

pub fn classify(signals: &Signals) -> (Classification, Why) {
    if signals.expected_visible {
        return (Classification::Success, Why::ExpectedVisible);
    }
    if signals.ui_changed {
        return (Classification::Success, Why::UiChanged);
    }
    let Some(reach) = signals.reach else { return (Classification::Unknown, Why::Unnamed) };
    let requests = signals.requests.as_deref();
    let failed = requests.and_then(|all| all.iter().find(|one| one.status != RequestStatus::Success));
    if let Some(failed) = failed {
        return (Classification::BackendFailure, Why::RequestFailed(failed.clone()));
    }
    let log_errors = signals.log_errors;
    match (reach, requests) {
        (Reach::LocalState, _) => (Classification::NoOp, Why::LocalState { log_errors }),
        (Reach::SideEffect, None) => (Classification::Unknown, Why::NoNetworkData),
        (Reach::SideEffect, Some([])) => (Classification::NoOp, Why::NoNetworkActivity { log_errors }),
        (Reach::SideEffect, Some(_)) => (Classification::UiFailure, Why::RequestsWithoutChange),
    }
}

/// Judges a recorded action: recorded facts take precedence over the rules. `looked`: the screen was captured after the
/// action.
pub fn judge(signals: &Signals, record: &Trace, looked: bool) -> (Classification, Why) {
    let sent = record.transitions.iter().any(|(state, _)| *state == Lifecycle::Dispatched);
    if !sent && record.fate_unknown {
        // It may have arrived: only what was expected and seen tells.
        return match record.expectation_met {
            Some(true) => (Classification::Success, Why::ExpectedVisible),
            _ => (Classification::Unknown, Why::NobodyLooked),
        };
    }
    if !sent {
        let last = record.steps.iter().rev().map(|step| step.note.as_str()).find(|note| !note.is_empty());
        let last = last.unwrap_or("refused").to_owned();
        let prepared = record
            .steps
            .iter()
            .find(|step| step.stage == Stage::Execute && step.result == StepResult::Success);
        return match prepared {
            Some(step) => (Classification::Unknown, Why::OnlyPrepared { sent: step.note.clone(), last }),
            None => (Classification::NoOp, Why::NothingSent { last }),
        };
    }
    if let Some(summary) = &record.crash {
        return (Classification::UiFailure, Why::Crashed { summary: summary.clone() });
    }
    let (outcome, why) = classify(signals);
    if outcome == Classification::Success
        && record.expectation_met == Some(false)
        && !signals.expected_visible
    {
        let backend = classify(&Signals { ui_changed: false, ..signals.clone() });
        let otherwise = (Classification::UiFailure, Why::ChangedOtherwise);
        return if backend.0 == Classification::BackendFailure { backend } else { otherwise };
    }
    // Unknown is not "nothing" (F10).
    if outcome == Classification::NoOp && !looked {
        return (Classification::Unknown, Why::NobodyLooked);
    }
    (outcome, why)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::action::event::Event;
    use crate::action::outcome::SentKind;
    use crate::action::request::{Act, ActPatience, Action, Request as Asked, What};
    use crate::port::{DeviceEvent, Dispatch};

    fn signals(reach: Reach) -> Signals {
        Signals { reach: Some(reach), ..Signals::default() }
    }

    fn request(status: RequestStatus) -> Request {
        Request { endpoint: "/a".to_owned(), status }
    }

    fn outcome(signals: &Signals) -> Classification {
        classify(signals).0
    }

    #[test]
    fn the_rules_apply_in_their_order() {
        // VR-03: in each case the rules after the expected one would apply too.
        let failed = Some(vec![request(RequestStatus::Success), request(RequestStatus::Retryable)]);
        let all = Signals {
            ui_changed: true,
            expected_visible: true,
            requests: failed.clone(),
            log_errors: true,
            reach: None,
        };
        assert_eq!(classify(&all), (Classification::Success, Why::ExpectedVisible));
        let changed = Signals { expected_visible: false, ..all };
        assert_eq!(classify(&changed), (Classification::Success, Why::UiChanged));
        let unnamed = Signals { ui_changed: false, ..changed };
        assert_eq!(classify(&unnamed), (Classification::Unknown, Why::Unnamed));
        let backend = Signals { requests: failed, ..signals(Reach::LocalState) };
        let why = Why::RequestFailed(request(RequestStatus::Retryable));
        assert_eq!(classify(&backend), (Classification::BackendFailure, why));
        let fine = Some(vec![request(RequestStatus::Success)]);
        assert_eq!(
            outcome(&Signals { requests: fine.clone(), ..signals(Reach::LocalState) }),
            Classification::NoOp
        );
        assert_eq!(outcome(&signals(Reach::SideEffect)), Classification::Unknown);
        assert_eq!(
            outcome(&Signals { requests: Some(vec![]), ..signals(Reach::SideEffect) }),
            Classification::NoOp
        );
        assert_eq!(
            outcome(&Signals { requests: fine, ..signals(Reach::SideEffect) }),
            Classification::UiFailure
        );
    }

    #[test]
    fn a_local_action_is_not_judged_by_the_network() {
        // VR-01
        let quiet = Signals { requests: Some(vec![]), log_errors: true, ..signals(Reach::LocalState) };
        assert_eq!(classify(&quiet), (Classification::NoOp, Why::LocalState { log_errors: true }));
    }

    #[test]
    fn recorded_facts_take_precedence_over_the_rules() {
        let changed = Signals { ui_changed: true, ..signals(Reach::LocalState) };
        let patience = ActPatience { settle: false, window_ms: 0, timeout_ms: 0, call_ms: 1000 };
        let act = Act { action: Action::Back, scroll_to_target: false, expect: None, patience };
        let asked = Asked { id: "back_1".to_owned(), name: "back", what: What::Act(Box::new(act)) };
        let mut record = Trace::new(&asked, 0);
        assert_eq!(judge(&changed, &record, true).0, Classification::NoOp, "nothing was sent");
        let mut prepared = record.clone();
        let hidden = Event::Sent { what: SentKind::HideKeyboard, dispatch: Dispatch::Taken, error: None };
        prepared.record(&hidden, 1);
        assert_eq!(judge(&changed, &prepared, true).0, Classification::Unknown, "a back key was sent");
        let mut lost = record.clone();
        lost.record(&Event::Sent { what: SentKind::Key, dispatch: Dispatch::Unknown, error: None }, 1);
        lost.transitions.clear();
        assert_eq!(judge(&changed, &lost, true).0, Classification::Unknown, "F10: it may have arrived");
        record.record(&Event::Sent { what: SentKind::Key, dispatch: Dispatch::Taken, error: None }, 1);
        assert_eq!(judge(&changed, &record, true).0, Classification::Success);
        record.expectation_met = Some(false);
        assert_eq!(judge(&changed, &record, true).0, Classification::UiFailure);
        let failed = Signals { requests: Some(vec![request(RequestStatus::Failure)]), ..changed };
        assert_eq!(judge(&failed, &record, true).0, Classification::BackendFailure);
        let mut crashed = record.clone();
        crashed
            .record(&Event::Device(DeviceEvent::Crash { app: "a".into(), summary: "a crashed".into() }), 2);
        let why = Why::Crashed { summary: "a crashed".to_owned() };
        assert_eq!(judge(&changed, &crashed, true), (Classification::UiFailure, why), "F44, F10");
        let unseen = signals(Reach::LocalState);
        assert_eq!(judge(&unseen, &record, false), (Classification::Unknown, Why::NobodyLooked), "F10");
    }
}
