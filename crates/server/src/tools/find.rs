//! Looking for an element by what it is called.

use std::time::Duration;

use mdm_core::action::failure::{ErrorCode, Failure};
use mdm_engine::Progress;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Effect, Tool};
use crate::answer::Answer;
use crate::app::App;
use crate::args::{PlatformArg, wanted};
use crate::found::{Found, Sought};
use crate::target::SelectorArg;

const WAIT_DEFAULT_MS: u64 = 3_000;
const WAIT_MAX_MS: u64 = 60_000;
/// Between two looks at a screen that does not have it yet.
const PAUSE: Duration = Duration::from_millis(100);

pub struct FindElement;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct FindElementParams {
    /// A text, an identifier, a role ("slider"), both ("Delete button") or an id.
    query: Option<String>,
    /// Whole texts only (default false).
    exact: Option<bool>,
    /// Instead of query: exactly what it is.
    selector: Option<SelectorArg>,
    /// How long to look for it when it is not there, up to 60000 (default 3000).
    timeout_ms: Option<u64>,
    platform: Option<PlatformArg>,
    device_id: Option<String>,
}

impl FindElementParams {
    fn sought(&self) -> Result<Sought, Failure> {
        match (&self.query, &self.selector) {
            (Some(words), None) => Sought::words(words, self.exact == Some(true)),
            (None, Some(selector)) => Ok(Sought::Described(selector.query()?)),
            _ => Err(Failure::new(
                ErrorCode::InvalidArgument,
                "query and selector are two ways to say what is looked for",
                "give exactly one of them",
            )),
        }
    }
}

impl Tool for FindElement {
    type Params = FindElementParams;
    const NAME: &'static str = "find_element";
    const TITLE: &'static str = "Find an element";
    const DESCRIPTION: &'static str = "The element that some words mean, with its elementId and where to tap. What takes the \
        tap is preferred over its label. Several that are equally good are all listed (ambiguous), none is chosen.";
    const EFFECT: Effect = Effect::ReadOnly;
    const TIMEOUT: Duration = Duration::from_millis(WAIT_MAX_MS + 30_000);

    async fn run(app: &App, params: FindElementParams, progress: &Progress) -> Result<Answer, Failure> {
        let sought = params.sought()?;
        let wait_ms = params.timeout_ms.unwrap_or(WAIT_DEFAULT_MS);
        if wait_ms > WAIT_MAX_MS {
            return Err(Failure::new(
                ErrorCode::InvalidArgument,
                format!("timeoutMs = {wait_ms} is more than {WAIT_MAX_MS}"),
                "look again after a shorter wait",
            ));
        }
        let session = app.fleet.choose(&wanted(params.platform, params.device_id), progress).await?;
        loop {
            let seen = session.observe(progress).await?;
            let found = Found::on(&seen, &sought);
            // A match in hand is not waited with (W24).
            if found.anything() || progress.elapsed_ms().saturating_add(PAUSE.as_millis() as u64) > wait_ms {
                return Ok(found.answer(Some(session.id()), &seen, false));
            }
            let pause = async {
                tokio::time::sleep(PAUSE).await;
                Ok(())
            };
            progress.race("looking for it", pause).await?;
        }
    }
}
