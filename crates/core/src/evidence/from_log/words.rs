//! Methods, addresses and numbers in a line of text.

/// Methods as libraries write them.
pub const METHODS: [&str; 7] = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];
/// Longest address that is believed to be one.
const URL_BYTES_MAX: usize = 4096;
/// Characters of an error that are kept.
const ERROR_CHARS_MAX: usize = 300;

/// The first absolute address, and what stands after it.
pub fn url(text: &str) -> Option<(&str, &str)> {
    let at = [text.find("http://"), text.find("https://")].into_iter().flatten().min()?;
    let rest = &text[at..];
    let ends = |c: char| {
        c.is_whitespace() || c.is_control() || matches!(c, '"' | '\'' | '<' | '>' | ')' | ']' | '}' | '|')
    };
    let end = rest.find(ends).unwrap_or(rest.len());
    let found = rest[..end].trim_end_matches([',', ';', '.']);
    let host = found.split("://").nth(1)?;
    let is_address = !host.is_empty() && !host.starts_with('/') && found.len() <= URL_BYTES_MAX;
    is_address.then_some((found, &rest[found.len()..]))
}

/// The first method that stands as a word, with what stands before and after it.
pub fn method(text: &str) -> Option<(&str, &str, &str)> {
    let mut best: Option<(usize, &str)> = None;
    for name in METHODS {
        let found = text.match_indices(name).find(|(at, _)| is_word(text, *at, name.len()));
        if let Some((at, _)) = found
            && best.is_none_or(|(first, _)| at < first)
        {
            best = Some((at, name));
        }
    }
    let (at, name) = best?;
    Some((name, &text[..at], &text[at + name.len()..]))
}

fn is_word(text: &str, at: usize, length: usize) -> bool {
    let part_of_word = |c: char| c.is_alphanumeric() || c == '_';
    !text[..at].ends_with(part_of_word) && !text[at + length..].starts_with(part_of_word)
}

/// The path that follows a method at once, and what stands after it.
pub fn path(after_method: &str) -> Option<(&str, &str)> {
    let rest = after_method.trim_start_matches([' ', ':', ']', '"', '\'', '-', '>']);
    if !rest.starts_with('/') || rest.starts_with("//") {
        return None;
    }
    let ends = |c: char| {
        c.is_whitespace() || c.is_control() || matches!(c, '"' | '\'' | '<' | '>' | ')' | ']' | ',')
    };
    let end = rest.find(ends).unwrap_or(rest.len());
    (end <= URL_BYTES_MAX).then(|| rest.split_at(end))
}

const FILE_ENDINGS: [&str; 14] =
    ["apk", "so", "dex", "jar", "odex", "vdex", "oat", "art", "db", "java", "kt", "swift", "dart", "txt"];
const FILE_FOLDERS: [&str; 14] = [
    "/data/",
    "/system/",
    "/apex/",
    "/proc/",
    "/dev/",
    "/vendor/",
    "/product/",
    "/storage/",
    "/sdcard/",
    "/mnt/",
    "/odm/",
    "/cache/",
    "/sys/",
    "/private/var/",
];

/// True for what is a file of a phone rather than a path of a server.
pub fn is_file(path: &str) -> bool {
    let name = path.split(['?', '#']).next().unwrap_or(path);
    let ending = name.rsplit('/').next().and_then(|name| name.rsplit_once('.')).map(|(_, ending)| ending);
    FILE_FOLDERS.iter().any(|folder| name.starts_with(folder))
        || ending.is_some_and(|ending| FILE_ENDINGS.contains(&ending))
}

/// A status that stands right here.
pub fn status(text: &str) -> Option<u16> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let number = text.get(..digits).filter(|_| digits == 3)?.parse().ok()?;
    let ends = !text[digits..].starts_with(|c: char| c.is_alphanumeric() || c == '.' || c == '_');
    (ends && (100..600).contains(&number)).then_some(number)
}

/// The status that follows one of these words, at most a few signs behind it.
pub fn status_after(text: &str, words: &[&str]) -> Option<u16> {
    let lower = text.to_ascii_lowercase();
    words.iter().find_map(|word| {
        lower.match_indices(word).find_map(|(at, _)| {
            let rest = lower[at + word.len()..].trim_start_matches([' ', ':', '=', '[', '(', '"', '\'']);
            status(rest)
        })
    })
}

/// The whole number after a word.
pub fn number_after(text: &str, word: &str) -> Option<u64> {
    let (_, rest) = text.split_once(word)?;
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest[..digits].parse().ok()
}

/// The whole number before a word, such as 123 in `(123ms`; fractions are dropped.
pub fn number_before(text: &str, word: &str) -> Option<u64> {
    text.match_indices(word).find_map(|(at, _)| {
        let before = text[..at].trim_end();
        let number = trailing(before, |c| c.is_ascii_digit() || c == '.');
        let whole = number.split('.').next()?;
        (!number.is_empty()).then(|| whole.parse().ok())?
    })
}

/// The end of a text that has only such characters.
pub fn trailing(text: &str, fits: impl Fn(char) -> bool) -> &str {
    &text[text.trim_end_matches(fits).len()..]
}

pub fn error(text: &str) -> String {
    text.trim().chars().take(ERROR_CHARS_MAX).collect()
}
