//! docs/compat.md: what the recorded calls of the predecessor came to with `--compat`, out of the results that the test
//! keeps and the reasons that are listed for it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde::Deserialize;

pub const PAGE: &str = "docs/compat.md";
const FOLDER: &str = "crates/server/tests/compat";

/// What one recording came to.
#[derive(Deserialize)]
struct Played {
    name: String,
    tool: String,
    keys_same: bool,
    reasons: Vec<String>,
}

#[derive(Deserialize)]
struct Known {
    #[serde(default)]
    difference: Vec<Reason>,
}

#[derive(Deserialize)]
struct Reason {
    id: String,
    why: String,
}

#[derive(Default)]
struct Row<'a> {
    calls: usize,
    same: usize,
    other_values: usize,
    other_keys: usize,
    reasons: Vec<&'a str>,
}

/// The page; nothing for a tree without the test.
pub fn page(root: &Path) -> Result<Option<String>, String> {
    let read = |name: &str| fs::read_to_string(root.join(FOLDER).join(name));
    let (Ok(results), Ok(differences)) = (read("results.jsonl"), read("differences.toml")) else {
        return Ok(None);
    };
    let played = results.lines().map(serde_json::from_str::<Played>).collect::<Result<Vec<_>, _>>();
    let played = played.map_err(|e| format!("{FOLDER}/results.jsonl: {e}"))?;
    let known: Known = toml::from_str(&differences).map_err(|e| format!("{FOLDER}/differences.toml: {e}"))?;
    Ok(Some(write(&played, &known.difference)))
}

fn write(played: &[Played], reasons: &[Reason]) -> String {
    let rows = rows(played, reasons);
    let sum = |of: fn(&Row<'_>) -> usize| rows.values().map(of).sum::<usize>();
    let (same, values, keys) = (sum(|row| row.same), sum(|row| row.other_values), sum(|row| row.other_keys));
    let mut page = format!(
        "# Answers of the predecessor\n\n\
         `mobile-debug-mcp serve --compat` and `call --compat` answer with the keys, types and blocks of the TypeScript server\n\
         of the same name (0.29), for scripts that were written for it. Arguments that it did not know are named behind the\n\
         answer, as `unknown_arguments`, and do no harm. Without the flag nothing of this is used\n\
         ([adr/0024-answers-of-the-predecessor.md](adr/0024-answers-of-the-predecessor.md)).\n\n\
         A test makes its {} recorded calls and requests again, on virtual phones in the recorded situation, and compares the\n\
         answers key for key: the keys at every level, the types, and the values that follow from the contract or the situation\n\
         (`crates/server/tests/compat`). {same} are the same, {values} have all keys and another type or value somewhere, {keys}\n\
         have other keys, or nothing where an object or the elements of a list were recorded. Every difference has a reason, which stands below; this page is written by `cargo xtask docs`.\n\n\
         | tool | calls | same | other values | other keys | why |\n|---|---|---|---|---|---|\n",
        played.len()
    );
    for (tool, row) in &rows {
        let why = row.reasons.iter().map(|id| format!("[{id}](#{id})")).collect::<Vec<_>>().join(", ");
        let Row { calls, same, other_values, other_keys, .. } = row;
        // Writing to a string cannot fail.
        let _ = writeln!(page, "| {tool} | {calls} | {same} | {other_values} | {other_keys} | {why} |");
    }
    page.push_str("\n## Why\n");
    for reason in reasons {
        let calls: Vec<&str> = played
            .iter()
            .filter(|one| one.reasons.contains(&reason.id))
            .map(|one| one.name.as_str())
            .collect();
        let _ = write!(page, "\n### {}\n\n{} ({}: {})\n", reason.id, reason.why, calls.len(), shown(&calls));
    }
    page
}

/// The names of calls; of many only the first ones.
fn shown(calls: &[&str]) -> String {
    const SHOWN_MAX: usize = 12;
    let mut names =
        calls.iter().take(SHOWN_MAX).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    if calls.len() > SHOWN_MAX {
        names.push_str(", …");
    }
    names
}

fn rows<'a>(played: &'a [Played], reasons: &'a [Reason]) -> BTreeMap<&'a str, Row<'a>> {
    let mut rows: BTreeMap<&str, Row<'_>> = BTreeMap::new();
    for one in played {
        let row = rows.entry(&one.tool).or_default();
        row.calls += 1;
        row.same += usize::from(one.reasons.is_empty());
        row.other_values += usize::from(!one.reasons.is_empty() && one.keys_same);
        row.other_keys += usize::from(!one.keys_same);
        let ids = reasons.iter().map(|reason| reason.id.as_str());
        let new: Vec<&str> = ids.filter(|id| one.reasons.iter().any(|known| known == id)).collect();
        row.reasons.extend(new.into_iter().filter(|id| !row.reasons.contains(id)).collect::<Vec<_>>());
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without building anything: whoever changes the results sees here that the page is old.
    #[test]
    fn the_page_is_made_of_the_results() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let kept = fs::read_to_string(root.join(PAGE)).unwrap();
        assert!(page(&root).unwrap() == Some(kept), "run cargo xtask docs");
    }

    #[test]
    fn calls_are_counted_by_tool_with_their_reasons() {
        let played = |name: &str, keys_same, reasons: &[&str]| Played {
            name: name.to_owned(),
            tool: "tap".to_owned(),
            keys_same,
            reasons: reasons.iter().map(|id| (*id).to_owned()).collect(),
        };
        let all = [played("a", true, &[]), played("b", true, &["secrets"]), played("c", false, &["refused"])];
        let reason = |id: &str| Reason { id: id.to_owned(), why: "Because.".to_owned() };
        let page = write(&all, &[reason("refused"), reason("secrets")]);
        let row = "| tap | 3 | 1 | 1 | 1 | [secrets](#secrets), [refused](#refused) |";
        assert!(page.contains(row), "{page}");
        assert!(page.contains("### refused\n\nBecause. (1: `c`)"), "{page}");
    }
}
