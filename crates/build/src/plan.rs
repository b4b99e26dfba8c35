//! From a project and a variant to the one command that builds it.
//!
//! Architecture invariant: words of the caller become whole arguments of a program. A word that the program could take
//! for an option is refused.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::environment::{Environment, is_program};
use crate::process::Command;
use crate::project::{GradleProject, Platform, Project, XcodeProject};
use crate::toolchain::{self, MEND_GRADLE, Missing};

/// Characters of a variant or task.
const VARIANT_CHARS_MAX: usize = 200;
/// Verbs with which the tasks of the Android Gradle plugin begin.
const TASK_VERBS: [&str; 4] = ["assemble", "bundle", "package", "install"];
const MODES: [&str; 3] = ["debug", "profile", "release"];

/// What is run, and where its artifact will be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    pub command: Command,
    /// The task or the arguments, in the words of the build tool.
    pub task: String,
    pub target: Target,
}

/// Where the artifact of a build is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Folders in which the build puts what it makes, the best first.
    pub folders: Vec<PathBuf>,
    /// `debug` or `freeRelease`, as the Android Gradle plugin spells it; `None` if the task does not tell.
    pub variant: Option<String>,
    pub platform: Platform,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanError {
    Missing(Missing),
    /// The variant is none that a build tool could know.
    Variant(String),
}

pub fn plan(project: &Project, variant: Option<&str>, environment: &Environment) -> Result<Plan, PlanError> {
    if let Some(variant) = variant {
        check(variant)?;
    }
    match project {
        Project::Gradle(gradle) | Project::ReactNative { gradle, .. } => {
            gradle_plan(gradle, variant, environment)
        }
        Project::Flutter { root, platform } => flutter_plan(root, *platform, variant, environment),
        Project::Xcode(xcode) => xcode_plan(xcode, variant, environment),
    }
}

fn check(variant: &str) -> Result<(), PlanError> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, ':' | '_' | '.' | '-');
    let is_fine = !variant.is_empty()
        && variant.len() <= VARIANT_CHARS_MAX
        && variant.chars().all(allowed)
        && !variant.starts_with(['-', '.']);
    if is_fine { Ok(()) } else { Err(PlanError::Variant(variant.to_owned())) }
}

/// A Gradle task and the variant that it builds.
#[derive(Debug, PartialEq, Eq)]
struct Task {
    name: String,
    variant: Option<String>,
}

/// `Debug` and `debug` are `:app:assembleDebug`; a task is taken as it is, in its module.
fn task(variant: &str, module: &str) -> Task {
    if variant.contains(':') {
        let last = variant.rsplit(':').next().unwrap_or_default();
        return Task { name: variant.to_owned(), variant: built_by(last) };
    }
    let is_task = |verb: &&str| variant.strip_prefix(*verb).is_some_and(|rest| !rest.starts_with(is_lower));
    if TASK_VERBS.iter().any(is_task) {
        return Task { name: format!("{module}:{variant}"), variant: built_by(variant) };
    }
    let name = format!("assemble{}", capitalised(variant));
    Task { name: format!("{module}:{name}"), variant: built_by(&name) }
}

fn is_lower(c: char) -> bool {
    c.is_ascii_lowercase()
}

/// The variant that an `assemble` task makes.
fn built_by(task: &str) -> Option<String> {
    let rest = task.strip_prefix("assemble").filter(|rest| !rest.is_empty())?;
    let mut characters = rest.chars();
    let first = characters.next()?.to_ascii_lowercase();
    Some(std::iter::once(first).chain(characters).collect())
}

fn capitalised(word: &str) -> String {
    let mut characters = word.chars();
    let first = characters.next().map(|c| c.to_ascii_uppercase());
    first.into_iter().chain(characters).collect()
}

fn gradle_plan(
    gradle: &GradleProject,
    variant: Option<&str>,
    environment: &Environment,
) -> Result<Plan, PlanError> {
    let chosen = variant.or_else(|| environment.text("MCP_GRADLE_TASK")).unwrap_or("debug");
    check(chosen)?;
    let task = task(chosen, &gradle.module.path);
    let jdk = toolchain::find_jdk(environment, Some(&gradle.folder)).map_err(PlanError::Missing)?;
    let (program, mut arguments) = gradle_program(&gradle.folder, environment)?;
    arguments.extend(
        [task.name.clone(), "--console=plain".to_owned(), "--no-daemon".to_owned()].map(OsString::from),
    );
    let workers = environment.text("MCP_GRADLE_WORKERS").or_else(|| environment.text("MCP_BUILD_JOBS"));
    if let Some(workers) = workers.and_then(|workers| workers.parse::<u16>().ok()) {
        arguments.push(format!("--max-workers={workers}").into());
    }
    if environment.text("MCP_GRADLE_CACHE") == Some("0") {
        arguments.push("-Dorg.gradle.caching=false".into());
    }
    let mut home = OsString::from("-Dorg.gradle.java.home=");
    home.push(&jdk.path);
    arguments.push(home);
    let mut variables = environment.variables().clone();
    variables.insert("JAVA_HOME".into(), jdk.path.clone().into());
    prepend_path(&mut variables, &jdk.path.join("bin"));
    if let Some(sdk) = toolchain::find_sdk(environment, Some(&gradle.folder)) {
        variables.insert("ANDROID_HOME".into(), sdk.path.into());
    }
    let folders = vec![gradle.module.folder.join("build/outputs/apk")];
    let command = Command { program, arguments, folder: gradle.folder.clone(), variables };
    let target = Target { folders, variant: task.variant, platform: Platform::Android };
    Ok(Plan { command, task: task.name, target })
}

/// The project's own wrapper, else Gradle from PATH. A wrapper that is not executable is run by the system's shell as a
/// script; its file is not changed.
fn gradle_program(folder: &Path, environment: &Environment) -> Result<(PathBuf, Vec<OsString>), PlanError> {
    let wrapper = folder.join(if cfg!(windows) { "gradlew.bat" } else { "gradlew" });
    if is_program(&wrapper) {
        return Ok((wrapper, Vec::new()));
    }
    if wrapper.is_file() {
        return Ok((PathBuf::from("/bin/sh"), vec![wrapper.into()]));
    }
    let missing = || {
        let what = format!("{} has no gradlew, and no gradle is on PATH", folder.display());
        PlanError::Missing(Missing { what, mend: MEND_GRADLE })
    };
    Ok((environment.on_path("gradle").ok_or_else(missing)?, Vec::new()))
}

fn prepend_path(variables: &mut BTreeMap<OsString, OsString>, folder: &Path) {
    let old = variables.get(OsStr::new("PATH")).cloned().unwrap_or_default();
    let folders = std::iter::once(folder.to_owned()).chain(std::env::split_paths(&old));
    if let Ok(joined) = std::env::join_paths(folders) {
        variables.insert("PATH".into(), joined);
    }
}

/// `freeRelease` is the flavour `free` in the mode `release`; a flavour alone is built for debugging.
fn flavour_and_mode(variant: &str) -> (Option<String>, &'static str) {
    let lower = variant.to_ascii_lowercase();
    match MODES.iter().find(|mode| lower.ends_with(**mode)) {
        Some(mode) => {
            let flavour = &variant[..variant.len() - mode.len()];
            (Some(flavour.to_owned()).filter(|flavour| !flavour.is_empty()), mode)
        }
        None => (Some(variant.to_owned()), "debug"),
    }
}

fn flutter_plan(
    root: &Path,
    platform: Platform,
    variant: Option<&str>,
    environment: &Environment,
) -> Result<Plan, PlanError> {
    let flutter = toolchain::find_flutter(environment).map_err(PlanError::Missing)?;
    let (flavour, mode) = flavour_and_mode(variant.unwrap_or("debug"));
    let mut arguments = match platform {
        Platform::Android => vec!["build".to_owned(), "apk".to_owned()],
        Platform::Ios => vec!["build".to_owned(), "ios".to_owned(), "--simulator".to_owned()],
    };
    arguments.push(format!("--{mode}"));
    arguments.extend(flavour.iter().map(|flavour| format!("--flavor={flavour}")));
    let folders = match platform {
        Platform::Android => {
            ["build/app/outputs/apk", "build/app/outputs/flutter-apk"].map(|f| root.join(f)).to_vec()
        }
        Platform::Ios => vec![root.join("build/ios/iphonesimulator")],
    };
    let built = flavour.map_or_else(|| mode.to_owned(), |flavour| flavour + &capitalised(mode));
    let mut variables = environment.variables().clone();
    if let Ok(jdk) = toolchain::find_jdk(environment, Some(&root.join("android"))) {
        variables.insert("JAVA_HOME".into(), jdk.path.into());
    }
    let task = format!("flutter {}", arguments.join(" "));
    let arguments = arguments.into_iter().map(OsString::from).collect();
    let command = Command { program: flutter.path, arguments, folder: root.to_owned(), variables };
    Ok(Plan { command, task, target: Target { folders, variant: Some(built), platform } })
}

fn xcode_plan(
    xcode: &XcodeProject,
    variant: Option<&str>,
    environment: &Environment,
) -> Result<Plan, PlanError> {
    let program = toolchain::find_xcodebuild(environment).map_err(PlanError::Missing)?.path;
    let configuration = capitalised(variant.unwrap_or("Debug"));
    let derived =
        environment.folder("MCP_DERIVED_DATA").unwrap_or_else(|| xcode.folder.join("build/DerivedData"));
    let udid =
        environment.text("MCP_XCODE_DESTINATION_UDID").map(|id| format!("platform=iOS Simulator,id={id}"));
    let chosen = udid.or_else(|| environment.text("MCP_XCODE_DESTINATION").map(str::to_owned));
    let destination = chosen.unwrap_or_else(|| "generic/platform=iOS Simulator".to_owned());
    let file = if xcode.is_workspace() { "-workspace" } else { "-project" };
    let mut arguments: Vec<OsString> = vec![file.into(), xcode.file.clone().into()];
    arguments.extend(["-scheme", &xcode.scheme, "-configuration", &configuration].map(OsString::from));
    arguments.extend(["-sdk", "iphonesimulator", "-destination", &destination].map(OsString::from));
    arguments.extend([OsString::from("-derivedDataPath"), derived.clone().into()]);
    if let Some(jobs) = environment.text("MCP_XCODE_JOBS").and_then(|jobs| jobs.parse::<u16>().ok()) {
        arguments.extend(["-jobs".to_owned(), jobs.to_string()].map(OsString::from));
    }
    if environment.text("MCP_FORCE_CLEAN") == Some("1") {
        arguments.push("clean".into());
    }
    arguments.push("build".into());
    let folders = vec![derived.join("Build/Products").join(format!("{configuration}-iphonesimulator"))];
    let task = format!("xcodebuild {} {configuration}", xcode.scheme);
    let variables = environment.variables().clone();
    let command = Command { program, arguments, folder: xcode.folder.clone(), variables };
    Ok(Plan {
        command,
        task,
        target: Target { folders, variant: Some(configuration), platform: Platform::Ios },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variant_becomes_the_task_of_its_module() {
        // W33
        let named = |variant: &str| {
            let task = task(variant, ":app");
            (task.name, task.variant.unwrap_or_default())
        };
        let debug = (":app:assembleDebug".to_owned(), "debug".to_owned());
        for variant in ["Debug", "debug", "assembleDebug", ":app:assembleDebug"] {
            assert_eq!(named(variant), debug, "{variant}");
        }
        assert_eq!(named("freeRelease"), (":app:assembleFreeRelease".to_owned(), "freeRelease".to_owned()));
        assert_eq!(named(":wear:bundleRelease"), (":wear:bundleRelease".to_owned(), String::new()));
        assert_eq!(named("packaged").0, ":app:assemblePackaged", "a flavour that begins like a verb");
        assert_eq!(task("debug", "").name, ":assembleDebug", "the only module is the root");
    }

    #[test]
    fn words_that_could_be_options_or_more_than_one_word_are_refused() {
        // S6, SE-01
        for variant in
            ["", "-Pkey=1", "--init-script=/tmp/x", "debug --offline", "a;b", "$(id)", "a\nb", ".."]
        {
            assert_eq!(check(variant), Err(PlanError::Variant(variant.to_owned())), "{variant:?}");
        }
        assert_eq!(check("free-Release_2"), Ok(()));
    }

    #[test]
    fn a_flutter_variant_is_a_flavour_and_a_mode() {
        let read = |variant| flavour_and_mode(variant);
        assert_eq!(read("debug"), (None, "debug"));
        assert_eq!(read("Release"), (None, "release"));
        assert_eq!(read("freeRelease"), (Some("free".to_owned()), "release"));
        assert_eq!(read("staging"), (Some("staging".to_owned()), "debug"));
    }
}
