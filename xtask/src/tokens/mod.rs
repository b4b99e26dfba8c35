//! `cargo xtask tokens`: what the tool list costs an agent before its first call, beside that of two peers, and the
//! gate that keeps it small.

mod list;
mod tokenizer;

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use list::{Measured, ToolList};
pub use tokenizer::Tokenizer;

use crate::command::{debug_binary, metadata};
use crate::third_party::{self, Parts};

/// All tools that are on by default.
const TOOLS_TOKENS_MAX: usize = 4_000;
const TOOL_TOKENS_MAX: usize = 150;
/// The tools of `--toolsets core`.
const CORE_TOKENS_MAX: usize = 1_500;
const INSTRUCTIONS_TOKENS_MAX: usize = 450;

const CORE: [&str; 2] = ["--toolsets", "core"];
const NO_TOKENIZER: &str = "no tokenizer; get it with: cargo xtask third-party";

/// Prints the tables.
pub fn report(root: &Path) -> Result<(), String> {
    let parts = third_party::installed_node(root);
    let tokenizer = Tokenizer::of(&parts).ok_or(NO_TOKENIZER)?;
    let binary = debug_binary(root)?;
    let (ours, core) = (ours(&binary, &[], &tokenizer)?, ours(&binary, &CORE, &tokenizer)?);
    println!("{}", table(&ours, &core));
    let core = Measured { server: format!("{}, core", core.server), ..core };
    let mut all = vec![Ok(ours), Ok(core)];
    // A home of their own keeps the peers from reading or writing the user's.
    let home = std::env::temp_dir().join(format!("mdm-tokens-home-{}", std::process::id()));
    std::fs::create_dir_all(&home).map_err(|e| format!("{}: {e}", home.display()))?;
    for (name, command) in peers(&parts, &home) {
        let measured = command.and_then(|mut command| ToolList::of(&mut command)?.measure(&tokenizer));
        all.push(measured.map_err(|why| format!("{name}: {why}")));
    }
    let _ = std::fs::remove_dir_all(&home);
    println!("{}", comparison(&all));
    Ok(())
}

/// Fails when the list of the built product is too large. Gives a line that says so when nothing was measured.
pub fn gate(root: &Path, parts: &Parts, ci: bool) -> Result<Option<String>, String> {
    let Some(tokenizer) = Tokenizer::of(parts) else { return without_tokenizer(ci) };
    let binary = metadata(root)?.target_directory.join("debug/mobile-debug-mcp");
    let (measured, core) = (ours(&binary, &[], &tokenizer)?, ours(&binary, &CORE, &tokenizer)?);
    println!("{}", table(&measured, &core));
    match breaches(&measured, &core).as_slice() {
        [] => Ok(None),
        breaches => Err(breaches.join("\n")),
    }
}

fn without_tokenizer(ci: bool) -> Result<Option<String>, String> {
    if ci { Err(NO_TOKENIZER.to_owned()) } else { Ok(Some(format!("skipped: tool list, {NO_TOKENIZER}"))) }
}

fn ours(binary: &Path, options: &[&str], tokenizer: &Tokenizer) -> Result<Measured, String> {
    let mut command = Command::new(binary);
    command.args(["serve", "--no-adb-server"]).args(options);
    ToolList::of(&mut command)?.measure(tokenizer)
}

/// How each peer is started as a server.
fn peers(parts: &Parts, home: &Path) -> [(&'static str, Result<Command, String>); 2] {
    let command = |part: &str, words: &[&str]| {
        let (Some(node), Some(script)) = (parts.path("MDM_TEST_NODE_BIN"), parts.path(part)) else {
            return Err("not installed here".to_owned());
        };
        let mut command = Command::new(node);
        command.arg(script).args(words).env("HOME", home).current_dir(home);
        command.env("MOBILEMCP_DISABLE_TELEMETRY", "1").env("AGENT_DEVICE_NO_UPDATE_NOTIFIER", "1");
        Ok(command)
    };
    [
        ("mobile-mcp", command("MDM_TEST_MOBILE_MCP", &[])),
        ("agent-device", command("MDM_TEST_AGENT_DEVICE", &["mcp"])),
    ]
}

fn breaches(measured: &Measured, core: &Measured) -> Vec<String> {
    let large = measured.tools.iter().filter(|(_, tokens)| *tokens > TOOL_TOKENS_MAX);
    let mut breaches: Vec<String> =
        large.map(|(name, tokens)| format!("{name}: {tokens} tokens, more than {TOOL_TOKENS_MAX}")).collect();
    for (what, tokens, tokens_max) in [
        ("all tools", measured.sum(), TOOLS_TOKENS_MAX),
        ("core tools", core.sum(), CORE_TOKENS_MAX),
        ("instructions", measured.instructions, INSTRUCTIONS_TOKENS_MAX),
    ] {
        if tokens > tokens_max {
            breaches.push(format!("{what}: {tokens} tokens, more than {tokens_max}"));
        }
    }
    breaches
}

fn table(measured: &Measured, core: &Measured) -> String {
    let mut out = format!("{:<32} {:>7} {:>8}\n", "tool", "tokens", "at most");
    let mut line = |what: &str, tokens: usize, tokens_max: usize| {
        let mark = if tokens > tokens_max { "  too many" } else { "" };
        let _ = writeln!(out, "{what:<32} {tokens:>7} {tokens_max:>8}{mark}");
    };
    for (name, tokens) in &measured.tools {
        line(name, *tokens, TOOL_TOKENS_MAX);
    }
    line(&format!("all {} tools", measured.tools.len()), measured.sum(), TOOLS_TOKENS_MAX);
    line(&format!("the {} tools of --toolsets core", core.tools.len()), core.sum(), CORE_TOKENS_MAX);
    line("instructions", measured.instructions, INSTRUCTIONS_TOKENS_MAX);
    out
}

fn comparison(all: &[Result<Measured, String>]) -> String {
    let mut out =
        format!("{:<26} {:>5} {:>7} {:>13}  largest tool\n", "server", "tools", "tokens", "instructions");
    for measured in all {
        let _ = match measured {
            Ok(Measured { server, tools, instructions }) => {
                let sum = measured.as_ref().map_or(0, Measured::sum);
                let largest =
                    tools.first().map(|(name, tokens)| format!("{name} {tokens}")).unwrap_or_default();
                writeln!(out, "{server:<26} {:>5} {sum:>7} {instructions:>13}  {largest}", tools.len())
            }
            Err(why) => writeln!(out, "not measured: {why}"),
        };
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(tools: &[usize], instructions: usize) -> Measured {
        let tools = tools.iter().enumerate().map(|(at, tokens)| (format!("tool_{at}"), *tokens)).collect();
        Measured { server: "a 1.0".to_owned(), tools, instructions }
    }

    #[test]
    fn a_list_at_its_limits_passes() {
        let at_limit = measured(&[vec![TOOL_TOKENS_MAX; 26], vec![100]].concat(), INSTRUCTIONS_TOKENS_MAX);
        assert_eq!(at_limit.sum(), TOOLS_TOKENS_MAX);
        let core = measured(&[CORE_TOKENS_MAX / 10; 10], 0);
        assert_eq!(breaches(&at_limit, &core), Vec::<String>::new());
    }

    #[test]
    fn each_limit_fails_for_itself() {
        let none = measured(&[], 0);
        assert_eq!(breaches(&measured(&[151, 150], 0), &none), ["tool_0: 151 tokens, more than 150"]);
        assert_eq!(breaches(&measured(&[150; 27], 0), &none), ["all tools: 4050 tokens, more than 4000"]);
        assert_eq!(breaches(&measured(&[], 451), &none), ["instructions: 451 tokens, more than 450"]);
        assert_eq!(breaches(&none, &measured(&[150; 11], 0)), ["core tools: 1650 tokens, more than 1500"]);
    }

    #[test]
    fn a_missing_tokenizer_is_a_skip_at_home_and_a_failure_in_ci() {
        assert!(without_tokenizer(false).unwrap().unwrap().starts_with("skipped: "));
        assert!(without_tokenizer(true).is_err());
    }

    #[test]
    fn the_comparison_names_what_was_not_measured() {
        let told = comparison(&[Ok(measured(&[20, 10], 5)), Err("peer: not installed here".to_owned())]);
        let lines: Vec<Vec<&str>> = told.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(lines[1], ["a", "1.0", "2", "30", "5", "tool_0", "20"]);
        assert_eq!(lines[2].join(" "), "not measured: peer: not installed here");
    }
}
