//! Tools of the suite.

#![allow(deprecated, reason = "the suite asks for sampling and logging")]

use std::sync::Arc;
use std::time::Duration;

use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, ContentBlock,
    CreateMessageRequestParams, ElicitRequestParams, LoggingLevel, LoggingMessageNotificationParam,
    ProgressNotificationParam, ResultType, SamplingMessage, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use serde::Deserialize;

use super::Conformance;
use super::asking::{Asking, Step, text_of};
use crate::args::JsonObject;

/// Between two notifications, so that a client can see that they do not come all at once.
const PAUSE: Duration = Duration::from_millis(50);
/// Tokens that the client's model may answer with.
const SAMPLED_TOKENS_MAX: u32 = 100;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Fixture {
    pub name: String,
    description: String,
    input_schema: Option<JsonObject>,
    does: Does,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Does {
    Answer(CallToolResult),
    /// Three lines; `unasked`: even to a client that named no level.
    Log {
        unasked: bool,
    },
    Progress,
    Changed(Changed),
    NeedSampling,
    Sample,
    Elicit {
        said: String,
        form: ElicitRequestParams,
    },
    Ask(Asking),
}

/// A list that is said to have changed.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Changed {
    Tools,
    Prompts,
}

impl Fixture {
    pub fn listed(&self) -> Tool {
        let schema = self
            .input_schema
            .clone()
            .unwrap_or_else(|| JsonObject::from_iter([("type".to_owned(), "object".into())]));
        Tool::new(self.name.clone(), self.description.clone(), Arc::new(schema))
    }
}

pub async fn call(
    server: &Conformance,
    tool: &Fixture,
    request: CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let argument = |name: &str| {
        let given = request.arguments.as_ref().and_then(|all| all.get(name)?.as_str());
        given.ok_or_else(|| ErrorData::invalid_params(format!("{} needs {name}", tool.name), None))
    };
    let text = match &tool.does {
        Does::Answer(answer) => {
            let mut answer = answer.clone();
            answer.result_type = Some(ResultType::COMPLETE);
            return Ok(answer.into());
        }
        Does::Log { unasked } => log(*unasked, context).await,
        Does::Progress => progress(context).await,
        Does::Changed(changed) => {
            // Nobody may listen.
            let _ = server.changes.send(*changed);
            "told".to_owned()
        }
        Does::NeedSampling => {
            if !can_sample(context) {
                let needed = ClientCapabilities::builder().enable_sampling().build();
                return Err(ErrorData::missing_required_client_capability(needed));
            }
            "this client can sample".to_owned()
        }
        Does::Sample => sample(argument("prompt")?, context).await?,
        Does::Elicit { said, form } => elicit(said, form, argument("message").ok(), context).await?,
        Does::Ask(ask) => {
            let (responses, state) = (request.input_responses.as_ref(), request.request_state.as_deref());
            match ask.step(&server.real.questions, &tool.name, responses, state, context)? {
                Step::Ask(questions) => return Ok(questions.into()),
                Step::Done(text) => text,
            }
        }
    };
    Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
}

fn can_sample(context: &RequestContext<RoleServer>) -> bool {
    context.client_capabilities().is_some_and(|can| can.sampling.is_some())
}

async fn log(unasked: bool, context: &RequestContext<RoleServer>) -> String {
    if unasked || context.meta.log_level().is_some() {
        for line in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
            let line = LoggingMessageNotificationParam::new(LoggingLevel::Info, line.into());
            // A client that does not listen still gets its answer.
            let _ = context.peer.notify_logging_message(line).await;
            mdm_engine::pause(PAUSE).await;
        }
    }
    "done".to_owned()
}

async fn progress(context: &RequestContext<RoleServer>) -> String {
    for done in [0.0, 50.0, 100.0] {
        if let Some(token) = context.meta.get_progress_token() {
            let told = ProgressNotificationParam::new(token, done).with_total(100.0);
            let _ = context.peer.notify_progress(told).await;
        }
        mdm_engine::pause(PAUSE).await;
    }
    "done".to_owned()
}

async fn sample(prompt: &str, context: &RequestContext<RoleServer>) -> Result<String, ErrorData> {
    if !can_sample(context) {
        return Err(ErrorData::invalid_request("this client cannot sample", None));
    }
    let request =
        CreateMessageRequestParams::new(vec![SamplingMessage::user_text(prompt)], SAMPLED_TOKENS_MAX);
    let answer = context.peer.create_message(request).await.map_err(not_answered)?;
    Ok(format!("LLM response: {}", text_of(&answer)))
}

async fn elicit(
    said: &str,
    form: &ElicitRequestParams,
    words: Option<&str>,
    context: &RequestContext<RoleServer>,
) -> Result<String, ErrorData> {
    let mut form = form.clone();
    if let (ElicitRequestParams::FormElicitationParams { message, .. }, Some(words)) = (&mut form, words) {
        words.clone_into(message);
    }
    let answer = context.peer.create_elicitation(form).await.map_err(not_answered)?;
    let content = serde_json::to_string(&answer.content).unwrap_or_default();
    let action = serde_json::to_string(&answer.action).unwrap_or_default();
    Ok(format!("{said}: action={}, content={content}", action.trim_matches('"')))
}

fn not_answered(error: rmcp::ServiceError) -> ErrorData {
    ErrorData::internal_error(format!("the client did not answer: {error}"), None)
}
