//! Prompts of the suite.

use rmcp::ErrorData;
use rmcp::model::{
    GetPromptRequestParams, GetPromptResponse, GetPromptResult, Prompt, PromptArgument, PromptMessage,
};
use rmcp::service::{RequestContext, RoleServer};
use serde::Deserialize;

use super::Conformance;
use super::asking::{Asking, Step};

#[derive(Deserialize)]
pub struct Fixture {
    pub name: String,
    description: String,
    #[serde(default)]
    arguments: Vec<PromptArgument>,
    /// What is asked before there is a prompt.
    ask: Option<Asking>,
    /// With `{name}` where the argument of that name belongs, and `{answers}` for what was asked.
    messages: Vec<PromptMessage>,
}

impl Fixture {
    pub fn listed(&self) -> Prompt {
        Prompt::new(&self.name, Some(&self.description), Some(self.arguments.clone()))
    }
}

pub fn get(
    server: &Conformance,
    prompt: &Fixture,
    request: GetPromptRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<GetPromptResponse, ErrorData> {
    let mut text = serde_json::to_string(&prompt.messages).map_err(internal)?;
    if let Some(ask) = &prompt.ask {
        let (responses, state) = (request.input_responses.as_ref(), request.request_state.as_deref());
        match ask.step(&server.real.questions, &prompt.name, responses, state, context)? {
            Step::Ask(questions) => return Ok(questions.into()),
            Step::Done(answers) => text = put(&text, "answers", &answers)?,
        }
    }
    let arguments = request.arguments.unwrap_or_default();
    for argument in &prompt.arguments {
        let given = arguments.get(&argument.name).and_then(|given| given.as_str()).ok_or_else(|| {
            ErrorData::invalid_params(format!("{} needs {}", prompt.name, argument.name), None)
        })?;
        text = put(&text, &argument.name, given)?;
    }
    let messages = serde_json::from_str(&text).map_err(internal)?;
    Ok(GetPromptResult::new(messages).with_description(&prompt.description).into())
}

/// Puts a value into JSON text, within a string.
fn put(text: &str, name: &str, value: &str) -> Result<String, ErrorData> {
    let quoted = serde_json::to_string(value).map_err(internal)?;
    let inside = quoted.trim_start_matches('"').strip_suffix('"').unwrap_or_default();
    Ok(text.replace(&format!("{{{name}}}"), inside))
}

fn internal(error: serde_json::Error) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}
