//! The program of a release: how it is built, and what is proven of it before it is packed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::entry::Entry;
use super::platform::Platform;
use super::{NAME, linkage};
use crate::command::{cargo, metadata, output, run};
use crate::third_party::fresh_folder;

/// The C library inside the program instead of beside it. macOS has no such thing.
const STATIC: &str = "-Ctarget-feature=+crt-static";
/// Between the flags in the variable by which cargo takes them.
const NEXT: &str = "\x1f";
const COMPLETIONS: [(&str, &str); 5] = [
    ("bash", "mobile-debug-mcp.bash"),
    ("zsh", "_mobile-debug-mcp"),
    ("fish", "mobile-debug-mcp.fish"),
    ("powershell", "_mobile-debug-mcp.ps1"),
    ("elvish", "mobile-debug-mcp.elv"),
];

/// The target of this machine.
pub fn host() -> Result<String, String> {
    of_rustc("host")
}

/// The version of the compiler.
pub fn compiler() -> Result<String, String> {
    of_rustc("release")
}

fn of_rustc(what: &str) -> Result<String, String> {
    let told = output(Command::new("rustc").arg("-vV"))?;
    let value = told.lines().find_map(|line| line.strip_prefix(what)?.strip_prefix(": "));
    value.map(str::to_owned).ok_or_else(|| format!("rustc -vV names no {what}"))
}

/// Builds the release with no names of functions in it, and proves what the documents promise of it.
pub fn build(root: &Path, target: &str, platform: Platform) -> Result<PathBuf, String> {
    let mut command = cargo(root);
    command.args(["build", "--release", "--locked", "--package", NAME, "--target", target]);
    command.env("CARGO_PROFILE_RELEASE_STRIP", "symbols");
    let given = std::env::var("RUSTFLAGS").unwrap_or_default();
    command.env("CARGO_ENCODED_RUSTFLAGS", flags(platform, &given, root, cargo_home().as_deref()));
    run(&mut command)?;
    let folder = metadata(root)?.target_directory.join(target).join("release");
    let program = folder.join(platform.program());
    let bytes = fs::read(&program).map_err(|e| format!("{}: {e}", program.display()))?;
    match linkage::of(&bytes)? {
        Some(linkage) if !linkage.is_static() => {
            Err(format!("{} is not what the README promises: {linkage}", program.display()))
        }
        Some(linkage) if linkage.has_symbols => Err(format!("{} has its symbols still", program.display())),
        _ => Ok(program),
    }
}

/// The flags that were given and ours. Panics say where they happened: that must not name the folders of whoever built it.
fn flags(platform: Platform, given: &str, root: &Path, cargo_home: Option<&Path>) -> String {
    let mut flags: Vec<String> = given.split_whitespace().map(str::to_owned).collect();
    if platform.os != "darwin" {
        flags.push(STATIC.to_owned());
    }
    let folders = [(Some(root), "."), (cargo_home, "cargo")];
    for (folder, name) in folders.into_iter().filter_map(|(folder, name)| Some((folder?, name))) {
        flags.push(format!("--remap-path-prefix={}={name}", folder.display()));
    }
    flags.join(NEXT)
}

/// Where cargo keeps the sources of crates.
fn cargo_home() -> Option<PathBuf> {
    let folder = |name: &str| std::env::var_os(name).map(PathBuf::from);
    folder("CARGO_HOME").or_else(|| Some(folder("HOME").or_else(|| folder("USERPROFILE"))?.join(".cargo")))
}

/// Fails unless it starts here and is of this version.
pub fn check_start(program: &Path, version: &str) -> Result<(), String> {
    let told = output(Command::new(program).arg("--version"))?;
    let wanted = format!("{NAME} {version}");
    if told.trim() == wanted {
        return Ok(());
    }
    Err(format!("{} says it is {:?}, not {wanted:?}", program.display(), told.trim()))
}

/// The manual pages and completions that the program writes itself.
pub fn papers(program: &Path) -> Result<Vec<Entry>, String> {
    let folder = std::env::temp_dir().join(format!("mdm-dist-man-{}", std::process::id()));
    fresh_folder(&folder)?;
    let names = output(Command::new(program).args(["man", "--out"]).arg(&folder))?;
    let page = |name: &str| {
        let file = folder.join(name);
        let bytes = fs::read(&file).map_err(|e| format!("{}: {e}", file.display()))?;
        Ok(Entry::file(&format!("man/man1/{name}"), bytes))
    };
    let pages: Result<Vec<Entry>, String> = names.lines().map(page).collect();
    // One of the system's temporary folders; nothing depends on its end.
    let _ = fs::remove_dir_all(&folder);
    let mut papers = pages?;
    for (shell, name) in COMPLETIONS {
        let script = output(Command::new(program).args(["completions", shell]))?;
        papers.push(Entry::file(&format!("completions/{name}"), script.into_bytes()));
    }
    Ok(papers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_keep_what_was_given_and_hide_the_builders_folders() {
        let (linux, mac) = (Platform { os: "linux", cpu: "x64" }, Platform { os: "darwin", cpu: "arm64" });
        let (root, home) = (Path::new("/a b/src"), Path::new("/home/x/.cargo"));
        let all = flags(linux, " -Cdebuginfo=0 ", root, Some(home));
        let wanted = [
            "-Cdebuginfo=0",
            "-Ctarget-feature=+crt-static",
            "--remap-path-prefix=/a b/src=.",
            "--remap-path-prefix=/home/x/.cargo=cargo",
        ];
        assert_eq!(all.split(NEXT).collect::<Vec<_>>(), wanted);
        assert_eq!(flags(mac, "", root, None), "--remap-path-prefix=/a b/src=.");
    }
}
