//! Bearer tokens of clients: generated, read from a file, compared in constant time, never written to a log (SE-03).

use std::fmt;
use std::path::Path;

use subtle::{Choice, ConstantTimeEq as _};

/// Shorter ones could be guessed.
const TOKEN_BYTES_MIN: usize = 16;
/// Characters of one token; longer ones are refused at the start.
const TOKEN_BYTES_MAX: usize = 512;
/// Tokens of one file; a file with more is refused at the start.
const TOKENS_MAX: usize = 256;
/// The file with tokens; a larger one is refused at the start.
const FILE_BYTES_MAX: u64 = 256 * 1024;
/// The client whose token has no name.
const UNNAMED: &str = "client";

/// Who may come in, by name.
#[derive(Clone, Default)]
pub struct Tokens {
    all: Vec<(String, String)>,
}

/// Only how many there are.
impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} tokens", self.all.len())
    }
}

impl Tokens {
    pub fn one(token: &str) -> Result<Tokens, String> {
        let mut tokens = Tokens::default();
        tokens.add(UNNAMED, token)?;
        Ok(tokens)
    }

    /// Reads a file with a token a line, or a name and a token. What begins with `#` is a comment.
    pub fn read(file: &Path) -> Result<Tokens, String> {
        let named = |problem: String| format!("{}: {problem}", file.display());
        let size = std::fs::metadata(file).map_err(|error| named(error.to_string()))?.len();
        if size > FILE_BYTES_MAX {
            return Err(named(format!("it is larger than {FILE_BYTES_MAX} bytes")));
        }
        let text = std::fs::read_to_string(file).map_err(|error| named(error.to_string()))?;
        let mut tokens = Tokens::default();
        for (at, line) in text.lines().enumerate() {
            let mut words = line.split_whitespace();
            let (first, second, rest) = (words.next(), words.next(), words.next());
            // The line itself is not repeated: it holds a token.
            let added = match (first, second, rest) {
                (None, ..) => Ok(()),
                (Some(word), ..) if word.starts_with('#') => Ok(()),
                (Some(token), None, _) => tokens.add(UNNAMED, token),
                (Some(name), Some(token), None) => tokens.add(name, token),
                _ => Err("a line is NAME TOKEN or TOKEN".to_owned()),
            };
            added.map_err(|problem| named(format!("line {}: {problem}", at + 1)))?;
        }
        if tokens.is_empty() { Err(named("there is no token in it".to_owned())) } else { Ok(tokens) }
    }

    fn add(&mut self, name: &str, token: &str) -> Result<(), String> {
        if !(TOKEN_BYTES_MIN..=TOKEN_BYTES_MAX).contains(&token.len()) {
            return Err(format!("a token has {TOKEN_BYTES_MIN} to {TOKEN_BYTES_MAX} characters"));
        }
        if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err("a token has only letters, digits and signs of ASCII".to_owned());
        }
        if self.all.len() >= TOKENS_MAX {
            return Err(format!("there are more than {TOKENS_MAX} tokens"));
        }
        // Two without a name are two clients all the same.
        let count = self.all.iter().filter(|(known, _)| known.starts_with(UNNAMED)).count();
        let name =
            if name == UNNAMED && count > 0 { format!("{UNNAMED}-{}", count + 1) } else { name.to_owned() };
        self.all.push((name, token.to_owned()));
        Ok(())
    }

    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Every token, so that it can be kept out of what leaves.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.all.iter().map(|(_, token)| token.as_str())
    }

    /// The name of the client that has this token. How long it takes says nothing of how much of it is right.
    pub fn client_of(&self, shown: &str) -> Option<&str> {
        let mut found = None;
        for (name, token) in &self.all {
            let same: Choice = token.as_bytes().ct_eq(shown.as_bytes());
            if bool::from(same) {
                found = Some(name.as_str());
            }
        }
        found
    }
}

/// A new token, from the system's source of randomness.
pub fn generate() -> String {
    let half = || uuid::Uuid::new_v4().simple().to_string();
    half() + &half()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "0123456789abcdef-token";

    #[test]
    fn only_the_whole_token_is_right() {
        // SE-03
        let tokens = Tokens::one(TOKEN).unwrap();
        assert_eq!(tokens.client_of(TOKEN), Some("client"));
        for wrong in ["", "0", &TOKEN[..TOKEN.len() - 1], &format!("{TOKEN}x"), &TOKEN.to_uppercase()] {
            assert_eq!(tokens.client_of(wrong), None, "{wrong}");
        }
        assert_eq!(format!("{tokens:?}"), "1 tokens");
        assert!(Tokens::one("short").is_err() && Tokens::one("sixteen letters!").is_err());
    }

    #[test]
    fn generated_tokens_differ_and_are_long() {
        let (one, other) = (generate(), generate());
        assert_ne!(one, other);
        assert!(one.len() == 64 && Tokens::one(&one).is_ok());
    }

    #[test]
    fn a_file_names_clients_and_its_errors_show_no_token() {
        let file = std::env::temp_dir().join(format!("mdm-tokens-{}", std::process::id()));
        std::fs::write(&file, format!("# comment\n\nci {TOKEN}\n{TOKEN}2\n")).unwrap();
        let tokens = Tokens::read(&file).unwrap();
        assert_eq!(tokens.client_of(TOKEN), Some("ci"));
        assert_eq!(tokens.client_of(&format!("{TOKEN}2")), Some("client"));
        for bad in [format!("a b {TOKEN}"), "name secret".to_owned(), String::new()] {
            std::fs::write(&file, &bad).unwrap();
            let problem = Tokens::read(&file).unwrap_err();
            assert!(!problem.contains("secret") && !problem.contains(TOKEN), "{problem}");
        }
        std::fs::remove_file(&file).unwrap();
        assert!(Tokens::read(&file).is_err());
    }
}
