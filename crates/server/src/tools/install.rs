//! Installing app files, and projects after building them.

use std::path::{Path, PathBuf};
use std::time::Duration;

use mdm_build::apk::{self, Manifest};
use mdm_core::action::request::{Act, ActPatience, Action};
use mdm_core::failure::{Cause, Failure};
use mdm_core::port::{AppCommand, DeviceErrorKind};
use schemars::JsonSchema;
use serde::Deserialize;

use super::action::{NamedFacts, perform};
use super::build::{self, BuildOutcome, BuildPlan};
use super::{CALL_TIMEOUT, Call, Effect, Tool};
use crate::answer::Answer;
use crate::args::DeviceArg;
use crate::facts_text;
use crate::refusal::{Hint, Refusal};

/// Large apps over a slow connection take this long.
const INSTALL_MS: u64 = 10 * 60 * 1000;
/// Split files of one app.
const SPLITS_MAX: usize = 100;

/// The predecessor took one path; several are the splits of one app.
#[derive(Deserialize)]
#[serde(untagged)]
enum PathsArg {
    One(PathBuf),
    Several(Vec<PathBuf>),
}

#[derive(Deserialize, JsonSchema)]
pub struct InstallParams {
    /// APK, folder of split APKs, or project folder to build first
    #[schemars(with = "String")]
    app_path: PathsArg,
    #[schemars(extend("hidden" = true))]
    variant: Option<String>,
    #[schemars(extend("hidden" = true))]
    timeout_ms: Option<u64>,
    #[schemars(extend("hidden" = true))]
    #[serde(rename = "project_type")]
    _project_type: Option<String>,
    #[serde(flatten)]
    device: DeviceArg,
}

/// The files of one app, and what they say of themselves.
pub struct AppFile {
    files: Vec<PathBuf>,
    /// `None` for what is no APK.
    manifest: Option<Manifest>,
}

impl AppFile {
    pub fn app_id(&self) -> Option<String> {
        self.manifest.as_ref().map(|manifest| manifest.package.clone())
    }

    pub fn version_name(&self) -> Option<String> {
        self.manifest.as_ref()?.version_name.clone()
    }

    pub fn version_code(&self) -> Option<u32> {
        self.manifest.as_ref()?.version_code
    }
}

/// Reads the manifest of an app file; a folder of Xcode has none that is read here.
pub async fn read_file(file: PathBuf) -> Result<AppFile, Refusal> {
    if has_extension(&file, "app") {
        return Ok(AppFile { files: vec![file], manifest: None });
    }
    read_files(vec![file]).await
}

async fn read_files(files: Vec<PathBuf>) -> Result<AppFile, Refusal> {
    if files.is_empty() || files.len() > SPLITS_MAX {
        let message = format!("an app has 1 to {SPLITS_MAX} files, not {}", files.len());
        return Err(Refusal::argument(message, "name the base and its splits"));
    }
    let reading = move || -> Result<AppFile, Refusal> {
        let mut manifests = Vec::new();
        for file in &files {
            let read = apk::read(file).map_err(|why| {
                let hint = "name an APK that a build made, or the folder of the project";
                Refusal::argument(format!("{}: {why}", file.display()), hint)
            })?;
            manifests.push(read);
        }
        let base = the_base(&manifests)?;
        Ok(AppFile { files, manifest: Some(base) })
    };
    match tokio::task::spawn_blocking(reading).await {
        Ok(read) => read,
        Err(error) => Err(Refusal::defect(error.to_string())),
    }
}

/// The manifest of the base, if these are one base and splits of the same app.
fn the_base(manifests: &[Manifest]) -> Result<Manifest, Refusal> {
    let bases: Vec<&Manifest> = manifests.iter().filter(|manifest| manifest.split.is_none()).collect();
    let hint = "name one base APK and splits of the same app";
    match bases[..] {
        [base] if manifests.iter().all(|one| one.package == base.package) => Ok(base.clone()),
        [base] => {
            let other = manifests.iter().find(|one| one.package != base.package);
            let other = other.map(|other| other.package.as_str()).unwrap_or_default();
            Err(Refusal::argument(
                format!("the files are of different apps: {} and {other}", base.package),
                hint,
            ))
        }
        [] => Err(Refusal::argument("the base APK is missing: these are only splits", hint)),
        _ => Err(Refusal::argument(format!("{} of the files are base APKs", bases.len()), hint)),
    }
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found.eq_ignore_ascii_case(extension))
}

/// What is to be installed.
enum Source {
    Files(Vec<PathBuf>),
    Project(PathBuf),
}

fn source(call: &Call<'_>, paths: PathsArg) -> Result<Source, Refusal> {
    let paths = match paths {
        PathsArg::One(path) => vec![path],
        PathsArg::Several(paths) => paths,
    };
    if paths.len() > SPLITS_MAX {
        return Err(Refusal::argument(
            format!("{} files", paths.len()),
            format!("{SPLITS_MAX} are the most"),
        ));
    }
    let real: Vec<PathBuf> =
        paths.iter().map(|path| call.app.roots.readable(path)).collect::<Result<_, _>>()?;
    for path in &real {
        refuse_other_formats(path)?;
    }
    match &real[..] {
        [only] if only.is_dir() => {
            let splits = apks_in(only);
            Ok(if splits.is_empty() { Source::Project(only.clone()) } else { Source::Files(splits) })
        }
        files if files.iter().any(|file| file.is_dir()) => {
            Err(Refusal::argument("one of the paths is a folder", "name either one folder or files"))
        }
        _ => Ok(Source::Files(real)),
    }
}

fn refuse_other_formats(path: &Path) -> Result<(), Refusal> {
    let is = |extensions: &[&str]| extensions.iter().any(|extension| has_extension(path, extension));
    if is(&["app", "ipa"]) {
        let message = format!("{} is an app for iOS, and no iOS device can be reached yet", path.display());
        let failure = Failure::new(Cause::Device(DeviceErrorKind::NotSupported), message);
        return Err(Refusal { failure, hint: Hint::Words("install it with xcrun simctl install".into()) });
    }
    if is(&["aab", "apks", "xapk", "apkm", "zip"]) {
        let message = format!("{} is an archive of app files and not one of them", path.display());
        let hint =
            "make APKs of it with bundletool build-apks and extract-apks, or unpack it and name the folder";
        return Err(Refusal::argument(message, hint));
    }
    Ok(())
}

/// The APKs directly in a folder, in the order of their names.
fn apks_in(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let files = entries.flatten().map(|entry| entry.path());
    let mut apks: Vec<PathBuf> =
        files.filter(|file| has_extension(file, "apk") && file.is_file()).take(SPLITS_MAX + 1).collect();
    apks.sort();
    apks
}

async fn install(call: &Call<'_>, file: AppFile, device: &DeviceArg) -> Result<Answer, Refusal> {
    let app_id = file.app_id();
    let command = AppCommand::Install { files: file.files, app: app_id.clone() };
    let patience = ActPatience { settle: false, window_ms: 0, timeout_ms: INSTALL_MS, call_ms: INSTALL_MS };
    let act = Act { action: Action::App(command), scroll_to_target: false, expect: None, patience };
    perform(call, &device.wanted(), act, app_id.map(|app_id| NamedFacts::App { app_id })).await
}

/// Builds, and installs what came of it. The line of the build stands below that of the installation.
pub async fn build_and_install(
    call: &Call<'_>,
    plan: BuildPlan,
    device: &DeviceArg,
) -> Result<Answer, Refusal> {
    // A device that is not there is told before the minutes of a build.
    call.device(&device.wanted(), call.progress).await?;
    let made = match plan.run(call).await? {
        BuildOutcome::Failed(failure) => return Ok(build::failed(call, &failure)),
        BuildOutcome::Made(made) => made,
    };
    let built = facts_text::to_line(&made.facts());
    let built = built.map_err(|error| Refusal::defect(error.to_string()))?;
    refuse_other_formats(made.file.files.first().map_or(Path::new(""), PathBuf::as_path))?;
    let answer = install(call, made.file, device).await?;
    Ok(answer.with_lines(&format!("built: {built}\n")))
}

pub struct InstallApp;

impl Tool for InstallApp {
    type Params = InstallParams;
    const NAME: &'static str = "install_app";
    const DESCRIPTION: &'static str = "Install or replace an app.";
    const EFFECT: Effect = Effect::Acts;
    const TIMEOUT: Duration = CALL_TIMEOUT;

    async fn run(call: &Call<'_>, params: InstallParams) -> Result<Answer, Refusal> {
        match source(call, params.app_path)? {
            Source::Files(files) => install(call, read_files(files).await?, &params.device).await,
            Source::Project(folder) => {
                let platform = params.device.platform;
                let plan = BuildPlan::read(call, &folder, platform, params.variant, params.timeout_ms)?;
                build_and_install(call, plan, &params.device).await
            }
        }
    }
}

/// What the package manager's word for a refused installation means, and what to do. The words are those of
/// `android.content.pm.PackageManager`.
pub fn hint(message: &str) -> Option<&'static str> {
    const HINTS: [(&str, &str); 19] = [
        (
            "INSTALL_FAILED_VERSION_DOWNGRADE",
            "a newer version is installed: raise versionCode, or remove the app with manage_app uninstall (its data is lost)",
        ),
        (
            "INSTALL_FAILED_UPDATE_INCOMPATIBLE",
            "the installed app is signed with another key: remove it with manage_app uninstall first (its data is lost)",
        ),
        (
            "INSTALL_FAILED_ALREADY_EXISTS",
            "it is installed already in another form: remove it with manage_app uninstall first (its data is lost)",
        ),
        (
            "INSTALL_FAILED_SHARED_USER_INCOMPATIBLE",
            "an app with the same sharedUserId is signed with another key: sign both alike",
        ),
        ("INSTALL_FAILED_INSUFFICIENT_STORAGE", "the device is full: remove apps or files and try again"),
        (
            "INSTALL_FAILED_OLDER_SDK",
            "the device's Android is older than the app's minSdk: lower minSdk or use a newer device",
        ),
        (
            "INSTALL_FAILED_DEPRECATED_SDK_VERSION",
            "the app's targetSdk is too old for this Android: raise targetSdk",
        ),
        (
            "INSTALL_FAILED_NO_MATCHING_ABIS",
            "the app has no native code for this processor: build for its ABI, or use another device",
        ),
        ("INSTALL_FAILED_MISSING_SPLIT", "a split APK is missing: name the base and all its splits"),
        ("INSTALL_FAILED_MISSING_SHARED_LIBRARY", "the app needs a library that this device does not have"),
        (
            "INSTALL_FAILED_CONFLICTING_PROVIDER",
            "another app has a provider with the same authority: remove that app or rename the authority",
        ),
        (
            "INSTALL_FAILED_DUPLICATE_PERMISSION",
            "another app declares the same permission: remove that app or rename the permission",
        ),
        ("INSTALL_FAILED_TEST_ONLY", "the build is marked as made for tests, and this device takes none"),
        (
            "INSTALL_FAILED_USER_RESTRICTED",
            "the device does not allow installing over USB: allow it in its developer options",
        ),
        (
            "INSTALL_FAILED_VERIFICATION_FAILURE",
            "the device's verifier refused it: switch off verifying apps over USB in its developer options",
        ),
        ("INSTALL_FAILED_INVALID_APK", "the file is damaged or a split does not fit: build again"),
        (
            "INSTALL_PARSE_FAILED_NO_CERTIFICATES",
            "the APK is not signed, or for an older scheme only: build a signed variant",
        ),
        ("INSTALL_PARSE_FAILED_NOT_APK", "the file is no APK: build again and name what the build made"),
        ("INSTALL_PARSE_FAILED", "the device cannot read the APK: build again, and check its manifest"),
    ];
    let known = HINTS.iter().find(|(word, _)| message.contains(word)).map(|(_, hint)| *hint);
    let other = || {
        message.contains("INSTALL_").then_some("the word in brackets says why; mend that and install again")
    };
    known.or_else(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_and_its_splits_are_one_app() {
        let manifest = |package: &str, split: Option<&str>| Manifest {
            package: package.to_owned(),
            split: split.map(str::to_owned),
            ..Manifest::default()
        };
        let (base, split) = (manifest("a.b", None), manifest("a.b", Some("config.de")));
        assert_eq!(the_base(&[split.clone(), base.clone()]), Ok(base.clone()));
        assert!(the_base(std::slice::from_ref(&split)).is_err());
        assert!(the_base(&[base.clone(), base.clone()]).is_err());
        assert!(the_base(&[base, manifest("c.d", Some("x"))]).is_err());
    }

    #[test]
    fn the_package_managers_words_are_explained() {
        let told = |message| hint(message).unwrap_or_default();
        assert!(
            told("Failure [INSTALL_FAILED_VERSION_DOWNGRADE: Downgrade detected]").contains("versionCode")
        );
        assert!(told("Failure [INSTALL_PARSE_FAILED_MANIFEST_MALFORMED]").contains("manifest"));
        assert!(told("Failure [INSTALL_FAILED_SOMETHING_NEW]").contains("word in brackets"));
        assert_eq!(hint("the device refused"), None);
    }
}
