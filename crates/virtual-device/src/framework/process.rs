//! The Java process with Android's framework: how it starts, one request at a time, and how it ends with the phone.

use std::collections::hash_map::DefaultHasher;
use std::ffi::OsString;
use std::fs;
use std::hash::Hasher as _;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use super::codec::{FRAME_BYTES_MAX, Reader, Request, Status, VERSION, greeting};
use super::java::{JAVA_MIN, find_java, java_min, program};
use super::{FrameworkApp, FrameworkConfig};

/// A first start on a slow machine takes half of this.
const START_LIMIT: Duration = Duration::from_secs(60);
/// An app may take long for one message; one that takes this long is taken for dead.
const ANSWER_LIMIT: Duration = Duration::from_secs(30);
/// The API level with whose classes our own and the apps are compiled.
const SDK_COMPILED: u32 = 34;
/// How Java runs: it starts quickly, has room for the code of many screens, and never writes between the answers.
const MACHINE: [&str; 7] = [
    "-Xmx768m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-XX:ReservedCodeCacheSize=240m",
    "-XX:+DisplayVMOutputToStderr",
    "-Xlog:disable",
    "-Xlog:all=warning:stderr",
];
/// Packages of Java that Robolectric and Android's classes reach into.
const OPENED: [&str; 12] = [
    "java.lang",
    "java.lang.invoke",
    "java.lang.reflect",
    "java.util",
    "java.util.concurrent",
    "java.io",
    "java.net",
    "java.security",
    "java.text",
    "java.nio",
    "jdk.internal.access",
    "sun.nio.ch",
];
/// Folders of Android that no machine here has: an app's native code is looked for there, and an error names it.
const NATIVE_CODE: &str = "-Djava.library.path=/system/lib64";
const PROPERTIES: [&str; 5] = [
    "robolectric.offline",
    "robolectric.useRealAni",
    "robolectric.windowManager.useRequestedSize",
    "robolectric.useRealSpinnerSelection",
    "robolectric.createActivityContexts",
];

pub struct Process {
    child: Child,
    input: ChildStdin,
    answers: Receiver<io::Result<Vec<u8>>>,
    /// Holds what Robolectric unpacks; removed at the end.
    temporary: PathBuf,
}

impl Process {
    /// Starts the process and waits until its app is up. Returns what the app needs and this phone has not, too.
    pub fn start(
        config: &FrameworkConfig,
        size: (u32, u32),
        density: u32,
    ) -> Result<(Process, Status, Vec<String>), String> {
        let home = &config.home;
        if !home.join("classes").is_dir() {
            return Err(format!(
                "{} does not hold the framework phone: run `cargo xtask framework`",
                home.display()
            ));
        }
        let android = android(home, config.sdk)?;
        let java = find_java(home, java_min(config.sdk))?;
        let (apk, code) = app_files(home, &config.app)?;
        let temporary = temporary_folder()?;
        let mut command = program(&java);
        command.args(MACHINE).arg(NATIVE_CODE);
        for name in OPENED {
            command.arg(format!("--add-opens=java.base/{name}=ALL-UNNAMED"));
        }
        for name in PROPERTIES {
            command.arg(format!("-D{name}=true"));
        }
        command.arg(property("robolectric.dependency.dir", &android));
        command.arg(property("java.io.tmpdir", &temporary));
        // Java deletes it too: a phone that is killed does not.
        command.arg(property("mdm.temporary", &temporary));
        command.arg("-cp").arg(class_path(home, &code)?).arg("mdm.framework.Main");
        command.arg(word("apk", &apk)).arg(format!("sdk={}", config.sdk));
        command.args([
            format!("width={}", size.0),
            format!("height={}", size.1),
            format!("density={density}"),
        ]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log_file(config)?);
        let mut child = command.spawn().map_err(|e| format!("java cannot be started: {e}"))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("java has no pipes".to_owned());
        };
        let (sender, answers) = sync_channel(1);
        std::thread::spawn(move || read_frames(output, &sender));
        let process = Process { child, input, answers, temporary };
        let (first, needs) = process.greeting()?;
        Ok((process, first, needs))
    }

    fn greeting(&self) -> Result<(Status, Vec<String>), String> {
        let hello = self.receive(START_LIMIT).map_err(|e| format!("the framework did not start: {e}"))?;
        let mut reader = Reader(&hello);
        match (reader.u8(), reader.u32()) {
            (Ok(0), Ok(VERSION)) => greeting(&mut reader).map_err(|e| e.0.to_owned()),
            (Ok(1), _) => {
                let why = Reader(&hello[1..]).text().unwrap_or_default();
                Err(format!("the app cannot start on the framework phone: {why}"))
            }
            other => {
                Err(format!("the framework speaks another version: {other:?}; run `cargo xtask framework`"))
            }
        }
    }

    /// Sends a request and waits for its answer. After a failure the process is of no more use.
    pub fn ask(&mut self, request: Request) -> Result<Vec<u8>, String> {
        self.input
            .write_all(&request.bytes())
            .and_then(|()| self.input.flush())
            .map_err(|e| format!("the framework's process is gone: {e}"))?;
        self.receive(ANSWER_LIMIT)
    }

    fn receive(&self, limit: Duration) -> Result<Vec<u8>, String> {
        match self.answers.recv_timeout(limit) {
            Ok(Ok(frame)) => Ok(frame),
            Ok(Err(error)) => Err(error.to_string()),
            Err(RecvTimeoutError::Timeout) => Err(format!("no answer for {} s", limit.as_secs())),
            Err(RecvTimeoutError::Disconnected) => Err("the framework's process has ended".to_owned()),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.temporary);
    }
}

/// Returns the folder with Android's classes of a level.
fn android(home: &Path, sdk: u32) -> Result<PathBuf, String> {
    let name = if sdk == SDK_COMPILED { "android".to_owned() } else { format!("android-{sdk}") };
    let folder = home.join(name);
    if folder.is_dir() {
        return Ok(folder);
    }
    Err(format!("{} holds no classes of API level {sdk}: run `cargo xtask framework`", home.display()))
}

fn property(name: &str, value: &Path) -> OsString {
    word(&format!("-D{name}"), value)
}

fn word(name: &str, value: &Path) -> OsString {
    let mut text = OsString::from(format!("{name}="));
    text.push(value);
    text
}

/// What Java prints goes to a file of the caller's, or nowhere.
fn log_file(config: &FrameworkConfig) -> Result<Stdio, String> {
    match &config.log {
        Some(path) => fs::File::create(path).map(Stdio::from).map_err(|e| format!("{}: {e}", path.display())),
        None => Ok(Stdio::null()),
    }
}

fn class_path(home: &Path, code: &[PathBuf]) -> Result<OsString, String> {
    let mut parts = vec![home.join("classes"), home.join("stubs"), home.join("helper/classes.jar")];
    parts.extend_from_slice(code);
    parts.extend(jars(&home.join("lib"))?);
    std::env::join_paths(parts).map_err(|e| e.to_string())
}

fn jars(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut jars: Vec<PathBuf> = entries.filter_map(Result::ok).map(|entry| entry.path()).collect();
    jars.retain(|path| path.extension().is_some_and(|kind| kind == "jar"));
    jars.sort();
    Ok(jars)
}

/// Returns an app's APK and its code as jars: its own, and those of its libraries in a folder of its name.
fn app_files(home: &Path, app: &FrameworkApp) -> Result<(PathBuf, Vec<PathBuf>), String> {
    match app {
        FrameworkApp::Builtin(name) => {
            let [apk, jar] = ["apk", "jar"].map(|kind| home.join("apps").join(format!("{name}.{kind}")));
            if apk.is_file() && jar.is_file() && !name.contains('/') {
                let libraries = home.join("apps").join(name);
                let libraries = if libraries.is_dir() { jars(&libraries)? } else { Vec::new() };
                return Ok((apk, std::iter::once(jar).chain(libraries).collect()));
            }
            Err(format!("there is no app {name}; {} has {}", home.join("apps").display(), names(home)))
        }
        FrameworkApp::Apk(apk) => Ok((apk.clone(), vec![convert(home, apk)?])),
    }
}

fn names(home: &Path) -> String {
    let entries = fs::read_dir(home.join("apps")).into_iter().flatten().filter_map(Result::ok);
    let mut names: Vec<String> =
        entries.filter_map(|e| Some(e.file_name().to_str()?.strip_suffix(".apk")?.to_owned())).collect();
    names.sort();
    names.join(", ")
}

/// Converts the code of an APK, unless that was done before.
fn convert(home: &Path, apk: &Path) -> Result<PathBuf, String> {
    let bytes = fs::read(apk).map_err(|e| format!("{}: {e}", apk.display()))?;
    let mut hasher = DefaultHasher::new();
    hasher.write(&bytes);
    let folder = home.join("converted");
    fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let jar = folder.join(format!("{:016x}.jar", hasher.finish()));
    if jar.is_file() {
        return Ok(jar);
    }
    let mut parts = vec![home.join("converter")];
    parts.extend(jars(&home.join("dex"))?);
    parts.extend(jars(&home.join("lib"))?);
    parts.extend(jars(&home.join("android"))?);
    let parts = std::env::join_paths(parts).map_err(|e| e.to_string())?;
    let mut command = program(&find_java(home, JAVA_MIN)?);
    command.arg("-cp").arg(parts).arg("mdm.framework.apk.DexToJar").arg(apk).arg(&jar);
    let done = command.output().map_err(|e| format!("java cannot be started: {e}"))?;
    if done.status.success() {
        return Ok(jar);
    }
    let why = String::from_utf8_lossy(&done.stderr);
    Err(format!("{} cannot be converted: {}", apk.display(), why.lines().next().unwrap_or("no reason given")))
}

fn temporary_folder() -> Result<PathBuf, String> {
    static LAST: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let number = LAST.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("mdm-framework-{}-{number}", std::process::id()));
    fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    Ok(folder)
}

fn read_frames(mut output: ChildStdout, sender: &SyncSender<io::Result<Vec<u8>>>) {
    loop {
        let frame = read_frame(&mut output);
        let ended = frame.is_err();
        if sender.send(frame).is_err() || ended {
            return;
        }
    }
}

fn read_frame(output: &mut ChildStdout) -> io::Result<Vec<u8>> {
    let mut length = [0; 4];
    output.read_exact(&mut length)?;
    let length = u32::from_be_bytes(length) as usize;
    if length > FRAME_BYTES_MAX {
        return Err(io::Error::other(format!("an answer of {length} bytes")));
    }
    let mut frame = vec![0; length];
    output.read_exact(&mut frame)?;
    Ok(frame)
}
