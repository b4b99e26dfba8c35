//! `cargo xtask soak`: many clients of one server on phones that drop out, judged by the phones' own truth.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command::{debug_binary, metadata, run};

/// Of every run of the tests. Half an hour is for a person who changed something below the tools.
const SECONDS_OF_TESTS: &str = "60";

/// Judges the program that `--binary` names, else the debug build that this makes. A release build that lies around may be of
/// other sources.
pub fn soak(root: &Path, options: &[&str]) -> Result<(), String> {
    let (given, rest) = binary_of(options)?;
    let built = debug_binary(root)?;
    play(root, &given.unwrap_or(built), &rest)
}

/// Of the tests, which have built both.
pub fn of_tests(root: &Path) -> Result<(), String> {
    let server = metadata(root)?.target_directory.join("debug/mobile-debug-mcp");
    play(root, &server, &["--seconds", SECONDS_OF_TESTS])
}

fn play(root: &Path, server: &Path, options: &[&str]) -> Result<(), String> {
    println!("judged: {}", server.display());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_named_is_taken_out_of_the_words() {
        let (given, rest) = binary_of(&["--seed", "7", "--binary", "a/b", "--phones", "2"]).unwrap();
        assert_eq!((given, rest), (Some("a/b".into()), vec!["--seed", "7", "--phones", "2"]));
        assert_eq!(binary_of(&["--seed", "7"]).unwrap(), (None, vec!["--seed", "7"]));
        assert!(binary_of(&["--binary"]).is_err());
    }
}
