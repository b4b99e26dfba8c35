//! The state of one wait.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Ending, Goal, MovingElement, Rest, Wait, WatchReport};
use crate::change::diff::ChangeKind;
use crate::change::pace::Pace;
use crate::change::settle::{Stabiliser, Stability};
use crate::change::tracker::{Comparison, Observation};
use crate::failure::Failure;
use crate::identity::ElementId;
use crate::intent::predicate::{Expected, Judgement, Predicate};
use crate::intent::scope::{Scope, ScopedChange};
use crate::port::DeviceErrorKind;
use crate::screen::geometry::Rect;
use crate::screen::reading::ScreenReading;

/// Looks in a row that found no rest to read in, each of which took the device ten seconds.
const NOT_IDLE_MAX: u32 = 2;
/// Between two captures that shall agree, and before a damaged one is read again.
const CONFIRM_MS: u64 = 20;
/// However short the window: a screen that changes with every look must not be looked at without a pause.
const PAUSE_MIN_MS: u64 = 5;
/// How long nothing has changed, and the pause that then suffices, in milliseconds.
const PAUSES_MS: [(u64, u64); 3] = [(10_000, 40), (30_000, 100), (60_000, 250)];
/// The longest pause between two looks.
const PAUSE_MAX_MS: u64 = 500;
/// A capture that takes long is work for the device: it is left alone for so many times as long, up to a limit.
const PAUSE_PER_COST: u64 = 10;
/// A large screen is work for this machine: one more millisecond for so many elements, up to a limit.
const ELEMENTS_PER_MS: usize = 256;
/// The longest addition to a pause because the screen is large.
const PAUSE_FOR_SIZE_MAX_MS: usize = 20;
/// The longest addition to a pause because a look takes long.
const PAUSE_FOR_COST_MAX_MS: u64 = 200;
/// Captures of which the quickest tells what one costs the device: the others waited for something else too.
const COSTS: usize = 4;
/// A last look that is older than this, and than two looks take, leaves the end of the time unseen.
const UNSEEN_MS_MAX: u64 = 1500;
/// Damaged captures in a row that show the same, before one is taken for what it is: some screens are too large to be
/// read whole.
const DAMAGED_MAX: u32 = 5;
/// Elements whose changes are counted.
const MOVING_MAX: usize = 256;
/// Of these, named in an answer.
const MOVING_NAMED_MAX: usize = 5;

/// One look at the screen, set against earlier ones.
pub struct Look {
    pub seen: Arc<Observation>,
    /// The differences to the capture before and to the first one.
    pub step: Option<Comparison>,
    pub total: Option<Comparison>,
    /// True if all that changed before this capture is known by now to have been ticking.
    pub only_ticked: bool,
    pub pace: Option<Pace>,
    pub began_ms: u64,
    pub ended_ms: u64,
    /// For how long, within this look and up to what it shows, the device saw that nothing changed.
    pub rested_ms: u64,
    pub heard: HeardAround,
}

/// The numbers of the newest thing that the device had told of its screen (`port::Heard`) at three moments.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HeardAround {
    /// When the reading before this one began.
    pub earlier: u64,
    /// When the device began this reading: at `at_ms`, or a little before.
    pub began: u64,
    /// `None` if what tells of changes did not make the reading, and may have fallen silent.
    pub at_ms: Option<u64>,
    /// When the answer was here.
    pub ended: u64,
}

impl Look {
    /// Returns the earliest moment that it can show: when it began, or later if the device first saw some rest.
    fn shows_ms(&self) -> u64 {
        self.began_ms.saturating_add(self.rested_ms).min(self.ended_ms)
    }
}

/// The first of the captures in a row in which a condition held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Held {
    since_ms: u64,
    element: Option<(ElementId, Rect)>,
}

/// What to do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// Look again this long from now.
    LookIn {
        ms: u64,
    },
    Done(Ending),
}

/// What a wait has seen so far.
pub struct Watch<'a> {
    wait: &'a Wait,
    began_ms: u64,
    pub base: Option<Arc<Observation>>,
    pub last: Option<Arc<Observation>>,
    total: Option<Comparison>,
    /// Whether a capture of this wait was taken in.
    looked: bool,
    /// The earliest moment that the last capture that was taken in can show, and how long the last few took.
    asked_ms: u64,
    costs_ms: [u64; COSTS],
    stabiliser: Stabiliser,
    window_ms: u64,
    pace: Option<Pace>,
    /// Between two changes since the screen last rested.
    longest_pause_ms: u64,
    first_change_ms: Option<u64>,
    observed: ChangeKind,
    satisfied: bool,
    held: Option<Held>,
    /// The last look that showed a change, if the device had told of it before: the number heard by then, and when it ended.
    told_change: Option<(u64, u64)>,
    /// Since when nothing has moved, changes that do not count among them, and for how long at the last look.
    still_since_ms: u64,
    still_ms: u64,
    judgement: Option<Judgement>,
    /// The tree that `judgement` is about.
    judged: Option<Arc<ScreenReading>>,
    moving: BTreeMap<ElementId, (u64, u64, u64)>,
    /// Every change so far was one of an element in `moving`.
    nameable: bool,
    captures: u64,
    changes: u64,
    /// What the last capture showed and how often in a row, if it was damaged.
    damaged: Option<(u64, u32)>,
    damaged_seen: u64,
    not_idle: u32,
}

impl Watch<'_> {
    pub fn new(wait: &Wait, base: Option<Arc<Observation>>, now_ms: u64) -> Watch<'_> {
        Watch {
            wait,
            began_ms: now_ms,
            last: base.clone(),
            base,
            total: None,
            looked: false,
            asked_ms: now_ms,
            costs_ms: [u64::MAX; COSTS],
            stabiliser: Stabiliser::new(now_ms, wait.window_ms),
            window_ms: wait.window_ms,
            pace: None,
            longest_pause_ms: 0,
            first_change_ms: None,
            observed: ChangeKind::None,
            satisfied: false,
            held: None,
            told_change: None,
            still_since_ms: now_ms,
            still_ms: 0,
            judgement: None,
            judged: None,
            moving: BTreeMap::new(),
            nameable: true,
            captures: 0,
            changes: 0,
            damaged: None,
            damaged_seen: 0,
            not_idle: 0,
        }
    }

    /// Takes in one look.
    pub fn looked(&mut self, look: Look, now_ms: u64) -> Next {
        self.not_idle = 0;
        let ending = self.take(look).or_else(|| self.has_had_enough(now_ms));
        ending.map_or_else(|| Next::LookIn { ms: self.pause_ms(now_ms) }, Next::Done)
    }

    /// Takes in a look that failed. What moves now may be what is waited for, so a screen that did not rest gets a
    /// second chance; what held before has to be proven anew.
    pub fn look_failed(&mut self, failure: Failure, now_ms: u64) -> Next {
        self.not_idle += 1;
        let waits = !matches!(self.wait.goal, Goal::Found(_)) || !self.is_out_of_patience(now_ms);
        if failure.is(DeviceErrorKind::NotIdle) && self.not_idle < NOT_IDLE_MAX && waits {
            self.held = None;
            return Next::LookIn { ms: self.pause_ms(now_ms) };
        }
        Next::Done(Ending::Unreadable(failure))
    }

    /// Elements that changed so far, when every change was one of theirs.
    pub fn changed_elements(&self) -> Option<impl Iterator<Item = ElementId>> {
        self.nameable.then(|| self.moving.keys().copied())
    }

    fn has_had_enough(&self, now_ms: u64) -> Option<Ending> {
        let looked = self.wait.patience.is_some_and(|patience| self.captures >= patience.captures);
        (looked && self.is_out_of_patience(now_ms)).then_some(Ending::Timeout)
    }

    fn is_out_of_patience(&self, now_ms: u64) -> bool {
        self.wait.patience.is_some_and(|patience| now_ms.saturating_sub(self.began_ms) >= patience.ms)
    }

    fn take(&mut self, look: Look) -> Option<Ending> {
        self.captures += 1;
        self.costs_ms[self.captures as usize % COSTS] = look.ended_ms - look.began_ms;
        let whole = look.seen.reading.snapshot.proves_absence();
        if whole {
            self.damaged = None;
        } else if !self.is_always_damaged(&look) {
            return self.take_damaged(&look);
        }
        self.asked_ms = look.shows_ms();
        self.adapt(look.pace);
        if let Some(target) = self.wait.scope.target.filter(|id| whole && look.seen.index_of(*id).is_none()) {
            self.keep(&look);
            return Some(Ending::TargetGone(target));
        }
        if look.only_ticked && self.satisfied {
            // A counter gives itself away only by its second or third step: the first ones were no change (SY-04).
            self.forget_changes();
        }
        let change =
            look.step.as_ref().map(|step| self.wait.scope.changes_in(step, &look.seen)).unwrap_or_default();
        // What is not told is not gone.
        let changed = change.kind.is_relevant() && !look.seen.reading.snapshot.is_bare();
        if changed {
            self.note_change(&change, look.ended_ms);
        } else if !self.looked && !self.rested_before(&look) {
            // Nothing is known of the time before the moment that the first look shows, which may be its very end.
            self.stabiliser = Stabiliser::new(look.ended_ms, self.window_ms);
        }
        self.note_still(&look, changed);
        let state = self.note_quiet(&look, changed);
        self.keep(&look);
        self.reached(&look, state == Stability::Stable).then_some(Ending::Reached)
    }

    /// Counts the quiet. A capture shows some moment between its two ends: a change was there at the latest by the second,
    /// and quiet is certain only up to the first (W31). A device that told of something before it began the reading, and of
    /// nothing since, says that the change came before.
    fn note_quiet(&mut self, look: &Look, changed: bool) -> Stability {
        if self.rested_before(look) {
            self.told_change = None;
            return self.stabiliser.rested(look.ended_ms, look.rested_ms);
        }
        let HeardAround { earlier, began, at_ms, ended } = look.heard;
        if changed {
            let told_ms = at_ms.filter(|_| began > earlier && ended == began);
            self.told_change = told_ms.map(|_| (began, look.ended_ms));
            return self.stabiliser.capture(told_ms.unwrap_or(look.ended_ms), true);
        }
        let is_late = |number: u64| ended > number || at_ms.is_none();
        if let Some((_, until_ms)) = self.told_change.filter(|(number, _)| is_late(*number)) {
            // What it tells late, or no more, may be that it changed once more while that look was made.
            self.told_change = None;
            self.stabiliser.capture(until_ms, true);
        }
        self.stabiliser.capture(look.began_ms, false)
    }

    /// Counts for how long nothing has moved, not even what is no change that counts.
    fn note_still(&mut self, look: &Look, changed: bool) {
        if changed || !self.looked || look.seen.diff.cosmetic.moved > 0 {
            self.still_since_ms = look.ended_ms;
            self.still_ms = look.rested_ms;
        } else {
            self.still_ms = look.began_ms.saturating_sub(self.still_since_ms).max(look.rested_ms);
        }
    }

    /// True if the device itself saw nothing change for a whole window before what it shows.
    fn rested_before(&self, look: &Look) -> bool {
        look.rested_ms > 0 && look.rested_ms >= self.window_ms
    }

    /// Each screen has its own pace, and a wait may lead from one to another.
    fn adapt(&mut self, pace: Option<Pace>) {
        self.pace = pace;
        if self.wait.adaptive {
            self.window_ms = pace.map_or(self.wait.window_ms, |pace| pace.window_ms);
            self.stabiliser.set_window(self.window_ms);
        }
    }

    /// How the screen came to rest after changes, all of which were looked at.
    fn rest(&self, ending: &Ending) -> Option<Rest> {
        let whole = self.wait.scope == Scope::default() && self.changes > 0 && *ending == Ending::Reached;
        (whole && self.stabiliser.state() == Stability::Stable).then(|| Rest {
            changed_at_ms: self.stabiliser.last_change_ms(),
            longest_pause_ms: self.longest_pause_ms,
        })
    }

    /// Damage strikes somewhere else each time; what is the same many times over is how the screen is.
    fn is_always_damaged(&mut self, look: &Look) -> bool {
        self.damaged_seen += 1;
        let shown = look.seen.reading.relevant;
        let times = self.damaged.filter(|(before, _)| *before == shown).map_or(1, |(_, times)| times + 1);
        self.damaged = Some((shown, times));
        times >= DAMAGED_MAX && !look.seen.ids.is_empty()
    }

    /// What a damaged capture shows is there; what it does not show proves nothing (W10), nor does what seems to have
    /// changed (W11).
    fn take_damaged(&mut self, look: &Look) -> Option<Ending> {
        let predicate = match &self.wait.goal {
            Goal::Holds(predicate) => predicate,
            Goal::Found(search) => {
                let found = search.finds_anything(&look.seen);
                self.keep(look);
                return found.then_some(Ending::Reached);
            }
            _ => {
                self.held = None;
                return None;
            }
        };
        let judgement = predicate.judge(&look.seen);
        if self.hold(judgement, look, false) {
            self.asked_ms = look.shows_ms();
            self.looked = true;
            self.last = Some(Arc::clone(&look.seen));
            return Some(Ending::Reached);
        }
        self.judgement = None;
        None
    }

    fn keep(&mut self, look: &Look) {
        self.looked = true;
        self.base.get_or_insert_with(|| Arc::clone(&look.seen));
        if look.total.is_some() {
            self.total.clone_from(&look.total);
        }
        self.last = Some(Arc::clone(&look.seen));
    }

    fn note_change(&mut self, change: &ScopedChange, at_ms: u64) {
        self.changes += 1;
        let pause_ms = at_ms.saturating_sub(self.stabiliser.last_change_ms());
        self.longest_pause_ms = match (self.first_change_ms, self.stabiliser.state()) {
            (None, _) | (_, Stability::Stable) => 0,
            _ => self.longest_pause_ms.max(pause_ms),
        };
        self.first_change_ms.get_or_insert(at_ms);
        if let Some(wanted) = self.wait.filter.filter(|wanted| change.has(*wanted)) {
            self.satisfied = true;
            self.observed = wanted;
        } else if self.wait.filter.is_none() || !self.satisfied {
            self.observed = self.observed.max(change.kind);
        }
        self.satisfied |= self.wait.filter.is_none();
        // What comes or goes is no tick of what holds it.
        self.nameable &= !change.touched.is_empty() && !change.structure;
        for id in &change.touched {
            if self.moving.len() < MOVING_MAX || self.moving.contains_key(id) {
                let (times, _, last) = self.moving.entry(*id).or_insert((0, at_ms, at_ms));
                *times += 1;
                *last = at_ms;
            }
        }
    }

    fn forget_changes(&mut self) {
        self.satisfied = false;
        self.observed = ChangeKind::None;
        self.first_change_ms = None;
        self.changes = 0;
        self.longest_pause_ms = 0;
        self.moving.clear();
    }

    fn reached(&mut self, look: &Look, quiet: bool) -> bool {
        // Where only the application is told, nothing is known of what moves in it.
        let stable = quiet && !look.seen.reading.snapshot.is_bare();
        match &self.wait.goal {
            Goal::Quiet => stable,
            Goal::Settled => quiet && !self.has_begun_to_load(look),
            Goal::Found(search) => search.finds_anything(&look.seen),
            Goal::Revision { than } => look.seen.revision != *than,
            Goal::Change => self.satisfied && stable,
            Goal::ScreenChange { from } => stable && look.seen.fingerprint != *from,
            Goal::Holds(predicate) => {
                let judgement = self.judge(predicate, look);
                self.hold(judgement, look, false)
            }
            Goal::Shown(predicate) => {
                let judgement = self.judge(predicate, look);
                let holds = judgement.holds();
                self.judgement = Some(judgement);
                self.judged = Some(Arc::clone(&look.seen.reading));
                holds
            }
            Goal::ElementRests(selector) => {
                let there = Predicate::Element { selector: selector.clone(), expected: Expected::Exists };
                let judgement = self.judge(&there, look);
                self.hold(judgement, look, true)
            }
        }
    }

    fn has_begun_to_load(&self, look: &Look) -> bool {
        let loaded_before = self.base.as_ref().is_none_or(|base| base.loading().is_none());
        loaded_before && look.seen.loading().is_some()
    }

    /// The same tree gives the same verdict, and most captures show the tree of the capture before.
    fn judge(&self, predicate: &Predicate, look: &Look) -> Judgement {
        match (&self.judged, &self.judgement) {
            (Some(tree), Some(known)) if Arc::ptr_eq(tree, &look.seen.reading) => known.clone(),
            _ => predicate.judge(&look.seen),
        }
    }

    /// Whether what holds now has held for long enough. `still`: of one element that neither changes nor moves.
    fn hold(&mut self, judgement: Judgement, look: &Look, still: bool) -> bool {
        let index = match judgement {
            Judgement::Holds { index } => Some(index),
            _ => None,
        };
        self.judgement = Some(judgement);
        self.judged = Some(Arc::clone(&look.seen.reading));
        let Some(index) = index else {
            self.held = None;
            return false;
        };
        let element = index
            .filter(|_| still)
            .map(|index| (look.seen.ids[index as usize], look.seen.reading.element(index).bounds));
        let touched = still && element.is_some_and(|(id, _)| disturbed(look, id));
        match self.held {
            _ if self.rested_before(look) => true,
            Some(held) if held.element == element && !touched => {
                look.began_ms.saturating_sub(held.since_ms) >= self.window_ms
            }
            _ => {
                self.held = Some(Held { since_ms: look.ended_ms, element });
                false
            }
        }
    }

    /// What a look costs the device: the others waited for something else too, such as an app that is stuck.
    fn quickest_ms(&self) -> u64 {
        self.costs_ms.iter().copied().min().filter(|ms| *ms < u64::MAX).unwrap_or(0)
    }

    /// How long ago the last look was, if that is longer than a pause and two looks take here.
    fn unseen_ms(&self, now_ms: u64) -> Option<u64> {
        let usual = UNSEEN_MS_MAX.saturating_add(self.quickest_ms().saturating_mul(2));
        let unseen = now_ms.saturating_sub(self.asked_ms);
        (self.looked && unseen > usual).then_some(unseen)
    }

    fn pause_ms(&self, now_ms: u64) -> u64 {
        if self.damaged.is_some_and(|(_, times)| times < DAMAGED_MAX) {
            return CONFIRM_MS;
        }
        let quiet_ms = now_ms.saturating_sub(self.stabiliser.last_change_ms());
        let step = PAUSES_MS.iter().find(|(until, _)| quiet_ms < *until);
        let least = step.map_or(PAUSE_MAX_MS, |(_, pause)| *pause);
        let cost = self.quickest_ms().saturating_mul(PAUSE_PER_COST).min(PAUSE_FOR_COST_MAX_MS);
        let elements = self.last.as_ref().map_or(0, |seen| seen.ids.len());
        let size = (elements / ELEMENTS_PER_MS).min(PAUSE_FOR_SIZE_MAX_MS) as u64;
        let pause = (least + size).max(cost);
        let proof_at_ms = match (&self.wait.goal, self.held) {
            (_, Some(held)) => Some((held.since_ms + self.window_ms).max(now_ms + CONFIRM_MS)),
            (
                Goal::Holds(_)
                | Goal::Shown(_)
                | Goal::ElementRests(_)
                | Goal::Revision { .. }
                | Goal::Found(_),
                None,
            ) => None,
            (Goal::Change, None) if !self.satisfied => None,
            _ => self.stabiliser.proof_at_ms(),
        };
        // The capture that can end the wait is made at the end of the window, not some time after it.
        match proof_at_ms.map(|at| at.saturating_sub(now_ms)) {
            Some(left) if left <= pause + pause / 2 => left.max(PAUSE_MIN_MS),
            _ => pause,
        }
    }

    pub fn finish(self, ending: Ending, now_ms: u64, elapsed_ms: u64) -> WatchReport {
        let mut stability = self.stabiliser.state();
        let moving = if stability == Stability::Stable { Vec::new() } else { self.named() };
        let mut rested_ms = None;
        if stability == Stability::Stable
            && self.last.as_ref().is_some_and(|last| last.reading.snapshot.is_bare())
        {
            stability = Stability::Stabilizing;
        }
        if ending != Ending::Reached && stability == Stability::Stable {
            // It rests, but what was waited for did not come: a wait that failed never says stable (SY-07).
            stability = Stability::Stabilizing;
            let rested = self.asked_ms.saturating_sub(self.stabiliser.last_change_ms());
            rested_ms = (ending == Ending::Timeout).then_some(rested);
        }
        let left = match &self.wait.goal {
            Goal::ScreenChange { from } => self.last.as_ref().is_some_and(|seen| seen.fingerprint != *from),
            Goal::Change => self.satisfied,
            _ => self.changes > 0,
        };
        let rest = self.rest(&ending);
        let unseen_ms = self.unseen_ms(now_ms).filter(|_| ending == Ending::Timeout);
        WatchReport {
            ending,
            change_detected: self.looked && left,
            observed: self.observed,
            stability,
            rested_ms,
            still_ms: self.still_ms,
            seen: self.last.filter(|_| self.looked),
            since: self.total,
            judgement: self.judgement,
            moving,
            captures: self.captures,
            changes: self.changes,
            damaged: self.damaged_seen,
            ends_damaged: self.damaged.is_some_and(|(_, times)| times < DAMAGED_MAX) || self.not_idle > 0,
            unseen_ms,
            elapsed_ms,
            freshness_ms: now_ms.saturating_sub(self.asked_ms),
            window_ms: self.window_ms,
            stabilise_ms: now_ms.saturating_sub(self.first_change_ms.unwrap_or(self.began_ms)),
            rest,
            pace: self.pace,
        }
    }

    fn named(&self) -> Vec<MovingElement> {
        let there = |id: ElementId| self.last.as_ref().is_some_and(|seen| seen.index_of(id).is_some());
        let moving = self.moving.iter().filter(|(id, _)| there(**id));
        let mut all: Vec<_> = moving.map(|(id, counted)| (*id, *counted)).collect();
        all.sort_by_key(|(id, (times, _, last))| (u64::MAX - times, u64::MAX - last, *id));
        // What changed once has changed; what changed again is what keeps the screen from resting.
        let again = all.iter().any(|(_, (times, ..))| *times > 1);
        let named = all.into_iter().filter(|(_, (times, ..))| *times > 1 || !again).take(MOVING_NAMED_MAX);
        named
            .map(|(id, (times, first, last))| MovingElement {
                id,
                times,
                every_ms: (last - first).checked_div(times - 1),
            })
            .collect()
    }
}

/// Whether anything in the element changed since the capture before.
fn disturbed(look: &Look, id: ElementId) -> bool {
    let scope = Scope { target: Some(id), ignore: Vec::new() };
    look.step.as_ref().is_some_and(|step| scope.changes_in(step, &look.seen).kind.is_relevant())
}
