//! `cargo xtask test`: every check there is, in the order in which they cost.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use crate::command::{cargo, run};
use crate::third_party::{self, Parts};
use crate::{fuzz, sim, soak, tidy, tokens};

/// How a test says that it did nothing. It goes to stderr past the test harness, which holds back prints.
const SKIPPED: &str = "skipped: ";
/// What such a test says where MDM_TEST_DATA=absent. That is no failure in CI: a checkout cannot have this data.
const ABSENT_DATA: &str = "skipped: recorded data is not in this checkout: ";

pub fn test(root: &Path) -> ExitCode {
    let ci = std::env::var("CI").is_ok_and(|value| value == "true");
    match steps(root, ci) {
        Ok(tally) => {
            println!("{tally}");
            if tally.is_success(ci) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err((step, message)) => {
            eprintln!("{message}");
            println!("tests: not run, {step} failed");
            ExitCode::FAILURE
        }
    }
}

type StepError = (&'static str, String);

fn steps(root: &Path, ci: bool) -> Result<Tally, StepError> {
    step("format", || run(cargo(root).args(["fmt", "--all", "--check"])))?;
    step("clippy", || {
        let lints =
            ["clippy", "--workspace", "--all-targets", "--keep-going", "--quiet", "--", "-D", "warnings"];
        run(cargo(root).args(lints))
    })?;
    let parts = step("third-party parts", || parts(root, ci))?;
    step("build", || run(cargo(root).args(["test", "--workspace", "--no-run", "--quiet"])))?;
    let unmeasured = step("tool list", || tokens::gate(root, &parts, ci))?;
    step("tidy", || tidy::tidy(root))?;
    step("simulation", || sim::of_tests(root))?;
    step("soak", || soak::of_tests(root))?;
    if ci {
        step("fuzzing", || fuzz::of_tests(root))?;
    }
    let tally = step("tests", || tests(root, &parts))?;
    for missing in &parts.missing {
        println!("missing: {missing}");
    }
    for line in tally.skips.iter().chain(&unmeasured) {
        println!("{line}");
    }
    Ok(tally)
}

fn step<T>(name: &'static str, work: impl FnOnce() -> Result<T, String>) -> Result<T, StepError> {
    println!("== {name}");
    let start = Instant::now();
    let outcome = work().map_err(|message| (name, message));
    println!(
        "== {name}: {} in {:.1} s",
        if outcome.is_ok() { "ok" } else { "FAILED" },
        start.elapsed().as_secs_f64()
    );
    outcome
}

fn parts(root: &Path, ci: bool) -> Result<Parts, String> {
    let parts = third_party::install(root);
    if ci && !parts.missing.is_empty() {
        return Err("a part is missing, and CI may skip nothing".to_owned());
    }
    Ok(parts)
}

fn tests(root: &Path, parts: &Parts) -> Result<Tally, String> {
    let mut command = cargo(root);
    command.args(["test", "--workspace", "--no-fail-fast"]);
    command.envs(parts.env.iter().map(|(name, path)| (name, path)));
    let own = std::env::current_exe().map_err(|e| format!("this program's own file: {e}"))?;
    command.env("MDM_TEST_XTASK", own);
    count(&mut command)
}

/// Runs `cargo test`, passing its words on, and counts from them what ran.
fn count(command: &mut Command) -> Result<Tally, String> {
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| format!("cannot run cargo test: {e}"))?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let mut tally = Tally::default();
    std::thread::scope(|scope| {
        let side = scope.spawn(|| stderr.map(|pipe| read(pipe, std::io::stderr(), Tally::skip_line)));
        if let Some(pipe) = stdout {
            tally.add(read(pipe, std::io::stdout(), Tally::result_line));
        }
        match side.join() {
            Ok(Some(other)) => tally.add(other),
            Ok(None) => {}
            Err(_) => tally.is_red = true,
        }
    });
    let status = child.wait().map_err(|e| format!("cargo test: {e}"))?;
    tally.is_red |= !status.success();
    Ok(tally)
}

fn read(pipe: impl Read, mut echo: impl Write, note: fn(&mut Tally, &str)) -> Tally {
    let (mut tally, mut pipe, mut line) = (Tally::default(), BufReader::new(pipe), Vec::new());
    while pipe.read_until(b'\n', &mut line).is_ok_and(|bytes| bytes > 0) {
        note(&mut tally, String::from_utf8_lossy(&line).trim_end());
        // A reader of ours that has gone away does not change what the tests say.
        let _ = echo.write_all(&line);
        line.clear();
    }
    tally
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Tally {
    passed: usize,
    failed: usize,
    ignored: usize,
    /// What each skipping test said. The harness counts such a test as passed.
    skips: Vec<String>,
    /// cargo's own verdict, which also knows of crashes and of tests that do not compile.
    is_red: bool,
}

impl Tally {
    /// Of stderr only: on stdout a failed test may repeat the words.
    fn skip_line(&mut self, line: &str) {
        if line.starts_with(SKIPPED) {
            self.skips.push(line.to_owned());
        }
    }

    /// Of stdout.
    fn result_line(&mut self, line: &str) {
        let Some(counts) = line.strip_prefix("test result: ").and_then(|rest| rest.split_once(". ")) else {
            return;
        };
        for count in counts.1.split("; ") {
            match count.split_once(' ').map(|(n, what)| (n.parse::<usize>().unwrap_or(0), what)) {
                Some((n, "passed")) => self.passed += n,
                Some((n, "failed")) => self.failed += n,
                Some((n, "ignored")) => self.ignored += n,
                _ => {}
            }
        }
    }

    fn add(&mut self, other: Tally) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.ignored += other.ignored;
        self.skips.extend(other.skips);
        self.is_red |= other.is_red;
    }

    fn skipped(&self) -> usize {
        self.skips.len() + self.ignored
    }

    fn is_success(&self, ci: bool) -> bool {
        let allowed = self.skips.iter().filter(|line| line.starts_with(ABSENT_DATA)).count();
        !self.is_red && self.failed == 0 && self.passed > 0 && !(ci && self.skipped() > allowed)
    }
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let passed = self.passed.saturating_sub(self.skips.len());
        write!(f, "tests: {passed} passed, {} failed, {} skipped", self.failed, self.skipped())?;
        if self.is_red && self.failed == 0 {
            f.write_str("; cargo test failed otherwise, see above")
        } else {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(stdout: &str) -> Tally {
        read(stdout.as_bytes(), std::io::sink(), Tally::result_line)
    }

    #[test]
    fn results_of_several_binaries_add_up() {
        let tally = tally(
            "test a ... ok\ntest result: ok. 12 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1s\n\
             noise\ntest result: FAILED. 3 passed; 2 failed; 1 ignored; 0 measured; 0 filtered out; finished in 1s\n",
        );
        assert_eq!(tally.to_string(), "tests: 15 passed, 2 failed, 1 skipped");
        assert!(!tally.is_success(false));
    }

    #[test]
    fn a_test_that_skipped_is_not_counted_as_passed() {
        let mut sum = tally(
            "test result: ok. 5 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1s\n",
        );
        let stderr = "   Compiling x\nskipped: adb: no adb, get it with apt-get\n";
        sum.add(read(stderr.as_bytes(), std::io::sink(), Tally::skip_line));
        assert_eq!(sum.to_string(), "tests: 4 passed, 0 failed, 1 skipped");
        assert!(sum.is_success(false));
        assert!(!sum.is_success(true), "in CI a skip is a failure");
    }

    #[test]
    fn data_that_no_checkout_has_may_be_missing_in_ci() {
        let mut sum = tally(
            "test result: ok. 5 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1s\n",
        );
        sum.skip_line("skipped: recorded data is not in this checkout: real dumps in android-ui");
        assert_eq!(sum.to_string(), "tests: 4 passed, 0 failed, 1 skipped");
        assert!(sum.is_success(true));
        sum.skip_line("skipped: adb: no adb, get it with apt-get");
        assert!(!sum.is_success(true), "a program can be had");
    }

    #[test]
    fn a_run_in_which_nothing_ran_is_no_success() {
        assert!(!tally("error: could not compile\n").is_success(false));
    }

    #[test]
    fn a_crash_is_red_even_with_no_failed_test() {
        let mut crashed = tally(
            "test result: ok. 5 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1s\n",
        );
        crashed.is_red = true;
        assert!(!crashed.is_success(false));
        assert!(crashed.to_string().contains("cargo test failed otherwise"));
    }
}
