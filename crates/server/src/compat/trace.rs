//! The trace that the predecessor put into answers: made from what came of the call, not step by step as it went.

use serde::Serialize;

use super::element::{FullElement, Number, Reading, Resolved};
use super::failure::{FailureJson, Recovery};
use crate::args::JsonObject;

#[derive(Clone, Serialize)]
pub struct TraceJson {
    action_id: String,
    steps: Vec<Step>,
    final_outcome: &'static str,
    attempts: u64,
}

#[derive(Clone, Serialize)]
struct Step {
    stage: &'static str,
    timestamp: u64,
    result: &'static str,
    attempt_index: usize,
    metadata: Metadata,
}

/// What a step says besides its result: each kind of step has keys of its own.
#[derive(Clone, Serialize)]
#[serde(untagged)]
pub enum Metadata {
    Target {
        action_type: &'static str,
        source_module: &'static str,
        selector: Option<JsonObject>,
        resolved: Option<Box<Resolved>>,
    },
    Execute {
        action_type: &'static str,
        source_module: &'static str,
        #[serde(flatten)]
        failure: Option<FailureJson>,
    },
    Recover {
        failure_class: &'static str,
        runtime_code: &'static str,
        retry_allowed: bool,
        recovery_attempts: u32,
        retry_depth: u32,
    },
    Control {
        resolved_target: Box<FullElement>,
        current_value: Option<Number>,
        adjustment_mode: &'static str,
    },
    ControlUnresolved {
        reason: String,
        failure_code: &'static str,
    },
    Moved {
        attempt: u64,
        mode: &'static str,
        point: PointJson,
    },
    ValueRead {
        #[serde(skip_serializing_if = "Option::is_none")]
        attempt: Option<u64>,
        property: String,
        target_value: Number,
        actual_state: Option<ActualState>,
        reason: String,
    },
    ControlRecover {
        reason: String,
        failure_code: &'static str,
        retry_allowed: bool,
        recovery_attempts: u32,
        retry_depth: u32,
    },
    Screen(Box<super::expects::ScreenStep>),
    Visible(Box<super::expects::VisibleStep>),
    State(Box<super::expects::StateStep>),
}

#[derive(Clone, Copy, Serialize)]
pub struct PointJson {
    pub x: i32,
    pub y: i32,
}

#[derive(Clone, Serialize)]
pub struct ActualState {
    pub property: String,
    pub value: Reading,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw_value: Option<Reading>,
}

impl TraceJson {
    pub fn new(action_id: &str, succeeded: bool, attempts: u64) -> TraceJson {
        TraceJson {
            action_id: action_id.to_owned(),
            steps: Vec::new(),
            final_outcome: if succeeded { "success" } else { "failure" },
            attempts: attempts.max(1),
        }
    }

    #[must_use]
    pub fn with(
        mut self,
        stage: &'static str,
        result: &'static str,
        at_ms: u64,
        metadata: Metadata,
    ) -> TraceJson {
        let attempt_index = self.steps.len();
        self.steps.push(Step { stage, timestamp: at_ms, result, attempt_index, metadata });
        self
    }

    #[must_use]
    pub fn recovering(self, at_ms: u64, recovery: &Recovery) -> TraceJson {
        let result = if recovery.retry_allowed { "retry" } else { "failure" };
        let metadata = Metadata::Recover {
            failure_class: recovery.failure_class,
            runtime_code: recovery.runtime_code,
            retry_allowed: recovery.retry_allowed,
            recovery_attempts: 0,
            retry_depth: 0,
        };
        self.with("recover", result, at_ms, metadata)
    }
}
