//! Runs the tree of a script.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use brush_parser::ast::{
    AndOr, AndOrList, AssignmentName, AssignmentValue, Command, CommandPrefixOrSuffixItem, CompoundCommand,
    CompoundList, FunctionBody, IoRedirect, Pipeline, SeparatorOperator, SimpleCommand,
};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::commands::{self, Call};
use super::io::{BROKEN_EXIT, Input, Io, Output, PIPE_CHUNKS};
use super::redirect::inherited;
use super::services::Job;
use crate::phone::Phone;

pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Commands that one script may run before it is killed: an endless loop must end.
const STEPS_MAX: u32 = 50_000;
/// The nesting of functions, `eval` and `sh -c`.
pub(super) const DEPTH_MAX: u32 = 24;
/// The size of all variables of a shell together.
const VARIABLE_BYTES_MAX: usize = 8 * 1024 * 1024;
/// The size of all arguments of one command together.
pub(super) const ARGUMENT_BYTES_MAX: usize = 2 * 1024 * 1024;
/// Stages of one pipeline.
const STAGES_MAX: usize = 64;
/// Jobs in the background that one shell remembers.
const JOBS_MAX: usize = 256;
/// The status that `wait` gives for a job that was ended by `kill`.
const TERMINATED_EXIT: u8 = 143;
/// The exit code of a killed process.
const KILLED_EXIT: u8 = 137;

#[derive(Clone)]
pub struct Shell {
    pub phone: Phone,
    pub variables: BTreeMap<String, String>,
    /// `$0`.
    pub name: String,
    pub arguments: Vec<String>,
    pub cwd: String,
    pub status: u8,
    pub pid: u32,
    pub(super) functions: BTreeMap<String, Arc<FunctionBody>>,
    pub(super) options: Options,
    /// The script that `trap` set for the end of the shell.
    pub(super) exit_trap: Option<String>,
    /// Local variables of the running functions, with their outer values.
    pub(super) locals: Vec<(String, Option<String>)>,
    /// Background jobs and how they ended.
    pub(super) jobs: Vec<(u32, watch::Receiver<Option<u8>>)>,
    /// True if a command substitution set the status of the current command.
    pub(super) substituted: bool,
    /// True inside a condition, where a failure does not end the script.
    tolerant: u32,
    pub(super) depth: u32,
    variable_bytes: usize,
    steps: Arc<AtomicU32>,
}

/// Options of `set`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// `-e`
    pub stop_at_failure: bool,
    /// `-u`
    pub refuse_unset: bool,
    /// `-o pipefail`
    pub any_stage_fails: bool,
    /// `-f`
    pub no_globbing: bool,
}

/// How a list of commands goes on after a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    Next,
    /// Leaves this many loops.
    Break(u32),
    Continue(u32),
    Return,
    Exit,
}

impl Shell {
    pub fn new(phone: Phone) -> Shell {
        let pid = phone.with(|state| state.processes.next_pid());
        let variables = [
            ("HOME", "/"),
            ("PATH", "/product/bin:/apex/com.android.runtime/bin:/system/bin:/system/xbin"),
            ("TMPDIR", "/data/local/tmp"),
            ("USER", "shell"),
            ("EXTERNAL_STORAGE", "/sdcard"),
            ("ANDROID_ROOT", "/system"),
        ];
        Shell {
            phone,
            variables: variables.into_iter().map(|(k, v)| (k.to_owned(), v.to_owned())).collect(),
            name: "sh".to_owned(),
            arguments: Vec::new(),
            cwd: "/".to_owned(),
            status: 0,
            pid,
            functions: BTreeMap::new(),
            options: Options::default(),
            exit_trap: None,
            locals: Vec::new(),
            jobs: Vec::new(),
            substituted: false,
            tolerant: 0,
            depth: 0,
            variable_bytes: 0,
            steps: Arc::new(AtomicU32::new(0)),
        }
    }

    /// Sets a variable. When there are too many, new ones are dropped: a script must not use up the host's memory.
    pub fn set(&mut self, name: &str, value: String) {
        let old = self.variables.get(name).map_or(0, String::len);
        let bytes = self.variable_bytes.saturating_sub(old).saturating_add(value.len());
        if bytes <= VARIABLE_BYTES_MAX {
            self.variable_bytes = bytes;
            self.variables.insert(name.to_owned(), value);
        }
    }

    /// Runs a whole script and returns its exit code.
    pub fn script<'a>(&'a mut self, script: &'a str, io: &'a Io) -> BoxFuture<'a, u8> {
        Box::pin(async move {
            self.eval(script, io).await;
            self.end(io).await;
            self.status
        })
    }

    /// Runs the EXIT trap, if there is one. The exit code stays unless the trap exits with its own.
    async fn end(&mut self, io: &Io) {
        if let Some(last) = self.exit_trap.take() {
            let before = self.status;
            if self.eval(&last, io).await != Flow::Exit {
                self.status = before;
            }
        }
    }

    /// Returns a subshell, which has everything but traps and jobs.
    pub(super) fn child(&self) -> Shell {
        Shell { exit_trap: None, jobs: Vec::new(), ..self.clone() }
    }

    /// Runs one line of an interactive shell; returns true when the shell must end.
    pub async fn line(&mut self, line: &str, io: &Io) -> bool {
        super::parse(line).is_ok() && self.eval(line, io).await == Flow::Exit
    }

    pub(super) fn eval<'a>(&'a mut self, script: &'a str, io: &'a Io) -> BoxFuture<'a, Flow> {
        Box::pin(async move {
            let program = match super::parse(script) {
                Ok(_) if self.depth >= DEPTH_MAX => Err("sh: recursion too deep".to_owned()),
                other => other,
            };
            let program = match program {
                Ok(program) => program,
                Err(complaint) => {
                    let _ = io.stderr.write(complaint + "\n").await;
                    self.status = 1;
                    return Flow::Exit;
                }
            };
            self.depth += 1;
            let mut flow = Flow::Next;
            for list in &program.complete_commands {
                flow = self.list(list, io).await;
                if flow != Flow::Next {
                    break;
                }
            }
            self.depth -= 1;
            flow
        })
    }

    pub(super) fn list<'a>(&'a mut self, list: &'a CompoundList, io: &'a Io) -> BoxFuture<'a, Flow> {
        Box::pin(async move {
            for item in &list.0 {
                let flow = match item.1 {
                    SeparatorOperator::Sequence => self.and_or(&item.0, io).await,
                    SeparatorOperator::Async => {
                        self.background(item.0.clone(), io);
                        Flow::Next
                    }
                };
                if flow != Flow::Next {
                    return flow;
                }
            }
            Flow::Next
        })
    }

    fn background(&mut self, list: AndOrList, io: &Io) {
        let mut child = self.child();
        let io = Io { stdin: Input::empty(), ..inherited(&list, io) };
        let stop = CancellationToken::new();
        let job = Job { command: list.to_string(), stop: stop.clone() };
        let phone = self.phone.clone();
        let pid = phone.with(|state| {
            let pid = state.processes.next_pid();
            state.services.jobs.insert(pid, job);
            pid
        });
        let (ended, end) = watch::channel(None);
        tokio::spawn(async move {
            let code = tokio::select! {
                biased;
                () = stop.cancelled() => TERMINATED_EXIT,
                _ = child.and_or(&list, &io) => child.status,
            };
            phone.with(|state| state.services.jobs.remove(&pid));
            let _ = ended.send(Some(code));
        });
        if self.jobs.len() >= JOBS_MAX {
            self.jobs.remove(0);
        }
        self.jobs.push((pid, end));
        self.status = 0;
    }

    async fn and_or(&mut self, list: &AndOrList, io: &Io) -> Flow {
        let count = list.additional.len();
        let mut last = &list.first;
        let mut last_ran = count == 0;
        let mut flow = self.pipeline_of_list(&list.first, count > 0, io).await;
        for (index, next) in list.additional.iter().enumerate() {
            if flow != Flow::Next {
                return flow;
            }
            let (wanted, pipeline) = match next {
                AndOr::And(pipeline) => (self.status == 0, pipeline),
                AndOr::Or(pipeline) => (self.status != 0, pipeline),
            };
            if wanted {
                last_ran = index + 1 == count;
                last = pipeline;
                flow = self.pipeline_of_list(pipeline, !last_ran, io).await;
            }
        }
        let fails = self.status != 0 && last_ran && !last.bang && self.tolerant == 0;
        if flow == Flow::Next && self.options.stop_at_failure && fails { Flow::Exit } else { flow }
    }

    /// Runs a pipeline whose failure may be tolerated because of what follows.
    async fn pipeline_of_list(&mut self, pipeline: &Pipeline, tolerant: bool, io: &Io) -> Flow {
        let more = u32::from(tolerant || pipeline.bang);
        self.tolerant += more;
        let flow = self.pipeline(pipeline, io).await;
        self.tolerant -= more;
        flow
    }

    /// Runs the condition of an `if` or a loop.
    pub(super) async fn decide(&mut self, list: &CompoundList, io: &Io) -> Flow {
        self.tolerant += 1;
        let flow = self.list(list, io).await;
        self.tolerant -= 1;
        flow
    }

    async fn pipeline(&mut self, pipeline: &Pipeline, io: &Io) -> Flow {
        let flow = match pipeline.seq.as_slice() {
            [] => Flow::Next,
            [only] => self.command(only, io).await,
            stages => {
                self.status = self.stages(stages, io).await;
                Flow::Next
            }
        };
        if pipeline.bang {
            self.status = u8::from(self.status == 0);
        }
        flow
    }

    /// Runs all stages of a pipeline at the same time, each in its own shell; the last one's code counts.
    async fn stages(&self, stages: &[Command], io: &Io) -> u8 {
        if stages.len() > STAGES_MAX {
            return KILLED_EXIT;
        }
        let mut running = JoinSet::new();
        let mut stdin = io.stdin.clone();
        let last = stages.len() - 1;
        for (index, stage) in stages.iter().enumerate() {
            let mut stage_io = Io { stdin, ..io.clone() };
            stdin = Input::empty();
            if index < last {
                let (sender, receiver) = mpsc::channel(PIPE_CHUNKS);
                stage_io.stdout = Output::Channel { sender, stderr: false };
                stdin = Input::channel(receiver);
            }
            let (mut child, stage) = (self.child(), stage.clone());
            running.spawn(async move {
                child.command(&stage, &stage_io).await;
                (index, child.status)
            });
        }
        let (mut code, mut failed) = (0, None);
        while let Some(ended) = running.join_next().await {
            match ended {
                Ok((index, status)) if index == last => code = status,
                Ok((index, status)) if status != 0 => failed = failed.max(Some((index, status))),
                _ => {}
            }
        }
        match failed {
            Some((_, status)) if self.options.any_stage_fails && code == 0 => status,
            _ => code,
        }
    }

    fn command<'a>(&'a mut self, command: &'a Command, io: &'a Io) -> BoxFuture<'a, Flow> {
        Box::pin(async move {
            match command {
                Command::Simple(simple) => self.simple(simple, io).await,
                Command::Compound(compound, redirects) => {
                    let redirects = redirects.as_ref().map_or(&[][..], |list| &list.0);
                    match self.redirected(redirects, io).await {
                        Some(io) => self.compound(compound, &io).await,
                        None => Flow::Next,
                    }
                }
                Command::Function(definition) => {
                    self.functions.insert(definition.fname.value.clone(), Arc::new(definition.body.clone()));
                    self.status = 0;
                    Flow::Next
                }
                Command::ExtendedTest(test, _) => self.condition(&test.expr, io).await,
            }
        })
    }

    pub(super) async fn complain(&mut self, what: &str, status: u8, io: &Io) -> Flow {
        let _ = io.stderr.write(format!("/system/bin/sh: {what}\n")).await;
        self.status = status;
        Flow::Next
    }

    /// Returns the streams after all redirections; a failed one has set the status.
    async fn redirected(&mut self, redirects: &[IoRedirect], io: &Io) -> Option<Io> {
        let mut current = io.clone();
        for redirect in redirects {
            match self.redirect(redirect, current).await {
                Ok(next) => current = next,
                Err(complaint) => {
                    self.complain(&complaint, 1, io).await;
                    return None;
                }
            }
        }
        Some(current)
    }

    async fn compound(&mut self, compound: &CompoundCommand, io: &Io) -> Flow {
        match compound {
            CompoundCommand::BraceGroup(group) => self.list(&group.list, io).await,
            CompoundCommand::Subshell(subshell) => {
                let mut child = self.child();
                child.list(&subshell.list, io).await;
                child.end(io).await;
                self.status = child.status;
                Flow::Next
            }
            CompoundCommand::IfClause(clause) => self.if_clause(clause, io).await,
            CompoundCommand::ForClause(clause) => self.for_clause(clause, io).await,
            CompoundCommand::WhileClause(clause) => self.while_clause(clause, true, io).await,
            CompoundCommand::UntilClause(clause) => self.while_clause(clause, false, io).await,
            CompoundCommand::CaseClause(clause) => self.case_clause(clause, io).await,
            CompoundCommand::Arithmetic(command) => match self.arithmetic(&command.expr.value, io).await {
                Ok(value) => {
                    self.status = u8::from(value == "0");
                    Flow::Next
                }
                Err(complaint) => self.complain(&complaint, 1, io).await,
            },
            CompoundCommand::ArithmeticForClause(_) | CompoundCommand::Coprocess(_) => {
                self.complain("syntax error: unexpected word", 2, io).await
            }
        }
    }

    /// Counts a command and lets other tasks run; returns false when the script has used up its commands.
    pub(super) async fn step(&mut self) -> bool {
        let steps = self.steps.fetch_add(1, Ordering::Relaxed);
        if steps % 64 == 63 {
            tokio::task::yield_now().await;
        }
        let may = steps < STEPS_MAX;
        if !may {
            self.status = KILLED_EXIT;
        }
        may
    }

    async fn simple(&mut self, simple: &SimpleCommand, io: &Io) -> Flow {
        if !self.step().await {
            return Flow::Exit;
        }
        let mut redirects = Vec::new();
        let mut assignments = Vec::new();
        let mut words = Vec::new();
        for item in simple.prefix.iter().flat_map(|p| &p.0) {
            match item {
                CommandPrefixOrSuffixItem::IoRedirect(redirect) => redirects.push(redirect.clone()),
                CommandPrefixOrSuffixItem::AssignmentWord(assignment, _) => assignments.push(assignment),
                _ => {}
            }
        }
        if let Some(word) = &simple.word_or_name {
            words.push((word, true));
        }
        for item in simple.suffix.iter().flat_map(|s| &s.0) {
            match item {
                CommandPrefixOrSuffixItem::IoRedirect(redirect) => redirects.push(redirect.clone()),
                CommandPrefixOrSuffixItem::Word(word) => words.push((word, true)),
                CommandPrefixOrSuffixItem::AssignmentWord(_, word) => words.push((word, false)),
                CommandPrefixOrSuffixItem::ProcessSubstitution(..) => {
                    return self.complain("syntax error: unexpected '('", 1, io).await;
                }
            }
        }
        let Some(io) = self.redirected(&redirects, io).await else { return Flow::Next };
        self.substituted = false;
        let mut values = Vec::new();
        for assignment in assignments {
            let (AssignmentName::VariableName(name), AssignmentValue::Scalar(word)) =
                (&assignment.name, &assignment.value)
            else {
                return self.complain("syntax error: unexpected '('", 1, &io).await;
            };
            match self.single(&word.value, &io).await {
                Ok(value) => values.push((name.clone(), value)),
                Err(complaint) => return self.complain(&complaint, 1, &io).await,
            }
        }
        let mut argv = Vec::new();
        let (mut bytes, mut seen) = (0usize, 0);
        for (word, splits) in words {
            let expanded = if splits {
                self.fields(&word.value, &io).await
            } else {
                self.single(&word.value, &io).await.map(|one| vec![one])
            };
            match expanded {
                Ok(fields) => argv.extend(fields),
                Err(complaint) => return self.complain(&complaint, 1, &io).await,
            }
            bytes = argv[seen..].iter().fold(bytes, |sum, word: &String| sum.saturating_add(word.len()));
            seen = argv.len();
            if bytes > ARGUMENT_BYTES_MAX {
                return self.complain("Argument list too long", 126, &io).await;
            }
        }
        if argv.is_empty() {
            // The code of a command substitution stays; a plain assignment succeeds.
            if !self.substituted {
                self.status = 0;
            }
            for (name, value) in values {
                self.set(&name, value);
            }
            return Flow::Next;
        }
        self.invoke(argv, values, &io).await
    }

    pub(super) async fn invoke(&mut self, argv: Vec<String>, values: Vec<(String, String)>, io: &Io) -> Flow {
        let saved: Vec<(String, Option<String>)> =
            values.iter().map(|(name, _)| (name.clone(), self.variables.get(name).cloned())).collect();
        for (name, value) in values {
            self.set(&name, value);
        }
        let flow = match self.builtin(&argv, io).await {
            Some(flow) => flow,
            None => match self.wrapper(&argv, io).await {
                Some(flow) => flow,
                None => self.external(&argv, io).await,
            },
        };
        for (name, value) in saved {
            match value {
                Some(value) => self.set(&name, value),
                None => {
                    self.variables.remove(&name);
                }
            }
        }
        flow
    }

    pub(super) async fn external(&mut self, argv: &[String], io: &Io) -> Flow {
        let Some((name, arguments)) = argv.split_first() else { return Flow::Next };
        if let Some(body) = self.functions.get(name).cloned() {
            return self.function(&body, arguments, io).await;
        }
        self.phone.with(|state| state.record.command(argv.to_vec()));
        let call = Call {
            phone: &self.phone,
            name: name.rsplit('/').next().unwrap_or(name),
            arguments,
            io,
            variables: &self.variables,
            cwd: &self.cwd,
        };
        self.status = match commands::run(&call).await {
            Ok(Some(code)) => code,
            Ok(None) => {
                let _ = io.stderr.write(format!("/system/bin/sh: {name}: inaccessible or not found\n")).await;
                127
            }
            Err(_) => BROKEN_EXIT,
        };
        Flow::Next
    }

    async fn function(&mut self, body: &FunctionBody, arguments: &[String], io: &Io) -> Flow {
        if self.depth >= DEPTH_MAX {
            return self.complain("recursion too deep", 1, io).await;
        }
        self.depth += 1;
        let outer = std::mem::replace(&mut self.arguments, arguments.to_vec());
        let locals = std::mem::take(&mut self.locals);
        let flow = self.compound(&body.0, io).await;
        for (name, value) in std::mem::replace(&mut self.locals, locals).into_iter().rev() {
            match value {
                Some(value) => self.set(&name, value),
                None => {
                    self.variables.remove(&name);
                }
            }
        }
        self.arguments = outer;
        self.depth -= 1;
        if flow == Flow::Return { Flow::Next } else { flow }
    }
}
