//! What the server answers, as far as the oracles read it.

use serde::Deserialize;

/// A message of JSON-RPC.
#[derive(Debug, Deserialize)]
pub struct Message {
    pub id: Option<String>,
    pub result: Option<ToolResult>,
    pub error: Option<RpcError>,
}

#[derive(Debug, Deserialize)]
pub struct RpcError {
    pub message: String,
}

/// The result of a call, or of anything else that has none of these members.
#[derive(Debug, Default, Deserialize)]
pub struct ToolResult {
    #[serde(default)]
    pub content: Vec<Content>,
    #[serde(rename = "isError", default)]
    pub is_error: bool,
}

#[derive(Debug, Deserialize)]
pub struct Content {
    #[serde(default)]
    pub text: String,
}

/// The first line of an answer.
#[derive(Debug, Default, Deserialize)]
pub struct Facts {
    #[serde(default)]
    pub success: bool,
    pub device: Option<String>,
    pub verdict: Option<String>,
    pub dispatched: Option<String>,
    pub error: Option<ErrorFacts>,
}

#[derive(Debug, Deserialize)]
pub struct ErrorFacts {
    #[serde(default)]
    pub code: String,
}

/// One answer of one tool.
#[derive(Debug)]
pub struct Answer {
    pub text: String,
    pub is_error: bool,
    pub facts: Facts,
}

impl Answer {
    pub fn of(result: ToolResult) -> Answer {
        let text: String = result.content.into_iter().map(|content| content.text).collect();
        let first = text.lines().next().unwrap_or_default();
        let facts = serde_json::from_str(first).unwrap_or_default();
        Answer { text, is_error: result.is_error, facts }
    }

    pub fn code(&self) -> &str {
        self.facts.error.as_ref().map_or("", |error| &error.code)
    }
}
