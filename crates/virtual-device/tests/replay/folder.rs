//! Recorded folders, valid and invalid, and the phones that play them.

use std::path::{Path, PathBuf};

use mdm_virtual_device::{Phone, PhoneConfig, Recording};

use crate::host::Host;

const LIST: &str = r#"<hierarchy rotation="0" width="400" height="800"><node class="android.widget.FrameLayout" bounds="[0,0][400,800]">
<node class="android.widget.EditText" resource-id="com.recorded:id/query" text="Search" clickable="true" bounds="[0,0][300,100]"/>
<node class="android.widget.Button" text="A &amp; &quot;B&quot;&#10;C" clickable="true" enabled="false" bounds="[300,0][400,100]"/></node></hierarchy>"#;
const FOUND: &str = r#"<hierarchy rotation="0" width="400" height="800"><node class="android.widget.TextView" text="found" bounds="[0,0][400,800]"/></hierarchy>"#;

/// A folder that is removed when the test ends.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, trace: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("replay-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder for the test");
        let folder = Folder(path);
        folder.file("trace.json", trace.as_bytes());
        folder.file("list.xml", LIST.as_bytes());
        folder.file("found.xml", FOUND.as_bytes());
        folder
    }

    fn file(&self, name: &str, content: &[u8]) {
        std::fs::write(self.0.join(name), content).expect("a file for the test");
    }

    fn path(&self) -> &Path {
        &self.0
    }

    fn problem(&self) -> String {
        Recording::load(self.path()).expect_err("a broken folder").to_string()
    }

    async fn play(&self) -> (Phone, Host) {
        let replay = Some(Recording::load(self.path()).expect("a good folder"));
        let phone = Phone::new(PhoneConfig { replay, ..PhoneConfig::default() });
        let host = Host::connect(&phone).await;
        (phone, host)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A recording with one action, which leads from the list to the result.
fn trace(action: &str) -> String {
    format!(
        r#"{{"steps":[{{"state":"S0","tree":"list.xml","action":{action}}},{{"state":"S1","tree":"found.xml"}}]}}"#
    )
}

fn state(phone: &Phone) -> String {
    phone.truth().replay.expect("a replay phone").state
}

#[tokio::test(start_paused = true)]
async fn a_recorded_tree_is_written_as_uiautomator_writes() {
    let folder = Folder::new("form", &trace(r#"{"type":"back"}"#));
    let (_, mut host) = folder.play().await;
    let tree = host.dump().await;
    let button = "<node index=\"1\" text='A &amp; \"B\"&#10;C' resource-id=\"\" class=\"android.widget.Button\" \
         package=\"com.recorded\" content-desc=\"\" checkable=\"false\" checked=\"false\" clickable=\"true\" \
         enabled=\"false\" focusable=\"false\" focused=\"false\" scrollable=\"false\" long-clickable=\"false\" \
         password=\"false\" selected=\"false\" bounds=\"[300,0][400,100]\" drawing-order=\"2\" hint=\"\" />";
    assert!(tree.contains(button), "{tree}");
    assert_eq!(host.run("wm size").await, "Physical size: 400x800\n");
    assert!(host.run("dumpsys window").await.contains("com.recorded/"), "the recorded app is in front");
    assert!(host.run("pm path com.recorded").await.starts_with("package:"));
}

#[tokio::test(start_paused = true)]
async fn only_the_recorded_action_leads_on() {
    let folder = Folder::new("tap", &trace(r#"{"type":"click","identifier":{"text":"A & \"B\"\nC"}}"#));
    let (phone, mut host) = folder.play().await;
    let before = host.dump().await;
    for other in ["input tap 299 50", "input keyevent BACK", "input text x", "input swipe 350 50 350 700 300"]
    {
        host.run(other).await;
        assert_eq!(host.dump().await, before, "{other}");
    }
    assert_eq!(state(&phone), "S0");
    host.run("input tap 350 50").await;
    assert_eq!(state(&phone), "S1");
    assert!(host.dump().await.contains("found"));
    assert_eq!(phone.truth().replay.expect("a replay").steps_passed, 1);
}

#[tokio::test(start_paused = true)]
async fn text_needs_the_focus_shows_and_leads_on_with_enter() {
    let action = r#"{"type":"send_keys_enter","bounds_px":{"x1":0,"y1":0,"x2":300,"y2":100},"input":"a b"}"#;
    let folder = Folder::new("text", &trace(action));
    let (phone, mut host) = folder.play().await;
    host.run("input text a%sb").await;
    host.run("input keyevent ENTER").await;
    assert_eq!(state(&phone), "S0", "nothing had the focus");
    host.run("input tap 10 10; input text a%sc").await;
    assert!(host.dump().await.contains("text=\"a c\""), "what is typed shows");
    host.run("input keyevent ENTER").await;
    assert_eq!(state(&phone), "S0", "another text was typed");
    host.run("input keyevent DEL; input text b").await;
    assert_eq!(state(&phone), "S0", "enter is part of the action");
    host.run("input keyevent ENTER").await;
    assert_eq!(state(&phone), "S1");
}

#[tokio::test(start_paused = true)]
async fn swipes_long_presses_keys_and_waits_lead_on() {
    let bounds = r#""bounds_px":{"x1":0,"y1":0,"x2":400,"y2":800}"#;
    for (action, wrong, right) in [
        (
            format!(r#"{{"type":"swipe",{bounds},"direction":"up"}}"#),
            "input swipe 200 100 200 700 200",
            "input swipe 200 700 200 100 200",
        ),
        (format!(r#"{{"type":"long_press",{bounds}}}"#), "input tap 9 9", "input swipe 9 9 9 9 800"),
        (r#"{"type":"back"}"#.to_owned(), "input keyevent HOME", "input keyevent BACK"),
        (r#"{"type":"wait","ms":5000}"#.to_owned(), "sleep 4", "sleep 2"),
    ] {
        let folder = Folder::new("other", &trace(&action));
        let (phone, mut host) = folder.play().await;
        host.run(wrong).await;
        assert_eq!(state(&phone), "S0", "{action}: {wrong}");
        host.run(right).await;
        assert_eq!(state(&phone), "S1", "{action}: {right}");
    }
}

#[tokio::test(start_paused = true)]
async fn pixels_are_the_screenshot_or_drawn_from_the_tree() {
    let steps = r#"{"steps":[{"state":"S0","tree":"list.xml","screenshot":"s0.png","action":{"type":"back"}},
        {"state":"S1","tree":"found.xml"}]}"#;
    let folder = Folder::new("pixels", steps);
    let mut png = Vec::new();
    let mut encoder = png::Encoder::new(&mut png, 400, 800);
    encoder.set_color(png::ColorType::Rgb);
    let red: Vec<u8> = [200, 10, 20].repeat(400 * 800);
    encoder.write_header().unwrap().write_image_data(&red).unwrap();
    folder.file("s0.png", &png);
    let (_, mut host) = folder.play().await;
    let shown = host.service("exec:screencap").await;
    assert_eq!(shown.len(), 16 + 400 * 800 * 4);
    assert_eq!(shown[16..20], [200, 10, 20, 255]);
    host.run("input keyevent 4").await;
    let drawn = host.service("exec:screencap").await;
    assert_eq!(drawn.len(), 16 + 400 * 800 * 4);
    let dark = drawn[16..].chunks(4).filter(|p| p[0] < 0x60).count();
    assert!((20..5000).contains(&dark), "one word is written: {dark} dark pixels");
}

#[test]
fn a_broken_folder_is_named_and_refused() {
    let folder = Folder::new("broken", &trace(r#"{"type":"dance"}"#));
    assert!(folder.problem().ends_with("trace.json: the action on S0: unknown type \"dance\""));
    for (trace, problem) in [
        (trace(r#"{"type":"click","identifier":{"text":"nobody"}}"#), "neither bounds nor an identifier"),
        (r#"{"steps":[]}"#.to_owned(), "no step has a tree"),
        (r#"{"steps":[{"state":"S0","tree":"../list.xml"}]}"#.to_owned(), "not a plain file name"),
        (r#"{"steps":[{"state":"S0","tree":"list.xml","to":"S9"}]}"#.to_owned(), "no screen S9"),
        (r#"{"steps":[{"state":"S0","tree":"absent.xml"}]}"#.to_owned(), "absent.xml"),
        ("{".to_owned(), "EOF"),
    ] {
        folder.file("trace.json", trace.as_bytes());
        assert!(folder.problem().contains(problem), "{trace}: {}", folder.problem());
    }
    folder.file("trace.json", trace(r#"{"type":"back"}"#).as_bytes());
    let deep = format!("<hierarchy>{}{}</hierarchy>", "<node>".repeat(201), "</node>".repeat(201));
    for (tree, problem) in [
        (deep.as_str(), "200 levels"),
        ("<hierarchy><node bounds=\"[0,0][9999,10]\"/></hierarchy>", "9999x10"),
        ("<hierarchy><node>", "not a whole tree"),
        ("", "not a whole tree"),
    ] {
        folder.file("list.xml", tree.as_bytes());
        assert!(folder.problem().contains(problem), "{}", folder.problem());
    }
}
