//! Command lines for a device's shell. Words that come from outside enter only through [`Script::arg`], which is the
//! one place that quotes (SE-01).

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
        // A command line cannot carry a NUL byte at all, quoted or not.
        self.sendable &= !word.contains('\0');
        self.text.push(' ');
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

    /// The text to send, or `None` when a word cannot be sent.
    pub fn as_str(&self) -> Option<&str> {
        self.sendable.then_some(self.text.as_str())
    }
}

/// Single quotes switch off every special character of a POSIX shell but the single quote itself, which is put in
/// from outside the quotes.
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
    fn quoting_keeps_the_word_whole() {
        let script = Script::new("am force-stop").arg("a'b; $(reboot)");
        assert_eq!(script.as_str(), Some(r"am force-stop 'a'\''b; $(reboot)'"));
        assert_eq!(Script::new("echo").arg("").as_str(), Some("echo ''"));
        assert_eq!(Script::new("echo").arg("a\0b").as_str(), None);
    }

    /// The judge is a real shell: `/bin/sh` prints the words it understood.
    #[expect(clippy::disallowed_methods, reason = "the test asks a real shell")]
    fn sh(script: &str) -> Vec<u8> {
        std::process::Command::new("/bin/sh").arg("-c").arg(script).output().expect("/bin/sh runs").stdout
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        #[test]
        fn a_posix_shell_gives_back_exactly_what_was_quoted(words in proptest::collection::vec(
            prop_oneof!["[^\0]{0,40}", "[;$()&\"'\\\\|<>*?~`!#\n\t {}\\[\\]=%-]{0,20}"], 1..4)) {
            let script = words.iter().fold(Script::new("printf '%s\\0'"), |script, word| script.arg(word));
            let expected: Vec<u8> = words.iter().flat_map(|w| w.bytes().chain([0])).collect();
            prop_assert_eq!(sh(script.as_str().unwrap()), expected, "SE-01");
        }
    }
}
