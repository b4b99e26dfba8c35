//! Decides what goes wrong and when, and remembers what has gone wrong.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use bytes::Bytes;
use tokio::time::Instant;

use super::kinds::{Fault, Faults};
use crate::app::geometry::Point;
use crate::clock::Clock;
use crate::config::DumpFault;
use crate::random::Random;
use crate::truth::{FaultEvent, LOG_ENTRIES_MAX};

/// Taps that wait to be applied.
const LATE_TAPS_MAX: usize = 100;
const MINUTE_MS: f64 = 60_000.0;
/// How long a dump hangs.
const HANG_MS: u64 = 60_000;

pub struct FaultInjector {
    faults: Faults,
    random: BTreeMap<Fault, Random>,
    /// When each timed fault happens next.
    next: BTreeMap<Fault, Instant>,
    /// Delayed taps, in order of time.
    late_taps: Vec<(Instant, Point)>,
    rootless_until: Option<Instant>,
    /// The outage that goes on, and when it ends.
    outage: Option<(Outage, Instant)>,
    /// The fault of the next dump that a test asked for.
    asked_dump: Option<DumpFault>,
    /// The tree of the last dump.
    last_tree: Option<Bytes>,
    transport_faults: Vec<TransportFault>,
    events: VecDeque<(Instant, Fault)>,
}

/// What happens to a tap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TapOutcome {
    Applied,
    Lost,
    Late,
    Double,
}

/// A fault whose time has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DueFault {
    Tap(Point),
    Transport(TransportFault),
    /// The wall clock is set by this many milliseconds.
    SetClock(i64),
    /// The system ends the app in front, or another one.
    Kill {
        foreground: bool,
    },
    /// A dialog of the system appears; the number chooses which.
    Dialog(usize),
}

/// What a fault does to the transports, which are not part of the state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransportFault {
    DropConnections,
    Begins(Outage),
    Ends(Outage),
}

/// A fault that lasts for some seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outage {
    Offline,
    Unauthorized,
}

impl FaultInjector {
    pub fn new(faults: Faults, seed: u64, now: Instant) -> FaultInjector {
        let random = Fault::every().zip(1..).map(|(f, stream)| (f, Random::new(seed, stream))).collect();
        let mut injector = FaultInjector {
            faults,
            random,
            next: BTreeMap::new(),
            late_taps: Vec::new(),
            rootless_until: None,
            outage: None,
            asked_dump: None,
            last_tree: None,
            transport_faults: Vec::new(),
            events: VecDeque::new(),
        };
        for fault in Fault::TIMED {
            injector.plan(fault, now);
        }
        injector
    }

    /// True if anything can happen at a time of its own.
    pub fn is_timed(&self) -> bool {
        !self.next.is_empty() || self.faults.late_tap > 0.0 || self.faults.double_tap > 0.0
    }

    /// Returns what went wrong, in order of time.
    pub fn events(&self, clock: &Clock) -> Vec<FaultEvent> {
        let event =
            |(at, fault): &(Instant, Fault)| FaultEvent { at_ms: clock.uptime_ms(*at), fault: *fault };
        self.events.iter().map(event).collect()
    }

    /// Makes the next dump go wrong in this way.
    pub fn ask_for(&mut self, fault: DumpFault) {
        self.asked_dump = Some(fault);
    }

    /// Returns what goes wrong with the next dump: what a test asked for, or something by chance.
    pub fn next_dump(&mut self, now: Instant) -> Option<DumpFault> {
        self.asked_dump.take().or_else(|| self.random_dump(now))
    }

    pub fn add_transport_fault(&mut self, fault: TransportFault) {
        self.transport_faults.push(fault);
    }

    pub fn take_transport_faults(&mut self) -> Vec<TransportFault> {
        std::mem::take(&mut self.transport_faults)
    }

    pub fn note(&mut self, fault: Fault, at: Instant) {
        if self.events.len() == LOG_ENTRIES_MAX {
            self.events.pop_front();
        }
        self.events.push_back((at, fault));
    }

    /// Draws whether a fault of a helper happens this time.
    pub fn happens(&mut self, fault: Fault, now: Instant) -> bool {
        self.happens_now(fault, now)
    }

    pub fn between(&mut self, fault: Fault, low: u64, high: u64) -> u64 {
        self.random.get_mut(&fault).map_or(low, |random| random.between(low, high))
    }

    /// Draws whether a fault happens this time, and records it if so.
    fn happens_now(&mut self, fault: Fault, now: Instant) -> bool {
        let rate = self.faults.rate(fault);
        let happens = rate > 0.0 && self.random.get_mut(&fault).is_some_and(|random| random.chance(rate));
        if happens {
            self.note(fault, now);
        }
        happens
    }

    /// Plans the next time of a fault: half to one and a half of its mean interval from now.
    fn plan(&mut self, fault: Fault, now: Instant) {
        let rate = self.faults.rate(fault);
        if rate > 0.0 {
            let mean_ms = (MINUTE_MS / rate) as u64;
            let wait = self.between(fault, mean_ms / 2, mean_ms / 2 + mean_ms.max(1));
            self.next.insert(fault, now + Duration::from_millis(wait.max(1)));
        }
    }

    fn random_dump(&mut self, now: Instant) -> Option<DumpFault> {
        if self.happens_now(Fault::SlowDump, now) {
            return Some(DumpFault::Slow(self.between(Fault::SlowDump, 1000, 6000)));
        }
        if self.happens_now(Fault::HangingDump, now) {
            return Some(DumpFault::Slow(HANG_MS));
        }
        if self.happens_now(Fault::FailingDump, now) {
            let kinds = [DumpFault::ErrorExitZero, DumpFault::Killed, DumpFault::NullRoot];
            return kinds.get(self.between(Fault::FailingDump, 0, 3) as usize).copied();
        }
        if self.happens_now(Fault::EmptyDump, now) {
            let kinds = [DumpFault::NoNodes, DumpFault::Truncated(0)];
            return kinds.get(self.between(Fault::EmptyDump, 0, 2) as usize).copied();
        }
        if self.happens_now(Fault::TruncatedDump, now) {
            return Some(DumpFault::Truncated(self.between(Fault::TruncatedDump, 1, 4000) as usize));
        }
        (self.last_tree.is_some() && self.happens_now(Fault::StaleDump, now)).then_some(DumpFault::Stale)
    }

    /// Returns the tree that a dump writes: this one, or the last one again.
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
        if self.happens_now(Fault::NullRoot, now) {
            let ms = self.between(Fault::NullRoot, 200, 1500);
            self.rootless_until = Some(now + Duration::from_millis(ms));
        }
    }

    pub fn is_rootless(&self, now: Instant) -> bool {
        self.rootless_until.is_some_and(|until| now < until)
    }

    pub fn tap(&mut self, at: Point, now: Instant) -> TapOutcome {
        if self.happens_now(Fault::LostTap, now) {
            return TapOutcome::Lost;
        }
        if self.late_taps.len() >= LATE_TAPS_MAX {
            return TapOutcome::Applied;
        }
        if self.happens_now(Fault::LateTap, now) {
            let ms = self.between(Fault::LateTap, 100, 1500);
            self.delay(at, now + Duration::from_millis(ms));
            return TapOutcome::Late;
        }
        if self.happens_now(Fault::DoubleTap, now) {
            let ms = self.between(Fault::DoubleTap, 40, 250);
            self.delay(at, now + Duration::from_millis(ms));
            return TapOutcome::Double;
        }
        TapOutcome::Applied
    }

    fn delay(&mut self, at: Point, due: Instant) {
        self.late_taps.push((due, at));
        self.late_taps.sort_by_key(|(due, _)| *due);
    }

    pub fn next_due(&self) -> Option<Instant> {
        let tap = self.late_taps.first().map(|(due, _)| *due);
        let outage = self.outage.map(|(_, until)| until);
        self.next.values().copied().chain(tap).chain(outage).min()
    }

    /// Returns the first thing that is due by `now`, and when it was.
    pub fn take_due(&mut self, now: Instant) -> Option<(Instant, DueFault)> {
        let due = self.next_due().filter(|due| *due <= now)?;
        if self.late_taps.first().is_some_and(|(at, _)| *at == due) {
            let (_, point) = self.late_taps.remove(0);
            return Some((due, DueFault::Tap(point)));
        }
        if let Some((outage, _)) = self.outage.take_if(|(_, until)| *until == due) {
            return Some((due, DueFault::Transport(TransportFault::Ends(outage))));
        }
        let fault = self.next.iter().find(|(_, at)| **at == due).map(|(fault, _)| *fault)?;
        self.next.remove(&fault);
        self.plan(fault, due);
        self.begin(fault, due).map(|what| (due, what)).or_else(|| self.take_due(now))
    }

    /// Returns nothing when the fault cannot happen now.
    fn begin(&mut self, fault: Fault, now: Instant) -> Option<DueFault> {
        let due = match fault {
            Fault::DroppedConnection => DueFault::Transport(TransportFault::DropConnections),
            Fault::ClockSkew => DueFault::SetClock(self.between(fault, 0, 7_200_000) as i64 - 3_600_000),
            Fault::LowMemory => DueFault::Kill { foreground: self.between(fault, 0, 3) == 0 },
            Fault::SystemDialog => DueFault::Dialog(self.between(fault, 0, 3) as usize),
            Fault::Offline | Fault::Unauthorized if self.outage.is_none() => {
                let outage = if fault == Fault::Offline { Outage::Offline } else { Outage::Unauthorized };
                let ms = self.between(fault, 1000, 6000);
                self.outage = Some((outage, now + Duration::from_millis(ms)));
                DueFault::Transport(TransportFault::Begins(outage))
            }
            _ => return None,
        };
        // The phone decides whether these two can happen, and records them.
        if !matches!(due, DueFault::Kill { .. } | DueFault::Dialog(_)) {
            self.note(fault, now);
        }
        Some(due)
    }
}
