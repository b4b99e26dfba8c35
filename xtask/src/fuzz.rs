//! `cargo xtask fuzz`: every target of fuzz/ for a while, one after the other.

use std::path::Path;
use std::process::Command;

use crate::command::{output, run};

const TARGETS: [&str; 8] = [
    "adbd_frames",
    "shell_script",
    "sync_requests",
    "helper_requests",
    "hierarchy",
    "ios_trees",
    "screen_files",
    "wire_codecs",
];
const SECONDS_DEFAULT: u32 = 600;
/// A single input that takes longer is a finding.
const INPUT_SECONDS_MAX: u32 = 20;
/// A process that holds more is a finding.
const MEMORY_MB_MAX: u32 = 2048;

pub fn fuzz(root: &Path, options: &[&str]) -> Result<(), String> {
    let seconds = match options {
        [] => SECONDS_DEFAULT,
        ["--seconds", number] => number.parse().map_err(|e| format!("--seconds {number}: {e}"))?,
        _ => return Err("usage: cargo xtask fuzz [--seconds N]".to_owned()),
    };
    output(Command::new("cargo").args(["+nightly", "--version"]))
        .map_err(|e| format!("no nightly compiler, get it with: rustup toolchain install nightly\n{e}"))?;
    output(Command::new("cargo").args(["fuzz", "--version"]))
        .map_err(|e| format!("no cargo-fuzz, get it with: cargo install cargo-fuzz\n{e}"))?;
    let mut failed = Vec::new();
    for target in TARGETS {
        let limits = [
            format!("-max_total_time={seconds}"),
            format!("-timeout={INPUT_SECONDS_MAX}"),
            format!("-rss_limit_mb={MEMORY_MB_MAX}"),
            format!("-dict=fuzz/{target}.dict"),
        ];
        let with_words = root.join(format!("fuzz/{target}.dict")).is_file();
        let limits = limits.iter().take(if with_words { 4 } else { 3 });
        let mut command = Command::new("cargo");
        command.current_dir(root).args(["+nightly", "fuzz", "run", target, "--"]).args(limits);
        if let Err(problem) = run(&mut command) {
            failed.push(format!("{target}: {problem}"));
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(failed.join("\n")) }
}
