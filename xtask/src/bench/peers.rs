//! The same screens on the same phone, read with two other tools: the cost and the content of their answers.

use std::fmt;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::{Deserialize, Serialize};

use super::process::Phone;
use super::tokens::text_of;
use crate::command::output;
use crate::mcp::{INITIALIZE, talk};
use crate::tokens::Tokenizer;

/// Only the beginning of words is compared, because every tool cuts long texts at another place.
const WORDS_CHARS_COMPARED: usize = 16;

/// The content of a screen, independent of the tool.
pub struct Screen {
    /// The words of each shown element that has any.
    words: Vec<String>,
    /// The first words on each shown element that can be clicked and has words on it.
    targets: Vec<String>,
}

#[derive(Deserialize)]
struct Tree {
    elements: Vec<TreeElement>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TreeElement {
    text: Option<String>,
    content_description: Option<String>,
    label: Option<String>,
    clickable: bool,
    visible: bool,
}

impl Screen {
    pub fn of(binary: &Path, file: &Path) -> Result<Screen, String> {
        let mut command = Command::new(binary);
        command.args(["tree", "--format", "json", "--file"]).arg(file);
        let tree: Tree = serde_json::from_str(&output(&mut command)?).map_err(|e| e.to_string())?;
        let shown: Vec<TreeElement> = tree.elements.into_iter().filter(|element| element.visible).collect();
        let first = |label: &str| beginning(label.split(", ").next().unwrap_or(label));
        let targets = shown.iter().filter(|element| element.clickable);
        Ok(Screen {
            targets: targets.filter_map(|element| element.label.as_deref().map(first)).collect(),
            words: shown.iter().filter_map(own_words).collect(),
        })
    }
}

fn own_words(element: &TreeElement) -> Option<String> {
    let texts = [&element.text, &element.content_description].into_iter().flatten();
    texts.map(|text| text.trim()).find(|text| !text.is_empty()).map(beginning)
}

/// The first words of a text, up to a line break or quote, which every tool writes differently.
fn beginning(text: &str) -> String {
    let end = text.find(['\n', '"', '\\', '\r', '\t']).unwrap_or(text.len());
    text[..end].trim().chars().take(WORDS_CHARS_COMPARED).collect()
}

/// One tool's answer about one screen.
#[derive(Serialize)]
pub struct Told {
    screen: String,
    tool: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    figures: Option<Figures>,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_measured: Option<String>,
}

#[derive(Debug, PartialEq, Serialize)]
struct Figures {
    tokens: usize,
    /// Elements with a line of their own.
    lines: usize,
    /// Elements with words that are in the answer, on any line.
    elements: usize,
    elements_on_screen: usize,
    /// Labelled targets with a line of their own.
    targets: usize,
    targets_on_screen: usize,
}

impl Told {
    pub fn new(
        screen: &str,
        tool: &'static str,
        on: &Screen,
        answer: Result<String, String>,
        tokenizer: &Tokenizer,
    ) -> Told {
        let figures = answer.and_then(|answer| Ok(Figures::of(&answer, on, tokenizer.count(&answer)?)));
        let (figures, not_measured) = match figures {
            Ok(figures) => (Some(figures), None),
            Err(why) => (None, Some(why)),
        };
        Told { screen: screen.to_owned(), tool, figures, not_measured }
    }

    pub const HEAD: &'static str = "screen  tool                                  tokens  lines elements   targets  \
        tokens/line  tokens/element";
}

impl Figures {
    fn of(answer: &str, on: &Screen, tokens: usize) -> Figures {
        let mut lines: Vec<&str> = answer.lines().filter(|line| is_of_an_element(line)).collect();
        let count = lines.len();
        let mut words: Vec<&str> = on.words.iter().map(String::as_str).collect();
        words.sort_unstable();
        let elements = words
            .chunk_by(|a, b| a == b)
            .map(|same| same.len().min(lines.iter().map(|line| occurrences(line, same[0])).sum()))
            .sum();
        let mut targets = 0;
        for target in &on.targets {
            // A line counts for one target: targets folded into one line cannot be acted on separately.
            if let Some(at) = lines.iter().position(|line| occurrences(line, target) > 0) {
                lines.remove(at);
                targets += 1;
            }
        }
        let (elements_on_screen, targets_on_screen) = (words.len(), on.targets.len());
        Figures { tokens, lines: count, elements, elements_on_screen, targets, targets_on_screen }
    }
}

/// All three tools begin the line of an element with its name: `e12` or `@e12`.
fn is_of_an_element(line: &str) -> bool {
    let name = line.trim_start().trim_start_matches('@');
    name.strip_prefix('e').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// Counts `words` in `line`, except as a part of longer words.
fn occurrences(line: &str, words: &str) -> usize {
    let inside = |neighbour: Option<char>| neighbour.is_some_and(|c| c.is_ascii_alphanumeric());
    let starts = line.match_indices(words).filter(|(at, _)| !inside(line[..*at].chars().next_back()));
    let is_cut = words.chars().count() == WORDS_CHARS_COMPARED;
    starts.filter(|(at, _)| is_cut || !inside(line[at + words.len()..].chars().next())).count()
}

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<7} {:<36} ", self.screen, self.tool)?;
        let Some(figures) = &self.figures else {
            return write!(f, "not measured: {}", self.not_measured.as_deref().unwrap_or_default());
        };
        let Figures { tokens, lines, elements, elements_on_screen, targets, targets_on_screen } = figures;
        let (told, kept) =
            (format!("{elements}/{elements_on_screen}"), format!("{targets}/{targets_on_screen}"));
        write!(f, "{tokens:>7} {lines:>6} {told:>9} {kept:>9} ")?;
        let per = |count: &usize| *tokens as f64 / *count as f64;
        write!(f, "{:>11.1} {:>15.1}", per(lines), per(elements))
    }
}

/// Paths of the other tools.
pub struct Peers {
    pub node: PathBuf,
    pub adb: PathBuf,
    pub mobile_mcp: PathBuf,
    pub agent_device: PathBuf,
}

impl Peers {
    /// The answers of both about the phone's screen, with the tool's name. Each has its own phone: only one program at
    /// a time can read a phone, and a second read may be answered with only the changes since the first.
    pub fn answers(&self, binary: &Path, file: &Path) -> Vec<(&'static str, Result<String, String>)> {
        let ask = |what: &dyn Fn(&AdbServer, &Phone) -> Result<String, String>| {
            let phone = Phone::start(binary, file, false)?;
            what(&AdbServer::with(&self.adb, &phone)?, &phone)
        };
        vec![
            ("mobile-mcp list_elements_on_screen", ask(&|adb, phone| self.mobile_mcp(adb, phone))),
            ("agent-device snapshot", ask(&|adb, _| self.agent_device(adb, &["snapshot"]))),
            ("agent-device snapshot -i", ask(&|adb, _| self.agent_device(adb, &["snapshot", "-i"]))),
        ]
    }

    fn mobile_mcp(&self, adb: &AdbServer, phone: &Phone) -> Result<String, String> {
        let call = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{{\"name\":\
             \"mobile_list_elements_on_screen\",\"arguments\":{{\"device\":\"{}\"}}}}}}\n",
            phone.address
        );
        let mut command = Command::new(&self.node);
        command.arg(&self.mobile_mcp);
        let is_answer = |line: &str| line.contains("\"id\":1") && !line.contains("\"id\":0");
        let said = talk(adb.environment(&mut command), &format!("{INITIALIZE}{call}"), is_answer)?;
        let last = said.lines().last().unwrap_or_default();
        if last.contains("\"isError\":true") { Err(format!("{last:.300}")) } else { text_of(last) }
    }

    fn agent_device(&self, adb: &AdbServer, words: &[&str]) -> Result<String, String> {
        let mut command = Command::new(&self.node);
        command.arg(&self.agent_device).args(words).args(["--platform", "android"]);
        let said = talk(adb.environment(&mut command), "", |_| false)?;
        if said.contains("@e") { Ok(said) } else { Err(format!("it told no element: {said:.300}")) }
    }
}

#[cfg(unix)]
fn link(program: &Path, name: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(program, name)
}

/// Links need rights on Windows that copies do not.
#[cfg(not(unix))]
fn link(program: &Path, name: &Path) -> std::io::Result<()> {
    std::fs::copy(program, name.with_extension("exe")).map(drop)
}

/// An adb server that knows only this phone, with its own HOME for every program that uses it.
struct AdbServer {
    program: PathBuf,
    port: u16,
    home: PathBuf,
}

impl AdbServer {
    fn with(program: &Path, phone: &Phone) -> Result<AdbServer, String> {
        let free = TcpListener::bind(("127.0.0.1", 0)).and_then(|listener| listener.local_addr());
        let port = free.map_err(|e| e.to_string())?.port();
        let home = std::env::temp_dir().join(format!("mdm-bench-home-{}-{port}", std::process::id()));
        let bin = home.join("bin");
        std::fs::create_dir_all(&bin).map_err(|e| e.to_string())?;
        // Both tools look for a program named adb.
        link(program, &bin.join("adb")).map_err(|e| format!("{}: {e}", bin.display()))?;
        let adb = AdbServer { program: program.to_owned(), port, home };
        output(adb.environment(Command::new(program).args(["connect", &phone.address])))?;
        output(adb.environment(Command::new(program).arg("wait-for-device")))?;
        Ok(adb)
    }

    fn environment<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        let old = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(self.home.join("bin")).chain(std::env::split_paths(&old));
        command
            .current_dir(&self.home)
            .env("PATH", std::env::join_paths(folders).unwrap_or(old.clone()))
            .env("HOME", &self.home)
            .env("ANDROID_USER_HOME", self.home.join(".android"))
            .env("ANDROID_ADB_SERVER_PORT", self.port.to_string())
            .env("ADB_LOCAL_TRANSPORT_MAX_PORT", "5553")
            .env("ADB_MDNS", "0")
            .env("AGENT_DEVICE_NO_UPDATE_NOTIFIER", "1")
            .env_remove("ADB_SERVER_SOCKET")
            .env_remove("ANDROID_SERIAL")
            .env_remove("ANDROID_HOME")
    }

    /// The process id of the daemon that agent-device leaves running.
    fn daemon(&self) -> Option<u32> {
        #[derive(Deserialize)]
        struct Daemon {
            pid: u32,
        }
        let text = std::fs::read_to_string(self.home.join(".agent-device/daemon.json")).ok()?;
        serde_json::from_str::<Daemon>(&text).ok().map(|daemon| daemon.pid)
    }
}

impl Drop for AdbServer {
    fn drop(&mut self) {
        if let Some(pid) = self.daemon() {
            let _ = Command::new("kill").arg(pid.to_string()).status();
        }
        let _ = self.environment(Command::new(&self.program).arg("kill-server")).output();
        let _ = std::fs::remove_dir_all(&self.home);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn screen(words: &[&str], targets: &[&str]) -> Screen {
        let own = |texts: &[&str]| texts.iter().map(|text| beginning(text)).collect();
        Screen { words: own(words), targets: own(targets) }
    }

    #[test]
    fn a_line_is_one_target_however_many_are_folded_into_it() {
        let on = screen(&["Milk", "Bread", "1"], &["Milk", "Bread"]);
        let apart = Figures::of("{\"shown\":2}\ne1 button \"Milk\"\n  @e2 [row] \"Bread\" 1\n", &on, 9);
        assert_eq!((apart.lines, apart.elements, apart.targets), (2, 3, 2));
        let folded = Figures::of("Milk\n@e1 [group] \"Milk, Bread, 10\"\n", &on, 9);
        assert_eq!((folded.lines, folded.elements, folded.targets), (1, 2, 1));
    }

    #[test]
    fn the_same_words_on_two_elements_must_be_told_twice() {
        let on = screen(&["Open", "Open", "Untitled document"], &["Open", "Open"]);
        let once = Figures::of("e1 button \"Open\"\ne3 text \"Untitled docum…\"", &on, 9);
        assert_eq!((once.elements, once.targets), (1, 1));
        let twice =
            Figures::of("e1 button \"Open\"\ne2 button \"Open\"\ne3 text \"Untitled document\"", &on, 9);
        assert_eq!((twice.elements, twice.targets), (3, 2));
    }
}
