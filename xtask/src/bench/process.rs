//! The processes under measurement: the phone, and the server as an MCP client sees it.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde::Deserialize;

use super::adb::Adb;
use crate::mcp::{INITIALIZE, Running};

/// Guards against a hang; a phone reports its commands at once.
const TRACE_WAIT_MAX: Duration = Duration::from_secs(30);

pub struct Phone {
    pub address: String,
    trace: Option<Receiver<String>>,
    /// Held open, because a phone that cannot print would end.
    _stdout: BufReader<ChildStdout>,
    _child: Running,
}

impl Phone {
    pub fn start(binary: &Path, hierarchy: &Path, is_traced: bool) -> Result<Phone, String> {
        Phone::run(binary, "--hierarchy", hierarchy, is_traced)
    }

    /// Starts a phone that plays a recording: its screen changes with the recorded actions.
    pub fn playing(binary: &Path, recording: &Path, is_traced: bool) -> Result<Phone, String> {
        Phone::run(binary, "--replay", recording, is_traced)
    }

    fn run(binary: &Path, shows: &str, what: &Path, is_traced: bool) -> Result<Phone, String> {
        let mut command = Command::new(binary);
        command.args(["virtual", "android", "--adb-port", "0", "--timing", "instant", shows]).arg(what);
        if is_traced {
            command.arg("--trace").stderr(Stdio::piped());
        }
        let mut child =
            Running(command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().map_err(fail("phone"))?);
        let mut first = String::new();
        let mut stdout = BufReader::new(child.0.stdout.take().ok_or("the phone has no stdout")?);
        stdout.read_line(&mut first).map_err(fail("phone"))?;
        let address =
            first.trim().strip_prefix("adb: ").ok_or_else(|| format!("the phone said {first:?}"))?;
        let trace = child.0.stderr.take().map(|stderr| {
            let (to, from) = channel();
            std::thread::spawn(move || {
                BufReader::new(stderr).lines().map_while(Result::ok).try_for_each(|line| to.send(line))
            });
            from
        });
        Ok(Phone { address: address.to_owned(), trace, _stdout: stdout, _child: child })
    }

    /// Returns the shell commands that `work` makes this phone run, between two marker commands of our own.
    pub fn commands_of(&self, work: impl FnOnce() -> Result<(), String>) -> Result<Vec<String>, String> {
        let mut adb = Adb::connect(&self.address)?;
        let (start, end) = ("echo mdm-bench-start", "echo mdm-bench-end");
        adb.shell(start)?;
        work()?;
        adb.shell(end)?;
        let trace = self.trace.as_ref().ok_or("this phone is not traced")?;
        let (mut commands, mut is_inside) = (Vec::new(), false);
        loop {
            let line = trace.recv_timeout(TRACE_WAIT_MAX).map_err(|e| format!("the phone's trace: {e}"))?;
            let Some(command) = line.strip_prefix("cmd ").map(unescape) else {
                continue;
            };
            match command.as_str() {
                text if text == start => is_inside = true,
                text if text == end => return Ok(commands),
                _ if is_inside => commands.push(command),
                _ => {}
            }
        }
    }
}

/// The phone writes each command on one line: a line break as `\n`, a backslash as two.
fn unescape(text: &str) -> String {
    let (mut out, mut chars) = (String::with_capacity(text.len()), text.chars());
    while let Some(c) = chars.next() {
        match c {
            '\\' => out.push(if chars.next() == Some('n') { '\n' } else { '\\' }),
            other => out.push(other),
        }
    }
    out
}

/// `serve`, driven by a client that writes a line and reads a line.
pub struct Server {
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    last_id: u64,
    child: Running,
}

/// The time and the answer of one call.
pub struct Call {
    pub took: Duration,
    pub answer: String,
}

#[derive(Deserialize)]
struct Head {
    id: Option<u64>,
}

impl Server {
    /// Returns the server and the time from its start to the answer of its first `tools/list`.
    pub fn start(binary: &Path, phone: &Phone) -> Result<(Server, Duration), String> {
        Server::start_beside(binary, phone, &[])
    }

    /// The same with further devices.
    pub fn start_beside(
        binary: &Path,
        phone: &Phone,
        others: &[String],
    ) -> Result<(Server, Duration), String> {
        let start = Instant::now();
        let mut command = Command::new(binary);
        command.args(["serve", "--no-adb-server", "--device", &phone.address]);
        for address in others {
            command.args(["--device", address]);
        }
        let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = Running(pipes.spawn().map_err(fail("server"))?);
        let stdin = child.0.stdin.take().ok_or("the server has no stdin")?;
        let stdout = BufReader::new(child.0.stdout.take().ok_or("the server has no stdout")?);
        let mut server = Server { stdin, stdout, last_id: 0, child };
        server.stdin.write_all(INITIALIZE.as_bytes()).map_err(fail("server"))?;
        server.answer(0)?;
        server.request(r#""method":"tools/list""#)?;
        Ok((server, start.elapsed()))
    }

    pub fn pid(&self) -> u32 {
        self.child.0.id()
    }

    /// Calls a tool. An error ends the benchmark, because its time would mean nothing.
    pub fn call(&mut self, tool: &str, arguments: &str) -> Result<Call, String> {
        let call = self.request(&tool_call(tool, arguments))?;
        check(&call.answer)?;
        Ok(call)
    }

    pub fn request(&mut self, rest: &str) -> Result<Call, String> {
        let start = Instant::now();
        let id = self.send(rest)?;
        let (answer, end) = self.answer(id)?;
        Ok(Call { took: end - start, answer })
    }

    /// Sends a request and returns its id; answers may come in another order.
    pub fn send(&mut self, rest: &str) -> Result<u64, String> {
        self.last_id += 1;
        let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":{},{rest}}}\n", self.last_id);
        self.stdin.write_all(line.as_bytes()).map_err(fail("server"))?;
        Ok(self.last_id)
    }

    pub fn answer(&mut self, id: u64) -> Result<(String, Instant), String> {
        loop {
            let (found, line, end) = self.next()?;
            if found == Some(id) {
                return Ok((line, end));
            }
        }
    }

    /// Reads the next answer. The clock stops before the id is parsed, because parsing is the client's work.
    pub fn next(&mut self) -> Result<(Option<u64>, String, Instant), String> {
        let mut line = String::new();
        if self.stdout.read_line(&mut line).map_err(fail("server"))? == 0 {
            return Err("the server ended".to_owned());
        }
        let end = Instant::now();
        let head: Head = serde_json::from_str(&line).map_err(|e| format!("server: {e} in {line:?}"))?;
        Ok((head.id, line, end))
    }
}

pub fn tool_call(tool: &str, arguments: &str) -> String {
    format!(r#""method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}"#)
}

pub fn check(answer: &str) -> Result<(), String> {
    if answer.contains(r#""isError":true"#) || answer.contains(r#""error":{"code""#) {
        return Err(format!("the server answered {answer}"));
    }
    Ok(())
}

fn fail(who: &'static str) -> impl Fn(std::io::Error) -> String {
    move |e| format!("{who}: {e}")
}

/// Memory of a process, in kB, as the kernel counts it.
pub struct Memory {
    pub now_kb: u64,
    pub peak_kb: u64,
}

pub fn memory(pid: u32) -> Result<Memory, String> {
    let text = proc_text(pid, "status")?;
    let value = |key: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(key));
        line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).ok_or(format!("no {key} of {pid}"))
    };
    Ok(Memory { now_kb: value("VmRSS:")?, peak_kb: value("VmHWM:")? })
}

/// Page faults of the children that a process has waited for. Every child has some, so an unchanged number means that
/// none ended.
pub fn reaped_faults(pid: u32) -> Result<u64, String> {
    stat_fields(pid)?.get(8).and_then(|field| field.parse().ok()).ok_or_else(|| format!("stat of {pid}"))
}

/// The processor time of a process so far, in user and system mode.
pub fn processor_time(pid: u32) -> Result<Duration, String> {
    /// The kernel reports hundredths of a second, whatever its own clock is.
    const TICK: Duration = Duration::from_millis(10);
    let fields = stat_fields(pid)?;
    let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<u32>().ok());
    let (own, system) = ticks(11).zip(ticks(12)).ok_or_else(|| format!("stat of {pid}"))?;
    Ok(TICK * (own + system))
}

/// Children that are alive or wait to be reaped.
pub fn living_children(pid: u32) -> usize {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok);
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(|other| stat_fields(*other).is_ok_and(|fields| fields.get(1) == Some(&pid.to_string())))
        .count()
}

/// The fields after the program's name, which may itself hold spaces: state, parent, ...
fn stat_fields(pid: u32) -> Result<Vec<String>, String> {
    let text = proc_text(pid, "stat")?;
    let rest = text.rsplit_once(')').map_or("", |(_, rest)| rest);
    Ok(rest.split_whitespace().map(str::to_owned).collect())
}

fn proc_text(pid: u32, name: &str) -> Result<String, String> {
    let path = PathBuf::from(format!("/proc/{pid}/{name}"));
    std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_traced_command_reads_back_as_it_was() {
        assert_eq!(unescape(r"a\\nb\nc"), "a\\nb\nc");
    }

    #[test]
    fn a_child_that_ended_leaves_faults_with_its_parent() {
        let me = std::process::id();
        let before = reaped_faults(me).unwrap();
        assert!(Command::new("true").status().unwrap().success());
        assert!(reaped_faults(me).unwrap() > before);
    }

    #[test]
    fn work_takes_processor_time() {
        let me = std::process::id();
        let before = processor_time(me).unwrap();
        let mut sum = 0u64;
        // Ends as soon as the processor time has increased.
        while processor_time(me).unwrap() == before {
            sum = std::hint::black_box(sum.wrapping_add(1));
        }
    }

    #[test]
    fn a_living_child_is_counted() {
        let me = std::process::id();
        let child = Running(Command::new("cat").stdin(Stdio::piped()).spawn().unwrap());
        assert!(living_children(me) >= 1);
        drop(child);
    }

    #[test]
    fn memory_has_a_peak_that_is_not_below_the_present() {
        let memory = memory(std::process::id()).unwrap();
        assert!(memory.now_kb > 0 && memory.peak_kb >= memory.now_kb);
    }
}
