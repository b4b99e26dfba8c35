//! Programs that run other programs: they may run anything that the shell itself can.

use tokio::time::Duration;

use super::execute::{DEPTH_MAX, Flow, Shell};
use super::io::Io;

/// The exit code of `timeout` for a program that took too long.
const TIMED_OUT_EXIT: u8 = 124;
const SECONDS_MAX: f64 = 3600.0;
/// Commands that one `xargs` starts.
const BATCHES_MAX: usize = 10_000;

impl Shell {
    /// Runs the program; returns nothing when it is not one of them.
    pub(super) async fn wrapper(&mut self, argv: &[String], io: &Io) -> Option<Flow> {
        let (name, arguments) = argv.split_first()?;
        let name = name.rsplit('/').next().unwrap_or(name);
        if !matches!(
            name,
            "timeout" | "toybox" | "run-as" | "xargs" | "setsid" | "env" | "nice" | "time" | "[["
        ) {
            return None;
        }
        if self.depth >= DEPTH_MAX {
            return Some(self.complain("recursion too deep", 1, io).await);
        }
        self.phone.with(|state| state.record.command(argv.to_vec()));
        self.depth += 1;
        let flow = match name {
            "timeout" => self.timeout(arguments, io).await,
            "run-as" => self.run_as(arguments, io).await,
            "xargs" => self.xargs(arguments, io).await,
            "env" if !arguments.iter().any(|w| !w.contains('=') && !w.starts_with('-')) => {
                Box::pin(self.external(argv, io)).await
            }
            "env" => self.env(arguments, io).await,
            "nice" if arguments.first().is_some_and(|w| w == "-n") => {
                self.inner(arguments.get(2..).unwrap_or(&[]).to_vec(), io).await
            }
            _ => self.inner(arguments.to_vec(), io).await,
        };
        self.depth -= 1;
        Some(flow)
    }

    /// Runs a command as a program of its own: what would end the shell ends only the program.
    async fn inner(&mut self, argv: Vec<String>, io: &Io) -> Flow {
        self.status = 0;
        if !argv.is_empty() {
            let mut child = self.child();
            Box::pin(child.invoke(argv, Vec::new(), io)).await;
            self.status = child.status;
        }
        Flow::Next
    }

    async fn timeout(&mut self, arguments: &[String], io: &Io) -> Flow {
        let mut words = arguments;
        while let [flag, value, rest @ ..] = words
            && matches!(flag.as_str(), "-s" | "-k")
        {
            words = rest;
            let _ = value;
        }
        let seconds = words.first().and_then(|word| {
            let number = word.trim_end_matches(['s', 'm']).parse::<f64>().ok()?;
            Some(if word.ends_with('m') { number * 60.0 } else { number })
        });
        let Some(seconds) = seconds.filter(|s| s.is_finite() && *s >= 0.0 && words.len() > 1) else {
            let _ = io.stderr.write("timeout: Needs 2 arguments\n").await;
            self.status = 125;
            return Flow::Next;
        };
        let limit = Duration::from_secs_f64(seconds.min(SECONDS_MAX));
        let argv = words[1..].to_vec();
        let ended = tokio::time::timeout(limit, self.inner(argv, io)).await;
        if ended.is_err() {
            self.status = TIMED_OUT_EXIT;
        }
        Flow::Next
    }

    /// Runs `run-as`, which only works for debuggable apps.
    async fn run_as(&mut self, arguments: &[String], io: &Io) -> Flow {
        let Some((package, rest)) = arguments.split_first() else {
            let _ = io
                .stderr
                .write("run-as: usage: run-as <package-name> [--user <uid>] <command> [<args>]\n")
                .await;
            self.status = 1;
            return Flow::Next;
        };
        let found = self.phone.with(|state| state.packages.get(package).map(|p| (p.debuggable, p.uid)));
        let complaint = match found {
            None => format!("run-as: unknown package: {package}\n"),
            Some((false, _)) => format!("run-as: package not debuggable: {package}\n"),
            Some((true, uid)) => {
                let rest = if rest.first().is_some_and(|w| w == "--user") {
                    rest.get(2..).unwrap_or(&[])
                } else {
                    rest
                };
                let outer = std::mem::replace(&mut self.cwd, crate::fs::private(package));
                self.phone.with(|state| state.save_private(package));
                self.set("USER_ID", uid.to_string());
                let flow = self.inner(rest.to_vec(), io).await;
                self.variables.remove("USER_ID");
                self.cwd = outer;
                return flow;
            }
        };
        let _ = io.stderr.write(complaint).await;
        self.status = 1;
        Flow::Next
    }

    async fn env(&mut self, arguments: &[String], io: &Io) -> Flow {
        let values: Vec<(String, String)> = arguments
            .iter()
            .take_while(|w| w.contains('=') || w.starts_with('-'))
            .filter_map(|w| w.split_once('='))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        let argv: Vec<String> =
            arguments.iter().skip_while(|w| w.contains('=') || w.starts_with('-')).cloned().collect();
        let mut child = self.child();
        Box::pin(child.invoke(argv, values, io)).await;
        self.status = child.status;
        Flow::Next
    }

    async fn xargs(&mut self, arguments: &[String], io: &Io) -> Flow {
        let (mut most, mut zero, mut placed) = (usize::MAX, false, None);
        let mut words = arguments.iter();
        let mut command = Vec::new();
        while let Some(word) = words.next() {
            match word.as_str() {
                "-n" => most = words.next().and_then(|w| w.parse().ok()).unwrap_or(most).max(1),
                "-I" => placed = words.next().cloned(),
                "-0" => zero = true,
                "-r" | "-t" | "-p" => {}
                _ => {
                    command.push(word.clone());
                    command.extend(words.by_ref().cloned());
                }
            }
        }
        if command.is_empty() {
            command.push("echo".to_owned());
        }
        let text = String::from_utf8_lossy(&io.stdin.read_all().await).into_owned();
        let items: Vec<String> = match (zero, &placed) {
            (true, _) => text.split('\0').filter(|w| !w.is_empty()).map(str::to_owned).collect(),
            (false, Some(_)) => {
                text.lines().filter(|w| !w.is_empty()).map(|w| w.trim_start().to_owned()).collect()
            }
            (false, None) => text.split_ascii_whitespace().map(str::to_owned).collect(),
        };
        let mut worst = 0;
        let size = if placed.is_some() { 1 } else { most.min(items.len().max(1)) };
        for batch in items.chunks(size).take(BATCHES_MAX) {
            if !self.step().await {
                return Flow::Exit;
            }
            let argv = match &placed {
                Some(mark) => command.iter().map(|w| w.replace(mark.as_str(), &batch[0])).collect(),
                None => command.iter().chain(batch).cloned().collect(),
            };
            self.inner(argv, io).await;
            worst = worst.max(if self.status == 0 { 0 } else { 123 });
        }
        self.status = worst;
        Flow::Next
    }
}
