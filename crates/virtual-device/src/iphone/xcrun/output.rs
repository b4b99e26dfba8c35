//! What a command prints, and simctl's way to tell of errors.

/// The output of one command that has ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Output {
    pub out: Vec<u8>,
    pub err: Vec<u8>,
    pub code: u8,
}

impl Output {
    pub fn ok() -> Output {
        Output::default()
    }

    pub fn text(text: impl Into<String>) -> Output {
        Output { out: text.into().into_bytes(), ..Output::default() }
    }

    pub fn fail(code: u8, text: impl Into<String>) -> Output {
        Output { err: text.into().into_bytes(), code, ..Output::default() }
    }

    /// An error with a domain: the exit code is the low byte of its code.
    pub fn error(domain: &str, code: i32, words: &str) -> Output {
        let head = format!("An error was encountered processing the command (domain={domain}, code={code}):");
        Output::fail(code.to_le_bytes()[0], format!("{head}\n{words}\n"))
    }

    /// The device is in a state in which the command cannot work.
    pub fn state(verb: &str, state: &str) -> Output {
        let words = format!("Unable to {verb} in current state: {state}");
        Output::error("com.apple.CoreSimulator.SimError", 405, &words)
    }

    pub fn usage(words: &str) -> Output {
        Output::fail(64, format!("Usage: simctl {words}\n"))
    }
}
