//! Processes: `pidof`, `ps`, `top`, `kill`, `pkill`.

use super::expression::{Dialect, Expression};
use super::{Call, ProgramOutput};
use crate::state::State;

/// A line of the process list.
struct ProcessEntry {
    pid: u32,
    parent: u32,
    user: String,
    name: String,
    command: String,
    /// True if the shell user may end it.
    ours: bool,
}

const INIT: u32 = 1;
const ZYGOTE: u32 = 812;
const ADBD: u32 = 640;

fn all(state: &State) -> Vec<ProcessEntry> {
    let process = |pid, parent, user: &str, name: &str| ProcessEntry {
        pid,
        parent,
        user: user.to_owned(),
        name: name.to_owned(),
        command: name.to_owned(),
        ours: false,
    };
    let mut list = vec![
        process(INIT, 0, "root", "init"),
        process(2, 0, "root", "[kthreadd]"),
        process(421, INIT, "logd", "logd"),
        process(422, INIT, "system", "servicemanager"),
        process(538, INIT, "system", "surfaceflinger"),
        process(ADBD, INIT, "shell", "adbd"),
        process(ZYGOTE, INIT, "root", "zygote64"),
    ];
    for (name, pid) in state.processes.iter() {
        let user = match state.packages.get(name).map_or(1000, |p| p.uid) {
            1000 => "system".to_owned(),
            uid => format!("u0_a{}", uid.saturating_sub(10_000)),
        };
        list.push(process(pid, ZYGOTE, &user, name));
    }
    for (pid, job) in &state.services.jobs {
        let first = job.command.split_ascii_whitespace().next().unwrap_or("sh");
        let name = first.rsplit('/').next().unwrap_or(first).to_owned();
        list.push(ProcessEntry {
            command: job.command.clone(),
            ours: true,
            ..process(*pid, ADBD, "shell", &name)
        });
    }
    list.sort_by_key(|p| p.pid);
    list
}

pub fn pidof(state: &mut State, call: &Call<'_>) -> ProgramOutput {
    let single = call.words().contains(&"-s");
    let mut found: Vec<u32> = Vec::new();
    for name in call.arguments.iter().filter(|w| !w.starts_with('-')) {
        found.extend(all(state).iter().filter(|p| p.name == *name).map(|p| p.pid));
    }
    found.sort_unstable_by(|a, b| b.cmp(a));
    if single {
        found.truncate(1);
    }
    if found.is_empty() {
        return ProgramOutput::code(1);
    }
    let words: Vec<String> = found.iter().map(u32::to_string).collect();
    ProgramOutput::out(format!("{}\n", words.join(" ")))
}

/// The options that are served. Appium looks here for `-A`, and else asks only for the processes of its terminal.
const PS_HELP: &str = "usage: ps [-A] [-e] [-o FIELD,...] [-p PID,...]\n\nLists processes.\n\n\
                       -A\tAll\n-e\tThe same as -A\n-o\tThese columns\n-p\tThese processes\n";

pub fn ps(state: &mut State, call: &Call<'_>) -> ProgramOutput {
    let words = call.words();
    if words.contains(&"--help") {
        return ProgramOutput::out(PS_HELP.to_owned());
    }
    let value = |flag: &str| {
        let attached = words.iter().find_map(|w| w.strip_prefix(flag).filter(|rest| !rest.is_empty()));
        attached.or_else(|| words.iter().position(|w| *w == flag).and_then(|at| words.get(at + 1)).copied())
    };
    let everything =
        words.iter().any(|w| w.starts_with('-') && w.contains(['A', 'e']) && !w.starts_with("-o"));
    let only: Option<Vec<u32>> =
        value("-p").map(|list| list.split(',').filter_map(|w| w.parse().ok()).collect());
    let mut list = all(state);
    match &only {
        Some(pids) => list.retain(|p| pids.contains(&p.pid)),
        // Without options only the processes of this terminal are shown.
        None if !everything => {
            list.clear();
            let pid = state.processes.next_pid();
            for (pid, name, command) in [(pid, "sh", "sh"), (pid + 1, "ps", "ps")] {
                list.push(ProcessEntry {
                    pid,
                    parent: ADBD,
                    user: "shell".to_owned(),
                    name: name.to_owned(),
                    command: command.to_owned(),
                    ours: true,
                });
            }
        }
        None => {}
    }
    let code = u8::from(list.is_empty());
    let out = match value("-o") {
        Some(fields) => columns(&list, fields),
        None => long(&list),
    };
    ProgramOutput { out: out.into_bytes(), code, ..ProgramOutput::default() }
}

fn long(list: &[ProcessEntry]) -> String {
    let mut out = "USER           PID  PPID     VSZ    RSS WCHAN            ADDR S NAME\n".to_owned();
    for p in list {
        let (size, resident) = sizes(p);
        out.push_str(&format!(
            "{:<12} {:>5} {:>5} {size:>7} {resident:>6} do_epoll_wait       0 S {}\n",
            p.user, p.pid, p.parent, p.name
        ));
    }
    out
}

fn sizes(p: &ProcessEntry) -> (u32, u32) {
    if p.name.starts_with('[') { (0, 0) } else { (1_432_160 + p.pid % 97 * 1024, 90_000 + p.pid % 89 * 512) }
}

fn columns(list: &[ProcessEntry], fields: &str) -> String {
    let fields: Vec<&str> = fields.split(',').filter(|f| !f.is_empty()).collect();
    let cell = |p: &ProcessEntry, field: &str| match field.to_ascii_uppercase().as_str() {
        "PID" | "TID" => p.pid.to_string(),
        "PPID" => p.parent.to_string(),
        "USER" | "UID" => p.user.clone(),
        "NAME" | "COMM" => p.name.clone(),
        "ARGS" | "CMD" | "CMDLINE" => p.command.clone(),
        "VSZ" => sizes(p).0.to_string(),
        "RSS" => sizes(p).1.to_string(),
        "S" | "STAT" => "S".to_owned(),
        "%CPU" | "PCPU" => "0.0".to_owned(),
        _ => "-".to_owned(),
    };
    let titles: Vec<(String, &str)> = fields
        .iter()
        .map(|f| match f.split_once('=') {
            Some((field, title)) => (title.to_owned(), field),
            None => (f.to_ascii_uppercase(), *f),
        })
        .collect();
    let numeric =
        |field: &str| matches!(field.to_ascii_uppercase().as_str(), "PID" | "PPID" | "TID" | "VSZ" | "RSS");
    let row = |cells: Vec<String>| {
        let last = cells.len().saturating_sub(1);
        let padded = cells.iter().enumerate().map(|(index, cell)| match titles.get(index) {
            Some((_, field)) if numeric(field) => format!("{cell:>5}"),
            _ if index == last => cell.clone(),
            _ => format!("{cell:<12}"),
        });
        padded.collect::<Vec<_>>().join(" ") + "\n"
    };
    let mut out = row(titles.iter().map(|(title, _)| title.clone()).collect());
    for p in list {
        out.push_str(&row(titles.iter().map(|(_, field)| cell(p, field)).collect()));
    }
    out
}

pub fn top(state: &mut State, _call: &Call<'_>) -> ProgramOutput {
    let list = all(state);
    let mut out = format!(
        "Tasks: {} total,   1 running, {} sleeping,   0 stopped,   0 zombie\n  Mem:  4030464K total,  2218133K used,  1812331K free,    61440K buffers\n Swap:        0K total,        0K used,        0K free,   986112K cached\n\
         400%cpu   6%user   0%nice   3%sys 391%idle   0%iow   0%irq   0%sirq   0%host\n  PID USER         PR  NI VIRT  RES  SHR S[%CPU] %MEM     TIME+ ARGS\n",
        list.len(),
        list.len().saturating_sub(1)
    );
    for p in &list {
        let (size, resident) = sizes(p);
        out.push_str(&format!(
            "{:>5} {:<12} 20   0 {}M {}M  42M S  0.0   {:.1}   0:01.{:02} {}\n",
            p.pid,
            p.user,
            size / 1024,
            resident / 1024,
            f64::from(resident) * 100.0 / 4_030_464.0,
            p.pid % 100,
            p.command
        ));
    }
    ProgramOutput::out(out)
}

/// Ends a process; the shell user may not end those of others.
pub fn kill(state: &mut State, call: &Call<'_>) -> ProgramOutput {
    let mut answer = ProgramOutput::ok();
    let mut words = call.words();
    if words.first() == Some(&"-l") {
        return ProgramOutput::out("HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM\n");
    }
    if words.first() == Some(&"-s") {
        words.drain(..words.len().min(2));
    }
    let probe = words.first() == Some(&"-0");
    for word in words.iter().filter(|w| !w.starts_with('-')) {
        let target = word.parse::<u32>().ok().and_then(|pid| all(state).into_iter().find(|p| p.pid == pid));
        let complaint = match target {
            None if word.parse::<u32>().is_err() => "arguments must be jobs or process IDs",
            None => "No such process",
            Some(p) if !p.ours => "Operation not permitted",
            Some(p) => {
                if !probe {
                    end(state, p.pid);
                }
                continue;
            }
        };
        answer.err.extend(format!("/system/bin/sh: kill: {word}: {complaint}\n").into_bytes());
        answer.code = 1;
    }
    answer
}

fn end(state: &mut State, pid: u32) {
    if let Some(job) = state.services.jobs.remove(&pid) {
        job.stop.cancel();
    }
}

/// Runs `pkill [-f] PATTERN`, `killall NAME` and `pgrep [-f] PATTERN`.
pub fn pkill(state: &mut State, call: &Call<'_>) -> ProgramOutput {
    let words = call.words();
    let full = words.iter().any(|w| w.starts_with('-') && w.contains('f'));
    let Some(pattern) = words.iter().rfind(|w| !w.starts_with('-')) else {
        return ProgramOutput::fail(1, format!("{}: No PATTERN\n", call.name));
    };
    let exact = call.name == "killall";
    let Some(expression) = Expression::parse(pattern, Dialect::Extended, false) else {
        return ProgramOutput::fail(1, format!("{}: bad regex: {pattern}\n", call.name));
    };
    let fits = |p: &ProcessEntry| {
        let text = if full { &p.command } else { &p.name };
        if exact { text == pattern } else { expression.is_in(text) }
    };
    let found: Vec<ProcessEntry> = all(state).into_iter().filter(fits).collect();
    if call.name == "pgrep" {
        let show = |p: &ProcessEntry| {
            if words.contains(&"-l") { format!("{} {}\n", p.pid, p.name) } else { format!("{}\n", p.pid) }
        };
        return ProgramOutput {
            out: found.iter().map(show).collect::<String>().into_bytes(),
            code: u8::from(found.is_empty()),
            ..ProgramOutput::default()
        };
    }
    let helper = call.phone.helpers().kill(pattern);
    let mut answer = ProgramOutput::code(u8::from(found.is_empty() && !helper));
    for p in found {
        if p.ours {
            end(state, p.pid);
        } else {
            answer.err.extend(format!("{}: {}: Operation not permitted\n", call.name, p.pid).into_bytes());
            answer.code = 1;
        }
    }
    answer
}
