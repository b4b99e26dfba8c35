//! The speed of the log reader. An example of the Android crate measures.

use std::path::Path;

use super::pipeline::run_example;
use super::table::Line;

/// Megabytes a second that the reader shall read.
const GOAL_MB_S: f64 = 200.0;
/// Kilobytes by which memory may grow while 100 MB are read.
const GROWTH_KB: f64 = 1000.0;

pub fn lines(root: &Path) -> Result<Vec<Line>, String> {
    let found = run_example(root, "mdm-android", "log_speed", &[])?;
    let value = |name: &str| found.value(name);
    let (read, floor) = (value("read_mb_s")?, value("floor_mb_s")?);
    let note = format!("{read:.0} MB/s; {:.2} of copying the lines alone, {floor:.0} MB/s", read / floor);
    Ok(vec![
        // The table's goals are limits, so the time for one megabyte is told.
        Line::single("log: one megabyte read", 1000.0 / read, 1000.0 / GOAL_MB_S, "ms").noted(note),
        Line::single("log: memory grown by 100 MB read", value("grown_kb")?, GROWTH_KB, "kB"),
        Line::single("log: lines not understood", value("defects")?, 0.0, "lines"),
    ])
}
