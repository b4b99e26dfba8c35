//! Running other programs.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

/// The repository's top folder: this crate's parent.
pub fn root() -> PathBuf {
    let manifest = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| "xtask".into()));
    manifest.parent().map_or_else(|| PathBuf::from("."), Path::to_path_buf)
}

/// The cargo that runs us, so that a toolchain override holds for what we start too.
pub fn cargo(root: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root);
    command
}

/// Runs with our own stdout and stderr.
pub fn run(command: &mut Command) -> Result<(), String> {
    let status = command.status().map_err(|e| format!("cannot run {}: {e}", line(command)))?;
    if status.success() { Ok(()) } else { Err(format!("{}: {status}", line(command))) }
}

/// Runs quietly and gives stdout; a failure carries what the program said.
pub fn output(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|e| format!("cannot run {}: {e}", line(command)))?;
    if output.status.success() {
        return String::from_utf8(output.stdout).map_err(|e| format!("{}: {e}", line(command)));
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("{}: {}\n{}", line(command), output.status, said.trim_end()))
}

/// The first file of that name in the folders of PATH.
pub fn on_path(name: &str) -> Option<PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH")?).map(|dir| dir.join(name)).find(|file| file.is_file())
}

#[derive(Deserialize)]
pub struct Metadata {
    pub packages: Vec<Package>,
    pub target_directory: PathBuf,
}

#[derive(Deserialize)]
pub struct Package {
    pub name: String,
    pub version: String,
    pub description: Option<String>,
    pub license: Option<String>,
    pub dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
pub struct Dependency {
    pub name: String,
    /// `None` is a normal dependency; else `dev` or `build`.
    pub kind: Option<String>,
}

pub fn metadata(root: &Path) -> Result<Metadata, String> {
    let text = output(cargo(root).args(["metadata", "--no-deps", "--format-version", "1"]))?;
    serde_json::from_str(&text).map_err(|e| format!("cargo metadata: {e}"))
}

/// The product as the tests run it. Built together with them: building it alone picks other features for the
/// dependencies, and would compile them a second time.
pub fn debug_binary(root: &Path) -> Result<PathBuf, String> {
    run(cargo(root).args(["test", "--quiet", "--workspace", "--no-run"]))?;
    Ok(metadata(root)?.target_directory.join("debug/mobile-debug-mcp"))
}

fn line(command: &Command) -> String {
    std::iter::once(command.get_program())
        .chain(command.get_args())
        .map(OsStr::to_string_lossy)
        .collect::<Vec<_>>()
        .join(" ")
}
