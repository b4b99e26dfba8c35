//! The file that a build made: of this module and this variant, never one that was there by chance (W33).

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::Deserialize;

use crate::plan::Target;
use crate::project::{Platform, entries, read_text};

/// Folders below the outputs of a build.
const DEPTH_MAX: usize = 4;
/// Files of one build that are looked at.
const FILES_MAX: usize = 500;
/// File systems keep times this coarsely at worst.
const TIME_STEP: Duration = Duration::from_secs(2);

/// What a build made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artifact {
    pub file: PathBuf,
    /// True if this build wrote the file; false if the build tool found it up to date.
    pub is_new: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArtifactError {
    /// The build ended well and made nothing that can be installed. The folders that were looked at.
    None(Vec<PathBuf>),
    /// The variant is built without a signature, which no device accepts.
    Unsigned(PathBuf),
    /// The build made several apps, for different kinds of devices.
    Several(Vec<PathBuf>),
}

/// Finds the artifact of a build that began at `began`.
pub fn find(target: &Target, began: SystemTime) -> Result<Artifact, ArtifactError> {
    if target.platform == Platform::Ios {
        return find_app_folder(target, began);
    }
    let mut files = Vec::new();
    for folder in &target.folders {
        collect(folder, 0, &mut files);
    }
    if let Some(variant) = &target.variant
        && let Some(found) = in_metadata(&files, variant, began)
    {
        return found;
    }
    let apks: Vec<PathBuf> = files.into_iter().filter(|file| has_extension(file, "apk")).collect();
    let fits = |file: &&PathBuf| !is_test(file) && target.variant.as_deref().is_none_or(|v| is_of(file, v));
    let candidates: Vec<PathBuf> = apks.iter().filter(fits).cloned().collect();
    let (unsigned, usable): (Vec<_>, Vec<_>) = candidates.into_iter().partition(|file| is_unsigned(file));
    let fresh: Vec<PathBuf> = usable.iter().filter(|file| is_newer(file, began)).cloned().collect();
    // Without a variant only the time tells which file belongs to this build.
    let chosen = match (fresh.is_empty(), &target.variant) {
        (false, _) => fresh,
        (true, Some(_)) => usable,
        (true, None) => Vec::new(),
    };
    match &without_copies(chosen)[..] {
        [] => Err(unsigned
            .into_iter()
            .next()
            .map_or_else(|| ArtifactError::None(target.folders.clone()), ArtifactError::Unsigned)),
        [only] => Ok(Artifact { is_new: is_newer(only, began), file: only.clone() }),
        several => Err(ArtifactError::Several(several.to_vec())),
    }
}

/// What the Android Gradle plugin writes beside the files of a variant.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    artifact_type: ArtifactType,
    variant_name: String,
    #[serde(default)]
    elements: Vec<Element>,
}

#[derive(Debug, Deserialize)]
struct ArtifactType {
    #[serde(rename = "type")]
    kind: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Element {
    #[serde(rename = "type", default)]
    kind: String,
    output_file: String,
}

/// The plugin's own word on what belongs to a variant; `None` where it left none.
fn in_metadata(
    files: &[PathBuf],
    variant: &str,
    began: SystemTime,
) -> Option<Result<Artifact, ArtifactError>> {
    let (folder, metadata) = files.iter().find_map(|file| {
        if file.file_name()? != "output-metadata.json" {
            return None;
        }
        let metadata: Metadata = serde_json::from_str(&read_text(file)?).ok()?;
        let fits =
            metadata.artifact_type.kind == "APK" && metadata.variant_name.eq_ignore_ascii_case(variant);
        fits.then_some((file.parent()?.to_owned(), metadata))
    })?;
    // The name comes out of a file of the project: it may only name a file beside it.
    let named = |element: &Element| {
        let name = Path::new(&element.output_file).file_name()?;
        Some(folder.join(name)).filter(|file| file.is_file())
    };
    let universal = metadata.elements.iter().find(|element| element.kind == "UNIVERSAL").and_then(named);
    let made: Vec<PathBuf> = match universal {
        Some(file) => vec![file],
        None => metadata.elements.iter().filter_map(named).collect(),
    };
    Some(match &made[..] {
        [] => Err(ArtifactError::None(vec![folder])),
        [only] if is_unsigned(only) => Err(ArtifactError::Unsigned(only.clone())),
        [only] => Ok(Artifact { is_new: is_newer(only, began), file: only.clone() }),
        several => Err(ArtifactError::Several(several.to_vec())),
    })
}

fn find_app_folder(target: &Target, began: SystemTime) -> Result<Artifact, ArtifactError> {
    let all = target.folders.iter().flat_map(|folder| entries(folder));
    let is_app = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        has_extension(path, "app") && path.is_dir() && !name.ends_with("-Runner.app")
    };
    match &all.filter(is_app).collect::<Vec<_>>()[..] {
        [] => Err(ArtifactError::None(target.folders.clone())),
        [only] => Ok(Artifact { is_new: is_newer(only, began), file: only.clone() }),
        several => Err(ArtifactError::Several(several.to_vec())),
    }
}

fn collect(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) {
    for path in entries(folder) {
        let Ok(about) = path.symlink_metadata() else { continue };
        if about.is_dir() && depth < DEPTH_MAX {
            collect(&path, depth + 1, files);
        } else if about.is_file() && files.len() < FILES_MAX {
            files.push(path);
        }
    }
}

/// Flutter puts a copy of the same file into a second folder; the first one counts.
fn without_copies(files: Vec<PathBuf>) -> Vec<PathBuf> {
    let mut kept: Vec<PathBuf> = Vec::new();
    for file in files {
        if !kept.iter().any(|other| other.file_name() == file.file_name()) {
            kept.push(file);
        }
    }
    kept
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found == extension)
}

fn is_newer(file: &Path, began: SystemTime) -> bool {
    let changed = file.metadata().and_then(|about| about.modified());
    changed.is_ok_and(|changed| changed + TIME_STEP >= began)
}

fn plain(text: &str) -> String {
    text.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

fn is_test(file: &Path) -> bool {
    file.to_string_lossy().to_ascii_lowercase().contains("androidtest")
}

fn is_unsigned(file: &Path) -> bool {
    let name = file.file_name().map(|name| name.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    ["-unsigned", "-unaligned"].iter().any(|word| name.contains(word))
}

/// True if the file's folders or its name are those of the variant: `free/release/app-free-release.apk`.
fn is_of(file: &Path, variant: &str) -> bool {
    let variant = plain(variant);
    let folders: Vec<String> =
        file.parent().into_iter().flat_map(Path::iter).map(|f| plain(&f.to_string_lossy())).collect();
    let ends = (1..=2).any(|count| {
        let from = folders.len().saturating_sub(count);
        folders[from..].concat() == variant
    });
    let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let words: Vec<String> =
        stem.split('-').skip(1).map(plain).filter(|w| w != "unsigned" && w != "unaligned").collect();
    ends || words.concat() == variant
}
