//! `cargo xtask helper`: builds the program that a phone runs (`helper/`), which is checked in with the hashes of what it
//! was built from. The same sources give the same bytes, so that everybody can see where the jar comes from.

mod zip;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command::{on_path, output};
use crate::maven::{fetch, file, pins_of};
use crate::third_party::{copy, fresh_folder, same_text};
use crate::tidy::files;

/// A hash and the name of an artefact in each line.
const PINS: &str = "xtask/third-party/helper.txt";
const FOLDER: &str = ".third-party/helper";
/// Copied in last, so that it stands for a finished installation of exactly these pins.
const STAMP: &str = "helper.installed.txt";

const SOURCES: &str = "helper/src";
const TESTS: &str = "helper/test";
const VECTORS: &str = "helper/vectors";
const JAR: &str = "helper/mdm-helper.jar";
const HASHES: &str = "helper/mdm-helper.sha256";

/// A phone gets the jar before every first look, through a cable.
const JAR_BYTES_MAX: usize = 80 * 1024;
/// Another compiler may write other bytes for the same sources.
const JAVA_MAJOR: &str = "17";
/// The oldest Android that the helper runs on.
const API_MIN: &str = "24";

/// Builds the jar, tests it, and writes it with its hashes and the test vectors.
pub fn write(root: &Path) -> Result<(), String> {
    let work = Work::new(root, install(root)?)?;
    let jar = work.build()?;
    work.test()?;
    replace_vectors(root, &work.vectors())?;
    fs::write(root.join(JAR), &jar).map_err(|e| format!("{JAR}: {e}"))?;
    fs::write(root.join(HASHES), hashes(root)?).map_err(|e| format!("{HASHES}: {e}"))?;
    println!("{JAR}: {} bytes of at most {JAR_BYTES_MAX}", jar.len());
    Ok(())
}

/// What was forgotten after a change of the sources. It needs no Java.
pub fn check(root: &Path) -> Result<Vec<String>, String> {
    let written = fs::read_to_string(root.join(HASHES)).map_err(|e| format!("{HASHES}: {e}"))?;
    let real = hashes(root)?;
    let is_new = |line: &&str| !written.lines().any(|other| other == *line);
    let mut breaches: Vec<String> = real
        .lines()
        .filter(is_new)
        .map(|line| format!("{HASHES} does not know {line}; run cargo xtask helper"))
        .collect();
    if breaches.is_empty() && written != real {
        breaches.push(format!("{HASHES} knows files that are not there; run cargo xtask helper"));
    }
    Ok(breaches)
}

/// The folder with the compiler and the classes of Android; they are fetched if they are not there yet.
pub fn install(root: &Path) -> Result<PathBuf, String> {
    let (pins, dir) = (root.join(PINS), root.join(FOLDER));
    check_java()?;
    if same_text(&pins, &dir.join(STAMP)) {
        return Ok(dir);
    }
    fresh_folder(&dir)?;
    let text = fs::read_to_string(&pins).map_err(|e| format!("{PINS}: {e}"))?;
    fetch(&dir, &pins_of(&text)?)?;
    copy(&pins, &dir.join(STAMP))?;
    Ok(dir)
}

fn check_java() -> Result<(), String> {
    on_path("javac").ok_or("no JDK on PATH")?;
    let version = output(Command::new("javac").arg("-version"))?;
    let major = version.trim().strip_prefix("javac ").and_then(|number| number.split('.').next());
    match major {
        Some(JAVA_MAJOR) => Ok(()),
        _ => Err(format!("the helper is built by the JDK {JAVA_MAJOR}, and this one is {}", version.trim())),
    }
}

/// A line as `sha256sum` writes it for the jar, and then for everything that it is made from.
fn hashes(root: &Path) -> Result<String, String> {
    let mut command = Command::new("sha256sum");
    command.arg(JAR).args(files(root, SOURCES, ".java")?).arg(PINS).current_dir(root);
    output(&mut command)
}

fn replace_vectors(root: &Path, from: &Path) -> Result<(), String> {
    let to = root.join(VECTORS);
    fresh_folder(&to)?;
    for path in files(from, "", "")? {
        copy(&from.join(&path), &to.join(&path))?;
    }
    Ok(())
}

/// A build in a folder of its own.
struct Work {
    root: PathBuf,
    parts: PathBuf,
    dir: PathBuf,
}

impl Work {
    fn new(root: &Path, parts: PathBuf) -> Result<Work, String> {
        let dir = std::env::temp_dir().join(format!("mdm-helper-build-{}", std::process::id()));
        fresh_folder(&dir)?;
        Ok(Work { root: root.to_path_buf(), parts, dir })
    }

    fn vectors(&self) -> PathBuf {
        self.dir.join("vectors")
    }

    fn build(&self) -> Result<Vec<u8>, String> {
        let classes = self.dir.join("classes");
        let android = file(&self.parts, "android-all")?;
        self.javac(SOURCES, std::slice::from_ref(&android), &classes, true)?;
        let mut d8 = Command::new("java");
        d8.arg("-cp").arg(file(&self.parts, "r8")?).arg("com.android.tools.r8.D8");
        d8.args(["--release", "--min-api", API_MIN, "--lib"]).arg(&android).arg("--output").arg(&self.dir);
        output(d8.args(files(&classes, "", ".class")?).current_dir(&classes))?;
        let dex = fs::read(self.dir.join("classes.dex")).map_err(|e| format!("classes.dex: {e}"))?;
        let jar = zip::stored("classes.dex", &dex)?;
        match jar.len() {
            0..=JAR_BYTES_MAX => Ok(jar),
            bytes => Err(format!("{JAR} would have {bytes} bytes; at most {JAR_BYTES_MAX} are allowed")),
        }
    }

    /// Runs the Java tests, which also write the test vectors. `build` comes first.
    fn test(&self) -> Result<(), String> {
        let (classes, tests) = (self.dir.join("classes"), self.dir.join("tests"));
        let android = file(&self.parts, "android-all")?;
        self.javac(TESTS, &[classes.clone(), android.clone()], &tests, false)?;
        fs::create_dir_all(self.vectors()).map_err(|e| format!("vectors: {e}"))?;
        // The tests stand before Android's classes: they bring the one class whose native code a JVM has not.
        let path = std::env::join_paths([&tests, &classes, &android]).map_err(|e| e.to_string())?;
        let mut java = Command::new("java");
        java.arg("-cp").arg(path).arg("mdm.helper.Tests").arg(self.vectors());
        print!("{}", output(&mut java)?);
        Ok(())
    }

    fn javac(&self, sources: &str, path: &[PathBuf], to: &Path, is_strict: bool) -> Result<(), String> {
        let path = std::env::join_paths(path).map_err(|e| e.to_string())?;
        let mut javac = Command::new("javac");
        // Annotations of Android's own that are not in its classes make the rest of the warnings.
        javac.args([
            "--release",
            "8",
            "-g:source,lines",
            "-Xlint:all,-options,-deprecation,-serial,-classfile",
        ]);
        javac.args(if is_strict { &["-Werror"][..] } else { &[] });
        javac.arg("-cp").arg(path).arg("-d").arg(to).args(files(&self.root, sources, ".java")?);
        output(javac.current_dir(&self.root)).map(drop)
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        // A folder of the system's temporary ones; nothing depends on its end.
        let _ = fs::remove_dir_all(&self.dir);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::tidy::tree::Tree;

    /// The parts that `cargo xtask test` has fetched. `None` has been reported as a skip.
    fn parts() -> Option<PathBuf> {
        if let Some(path) = std::env::var_os("MDM_TEST_HELPER_PARTS") {
            return Some(path.into());
        }
        let message =
            "skipped: the helper's build: MDM_TEST_HELPER_PARTS is not set, get it with: cargo xtask test\n";
        assert!(!std::env::var("CI").is_ok_and(|value| value == "true"), "{message}");
        // Direct to stderr: the harness hides the output of a passing test.
        std::io::stderr().write_all(message.as_bytes()).unwrap();
        None
    }

    #[test]
    fn a_new_build_gives_the_bytes_that_are_checked_in() {
        let Some(parts) = parts() else { return };
        let root = crate::command::root();
        let work = Work::new(&root, parts).unwrap();
        let jar = work.build().unwrap();
        assert!(jar == fs::read(root.join(JAR)).unwrap(), "{JAR} is not built from these sources");
        work.test().unwrap();
        let wanted = files(&work.vectors(), "", "").unwrap();
        assert_eq!(files(&root.join(VECTORS), "", "").unwrap(), wanted);
        for name in wanted {
            let (old, new) = (root.join(VECTORS).join(&name), work.vectors().join(&name));
            assert!(same_text(&old, &new), "{} is not what the helper writes", old.display());
        }
    }

    #[test]
    fn a_source_that_changed_after_the_build_is_told() {
        let tree = Tree::new("helper");
        for path in [JAR, PINS, "helper/src/mdm/helper/Main.java"] {
            tree.write(path, "as it was built");
        }
        tree.write(HASHES, &hashes(tree.root()).unwrap());
        assert_eq!(check(tree.root()).unwrap(), Vec::<String>::new());
        tree.write("helper/src/mdm/helper/Main.java", "changed");
        let told = check(tree.root()).unwrap();
        assert_eq!(told.len(), 1);
        assert!(told[0].ends_with("helper/src/mdm/helper/Main.java; run cargo xtask helper"), "{told:?}");
    }
}
