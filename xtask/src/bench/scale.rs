//! Hundreds of phones: alone, which an example of their crate measures, and behind one server, which the soak measures.

use std::collections::BTreeMap;
use std::path::Path;

use super::table::Line;
use crate::command::{cargo, output};

/// Phones behind one server.
const SERVED_PHONES: &str = "500";

pub fn lines(root: &Path, server: &Path) -> Result<Vec<Line>, String> {
    let mut lines = phones_alone(root)?;
    lines.extend(phones_of_a_server(root, server)?);
    Ok(lines)
}

fn figures(text: &str) -> BTreeMap<&str, f64> {
    text.lines()
        .filter_map(|line| line.split_once(' '))
        .filter_map(|(name, value)| Some((name, value.parse().ok()?)))
        .collect()
}

/// Many phones behind one server process, which is all that is measured.
fn phones_of_a_server(root: &Path, server: &Path) -> Result<Vec<Line>, String> {
    let mut command = cargo(root);
    command.args(["run", "--quiet", "--release", "-p", "mdm-sim", "--bin", "mdm-soak", "--"]);
    let text = output(command.arg("--server").arg(server).args(["--list", SERVED_PHONES]))?;
    let found = figures(&text);
    let value =
        |name: &str| found.get(name).copied().ok_or_else(|| format!("the soak did not tell {name}:\n{text}"));
    let phones = value("phones")?;
    Ok(vec![
        Line::single(&format!("server, {phones} phones: list all"), value("server_list_ms")?, 1000.0, "ms"),
        Line::single(
            &format!("server, {phones} phones: a tree of each"),
            value("server_read_ms")?,
            5000.0,
            "ms",
        ),
        Line::single(&format!("server, {phones} phones: memory"), value("server_rss_mb")?, 100.0, "MB"),
    ])
}

fn phones_alone(root: &Path) -> Result<Vec<Line>, String> {
    let arguments = ["run", "--quiet", "--release", "-p", "mdm-virtual-device", "--example", "scale"];
    let text = output(cargo(root).args(arguments))?;
    let found = figures(&text);
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
