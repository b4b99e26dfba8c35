//! Plays a scenario through the whole stack on a paused clock.

use std::path::Path;
use std::time::Duration;

use mdm_android::adb::key::HostKey;
use mdm_android::adb::link::Link;
use mdm_android::adb::{Adb, Script};
use mobile_debug_mcp::app::phone_connector;
use mobile_debug_mcp::args::JsonObject;
use tokio::time::Instant;

use crate::client::Client;
use crate::file::{Call, Part, Scenario};
use crate::page::without_time;
use crate::stage::{Phones, Stage};
use crate::truth;
use crate::world::World;

const OUTPUT_BYTES_MAX: usize = 1 << 20;
const PIXELS_A_POINT: u32 = 3;
/// Android's views handle a click with their next frame, so the phone is looked at after it.
const FRAME: Duration = Duration::from_millis(17);

/// The parts with their new answers, and the conditions that failed.
pub struct Played {
    pub parts: Vec<Part>,
    pub failures: Vec<String>,
}

pub async fn play(scenario: &Scenario, phones: &Phones) -> Result<Played, String> {
    let on = phones.stage;
    let world = phones.world(scenario)?;
    // The clock is paused, so the phone booted at this moment.
    let booted = Instant::now();
    let shell = Shell::of(&world);
    let app = match on {
        Stage::Android | Stage::IPhone => &scenario.app,
        Stage::Framework | Stage::Helped => &scenario.framework_app,
    };
    shell.run(&Script::new("am start -W -n").arg(app)).await?;
    let client = Client::of(&world).await;
    let (mut played, mut said) = (Played { parts: Vec::new(), failures: Vec::new() }, Vec::new());
    for (at, part) in scenario.parts.iter().enumerate() {
        match part {
            Part::Prose(_) => played.parts.push(part.clone()),
            // The recorded answer is replaced by the new one.
            Part::Answer(_) => {}
            Part::Call(call) => {
                let (made, answer, text) = make(&client, &shell, call, on, &said).await?;
                said.push(text);
                played.parts.extend([Part::Call(made), Part::Answer(answer)]);
            }
            Part::Truth(..) if !scenario.counts(at, on) => {
                // The pages of the other phones do not show it.
                if on == Stage::Android {
                    played.parts.push(part.clone());
                }
            }
            Part::Truth(_, line) => {
                played.parts.push(part.clone());
                if matches!(on, Stage::Framework | Stage::Helped) {
                    tokio::time::sleep(FRAME).await;
                }
                if let Err(why) = truth::check(line, &world.phone.truth(), booted.elapsed()) {
                    played.failures.push(format!("the phone: {line}: {why}"));
                }
            }
        }
    }
    Ok(played)
}

/// The call as the page shows it, its answer as the page shows it, and the answer unchanged.
async fn make(
    client: &Client,
    shell: &Shell,
    written: &Call,
    on: Stage,
    said: &[String],
) -> Result<(Call, String, String), String> {
    let call = written.on(on);
    let arguments = filled(&call.arguments, said)?;
    let json: JsonObject =
        serde_json::from_str(&arguments).map_err(|e| format!("{}: {arguments}: {e}", call.tool))?;
    let meanwhile = async {
        let Some((ms, command)) = &call.meanwhile else { return Ok(()) };
        let command = filled(command, said)?;
        tokio::time::sleep(Duration::from_millis(*ms)).await;
        shell.run(&words(&command, on)?).await.map(drop)
    };
    let (answer, meanwhile) = tokio::join!(client.ask(&call.tool, json), meanwhile);
    meanwhile?;
    let answer = answer.map_err(|why| format!("{}: {why}", call.tool))?;
    let fence = if answer.is_error { "```answer error" } else { "```answer" };
    let shown = format!("{fence}\n{}\n```", without_time(answer.text.trim_end()));
    Ok((call.clone(), shown, answer.text))
}

/// Replaces `<Log in>` by the id that an earlier answer gave to "Log in", `<at Log in>` by its point, and
/// `<snapshot_revision>` by the value of that key in the latest answer that has it.
fn filled(text: &str, said: &[String]) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('<') {
        let (name, after) = after.split_once('>').ok_or_else(|| format!("< without > in {text}"))?;
        let value = said.iter().rev().find_map(|answer| value(answer, name));
        out.push_str(before);
        out.push_str(&value.ok_or_else(|| format!("no earlier answer tells {name:?}"))?);
        rest = after;
    }
    Ok(out + rest)
}

fn value(answer: &str, name: &str) -> Option<String> {
    let first = answer.lines().next().unwrap_or_default();
    if let Some((_, after)) = first.split_once(&format!("\"{name}\":")) {
        let end = after.trim_start_matches('"').find(['"', ',', '}']).unwrap_or(after.len());
        return Some(after.trim_start_matches('"')[..end].to_owned());
    }
    let quoted = |label: &str| format!("\"{label}\"");
    let line = |label: &str| answer.lines().skip(1).find(|line| line.contains(&quoted(label)));
    if let Some(label) = name.strip_prefix("at ") {
        let point = line(label)?.rsplit_once('@')?.1.split_whitespace().next()?;
        return Some(point.replace(',', " "));
    }
    let id = |word: &&str| word.strip_prefix('e').is_some_and(|rest| rest.parse::<u32>().is_ok());
    line(name)?.split_whitespace().find(id).map(str::to_owned)
}

/// An action on the phone by a person or another program. What agents are told on an iPhone is in points; the phone's own
/// shell counts pixels.
fn words(command: &str, on: Stage) -> Result<Script, String> {
    let mut words = command.split_whitespace();
    let program = match words.next() {
        Some("input") => "input",
        Some("am") => "am",
        other => return Err(format!("{other:?} is neither input nor am")),
    };
    let touches = command.starts_with("input tap") || command.starts_with("input swipe");
    let scaled = |word: &str| match (word.parse::<u32>(), on) {
        (Ok(points), Stage::IPhone) if touches => (points * PIXELS_A_POINT).to_string(),
        _ => word.to_owned(),
    };
    Ok(words.fold(Script::new(program), |script, word| script.arg(&scaled(word))))
}

/// A connection to the phone that bypasses the server.
pub struct Shell(Adb);

impl Shell {
    pub fn of(world: &World) -> Shell {
        let link = Link::new(phone_connector(world.phone.clone()), HostKey::at(Path::new("no-key")));
        Shell(Adb::direct(link))
    }

    pub async fn run(&self, script: &Script) -> Result<String, String> {
        let output = self.0.shell(script, OUTPUT_BYTES_MAX).await.map_err(|e| format!("{e:?}"))?;
        if output.exit_code == 0 { Ok(output.stdout_text()) } else { Err(output.message()) }
    }
}
