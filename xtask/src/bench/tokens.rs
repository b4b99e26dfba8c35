//! The cost of reading a screen for an agent: the product's answers over MCP, counted by a real tokenizer.
//! docs/tokens.md defines what counts as an element.

use std::path::Path;

use serde::Deserialize;

use super::process::{Phone, Server};
use super::recording::{By, Recording};
use super::table::Line;
use crate::tokens::Tokenizer;

/// The phone's screens.
pub const SIZES: [&str; 3] = ["small", "medium", "large"];

/// Goals for one tree: tokens for each element, without and with identifiers and points.
const GOAL: f64 = 11.0;
const GOAL_WITH_IDS: f64 = 20.0;
/// Goal for an answer with one changed text.
const GOAL_CHANGE: f64 = 60.0;

/// The parts of a tool's answer over MCP that a model reads.
#[derive(Deserialize)]
struct Reply {
    result: ReplyResult,
}

#[derive(Deserialize)]
struct ReplyResult {
    content: Vec<Content>,
}

#[derive(Deserialize)]
struct Content {
    #[serde(default)]
    text: String,
}

/// The text that a model reads of one MCP line.
pub fn text_of(reply: &str) -> Result<String, String> {
    let reply: Reply = serde_json::from_str(reply).map_err(|e| format!("{e} in {reply:.300}"))?;
    Ok(reply.result.content.into_iter().map(|content| content.text).collect())
}

/// The product's answers about one screen.
pub struct Answers {
    pub outline: String,
    pub with_ids: String,
    pub changes: String,
}

impl Answers {
    pub fn of(binary: &Path, data: &Path, size: &str) -> Result<Answers, String> {
        let file = data.join(format!("{size}.xml"));
        let phone = Phone::start(binary, &file, false)?;
        let (mut server, _) = Server::start(binary, &phone)?;
        let outline = ask(&mut server, "get_ui_tree", "{}")?;
        let with_ids = ask(&mut server, "get_ui_tree", r#"{"ids":true,"coordinates":true}"#)?;
        Ok(Answers { outline, with_ids, changes: changes(binary, data, size)? })
    }
}

fn ask(server: &mut Server, tool: &str, arguments: &str) -> Result<String, String> {
    text_of(&server.call(tool, arguments)?.answer)
}

/// A recording of two screens that differ in one text.
fn changes(binary: &Path, data: &Path, size: &str) -> Result<String, String> {
    let recording = Recording::of(data, size, By::Tap)?;
    let phone = Phone::playing(binary, &recording.folder, false)?;
    let (mut server, _) = Server::start(binary, &phone)?;
    let before = ask(&mut server, "get_ui_tree", "{}")?;
    let head: Head = first_json(&before)?;
    server.call("tap", r#"{"x":5,"y":5}"#)?;
    let since = format!(r#"{{"since_revision":{}}}"#, head.snapshot_revision);
    let said = ask(&mut server, "get_ui_tree", &since)?;
    match said.lines().filter(|line| line.starts_with('~')).count() {
        1 => Ok(said),
        changed => Err(format!("{changed} lines changed instead of one: {said}")),
    }
}

#[derive(Deserialize)]
struct Head {
    snapshot_revision: u64,
}

fn first_json<T: serde::de::DeserializeOwned>(answer: &str) -> Result<T, String> {
    let first = answer.lines().next().unwrap_or_default();
    serde_json::from_str(first).map_err(|e| format!("{e} in {first}"))
}

/// `told`: number of elements in the outline, on their own lines or folded into others.
pub fn lines(
    size: &str,
    answers: &Answers,
    told: f64,
    xml: &str,
    tokenizer: &Tokenizer,
) -> Result<[Line; 3], String> {
    let [plain, full, change, raw] = [answers.outline.as_str(), &answers.with_ids, &answers.changes, xml]
        .map(|text| tokenizer.count(text));
    let (plain, full, change) = (plain? as f64, full? as f64, change? as f64);
    let lines = answers.outline.lines().count().saturating_sub(1) as f64;
    let note = format!("{plain:.0} for {told:.0}; {:.1} a line; XML {}", plain / lines, raw?);
    let name = |what: &str| format!("tokens {size}: {what}");
    Ok([
        Line::single(&name("outline"), plain / told, GOAL, "an element").noted(note),
        Line::single(&name("with ids and points"), full / told, GOAL_WITH_IDS, "an element")
            .noted(format!("{full:.0}; {:.1} a line", full / lines)),
        Line::single(&name("one text changed"), change, GOAL_CHANGE, "tokens"),
    ])
}
