//! Rust text with its comments and strings blanked out, so that a search for words finds only code.

/// Same length and lines as `source`. Comments become spaces; what strings hold becomes underscores, which keeps a
/// line within a long string from looking empty.
pub fn mask(source: &str) -> String {
    let bytes = source.as_bytes();
    let mut out = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let (end, filler) = match bytes[at] {
            b'/' if bytes.get(at + 1) == Some(&b'/') => (line_end(bytes, at), b' '),
            b'/' if bytes.get(at + 1) == Some(&b'*') => (comment_end(bytes, at), b' '),
            b'"' => (string_end(bytes, at), b'_'),
            b'r' => (raw_string_end(bytes, at), b'_'),
            b'\'' => (char_end(source, at), b'_'),
            _ => (at, b'_'),
        };
        for byte in &mut out[at..end] {
            if *byte != b'\n' {
                *byte = filler;
            }
        }
        at = end.max(at + 1);
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Masked text in which also everything under `#[cfg(test)]` or `#[cfg(all(test, ..))]` is blank.
pub fn without_tests(masked: &str) -> String {
    let mut out = masked.as_bytes().to_vec();
    let mut from = 0;
    let next =
        |text: &str| ["#[cfg(test)]", "#[cfg(all(test,"].iter().filter_map(|mark| text.find(mark)).min();
    while let Some(found) = next(&masked[from..]) {
        let start = from + found;
        let open = masked[start..].find(['{', ';']).map_or(masked.len(), |at| start + at);
        let end = block_end(masked.as_bytes(), open);
        for byte in &mut out[start..end] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
        from = end;
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// The place after the brace that closes the one at `open`; after `open` itself when it is no brace.
pub fn block_end(masked: &[u8], open: usize) -> usize {
    let mut depth = 0usize;
    for (at, byte) in masked.iter().enumerate().skip(open) {
        match byte {
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    masked.len()
}

fn line_end(bytes: &[u8], at: usize) -> usize {
    bytes[at..].iter().position(|b| *b == b'\n').map_or(bytes.len(), |n| at + n)
}

/// Block comments nest.
fn comment_end(bytes: &[u8], start: usize) -> usize {
    let (mut at, mut depth) = (start, 0usize);
    while at < bytes.len() {
        match (bytes[at], bytes.get(at + 1)) {
            (b'/', Some(b'*')) => (at, depth) = (at + 2, depth + 1),
            (b'*', Some(b'/')) => (at, depth) = (at + 2, depth - 1),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    bytes.len()
}

fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// `start` is at an `r`; gives it back when no raw string begins there.
fn raw_string_end(bytes: &[u8], start: usize) -> usize {
    let prefix = match start.checked_sub(1).map(|before| bytes[before]) {
        Some(b'b' | b'c') => start - 1,
        _ => start,
    };
    if prefix.checked_sub(1).is_some_and(|before| is_word(bytes[before])) {
        return start;
    }
    let hashes = bytes[start + 1..].iter().take_while(|b| **b == b'#').count();
    let open = start + 1 + hashes;
    if bytes.get(open) != Some(&b'"') {
        return start;
    }
    let close = [b"\"".as_slice(), &b"#".repeat(hashes)].concat();
    let rest = &bytes[open + 1..];
    let body = rest.windows(close.len()).position(|window| window == close);
    body.map_or(bytes.len(), |n| open + 1 + n + close.len())
}

/// `start` is at a quote; gives it back when that begins a lifetime.
fn char_end(source: &str, start: usize) -> usize {
    let mut chars = source[start + 1..].char_indices();
    match chars.next() {
        // The character after the backslash belongs to it, even when that is the quote.
        Some((_, '\\')) => {
            let close = chars.skip(1).find(|(_, c)| *c == '\'');
            close.map_or(source.len(), |(at, _)| start + 1 + at + 1)
        }
        Some(_) => match chars.next() {
            Some((at, '\'')) => start + 1 + at + 1,
            _ => start,
        },
        None => start,
    }
}

pub fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_in_comments_and_strings_are_gone() {
        for hidden in [
            "// todo!()",
            "/* a /* todo!() */ todo!() */",
            r#"let a = "todo!()";"#,
            r#"let a = "\" todo!()";"#,
            r##"let a = r#"" todo!()"#;"##,
            r##"let a = br#"todo!()"#;"##,
        ] {
            assert!(!mask(hidden).contains("todo!"), "{hidden}");
            assert_eq!(mask(hidden).len(), hidden.len());
        }
    }

    #[test]
    fn code_after_quotes_is_kept() {
        for shown in [
            "let a = '\"'; todo!()",
            "let a = '\\''; todo!()",
            "fn f<'a>(x: &'a str) { todo!() }",
            "r#fn; todo!()",
        ] {
            assert!(mask(shown).contains("todo!"), "{shown}");
        }
    }

    #[test]
    fn only_the_test_module_is_left_out() {
        let text = mask(
            "fn a() {}\n#[cfg(test)]\nmod tests {\n fn b() { {} }\n}\nfn c() {}\n#[cfg(all(test, unix))]\nmod t;\nfn d() {}",
        );
        let rest = without_tests(&text);
        assert!(rest.contains("fn a") && rest.contains("fn c") && rest.contains("fn d"));
        assert!(!rest.contains("fn b") && !rest.contains("mod t"));
        assert_eq!(rest.lines().count(), text.lines().count());
    }

    #[test]
    fn unfinished_text_does_not_panic() {
        for text in ["\"", "'", "r#\"", "/*", "'\\", "#[cfg(test)]", "#[cfg(test)] {", "fn", "'é"] {
            let _ = without_tests(&mask(text));
        }
    }
}
