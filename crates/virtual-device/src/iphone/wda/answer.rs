//! Answers and errors in WebDriverAgent's words.

use serde_json::Value;

/// What a command answers: the value in the envelope.
pub type CommandResult = Result<Value, WdaError>;

/// An error of the WebDriver protocol, with WebDriverAgent's status for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WdaError {
    pub status: u16,
    pub error: &'static str,
    pub message: String,
}

impl WdaError {
    fn new(status: u16, error: &'static str, message: impl Into<String>) -> WdaError {
        WdaError { status, error, message: message.into() }
    }

    pub fn unknown(message: impl Into<String>) -> WdaError {
        WdaError::new(500, "unknown error", message)
    }

    pub fn argument(message: impl Into<String>) -> WdaError {
        WdaError::new(400, "invalid argument", message)
    }

    pub fn selector(message: impl Into<String>) -> WdaError {
        WdaError::new(400, "invalid selector", message)
    }

    pub fn element_state(message: impl Into<String>) -> WdaError {
        WdaError::new(400, "invalid element state", message)
    }

    pub fn unsupported(message: impl Into<String>) -> WdaError {
        WdaError::new(500, "unsupported operation", message)
    }

    pub fn no_such_element(using: &str, value: &str) -> WdaError {
        let message = format!("unable to find an element using '{using}', value '{value}'");
        WdaError::new(404, "no such element", message)
    }

    pub fn not_matched(message: impl Into<String>) -> WdaError {
        WdaError::new(404, "no such element", message)
    }

    pub fn stale(message: impl Into<String>) -> WdaError {
        WdaError::new(404, "stale element reference", message)
    }

    pub fn no_alert(message: &str) -> WdaError {
        WdaError::new(404, "no such alert", message)
    }

    pub fn no_session() -> WdaError {
        WdaError::new(404, "invalid session id", "Session does not exist")
    }

    pub fn session_not_created(message: impl Into<String>) -> WdaError {
        WdaError::new(500, "session not created", message)
    }

    pub fn unknown_command(message: impl Into<String>) -> WdaError {
        WdaError::new(404, "unknown command", message)
    }
}

/// Returns the body of an answer: the envelope has the active session's id, whatever was asked.
pub fn envelope(session: Option<&str>, result: &CommandResult) -> (u16, Value) {
    let (status, value) = match result {
        Ok(value) => (200, value.clone()),
        Err(error) => {
            let value = serde_json::json!({
                "error": error.error, "message": error.message, "traceback": "",
            });
            (error.status, value)
        }
    };
    (status, serde_json::json!({ "value": value, "sessionId": session }))
}
