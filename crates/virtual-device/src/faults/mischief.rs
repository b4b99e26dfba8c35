//! What goes wrong next, and what has gone wrong.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use bytes::Bytes;
use tokio::time::Instant;

use super::kinds::{Fault, Faults};
use crate::config::DumpFault;
use crate::random::Random;
use crate::truth::LOG_ENTRIES_MAX;

/// Taps that wait to be applied.
const LATE_TAPS_MAX: usize = 100;
const MINUTE_MS: f64 = 60_000.0;

/// A point of the screen.
type Point = (i32, i32);

pub struct Mischief {
    faults: Faults,
    random: BTreeMap<Fault, Random>,
    /// When each timed fault happens next.
    next: BTreeMap<Fault, Instant>,
    /// In order of time.
    late_taps: Vec<(Instant, Point)>,
    rootless_until: Option<Instant>,
    spell: Option<(Fault, Instant)>,
    /// What the last dump showed.
    last_tree: Option<Bytes>,
    events: VecDeque<(Instant, Fault)>,
}

/// What becomes of a tap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TapFate {
    Applied,
    Lost,
    Late,
    Double,
}

/// Something whose time has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Due {
    Tap(Point),
    Cut,
    SpellBegins(Fault),
    SpellEnds(Fault),
    /// By this many milliseconds.
    SetClock(i64),
    /// Chooses the app.
    Kill {
        foreground: bool,
    },
    /// Chooses the dialog.
    Dialog(usize),
}

impl Mischief {
    pub fn new(faults: Faults, seed: u64, now: Instant) -> Mischief {
        let random =
            Fault::ALL.into_iter().zip(1..).map(|(f, stream)| (f, Random::new(seed, stream))).collect();
        let mut mischief = Mischief {
            faults,
            random,
            next: BTreeMap::new(),
            late_taps: Vec::new(),
            rootless_until: None,
            spell: None,
            last_tree: None,
            events: VecDeque::new(),
        };
        for fault in Fault::TIMED {
            mischief.plan(fault, now);
        }
        mischief
    }

    /// Whether anything can happen at a time of its own.
    pub fn is_timed(&self) -> bool {
        !self.next.is_empty() || self.faults.late_tap > 0.0 || self.faults.double_tap > 0.0
    }

    pub fn events(&self) -> impl Iterator<Item = &(Instant, Fault)> {
        self.events.iter()
    }

    pub fn note(&mut self, fault: Fault, at: Instant) {
        if self.events.len() == LOG_ENTRIES_MAX {
            self.events.pop_front();
        }
        self.events.push_back((at, fault));
    }

    fn between(&mut self, fault: Fault, low: u64, high: u64) -> u64 {
        self.random.get_mut(&fault).map_or(low, |random| random.between(low, high))
    }

    /// Whether it strikes this time; if so it is on record.
    fn strikes(&mut self, fault: Fault, now: Instant) -> bool {
        let rate = self.faults.rate(fault);
        let struck = rate > 0.0 && self.random.get_mut(&fault).is_some_and(|random| random.chance(rate));
        if struck {
            self.note(fault, now);
        }
        struck
    }

    /// Half to one and a half of the mean interval from now.
    fn plan(&mut self, fault: Fault, now: Instant) {
        let rate = self.faults.rate(fault);
        if rate > 0.0 {
            let mean_ms = (MINUTE_MS / rate) as u64;
            let wait = self.between(fault, mean_ms / 2, mean_ms / 2 + mean_ms.max(1));
            self.next.insert(fault, now + Duration::from_millis(wait.max(1)));
        }
    }

    pub fn dump(&mut self, now: Instant) -> Option<DumpFault> {
        if self.strikes(Fault::SlowDump, now) {
            return Some(DumpFault::Slow(self.between(Fault::SlowDump, 1000, 6000)));
        }
        if self.strikes(Fault::FailingDump, now) {
            let kinds = [DumpFault::ErrorExitZero, DumpFault::Killed, DumpFault::NullRoot];
            return kinds.get(self.between(Fault::FailingDump, 0, 3) as usize).copied();
        }
        if self.strikes(Fault::EmptyDump, now) {
            let kinds = [DumpFault::NoNodes, DumpFault::Truncated(0)];
            return kinds.get(self.between(Fault::EmptyDump, 0, 2) as usize).copied();
        }
        if self.strikes(Fault::TruncatedDump, now) {
            return Some(DumpFault::Truncated(self.between(Fault::TruncatedDump, 1, 4000) as usize));
        }
        (self.last_tree.is_some() && self.strikes(Fault::StaleDump, now)).then_some(DumpFault::Stale)
    }

    /// The tree that a dump writes: this one, or the last again.
    pub fn tree(&mut self, tree: Bytes, stale: bool) -> Bytes {
        match &self.last_tree {
            Some(last) if stale => last.clone(),
            _ => {
                if self.faults.stale_dump > 0.0 {
                    self.last_tree = Some(tree.clone());
                }
                tree
            }
        }
    }

    pub fn activity_opened(&mut self, now: Instant) {
        if self.strikes(Fault::NullRoot, now) {
            let ms = self.between(Fault::NullRoot, 200, 1500);
            self.rootless_until = Some(now + Duration::from_millis(ms));
        }
    }

    pub fn is_rootless(&self, now: Instant) -> bool {
        self.rootless_until.is_some_and(|until| now < until)
    }

    pub fn tap(&mut self, at: Point, now: Instant) -> TapFate {
        if self.strikes(Fault::LostTap, now) {
            return TapFate::Lost;
        }
        if self.late_taps.len() >= LATE_TAPS_MAX {
            return TapFate::Applied;
        }
        if self.strikes(Fault::LateTap, now) {
            let ms = self.between(Fault::LateTap, 100, 1500);
            self.delay(at, now + Duration::from_millis(ms));
            return TapFate::Late;
        }
        if self.strikes(Fault::DoubleTap, now) {
            let ms = self.between(Fault::DoubleTap, 40, 250);
            self.delay(at, now + Duration::from_millis(ms));
            return TapFate::Double;
        }
        TapFate::Applied
    }

    fn delay(&mut self, at: Point, due: Instant) {
        self.late_taps.push((due, at));
        self.late_taps.sort_by_key(|(due, _)| *due);
    }

    pub fn next_due(&self) -> Option<Instant> {
        let tap = self.late_taps.first().map(|(due, _)| *due);
        let spell = self.spell.map(|(_, until)| until);
        self.next.values().copied().chain(tap).chain(spell).min()
    }

    /// The first thing that is due by `now`, and when it was.
    pub fn take_due(&mut self, now: Instant) -> Option<(Instant, Due)> {
        let due = self.next_due().filter(|due| *due <= now)?;
        if self.late_taps.first().is_some_and(|(at, _)| *at == due) {
            let (_, point) = self.late_taps.remove(0);
            return Some((due, Due::Tap(point)));
        }
        if let Some((fault, _)) = self.spell.take_if(|(_, until)| *until == due) {
            return Some((due, Due::SpellEnds(fault)));
        }
        let fault = self.next.iter().find(|(_, at)| **at == due).map(|(fault, _)| *fault)?;
        self.next.remove(&fault);
        self.plan(fault, due);
        self.happen(fault, due).map(|what| (due, what)).or_else(|| self.take_due(now))
    }

    /// Nothing when it cannot happen now.
    fn happen(&mut self, fault: Fault, now: Instant) -> Option<Due> {
        let due = match fault {
            Fault::DroppedConnection => Due::Cut,
            Fault::ClockSkew => Due::SetClock(self.between(fault, 0, 7_200_000) as i64 - 3_600_000),
            Fault::LowMemory => Due::Kill { foreground: self.between(fault, 0, 3) == 0 },
            Fault::SystemDialog => Due::Dialog(self.between(fault, 0, 3) as usize),
            Fault::Offline | Fault::Unauthorized if self.spell.is_none() => {
                let ms = self.between(fault, 1000, 6000);
                self.spell = Some((fault, now + Duration::from_millis(ms)));
                Due::SpellBegins(fault)
            }
            _ => return None,
        };
        // Whether these two can happen, the phone must see.
        if !matches!(due, Due::Kill { .. } | Due::Dialog(_)) {
            self.note(fault, now);
        }
        Some(due)
    }
}
