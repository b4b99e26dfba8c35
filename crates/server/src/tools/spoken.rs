//! What a device speaks of its screen, for a reader who has no tree.

use mdm_core::failure::Failure;
use mdm_core::port::{DeviceErrorKind, SpokenItem};
use mdm_core::text::quote::{push_name, push_quoted};
use mdm_engine::{Progress, Session};
use serde::Serialize;

use crate::answer::{Answer, Facts};
use crate::refusal::Refusal;

/// Characters of one line.
const WORDS_CHARS_MAX: usize = 200;
/// Characters of an identifier in one line.
const ID_CHARS_MAX: usize = 100;
const NOTE: &str = "this is what the phone speaks of its screen, in its order: no places, roles or ids, and not all that \
                    is shown, so nothing in it can be tapped by its name and nothing is proven absent. Reading it moved \
                    the focus of accessibility and may have scrolled lists. capture_screenshot shows the screen";

#[derive(Debug, Serialize)]
pub struct SpokenFacts {
    device: String,
    /// Elements that were spoken of; there may be others.
    spoken: usize,
    partial: bool,
    read_ms: u64,
    note: &'static str,
    /// Why the list ends early.
    #[serde(skip_serializing_if = "Option::is_none")]
    cut: Option<String>,
    /// Why there is no tree.
    no_tree: String,
}

/// Answers with what is spoken; `no_tree` says why there is nothing better.
pub async fn answer(session: &Session, progress: &Progress, no_tree: Failure) -> Result<Answer, Refusal> {
    let began_ms = session.now_ms();
    let screen = match session.spoken(progress).await {
        Ok(screen) => screen,
        Err(failure) if failure.is(DeviceErrorKind::NotSupported) => return Err(no_tree.into()),
        Err(failure) => {
            let message = format!("{}; {}", no_tree.message, failure.message);
            return Err(Failure { message, ..no_tree }.into());
        }
    };
    let facts = SpokenFacts {
        device: session.id().to_owned(),
        spoken: screen.items.len(),
        partial: true,
        read_ms: session.now_ms().saturating_sub(began_ms),
        note: NOTE,
        cut: screen.cut,
        no_tree: no_tree.message,
    };
    Ok(Answer::new(Facts::Spoken(Box::new(facts))).with_lines(&lines(&screen.items)))
}

fn lines(items: &[SpokenItem]) -> String {
    let mut lines = String::new();
    for item in items {
        push_quoted(&mut lines, &item.words, WORDS_CHARS_MAX);
        if let Some(id) = &item.stable_id {
            lines.push_str(" #");
            push_name(&mut lines, id, ID_CHARS_MAX);
        }
        lines.push('\n');
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_element_is_a_line_and_hostile_words_stay_in_theirs() {
        let item = |words: &str, id: Option<&str>| SpokenItem {
            words: words.to_owned(),
            stable_id: id.map(str::to_owned),
        };
        let told = lines(&[item("Log in, Button", Some("login")), item("a\nb \"c\"", None), item("", None)]);
        assert_eq!(told, "\"Log in, Button\" #login\n\"a\\nb \\\"c\\\"\"\n\"\"\n");
    }
}
