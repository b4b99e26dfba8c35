//! The compilers that build an APK without an Android SDK, from Maven: aapt2 and the framework's resources (inside
//! apktool), d8 (inside r8), apksig, and the stubs of the platform's classes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command::{on_path, output};
use crate::third_party::{copy, fresh_folder, same_text};

/// A hash and the name of an artefact in each line.
const PINS: &str = "xtask/third-party/maven.txt";
const FOLDER: &str = ".third-party/android";
/// Copied in last, so that it stands for a finished installation of exactly these pins.
const STAMP: &str = "maven.installed.txt";
const COPY_GOAL: &str = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy";
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
    let maven = on_path("mvn").ok_or("no mvn on PATH")?;
    let text = fs::read_to_string(&pins).map_err(|e| format!("{}: {e}", pins.display()))?;
    for line in text.lines() {
        let (hash, artefact) = line.split_once(' ').ok_or_else(|| format!("{PINS}: {line:?}"))?;
        fetch(&maven, &dir, hash, artefact)?;
    }
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

pub fn fetch(maven: &Path, dir: &Path, hash: &str, artefact: &str) -> Result<(), String> {
    let mut command = Command::new(maven);
    command.args(["-q", "-B", COPY_GOAL]).arg(format!("-Dartifact={artefact}"));
    output(command.arg(format!("-DoutputDirectory={}", dir.display())).current_dir(dir))?;
    let name = artefact.split(':').nth(1).unwrap_or_default();
    let jar = file(dir, name)?;
    let sum = output(Command::new("sha256sum").arg(&jar))?;
    match sum.split_whitespace().next() {
        Some(found) if found == hash => Ok(()),
        found => Err(format!("{artefact} has the hash {}, not {hash}", found.unwrap_or("none"))),
    }
}

/// The jar of an artefact, whose name ends with its version.
pub fn file(dir: &Path, artefact: &str) -> Result<PathBuf, String> {
    let entries = fs::read_dir(dir).map_err(|e| format!("{}: {e}", dir.display()))?;
    let is_it = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let rest = name.strip_prefix(artefact).and_then(|rest| rest.strip_prefix('-'));
        rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    let mut found = entries.filter_map(Result::ok).map(|entry| entry.path());
    found.find(is_it).ok_or_else(|| format!("Maven left no {artefact} in {}", dir.display()))
}
