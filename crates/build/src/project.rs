//! What a folder is: a Gradle build, a React Native, Flutter or Xcode project. Files decide, names do not.

mod gradle;
mod xcode;

use std::fmt;
use std::path::{Path, PathBuf};

pub use gradle::{GradleProject, Module};
pub use xcode::XcodeProject;

/// Largest file of a project that is read to find out what it is.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Platform {
    Android,
    Ios,
}

/// A project that can be built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Project {
    Gradle(GradleProject),
    /// `gradle` is the build in its folder `android`.
    ReactNative {
        root: PathBuf,
        gradle: GradleProject,
    },
    Flutter {
        root: PathBuf,
        platform: Platform,
    },
    Xcode(XcodeProject),
}

impl Project {
    /// The folder in which the build runs programs and writes files.
    pub fn root(&self) -> &Path {
        match self {
            Project::Gradle(gradle) => &gradle.folder,
            Project::ReactNative { root, .. } | Project::Flutter { root, .. } => root,
            Project::Xcode(xcode) => &xcode.folder,
        }
    }

    pub fn platform(&self) -> Platform {
        match self {
            Project::Gradle(_) | Project::ReactNative { .. } => Platform::Android,
            Project::Flutter { platform, .. } => *platform,
            Project::Xcode(_) => Platform::Ios,
        }
    }

    pub fn kind(&self) -> &'static str {
        match self {
            Project::Gradle(_) => "gradle",
            Project::ReactNative { .. } => "react-native",
            Project::Flutter { .. } => "flutter",
            Project::Xcode(_) => "xcode",
        }
    }
}

/// Why a folder cannot be built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProjectError {
    /// There is no such folder.
    NoFolder(PathBuf),
    /// The folder holds nothing that is known to be a project.
    Unknown(PathBuf),
    /// It is a Gradle build, and no module of it makes an app.
    NoApp(PathBuf),
    /// The folder holds no project for the platform that was asked for.
    NotForPlatform { folder: PathBuf, platform: Platform },
    /// Several are possible, and only the caller knows which is meant.
    Ambiguous { what: &'static str, candidates: Vec<String> },
}

impl fmt::Display for ProjectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProjectError::NoFolder(path) => write!(f, "{} is no folder", path.display()),
            ProjectError::Unknown(path) => write!(
                f,
                "{} holds no project: neither settings.gradle(.kts) nor build.gradle(.kts), package.json with \
                 react-native, pubspec.yaml with flutter, .xcworkspace or .xcodeproj",
                path.display()
            ),
            ProjectError::NoApp(path) => {
                write!(f, "no module of {} applies the plugin com.android.application", path.display())
            }
            ProjectError::NotForPlatform { folder, platform } => {
                let platform = if *platform == Platform::Ios { "iOS" } else { "Android" };
                write!(f, "{} holds no project for {platform}", folder.display())
            }
            ProjectError::Ambiguous { what, candidates } => {
                write!(f, "the project has {} {what}, and one has to be named", candidates.len())
            }
        }
    }
}

/// Finds out what a folder is. Without a platform an Android build is preferred to an iOS build.
pub fn detect(folder: &Path, platform: Option<Platform>) -> Result<Project, ProjectError> {
    if !folder.is_dir() {
        return Err(ProjectError::NoFolder(folder.to_owned()));
    }
    let none = |platform| ProjectError::NotForPlatform { folder: folder.to_owned(), platform };
    if is_flutter(folder) {
        let platform = platform.unwrap_or(Platform::Android);
        return Ok(Project::Flutter { root: folder.to_owned(), platform });
    }
    let react_native = is_react_native(folder);
    if platform != Some(Platform::Ios) {
        if react_native && folder.join("android").is_dir() {
            let gradle = gradle::read(&folder.join("android"))?.ok_or_else(|| none(Platform::Android))?;
            return Ok(Project::ReactNative { root: folder.to_owned(), gradle });
        }
        if let Some(gradle) = gradle::read(folder)? {
            return Ok(Project::Gradle(gradle));
        }
    }
    if platform != Some(Platform::Android) {
        for below in [folder.to_owned(), folder.join("ios"), folder.join("iosApp")] {
            if let Some(xcode) = xcode::read(&below)? {
                return Ok(Project::Xcode(xcode));
            }
        }
    }
    let known = react_native || gradle::is_gradle(folder) || xcode::read(folder)?.is_some();
    match platform.filter(|_| known) {
        Some(platform) => Err(none(platform)),
        None => Err(ProjectError::Unknown(folder.to_owned())),
    }
}

fn is_flutter(folder: &Path) -> bool {
    let Some(text) = read_text(&folder.join("pubspec.yaml")) else { return false };
    text.lines().any(|line| {
        let line = line.trim_end();
        line == "flutter:" || line.trim_start() == "sdk: flutter"
    })
}

fn is_react_native(folder: &Path) -> bool {
    #[derive(serde::Deserialize)]
    struct Manifest {
        #[serde(default)]
        dependencies: std::collections::BTreeMap<String, serde::de::IgnoredAny>,
    }
    let manifest =
        read_text(&folder.join("package.json")).and_then(|text| serde_json::from_str::<Manifest>(&text).ok());
    manifest.is_some_and(|manifest| manifest.dependencies.contains_key("react-native"))
}

/// The text of a small file; nothing if it is not there, too large or not a file.
pub(crate) fn read_text(path: &Path) -> Option<String> {
    let about = path.metadata().ok()?;
    if !about.is_file() || about.len() > FILE_BYTES_MAX {
        return None;
    }
    Some(String::from_utf8_lossy(&std::fs::read(path).ok()?).into_owned())
}

/// The entries of a folder in the order of their names.
pub(crate) fn entries(folder: &Path) -> Vec<PathBuf> {
    /// Entries of one folder that are looked at.
    const ENTRIES_MAX: usize = 5000;
    let Ok(read) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut all: Vec<PathBuf> = read.flatten().take(ENTRIES_MAX).map(|entry| entry.path()).collect();
    all.sort();
    all
}
