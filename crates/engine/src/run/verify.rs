//! What comes of an action: the screen is watched, and what was expected is judged.

use std::future::Future;
use std::time::Duration;

use mdm_core::action::event::Event;
use mdm_core::action::outcome::{After, Drawing, Verdict};
use mdm_core::action::recover::FailureReason;
use mdm_core::action::request::Act;
use mdm_core::action::trace::Lifecycle;
use mdm_core::change::settle::Stability;
use mdm_core::change::tracker::Observation;
use mdm_core::failure::{Cause, Failure};
use mdm_core::intent::predicate::{Judgement, Predicate};
use mdm_core::intent::resolve::{shows_nothing, system_dialog};
use mdm_core::intent::watch::{Ending, Goal, Wait};
use mdm_core::meaning::drawn::drawn_part;
use mdm_core::port::{PicturePrint, Said, SaidKind};
use mdm_core::screen::geometry::{Rect, Scale};

use super::Run;
use super::blind::{is_blind, with_pictures};
use crate::poll::{self, Counted, Turn};

/// Until the first look for a toast, and between two of them. One is shown for two seconds or longer.
const TOAST_COMES: Duration = Duration::from_millis(100);
const TOAST_PAUSE: Duration = Duration::from_millis(600);
/// A toast is shown for at most this long, and the next one waits.
const TOAST_MS_MAX: u64 = 4000;
/// A device that takes longer for a picture is not asked for one.
const PICTURE_MAX: Duration = Duration::from_secs(2);
/// Looks that a slow device gets before the expectation is given up, as long as the call has time (W2).
const LOOKS_MIN: u64 = 2;

impl Run<'_> {
    /// Watches what comes of an action, when anybody wants to know.
    pub async fn follow(&mut self, act: &Act) {
        if !act.is_followed() {
            return;
        }
        let mut crash = None;
        let after = match act.expect.is_some() {
            false => self.watch_effect(act).await,
            // It may take all the time there is, so a crash is looked for beside it (F44).
            true => tokio::select! {
                biased;
                after = self.watch_effect(act) => after,
                () = self.look_for_crash(&mut crash) => unreachable!("it never ends"),
            },
        };
        self.outcome.crash = crash;
        self.outcome.after = Some(match after {
            Ok(after) => {
                self.note_after(&after);
                Ok(after)
            }
            Err(failure) => Err(self.note_unread(failure).await),
        });
    }

    /// Where there is no tree, pictures tell a little.
    async fn note_unread(&mut self, failure: Failure) -> Failure {
        let why = failure.code().as_str();
        if !is_blind(&failure) {
            self.note(Event::Judged { met: None, changed: None, why });
            return failure;
        }
        let compared = self.compare_pictures().await;
        self.note(Event::Judged { met: None, changed: compared.changed(), why });
        with_pictures(failure, compared)
    }

    fn note_after(&mut self, after: &After) {
        self.note(Event::Settled { stability: after.stability });
        if after.stability == Stability::Stable || after.verdict == Verdict::Confirmed {
            self.session.note_settled();
        }
        let changed = after.observed.is_relevant() || after.drawing == Drawing::Changed;
        let reason = if changed { FailureReason::UnexpectedChange } else { FailureReason::NoChange };
        let (met, why, state) = match &after.verdict {
            Verdict::NotAsked => (None, "", None),
            Verdict::Confirmed => (Some(true), "confirmed", Some(Lifecycle::Verified)),
            Verdict::Contradicted { .. } => (Some(false), reason.as_str(), Some(Lifecycle::Failed)),
            Verdict::Undetermined { .. } => (None, FailureReason::VerificationTimeout.as_str(), None),
        };
        // Nothing is known to have changed only if the screen was watched until it rested (F10).
        let is_told = after.drawing == Drawing::Same || !shows_nothing(&after.seen);
        let is_whole = !after.damaged && after.seen.reading.snapshot.proves_absence();
        let is_seen = after.unseen_ms.is_none() && is_whole && is_told && after.drawing != Drawing::Unknown;
        let rested = is_seen && (after.stability == Stability::Stable || after.rested_ms.is_some());
        let changed = (changed || rested).then_some(changed);
        self.note(Event::Judged { met, changed, why });
        if let Some(state) = state {
            self.note(Event::Reached(state));
        }
    }

    async fn watch_effect(&self, act: &Act) -> Result<After, Failure> {
        let patience = act.patience;
        let goal = act.expect.clone().map_or(Goal::Settled, Goal::Holds);
        let window_ms = if patience.settle { patience.window_ms } else { 0 };
        let wait = Wait::new(goal, window_ms).with_patience(patience.timeout_ms, LOOKS_MIN);
        let before = self.outcome.before.clone();
        let (how, began_ms) = ((Turn::Held, Counted::AsWait), self.session.now_ms());
        let watched = poll::watch(self.session, &wait, before.clone(), how, self.progress);
        let mut came_in_words = false;
        let (report, toast) = match &act.expect {
            Some(predicate) if predicate.may_be_in_a_toast() && self.tells_words() => {
                match self.watch_with_words(self.watch_with_toasts(watched), predicate).await {
                    Some(watched) => watched,
                    None => {
                        came_in_words = true;
                        (self.watch_rest(act, &before).await, Some(false))
                    }
                }
            }
            Some(predicate) if predicate.may_be_in_a_toast() => self.watch_with_toasts(watched).await,
            _ => (watched.await, Some(false)),
        };
        let report = report?;
        let watched_ms = self.session.now_ms().saturating_sub(began_ms);
        let Some(seen) = report.seen else {
            return Err(match report.ending {
                Ending::Unreadable(failure) => failure,
                // Nobody looked, so nothing is known (F10).
                _ => Failure::new(Cause::Timeout, format!("no look was finished in {watched_ms} ms")),
            });
        };
        let told = report.observed.is_relevant();
        let drawing = if told { Drawing::Told } else { self.compare_drawing().await };
        let (verdict, held_before) = match &act.expect {
            None => (Verdict::NotAsked, false),
            Some(_) if came_in_words => (Verdict::Confirmed, false),
            Some(predicate) => {
                let held_before = before.as_deref().is_some_and(|before| predicate.judge(before).holds());
                let unseen = self.unseen_toast(predicate, toast, watched_ms);
                let verdict = verdict(&report.ending, report.judgement, &seen, unseen);
                (believed(verdict, report.unseen_ms), held_before)
            }
        };
        Ok(After {
            seen,
            since: report.since,
            observed: report.observed,
            stability: report.stability,
            rested_ms: report.rested_ms,
            // What came after the last look was begun, nobody saw.
            watched_ms: watched_ms.saturating_sub(report.freshness_ms),
            moving: report.moving,
            captures: report.captures,
            verdict,
            held_before,
            toast: toast == Some(true),
            said: self.session.heard(self.heard_before).words,
            drawing,
            damaged: report.ends_damaged,
            unseen_ms: report.unseen_ms,
        })
    }

    /// Watches, and looks for a toast beside it: no tree shows one, and it is gone when the time is up (F14). Nobody has to
    /// look while the device tells what it says. `None` if there was no time to look for one.
    async fn watch_with_toasts<T>(&self, watched: impl Future<Output = T>) -> (T, Option<bool>) {
        let mut toast = None;
        let looked = async {
            let mut pause = TOAST_COMES;
            loop {
                if self.progress.pause("looking for a toast", pause).await.is_err() || toast == Some(true) {
                    // The watch ends the call.
                    std::future::pending::<()>().await;
                }
                if self.hears() {
                    std::future::pending::<()>().await;
                }
                toast = self.session.shows_toast(self.progress).await.ok().or(toast);
                pause = TOAST_PAUSE;
            }
        };
        let report = tokio::select! {
            biased;
            report = watched => report,
            () = looked => unreachable!("it never ends"),
        };
        (report, toast.or(self.hears().then_some(false)))
    }

    /// Says why words that were not seen may be in a toast all the same.
    fn unseen_toast(
        &self,
        expected: &Predicate,
        toast: Option<bool>,
        watched_ms: u64,
    ) -> Option<&'static str> {
        let lately_ms = watched_ms.saturating_add(TOAST_MS_MAX);
        let was_shown = |said: &Said| {
            said.kind == SaidKind::Toast && said.ago_ms <= lately_ms && expected.is_met_by_words(&said.text)
        };
        match toast {
            None => Some("there was no time to look for a toast"),
            Some(true) => Some("a toast was shown, and what it says cannot be read on this device"),
            Some(false) if self.session.heard(0).words.iter().any(was_shown) => {
                Some("a toast said so before, and another one waits until that is gone")
            }
            Some(false) => None,
        }
    }

    /// Takes a print of what is drawn where the action goes, if the tree tells nothing of it. The print is only
    /// something to compare with, so a device that cannot take pictures does not stop the action.
    pub async fn print_drawing(&self, act: &Act) -> Option<(Rect, Option<PicturePrint>)> {
        let before = self.outcome.before.as_ref().filter(|_| act.is_followed())?;
        let part = drawn_part(&before.reading, self.outcome.places.first().map(|place| place.point))?;
        Some((part, self.print_now(part).await))
    }

    /// Tells whether something else is drawn there than before the action.
    async fn compare_drawing(&self) -> Drawing {
        let Some((part, before)) = &self.drawn_before else { return Drawing::Told };
        let (Some(before), Some(now)) = (before, self.print_now(*part).await) else {
            return Drawing::Unknown;
        };
        if now.differs(before) { Drawing::Changed } else { Drawing::Same }
    }

    async fn print_now(&self, part: Rect) -> Option<PicturePrint> {
        let progress = self.progress.within_next(PICTURE_MAX);
        let picture = self.session.screenshot_now(&progress).await.ok()?;
        // Trees of iOS count in points, pictures in pixels.
        let Scale(unit) = self.session.info(&progress).await.ok()?.scale;
        let pixels = |at: i32| at.saturating_mul(unit.max(1) as i32);
        let part = Rect::new(pixels(part.left), pixels(part.top), pixels(part.right), pixels(part.bottom));
        // A window that may not be photographed shows nothing.
        PicturePrint::new(&picture, part).filter(|_| !PicturePrint::is_black(&picture))
    }

    /// The device's answer was lost. Nothing is sent again; if what was expected is seen, that is the answer.
    pub async fn rescue(&mut self, act: &Act, failure: Failure) -> Result<(), Failure> {
        if failure.cause == Cause::Cancelled || !self.progress.has_time_left() {
            return Err(failure);
        }
        self.follow(act).await;
        match self.outcome.seen_after() {
            Some(after) if after.verdict == Verdict::Confirmed && !after.held_before => Ok(()),
            _ => Err(failure),
        }
    }
}

/// What was not there when it was last seen may have come while a look hung (F10).
fn believed(verdict: Verdict, unseen_ms: Option<u64>) -> Verdict {
    match (verdict, unseen_ms) {
        (Verdict::Contradicted { .. }, Some(ms)) => {
            let why = format!("a look did not end, so the screen of the last {ms} ms is not known");
            Verdict::Undetermined { why }
        }
        (verdict, _) => verdict,
    }
}

/// Contradicted is only what a whole capture at the end of the time shows to be otherwise. Behind a window of the system
/// it cannot be seen (F15).
fn verdict(
    ending: &Ending,
    judgement: Option<Judgement>,
    seen: &Observation,
    unseen: Option<&str>,
) -> Verdict {
    if let (Some(Judgement::Fails { .. }), Some(why)) = (&judgement, unseen) {
        return Verdict::Undetermined { why: why.to_owned() };
    }
    if let (Some(Judgement::Fails { .. }), Some(dialog)) = (&judgement, system_dialog(seen)) {
        return Verdict::Undetermined { why: format!("a system dialog is in front: {dialog}") };
    }
    match (ending, judgement) {
        (Ending::Reached, _) => Verdict::Confirmed,
        (Ending::Unreadable(failure), _) => Verdict::Undetermined { why: failure.to_string() },
        (_, Some(Judgement::Fails { observed, .. })) => Verdict::Contradicted { observed },
        (_, Some(Judgement::Unknown { why })) => Verdict::Undetermined { why },
        (_, Some(Judgement::Ambiguous { indexes })) => {
            Verdict::Undetermined { why: format!("{} elements are meant, and they differ", indexes.len()) }
        }
        (_, Some(Judgement::Holds { .. })) => {
            Verdict::Undetermined { why: "it held at the end, but not for long enough to be sure".to_owned() }
        }
        (_, None) => Verdict::Undetermined { why: "the screen could not be read in time".to_owned() },
    }
}
