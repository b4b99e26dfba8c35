//! Reads a whole list: goes to its start, then scrolls through it and collects its rows (F43).

use std::sync::Arc;

use mdm_core::action::event::Event;
use mdm_core::action::outcome::Effect;
use mdm_core::action::trace::Lifecycle;
use mdm_core::change::settle::Stability;
use mdm_core::change::tracker::Observation;
use mdm_core::failure::{Cause, Failure};
use mdm_core::intent::scroll::{Axis, Direction, ScrollSearch, ScrollTo, pick_rows};
use mdm_core::outline::{ListEnd, ListRead, ListReader, ReadList, Way};

use super::Run;

/// The length of one step, as a part of the view. What stays in sight proves that no row was passed by.
const STEP_PART: f64 = 0.8;

impl Run<'_> {
    /// Reads the rows. What was read before something failed is kept in the effect.
    pub async fn read_list(&mut self, asked: &ReadList) -> Result<(), Failure> {
        let seen = self.session.capture_now(self.progress).await?;
        self.outcome.before = Some(Arc::clone(&seen));
        let (container, axis) = pick_rows(&seen, asked.inside.as_ref())?;
        let id = seen.ids[container as usize];
        self.note(Event::Resolved { element: Some(id), alternate: false });
        let mut read = ListRead {
            rows: Vec::new(),
            end: ListEnd::Broken,
            changed: false,
            alike: false,
            scrolls: 0,
            seen,
            container: Some(id),
            stability: Stability::Stable,
        };
        let mut reader = ListReader::new(axis, asked.rows_max);
        let done = self.read_rows(asked, axis, &mut reader, &mut read).await;
        reader.finish(&mut read);
        let done = self.end_of_reading(done, asked, &mut read);
        self.outcome.effect = Effect::ListRead(Box::new(read));
        done
    }

    async fn read_rows(
        &mut self,
        asked: &ReadList,
        axis: Axis,
        reader: &mut ListReader,
        read: &mut ListRead,
    ) -> Result<(), Failure> {
        let forward = axis.forward();
        if asked.from_start {
            let seen = Arc::clone(&read.seen);
            let done = self.scroll_to_end(asked, forward.opposite(), seen, None, read).await;
            // A list that cannot be scrolled is at its start.
            done.or_else(|failure| if is_unscrollable(&failure) { Ok(()) } else { Err(failure) })?;
        }
        let seen = Arc::clone(&read.seen);
        let done = self.scroll_to_end(asked, forward, seen, Some(reader), read).await;
        match (done, read.container) {
            (Err(failure), Some(container)) if is_unscrollable(&failure) => {
                reader.take_in(&read.seen, container, Way::default());
                Ok(())
            }
            (done, _) => done,
        }
    }

    async fn scroll_to_end(
        &mut self,
        asked: &ReadList,
        direction: Direction,
        seen: Arc<Observation>,
        reader: Option<&mut ListReader>,
        read: &mut ListRead,
    ) -> Result<(), Failure> {
        let to_end = ScrollTo {
            target: None,
            inside: asked.inside.clone(),
            direction,
            scrolls_max: asked.scrolls_max.saturating_sub(read.scrolls),
            amount: STEP_PART,
        };
        let mut search = ScrollSearch::new(&to_end, seen);
        let done = self.drive(&mut search, reader).await;
        let scrolled = search.report();
        read.scrolls += scrolled.scrolls;
        read.seen = scrolled.seen;
        read.container = scrolled.container.or(read.container);
        read.stability = scrolled.stability;
        done
    }

    /// Says why the reading ended. Running out of time or scrolls is no failure: what was read is true.
    fn end_of_reading(
        &mut self,
        done: Result<(), Failure>,
        asked: &ReadList,
        read: &mut ListRead,
    ) -> Result<(), Failure> {
        let is_late = !self.progress.has_time_left();
        read.end = match &done {
            Ok(()) if read.rows.len() >= asked.rows_max => ListEnd::RowsMax,
            Ok(()) => ListEnd::Whole,
            Err(failure) if failure.cause == Cause::ScrollsExhausted => ListEnd::ScrollsMax,
            Err(failure) if failure.cause == Cause::Timeout || is_late => ListEnd::TimeUp,
            Err(_) => ListEnd::Broken,
        };
        let is_useful = !read.rows.is_empty();
        if read.scrolls > 0 {
            self.note(Event::Reached(Lifecycle::Dispatched));
        }
        match read.end {
            ListEnd::Broken => done,
            _ if !is_useful && done.is_err() => done,
            _ => {
                self.note(Event::Settled { stability: read.stability });
                self.note(Event::Reached(Lifecycle::Verified));
                Ok(())
            }
        }
    }
}

fn is_unscrollable(failure: &Failure) -> bool {
    matches!(failure.cause, Cause::NothingScrolls | Cause::DoesNotScroll)
}
