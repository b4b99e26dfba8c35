//! What a caller expects, as it arrives.

use mdm_core::action::failure::{ErrorCode, Failure};
use mdm_core::intent::predicate::{Expected, Predicate};
use mdm_core::intent::selector::{Selector, TextMatch};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::target::{ContainsArg, SelectorArg, SelectorSchema};

/// One thing that must be true. Without a state the element must be visible.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExpectArg {
    text: Option<String>,
    /// text is only a part.
    #[schemars(with = "Option<bool>")]
    contains: Option<ContainsArg>,
    #[serde(alias = "resourceId")]
    resource_id: Option<String>,
    #[serde(alias = "accessibilityId")]
    accessibility_id: Option<String>,
    #[serde(rename = "elementId", alias = "element_id")]
    element_id: Option<String>,
    /// Instead of these, as in find_element.
    #[schemars(with = "Option<SelectorSchema>")]
    selector: Option<SelectorArg>,
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
    pub fn condition(&self) -> Result<Predicate, Failure> {
        let query = self.query()?;
        if let Some(screen) = &self.screen {
            if query.is_some() || self.states().next().is_some() {
                return Err(wrong("expect names a screen and an element", "ask for one of them"));
            }
            return Ok(Predicate::Screen(screen.clone()));
        }
        let Some(query) = query else {
            return Err(wrong(
                "expect says neither which element nor which screen",
                "give text, resource_id, accessibility_id, elementId, selector or screen",
            ));
        };
        let mut states = self.states();
        let expected = states.next().unwrap_or(Expected::Visible);
        match states.next() {
            None => Ok(Predicate::Element { query, expected }),
            Some(_) => Err(wrong("expect asks for several states", "ask for one; expect_state can ask more")),
        }
    }

    fn query(&self) -> Result<Option<Selector>, Failure> {
        let names = [&self.text, &self.resource_id, &self.accessibility_id, &self.element_id];
        let is_named = names.into_iter().any(Option::is_some) || self.contains.is_some();
        match (&self.selector, is_named) {
            (None, false) => Ok(None),
            (Some(selector), false) => selector.query().map(Some),
            (Some(_), true) => {
                Err(wrong("expect has a selector and names beside it", "put all into selector"))
            }
            (None, true) => {
                let own = SelectorArg {
                    text: self.text.clone(),
                    contains: self.contains.clone(),
                    resource_id: self.resource_id.clone(),
                    accessibility_id: self.accessibility_id.clone(),
                    element_id: self.element_id.clone(),
                    ..SelectorArg::default()
                };
                own.query().map(Some)
            }
        }
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

#[cfg(test)]
mod tests {
    use mdm_core::screen::element::Role;

    use super::*;

    fn condition(json: &str) -> Result<Predicate, String> {
        let arg: ExpectArg = serde_json::from_str(json).map_err(|error| error.to_string())?;
        arg.condition().map_err(|failure| failure.message)
    }

    #[test]
    fn an_element_is_named_as_everywhere() {
        let plain = condition(r#"{"text":"Del","contains":true}"#);
        assert_eq!(plain, condition(r#"{"selector":{"text":"Del","contains":true}}"#));
        assert_eq!(plain, condition(r#"{"contains":"Del"}"#));
        let Ok(Predicate::Element { query, expected }) =
            condition(r#"{"selector":{"role":"switch","inside":{"text":"Wi-Fi"}},"checked":true}"#)
        else {
            panic!("an element");
        };
        assert_eq!((query.role, expected), (Some(Role::Switch), Expected::Checked(true)));
        assert!(query.near.is_some());
    }

    #[test]
    fn what_is_asked_for_is_one_thing() {
        assert_eq!(condition(r#"{"screen":"Home"}"#), Ok(Predicate::Screen("Home".to_owned())));
        let problem = |json: &str| condition(json).unwrap_err();
        assert!(problem("{}").contains("neither which element"));
        assert!(problem(r#"{"text":" "}"#).contains("names nothing"));
        assert!(problem(r#"{"screen":"Home","text":"a"}"#).contains("a screen and an element"));
        assert!(problem(r#"{"text":"a","selector":{"text":"a"}}"#).contains("beside it"));
        assert!(problem(r#"{"text":"a","checked":true,"exists":true}"#).contains("several states"));
    }
}
