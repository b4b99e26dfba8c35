//! Artefacts from Maven, each checked against a hash that is pinned.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command::{on_path, output};

const COPY_GOAL: &str = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies";

/// An artefact as `group:name:version`, with `:type` if it is not a jar, and `:classifier` behind it if it has one.
pub struct Pin<'a> {
    pub hash: &'a str,
    pub artefact: &'a str,
}

impl Pin<'_> {
    /// The name of the file that Maven leaves.
    pub fn file_name(&self) -> Result<String, String> {
        let Parts { name, version, kind, classifier, .. } = parts(self.artefact)?;
        let classifier = classifier.map(|word| format!("-{word}")).unwrap_or_default();
        Ok(format!("{name}-{version}{classifier}.{kind}"))
    }
}

struct Parts<'a> {
    group: &'a str,
    name: &'a str,
    version: &'a str,
    kind: &'a str,
    classifier: Option<&'a str>,
}

fn parts(artefact: &str) -> Result<Parts<'_>, String> {
    let (group, name, version, kind, classifier) = match artefact.split(':').collect::<Vec<_>>()[..] {
        [group, name, version] => (group, name, version, "jar", None),
        [group, name, version, kind] => (group, name, version, kind, None),
        [group, name, version, kind, classifier] => (group, name, version, kind, Some(classifier)),
        _ => return Err(format!("not an artefact: {artefact}")),
    };
    Ok(Parts { group, name, version, kind, classifier })
}

/// The pins of a list: a hash and an artefact in each line.
pub fn pins_of(list: &str) -> Result<Vec<Pin<'_>>, String> {
    let pin = |line| {
        let (hash, artefact) = str::split_once(line, ' ').ok_or_else(|| format!("no pin: {line:?}"))?;
        Ok(Pin { hash, artefact })
    };
    list.lines().map(pin).collect()
}

/// Brings all artefacts into a folder, without what they depend on, in one run of Maven: each run costs seconds.
pub fn fetch(dir: &Path, pins: &[Pin<'_>]) -> Result<(), String> {
    let maven = on_path("mvn").ok_or("no mvn on PATH")?;
    let project = dir.join("pom.xml");
    fs::write(&project, project_text(pins)?).map_err(|e| format!("{}: {e}", project.display()))?;
    let mut command = Command::new(maven);
    command.args(["-q", "-B", "-f"]).arg(&project).args([COPY_GOAL, "-DexcludeTransitive=true"]);
    output(command.arg(format!("-DoutputDirectory={}", dir.display())).current_dir(dir))?;
    for pin in pins {
        check(&dir.join(pin.file_name()?), pin.hash)?;
    }
    Ok(())
}

/// Fails if a file does not have this SHA-256.
pub fn check(file: &Path, hash: &str) -> Result<(), String> {
    let sum = output(Command::new("sha256sum").arg(file))?;
    match sum.split_whitespace().next() {
        Some(found) if found == hash => Ok(()),
        found => Err(format!("{} has the hash {}, not {hash}", file.display(), found.unwrap_or("none"))),
    }
}

/// The file of an artefact, whose name ends with its version.
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

fn project_text(pins: &[Pin<'_>]) -> Result<String, String> {
    let mut text = String::from(
        "<project xmlns=\"http://maven.apache.org/POM/4.0.0\"><modelVersion>4.0.0</modelVersion>\
         <groupId>parts</groupId><artifactId>parts</artifactId><version>1</version><dependencies>\n",
    );
    for pin in pins {
        let Parts { group, name, version, kind, classifier } = parts(pin.artefact)?;
        let classifier =
            classifier.map(|word| format!("<classifier>{word}</classifier>")).unwrap_or_default();
        let _ = writeln!(
            text,
            "<dependency><groupId>{group}</groupId><artifactId>{name}</artifactId><version>{version}</version>\
             <type>{kind}</type>{classifier}<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion>\
             </exclusions></dependency>"
        );
    }
    text.push_str("</dependencies></project>\n");
    Ok(text)
}
