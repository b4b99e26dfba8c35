//! From the bytes of a screen to what changed on it, and what an agent pays to read it. An example of the Android crate
//! measures; the tokens are counted by a real tokenizer.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

use super::table::Line;
use crate::command::{cargo, output};

/// Size, goals in microseconds for a changed and for an unchanged screen, and what two others took for the same files
/// in milliseconds when they were measured: the predecessor for all of it, mobile-mcp for parsing alone.
const SIZES: [(&str, f64, f64, &str); 3] = [
    ("small", 50.0, 5.0, "3.4, 0.95 ms"),
    ("medium", 200.0, 10.0, "11.8, 4.0 ms"),
    ("large", 1300.0, 50.0, "84.1, 28.3 ms"),
];

pub fn lines(root: &Path, data: &Path) -> Result<Vec<Line>, String> {
    let found = measure(root, data)?;
    let value =
        |name: String| found.get(&name).copied().ok_or_else(|| format!("the example did not tell {name}"));
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

fn measure(root: &Path, data: &Path) -> Result<BTreeMap<String, f64>, String> {
    let arguments = ["run", "--quiet", "--release", "-p", "mdm-android", "--example", "pipeline", "--"];
    let text = output(cargo(root).args(arguments).arg(data))?;
    let pairs = text.lines().filter_map(|line| line.split_once(' '));
    Ok(pairs.filter_map(|(name, value)| Some((name.to_owned(), value.parse().ok()?))).collect())
}

/// Tokens of the texts that an agent reads of each screen.
pub fn tokens(
    root: &Path,
    data: &Path,
    binary: &Path,
    node: &Path,
    tokenizer: &Path,
) -> Result<Vec<Line>, String> {
    let found = measure(root, data)?;
    let told = |size: &str| found.get(&format!("{size}_told")).copied().unwrap_or(f64::NAN);
    let count = |arguments: &[&OsStr]| {
        count_tokens(node, tokenizer, &as_from_a_device(&output(Command::new(binary).args(arguments))?))
    };
    let mut lines = Vec::new();
    for (size, ..) in SIZES {
        let file = data.join(format!("{size}.xml"));
        let flip = data.join(format!("{size}_flip.xml"));
        let xml = std::fs::read_to_string(&file).map_err(|e| format!("{}: {e}", file.display()))?;
        let raw = count_tokens(node, tokenizer, &xml)?;
        let [tree, from, ids, points] = ["tree", "--file", "--ids", "--coordinates"].map(OsStr::new);
        let [diff, before, after] = ["diff", "--before", "--after"].map(OsStr::new);
        let plain = count(&[tree, from, file.as_os_str()])?;
        let full = count(&[tree, from, file.as_os_str(), ids, points])?;
        let delta = count(&[diff, before, file.as_os_str(), after, flip.as_os_str()])?;
        let note = format!("{plain:.0} for {:.0}; XML {raw:.0}", told(size));
        lines.push(
            Line::single(&format!("tokens {size}: outline"), plain / told(size), 11.0, "an element")
                .noted(note),
        );
        let note = format!("{full:.0}");
        let what = format!("tokens {size}: with ids and points");
        lines.push(Line::single(&what, full / told(size), 20.0, "an element").noted(note));
        lines.push(Line::single(&format!("tokens {size}: one text changed"), delta, 60.0, "tokens"));
    }
    Ok(lines)
}

/// A file has no device and no time; an agent pays for both in every answer.
fn as_from_a_device(text: &str) -> String {
    const HEAD: &str = r#"{"device":"emulator-5554","#;
    let timed = ["\"captured_at_ms\":0,", "\"captured_at_ms\":1,"]
        .iter()
        .fold(text.to_owned(), |text, time| text.replacen(time, "\"captured_at_ms\":1731650000123,", 1));
    timed.replacen('{', HEAD, 1)
}

fn count_tokens(node: &Path, tokenizer: &Path, text: &str) -> Result<f64, String> {
    use std::io::Write as _;
    let script = "const {encode} = require(process.argv[1]); \
                  let t = ''; process.stdin.on('data', d => t += d).on('end', () => console.log(encode(t).length));";
    let mut child = Command::new(node)
        .args(["-e", script])
        .arg(tokenizer)
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .map_err(|e| format!("{}: {e}", node.display()))?;
    child.stdin.take().ok_or("no stdin")?.write_all(text.as_bytes()).map_err(|e| e.to_string())?;
    let done = child.wait_with_output().map_err(|e| e.to_string())?;
    let said = String::from_utf8_lossy(&done.stdout);
    said.trim().parse().map_err(|_| format!("the tokenizer said {said:?}"))
}
