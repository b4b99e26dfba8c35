//! The speed of the log reader. An example of the Android crate measures.

use std::collections::BTreeMap;
use std::path::Path;

use super::table::Line;
use crate::command::{cargo, output};

/// Megabytes a second that the reader shall read.
const GOAL_MB_S: f64 = 200.0;
/// Kilobytes by which memory may grow while 100 MB are read.
const GROWTH_KB: f64 = 1000.0;

pub fn lines(root: &Path) -> Result<Vec<Line>, String> {
    let arguments = ["run", "--quiet", "--release", "-p", "mdm-android", "--example", "log_speed"];
    let text = output(cargo(root).args(arguments))?;
    let pairs = text.lines().filter_map(|line| line.split_once(' '));
    let found: BTreeMap<&str, f64> =
        pairs.filter_map(|(name, value)| Some((name, value.parse().ok()?))).collect();
    let value =
        |name: &str| found.get(name).copied().ok_or_else(|| format!("the example did not tell {name}"));
    let (read, floor) = (value("read_mb_s")?, value("floor_mb_s")?);
    let note = format!("{read:.0} MB/s; {:.2} of copying the lines alone, {floor:.0} MB/s", read / floor);
    Ok(vec![
        // The table's goals are limits, so the time for one megabyte is told.
        Line::single("log: one megabyte read", 1000.0 / read, 1000.0 / GOAL_MB_S, "ms").noted(note),
        Line::single("log: memory grown by 100 MB read", value("grown_kb")?, GROWTH_KB, "kB"),
        Line::single("log: lines not understood", value("defects")?, 0.0, "lines"),
    ])
}
