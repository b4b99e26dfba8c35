//! Descriptions of the tools: for the terminal, for clients, and for docs/tools.md.

use mobile_debug_mcp::args::JsonObject;
use mobile_debug_mcp::mcp;
use mobile_debug_mcp::offer::Offer;
use mobile_debug_mcp::tools::{Effect, Entry, MORE, TOOLS};

pub fn plain() -> String {
    let width = TOOLS.iter().map(|tool| tool.name.len()).max().unwrap_or(0);
    TOOLS.iter().map(|tool| format!("{:width$}  {}\n", tool.name, tool.description)).collect()
}

pub fn json() -> String {
    let tools: Vec<_> = TOOLS.iter().map(mcp::describe).collect();
    serde_json::to_string_pretty(&tools).unwrap_or_else(|error| error.to_string())
}

pub fn markdown() -> String {
    let mut out = String::from(
        "# Tools\n\nMade by `cargo xtask docs` from the program itself; change the descriptions there.\n\n\
         What was asked for and is not known to be so is an answer with `isError`, exit code 1 of `call`, and the end of a\n\
         flow: a call that was refused or broke off, an expectation that was contradicted or could not be determined, a\n\
         wait that timed out, an element that was not found, an app that crashed under the action. A refusal has\n\
         `\"error\":{\"tool\",\"code\",\"message\",\"hint\"}` and `\"retryable\"` in its first line, an expectation `verdict`, a\n\
         wait `status`, a search `found`. Every action, also a refused one, has the same envelope\n\
         ([answers.md](answers.md)). Both spellings of an argument are taken (`element_id`, `elementId`).\n\
         Coordinates are those of the tree, in the current rotation: pixels on Android, points on iOS.\n\n\
         What clients are told first:\n\n",
    );
    for line in mcp::instructions(&Offer::default(), true).lines() {
        out.push_str(&format!("> {line}\n>\n"));
    }
    TOOLS.iter().for_each(|tool| push_tool(&mut out, tool));
    out.push_str("\n# Also answered\n\nEach does what a tool above does too, so these are listed only with `--all-tools`.\n");
    MORE.iter().for_each(|tool| push_tool(&mut out, tool));
    out
}

fn push_tool(out: &mut String, tool: &Entry) {
    let effect = match tool.effect {
        Effect::ReadOnly => "only reads",
        Effect::Acts => "acts",
        Effect::Destroys => "destroys data",
    };
    out.push_str(&format!("\n## {}\n\n{} ({effect})\n", tool.name, tool.description));
    let schema = tool.schema();
    let empty = JsonObject::new();
    let properties = schema.get("properties").and_then(|p| p.as_object()).unwrap_or(&empty);
    if properties.is_empty() {
        return;
    }
    let required: Vec<&str> = schema
        .get("required")
        .and_then(|r| r.as_array())
        .into_iter()
        .flatten()
        .filter_map(|r| r.as_str())
        .collect();
    out.push_str("\n| input | type | |\n|---|---|---|\n");
    for (name, property) in properties {
        let text = |key: &str| property.get(key).and_then(|v| v.as_str()).unwrap_or("").to_owned();
        let kind = match property.get("enum").and_then(|v| v.as_array()) {
            Some(values) => values.iter().filter_map(|v| v.as_str()).collect::<Vec<_>>().join(", "),
            None => text("type"),
        };
        let mark = if required.contains(&name.as_str()) { " (required)" } else { "" };
        out.push_str(&format!("| {name}{mark} | {kind} | {} |\n", text("description").replace('\n', " ")));
    }
}
