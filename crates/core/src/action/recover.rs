//! The table of recoveries for failed actions (RC-01 to RC-04).
//!
//! Architecture invariant: nothing that may have had an effect is ever tried again. Before the dispatch, a recovery may
//! capture and resolve again; after it, a recovery only captures.

use crate::failure::ErrorCode;

/// Version of both tables below; raised whenever an entry changes its meaning.
pub const TABLE_VERSION: u32 = 1;
/// Limit of recoveries of one action.
pub const ATTEMPTS_MAX: usize = 3;

/// The class of a failure, in the contract's words (RC-01).
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

/// Returns the class of a code. The match has no wildcard, so that a new code needs a class to compile.
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
        | ErrorCode::DeviceLeased
        | ErrorCode::PolicyDenied
        | ErrorCode::NotConfirmed
        | ErrorCode::BuildFailed
        | ErrorCode::ToolMissing
        | ErrorCode::InternalError => FailureClass::Execution,
    }
}

/// Why an action was not done, or did not have the expected effect (LC-05).
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

/// A recovery (RC-02).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// Captures again and resolves the target there.
    ReResolve,
    /// Uses an equal candidate that is visible and not covered. Resolution does this itself, so that it never guesses.
    AlternateCandidate,
    /// Waits until the screen is stable, then resolves the target there.
    StateRefresh,
    /// Adjusts the control again from its current value.
    RetryAdjustment,
    /// Closes the keyboard, the only cover that can be closed without leaving the screen.
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
    /// The device reported that it did not apply the input.
    NotApplied,
    /// It, or a part of it, may have had its effect.
    FateUnknown,
}

/// Facts about the screen and the failure that decide between recoveries.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RecoveryContext {
    /// The tree is not whole: a missing element may be on the screen.
    pub damaged: bool,
    /// The screen changed during the last capture, or shows that it is loading.
    pub restless: bool,
    /// The failure may be temporary.
    pub retryable: bool,
}

/// Returns the next recovery; `None` when the failure is final.
pub fn next(obstacle: Obstacle, context: RecoveryContext, tried: &[Strategy]) -> Option<Strategy> {
    if tried.len() >= ATTEMPTS_MAX {
        return None;
    }
    let first = |strategy: Strategy| (!tried.contains(&strategy)).then_some(strategy);
    // A stable screen shows the same again: a second refresh is useful only while the screen changes.
    let refresh = || {
        let again = context.restless.then_some(Strategy::StateRefresh);
        first(Strategy::StateRefresh).or(again)
    };
    let whole = || context.damaged.then_some(Strategy::ReResolve);
    match obstacle {
        Obstacle::NotFound => whole().or_else(refresh),
        Obstacle::Moving | Obstacle::Disabled | Obstacle::Covered { by_keyboard: false } => refresh(),
        Obstacle::Covered { by_keyboard: true } => first(Strategy::StepBack).or_else(refresh),
        Obstacle::Stale => whole(),
        Obstacle::Ambiguous => context.restless.then(refresh).flatten(),
        Obstacle::NotApplied => context.retryable.then_some(Strategy::ReResolve),
        // RC-04: the action may have had its effect, or a retry would do something that was not asked for.
        Obstacle::OutOfSight | Obstacle::Doubtful | Obstacle::FateUnknown => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVERY: [Obstacle; 11] = [
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
    ];

    fn contexts() -> impl Iterator<Item = RecoveryContext> {
        (0..8).map(|bits| RecoveryContext {
            damaged: bits & 1 > 0,
            restless: bits & 2 > 0,
            retryable: bits & 4 > 0,
        })
    }

    #[test]
    fn recovery_always_ends() {
        // RC-02: at most three, even if the obstacle stays.
        for obstacle in EVERY {
            for context in contexts() {
                let mut tried = Vec::new();
                while let Some(strategy) = next(obstacle, context, &tried) {
                    tried.push(strategy);
                    assert!(tried.len() <= ATTEMPTS_MAX, "{obstacle:?} {context:?}");
                }
            }
        }
    }

    #[test]
    fn an_action_that_may_have_had_an_effect_is_not_retried() {
        // RC-04
        assert!(contexts().all(|context| next(Obstacle::FateUnknown, context, &[]).is_none()));
    }

    #[test]
    fn only_retryable_failures_are_retried() {
        // RC-03
        for context in contexts() {
            assert_eq!(next(Obstacle::NotApplied, context, &[]).is_some(), context.retryable, "{context:?}");
        }
    }

    #[test]
    fn a_stable_screen_is_refreshed_once_and_a_busy_one_again() {
        let quiet = RecoveryContext::default();
        let busy = RecoveryContext { restless: true, ..quiet };
        let refreshed = [Strategy::StateRefresh];
        assert_eq!(next(Obstacle::NotFound, quiet, &[]), Some(Strategy::StateRefresh));
        assert_eq!(next(Obstacle::NotFound, quiet, &refreshed), None);
        assert_eq!(next(Obstacle::NotFound, busy, &refreshed), Some(Strategy::StateRefresh));
        assert_eq!(next(Obstacle::Ambiguous, quiet, &[]), None, "ID-04: nothing decides");
        assert_eq!(next(Obstacle::Stale, busy, &[]), None, "ID-02: an id never means another element");
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
