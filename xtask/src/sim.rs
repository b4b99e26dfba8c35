//! `cargo xtask sim`: the simulation, with the product as the tests run it.

use std::path::Path;
use std::process::Command;

use crate::command::{debug_binary, metadata, run};

/// What every run of the tests plays.
const TEST_SEEDS: &str = "2000";
const TEST_STEPS: &str = "10";

pub fn sim(root: &Path, options: &[&str]) -> Result<(), String> {
    // Built together with the product and the tests, for the reason that is said there.
    debug_binary(root)?;
    play(root, options)
}

/// Of the tests, which have built it: on the Android phone through the shell and with the helper, and on the iPhone.
pub fn of_tests(root: &Path) -> Result<(), String> {
    let options = ["--seed", "1", "--seeds", TEST_SEEDS, "--steps", TEST_STEPS];
    play(root, &options)?;
    play(root, &[&options[..], &["--helper"]].concat())?;
    play(root, &[&options[..], &["--ios"]].concat())
}

fn play(root: &Path, options: &[&str]) -> Result<(), String> {
    let binary = metadata(root)?.target_directory.join("debug/mdm-sim");
    run(Command::new(binary).current_dir(root).args(options))
}
