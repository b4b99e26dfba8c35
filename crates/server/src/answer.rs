//! What a tool answers: typed facts, lines for reading, a picture. Rendered to text once, at the very edge.

use mdm_core::text::quote::{escape_unreadable, push_quoted};
use mdm_core::text::tokens::estimate;
use serde::Serialize;
use serde_json::Value;

use crate::basis::{Basis, MadeFrom};
use crate::facts_text;
use crate::found::FindFacts;
use crate::refusal::Refusal;
use crate::tools::facts::{
    ActionFacts, AppsFacts, ClassifiedFacts, CrashFacts, CrashListFacts, DevicesFacts, ExpectFacts,
    FingerprintFacts, FlowFacts, LogFacts, LogFileFacts, MockFacts, NetworkFacts, ScreenFacts,
    ScreenshotFacts, SnapshotFacts, SpokenFacts, StatusFacts, StreamFacts, UseDeviceFacts, WaitFacts,
};
use crate::tree::{ChangesFacts, DeltaJson, OutlineFacts, TreeJson};

/// Tokens of an answer, about, unless its caller asked for more.
pub const TOKENS_MAX: usize = 20_000;
/// Answers above this are cut in any case: no client shows more, and no agent reads it. As many of them as there are calls at the
/// same time may wait for a slow client.
pub const TEXT_BYTES_MAX: usize = 1024 * 1024;
/// Candidates that an error names; the number of the others is told.
const CANDIDATES_MAX: usize = 10;
/// Characters of one candidate.
const CANDIDATE_CHARS_MAX: usize = 200;

#[derive(Debug)]
pub struct Answer {
    pub facts: Facts,
    /// Lines for reading, below the facts.
    pub lines: String,
    pub image: Option<Image>,
    /// Follows from the facts alone; the exit code of the command line and the steps of a flow follow it (F45).
    pub is_error: bool,
    /// The programs through which an iPhone was reached, or the shell where a helper on the device was wanted; empty
    /// where it is the usual way.
    pub via: String,
    /// What its caller asked for beyond the usual.
    pub tokens_max: usize,
    /// For other forms of the same answer.
    pub basis: Basis,
}

/// The first line: the facts, and how they came.
#[derive(Serialize)]
struct Told<'a> {
    #[serde(flatten)]
    facts: &'a Facts,
    #[serde(skip_serializing_if = "str::is_empty")]
    via: &'a str,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    pub mime_type: &'static str,
    pub bytes: Vec<u8>,
}

/// The first line of an answer, for programs. Every answer of every tool is one of these.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Facts {
    Action(Box<ActionFacts>),
    Refused(RefusedFacts),
    Outline(Box<OutlineFacts>),
    Tree(Box<TreeJson>),
    Spoken(Box<SpokenFacts>),
    Changes(Box<ChangesFacts>),
    Delta(Box<DeltaJson>),
    Find(Box<FindFacts>),
    Wait(Box<WaitFacts>),
    Expect(Box<ExpectFacts>),
    Flow(FlowFacts),
    Devices(DevicesFacts),
    UseDevice(UseDeviceFacts),
    Status(Box<StatusFacts>),
    Screen(ScreenFacts),
    Fingerprint(FingerprintFacts),
    Screenshot(ScreenshotFacts),
    Snapshot(Box<SnapshotFacts>),
    Logs(LogFacts),
    LogStream(StreamFacts),
    Crash(Box<CrashFacts>),
    CrashList(CrashListFacts),
    LogFile(LogFileFacts),
    Apps(Box<AppsFacts>),
    Network(Box<NetworkFacts>),
    Mock(Box<MockFacts>),
    Classified(ClassifiedFacts),
}

/// What a caller that only wants the gist needs to know of an answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Gist {
    /// Something was asked for and is not known to be so: a call that was refused or broke off, an expectation that was
    /// contradicted or could not be determined, a wait that timed out, an element that was not found (F45, F60).
    pub failed: bool,
    pub words: Vec<&'static str>,
}

impl Facts {
    /// The device that the answer is about, where it says so.
    pub fn device(&self) -> Option<&str> {
        match self {
            Facts::Action(facts) => facts.device(),
            Facts::Wait(facts) => Some(&facts.device),
            Facts::Expect(facts) => Some(facts.device()),
            Facts::Find(facts) => facts.device(),
            _ => None,
        }
    }

    /// In a word or two: `ok`, or the code of what was refused.
    pub fn outcome(&self) -> String {
        let code = match self {
            Facts::Refused(facts) => Some(facts.error.code),
            Facts::Action(facts) => facts.code(),
            _ => None,
        };
        let gist = self.gist();
        let how = code.unwrap_or(if gist.failed { "failed" } else { "ok" });
        std::iter::once(how).chain(gist.words).collect::<Vec<_>>().join(", ")
    }

    pub fn gist(&self) -> Gist {
        match self {
            Facts::Action(facts) => facts.gist(),
            Facts::Wait(facts) => facts.gist(),
            Facts::Expect(facts) => Gist { failed: !facts.success, words: vec![facts.stability_state] },
            Facts::Find(facts) => Gist { failed: !facts.found, words: Vec::new() },
            Facts::Flow(facts) => Gist { failed: !facts.success, words: Vec::new() },
            Facts::Refused(_) => Gist { failed: true, words: Vec::new() },
            Facts::Outline(_)
            | Facts::Tree(_)
            | Facts::Spoken(_)
            | Facts::Changes(_)
            | Facts::Delta(_)
            | Facts::Devices(_)
            | Facts::UseDevice(_)
            | Facts::Status(_)
            | Facts::Screen(_)
            | Facts::Fingerprint(_)
            | Facts::Screenshot(_)
            | Facts::Snapshot(_)
            | Facts::Logs(_)
            | Facts::LogStream(_)
            | Facts::Crash(_)
            | Facts::CrashList(_)
            | Facts::LogFile(_)
            | Facts::Apps(_)
            | Facts::Network(_)
            | Facts::Mock(_)
            | Facts::Classified(_) => Gist::default(),
        }
    }
}

/// The answer to a call that only reads and was refused.
#[derive(Debug, Serialize)]
pub struct RefusedFacts {
    pub error: ErrorBody,
    pub retryable: bool,
}

#[derive(Debug, Serialize)]
pub struct ErrorBody {
    pub tool: &'static str,
    pub code: &'static str,
    pub message: String,
    pub hint: String,
}

impl ErrorBody {
    pub fn new(tool: &'static str, refusal: &Refusal) -> ErrorBody {
        ErrorBody {
            tool,
            code: refusal.failure.code().as_str(),
            message: refusal.failure.message.clone(),
            hint: refusal.hint.text().to_owned(),
        }
    }
}

impl Answer {
    pub fn new(facts: Facts) -> Answer {
        let is_error = facts.gist().failed;
        Answer {
            facts,
            lines: String::new(),
            image: None,
            is_error,
            via: String::new(),
            tokens_max: TOKENS_MAX,
            basis: Basis::default(),
        }
    }

    #[must_use]
    pub fn with_lines(mut self, lines: &str) -> Answer {
        self.lines.push_str(lines);
        self
    }

    /// Puts lines before all others that have nothing to do with what was asked.
    #[must_use]
    pub fn with_news(mut self, news: &str) -> Answer {
        self.lines.insert_str(0, news);
        self
    }

    #[must_use]
    pub fn made_from(mut self, made_from: MadeFrom) -> Answer {
        self.basis.made_from = made_from;
        self
    }

    /// Names the programs that served the call.
    #[must_use]
    pub fn served_by<'a>(self, ways: impl IntoIterator<Item = &'a str>) -> Answer {
        let names: Vec<&str> = ways.into_iter().collect();
        Answer { via: names.join(", "), ..self }
    }

    /// Its caller wants up to so many tokens.
    #[must_use]
    pub fn within_tokens(self, tokens: usize) -> Answer {
        Answer { tokens_max: self.tokens_max.max(tokens), ..self }
    }

    #[must_use]
    pub fn with_image(self, image: Image) -> Answer {
        Answer { image: Some(image), ..self }
    }

    /// Refuses a call that only reads.
    pub fn refused(tool: &'static str, refusal: &Refusal) -> Answer {
        let facts =
            RefusedFacts { error: ErrorBody::new(tool, refusal), retryable: refusal.failure.retryable() };
        Answer::new(Facts::Refused(facts))
            .with_lines(&candidate_lines(&refusal.failure.candidates))
            .made_from(MadeFrom::Refusal(refusal.failure.clone()))
    }

    /// The same for a program: the facts, with whatever else there is to say as `news`.
    pub fn structured(&self) -> Option<Value> {
        let mut told = serde_json::to_value(Told { facts: &self.facts, via: &self.via }).ok()?;
        if let (Value::Object(told), false) = (&mut told, self.lines.is_empty()) {
            told.insert("news".to_owned(), escape_unreadable(self.lines.trim_end()).as_ref().into());
        }
        Some(told)
    }

    /// The one text that an agent reads: a line of JSON, then lines.
    pub fn text(&self) -> String {
        cut(shortened(self.whole(), self.tokens_max))
    }

    /// The same before anything is left out of it.
    pub fn whole(&self) -> String {
        // Our own structures always serialise; if one ever did not, the agent must hear of it.
        let mut text = match facts_text::to_line(&Told { facts: &self.facts, via: &self.via }) {
            Ok(text) => text,
            Err(error) => format!("the answer could not be written: {error}"),
        };
        let lines = self.lines.trim_end_matches('\n');
        if !lines.is_empty() {
            text.push('\n');
            text.push_str(&escape_unreadable(lines));
        }
        text
    }
}

/// The facts and as many of the lines as fit, with what was left out.
fn shortened(mut text: String, tokens_max: usize) -> String {
    // A token has no more than a few letters, and the estimate looks at each.
    if text.len() <= tokens_max || estimate(&text) <= tokens_max {
        return text;
    }
    let (all, lines) = (estimate(&text), text.lines().count());
    let (mut end, mut shown) = (0, 0);
    let mut tokens = 0;
    for line in text.split_inclusive('\n') {
        tokens += estimate(line);
        // The facts are one line of JSON: whole, or of no use.
        if tokens > tokens_max && shown > 0 {
            break;
        }
        (end, shown) = (end + line.len(), shown + 1);
    }
    if end == text.len() {
        return text;
    }
    text.truncate(end);
    let left = lines - shown;
    text.push_str(&format!(
        "… {left} more lines: the answer had about {all} tokens, more than {tokens_max}. Ask for less at once: a smaller \
         limit, a filter or a part"
    ));
    text
}

/// What could have been meant, a line each.
pub fn candidate_lines(candidates: &[String]) -> String {
    let mut lines = String::new();
    for candidate in candidates.iter().take(CANDIDATES_MAX) {
        push_candidate(&mut lines, candidate);
        lines.push('\n');
    }
    if let Some(more) = candidates.len().checked_sub(CANDIDATES_MAX).filter(|more| *more > 0) {
        lines.push_str(&format!("… and {more} more\n"));
    }
    lines
}

/// Candidates are lines of ours with the device's words in quotes; only what breaks the line is quoted as a whole.
fn push_candidate(out: &mut String, text: &str) {
    if text.chars().any(char::is_control) || text.chars().count() > CANDIDATE_CHARS_MAX {
        push_quoted(out, text, CANDIDATE_CHARS_MAX);
    } else {
        out.push_str(text);
    }
}

fn cut(mut text: String) -> String {
    if text.len() > TEXT_BYTES_MAX {
        let end = (0..=TEXT_BYTES_MAX).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        text.truncate(end);
        text.push_str("\n… cut here: the answer was larger than this server sends");
    }
    text
}

#[cfg(test)]
mod tests {
    use mdm_core::failure::{Cause, Failure};

    use super::*;

    #[test]
    fn a_large_answer_is_cut_between_lines_and_says_its_size() {
        // MC-01: no answer over 20,000 tokens unless it was asked for
        let lines: String =
            (0..9000).map(|number| format!("e{number} button \"Number {number}\"\n")).collect();
        let failure = Failure::new(Cause::DeviceNotFound, "no device");
        let answer = || Answer::refused("get_ui_tree", &failure.clone().into()).with_lines(&lines);
        let text = answer().text();
        assert!(estimate(&text) <= TOKENS_MAX + 60, "{}", estimate(&text));
        let last = text.lines().last().unwrap();
        let shown = text.lines().filter(|line| line.starts_with('e')).count();
        assert!(shown > 1000 && last.contains(&format!("{} more lines", 9000 - shown)), "{last}");
        assert!(text.lines().all(|line| !line.starts_with('e') || line.ends_with('"')), "whole lines");
        assert!(answer().within_tokens(500_000).text().ends_with("Number 8999\""), "it was asked for");
    }

    #[test]
    fn a_refusal_says_what_why_and_what_next() {
        let failure = Failure::new(Cause::DeviceNotFound, "no device \"x\"")
            .with_candidates(vec!["a (ready)".into(), "evil\nid".into()]);
        let answer = Answer::refused("get_ui_tree", &failure.into());
        assert!(answer.is_error, "W34");
        assert_eq!(
            answer.text(),
            "{\"error\":{\"tool\":\"get_ui_tree\",\"code\":\"DEVICE_NOT_FOUND\",\"message\":\"no device \\\"x\\\"\",\
             \"hint\":\"use one of these ids, or leave device_id out when there is only one\"},\
             \"retryable\":false}\na (ready)\n\"evil\\nid\""
        );
    }
}
