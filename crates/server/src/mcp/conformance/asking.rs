//! Tools and prompts of the suite that ask the client in rounds, by handing questions back (2026-07-28).

#![allow(deprecated, reason = "the suite asks for sampling and roots")]

use rmcp::ErrorData;
use rmcp::model::{
    ClientCapabilities, CreateMessageResult, ElicitResult, InputRequest, InputRequests, InputRequiredResult,
    InputResponses, ListRootsResult,
};
use rmcp::service::{RequestContext, RoleServer};
use serde::Deserialize;

use crate::mcp::confirm::{About, Questions};

#[derive(Deserialize)]
pub struct Asking {
    rounds: Vec<InputRequests>,
    /// What is said in the end, with `{}` where the answers belong.
    done: String,
    /// The client has to show which question it answers.
    #[serde(default)]
    with_state: bool,
}

pub enum Step {
    Ask(InputRequiredResult),
    Done(String),
}

impl Asking {
    pub fn step(
        &self,
        questions: &Questions,
        name: &str,
        responses: Option<&InputResponses>,
        state: Option<&str>,
        context: &RequestContext<RoleServer>,
    ) -> Result<Step, ErrorData> {
        let round = match state.filter(|_| self.with_state) {
            Some(state) => self.round_of(questions, name, state)?,
            None => 0,
        };
        let begun = !self.with_state || state.is_some();
        let answers =
            self.rounds.get(round).filter(|_| begun).and_then(|requests| said(requests, responses?));
        let next = if answers.is_some() { round + 1 } else { round };
        match (self.rounds.get(next), answers) {
            (None, Some(answers)) => Ok(Step::Done(self.done.replace("{}", &answers.join(", ")))),
            (None, None) => Err(ErrorData::internal_error("a tool that asks nothing", None)),
            (Some(requests), _) => {
                let requests = answerable(requests, context)?;
                let state = self.with_state.then(|| questions.put(about(name, next)));
                Ok(Step::Ask(InputRequiredResult::new(Some(requests), state)))
            }
        }
    }

    /// The round that a state belongs to. One that was never handed out, or was used before, is refused.
    fn round_of(&self, questions: &Questions, name: &str, state: &str) -> Result<usize, ErrorData> {
        let asked = questions.take(state);
        let round = (0..self.rounds.len()).find(|round| asked == Some(about(name, *round)));
        round.ok_or_else(|| ErrorData::invalid_params("requestState is not one that this server made", None))
    }
}

fn about(name: &str, round: usize) -> About {
    About { caller: String::new(), call: format!("{name} {round}") }
}

/// The questions that this client can answer.
fn answerable(
    requests: &InputRequests,
    context: &RequestContext<RoleServer>,
) -> Result<InputRequests, ErrorData> {
    let can = context.client_capabilities().unwrap_or_default();
    let fits = |request: &InputRequest| match request {
        InputRequest::CreateMessage(_) => can.sampling.is_some(),
        InputRequest::Elicitation(_) => can.elicitation.is_some(),
        InputRequest::ListRoots(_) => can.roots.is_some(),
        _ => false,
    };
    let fitting: InputRequests = requests
        .iter()
        .filter(|(_, request)| fits(request))
        .map(|(key, request)| (key.clone(), request.clone()))
        .collect();
    if fitting.is_empty() {
        let needed = ClientCapabilities::builder().enable_elicitation().build();
        return Err(ErrorData::missing_required_client_capability(needed));
    }
    Ok(fitting)
}

/// What was answered, if everything that was asked was answered readably.
fn said(requests: &InputRequests, responses: &InputResponses) -> Option<Vec<String>> {
    let mut all = Vec::new();
    for (key, request) in requests {
        let response = responses.get(key)?.clone();
        all.push(match request {
            InputRequest::CreateMessage(_) => {
                let answer: CreateMessageResult = serde_json::from_value(response).ok()?;
                text_of(&answer)
            }
            InputRequest::Elicitation(_) => {
                let answer: ElicitResult = serde_json::from_value(response).ok()?;
                serde_json::to_string(&answer.content?).ok()?
            }
            InputRequest::ListRoots(_) => {
                let answer: ListRootsResult = serde_json::from_value(response).ok()?;
                answer.roots.into_iter().map(|root| root.uri).collect::<Vec<_>>().join(" ")
            }
            _ => return None,
        });
    }
    Some(all)
}

pub fn text_of(answer: &CreateMessageResult) -> String {
    let texts = answer.message.content.iter().filter_map(|content| content.as_text());
    texts.map(|text| text.text.as_str()).collect::<Vec<_>>().join(" ")
}
