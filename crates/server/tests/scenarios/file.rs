//! The file of a scenario: prose for people, calls, their answers, and checks of the phone's own state.

use std::fmt::Write as _;

use mdm_core::screen::snapshot::Platform;
use mdm_virtual_device::{AppFile, PhoneConfig, Timing};

/// One part of the file. An update rewrites only the answers.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    Prose(String),
    Call(Call),
    /// The recorded answer, with its fence.
    Answer(String),
    /// A condition on the phone's own state; `Some` for one that is meant for this platform alone.
    Truth(Option<Platform>, String),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    pub tool: String,
    pub arguments: String,
    /// What is called in its place on an iPhone: tool and arguments.
    pub on_ios: Option<(String, String)>,
    /// A shell command on the phone, so many milliseconds after the call began: a person or another program.
    pub meanwhile: Option<(u64, String)>,
}

pub struct Scenario {
    pub title: String,
    pub shows: Vec<String>,
    /// The screen at the start, as `package/.Activity`.
    pub app: String,
    pub config: PhoneConfig,
    /// Why it cannot be played on an iPhone.
    pub not_on_ios: Option<String>,
    pub parts: Vec<Part>,
}

const TRUTHS: [(&str, Option<Platform>); 3] = [
    ("The phone: ", None),
    ("The Android phone: ", Some(Platform::Android)),
    ("The iPhone: ", Some(Platform::Ios)),
];

impl Scenario {
    pub fn parse(text: &str) -> Result<Scenario, String> {
        let title = text.lines().next().and_then(|line| line.strip_prefix("# ")).ok_or("no title")?;
        let parts = parts(text)?;
        let header = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        let shows = header("- shows").ok_or("no line \"- shows: …\"")?;
        let app = header("- app").ok_or("no line \"- app: package/.Activity\"")?;
        let mut config = PhoneConfig { timing: Timing::Phone, ..PhoneConfig::default() };
        match header("- timing") {
            None | Some("phone") => {}
            Some("brisk") => config.timing = Timing::Brisk,
            Some("instant") => config.timing = Timing::Instant,
            Some(other) => return Err(format!("timing {other}")),
        }
        if let Some(faults) = header("- faults") {
            config.faults = faults.parse().map_err(|e| format!("faults {faults}: {e}"))?;
        }
        if let Some(file) = block(text, "json app") {
            config.apps.push(AppFile::parse(file).map_err(|e| e.to_string())?);
        }
        let shows = shows.split(", ").map(str::to_owned).collect();
        let not_on_ios = header("- not on iOS").map(str::to_owned);
        Ok(Scenario { title: title.to_owned(), shows, app: app.to_owned(), config, not_on_ios, parts })
    }
}

/// Returns the text inside the first fence of this kind.
fn block<'a>(text: &'a str, kind: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(&format!("```{kind}\n"))?;
    rest.split_once("\n```").map(|(inside, _)| inside)
}

fn parts(text: &str) -> Result<Vec<Part>, String> {
    let mut parts: Vec<Part> = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line == "```call" {
            let inside: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            parts.push(Part::Call(call(&inside)?));
        } else if line == "```answer" || line == "```answer error" {
            let inside: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            if !matches!(parts.last(), Some(Part::Call(_))) {
                return Err(format!("an answer without a call: {inside:?}"));
            }
            parts.push(Part::Answer(format!("{line}\n{}\n```", inside.join("\n"))));
        } else if let Some((on, truth)) =
            TRUTHS.iter().find_map(|(start, on)| Some((*on, line.strip_prefix(start)?)))
        {
            parts.push(Part::Truth(on, truth.to_owned()));
        } else if let Some(Part::Prose(prose)) = parts.last_mut() {
            let _ = write!(prose, "\n{line}");
        } else {
            parts.push(Part::Prose(line.to_owned()));
        }
    }
    Ok(parts)
}

fn call(lines: &[&str]) -> Result<Call, String> {
    let (first, more) = lines.split_first().ok_or("an empty call")?;
    let (tool, arguments) = tool_and_arguments(first);
    let mut call = Call { tool, arguments, on_ios: None, meanwhile: None };
    for line in more {
        match line.strip_prefix("on iOS: ") {
            Some(other) if call.on_ios.is_none() => call.on_ios = Some(tool_and_arguments(other)),
            None if call.meanwhile.is_none() => {
                let meanwhile = meanwhile(line);
                call.meanwhile =
                    Some(meanwhile.ok_or_else(|| format!("not \"after N ms: COMMAND\": {line}"))?);
            }
            _ => return Err(format!("twice after {first}: {line}")),
        }
    }
    Ok(call)
}

fn tool_and_arguments(line: &str) -> (String, String) {
    let (tool, arguments) = line.split_once(' ').unwrap_or((line, "{}"));
    (tool.to_owned(), arguments.to_owned())
}

fn meanwhile(line: &str) -> Option<(u64, String)> {
    let (ms, command) = line.strip_prefix("after ")?.split_once(" ms: ")?;
    Some((ms.parse().ok()?, command.to_owned()))
}

impl std::fmt::Display for Call {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "```call\n{} {}\n", self.tool, self.arguments)?;
        if let Some((tool, arguments)) = &self.on_ios {
            writeln!(f, "on iOS: {tool} {arguments}")?;
        }
        if let Some((ms, command)) = &self.meanwhile {
            writeln!(f, "after {ms} ms: {command}")?;
        }
        write!(f, "```")
    }
}

/// Writes the file with these parts.
pub fn write(parts: &[Part]) -> String {
    let mut text = String::new();
    for part in parts {
        let _ = match part {
            Part::Prose(part) | Part::Answer(part) => writeln!(text, "{part}"),
            Part::Call(call) => writeln!(text, "{call}"),
            Part::Truth(on, truth) => {
                let start = TRUTHS.iter().find(|(_, platform)| platform == on).map_or("", |(start, _)| start);
                writeln!(text, "{start}{truth}")
            }
        };
    }
    text
}

#[test]
fn a_scenario_file_is_written_as_it_was_read() {
    let text = "# Title\n\n- shows: SY-05, toast\n- app: a.b/.C\n- timing: brisk\n\nWords.\n\n```call\ntap {\"x\":1}\non iOS: tap \
                {\"x\":2}\nafter 20 ms: input tap 1 2\n```\n```answer error\n{}\nline\n```\nThe phone: took 1 \
                inputs\nThe Android phone: is on .C\n\nEnd.\n";
    let scenario = Scenario::parse(text).unwrap();
    assert_eq!(write(&scenario.parts), text);
    assert_eq!(scenario.shows, ["SY-05", "toast"]);
    assert_eq!(scenario.config.timing, Timing::Brisk);
    let calls = scenario.parts.iter().filter(|part| matches!(part, Part::Call(_))).count();
    let truths = scenario.parts.iter().filter(|part| matches!(part, Part::Truth(..))).count();
    assert_eq!((calls, truths), (1, 2));
    assert!(Scenario::parse("# T\n- shows: a\n- app: b/.C\n```answer\nx\n```\n").is_err());
}
