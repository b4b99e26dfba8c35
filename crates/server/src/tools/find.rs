//! Looking for an element by what it is called.

use std::time::Duration;

use mdm_core::action::outcome::Effect as Came;
use mdm_core::action::request::{Request, What};
use mdm_core::failure::{Cause, Failure};
use mdm_core::intent::resolve::Search;
use mdm_core::intent::watch::{Ending, Goal, Wait};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Call, Effect, Tool};
use crate::answer::Answer;
use crate::args::{DeviceArg, JsonObject};
use crate::basis::MadeFrom;
use crate::found::{self, words};
use crate::refusal::Refusal;
use crate::target::SelectorArg;

const WAIT_DEFAULT_MS: u64 = 3_000;
/// The longest wait of a search; a longer one is refused.
const WAIT_MAX_MS: u64 = 60_000;

pub struct FindElement;

#[derive(Deserialize, JsonSchema)]
pub struct FindElementParams {
    /// a text, identifier, role, or both ("Delete button")
    query: Option<String>,
    /// whole texts only
    exact: Option<bool>,
    #[schemars(with = "Option<JsonObject>")]
    selector: Option<SelectorArg>,
    /// default 3000
    timeout_ms: Option<u64>,
    #[serde(flatten)]
    device: DeviceArg,
}

impl FindElementParams {
    fn search(&self) -> Result<Search, Refusal> {
        match (&self.query, &self.selector) {
            (Some(query), None) => words(query, self.exact == Some(true)),
            (None, Some(selector)) => Ok(Search::Selector(selector.selector()?)),
            _ => Err(Refusal::argument(
                "query and selector are two ways to say what is looked for",
                "give exactly one of them",
            )),
        }
    }
}

impl Tool for FindElement {
    type Params = FindElementParams;
    const NAME: &'static str = "find_element";
    const DESCRIPTION: &'static str = "Find the element that words or a selector mean, with its element_id and where to tap. \
        Several that are equally good are all listed.";
    const EFFECT: Effect = Effect::ReadOnly;
    const TIMEOUT: Duration = Duration::from_millis(WAIT_MAX_MS + 30_000);

    async fn run(call: &Call<'_>, params: FindElementParams) -> Result<Answer, Refusal> {
        let search = params.search()?;
        let wait_ms = params.timeout_ms.unwrap_or(WAIT_DEFAULT_MS);
        if wait_ms > WAIT_MAX_MS {
            let message = format!("timeout_ms = {wait_ms} is more than {WAIT_MAX_MS}");
            return Err(Refusal::argument(message, "look again after a shorter wait"));
        }
        let session = call.device(&params.device.wanted(), call.progress).await?;
        // A match in hand is not waited with (W24), and one look is always made.
        let wait = Wait::new(Goal::Found(search.clone()), 0).with_patience(wait_ms, 1);
        let request =
            Request { id: call.app.action_id(call.tool), name: call.tool, what: What::Wait(Box::new(wait)) };
        let outcome = session.run(request, call.progress).await;
        if let Some(failure) = outcome.failure {
            return Err(failure.into());
        }
        let Came::Watched(report) = outcome.effect else { return Err(Refusal::defect("nobody looked")) };
        match (report.seen, report.ending) {
            (Some(seen), _) => {
                let answer = found::answer(&search, Some(session.id()), &seen, false);
                Ok(answer.made_from(MadeFrom::Search(Box::new(search), seen)))
            }
            (None, Ending::Unreadable(failure)) => Err(failure.into()),
            (None, _) => {
                Err(Failure::new(Cause::Unread, "time was up before the screen could be read").into())
            }
        }
    }
}
