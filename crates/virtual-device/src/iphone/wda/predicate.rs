//! The part of `NSPredicate` formats that clients send: comparisons of attributes with values, joined.

use regex::Regex;
use serde_json::Value;

use super::answer::WdaError;
use super::element::attribute;
use super::settings::number;
use super::snapshot::Snapshot;

/// Parentheses and negations in each other.
const DEPTH_MAX: usize = 50;
/// Compiled expressions of `MATCHES` and `LIKE` may not be larger.
const REGEX_BYTES_MAX: usize = 256 * 1024;

#[derive(Debug)]
pub enum Predicate {
    Constant(bool),
    Not(Box<Predicate>),
    All(Vec<Predicate>),
    Any(Vec<Predicate>),
    Compare { key: String, compare: Compare },
}

#[derive(Debug)]
pub enum Compare {
    Equal(Value),
    Different(Value),
    Less(f64),
    LessOrEqual(f64),
    More(f64),
    MoreOrEqual(f64),
    In(Vec<Value>),
    Text { how: Text, text: String, ignore_case: bool },
    Matches(Regex),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Text {
    Contains,
    Begins,
    Ends,
    Equals,
    Differs,
}

impl Predicate {
    pub fn holds(&self, snapshot: &Snapshot, at: usize) -> Result<bool, WdaError> {
        Ok(match self {
            Predicate::Constant(value) => *value,
            Predicate::Not(inner) => !inner.holds(snapshot, at)?,
            Predicate::All(parts) => {
                for part in parts {
                    if !part.holds(snapshot, at)? {
                        return Ok(false);
                    }
                }
                true
            }
            Predicate::Any(parts) => {
                for part in parts {
                    if part.holds(snapshot, at)? {
                        return Ok(true);
                    }
                }
                false
            }
            Predicate::Compare { key, compare } => compares(&property(snapshot, at, key)?, compare),
        })
    }
}

/// Returns an attribute that a predicate names; `rect.x` is a part of one.
pub fn property(snapshot: &Snapshot, at: usize, key: &str) -> Result<Value, WdaError> {
    let (first, part) = key.split_once('.').map_or((key, None), |(first, part)| (first, Some(part)));
    let unknown = || {
        WdaError::argument(format!(
            "The attribute '{key}' is unknown. Valid attribute names are: those of the page source"
        ))
    };
    let value = attribute(snapshot, at, first).ok_or_else(unknown)?;
    match part {
        None => Ok(value),
        Some(part) => value.get(part).cloned().ok_or_else(unknown),
    }
}

fn compares(own: &Value, compare: &Compare) -> bool {
    let text = own.as_str().unwrap_or("");
    let than = |wanted: f64, fits: fn(f64, f64) -> bool| number(own).is_some_and(|own| fits(own, wanted));
    match compare {
        Compare::Equal(wanted) => equal(own, wanted),
        Compare::Different(wanted) => !equal(own, wanted),
        Compare::Less(wanted) => than(*wanted, |a, b| a < b),
        Compare::LessOrEqual(wanted) => than(*wanted, |a, b| a <= b),
        Compare::More(wanted) => than(*wanted, |a, b| a > b),
        Compare::MoreOrEqual(wanted) => than(*wanted, |a, b| a >= b),
        Compare::In(wanted) => wanted.iter().any(|wanted| equal(own, wanted)),
        Compare::Matches(regex) => !own.is_null() && regex.is_match(text),
        Compare::Text { how, text: wanted, ignore_case } => {
            let (own, wanted) = if *ignore_case {
                (text.to_lowercase(), wanted.to_lowercase())
            } else {
                (text.to_owned(), wanted.clone())
            };
            match how {
                Text::Contains => own.contains(&wanted),
                Text::Begins => own.starts_with(&wanted),
                Text::Ends => own.ends_with(&wanted),
                Text::Equals => own == wanted,
                Text::Differs => own != wanted,
            }
        }
    }
}

/// Compares as Objective-C does: numbers and truth values are the same kind, texts are not numbers.
fn equal(own: &Value, wanted: &Value) -> bool {
    match (own, wanted) {
        (Value::String(own), Value::String(wanted)) => own == wanted,
        (Value::Null, Value::Null) => true,
        (Value::String(own), other) => number(other).is_some_and(|wanted| own.parse() == Ok(wanted)),
        (own, other) => match (number(own), number(other)) {
            (Some(own), Some(wanted)) => own == wanted,
            _ => false,
        },
    }
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Word(String),
    Text(String),
    Sign(&'static str),
}

const SIGNS: [&str; 21] = [
    "&&", "||", "==", "!=", "<>", "<=", ">=", "=<", "=>", "=", "<", ">", "!", "(", ")", "{", "}", ",", "[",
    "]", "-",
];

fn tokens(text: &str) -> Option<Vec<Token>> {
    let mut all = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let after = if first == '"' || first == '\'' {
            let (text, after) = quoted(rest, first)?;
            all.push(Token::Text(text));
            after
        } else if first.is_alphanumeric() || matches!(first, '_' | '.' | '#' | '%' | '$' | '@') {
            let end =
                rest.find(|c: char| !(c.is_alphanumeric() || "_.#%$@".contains(c))).unwrap_or(rest.len());
            all.push(Token::Word(rest[..end].to_owned()));
            &rest[end..]
        } else {
            let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign))?;
            all.push(Token::Sign(sign));
            &rest[sign.len()..]
        };
        rest = after.trim_start();
    }
    Some(all)
}

/// Reads a quoted text with its escapes; returns it and what follows.
fn quoted(text: &str, quote: char) -> Option<(String, &str)> {
    let mut out = String::new();
    let mut chars = text.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => match chars.next()?.1 {
                'n' => out.push('\n'),
                't' => out.push('\t'),
                other => out.push(other),
            },
            c if c == quote => return Some((out, &text[at + c.len_utf8()..])),
            c => out.push(c),
        }
    }
    None
}

/// Reads a predicate. What is not understood is an error, as it would be on a phone.
pub fn parse(text: &str) -> Result<Predicate, WdaError> {
    let error = || WdaError::unknown(format!("Unable to parse the format string \"{text}\""));
    let tokens = tokens(text).ok_or_else(error)?;
    let mut parser = Parser { tokens: &tokens, at: 0 };
    let predicate = parser.any(0).ok_or_else(error)?;
    if parser.at == tokens.len() { Ok(predicate) } else { Err(error()) }
}

struct Parser<'a> {
    tokens: &'a [Token],
    at: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn next(&mut self) -> Option<Token> {
        let token = self.tokens.get(self.at).cloned();
        self.at += 1;
        token
    }

    fn takes_sign(&mut self, sign: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Sign(found)) if *found == sign);
        self.at += usize::from(found);
        found
    }

    fn takes_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Word(found)) if found.eq_ignore_ascii_case(word));
        self.at += usize::from(found);
        found
    }

    fn any(&mut self, depth: usize) -> Option<Predicate> {
        let mut parts = vec![self.all(depth)?];
        while self.takes_word("OR") || self.takes_sign("||") {
            parts.push(self.all(depth)?);
        }
        if parts.len() == 1 { parts.pop() } else { Some(Predicate::Any(parts)) }
    }

    fn all(&mut self, depth: usize) -> Option<Predicate> {
        let mut parts = vec![self.one(depth)?];
        while self.takes_word("AND") || self.takes_sign("&&") {
            parts.push(self.one(depth)?);
        }
        if parts.len() == 1 { parts.pop() } else { Some(Predicate::All(parts)) }
    }

    fn one(&mut self, depth: usize) -> Option<Predicate> {
        if depth > DEPTH_MAX {
            return None;
        }
        if self.takes_word("NOT") || self.takes_sign("!") {
            return Some(Predicate::Not(Box::new(self.one(depth + 1)?)));
        }
        if self.takes_sign("(") {
            let inner = self.any(depth + 1)?;
            return self.takes_sign(")").then_some(inner);
        }
        if self.takes_word("TRUEPREDICATE") {
            return Some(Predicate::Constant(true));
        }
        if self.takes_word("FALSEPREDICATE") {
            return Some(Predicate::Constant(false));
        }
        let Token::Word(key) = self.next()? else { return None };
        let compare = self.compare()?;
        Some(Predicate::Compare { key, compare })
    }

    fn compare(&mut self) -> Option<Compare> {
        let operator = match self.next()? {
            Token::Sign(sign) => sign.to_owned(),
            Token::Word(word) => word.to_uppercase(),
            Token::Text(_) => return None,
        };
        let options = self.options()?;
        let ignore_case = options.contains('c');
        if operator == "IN" {
            return Some(Compare::In(self.list()?));
        }
        let value = self.value()?;
        let text =
            |how: Text| value.as_str().map(|text| Compare::Text { how, text: text.to_owned(), ignore_case });
        let pattern = |text: &str| {
            let mut builder = regex::RegexBuilder::new(text);
            builder.case_insensitive(ignore_case).size_limit(REGEX_BYTES_MAX);
            builder.build().ok().map(Compare::Matches)
        };
        match operator.as_str() {
            "=" | "==" if ignore_case => text(Text::Equals),
            "!=" | "<>" if ignore_case => text(Text::Differs),
            "=" | "==" => Some(Compare::Equal(value)),
            "!=" | "<>" => Some(Compare::Different(value)),
            "<" => number(&value).map(Compare::Less),
            "<=" | "=<" => number(&value).map(Compare::LessOrEqual),
            ">" => number(&value).map(Compare::More),
            ">=" | "=>" => number(&value).map(Compare::MoreOrEqual),
            "CONTAINS" => text(Text::Contains),
            "BEGINSWITH" => text(Text::Begins),
            "ENDSWITH" => text(Text::Ends),
            "MATCHES" => pattern(&format!("^(?:{})$", value.as_str()?)),
            "LIKE" => {
                let escaped = regex::escape(value.as_str()?).replace("\\*", ".*").replace("\\?", ".");
                pattern(&format!("(?s)^{escaped}$"))
            }
            _ => None,
        }
    }

    /// Reads `[cd]` after an operator.
    fn options(&mut self) -> Option<String> {
        if !self.takes_sign("[") {
            return Some(String::new());
        }
        let Token::Word(options) = self.next()? else { return None };
        self.takes_sign("]").then_some(options)
    }

    fn list(&mut self) -> Option<Vec<Value>> {
        let end = if self.takes_sign("{") { "}" } else { self.takes_sign("(").then_some(")")? };
        let mut all = Vec::new();
        loop {
            all.push(self.value()?);
            if self.takes_sign(end) {
                return Some(all);
            }
            if !self.takes_sign(",") {
                return None;
            }
        }
    }

    fn value(&mut self) -> Option<Value> {
        let negative = self.takes_sign("-");
        match self.next()? {
            Token::Text(text) => Some(Value::String(text)),
            Token::Word(word) => match word.to_uppercase().as_str() {
                "TRUE" | "YES" => Some(Value::Bool(true)),
                "FALSE" | "NO" => Some(Value::Bool(false)),
                "NIL" | "NULL" => Some(Value::Null),
                _ => {
                    let value: f64 = word.parse().ok()?;
                    serde_json::Number::from_f64(if negative { -value } else { value }).map(Value::Number)
                }
            },
            Token::Sign(_) => None,
        }
    }
}
