//! The compilers that build an APK without an Android SDK, from Maven: aapt2 and the framework's resources (inside
//! apktool), d8 (inside r8), apksig, and the stubs of the platform's classes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command::{on_path, output};
use crate::maven::{self, file, pins_of};
use crate::third_party::{copy, fresh_folder, same_text};

/// A hash and the name of an artefact in each line.
const PINS: &str = "xtask/third-party/maven.txt";
const FOLDER: &str = ".third-party/android";
/// Copied in last, so that it stands for a finished installation of exactly these pins.
const STAMP: &str = "maven.installed.txt";
/// What the sample's build expects to find, and the artefact that it is.
const NAMES: [(&str, &str); 3] = [("r8.jar", "r8"), ("apksig.jar", "apksig"), ("android.jar", "android")];

/// The folder with the parts; they are fetched if they are not there yet.
pub fn install(root: &Path) -> Result<PathBuf, String> {
    let (pins, dir) = (root.join(PINS), root.join(FOLDER));
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return Err("the aapt2 that apktool carries is for Linux on x86-64".to_owned());
    }
    on_path("javac").ok_or("no JDK on PATH")?;
    if same_text(&pins, &dir.join(STAMP)) {
        return Ok(dir);
    }
    fresh_folder(&dir)?;
    let text = fs::read_to_string(&pins).map_err(|e| format!("{}: {e}", pins.display()))?;
    maven::fetch(&dir, &pins_of(&text)?)?;
    let jar = file(&dir, "apktool-lib")?;
    let entries = ["prebuilt/linux/aapt2", "prebuilt/android-framework.jar"];
    output(Command::new("jar").arg("xf").arg(&jar).args(entries).current_dir(&dir))?;
    copy(&dir.join(entries[0]), &dir.join("aapt2"))?;
    copy(&dir.join(entries[1]), &dir.join("android-framework.jar"))?;
    output(Command::new("chmod").arg("755").arg(dir.join("aapt2")))?;
    for (name, artefact) in NAMES {
        copy(&file(&dir, artefact)?, &dir.join(name))?;
    }
    copy(&pins, &dir.join(STAMP))?;
    Ok(dir)
}
