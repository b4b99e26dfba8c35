//! Failures in the predecessor's words: its codes, and its note on recovery, which it never attempted.

use mdm_core::failure::{Cause, ErrorCode, Failure};
use serde::Serialize;

/// Tries that the predecessor would have allowed.
const ATTEMPTS_MAX: u32 = 3;

#[derive(Clone, Serialize)]
pub struct FailureJson {
    pub failure_code: &'static str,
    pub retryable: bool,
}

#[derive(Clone, Serialize)]
pub struct Recovery {
    pub failure_class: &'static str,
    pub runtime_code: &'static str,
    recovery_attempts: u32,
    max_recovery_attempts: u32,
    retry_depth: u32,
    max_retry_depth: u32,
    is_terminal: bool,
    pub retry_allowed: bool,
}

impl FailureJson {
    pub fn of(tool: &str, failure: &Failure) -> FailureJson {
        let failure_code = match (tool, failure.cause) {
            ("adjust_control", cause) => code_of_adjusting(cause, failure.code()),
            (_, Cause::EndReached) => "NAVIGATION_NO_CHANGE",
            ("scroll_to_element", _) => "UNKNOWN",
            (_, _) => code(failure.code()),
        };
        // These look before each try; all else must not be done twice where it may have been done once (RC-04).
        let looks_first = matches!(tool, "adjust_control" | "scroll_to_element");
        let is_safe = looks_first || failure.dispatch.is_safe_to_repeat();
        FailureJson { failure_code, retryable: is_safe && is_retryable(tool, failure_code) }
    }

    pub fn recovery(&self) -> Recovery {
        Recovery {
            failure_class: class(self.failure_code),
            runtime_code: self.failure_code,
            recovery_attempts: 0,
            max_recovery_attempts: ATTEMPTS_MAX,
            retry_depth: 0,
            max_retry_depth: ATTEMPTS_MAX,
            is_terminal: false,
            retry_allowed: self.retryable,
        }
    }
}

fn code_of_adjusting(cause: Cause, code: ErrorCode) -> &'static str {
    match cause {
        Cause::NotAdjustable | Cause::InvalidArgument | Cause::NoValueShown => "ELEMENT_NOT_INTERACTABLE",
        Cause::OutsideRange => "UNKNOWN",
        // It was touched, and the value did not come.
        _ if matches!(code, ErrorCode::ControlConvergenceFailed | ErrorCode::VerificationFailed) => "TIMEOUT",
        _ => self::code(code),
    }
}

/// The predecessor's name of a code; what it had none for was unknown.
fn code(code: ErrorCode) -> &'static str {
    match code {
        ErrorCode::StaleReference
        | ErrorCode::ElementNotFound
        | ErrorCode::AmbiguousTarget
        | ErrorCode::ElementNotInteractable
        | ErrorCode::Timeout
        | ErrorCode::VerificationFailed
        | ErrorCode::ControlConvergenceFailed
        | ErrorCode::NavigationNoChange => code.as_str(),
        _ => "UNKNOWN",
    }
}

fn is_retryable(tool: &str, code: &str) -> bool {
    match code {
        "TIMEOUT" | "NAVIGATION_NO_CHANGE" | "STALE_REFERENCE" | "ELEMENT_NOT_FOUND" => true,
        "ELEMENT_NOT_INTERACTABLE" => tool == "tap_element",
        _ => false,
    }
}

fn class(code: &str) -> &'static str {
    match code {
        "ELEMENT_NOT_FOUND" | "AMBIGUOUS_TARGET" | "STALE_REFERENCE" => "TargetResolutionFailure",
        "VERIFICATION_FAILED" | "EXPECT_STATE_MISMATCH" => "VerificationFailure",
        "CONTROL_CONVERGENCE_FAILED" => "ControlConvergenceFailure",
        _ => "ExecutionFailure",
    }
}
