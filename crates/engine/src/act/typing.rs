//! Typing: into which field, over what, and what the field then holds.

use std::sync::Arc;
use std::time::Duration;

use mdm_core::action::failure::{ErrorCode, Failure};
use mdm_core::action::trace::{Lifecycle, Stage, StepResult};
use mdm_core::change::tracker::Observation;
use mdm_core::identity::ElementId;
use mdm_core::intent::predicate::{Expected, Predicate};
use mdm_core::intent::resolve::tell;
use mdm_core::intent::selector::{Selector, TextMatch};
use mdm_core::meaning::role;
use mdm_core::port::{Input, Key};
use mdm_core::screen::element::{Element, Role};

use super::run::Run;
use super::{Action, After, Aim, Deed, Hit};
use crate::progress::Progress;
use crate::session::Session;
use crate::watch::{Goal, Patience, Wait, Waited};

/// Until a tapped field has the focus, and until a typed text stands in it.
const FOCUS_MS: u64 = 3000;
const ARRIVAL_MS: u64 = 1500;
/// Captures before either is called missing.
const LOOKS_MIN: u64 = 2;
/// More characters than this are not deleted one by one.
const ERASED_MAX: usize = 1000;

#[derive(Debug, Clone, PartialEq)]
pub struct Typing {
    pub text: String,
    /// The field; without it whatever has the focus.
    pub into: Option<Selector>,
    /// Delete what the field holds first.
    pub clear: bool,
    /// Press Enter once the text stands in the field.
    pub submit: bool,
    /// What the field holds is told to nobody.
    pub secure: bool,
}

/// What a field held after a text was typed into it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadBack {
    /// The field's text holds what was typed.
    Matches { field: String },
    /// A secret field: only the number of its characters is known.
    Hidden { characters: usize },
    /// The field holds something else.
    Differs { field: String },
    /// No text field has the focus, so there is nothing to compare with.
    NoField,
    /// The text was typed, and then the screen could not be read.
    Unread { why: String },
}

#[derive(Debug, Clone)]
pub struct Typed {
    pub before: Option<Arc<Observation>>,
    pub hit: Option<Hit>,
    pub read_back: ReadBack,
    pub after: Option<Result<After, Failure>>,
}

impl Session {
    /// Focuses, clears, types, reads back and submits, in one turn.
    pub async fn type_text(
        &self,
        action: &Action,
        typing: &Typing,
        progress: &Progress,
    ) -> Result<Typed, Failure> {
        let _turn = self.turn(progress).await?;
        let mut run = Run::new(self, action, progress);
        let done = run.type_text(typing).await;
        run.end(done)
    }
}

impl Run<'_> {
    async fn type_text(&mut self, typing: &Typing) -> Result<Typed, Failure> {
        let (before, hit) = match &typing.into {
            Some(query) => {
                let (before, [hit]) = self.aim(&[Aim::Element(field(query))]).await?;
                (before, Some(hit))
            }
            None if typing.clear || self.action.follow.follows() => {
                (Some(self.session.observe_now(self.progress).await?), None)
            }
            None => (None, None),
        };
        self.reach(Lifecycle::Resolved);
        let mut seen = before.clone();
        let mut id = hit.as_ref().and_then(|hit| hit.target.as_ref()).map(|(id, _)| *id);
        if let (Some(hit), Some(before), Some(field)) = (&hit, &before, id) {
            seen = Some(self.focus(hit, before, field).await?);
        }
        id = id.or_else(|| seen.as_deref().and_then(focused));
        if typing.clear {
            self.erase(seen.as_deref(), id).await?;
        }
        if !typing.text.is_empty() {
            self.dispatch(Deed::Input(Input::Text(typing.text.clone()))).await?;
        }
        let read_back = self.arrived(typing, id, seen.as_ref()).await;
        if let Some(failure) = read_back.contradiction(typing) {
            self.note(Stage::Verify, StepResult::Failure, "the field holds something else");
            self.trace.expectation_met = Some(false);
            return Err(failure);
        }
        if matches!(read_back, ReadBack::Matches { .. }) {
            self.note(Stage::Verify, StepResult::Success, "read back");
            self.reach(Lifecycle::Verified);
            self.trace.expectation_met = Some(true);
        }
        if typing.submit {
            self.dispatch(Deed::Input(Input::Key(Key::Enter))).await?;
        }
        let after = self.follow(before.as_ref()).await;
        Ok(Typed { before, hit, read_back, after })
    }

    /// The field has the focus afterwards, or nothing is typed.
    async fn focus(
        &mut self,
        hit: &Hit,
        before: &Arc<Observation>,
        id: ElementId,
    ) -> Result<Arc<Observation>, Failure> {
        let index = before.index_of(id).ok_or_else(|| crate::session::stale(id))?;
        let element = before.reading.element(index as u32);
        if role::in_context(&before.reading.snapshot, index) != Role::TextField {
            return Err(Failure::new(
                ErrorCode::ElementNotInteractable,
                format!("{} is no text field", tell(before, index as u32)),
                "nothing was typed; use the id of a field from get_ui_tree",
            ));
        }
        if element.state.focused == Some(true) {
            return Ok(Arc::clone(before));
        }
        self.session.send(Input::Tap(hit.point), self.progress).await?;
        self.note(Stage::Execute, StepResult::Success, "focus");
        let query = Selector { id: Some(id), ..Selector::default() };
        let condition = Predicate::Element { query, expected: Expected::Focused(true) };
        let waited = self.until(condition, FOCUS_MS, before).await?;
        let seen = waited.seen.clone().unwrap_or_else(|| Arc::clone(before));
        if waited.success() {
            return Ok(seen);
        }
        let holder = focused(&seen).and_then(|id| seen.index_of(id));
        let instead = holder.map_or("nothing has".to_owned(), |at| format!("{} has", tell(&seen, at as u32)));
        Err(Failure::new(
            ErrorCode::ActionRejected,
            format!("{id} was tapped and did not take the focus; {instead} it"),
            "nothing was typed; look at the screen with get_ui_tree",
        )
        // The tap was sent, and may have done something else.
        .with_unknown_dispatch())
    }

    async fn until(
        &self,
        condition: Predicate,
        ms: u64,
        since: &Arc<Observation>,
    ) -> Result<Waited, Failure> {
        let patience = Some(Patience { ms, captures: LOOKS_MIN });
        let wait = Wait { patience, ..Wait::holding(Goal::Predicate(condition), Duration::ZERO) };
        self.session.watch_now(&wait, since, self.progress).await
    }

    async fn erase(&mut self, seen: Option<&Observation>, id: Option<ElementId>) -> Result<(), Failure> {
        let index = seen.zip(id).and_then(|(seen, id)| Some((seen, seen.index_of(id)?)));
        let Some((seen, index)) = index else {
            return Err(Failure::new(
                ErrorCode::ElementNotFound,
                "no text field has the focus, so there is nothing to clear",
                "nothing was typed; name the field with elementId or selector",
            ));
        };
        let characters = shown(seen.reading.element(index as u32)).chars().count();
        if characters > ERASED_MAX {
            return Err(Failure::new(
                ErrorCode::ActionRejected,
                format!("the field holds {characters} characters, and at most {ERASED_MAX} are deleted"),
                "nothing was typed; clear it with the app's own means",
            ));
        }
        if characters > 0 {
            let erase = Input::Erase { characters: characters as u32 };
            self.session.send(erase, self.progress).await?;
            self.note(Stage::Execute, StepResult::Success, format!("cleared {characters}"));
        }
        Ok(())
    }

    /// What the field holds, once the text has had its time to get there.
    async fn arrived(
        &mut self,
        typing: &Typing,
        id: Option<ElementId>,
        since: Option<&Arc<Observation>>,
    ) -> ReadBack {
        // The text is in: a screen that cannot be read must not look like a text that can be typed again.
        let seen = match self.session.observe_now(self.progress).await {
            Ok(seen) => seen,
            Err(failure) => return ReadBack::Unread { why: failure.to_string() },
        };
        let was = since.zip(id).and_then(|(since, id)| Some((since, since.index_of(id)?)));
        let was = was.map(|(since, index)| shown(since.reading.element(index as u32)));
        let first = read_back(&seen, id, typing, was);
        let (ReadBack::Differs { .. }, Some(id)) = (&first, id.or_else(|| focused(&seen))) else {
            return first;
        };
        let query = Selector { id: Some(id), ..Selector::default() };
        let expected = Expected::Text(TextMatch::Contains(typing.text.clone()));
        let since = since.unwrap_or(&seen);
        match self.until(Predicate::Element { query, expected }, ARRIVAL_MS, since).await {
            Ok(waited) => waited.seen.map_or(first, |seen| read_back(&seen, Some(id), typing, was)),
            Err(failure) => ReadBack::Unread { why: failure.to_string() },
        }
    }
}

/// Words name fields here, not the texts beside them.
fn field(query: &Selector) -> Selector {
    let by_words = query.id.is_none() && query.role.is_none();
    Selector { role: query.role.or(by_words.then_some(Role::TextField)), ..query.clone() }
}

fn focused(seen: &Observation) -> Option<ElementId> {
    let elements = &seen.reading.snapshot.elements;
    let has = |element: &Element| element.role == Role::TextField && element.state.focused == Some(true);
    elements.iter().position(has).map(|index| seen.ids[index])
}

fn shown(field: &Element) -> &str {
    field.text.as_deref().unwrap_or_default()
}

fn read_back(seen: &Observation, id: Option<ElementId>, typing: &Typing, was: Option<&str>) -> ReadBack {
    let index = match id {
        Some(id) => seen.index_of(id),
        None => focused(seen).and_then(|id| seen.index_of(id)),
    };
    let Some(index) = index else { return ReadBack::NoField };
    let field = seen.reading.element(index as u32);
    let text = shown(field);
    if field.password {
        return ReadBack::Hidden { characters: text.chars().count() };
    }
    let holds = match (typing.clear, typing.text.is_empty()) {
        (false, _) => text.contains(&typing.text),
        (true, false) => text == typing.text,
        // An empty field shows its hint, and older systems do not say that it is one.
        (true, true) => was.is_none_or(|was| text != was || text.is_empty()),
    };
    let field = text.to_owned();
    if holds { ReadBack::Matches { field } } else { ReadBack::Differs { field } }
}

impl ReadBack {
    /// The failure to report when the field contradicts what was typed.
    pub fn contradiction(&self, typing: &Typing) -> Option<Failure> {
        let ReadBack::Differs { field } = self else { return None };
        let count = |text: &str| text.chars().count();
        let message = if typing.secure {
            format!("the field does not hold what was typed, but {} characters", count(field))
        } else {
            format!("typed {:?}, but the field reads {field:?}", typing.text)
        };
        Some(Failure::new(
            ErrorCode::VerificationFailed,
            message,
            "the field may format, limit or refuse input; read it with get_ui_tree before typing again",
        ))
    }
}

#[cfg(test)]
mod tests {
    use mdm_core::change::tracker::Tracker;
    use mdm_core::screen::element::State;
    use mdm_core::screen::snapshot::Snapshot;

    use super::*;

    fn screen(role: Role, text: &str, focused: bool, password: bool) -> Arc<Observation> {
        let state = State { focused: Some(focused), ..State::default() };
        let field = Element { role, text: Some(text.into()), state, password, end: 1, ..Element::default() };
        Tracker::default().observe(Snapshot { elements: vec![field], ..Snapshot::default() }, 0)
    }

    fn typing(text: &str, clear: bool) -> Typing {
        Typing { text: text.to_owned(), into: None, clear, submit: false, secure: false }
    }

    #[test]
    fn what_the_field_holds_decides() {
        let field = |text: &str| screen(Role::TextField, text, true, false);
        let ada = typing("ada", false);
        assert_eq!(
            read_back(&field("to ada"), None, &ada, None),
            ReadBack::Matches { field: "to ada".into() }
        );
        let differs = read_back(&field("ad4"), None, &ada, None);
        assert_eq!(differs, ReadBack::Differs { field: "ad4".into() });
        let failure = differs.contradiction(&ada).expect("LC-03: a contradiction is a failure");
        assert_eq!(failure.code, ErrorCode::VerificationFailed);
        let over = read_back(&field("to ada"), None, &typing("ada", true), None);
        assert_eq!(over, ReadBack::Differs { field: "to ada".into() }, "a cleared field holds nothing else");
        assert_eq!(
            read_back(&screen(Role::TextField, "ada", false, false), None, &ada, None),
            ReadBack::NoField
        );
        assert_eq!(read_back(&screen(Role::Text, "ada", true, false), None, &ada, None), ReadBack::NoField);
    }

    #[test]
    fn a_secret_field_tells_only_its_length() {
        let secret = read_back(&screen(Role::TextField, "•••", true, true), None, &typing("abc", true), None);
        assert_eq!(secret, ReadBack::Hidden { characters: 3 }, "ST-07");
        assert_eq!(secret.contradiction(&typing("abc", true)), None);
    }
}
