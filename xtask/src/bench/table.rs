//! The measurements as a table for people and as data for programs.

use std::path::Path;
use std::time::Duration;

use serde::Serialize;

use super::peers::Told;
use super::process::Memory;

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spread {
    pub p50_ms: f64,
    pub p95_ms: f64,
}

impl Spread {
    pub fn of(times: &[Duration]) -> Spread {
        let mut ms: Vec<f64> = times.iter().map(|time| time.as_secs_f64() * 1000.0).collect();
        ms.sort_by(f64::total_cmp);
        // The smallest value that this share of the values does not exceed.
        let at = |percent: usize| {
            let rank = (ms.len() * percent).div_ceil(100).max(1);
            ms.get(rank - 1).copied().unwrap_or(f64::NAN)
        };
        Spread { p50_ms: at(50), p95_ms: at(95) }
    }
}

#[derive(Serialize)]
pub struct Line {
    what: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    product: Option<Spread>,
    #[serde(skip_serializing_if = "Option::is_none")]
    device: Option<Spread>,
    /// The value that is compared with the goal.
    value: f64,
    goal: f64,
    unit: &'static str,
    is_met: bool,
    #[serde(skip_serializing_if = "String::is_empty")]
    note: String,
}

impl Line {
    fn new(what: &str, value: f64, goal: f64, unit: &'static str) -> Line {
        let (what, note) = (what.to_owned(), String::new());
        Line { what, product: None, device: None, value, goal, unit, is_met: value <= goal, note }
    }

    pub fn beyond(what: &str, product: Spread, device: Spread, commands: usize, goal_ms: f64) -> Line {
        let note = format!("{commands} shell command{}", if commands == 1 { "" } else { "s" });
        let line = Line::new(what, product.p50_ms - device.p50_ms, goal_ms, "ms beyond the device");
        Line { product: Some(product), device: Some(device), note, ..line }
    }

    pub fn time(what: &str, spread: Spread, goal_ms: f64) -> Line {
        Line { product: Some(spread), ..Line::new(what, spread.p50_ms, goal_ms, "ms") }
    }

    /// Compares the 95th percentile with the goal, not the median.
    pub fn slow(what: &str, spread: Spread, goal_ms: f64) -> Line {
        Line { product: Some(spread), ..Line::new(what, spread.p95_ms, goal_ms, "ms at p95") }
    }

    /// A rate, for which more is better.
    pub fn rate(what: &str, value: f64, goal: f64) -> Line {
        Line { is_met: value >= goal, ..Line::new(what, value, goal, "calls a second") }
    }

    pub fn single(what: &str, value: f64, goal: f64, unit: &'static str) -> Line {
        Line::new(what, value, goal, unit)
    }

    pub fn noted(self, note: String) -> Line {
        Line { note, ..self }
    }

    pub fn memory(what: &str, memory: &Memory, goal_mb: f64) -> Line {
        let mb = |kb: u64| kb as f64 / 1024.0;
        let note = format!("peak {:.1}", mb(memory.peak_kb));
        Line { note, ..Line::new(what, mb(memory.now_kb), goal_mb, "MB") }
    }

    /// `seen` is a lower bound: the children alive at once, or one if any has been reaped.
    pub fn processes(what: &str, seen: usize) -> Line {
        let note = "alive or reaped".to_owned();
        Line { note, ..Line::new(what, seen as f64, 0.0, "processes at least") }
    }
}

impl std::fmt::Display for Line {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let spread = |spread: Option<Spread>| match spread {
            Some(s) => format!("{:>8.2} {:>8.2}", s.p50_ms, s.p95_ms),
            None => format!("{:>8} {:>8}", "", ""),
        };
        write!(f, "{:<36} {} {} ", self.what, spread(self.product), spread(self.device))?;
        let ratio = if self.goal > 0.0 { format!("{:.2}x", self.value / self.goal) } else { String::new() };
        write!(f, "{:>9.2} {:>6.1} {ratio:>6} {:<21} ", self.value, self.goal, self.unit)?;
        write!(f, "{:<26} {}", self.note, if self.is_met { "ok" } else { "MISSED" })
    }
}

#[derive(Serialize)]
pub struct Table {
    cores: usize,
    load_1_min: String,
    lines: Vec<Line>,
    /// One screen read with several tools.
    told: Vec<Told>,
}

impl Table {
    pub fn new() -> Table {
        let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
        Table {
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            load_1_min: load.split(' ').next().unwrap_or("").to_owned(),
            lines: Vec::new(),
            told: Vec::new(),
        }
    }

    pub fn compare(&mut self, told: Told) {
        self.told.push(told);
    }

    pub fn add(&mut self, line: Line) {
        self.lines.push(line);
    }

    pub fn write_json(&self, file: &Path) -> Result<(), String> {
        let text = serde_json::to_string_pretty(self).map_err(|e| e.to_string())?;
        std::fs::write(file, text + "\n").map_err(|e| format!("{}: {e}", file.display()))
    }
}

impl std::fmt::Display for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{} cores, load {} at the start. Times in ms.", self.cores, self.load_1_min)?;
        let (product, device) =
            (format!("{:>8} {:>8}", "p50", "p95"), format!("{:>8} {:>8}", "device50", "device95"));
        writeln!(f, "{:<36} {product} {device} {:>9} {:>6}", "", "value", "goal")?;
        for line in &self.lines {
            writeln!(f, "{line}")?;
        }
        if !self.told.is_empty() {
            writeln!(f, "{}", Told::HEAD)?;
        }
        for told in &self.told {
            writeln!(f, "{told}")?;
        }
        let missed: Vec<&str> =
            self.lines.iter().filter(|line| !line.is_met).map(|line| line.what.as_str()).collect();
        match missed.len() {
            0 => write!(f, "every goal met"),
            n => write!(f, "{n} of {} goals missed: {}", self.lines.len(), missed.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_that_were_seen() {
        let times: Vec<Duration> = (1..=100).rev().map(Duration::from_millis).collect();
        assert_eq!(Spread::of(&times), Spread { p50_ms: 50.0, p95_ms: 95.0 });
        assert_eq!(Spread::of(&[Duration::from_millis(7)]), Spread { p50_ms: 7.0, p95_ms: 7.0 });
    }

    #[test]
    fn a_goal_is_about_the_time_beyond_the_device() {
        let (product, device) = (Spread { p50_ms: 5.0, p95_ms: 9.0 }, Spread { p50_ms: 4.5, p95_ms: 6.0 });
        assert!(Line::beyond("tap", product, device, 1, 0.5).is_met);
        let missed = Line::beyond("tap", product, device, 1, 0.4);
        assert!(missed.to_string().ends_with("MISSED"));
        assert!(Line::slow("ping", product, 9.0).is_met && !Line::slow("ping", product, 8.0).is_met);
        assert!(Line::rate("tap", 3000.0, 3000.0).is_met && !Line::rate("tap", 2999.0, 3000.0).is_met);
    }
}
