//! Asks the user of a client before a call that the policy wants a person to agree to: through an elicitation, or by
//! handing the question back where the protocol has no requests of the server (2026-07-28).

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use mdm_core::failure::{Cause, Failure};
use mdm_engine::Deadline;
use rmcp::model::{
    ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema, InputRequest,
    InputRequiredResult, InputResponses, ProtocolVersion,
};
use rmcp::service::{RequestContext, RoleServer};

use crate::caller::Caller;
use crate::http::token;
use crate::policy::Question;
use crate::refusal::Refusal;

/// How long a person may think.
const ANSWER_TIME: Duration = Duration::from_secs(300);
/// Questions that wait for an answer; the oldest is dropped for the next.
const WAITING_MAX: usize = 256;
/// Those of one caller, which drops its own oldest first.
const WAITING_OF_CALLER_MAX: usize = 16;
/// Bytes of a call that a person is asked about: nobody could read more of it.
const CALL_BYTES_MAX: usize = 16 * 1024;
const KEY: &str = "confirm";
const ALLOW: &str = "allow";

/// Questions that were handed back and not answered yet, by a state that nobody can guess.
#[derive(Default)]
pub struct Questions {
    waiting: Mutex<BTreeMap<String, Waiting>>,
}

/// The call that a question was about: the answer counts for no other.
#[derive(PartialEq, Eq)]
pub struct About {
    pub caller: String,
    pub call: String,
}

struct Waiting {
    about: About,
    until: Deadline,
}

pub enum Asked {
    Agreed,
    /// The client has to ask and to call again.
    Back(InputRequiredResult),
}

/// What a client sent along with its call: an answer to an earlier question.
pub struct Reply<'a> {
    pub responses: Option<&'a InputResponses>,
    pub state: Option<&'a str>,
}

pub async fn ask(
    questions: &Questions,
    question: &Question,
    call: String,
    reply: Reply<'_>,
    caller: &Caller,
    context: &RequestContext<RoleServer>,
) -> Result<Asked, Refusal> {
    let can = context.client_capabilities().is_some_and(|can| can.elicitation.is_some());
    if !can {
        let message =
            format!("{} needs the consent of a person, and this client cannot ask one", question.tools);
        return Err(not_confirmed(message));
    }
    if call.len() > CALL_BYTES_MAX {
        let message = format!("a call that a person is asked about has at most {CALL_BYTES_MAX} bytes");
        return Err(not_confirmed(message));
    }
    let words = question.words(caller.device().as_deref());
    if context.protocol_version().is_none_or(|version| version < ProtocolVersion::V_2026_07_28) {
        let asked = context.peer.create_elicitation_with_timeout(form(words)?, Some(ANSWER_TIME)).await;
        let answer = asked.map_err(|error| not_confirmed(format!("nobody was asked: {error}")))?;
        return agreed(&answer);
    }
    let about = About { caller: caller.key().to_owned(), call };
    let answer = reply.state.and_then(|state| {
        let answered = questions.take(state).is_some_and(|known| known == about);
        answered.then(|| reply.responses?.get(KEY).cloned()).flatten()
    });
    match answer {
        Some(answer) => {
            let answer = serde_json::from_value(answer)
                .map_err(|_| not_confirmed("the answer of the person cannot be read".to_owned()))?;
            agreed(&answer)
        }
        None => {
            let request = InputRequest::Elicitation(ElicitRequest::new(form(words)?));
            let requests = BTreeMap::from([(KEY.to_owned(), request)]);
            Ok(Asked::Back(InputRequiredResult::new(Some(requests), Some(questions.put(about)))))
        }
    }
}

impl Questions {
    pub fn put(&self, about: About) -> String {
        let state = token::generate();
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.retain(|_, waiting| !waiting.until.left().is_zero());
        let is_own = |other: &Waiting| other.about.caller == about.caller;
        if waiting.values().filter(|other| is_own(other)).count() >= WAITING_OF_CALLER_MAX {
            remove_oldest(&mut waiting, is_own);
        } else if waiting.len() >= WAITING_MAX {
            remove_oldest(&mut waiting, |_| true);
        }
        waiting.insert(state.clone(), Waiting { about, until: Deadline::after(ANSWER_TIME) });
        state
    }

    /// Each answer counts once.
    pub fn take(&self, state: &str) -> Option<About> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.remove(state).filter(|waiting| !waiting.until.left().is_zero()).map(|waiting| waiting.about)
    }
}

fn remove_oldest(waiting: &mut BTreeMap<String, Waiting>, is_meant: impl Fn(&Waiting) -> bool) {
    let meant = waiting.iter().filter(|(_, waiting)| is_meant(waiting));
    let oldest = meant.min_by_key(|(_, waiting)| waiting.until.left()).map(|(state, _)| state.clone());
    oldest.map(|state| waiting.remove(&state));
}

fn form(message: String) -> Result<ElicitRequestParams, Refusal> {
    let schema = ElicitationSchema::builder().required_bool(ALLOW).build();
    let requested_schema = schema.map_err(|error| Refusal::defect(error.to_owned()))?;
    Ok(ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema })
}

fn agreed(answer: &ElicitResult) -> Result<Asked, Refusal> {
    let allowed = answer.content.as_ref().and_then(|content| content.get(ALLOW)?.as_bool());
    match (&answer.action, allowed) {
        (ElicitationAction::Accept, Some(true)) => Ok(Asked::Agreed),
        _ => Err(not_confirmed("the person who was asked did not allow it".to_owned())),
    }
}

fn not_confirmed(message: String) -> Refusal {
    Failure::new(Cause::NotConfirmed, message).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn about(call: &str) -> About {
        About { caller: "a".to_owned(), call: call.to_owned() }
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_counts_once_for_its_call_and_not_for_ever() {
        // SE-04
        let questions = Questions::default();
        let state = questions.put(about("reset"));
        assert!(questions.take("guessed").is_none());
        assert!(questions.take(&state).unwrap() == about("reset"));
        assert!(questions.take(&state).is_none(), "once");
        let late = questions.put(about("reset"));
        tokio::time::advance(ANSWER_TIME).await;
        assert!(questions.take(&late).is_none());
        let kept = questions.put(About { caller: "b".to_owned(), call: "reset".to_owned() });
        for number in 0..WAITING_MAX * 2 {
            questions.put(about(&number.to_string()));
        }
        assert_eq!(questions.waiting.lock().unwrap().len(), WAITING_OF_CALLER_MAX + 1);
        assert!(questions.take(&kept).is_some(), "another's questions push it out");
    }

    #[test]
    fn only_a_clear_yes_is_one() {
        let answer = |json: &str| agreed(&serde_json::from_str(json).unwrap()).is_ok();
        assert!(answer(r#"{"action":"accept","content":{"allow":true}}"#));
        for no in [
            r#"{"action":"accept","content":{"allow":false}}"#,
            r#"{"action":"accept","content":{"allow":"true"}}"#,
            r#"{"action":"accept"}"#,
            r#"{"action":"decline","content":{"allow":true}}"#,
            r#"{"action":"cancel"}"#,
        ] {
            assert!(!answer(no), "{no}");
        }
    }
}
