//! The one poll loop: everything that waits for a screen waits here. It looks, feeds the machine, and sleeps until the
//! machine wants to look again.

use std::sync::Arc;
use std::time::Duration;

use mdm_core::action::event::{Event, WaitEnd, WaitEvent};
use mdm_core::change::pace;
use mdm_core::change::tracker::Observation;
use mdm_core::failure::{Cause, Failure};
use mdm_core::intent::watch::{Ending, Look, Next, Wait, Watch, WatchReport};

use crate::progress::Progress;
use crate::session::Session;

/// The pause after a look, however soon the device tells of a change: changes come in groups. As long as the look took, up
/// to a limit.
const AFTER_EVENT_MS: u64 = 20;
/// The longest pause after an event of the device.
const AFTER_EVENT_MS_MAX: u64 = 100;

/// Who holds the device's turn during a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// The caller, throughout.
    Held,
    /// The wait, for each look: a wait may take minutes, and the tap that brings about what is waited for has to get
    /// through.
    TakenForEachLook,
}

/// How a wait is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counted {
    AsWait,
    /// Only its captures: it is a part of something else.
    AsPart,
    /// Nobody asked for it.
    No,
}

/// Waits until the goal is reached or the wait is over. Only a cancelled wait is an error; every other end is an answer.
pub async fn watch(
    session: &Session,
    wait: &Wait,
    base: Option<Arc<Observation>>,
    (turn, counted): (Turn, Counted),
    progress: &Progress,
) -> Result<WatchReport, Failure> {
    let mut watch = Watch::new(wait, base, session.now_ms());
    let ending = poll(session, &mut watch, turn, progress).await?;
    let report = watch.finish(ending, session.now_ms(), progress.elapsed_ms());
    if counted != Counted::No {
        learn(session, &report);
        let now_ms = session.now_ms();
        session.metrics().note_overshoot(overshoot_ms(&report, now_ms));
        session.tell(progress, now_ms, Event::Waited(counts(&report, counted)));
    }
    Ok(report)
}

async fn poll(
    session: &Session,
    watch: &mut Watch<'_>,
    turn: Turn,
    progress: &Progress,
) -> Result<Ending, Failure> {
    loop {
        let (heard, began_ms) = (session.heard_number(), session.now_ms());
        let next = match look(session, watch, turn, progress).await {
            Ok(look) => watch.looked(look, session.now_ms()),
            Err(failure) if is_end_of_call(&failure, progress) => return ended_by(failure),
            Err(failure) => watch.look_failed(failure, session.now_ms()),
        };
        let ms = match next {
            Next::Done(ending) => return Ok(ending),
            Next::LookIn { ms } => ms,
        };
        let took_ms = session.now_ms().saturating_sub(began_ms);
        if let Err(failure) = pause(session, progress, ms, (heard, took_ms)).await {
            return ended_by(failure);
        }
        // A dump begun now would be abandoned, and occupy the device after the answer.
        if !progress.has_time_left() {
            return Ok(Ending::Timeout);
        }
    }
}

/// Waits until the next look, which comes sooner when the device tells of a change since the last look began. A screen that
/// changes all the time is not looked at for more than half of it.
async fn pause(
    session: &Session,
    progress: &Progress,
    ms: u64,
    (heard, took_ms): (u64, u64),
) -> Result<(), Failure> {
    let pause_ms = |ms: u64| progress.pause("waiting for the screen", Duration::from_millis(ms));
    let least_ms = took_ms.clamp(AFTER_EVENT_MS, AFTER_EVENT_MS_MAX).min(ms);
    pause_ms(least_ms).await?;
    tokio::select! {
        biased;
        _ = session.next_heard(heard) => Ok(()),
        paused = pause_ms(ms - least_ms) => paused,
    }
}

/// True if the call was cancelled or its time is up, and not only one look failed.
fn is_end_of_call(failure: &Failure, progress: &Progress) -> bool {
    failure.cause == Cause::Cancelled || failure.cause == Cause::Timeout && !progress.has_time_left()
}

/// Time that is up is an answer; a cancelled call has none.
fn ended_by(failure: Failure) -> Result<Ending, Failure> {
    if failure.cause == Cause::Timeout { Ok(Ending::Timeout) } else { Err(failure) }
}

async fn look(
    session: &Session,
    watch: &Watch<'_>,
    turn: Turn,
    progress: &Progress,
) -> Result<Look, Failure> {
    let _turn = match turn {
        Turn::Held => None,
        Turn::TakenForEachLook => Some(session.turn(progress).await?),
    };
    let began_ms = session.now_ms();
    let seen = session.capture_now(progress).await?;
    let ended_ms = session.now_ms();
    // Still in the turn, so the tracker's last capture is this one. An equal revision is an equal screen (SY-02).
    let memory = &mut *session.memory();
    let tracker = &memory.tracker;
    let screen = seen.reading.snapshot.screen.as_ref();
    if let Some(screen) = screen {
        memory.paces.note_capture(screen, seen.revision, tracker.actions(), ended_ms);
    }
    let pace = screen.and_then(|screen| memory.paces.of(screen));
    let against = |earlier: &Option<Arc<Observation>>| {
        let earlier = earlier.as_ref().filter(|earlier| earlier.revision != seen.revision)?;
        tracker.compare_with(Arc::clone(earlier))
    };
    let (step, total) = (against(&watch.last), against(&watch.base));
    let only_ticked = watch.changed_elements().is_some_and(|mut ids| ids.all(|id| tracker.is_ticking(id)));
    let (rested_ms, heard) = (memory.rested_ms, memory.heard);
    Ok(Look { seen, step, total, only_ticked, pace, began_ms, ended_ms, rested_ms, heard })
}

/// Remembers how the screen came to rest (SY-19).
fn learn(session: &Session, report: &WatchReport) {
    let (Some(rest), Some(seen)) = (&report.rest, &report.seen) else { return };
    let Some(screen) = seen.reading.snapshot.screen.clone() else { return };
    let mut memory = session.memory();
    let rested = pace::Rest {
        screen,
        revision: seen.revision,
        changed_at_ms: rest.changed_at_ms,
        window_ms: report.window_ms,
        actions: memory.tracker.actions(),
    };
    memory.paces.note_rest(rested, rest.longest_pause_ms);
}

/// How long after the last change and its window of quiet a wait ended, if it came to rest.
fn overshoot_ms(report: &WatchReport, now_ms: u64) -> Option<u64> {
    let quiet_from_ms = report.rest.as_ref()?.changed_at_ms.saturating_add(report.window_ms);
    Some(now_ms.saturating_sub(quiet_from_ms))
}

fn counts(report: &WatchReport, counted: Counted) -> WaitEvent {
    WaitEvent {
        end: match report.ending {
            Ending::Reached => WaitEnd::Reached,
            Ending::Timeout => WaitEnd::Timeout,
            Ending::TargetGone(_) => WaitEnd::TargetGone,
            Ending::Unreadable(_) => WaitEnd::Unreadable,
        },
        captures: report.captures,
        changes: report.changes,
        damaged: report.damaged,
        stabilise_ms: (report.is_success() && report.is_stable()).then_some(report.stabilise_ms),
        inner: counted == Counted::AsPart,
    }
}
