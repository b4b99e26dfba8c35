//! The file of a scenario: prose for people, calls, their answers, and checks of the phone's own state.

use std::fmt::Write as _;

use mdm_virtual_device::{AppFile, PhoneConfig, Timing};

use crate::stage::Stage;

/// One part of the file. An update rewrites only the answers.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    Prose(String),
    Call(Call),
    /// The recorded answer, with its fence.
    Answer(String),
    /// A condition on the phone's own state.
    Truth(Whose, String),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    pub tool: String,
    pub arguments: String,
    /// What is called in its place elsewhere: tool and arguments.
    pub elsewhere: Vec<(Stage, String, String)>,
    /// A shell command on the phone, so many milliseconds after the call began: a person or another program.
    pub meanwhile: Option<(u64, String)>,
}

pub struct Scenario {
    pub title: String,
    pub shows: Vec<String>,
    /// The screen at the start, as `package/.Activity`.
    pub app: String,
    pub config: PhoneConfig,
    /// The screen at the start where Android's own views draw the app.
    pub framework_app: String,
    pub framework_timing: Timing,
    /// Where it is not played, and why.
    left_out: Vec<(Stage, String)>,
    pub parts: Vec<Part>,
}

/// The phones that a condition is meant for. Those further down are the more special ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Whose {
    Every,
    Android,
    IPhone,
    Framework,
    Helped,
}

const TRUTHS: [(&str, Whose); 5] = [
    ("The phone: ", Whose::Every),
    ("The Android phone: ", Whose::Android),
    ("The iPhone: ", Whose::IPhone),
    ("The framework phone: ", Whose::Framework),
    ("With the helper: ", Whose::Helped),
];

const ELSEWHERE: [(&str, Stage); 3] = [
    ("on iOS: ", Stage::IPhone),
    ("on the framework phone: ", Stage::Framework),
    ("with the helper: ", Stage::Helped),
];

impl Whose {
    fn includes(self, stage: Stage) -> bool {
        match self {
            Whose::Every => true,
            Whose::Android => stage != Stage::IPhone,
            Whose::IPhone => stage == Stage::IPhone,
            Whose::Framework => matches!(stage, Stage::Framework | Stage::Helped),
            Whose::Helped => stage == Stage::Helped,
        }
    }

    /// True for a line that takes the place of the one above it.
    fn replaces(self, above: Whose) -> bool {
        self >= Whose::Framework && self > above
    }
}

impl Call {
    /// The call that is made on this stage. One of its own takes the place of the whole call.
    pub fn on(&self, stage: Stage) -> Call {
        let mut own = stage.own_calls().iter();
        match own.find_map(|stage| self.elsewhere.iter().find(|(other, ..)| other == stage)) {
            Some((_, tool, arguments)) => {
                let (tool, arguments) = (tool.clone(), arguments.clone());
                Call { tool, arguments, elsewhere: Vec::new(), meanwhile: None }
            }
            None if stage == Stage::Android => self.clone(),
            None => Call { elsewhere: Vec::new(), ..self.clone() },
        }
    }
}

impl Scenario {
    pub fn parse(text: &str) -> Result<Scenario, String> {
        let title = text.lines().next().and_then(|line| line.strip_prefix("# ")).ok_or("no title")?;
        let parts = parts(text)?;
        let header = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        let shows = header("- shows").ok_or("no line \"- shows: …\"")?;
        let app = header("- app").ok_or("no line \"- app: package/.Activity\"")?;
        let usual = timing(header("- timing").unwrap_or("phone"))?;
        let mut config = PhoneConfig { timing: usual, ..PhoneConfig::default() };
        let framework_timing = header("- timing on the framework phone").map_or(Ok(usual), timing)?;
        if let Some(faults) = header("- faults") {
            config.faults = faults.parse().map_err(|e| format!("faults {faults}: {e}"))?;
        }
        if let Some(file) = block(text, "json app") {
            config.apps.push(AppFile::parse(file).map_err(|e| e.to_string())?);
        }
        let shows = shows.split(", ").map(str::to_owned).collect();
        let mut left_out = Vec::new();
        for (line, stage) in
            [("- not on iOS", Stage::IPhone), ("- not on the framework phone", Stage::Framework)]
        {
            left_out.extend(header(line).map(|why| (stage, why.to_owned())));
        }
        if header("- with the helper").is_none() {
            left_out.push((Stage::Helped, "nothing says what the helper changes".to_owned()));
        }
        let framework_app = header("- on the framework phone").unwrap_or(app).to_owned();
        let (title, app) = (title.to_owned(), app.to_owned());
        Ok(Scenario { title, shows, app, config, framework_app, framework_timing, left_out, parts })
    }

    /// Why it is not played on this stage; `None` where it is.
    pub fn reason_against(&self, stage: Stage) -> Option<&str> {
        self.left_out.iter().find(|(out, _)| *out == stage).map(|(_, why)| why.as_str())
    }

    /// True if the condition at this place is checked on this stage.
    pub fn counts(&self, at: usize, stage: Stage) -> bool {
        let Some(Part::Truth(whose, _)) = self.parts.get(at) else { return false };
        let replaced = match self.parts.get(at + 1) {
            Some(Part::Truth(next, _)) => next.replaces(*whose) && next.includes(stage),
            _ => false,
        };
        whose.includes(stage) && !replaced
    }
}

fn timing(word: &str) -> Result<Timing, String> {
    match word {
        "phone" => Ok(Timing::Phone),
        "brisk" => Ok(Timing::Brisk),
        "instant" => Ok(Timing::Instant),
        other => Err(format!("timing {other}")),
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
        } else if let Some((whose, truth)) =
            TRUTHS.iter().find_map(|(start, whose)| Some((*whose, line.strip_prefix(start)?)))
        {
            parts.push(Part::Truth(whose, truth.to_owned()));
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
    let mut call = Call { tool, arguments, elsewhere: Vec::new(), meanwhile: None };
    for line in more {
        let other = ELSEWHERE.iter().find_map(|(start, stage)| Some((*stage, line.strip_prefix(start)?)));
        match other {
            Some((stage, other)) if call.elsewhere.iter().all(|(known, ..)| *known != stage) => {
                let (tool, arguments) = tool_and_arguments(other);
                call.elsewhere.push((stage, tool, arguments));
            }
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
        for (stage, tool, arguments) in &self.elsewhere {
            let start = ELSEWHERE.iter().find(|(_, known)| known == stage).map_or("", |(start, _)| start);
            writeln!(f, "{start}{tool} {arguments}")?;
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
            Part::Truth(whose, truth) => {
                let start = TRUTHS.iter().find(|(_, known)| known == whose).map_or("", |(start, _)| start);
                writeln!(text, "{start}{truth}")
            }
        };
    }
    text
}

#[test]
fn a_scenario_file_is_written_as_it_was_read() {
    let text = "# Title\n\n- shows: SY-05, toast\n- app: a.b/.C\n- timing: brisk\n\nWords.\n\n```call\ntap {\"x\":1}\non iOS: tap \
                {\"x\":2}\non the framework phone: tap {\"x\":3}\nafter 20 ms: input tap 1 2\n```\n```answer error\n{}\nline\n```\nThe phone: took 1 \
                inputs\nThe Android phone: is on .C\nThe \
                framework phone: is on .D\n\nEnd.\n";
    let scenario = Scenario::parse(text).unwrap();
    assert_eq!(write(&scenario.parts), text);
    assert_eq!(scenario.shows, ["SY-05", "toast"]);
    assert_eq!(scenario.config.timing, Timing::Brisk);
    let calls = scenario.parts.iter().filter(|part| matches!(part, Part::Call(_))).count();
    let truths = scenario.parts.iter().filter(|part| matches!(part, Part::Truth(..))).count();
    assert_eq!((calls, truths), (1, 3));
    let Some(Part::Call(call)) = scenario.parts.iter().find(|part| matches!(part, Part::Call(_))) else {
        panic!("no call")
    };
    let made = |stage| call.on(stage).arguments;
    assert_eq!(
        [Stage::Android, Stage::IPhone, Stage::Framework, Stage::Helped].map(made),
        [r#"{"x":1}"#, r#"{"x":2}"#, r#"{"x":3}"#, r#"{"x":3}"#]
    );
    let counted = |stage| (0..scenario.parts.len()).filter(|at| scenario.counts(*at, stage)).count();
    assert_eq!([Stage::Android, Stage::IPhone, Stage::Framework].map(counted), [2, 1, 2]);
    assert!(Scenario::parse("# T\n- shows: a\n- app: b/.C\n```answer\nx\n```\n").is_err());
}
