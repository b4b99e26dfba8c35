//! The table of what is the same and what differs, which `docs/compat.md` shows.

use std::collections::BTreeMap;
use std::path::Path;

use crate::differences::{Known, place_of};
use crate::play::{self, Played};
use crate::protocol;
use crate::recordings::Recordings;
use crate::shape::{NOTHING, What};

const RESULTS: &str = "results.jsonl";

/// What one recording came to, a line each.
#[derive(serde::Serialize)]
struct Line<'a> {
    name: &'a str,
    tool: &'a str,
    keys_same: bool,
    reasons: Vec<&'a str>,
    /// Every place that differs: a reason may be about many, and no other may join them unseen.
    places: Vec<String>,
}

#[tokio::test(start_paused = true)]
async fn every_recorded_call_is_answered_with_the_predecessors_keys() {
    // CO-01
    let (recordings, known) = (Recordings::load(), Known::load());
    let mut played = play::all(&recordings).await;
    played.extend(protocol::all(&recordings).await);
    let mut unlisted = Vec::new();
    for one in &played {
        for difference in &one.differences {
            if known.reason(&one.name, difference).is_none() {
                unlisted.push(format!("{} | {} | {}", one.name, place_of(difference), difference.detail));
            }
        }
        if std::env::var("COMPAT_ONLY").is_ok() {
            println!("{}\n{}", one.name, one.answer);
        }
    }
    println!("{}", table(&played));
    assert!(unlisted.is_empty(), "{} differences are not listed:\n{}", unlisted.len(), unlisted.join("\n"));
    if std::env::var("COMPAT_ONLY").is_ok() {
        return;
    }
    let unused = known.unused(&played);
    assert!(unused.is_empty(), "listed and gone:\n{}", unused.join("\n"));
    keep(&known, &played);
}

/// A file beside this one keeps the results, for the page that is made of them.
fn keep(known: &Known, played: &[Played]) {
    let line = |one: &Played| {
        let mut reasons: Vec<&str> = Vec::new();
        for difference in &one.differences {
            let id = known.reason(&one.name, difference).map_or("", |reason| reason.id.as_str());
            if !reasons.contains(&id) {
                reasons.push(id);
            }
        }
        let mut places: Vec<String> = one.differences.iter().map(place_of).collect();
        places.sort();
        let line = Line { name: &one.name, tool: &one.tool, keys_same: has_same_keys(one), reasons, places };
        serde_json::to_string(&line).unwrap() + "\n"
    };
    let lines: String = played.iter().map(line).collect();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/compat").join(RESULTS);
    if std::env::var("UPDATE").is_ok() {
        std::fs::write(&file, &lines).unwrap();
    }
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(kept == lines, "the results changed: run with UPDATE=1, then cargo xtask docs");
}

/// An object that is none any more has lost its keys, and a list that is empty shows none.
fn has_same_keys(one: &Played) -> bool {
    one.differences.iter().all(|difference| match difference.what {
        What::Type => difference.loses_no_object(),
        What::Value => !difference.path.ends_with("[]") || difference.detail != NOTHING,
        What::Missing | What::Extra => false,
    })
}

fn table(played: &[Played]) -> String {
    let mut rows: BTreeMap<&str, [usize; 3]> = BTreeMap::new();
    for one in played {
        let counts = [1, usize::from(one.differences.is_empty()), usize::from(has_same_keys(one))];
        for row in [one.tool.as_str(), "~ all"] {
            let row = rows.entry(row).or_default();
            row.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
    }
    let mut text = format!("{:<28}{:>6}{:>6}{:>11}{:>9}\n", "tool", "calls", "same", "same keys", "differs");
    for (tool, [calls, same, keys]) in rows {
        text.push_str(&format!("{tool:<28}{calls:>6}{same:>6}{keys:>11}{:>9}\n", calls - keys));
    }
    text
}
