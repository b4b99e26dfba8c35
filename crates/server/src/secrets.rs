//! The texts that were typed as secrets, kept out of everything that leaves this process (F66, S8).
//!
//! The engine compares and finds them as ever; they are replaced where a text leaves: messages of the protocol, output
//! of the command line, lines of the log. A picture of the screen is not searched.

use std::borrow::Cow;
use std::collections::{BTreeSet, VecDeque};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mdm_core::evidence::sensitive::Kind;
use serde::Serialize;
use serde_json::Value;

use crate::args::JsonObject;
use crate::shapes::Shapes;

/// Secrets that are remembered; the oldest is forgotten for the next one.
const SECRETS_MAX: usize = 64;
/// Shorter texts are not remembered: replacing them would replace half of every answer.
pub const SECRET_CHARS_MIN: usize = 4;
/// Longer ones are not typed by any device.
const SECRET_BYTES_MAX: usize = 16 * 1024;
/// A secret from this size on is also recognised by any part of `PART_BYTES`: long texts are shown cut.
const LONG_BYTES_MIN: usize = 24;
const PART_BYTES: usize = 12;
/// Shorter ones, and those of digits alone, may also be a word or a number of ours.
const STRONG_CHARS_MIN: usize = 8;
const STRONG_DIGITS_MIN: usize = 12;
/// Quotes within quotes: a device's text in a message in an answer in a line of the log.
const ESCAPE_LEVELS: usize = 4;
const REPLACEMENT: &str = "[secret]";

#[derive(Debug, Clone, Default)]
pub struct Secrets {
    known: Arc<Mutex<VecDeque<Secret>>>,
    shapes: Arc<Shapes>,
}

/// One secret in all the ways in which it may be written.
#[derive(PartialEq, Eq)]
struct Secret {
    /// The short ones. All in lower case: a field may write the first letter large.
    forms: Vec<Vec<u8>>,
    /// Of the long ones.
    parts: BTreeSet<Vec<u8>>,
    strong: bool,
    /// Never forgotten for another one.
    kept: bool,
}

/// Only that there is one.
impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret")
    }
}

impl Secret {
    fn new(text: &str) -> Secret {
        let mut forms: BTreeSet<String> = BTreeSet::new();
        // As it was given, as `input text` wants its spaces, as a shell quotes it, and in a URI.
        forms.extend([
            text.to_owned(),
            text.replace(' ', "%s"),
            text.replace('\'', r"'\''"),
            percent_encoded(text),
        ]);
        for _ in 0..ESCAPE_LEVELS {
            let escaped: Vec<String> = forms.iter().map(|form| escaped(form)).collect();
            forms.extend(escaped);
        }
        let forms = forms.into_iter().map(|form| form.to_ascii_lowercase().into_bytes());
        let (long, forms): (Vec<_>, Vec<_>) = forms.partition(|form| form.len() >= LONG_BYTES_MIN);
        let parts = long.iter().flat_map(|form| form.windows(PART_BYTES)).map(<[u8]>::to_vec).collect();
        let digits = text.chars().all(|c| c.is_ascii_digit());
        let least = if digits { STRONG_DIGITS_MIN } else { STRONG_CHARS_MIN };
        Secret { forms, parts, strong: text.chars().count() >= least, kept: false }
    }

    fn find(&self, lower: &[u8], found: &mut Vec<Range<usize>>) {
        if !self.parts.is_empty() {
            let windows = lower.windows(PART_BYTES).enumerate();
            found.extend(
                windows.filter(|(_, part)| self.parts.contains(*part)).map(|(at, _)| at..at + PART_BYTES),
            );
        }
        for form in &self.forms {
            let places = places(lower, form);
            found.extend(places.filter(|place| !is_number_of_ours(lower, place)));
        }
    }
}

fn places<'a>(text: &'a [u8], part: &'a [u8]) -> impl Iterator<Item = Range<usize>> + 'a {
    let mut from = 0;
    std::iter::from_fn(move || {
        let at = from + text[from..].windows(part.len()).position(|window| window == part)?;
        from = at + part.len();
        Some(at..from)
    })
}

/// True for digits that are a part of a longer number, or of one of our ids: `e1234`, `tap_1731650001234_7`.
fn is_number_of_ours(text: &[u8], place: &Range<usize>) -> bool {
    if !text[place.clone()].iter().all(u8::is_ascii_digit) {
        return false;
    }
    let joined = |byte: Option<&u8>| byte.is_some_and(|b| b.is_ascii_digit() || *b == b'_');
    let before = place.start.checked_sub(1).and_then(|at| text.get(at));
    let second = place.start.checked_sub(2).and_then(|at| text.get(at));
    let element = before == Some(&b'e') && !second.is_some_and(|b| b.is_ascii_alphanumeric());
    joined(before) || joined(text.get(place.end)) || element
}

fn percent_encoded(text: &str) -> String {
    let encoded = |byte: u8| match byte {
        b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
        _ if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(encoded).collect()
}

fn escaped(text: &str) -> String {
    let mut quoted = String::new();
    mdm_core::text::quote::push_quoted(&mut quoted, text, usize::MAX);
    quoted[1..quoted.len() - 1].to_owned()
}

impl Secrets {
    fn known(&self) -> MutexGuard<'_, VecDeque<Secret>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From here on `text` leaves this process in no message. Each line of it counts by itself, as it is typed.
    pub fn remember(&self, text: &str) {
        for line in text.split(['\n', '\t']) {
            if line.chars().count() < SECRET_CHARS_MIN || line.len() > SECRET_BYTES_MAX {
                continue;
            }
            let secret = Secret::new(line);
            let mut known = self.known();
            if known.iter().any(|other| other.forms == secret.forms && other.parts == secret.parts) {
                continue;
            }
            if known.iter().filter(|secret| !secret.kept).count() >= SECRETS_MAX {
                let oldest = known.iter().position(|secret| !secret.kept);
                oldest.map(|at| known.remove(at));
            }
            known.push_back(secret);
        }
    }

    /// The same for as long as this process lives. There are only as many as somebody configured.
    pub fn keep(&self, text: &str) {
        let lines = text.split(['\n', '\t']).filter(|line| line.chars().count() >= SECRET_CHARS_MIN);
        self.known().extend(lines.map(|line| Secret { kept: true, ..Secret::new(line) }));
    }

    /// Shows texts of these kinds as they are.
    pub fn show(&self, kinds: &[Kind]) {
        self.shapes.show(kinds);
    }

    /// True if somebody's secret may be on the screen.
    pub fn are_known(&self) -> bool {
        !self.known().is_empty()
    }

    /// True if a text has a secret in it that somebody named.
    pub fn are_in(&self, text: &str) -> bool {
        let lower = text.to_ascii_lowercase();
        let mut found = Vec::new();
        self.known().iter().any(|secret| {
            secret.find(lower.as_bytes(), &mut found);
            !found.is_empty()
        })
    }

    /// Remembers the texts that arguments call secret, also in the steps of a flow, before anything can refuse them.
    pub fn remember_given(&self, arguments: &JsonObject) {
        self.shapes.note_told(arguments);
        self.remember_secure(arguments);
    }

    fn remember_secure(&self, arguments: &JsonObject) {
        let is =
            |wanted: &'static str| move |(name, _): &(&String, &Value)| name.eq_ignore_ascii_case(wanted);
        let secure = arguments.iter().find(is("secure")).is_some_and(|(_, value)| match value {
            Value::Bool(secure) => *secure,
            Value::Null => false,
            // A mistake that will be refused; it is clear what was meant.
            _ => true,
        });
        for (name, value) in arguments {
            match value {
                Value::String(text) if secure && name.eq_ignore_ascii_case("text") => self.remember(text),
                Value::Number(number) if secure && name.eq_ignore_ascii_case("text") => {
                    self.remember(&number.to_string());
                }
                other => self.remember_inside(other),
            }
        }
    }

    fn remember_inside(&self, value: &Value) {
        match value {
            Value::Object(object) => self.remember_secure(object),
            Value::Array(items) => items.iter().for_each(|item| self.remember_inside(item)),
            _ => {}
        }
    }

    /// A message of the protocol as a line of JSON.
    pub fn to_line(&self, message: &impl Serialize) -> serde_json::Result<Vec<u8>> {
        let mut line = serde_json::to_vec(message)?;
        let whole = std::str::from_utf8(&line).unwrap_or_default();
        if self.occurs_in(whole) {
            let mut value = serde_json::to_value(message)?;
            self.redact_members(&mut value);
            line = serde_json::to_vec(&value)?;
        }
        line.push(b'\n');
        Ok(line)
    }

    /// A message of the protocol that is JSON already; any other text as it is.
    pub fn redact_message<'a>(&self, message: &'a str) -> Cow<'a, str> {
        if !self.occurs_in(message) {
            return Cow::Borrowed(message);
        }
        match serde_json::from_str::<Value>(message) {
            Ok(mut value) => {
                self.redact_members(&mut value);
                Cow::Owned(value.to_string())
            }
            Err(_) => self.redact(message),
        }
    }

    fn redact_members(&self, message: &mut Value) {
        if let Value::Object(message) = message {
            // The id is the client's own, and it must find it again.
            let members = message.iter_mut().filter(|(name, _)| *name != "id");
            members.for_each(|(_, item)| self.redact_value(item));
        }
    }

    /// Every text of a message; names of members are ours.
    fn redact_value(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Cow::Owned(redacted) = self.redact_answer(text) {
                    *text = redacted;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.redact_value(item)),
            Value::Object(object) => {
                let picture = object.contains_key("mimeType");
                for (name, item) in object.iter_mut() {
                    // The data of a picture is no text, and the token is the client's own.
                    if !(picture && name == "data" || name == "progressToken") {
                        self.redact_value(item);
                    }
                }
            }
            _ => {}
        }
    }

    /// A text of this program. An answer is a line of JSON and lines with the device's words in quotes: our own
    /// numbers and words around them stay.
    pub fn redact_answer<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if !text.starts_with('{') {
            return self.redact(text);
        }
        if !self.occurs_in(text) {
            return Cow::Borrowed(text);
        }
        let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
        let mut out = match serde_json::from_str::<Value>(first) {
            Ok(mut facts) => {
                self.redact_value(&mut facts);
                facts.to_string()
            }
            Err(_) => self.redact(first).into_owned(),
        };
        for line in rest.lines() {
            out.push('\n');
            self.push_line(&mut out, line);
        }
        Cow::Owned(out)
    }

    fn occurs_in(&self, text: &str) -> bool {
        if self.shapes.occur_in(text) {
            return true;
        }
        self.are_known() && self.are_in(text)
    }

    /// Weak secrets are looked for between quotes only.
    fn push_line(&self, out: &mut String, line: &str) {
        let (mut rest, mut inside) = (line, false);
        while !rest.is_empty() {
            let end = quote_in(rest).map_or(rest.len(), |at| at + 1);
            let (part, after) = rest.split_at(end);
            out.push_str(&self.redact_where(part, |secret| inside || secret.strong));
            (rest, inside) = (after, !inside);
        }
    }

    /// Any text: a message, a line of the log.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.redact_where(text, |_| true)
    }

    fn redact_where<'a>(&self, text: &'a str, looked_for: impl Fn(&Secret) -> bool) -> Cow<'a, str> {
        let known = self.known();
        let mut found = Vec::new();
        if !known.is_empty() {
            let lower = text.to_ascii_lowercase();
            known
                .iter()
                .filter(|secret| looked_for(secret))
                .for_each(|s| s.find(lower.as_bytes(), &mut found));
        }
        drop(known);
        if found.is_empty() {
            return self.shapes.redact(text);
        }
        let replaced = replaced(text, found);
        Cow::Owned(self.shapes.redact(&replaced).into_owned())
    }
}

/// The first quote that is not escaped.
fn quote_in(text: &str) -> Option<usize> {
    let mut escaped = false;
    text.bytes().position(|byte| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    })
}

fn replaced(text: &str, mut found: Vec<Range<usize>>) -> String {
    found.sort_by_key(|place| place.start);
    let (mut out, mut done) = (String::with_capacity(text.len()), 0);
    for place in found {
        let start = (0..=place.start).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        let end = (place.end..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
        // What touches or overlaps the one before is a part of it.
        if done == 0 || start > done {
            out.push_str(&text[done..start]);
            out.push_str(REPLACEMENT);
        }
        done = done.max(end);
    }
    out.push_str(&text[done..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn knowing(texts: &[&str]) -> Secrets {
        let secrets = Secrets::default();
        texts.iter().for_each(|text| secrets.remember(text));
        secrets
    }

    #[test]
    fn a_secret_is_replaced_in_every_way_it_may_be_written() {
        // F66, S8
        let secrets = knowing(&["hunter2 \"x\" it's"]);
        #[track_caller]
        fn check(secrets: &Secrets, text: &str, expected: &str) {
            assert_eq!(secrets.redact_answer(text), expected);
        }
        check(&secrets, "no Hunter2 \"x\" it's here", "no [secret] here");
        check(&secrets, r#"error: input text 'hunter2%s"x"%sit's'"#, "error: input text '[secret]'");
        check(&secrets, r#"{"a":"hunter2 \"x\" it's"}"#, r#"{"a":"[secret]"}"#);
        check(
            &secrets,
            r#"{"a":"no element \"hunter2 \\\"x\\\" it's\""}"#,
            r#"{"a":"no element \"[secret]\""}"#,
        );
        check(
            &secrets,
            "{\"n\":1}\ne1 field \"hunter2 \\\"x\\\" it's!\"",
            "{\"n\":1}\ne1 field \"[secret]!\"",
        );
        check(&secrets, "hunter2", "hunter2");
        // Short as it is, long in a URI.
        let secrets = knowing(&["gärfågel-canary"]);
        check(&secrets, "{}\n~ \"a\" -> \"Gärfågel-canary\"", "{}\n~ \"a\" -> \"[secret]\"");
        check(&secrets, "screen://x?text=g%C3%A4rf%C3%A5gel-canary", "screen://x?text=[secret]");
    }

    #[test]
    fn a_pin_is_replaced_as_a_word_and_not_inside_our_numbers() {
        // F66
        let secrets = knowing(&["1234", "role"]);
        let answer = "{\"action_id\":\"tap_17316501234_7\",\"x\":1234,\"element\":\"e1234\",\"role\":\"code1234\"}\n\
                      e1234 role @1234,77 \"Your PIN: 1234, 51234\" = \"role\"";
        let expected = "{\"action_id\":\"tap_17316501234_7\",\"x\":1234,\"element\":\"e1234\",\"role\":\"code[secret]\"}\n\
                        e1234 role @1234,77 \"Your PIN: [secret], 51234\" = \"[secret]\"";
        assert_eq!(secrets.redact_answer(answer), expected);
        assert_eq!(secrets.redact_answer("invalid type: integer `1234`"), "invalid type: integer `[secret]`");
        assert_eq!(knowing(&["123"]).redact_answer("123"), "123", "too short to be told from other text");
    }

    #[test]
    fn a_long_secret_is_recognised_by_its_parts() {
        // F66: labels are shown without their middle.
        let token: String = (0..60).map(|n| format!("{:x}-", n * 7919)).collect();
        let secrets = knowing(&[&token]);
        let cut = format!("{{}}\ne1 field \"{}\"…+99…\"{}\"", &token[..40], &token[token.len() - 20..]);
        assert_eq!(secrets.redact_answer(&cut), "{}\ne1 field \"[secret]\"…+99…\"[secret]\"");
    }

    #[test]
    fn secrets_are_found_in_arguments_before_they_are_read() {
        // F66
        let secrets = Secrets::default();
        let json = r#"{"steps":[{"tool":"type_text","arguments":{"text":90210,"Secure":true}},
                       {"tool":"type_text","arguments":{"text":"not a secret"}}]}"#;
        secrets.remember_given(&serde_json::from_str(json).unwrap());
        assert_eq!(secrets.redact("90210 is not a secret"), "[secret] is not a secret");
        let many: Vec<String> = (0..200).map(|n| format!("secret number {n}")).collect();
        many.iter().for_each(|text| secrets.remember(text));
        assert_eq!(secrets.known().len(), SECRETS_MAX);
        assert!(!format!("{secrets:?}").contains("number"), "S8");
    }
}
