//! `sed`: substitution, printing and deleting, by line number or expression.

use super::super::io::BrokenPipe;
use super::expression::{Dialect, Expression};
use super::{Call, text};

/// Commands of one script.
const COMMANDS_MAX: usize = 64;
/// The length that one line may grow to.
const LINE_BYTES_MAX: usize = 1024 * 1024;

enum Address {
    Line(usize),
    Last,
    Fits(Expression),
}

struct Command {
    from: Option<Address>,
    to: Option<Address>,
    negated: bool,
    action: Action,
    /// True between the first and the last line of its range.
    inside: bool,
}

enum Action {
    Substitute { what: Expression, with: String, all: bool, print: bool },
    Print,
    Delete,
    Quit,
}

pub async fn sed(call: &Call<'_>) -> Result<u8, BrokenPipe> {
    let (mut quiet, mut extended, mut in_place) = (false, false, false);
    let mut scripts: Vec<&str> = Vec::new();
    let mut plain = Vec::new();
    let mut words = call.arguments.iter().map(String::as_str);
    while let Some(word) = words.next() {
        match word {
            "-n" => quiet = true,
            "-E" | "-r" => extended = true,
            "-i" => in_place = true,
            "-e" => scripts.extend(words.next()),
            word => plain.push(word),
        }
    }
    if scripts.is_empty() && !plain.is_empty() {
        scripts.push(plain.remove(0));
    }
    let dialect = if extended { Dialect::Extended } else { Dialect::Basic };
    let mut commands = Vec::new();
    for script in &scripts {
        let mut parser = Parser { rest: script, dialect };
        match parser.all() {
            Some(more) if commands.len() + more.len() <= COMMANDS_MAX => commands.extend(more),
            _ => {
                call.io.stderr.write(format!("sed: bad pattern '{script}'\n")).await?;
                return Ok(1);
            }
        }
    }
    let Ok(data) = text::gather(call, &plain).await? else { return Ok(1) };
    let whole = String::from_utf8_lossy(&data);
    let out = edit(&mut commands, &whole, quiet);
    match plain.first().filter(|_| in_place) {
        Some(path) => {
            let full = call.path(path);
            let written = call.phone.with(|state| {
                let now = state.now_s();
                state.fs.write(&full, out.into(), 0o644, now)
            });
            Ok(u8::from(written.is_err()))
        }
        None => {
            call.io.stdout.write(out).await?;
            Ok(0)
        }
    }
}

fn edit(commands: &mut [Command], whole: &str, quiet: bool) -> String {
    let lines: Vec<&str> = whole.lines().collect();
    let mut out = String::new();
    for (index, line) in lines.iter().enumerate() {
        let mut line = (*line).to_owned();
        let last = index + 1 == lines.len();
        let (mut deleted, mut quit) = (false, false);
        for command in commands.iter_mut() {
            if !command.applies(index + 1, last, &line) {
                continue;
            }
            match &command.action {
                Action::Delete => deleted = true,
                Action::Print => out.push_str(&format!("{line}\n")),
                Action::Quit => quit = true,
                Action::Substitute { what, with, all, print } => {
                    if let Some(changed) = substitute(what, with, *all, &line) {
                        line = changed;
                        if *print {
                            out.push_str(&format!("{line}\n"));
                        }
                    }
                }
            }
            if deleted {
                break;
            }
        }
        if !deleted && !quiet {
            out.push_str(&line);
            out.push('\n');
        }
        if quit {
            break;
        }
    }
    out
}

impl Command {
    fn applies(&mut self, number: usize, last: bool, line: &str) -> bool {
        let fits = |address: &Address| match address {
            Address::Line(n) => *n == number,
            Address::Last => last,
            Address::Fits(expression) => expression.is_in(line),
        };
        let hit = match (&self.from, &self.to) {
            (None, _) => true,
            (Some(from), None) => fits(from),
            (Some(from), Some(to)) => {
                let begins = !self.inside && fits(from);
                let hit = self.inside || begins;
                let passed = matches!(to, Address::Line(n) if *n <= number);
                self.inside = hit && !passed && (begins || !fits(to));
                hit
            }
        };
        hit != self.negated
    }
}

/// Returns the changed line, or nothing when the expression does not match.
fn substitute(what: &Expression, with: &str, all: bool, line: &str) -> Option<String> {
    let mut out = String::new();
    let (mut from, mut changed) = (0, false);
    while let Some(found) = what.find(line, from) {
        let whole = found.get(0)?;
        changed = true;
        out.push_str(&line[from..whole.start()]);
        let mut chars = with.chars();
        while let Some(c) = chars.next() {
            match c {
                '&' => out.push_str(whole.as_str()),
                '\\' => match chars.next() {
                    Some(digit @ '1'..='9') => {
                        let number = digit as usize - '0' as usize;
                        out.push_str(found.get(number).map_or("", |group| group.as_str()));
                    }
                    Some('n') => out.push('\n'),
                    Some('t') => out.push('\t'),
                    Some(other) => out.push(other),
                    None => {}
                },
                c => out.push(c),
            }
        }
        from = whole.end();
        if whole.is_empty() {
            let next = line[from..].chars().next();
            out.extend(next);
            from += next.map_or(1, char::len_utf8);
        }
        if !all || from > line.len() || out.len() > LINE_BYTES_MAX {
            break;
        }
    }
    out.push_str(line.get(from..).unwrap_or(""));
    changed.then_some(out)
}

struct Parser<'a> {
    rest: &'a str,
    dialect: Dialect,
}

impl Parser<'_> {
    fn all(&mut self) -> Option<Vec<Command>> {
        let mut commands = Vec::new();
        loop {
            self.rest = self.rest.trim_start_matches([' ', ';', '\n', '\t']);
            if self.rest.is_empty() {
                return Some(commands);
            }
            commands.push(self.command()?);
            if commands.len() > COMMANDS_MAX {
                return None;
            }
        }
    }

    fn take(&mut self) -> Option<char> {
        let c = self.rest.chars().next()?;
        self.rest = &self.rest[c.len_utf8()..];
        Some(c)
    }

    fn command(&mut self) -> Option<Command> {
        let from = self.address()?;
        let mut to = None;
        if from.is_some() && self.rest.starts_with(',') {
            self.take();
            to = self.address()?;
        }
        self.rest = self.rest.trim_start();
        let negated = self.rest.starts_with('!');
        if negated {
            self.take();
        }
        let action = match self.take()? {
            'p' => Action::Print,
            'd' => Action::Delete,
            'q' => Action::Quit,
            's' => self.substitution()?,
            _ => return None,
        };
        Some(Command { from, to, negated, action, inside: false })
    }

    fn address(&mut self) -> Option<Option<Address>> {
        let digits = self.rest.len() - self.rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        if digits > 0 {
            let number = self.rest[..digits].parse().ok()?;
            self.rest = &self.rest[digits..];
            return Some(Some(Address::Line(number)));
        }
        match self.rest.chars().next() {
            Some('$') => {
                self.take();
                Some(Some(Address::Last))
            }
            Some('/') => {
                self.take();
                let pattern = self.until('/')?;
                Some(Some(Address::Fits(Expression::parse(&pattern, self.dialect, false)?)))
            }
            _ => Some(None),
        }
    }

    fn until(&mut self, end: char) -> Option<String> {
        let mut text = String::new();
        loop {
            match self.take()? {
                c if c == end => return Some(text),
                '\\' => {
                    let next = self.take()?;
                    if next != end {
                        text.push('\\');
                    }
                    text.push(next);
                }
                c => text.push(c),
            }
        }
    }

    fn substitution(&mut self) -> Option<Action> {
        let mark = self.take()?;
        let pattern = self.until(mark)?;
        let with = self.until(mark)?;
        let (mut all, mut print, mut fold) = (false, false, false);
        while let Some(flag @ ('g' | 'p' | 'i' | 'I')) = self.rest.chars().next() {
            self.take();
            all |= flag == 'g';
            print |= flag == 'p';
            fold |= matches!(flag, 'i' | 'I');
        }
        let what = Expression::parse(&pattern, self.dialect, fold)?;
        Some(Action::Substitute { what, with, all, print })
    }
}
