//! The session's memory of one device's screen: element ids, revisions, and texts that change by themselves.
//!
//! Architecture invariant: nothing here reads a clock or a device. The same captures give the same ids, revisions and
//! fingerprints.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use crate::change::diff::{ChangeKind, Diff, diff};
use crate::change::fingerprint::{self, Fingerprint};
use crate::change::ticking::{Ticks, is_clock_step};
use crate::identity::{ElementId, NONE, Pairing, is_replaced, is_same_screen, pair_swiped};
use crate::meaning::loading::{self, Loading, Signal, Source};
use crate::screen::element::{Element, Role};
use crate::screen::geometry::Point;
use crate::screen::reading::ScreenReading;
use crate::screen::snapshot::Snapshot;

/// Captures that are kept for deltas, and to recognise a screen that comes back.
const REMEMBERED_MAX: usize = 16;
/// Elements whose text changes are counted.
const TICKING_MAX: usize = 256;
/// Fingerprints of scrolled screens that are mapped to the first one.
const ALIASES_MAX: usize = 256;
/// A bar that shows the same value for so long is not loading anything.
const BAR_STANDS_MS: u64 = 2000;

/// One capture with its ids and its revision in the session.
#[derive(Debug, Clone)]
pub struct Observation {
    pub reading: Arc<ScreenReading>,
    /// One id per element.
    pub ids: Arc<[ElementId]>,
    /// Goes up exactly when something relevant changed (SY-02).
    pub revision: u64,
    pub captured_at_ms: u64,
    /// Since when every capture was byte for byte this one.
    pub unchanged_since_ms: u64,
    pub fingerprint: Fingerprint,
    /// The changes since the capture before; empty for the first one.
    pub diff: Diff,
    /// A button that was pressed and has been disabled since.
    submitting: Option<Loading>,
    /// The bar that shows a value has not moved for a while, so it is no sign of loading (F12).
    bar_stands: bool,
    /// How far fingers had gone in all when it was taken, across and down.
    swiped_px: (i32, i32),
}

impl Observation {
    /// Returns a sign that the screen is still loading (SY-13).
    pub fn loading(&self) -> Option<Loading> {
        let found = loading(&self.reading).or(self.submitting);
        found.filter(|loading| !(self.bar_stands && loading.signal == Signal::Progress))
    }

    /// True if both were captured on the same screen of the same app, as far as the device said.
    pub fn is_same_place(&self, other: &Observation) -> bool {
        self.reading.snapshot.screen == other.reading.snapshot.screen
    }

    pub fn index_of(&self, id: ElementId) -> Option<usize> {
        self.ids.iter().position(|other| *other == id)
    }
}

/// The last capture compared with an earlier one of the same session.
#[derive(Debug, Clone)]
pub struct Comparison {
    pub base: Arc<Observation>,
    pub pairing: Pairing,
    pub diff: Diff,
}

/// How late an effect of an action may come, and of how many actions.
const LATE_EFFECT_MS: u64 = 5000;
/// Actions whose effects are waited for; later ones are not remembered.
const ACTIONS_MAX: usize = 8;
/// Further than content is seen to move: rows that look the same after it are others.
const FAR_PX: i32 = 1_000_000;

#[derive(Debug, Clone, Default)]
pub struct Tracker {
    last: Option<Arc<Observation>>,
    /// The last capture that was given to the agent.
    reported: Option<Arc<Observation>>,
    /// Earlier captures, the newest last, one per revision. The one given to the agent is preferred.
    remembered: VecDeque<Arc<Observation>>,
    ids_given: u32,
    revision: u64,
    /// The time of the capture that showed the last relevant change.
    changed_at_ms: u64,
    ticks: BTreeMap<ElementId, Ticks>,
    aliases: BTreeMap<Fingerprint, Fingerprint>,
    /// True if an action was sent since the last capture.
    acted: bool,
    /// True if an action was sent since the agent was last answered. Its effect may come with any capture until then.
    acted_since_answer: bool,
    /// A bar with a value, what it showed, and since when.
    bar: Option<(ElementId, u64, u64)>,
    actions: u64,
    /// The captures before the last few actions, by their time, and how many came shortly before the last one.
    acted_ms: Vec<u64>,
    owed: u8,
    /// How far fingers went in all, across and down.
    swiped_px: (i32, i32),
}

impl Tracker {
    pub fn last(&self) -> Option<&Arc<Observation>> {
        self.last.as_ref()
    }

    /// True if this is the newest revision, captured after the last relevant change (SY-12). Others are stale.
    pub fn is_fresh(&self, observation: &Observation) -> bool {
        observation.revision == self.revision && observation.captured_at_ms >= self.changed_at_ms
    }

    /// Records an action on the device. The next changes may be its effect and do not count as ticking.
    pub fn note_action(&mut self) {
        self.acted = true;
        self.acted_since_answer = true;
        self.actions += 1;
        // An effect may come late, after a capture that did not show it yet. A text that changed once after each of
        // three actions was changed by them.
        let now_ms = self.last.as_ref().map_or(0, |last| last.captured_at_ms);
        self.acted_ms.retain(|at| at + LATE_EFFECT_MS >= now_ms);
        let before = self.acted_ms.len() as u8;
        self.ticks.values_mut().for_each(|ticks| *ticks = ticks.after_action(before));
        self.owed = before;
        if self.acted_ms.len() < ACTIONS_MAX {
            self.acted_ms.push(now_ms);
        }
    }

    /// Records how far a finger went on the screen; what it scrolled went with it.
    pub fn note_swipe(&mut self, from: Point, to: Point) {
        let (x, y) = self.swiped_px;
        self.swiped_px =
            (x.wrapping_add(to.x.wrapping_sub(from.x)), y.wrapping_add(to.y.wrapping_sub(from.y)));
    }

    /// Records that the app was ended: what scrolled begins anew, wherever it was.
    pub fn note_end_of_app(&mut self) {
        let (x, y) = self.swiped_px;
        self.swiped_px = (x.wrapping_add(FAR_PX), y.wrapping_add(FAR_PX));
    }

    /// How far fingers have gone since a capture.
    fn swiped_since(&self, earlier: &Observation) -> (i32, i32) {
        let (now, then) = (self.swiped_px, earlier.swiped_px);
        (now.0.wrapping_sub(then.0), now.1.wrapping_sub(then.1))
    }

    /// Records that the agent is answered: what it knows from now on was captured after the actions so far.
    pub fn note_answer(&mut self) {
        self.acted_since_answer = self.acted;
    }

    /// Returns the number of actions so far.
    pub fn actions(&self) -> u64 {
        self.actions
    }

    /// Records a capture whose bytes equal those of the last one.
    pub fn observe_unchanged(&mut self, captured_at_ms: u64) -> Option<Arc<Observation>> {
        let last = self.last.take()?;
        self.acted = false;
        let ids = self.proven_ids(&last);
        let bar_stands = self.bar_stands(&last.reading, &ids, captured_at_ms);
        // The tree is shared, not copied.
        let observation = Arc::new(Observation {
            captured_at_ms,
            diff: Diff::default(),
            ids,
            bar_stands,
            swiped_px: self.swiped_px,
            ..Observation::clone(&last)
        });
        self.last = Some(Arc::clone(&observation));
        Some(observation)
    }

    /// The ids for a screen that looks the same. After an action, rows that look alike may be others (F1).
    fn proven_ids(&mut self, last: &Arc<Observation>) -> Arc<[ElementId]> {
        if !self.acted_since_answer {
            return Arc::clone(&last.ids);
        }
        let swiped = self.swiped_since(last);
        let pairing = pair_swiped(&last.reading, &last.reading, true, swiped);
        if !pairing.to_old.contains(&NONE) {
            return Arc::clone(&last.ids);
        }
        let known = |old: &u32| last.ids.get(*old as usize).copied();
        pairing.to_old.iter().map(|old| known(old).unwrap_or_else(|| self.new_id())).collect()
    }

    /// The captures that are kept, the newest first.
    pub fn kept(&self) -> impl Iterator<Item = &Arc<Observation>> {
        self.last.iter().chain(&self.reported).chain(self.remembered.iter().rev())
    }

    /// The last capture in which an id was given to an element, and the element's index, as far as captures are kept.
    pub fn last_with(&self, id: ElementId) -> Option<(&Arc<Observation>, usize)> {
        self.kept().find_map(|observation| Some((observation, observation.index_of(id)?)))
    }

    pub fn observe(&mut self, snapshot: Snapshot, captured_at_ms: u64) -> Arc<Observation> {
        let reading = ScreenReading::new(snapshot);
        let observation = match self.last.take() {
            None => self.first(reading, captured_at_ms),
            Some(last) => self.next(&last, reading, captured_at_ms),
        };
        self.acted = false;
        let observation = Arc::new(observation);
        self.last = Some(Arc::clone(&observation));
        observation
    }

    /// Records that the last capture was given to the agent. Later deltas start from it.
    pub fn mark_reported(&mut self) {
        self.reported = self.last.clone();
        self.note_answer();
    }

    /// Compares with the capture of a revision; `None` if that capture is no longer kept.
    pub fn since(&self, revision: u64) -> Option<Comparison> {
        let mut kept = self.reported.iter().chain(&self.last).chain(self.remembered.iter().rev());
        self.compare_with(Arc::clone(kept.find(|observation| observation.revision == revision)?))
    }

    /// Compares with the capture that was last given to the agent; `None` if nothing relevant changed since.
    pub fn since_reported(&self) -> Option<Comparison> {
        let reported = self.reported.as_ref().filter(|observation| observation.revision != self.revision)?;
        self.compare_with(Arc::clone(reported))
    }

    /// Compares an earlier capture of this session with the last one.
    pub fn compare_with(&self, base: Arc<Observation>) -> Option<Comparison> {
        let now = self.last.as_ref()?;
        let mut pairing = pair_by_ids(&base, now);
        pairing.replaced = is_replaced(&base.reading, &now.reading);
        let swiped = now.swiped_px != base.swiped_px;
        let diff = diff(&base.reading, &now.reading, &pairing, swiped, |old, new| {
            self.only_time_passed(&base, old, now, new)
        });
        Some(Comparison { base, pairing, diff })
    }

    fn first(&mut self, reading: ScreenReading, captured_at_ms: u64) -> Observation {
        self.revision += 1;
        self.changed_at_ms = captured_at_ms;
        let ids = reading.nodes.iter().map(|_| self.new_id()).collect();
        let fingerprint = fingerprint::of(&reading, |_| false);
        let (reading, diff) = (Arc::new(reading), Diff::default());
        Observation {
            reading,
            ids,
            revision: self.revision,
            captured_at_ms,
            unchanged_since_ms: captured_at_ms,
            fingerprint,
            diff,
            submitting: None,
            bar_stands: false,
            swiped_px: self.swiped_px,
        }
    }

    /// True if a bar that shows a value has shown the same one for long enough.
    fn bar_stands(&mut self, reading: &ScreenReading, ids: &[ElementId], now_ms: u64) -> bool {
        let bar = loading(reading).filter(|loading| loading.signal == Signal::Progress);
        let Some(index) = bar.map(|loading| loading.index) else {
            self.bar = None;
            return false;
        };
        let element = reading.element(index);
        if [&element.text, &element.value, &element.description].iter().all(|text| text.is_none()) {
            // What shows no value may well be moving.
            self.bar = None;
            return false;
        }
        let (id, shown) = (ids[index as usize], reading.nodes[index as usize].own_hash);
        let since_ms = self.bar.filter(|bar| (bar.0, bar.1) == (id, shown)).map_or(now_ms, |bar| bar.2);
        self.bar = Some((id, shown, since_ms));
        now_ms.saturating_sub(since_ms) >= BAR_STANDS_MS
    }

    fn next(&mut self, last: &Arc<Observation>, reading: ScreenReading, captured_at_ms: u64) -> Observation {
        let swiped = self.swiped_since(last);
        let pairing = pair_swiped(&last.reading, &reading, self.acted_since_answer, swiped);
        self.count_ticks(last, &reading, &pairing);
        let diff = diff(&last.reading, &reading, &pairing, swiped != (0, 0), |old, new| {
            self.ticks.get(&last.ids[old as usize]).is_some_and(|ticks| ticks.is_ticking())
                || is_time_step(last.reading.element(old), reading.element(new), self.acted)
        });
        let ids = self.assign_ids(last, &reading, &pairing);
        if diff.is_relevant() {
            self.revision += 1;
            self.changed_at_ms = captured_at_ms;
            let reported = self.reported.as_ref().filter(|observation| observation.revision == last.revision);
            self.remember(Arc::clone(reported.unwrap_or(last)));
        }
        let fingerprint = self.fingerprint(last, &reading, &ids, &diff);
        let submitting = submitting(last, &reading, &pairing, &diff);
        let bar_stands = self.bar_stands(&reading, &ids, captured_at_ms);
        Observation {
            reading: Arc::new(reading),
            ids: ids.into(),
            revision: self.revision,
            captured_at_ms,
            unchanged_since_ms: captured_at_ms,
            fingerprint,
            diff,
            submitting,
            bar_stands,
            swiped_px: self.swiped_px,
        }
    }

    fn new_id(&mut self) -> ElementId {
        self.ids_given = self.ids_given.saturating_add(1);
        ElementId(self.ids_given)
    }

    /// Gives each paired element the id of its partner, and others a new one. If little of the last screen is left, an
    /// earlier screen may have come back with its ids.
    fn assign_ids(
        &mut self,
        last: &Arc<Observation>,
        reading: &ScreenReading,
        pairing: &Pairing,
    ) -> Vec<ElementId> {
        let mut known: Vec<Option<ElementId>> =
            pairing.to_old.iter().map(|old| last.ids.get(*old as usize).copied()).collect();
        // An incomplete capture does not prove that elements are gone (W10): an earlier one still has their ids.
        if pairing.replaced || !last.reading.snapshot.is_whole() {
            self.reuse_earlier_ids(reading, &mut known);
        }
        known.into_iter().map(|id| id.unwrap_or_else(|| self.new_id())).collect()
    }

    fn reuse_earlier_ids(&self, reading: &ScreenReading, known: &mut [Option<ElementId>]) {
        for earlier in self.remembered.iter().rev() {
            if earlier.reading.snapshot.screen != reading.snapshot.screen {
                continue;
            }
            let swiped = self.swiped_since(earlier);
            let pairing = pair_swiped(&earlier.reading, reading, true, swiped);
            let only_time_passed = |old: u32, new: u32| {
                self.ticks.get(&earlier.ids[old as usize]).is_some_and(|ticks| ticks.is_ticking())
                    || is_time_step(earlier.reading.element(old), reading.element(new), false)
            };
            if !is_same_screen(&earlier.reading, reading, &pairing, only_time_passed) {
                continue;
            }
            for (slot, old) in known.iter_mut().zip(&pairing.to_old) {
                if *old != NONE && slot.is_none() {
                    *slot = Some(earlier.ids[*old as usize]);
                }
            }
            return;
        }
    }

    fn count_ticks(&mut self, last: &Observation, reading: &ScreenReading, pairing: &Pairing) {
        if last.reading.relevant == reading.relevant {
            return;
        }
        for (new, old) in pairing.to_old.iter().enumerate().filter(|(_, old)| **old != NONE) {
            if last.reading.nodes[*old as usize].own_hash == reading.nodes[new].own_hash {
                continue;
            }
            let (was, is) = (last.reading.element(*old), &reading.snapshot.elements[new]);
            let Some((before, now)) = changed_text(was, is) else { continue };
            let id = last.ids[*old as usize];
            if self.ticks.len() >= TICKING_MAX && !self.ticks.contains_key(&id) {
                // The element with the oldest id is the likeliest to be gone.
                self.ticks.pop_first();
            }
            let owed = self.owed;
            let ticks = self.ticks.entry(id).or_insert_with(|| Ticks::default().after_action(owed));
            *ticks = ticks.after_change(before, now, !self.acted);
        }
    }

    /// True if the element's words are known to change by themselves.
    pub fn is_ticking(&self, id: ElementId) -> bool {
        self.ticks.get(&id).is_some_and(|ticks| ticks.is_ticking())
    }

    fn only_time_passed(&self, base: &Observation, old: u32, now: &Observation, new: u32) -> bool {
        self.ticks.get(&now.ids[new as usize]).is_some_and(|ticks| ticks.is_ticking())
            || is_time_step(base.reading.element(old), now.reading.element(new), false)
    }

    fn remember(&mut self, observation: Arc<Observation>) {
        if self.remembered.len() == REMEMBERED_MAX {
            self.remembered.pop_front();
        }
        self.remembered.push_back(observation);
    }

    /// Computes the fingerprint. A screen keeps it while it is scrolled, and gets it back at a position it had before.
    fn fingerprint(
        &mut self,
        last: &Observation,
        reading: &ScreenReading,
        ids: &[ElementId],
        diff: &Diff,
    ) -> Fingerprint {
        if !diff.is_relevant() {
            return last.fingerprint;
        }
        let ticking = |index: usize| self.ticks.get(&ids[index]).is_some_and(|ticks| ticks.is_ticking());
        let unaliased = fingerprint::of(reading, ticking);
        if diff.kind == ChangeKind::Scroll && unaliased != last.fingerprint {
            if self.aliases.len() >= ALIASES_MAX {
                self.aliases.pop_first();
            }
            self.aliases.insert(unaliased, last.fingerprint);
        }
        self.aliases.get(&unaliased).copied().unwrap_or(unaliased)
    }
}

fn loading(reading: &ScreenReading) -> Option<Loading> {
    let snapshot = &reading.snapshot;
    let visible: Vec<_> = reading.nodes.iter().map(|node| node.visible).collect();
    loading::loading(snapshot, &visible).or_else(|| {
        // The focused activity and the window that was read belong to different apps.
        let screen = snapshot.screen.as_ref()?;
        let root = snapshot.elements.first().filter(|root| !root.app.is_empty())?;
        let navigating = *root.app != *screen.app && !root.system_window;
        navigating.then_some(Loading { signal: Signal::Navigation, source: Source::UiTree, index: 0 })
    })
}

/// Returns a button that was enabled in the last capture and is disabled now: it was pressed, and its work still runs.
/// The sign lasts while the button stays disabled.
fn submitting(
    last: &Observation,
    reading: &ScreenReading,
    pairing: &Pairing,
    diff: &Diff,
) -> Option<Loading> {
    let is_disabled_button = |element: &Element| {
        element.role == Role::Button && element.affordances.clickable && element.state.enabled == Some(false)
    };
    let sign = |index: u32| Loading { signal: Signal::SubmitDisabled, source: Source::History, index };
    let pressed = diff.changed.iter().find(|changed| {
        is_disabled_button(reading.element(changed.new))
            && last.reading.element(changed.old).state.enabled == Some(true)
    });
    let still_disabled = || {
        let before = last.submitting?.index as usize;
        let now = pairing.to_new.get(before).copied().filter(|new| *new != NONE)?;
        is_disabled_button(reading.element(now)).then_some(now)
    };
    pressed.map(|changed| changed.new).or_else(still_disabled).map(sign)
}

fn pair_by_ids(base: &Observation, now: &Observation) -> Pairing {
    let mut olds: Vec<(ElementId, u32)> =
        base.ids.iter().enumerate().map(|(index, id)| (*id, index as u32)).collect();
    olds.sort_unstable();
    let mut pairing =
        Pairing { to_old: vec![NONE; now.ids.len()], to_new: vec![NONE; base.ids.len()], replaced: false };
    for (new, id) in now.ids.iter().enumerate() {
        if let Ok(at) = olds.binary_search_by_key(id, |(id, _)| *id) {
            pairing.to_old[new] = olds[at].1;
            pairing.to_new[olds[at].1 as usize] = new as u32;
        }
    }
    pairing
}

/// Returns the first changed text of an element, before and after.
fn changed_text<'a>(was: &'a Element, is: &'a Element) -> Option<(&'a str, &'a str)> {
    if was.password || is.password {
        return None;
    }
    let texts = [(&was.text, &is.text), (&was.description, &is.description), (&was.value, &is.value)];
    let mut changed = texts.into_iter().filter(|(was, is)| was != is);
    let (before, now) = changed.next()?;
    Some((before.as_deref()?, now.as_deref()?))
}

/// True if every changed text only shows that time passed. After an action it is false: a clock may have been set.
fn is_time_step(was: &Element, is: &Element, acted: bool) -> bool {
    let texts = [(&was.text, &is.text), (&was.description, &is.description), (&was.value, &is.value)];
    let mut changed = texts.into_iter().filter(|(was, is)| was != is);
    !acted
        && was.hint == is.hint
        && changed.all(|(before, now)| match (before, now) {
            (Some(before), Some(now)) => is_clock_step(is, before, now),
            _ => false,
        })
}
