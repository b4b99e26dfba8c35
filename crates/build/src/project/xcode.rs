//! Xcode projects: the workspace or project file, and the scheme that builds the app.

use std::path::{Path, PathBuf};

use super::{ProjectError, entries};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct XcodeProject {
    pub folder: PathBuf,
    /// A `.xcworkspace` or `.xcodeproj`.
    pub file: PathBuf,
    pub scheme: String,
}

impl XcodeProject {
    pub fn is_workspace(&self) -> bool {
        has_extension(&self.file, "xcworkspace")
    }
}

/// `Ok(None)` if the folder has no Xcode file.
pub fn read(folder: &Path) -> Result<Option<XcodeProject>, ProjectError> {
    let all = entries(folder);
    let with = |extension: &str| -> Vec<PathBuf> {
        all.iter().filter(|path| has_extension(path, extension) && path.is_dir()).cloned().collect()
    };
    // A workspace of CocoaPods stands beside the project that it builds.
    let (workspaces, projects) = (with("xcworkspace"), with("xcodeproj"));
    let files = if workspaces.is_empty() { projects.clone() } else { workspaces };
    let file = match &files[..] {
        [] => return Ok(None),
        [only] => only.clone(),
        _ => return Err(ambiguous("Xcode files", &files)),
    };
    let schemes: Vec<String> =
        std::iter::once(&file).chain(&projects).flat_map(|file| shared_schemes(file)).collect();
    let own = stem(&file);
    let scheme = match &schemes[..] {
        // Xcode makes a scheme of the project's name when none is shared.
        [] => own,
        [only] => only.clone(),
        _ if schemes.contains(&own) => own,
        _ => return Err(ProjectError::Ambiguous { what: "schemes", candidates: schemes }),
    };
    Ok(Some(XcodeProject { folder: folder.to_owned(), file, scheme }))
}

fn shared_schemes(file: &Path) -> Vec<String> {
    let all = entries(&file.join("xcshareddata/xcschemes"));
    let schemes = all.iter().filter(|path| has_extension(path, "xcscheme"));
    schemes.map(|path| stem(path)).filter(|name| !name.ends_with("Tests")).collect()
}

fn ambiguous(what: &'static str, files: &[PathBuf]) -> ProjectError {
    let candidates = files.iter().map(|file| file.display().to_string()).collect();
    ProjectError::Ambiguous { what, candidates }
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found == extension)
}

fn stem(path: &Path) -> String {
    path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}
