//! The time from the bytes of a screen to the changes on it. An example of the Android crate measures.

use std::collections::BTreeMap;
use std::path::Path;

use super::table::Line;
use crate::command::{cargo, output};

/// Size, goals in microseconds for a changed and for an unchanged screen, and the times of two other tools for the same
/// files in milliseconds: the predecessor for all of it, mobile-mcp for parsing alone.
const SIZES: [(&str, f64, f64, &str); 3] = [
    ("small", 50.0, 5.0, "3.4, 0.95 ms"),
    ("medium", 200.0, 10.0, "11.8, 4.0 ms"),
    ("large", 1300.0, 50.0, "84.1, 28.3 ms"),
];

pub fn lines(found: &Found) -> Result<Vec<Line>, String> {
    let value = |name: String| found.value(&name);
    let mut lines = Vec::new();
    for (size, whole_goal, unchanged_goal, others) in SIZES {
        let whole = value(format!("{size}_whole_us"))?;
        let floor = value(format!("{size}_floor_arrays_us"))?;
        let note = format!("{:.2}x floor; {others}", whole / floor);
        lines
            .push(Line::single(&format!("screen {size}: read to diff"), whole, whole_goal, "us").noted(note));
        let unchanged = value(format!("{size}_unchanged_us"))?;
        lines.push(Line::single(&format!("screen {size}: unchanged"), unchanged, unchanged_goal, "us"));
    }
    Ok(lines)
}

/// The figures that the example printed, by name.
pub struct Found(BTreeMap<String, f64>);

impl Found {
    pub fn value(&self, name: &str) -> Result<f64, String> {
        self.0.get(name).copied().ok_or_else(|| format!("the example did not tell {name}"))
    }
}

pub fn measure(root: &Path, data: &Path) -> Result<Found, String> {
    run_example(root, "mdm-android", "pipeline", &[data])
}

/// Runs an example that prints a name and a number on each line.
pub fn run_example(root: &Path, package: &str, name: &str, arguments: &[&Path]) -> Result<Found, String> {
    let words = ["run", "--quiet", "--release", "-p", package, "--example", name, "--"];
    let text = output(cargo(root).args(words).args(arguments))?;
    let pairs = text.lines().filter_map(|line| line.split_once(' '));
    Ok(Found(pairs.filter_map(|(name, value)| Some((name.to_owned(), value.parse().ok()?))).collect()))
}
