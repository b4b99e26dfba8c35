//! What `cargo xtask dist` packs, used as people use it: in an empty folder, with an empty home, and without a network.

#![allow(clippy::print_stdout, reason = "the sizes of what was packed are worth reading")]

use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

use crate::process::{BINARY, Folder, Talker, part, run};

const TEST: &str = "the packed release";
const XTASK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../xtask");
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// Nothing listens there: whoever ignores `--offline` is refused at once.
const NOWHERE: &str = "http://127.0.0.1:9";
const TOOLS_MIN: usize = 30;

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const LIST: &str = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;

/// The programs of others that this takes.
struct Parts {
    xtask: PathBuf,
    node: PathBuf,
    npm: PathBuf,
    mcpb: PathBuf,
}

fn parts() -> Option<Parts> {
    Some(Parts {
        xtask: part("MDM_TEST_XTASK", TEST)?,
        node: part("MDM_TEST_NODE_BIN", TEST)?,
        npm: part("MDM_TEST_NPM", TEST)?,
        mcpb: part("MDM_TEST_MCPB", TEST)?,
    })
}

/// Runs programs as a new user of a machine that is cut off would.
struct Cut {
    home: Folder,
    path: std::ffi::OsString,
    /// The kernel takes the network away where it lets us ask for that.
    has_unshare: bool,
}

impl Cut {
    fn new(parts: &Parts) -> Cut {
        let folders = [parts.node.parent().unwrap(), Path::new("/usr/bin"), Path::new("/bin")];
        let unshare = Command::new("unshare").args(["-rn", "true"]).output();
        Cut {
            home: Folder::new(),
            path: std::env::join_paths(folders).unwrap(),
            has_unshare: unshare.is_ok_and(|done| done.status.success()),
        }
    }

    fn command(&self, program: &Path, folder: &Path) -> Command {
        let mut command = if self.has_unshare {
            let mut command = Command::new("unshare");
            command.arg("-rn").arg(program);
            command
        } else {
            Command::new(program)
        };
        command.env_clear().env("HOME", self.home.path()).env("PATH", &self.path).current_dir(folder);
        for variable in ["http_proxy", "https_proxy", "npm_config_registry"] {
            command.env(variable, NOWHERE);
        }
        command
    }
}

#[derive(Deserialize)]
struct Initialized {
    result: InitializeResult,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct InitializeResult {
    server_info: ServerInfo,
    instructions: String,
}

#[derive(Deserialize)]
struct ServerInfo {
    name: String,
    version: String,
}

#[derive(Deserialize)]
struct Listed {
    result: ListResult,
}

#[derive(Deserialize)]
struct ListResult {
    tools: Vec<Tool>,
}

#[derive(Deserialize)]
struct Tool {
    name: String,
}

/// Says hello and asks for the tools; the server is left running.
#[track_caller]
fn talk(command: &mut Command) -> (Talker, usize) {
    let mut server = Talker::start(command);
    server.say(INITIALIZE);
    let hello = server.hear().unwrap_or_else(|| panic!("it ended: {:?}", server.hear_stderr()));
    let hello: Initialized = serde_json::from_str(&hello).unwrap_or_else(|e| panic!("{e}: {hello}"));
    let (info, instructions) = (hello.result.server_info, hello.result.instructions);
    assert_eq!((info.name.as_str(), info.version.as_str()), ("mobile-debug-mcp", VERSION));
    assert!(instructions.contains("get_ui_tree"), "{instructions}");
    server.say(INITIALIZED);
    server.say(LIST);
    let listed: Listed = serde_json::from_str(&server.hear().unwrap()).unwrap();
    let tools = listed.result.tools;
    assert!(tools.len() >= TOOLS_MIN && tools.iter().any(|tool| tool.name == "tap_element"));
    (server, tools.len())
}

#[track_caller]
fn talk_and_finish(command: &mut Command) -> usize {
    let (server, tools) = talk(command);
    assert_eq!(server.finish(), (Some(0), Vec::new()), "after stdin was closed");
    tools
}

/// The one file of the release with this ending.
#[track_caller]
fn only(release: &Path, beginning: &str, ending: &str) -> PathBuf {
    let files = std::fs::read_dir(release).unwrap().map(|entry| entry.unwrap().path());
    let name = |file: &PathBuf| file.file_name().unwrap().to_string_lossy().into_owned();
    let found: Vec<PathBuf> =
        files.filter(|file| name(file).starts_with(beginning) && name(file).ends_with(ending)).collect();
    assert_eq!(found.len(), 1, "{beginning}*{ending}: {found:?}");
    found[0].clone()
}

/// The program that the tests run stands for a release build, which takes minutes. That one is proven to be static when
/// `cargo xtask dist` builds it.
#[test]
fn every_packed_form_starts_the_server_offline() {
    let Some(parts) = parts() else { return };
    let (release, scratch) = (Folder::new(), Folder::new());
    let program = stripped(&scratch);
    let mut dist = Command::new(&parts.xtask);
    dist.args(["dist", "--repository", "someone/phones", "--binary"])
        .arg(&program)
        .arg("--out")
        .arg(release.path());
    let packed = run(dist.env("CARGO_MANIFEST_DIR", XTASK)).ok().out();
    assert!(packed.contains(": valid, says mcpb"), "{packed}");
    println!("{packed}");
    let cut = Cut::new(&parts);
    println!("network taken away by the kernel: {}", cut.has_unshare);
    run(Command::new("sha256sum").args(["--check", "--quiet", "SHA256SUMS"]).current_dir(release.path()))
        .ok();
    for (form, check) in [
        ("archive", archive as fn(&Parts, &Cut, &Path) -> usize),
        ("npm launcher", npm_launcher),
        ("bundle", bundle),
    ] {
        let tools = check(&parts, &cut, release.path());
        println!("{form}: {tools} tools");
    }
}

/// The tests' program without what debuggers need, which is four fifths of it and only costs time here.
fn stripped(folder: &Folder) -> PathBuf {
    let file = folder.path().join("mobile-debug-mcp");
    let strip = Command::new("strip").arg("-o").arg(&file).arg(BINARY).output();
    if strip.is_ok_and(|done| done.status.success()) { file } else { PathBuf::from(BINARY) }
}

fn archive(_: &Parts, cut: &Cut, release: &Path) -> usize {
    let folder = Folder::new();
    let archive = only(release, "mobile-debug-mcp-", ".tar.gz");
    run(Command::new("tar").arg("-xzf").arg(&archive).current_dir(folder.path())).ok();
    let name = archive.file_name().unwrap().to_string_lossy().into_owned();
    let root = folder.path().join(name.trim_end_matches(".tar.gz"));
    for paper in [
        "LICENSE",
        "README.md",
        "THIRD-PARTY-NOTICES.txt",
        "completions/_mobile-debug-mcp",
        "man/man1/mobile-debug-mcp.1",
    ] {
        assert!(root.join(paper).metadata().is_ok_and(|file| file.len() > 0), "{paper}");
    }
    talk_and_finish(&mut cut.command(&root.join("mobile-debug-mcp"), folder.path()))
}

fn npm_launcher(parts: &Parts, cut: &Cut, release: &Path) -> usize {
    let folder = Folder::new();
    let launcher = only(release, &format!("mobile-debug-mcp-{VERSION}"), ".tgz");
    let program = only(
        release,
        &format!("mobile-debug-mcp-{}", std::env::consts::OS.replace("macos", "darwin")),
        ".tgz",
    );
    let install = ["install", "--offline", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
    let mut npm = cut.command(&parts.npm, folder.path());
    run(npm.args(install).arg(&launcher).arg(&program)).ok();
    let launched = folder.path().join("node_modules/.bin/mobile-debug-mcp");
    let tools = talk_and_finish(&mut cut.command(&launched, folder.path()));

    // The exit code is the program's own, and a signal ends the program before the launcher.
    let wrong = run(cut.command(&launched, folder.path()).arg("no-such-command"));
    assert_eq!(wrong.code, Some(2), "{wrong:?}");
    let (server, _) = talk(&mut cut.command(&launched, folder.path()));
    run(Command::new("kill").arg("-TERM").arg(server.id().to_string())).ok();
    assert_eq!(server.end(), Some(0), "the server puts devices back and ends well");

    signals_stay_with_the_launcher_on_windows(cut, folder.path());

    // Without the package of this platform it says which one that is.
    let scope = folder.path().join("node_modules/@mobile-debug-mcp");
    std::fs::remove_dir_all(&scope).unwrap();
    let alone = run(cut.command(&launched, folder.path()).arg("--version"));
    assert_eq!(alone.code, Some(1));
    let says = |word: &str| alone.err().contains(word);
    assert!(says("@mobile-debug-mcp/") && says(&node_arch()), "{}", alone.err());
    tools
}

/// Tells Node that it runs on Windows, and says when a signal was dealt with.
const AS_WINDOWS: &str = "Object.defineProperty(process, 'platform', { value: 'win32' });
process.on('SIGINT', () => setImmediate(() => process.stderr.write('dealt with\\n')));";

/// Stands for the program: it says whether it was told of the signal.
const LISTENER: &str = "#!/bin/sh\ntrap 'echo told' INT\necho ready\nread line\necho \"heard $line\"\n";

/// The console of Windows tells both of Ctrl-C, and there Node's kill() ends a program without asking it.
#[track_caller]
fn signals_stay_with_the_launcher_on_windows(cut: &Cut, folder: &Path) {
    let scripts = Folder::new();
    let (script, preload) = (scripts.path().join("listener"), scripts.path().join("windows.js"));
    std::fs::write(&script, LISTENER).unwrap();
    std::fs::write(&preload, AS_WINDOWS).unwrap();
    let bin = folder.join(format!("node_modules/@mobile-debug-mcp/win32-{}/bin", node_arch()));
    std::fs::create_dir_all(&bin).unwrap();
    // Copied by another process: one that still had it open for writing would keep it from being run.
    let program = bin.join("mobile-debug-mcp.exe");
    run(Command::new("install").args(["-m", "755"]).arg(&script).arg(&program)).ok();
    let mut launcher = cut.command(&folder.join("node_modules/.bin/mobile-debug-mcp"), folder);
    let mut launcher =
        Talker::start(launcher.env("NODE_OPTIONS", format!("--require={}", preload.display())));
    assert_eq!(launcher.hear().as_deref(), Some("ready"), "{:?}", launcher.hear_stderr());
    run(Command::new("kill").arg("-INT").arg(launcher.id().to_string())).ok();
    assert_eq!(launcher.hear_stderr().as_deref(), Some("dealt with"));
    launcher.say("go");
    assert_eq!(launcher.finish(), (Some(0), vec!["heard go".to_owned()]));
}

/// The processor of this machine in the words of Node.
fn node_arch() -> String {
    std::env::consts::ARCH.replace("x86_64", "x64").replace("aarch64", "arm64")
}

#[derive(Deserialize)]
struct Manifest {
    server: Server,
}

#[derive(Deserialize)]
struct Server {
    mcp_config: McpConfig,
}

#[derive(Deserialize)]
struct McpConfig {
    command: String,
    args: Vec<String>,
}

/// As a client does it: unpack, replace the folder's variable, start.
fn bundle(parts: &Parts, cut: &Cut, release: &Path) -> usize {
    let folder = Folder::new();
    let unpacked = folder.path().join("bundle");
    let mut mcpb = cut.command(&parts.node, folder.path());
    run(mcpb.arg(&parts.mcpb).arg("unpack").arg(only(release, "mobile-debug-mcp-", ".mcpb")).arg(&unpacked))
        .ok();
    let manifest = std::fs::read_to_string(unpacked.join("manifest.json")).unwrap();
    let config = serde_json::from_str::<Manifest>(&manifest).unwrap().server.mcp_config;
    let here = unpacked.to_str().unwrap();
    let filled = |word: &String| word.replace("${__dirname}", here);
    let mut command = cut.command(Path::new(&filled(&config.command)), folder.path());
    talk_and_finish(command.args(config.args.iter().map(filled)))
}
