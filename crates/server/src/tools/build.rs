//! Building app projects on this machine.
//!
//! A build runs programs of the project. The server runs only those below its allowed folders (SE-02, S7).

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use mdm_build::artifact::ArtifactError;
use mdm_build::project::{self, Project, ProjectError};
use mdm_build::{BuildError, BuildFailure, BuildRequest, Built, Environment};
use mdm_core::action::event::Event;
use mdm_core::failure::{Cause, Failure};
use mdm_core::text::quote::push_quoted;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::action::{self, LocalFacts};
use super::install::{self, AppFile};
use super::{CALL_TIMEOUT, Call, Effect, Tool};
use crate::answer::Answer;
use crate::args::{DeviceArg, PlatformArg};
use crate::refusal::{Hint, Refusal};

/// A build that takes longer is ended, unless the caller gives it more time.
const BUILD_MS: u64 = 15 * 60 * 1000;
/// The longest time that a caller may give a build; a longer one is refused.
const BUILD_MS_MAX: u64 = 55 * 60 * 1000;
/// Errors and last lines that a failure shows, and characters of one.
const ERRORS_MAX: usize = 20;
/// Characters of one line of a build's output.
const LINE_CHARS_MAX: usize = 300;

#[derive(Deserialize, JsonSchema)]
pub struct BuildParams {
    project_path: PathBuf,
    /// debug, freeRelease or a Gradle task
    variant: Option<String>,
    timeout_ms: Option<u64>,
    #[schemars(extend("hidden" = true))]
    platform: Option<PlatformArg>,
    /// The predecessor asked for it; the files of the folder tell.
    #[schemars(extend("hidden" = true))]
    #[serde(rename = "project_type")]
    _project_type: Option<String>,
}

/// What is built, before anything was started.
pub struct BuildPlan {
    project: Project,
    variant: Option<String>,
    time: Duration,
}

impl BuildPlan {
    /// Reads what the folder is. Nothing is run.
    pub fn read(
        call: &Call<'_>,
        folder: &Path,
        platform: Option<PlatformArg>,
        variant: Option<String>,
        timeout_ms: Option<u64>,
    ) -> Result<BuildPlan, Refusal> {
        let time_ms = timeout_ms.unwrap_or(BUILD_MS);
        if !(1..=BUILD_MS_MAX).contains(&time_ms) {
            let message = format!("timeout_ms = {time_ms} is not between 1 and {BUILD_MS_MAX}");
            return Err(Refusal::argument(message, format!("{BUILD_MS} is usual")));
        }
        let folder = call.app.roots.readable(folder)?;
        let platform = platform.map(|platform| match platform {
            PlatformArg::Android => project::Platform::Android,
            PlatformArg::Ios => project::Platform::Ios,
        });
        let project = project::detect(&folder, platform).map_err(project_refusal)?;
        // The build of a module begins in a folder above it.
        call.app.roots.readable(project.root())?;
        Ok(BuildPlan { project, variant, time: Duration::from_millis(time_ms) })
    }

    pub async fn run(self, call: &Call<'_>) -> Result<BuildOutcome, Refusal> {
        let BuildPlan { project, variant, time } = self;
        let kind = project.kind();
        let time = time.min(call.progress.time_left());
        let request = BuildRequest { project, variant, time };
        let this_machine: Arc<str> = "this machine".into();
        let tell = |step: &str| {
            let at_ms = call.app.fleet.clock().now_ms();
            let step: String = step.chars().take(LINE_CHARS_MAX).collect();
            call.progress.tell(&this_machine, at_ms, || Event::Working { step });
        };
        let cancelled = tokio_util::sync::CancellationToken::new();
        let environment = Environment::of_process().without(call.app.handles.variables());
        let build = mdm_build::build(&request, &environment, &call.app.processes, &cancelled, tell);
        tokio::pin!(build);
        let done = tokio::select! {
            biased;
            () = call.progress.cancelled() => {
                cancelled.cancel();
                build.await
            }
            done = &mut build => done,
        };
        match done {
            Ok(built) => Ok(BuildOutcome::Made(Box::new(Made::new(kind, built).await?))),
            Err(BuildError::Failed(failure)) => Ok(BuildOutcome::Failed(failure)),
            Err(error) => Err(refusal(error)),
        }
    }
}

/// A build that ended by itself.
pub enum BuildOutcome {
    Made(Box<Made>),
    Failed(Box<BuildFailure>),
}

/// What a build made.
pub struct Made {
    pub file: AppFile,
    kind: &'static str,
    built: Built,
}

impl Made {
    async fn new(kind: &'static str, built: Built) -> Result<Made, Refusal> {
        let file = install::read_file(built.artifact.clone()).await?;
        Ok(Made { file, kind, built })
    }

    pub fn facts(&self) -> BuildFacts {
        BuildFacts {
            artifact_path: Some(self.built.artifact.display().to_string()),
            app_id: self.file.app_id(),
            version_name: self.file.version_name(),
            version_code: self.file.version_code(),
            project: Some(self.kind),
            task: self.built.task.clone(),
            exit_code: None,
            errors: None,
            up_to_date: !self.built.is_new,
            duration_ms: millis(self.built.elapsed),
        }
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BuildFacts {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub artifact_path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    app_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version_code: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<&'static str>,
    task: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    /// How many errors the output named.
    #[serde(skip_serializing_if = "Option::is_none")]
    errors: Option<usize>,
    /// The build tool had nothing to do.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    up_to_date: bool,
    duration_ms: u64,
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// The answer to a build that the build tool gave up: errors with file and line, then the last lines.
pub fn failed(call: &Call<'_>, failure: &BuildFailure) -> Answer {
    let code =
        failure.exit_code.map_or_else(|| "ended by a signal".to_owned(), |code| format!("exit code {code}"));
    let first =
        failure.diagnostics.first().map(|first| format!(": {:.200}", first.shown())).unwrap_or_default();
    let message = format!("{} failed, {code}{first}", failure.task);
    let hint = match failure.diagnostics.is_empty() {
        false => "mend the files and lines below and build again",
        true => "read the last lines below; run the same task in a terminal for the whole output",
    };
    let refusal = refused(Cause::BuildFailed, message, hint);
    let facts = BuildFacts {
        artifact_path: None,
        app_id: None,
        version_name: None,
        version_code: None,
        project: None,
        task: failure.task.clone(),
        exit_code: failure.exit_code,
        errors: Some(failure.diagnostics.len()),
        up_to_date: false,
        duration_ms: millis(failure.elapsed),
    };
    let own = LocalFacts::Built(Box::new(facts));
    action::local(call, None, Some(&refusal), Some(own)).with_lines(&failure_lines(failure))
}

fn failure_lines(failure: &BuildFailure) -> String {
    let mut lines = String::new();
    for one in failure.diagnostics.iter().take(ERRORS_MAX) {
        if let Some(file) = &one.file {
            lines.extend(file.chars().take(LINE_CHARS_MAX).filter(|c| !c.is_control()));
            for number in [one.line, one.column].into_iter().flatten() {
                lines.push_str(&format!(":{number}"));
            }
            lines.push_str(": ");
        }
        push_quoted(&mut lines, &one.message, LINE_CHARS_MAX);
        lines.push('\n');
    }
    if let Some(more) = failure.diagnostics.len().checked_sub(ERRORS_MAX).filter(|more| *more > 0) {
        lines.push_str(&format!("… and {more} more\n"));
    }
    lines.push_str(&format!("last lines ({} before them):\n", failure.dropped_lines));
    for line in &failure.last_lines {
        lines.push_str("  ");
        push_quoted(&mut lines, line, LINE_CHARS_MAX);
        lines.push('\n');
    }
    lines
}

fn refused(cause: Cause, message: impl Into<String>, hint: impl Into<Cow<'static, str>>) -> Refusal {
    Refusal { failure: Failure::new(cause, message), hint: Hint::Words(hint.into()) }
}

pub fn project_refusal(error: ProjectError) -> Refusal {
    let hint = match &error {
        ProjectError::Ambiguous { what: "schemes", .. } => "leave one scheme shared in Xcode",
        ProjectError::Ambiguous { .. } => "give one of these as project_path",
        ProjectError::NotForPlatform { .. } => "leave platform out",
        _ => "give the folder with the project's build files as project_path",
    };
    let message = error.to_string();
    let candidates = match error {
        ProjectError::Ambiguous { candidates, .. } => candidates,
        _ => Vec::new(),
    };
    let mut refusal = Refusal::argument(message, hint);
    refusal.failure = refusal.failure.with_candidates(candidates);
    refusal
}

fn refusal(error: BuildError) -> Refusal {
    match error {
        BuildError::Project(error) => project_refusal(error),
        BuildError::Variant(variant) => Refusal::argument(
            format!("{variant:.60?} is no variant or task"),
            "use a variant such as debug or freeRelease, or a task such as :app:assembleDebug",
        ),
        BuildError::Missing(missing) => refused(Cause::ToolMissing, missing.what, missing.mend),
        BuildError::Start { program, why } => {
            let message = format!("{} could not be started: {why}", program.display());
            refused(Cause::ToolMissing, message, "check the file and its permissions")
        }
        BuildError::TimedOut(failure) => {
            let message = format!("{} did not end within {} ms", failure.task, millis(failure.elapsed));
            let last = failure.last_lines.last().map(|line| format!("; its last line was {line:.200?}"));
            refused(Cause::Timeout, message + &last.unwrap_or_default(), "give it more with timeout_ms")
        }
        BuildError::Cancelled { task } => refused(
            Cause::Cancelled,
            format!("{task} was cancelled and its processes ended"),
            "call again when needed",
        ),
        BuildError::NoArtifact { task, why } => no_artifact(&task, why),
        BuildError::Failed(failure) => {
            refused(Cause::BuildFailed, format!("{} failed", failure.task), "read its output")
        }
    }
}

fn no_artifact(task: &str, why: ArtifactError) -> Refusal {
    let paths = |paths: Vec<PathBuf>| paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>();
    let (message, hint, candidates) = match why {
        ArtifactError::None(folders) => (
            format!("{task} ended well and made no app in {}", paths(folders).join(", ")),
            "check that the task builds an app and not a library",
            Vec::new(),
        ),
        ArtifactError::Unsigned(file) => (
            format!("{task} made {}, which is not signed, so no device takes it", file.display()),
            "add a signingConfig to this variant, or build debug",
            Vec::new(),
        ),
        ArtifactError::Several(files) => (
            format!("{task} made {} apps for different devices", files.len()),
            "install the one that fits with install_app",
            paths(files),
        ),
    };
    let mut refusal = refused(Cause::NoArtifact, message, hint);
    refusal.failure = refusal.failure.with_candidates(candidates);
    refusal
}

pub struct BuildApp;

impl Tool for BuildApp {
    type Params = BuildParams;
    const NAME: &'static str = "build_app";
    const DESCRIPTION: &'static str = "Build a Gradle, React Native, Flutter or Xcode project.";
    const EFFECT: Effect = Effect::Acts;
    const TIMEOUT: Duration = CALL_TIMEOUT;

    async fn run(call: &Call<'_>, params: BuildParams) -> Result<Answer, Refusal> {
        let plan =
            BuildPlan::read(call, &params.project_path, params.platform, params.variant, params.timeout_ms)?;
        Ok(match plan.run(call).await? {
            BuildOutcome::Made(made) => {
                action::local(call, None, None, Some(LocalFacts::Built(Box::new(made.facts()))))
            }
            BuildOutcome::Failed(failure) => failed(call, &failure),
        })
    }
}

/// The predecessor's name for building and installing in one call; `install_app` does the same for a folder.
pub struct BuildAndInstall;

#[derive(Deserialize, JsonSchema)]
pub struct BuildAndInstallParams {
    project_path: PathBuf,
    variant: Option<String>,
    /// The predecessor's name of `timeout_ms`.
    timeout: Option<u64>,
    timeout_ms: Option<u64>,
    project_type: Option<String>,
    #[serde(flatten)]
    device: DeviceArg,
}

impl Tool for BuildAndInstall {
    type Params = BuildAndInstallParams;
    const NAME: &'static str = "build_and_install";
    const DESCRIPTION: &'static str = "Build an app project and install what it made.";
    const EFFECT: Effect = Effect::Acts;
    const TIMEOUT: Duration = CALL_TIMEOUT;

    async fn run(call: &Call<'_>, params: BuildAndInstallParams) -> Result<Answer, Refusal> {
        let (platform, timeout_ms) = (params.device.platform, params.timeout_ms.or(params.timeout));
        drop(params.project_type);
        let plan = BuildPlan::read(call, &params.project_path, platform, params.variant, timeout_ms)?;
        install::build_and_install(call, plan, &params.device).await
    }
}
