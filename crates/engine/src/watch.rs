//! The one poll loop: everything that waits for a screen waits here.
//!
//! Architecture invariant: a read that failed, or that lost elements, is neither a baseline nor "nothing there" (W10,
//! W11); rest is only ever said by the stabiliser; and every wait ends by its deadline (SY-07).

mod state;

use std::sync::Arc;
use std::time::Duration;

use mdm_core::action::failure::{ErrorCode, Failure};
use mdm_core::change::diff::ChangeKind;
use mdm_core::change::fingerprint::Fingerprint;
use mdm_core::change::pace::{Pace, Rest};
use mdm_core::change::settle::Stability;
use mdm_core::change::tracker::{Comparison, Observation};
use mdm_core::identity::ElementId;
use mdm_core::intent::predicate::{Judgement, Predicate};
use mdm_core::intent::scope::Scope;
use mdm_core::intent::selector::Selector;

use crate::progress::Progress;
use crate::session::Session;
use state::{Look, Watch};

/// Reads in a row that found no rest to read in, each of which took the device ten seconds.
const RESTLESS_MAX: u32 = 2;

#[derive(Debug, Clone, PartialEq)]
pub enum Goal {
    /// Holds in two captures in a row, and at both ends of the window.
    Predicate(Predicate),
    /// The element is there, and neither it nor anything in it changed or moved for a whole window.
    Rest(Selector),
    /// Something that counts changed, and then came to rest.
    Change,
    /// Another screen than this one, at rest.
    ScreenChange {
        from: Fingerprint,
    },
    Quiet,
    /// Another revision than this one, at rest or not.
    Revision {
        than: u64,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub struct Wait {
    pub goal: Goal,
    pub window_ms: u64,
    /// The window is the one that was learnt for the screen, once there is one (SY-19).
    pub adaptive: bool,
    /// What changed since this revision counts, even if it happened before the wait (SY-10).
    pub since_revision: Option<u64>,
    pub lens: Scope,
    /// The change must be of this kind; others only disturb.
    pub filter: Option<ChangeKind>,
    /// Ends without success before the deadline does.
    pub patience: Option<Patience>,
}

/// After this long it is over, once so many captures were made: a slow device gets the time for its looks (W2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    pub ms: u64,
    pub captures: u64,
}

/// How a wait ended: one way to succeed and three to fail (SY-08).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    Reached,
    Timeout,
    TargetGone(ElementId),
    Unreadable(Failure),
}

/// An element that kept the screen from coming to rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moving {
    pub id: ElementId,
    pub times: u64,
    /// Between two changes, on average.
    pub every_ms: Option<u64>,
}

#[derive(Debug, Clone)]
pub struct Waited {
    pub ending: Ending,
    pub change_detected: bool,
    pub observed: ChangeKind,
    pub stability: Stability,
    /// The last capture; `None` when none was completed.
    pub seen: Option<Arc<Observation>>,
    /// From the first capture, or the revision that was named, to the last change.
    pub since: Option<Comparison>,
    /// Of the condition on the last capture.
    pub standing: Option<Judgement>,
    /// The most that changed, the most often first; empty when the screen came to rest.
    pub moving: Vec<Moving>,
    pub captures: u64,
    pub elapsed_ms: u64,
    /// Comparison the device was asked for the last capture.
    pub freshness_ms: u64,
    /// How long the quiet was that had to be seen.
    pub window_ms: u64,
    /// What was learnt of the screen that is there now (SY-19).
    pub pace: Option<Pace>,
}

impl Waited {
    pub fn success(&self) -> bool {
        self.ending == Ending::Reached
    }

    pub fn stabilized(&self) -> bool {
        self.stability == Stability::Stable
    }
}

/// What a screen came to after something was done to it.
#[derive(Debug, Clone)]
pub struct Settled {
    pub seen: Arc<Observation>,
    /// Anything but stable when time was up first.
    pub stability: Stability,
    pub changed: bool,
    pub observed: ChangeKind,
    pub since: Option<Comparison>,
    pub moving: Vec<Moving>,
    pub captures: u64,
    pub elapsed_ms: u64,
}

impl Wait {
    /// For the whole screen, from now on.
    pub fn holding(goal: Goal, window: Duration) -> Wait {
        Wait {
            goal,
            window_ms: window.as_millis() as u64,
            adaptive: false,
            since_revision: None,
            lens: Scope::default(),
            filter: None,
            patience: None,
        }
    }
}

impl Session {
    /// Takes the turn and looks until the screen is at rest, or time is up.
    pub async fn settle(&self, window: Duration, progress: &Progress) -> Result<Settled, Failure> {
        let _turn = self.turn(progress).await?;
        let since = self.observe_now(progress).await?;
        self.settle_now(&since, window, progress).await
    }

    /// Looks until nothing that counts changed for a whole `window`, or time is up. For callers that hold the turn.
    pub(crate) async fn settle_now(
        &self,
        since: &Arc<Observation>,
        window: Duration,
        progress: &Progress,
    ) -> Result<Settled, Failure> {
        let wait = Wait::holding(Goal::Quiet, window);
        let mut watch = Watch::new(&wait, Some(Arc::clone(since)), self.clock.now_ms());
        let ending = self.poll(&mut watch, Turn::Held, progress).await?;
        self.learn(&watch, &ending);
        self.metrics.note(|counts| {
            counts.captures += watch.captures;
            counts.changes += watch.changes;
            counts.stale_caught += watch.damaged_seen;
        });
        let waited = watch.finish(ending.clone(), self.clock.now_ms(), progress);
        match (ending, waited.seen) {
            (Ending::Reached | Ending::Timeout, Some(seen)) => Ok(Settled {
                seen,
                stability: waited.stability,
                changed: waited.change_detected,
                observed: waited.observed,
                since: waited.since,
                moving: waited.moving,
                captures: waited.captures,
                elapsed_ms: waited.elapsed_ms,
            }),
            (Ending::Unreadable(failure), _) => Err(failure),
            _ => Err(out_of_time()),
        }
    }

    /// Waits for a goal. The turn is taken for each capture and given back: a wait may take minutes, and the tap that
    /// brings about what is waited for has to get through.
    pub async fn wait(&self, wait: &Wait, progress: &Progress) -> Result<Waited, Failure> {
        let base = match wait.since_revision {
            Some(revision) => Some(self.kept(revision)?),
            None => None,
        };
        let mut watch = Watch::new(wait, base, self.clock.now_ms());
        let ending = self.poll(&mut watch, Turn::Each, progress).await?;
        let now_ms = self.clock.now_ms();
        if ending == Ending::Reached {
            self.note_settled();
        }
        self.count(&watch, &ending, now_ms);
        Ok(watch.finish(ending, now_ms, progress))
    }

    /// The same for a subscription: nobody waits for it, so how it went is not counted.
    pub async fn listen(&self, wait: &Wait, progress: &Progress) -> Result<Waited, Failure> {
        let mut watch = Watch::new(wait, None, self.clock.now_ms());
        let ending = self.poll(&mut watch, Turn::Each, progress).await?;
        Ok(watch.finish(ending, self.clock.now_ms(), progress))
    }

    /// The same from a capture that the caller has, for callers that hold the turn.
    pub(crate) async fn watch_now(
        &self,
        wait: &Wait,
        since: &Arc<Observation>,
        progress: &Progress,
    ) -> Result<Waited, Failure> {
        let mut watch = Watch::new(wait, Some(Arc::clone(since)), self.clock.now_ms());
        let ending = self.poll(&mut watch, Turn::Held, progress).await?;
        let now_ms = self.clock.now_ms();
        self.count(&watch, &ending, now_ms);
        Ok(watch.finish(ending, now_ms, progress))
    }

    pub fn wait_counts(&self) -> crate::metrics::Counts {
        self.metrics.read()
    }

    fn kept(&self, revision: u64) -> Result<Arc<Observation>, Failure> {
        let memory = self.memory();
        let last = memory.tracker.last();
        let newest = last.map_or(0, |seen| seen.revision);
        if revision > newest {
            return Err(Failure::new(
                ErrorCode::InvalidArgument,
                format!("since_revision = {revision} was never handed out, the newest is {newest}"),
                "use the snapshot_revision of an earlier answer, or leave it out",
            ));
        }
        let current = last.filter(|seen| seen.revision == revision).cloned();
        current.or_else(|| memory.tracker.since(revision).map(|since| since.base)).ok_or_else(|| {
            self.metrics.note(|counts| counts.stale_caught += 1);
            Failure::new(
                ErrorCode::StaleReference,
                format!("revision {revision} is no longer kept, the newest is {newest}: it did change since"),
                "read the screen with get_ui_tree and wait from that revision",
            )
        })
    }

    /// Remembers how the screen came to rest (SY-19).
    fn learn(&self, watch: &Watch<'_>, ending: &Ending) {
        let Some((seen, pause_ms)) = watch.rested().filter(|_| *ending == Ending::Reached) else { return };
        let Some(screen) = seen.reading.snapshot.screen.clone() else { return };
        let mut memory = self.memory();
        let rest = Rest {
            screen,
            revision: seen.revision,
            changed_at_ms: watch.stabiliser.last_change_ms(),
            window_ms: watch.window_ms,
            actions: memory.tracker.actions(),
        };
        memory.paces.note_rest(rest, pause_ms);
    }

    fn count(&self, watch: &Watch<'_>, ending: &Ending, now_ms: u64) {
        self.learn(watch, ending);
        self.metrics.note(|counts| {
            counts.waits += 1;
            counts.captures += watch.captures;
            counts.changes += watch.changes;
            counts.stale_caught += watch.damaged_seen;
            match ending {
                Ending::Reached => counts.succeeded += 1,
                Ending::Timeout => counts.timed_out += 1,
                Ending::Unreadable(_) => counts.unreadable += 1,
                Ending::TargetGone(_) => {
                    counts.targets_gone += 1;
                    counts.stale_caught += 1;
                }
            }
            if *ending == Ending::Reached && watch.stabiliser.state() == Stability::Stable {
                counts.stabilised += 1;
                counts.stabilise_ms += now_ms.saturating_sub(watch.first_change_ms.unwrap_or(watch.began_ms));
            }
        });
    }

    /// Only a cancelled wait is an error; every other end is an answer.
    async fn poll(&self, watch: &mut Watch<'_>, turn: Turn, progress: &Progress) -> Result<Ending, Failure> {
        let mut restless = 0;
        loop {
            let ending = match self.look(watch, turn, progress).await {
                Ok(look) => {
                    restless = 0;
                    watch.take(look).or_else(|| watch.has_had_enough(self.clock.now_ms()))
                }
                // What moves now may be what is waited for: it gets a second chance.
                Err(failure) if failure.code == ErrorCode::UiNotIdle && restless + 1 < RESTLESS_MAX => {
                    restless += 1;
                    watch.unread();
                    None
                }
                Err(failure) => Some(ended_by(failure, progress)?),
            };
            if let Some(ending) = ending {
                return Ok(ending);
            }
            let pause = Duration::from_millis(watch.pause_ms(self.clock.now_ms()));
            let slept = async {
                tokio::time::sleep(pause).await;
                Ok(())
            };
            if let Err(failure) = progress.race("waiting for the screen", slept).await {
                return ended_by(failure, progress);
            }
            // A dump begun now would be abandoned, and occupy the device after the answer.
            if !progress.has_time_for(Duration::ZERO) {
                return Ok(Ending::Timeout);
            }
        }
    }

    async fn look(&self, watch: &Watch<'_>, turn: Turn, progress: &Progress) -> Result<Look, Failure> {
        let _turn = match turn {
            Turn::Held => None,
            Turn::Each => Some(self.turn(progress).await?),
        };
        let began_ms = self.clock.now_ms();
        let seen = self.observe_now(progress).await?;
        let ended_ms = self.clock.now_ms();
        // Still in the turn, so the tracker's last capture is this one. An equal revision is an equal screen (SY-02).
        let memory = &mut *self.memory();
        let tracker = &memory.tracker;
        let screen = seen.reading.snapshot.screen.as_ref();
        if let Some(screen) = screen {
            memory.paces.note_look(screen, seen.revision, tracker.actions(), ended_ms);
        }
        let pace = screen.and_then(|screen| memory.paces.of(screen));
        let against = |earlier: &Option<Arc<Observation>>| {
            let earlier = earlier.as_ref().filter(|earlier| earlier.revision != seen.revision)?;
            tracker.against(Arc::clone(earlier))
        };
        let (step, total) = (against(&watch.last), against(&watch.base));
        let only_ticked = watch.nameable && watch.moving.keys().all(|id| tracker.is_ticking(*id));
        Ok(Look { seen, step, total, only_ticked, pace, began_ms, ended_ms })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    Held,
    Each,
}

fn ended_by(failure: Failure, progress: &Progress) -> Result<Ending, Failure> {
    match failure.code {
        ErrorCode::Cancelled => Err(failure),
        ErrorCode::Timeout if !progress.has_time_for(Duration::ZERO) => Ok(Ending::Timeout),
        _ => Ok(Ending::Unreadable(failure)),
    }
}

fn out_of_time() -> Failure {
    Failure::new(
        ErrorCode::Timeout,
        "time was up before the screen could be read",
        "read it with get_ui_tree; nothing needs to be done again for that",
    )
}
