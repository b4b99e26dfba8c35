//! What a run came to.

use std::fmt;

use crate::Options;
use crate::ledger::Counts;
use crate::pinger::Pings;
use crate::run::Notes;

/// A ping is answered so soon while slow calls are in flight, besides what the machine itself takes.
const PING_P95_MS_MAX: f64 = 2.0;
/// How far the memory at the end may be from that after the warm-up, in percent.
const MEMORY_PERCENT_MAX: f64 = 5.0;
/// What the server remembers of its devices is bounded and takes minutes to reach its bound: a shorter run is judged by its
/// peak.
const FLAT_SECONDS_MIN: u64 = 900;
const SHORT_RUN_PEAK_KB_MAX: u64 = 32 * 1024;
/// Where other programs took more of the machine, pings are not judged.
const OTHERS_PERCENT_MAX: f64 = 25.0;
/// Fewer pings say nothing of their spread.
const PINGS_MIN: usize = 50;

/// In milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Spread {
    pub count: usize,
    pub p50: f64,
    pub p95: f64,
    pub p99: f64,
    pub max: f64,
}

impl Spread {
    pub fn of(mut all: Vec<f64>) -> Spread {
        all.sort_by(f64::total_cmp);
        let at = |share: f64| {
            let place = (all.len() as f64 * share).ceil() as usize;
            all.get(place.saturating_sub(1)).copied().unwrap_or(0.0)
        };
        Spread { count: all.len(), p50: at(0.5), p95: at(0.95), p99: at(0.99), max: at(1.0) }
    }
}

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Spread { count, p50, p95, p99, max } = self;
        write!(f, "p50 {p50:.2}  p95 {p95:.2}  p99 {p99:.2}  max {max:.1} ms of {count}")
    }
}

pub struct Figures {
    pub options: Options,
    pub counts: Counts,
    /// Medians of the fifth after the warm-up and of the last fifth.
    pub memory_first_kb: u64,
    pub memory_last_kb: u64,
    pub memory_peak_kb: u64,
    /// Medians of ten parts of the run.
    pub memory_tenths_kb: Vec<u64>,
    pub actions: Spread,
    pub waits: u64,
    pub pings: Pings,
    /// What other programs took of the machine.
    pub others_percent: Option<f64>,
    pub notes: Notes,
}

impl Figures {
    fn memory_change_percent(&self) -> f64 {
        let (first, last) = (self.memory_first_kb as f64, self.memory_last_kb as f64);
        if first > 0.0 { (last - first) * 100.0 / first } else { 0.0 }
    }

    /// Each oracle, and whether it holds; nothing for one that cannot be judged.
    fn oracles(&self) -> [(&'static str, Option<bool>); 4] {
        let is_flat = self.memory_change_percent().abs() <= MEMORY_PERCENT_MAX;
        let is_small = self.memory_peak_kb <= SHORT_RUN_PEAK_KB_MAX;
        let is_short = self.options.seconds < FLAT_SECONDS_MIN;
        let memory = self.memory_first_kb > 0 && if is_short { is_small } else { is_flat };
        let pings = &self.pings.waiting;
        let in_time = pings.p95 <= PING_P95_MS_MAX + self.pings.echo.p95;
        let is_busy = self.others_percent.is_some_and(|percent| percent > OTHERS_PERCENT_MAX);
        let judged = (pings.count >= PINGS_MIN && in_time) || !is_busy;
        [
            (
                "no action lost or doubled, no answer to the wrong client",
                Some(self.notes.findings.is_empty()),
            ),
            ("something was done", Some(self.counts.done > 0 && self.counts.unknown < self.counts.calls / 2)),
            (if is_short { "the memory stays small" } else { "the memory is flat" }, Some(memory)),
            ("pings are answered", judged.then_some(pings.count >= PINGS_MIN && in_time)),
        ]
    }

    pub fn is_good(&self) -> bool {
        self.oracles().iter().all(|(_, holds)| *holds != Some(false))
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (counts, notes, options) = (&self.counts, &self.notes, &self.options);
        for finding in &notes.findings {
            writeln!(f, "finding: {finding}")?;
        }
        if notes.more_findings > 0 {
            writeln!(f, "and {} more findings", notes.more_findings)?;
        }
        let Counts { calls, confirmed, done, not_done, unknown, late, in_truth } = counts;
        writeln!(
            f,
            "actions            {calls}: {done} done ({confirmed} confirmed), {not_done} not done, {unknown} of unknown fate"
        )?;
        writeln!(f, "in the truth       {in_truth} effects, {late} of them after their answer")?;
        writeln!(f, "an action took     {}", self.actions)?;
        writeln!(
            f,
            "other calls        {} reads, {} waits, {} on the phone of another client",
            notes.reads, self.waits, notes.trespasses
        )?;
        writeln!(
            f,
            "disturbances       {} outages of phones, {} clients hung up in the middle",
            notes.outages, notes.hang_ups
        )?;
        let errors: Vec<String> =
            notes.errors.iter().map(|(code, count)| format!("{code} {count}")).collect();
        writeln!(f, "errors told        {}", errors.join(", "))?;
        writeln!(f, "an echo meanwhile  {}", self.pings.echo)?;
        writeln!(
            f,
            "ping, slow calls   {} (p95 at most {PING_P95_MS_MAX} beyond the echo, with {} in flight)",
            self.pings.waiting, options.clients
        )?;
        writeln!(f, "ping, all busy     {}", self.pings.busy)?;
        if let Some(percent) = self.others_percent {
            writeln!(f, "other programs     {percent:.0} % of the machine")?;
        }
        let mb = |kb: u64| kb as f64 / 1024.0;
        writeln!(
            f,
            "memory             {:.1} MB after the warm-up, {:.1} MB at the end: {:+.1} % (at most ±{MEMORY_PERCENT_MAX} %), peak {:.1} MB",
            mb(self.memory_first_kb),
            mb(self.memory_last_kb),
            self.memory_change_percent(),
            mb(self.memory_peak_kb)
        )?;
        let tenths: Vec<String> = self.memory_tenths_kb.iter().map(|kb| format!("{:.1}", mb(*kb))).collect();
        writeln!(f, "memory by tenths   {}", tenths.join(" "))?;
        for (oracle, holds) in self.oracles() {
            let verdict = match holds {
                Some(true) => "holds:",
                Some(false) => "BROKEN:",
                None => "not judged, the machine is busy with other programs:",
            };
            writeln!(f, "{verdict} {oracle}")?;
        }
        write!(
            f,
            "soak: {} s, seed {}: {}",
            options.seconds,
            options.seed,
            if self.is_good() { "good" } else { "FAILED" }
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_is_of_what_was_measured() {
        let spread = Spread::of((1..=100).rev().map(f64::from).collect());
        assert_eq!((spread.p50, spread.p95, spread.p99, spread.max), (50.0, 95.0, 99.0, 100.0));
        assert_eq!(Spread::of(Vec::new()), Spread::default());
    }
}
