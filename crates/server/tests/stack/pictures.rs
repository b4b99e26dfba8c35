//! Pictures of the screen, whole, in part, marked and masked; and all that a device tells of one moment.

use mdm_android::HelperMode;
use mdm_virtual_device::{AppFile, Fault, Faults, PhoneConfig, Timing};
use mobile_debug_mcp::answer::Answer;

use crate::world::{World, fact};

const APP: &str = r#"{"package": "org.example.safe", "label": "Safe", "start": "Home", "values": {"pin": "1234"},
    "screens": {
      "Home": {"content": [
        {"type": "field", "id": "pin", "hint": "PIN", "value": "pin", "password": true},
        {"type": "button", "text": "Open", "on_tap": [{"go": "Vault"}]},
        {"type": "button", "text": "Fail", "on_tap": [{"log": {"priority": "E", "tag": "Vault", "message": "no key"}}]}]},
      "Vault": {"secure": true, "content": [{"type": "text", "text": "Gold"}]}}}"#;

async fn safe(faults: Faults) -> World {
    let apps = vec![AppFile::parse(APP).expect("an app")];
    let world = World::with(PhoneConfig { apps, faults, timing: Timing::Brisk, ..PhoneConfig::default() });
    world.ok("start_app", r#"{"app_id":"org.example.safe"}"#).await;
    world
}

async fn picture(world: &World, json: &str) -> Answer {
    let answer = world.call("capture_screenshot", json).await;
    println!("{}", answer.text());
    assert!(!answer.is_error && answer.image.is_some(), "{}", answer.text());
    answer
}

#[tokio::test(start_paused = true)]
async fn elements_are_marked_with_their_ids_and_secrets_are_painted_over() {
    // OB-01, SE-06
    let world = safe(Faults::default()).await;
    let marked = picture(&world, r#"{"marks":true}"#).await.text();
    let tree = world.tree().await;
    let targets: Vec<&str> = marked.lines().skip(1).collect();
    assert_eq!(fact(&marked, "marked"), targets.len().to_string(), "{marked}");
    for line in &targets {
        assert!(tree.contains(line.trim()), "the same id and words as in the tree: {line}\n{tree}");
    }
    assert_eq!(fact(&marked, "masked"), "1", "the PIN: {marked}");
    let after = picture(&world, "{}").await.text();
    assert_eq!(fact(&after, "masked"), "1", "also when nobody asked for a tree: {after}");
}

const NOTE: &str = r#"{"package": "org.example.note", "label": "Note", "start": "Home", "values": {"note": ""},
    "screens": {"Home": {"content": [{"type": "field", "id": "note", "hint": "Note", "value": "note"}]}}}"#;

async fn note(faults: Faults) -> World {
    let apps = vec![AppFile::parse(NOTE).expect("an app")];
    let world = World::with(PhoneConfig { apps, faults, timing: Timing::Brisk, ..PhoneConfig::default() });
    world.ok("start_app", r#"{"app_id":"org.example.note"}"#).await;
    // From here on what the device is comes from memory: the first of two calls has the first turn.
    world.call("capture_screenshot", "{}").await;
    world
}

#[tokio::test(start_paused = true)]
async fn nothing_is_typed_between_the_tree_and_the_picture_that_it_masks() {
    // SE-06: the masks of an empty field, and the picture of a full one
    let world = note(Faults::default()).await;
    // Known before and not typed: as a secret is that was given with --secret.
    world.app.secrets.keep("kestrel-canary-77");
    let mut scripts = world.phone.scripts();
    let typed = r#"{"text":"kestrel-canary-77","selector":{"resource_id":"note"},"secure":true}"#;
    let (before, typed) =
        tokio::join!(world.call("capture_screenshot", "{}"), world.call("type_text", typed));
    assert!(!before.is_error && !typed.is_error, "{} {}", before.text(), typed.text());
    let sent: Vec<String> = std::iter::from_fn(|| scripts.try_recv().ok()).collect();
    let place = |part: &str| sent.iter().position(|script| script.contains(part));
    let (pictured, typed) = (place("screencap").expect("a picture"), place("input text").expect("a text"));
    assert!(pictured < typed, "the picture waits for its tree only: {sent:#?}");
    assert!(!before.text().contains("masked"), "the field was empty: {}", before.text());
    let after = picture(&world, "{}").await.text();
    assert_eq!(fact(&after, "masked"), "1", "{after}");
}

#[tokio::test(start_paused = true)]
async fn a_secret_that_becomes_known_while_a_picture_is_taken_is_not_on_it() {
    // SE-06
    let world = note(Faults::default()).await;
    let typed = r#"{"text":"kestrel-canary-77","selector":{"resource_id":"note"},"secure":true}"#;
    // Nothing is secret when the picture is asked for, and its tree is read before the text is typed.
    let (shown, typed) =
        tokio::join!(world.call("capture_screenshot", r#"{"marks":true}"#), world.call("type_text", typed));
    assert!(!typed.is_error, "{}", typed.text());
    assert_eq!(fact(&shown.text(), "masked"), "1", "{}", shown.text());
}

#[tokio::test(start_paused = true)]
async fn there_is_no_picture_where_it_is_not_known_what_is_on_it() {
    // SE-06
    let mut faults = Faults::default();
    *faults.rate_mut(Fault::FailingDump) = 1.0;
    let world = note(faults).await;
    let shown = world.call("capture_debug_snapshot", "{}").await;
    assert!(shown.image.is_some(), "nothing is secret: {}", shown.text());
    world.app.secrets.remember("kestrel-canary-77");
    let answer = world.call("capture_debug_snapshot", "{}").await;
    let text = answer.text();
    assert!(answer.image.is_none(), "{text}");
    assert!(text.contains(r#""screenshot_error":"a secret may be on it"#), "{text}");
    assert!(text.contains("ui tree unavailable") && text.contains(r#""activity":"#), "{text}");
    assert!(world.call("capture_screenshot", "{}").await.image.is_none());
}

#[tokio::test(start_paused = true)]
async fn the_helper_makes_pictures_small_on_the_device() {
    // A picture of an empty screen may be black, which its pixels tell.
    let line = r#"{"type": "text", "text": "There is much to read on this screen, line by line."}"#;
    let full = format!(
        r#"{{"package": "org.example.full", "label": "Full", "start": "Home",
            "screens": {{"Home": {{"content": [{}]}}}}}}"#,
        [line; 30].join(",")
    );
    let apps = [APP, &full].map(|app| AppFile::parse(app).expect("an app")).to_vec();
    let config = PhoneConfig { apps, timing: Timing::Brisk, ..PhoneConfig::default() };
    let world = World::served(config, HelperMode::Always);
    world.ok("start_app", r#"{"app_id":"com.workbench"}"#).await;
    let mut scripts = world.phone.scripts();
    let mut asked_for_pixels =
        || std::iter::from_fn(|| scripts.try_recv().ok()).any(|script| script.contains("screencap"));
    let small = picture(&world, "{}").await;
    assert!(small.text().contains(r#""image":{"width":461,"height":1024}"#), "{}", small.text());
    assert!(small.image.is_some_and(|image| image.bytes.starts_with(&[0xff, 0xd8])), "a JPEG");
    assert!(!asked_for_pixels(), "no pixels cross the cable");
    // Nor where secrets are known, as long as none is on the screen.
    world.app.secrets.keep("kestrel-canary-77");
    world.ok("start_app", r#"{"app_id":"org.example.full"}"#).await;
    let guarded = picture(&world, "{}").await;
    assert!(guarded.text().contains(r#""image":{"width":461,"height":1024}"#), "{}", guarded.text());
    assert!(!asked_for_pixels(), "no pixels cross the cable");
    // What has to be painted over, cut out or judged as black needs the pixels.
    world.ok("start_app", r#"{"app_id":"org.example.safe"}"#).await;
    world.tree().await;
    assert_eq!(fact(&picture(&world, "{}").await.text(), "masked"), "1", "SE-06");
    assert!(asked_for_pixels());
    world.ok("tap_element", r#"{"selector":{"text":"Open"}}"#).await;
    world.tree().await;
    assert_eq!(fact(&picture(&world, "{}").await.text(), "black"), "true");
}

#[tokio::test(start_paused = true)]
async fn a_part_is_shown_with_the_way_back_to_the_devices_pixels() {
    let world = safe(Faults::default()).await;
    let tree = world.ok("get_ui_tree", r#"{"coordinates":true}"#).await;
    let open = tree.lines().find(|line| line.contains("\"Open\"")).expect("a button").trim();
    let id = open.split(' ').next().unwrap();
    let part = picture(&world, &format!(r#"{{"element_id":"{id}"}}"#)).await.text();
    assert!(part.contains("\"origin\":["), "{part}");
    let region = picture(&world, r#"{"region":[100,200,300,500]}"#).await.text();
    assert!(
        region
            .contains(r#""image":{"width":200,"height":300}},"scale":{"x":1.0,"y":1.0},"origin":[100,200]"#),
        "{region}"
    );
    for wrong in [r#"{"region":[5,5,5,9]}"#, r#"{"element_id":"x"}"#, r#"{"max_size":1}"#] {
        assert_eq!(world.code("capture_screenshot", wrong).await, "INVALID_ARGUMENT", "{wrong}");
    }
    assert_eq!(world.code("capture_screenshot", r#"{"element_id":"e999"}"#).await, "STALE_REFERENCE");
}

#[tokio::test(start_paused = true)]
async fn a_window_that_may_not_be_photographed_is_said_to_be_black() {
    let world = safe(Faults::default()).await;
    assert!(!picture(&world, "{}").await.text().contains("black"));
    world.ok("tap_element", r#"{"selector":{"text":"Open"},"settle":true}"#).await;
    let black = picture(&world, "{}").await.text();
    assert!(black.contains(r#""black":true"#) && black.contains("may not be photographed"), "{black}");
}

#[tokio::test(start_paused = true)]
async fn a_debug_snapshot_has_every_part_and_loses_none_for_another() {
    // OB-02
    let world = safe(Faults::default()).await;
    world.ok("tap_element", r#"{"selector":{"text":"Fail"},"settle":true}"#).await;
    let answer = world.call("capture_debug_snapshot", r#"{"reason":"no key"}"#).await;
    let text = answer.text();
    println!("{text}");
    assert!(answer.image.is_some() && text.contains("\"Open\"") && text.contains("log: "), "{text}");
    assert!(text.contains(r#""reason":"no key""#) && text.contains("E Vault("), "{text}");
    assert!(text.contains(r#""last_action":{"action_id":"tap_element_"#), "{text}");
    assert!(!text.contains("_error"), "{text}");

    let mut faults = Faults::default();
    *faults.rate_mut(Fault::FailingDump) = 1.0;
    let world = safe(faults).await;
    let answer = world.call("capture_debug_snapshot", "{}").await;
    let text = answer.text();
    println!("{text}");
    assert!(text.contains("ui_tree_error") && text.contains("ui tree unavailable"), "{text}");
    assert!(answer.image.is_some() && text.contains("\"activity\":") && text.contains("log: "), "{text}");
}

#[tokio::test(start_paused = true)]
async fn a_debug_snapshot_is_saved_as_a_folder_that_can_be_attached() {
    // OB-02, SE-02, SE-06
    let world = safe(Faults::default()).await;
    world.ok("tap_element", r#"{"selector":{"text":"Fail"},"settle":true}"#).await;
    let folder = std::env::temp_dir().join(format!("mdm-snapshot-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    let json = format!(r#"{{"folder":{:?}}}"#, folder.display().to_string());
    let text = world.ok("capture_debug_snapshot", &json).await;
    assert!(text.contains("saved in "), "{text}");
    let read =
        |name: &str| std::fs::read_to_string(folder.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
    assert!(read("log.txt").contains("E Vault: no key"));
    assert!(
        read("tree.json").contains("\"Open\"") && !read("tree.json").contains("1234"),
        "the PIN stays out"
    );
    assert!(read("snapshot.txt").contains("org.example.safe") && read("network.har").contains("\"log\""));
    assert!(std::fs::read(folder.join("screen.jpg")).unwrap().starts_with(&[0xff, 0xd8]));
    for wrong in
        [json.as_str(), r#"{"folder":"/proc/mdm-snapshot"}"#, r#"{"folder":"../../../mdm-snapshot"}"#]
    {
        assert_eq!(world.code("capture_debug_snapshot", wrong).await, "INVALID_ARGUMENT", "{wrong}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}
