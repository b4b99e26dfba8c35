//! What may be tried when something did not work: a table, not a search (RC-01 to RC-04).
//!
//! Architecture invariant: nothing that may have had an effect is ever tried again. What comes before the dispatch is
//! free to look and resolve anew; what comes after it only looks.

use crate::failure::ErrorCode;

/// Of both tables below: raised whenever an entry changes its meaning.
pub const TABLE_VERSION: u32 = 1;
/// Recoveries of one action.
pub const ATTEMPTS_MAX: usize = 3;

/// RC-01, in the words of the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FailureClass {
    TargetResolution,
    Execution,
    Verification,
    ControlConvergence,
    SemanticMismatch,
}

impl FailureClass {
    pub fn as_str(self) -> &'static str {
        match self {
            FailureClass::TargetResolution => "TargetResolutionFailure",
            FailureClass::Execution => "ExecutionFailure",
            FailureClass::Verification => "VerificationFailure",
            FailureClass::ControlConvergence => "ControlConvergenceFailure",
            FailureClass::SemanticMismatch => "SemanticMismatchFailure",
        }
    }
}

/// Every code has one class; a new code does not compile without one.
pub fn class(code: ErrorCode) -> FailureClass {
    match code {
        ErrorCode::StaleReference | ErrorCode::ElementNotFound | ErrorCode::AmbiguousTarget => {
            FailureClass::TargetResolution
        }
        ErrorCode::VerificationFailed | ErrorCode::ExpectStateMismatch => FailureClass::Verification,
        ErrorCode::ControlConvergenceFailed => FailureClass::ControlConvergence,
        ErrorCode::InvalidArgument
        | ErrorCode::PlatformNotSupported
        | ErrorCode::NoDevice
        | ErrorCode::DeviceNotFound
        | ErrorCode::DeviceUnauthorized
        | ErrorCode::DeviceOffline
        | ErrorCode::AmbiguousDevice
        | ErrorCode::ConnectionLost
        | ErrorCode::ProtocolError
        | ErrorCode::Timeout
        | ErrorCode::Cancelled
        | ErrorCode::AppNotInstalled
        | ErrorCode::ActionRejected
        | ErrorCode::UiNotIdle
        | ErrorCode::NoRootWindow
        | ErrorCode::UiTreeUnavailable
        | ErrorCode::ScreenshotUnavailable
        | ErrorCode::TextNotTypeable
        | ErrorCode::ElementNotInteractable
        | ErrorCode::NavigationNoChange
        | ErrorCode::InternalError => FailureClass::Execution,
    }
}

/// Why an action did not come about, or not as it should (LC-05).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FailureReason {
    TargetResolution,
    Dispatch,
    VerificationTimeout,
    UnexpectedChange,
    NoChange,
}

impl FailureReason {
    pub fn as_str(self) -> &'static str {
        match self {
            FailureReason::TargetResolution => "target_resolution",
            FailureReason::Dispatch => "dispatch",
            FailureReason::VerificationTimeout => "verification_timeout",
            FailureReason::UnexpectedChange => "unexpected_change",
            FailureReason::NoChange => "no_change",
        }
    }
}

/// RC-02.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// Look once more and find the target there.
    ReResolve,
    /// What is covered or out of sight gives way to an equal that is not. Done within resolution, so that it never
    /// becomes a guess.
    AlternateCandidate,
    /// Wait until the screen rests, then find the target there.
    StateRefresh,
    /// Touch the control again from where it is now.
    RetryAdjustment,
    /// Close what is in the way and can be closed without leaving the screen: the keyboard.
    StepBack,
}

impl Strategy {
    pub fn as_str(self) -> &'static str {
        match self {
            Strategy::ReResolve => "re_resolve",
            Strategy::AlternateCandidate => "alternate_candidate",
            Strategy::StateRefresh => "state_refresh",
            Strategy::RetryAdjustment => "retry_adjustment",
            Strategy::StepBack => "step_back",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Obstacle {
    NotFound,
    Stale,
    Ambiguous,
    Moving,
    OutOfSight,
    Disabled,
    Covered {
        by_keyboard: bool,
    },
    Doubtful,
    /// The device did not take it, and says so.
    NotApplied,
    FateUnknown,
    Contradicted,
    NotConverged,
}

/// What is known besides the trouble itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RecoveryContext {
    /// The tree is not whole, so what is missing may be there.
    pub damaged: bool,
    /// The screen changed during the last look, or shows that it is loading.
    pub restless: bool,
    /// The failure may pass by itself.
    pub retryable: bool,
}

/// What to try next; `None` when that is all that can be done, and the failure is final.
pub fn next(trouble: Obstacle, scene: RecoveryContext, tried: &[Strategy]) -> Option<Strategy> {
    if tried.len() >= ATTEMPTS_MAX {
        return None;
    }
    let first = |strategy: Strategy| (!tried.contains(&strategy)).then_some(strategy);
    // A screen that rests shows the same as before: looking again is only worth it while it does not.
    let refresh = || {
        let again = scene.restless.then_some(Strategy::StateRefresh);
        first(Strategy::StateRefresh).or(again)
    };
    let whole = || scene.damaged.then_some(Strategy::ReResolve);
    match trouble {
        Obstacle::NotFound => whole().or_else(refresh),
        Obstacle::Moving | Obstacle::Disabled | Obstacle::Covered { by_keyboard: false } => refresh(),
        Obstacle::Covered { by_keyboard: true } => first(Strategy::StepBack).or_else(refresh),
        Obstacle::Stale => whole(),
        Obstacle::Ambiguous => scene.restless.then(refresh).flatten(),
        Obstacle::NotApplied => scene.retryable.then_some(Strategy::ReResolve),
        Obstacle::NotConverged => scene.retryable.then_some(Strategy::RetryAdjustment),
        // RC-04: it may have had its effect, or would do what was not asked for.
        Obstacle::OutOfSight | Obstacle::Doubtful | Obstacle::FateUnknown | Obstacle::Contradicted => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVERY: [Obstacle; 13] = [
        Obstacle::NotFound,
        Obstacle::Stale,
        Obstacle::Ambiguous,
        Obstacle::Moving,
        Obstacle::OutOfSight,
        Obstacle::Disabled,
        Obstacle::Covered { by_keyboard: false },
        Obstacle::Covered { by_keyboard: true },
        Obstacle::Doubtful,
        Obstacle::NotApplied,
        Obstacle::FateUnknown,
        Obstacle::Contradicted,
        Obstacle::NotConverged,
    ];

    fn scenes() -> impl Iterator<Item = RecoveryContext> {
        (0..8).map(|bits| RecoveryContext {
            damaged: bits & 1 > 0,
            restless: bits & 2 > 0,
            retryable: bits & 4 > 0,
        })
    }

    #[test]
    fn recovery_always_ends() {
        // RC-02: at most three, however bad the scene stays.
        for trouble in EVERY {
            for scene in scenes() {
                let mut tried = Vec::new();
                while let Some(strategy) = next(trouble, scene, &tried) {
                    tried.push(strategy);
                    assert!(tried.len() <= ATTEMPTS_MAX, "{trouble:?} {scene:?}");
                }
            }
        }
    }

    #[test]
    fn what_may_have_had_an_effect_is_never_tried_again() {
        // RC-04
        for trouble in [Obstacle::FateUnknown, Obstacle::Contradicted] {
            assert!(scenes().all(|scene| next(trouble, scene, &[]).is_none()));
        }
    }

    #[test]
    fn what_is_not_retryable_is_not_retried() {
        // RC-03
        for trouble in [Obstacle::NotApplied, Obstacle::NotConverged] {
            for scene in scenes() {
                assert_eq!(next(trouble, scene, &[]).is_some(), scene.retryable, "{trouble:?}");
            }
        }
        let retries =
            |scene: RecoveryContext| EVERY.iter().filter_map(move |trouble| next(*trouble, scene, &[]));
        for scene in scenes().filter(|scene| !scene.retryable) {
            assert!(retries(scene).all(|strategy| strategy != Strategy::RetryAdjustment));
        }
    }

    #[test]
    fn a_quiet_screen_is_looked_at_once_more_and_a_busy_one_longer() {
        let quiet = RecoveryContext::default();
        let busy = RecoveryContext { restless: true, ..quiet };
        let refreshed = [Strategy::StateRefresh];
        assert_eq!(next(Obstacle::NotFound, quiet, &[]), Some(Strategy::StateRefresh));
        assert_eq!(next(Obstacle::NotFound, quiet, &refreshed), None);
        assert_eq!(next(Obstacle::NotFound, busy, &refreshed), Some(Strategy::StateRefresh));
        assert_eq!(next(Obstacle::Ambiguous, quiet, &[]), None, "ID-04: nothing decides");
        assert_eq!(next(Obstacle::Stale, busy, &[]), None, "ID-02: a name is never given to another");
        let behind = Obstacle::Covered { by_keyboard: true };
        assert_eq!(next(behind, quiet, &[]), Some(Strategy::StepBack));
        assert_eq!(next(behind, quiet, &[Strategy::StepBack]), Some(Strategy::StateRefresh));
    }

    #[test]
    fn classes_are_those_of_the_contract() {
        // RC-01
        assert_eq!(class(ErrorCode::AmbiguousTarget).as_str(), "TargetResolutionFailure");
        assert_eq!(class(ErrorCode::ElementNotInteractable).as_str(), "ExecutionFailure");
        assert_eq!(class(ErrorCode::NavigationNoChange).as_str(), "ExecutionFailure");
        assert_eq!(class(ErrorCode::ExpectStateMismatch).as_str(), "VerificationFailure");
        assert_eq!(class(ErrorCode::ControlConvergenceFailed).as_str(), "ControlConvergenceFailure");
    }
}
