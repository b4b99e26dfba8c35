//! Words that a device says for a moment, which stand in no tree: toasts and announcements (F14).

use std::future::Future;
use std::sync::Arc;

use mdm_core::action::request::Act;
use mdm_core::change::tracker::Observation;
use mdm_core::failure::Failure;
use mdm_core::intent::predicate::Predicate;
use mdm_core::intent::watch::{Goal, Wait, WatchReport};
use mdm_core::port::Support;

use super::Run;
use crate::poll::{self, Counted, Turn};

impl Run<'_> {
    /// True if the device tells what its toasts say.
    pub fn tells_words(&self) -> bool {
        self.session.capabilities().events == Support::Yes
    }

    /// True if the device has told something since the first command was sent, and all of it was heard. One that tells words
    /// and is silent may have fallen mute.
    pub fn hears(&self) -> bool {
        let is_whole = self.session.heard_gaps() == self.gaps_before;
        self.tells_words() && is_whole && self.session.heard_number() > self.heard_before
    }

    /// Watches, and listens beside it. `None` if what is expected was said before it was seen.
    pub async fn watch_with_words<T>(
        &self,
        watched: impl Future<Output = T>,
        expected: &Predicate,
    ) -> Option<T> {
        tokio::select! {
            biased;
            () = self.hear(expected) => None,
            report = watched => Some(report),
        }
    }

    /// Ends when something was said, since the call began, that meets the expectation.
    async fn hear(&self, expected: &Predicate) {
        let mut heard = self.session.heard(self.heard_before);
        while !heard.words.iter().any(|said| expected.is_met_by_words(&said.text)) {
            heard = self.session.next_heard(heard.number).await;
        }
    }

    /// Watches until the screen rests: what was expected has come, and what else came is told with it.
    pub async fn watch_rest(
        &self,
        act: &Act,
        before: &Option<Arc<Observation>>,
    ) -> Result<WatchReport, Failure> {
        let window_ms = if act.patience.settle { act.patience.window_ms } else { 0 };
        let wait = Wait::new(Goal::Settled, window_ms).with_patience(act.patience.timeout_ms, 1);
        let how = (Turn::Held, Counted::AsPart);
        poll::watch(self.session, &wait, before.clone(), how, self.progress).await
    }
}
