//! `demo`: an agent-like session over MCP with the embedded phone. It succeeds only if every step of the story does.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use base64::Engine as _;
use mdm_engine::Clock;
use mobile_debug_mcp::app::{App, Devices};
use mobile_debug_mcp::args::JsonObject;
use mobile_debug_mcp::mcp;
use rmcp::ServiceExt as _;
use rmcp::model::{CallToolRequestParams, ContentBlock};
use rmcp::service::{RoleClient, RunningService};

use crate::cli::{DeviceArgs, VirtualPlatform};
use crate::{virtual_iphone, virtual_phone};

const APP: &str = "com.workbench";
const PIPE_BYTES: usize = 256 * 1024;
const LOG_IN: &str = r#"{"steps":[
    {"tool":"type_text","arguments":{"selector":{"text":"Email"},"text":"ada@example.com"}},
    {"tool":"type_text","arguments":{"selector":{"text":"Password"},"text":"correct horse"}},
    {"tool":"tap_element","arguments":{"selector":{"text":"Log in"},
        "expect":{"text":"Could not sign in","contains":true}}}]}"#;
const LINES_SHOWN: usize = 12;
const LINE_CHARS_SHOWN: usize = 150;

/// Plays the story and leaves its pictures and a page about it in `out`.
pub async fn run(platform: VirtualPlatform, out: Option<PathBuf>) -> ExitCode {
    let clock = Clock::start();
    let started_ms = clock.now_ms();
    let usual = || std::env::temp_dir().join(format!("mobile-debug-mcp-demo-{}", std::process::id()));
    let album = match Album::new(out.unwrap_or_else(usual)) {
        Ok(album) => album,
        Err(problem) => return super::fail(&problem),
    };
    let (told, album) = match Agent::connect(platform, album).await {
        Ok(mut agent) => (story(platform, &mut agent).await, agent.album),
        Err(why) => return super::fail(&why),
    };
    let kept = album.close(told.as_ref().err().map(String::as_str));
    match kept {
        Ok(page) => say(&format!("\nTo look at: {}", page.display())),
        Err(problem) => return super::fail(&problem),
    }
    match told {
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

async fn story(platform: VirtualPlatform, agent: &mut Agent) -> Result<(), String> {
    agent.think("A user reports: \"I cannot log in to Workbench.\" What do I have to work with?");
    agent.call("list_devices", "{}").await?;
    agent.call("start_app", &format!(r#"{{"app_id":"{APP}","expect":{{"text":"Log in"}}}}"#)).await?;
    agent.call("get_ui_tree", "{}").await?;

    agent.think("I log in as the user did: three steps that I know, so one call.");
    agent.call("run_flow", LOG_IN).await?;
    agent.picture("login failed").await?;

    agent.think("The screen says only that it failed. The log knows more.");
    let logs = agent.call("get_logs", &format!(r#"{{"app_id":"{APP}","level":"error"}}"#)).await?;
    let line =
        logs.lines().find(|line| line.contains("AuthRepo") && line.contains("401")).unwrap_or("").to_owned();
    if !line.contains("staging") {
        return Err(format!("the log does not name the staging server: {line:?}"));
    }

    agent.think("401 from *staging*: the app talks to the wrong server. There is a setting for that.");
    let open = r#"{"selector":{"text":"Settings"},"expect":{"text":"Use staging server","checked":true}}"#;
    agent.call("tap_element", open).await?;
    agent.picture("settings").await?;
    let off = r#"{"selector":{"text":"Use staging server"},"expect":{"text":"Use staging server","checked":false}}"#;
    agent.call("tap_element", off).await?;
    let login = match platform {
        VirtualPlatform::Android => r#"{"expect":{"screen":"LoginActivity"}}"#,
        // Screens of iOS have no names.
        VirtualPlatform::Ios => r#"{"expect":{"text":"Log in"}}"#,
    };
    agent.call("press_back", login).await?;

    agent.think("Now the proof: the same login once more.");
    let again = r#"{"selector":{"text":"Log in"},"expect":{"text":"Welcome, Ada","contains":true}}"#;
    agent.call("tap_element", again).await?;
    agent.call("get_current_screen", "{}").await?;
    agent.picture("logged in").await?;
    let logs = agent.call("get_logs", &format!(r#"{{"app_id":"{APP}","tag":"AuthRepo"}}"#)).await?;
    if !logs.contains("200") {
        return Err("the log does not show a successful login".to_owned());
    }
    agent.think("Cause: \"Use staging server\" was on. With it off, the same user gets in (200).");
    Ok(())
}

struct Agent {
    client: RunningService<RoleClient, ()>,
    album: Album,
}

impl Agent {
    async fn connect(platform: VirtualPlatform, album: Album) -> Result<Agent, String> {
        let mut devices = Devices::default();
        match platform {
            VirtualPlatform::Android => {
                devices.phone = Some(virtual_phone::embedded(&DeviceArgs::default())?);
            }
            VirtualPlatform::Ios => devices.iphone = Some(virtual_iphone::embedded(&DeviceArgs::default())?),
        }
        let app = App::new(devices);
        let (ours, theirs) = tokio::io::duplex(PIPE_BYTES);
        tokio::spawn(async move {
            let (read, write) = tokio::io::split(theirs);
            // Ends when the agent disconnects.
            drop(mcp::serve(Arc::new(app), read, write, std::future::pending()).await);
        });
        let client = ().serve(tokio::io::split(ours)).await.map_err(|error| error.to_string())?;
        let tools = client.list_all_tools().await.map_err(|error| error.to_string())?;
        say(&format!("connected over MCP: {} tools", tools.len()));
        Ok(Agent { client, album })
    }

    fn think(&mut self, thought: &str) {
        say(&format!("\n> {thought}"));
        self.album.page.push_str(&format!("\n## {thought}\n\n"));
    }

    /// Makes a call that must not fail, prints it, and returns its text.
    async fn call(&mut self, tool: &'static str, json: &str) -> Result<String, String> {
        let arguments: JsonObject = serde_json::from_str(json).map_err(|error| error.to_string())?;
        // Long arguments are written in several lines here, and in one in the story.
        let shown = serde_json::to_string(&arguments).map_err(|error| error.to_string())?;
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
                    self.album.keep(&image.data, &image.mime_type)?;
                    text.push_str(&format!("\n[{}, {} kB]", image.mime_type, image.data.len() * 3 / 4096));
                }
                _ => {}
            }
        }
        let text = text.trim_end().to_owned();
        let title = format!("{tool} {}   ({took_ms} ms)", shortened(&shown));
        say(&format!("  {title}"));
        self.album.page.push_str(&format!("`{title}`\n\n```\n"));
        for (number, line) in text.lines().take(LINES_SHOWN).enumerate() {
            let line = shortened(&if number == 0 { telling_facts(line) } else { line.to_owned() });
            say(&format!("      {line}"));
            self.album.page.push_str(&format!("{line}\n"));
        }
        if let Some(more) = text.lines().count().checked_sub(LINES_SHOWN).filter(|more| *more > 0) {
            say(&format!("      … {more} more lines"));
            self.album.page.push_str(&format!("… {more} more lines\n"));
        }
        self.album.page.push_str("```\n\n");
        if result.is_error == Some(true) { Err(text) } else { Ok(text) }
    }

    /// Takes a picture of the screen, which is kept under this name.
    async fn picture(&mut self, name: &'static str) -> Result<(), String> {
        self.album.next_name = name;
        self.call("capture_screenshot", r#"{"max_size":1024}"#).await?;
        let Some(file) = self.album.pictures.last() else { return Err("no picture came".to_owned()) };
        self.album.page.push_str(&format!("![{name}]({file})\n\n"));
        Ok(())
    }
}

/// What a session leaves to look at: pictures, and a page with everything that was done.
struct Album {
    folder: PathBuf,
    page: String,
    pictures: Vec<String>,
    next_name: &'static str,
}

impl Album {
    fn new(folder: PathBuf) -> Result<Album, String> {
        std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let page = "# A session on the embedded phone\n".to_owned();
        Ok(Album { folder, page, pictures: Vec::new(), next_name: "screen" })
    }

    fn keep(&mut self, data: &str, mime_type: &str) -> Result<(), String> {
        let ending = mime_type.rsplit('/').next().unwrap_or("png");
        let name = format!("{}-{}.{ending}", self.pictures.len() + 1, self.next_name.replace(' ', "-"));
        let bytes =
            base64::engine::general_purpose::STANDARD.decode(data).map_err(|error| error.to_string())?;
        let file = self.folder.join(&name);
        std::fs::write(&file, bytes).map_err(|error| format!("{}: {error}", file.display()))?;
        self.pictures.push(name);
        Ok(())
    }

    /// Writes the page and returns where it is.
    fn close(mut self, failed: Option<&str>) -> Result<PathBuf, String> {
        match failed {
            None => self.page.push_str("\nThe story came true.\n"),
            Some(why) => self.page.push_str(&format!("\nThe story did not come true: {why}\n")),
        }
        let file = self.folder.join("index.md");
        std::fs::write(&file, self.page).map_err(|error| format!("{}: {error}", file.display()))?;
        Ok(file)
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
