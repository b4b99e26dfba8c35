//! Secrets in lines of a log (SE-06). A log is prose: what only talks about a token must stay readable.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex_lite::{Captures, Regex};

use super::redact::REDACTED;

/// Names whose values are secrets wherever they stand.
const NAMES: &str =
    "token|secret|passw(?:or)?d|passphrase|credential|api[_-]?key|jwt|cvv|authorization|cookie";
/// After a colon a short word is prose: `token: expired`.
const PROSE_CHARS_MAX: usize = 7;

/// `name=value`, `name: value` and `"name":"value"`, with the scheme of an Authorization header between them.
static NAMED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let value = r#"("[^"]*"|[^\s"',;&}\])]+)"#;
    Regex::new(&format!(r#"(?i)([\w.-]*(?:{NAMES})[\w.-]*"?)(\s*[=:]\s*)((?:bearer|basic)\s+)?{value}"#)).ok()
});
static BEARER: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?i)\b(bearer\s+)([A-Za-z0-9._~+/-]{8,}=*)").ok());

/// Parts of those names: a line without any of them needs no closer look.
const HINTS: [&str; 11] = [
    "token",
    "secret",
    "passw",
    "passphrase",
    "credential",
    "api",
    "jwt",
    "cvv",
    "authorization",
    "cookie",
    "bearer",
];

/// The line without the values of what is named like a secret.
pub fn line(text: &str) -> Cow<'_, str> {
    let lower = text.to_ascii_lowercase();
    if !HINTS.iter().any(|hint| lower.contains(hint)) {
        return Cow::Borrowed(text);
    }
    let (Some(named), Some(bearer)) = (NAMED.as_ref(), BEARER.as_ref()) else {
        return Cow::Borrowed(REDACTED);
    };
    let hidden = named.replace_all(text, |found: &Captures<'_>| {
        let part = |at: usize| found.get(at).map_or("", |part| part.as_str());
        let (name, between, scheme, value) = (part(1), part(2), part(3), part(4));
        if is_prose(name, between, scheme, value) {
            return part(0).to_owned();
        }
        let mark = if value.starts_with('"') { format!("\"{REDACTED}\"") } else { REDACTED.to_owned() };
        format!("{name}{between}{scheme}{mark}")
    });
    match bearer.replace_all(&hidden, format!("${{1}}{REDACTED}")) {
        Cow::Borrowed(_) => hidden,
        Cow::Owned(text) => Cow::Owned(text),
    }
}

/// True for a value that is none: a word, a flag, a number of something.
fn is_prose(name: &str, between: &str, scheme: &str, value: &str) -> bool {
    let plain = value.trim_matches('"');
    let is_flag = matches!(plain.to_ascii_lowercase().as_str(), "" | "null" | "none" | "true" | "false");
    let is_quoted = name.ends_with('"') || value.starts_with('"');
    let is_word = between.contains(':') && !is_quoted && scheme.is_empty() && plain.len() <= PROSE_CHARS_MAX;
    let has_digit = plain.contains(|c: char| c.is_ascii_digit());
    is_flag || is_word || between.contains(": ") && !is_quoted && scheme.is_empty() && !has_digit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_in_lines_are_hidden() {
        // SE-06
        for (text, shown) in [
            ("login user=ada password=hunter2 ok", "login user=ada password=*** ok"),
            ("Authorization: Bearer abc.def-123", "Authorization: Bearer ***"),
            (r#"{"access_token":"eyJhbGciOi","expires":3600}"#, r#"{"access_token":"***","expires":3600}"#),
            (r#"{"password": "hunter2"}"#, r#"{"password": "***"}"#),
            ("GET /x?api_key=12345678&page=2", "GET /x?api_key=***&page=2"),
            ("Set-Cookie: sid=a1b2c3d4e5; Path=/", "Set-Cookie: ***; Path=/"),
            ("refreshToken=8f14e45fceea167a", "refreshToken=***"),
            ("sent bearer 8f14e45fceea167a to h", "sent bearer *** to h"),
        ] {
            assert_eq!(line(text), shown);
        }
    }

    #[test]
    fn what_only_talks_about_secrets_stays() {
        for text in [
            "token: expired",
            "Invalid token: it was revoked",
            "no password given",
            "token=null",
            "isTokenValid=false",
            "code=401 key=volume",
            "java.lang.SecurityException: secret: permission denied",
        ] {
            assert_eq!(line(text), text);
        }
    }

    #[test]
    fn hostile_lines_take_no_time() {
        // SE-07: a regex of this kind is linear.
        let text = "token".repeat(50_000);
        assert_eq!(line(&text).len(), text.len());
    }
}
