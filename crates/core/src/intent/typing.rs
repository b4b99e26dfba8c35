//! Typing: into which field, over what, and what the field then says about it.

use crate::change::tracker::Observation;
use crate::failure::{Cause, Failure};
use crate::identity::ElementId;
use crate::intent::resolve::describe;
use crate::intent::selector::Selector;
use crate::meaning::role;
use crate::screen::element::{Element, Role};

/// More characters than this are not deleted one by one.
const ERASED_CHARS_MAX: usize = 1000;

/// What is typed, and where.
#[derive(Clone, PartialEq)]
pub struct Typing {
    pub text: String,
    /// The field; without it whatever has the focus.
    pub into: Option<Selector>,
    /// Delete what the field holds first.
    pub clear: bool,
    /// Press Enter once the text stands in the field.
    pub submit: bool,
    /// The text is a secret: no answer shows what the field holds.
    pub secure: bool,
}

/// The text may be a secret, so only its length is shown (S8).
impl std::fmt::Debug for Typing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Typing { text, into, clear, submit, secure } = self;
        let characters = text.chars().count();
        write!(
            f,
            "Typing({characters} characters, {into:?}, clear {clear}, submit {submit}, secure {secure})"
        )
    }
}

/// What a field held after a text was typed into it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadBack {
    /// The field's text holds what was typed.
    Matches { field: String },
    /// A secret field tells only the number of its characters.
    Hidden { characters: usize },
    /// The field holds something else.
    Differs { field: String },
    /// No text field has the focus, so there is nothing to compare with.
    NoField,
    /// The text was typed, and then the screen could not be read.
    Unread { why: String },
}

impl Typing {
    /// The selector of the field. Words mean the field that they label, not the label.
    pub fn field(&self) -> Option<Selector> {
        self.into.as_ref().map(|selector| {
            let by_words = selector.id.is_none() && selector.role.is_none();
            let role = selector.role.or(by_words.then_some(Role::TextField));
            Selector { role, ..selector.clone() }
        })
    }

    /// Compares the field with what was typed. `was` is what it showed before.
    pub fn read_back(&self, seen: &Observation, id: Option<ElementId>, was: Option<&str>) -> ReadBack {
        let Some(index) = id.or_else(|| focused_field(seen)).and_then(|id| seen.index_of(id)) else {
            return ReadBack::NoField;
        };
        let field = seen.reading.element(index as u32);
        let text = field_text(field);
        if field.password {
            return ReadBack::Hidden { characters: text.chars().count() };
        }
        let holds = match (self.clear, self.text.is_empty()) {
            (false, _) => text.contains(&self.text),
            (true, false) => text == self.text,
            // An empty field shows its hint, and older systems do not say that it is one.
            (true, true) => was.is_none_or(|was| text != was || text.is_empty()),
        };
        let field = text.to_owned();
        if holds { ReadBack::Matches { field } } else { ReadBack::Differs { field } }
    }

    /// The failure to report when the field contradicts what was typed.
    pub fn contradiction(&self, read_back: &ReadBack) -> Option<Failure> {
        let ReadBack::Differs { field } = read_back else { return None };
        let message = if self.secure {
            let characters = field.chars().count();
            format!("the field does not hold what was typed, but {characters} characters")
        } else {
            format!("typed {:?}, but the field reads {field:?}", self.text)
        };
        Some(Failure::new(Cause::FieldDiffers, message))
    }
}

/// The text field that has the focus.
pub fn focused_field(seen: &Observation) -> Option<ElementId> {
    let elements = &seen.reading.snapshot.elements;
    let has = |element: &Element| element.role == Role::TextField && element.state.focused == Some(true);
    elements.iter().position(has).map(|index| seen.ids[index])
}

pub fn field_text(field: &Element) -> &str {
    field.text.as_deref().unwrap_or_default()
}

/// Refuses what is no text field.
pub fn check_field(seen: &Observation, index: usize) -> Result<(), Failure> {
    if role::in_context(&seen.reading.snapshot, index) == Role::TextField {
        return Ok(());
    }
    let message = format!("{} is no text field", describe(seen, index as u32));
    Err(Failure::new(Cause::NotATextField, message))
}

/// How many characters have to be deleted to clear the field.
pub fn characters_to_clear(field: Option<&Element>) -> Result<u32, Failure> {
    let Some(field) = field else {
        let message = "no text field has the focus, so there is nothing to clear";
        return Err(Failure::new(Cause::NothingToClear, message));
    };
    let characters = field_text(field).chars().count();
    if characters > ERASED_CHARS_MAX {
        let message =
            format!("the field holds {characters} characters, and at most {ERASED_CHARS_MAX} are deleted");
        return Err(Failure::new(Cause::TooMuchToClear, message));
    }
    Ok(characters as u32)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::change::tracker::Tracker;
    use crate::failure::ErrorCode;
    use crate::screen::element::State;
    use crate::screen::snapshot::Snapshot;

    fn screen(role: Role, text: &str, focused: bool, password: bool) -> Arc<Observation> {
        let state = State { focused: Some(focused), ..State::default() };
        let field = Element { role, text: Some(text.into()), state, password, end: 1, ..Element::default() };
        Tracker::default().observe(Snapshot { elements: vec![field], ..Snapshot::default() }, 0)
    }

    fn typing(text: &str, clear: bool) -> Typing {
        Typing { text: text.to_owned(), into: None, clear, submit: false, secure: false }
    }

    #[test]
    fn the_field_decides_whether_the_text_arrived() {
        let field = |text: &str| screen(Role::TextField, text, true, false);
        let ada = typing("ada", false);
        assert_eq!(ada.read_back(&field("to ada"), None, None), ReadBack::Matches { field: "to ada".into() });
        let differs = ada.read_back(&field("ad4"), None, None);
        assert_eq!(differs, ReadBack::Differs { field: "ad4".into() });
        let failure = ada.contradiction(&differs).expect("LC-03: a contradiction is a failure");
        assert_eq!(failure.code(), ErrorCode::VerificationFailed);
        let over = typing("ada", true).read_back(&field("to ada"), None, None);
        assert_eq!(over, ReadBack::Differs { field: "to ada".into() }, "a cleared field holds nothing else");
        let unfocused = screen(Role::TextField, "ada", false, false);
        assert_eq!(ada.read_back(&unfocused, None, None), ReadBack::NoField);
        assert_eq!(ada.read_back(&screen(Role::Text, "ada", true, false), None, None), ReadBack::NoField);
    }

    #[test]
    fn a_secret_field_tells_only_its_length() {
        let asked = typing("abc", true);
        let secret = asked.read_back(&screen(Role::TextField, "•••", true, true), None, None);
        assert_eq!(secret, ReadBack::Hidden { characters: 3 }, "ST-07");
        assert_eq!(asked.contradiction(&secret), None);
        assert!(!format!("{asked:?}").contains("abc"), "S8");
    }
}
