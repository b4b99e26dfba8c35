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
/// Digits of a card; there are signs between some of them.
const CARD_DIGITS: std::ops::RangeInclusive<usize> = 14..=19;
/// Characters of the longest name before the @ of an email address.
const LOCAL_CHARS_MAX: usize = 64;
/// The @ of an address: as it is, in a URI, in a URI within a URI, and in JSON.
const AT_SIGNS: [&[u8]; 4] = [b"@", b"%40", b"%2540", b"\\u0040"];

/// Where such texts are, in order, none within another.
pub fn find(text: &str) -> Vec<(Range<usize>, Kind)> {
    Finder::new(text).all()
}

/// Reads a text from its beginning to its end.
struct Finder<'a> {
    text: &'a str,
    /// The run that was read last: one run may hold thousands of beginnings of tokens.
    run: Run,
    /// Bytes that were looked at, some of them more than once.
    looked_at: usize,
}

/// Characters of tokens in a row.
#[derive(Default)]
struct Run {
    place: Range<usize>,
    last_digit: Option<usize>,
    last_dot_but_one: Option<usize>,
}

impl<'a> Finder<'a> {
    fn new(text: &'a str) -> Finder<'a> {
        Finder { text, run: Run::default(), looked_at: 0 }
    }

    fn all(&mut self) -> Vec<(Range<usize>, Kind)> {
        let bytes = self.text.as_bytes();
        let mut found: Vec<(Range<usize>, Kind)> = Vec::new();
        let mut at = 0;
        while at < bytes.len() {
            self.looked_at += 1;
            let from = found.last().map_or(0, |(place, _)| place.end);
            let place = match bytes[at] {
                b'@' | b'%' | b'\\' => self.email(at, from).map(|place| (place, Kind::Email)),
                b'0'..=b'9' if !within_word(bytes, at) => self.card(at).map(|place| (place, Kind::Card)),
                byte if byte.is_ascii_alphabetic() && !within_word(bytes, at) => {
                    self.token(at).map(|place| (place, Kind::Token))
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

    /// The address whose sign begins here; its name begins at `from` or later.
    fn email(&mut self, at: usize, from: usize) -> Option<Range<usize>> {
        let sign = AT_SIGNS.iter().find(|sign| self.text.as_bytes()[at..].starts_with(sign))?.len();
        // A sign that is escaped has more backslashes the more often it is.
        let before = self.text[from..at].trim_end_matches('\\');
        let start = from + before.len() - local_length(before);
        let after = &self.text[at + sign..];
        let length = chars_length(after.chars(), |c| c.is_alphanumeric() || matches!(c, '.' | '-'));
        self.looked_at += at - start + length;
        let domain = domain_length(&after[..length])?;
        (start < from + before.len()).then_some(start..at + sign + domain)
    }

    /// Digits in groups whose last one is the check digit of the others. Groups behind them may be an expiry and a code.
    fn card(&mut self, at: usize) -> Option<Range<usize>> {
        let bytes = self.text.as_bytes();
        // The first digit says which kind of card it is.
        if !matches!(bytes[at], b'2'..=b'6') {
            return None;
        }
        let (mut digits, mut ends, mut next) = (Vec::new(), Vec::new(), at);
        while let Some(byte) = bytes.get(next) {
            match byte {
                b'0'..=b'9' if digits.len() < *CARD_DIGITS.end() => digits.push(byte - b'0'),
                b' ' | b'-' if bytes[next - 1].is_ascii_digit() && digits.len() >= 4 => {
                    ends.push((digits.len(), next));
                }
                _ => break,
            }
            next += 1;
        }
        self.looked_at += next - at;
        if bytes[next - 1].is_ascii_digit() && !bytes.get(next).is_some_and(|byte| is_word(*byte)) {
            ends.push((digits.len(), next));
        }
        let is_card = |count: usize| CARD_DIGITS.contains(&count) && checks(&digits[..count]);
        ends.into_iter().rev().find(|(count, _)| is_card(*count)).map(|(_, end)| at..end)
    }

    fn token(&mut self, at: usize) -> Option<Range<usize>> {
        let text = self.text;
        let rest = &text[at..];
        if let Some(key) = rest.strip_prefix("BEGIN ").filter(|_| text[..at].ends_with("-----")) {
            return self.private_key(at, key);
        }
        let (prefix, least) = PREFIXES.iter().find(|(prefix, _)| rest.starts_with(prefix))?;
        if !self.run.place.contains(&at) {
            self.run = Run::read(text.as_bytes(), at);
            self.looked_at += self.run.place.len();
        }
        let (body, run) = (at + prefix.len(), &self.run);
        let is_in_body = |place: Option<usize>| place.is_some_and(|place| place >= body);
        // A JSON Web Token has three parts, or five.
        let is_whole = *prefix != "eyJ" || is_in_body(run.last_dot_but_one);
        let is_long = run.place.end >= body + least;
        (is_long && is_whole && is_in_body(run.last_digit)).then_some(at..run.place.end)
    }

    fn private_key(&mut self, at: usize, key: &str) -> Option<Range<usize>> {
        let head = key.split("-----").next()?;
        self.looked_at += head.len();
        if !head.ends_with("PRIVATE KEY") {
            return None;
        }
        // One that was cut is a key all the same.
        let end = self.text[at..].find("-----END").map_or(self.text.len(), |end| at + end);
        self.looked_at += end - at;
        Some(at..end)
    }
}

impl Run {
    /// The run from `at` on, without the dots at its end, which end a sentence.
    fn read(bytes: &[u8], at: usize) -> Run {
        let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_-.".contains(byte);
        let mut end = at + bytes[at..].iter().take_while(is_part).count();
        while end > at && bytes[end - 1] == b'.' {
            end -= 1;
        }
        let last = |end: usize, is: fn(&u8) -> bool| Some(at + bytes[at..end].iter().rposition(is)?);
        let is_dot = |byte: &u8| *byte == b'.';
        let last_dot_but_one = last(end, is_dot).and_then(|dot| last(dot, is_dot));
        Run { place: at..end, last_digit: last(end, u8::is_ascii_digit), last_dot_but_one }
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// True if a word goes on at `at`. The letters of an escape (`\n`, `\u2066`, `%20`) belong to no word.
fn within_word(bytes: &[u8], at: usize) -> bool {
    let before = &bytes[..at];
    let are_hex = |digits: &[u8]| digits.iter().all(u8::is_ascii_hexdigit);
    let escaped = match before {
        [.., b'\\', b'n' | b'r' | b't' | b'b' | b'f'] => true,
        [.., b'\\', b'u', a, b, c, d] => are_hex(&[*a, *b, *c, *d]),
        [.., b'%', high, low] => are_hex(&[*high, *low]),
        _ => false,
    };
    !escaped && before.last().is_some_and(|byte| is_word(*byte))
}

fn chars_length(chars: impl Iterator<Item = char>, is: impl Fn(char) -> bool) -> usize {
    chars.take_while(|c| is(*c)).map(char::len_utf8).sum()
}

/// The bytes of the name at the end of `before`.
fn local_length(before: &str) -> usize {
    let chars = || before.chars().rev().take(LOCAL_CHARS_MAX);
    let is_sign = |c: char| c.is_ascii_alphanumeric() || "._%+-".contains(c);
    // Of the scripts that put spaces between words. In the others a name is whatever stands before the sign.
    let is_letter = |c: char| ('\u{80}'..'\u{530}').contains(&c) && c.is_alphanumeric();
    let length = match chars_length(chars(), |c| is_sign(c) || is_letter(c)) {
        0 => chars_length(chars(), char::is_alphanumeric),
        length => length,
    };
    let (before, name) = before.split_at(before.len() - length);
    length - if before.ends_with('\\') { escape_length(name.as_bytes()) } else { 0 }
}

/// The bytes of an escape behind its backslash.
fn escape_length(name: &[u8]) -> usize {
    match name {
        [b'u', rest @ ..] if rest.len() >= 4 && rest[..4].iter().all(u8::is_ascii_hexdigit) => 5,
        [b'n' | b'r' | b't' | b'b' | b'f', ..] => 1,
        _ => 0,
    }
}

/// The bytes of the domain that `text` begins with, if it is one.
fn domain_length(text: &str) -> Option<usize> {
    let mut name = text.trim_end_matches(['.', '-']);
    let first = name.split('.').next().unwrap_or_default();
    // `icon@2x.png` is the name of a picture.
    if matches!(first.as_bytes(), [digit, b'x'] if digit.is_ascii_digit()) {
        return None;
    }
    loop {
        let (labels, top) = name.rsplit_once('.').filter(|(labels, _)| !labels.is_empty())?;
        match top_length(top) {
            Some(length) => return Some(labels.len() + 1 + length),
            // Words of another script may follow without a space, and have dots of their own.
            None if text.is_ascii() => return None,
            None => name = labels,
        }
    }
}

/// The bytes of the top-level domain that a label is, or begins with where letters of another script follow.
fn top_length(label: &str) -> Option<usize> {
    let letters = label.bytes().take_while(u8::is_ascii_alphabetic).count();
    let goes_on = label[letters..].chars().next();
    let is_top = match goes_on {
        None => letters >= 2,
        Some(next) if letters > 0 => letters >= 2 && !next.is_ascii(),
        Some(_) => false,
    };
    if is_top {
        return Some(letters);
    }
    let is_other = label.starts_with("xn--") || letters == 0 && label.chars().all(char::is_alphabetic);
    is_other.then_some(label.len())
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
    fn an_escape_is_no_part_of_the_word_behind_it() {
        // SE-06: labels are quoted before they are searched
        let token = "ghp_0123456789abcdefghij0123456789abcdef";
        for escape in [r"\n", r"\\n", r"\r", r"\t", r"\u2066", r"\u{2066}", "%20"] {
            check(&format!("Visa{escape}4111 1111 1111 1111"), &[("4111 1111 1111 1111", Kind::Card)]);
            check(&format!("key{escape}{token}"), &[(token, Kind::Token)]);
        }
        for escape in [r"\n", r"\\n", r"\u2066", r"\u{2066}"] {
            check(&format!("to{escape}ada@b.io"), &[("ada@b.io", Kind::Email)]);
        }
        check("n4111 1111 1111 1111", &[]);
    }

    #[test]
    fn a_card_is_found_beside_its_expiry_and_its_code() {
        // SE-06
        let card = "4111 1111 1111 1111";
        for behind in [" 12/27", " 123", " 12 27", " 12/27 123", "  12/27", " 1227 123", "-12"] {
            check(&format!("{card}{behind}"), &[(card, Kind::Card)]);
        }
        check("12/27 4111 1111 1111 1111", &[(card, Kind::Card)]);
        check("4111 1111 1111 1112 12/27", &[]);
    }

    #[test]
    fn addresses_are_found_encoded_and_in_other_scripts() {
        // SE-06
        for address in [
            "ada%40example.com",
            "ada%2540example.com",
            r"ada\u0040example.com",
            r"ada\\u0040example.com",
            "ada@münchen.de",
            "jürgen@example.com",
            "ada@пример.рф",
            "用户@例子.公司",
            "ada@xn--e1afmkfd.xn--p1ai",
        ] {
            check(&format!("to {address}, now"), &[(address, Kind::Email)]);
        }
        check("发到ada@x.com谢谢", &[("ada@x.com", Kind::Email)]);
        check("ada@x.io和b.c@y.io", &[("ada@x.io", Kind::Email), ("b.c@y.io", Kind::Email)]);
        check("50%40 and @ünï", &[]);
    }

    #[test]
    fn a_long_token_is_found_as_a_whole() {
        // SE-06
        let part = |length: usize| "aB3_-".repeat(length / 5);
        let token = format!("eyJ{}.{}.{}", part(200), part(6000), part(400));
        check(&format!("Bearer {token}"), &[(&token, Kind::Token)]);
        check(&format!("It is {token}."), &[(&token, Kind::Token)]);
        let encrypted = format!("{token}.{}.{}", part(100), part(100));
        check(&format!("{encrypted} ok"), &[(&encrypted, Kind::Token)]);
    }

    #[test]
    fn hostile_text_takes_no_time() {
        // SE-07: each byte is looked at so many times at most, however long the text is.
        const TIMES_MAX: usize = 80;
        for part in [
            "@",
            "a@",
            "a@b.",
            "a%40",
            r"\u0040",
            "é@",
            "用@",
            "4 ",
            "4444 ",
            "44444444 ",
            "eyJ.",
            "eyJ.1",
            "sk-",
            "sk-1",
            "ghp_.",
            "-----BEGIN ",
            "-----BEGIN PRIVATE KEY-----",
            "n.",
        ] {
            let text = part.repeat(512 * 1024 / part.len());
            let mut finder = Finder::new(&text);
            finder.all();
            assert!(finder.looked_at <= TIMES_MAX * text.len(), "{part}: {}", finder.looked_at);
        }
    }
}
