//! `cargo xtask platforms`: type-checks the product for systems that this machine is not. No linker, no C compiler and no
//! system library of theirs is needed for that, only a standard library, or its source.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;

use crate::command::{cargo, metadata, output};
use crate::dist::NAME;

/// Those of a release, and of Windows also what GNU's tools make: a difference in what is compiled would be a mistake.
const TARGETS: [&str; 8] = [
    "x86_64-pc-windows-msvc",
    "x86_64-pc-windows-gnu",
    "aarch64-pc-windows-msvc",
    "aarch64-pc-windows-gnullvm",
    "x86_64-apple-darwin",
    "aarch64-apple-darwin",
    "x86_64-unknown-linux-musl",
    "aarch64-unknown-linux-musl",
];
/// Below the target folder. Apart from other builds, which have other flags.
const FOLDER: &str = "platforms";
/// Stands for a C compiler and for ar: what crates bring in C is linked, and nothing is linked here.
const DOES_NOTHING: &str = "true";
const HOW: &str =
    "rustup target add TARGET, or rustup component add rust-src, or Debian's package rust-web-src";

/// Where the standard library of another system comes from.
#[derive(Debug, PartialEq, Eq)]
enum Library {
    /// It is there, compiled.
    Installed,
    /// It is compiled by the cargo beside this rustc, which has its source.
    Source(PathBuf),
}

pub fn platforms(root: &Path, words: &[&str]) -> Result<(), String> {
    let targets = if words.is_empty() { TARGETS.to_vec() } else { words.to_vec() };
    let source = with_source();
    let (mut checked, mut failed) = (0, Vec::new());
    for target in targets {
        let Some(library) = library(target, source.as_deref()) else {
            println!("{target}: skipped: its standard library is not here; get it with: {HOW}");
            continue;
        };
        println!("== {target}");
        let words = check(root, target, &library)?;
        checked += 1;
        match words.is_empty() {
            true => println!("{target}: compiles without warnings, with {}", shown(&library)),
            false => {
                println!("{}{target}: {} errors and warnings", words.concat(), words.len());
                failed.push(target);
            }
        }
    }
    match failed.len() {
        0 if checked == 0 => Err("no platform could be checked".to_owned()),
        0 => Ok(()),
        n => Err(format!("{n} of {checked} platforms fail: {}", failed.join(", "))),
    }
}

fn shown(library: &Library) -> String {
    match library {
        Library::Installed => "its installed standard library".to_owned(),
        Library::Source(rustc) => format!("a standard library built by {}", rustc.display()),
    }
}

fn library(target: &str, source: Option<&Path>) -> Option<Library> {
    let folder = output(Command::new("rustc").args(["--print", "target-libdir", "--target", target]));
    if folder.is_ok_and(|folder| has_library(Path::new(folder.trim()))) {
        return Some(Library::Installed);
    }
    source.map(|rustc| Library::Source(rustc.to_path_buf()))
}

fn has_library(folder: &Path) -> bool {
    let mut names = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
    names.any(|name| name.to_string_lossy().starts_with("libstd-"))
}

/// The first rustc on the PATH that has the source of its library, and a cargo beside it.
fn with_source() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join("rustc")).find(|rustc| {
        let sysroot = output(Command::new(rustc).args(["--print", "sysroot"]));
        sysroot.is_ok_and(|sysroot| {
            Path::new(sysroot.trim()).join("lib/rustlib/src/rust/library/Cargo.lock").is_file()
        }) && rustc.with_file_name("cargo").is_file()
    })
}

/// Errors and warnings in our own crates, as the compiler shows them.
fn check(root: &Path, target: &str, library: &Library) -> Result<Vec<String>, String> {
    let mut command = match library {
        Library::Installed => cargo(root),
        Library::Source(rustc) => {
            let mut command = Command::new(rustc.with_file_name("cargo"));
            command.current_dir(root).env("RUSTC", rustc).env("RUSTC_BOOTSTRAP", "1");
            command.env_remove("RUSTUP_TOOLCHAIN");
            command
        }
    };
    command.args([
        "check",
        "--quiet",
        "--locked",
        "--message-format",
        "json",
        "--package",
        NAME,
        "--target",
        target,
    ]);
    if let Library::Source(_) = library {
        command.arg("-Zbuild-std=std,panic_unwind");
    }
    let folder = metadata(root)?.target_directory.join(FOLDER);
    let underlined = target.replace('-', "_");
    command.env("CARGO_TARGET_DIR", folder).env(format!("CC_{underlined}"), DOES_NOTHING);
    command.env(format!("AR_{underlined}"), DOES_NOTHING);
    let mut child = command.stdout(Stdio::piped()).spawn().map_err(|e| format!("cannot run cargo: {e}"))?;
    let mut found = Vec::new();
    for line in child.stdout.take().into_iter().flat_map(|pipe| BufReader::new(pipe).lines()) {
        let line = line.map_err(|e| format!("cargo check: {e}"))?;
        found.extend(finding(&line, root));
    }
    let status = child.wait().map_err(|e| format!("cargo check: {e}"))?;
    if !status.success() && found.is_empty() {
        found.push(format!("cargo check: {status}, see above\n"));
    }
    Ok(found)
}

#[derive(Deserialize)]
struct Message {
    package_id: String,
    message: Diagnostic,
}

#[derive(Deserialize)]
struct Diagnostic {
    level: String,
    rendered: String,
    code: Option<Code>,
}

#[derive(Deserialize)]
struct Code {}

/// What a line of cargo says of our own code, and errors of anybody's. "2 warnings emitted" has no code and is no finding.
fn finding(line: &str, root: &Path) -> Option<String> {
    let told: Message = serde_json::from_str(line).ok()?;
    let is_error = told.message.level == "error";
    let is_own = told.package_id.contains(&*root.to_string_lossy());
    let is_warning = told.message.level == "warning" && told.message.code.is_some();
    (is_error || (is_own && is_warning)).then_some(told.message.rendered)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::platform::Platform;
    use crate::tidy::tree::Tree;

    #[test]
    fn every_target_is_one_of_a_release_in_some_form() {
        assert!(TARGETS.iter().all(|target| Platform::of(target).is_ok()));
    }

    #[test]
    fn warnings_of_ours_and_errors_of_anybody_are_findings() {
        let root = Path::new("/a/project");
        let line = |package: &str, level: &str, code: &str| {
            format!(
                r#"{{"reason":"compiler-message","package_id":"{package}","message":{{"level":"{level}","code":{code},"rendered":"unused\n"}}}}"#
            )
        };
        let (own, other, code) =
            ("path+file:///a/project/crates/b#0.1.0", "registry+x#y@1.0.0", r#"{"code":"dead_code"}"#);
        assert_eq!(finding(&line(own, "warning", code), root).as_deref(), Some("unused\n"));
        assert_eq!(finding(&line(own, "warning", "null"), root), None, "a count of warnings");
        assert_eq!(finding(&line(other, "warning", code), root), None);
        assert!(finding(&line(other, "error", "null"), root).is_some());
        assert_eq!(finding(r#"{"reason":"build-finished","success":true}"#, root), None);
    }

    #[test]
    fn a_library_is_installed_where_its_file_is() {
        let tree = Tree::new("platforms");
        assert!(!has_library(tree.root()) && !has_library(&tree.root().join("none")));
        tree.write("libstd-1.rlib", "");
        assert!(has_library(tree.root()));
    }
}
