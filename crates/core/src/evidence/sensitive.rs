//! Texts that are sensitive by their shape alone: e-mail addresses, card numbers, tokens (SE-06).

use std::ops::Range;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    Email,
    Card,
    Token,
}

impl Kind {
    pub const ALL: [Kind; 3] = [Kind::Email, Kind::Card, Kind::Token];

    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Email => "email",
            Kind::Card => "card",
            Kind::Token => "token",
        }
    }
}

/// What an issuer of tokens begins them with, and how many characters follow at least.
const PREFIXES: [(&str, usize); 15] = [
    ("ghp_", 30),
    ("gho_", 30),
    ("ghs_", 30),
    ("github_pat_", 30),
    ("glpat-", 18),
    ("npm_", 30),
    ("sk-", 20),
    ("sk_live_", 16),
    ("rk_live_", 16),
    ("xoxb-", 20),
    ("xoxp-", 20),
    ("AKIA", 16),
    ("AIza", 30),
    ("ya29.", 20),
    ("eyJ", 20),
];
/// A pair of digits and signs between them; a card has 14 to 19 digits.
const CARD_DIGITS: std::ops::RangeInclusive<usize> = 14..=19;
/// Longest name before the @ of an email address.
const LOCAL_BYTES_MAX: usize = 64;

/// Where such texts are, in order, none within another.
pub fn find(text: &str) -> Vec<(Range<usize>, Kind)> {
    let bytes = text.as_bytes();
    let mut found: Vec<(Range<usize>, Kind)> = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let start = found.last().map_or(0, |(place, _)| place.end);
        let place = match bytes[at] {
            b'@' => email(bytes, at, start).map(|place| (place, Kind::Email)),
            b'0'..=b'9' if !within_word(bytes, at) => card(bytes, at).map(|place| (place, Kind::Card)),
            byte if byte.is_ascii_alphabetic() && !within_word(bytes, at) => {
                token(text, at).map(|place| (place, Kind::Token))
            }
            _ => None,
        };
        match place {
            Some(place) => {
                at = place.0.end;
                found.push(place);
            }
            None => at += 1,
        }
    }
    found
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn within_word(bytes: &[u8], at: usize) -> bool {
    at > 0 && is_word(bytes[at - 1])
}

fn email(bytes: &[u8], at: usize, from: usize) -> Option<Range<usize>> {
    let local = |byte: &u8| byte.is_ascii_alphanumeric() || b"._%+-".contains(byte);
    let before = bytes[from..at].iter().rev().take(LOCAL_BYTES_MAX).take_while(|byte| local(byte)).count();
    let domain = |byte: &u8| byte.is_ascii_alphanumeric() || b".-".contains(byte);
    let after = bytes[at + 1..].iter().take_while(|byte| domain(byte)).count();
    let mut name = &bytes[at + 1..at + 1 + after];
    while let [rest @ .., b'.' | b'-'] = name {
        name = rest;
    }
    let dot = name.iter().rposition(|byte| *byte == b'.')?;
    let top = &name[dot + 1..];
    let first = name.split(|byte| *byte == b'.').next().unwrap_or_default();
    // `icon@2x.png` is the name of a picture.
    let is_scale = matches!(first, [digit, b'x'] if digit.is_ascii_digit());
    let good =
        before > 0 && dot > 0 && top.len() >= 2 && top.iter().all(u8::is_ascii_alphabetic) && !is_scale;
    good.then(|| at - before..at + 1 + name.len())
}

/// Digits in groups whose last one is the check digit of the others.
fn card(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    // The first digit says which kind of card it is.
    if !matches!(bytes[at], b'2'..=b'6') {
        return None;
    }
    let (mut digits, mut end, mut next) = (Vec::new(), at, at);
    while let Some(byte) = bytes.get(next) {
        match byte {
            b'0'..=b'9' => {
                digits.push(byte - b'0');
                end = next + 1;
            }
            b' ' | b'-' if next == end && digits.len() >= 4 => {}
            _ => break,
        }
        if digits.len() > *CARD_DIGITS.end() {
            return None;
        }
        next += 1;
    }
    let ended = !bytes.get(end).is_some_and(|byte| is_word(*byte));
    (ended && CARD_DIGITS.contains(&digits.len()) && checks(&digits)).then_some(at..end)
}

fn checks(digits: &[u8]) -> bool {
    let doubled = |digit: u32| if digit > 4 { digit * 2 - 9 } else { digit * 2 };
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(at, digit)| if at % 2 == 1 { doubled((*digit).into()) } else { (*digit).into() })
        .sum();
    sum.is_multiple_of(10)
}

fn token(text: &str, at: usize) -> Option<Range<usize>> {
    let rest = text.get(at..)?;
    if let Some(key) = rest.strip_prefix("BEGIN ").filter(|_| text[..at].ends_with("-----")) {
        return private_key(text, at, key);
    }
    let (prefix, least) = PREFIXES.iter().find(|(prefix, _)| rest.starts_with(prefix))?;
    let body = &rest.as_bytes()[prefix.len()..];
    let length = body.iter().take_while(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(byte)).count();
    // A JSON Web Token has three parts.
    let is_whole = *prefix != "eyJ" || body[..length].iter().filter(|byte| **byte == b'.').count() == 2;
    let mixed = body[..length].iter().any(u8::is_ascii_digit);
    (length >= *least && is_whole && mixed).then(|| at..at + prefix.len() + length)
}

fn private_key(text: &str, at: usize, key: &str) -> Option<Range<usize>> {
    let head = key.split("-----").next()?;
    if !head.ends_with("PRIVATE KEY") {
        return None;
    }
    // One that was cut is a key all the same.
    let end = text[at..].find("-----END").map_or(text.len(), |end| at + end);
    Some(at..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[(&str, Kind)]) {
        let found: Vec<_> = find(text).into_iter().map(|(place, kind)| (&text[place], kind)).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn addresses_cards_and_tokens_are_found() {
        // SE-06
        check("mail ada.l+x@example.co.uk.", &[("ada.l+x@example.co.uk", Kind::Email)]);
        check("a@b.io,c@d.io", &[("a@b.io", Kind::Email), ("c@d.io", Kind::Email)]);
        check(
            "4111 1111 1111 1111 or 5500-0000-0000-0004",
            &[("4111 1111 1111 1111", Kind::Card), ("5500-0000-0000-0004", Kind::Card)],
        );
        check("card=378282246310005;", &[("378282246310005", Kind::Card)]);
        let token = "ghp_0123456789abcdefghij0123456789abcdef";
        check(&format!("x {token}\""), &[(token, Kind::Token)]);
        let jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.sflKxwRJSMeKKF2QT4fw";
        check(&format!("Bearer {jwt} ok"), &[(jwt, Kind::Token)]);
        check("AKIAIOSFODNN7EXAMPLE", &[("AKIAIOSFODNN7EXAMPLE", Kind::Token)]);
        let key = "BEGIN RSA PRIVATE KEY-----\nMIIE\n";
        check(&format!("-----{key}-----END RSA PRIVATE KEY-----"), &[(key, Kind::Token)]);
    }

    #[test]
    fn what_only_looks_like_one_stays() {
        for text in [
            "e12 button @540,1200 \"Save\"",
            "icon@2x.png and Foo@1a2b3c",
            "user@localhost",
            "tap_1731650000123_7",
            "4111 1111 1111 1112",
            "41111111111111110000",
            "x4111111111111111",
            "captured_at 1731650000123456",
            "sk-learn is a library and npm_config_registry a variable",
            "eyJub3RhdG9rZW4iOnRydWV9 is not signed",
            "task-sk-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
            "-----BEGIN CERTIFICATE-----",
            "@example.com",
            "",
        ] {
            check(text, &[]);
        }
    }

    #[test]
    fn hostile_text_takes_no_time() {
        // SE-07
        for text in ["@".repeat(200_000), "a@".repeat(100_000), "4 ".repeat(100_000), "eyJ.".repeat(50_000)] {
            assert!(find(&text).len() <= text.len());
        }
    }
}
