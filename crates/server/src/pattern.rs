//! Names with `*` for any part of them, as people write lists of what is allowed.

use std::str::FromStr;

/// Bytes of a pattern; a longer one is refused.
const PATTERN_CHARS_MAX: usize = 200;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    /// What stands between the stars.
    parts: Vec<String>,
}

impl FromStr for Pattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Pattern, String> {
        if text.is_empty() || text.len() > PATTERN_CHARS_MAX {
            return Err(format!("a pattern has 1 to {PATTERN_CHARS_MAX} characters"));
        }
        Ok(Pattern { parts: text.split('*').map(str::to_owned).collect() })
    }
}

impl Pattern {
    pub fn matches(&self, name: &str) -> bool {
        let Some((first, rest)) = self.parts.split_first() else { return false };
        let Some(mut left) = name.strip_prefix(first.as_str()) else { return false };
        let Some((last, middle)) = rest.split_last() else { return left.is_empty() };
        for part in middle {
            // The first place is as good as any: what follows a star may be of any length.
            let Some(at) = left.find(part.as_str()) else { return false };
            left = &left[at + part.len()..];
        }
        left.ends_with(last.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_any_part() {
        #[track_caller]
        fn check(pattern: &str, yes: &[&str], no: &[&str]) {
            let pattern: Pattern = pattern.parse().unwrap();
            yes.iter().for_each(|name| assert!(pattern.matches(name), "{name}"));
            no.iter().for_each(|name| assert!(!pattern.matches(name), "{name}"));
        }
        check("com.example", &["com.example"], &["com.example.app", "xcom.example", ""]);
        check("com.example.*", &["com.example.app", "com.example."], &["com.example", "com.exampleapp"]);
        check("*-555*", &["emulator-5554", "-555"], &["emulator-554"]);
        check("a*b*b", &["abb", "axbyb"], &["ab", "aab"]);
        check("*", &["", "anything"], &[]);
        assert!("".parse::<Pattern>().is_err() && "x".repeat(201).parse::<Pattern>().is_err());
    }
}
