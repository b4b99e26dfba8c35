//! The memory for reading a screen: real screens, and hostile ones with tiny elements. An example of the server
//! measures each in its own process.

use std::path::Path;

use super::table::Line;
use crate::command::{cargo, output};

/// Reading may take this many times the bytes of its input, and this much in addition.
const TIMES_MAX: f64 = 4.0;
const BESIDE_MB: f64 = 8.0;

const HOSTILE: [&str; 6] = ["xml-tiny", "xml-names", "xml-texts", "ios-xml-tiny", "idb-tiny", "own-tiny"];

pub fn lines(root: &Path, data: &Path) -> Result<Vec<Line>, String> {
    let mut lines = Vec::new();
    for size in ["small", "medium", "large"] {
        lines.push(line(root, size, &data.join(format!("{size}.xml")).to_string_lossy())?);
    }
    for case in HOSTILE {
        lines.push(line(root, case, case)?);
    }
    Ok(lines)
}

fn line(root: &Path, name: &str, case: &str) -> Result<Line, String> {
    let arguments =
        ["run", "--quiet", "--release", "-p", "mobile-debug-mcp", "--example", "reading_memory", "--", case];
    let text = output(cargo(root).args(arguments))?;
    let value = |key: &str| {
        let found = text.lines().filter_map(|line| line.split_once(' ')).find(|(name, _)| *name == key);
        found.and_then(|(_, value)| value.parse::<f64>().ok()).ok_or_else(|| format!("no {key} in {text}"))
    };
    let mb = |bytes: f64| bytes / f64::from(1 << 20);
    let (bytes, added) = (value("bytes")?, value("added")?);
    let goal = TIMES_MAX * mb(bytes) + BESIDE_MB;
    let note = format!("{:.0} elements of {:.2} MB", value("elements")?, mb(bytes));
    Ok(Line::single(&format!("reading {name}: memory"), mb(added), goal, "MB").noted(note))
}
