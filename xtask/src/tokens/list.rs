//! What a client gets from a server before its first call: the tool list and the instructions.

use std::process::Command;

use serde::Deserialize;
use serde_json::Value;

use super::Tokenizer;
use crate::mcp::{INITIALIZE, talk};

const LIST: &str = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}\n";

pub struct ToolList {
    /// The server's name and version, as it says them.
    pub server: String,
    pub instructions: String,
    tools: Vec<Value>,
}

#[derive(Deserialize)]
struct Reply {
    id: Option<u64>,
    #[serde(default)]
    result: ReplyResult,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ReplyResult {
    server_info: ServerInfo,
    instructions: String,
    tools: Option<Vec<Value>>,
    next_cursor: Option<Value>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ServerInfo {
    name: String,
    version: String,
}

impl ToolList {
    /// Starts a server over stdio and asks it.
    pub fn of(command: &mut Command) -> Result<ToolList, String> {
        let is_list = |line: &str| serde_json::from_str::<Reply>(line).is_ok_and(|reply| reply.id == Some(1));
        let said = talk(command, &format!("{INITIALIZE}{LIST}"), is_list)?;
        ToolList::read(&said)
    }

    fn read(said: &str) -> Result<ToolList, String> {
        let reply = |id: u64| {
            let replies = said.lines().filter_map(|line| serde_json::from_str::<Reply>(line).ok());
            let mut found = replies.filter(|reply| reply.id == Some(id)).map(|reply| reply.result);
            found.next().ok_or_else(|| format!("no answer to request {id} in {said:.300}"))
        };
        let (first, list) = (reply(0)?, reply(1)?);
        if list.next_cursor.is_some() {
            return Err("the tool list has a second page, which is not asked for".to_owned());
        }
        Ok(ToolList {
            server: format!("{} {}", first.server_info.name, first.server_info.version),
            instructions: first.instructions,
            tools: list.tools.ok_or_else(|| format!("no tools in {said:.300}"))?,
        })
    }

    pub fn measure(&self, tokenizer: &Tokenizer) -> Result<Measured, String> {
        let entries: Vec<String> = self.tools.iter().map(Value::to_string).collect();
        let mut texts: Vec<&str> = entries.iter().map(String::as_str).collect();
        texts.push(&self.instructions);
        let mut counts = tokenizer.count_all(&texts)?;
        let instructions = counts.pop().unwrap_or_default();
        let names = self.tools.iter().map(|tool| tool["name"].as_str().unwrap_or_default().to_owned());
        let mut tools: Vec<(String, usize)> = names.zip(counts).collect();
        tools.sort_by(|(a, many), (b, few)| few.cmp(many).then_with(|| a.cmp(b)));
        Ok(Measured { server: self.server.clone(), tools, instructions })
    }
}

/// Tokens of a tool list.
pub struct Measured {
    pub server: String,
    /// Each tool's entry as compact JSON, the largest first.
    pub tools: Vec<(String, usize)>,
    pub instructions: usize,
}

impl Measured {
    pub fn sum(&self) -> usize {
        self.tools.iter().map(|(_, tokens)| tokens).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: &str = r#"{"jsonrpc":"2.0","id":0,"result":{"serverInfo":{"name":"a","version":"1.0"},"instructions":"Do."}}"#;

    #[test]
    fn both_answers_are_read_whatever_else_is_said() {
        let list =
            r#"{"result":{"tools":[{"name":"tap","inputSchema":{"b":1,"a":2}}]},"jsonrpc":"2.0","id":1}"#;
        let said = format!("starting\n{FIRST}\n{{\"jsonrpc\":\"2.0\",\"method\":\"x\"}}\n{list}\n");
        let read = ToolList::read(&said).unwrap();
        assert_eq!((read.server.as_str(), read.instructions.as_str()), ("a 1.0", "Do."));
        assert_eq!(
            read.tools[0].to_string(),
            r#"{"name":"tap","inputSchema":{"b":1,"a":2}}"#,
            "in the order sent"
        );
    }

    #[test]
    fn a_list_that_is_missing_or_goes_on_is_an_error() {
        for second in
            ["", r#"{"id":1,"error":{"code":-32601}}"#, r#"{"id":1,"result":{"tools":[],"nextCursor":"2"}}"#]
        {
            assert!(ToolList::read(&format!("{FIRST}\n{second}\n")).is_err(), "{second}");
        }
    }
}
