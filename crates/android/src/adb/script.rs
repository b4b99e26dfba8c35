//! Command lines for a device's shell. Untrusted words enter only through [`Script::arg`], the only place that quotes
//! (SE-01).

/// A shell script whose fixed parts are literals of this program and whose variable words are quoted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    text: String,
    sendable: bool,
}

impl Script {
    pub fn new(literal: &'static str) -> Script {
        Script { text: literal.to_owned(), sendable: true }
    }

    /// Appends literal shell text.
    pub fn then(mut self, literal: &'static str) -> Script {
        self.text.push_str(literal);
        self
    }

    /// Appends a space and `word` as one quoted word.
    pub fn arg(mut self, word: &str) -> Script {
        // A command line cannot hold a NUL byte, quoted or not.
        self.sendable &= !word.contains('\0');
        self.text.push(' ');
        quote_into(word, &mut self.text);
        self
    }

    /// Appends `word` quoted, as the end of the word before it: the value of `NAME=`.
    pub fn joined(mut self, word: &str) -> Script {
        self.sendable &= !word.contains('\0');
        quote_into(word, &mut self.text);
        self
    }

    pub fn number(mut self, value: i64) -> Script {
        self.text.push_str(&format!(" {value}"));
        self
    }

    /// Appends the pieces of another script.
    pub fn append(mut self, other: &Script) -> Script {
        self.text.push_str(&other.text);
        self.sendable &= other.sendable;
        self
    }

    /// Returns the text to send; `None` if a word cannot be sent.
    pub fn as_str(&self) -> Option<&str> {
        self.sendable.then_some(self.text.as_str())
    }
}

/// Appends `word` in single quotes, which disable all special characters of a POSIX shell. A single quote in the word
/// is written outside the quotes.
fn quote_into(word: &str, out: &mut String) {
    out.push('\'');
    for (index, part) in word.split('\'').enumerate() {
        if index > 0 {
            out.push_str("'\\''");
        }
        out.push_str(part);
    }
    out.push('\'');
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_quoted_word_stays_one_word() {
        let script = Script::new("am force-stop").arg("a'b; $(reboot)");
        assert_eq!(script.as_str(), Some(r"am force-stop 'a'\''b; $(reboot)'"));
        assert_eq!(Script::new("echo").arg("").as_str(), Some("echo ''"));
        assert_eq!(Script::new("echo").arg("a\0b").as_str(), None);
    }

    /// Runs the script in `/bin/sh`, which prints the words that it received.
    #[expect(clippy::disallowed_methods, reason = "the test runs a real shell")]
    fn sh(script: &str) -> Vec<u8> {
        std::process::Command::new("/bin/sh").arg("-c").arg(script).output().expect("/bin/sh runs").stdout
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        #[test]
        fn a_posix_shell_receives_quoted_words_unchanged(words in proptest::collection::vec(
            prop_oneof!["[^\0]{0,40}", "[;$()&\"'\\\\|<>*?~`!#\n\t {}\\[\\]=%-]{0,20}"], 1..4)) {
            let script = words.iter().fold(Script::new("printf '%s\\0'"), |script, word| script.arg(word));
            let expected: Vec<u8> = words.iter().flat_map(|w| w.bytes().chain([0])).collect();
            prop_assert_eq!(sh(script.as_str().unwrap()), expected, "SE-01");
        }
    }
}
