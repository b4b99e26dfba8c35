//! What a caller expects, as it arrives.

use mdm_core::condition::{Condition, Expected};
use mdm_core::error::{ErrorCode, Failure};
use mdm_core::query::{Query, TextMatch};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::args::element_id;

/// One thing that must be true. Without a state the element must be visible.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExpectArg {
    text: Option<String>,
    /// text is only a part.
    contains: Option<bool>,
    resource_id: Option<String>,
    accessibility_id: Option<String>,
    #[serde(rename = "elementId")]
    element_id: Option<String>,
    /// Name of the activity in front.
    screen: Option<String>,
    /// false: the element must be gone.
    exists: Option<bool>,
    enabled: Option<bool>,
    checked: Option<bool>,
    selected: Option<bool>,
    expanded: Option<bool>,
    /// Number on it.
    value: Option<f64>,
    /// Text in it.
    text_value: Option<String>,
}

impl ExpectArg {
    pub fn condition(&self) -> Result<Condition, Failure> {
        let query = self.query()?;
        if let Some(screen) = &self.screen {
            if !query.is_empty() || self.states().next().is_some() {
                return Err(wrong("expect names a screen and an element", "ask for one of them"));
            }
            return Ok(Condition::Screen(screen.clone()));
        }
        if query.is_empty() {
            return Err(wrong(
                "expect says neither which element nor which screen",
                "give text, resource_id, accessibility_id, elementId or screen",
            ));
        }
        let mut states = self.states();
        let expected = states.next().unwrap_or(Expected::Visible);
        match states.next() {
            None => Ok(Condition::Element { query, expected }),
            Some(_) => Err(wrong("expect asks for several states", "ask for one; expect_state can ask more")),
        }
    }

    fn query(&self) -> Result<Query, Failure> {
        let contains = self.contains == Some(true);
        let text = |text: &String| {
            if contains { TextMatch::Contains(text.clone()) } else { TextMatch::Is(text.clone()) }
        };
        Ok(Query {
            id: self.element_id.as_deref().map(element_id).transpose()?,
            text: self.text.as_ref().map(text),
            resource_id: self.resource_id.clone(),
            accessibility_id: self.accessibility_id.as_ref().map(|id| TextMatch::Is(id.clone())),
            ..Query::default()
        })
    }

    fn states(&self) -> impl Iterator<Item = Expected> {
        let flags = [
            self.exists.map(|exists| if exists { Expected::Exists } else { Expected::NotExists }),
            self.enabled.map(Expected::Enabled),
            self.checked.map(Expected::Checked),
            self.selected.map(Expected::Selected),
            self.expanded.map(Expected::Expanded),
            self.value.map(|number| Expected::Value { number, tolerance: 0.0 }),
            self.text_value.clone().map(|text| Expected::Text(TextMatch::Is(text))),
        ];
        flags.into_iter().flatten()
    }
}

fn wrong(message: &str, hint: &'static str) -> Failure {
    Failure::new(ErrorCode::InvalidArgument, message, hint)
}
