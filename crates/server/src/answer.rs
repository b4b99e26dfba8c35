//! What an agent reads: one text, first a line of JSON, then lines for reading; an image where one was asked for.

use mdm_core::action::failure::{Dispatch, Failure};
use mdm_core::action::kind::action_type;
use mdm_core::action::recover::{self, FailureReason};
use mdm_core::text::quote::push_quoted;
use serde::Serialize;

/// Answers above this are cut: no client shows more, and no agent reads it.
const TEXT_BYTES_MAX: usize = 4 * 1024 * 1024;
const CANDIDATES_MAX: usize = 10;
const CANDIDATE_CHARS_MAX: usize = 200;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub text: String,
    pub image: Option<Image>,
    pub is_error: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    pub mime_type: &'static str,
    pub bytes: Vec<u8>,
}

impl Answer {
    /// Facts for a program, on one line.
    pub fn json(facts: &impl Serialize) -> Answer {
        // Our own structures always serialise; if one ever did not, the agent must hear of it.
        match serde_json::to_string(facts) {
            Ok(text) => Answer { text: cut(text), image: None, is_error: false },
            Err(error) => Answer {
                text: format!("the answer could not be written: {error}"),
                image: None,
                is_error: true,
            },
        }
    }

    /// Lines for reading below the facts.
    pub fn with_lines(mut self, lines: &str) -> Answer {
        if !lines.is_empty() {
            self.text.push('\n');
            self.text.push_str(lines.trim_end_matches('\n'));
            self.text = cut(self.text);
        }
        self
    }

    pub fn with_image(mut self, image: Image) -> Answer {
        self.image = Some(image);
        self
    }

    pub fn failure(tool: &str, failure: &Failure) -> Answer {
        let facts = ErrorFacts {
            error: ErrorBody {
                tool,
                code: failure.code.as_str(),
                message: &failure.message,
                hint: &failure.hint,
            },
            action_id: failure.action_id.as_deref(),
            retryable: failure.retryable(),
            failure_reason: action_type(tool).map(|_| FailureReason::of(failure).as_str()),
            recovery: failure.recovery.as_ref().map(|recovery| RecoveryFacts {
                failure_class: recover::class(failure.code).as_str(),
                attempts: recovery.strategies.len(),
                strategies: recovery.strategies.iter().map(|strategy| strategy.as_str()).collect(),
                is_terminal: recovery.terminal,
            }),
            dispatched: (failure.dispatch == Dispatch::Unknown).then_some("unknown"),
        };
        let mut lines = String::new();
        for candidate in failure.candidates.iter().take(CANDIDATES_MAX) {
            push_line(&mut lines, candidate);
        }
        if let Some(more) = failure.candidates.len().checked_sub(CANDIDATES_MAX).filter(|more| *more > 0) {
            lines.push_str(&format!("… and {more} more\n"));
        }
        Answer { is_error: true, ..Answer::json(&facts).with_lines(&lines) }
    }
}

#[derive(Serialize)]
struct ErrorFacts<'a> {
    error: ErrorBody<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    action_id: Option<&'a str>,
    retryable: bool,
    /// Of an action (LC-05).
    #[serde(skip_serializing_if = "Option::is_none")]
    failure_reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    recovery: Option<RecoveryFacts<'a>>,
    /// Present when nobody knows whether the device acted.
    #[serde(skip_serializing_if = "Option::is_none")]
    dispatched: Option<&'a str>,
}

/// What was tried before (RC-02).
#[derive(Serialize)]
struct RecoveryFacts<'a> {
    failure_class: &'a str,
    attempts: usize,
    strategies: Vec<&'a str>,
    is_terminal: bool,
}

#[derive(Serialize)]
struct ErrorBody<'a> {
    tool: &'a str,
    code: &'a str,
    message: &'a str,
    hint: &'a str,
}

/// One line, whatever the text holds.
fn push_line(out: &mut String, text: &str) {
    if text.chars().any(char::is_control) || text.chars().count() > CANDIDATE_CHARS_MAX {
        push_quoted(out, text, CANDIDATE_CHARS_MAX);
    } else {
        out.push_str(text);
    }
    out.push('\n');
}

fn cut(mut text: String) -> String {
    if text.len() > TEXT_BYTES_MAX {
        let end = (0..=TEXT_BYTES_MAX).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        text.truncate(end);
        text.push_str("\n… cut here: the answer was larger than this server sends");
    }
    text
}

#[cfg(test)]
mod tests {
    use mdm_core::action::failure::ErrorCode;

    use super::*;

    #[test]
    fn a_failure_says_what_why_and_what_next() {
        let failure = Failure::new(ErrorCode::DeviceNotFound, "no device \"x\"", "use one of these")
            .with_candidates(vec!["a (ready)".into(), "evil\nid".into()]);
        let answer = Answer::failure("tap", &failure);
        assert!(answer.is_error, "W34");
        assert_eq!(
            answer.text,
            "{\"error\":{\"tool\":\"tap\",\"code\":\"DEVICE_NOT_FOUND\",\"message\":\"no device \\\"x\\\"\",\
             \"hint\":\"use one of these\"},\"retryable\":false,\"failure_reason\":\"dispatch\"}\na (ready)\n\"evil\\nid\""
        );
    }

    #[test]
    fn an_unknown_fate_is_never_retryable() {
        let lost = Failure::new(ErrorCode::ConnectionLost, "m", "h").with_unknown_dispatch();
        let text = Answer::failure("tap", &lost).text;
        assert!(
            text.ends_with("\"retryable\":false,\"failure_reason\":\"dispatch\",\"dispatched\":\"unknown\"}"),
            "RC-04: {text}"
        );
    }
}
