//! One build from folder to artifact.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use tokio_util::sync::CancellationToken;

use crate::artifact::{self, ArtifactError};
use crate::diagnose::{self, Diagnostic};
use crate::environment::Environment;
use crate::plan::{Plan, PlanError, plan};
use crate::process::{self, Ending, Output, Processes};
use crate::project::{Project, ProjectError};
use crate::toolchain::Missing;

/// Last lines of the output that a failure shows.
const LAST_LINES: usize = 20;

#[derive(Debug, Clone)]
pub struct BuildRequest {
    pub project: Project,
    /// `debug`, `freeRelease` or a task of Gradle.
    pub variant: Option<String>,
    pub time: Duration,
}

/// A build that ended well.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Built {
    pub artifact: PathBuf,
    /// False if the build tool found the artifact up to date.
    pub is_new: bool,
    pub task: String,
    pub elapsed: Duration,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BuildError {
    Project(ProjectError),
    Variant(String),
    Missing(Missing),
    /// The program could not be started at all.
    Start {
        program: PathBuf,
        why: String,
    },
    Failed(Box<BuildFailure>),
    TimedOut(Box<BuildFailure>),
    Cancelled {
        task: String,
    },
    NoArtifact {
        task: String,
        why: ArtifactError,
    },
}

/// A build that the build tool gave up, or that took too long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuildFailure {
    pub task: String,
    /// `None` if a signal ended it, or time was up.
    pub exit_code: Option<i32>,
    pub diagnostics: Vec<Diagnostic>,
    /// The newest lines of the output.
    pub last_lines: Vec<String>,
    pub dropped_lines: usize,
    pub elapsed: Duration,
}

/// Builds a project. `on_step` hears which step the build tool is at.
pub async fn build(
    request: &BuildRequest,
    environment: &Environment,
    processes: &Processes,
    cancelled: &CancellationToken,
    mut on_step: impl FnMut(&str),
) -> Result<Built, BuildError> {
    let Plan { command, task, target } = plan(&request.project, request.variant.as_deref(), environment)
        .map_err(|error| match error {
            PlanError::Missing(missing) => BuildError::Missing(missing),
            PlanError::Variant(variant) => BuildError::Variant(variant),
        })?;
    on_step(&task);
    let began = SystemTime::now();
    let told = |line: &str| {
        if let Some(step) = diagnose::step(line) {
            on_step(step);
        }
    };
    let output = process::run(processes, &command, request.time, cancelled, told).await;
    let output = output
        .map_err(|error| BuildError::Start { program: command.program.clone(), why: error.to_string() })?;
    match output.ending {
        Ending::Exited(Some(0)) => match artifact::find(&target, began) {
            Ok(made) => Ok(Built { artifact: made.file, is_new: made.is_new, task, elapsed: output.elapsed }),
            Err(why) => Err(BuildError::NoArtifact { task, why }),
        },
        Ending::Exited(code) => Err(BuildError::Failed(Box::new(failure(task, code, &output)))),
        Ending::TimedOut => Err(BuildError::TimedOut(Box::new(failure(task, None, &output)))),
        Ending::Cancelled => Err(BuildError::Cancelled { task }),
    }
}

fn failure(task: String, exit_code: Option<i32>, output: &Output) -> BuildFailure {
    let skipped = output.lines.len().saturating_sub(LAST_LINES);
    BuildFailure {
        task,
        exit_code,
        diagnostics: diagnose::read(output.lines.iter().map(String::as_str)),
        last_lines: output.lines.iter().skip(skipped).cloned().collect(),
        dropped_lines: output.dropped_lines + skipped,
        elapsed: output.elapsed,
    }
}
