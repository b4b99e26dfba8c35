//! The tokenizer: gpt-tokenizer with the o200k encoding, a pinned third-party part that runs in Node.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::third_party::{Parts, TOKENIZER};

pub struct Tokenizer {
    node: PathBuf,
    script: PathBuf,
}

/// Reads texts as a JSON list and writes their counts as another.
const COUNT: &str = "const {encode} = require(process.argv[1]); let t = ''; \
    process.stdin.setEncoding('utf8').on('data', d => t += d) \
    .on('end', () => console.log(JSON.stringify(JSON.parse(t).map(x => encode(x).length))));";

impl Tokenizer {
    /// `None` if it is not among the parts.
    pub fn of(parts: &Parts) -> Option<Tokenizer> {
        let (node, script) = (parts.path("MDM_TEST_NODE_BIN")?, parts.path(TOKENIZER)?);
        Some(Tokenizer { node: node.to_owned(), script: script.to_owned() })
    }

    pub fn count(&self, text: &str) -> Result<usize, String> {
        self.count_all(&[text]).map(|counts| counts.iter().sum())
    }

    /// One count for each text, in one run: starting Node and reading the encoding takes most of the time.
    pub fn count_all(&self, texts: &[&str]) -> Result<Vec<usize>, String> {
        let mut child = Command::new(&self.node)
            .args(["-e", COUNT])
            .arg(&self.script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|e| format!("{}: {e}", self.node.display()))?;
        let input = serde_json::to_string(texts).map_err(|e| e.to_string())?;
        // Taken, so that it is closed when all is written.
        child.stdin.take().ok_or("no stdin")?.write_all(input.as_bytes()).map_err(|e| e.to_string())?;
        let done = child.wait_with_output().map_err(|e| e.to_string())?;
        let said = String::from_utf8_lossy(&done.stdout);
        match serde_json::from_str::<Vec<usize>>(&said) {
            Ok(counts) if counts.len() == texts.len() => Ok(counts),
            _ => Err(format!("the tokenizer said {said:?}")),
        }
    }
}
