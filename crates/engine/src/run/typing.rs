//! Typing: focuses, clears, types, reads back and submits.

use std::sync::Arc;

use mdm_core::action::event::Event;
use mdm_core::action::outcome::{Effect, Place, SentKind};
use mdm_core::action::request::{Act, Command};
use mdm_core::action::trace::Lifecycle;
use mdm_core::change::tracker::Observation;
use mdm_core::failure::{Cause, Failure};
use mdm_core::identity::ElementId;
use mdm_core::intent::predicate::{Expected, Predicate};
use mdm_core::intent::resolve::{describe, stale};
use mdm_core::intent::selector::{Selector, TextMatch};
use mdm_core::intent::target::Target;
use mdm_core::intent::typing::{
    ReadBack, Typing, characters_to_clear, check_field, field_text, focused_field,
};
use mdm_core::intent::watch::{Goal, Wait, WatchReport};
use mdm_core::port::{Input, Key};

use super::Run;
use super::blind::is_blind;

/// Until a tapped field has the focus, and until a typed text stands in it.
const FOCUS_MS: u64 = 3000;
const ARRIVAL_MS: u64 = 1500;
/// Captures before either is called missing.
const LOOKS_MIN: u64 = 2;

/// The field that is typed into, on the capture that showed it.
#[derive(Default)]
struct Field {
    seen: Option<Arc<Observation>>,
    id: Option<ElementId>,
}

impl Run<'_> {
    pub async fn type_text(&mut self, act: &Act, typing: &Typing) -> Result<(), Failure> {
        self.session.check_text(&typing.text, self.progress).await?;
        let field = self.find_field(act, typing).await?;
        if typing.clear {
            self.clear(&field).await?;
        }
        if !typing.text.is_empty() {
            self.send(SentKind::Text, &Command::Input(Input::Text(typing.text.clone()))).await?;
        }
        let id = self.outcome.request.id.clone();
        if self.session.note_unsettled(&id) {
            self.note(Event::Premature);
        }
        self.note(Event::Reached(Lifecycle::PendingVerification));
        let read_back = self.read_back(typing, &field).await;
        self.outcome.effect = Effect::Typed(read_back.clone());
        if let Some(mut failure) = typing.contradiction(&read_back) {
            if let Some(elsewhere) = self.focus_went_to(&field) {
                failure.message.push_str(&format!("; the focus went on to {elsewhere}"));
            }
            self.note(Event::Judged {
                met: Some(false),
                changed: None,
                why: "the field holds something else",
            });
            return Err(failure);
        }
        if matches!(read_back, ReadBack::Matches { .. }) {
            self.note(Event::Judged { met: Some(true), changed: Some(true), why: "read back" });
            self.note(Event::Reached(Lifecycle::Verified));
        }
        if typing.submit {
            self.send(SentKind::Key, &Command::Input(Input::Key(Key::Enter))).await?;
            self.note(Event::Reached(Lifecycle::PendingVerification));
        }
        self.follow(act).await;
        Ok(())
    }

    /// The named field, focused; or whatever has the focus.
    async fn find_field(&mut self, act: &Act, typing: &Typing) -> Result<Field, Failure> {
        if let Some(selector) = typing.field() {
            self.aim(act, &[Target::Element(selector)]).await?;
            let place = self.outcome.places.first().cloned();
            let (Some(place), Some(before)) = (place, self.outcome.before.clone()) else {
                return Ok(Field::default());
            };
            return self.focus(&place, before).await;
        }
        if typing.clear || act.is_followed() {
            match self.session.capture_now(self.progress).await {
                Ok(seen) => self.outcome.before = Some(seen),
                Err(failure) if is_blind(&failure) && !typing.clear => {
                    self.look_blindly(&failure).await;
                    return Ok(self.unseen_field());
                }
                Err(failure) => return Err(failure),
            }
        }
        let mut seen = self.outcome.before.clone();
        let mut id = seen.as_deref().and_then(focused_field);
        // A keyboard is there for what has the focus, even if the tree does not show what that is.
        let keyboard = match id {
            Some(_) => Ok(None),
            None => self.session.keyboard_now(self.progress).await,
        };
        let keyboard = match keyboard {
            Err(failure) if is_blind(&failure) => return Ok(self.unseen_field()),
            keyboard => keyboard?,
        };
        if id.is_none() && keyboard.is_none() {
            let now = match seen.take() {
                Some(seen) => seen,
                None => self.session.capture_now(self.progress).await?,
            };
            id = focused_field(&now);
            if id.is_none() && now.reading.snapshot.proves_absence() {
                let message =
                    "no text field has the focus, and no keyboard is shown: the text would go nowhere";
                return Err(Failure::new(Cause::NothingFocused, message));
            }
            seen = Some(now);
        }
        self.note(Event::Reached(Lifecycle::Resolved));
        Ok(Field { seen, id })
    }

    /// Whatever has the focus, on a device that tells nothing of it.
    fn unseen_field(&mut self) -> Field {
        self.note(Event::Reached(Lifecycle::Resolved));
        Field::default()
    }

    /// Gives the field the focus, or nothing is typed.
    async fn focus(&mut self, place: &Place, before: Arc<Observation>) -> Result<Field, Failure> {
        let Some((id, _)) = place.target else { return Ok(Field { seen: Some(before), id: None }) };
        let index = before.index_of(id).ok_or_else(|| stale(id))?;
        check_field(&before, index)?;
        if before.reading.element(index as u32).state.focused == Some(true) {
            return Ok(Field { seen: Some(before), id: Some(id) });
        }
        self.send(SentKind::Focus, &Command::Input(Input::Tap(place.point))).await?;
        let report = self.until(id, Expected::Focused(true), FOCUS_MS, &before).await?;
        let success = report.is_success();
        let seen = report.seen.unwrap_or(before);
        if success {
            return Ok(Field { seen: Some(seen), id: Some(id) });
        }
        let holder = focused_field(&seen).and_then(|id| seen.index_of(id));
        let instead =
            holder.map_or("nothing has".to_owned(), |at| format!("{} has", describe(&seen, at as u32)));
        let message = format!("{id} was tapped and did not take the focus; {instead} it; nothing was typed");
        Err(Failure::new(Cause::FocusNotTaken, message))
    }

    async fn until(
        &self,
        id: ElementId,
        expected: Expected,
        ms: u64,
        since: &Arc<Observation>,
    ) -> Result<WatchReport, Failure> {
        let selector = Selector { id: Some(id), ..Selector::default() };
        let goal = Goal::Shown(Predicate::Element { selector, expected });
        self.watch(&Wait::new(goal, 0).with_patience(ms, LOOKS_MIN), since, self.progress).await
    }

    async fn clear(&mut self, field: &Field) -> Result<(), Failure> {
        let element = field.seen.as_ref().zip(field.id).and_then(|(seen, id)| {
            let index = seen.index_of(id)?;
            Some(seen.reading.element(index as u32))
        });
        let characters = characters_to_clear(element)?;
        if characters > 0 {
            let has_lines = element.is_some_and(|element| field_text(element).contains('\n'));
            let erase = Input::Erase { characters, has_lines };
            self.send(SentKind::Clear, &Command::Input(erase)).await?;
        }
        Ok(())
    }

    /// The field that has the focus now, if it is another one than was typed into: a line break goes on to the next.
    fn focus_went_to(&self, field: &Field) -> Option<String> {
        let memory = self.session.memory();
        let now = memory.tracker.last()?;
        let other = focused_field(now).filter(|id| field.id.is_some_and(|typed| typed != *id))?;
        let index = now.index_of(other)?;
        let element = now.reading.element(index as u32);
        let holds = match element.password {
            true => "a hidden text".to_owned(),
            false => format!("{:?}", field_text(element)),
        };
        Some(format!("{}, which holds {holds}", describe(now, index as u32)))
    }

    /// What the field holds, once the text has had its time to get there.
    async fn read_back(&mut self, typing: &Typing, field: &Field) -> ReadBack {
        // The text is in: a screen that cannot be read must not look like a text that can be typed again.
        let seen = match self.session.capture_now(self.progress).await {
            Ok(seen) => seen,
            Err(failure) => return ReadBack::Unread { why: failure.to_string() },
        };
        let was = field.seen.as_ref().zip(field.id).and_then(|(seen, id)| {
            let index = seen.index_of(id)?;
            Some(field_text(seen.reading.element(index as u32)))
        });
        let first = typing.read_back(&seen, field.id, was);
        let (ReadBack::Differs { .. }, Some(id)) = (&first, field.id.or_else(|| focused_field(&seen))) else {
            return first;
        };
        let expected = Expected::Text(TextMatch::Contains(typing.text.clone()));
        let since = field.seen.as_ref().unwrap_or(&seen);
        match self.until(id, expected, ARRIVAL_MS, since).await {
            Ok(report) => report.seen.map_or(first, |seen| typing.read_back(&seen, Some(id), was)),
            Err(failure) => ReadBack::Unread { why: failure.to_string() },
        }
    }
}
