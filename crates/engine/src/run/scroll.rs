//! Feeds the search by scrolling: sends its strokes and shows it what came of them.

use std::sync::Arc;

use mdm_core::action::event::Event;
use mdm_core::action::outcome::{Effect, SentKind};
use mdm_core::action::request::Command;
use mdm_core::action::trace::Lifecycle;
use mdm_core::change::settle::Stability;
use mdm_core::change::tracker::Observation;
use mdm_core::failure::Failure;
use mdm_core::intent::scroll::{AfterStroke, ScrollSearch, ScrollStep, ScrollTo, Scrolled, Stroke};
use mdm_core::intent::watch::{Goal, Wait};
use mdm_core::outline::{ListReader, Way};
use mdm_core::port::Input;

use super::Run;

/// Earlier captures that are searched for a target that only passed by.
const PASSED_MAX: u64 = 16;
/// Captures of a wait for more rows, however slow the device is.
const LOOKS_MIN: u64 = 2;

impl Run<'_> {
    /// Scrolls until the target is in sight. Unlike other actions it knows itself whether it worked.
    pub async fn scroll_to(&mut self, asked: &ScrollTo) -> Result<(), Failure> {
        let seen = self.session.capture_now(self.progress).await?;
        self.outcome.before = Some(Arc::clone(&seen));
        let (scrolled, end) = self.scroll_search(asked, seen).await;
        let changed = Some(scrolled.before.revision != scrolled.seen.revision);
        if let Some(found) = &scrolled.found {
            self.note(Event::Resolved { element: Some(found.id), alternate: false });
        }
        let found = end.is_ok();
        if scrolled.scrolls > 0 {
            self.note(Event::Reached(Lifecycle::Dispatched));
        }
        if scrolled.scrolls > 0 || found {
            self.note(Event::Settled { stability: scrolled.stability });
            self.note(Event::Judged {
                met: Some(found),
                changed,
                why: if found { "in sight" } else { "not found" },
            });
        }
        if found {
            self.note(Event::Reached(Lifecycle::Verified));
        }
        if scrolled.stability == Stability::Stable {
            self.session.note_settled();
        }
        self.outcome.effect = Effect::Scrolled(Box::new(scrolled));
        end
    }

    /// Searches from a capture that is at hand; says how far it came, and why it ended without the target.
    pub async fn scroll_search(
        &mut self,
        asked: &ScrollTo,
        seen: Arc<Observation>,
    ) -> (Scrolled, Result<(), Failure>) {
        let mut search = ScrollSearch::new(asked, seen);
        let end = self.drive(&mut search, None).await;
        let scrolled = search.report();
        let found = scrolled.found.clone().filter(|_| end.is_ok());
        (Scrolled { found, ..scrolled }, end)
    }

    /// Takes the steps of a search until its end. A reader is shown every view that is at rest, until it is full.
    pub async fn drive(
        &mut self,
        search: &mut ScrollSearch<'_>,
        mut reader: Option<&mut ListReader>,
    ) -> Result<(), Failure> {
        let mut next = search.next_step()?;
        loop {
            if let (Some(reader), ScrollStep::Stroke { .. } | ScrollStep::Done) = (&mut reader, &next)
                && let Some(container) = search.container_id()
            {
                let way = Way { travelled_px: search.travelled_px(), turns_pages: search.turns_pages() };
                reader.take_in(&search.last_capture(), container, way);
                if reader.is_full() {
                    return Ok(());
                }
            }
            next = match next {
                ScrollStep::Done => return Ok(()),
                ScrollStep::AskForKeyboard => {
                    search.keyboard_is(self.session.keyboard_now(self.progress).await?)?
                }
                ScrollStep::Stroke { stroke, window_ms } => self.stroke(search, stroke, window_ms).await?,
                ScrollStep::Rest { window_ms } => {
                    let before = search.last_capture();
                    let later = self.settle(&before, window_ms).await?.seen.unwrap_or(before.clone());
                    let between = self.between(&before, &later);
                    search.rested(later, &between)?
                }
                ScrollStep::WaitForMore { ms, window_ms } => {
                    let wait = Wait::new(Goal::Change, window_ms).with_patience(ms, LOOKS_MIN);
                    let before = search.last_capture();
                    search.waited(self.watch(&wait, &before, self.progress).await?.seen)?
                }
            };
        }
    }

    async fn stroke(
        &mut self,
        search: &mut ScrollSearch<'_>,
        stroke: Stroke,
        window_ms: u64,
    ) -> Result<ScrollStep, Failure> {
        let before = search.last_capture();
        let swipe = Input::Scroll { from: stroke.from, to: stroke.to, duration_ms: stroke.duration_ms };
        if let Err(failure) = self.send(SentKind::Scroll, &Command::Input(swipe)).await {
            if failure.dispatch.is_safe_to_repeat() {
                search.not_sent();
            }
            return Err(failure);
        }
        let report = self.settle(&before, window_ms).await?;
        let seen = report.seen.unwrap_or_else(|| before.clone());
        let between = self.between(&before, &seen);
        let (stability, still_ms, at_ms) = (report.stability, report.still_ms, self.session.now_ms());
        search.stroked(AfterStroke { seen, stability, at_ms, still_ms, between: &between })
    }

    /// The captures that were kept between two others.
    fn between(&self, before: &Observation, now: &Observation) -> Vec<Arc<Observation>> {
        let from = (before.revision + 1).max(now.revision.saturating_sub(PASSED_MAX));
        let memory = self.session.memory();
        (from..now.revision).filter_map(|revision| memory.tracker.since(revision).map(|s| s.base)).collect()
    }
}
