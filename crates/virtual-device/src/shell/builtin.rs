//! Commands that change the shell itself.

use super::execute::{Flow, Shell};
use super::io::Io;

impl Shell {
    /// `None` when it is not one of them.
    pub(super) async fn builtin(&mut self, argv: &[String], io: &Io) -> Option<Flow> {
        let (name, arguments) = argv.split_first()?;
        let number = arguments.first().and_then(|word| word.parse::<i64>().ok());
        let loops = number.map_or(1, |n| n.clamp(1, 100) as u32);
        let flow = match name.as_str() {
            "exit" | "return" => {
                self.status = number.map_or(self.status, |n| n as u8);
                if name == "exit" { Flow::Exit } else { Flow::Return }
            }
            "break" => Flow::Break(loops),
            "continue" => Flow::Continue(loops),
            "export" | "local" | "typeset" | "readonly" => {
                for (key, value) in arguments.iter().filter_map(|a| a.split_once('=')) {
                    self.set(key, value.to_owned());
                }
                self.status = 0;
                Flow::Next
            }
            "unset" => {
                self.variables.retain(|key, _| !arguments.contains(key));
                self.status = 0;
                Flow::Next
            }
            "cd" => return Some(self.change_directory(arguments, io).await),
            "eval" => return Some(self.eval(&arguments.join(" "), io).await),
            "sh" | "/system/bin/sh" => return Some(self.nested(arguments, io).await),
            "exec" | "command" | "nohup" if !arguments.is_empty() => {
                // Skipped in one go: a long row of them must not recurse.
                let prefix = |word: &&String| ["exec", "command", "nohup"].contains(&word.as_str());
                let argv: Vec<String> = arguments.iter().skip_while(prefix).cloned().collect();
                let flow = Box::pin(self.invoke(argv, Vec::new(), io)).await;
                if name == "exec" { Flow::Exit } else { flow }
            }
            "read" => {
                let line = io.stdin.line().await;
                self.status = u8::from(line.is_none());
                let variable = arguments.iter().find(|a| !a.starts_with('-')).map_or("REPLY", String::as_str);
                self.set(variable, line.unwrap_or_default().trim().to_owned());
                Flow::Next
            }
            "shift" => {
                self.arguments.drain(..(loops as usize).min(self.arguments.len()));
                Flow::Next
            }
            ":" | "set" | "trap" | "wait" | "umask" | "exec" => {
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

    /// `sh -c SCRIPT [NAME ARGS…]`, or a script from the standard input.
    async fn nested(&mut self, arguments: &[String], io: &Io) -> Flow {
        let mut child = self.clone();
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
}
