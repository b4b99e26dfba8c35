//! What the project does to itself. `cargo xtask test` is the command of the README and of CI.

mod android_parts;
mod bench;
mod command;
mod compat;
mod dist;
mod docs;
mod framework;
mod fuzz;
mod helper;
mod judge;
mod limits;
mod maven;
mod mcp;
mod platforms;
mod sim;
mod soak;
mod test;
mod third_party;
mod tidy;
mod tokens;

use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask COMMAND

  test           format, lints, tidy and every test; what CI runs. With CI=true a skipped test is a failure
  tidy           the rules that no compiler checks
  tokens         what the tool list costs an agent, tool by tool, and beside it the lists of two peers
  dist [--target TRIPLE] [--binary FILE] [--out FOLDER] [--repository OWNER/NAME] [--join]
                 the files of a release: archive, checksums, list of parts, npm packages, bundle (docs/install.md)
  platforms [TARGET…]
                 type-checks the product for the systems of a release that this machine is not (docs/install.md)
  docs           writes docs/tools.md, docs/limits.md, docs/compat.md and the tool schemas anew
  bench [--json FILE] [--data FOLDER] [--binary FILE] [--only PART]
                 times the release build against the virtual phone, beside the phone's own time
  fuzz [--seconds N] [TARGET…]
                 hostile input to the phone and to every decoder, each target for that long (600)
  soak [--seconds N] [--clients N] [--phones N] [--seed S] [--binary FILE]
                 many clients of one server over HTTP, on phones that drop out; judged by the phones' own truth (docs/soak.md)
  framework      fetches and builds the framework phone into .third-party/framework (docs/framework-phone.md)
  judge [--api LEVEL]
                 the product on every activity of ApiDemos, judged by Android's own views; writes docs/figures/apidemos.md
  sim [--seed N] [--steps M] [--seeds K] [--intents I] [--ios | --helper] [--log]
                 random apps, timings and faults, judged by the phone's own truth (docs/simulation.md)
  helper         builds the program that a phone runs, helper/mdm-helper.jar, with a JDK 17 and Maven
  third-party    installs the pinned clients that the interop tests run, into .third-party/";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let root = command::root();
    let outcome = match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["test"] => return test::test(&root),
        ["tidy"] => tidy::tidy(&root),
        ["bench", options @ ..] => bench::bench(&root, options),
        ["fuzz", options @ ..] => fuzz::fuzz(&root, options),
        ["soak", options @ ..] => soak::soak(&root, options),
        ["sim", options @ ..] => sim::sim(&root, options),
        ["helper"] => helper::write(&root),
        ["tokens"] => tokens::report(&root),
        ["dist", options @ ..] => dist::dist(&root, options),
        ["platforms", targets @ ..] => platforms::platforms(&root, targets),
        ["docs"] => docs::write(&root),
        ["framework"] => framework::report(&root),
        ["judge", options @ ..] => judge::judge(&root, options),
        ["third-party"] => third_party::report(&root),
        _ => Err(USAGE.to_owned()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}
