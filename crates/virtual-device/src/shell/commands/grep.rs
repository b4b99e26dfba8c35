//! `grep`, line by line.

use super::super::io::BrokenPipe;
use super::expression::{Dialect, Expression};
use super::{Call, files};

/// Files that one search may go over.
const FILES_MAX: usize = 10_000;

#[derive(Default)]
struct Options<'a> {
    flags: String,
    patterns: Vec<&'a str>,
    paths: Vec<String>,
    most: Option<usize>,
    before: usize,
    after: usize,
}

pub async fn grep(call: &Call<'_>) -> Result<u8, BrokenPipe> {
    let options = parse(call);
    let flags = &options.flags;
    let dialect = match call.name {
        "fgrep" => Dialect::Fixed,
        "egrep" => Dialect::Extended,
        _ if flags.contains('F') => Dialect::Fixed,
        _ if flags.contains('E') => Dialect::Extended,
        _ => Dialect::Basic,
    };
    let mut expressions = Vec::new();
    for pattern in options.patterns.iter().flat_map(|p| p.split('\n')) {
        match Expression::parse(pattern, dialect, flags.contains('i')) {
            Some(expression) => expressions.push(expression),
            None => {
                call.io.stderr.write(format!("grep: bad REGEX '{pattern}'\n")).await?;
                return Ok(2);
            }
        }
    }
    let mut run = Run { call, options: &options, expressions: &expressions, found: 0, name: None };
    if options.paths.is_empty() {
        let mut search = Search::default();
        while let Some(line) = call.io.stdin.line().await {
            if run.line(&line, &mut search).await? {
                break;
            }
        }
        run.close(&search).await?;
    }
    let named = options.paths.len() > 1 || flags.contains(['H', 'r', 'R']);
    let mut missing = false;
    for path in &options.paths {
        let Ok(data) = call.phone.with(|state| files::read(state, call, path)) else {
            missing = true;
            if !flags.contains('s') {
                call.io.stderr.write(format!("grep: {path}: No such file or directory\n")).await?;
            }
            continue;
        };
        run.name = (named && !flags.contains('h')).then(|| path.clone());
        let mut search = Search::default();
        for line in String::from_utf8_lossy(&data).lines() {
            if run.line(line, &mut search).await? {
                break;
            }
        }
        run.close_file(path, &search).await?;
    }
    Ok(if missing { 2 } else { u8::from(run.found == 0) })
}

fn parse<'a>(call: &'a Call<'_>) -> Options<'a> {
    let mut options = Options::default();
    let mut words = call.arguments.iter().map(String::as_str);
    let mut plain = Vec::new();
    while let Some(word) = words.next() {
        match word {
            "-e" => options.patterns.extend(words.next()),
            "-m" => options.most = words.next().and_then(|w| w.parse().ok()),
            "-A" => options.after = words.next().and_then(|w| w.parse().ok()).unwrap_or(0),
            "-B" => options.before = words.next().and_then(|w| w.parse().ok()).unwrap_or(0),
            "-C" => {
                options.after = words.next().and_then(|w| w.parse().ok()).unwrap_or(0);
                options.before = options.after;
            }
            "--" => plain.extend(words.by_ref()),
            word if word.starts_with("--") => {}
            word if word.len() > 1 && word.starts_with('-') => {
                let letters = word[1..].trim_end_matches(|c: char| c.is_ascii_digit());
                let number = word[1 + letters.len()..].parse().ok();
                match (letters.chars().last(), number) {
                    (Some('m'), Some(n)) => options.most = Some(n),
                    (Some('A'), Some(n)) => options.after = n,
                    (Some('B'), Some(n)) => options.before = n,
                    _ => options.flags.push_str(letters),
                }
            }
            word => plain.push(word),
        }
    }
    let mut plain = plain.into_iter();
    if options.patterns.is_empty() {
        options.patterns.extend(plain.next());
    }
    options.paths = plain.map(str::to_owned).collect();
    if options.flags.contains(['r', 'R']) {
        options.paths = below(call, &options.paths);
    }
    options
}

/// Returns every file in the named directories.
fn below(call: &Call<'_>, paths: &[String]) -> Vec<String> {
    call.phone.with(|state| {
        let mut all = Vec::new();
        for path in paths {
            let full = call.path(path);
            match state.fs.get(&full) {
                Ok(node) if node.is_dir() => {
                    let files = state.fs.files_below(&full);
                    all.extend(
                        files.iter().map(|file| format!("{path}{}", &file[full.len().min(file.len())..])),
                    );
                }
                _ => all.push(path.clone()),
            }
        }
        all.truncate(FILES_MAX);
        all
    })
}

/// The state of the search in one file.
#[derive(Default)]
struct Search {
    number: usize,
    found: usize,
    /// Lines before a match that may still be shown.
    held: Vec<(usize, String)>,
    /// The number of lines after a match that are still to be shown.
    after: usize,
}

/// Returns the bytes from which and to which an expression matches.
fn found(expression: &Expression, line: &str, from: usize) -> Option<(usize, usize)> {
    let whole = expression.find(line, from)?.get(0)?;
    Some((whole.start(), whole.end()))
}

/// Returns where the character after the one at byte `at` begins. At the end of the line it lies behind it.
fn next_char(line: &str, at: usize) -> usize {
    at + line[at..].chars().next().map_or(1, char::len_utf8)
}

struct Run<'a> {
    call: &'a Call<'a>,
    options: &'a Options<'a>,
    expressions: &'a [Expression],
    found: usize,
    name: Option<String>,
}

impl Run<'_> {
    fn fits(&self, line: &str) -> bool {
        let whole = |e: &Expression| found(e, line, 0) == Some((0, line.len()));
        let word = |e: &Expression| {
            let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
            let mut from = 0;
            while let Some((start, end)) = found(e, line, from) {
                let (before, after) = (line[..start].chars().last(), line[end..].chars().next());
                if end > start && !is_word(before) && !is_word(after) {
                    return true;
                }
                from = next_char(line, start);
            }
            false
        };
        self.expressions.iter().any(|e| match () {
            () if self.options.flags.contains('x') => whole(e),
            () if self.options.flags.contains('w') => word(e),
            () => e.is_in(line),
        })
    }

    /// Searches a line; returns true when the search can end.
    async fn line(&mut self, line: &str, search: &mut Search) -> Result<bool, BrokenPipe> {
        let flags = &self.options.flags;
        search.number += 1;
        if self.fits(line) == flags.contains('v') {
            if search.after > 0 {
                search.after -= 1;
                self.print(search.number, line, '-').await?;
            } else if self.options.before > 0 {
                search.held.push((search.number, line.to_owned()));
                if search.held.len() > self.options.before {
                    search.held.remove(0);
                }
            }
            return Ok(false);
        }
        self.found += 1;
        search.found += 1;
        if flags.contains(['q', 'l', 'L']) {
            return Ok(true);
        }
        if !flags.contains('c') {
            for (number, held) in std::mem::take(&mut search.held) {
                self.print(number, &held, '-').await?;
            }
            if flags.contains('o') {
                self.print_parts(search.number, line).await?;
            } else {
                self.print(search.number, line, ':').await?;
            }
            search.after = self.options.after;
        }
        Ok(self.options.most.is_some_and(|most| search.found >= most))
    }

    async fn print(&self, number: usize, line: &str, mark: char) -> Result<(), BrokenPipe> {
        let name = self.name.as_ref().map_or(String::new(), |name| format!("{name}{mark}"));
        let number = if self.options.flags.contains('n') { format!("{number}{mark}") } else { String::new() };
        self.call.io.stdout.write(format!("{name}{number}{line}\n")).await
    }

    async fn print_parts(&self, number: usize, line: &str) -> Result<(), BrokenPipe> {
        let mut from = 0;
        loop {
            let next = self.expressions.iter().filter_map(|e| found(e, line, from)).min_by_key(|m| m.0);
            let Some((start, end)) = next else { break };
            if end > start {
                self.print(number, &line[start..end], ':').await?;
            }
            from = end.max(next_char(line, start));
        }
        Ok(())
    }

    async fn close_file(&self, path: &str, search: &Search) -> Result<(), BrokenPipe> {
        let flags = &self.options.flags;
        if (flags.contains('l') && search.found > 0) || (flags.contains('L') && search.found == 0) {
            self.call.io.stdout.write(format!("{path}\n")).await?;
        }
        self.close(search).await
    }

    async fn close(&self, search: &Search) -> Result<(), BrokenPipe> {
        if self.options.flags.contains('c') {
            let name = self.name.as_ref().map_or(String::new(), |name| format!("{name}:"));
            self.call.io.stdout.write(format!("{name}{}\n", search.found)).await?;
        }
        Ok(())
    }
}
