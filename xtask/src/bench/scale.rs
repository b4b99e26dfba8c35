//! The virtual phone alone: how fast it dumps, and the cost of hundreds of phones. An example of its crate measures.

use std::collections::BTreeMap;
use std::path::Path;

use super::table::Line;
use crate::command::{cargo, output};

pub fn lines(root: &Path) -> Result<Vec<Line>, String> {
    let arguments = ["run", "--quiet", "--release", "-p", "mdm-virtual-device", "--example", "scale"];
    let text = output(cargo(root).args(arguments))?;
    let found: BTreeMap<&str, f64> = text
        .lines()
        .filter_map(|line| line.split_once(' '))
        .filter_map(|(name, value)| Some((name, value.parse().ok()?)))
        .collect();
    let value =
        |name: &str| found.get(name).copied().ok_or_else(|| format!("scale did not tell {name}:\n{text}"));
    let phones = value("phones")?;
    for name in ["listed", "dumped"] {
        if value(name)? < phones {
            return Err(format!("only {} of {phones} phones were {name}", value(name)?));
        }
    }
    let nodes = value("dump_nodes")?;
    Ok(vec![
        Line::single(&format!("phone: dump of {nodes} nodes"), value("dump_ms")?, 1.0, "ms"),
        Line::single(
            &format!("phone: dump of the app, {} nodes", value("app_dump_nodes")?),
            value("app_dump_ms")?,
            1.0,
            "ms",
        ),
        Line::single(&format!("{phones} phones: connect all"), value("connect_ms")?, 1000.0, "ms"),
        Line::single(&format!("{phones} phones: list all"), value("list_ms")?, 100.0, "ms"),
        Line::single(&format!("{phones} phones: start app, dump all"), value("dump_all_ms")?, 2000.0, "ms"),
        Line::single(&format!("{phones} phones: memory"), value("rss_mb")?, 500.0, "MB"),
    ])
}
