//! Where the tools of builds are. Nothing is started to find out: files tell what is there and which version it is.

use std::path::{Path, PathBuf};

use crate::environment::{Environment, is_program};
use crate::project::{entries, read_text};

/// The oldest Java that the Android Gradle plugin 8 runs on.
const JAVA_MIN: u32 = 17;
/// Folders with JDKs that are looked at.
const JDKS_MAX: usize = 64;
/// Android Studio's own Java on macOS and Linux.
const STUDIO_JDKS: [&str; 6] = [
    "Applications/Android Studio.app/Contents/jbr/Contents/Home",
    "Applications/Android Studio.app/Contents/jre/Contents/Home",
    "opt/android-studio/jbr",
    "opt/android-studio/jre",
    "usr/local/android-studio/jbr",
    "snap/android-studio/current/jbr",
];
/// Folders of JDKs; those of Homebrew hold other programs too.
const JVM_FOLDERS: [&str; 4] =
    ["usr/lib/jvm", "Library/Java/JavaVirtualMachines", "opt/homebrew/opt", "usr/local/opt"];
const SYSTEM_SDKS: [&str; 2] = ["usr/lib/android-sdk", "opt/android-sdk"];
const HOME_SDKS: [&str; 3] = ["Android/Sdk", "Library/Android/sdk", "AppData/Local/Android/Sdk"];

/// A tool that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    pub path: PathBuf,
    /// The variable, file or folder that led to it.
    pub from: String,
    pub version: Option<String>,
}

/// What is known of one tool, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolStatus {
    pub name: &'static str,
    pub found: Option<PathBuf>,
    pub from: Option<String>,
    pub version: Option<String>,
    pub problem: Option<String>,
    /// The command or step that mends the problem.
    pub mend: Option<&'static str>,
}

/// A tool that a build needs and that is not there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    pub what: String,
    pub mend: &'static str,
}

pub const MEND_JDK: &str =
    "install a JDK 17 (apt install openjdk-17-jdk, brew install openjdk@17) or set JAVA_HOME";
const MEND_SDK: &str =
    "install Android Studio or the command line tools, and set ANDROID_HOME to the SDK folder";
pub const MEND_GRADLE: &str = "add the Gradle wrapper to the project (gradle wrapper), or install Gradle";
pub const MEND_FLUTTER: &str = "install Flutter and put flutter/bin on PATH, or set FLUTTER_PATH";
pub const MEND_XCODE: &str = "install Xcode on a Mac and run xcode-select --install";
const MEND_NODE: &str = "install Node 18 or later; React Native builds need it on PATH";

/// Looks for every tool of every kind of project. Reads a few small files and folders.
pub fn survey(environment: &Environment) -> Vec<ToolStatus> {
    let status = |name, found: Option<Found>, problem: Option<String>, mend| match found {
        Some(found) => ToolStatus {
            name,
            found: Some(found.path),
            from: Some(found.from),
            version: found.version,
            mend: problem.as_ref().map(|_| mend),
            problem,
        },
        None => {
            let problem = problem.or_else(|| Some(format!("no {name} was found")));
            ToolStatus { name, found: None, from: None, version: None, problem, mend: Some(mend) }
        }
    };
    let (jdk, jdk_problem) = match find_jdk(environment, None) {
        Ok(found) => (Some(found), None),
        Err(missing) => (None, Some(missing.what)),
    };
    let path = |name: &str| on_path(environment, name);
    vec![
        status("JDK", jdk, jdk_problem, MEND_JDK),
        status("Android SDK", find_sdk(environment, None), None, MEND_SDK),
        status("gradle", path("gradle"), None, MEND_GRADLE),
        status("node", path("node"), None, MEND_NODE),
        status("flutter", find_flutter(environment).ok(), None, MEND_FLUTTER),
        status("xcodebuild", find_xcodebuild(environment).ok(), None, MEND_XCODE),
    ]
}

fn on_path(environment: &Environment, program: &str) -> Option<Found> {
    let path = environment.on_path(program)?;
    Some(Found { path, from: "PATH".to_owned(), version: None })
}

/// The Java that runs Gradle: what was chosen for Gradle, Android Studio's, the usual places. The first one that is new
/// enough.
pub fn find_jdk(environment: &Environment, project: Option<&Path>) -> Result<Found, Missing> {
    let mut too_old = Vec::new();
    for (home, from) in jdk_candidates(environment, project) {
        let java = home.join("bin").join(if cfg!(windows) { "java.exe" } else { "java" });
        if !is_program(&java) {
            continue;
        }
        let version = java_version(&home);
        match version.as_deref().map(major) {
            // A JDK that does not tell its version is given the benefit of the doubt.
            None | Some(None) => return Ok(Found { path: home, from, version }),
            Some(Some(number)) if number >= JAVA_MIN => return Ok(Found { path: home, from, version }),
            Some(Some(number)) => too_old.push(format!("{} ({from}) is Java {number}", home.display())),
        }
    }
    let what = match too_old.first() {
        Some(old) => format!("no Java {JAVA_MIN} or newer was found; {old}"),
        None => "no Java was found".to_owned(),
    };
    Err(Missing { what, mend: MEND_JDK })
}

fn jdk_candidates(environment: &Environment, project: Option<&Path>) -> Vec<(PathBuf, String)> {
    let variable = |name: &str| environment.folder(name).map(|home| (home, name.to_owned()));
    let mut all: Vec<(PathBuf, String)> = Vec::new();
    all.extend(variable("GRADLE_JAVA_HOME"));
    let user_home =
        environment.folder("GRADLE_USER_HOME").or_else(|| Some(environment.home()?.join(".gradle")));
    let folders =
        project.map(Path::to_owned).into_iter().chain(user_home).chain([environment.system("etc/gradle")]);
    for folder in folders {
        let file = folder.join("gradle.properties");
        let home = property(&file, "org.gradle.java.home").map(PathBuf::from);
        all.extend(home.map(|home| (home, file.display().to_string())));
    }
    for name in ["ANDROID_STUDIO_JDK", "ANDROID_STUDIO_JBR", "JAVA_HOME"] {
        all.extend(variable(name));
    }
    for folder in STUDIO_JDKS {
        all.push((environment.system(folder), "Android Studio".to_owned()));
    }
    for folder in JVM_FOLDERS.map(|folder| environment.system(folder)) {
        let is_jdk = |home: &PathBuf| !folder.ends_with("opt") || named_jdk(home);
        for home in entries(&folder).into_iter().filter(is_jdk).take(JDKS_MAX) {
            let inner = home.join("Contents/Home");
            all.push((if inner.is_dir() { inner } else { home }, folder.display().to_string()));
        }
    }
    let on_path = environment.on_path("java").and_then(|java| java.canonicalize().ok());
    let home = on_path.and_then(|java| Some(java.parent()?.parent()?.to_owned()));
    all.extend(home.map(|home| (home, "PATH".to_owned())));
    all
}

fn named_jdk(home: &Path) -> bool {
    home.file_name().is_some_and(|name| name.to_string_lossy().contains("jdk"))
}

/// `JAVA_VERSION` of the file `release`, which every JDK since 7 has.
fn java_version(home: &Path) -> Option<String> {
    let release = read_text(&home.join("release"))?;
    let value = release.lines().find_map(|line| line.trim().strip_prefix("JAVA_VERSION="))?;
    Some(value.trim_matches('"').to_owned())
}

/// The first number that counts: `1.8.0` is 8, `17.0.9` is 17.
fn major(version: &str) -> Option<u32> {
    let version = version.strip_prefix("1.").unwrap_or(version);
    version.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// The value of a key in a properties file.
fn property(file: &Path, key: &str) -> Option<String> {
    let text = read_text(file)?;
    let value =
        text.lines().find_map(|line| line.trim().strip_prefix(key)?.trim_start().strip_prefix('='))?;
    Some(value.trim().replace("\\:", ":").replace("\\\\", "\\")).filter(|value| !value.is_empty())
}

/// The Android SDK: `local.properties` of the project, the variables, the usual folders.
pub fn find_sdk(environment: &Environment, project: Option<&Path>) -> Option<Found> {
    let mut all: Vec<(PathBuf, String)> = Vec::new();
    if let Some(file) = project.map(|project| project.join("local.properties")) {
        all.extend(property(&file, "sdk.dir").map(|dir| (PathBuf::from(dir), file.display().to_string())));
    }
    for name in ["ANDROID_HOME", "ANDROID_SDK_ROOT"] {
        all.extend(environment.folder(name).map(|dir| (dir, name.to_owned())));
    }
    let home = environment.home();
    let in_home = HOME_SDKS.iter().filter_map(|folder| Some(home.as_ref()?.join(folder)));
    let in_system = SYSTEM_SDKS.iter().map(|folder| environment.system(folder));
    all.extend(in_home.chain(in_system).map(|dir| (dir, "usual folder".to_owned())));
    let (path, from) = all.into_iter().find(|(path, _)| path.is_dir())?;
    Some(Found { path, from, version: None })
}

pub fn find_flutter(environment: &Environment) -> Result<Found, Missing> {
    let chosen = environment.folder("FLUTTER_PATH").filter(|path| is_program(path));
    let chosen = chosen.map(|path| Found { path, from: "FLUTTER_PATH".to_owned(), version: None });
    let mut found = chosen
        .or_else(|| on_path(environment, "flutter"))
        .ok_or_else(|| Missing { what: "no flutter was found".to_owned(), mend: MEND_FLUTTER })?;
    let root = found.path.canonicalize().ok().and_then(|path| Some(path.parent()?.parent()?.to_owned()));
    found.version = root.and_then(|root| read_text(&root.join("version"))).map(|text| text.trim().to_owned());
    Ok(found)
}

pub fn find_xcodebuild(environment: &Environment) -> Result<Found, Missing> {
    let chosen = environment.folder("XCODEBUILD_PATH").filter(|path| is_program(path));
    let chosen = chosen.map(|path| Found { path, from: "XCODEBUILD_PATH".to_owned(), version: None });
    chosen
        .or_else(|| on_path(environment, "xcodebuild"))
        .ok_or_else(|| Missing { what: "no xcodebuild was found".to_owned(), mend: MEND_XCODE })
}
