//! `cargo xtask soak`: many clients of one server on phones that drop out, judged by the phones' own truth.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command::{debug_binary, metadata, run};

/// Of every run of the tests. Half an hour is for a person who changed something below the tools.
const SECONDS_OF_TESTS: &str = "60";
const PRODUCT: &str = "mobile-debug-mcp";

/// Judges the release build if there is one, else the binary that is given, else that of the tests.
pub fn soak(root: &Path, options: &[&str]) -> Result<(), String> {
    let (given, rest) = binary_of(options)?;
    debug_binary(root)?;
    let folder = metadata(root)?.target_directory;
    let built = [folder.join("release").join(PRODUCT), folder.join("debug").join(PRODUCT)];
    let server = given.or_else(|| built.into_iter().find(|file| file.is_file()));
    play(root, &server.ok_or("there is no server to judge")?, &rest)
}

/// Of the tests, which have built both.
pub fn of_tests(root: &Path) -> Result<(), String> {
    let server = metadata(root)?.target_directory.join("debug").join(PRODUCT);
    play(root, &server, &["--seconds", SECONDS_OF_TESTS])
}

fn play(root: &Path, server: &Path, options: &[&str]) -> Result<(), String> {
    let program = metadata(root)?.target_directory.join("debug/mdm-soak");
    run(Command::new(program).current_dir(root).arg("--server").arg(server).args(options))
}

fn binary_of<'a>(options: &[&'a str]) -> Result<(Option<PathBuf>, Vec<&'a str>), String> {
    let (mut given, mut rest, mut words) = (None, Vec::new(), options.iter());
    while let Some(word) = words.next() {
        match *word {
            "--binary" => given = Some(PathBuf::from(words.next().ok_or("--binary needs a file")?)),
            other => rest.push(other),
        }
    }
    Ok((given, rest))
}
