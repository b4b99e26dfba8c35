//! Scrolling until something is in sight. Unlike other actions it says itself whether it worked: the target is there.

use std::time::Duration;

use mdm_core::action::failure::{Dispatch, ErrorCode, Failure};
use mdm_core::intent::resolve::tell;
use mdm_core::intent::scroll::{Direction, ends};
use mdm_core::intent::selector::Selector;
use mdm_core::meaning::label::label;
use mdm_core::meaning::role;
use mdm_core::text::quote::push_quoted;
use mdm_engine::{Action, InSight, Progress, ScrollTo, Scrolled, Session};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::follow::AfterArg;
use super::{Effect, Tool};
use crate::answer::Answer;
use crate::app::App;
use crate::args::{PlatformArg, element_id, wanted};
use crate::target::{SelectorArg, SelectorSchema};
use crate::tree;

const SCROLLS: f64 = 10.0;
const SCROLLS_MAX: f64 = 100.0;
const AMOUNT: f64 = 0.7;
/// Of what the first and the last row say.
const ROW_CHARS_MAX: usize = 60;
const OTHERS_MAX: usize = 3;

pub struct ScrollToElement;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DirectionArg {
    Down,
    Up,
    Left,
    Right,
}

impl From<DirectionArg> for Direction {
    fn from(arg: DirectionArg) -> Direction {
        match arg {
            DirectionArg::Down => Direction::Down,
            DirectionArg::Up => Direction::Up,
            DirectionArg::Left => Direction::Left,
            DirectionArg::Right => Direction::Right,
        }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ScrollToElementParams {
    /// As in find_element.
    #[schemars(with = "Option<SelectorSchema>")]
    selector: Option<SelectorArg>,
    /// Instead of a selector: from get_ui_tree, like e12.
    #[serde(alias = "element_id")]
    element_id: Option<String>,
    /// Where it lies; down when not given.
    direction: Option<DirectionArg>,
    /// A selector of what scrolls, like {"elementId":"e5"}; the largest when not given.
    #[schemars(with = "Option<SelectorSchema>")]
    inside: Option<SelectorArg>,
    /// 1 to 100; 10 when not given.
    max_scrolls: Option<f64>,
    /// Of one step, as a part of what scrolls; 0.7 when not given.
    scroll_amount: Option<f64>,
    platform: Option<PlatformArg>,
    device_id: Option<String>,
}

#[derive(Serialize)]
struct Facts<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorFacts<'a>>,
    action_id: &'a str,
    action_type: &'a str,
    lifecycle_state: &'a str,
    success: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure_code: Option<&'a str>,
    device: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<TargetFacts>,
    scrolls: u32,
    direction: &'a str,
    /// What was scrolled.
    #[serde(skip_serializing_if = "Option::is_none")]
    inside: Option<String>,
    snapshot_revision: u64,
    stability_state: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    retryable: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dispatched: Option<&'a str>,
    elapsed_ms: u64,
}

#[derive(Serialize)]
struct ErrorFacts<'a> {
    tool: &'a str,
    code: &'a str,
    message: &'a str,
    hint: &'a str,
}

#[derive(Serialize)]
struct TargetFacts {
    #[serde(rename = "elementId")]
    element_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<String>,
    point: [i32; 2],
    #[serde(skip_serializing_if = "Option::is_none")]
    confidence: Option<f64>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    disabled: bool,
}

fn bad(message: impl Into<String>, hint: &'static str) -> Failure {
    Failure::new(ErrorCode::InvalidArgument, message, hint)
}

fn asked(params: &ScrollToElementParams) -> Result<ScrollTo, Failure> {
    let query = match (&params.selector, &params.element_id) {
        (None, Some(id)) => Selector { id: Some(element_id(id)?), ..Selector::default() },
        (Some(selector), None) => selector.query()?,
        _ => return Err(bad("give either a selector or an elementId", "like {\"text\":\"Sign out\"}")),
    };
    let scrolls = params.max_scrolls.unwrap_or(SCROLLS);
    if !(1.0..=SCROLLS_MAX).contains(&scrolls) {
        return Err(bad(format!("maxScrolls = {scrolls} is not between 1 and {SCROLLS_MAX}"), "10 is usual"));
    }
    let amount = params.scroll_amount.unwrap_or(AMOUNT);
    if !(0.05..=1.0).contains(&amount) {
        return Err(bad(format!("scrollAmount = {amount} is not between 0.05 and 1"), "0.7 is usual"));
    }
    Ok(ScrollTo {
        query,
        inside: params.inside.as_ref().map(SelectorArg::query).transpose()?,
        direction: params.direction.map_or(Direction::Down, Direction::from),
        scrolls_max: scrolls as u32,
        amount,
    })
}

fn target(found: &InSight, scrolled: &Scrolled) -> TargetFacts {
    let snapshot = &scrolled.seen.reading.snapshot;
    let index = scrolled.seen.index_of(found.id);
    let role = index.map(|index| tree::role_name(role::in_context(snapshot, index)));
    TargetFacts {
        element_id: found.id.to_string(),
        role: role.filter(|name| !name.is_empty()),
        label: index.and_then(|index| label(snapshot, index)).map(|label| label.text.into_owned()),
        point: [found.point.x, found.point.y],
        confidence: Some(found.confidence).filter(|confidence| *confidence < 1.0),
        disabled: found.disabled,
    }
}

/// What an agent needs to decide where to look next.
fn lines(scrolled: &Scrolled, failure: &Failure) -> String {
    let mut lines = String::new();
    let container = scrolled.container.and_then(|id| scrolled.seen.index_of(id));
    let rows = container.map(|index| ends(&scrolled.seen, index as u32)).unwrap_or_default();
    for (word, row) in ["first row in sight: ", "last: "].into_iter().zip(&rows) {
        lines.push_str(word);
        push_quoted(&mut lines, row, ROW_CHARS_MAX);
        lines.push('\n');
    }
    for candidate in failure.candidates.iter().take(OTHERS_MAX) {
        lines.push_str(&format!("{candidate}\n"));
    }
    lines
}

fn answer(action: &Action, session: &Session, scrolled: &Scrolled, progress: &Progress) -> Answer {
    let failure = scrolled.end.as_ref().err();
    let seen = &scrolled.seen;
    let container = scrolled.container.and_then(|id| seen.index_of(id));
    let unknown = failure.is_some_and(|failure| failure.dispatch == Dispatch::Unknown);
    let facts = Facts {
        error: failure.map(|failure| ErrorFacts {
            tool: ScrollToElement::NAME,
            code: failure.code.as_str(),
            message: &failure.message,
            hint: &failure.hint,
        }),
        action_id: &action.id,
        action_type: ScrollToElement::NAME,
        lifecycle_state: if failure.is_none() { "verified" } else { "failed" },
        success: failure.is_none(),
        failure_code: failure.map(|failure| failure.code.as_str()),
        device: session.id(),
        target: scrolled.end.as_ref().ok().map(|found| target(found, scrolled)),
        scrolls: scrolled.scrolls,
        direction: scrolled.direction.name(),
        inside: container.map(|index| tell(seen, index as u32)),
        snapshot_revision: seen.revision,
        stability_state: scrolled.stability.as_str(),
        retryable: failure.map(Failure::retryable),
        dispatched: unknown.then_some("unknown"),
        elapsed_ms: progress.elapsed_ms(),
    };
    let lines = failure.map(|failure| lines(scrolled, failure)).unwrap_or_default();
    Answer { is_error: failure.is_some(), ..Answer::json(&facts).with_lines(&lines) }
}

impl Tool for ScrollToElement {
    type Params = ScrollToElementParams;
    const NAME: &'static str = "scroll_to_element";
    const TITLE: &'static str = "Scroll to an element";
    const DESCRIPTION: &'static str = "Scroll until an element is in sight and can be tapped, or until the end of the \
        list; waits for lists that load more. Says how far it went, and what is in sight when it did not find it.";
    const EFFECT: Effect = Effect::Acts;
    const TIMEOUT: Duration = Duration::from_secs(180);

    async fn run(app: &App, params: ScrollToElementParams, progress: &Progress) -> Result<Answer, Failure> {
        let asked = asked(&params)?;
        let session = app.fleet.choose(&wanted(params.platform, params.device_id), progress).await?;
        let action = app.action(Self::NAME, AfterArg::default().follow(false)?);
        let scrolled = session.scroll_to(&action, &asked, progress).await?;
        Ok(answer(&action, &session, &scrolled, progress))
    }
}
