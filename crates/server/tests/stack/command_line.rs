//! The program as a person starts it: exit codes, files, refusals (F45, F48, F49).

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const BINARY: &str = env!("CARGO_BIN_EXE_mobile-debug-mcp");
const PHONE: [&str; 3] = ["--virtual", "android", "--no-adb-server"];

const SCREEN: &str = r#"<?xml version='1.0' encoding='UTF-8'?><hierarchy rotation="0"><node index="0" text=""
    class="android.widget.FrameLayout" package="org.example" bounds="[0,0][1080,2400]"><node index="0" text="Pay"
    class="android.widget.Button" package="org.example" clickable="true" enabled="true"
    bounds="[40,200][1040,320]"/></node></hierarchy>"#;

/// A folder of this test, removed with it.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let folder = std::env::temp_dir().join(format!("mdm-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Folder(folder)
    }

    fn file(&self, name: &str, content: &str) -> PathBuf {
        let file = self.0.join(name);
        std::fs::write(&file, content).unwrap();
        file
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

#[expect(clippy::disallowed_methods, reason = "the program itself is under test")]
fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(BINARY);
    command.args(arguments).env_remove("ADB_PATH");
    command
}

fn run(arguments: &[&str]) -> (Option<i32>, String) {
    said(&command(arguments).output().unwrap())
}

fn said(output: &Output) -> (Option<i32>, String) {
    let text = [&output.stdout[..], &output.stderr[..]].concat();
    (output.status.code(), String::from_utf8_lossy(&text).into_owned())
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn what_is_not_found_or_not_reached_ends_with_exit_code_1() {
    // F45, F49
    let folder = Folder::new("find");
    let screen = folder.file("screen.xml", SCREEN);
    let find = |query: &str| run(&["find", "--file", text(&screen), "--query", query]);
    assert_eq!(find("Pay").0, Some(0));
    let (code, said) = find("Pya");
    println!("{said}");
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("button \"Pay\""), "F46: what may have been meant: {said}");
    let call = |json: &str| run(&[&["call", "wait_for_ui", json], &PHONE[..]].concat());
    assert_eq!(call(r#"{"selector":{"text":"Workbench"}}"#).0, Some(0));
    let (code, said) = call(r#"{"selector":{"text":"Nowhere"},"timeout_ms":300}"#);
    assert_eq!(code, Some(1), "{said}");
}

#[test]
fn a_tree_never_has_a_resolution_of_nothing_and_equal_screens_have_no_difference() {
    // F49
    let folder = Folder::new("tree");
    let screen = folder.file("screen.xml", SCREEN);
    let (code, tree) = run(&["tree", "--file", text(&screen)]);
    println!("{tree}");
    assert!(code == Some(0) && tree.contains("button \"Pay\"") && !tree.contains("resolution"), "{tree}");
    let (_, json) = run(&["tree", "--file", text(&screen), "--format", "json"]);
    let again = folder.file("again.json", &json);
    let (code, tree) = run(&["tree", "--file", text(&again)]);
    assert!(code == Some(0) && tree.contains("button \"Pay\""), "our own JSON is read back: {tree}");
    let (_, live) = run(&[&["call", "get_ui_tree"], &PHONE[..]].concat());
    assert!(live.contains(r#""resolution":{"width":1080,"height":2400}"#), "{live}");
    let (code, same) = run(&["diff", "--before", text(&screen), "--after", text(&screen)]);
    println!("{same}");
    assert!(code == Some(0) && same.ends_with("\nno difference\n"), "{same}");
}

#[test]
fn a_picture_is_saved_where_it_is_asked_for() {
    // F49
    let folder = Folder::new("picture");
    let file = folder.0.join("screen.png");
    let (code, said) =
        run(&[&["call", "capture_screenshot", "{}", "--out", text(&file)], &PHONE[..]].concat());
    println!("{said}");
    assert!(code == Some(0) && said.contains(&format!("saved as {}", file.display())), "{said}");
    let bytes = std::fs::read(&file).unwrap();
    assert!(bytes.starts_with(b"\x89PNG") || bytes.starts_with(b"\xff\xd8"), "{:?}", &bytes[..8]);
    let (code, said) = run(&[&["call", "list_devices", "{}", "--out", text(&file)], &PHONE[..]].concat());
    assert!(code == Some(2) && said.contains("without a picture"), "{said}");
}

#[test]
fn what_cannot_be_an_address_is_refused_at_the_start() {
    // F48
    let (code, said) = run(&["serve", "--device", "nonsense", "--no-adb-server"]);
    println!("{said}");
    assert!(code == Some(2) && said.contains("\"nonsense\" is not HOST:PORT"), "{said}");
    let (code, said) = run(&["call", "list_devices", "{}", "--device", "127.0.0.1:1", "--no-adb-server"]);
    assert!(code == Some(0) && said.contains(r#""id":"127.0.0.1:1","state":"offline""#), "{said}");
}

#[test]
fn the_embedded_phone_has_the_apps_that_are_named() {
    // F48
    let folder = Folder::new("app");
    let app = folder.file(
        "counter.json",
        r#"{"package": "org.example.counter", "label": "Counter", "start": "Home",
            "screens": {"Home": {"content": [{"type": "text", "text": "Nothing yet"}]}}}"#,
    );
    let json = r#"{"app_id":"org.example.counter","expect":{"text":"Nothing yet"}}"#;
    let phone = ["--virtual", "android", "--no-adb-server", "--app", text(&app), "--timing", "instant"];
    let (code, said) = run(&[&["call", "start_app", json], &phone[..]].concat());
    assert!(code == Some(0) && said.contains("\"verdict\":\"confirmed\""), "{said}");
    let (code, said) = run(&["serve", "--virtual", "android", "--app", "/no/such/app.json"]);
    assert!(code == Some(2) && said.contains("the app cannot be installed"), "{said}");
}

#[test]
fn the_demo_leaves_a_page_with_pictures() {
    // F49
    let folder = Folder::new("demo");
    let (code, said) = run(&["demo", "--out", text(&folder.0)]);
    println!("{said}");
    assert!(code == Some(0) && said.contains("The story came true in "), "{said}");
    assert!(said.contains("run_flow") && said.contains("\"expect\""), "it does as it advises: {said}");
    let page = std::fs::read_to_string(folder.0.join("index.md")).unwrap();
    assert!(said.contains(text(&folder.0.join("index.md"))), "{said}");
    for picture in ["1-login-failed.", "2-settings.", "3-logged-in."] {
        let (_, rest) = page.split_once(&format!("({picture}")).expect(picture);
        let file = folder.0.join(format!("{picture}{}", rest.split(')').next().unwrap()));
        assert!(std::fs::metadata(&file).unwrap().len() > 1000, "{}", file.display());
    }
}
