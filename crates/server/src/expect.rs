//! What a caller expects, as it arrives.

use mdm_core::intent::predicate::{Expected, Predicate};
use mdm_core::intent::selector::{Selector, TextMatch};
use serde::Deserialize;

use crate::args::JsonObject;
use crate::refusal::Refusal;
use crate::target::SelectorArg;

/// One thing that must be true: the keys of a selector beside one state, or a screen. Without a state the element must
/// be visible.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct ExpectArg {
    /// The element under a key of its own, instead of its keys here.
    selector: Option<SelectorArg>,
    /// The name of the screen in front.
    screen: Option<String>,
    /// False: the element must be gone.
    exists: Option<bool>,
    enabled: Option<bool>,
    checked: Option<bool>,
    selected: Option<bool>,
    focused: Option<bool>,
    expanded: Option<bool>,
    /// The number on it.
    value: Option<f64>,
    /// The text in it.
    #[serde(alias = "textValue")]
    text_value: Option<String>,
    /// All other keys: those of a selector.
    #[serde(flatten)]
    element: JsonObject,
}

impl ExpectArg {
    pub fn predicate(&self) -> Result<Predicate, Refusal> {
        let selector = self.selector()?;
        if let Some(screen) = &self.screen {
            if selector.is_some() || self.states().next().is_some() {
                return Err(Refusal::argument("expect names a screen and an element", "ask for one of them"));
            }
            return Ok(Predicate::Screen(screen.clone()));
        }
        let Some(selector) = selector else {
            return Err(Refusal::argument(
                "expect says neither which element nor which screen",
                "give text, resource_id, accessibility_id, elementId, selector or screen",
            ));
        };
        let mut states = self.states();
        let expected = states.next().unwrap_or(Expected::Visible);
        match states.next() {
            None => Ok(Predicate::Element { selector, expected }),
            Some(_) => Err(Refusal::argument(
                "expect asks for several states",
                "ask for one; expect_state can ask more",
            )),
        }
    }

    fn selector(&self) -> Result<Option<Selector>, Refusal> {
        match (&self.selector, self.element.is_empty()) {
            (None, true) => Ok(None),
            (Some(selector), true) => selector.selector().map(Some),
            (Some(_), false) => {
                let message = "expect has a selector and keys of a selector beside it";
                Err(Refusal::argument(message, "put all into selector"))
            }
            (None, false) => SelectorArg::read(self.element.clone())?.selector().map(Some),
        }
    }

    fn states(&self) -> impl Iterator<Item = Expected> {
        let flags = [
            self.exists.map(|exists| if exists { Expected::Exists } else { Expected::NotExists }),
            self.enabled.map(Expected::Enabled),
            self.checked.map(Expected::Checked),
            self.selected.map(Expected::Selected),
            self.focused.map(Expected::Focused),
            self.expanded.map(Expected::Expanded),
            self.value.map(|number| Expected::Value { number, tolerance: 0.0 }),
            self.text_value.clone().map(|text| Expected::Text(TextMatch::Is(text))),
        ];
        flags.into_iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use mdm_core::screen::element::Role;

    use super::*;

    fn predicate(json: &str) -> Result<Predicate, String> {
        let arg: ExpectArg = serde_json::from_str(json).map_err(|error| error.to_string())?;
        arg.predicate().map_err(|refusal| refusal.failure.message)
    }

    #[test]
    fn an_element_is_named_as_everywhere() {
        let plain = predicate(r#"{"text":"Del","contains":true}"#);
        assert_eq!(plain, predicate(r#"{"selector":{"text":"Del","contains":true}}"#));
        assert_eq!(plain, predicate(r#"{"contains":"Del"}"#));
        let Ok(Predicate::Element { selector, expected }) =
            predicate(r#"{"selector":{"role":"switch","inside":{"text":"Wi-Fi"}},"checked":true}"#)
        else {
            panic!("an element");
        };
        assert_eq!((selector.role, expected), (Some(Role::Switch), Expected::Checked(true)));
        assert!(selector.near.is_some());
    }

    #[test]
    fn what_is_asked_for_is_one_thing() {
        assert_eq!(predicate(r#"{"screen":"Home"}"#), Ok(Predicate::Screen("Home".to_owned())));
        let problem = |json: &str| predicate(json).unwrap_err();
        assert!(problem("{}").contains("neither which element"));
        assert!(problem(r#"{"text":" "}"#).contains("names nothing"));
        assert!(problem(r#"{"screen":"Home","text":"a"}"#).contains("a screen and an element"));
        assert!(problem(r#"{"text":"a","selector":{"text":"a"}}"#).contains("beside it"));
        assert!(problem(r#"{"text":"a","checked":true,"exists":true}"#).contains("several states"));
    }
}
