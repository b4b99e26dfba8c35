//! Plays scenarios/*.md: calls and answers that show what the requirements mean to an agent, with checks of the phone's
//! own state. UPDATE_SCENARIOS=1 writes the answers (never the checks); SCENARIO=NAME plays one.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests fail like tests"
)]
#![allow(clippy::print_stdout, reason = "a test of many files says how many")]

mod client;
mod faults;
mod file;
mod index;
#[path = "../shared/page.rs"]
mod page;
mod play;
mod stage;
mod truth;
mod views;
#[path = "../stack/world.rs"]
#[allow(dead_code, reason = "the stack tests use the rest of it")]
mod world;

use std::path::{Path, PathBuf};

use file::Scenario;
use play::play;
use stage::{Phones, Stage};

const UPDATE: &str = "UPDATE_SCENARIOS";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios")
}

/// Every scenario with its name, in order.
fn all() -> Vec<(String, String)> {
    let entries = std::fs::read_dir(folder()).expect("the folder scenarios");
    let names = entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".md") && name != "README.md").collect();
    names.sort();
    let read = |name: String| {
        let text = std::fs::read_to_string(folder().join(&name)).expect("a text");
        (name.trim_end_matches(".md").to_owned(), text)
    };
    names.into_iter().map(read).collect()
}

/// Each scenario has its own clock and phone.
fn played(name: &str, text: &str, phones: &Phones) -> Result<(), String> {
    let scenario = Scenario::parse(text)?;
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().start_paused(true).build().expect("a runtime");
    let played = runtime.block_on(play(&scenario, phones))?;
    // The checks come first: an update must not hide a failed one.
    if !played.failures.is_empty() {
        return Err(format!("{}\n\nplayed:\n{}", played.failures.join("\n"), file::write(&played.parts)));
    }
    let file = folder().join(phones.stage.folder()).join(format!("{name}.md"));
    page::difference(&file, &file::write(&played.parts), UPDATE).map_or(Ok(()), Err)
}

fn play_all(phones: &Phones) {
    let on = phones.stage;
    let wanted = std::env::var("SCENARIO").unwrap_or_default();
    let all = all();
    let chosen: Vec<_> = all.iter().filter(|(name, _)| wanted.is_empty() || *name == wanted).collect();
    assert!(!chosen.is_empty(), "no scenario {wanted}");
    let (mut failed, mut left_out) = (Vec::new(), 0);
    for (name, text) in &chosen {
        let scenario = Scenario::parse(text).ok();
        if let Some(reason) = scenario.as_ref().and_then(|scenario| scenario.reason_against(on)) {
            println!("{name} is not played on {on:?}: {reason}");
            left_out += 1;
        } else if let Err(why) = played(name, text, phones) {
            failed.push(format!("== {name}\n{why}\n"));
        }
    }
    let whole = chosen.len() - left_out;
    println!("{} of {whole} scenarios play as written on {on:?}", whole - failed.len());
    assert!(failed.is_empty(), "\n{}", failed.join("\n"));
}

#[test]
fn every_scenario_gives_its_written_answers() {
    play_all(&Phones::of(Stage::Android));
}

#[test]
fn every_scenario_gives_its_written_answers_on_an_iphone() {
    play_all(&Phones::of(Stage::IPhone));
}

#[test]
fn every_scenario_gives_its_written_answers_on_android_s_own_views() {
    // One test, because a start of the framework takes seconds.
    for phones in Phones::of_framework().into_iter().flatten() {
        play_all(&phones);
        if phones.stage == Stage::Framework {
            faults::check(&phones);
        }
    }
}
