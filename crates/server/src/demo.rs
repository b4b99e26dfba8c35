//! `demo`: an agent-like session over MCP with the embedded phone. It succeeds only if every step of the story does.

use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Arc;

use mdm_engine::Clock;
use mobile_debug_mcp::app::{App, Devices};
use mobile_debug_mcp::args::JsonObject;
use mobile_debug_mcp::mcp;
use rmcp::ServiceExt as _;
use rmcp::model::{CallToolRequestParams, ContentBlock};
use rmcp::service::{RoleClient, RunningService};

use crate::virtual_phone;

const APP: &str = "com.workbench";
const PIPE_BYTES: usize = 256 * 1024;
/// Captures while waiting for a text to appear.
const LOOKS_MAX: usize = 40;
const LINES_SHOWN: usize = 12;
const LINE_CHARS_SHOWN: usize = 150;

pub async fn run() -> ExitCode {
    let clock = Clock::start();
    let started_ms = clock.now_ms();
    match story().await {
        Ok(()) => {
            let seconds = (clock.now_ms() - started_ms) as f64 / 1000.0;
            say(&format!("\nThe story came true in {seconds:.1} s."));
            ExitCode::SUCCESS
        }
        Err(why) => {
            say(&format!("\nThe story did NOT come true: {why}"));
            ExitCode::FAILURE
        }
    }
}

async fn story() -> Result<(), String> {
    say("A user reports: \"I cannot log in to Workbench.\" An agent gets a phone and an MCP server.\n");
    let mut agent = Agent::connect().await?;

    agent.think("What do I have to work with?");
    agent.call("list_devices", "{}").await?;
    agent.call("start_app", &format!(r#"{{"app_id":"{APP}"}}"#)).await?;
    let login = agent.look().await?;
    expect(&login, "Log in")?;

    agent.think("I log in as the user did.");
    agent.log_in(&login).await?;
    let failed = agent.look_for("Could not sign in").await?;
    agent.think("The screen says only that it failed. The log knows more.");
    let logs = agent.call("get_logs", &format!(r#"{{"app_id":"{APP}","level":"error"}}"#)).await?;
    let line =
        logs.lines().find(|line| line.contains("AuthRepo") && line.contains("401")).unwrap_or("").to_owned();
    if !line.contains("staging") {
        return Err(format!("the log does not name the staging server: {line:?}"));
    }

    agent.think("401 from *staging*: the app talks to the wrong server. There is a setting for that.");
    agent.tap(&failed, "Settings").await?;
    let settings = agent.look_for("Use staging server").await?;
    expect_state(&settings, "Use staging server", " on ")?;
    agent.tap(&settings, "Use staging server").await?;
    let changed = agent.look().await?;
    expect_state(&changed, "Use staging server", " off ")?;
    agent.call("press_back", "{}").await?;
    let again = agent.look_for("Log in").await?;

    agent.think("Now the proof: the same login once more.");
    agent.tap(&again, "Log in").await?;
    agent.look_for("Welcome, Ada").await?;
    agent.call("get_current_screen", "{}").await?;
    agent.call("capture_screenshot", r#"{"max_size":512}"#).await?;
    let logs = agent.call("get_logs", &format!(r#"{{"app_id":"{APP}","tag":"AuthRepo"}}"#)).await?;
    if !logs.contains("200") {
        return Err("the log does not show a successful login".to_owned());
    }
    agent.think("Cause: \"Use staging server\" was on. With it off, the same user gets in (200).");
    Ok(())
}

/// Returns the outline's line that shows `label`.
fn line_with<'a>(outline: &'a str, label: &str) -> Result<&'a str, String> {
    let quoted = format!("\"{label}\"");
    let lines = || outline.lines().skip(1);
    // A tappable element is preferred to a text with the same words.
    let tappable = lines().find(|line| line.contains(&quoted) && !is_text(line));
    tappable
        .or_else(|| lines().find(|line| line.contains(label)))
        .ok_or_else(|| format!("the screen shows no {label:?}"))
}

fn expect(outline: &str, label: &str) -> Result<(), String> {
    line_with(outline, label).map(drop)
}

fn expect_state(outline: &str, label: &str, state: &str) -> Result<(), String> {
    let line = line_with(outline, label)?;
    if format!("{line} ").contains(state) {
        Ok(())
    } else {
        Err(format!("expected {label:?} to be{state}: {line}"))
    }
}

/// True for a line `e12 text "…"`, which is not tappable.
fn is_text(line: &str) -> bool {
    line.split_whitespace().nth(1) == Some("text")
}

/// The id at the start of a line, such as `e12`.
fn id_of(line: &str) -> Result<&str, String> {
    line.split_whitespace().next().ok_or_else(|| "an empty line has no id".to_owned())
}

struct Agent {
    client: RunningService<RoleClient, ()>,
}

impl Agent {
    async fn connect() -> Result<Agent, String> {
        let phone = virtual_phone::embedded();
        let app = App::new(Devices { phone: Some(phone), addresses: Vec::new(), adb_server: false });
        let (ours, theirs) = tokio::io::duplex(PIPE_BYTES);
        tokio::spawn(async move {
            let (read, write) = tokio::io::split(theirs);
            // Ends when the agent disconnects.
            drop(mcp::serve(Arc::new(app), read, write, std::future::pending()).await);
        });
        let client = ().serve(tokio::io::split(ours)).await.map_err(|error| error.to_string())?;
        let tools = client.list_all_tools().await.map_err(|error| error.to_string())?;
        say(&format!("  connected over MCP: {} tools\n", tools.len()));
        Ok(Agent { client })
    }

    fn think(&self, thought: &str) {
        say(&format!("\n> {thought}"));
    }

    /// Calls a tool and prints the call, its time and the start of its answer.
    async fn call(&self, tool: &'static str, json: &str) -> Result<String, String> {
        let (text, took_ms) = self.quiet_call(tool, json).await?;
        say(&format!("  {tool} {json}   [{took_ms} ms]"));
        for (number, line) in text.lines().take(LINES_SHOWN).enumerate() {
            let line = if number == 0 { telling_facts(line) } else { line.to_owned() };
            say(&format!("      {}", shortened(&line)));
        }
        if let Some(more) = text.lines().count().checked_sub(LINES_SHOWN).filter(|more| *more > 0) {
            say(&format!("      … {more} more lines"));
        }
        Ok(text)
    }

    async fn quiet_call(&self, tool: &'static str, json: &str) -> Result<(String, u64), String> {
        let arguments: JsonObject = serde_json::from_str(json).map_err(|error| error.to_string())?;
        let clock = Clock::start();
        let started_ms = clock.now_ms();
        let request = CallToolRequestParams::new(tool).with_arguments(arguments);
        let result = self.client.call_tool(request).await.map_err(|error| error.to_string())?;
        let took_ms = clock.now_ms() - started_ms;
        let mut text = String::new();
        for block in &result.content {
            match block {
                ContentBlock::Text(content) => text.push_str(&content.text),
                ContentBlock::Image(image) => {
                    text.push_str(&format!("\n[{}, {} kB]", image.mime_type, image.data.len() * 3 / 4096))
                }
                _ => {}
            }
        }
        if result.is_error == Some(true) { Err(text) } else { Ok((text, took_ms)) }
    }

    async fn look(&self) -> Result<String, String> {
        self.call("get_ui_tree", r#"{}"#).await
    }

    /// Reads the screen until it shows `text`; only the last call is printed.
    async fn look_for(&self, text: &str) -> Result<String, String> {
        for _ in 0..LOOKS_MAX {
            let (outline, _) = self.quiet_call("get_ui_tree", r#"{}"#).await?;
            if outline.contains(text) {
                return self.look().await;
            }
        }
        Err(format!("{text:?} did not appear in {LOOKS_MAX} looks"))
    }

    async fn tap(&self, outline: &str, label: &str) -> Result<(), String> {
        let id = id_of(line_with(outline, label)?)?;
        self.call("tap_element", &format!(r#"{{"element_id":"{id}"}}"#)).await.map(drop)
    }

    async fn log_in(&mut self, outline: &str) -> Result<(), String> {
        self.tap(outline, "Email").await?;
        self.call("type_text", r#"{"text":"ada@example.com"}"#).await?;
        self.tap(outline, "Password").await?;
        self.call("type_text", r#"{"text":"correct horse"}"#).await?;
        // The keyboard covers the lower part of the screen.
        self.call("press_back", "{}").await?;
        let ready = self.look().await?;
        self.tap(&ready, "Log in").await
    }
}

/// The first line of an answer without facts that the reader of the story already knows.
fn telling_facts(line: &str) -> String {
    const KNOWN: [&str; 10] = [
        "action_id",
        "action_type",
        "captured_at_ms",
        "device",
        "elapsed_ms",
        "resolution",
        "success",
        "target",
        "transitions",
        "scanned",
    ];
    let Ok(mut facts) = serde_json::from_str::<JsonObject>(line) else { return line.to_owned() };
    facts.retain(|key, _| !KNOWN.contains(&key.as_str()));
    serde_json::to_string(&facts).unwrap_or_else(|_| line.to_owned())
}

fn shortened(line: &str) -> String {
    match line.char_indices().nth(LINE_CHARS_SHOWN) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

fn say(text: &str) {
    // A closed stdout is ignored: the demo's result does not depend on it.
    drop(writeln!(std::io::stdout(), "{text}"));
}
