//! What the server answers, as far as the oracles read it.

use serde::Deserialize;

/// A message of JSON-RPC.
#[derive(Debug, Deserialize)]
pub struct Message {
    pub id: Option<String>,
    pub result: Option<ToolResult>,
    pub error: Option<RpcError>,
}

#[derive(Debug, Deserialize)]
pub struct RpcError {
    pub message: String,
}

/// The result of a call, or of anything else that has none of these members.
#[derive(Debug, Default, Deserialize)]
pub struct ToolResult {
    #[serde(default)]
    pub content: Vec<Content>,
    #[serde(rename = "isError", default)]
    pub is_error: bool,
}

#[derive(Debug, Deserialize)]
pub struct Content {
    #[serde(default)]
    pub text: String,
}

/// The first line of an answer.
#[derive(Debug, Default, Deserialize)]
pub struct Facts {
    #[serde(default)]
    pub success: bool,
    pub device: Option<String>,
    pub verdict: Option<String>,
    pub dispatched: Option<String>,
    /// What was done to make the action possible.
    #[serde(default)]
    pub recovered: Vec<String>,
    pub error: Option<ErrorFacts>,
}

#[derive(Debug, Deserialize)]
pub struct ErrorFacts {
    #[serde(default)]
    pub code: String,
}

/// Words with which the server tells what became of a command.
const DISPATCHED: [&str; 4] = ["not_sent", "refused", "taken", "unknown"];
const STEP_BACK: &str = "step_back";
const VERDICTS: [&str; 3] = ["confirmed", "contradicted", "undetermined"];

/// One answer of one tool.
#[derive(Debug)]
pub struct Answer {
    pub text: String,
    pub is_error: bool,
    pub facts: Facts,
    /// What is wrong with the facts: nobody can go by such an answer.
    pub unreadable: Option<String>,
}

impl Answer {
    pub fn of(result: ToolResult) -> Answer {
        let text: String = result.content.into_iter().map(|content| content.text).collect();
        let first = text.lines().next().unwrap_or_default();
        let (facts, unreadable) = match serde_json::from_str::<Facts>(first) {
            Ok(facts) => {
                let fault = facts.fault(result.is_error);
                (facts, fault.map(|fault| format!("{fault}: {first:.300}")))
            }
            Err(error) => (Facts::default(), Some(format!("{error}: {first:.300}"))),
        };
        Answer { text, is_error: result.is_error, facts, unreadable }
    }

    /// How often the key Back was pressed before the action, as the answer tells: it closes a keyboard above the target.
    pub fn steps_back(&self) -> usize {
        self.facts.recovered.iter().filter(|strategy| *strategy == STEP_BACK).count()
    }

    pub fn code(&self) -> &str {
        self.facts.error.as_ref().map_or("", |error| &error.code)
    }
}

impl Facts {
    fn fault(&self, is_error: bool) -> Option<&'static str> {
        let is_in = |words: &[&str], word: &Option<String>| {
            word.as_ref().is_none_or(|word| words.contains(&word.as_str()))
        };
        if !is_in(&DISPATCHED, &self.dispatched) || !is_in(&VERDICTS, &self.verdict) {
            return Some("facts with a word that is not known");
        }
        if self.error.as_ref().is_some_and(|error| error.code.is_empty()) {
            return Some("an error without a code");
        }
        let tells = self.success || self.device.is_some() || self.verdict.is_some() || self.error.is_some();
        if !tells {
            return Some("empty facts");
        }
        (self.error.is_some() && !is_error).then_some("an error that is not called one")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(text: &str, is_error: bool) -> Answer {
        Answer::of(ToolResult { content: vec![Content { text: text.to_owned() }], is_error })
    }

    #[test]
    fn facts_that_tell_nothing_are_noticed() {
        for good in [
            r#"{"success":true,"device":"a","verdict":"confirmed"}"#,
            "{\"device\":\"a\",\"revision\":3}\nlines",
            r#"{"success":false,"verdict":"undetermined","dispatched":"taken"}"#,
        ] {
            assert_eq!(answer(good, false).unreadable, None, "{good}");
        }
        assert_eq!(answer(r#"{"success":false,"error":{"code":"OFFLINE"}}"#, true).unreadable, None);
        for bad in [
            "",
            "{}",
            "no json",
            "{\"success\":tr",
            "\n{\"success\":true}",
            r#"{"success":false}"#,
            r#"{"success":true,"dispatched":"perhaps"}"#,
            r#"{"success":true,"verdict":"good"}"#,
            r#"{"success":false,"error":{}}"#,
            r#"{"success":false,"error":{"code":"OFFLINE"}}"#,
        ] {
            assert!(answer(bad, false).unreadable.is_some(), "{bad}");
        }
    }
}
