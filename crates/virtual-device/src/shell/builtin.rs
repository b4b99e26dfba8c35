//! Commands that change the shell itself.

use super::execute::{Flow, Shell};
use super::io::Io;

/// Local variables of one function.
const LOCALS_MAX: usize = 1000;
/// Built-in names, which `command -v` answers without a path.
const BUILTINS: [&str; 12] =
    ["cd", "command", "echo", "eval", "exec", "exit", "export", "printf", "pwd", "read", "set", "test"];

impl Shell {
    /// Runs a built-in command; returns nothing when it is not one.
    pub(super) async fn builtin(&mut self, argv: &[String], io: &Io) -> Option<Flow> {
        let (name, arguments) = argv.split_first()?;
        let number = arguments.first().and_then(|word| word.parse::<i64>().ok());
        let loops = number.map_or(1, |n| n.clamp(1, 100) as u32);
        let flow = match name.as_str() {
            "exit" | "return" => {
                self.status = number.map_or(self.status, |n| n as u8);
                if name == "exit" { Flow::Exit } else { Flow::Return }
            }
            "break" | "continue" => {
                self.status = 0;
                if name == "break" { Flow::Break(loops) } else { Flow::Continue(loops) }
            }
            "export" | "local" | "typeset" | "readonly" => {
                return Some(self.declare(name, arguments, io).await);
            }
            "unset" => {
                self.variables.retain(|key, _| !arguments.contains(key));
                if arguments.first().is_some_and(|flag| flag == "-f") {
                    self.functions.retain(|key, _| !arguments.contains(key));
                }
                self.status = 0;
                Flow::Next
            }
            "command" | "type" if name == "type" || arguments.first().is_some_and(|a| a == "-v") => {
                let names = if name == "type" { arguments } else { &arguments[1..] };
                return Some(self.locate(names, io).await);
            }
            "set" => return Some(self.set_options(arguments, io).await),
            "trap" => return Some(self.trap(arguments)),
            "wait" => return Some(self.wait(arguments).await),
            "." | "source" => return Some(self.source(arguments, io).await),
            "cd" => return Some(self.change_directory(arguments, io).await),
            "eval" => return Some(self.eval(&arguments.join(" "), io).await),
            "sh" | "/system/bin/sh" => return Some(self.nested(arguments, io).await),
            "exec" | "command" | "nohup" if !arguments.is_empty() => {
                // Skipped in a loop: a long row of them must not recurse.
                let prefix = |word: &&String| ["exec", "command", "nohup"].contains(&word.as_str());
                let argv: Vec<String> = arguments.iter().skip_while(prefix).cloned().collect();
                let flow = Box::pin(self.invoke(argv, Vec::new(), io)).await;
                if name == "exec" { Flow::Exit } else { flow }
            }
            "read" => return Some(self.read(arguments, io).await),
            "shift" => {
                self.status = u8::from(loops as usize > self.arguments.len());
                if self.status == 0 {
                    self.arguments.drain(..loops as usize);
                }
                Flow::Next
            }
            ":" | "umask" | "exec" | "ulimit" | "disown" => {
                self.status = 0;
                Flow::Next
            }
            _ => return None,
        };
        Some(flow)
    }

    async fn change_directory(&mut self, arguments: &[String], io: &Io) -> Flow {
        let target = arguments.first().map_or("/", String::as_str);
        let path = crate::fs::resolve(&self.cwd, target);
        match self.phone.with(|state| state.fs.get(&path).map(|node| node.is_dir())) {
            Ok(true) => {
                self.cwd = path;
                self.status = 0;
                Flow::Next
            }
            Ok(false) => self.complain(&format!("cd: {target}: Not a directory"), 2, io).await,
            Err(error) => self.complain(&format!("cd: {target}: {}", error.text()), 2, io).await,
        }
    }

    /// Runs `sh -c SCRIPT [NAME ARGS…]`, or a script from the standard input.
    async fn nested(&mut self, arguments: &[String], io: &Io) -> Flow {
        let mut child = self.child();
        child.options = super::execute::Options::default();
        let script = match arguments {
            [flag, script, rest @ ..] if flag == "-c" => {
                child.arguments = rest.iter().skip(1).cloned().collect();
                child.name = rest.first().cloned().unwrap_or_else(|| "sh".to_owned());
                script.clone()
            }
            [path, rest @ ..] => {
                child.arguments = rest.to_vec();
                let path = crate::fs::resolve(&self.cwd, path);
                match self.phone.with(|state| state.fs.read(&path)) {
                    Ok(data) => String::from_utf8_lossy(&data).into_owned(),
                    Err(error) => return self.complain(&format!("{path}: {}", error.text()), 127, io).await,
                }
            }
            [] => String::from_utf8_lossy(&io.stdin.read_all().await).into_owned(),
        };
        self.status = child.script(&script, io).await;
        Flow::Next
    }

    async fn declare(&mut self, kind: &str, arguments: &[String], io: &Io) -> Flow {
        self.status = 0;
        if arguments.iter().all(|a| a.starts_with('-')) && kind != "local" {
            let lines: String =
                self.variables.iter().map(|(name, value)| format!("{kind} {name}={value}\n")).collect();
            let _ = io.stdout.write(lines).await;
            return Flow::Next;
        }
        for word in arguments.iter().filter(|a| !a.starts_with('-')) {
            let (name, value) = word.split_once('=').map_or((word.as_str(), None), |(n, v)| (n, Some(v)));
            if kind == "local" && self.locals.len() < LOCALS_MAX {
                self.locals.push((name.to_owned(), self.variables.get(name).cloned()));
            }
            if let Some(value) = value {
                self.set(name, value.to_owned());
            }
        }
        Flow::Next
    }

    /// Runs `set`, such as `set -eu -o pipefail +x -- new arguments`.
    async fn set_options(&mut self, arguments: &[String], io: &Io) -> Flow {
        self.status = 0;
        if arguments.is_empty() {
            let lines: String =
                self.variables.iter().map(|(name, value)| format!("{name}={value}\n")).collect();
            let _ = io.stdout.write(lines).await;
        }
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            let on = word.starts_with('-');
            match word.as_str() {
                "--" => {
                    self.arguments = words.cloned().collect();
                    return Flow::Next;
                }
                "-o" | "+o" => match words.next().map(String::as_str) {
                    Some("pipefail") => self.options.any_stage_fails = on,
                    Some("errexit") => self.options.stop_at_failure = on,
                    Some("nounset") => self.options.refuse_unset = on,
                    _ => {}
                },
                word if word.starts_with(['-', '+']) && word.len() > 1 => {
                    for letter in word[1..].chars() {
                        match letter {
                            'e' => self.options.stop_at_failure = on,
                            'u' => self.options.refuse_unset = on,
                            'f' => self.options.no_globbing = on,
                            _ => {}
                        }
                    }
                }
                word => {
                    self.arguments = std::iter::once(word.to_owned()).chain(words.cloned()).collect();
                    return Flow::Next;
                }
            }
        }
        Flow::Next
    }

    /// Runs `trap`. Only EXIT can be trapped: no signal reaches a script here.
    fn trap(&mut self, arguments: &[String]) -> Flow {
        self.status = 0;
        if let [action, signals @ ..] = arguments
            && signals.iter().any(|s| s == "EXIT" || s == "0")
        {
            self.exit_trap = (action != "-").then(|| action.clone());
        }
        Flow::Next
    }

    async fn wait(&mut self, arguments: &[String]) -> Flow {
        let wanted: Vec<u32> = arguments.iter().filter_map(|a| a.parse().ok()).collect();
        let jobs = std::mem::take(&mut self.jobs);
        let (mine, others): (Vec<_>, Vec<_>) =
            jobs.into_iter().partition(|(pid, _)| wanted.is_empty() || wanted.contains(pid));
        self.jobs = others;
        self.status = if wanted.is_empty() || !mine.is_empty() { 0 } else { 127 };
        for (_, mut ended) in mine {
            let code = ended.wait_for(Option::is_some).await.map(|code| code.unwrap_or(0));
            if !wanted.is_empty() {
                self.status = code.unwrap_or(127);
            }
        }
        Flow::Next
    }

    async fn source(&mut self, arguments: &[String], io: &Io) -> Flow {
        let Some(path) = arguments.first() else { return self.complain(".: missing argument", 1, io).await };
        let full = crate::fs::resolve(&self.cwd, path);
        match self.phone.with(|state| state.fs.read(&full)) {
            Ok(data) => match self.eval(&String::from_utf8_lossy(&data), io).await {
                Flow::Return => Flow::Next,
                flow => flow,
            },
            Err(error) => self.complain(&format!(".: {path}: {}", error.text()), 1, io).await,
        }
    }

    /// Runs `command -v NAME`.
    async fn locate(&mut self, names: &[String], io: &Io) -> Flow {
        self.status = 0;
        for name in names {
            let place = if self.functions.contains_key(name) || BUILTINS.contains(&name.as_str()) {
                name.clone()
            } else if super::commands::PROGRAMS.contains(&name.as_str()) {
                format!("/system/bin/{name}")
            } else {
                self.status = 1;
                continue;
            };
            let _ = io.stdout.write(format!("{place}\n")).await;
        }
        Flow::Next
    }

    /// Reads one line into variables; the last one takes the rest.
    async fn read(&mut self, arguments: &[String], io: &Io) -> Flow {
        let raw = arguments.iter().any(|a| a == "-r");
        let mut names: Vec<&str> =
            arguments.iter().filter(|a| !a.starts_with('-')).map(String::as_str).collect();
        if names.is_empty() {
            names.push("REPLY");
        }
        let line = io.stdin.line().await;
        self.status = u8::from(line.is_none());
        let line = line.unwrap_or_default();
        let line = if raw { line } else { line.replace('\\', "") };
        let marks = self.variables.get("IFS").cloned().unwrap_or_else(|| " \t\n".to_owned());
        let is_mark = |c: char| marks.contains(c);
        let is_space = |c: char| c.is_ascii_whitespace() && is_mark(c);
        let mut rest = line.trim_start_matches(is_space);
        for (index, name) in names.iter().enumerate() {
            let value = if index + 1 == names.len() {
                rest.trim_end_matches(is_space)
            } else {
                let end = rest.find(is_mark).unwrap_or(rest.len());
                let (value, tail) = rest.split_at(end);
                let spaces = tail.trim_start_matches(is_space);
                let hard = spaces.chars().next().filter(|c| is_mark(*c) && !is_space(*c));
                rest = hard.map_or(spaces, |c| spaces[c.len_utf8()..].trim_start_matches(is_space));
                value
            };
            self.set(name, value.to_owned());
        }
        Flow::Next
    }
}
