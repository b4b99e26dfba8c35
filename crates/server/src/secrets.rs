//! The texts that were typed as secrets, kept out of everything that leaves this process (F66, S8).
//!
//! The engine compares and finds them as ever; they are replaced where a text leaves: messages of the protocol, output
//! of the command line, lines of the log. A text is read once, in one spelling for the many ways in which it may be
//! written. A picture of the screen is not searched: what shows a secret is painted over where the tree tells.

mod index;
mod spelling;

use std::borrow::Cow;
use std::collections::{BTreeSet, VecDeque};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use mdm_core::evidence::sensitive::Kind;
use serde::Serialize;
use serde_json::Value;

use crate::args::{JsonObject, is_named};
use crate::handles::SCHEME;
use crate::shapes::Shapes;
use index::{BEGINNING_BYTES, Form, Index, Which};
use spelling::spelled;

/// Secrets that were typed and are remembered; the oldest is forgotten for the next one.
const SECRETS_MAX: usize = 256;
/// Lines of a typed text that are secrets by themselves; those behind them are one secret together.
const LINES_MAX: usize = 4;
/// Texts that one call may have remembered before it is looked at. The steps of a flow are calls too, when they are done.
const TEXTS_MAX: usize = 16;
/// Shorter texts are not remembered: replacing them would replace half of every answer.
pub const SECRET_CHARS_MIN: usize = 4;
/// Bytes of a typed text that are remembered. What is typed as a secret may not be longer.
pub const SECRET_BYTES_MAX: usize = 4096;
/// Bytes of a secret that is also recognised in base64.
const BASE64_BYTES_MAX: usize = 512;
/// Shorter ones, and those of digits alone, may also be a word or a number of ours.
const STRONG_CHARS_MIN: usize = 8;
const STRONG_DIGITS_MIN: usize = 12;
const REPLACEMENT: &str = "[secret]";

#[derive(Debug, Clone, Default)]
pub struct Secrets {
    known: Arc<Mutex<Known>>,
    shapes: Arc<Shapes>,
}

#[derive(Default)]
struct Known {
    secrets: VecDeque<Secret>,
    index: Index,
}

/// Only that there are some.
impl std::fmt::Debug for Known {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Known")
    }
}

/// One secret in the ways in which it may be written and that cannot be read as the same.
struct Secret {
    forms: Vec<Form>,
    /// Never forgotten for another one.
    kept: bool,
    /// It is typed into devices, so that a screen may show it.
    typed: bool,
}

impl Secret {
    /// Nothing for a text that is too short to be told from others.
    fn new(text: &str, kept: bool) -> Option<Secret> {
        if text.chars().count() < SECRET_CHARS_MIN {
            return None;
        }
        let forms: BTreeSet<(Vec<u8>, bool)> = std::iter::once((spelled(text), is_strong(text)))
            .chain(without_groups(text).map(|digits| (digits.as_bytes().to_vec(), is_strong(&digits))))
            .chain(in_base64(text).into_iter().map(|form| (spelled(&form), true)))
            .filter(|(bytes, _)| bytes.len() >= BEGINNING_BYTES)
            .collect();
        let forms = forms.into_iter().map(|(bytes, is_strong)| Form { bytes, is_strong }).collect::<Vec<_>>();
        (!forms.is_empty()).then_some(Secret { forms, kept, typed: true })
    }
}

/// True for a text that is not found by chance, and is not guessed by trying.
pub fn is_strong(text: &str) -> bool {
    let digits = text.chars().all(|c| c.is_ascii_digit());
    text.chars().count() >= if digits { STRONG_DIGITS_MIN } else { STRONG_CHARS_MIN }
}

/// The digits of a text that is a number in groups.
fn without_groups(text: &str) -> Option<String> {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let is_number = text.chars().all(|c| c.is_ascii_digit() || matches!(c, ' ' | '-'));
    (is_number && digits.len() >= STRONG_CHARS_MIN && digits != text).then_some(digits)
}

/// What there is of the text in base64, wherever in a longer text it stands, in both alphabets.
fn in_base64(text: &str) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    if text.chars().count() < STRONG_CHARS_MIN || text.len() > BASE64_BYTES_MAX {
        return all;
    }
    for before in 0..3 {
        let encoded = STANDARD_NO_PAD.encode([&[0; 2][..before], text.as_bytes()].concat());
        // Letters that hold bits of the neighbours too are not known.
        let (first, last) = ((before * 8).div_ceil(6), (before + text.len()) * 8 / 6);
        let own = &encoded[first..last];
        all.extend([own.to_owned(), own.replace('+', "-").replace('/', "_")]);
    }
    all
}

/// The first bytes of a text, whole characters.
fn beginning(text: &str, bytes_max: usize) -> &str {
    let end = (0..=bytes_max.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    &text[..end]
}

impl Known {
    fn add(&mut self, secret: Secret) {
        if let Some(same) = self.secrets.iter_mut().find(|other| other.forms == secret.forms) {
            same.kept |= secret.kept;
            same.typed |= secret.typed;
            return;
        }
        let forgotten = self.secrets.iter().position(|other| !other.kept);
        if !secret.kept
            && self.secrets.iter().filter(|other| !other.kept).count() >= SECRETS_MAX
            && let Some(oldest) = forgotten.and_then(|at| self.secrets.remove(at))
        {
            oldest.forms.iter().for_each(|form| self.index.remove(form));
        }
        secret.forms.iter().for_each(|form| self.index.add(form));
        self.secrets.push_back(secret);
    }
}

impl Secrets {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From here on `text` leaves this process in no message. Each line of it counts by itself, as it is typed.
    pub fn remember(&self, text: &str) {
        let text = beginning(text, SECRET_BYTES_MAX);
        let parts = text.splitn(LINES_MAX + 1, ['\n', '\t']);
        let secrets: Vec<Secret> = parts.filter_map(|part| Secret::new(part, false)).collect();
        let mut known = self.known();
        secrets.into_iter().for_each(|secret| known.add(secret));
    }

    /// The same for as long as this process lives. There are only as many as somebody configured.
    pub fn keep(&self, text: &str) {
        self.keep_all(text, true);
    }

    /// The same for what clients show to this server, which nobody types into a device.
    pub fn keep_token(&self, text: &str) {
        self.keep_all(text, false);
    }

    fn keep_all(&self, text: &str, typed: bool) {
        let lines = text.split(['\n', '\t']).filter_map(|line| Secret::new(line, true));
        let mut known = self.known();
        lines.for_each(|secret| known.add(Secret { typed, ..secret }));
    }

    /// Shows texts of these kinds as they are.
    pub fn show(&self, kinds: &[Kind]) {
        self.shapes.show(kinds);
    }

    /// True if somebody's secret may be on the screen.
    pub fn are_known(&self) -> bool {
        self.known().secrets.iter().any(|secret| secret.typed)
    }

    /// True if a text has a secret in it that somebody named.
    pub fn are_in(&self, text: &str) -> bool {
        !self.known().index.find(text, Which::All).is_empty()
    }

    /// Remembers the texts that arguments call secret, also in the steps of a flow, before anything can refuse them.
    pub fn remember_given(&self, arguments: &JsonObject) {
        self.shapes.note_told(arguments);
        let mut left = TEXTS_MAX;
        self.remember_secure(arguments, &mut left);
    }

    /// `left`: texts that this call may still have remembered.
    fn remember_secure(&self, arguments: &JsonObject, left: &mut usize) {
        let secure = arguments.iter().find(|(name, _)| is_named(name, "secure"));
        let secure = secure.is_some_and(|(_, value)| match value {
            Value::Bool(secure) => *secure,
            Value::Null => false,
            // A mistake that will be refused; it is clear what was meant.
            _ => true,
        });
        for (name, value) in arguments {
            let text = match value {
                // A name is no secret.
                Value::String(text) if text.starts_with(SCHEME) => continue,
                Value::String(text) => text.clone(),
                Value::Number(number) => number.to_string(),
                other => {
                    self.remember_inside(other, left);
                    continue;
                }
            };
            if secure && *left > 0 && is_named(name, "text") {
                *left -= 1;
                self.remember(&text);
            }
        }
    }

    fn remember_inside(&self, value: &Value, left: &mut usize) {
        match value {
            Value::Object(object) => self.remember_secure(object, left),
            Value::Array(items) => items.iter().for_each(|item| self.remember_inside(item, left)),
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
                let kind = object.get("mimeType").and_then(Value::as_str);
                let picture = kind.is_some_and(|kind| kind.starts_with("image/"));
                for (name, item) in object.iter_mut() {
                    // The data of a picture is no text, and the token is the client's own.
                    let is_data = picture && matches!(name.as_str(), "data" | "blob");
                    if !is_data && name != "progressToken" {
                        self.redact_value(item);
                    }
                }
            }
            Value::Number(number) => {
                // A short one may be any number of ours.
                if !self.known().index.find(&number.to_string(), Which::Strong).is_empty() {
                    *value = REPLACEMENT.into();
                }
            }
            Value::Null | Value::Bool(_) => {}
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
        self.are_in(text)
    }

    /// Weak secrets are looked for between quotes only.
    fn push_line(&self, out: &mut String, line: &str) {
        let (mut rest, mut inside) = (line, false);
        while !rest.is_empty() {
            let end = quote_in(rest).map_or(rest.len(), |at| at + 1);
            let (part, after) = rest.split_at(end);
            out.push_str(&self.redact_where(part, if inside { Which::All } else { Which::Strong }));
            (rest, inside) = (after, !inside);
        }
    }

    /// Any text: a message, a line of the log.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.redact_where(text, Which::All)
    }

    fn redact_where<'a>(&self, text: &'a str, which: Which) -> Cow<'a, str> {
        let found = self.known().index.find(text, which);
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
        assert!(!format!("{secrets:?}").contains("90210"), "S8");
        let secrets = Secrets::default();
        secrets.remember_given(&serde_json::from_str(r#"{"te_xt":"hunter2-canary","SECURE":true}"#).unwrap());
        assert_eq!(secrets.redact("hunter2-canary"), "[secret]");
        secrets.remember_given(&serde_json::from_str(r#"{"text":"secret://login","secure":true}"#).unwrap());
        assert_eq!(secrets.redact("secret://login"), "secret://login", "a name is no secret");
    }

    #[test]
    fn one_call_does_not_make_others_secrets_forgotten() {
        // SE-06, SE-07
        let secrets = Secrets::default();
        secrets.keep("the first of all, for ever");
        secrets.remember("typed by another client");
        let lines: Vec<String> = (0..SECRETS_MAX * 2).map(|number| format!("line number {number}")).collect();
        let step = serde_json::json!({"text": lines.join("\n"), "secure": true});
        let flow = serde_json::json!({"steps": vec![step; 1000]});
        secrets.remember_given(flow.as_object().unwrap());
        assert_eq!(secrets.redact("typed by another client"), "[secret]");
        assert_eq!(secrets.redact("line number 3"), "[secret]");
        assert_eq!(secrets.redact("x line number 99 x"), "x [secret] x", "by its parts");
        for line in &lines {
            secrets.remember(line);
        }
        assert_eq!(secrets.known().secrets.len(), SECRETS_MAX + 1);
        assert_eq!(secrets.redact("the first of all, for ever"), "[secret]", "what was configured stays");
        assert_eq!(secrets.redact("typed by another client"), "typed by another client");
    }

    #[test]
    fn what_a_secret_takes_is_bounded() {
        // SE-07: quotes within quotes had sixteen spellings, each of twice the length.
        let long = "\"\\ä'".repeat(SECRET_BYTES_MAX);
        let secrets = Secrets::default();
        secrets.remember(&long);
        let bytes: usize = secrets
            .known()
            .secrets
            .iter()
            .flat_map(|secret| &secret.forms)
            .map(|form| form.bytes.len())
            .sum();
        assert!(bytes <= 2 * SECRET_BYTES_MAX, "{bytes}");
        let short = Secret::new(&"k".repeat(BASE64_BYTES_MAX), false).unwrap();
        assert!(short.forms.len() <= 8, "{}", short.forms.len());
    }

    #[test]
    fn a_secret_is_known_in_the_usual_encodings() {
        // SE-06
        let secrets = knowing(&["p@ss!word-77", "k=v two", "12345678", "9876 5432 1098 7654"]);
        for written in [
            "p@ss!word-77",
            "p%40ss!word-77",
            "p%40ss%21word-77",
            "P%2540ss%2521word%252D77",
            r"p\u0040ss\u0021word-77",
            r#"k\u003dv two"#,
            "k=v+two",
            "k%3Dv%20two",
            "k&#61;v two",
            "1234 5678",
            "1234-5678",
            "12 34 56 78",
            "9876543210987654",
            "9876-5432-1098-7654",
        ] {
            assert_eq!(secrets.redact(&format!("x {written}, y")), "x [secret], y", "{written}");
        }
        for user in ["", "a:", "ab:", "abc:"] {
            let header = STANDARD_NO_PAD.encode(format!("{user}p@ss!word-77"));
            let shown = secrets.redact(&header).into_owned();
            assert!(shown.contains("[secret]") && shown.len() < header.len(), "{header} became {shown}");
        }
        for other in ["p@ss!word-78", "k v two", "912345678", "e12345678"] {
            assert_eq!(secrets.redact(other), other);
        }
    }

    #[test]
    fn numbers_are_secrets_too_and_pictures_are_no_text() {
        // SE-06
        let secrets = knowing(&["902101234567", "role"]);
        let message = r#"{"id":902101234567,"result":{"n":902101234567,"x":12,
            "contents":[{"mimeType":"image/jpeg","blob":"/9jrole+"},{"mimeType":"image/png","data":"role"},
            {"mimeType":"text/plain","text":"a \"role\"","data":"role"}]}}"#;
        let shown: Value = serde_json::from_str(&secrets.redact_message(message)).unwrap();
        let expected = r#"{"id":902101234567,"result":{"n":"[secret]","x":12,
            "contents":[{"mimeType":"image/jpeg","blob":"/9jrole+"},{"mimeType":"image/png","data":"role"},
            {"mimeType":"text/plain","text":"a \"[secret]\"","data":"[secret]"}]}}"#;
        assert_eq!(shown, serde_json::from_str::<Value>(expected).unwrap());
    }

    #[test]
    fn a_secret_behind_an_escape_is_found() {
        // F66, SE-06
        let secrets = knowing(&["4815"]);
        for before in [r"\n", r"\u2066", r"\\n", "\u{2066}"] {
            let line = format!("{{}}\ne1 text \"PIN{before}4815\"");
            let shown = secrets.redact_answer(&line).into_owned();
            assert_eq!(shown, format!("{{}}\ne1 text \"PIN{before}[secret]\""));
        }
    }

    #[test]
    fn a_token_of_a_client_is_hidden_and_is_on_no_screen() {
        // SE-03: or each picture over HTTP would cost two readings of the screen
        let secrets = Secrets::default();
        secrets.keep_token("0123456789abcdef-token");
        assert_eq!(secrets.redact("0123456789abcdef-token"), "[secret]");
        assert_eq!(secrets.redact_answer("{}\ne1 \"0123456789abcdef-token\""), "{}\ne1 \"[secret]\"");
        assert!(!secrets.are_known());
        secrets.remember("0123456789abcdef-token");
        assert!(secrets.are_known(), "somebody typed it");
    }
}
