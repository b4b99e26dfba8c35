//! `cargo xtask bench`: the time that the product adds to the device's own, its start time and its memory.
//!
//! Everything runs in one go on one machine, and compared runs are interleaved, so that a busy machine slows both
//! sides. A missed goal is a finding, not an error. Two other tools read the same screens, and their answers are
//! counted too; their times are not measured yet.

mod adb;
mod helper;
mod iphone;
mod isolation;
mod logs;
mod peers;
mod pipeline;
mod process;
mod reading;
mod recording;
mod scale;
mod table;
mod throughput;
mod tokens;
mod waiting;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use adb::Adb;
use peers::{Peers, Screen, Told};
use process::{Phone, Server, living_children, memory, reaped_faults};
use table::{Line, Spread, Table};
use tokens::Answers;

use crate::command::{cargo, metadata, run};
use crate::third_party;
use crate::tokens::Tokenizer;

const WARM_UP_CALLS: usize = 30;
const CALLS: usize = 250;
const COLD_STARTS: usize = 20;
const MEMORY_CALLS: usize = 200;
const SCREENSHOTS: usize = 50;
const TREE: (&str, &str) = ("get_ui_tree", r#"{"platform":"android"}"#);
const TAP: (&str, &str) = ("tap", r#"{"platform":"android","x":5,"y":5}"#);
const LOGS: (&str, &str) = ("get_logs", r#"{"platform":"android","limit":50}"#);
const SCREENSHOT: (&str, &str) = ("capture_screenshot", r#"{"platform":"android"}"#);

const PARTS: [&str; 10] =
    ["calls", "waiting", "throughput", "isolation", "screens", "logs", "helper", "iphone", "tokens", "phone"];
const USAGE: &str = "usage: cargo xtask bench [--json FILE] [--data FOLDER] [--binary FILE] \
    [--only calls|waiting|throughput|isolation|screens|logs|iphone|tokens|phone]";

pub fn bench(root: &Path, options: &[&str]) -> Result<(), String> {
    let (mut json, mut data, mut only) = (None, root.join("../shared/data/bench"), None);
    let mut built = None;
    for pair in options.chunks(2) {
        match pair {
            ["--json", file] => json = Some(PathBuf::from(file)),
            ["--data", folder] => data = PathBuf::from(folder),
            ["--binary", file] => built = Some(PathBuf::from(file)),
            ["--only", part] if PARTS.contains(part) => only = Some(*part),
            _ => return Err(USAGE.to_owned()),
        }
    }
    let data = data.canonicalize().map_err(|e| {
        format!("{}: {e}; --data names a folder with small.xml, medium.xml, large.xml", data.display())
    })?;
    let binary = match built {
        Some(binary) => binary,
        None => {
            run(cargo(root).args(["build", "--release", "-p", "mobile-debug-mcp"]))?;
            metadata(root)?.target_directory.join("release/mobile-debug-mcp")
        }
    };
    let mut table = Table::new();
    for part in PARTS.into_iter().filter(|part| only.is_none_or(|only| only == *part)) {
        let lines = match part {
            "calls" => calls(&binary, &data)?,
            "waiting" => waiting::lines(&binary, &data)?,
            "throughput" => throughput::lines(&binary, &data)?,
            "isolation" => isolation::lines(&binary, &data)?,
            "screens" => screens(root, &data)?,
            "logs" => logs::lines(root)?,
            "helper" => helper::lines(root)?,
            "iphone" => iphone::lines(root)?,
            "tokens" => tokens(root, &binary, &data, &mut table)?,
            _ => scale::lines(root, &binary)?,
        };
        lines.into_iter().for_each(|line| table.add(line));
    }
    println!("{table}");
    json.map_or(Ok(()), |file| table.write_json(&file))
}

fn calls(binary: &Path, data: &Path) -> Result<Vec<Line>, String> {
    let mut lines = Vec::new();
    for (size, goal_ms) in [("small", 0.8), ("medium", 1.0), ("large", 3.0)] {
        let stage = Stage { binary, hierarchy: data.join(format!("{size}.xml")) };
        lines.push(stage.beyond_the_device(&format!("get_ui_tree {size}"), TREE, goal_ms)?);
    }
    let stage = Stage { binary, hierarchy: data.join("medium.xml") };
    lines.push(stage.beyond_the_device("tap", TAP, 0.5)?);
    lines.push(stage.beyond_the_device("get_logs, 50 lines", LOGS, 1.5)?);
    lines.push(stage.beyond_the_device("capture_screenshot", SCREENSHOT, 20.0)?);
    lines.push(stage.cold_start()?);
    lines.extend(stage.memory_and_processes()?);
    lines.extend(stage.after_screenshots()?);
    Ok(lines)
}

fn screens(root: &Path, data: &Path) -> Result<Vec<Line>, String> {
    let mut lines = pipeline::lines(&pipeline::measure(root, data)?)?;
    lines.extend(reading::lines(root, data)?);
    Ok(lines)
}

/// The token cost of reading the screens, with the product and with other tools.
fn tokens(root: &Path, binary: &Path, data: &Path, table: &mut Table) -> Result<Vec<Line>, String> {
    let found = pipeline::measure(root, data)?;
    let mut lines = Vec::new();
    let parts = third_party::install(root);
    let part = |name: &str| parts.path(name).map(Path::to_path_buf);
    let (Some(node), Some(tokenizer)) = (part("MDM_TEST_NODE_BIN"), Tokenizer::of(&parts)) else {
        println!("skipped: tokens, no tokenizer; get it with: cargo xtask third-party");
        return Ok(lines);
    };
    let peers = part("MDM_TEST_ADB36")
        .zip(part("MDM_TEST_MOBILE_MCP"))
        .zip(part("MDM_TEST_AGENT_DEVICE"))
        .map(|((adb, mobile_mcp), agent_device)| Peers { node: node.clone(), adb, mobile_mcp, agent_device });
    for size in tokens::SIZES {
        let file = data.join(format!("{size}.xml"));
        let xml = std::fs::read_to_string(&file).map_err(|e| format!("{}: {e}", file.display()))?;
        let answers = Answers::of(binary, data, size)?;
        let told = found.value(&format!("{size}_told"))?;
        lines.extend(tokens::lines(size, &answers, told, &xml, &tokenizer)?);
        let on = Screen::of(binary, &file)?;
        let mut all = vec![("get_ui_tree", Ok(answers.outline))];
        match &peers {
            Some(peers) => all.extend(peers.answers(binary, &file)),
            None => all.push(("mobile-mcp and agent-device", Err("not installed here".to_owned()))),
        }
        for (tool, answer) in all {
            table.compare(Told::new(size, tool, &on, answer, &tokenizer));
        }
    }
    Ok(lines)
}

/// The measurements of one binary on one screen.
struct Stage<'a> {
    binary: &'a Path,
    hierarchy: PathBuf,
}

impl Stage<'_> {
    /// Times a call through MCP, and the shell commands of that call alone.
    fn beyond_the_device(&self, what: &str, call: (&str, &str), goal_ms: f64) -> Result<Line, String> {
        let commands = self.commands(call)?;
        if commands.is_empty() {
            return Err(format!("{what} ran nothing on the phone"));
        }
        let phone = Phone::start(self.binary, &self.hierarchy, false)?;
        let (mut server, _) = Server::start(self.binary, &phone)?;
        let mut adb = Adb::connect(&phone.address)?;
        self.check_replay(what, call, &mut adb, &commands)?;
        rounds(WARM_UP_CALLS, &mut server, &mut adb, call, &commands)?;
        let (product, device) = rounds(CALLS, &mut server, &mut adb, call, &commands)?;
        Ok(Line::beyond(what, Spread::of(&product), Spread::of(&device), commands.len(), goal_ms))
    }

    /// Checks that the replayed commands do all that the call did; otherwise the device would look too fast.
    fn check_replay(
        &self,
        what: &str,
        call: (&str, &str),
        adb: &mut Adb,
        commands: &[String],
    ) -> Result<(), String> {
        let mut bytes = 0;
        for command in commands {
            let answer = adb.shell(command)?;
            if answer.code != 0 {
                return Err(format!("{what}: the phone answered {} to {command}", answer.code));
            }
            bytes += answer.stdout.len() as u64;
        }
        let screen = std::fs::metadata(&self.hierarchy)
            .map_err(|e| format!("{}: {e}", self.hierarchy.display()))?
            .len();
        if call == TREE && bytes < screen {
            return Err(format!("{what}: the phone sent {bytes} bytes of a screen of {screen}"));
        }
        Ok(())
    }

    /// The commands that the phone runs for one call, recorded after a few calls to warm up.
    fn commands(&self, (tool, arguments): (&str, &str)) -> Result<Vec<String>, String> {
        let phone = Phone::start(self.binary, &self.hierarchy, true)?;
        let (mut server, _) = Server::start(self.binary, &phone)?;
        for _ in 0..3 {
            server.call(tool, arguments)?;
        }
        phone.commands_of(|| server.call(tool, arguments).map(drop))
    }

    fn cold_start(&self) -> Result<Line, String> {
        let phone = Phone::start(self.binary, &self.hierarchy, false)?;
        let starts: Result<Vec<Duration>, String> =
            (0..COLD_STARTS).map(|_| Server::start(self.binary, &phone).map(|(_, took)| took)).collect();
        Ok(Line::time("start until tools/list answered", Spread::of(&starts?), 10.0))
    }

    fn memory_and_processes(&self) -> Result<Vec<Line>, String> {
        let phone = Phone::start(self.binary, &self.hierarchy, false)?;
        let (mut server, _) = Server::start(self.binary, &phone)?;
        let pid = server.pid();
        let at_start = memory(pid)?;
        server.call(TREE.0, TREE.1)?;
        let (faults, mut alive) = (reaped_faults(pid)?, 0);
        for _ in 0..MEMORY_CALLS {
            server.call(TREE.0, TREE.1)?;
            alive = alive.max(living_children(pid));
        }
        let after = memory(pid)?;
        let reaped = usize::from(reaped_faults(pid)? != faults);
        Ok(vec![
            Line::memory("memory after start", &at_start, 10.0),
            Line::memory(&format!("memory after {MEMORY_CALLS} trees (medium)"), &after, 20.0),
            Line::processes(&format!("child processes in {MEMORY_CALLS} calls"), alive.max(reaped)),
        ])
    }
}

impl Stage<'_> {
    /// What many screenshots leave behind: memory, and whether other calls have become slower.
    fn after_screenshots(&self) -> Result<Vec<Line>, String> {
        let phone = Phone::start(self.binary, &self.hierarchy, false)?;
        let (mut server, _) = Server::start(self.binary, &phone)?;
        let taps = |server: &mut Server| -> Result<Times, String> {
            (0..CALLS).map(|_| server.call(TAP.0, TAP.1).map(|answer| answer.took)).collect()
        };
        taps(&mut server)?;
        let before = Spread::of(&taps(&mut server)?);
        for _ in 0..SCREENSHOTS {
            server.call(SCREENSHOT.0, SCREENSHOT.1)?;
        }
        let after = Spread::of(&taps(&mut server)?);
        let peak_mb = memory(server.pid())?.peak_kb as f64 / 1000.0;
        let ratio = after.p50_ms / before.p50_ms;
        Ok(vec![
            Line::single(&format!("tap after {SCREENSHOTS} screenshots, against before"), ratio, 1.2, "x"),
            Line::single(&format!("peak memory with {SCREENSHOTS} screenshots"), peak_mb, 45.0, "MB"),
        ])
    }
}

type Times = Vec<Duration>;

/// Times of the product and of the device alone, taken in turns; the first of the two alternates.
fn rounds(
    count: usize,
    server: &mut Server,
    adb: &mut Adb,
    call: (&str, &str),
    commands: &[String],
) -> Result<(Times, Times), String> {
    let (mut product, mut device) = (Times::new(), Times::new());
    for round in 0..count {
        if round % 2 == 0 {
            product.push(server.call(call.0, call.1)?.took);
            device.push(replay(adb, commands)?);
        } else {
            device.push(replay(adb, commands)?);
            product.push(server.call(call.0, call.1)?.took);
        }
    }
    Ok((product, device))
}

fn replay(adb: &mut Adb, commands: &[String]) -> Result<Duration, String> {
    let start = Instant::now();
    for command in commands {
        adb.shell(command)?;
    }
    Ok(start.elapsed())
}
