//! Scrolling until something is in sight. Unlike other actions it says itself whether it worked: the target is there.

use std::time::Duration;

use mdm_core::action::request::Action;
use mdm_core::failure::Failure;
use mdm_core::intent::resolve::describe;
use mdm_core::intent::scroll::{Direction, ScrollTo, Scrolled, ends};
use mdm_core::text::quote::push_quoted;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::action::{AfterArg, perform};
use super::gestures::DirectionArg;
use super::{Call, Effect, Hints, Tool};
use crate::answer::Answer;
use crate::args::{DeviceArg, JsonObject, within};
use crate::refusal::Refusal;
use crate::target::{ElementArg, SelectorArg};

const SCROLLS: f64 = 10.0;
/// Swipes that a caller may ask for; more are refused.
const SCROLLS_MAX: f64 = 100.0;
const AMOUNT: f64 = 0.7;
/// Characters of what the first and the last row say.
const ROW_CHARS_MAX: usize = 60;
/// Other rows that a failure names.
const OTHERS_MAX: usize = 3;

pub struct ScrollToElement;

#[derive(Deserialize, JsonSchema)]
pub struct ScrollToElementParams {
    #[serde(flatten)]
    target: ElementArg,
    /// where it lies, default down
    direction: Option<DirectionArg>,
    /// selector of what scrolls
    #[schemars(with = "Option<JsonObject>")]
    inside: Option<SelectorArg>,
    /// default 10
    max_scrolls: Option<f64>,
    #[schemars(extend("hidden" = true))]
    scroll_amount: Option<f64>,
    #[serde(flatten)]
    device: DeviceArg,
}

/// What only a search by scrolling says.
#[derive(Debug, Serialize)]
pub struct ScrollFacts {
    scrolls: u32,
    direction: &'static str,
    /// What was scrolled.
    #[serde(skip_serializing_if = "Option::is_none")]
    inside: Option<String>,
}

impl ScrollFacts {
    pub fn new(scrolled: &Scrolled) -> ScrollFacts {
        let container = scrolled.container.and_then(|id| scrolled.seen.index_of(id));
        ScrollFacts {
            scrolls: scrolled.scrolls,
            direction: scrolled.direction.name(),
            inside: container.map(|index| describe(&scrolled.seen, index as u32)),
        }
    }
}

/// What an agent needs to decide where to look next.
pub fn lines(scrolled: &Scrolled, failure: &Failure) -> String {
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

fn asked(params: &ScrollToElementParams) -> Result<ScrollTo, Refusal> {
    let scrolls = within("max_scrolls", params.max_scrolls.unwrap_or(SCROLLS), 1.0, SCROLLS_MAX, SCROLLS)?;
    let amount = within("scroll_amount", params.scroll_amount.unwrap_or(AMOUNT), 0.05, 1.0, AMOUNT)?;
    Ok(ScrollTo {
        target: Some(params.target.selector()?),
        inside: params.inside.as_ref().map(SelectorArg::selector).transpose()?,
        direction: params.direction.map_or(Direction::Down, Direction::from),
        scrolls_max: scrolls as u32,
        amount,
    })
}

impl Tool for ScrollToElement {
    type Params = ScrollToElementParams;
    const NAME: &'static str = "scroll_to_element";
    const DESCRIPTION: &'static str =
        "Scroll until an element is in sight, or the list ends; waits for lists that load more.";
    const EFFECT: Effect = Effect::Acts;
    const HINTS: Hints = Hints::ONLY_ADDS;
    const TIMEOUT: Duration = Duration::from_secs(180);

    async fn run(call: &Call<'_>, params: ScrollToElementParams) -> Result<Answer, Refusal> {
        let act = AfterArg::default().act(Action::ScrollTo(asked(&params)?), false)?;
        perform(call, &params.device.wanted(), act, None).await
    }
}
