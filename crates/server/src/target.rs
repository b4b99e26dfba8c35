//! What a tool acts on, as callers write it: the one JSON form for all tools.

use mdm_core::intent::selector::{Pattern, Relation, Selector, TextMatch, role_named};
use mdm_core::intent::target::Target;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::args::{JsonObject, element_id, is_named, point};
use crate::refusal::Refusal;

/// Characters of one text in a selector.
const TEXT_CHARS_MAX: usize = 1000;
/// Selectors inside selectors.
const NESTING_MAX: usize = 3;
/// The highest index; a higher one is refused.
const INDEX_MAX: u32 = 10_000;

/// Flattened into the parameters of a tool. Exactly one of the three ways is used.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct TargetArg {
    pub element_id: Option<String>,
    #[schemars(with = "Option<JsonObject>")]
    pub selector: Option<SelectorArg>,
    /// Tap it even if nothing there seems to react.
    #[schemars(extend("hidden" = true))]
    pub force: Option<bool>,
    pub x: Option<f64>,
    pub y: Option<f64>,
}

/// The same without the last resort.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct ElementArg {
    pub element_id: Option<String>,
    #[schemars(with = "Option<JsonObject>")]
    pub selector: Option<SelectorArg>,
    /// Tap it even if nothing there seems to react.
    #[schemars(extend("hidden" = true))]
    pub force: Option<bool>,
}

impl ElementArg {
    pub fn is_given(&self) -> bool {
        self.element_id.is_some() || self.selector.is_some()
    }

    pub fn selector(&self) -> Result<Selector, Refusal> {
        let forced = |selector| Selector { force: self.force == Some(true), ..selector };
        match (&self.selector, &self.element_id) {
            (Some(selector), None) => selector.selector().map(forced),
            (None, Some(id)) => by_id(id).map(forced),
            (Some(_), Some(_)) => {
                Err(Refusal::argument("selector and element_id are both given", "give one of them"))
            }
            (None, None) => Err(Refusal::argument("no target is given", "give element_id or selector")),
        }
    }
}

fn by_id(id: &str) -> Result<Selector, Refusal> {
    Ok(Selector { id: Some(element_id(id)?), ..Selector::default() })
}

/// All that is given must hold.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SelectorArg {
    /// Its label, text, value or hint. Case does not count.
    pub text: Option<String>,
    /// text and accessibility_id may be parts.
    #[schemars(with = "Option<bool>")]
    pub contains: Option<ContainsArg>,
    /// A pattern that is found in its text.
    pub regex: Option<String>,
    /// Whole, or the part behind :id/.
    #[serde(alias = "resourceId")]
    pub resource_id: Option<String>,
    /// Content description, or the identifier of iOS.
    #[serde(alias = "accessibilityId", alias = "contentDesc")]
    pub accessibility_id: Option<String>,
    #[serde(alias = "testTag")]
    pub test_tag: Option<String>,
    /// As in get_ui_tree: button, field, switch, row, …
    pub role: Option<String>,
    #[serde(alias = "className")]
    pub class: Option<String>,
    #[schemars(with = "Option<JsonObject>")]
    pub below: Option<Box<SelectorArg>>,
    #[schemars(with = "Option<JsonObject>")]
    pub above: Option<Box<SelectorArg>>,
    #[serde(alias = "leftOf")]
    #[schemars(with = "Option<JsonObject>")]
    pub left_of: Option<Box<SelectorArg>>,
    #[serde(alias = "rightOf")]
    #[schemars(with = "Option<JsonObject>")]
    pub right_of: Option<Box<SelectorArg>>,
    #[schemars(with = "Option<JsonObject>")]
    pub inside: Option<Box<SelectorArg>>,
    /// An id like e12.
    #[serde(alias = "elementId")]
    pub element_id: Option<String>,
    /// Which of several that match, from 0 in document order.
    pub index: Option<u32>,
}

/// The keys of a selector, without their other spellings.
const SELECTOR_KEYS: [&str; 15] = [
    "text",
    "contains",
    "regex",
    "resource_id",
    "accessibility_id",
    "content_desc",
    "test_tag",
    "role",
    "class",
    "class_name",
    "below",
    "above",
    "inside",
    "element_id",
    "index",
];

/// True for a key that a selector may have, in either spelling.
pub fn is_selector_key(key: &str) -> bool {
    let sides = ["left_of", "right_of"];
    SELECTOR_KEYS.iter().chain(&sides).any(|known| is_named(known, key))
}

/// Callers also write the part itself, which is taken; schemas with a choice are not for all clients.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub enum ContainsArg {
    Flag(bool),
    Text(String),
}

impl TargetArg {
    pub fn target(&self) -> Result<Target, Refusal> {
        let ways = [self.element_id.is_some(), self.selector.is_some(), self.x.is_some() || self.y.is_some()];
        if ways.into_iter().filter(|given| *given).count() != 1 {
            let message =
                if ways.contains(&true) { "more than one target is given" } else { "no target is given" };
            return Err(Refusal::argument(message, "give element_id, or selector, or x and y"));
        }
        let forced = |selector| Target::Element(Selector { force: self.force == Some(true), ..selector });
        if let Some(id) = &self.element_id {
            return by_id(id).map(forced);
        }
        if let Some(selector) = &self.selector {
            return selector.selector().map(forced);
        }
        match (self.x, self.y) {
            (Some(x), Some(y)) => Ok(Target::Point(point(x, y)?)),
            _ => Err(Refusal::argument("x and y belong together", "give both, or an element_id")),
        }
    }
}

impl SelectorArg {
    /// Reads a selector that stands alone, as in a URI or on the command line.
    pub fn read(object: JsonObject) -> Result<SelectorArg, Refusal> {
        serde_json::from_value(serde_json::Value::Object(object)).map_err(|error| {
            Refusal::argument(format!("the selector cannot be read: {error}"), "use the keys of a selector")
        })
    }

    pub fn selector(&self) -> Result<Selector, Refusal> {
        self.selector_at(0)
    }

    fn selector_at(&self, depth: usize) -> Result<Selector, Refusal> {
        if depth > NESTING_MAX {
            let message = format!("the selector is nested deeper than {NESTING_MAX}");
            return Err(Refusal::argument(message, "name the anchor by its element_id"));
        }
        let partly = matches!(self.contains, Some(ContainsArg::Flag(true)));
        let matching = |text: String| if partly { TextMatch::Contains(text) } else { TextMatch::Is(text) };
        let selector = Selector {
            id: self.element_id.as_deref().map(element_id).transpose()?,
            text: self.text_match(partly)?,
            resource_id: said("resource_id", self.resource_id.as_deref())?,
            accessibility_id: said("accessibility_id", self.accessibility_id.as_deref())?.map(matching),
            test_tag: said("test_tag", self.test_tag.as_deref())?,
            role: self.role.as_deref().map(role).transpose()?,
            class: said("class", self.class.as_deref())?,
            near: self.near(depth)?,
            index: self.index()?,
            force: false,
        };
        if selector.is_empty() {
            // W32: a mistake, and none that waiting could mend.
            let hint =
                "give text, contains, regex, resource_id, accessibility_id, test_tag, role, class or a place";
            return Err(Refusal::argument("the selector names nothing", hint));
        }
        Ok(selector)
    }

    fn text_match(&self, partly: bool) -> Result<Option<TextMatch>, Refusal> {
        let part = match &self.contains {
            Some(ContainsArg::Text(part)) => said("contains", Some(part))?,
            _ => None,
        };
        let text = said("text", self.text.as_deref())?;
        let pattern = said("regex", self.regex.as_deref())?;
        match (text, part, pattern) {
            (None, None, None) => Ok(None),
            (Some(text), None, None) if partly => Ok(Some(TextMatch::Contains(text))),
            (Some(text), None, None) => Ok(Some(TextMatch::Is(text))),
            (None, Some(part), None) => Ok(Some(TextMatch::Contains(part))),
            (None, None, Some(pattern)) => Ok(Some(TextMatch::Regex(regex(&pattern)?))),
            _ => Err(Refusal::argument(
                "text, contains and regex are three ways to say one thing",
                "give one of them",
            )),
        }
    }

    fn near(&self, depth: usize) -> Result<Option<(Relation, Box<Selector>)>, Refusal> {
        let given = [
            (Relation::Below, &self.below),
            (Relation::Above, &self.above),
            (Relation::LeftOf, &self.left_of),
            (Relation::RightOf, &self.right_of),
            (Relation::Inside, &self.inside),
        ];
        let mut given = given.into_iter().filter_map(|(relation, anchor)| Some((relation, anchor.as_ref()?)));
        let Some((relation, anchor)) = given.next() else { return Ok(None) };
        if given.next().is_some() {
            return Err(Refusal::argument(
                "more than one place is given",
                "give one of below, above, left_of, right_of, inside",
            ));
        }
        Ok(Some((relation, Box::new(anchor.selector_at(depth + 1)?))))
    }

    fn index(&self) -> Result<Option<usize>, Refusal> {
        match self.index {
            Some(index) if index > INDEX_MAX => {
                Err(Refusal::argument(format!("index = {index} is more than {INDEX_MAX}"), "count from 0"))
            }
            index => Ok(index.map(|index| index as usize)),
        }
    }
}

/// A text that was given and says something.
fn said(name: &str, text: Option<&str>) -> Result<Option<String>, Refusal> {
    let Some(text) = text.filter(|text| !text.trim().is_empty()) else { return Ok(None) };
    if text.chars().count() > TEXT_CHARS_MAX {
        let message = format!("{name} is longer than {TEXT_CHARS_MAX} characters");
        return Err(Refusal::argument(message, "use contains with a telling part of it"));
    }
    Ok(Some(text.to_owned()))
}

fn role(word: &str) -> Result<mdm_core::screen::element::Role, Refusal> {
    role_named(word).ok_or_else(|| {
        Refusal::argument(
            format!("role = {word:?} is none that is known"),
            "use a role as get_ui_tree writes it: button, field, switch, checkbox, slider, tab, row, text, …",
        )
    })
}

fn regex(source: &str) -> Result<Pattern, Refusal> {
    Pattern::new(source).map_err(|problem| {
        Refusal::argument(
            format!("regex = {source:?}: {problem}"),
            "mend the pattern, or use contains for a plain text",
        )
    })
}

#[cfg(test)]
mod tests {
    use mdm_core::identity::ElementId;
    use mdm_core::screen::element::Role;
    use mdm_core::screen::geometry::Point;

    use super::*;

    fn target(json: &str) -> Result<Target, String> {
        let arg: TargetArg = serde_json::from_str(json).map_err(|error| error.to_string())?;
        arg.target().map_err(|refusal| refusal.failure.message)
    }

    fn query(json: &str) -> Selector {
        match target(&format!("{{\"selector\":{json}}}")) {
            Ok(Target::Element(selector)) => selector,
            other => panic!("{json}: {other:?}"),
        }
    }

    #[test]
    fn there_is_one_target_or_none() {
        let e12 = Selector { id: Some(ElementId(12)), ..Selector::default() };
        assert_eq!(target(r#"{"element_id":"e12"}"#), Ok(Target::Element(e12)));
        assert_eq!(target(r#"{"x":1.6,"y":2}"#), Ok(Target::Point(Point { x: 2, y: 2 })));
        assert_eq!(target("{}"), Err("no target is given".into()));
        assert_eq!(target(r#"{"element_id":"e1","x":1,"y":1}"#), Err("more than one target is given".into()));
        assert_eq!(target(r#"{"x":1}"#), Err("x and y belong together".into()));
        assert!(target(r#"{"element_id":"12"}"#).is_err());
    }

    #[test]
    fn a_selector_becomes_a_query() {
        let text = |text: &str| Some(TextMatch::Is(text.to_owned()));
        let part = |text: &str| Some(TextMatch::Contains(text.to_owned()));
        assert_eq!(query(r#"{"text":"Delete"}"#), Selector { text: text("Delete"), ..Selector::default() });
        assert_eq!(query(r#"{"text":"Del","contains":true}"#).text, part("Del"));
        assert_eq!(query(r#"{"contains":"Del"}"#).text, part("Del"));
        assert_eq!(query(r#"{"accessibilityId":"Cl","contains":true}"#).accessibility_id, part("Cl"));
        assert_eq!(query(r#"{"role":"text_field"}"#).role, Some(Role::TextField));
        let inside = query(r#"{"role":"button","inside":{"text":"Milk"},"index":1}"#);
        let milk = Selector { text: text("Milk"), ..Selector::default() };
        assert_eq!((inside.near, inside.index), (Some((Relation::Inside, Box::new(milk))), Some(1)));
        assert!(matches!(query(r#"{"regex":"^[0-9]+ left$"}"#).text, Some(TextMatch::Regex(_))));
    }

    #[test]
    fn what_is_wrong_with_a_selector_is_said() {
        let problem = |json: &str| target(&format!("{{\"selector\":{json}}}")).unwrap_err();
        assert_eq!(problem("{}"), "the selector names nothing", "W32");
        assert_eq!(problem(r#"{"index":2}"#), "the selector names nothing");
        assert_eq!(problem(r#"{"text":" "}"#), "the selector names nothing");
        assert!(problem(r#"{"txt":"a"}"#).contains("unknown field `txt`"));
        assert!(problem(r#"{"regex":"("}"#).starts_with("regex = \"(\":"));
        assert!(problem(&format!(r#"{{"regex":"{}"}}"#, "a".repeat(501))).contains("longer than 500"));
        assert!(problem(r#"{"role":"wizard"}"#).contains("none that is known"));
        assert!(problem(r#"{"text":"a","regex":"b"}"#).contains("three ways"));
        let two = r#"{"text":"a","below":{"text":"b"},"above":{"text":"c"}}"#;
        assert_eq!(problem(two), "more than one place is given");
        let deep = r#"{"below":{"below":{"below":{"below":{"text":"a"}}}}}"#;
        assert_eq!(problem(deep), "the selector is nested deeper than 3");
        assert!(problem(&format!(r#"{{"text":"{}"}}"#, "a".repeat(1001))).contains("longer than 1000"));
        assert!(problem(r#"{"text":"a","index":20000}"#).contains("more than 10000"));
    }
}
