//! Regular expressions of `grep`, `sed` and `logcat`: POSIX syntax, translated to that of the `regex` crate.
//!
//! The crate has no back-references: a pattern with one is refused like a pattern with a syntax error. Among
//! alternatives the first that matches wins, not the longest as POSIX says.

use regex::{Captures, Regex, RegexBuilder};

const PATTERN_BYTES_MAX: usize = 256;
/// Limits what counted repeats inside one another may grow to.
const COMPILED_BYTES_MAX: usize = 1024 * 1024;
const GROUP_DEPTH_MAX: usize = 16;
/// RE_DUP_MAX of POSIX.
const COUNT_MAX: usize = 255;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// A plain string.
    Fixed,
    Basic,
    Extended,
}

#[derive(Debug)]
pub struct Expression(Regex);

impl Expression {
    /// Returns nothing for a pattern that is malformed, too long or not supported.
    pub fn parse(pattern: &str, dialect: Dialect, ignore_case: bool) -> Option<Expression> {
        if pattern.len() > PATTERN_BYTES_MAX {
            return None;
        }
        let translated = match dialect {
            Dialect::Fixed => regex::escape(pattern),
            Dialect::Basic | Dialect::Extended => Translator::new(pattern, dialect).all()?,
        };
        let mut builder = RegexBuilder::new(&translated);
        builder.case_insensitive(ignore_case).dot_matches_new_line(true).size_limit(COMPILED_BYTES_MAX);
        builder.build().ok().map(Expression)
    }

    pub fn is_in(&self, line: &str) -> bool {
        self.0.is_match(line)
    }

    /// Finds the first match that begins at byte `from` or later.
    pub fn find<'a>(&self, line: &'a str, from: usize) -> Option<Captures<'a>> {
        if line.is_char_boundary(from) { self.0.captures_at(line, from) } else { None }
    }
}

struct Translator {
    chars: Vec<char>,
    at: usize,
    extended: bool,
    out: String,
    /// Where in `out` each open group begins.
    open: Vec<usize>,
    /// Where in `out` the last item begins.
    last: usize,
    /// The last item ends with a repeat.
    repeated: bool,
}

impl Translator {
    fn new(pattern: &str, dialect: Dialect) -> Translator {
        let extended = dialect == Dialect::Extended;
        let chars = pattern.chars().collect();
        Translator { chars, at: 0, extended, out: String::new(), open: Vec::new(), last: 0, repeated: false }
    }

    fn all(mut self) -> Option<String> {
        // True where an expression begins: `^` is an anchor there, and `*` an ordinary character.
        let mut first = true;
        while self.at < self.chars.len() {
            first = self.item(first)?;
        }
        self.open.is_empty().then_some(self.out)
    }

    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    /// Takes an operator that basic expressions write with a backslash and extended ones without.
    fn operator(&mut self, c: char) -> bool {
        let found = self.is_operator(c);
        if found {
            self.at += if self.extended { 1 } else { 2 };
        }
        found
    }

    fn is_operator(&self, c: char) -> bool {
        match self.extended {
            true => self.peek() == Some(c),
            false => self.peek() == Some('\\') && self.chars.get(self.at + 1) == Some(&c),
        }
    }

    /// Translates one item; the answer is whether an expression begins after it.
    fn item(&mut self, first: bool) -> Option<bool> {
        if self.operator('(') {
            self.open.push(self.out.len());
            self.out.push('(');
            return (self.open.len() <= GROUP_DEPTH_MAX).then_some(true);
        }
        if self.operator('|') {
            self.out.push('|');
            return Some(true);
        }
        if self.operator(')') {
            self.last = self.open.pop()?;
            self.repeated = false;
            self.out.push(')');
            return Some(false);
        }
        if !first && self.repeat() {
            return Some(false);
        }
        self.last = self.out.len();
        self.repeated = false;
        let c = self.peek()?;
        self.at += 1;
        match c {
            '^' if first || self.extended => {
                self.out.push('^');
                return Some(true);
            }
            '$' if self.extended || self.ends_here() => self.out.push('$'),
            '.' => self.out.push('.'),
            '[' => self.set()?,
            '\\' => self.escaped()?,
            c => self.literal(c),
        }
        Some(false)
    }

    fn ends_here(&self) -> bool {
        self.peek().is_none() || self.is_operator(')') || self.is_operator('|')
    }

    fn literal(&mut self, c: char) {
        self.out.push_str(&regex::escape(c.encode_utf8(&mut [0; 4])));
    }

    fn escaped(&mut self) -> Option<()> {
        let c = self.peek()?;
        self.at += 1;
        match c {
            '1'..='9' => return None,
            'w' => self.out.push_str("[0-9A-Za-z_]"),
            'W' => self.out.push_str("[^0-9A-Za-z_]"),
            's' => self.out.push_str("[ \\t]"),
            'S' => self.out.push_str("[^ \\t]"),
            'd' => self.out.push_str("[0-9]"),
            'b' => self.out.push_str("\\b"),
            'B' => self.out.push_str("\\B"),
            '<' => self.out.push_str("\\b{start}"),
            '>' => self.out.push_str("\\b{end}"),
            c => self.literal(c),
        }
        Some(())
    }

    /// Takes a repeat of the last item; false when there is none here.
    fn repeat(&mut self) -> bool {
        let how = if self.peek() == Some('*') {
            self.at += 1;
            "*".to_owned()
        } else if self.operator('+') {
            "+".to_owned()
        } else if self.operator('?') {
            "?".to_owned()
        } else if let Some(counted) = self.counted() {
            counted
        } else {
            return false;
        };
        // To POSIX `a*?` repeats a repeat; to the crate it is one repeat that takes as little as it can.
        if self.repeated {
            self.out.insert_str(self.last, "(?:");
            self.out.push(')');
        }
        self.out.push_str(&how);
        self.repeated = true;
        true
    }

    /// Takes `{2}`, `{2,}` or `{2,4}`. Anything else in braces stands for itself.
    fn counted(&mut self) -> Option<String> {
        let start = self.at;
        if !self.operator('{') {
            return None;
        }
        let mut text = String::new();
        while let Some(c) = self.peek().filter(|c| c.is_ascii_digit() || *c == ',') {
            text.push(c);
            self.at += 1;
        }
        let (least, most) = text.split_once(',').unwrap_or((&text, &text));
        let least = if least.is_empty() { Some(0) } else { least.parse::<usize>().ok() };
        let most = if most.is_empty() { Some(COUNT_MAX) } else { most.parse().ok() };
        let fits = matches!((least, most), (Some(least), Some(most)) if least <= most && most <= COUNT_MAX);
        if text.is_empty() || !fits || !self.operator('}') {
            self.at = start;
            return None;
        }
        let zero = if text.starts_with(',') { "0" } else { "" };
        Some(format!("{{{zero}{text}}}"))
    }

    /// Translates what follows `[`. A backslash is an ordinary character in it.
    fn set(&mut self) -> Option<()> {
        let negated = self.peek() == Some('^');
        self.at += usize::from(negated);
        let mut ranges = Vec::new();
        loop {
            let c = self.peek()?;
            self.at += 1;
            if c == '[' && self.peek() == Some(':') {
                ranges.extend(self.named_class()?);
                continue;
            }
            if c == ']' && !ranges.is_empty() {
                break;
            }
            let to = match (self.peek(), self.chars.get(self.at + 1)) {
                (Some('-'), Some(to)) if *to != ']' => {
                    self.at += 2;
                    *to
                }
                _ => c,
            };
            ranges.push((c, to));
        }
        self.out.push_str(if negated { "[^" } else { "[" });
        for (from, to) in ranges {
            self.out.push_str(&format!("\\x{{{:x}}}-\\x{{{:x}}}", from as u32, to as u32));
        }
        self.out.push(']');
        Some(())
    }

    /// Takes `:alpha:]` and its relatives.
    fn named_class(&mut self) -> Option<Vec<(char, char)>> {
        let rest: String = self.chars.get(self.at + 1..)?.iter().collect();
        let (name, _) = rest.split_once(":]")?;
        self.at += name.chars().count() + 3;
        class_ranges(name)
    }
}

/// Returns the characters of `[:name:]`.
pub fn class_ranges(name: &str) -> Option<Vec<(char, char)>> {
    Some(match name {
        "alpha" => vec![('a', 'z'), ('A', 'Z')],
        "digit" => vec![('0', '9')],
        "alnum" => vec![('a', 'z'), ('A', 'Z'), ('0', '9')],
        "upper" => vec![('A', 'Z')],
        "lower" => vec![('a', 'z')],
        "space" => vec![('\t', '\r'), (' ', ' ')],
        "blank" => vec![('\t', '\t'), (' ', ' ')],
        "punct" => vec![('!', '/'), (':', '@'), ('[', '`'), ('{', '~')],
        "xdigit" => vec![('0', '9'), ('a', 'f'), ('A', 'F')],
        "graph" => vec![('!', '~')],
        "print" => vec![(' ', '~')],
        "cntrl" => vec![('\0', '\u{1f}'), ('\u{7f}', '\u{7f}')],
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::{Dialect, Expression};

    fn parse(pattern: &str, dialect: Dialect) -> Option<Expression> {
        Expression::parse(pattern, dialect, false)
    }

    fn check(pattern: &str, line: &str) -> bool {
        parse(pattern, Dialect::Extended).is_some_and(|e| e.is_in(line))
    }

    #[test]
    fn expressions_that_clients_send() {
        assert!(check("ResumedActivity|mFocusedApp", "  mFocusedApp=ActivityRecord{1}"));
        assert!(check("mCurrentFocus|mFocusedApp", "mCurrentFocus=Window{x}"));
        assert!(check("^package:com\\.(work|play)bench$", "package:com.workbench"));
        assert!(check("[0-9]+x[0-9]+", "Physical size: 1080x2400"));
        assert!(check("a(bc)*d", "abcbcd") && check("a(bc)?d", "ad") && check("x.*y", "x--y"));
        assert!(!check("^abc$", "abcd") && !check("a+", "bbb") && !check("[^a]", "aaa"));
        assert!(check("Viewport{", "DisplayViewport{valid=true}") && check("^a{2,3}$", "aaa"));
        assert!(check("^*a", "*a") && check("[]x]", "]") && check("[[:digit:]_-]+$", "12_-"));
        assert!(check("[\\.]", "\\") && !check("a\\.b", "axb") && check("^a+?$", "") && check("\\<b", "a b"));
    }

    #[test]
    fn a_hostile_expression_ends() {
        assert!(!check("(a*)*(a*)*(a*)*b", &"a".repeat(60)));
        for refused in ["((((((((((((((((((((((((", "[", "[b-a]", "a\\", ")", "(((a{255}){255}){255}){255}"] {
            assert!(parse(refused, Dialect::Extended).is_none(), "{refused}");
        }
    }

    #[test]
    fn back_references_are_refused() {
        assert!(parse("\\(a\\)\\1", Dialect::Basic).is_none());
    }

    #[test]
    fn basic_dialect_takes_brackets_literally() {
        let basic = |p: &str, l: &str| parse(p, Dialect::Basic).is_some_and(|e| e.is_in(l));
        assert!(basic("a|b", "xa|by") && basic("a\\|b", "b") && !basic("a|b", "a"));
        assert!(
            basic("*a", "*a") && basic("a^b$c", "a^b$c") && basic("x\\{2\\}", "xx") && basic("(a)", "(a)")
        );
        assert!(basic("^\\(^a\\|b$\\)", "b") && !basic("a$", "ab"));
    }
}
