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
/// The share of calls with an unknown fate although nothing was in the way, in percent, and how many are too few to judge.
const UNDISTURBED_PERCENT_MAX: u64 = 2;
const UNDISTURBED_ALLOWED: u64 = 2;
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
    fn oracles(&self) -> [(&'static str, Option<bool>); 5] {
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
            ("what became of a call is known", Some(fates_are_known(&self.counts))),
            (if is_short { "the memory stays small" } else { "the memory is flat" }, Some(memory)),
            ("pings are answered", judged.then_some(pings.count >= PINGS_MIN && in_time)),
        ]
    }

    pub fn is_good(&self) -> bool {
        self.oracles().iter().all(|(_, holds)| *holds != Some(false))
    }

    /// The last line of a run: what was not judged is not called good.
    fn summary(&self) -> String {
        let oracles = self.oracles();
        let open: Vec<&str> =
            oracles.iter().filter(|(_, holds)| holds.is_none()).map(|(name, _)| *name).collect();
        match (self.is_good(), &open[..]) {
            (false, _) => "FAILED".to_owned(),
            (true, []) => "good".to_owned(),
            (true, open) => format!("good as far as it was judged; NOT JUDGED: {}", open.join(", ")),
        }
    }
}

/// Hang-ups and outages leave calls whose fate nobody knows; without them there is no reason for more than a few.
fn fates_are_known(counts: &Counts) -> bool {
    counts.unknown_undisturbed <= UNDISTURBED_ALLOWED.max(counts.calls * UNDISTURBED_PERCENT_MAX / 100)
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
        let Counts { calls, confirmed, done, not_done, unknown, late, unknown_undisturbed, in_truth } =
            counts;
        writeln!(
            f,
            "actions            {calls}: {done} done ({confirmed} confirmed), {not_done} not done, {unknown} of unknown fate ({unknown_undisturbed} for no reason)"
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
                None => "NOT JUDGED, because other programs took the machine:",
            };
            writeln!(f, "{verdict} {oracle}")?;
        }
        write!(f, "soak: {} s, seed {}: {}", options.seconds, options.seed, self.summary())
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

    fn figures(others_percent: f64, unknown_undisturbed: u64) -> Figures {
        let seconds = 60;
        let options = Options { server: "x".into(), seconds, clients: 1, phones: 2, seed: 1, list: None };
        let spread = |p95: f64| Spread { count: PINGS_MIN, p95, ..Spread::default() };
        Figures {
            options,
            counts: Counts { calls: 100, done: 90, unknown: 10, unknown_undisturbed, ..Counts::default() },
            memory_first_kb: 1,
            memory_last_kb: 1,
            memory_peak_kb: 1,
            memory_tenths_kb: Vec::new(),
            actions: Spread::default(),
            waits: 1,
            pings: Pings { waiting: spread(9.0), busy: spread(9.0), echo: spread(0.1) },
            others_percent: Some(others_percent),
            notes: Notes::default(),
        }
    }

    #[test]
    fn what_was_not_judged_is_not_called_good() {
        assert!(!figures(0.0, 0).is_good(), "pings are too slow");
        let busy = figures(90.0, 0);
        assert!(busy.is_good());
        let text = busy.to_string();
        assert!(text.ends_with("NOT JUDGED: pings are answered"), "{text}");
    }

    #[test]
    fn fates_that_are_unknown_for_no_reason_are_found() {
        assert!(figures(90.0, UNDISTURBED_ALLOWED).is_good());
        assert!(!figures(90.0, UNDISTURBED_ALLOWED + 1).is_good());
        assert!(!fates_are_known(&Counts { calls: 1000, unknown_undisturbed: 500, ..Counts::default() }));
    }
}
