//! The phone's shell: POSIX grammar over an in-memory system.

mod builtin;
pub mod commands;
mod condition;
mod control;
mod execute;
pub mod expand;
pub mod io;
mod pattern;
mod redirect;
pub mod services;
mod wrapper;

use brush_parser::{Parser, ParserOptions, ast};

use crate::phone::Phone;
use execute::Shell;
use io::Io;

/// Longest script; a real argument list is limited too.
pub const SCRIPT_BYTES_MAX: usize = 128 * 1024;
/// The nesting of brackets and keywords, over which the parser recurses and backtracks.
const NESTING_MAX: usize = 24;

/// Runs one script to its end, as `sh -c` does, and returns its exit code.
pub async fn run(phone: &Phone, script: &str, io: Io) -> u8 {
    phone.publish_script(script);
    let Some(_process) = RunningShell::start(phone) else {
        let _ = io.stderr.write("/system/bin/sh: fork: Resource temporarily unavailable\n").await;
        return 1;
    };
    let mut shell = Shell::new(phone.clone());
    shell.script(script, &io).await
}

/// Runs a shell that reads its commands line by line.
pub async fn interactive(phone: &Phone, io: Io, prompts: bool) -> u8 {
    const PROMPT: &str = "virtual:/ $ ";
    let Some(_process) = RunningShell::start(phone) else { return 1 };
    let mut shell = Shell::new(phone.clone());
    loop {
        if prompts && io.stdout.write(PROMPT).await.is_err() {
            return io::BROKEN_EXIT;
        }
        let Some(line) = io.stdin.line().await else { return shell.status };
        let inner = Io { stdin: io::Input::empty(), ..io.clone() };
        if shell.line(line.trim_end_matches('\r'), &inner).await {
            return shell.status;
        }
    }
}

/// Counts a running program for as long as it lives.
struct RunningShell(Phone);

impl RunningShell {
    fn start(phone: &Phone) -> Option<RunningShell> {
        let free = phone.with(|state| state.processes.begin_shell());
        free.then(|| RunningShell(phone.clone()))
    }
}

impl Drop for RunningShell {
    fn drop(&mut self) {
        self.0.with(|state| state.processes.end_shell());
    }
}

fn options() -> ParserOptions {
    ParserOptions {
        enable_extended_globbing: false,
        sh_mode: false,
        posix_mode: true,
        ..ParserOptions::default()
    }
}

/// Parses a script; an error is the shell's message.
fn parse(script: &str) -> Result<ast::Program, String> {
    if script.len() > SCRIPT_BYTES_MAX {
        return Err("sh: Argument list too long".to_owned());
    }
    if nesting(script) > NESTING_MAX {
        return Err("sh: syntax error: nested too deeply".to_owned());
    }
    if redirects_huge_number(script) {
        return Err("/system/bin/sh: syntax error: bad file descriptor".to_owned());
    }
    if has_unclosed_here_document(script) {
        return Err("/system/bin/sh: here document unclosed".to_owned());
    }
    let parsed = parse_once(script);
    // The parser misses the end of a `case` right before a closing bracket, and finds it after a semicolon.
    if parsed.is_err() && (script.contains("esac )") || script.contains("esac)")) {
        let helped = script.replace("esac )", "esac; )").replace("esac)", "esac; )");
        return parse_once(&helped).or(parsed);
    }
    parsed
}

fn parse_once(script: &str) -> Result<ast::Program, String> {
    // A defect in the parser, which is another crate, must not end the connection.
    // Its wider grammar takes some subshells for arithmetic, so only scripts that need it are read with it.
    let options = ParserOptions { sh_mode: !script.contains("[["), ..options() };
    let parsed = std::panic::catch_unwind(|| Parser::new(script.as_bytes(), &options).parse_program());
    match parsed {
        Ok(Ok(program)) => Ok(program),
        Ok(Err(error)) => Err(format!("/system/bin/sh: syntax error: {}", first_line(&error.to_string()))),
        Err(_) => Err("/system/bin/sh: syntax error".to_owned()),
    }
}

/// Returns true for a script such as `99999999999<x`: the parser breaks off at a descriptor that is too large.
fn redirects_huge_number(script: &str) -> bool {
    let mut digits = 0;
    script.bytes().any(|byte| {
        let huge = digits > DESCRIPTOR_DIGITS_MAX && matches!(byte, b'<' | b'>');
        digits = if byte.is_ascii_digit() { digits + 1 } else { 0 };
        huge
    })
}

const DESCRIPTOR_DIGITS_MAX: usize = 9;

/// Returns true for a here-document whose end the parser would search for ever: its name is not plain or is on no
/// later line. The shell of a phone calls it unclosed too.
fn has_unclosed_here_document(script: &str) -> bool {
    script.match_indices("<<").any(|(at, _)| {
        let (before, rest) = (&script[..at], &script[at + 2..]);
        // `1 << 2` between double brackets shifts, and `<<<` begins no document.
        let shifts = before.rfind("((") > before.rfind("))");
        if shifts || rest.starts_with('<') {
            return false;
        }
        let rest = rest.strip_prefix('-').unwrap_or(rest).trim_start_matches([' ', '\t']);
        let ends = |c: char| c.is_whitespace() || matches!(c, ';' | '&' | '|' | '<' | '>' | '(' | ')');
        let (name, after) = rest.split_at(rest.find(ends).unwrap_or(rest.len()));
        let name: String = name.chars().filter(|c| !matches!(c, '\'' | '"' | '\\')).collect();
        let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '!'));
        let ends_it =
            |line: &str| line.trim_start_matches('\t').trim_end_matches(['\r', ')', '`', '"']) == name;
        name.is_empty() || !plain || !after.lines().skip(1).any(ends_it)
    })
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or("")
}

/// Returns an upper bound of the nesting, by counting opening tokens.
fn nesting(script: &str) -> usize {
    let brackets = |open: char, close: char| {
        let (mut depth, mut most) = (0usize, 0usize);
        for c in script.chars() {
            if c == open {
                depth += 1;
                most = most.max(depth);
            } else if c == close {
                depth = depth.saturating_sub(1);
            }
        }
        most
    };
    let mut keywords = 0usize;
    let mut most = 0usize;
    for word in script.split(|c: char| !c.is_ascii_alphanumeric() && c != '_') {
        match word {
            "if" | "while" | "until" | "for" | "case" => {
                keywords += 1;
                most = most.max(keywords);
            }
            "fi" | "done" | "esac" => keywords = keywords.saturating_sub(1),
            _ => {}
        }
    }
    brackets('(', ')') + brackets('{', '}') + most
}
