//! Errors with file and line out of what build tools print.
//!
//! Each form is documented at its reader. What no reader knows is not guessed at: the last lines of the output are shown
//! beside the errors in any case.

/// Errors of one build that are kept, the first ones: later ones often follow from them.
pub const DIAGNOSTICS_MAX: usize = 50;
/// Characters of a message that are kept.
const MESSAGE_CHARS_MAX: usize = 400;
/// Lines of Gradle's explanation that are kept.
const EXPLANATION_LINES_MAX: usize = 12;
/// Lines between an error of javac and the name of the symbol that it is about.
const SYMBOL_LINES: usize = 3;

/// One error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    pub file: Option<String>,
    pub line: Option<u32>,
    pub column: Option<u32>,
    pub message: String,
}

impl Diagnostic {
    fn without_place(message: &str) -> Diagnostic {
        Diagnostic { file: None, line: None, column: None, message: cut(message) }
    }

    /// `File.kt:12:5: message`, as editors and agents know it.
    pub fn shown(&self) -> String {
        let mut out = String::new();
        if let Some(file) = &self.file {
            out.push_str(file);
            for number in [self.line, self.column].into_iter().flatten() {
                out.push_str(&format!(":{number}"));
            }
            out.push_str(": ");
        }
        out + &self.message
    }
}

/// Reads the errors of a build, each once, those with a place first.
pub fn read<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<Diagnostic> {
    let lines: Vec<&str> = lines.collect();
    let mut found: Vec<Diagnostic> = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let rest = &lines[index + 1..];
        let Some(one) = kotlin(line)
            .or_else(|| manifest_merger(line, rest))
            .or_else(|| place_and_error(line, rest))
            .or_else(|| metro(line))
            .or_else(|| gradle_place(line, rest))
            .or_else(|| without_place(line))
        else {
            continue;
        };
        if found.len() < DIAGNOSTICS_MAX && !found.contains(&one) {
            found.push(one);
        }
    }
    // Gradle repeats errors in its explanation; it is only needed where nothing else tells.
    if found.iter().all(|one| one.file.is_none()) {
        let told = explanation(&lines).filter(|one| !found.contains(one));
        found.extend(told);
    }
    found.sort_by_key(|one| one.file.is_none());
    found
}

/// The step that a line of output announces.
pub fn step(line: &str) -> Option<&str> {
    let line = line.trim();
    if let Some(task) = line.strip_prefix("> Task ") {
        let is_idle =
            ["UP-TO-DATE", "NO-SOURCE", "SKIPPED", "FROM-CACHE"].iter().any(|end| task.ends_with(end));
        return (!is_idle).then_some(task);
    }
    let begins = |word: &&str| line.starts_with(*word);
    let is_step = [
        "Running Gradle task",
        "Running pod install",
        "Running Xcode build",
        "Compiling, linking and signing",
        "CompileSwift normal",
        "SwiftCompile normal",
        "CompileC ",
        "Ld ",
        "CodeSign ",
        "Resolving dependencies",
        "> Configure project",
    ];
    is_step.iter().any(begins).then_some(line)
}

fn cut(message: &str) -> String {
    let message = message.trim();
    match message.char_indices().nth(MESSAGE_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &message[..end]),
        None => message.to_owned(),
    }
}

fn placed(file: &str, line: Option<u32>, column: Option<u32>, message: &str) -> Diagnostic {
    let file = file.trim().trim_start_matches("file://").to_owned();
    Diagnostic { file: Some(file), line, column, message: cut(message) }
}

/// kotlinc since 1.8 `e: file:///a/B.kt:12:5 message`, of scripts `e: /a/build.gradle.kts:3:1: message`, and before
/// `e: /a/B.kt: (12, 5): message`.
fn kotlin(line: &str) -> Option<Diagnostic> {
    let rest = line.trim_start().strip_prefix("e: ")?;
    if let Some((file, rest)) = rest.split_once(": (")
        && let Some((place, message)) = rest.split_once("): ")
        && let Some((line, column)) = place.split_once(", ")
    {
        return Some(placed(file, line.parse().ok(), column.parse().ok(), message));
    }
    let source = [".kt:", ".kts:", ".java:"].iter().find_map(|end| Some(rest.find(end)? + end.len()));
    let Some(end) = source else { return Some(Diagnostic::without_place(rest)) };
    let (file, rest) = (&rest[..end - 1], &rest[end..]);
    let (line, rest) = number(rest)?;
    let (column, rest) = rest.strip_prefix(':').and_then(number).map_or((None, rest), |(n, r)| (Some(n), r));
    Some(placed(file, Some(line), column, rest.trim_start_matches([':', ' '])))
}

/// javac `A.java:12: error: message`; aapt2 `a.xml:12: error: message`, through Gradle with `AAPT: error:` and a range
/// `12:5-14:20`; Dart `lib/main.dart:12:5: Error: message`; clang and swiftc `A.swift:12:5: error: message` and
/// `fatal error:`.
fn place_and_error(line: &str, rest: &[&str]) -> Option<Diagnostic> {
    let marks = [": AAPT: error: ", ": fatal error: ", ": error: ", ": Error: "];
    let (at, mark) = marks.iter().filter_map(|mark| Some((line.find(mark)?, mark))).min()?;
    let (left, message) = (line[..at].trim(), &line[at + mark.len()..]);
    let left = left.strip_prefix("ERROR: ").or_else(|| left.strip_prefix("ERROR:")).unwrap_or(left);
    let left = left.strip_prefix("e: ").unwrap_or(left);
    let (file, line, column) = place(left)?;
    let column = column.or_else(|| caret(rest));
    Some(placed(file, Some(line), column, &with_symbol(message, rest)))
}

/// javac names what it cannot find a few lines below: `symbol:   variable price`.
fn with_symbol(message: &str, rest: &[&str]) -> String {
    let below = rest.iter().take(SYMBOL_LINES).find_map(|line| line.trim().strip_prefix("symbol:"));
    match below.filter(|_| message.trim() == "cannot find symbol") {
        Some(symbol) => format!("{}: {}", message.trim(), symbol.trim()),
        None => message.to_owned(),
    }
}

/// Splits `FILE:LINE`, `FILE:LINE:COLUMN` and `FILE:LINE:COLUMN-LINE:COLUMN`.
fn place(text: &str) -> Option<(&str, u32, Option<u32>)> {
    let is_number = |c: char| c.is_ascii_digit();
    // A range at the end: only its beginning counts.
    let text = match text.rsplit_once('-') {
        Some((before, after)) if !after.is_empty() && after.chars().all(|c| is_number(c) || c == ':') => {
            before
        }
        _ => text,
    };
    let (before, last) = text.rsplit_once(':')?;
    let last: u32 = last.parse().ok()?;
    if let Some((file, line)) = before.rsplit_once(':')
        && let Ok(line) = line.parse::<u32>()
        && !file.is_empty()
    {
        return Some((file, line, Some(last)));
    }
    (!before.is_empty()).then_some((before, last, None))
}

/// The column that a compiler marks with `^` in the second line after the error.
fn caret(rest: &[&str]) -> Option<u32> {
    let marked = rest.get(1)?;
    let is_mark =
        marked.trim_start().starts_with('^') && marked.chars().all(|c| matches!(c, ' ' | '\t' | '^' | '~'));
    let at = marked.chars().position(|c| c == '^')?;
    is_mark.then(|| u32::try_from(at + 1).ok()).flatten()
}

/// `/a/AndroidManifest.xml:12:5-20:19 Error:` with the message in the next line.
fn manifest_merger(line: &str, rest: &[&str]) -> Option<Diagnostic> {
    let (file, line, column) = place(line.trim().strip_suffix(" Error:")?)?;
    Some(placed(file, Some(line), column, rest.first()?))
}

/// Metro: `error SyntaxError: /a/App.js: Unexpected token (12:5)` and
/// `Error: Unable to resolve module ./x from /a/App.js: …`.
fn metro(line: &str) -> Option<Diagnostic> {
    if let Some(at) = line.find("SyntaxError: ")
        && let Some((file, message)) = line[at + "SyntaxError: ".len()..].split_once(": ")
        && let Some((text, place)) = message.rsplit_once(" (")
        && let Some((line, column)) = place.trim_end().trim_end_matches(')').split_once(':')
        && let Ok(line) = line.parse()
    {
        return Some(placed(file, Some(line), column.parse().ok(), text));
    }
    let at = line.find("Unable to resolve module ")?;
    let (module, rest) = line[at..].split_once(" from ")?;
    let file = rest.split_once(": ").map_or(rest, |(file, _)| file);
    Some(placed(file.trim_matches('`'), None, None, module))
}

/// Gradle's `* Where:` and `Build file '/a/build.gradle' line: 12`, with the message after `* What went wrong:`.
fn gradle_place(line: &str, rest: &[&str]) -> Option<Diagnostic> {
    let named = ["Build file '", "Settings file '", "Script '"]
        .iter()
        .find_map(|begin| line.trim().strip_prefix(begin));
    let (file, after) = named?.split_once('\'')?;
    let line = after.trim().strip_prefix("line: ")?.trim().parse().ok()?;
    let at = rest.iter().position(|line| line.trim() == "* What went wrong:")?;
    Some(placed(file, Some(line), None, rest.get(at + 1)?))
}

/// Errors of linkers, packagers and xcodebuild itself, which have no place.
fn without_place(line: &str) -> Option<Diagnostic> {
    let line = line.trim();
    let begins = ["error: ", "xcodebuild: error: ", "ld: ", "Undefined symbols for architecture", "ERROR: "];
    let message = begins.iter().find(|begin| line.starts_with(**begin)).map(|begin| match *begin {
        "error: " | "ERROR: " => &line[begin.len()..],
        _ => line,
    })?;
    (!message.starts_with("warning: ") && !line.starts_with("ld: warning"))
        .then(|| Diagnostic::without_place(message))
}

/// The paragraph after `* What went wrong:`.
fn explanation(lines: &[&str]) -> Option<Diagnostic> {
    let at = lines.iter().position(|line| line.trim() == "* What went wrong:")?;
    let told = lines[at + 1..].iter().map(|line| line.trim().trim_start_matches("> "));
    let told: Vec<&str> =
        told.take_while(|line| !line.starts_with("* ")).take(EXPLANATION_LINES_MAX).collect();
    (!told.is_empty()).then(|| Diagnostic::without_place(&told.join(" ")))
}

fn number(text: &str) -> Option<(u32, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    Some((text[..end].parse().ok()?, &text[end..]))
}
