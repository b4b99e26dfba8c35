//! Secrets in what apps send: addresses, headers and bodies, by the names of their parts (SE-06).

use std::borrow::Cow;

/// Stands where a secret was.
pub const REDACTED: &str = "***";

/// A name with one of these in it is a secret's.
const SECRET_PARTS: [&str; 12] = [
    "token",
    "secret",
    "passw",
    "passphrase",
    "credential",
    "apikey",
    "api_key",
    "api-key",
    "auth",
    "session",
    "signature",
    "cookie",
];
/// Names that are a secret's only as a whole.
const SECRET_NAMES: [&str; 13] = [
    "key",
    "pwd",
    "pass",
    "pin",
    "otp",
    "sig",
    "sid",
    "jwt",
    "code",
    "cvv",
    "cvc",
    "client_key",
    "access_key",
];
/// Names that would be taken for secrets and are none.
const HARMLESS: [&str; 4] = ["author", "authors", "authority", "session_count"];

pub fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    if HARMLESS.contains(&name.as_str()) {
        return false;
    }
    SECRET_NAMES.contains(&name.as_str()) || SECRET_PARTS.iter().any(|part| name.contains(part))
}

/// The address without the values of secret parameters and without a user's name and password.
pub fn url(url: &str) -> String {
    let (before, after) = match url.find(['?', '#']) {
        Some(at) => url.split_at(at),
        None => (url, ""),
    };
    let mut out = without_user(before);
    let mut rest = after;
    while let Some(mark) = rest.chars().next() {
        out.push(mark);
        rest = &rest[mark.len_utf8()..];
        let end = rest.find(['&', '#', ';']).unwrap_or(rest.len());
        push_pair(&mut out, &rest[..end]);
        rest = &rest[end..];
    }
    out
}

fn without_user(address: &str) -> String {
    let Some((scheme, rest)) = address.split_once("://") else { return address.to_owned() };
    let cut = rest.find('/').unwrap_or(rest.len());
    match rest[..cut].rfind('@') {
        Some(at) => format!("{scheme}://{REDACTED}@{}", &rest[at + 1..]),
        None => address.to_owned(),
    }
}

fn push_pair(out: &mut String, pair: &str) {
    match pair.split_once('=') {
        Some((name, value)) if is_secret_name(name) && !value.is_empty() => {
            out.push_str(name);
            out.push('=');
            out.push_str(REDACTED);
        }
        _ => out.push_str(pair),
    }
}

/// The value of a header, or what stands for it. One that is an address is treated as such.
pub fn header<'a>(name: &str, value: &'a str) -> Cow<'a, str> {
    if is_secret_name(name) {
        Cow::Borrowed(REDACTED)
    } else if value.contains("://") || value.starts_with('/') {
        Cow::Owned(url(value))
    } else {
        Cow::Borrowed(value)
    }
}

/// A body without the values of secret members of JSON, fields of a form, and headers of a part.
pub fn body(text: &str) -> String {
    let start = text.trim_start();
    let is_form =
        !start.starts_with(['{', '[', '<']) && text.contains('=') && !text.contains(char::is_whitespace);
    if is_form {
        let mut out = String::with_capacity(text.len());
        for (number, pair) in text.split('&').enumerate() {
            if number > 0 {
                out.push('&');
            }
            push_pair(&mut out, pair);
        }
        return out;
    }
    pairs(&json(text))
}

/// Replaces the value of every `name=value` with a secret's name, as in an address that a text mentions.
fn pairs(text: &str) -> String {
    let part_of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let ends_value = |c: char| {
        c.is_whitespace() || matches!(c, '&' | ';' | '#' | '"' | '\'' | '<' | '>' | '\\' | ',' | ')')
    };
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('=') {
        let (before, after) = rest.split_at(at + 1);
        let name = &before[before[..at].trim_end_matches(part_of_name).len()..at];
        out.push_str(before);
        let end = after.find(ends_value).unwrap_or(after.len());
        rest = after;
        if end > 0 && !name.is_empty() && is_secret_name(name) {
            out.push_str(REDACTED);
            rest = &after[end..];
        }
    }
    out.push_str(rest);
    out
}

/// Replaces what follows `"name":` for secret names, in anything that looks like JSON.
fn json(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find('"') {
        let (before, quoted) = rest.split_at(open);
        out.push_str(before);
        let Some(end) = string_end(quoted) else {
            out.push_str(quoted);
            return out;
        };
        let (name, after) = quoted.split_at(end);
        out.push_str(name);
        rest = after;
        let value_at = after.len() - after.trim_start().len();
        let Some(value) = after[value_at..].strip_prefix(':') else { continue };
        if !is_secret_name(name.trim_matches('"')) {
            continue;
        }
        let trimmed = value.trim_start();
        let skipped = after.len() - trimmed.len();
        let length = value_length(trimmed);
        if length > 0 {
            out.push_str(&after[..skipped]);
            out.push_str(&format!("\"{REDACTED}\""));
            rest = &trimmed[length..];
        }
    }
    out.push_str(rest);
    out
}

/// The bytes of the string that begins here, quotes included; nothing if it does not end.
fn string_end(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// The bytes of the value that begins here. A list or an object is looked into instead of being replaced.
fn value_length(text: &str) -> usize {
    match text.chars().next() {
        Some('"') => string_end(text).unwrap_or(text.len()),
        Some('{' | '[') | None => 0,
        Some(_) => text.find([',', '}', ']', '\n']).unwrap_or(text.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secret_values_do_not_stand_in_an_address() {
        // SE-06
        for (given, shown) in [
            ("https://h/a?token=abc&q=1", "https://h/a?token=***&q=1"),
            (
                "https://h/a?q=1&API_KEY=x#access_token=y&z=1",
                "https://h/a?q=1&API_KEY=***#access_token=***&z=1",
            ),
            ("https://user:pw@h/a", "https://***@h/a"),
            ("https://h/a?password=", "https://h/a?password="),
            (
                "https://h/a?author=me&keyboard=qwerty&code=1",
                "https://h/a?author=me&keyboard=qwerty&code=***",
            ),
            ("/path?sessionId=1", "/path?sessionId=***"),
            ("https://h/a@b?x=ü", "https://h/a@b?x=ü"),
            ("", ""),
        ] {
            assert_eq!(url(given), shown);
        }
    }

    #[test]
    fn secret_headers_and_members_do_not_show() {
        // SE-06
        for name in
            ["Authorization", "cookie", "Set-Cookie", "Proxy-Authorization", "X-Api-Key", "X-CSRF-Token"]
        {
            assert_eq!(header(name, "abc"), REDACTED, "{name}");
        }
        assert_eq!(header("Content-Type", "text/plain"), "text/plain");
        assert_eq!(header("Location", "https://h/home?session=1"), "https://h/home?session=***");
        for (given, shown) in [
            (r#"{"user":"ada","password" : "x\"y","n":1}"#, r#"{"user":"ada","password" : "***","n":1}"#),
            (r#"{"pin":1234,"a":[{"access_token":null}]}"#, r#"{"pin":"***","a":[{"access_token":"***"}]}"#),
            (r#"{"session":{"id":"1"}}"#, r#"{"session":{"id":"1"}}"#),
            (r#"{"password":"cut off in the mid"#, r#"{"password":"***""#),
            ("user=ada&password=x&b", "user=ada&password=***&b"),
            ("plain \"text", "plain \"text"),
            ("see https://h/a?token=abc&n=1, or a == b", "see https://h/a?token=***&n=1, or a == b"),
            (r#"{"next":"https://h/?api_key=zz"}"#, r#"{"next":"https://h/?api_key=***"}"#),
        ] {
            assert_eq!(body(given), shown);
        }
    }
}
