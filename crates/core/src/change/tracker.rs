//! The session's memory of one device's screen: names for elements, revisions, and which changes were only time passing.
//!
//! Architecture invariant: nothing here reads a clock or a device. The same captures give the same names, revisions
//! and fingerprints.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use crate::change::diff::{ChangeKind, Diff, diff};
use crate::change::fingerprint::{self, Fingerprint};
use crate::change::ticking::{Ticks, is_clock_step};
use crate::identity::{ElementId, NONE, Pairing, pair};
use crate::meaning::loading::{self, Loading, Signal, Source};
use crate::screen::element::{Element, Role};
use crate::screen::reading::ScreenReading;
use crate::screen::snapshot::Snapshot;

/// Captures kept, so that deltas can be asked for and a screen that comes back is known again.
const REMEMBERED_MAX: usize = 16;
/// Elements whose ticking is watched.
const TICKING_MAX: usize = 256;
/// Other appearances of a screen that was scrolled.
const ALIASES_MAX: usize = 256;

/// One capture with its place in the session.
#[derive(Debug, Clone)]
pub struct Observation {
    pub reading: Arc<ScreenReading>,
    /// One for each element.
    pub ids: Arc<[ElementId]>,
    /// Goes up exactly when something that counts changed (SY-02).
    pub revision: u64,
    pub captured_at_ms: u64,
    pub fingerprint: Fingerprint,
    /// Against the capture before; empty for the first one.
    pub diff: Diff,
    /// A button that was pressed and is disabled since.
    submitting: Option<Loading>,
}

impl Observation {
    /// Signs that more is to come (SY-13).
    pub fn loading(&self) -> Option<Loading> {
        loading(&self.reading).or(self.submitting)
    }

    pub fn index_of(&self, id: ElementId) -> Option<usize> {
        self.ids.iter().position(|other| *other == id)
    }
}

/// A later capture set against an earlier one of the same session.
#[derive(Debug, Clone)]
pub struct Comparison {
    pub base: Arc<Observation>,
    pub pairing: Pairing,
    pub diff: Diff,
}

#[derive(Debug, Clone, Default)]
pub struct Tracker {
    last: Option<Arc<Observation>>,
    /// The last capture that was handed out.
    reported: Option<Arc<Observation>>,
    /// Earlier captures, the newest last, one for each revision: the one that was handed out, if one was.
    remembered: VecDeque<Arc<Observation>>,
    ids_given: u32,
    revision: u64,
    /// When the capture with the last relevant change was made.
    changed_at_ms: u64,
    ticks: BTreeMap<ElementId, Ticks>,
    aliases: BTreeMap<Fingerprint, Fingerprint>,
    acted: bool,
    actions: u64,
}

impl Tracker {
    pub fn last(&self) -> Option<&Arc<Observation>> {
        self.last.as_ref()
    }

    /// Whether this is the screen as it was last seen: the newest revision, captured after the last relevant change
    /// (SY-12). Anything else is stale.
    pub fn is_fresh(&self, seen: &Observation) -> bool {
        seen.revision == self.revision && seen.captured_at_ms >= self.changed_at_ms
    }

    /// Something was done to the device: what changes next may be its effect, and is no ticking.
    pub fn note_action(&mut self) {
        self.acted = true;
        self.actions += 1;
        // An effect may come late, after a look that showed nothing yet: what changed once after each of three actions
        // was changed by them.
        self.ticks.values_mut().for_each(|ticks| *ticks = ticks.interrupted());
    }

    /// So far.
    pub fn actions(&self) -> u64 {
        self.actions
    }

    /// The device answered with the very bytes of the last capture.
    pub fn unchanged(&mut self, captured_at_ms: u64) -> Option<Arc<Observation>> {
        let last = self.last.take()?;
        self.acted = false;
        // The tree and the names are shared, not copied.
        let seen =
            Arc::new(Observation { captured_at_ms, diff: Diff::default(), ..Observation::clone(&last) });
        self.last = Some(Arc::clone(&seen));
        Some(seen)
    }

    pub fn observe(&mut self, snapshot: Snapshot, captured_at_ms: u64) -> Arc<Observation> {
        let reading = ScreenReading::new(snapshot);
        let seen = match self.last.take() {
            None => self.first(reading, captured_at_ms),
            Some(last) => self.next(&last, reading, captured_at_ms),
        };
        self.acted = false;
        let seen = Arc::new(seen);
        self.last = Some(Arc::clone(&seen));
        seen
    }

    /// The last capture goes to the agent: later deltas start from it.
    pub fn report(&mut self) {
        self.reported = self.last.clone();
    }

    /// What changed since a revision. `None` when that capture is no longer kept.
    pub fn since(&self, revision: u64) -> Option<Comparison> {
        let mut kept = self.reported.iter().chain(&self.last).chain(self.remembered.iter().rev());
        self.against(Arc::clone(kept.find(|seen| seen.revision == revision)?))
    }

    /// What changed since the capture that was handed out last; `None` when nothing that counts did.
    pub fn since_reported(&self) -> Option<Comparison> {
        let reported = self.reported.as_ref().filter(|seen| seen.revision != self.revision)?;
        self.against(Arc::clone(reported))
    }

    /// What changed from a capture of this session to the last one.
    pub fn against(&self, base: Arc<Observation>) -> Option<Comparison> {
        let now = self.last.as_ref()?;
        let mut pairing = by_ids(&base, now);
        pairing.replaced = pair(&base.reading, &now.reading).replaced;
        let diff = diff(&base.reading, &now.reading, &pairing, |old, new| self.ticked(&base, old, now, new));
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
            fingerprint,
            diff,
            submitting: None,
        }
    }

    fn next(&mut self, last: &Arc<Observation>, reading: ScreenReading, captured_at_ms: u64) -> Observation {
        let pairing = pair(&last.reading, &reading);
        self.watch_ticks(last, &reading, &pairing);
        let diff = diff(&last.reading, &reading, &pairing, |old, new| {
            self.ticks.get(&last.ids[old as usize]).is_some_and(|ticks| ticks.is_ticking())
                || is_time_step(last.reading.element(old), reading.element(new), self.acted)
        });
        let ids = self.name(last, &reading, &pairing);
        if diff.is_relevant() {
            self.revision += 1;
            self.changed_at_ms = captured_at_ms;
            let handed_out = self.reported.as_ref().filter(|seen| seen.revision == last.revision);
            self.remember(Arc::clone(handed_out.unwrap_or(last)));
        }
        let fingerprint = self.fingerprint(last, &reading, &ids, &diff);
        let submitting = submitting(last, &reading, &pairing, &diff);
        let (reading, ids) = (Arc::new(reading), ids.into());
        Observation { reading, ids, revision: self.revision, captured_at_ms, fingerprint, diff, submitting }
    }

    fn new_id(&mut self) -> ElementId {
        self.ids_given = self.ids_given.saturating_add(1);
        ElementId(self.ids_given)
    }

    /// Names follow their elements; where little of the last screen is left, an earlier one may have come back.
    fn name(
        &mut self,
        last: &Arc<Observation>,
        reading: &ScreenReading,
        pairing: &Pairing,
    ) -> Vec<ElementId> {
        let mut known: Vec<Option<ElementId>> =
            pairing.to_old.iter().map(|old| last.ids.get(*old as usize).copied()).collect();
        // A damaged capture proves nobody gone (W10): those it lost have their names on an earlier one.
        if pairing.pairs() * 2 < reading.nodes.len() || !last.reading.snapshot.is_whole() {
            self.recognise(reading, &mut known);
        }
        known.into_iter().map(|id| id.unwrap_or_else(|| self.new_id())).collect()
    }

    fn recognise(&self, reading: &ScreenReading, known: &mut [Option<ElementId>]) {
        for earlier in self.remembered.iter().rev() {
            if earlier.reading.snapshot.screen != reading.snapshot.screen {
                continue;
            }
            let pairing = pair(&earlier.reading, reading);
            // Nearly all of it, or it is only a screen of the same make.
            if pairing.replaced || pairing.pairs() * 10 < reading.nodes.len() * 9 {
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

    fn watch_ticks(&mut self, last: &Observation, reading: &ScreenReading, pairing: &Pairing) {
        if last.reading.relevant == reading.relevant {
            return;
        }
        for (new, old) in pairing.to_old.iter().enumerate().filter(|(_, old)| **old != NONE) {
            if last.reading.nodes[*old as usize].own == reading.nodes[new].own {
                continue;
            }
            let (was, is) = (last.reading.element(*old), &reading.snapshot.elements[new]);
            let Some((before, now)) = changed_words(was, is) else { continue };
            let id = last.ids[*old as usize];
            if self.ticks.len() >= TICKING_MAX && !self.ticks.contains_key(&id) {
                // The oldest name is the one most likely gone.
                self.ticks.pop_first();
            }
            let ticks = self.ticks.entry(id).or_default();
            *ticks = ticks.after(before, now, !self.acted);
        }
    }

    /// Whether its words are known to change by themselves.
    pub fn is_ticking(&self, id: ElementId) -> bool {
        self.ticks.get(&id).is_some_and(|ticks| ticks.is_ticking())
    }

    fn ticked(&self, base: &Observation, old: u32, now: &Observation, new: u32) -> bool {
        self.ticks.get(&now.ids[new as usize]).is_some_and(|ticks| ticks.is_ticking())
            || is_time_step(base.reading.element(old), now.reading.element(new), false)
    }

    fn remember(&mut self, seen: Arc<Observation>) {
        if self.remembered.len() == REMEMBERED_MAX {
            self.remembered.pop_front();
        }
        self.remembered.push_back(seen);
    }

    /// A screen keeps its fingerprint while it is scrolled, and gets it back when it returns to a place it had.
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
        let plain = fingerprint::of(reading, ticking);
        if diff.kind == ChangeKind::Scroll && plain != last.fingerprint {
            if self.aliases.len() >= ALIASES_MAX {
                self.aliases.pop_first();
            }
            self.aliases.insert(plain, last.fingerprint);
        }
        self.aliases.get(&plain).copied().unwrap_or(plain)
    }
}

fn loading(reading: &ScreenReading) -> Option<Loading> {
    let snapshot = &reading.snapshot;
    let visible: Vec<_> = reading.nodes.iter().map(|node| node.visible).collect();
    loading::loading(snapshot, &visible).or_else(|| {
        // The front activity and the window that was read belong to different apps.
        let screen = snapshot.screen.as_ref()?;
        let root = snapshot.elements.first().filter(|root| !root.app.is_empty())?;
        let leaving = *root.app != *screen.app && !root.system_window;
        leaving.then_some(Loading { signal: Signal::Navigation, source: Source::UiTree, index: 0 })
    })
}

/// A button that could be pressed at the last look and cannot now: it was pressed, and what it does is still under way.
/// It lasts for as long as the button stays so.
fn submitting(
    last: &Observation,
    reading: &ScreenReading,
    pairing: &Pairing,
    diff: &Diff,
) -> Option<Loading> {
    let is_off = |element: &Element| {
        element.role == Role::Button && element.affordances.clickable && element.state.enabled == Some(false)
    };
    let sign = |index: u32| Loading { signal: Signal::SubmitDisabled, source: Source::History, index };
    let pressed = diff.changed.iter().find(|changed| {
        is_off(reading.element(changed.new)) && last.reading.element(changed.old).state.enabled == Some(true)
    });
    let still = || {
        let before = last.submitting?.index as usize;
        let now = pairing.to_new.get(before).copied().filter(|new| *new != NONE)?;
        is_off(reading.element(now)).then_some(now)
    };
    pressed.map(|changed| changed.new).or_else(still).map(sign)
}

fn by_ids(base: &Observation, now: &Observation) -> Pairing {
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

/// The one text of an element that changed.
fn changed_words<'a>(was: &'a Element, is: &'a Element) -> Option<(&'a str, &'a str)> {
    if was.password || is.password {
        return None;
    }
    let texts = [(&was.text, &is.text), (&was.description, &is.description), (&was.value, &is.value)];
    let mut changed = texts.into_iter().filter(|(was, is)| was != is);
    let (before, now) = changed.next()?;
    Some((before.as_deref()?, now.as_deref()?))
}

/// Whether all words that differ do so because time went on. After an action a clock may have been set.
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
