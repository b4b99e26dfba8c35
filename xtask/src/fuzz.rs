//! `cargo xtask fuzz`: the targets of fuzz/, two at a time. A compiler of any channel does: coverage is asked for by its
//! flags, and nothing has to be installed.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use crate::command::{cargo, output, run};

const SECONDS_DEFAULT: u32 = 600;
/// Of every run of CI.
const SECONDS_OF_TESTS: u32 = 30;
/// Targets that attack the virtual phone, which only tests use: they are for runs by hand.
const OF_THE_PHONE: [&str; 4] = ["adbd_frames", "helper_requests", "shell_script", "sync_requests"];
/// Targets that run at the same time.
const JOBS: usize = 2;
/// A single input that takes longer is a finding.
const INPUT_SECONDS_MAX: u32 = 20;
/// A process that holds more is a finding.
const MEMORY_MB_MAX: u32 = 2048;
/// Screens, logs and reports of crashes are large, and bugs of reading them may need that.
const LARGE_BYTES_MAX: usize = 1024 * 1024;
const LARGE: [&str; 7] =
    ["android_answers", "crash_reports", "hierarchy", "ios_trees", "logs", "markup", "screen_files"];
/// The longest input of every other target. Without a limit libFuzzer has one of 4096 bytes.
const SMALL_BYTES_MAX: usize = 64 * 1024;
/// A run of at least so long is judged: less code or fewer inputs than these mean that the fuzzer is blind.
const JUDGED_SECONDS_MIN: u32 = 30;
/// The smallest decoders have more than twice as many.
const EDGES_MIN: u64 = 100;
/// The slowest targets try five times as many, also where other programs take most of the machine.
const EXECUTIONS_MIN: u64 = 500;
/// How much a failed target may say.
const SAID_LINES_MAX: usize = 60;
const FLAGS: &str = "--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares";
const USAGE: &str = "usage: cargo xtask fuzz [--seconds N] [TARGET…]";

pub fn fuzz(root: &Path, options: &[&str]) -> Result<(), String> {
    let (seconds, names) = match options {
        ["--seconds", number, names @ ..] => {
            (number.parse().map_err(|e| format!("--seconds {number}: {e}\n{USAGE}"))?, names)
        }
        names => (SECONDS_DEFAULT, names),
    };
    let all = targets(root)?;
    if let Some(unknown) = names.iter().find(|name| !all.iter().any(|target| target == *name)) {
        return Err(format!("there is no target {unknown:?}; there are {}\n{USAGE}", all.join(", ")));
    }
    let chosen = all.into_iter().filter(|target| names.is_empty() || names.contains(&target.as_str()));
    play(root, chosen.collect(), seconds)
}

/// Of the tests: every decoder of the product.
pub fn of_tests(root: &Path) -> Result<(), String> {
    let decoders = targets(root)?.into_iter().filter(|target| !OF_THE_PHONE.contains(&target.as_str()));
    let queue: VecDeque<String> = decoders.collect();
    let start = Instant::now();
    build(root)?;
    println!("the targets were built in {:.0} s", start.elapsed().as_secs_f64());
    play(root, queue, SECONDS_OF_TESTS)
}

/// Each file in the folder is one.
fn targets(root: &Path) -> Result<Vec<String>, String> {
    let folder = root.join("fuzz/fuzz_targets");
    let read = std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let files = read.filter_map(|entry| Some(entry.ok()?.path()));
    let mut names: Vec<String> =
        files.filter_map(|file| Some(file.file_stem()?.to_str()?.to_owned())).collect();
    names.sort();
    Ok(names)
}

fn play(root: &Path, queue: VecDeque<String>, seconds: u32) -> Result<(), String> {
    let folder = build(root)?;
    let (queue, done) = (Mutex::new(queue), Mutex::new(Vec::new()));
    let work = || loop {
        let next = queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        let Some(name) = next else { return };
        let run = one(root, &folder, &name, seconds);
        let line = match &run {
            Ok(run) => run.to_string(),
            Err(problem) => format!("{name}: {problem}"),
        };
        println!("{line}");
        done.lock().unwrap_or_else(PoisonError::into_inner).push(run.map_err(|problem| (name, problem)));
    };
    println!(
        "{:<18}{:>8}{:>14}{:>10}{:>10}{:>8}",
        "target", "seconds", "executions", "edges", "features", "MB"
    );
    std::thread::scope(|scope| (0..JOBS).for_each(|_| drop(scope.spawn(work))));
    let done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    let failed: Vec<String> =
        done.into_iter().filter_map(Result::err).map(|(name, why)| format!("{name}: {why}")).collect();
    if failed.is_empty() { Ok(()) } else { Err(failed.join("\n")) }
}

/// Builds every target; returns the folder of the programs.
fn build(root: &Path) -> Result<PathBuf, String> {
    let version = output(Command::new("rustc").arg("-vV"))?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).ok_or("rustc names no host")?;
    let folder = crate::command::metadata(root)?.target_directory.join("fuzz");
    let mut command = cargo(root);
    command.current_dir(root.join("fuzz")).env("RUSTFLAGS", FLAGS).env("CARGO_TARGET_DIR", &folder);
    // A target is named, so that the flags are not used for what the compiler itself runs.
    run(command.args(["build", "--quiet", "--locked", "--profile", "fuzz", "--bins", "--target", host]))?;
    Ok(folder.join(host).join("fuzz"))
}

fn one(root: &Path, programs: &Path, name: &str, seconds: u32) -> Result<Played, String> {
    let fuzz = root.join("fuzz");
    let (corpus, found) = (fuzz.join("corpus").join(name), fuzz.join("artifacts").join(name));
    for folder in [&corpus, &found] {
        std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    let mut command = Command::new(programs.join(name));
    command.current_dir(&fuzz).arg(&corpus);
    let seeds = fuzz.join("seeds").join(name);
    if seeds.is_dir() {
        command.arg(seeds);
    }
    command.args([
        format!("-max_total_time={seconds}"),
        format!("-max_len={}", input_bytes_max(name)),
        format!("-timeout={INPUT_SECONDS_MAX}"),
        format!("-rss_limit_mb={MEMORY_MB_MAX}"),
        format!("-artifact_prefix={}/", found.display()),
        "-print_final_stats=1".to_owned(),
    ]);
    let words = fuzz.join(format!("{name}.dict"));
    if words.is_file() {
        command.arg(format!("-dict={}", words.display()));
    }
    let output = command.output().map_err(|error| format!("{}: {error}", programs.display()))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.success() {
        return Played::of(name, seconds, &said)?.judged();
    }
    let lines: Vec<&str> = said.lines().collect();
    let end = lines[lines.len().saturating_sub(SAID_LINES_MAX)..].join("\n");
    Err(format!("{}, see {}\n{end}", output.status, found.display()))
}

fn input_bytes_max(name: &str) -> usize {
    if LARGE.contains(&name) { LARGE_BYTES_MAX } else { SMALL_BYTES_MAX }
}

/// What a run came to.
#[derive(Debug, PartialEq, Eq)]
struct Played {
    name: String,
    seconds: u32,
    executions: u64,
    edges: u64,
    features: u64,
    memory_mb: u64,
}

impl Played {
    fn of(name: &str, seconds: u32, said: &str) -> Result<Played, String> {
        // The last line that tells a figure is the newest.
        let after = |word: &str| {
            let lines = said.lines().rev().filter_map(|line| line.split_once(word));
            let mut figures = lines.filter_map(|(_, rest)| rest.split_whitespace().next()?.parse().ok());
            figures.next().ok_or_else(|| format!("the fuzzer did not tell {word:?}"))
        };
        Ok(Played {
            name: name.to_owned(),
            seconds,
            executions: after("stat::number_of_executed_units:")?,
            edges: after(" cov: ")?,
            features: after(" ft: ")?,
            memory_mb: after("stat::peak_rss_mb:")?,
        })
    }

    /// A fuzzer that sees nothing of the code finds nothing either.
    fn judged(self) -> Result<Played, String> {
        let is_blind = self.edges < EDGES_MIN || self.executions < EXECUTIONS_MIN;
        if self.seconds >= JUDGED_SECONDS_MIN && is_blind {
            return Err(format!(
                "the fuzzer is blind: {} edges of at least {EDGES_MIN} and {} executions of at least {EXECUTIONS_MIN} \
                 in {} s",
                self.edges, self.executions, self.seconds
            ));
        }
        Ok(self)
    }
}

impl std::fmt::Display for Played {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Played { name, seconds, executions, edges, features, memory_mb } = self;
        write!(f, "{name:<18}{seconds:>8}{executions:>14}{edges:>10}{features:>10}{memory_mb:>8}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_from_what_the_fuzzer_says() {
        let said = "#2\tINITED cov: 10 ft: 11 corp: 1/1b exec/s: 0 rss: 40Mb\n\
                    #99\tDONE   cov: 120 ft: 340 corp: 5/9b lim: 4 exec/s: 9 rss: 41Mb\n\
                    stat::number_of_executed_units: 99\nstat::peak_rss_mb:              41\n";
        let played = Played::of("markup", 30, said).unwrap();
        assert_eq!((played.executions, played.edges, played.features, played.memory_mb), (99, 120, 340, 41));
        for word in [" cov: ", " ft: ", "executed_units:", "peak_rss_mb:"] {
            assert!(Played::of("markup", 30, &said.replace(word, "")).is_err(), "{word}");
        }
    }

    #[test]
    fn a_blind_fuzzer_fails_unless_its_run_was_too_short_to_tell() {
        let run = |seconds, edges, executions| {
            let name = "markup".to_owned();
            Played { name, seconds, executions, edges, features: 1, memory_mb: 1 }.judged()
        };
        assert!(run(30, EDGES_MIN, EXECUTIONS_MIN).is_ok());
        assert!(run(30, EDGES_MIN - 1, EXECUTIONS_MIN).is_err());
        assert!(run(30, EDGES_MIN, EXECUTIONS_MIN - 1).is_err());
        assert!(run(29, 0, 0).is_ok());
    }

    #[test]
    fn every_target_is_known_to_cargo() {
        // SE-07
        let root = crate::command::root();
        let manifest = std::fs::read_to_string(root.join("fuzz/Cargo.toml")).unwrap();
        let targets = targets(&root).unwrap();
        assert!(targets.len() >= 19);
        assert!(LARGE.iter().all(|name| targets.iter().any(|target| target == name)));
        for target in targets {
            assert!(manifest.contains(&format!("path = \"fuzz_targets/{target}.rs\"")), "{target}");
        }
    }
}
