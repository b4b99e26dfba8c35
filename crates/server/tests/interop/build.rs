//! Real builds: compilers of others make a real APK of `samples/hello-android`, through the server, and the virtual phone
//! installs it. The Gradle in front of the compilers is a stand-in, which its README says.

use std::path::{Path, PathBuf};
use std::process::Command;

use mdm_virtual_device::{Phone, PhoneConfig, Timing};
use mobile_debug_mcp::app::{App, Devices};
use mobile_debug_mcp::args::JsonObject;
use mobile_debug_mcp::paths::Roots;
use mobile_debug_mcp::tools;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::process::{BINARY, Folder, Talker, part};

const PARTS: &str = "MDM_TEST_ANDROID_PARTS";
const APP: &str = "org.example.hello";

/// A copy of the sample in a folder of its own.
struct Sample {
    folder: Folder,
}

impl Sample {
    fn new() -> Sample {
        let folder = Folder::new();
        let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples/hello-android");
        copy(&sample, folder.path());
        Sample { folder }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    /// Replaces a text that must be there.
    fn edit(&self, file: &str, from: &str, to: &str) {
        let path = self.path().join(file);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{from} in {file}");
        std::fs::write(&path, text.replacen(from, to, 1)).unwrap();
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true if entry.file_name() == "build" => {}
            true => copy(&entry.path(), &target),
            false => drop(std::fs::copy(entry.path(), target).unwrap()),
        }
    }
}

#[derive(Deserialize)]
struct Message {
    id: Option<u64>,
    method: Option<String>,
    params: Option<Value>,
    result: Option<Value>,
}

/// An MCP client that asks for progress.
struct Client {
    server: Talker,
    next: u64,
}

struct Told {
    text: String,
    is_error: bool,
    progress: Vec<String>,
}

impl Told {
    fn fact(&self, key: &str) -> Value {
        let first = self.text.lines().next().unwrap_or_default();
        let facts: Value = serde_json::from_str(first).unwrap_or_else(|e| panic!("{e} in {}", self.text));
        facts.get(key).cloned().unwrap_or(Value::Null)
    }
}

impl Client {
    fn start(root: &Path, parts: &Path) -> Client {
        let mut command = Command::new(BINARY);
        command.args(["serve", "--virtual", "android", "--no-adb-server", "--root"]).arg(root);
        command.env("HOME", root).env("MDM_ANDROID_PARTS", parts);
        let mut server = Talker::start(&mut command);
        server.say(r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#);
        server.hear().expect("an answer to initialize");
        server.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        Client { server, next: 2 }
    }

    fn say(&mut self, tool: &str, arguments: &Value) -> u64 {
        let id = self.next;
        self.next += 1;
        let params = json!({"name": tool, "arguments": arguments, "_meta": {"progressToken": id}});
        let request = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
        self.server.say(&request.to_string());
        id
    }

    fn hear(&self) -> Message {
        let line = self.server.hear().expect("the server is there");
        serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e} in {line}"))
    }

    /// The next words of progress.
    fn hear_progress(&self) -> String {
        loop {
            let message = self.hear();
            if message.method.as_deref() == Some("notifications/progress") {
                return words(&message);
            }
        }
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Told {
        let id = self.say(tool, arguments);
        let mut progress = Vec::new();
        loop {
            let message = self.hear();
            if message.method.as_deref() == Some("notifications/progress") {
                progress.push(words(&message));
            }
            if let (Some(result), Some(found)) = (message.result, message.id)
                && found == id
            {
                let text = result["content"][0]["text"].as_str().expect("a text").to_owned();
                return Told { text, is_error: result["isError"] == json!(true), progress };
            }
        }
    }
}

fn words(message: &Message) -> String {
    message.params.as_ref().and_then(|params| params["message"].as_str()).unwrap_or_default().to_owned()
}

/// True while a process with this id runs.
fn runs(id: &str) -> bool {
    let state = std::fs::read_to_string(format!("/proc/{}/stat", id.trim()));
    state.is_ok_and(|state| !state.rsplit(')').next().unwrap().trim_start().starts_with('Z'))
}

/// Waits for a process to be gone, for a minute at most.
fn wait_until_gone(id: &str) {
    let (_open, never) = std::sync::mpsc::channel::<()>();
    for _ in 0..600 {
        if !runs(id) {
            return;
        }
        let _ = never.recv_timeout(std::time::Duration::from_millis(100));
    }
    panic!("{id} still runs");
}

#[test]
fn a_real_app_is_built_with_progress_and_its_errors_have_file_and_line() {
    // MG-01, W33
    let Some(parts) = part(PARTS, "a_real_app_is_built_with_progress_and_its_errors_have_file_and_line")
    else {
        return;
    };
    let sample = Sample::new();
    let root = sample.path();
    let mut client = Client::start(&root, &parts);
    let project = json!({"project_path": root, "variant": "Debug"});
    let built = client.call("build_app", &project);
    assert!(!built.is_error, "{}", built.text);
    let apk = root.join("app/build/outputs/apk/debug/app-debug.apk");
    assert_eq!(built.fact("artifactPath"), json!(apk));
    assert_eq!((built.fact("appId"), built.fact("versionCode")), (json!(APP), json!(2)));
    assert_eq!((built.fact("versionName"), built.fact("task")), (json!("1.1"), json!(":app:assembleDebug")));
    let steps = [":app:processDebugResources", ":app:compileDebugJavaWithJavac", ":app:packageDebug"];
    for step in steps {
        assert!(built.progress.iter().any(|told| told == step), "{step}: {:?}", built.progress);
    }

    let main = "app/src/main/java/org/example/hello/MainActivity.java";
    sample.edit(main, "R.layout.main", "R.layout.mian");
    let broken = client.call("build_app", &project);
    assert!(broken.is_error && broken.text.contains("BUILD_FAILED"), "{}", broken.text);
    let place = format!("{}:10:32: \"cannot find symbol: variable mian\"", root.join(main).display());
    assert!(broken.text.lines().any(|line| line == place), "{place}\n{}", broken.text);
    assert_eq!(broken.fact("exitCode"), json!(1));
    sample.edit(main, "R.layout.mian", "R.layout.main");

    let layout = "app/src/main/res/layout/main.xml";
    sample.edit(layout, "android:orientation", "android:orientatoin");
    let broken = client.call("build_app", &project);
    let place = format!("{}:2: ", root.join(layout).display());
    assert!(broken.text.lines().any(|line| line.starts_with(&place)), "{place}\n{}", broken.text);
    sample.edit(layout, "android:orientatoin", "android:orientation");

    let unknown = client.call("build_app", &json!({"project_path": root, "variant": "staging"}));
    assert!(unknown.text.contains("not found in project ':app'"), "{}", unknown.text);
    let outside = client.call("build_app", &json!({"project_path": "/usr"}));
    assert!(
        outside.is_error && outside.text.contains("outside the allowed folders"),
        "SE-02: {}",
        outside.text
    );
}

#[test]
fn a_cancelled_build_and_a_client_that_leaves_leave_no_process() {
    // MG-01: cancellation kills the process group.
    let sample = Sample::new();
    let root = sample.path();
    let wrapper = "#!/bin/sh\n(trap '' TERM; sleep 600 & echo $! > child; wait) &\n\
        while [ ! -s child ]; do :; done\necho '> Task :app:slow'\nwait\n";
    std::fs::write(root.join("gradlew"), wrapper).unwrap();
    let mut client = Client::start(&root, &root);
    let project = json!({"project_path": root});
    let id = client.say("build_app", &project);
    while client.hear_progress() != ":app:slow" {}
    let child = std::fs::read_to_string(root.join("child")).unwrap();
    assert!(runs(&child));
    let params = json!({"requestId": id, "reason": "enough"});
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
    client.server.say(&cancel.to_string());
    wait_until_gone(&child);
    let listed = client.call("list_devices", &json!({}));
    assert!(!listed.is_error, "the server goes on: {}", listed.text);

    std::fs::remove_file(root.join("child")).unwrap();
    client.say("build_app", &project);
    while client.hear_progress() != ":app:slow" {}
    let child = std::fs::read_to_string(root.join("child")).unwrap();
    client.server.finish();
    assert!(!runs(&child), "the server waits for the end of its builds before its own");
}

/// Calls a tool in this process, where the phone's own truth can be read.
async fn call(app: &App, tool: &str, arguments: Value) -> (bool, String) {
    let arguments: JsonObject = serde_json::from_value(arguments).unwrap();
    let answer = tools::find(tool).unwrap().call(app, arguments, CancellationToken::new()).await;
    (answer.is_error, answer.text())
}

async fn ok(app: &App, tool: &str, arguments: Value) -> String {
    let (is_error, text) = call(app, tool, arguments).await;
    assert!(!is_error, "{tool}: {text}");
    text
}

/// Builds a version of the sample with the stand-in itself.
fn build_version(sample: &Sample, parts: &Path, code: u32) -> PathBuf {
    let gradle = sample.path().join("app/build.gradle");
    let text = std::fs::read_to_string(&gradle).unwrap();
    let lines = text.lines().map(|line| match line.trim().starts_with("versionCode") {
        true => format!("        versionCode {code}"),
        false => line.to_owned(),
    });
    std::fs::write(&gradle, lines.collect::<Vec<_>>().join("\n")).unwrap();
    let mut command = Command::new(sample.path().join("gradlew"));
    crate::process::run(command.arg("assembleDebug").env("MDM_ANDROID_PARTS", parts)).ok();
    let made = sample.path().join("app/build/outputs/apk/debug/app-debug.apk");
    let kept = sample.path().join(format!("v{code} $(reboot);.apk"));
    std::fs::copy(made, &kept).unwrap();
    kept
}

/// A split of the sample: the same app, and a manifest that names the split.
fn make_split(sample: &Sample, parts: &Path) -> PathBuf {
    let (manifest, split) = (sample.path().join("split.xml"), sample.path().join("feature.apk"));
    let text = format!(
        "<manifest xmlns:android=\"http://schemas.android.com/apk/res/android\" package=\"{APP}\" split=\"feature\">\
         <application android:hasCode=\"false\" /></manifest>"
    );
    std::fs::write(&manifest, text).unwrap();
    let mut command = Command::new(parts.join("aapt2"));
    command.args(["link", "--version-code", "4", "-I"]).arg(parts.join("android-framework.jar"));
    crate::process::run(command.arg("--manifest").arg(&manifest).arg("-o").arg(&split)).ok();
    split
}

/// Damaged in 2,000 ways, a real APK is refused or read, and nothing breaks off.
fn check_damaged(apk: &Path, folder: &Path) {
    let whole = std::fs::read(apk).unwrap();
    let damaged = folder.join("damaged.apk");
    for round in 0..2000_usize {
        let mut bytes = whole.clone();
        let at = round.wrapping_mul(2_654_435_761) % bytes.len();
        match round % 3 {
            0 => bytes.truncate(at),
            1 => bytes[at] ^= 0xff,
            _ => bytes[at..].iter_mut().take(8).for_each(|byte| *byte = 0xff),
        }
        std::fs::write(&damaged, bytes).unwrap();
        let _ = mdm_build::apk::read(&damaged);
    }
}

#[tokio::test]
async fn a_real_apk_is_installed_started_replaced_and_removed() {
    // MG-01, W22, S9
    let Some(parts) = part(PARTS, "a_real_apk_is_installed_started_replaced_and_removed") else { return };
    let sample = Sample::new();
    let (older, newer) = (build_version(&sample, &parts, 3), build_version(&sample, &parts, 4));
    let phone = Phone::new(PhoneConfig { timing: Timing::Instant, ..PhoneConfig::default() });
    let devices = Devices { phone: Some(phone.clone()), ..Devices::default() };
    let app = App::new(devices).allowing(Roots::new(&[sample.path()]).unwrap());

    let told = ok(&app, "install_app", json!({"app_path": newer})).await;
    assert!(told.contains(r#""installed":true,"versionName":"1.1","versionCode":4"#), "{told}");
    let listed = ok(&app, "manage_app", json!({"action": "list"})).await;
    assert!(listed.lines().any(|line| line == "org.example.hello (4)"), "{listed}");
    let info = ok(&app, "manage_app", json!({"action": "info", "app_id": APP})).await;
    assert!(info.contains(r#""debuggable":true,"minSdk":24,"targetSdk":35"#), "{info}");
    assert!(info.contains("android.permission.CAMERA: not granted"), "from its manifest: {info}");

    let started = ok(&app, "start_app", json!({"app_id": APP})).await;
    assert!(started.contains(r#""matchedTarget":true"#), "{started}");
    let tree = ok(&app, "get_ui_tree", json!({})).await;
    assert!(tree.contains("This phone cannot run the code of installed apps."), "{tree}");
    assert!(tree.contains("Version: 1.1 (4)") && tree.contains("Activity: .MainActivity"), "{tree}");
    let open =
        json!({"action": "open", "app_id": APP, "activity": "GreetingActivity", "extras": {"text": "Hi"}});
    let opened = ok(&app, "manage_app", open).await;
    assert!(opened.contains("Activity: .GreetingActivity"), "{opened}");
    ok(&app, "set_device", json!({"setting": "locale", "value": "de-DE"})).await;
    let tree = ok(&app, "get_ui_tree", json!({})).await;
    assert!(tree.contains("Language: de-DE"), "{tree}");

    let (is_error, refused) = call(&app, "install_app", json!({"app_path": older})).await;
    assert!(is_error && refused.contains("INSTALL_FAILED_VERSION_DOWNGRADE"), "{refused}");
    assert!(refused.contains("raise versionCode"), "what to do: {refused}");
    ok(&app, "install_app", json!({"app_path": newer})).await;
    ok(&app, "manage_app", json!({"action": "uninstall", "app_id": APP})).await;
    ok(&app, "install_app", json!({"app_path": older})).await;
    let listed = ok(&app, "manage_app", json!({"action": "list"})).await;
    assert!(listed.lines().any(|line| line == "org.example.hello (3)"), "{listed}");

    let truth = phone.truth();
    let installs = truth.argvs.iter().filter(|argv| argv.iter().any(|word| word == "install")).count();
    assert_eq!(installs, 4, "W22: the refused one was sent once: {:?}", truth.argvs);
    assert_eq!(truth.leftover_files, Vec::<String>::new(), "S9");
    let named = truth.argvs.iter().flatten().find(|word| word.contains("reboot"));
    assert_eq!(named, None, "S9: the local name never reaches the phone");
    let splits = json!([newer, make_split(&sample, &parts)]);
    let told = ok(&app, "install_app", json!({"app_path": splits})).await;
    assert!(told.contains(r#""installed":true,"versionName":"1.1","versionCode":4"#), "{told}");
    let commands = phone.truth().commands;
    let committed = commands.iter().filter(|command| command.contains("install-commit")).count();
    assert_eq!(committed, 1, "one session: {commands:?}");
    let (is_error, refused) = call(&app, "install_app", json!({"app_path": [splits[1]]})).await;
    assert!(is_error && refused.contains("the base APK is missing"), "{refused}");
    check_damaged(&newer, &sample.path());

    let unsigned = sample.path().join("unsigned.apk");
    std::fs::copy(sample.path().join("app/build/intermediates/debug/resources.apk"), &unsigned).unwrap();
    let (is_error, refused) = call(&app, "install_app", json!({"app_path": unsigned})).await;
    assert!(is_error && refused.contains("INSTALL_PARSE_FAILED_NO_CERTIFICATES"), "{refused}");
}
