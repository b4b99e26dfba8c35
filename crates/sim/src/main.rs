//! `mdm-sim --seed N --steps M [--seeds K] [--jobs J] [--intents I] [--ios | --helper] [--log]`: see docs/simulation.md.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command prints its results")]

use std::process::ExitCode;

use mdm_sim::compare::{Comparison, compare};
use mdm_sim::judge::Judged;
use mdm_sim::run::{Outcome, session};
use mdm_sim::world::Face;

const USAGE: &str =
    "usage: mdm-sim [--seed N] [--steps M] [--seeds K] [--jobs J] [--intents I] [--ios | --helper] [--log]";

#[derive(Clone, Copy)]
struct Options {
    seed: u64,
    seeds: u64,
    steps: usize,
    jobs: u64,
    /// Actions that both the product and a naive client do on each seed.
    intents: usize,
    log: bool,
    face: Face,
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let Some(options) = options(&words) else {
        eprintln!("{USAGE}");
        return ExitCode::FAILURE;
    };
    let outcomes = all(options);
    if outcomes.len() as u64 != options.seeds {
        println!("only {} of {} seeds ended: the simulation itself broke", outcomes.len(), options.seeds);
        return ExitCode::FAILURE;
    }
    let mut judged = Judged::default();
    let mut comparison = Comparison::default();
    let (mut calls, mut ms, mut bad) = (0, 0, 0);
    for outcome in outcomes {
        match outcome {
            Ok((outcome, compared)) => {
                judged.add(&outcome.judged);
                comparison.add(&compared);
                (calls, ms) = (calls + outcome.calls, ms + outcome.ms);
                bad += outcome.violations.len();
                print_outcome(&outcome, options.log);
            }
            Err(problem) => {
                bad += 1;
                println!("{problem}");
            }
        }
    }
    println!("{} seeds, {calls} calls, {} s of phone time, {bad} violations", options.seeds, ms / 1000);
    println!("{judged}");
    if options.intents > 0 {
        if options.log {
            println!("{}", comparison.log);
        }
        println!("\n{comparison}");
    }
    if bad == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn print_outcome(outcome: &Outcome, log: bool) {
    if log {
        println!("{}", outcome.log);
    }
    for (step, violation) in &outcome.violations {
        println!("seed {} step {step}: {:?}: {}", outcome.seed, violation.oracle, violation.why);
    }
}

type SeedResult = Result<(Outcome, Comparison), String>;

fn all(options: Options) -> Vec<SeedResult> {
    let one = move |seed: u64| -> SeedResult {
        Ok((session(seed, options.steps, options.face)?, compare(seed, options.intents)?))
    };
    let work = move |job: u64| {
        let seeds = (options.seed..options.seed + options.seeds).filter(|seed| seed % options.jobs == job);
        seeds.map(one).collect::<Vec<_>>()
    };
    let mut outcomes: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..options.jobs).map(|job| scope.spawn(move || work(job))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap_or_default()).collect()
    });
    outcomes.sort_by_key(|outcome| outcome.as_ref().map_or(0, |(outcome, _)| outcome.seed));
    outcomes
}

fn options(words: &[String]) -> Option<Options> {
    let mut options =
        Options { seed: 1, seeds: 1, steps: 20, jobs: 2, intents: 0, log: false, face: Face::Android };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--log" => options.log = true,
            "--ios" => options.face = Face::Ios,
            "--helper" => options.face = Face::AndroidWithHelper,
            "--seed" => options.seed = words.next()?.parse().ok()?,
            "--seeds" => options.seeds = words.next()?.parse().ok()?,
            "--steps" => options.steps = words.next()?.parse().ok()?,
            "--intents" => options.intents = words.next()?.parse().ok()?,
            "--jobs" => options.jobs = words.next()?.parse().ok().filter(|jobs| (1..=64).contains(jobs))?,
            _ => return None,
        }
    }
    Some(options)
}
