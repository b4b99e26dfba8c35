//! Apps, files and settings of a device: what is changed is read back, and what fails is done once.

use std::sync::Arc;

use mdm_android::adb::key::HostKey;
use mdm_android::adb::link::Link;
use mdm_android::adb::{Adb, Script};
use mdm_android::{Endpoint, HelperMode, Hub, HubConfig};
use mdm_virtual_device::{Phone, PhoneConfig, Timing};
use mobile_debug_mcp::app::{App, phone_connector};

use crate::world::{World, fact};

/// What the phone itself says, asked past the server.
async fn shell(world: &World, script: &'static str) -> String {
    let link = Link::new(phone_connector(world.phone.clone()), HostKey::at("/nonexistent/adbkey"));
    let output = Adb::direct(link).shell(&Script::new(script), 4096).await.expect("the phone answers");
    output.stdout_text()
}

async fn set(world: &World, setting: &str, value: &str) -> (String, String) {
    let told = world.ok("set_device", &format!(r#"{{"setting":"{setting}","value":{value}}}"#)).await;
    (fact(&told, "value"), fact(&told, "was"))
}

fn pair(value: &str, was: &str) -> (String, String) {
    (value.to_owned(), was.to_owned())
}

#[tokio::test(start_paused = true)]
async fn a_setting_is_what_the_device_says_afterwards() {
    // MG-01: never "sent = done".
    let world = World::with(PhoneConfig { clipboard_commands: true, ..PhoneConfig::default() });
    assert_eq!(set(&world, "dark_mode", r#""on""#).await, pair("on", "off"));
    assert_eq!(set(&world, "dark_mode", r#""auto""#).await, pair("auto", "on"));
    assert_eq!(set(&world, "dark_mode", "false").await, pair("off", "auto"));
    assert_eq!(set(&world, "wifi", r#""off""#).await, pair("off", "on"));
    assert_eq!(set(&world, "wifi", r#""on""#).await, pair("on", "off"));
    assert_eq!(set(&world, "mobile_data", r#""off""#).await, pair("off", "on"));
    assert_eq!(set(&world, "airplane_mode", r#""on""#).await, pair("on", "off"));
    assert_eq!(set(&world, "clipboard", r#""a 'b' $(c)""#).await, pair("a 'b' $(c)", ""));
    assert_eq!(world.phone.truth().clipboard, "a 'b' $(c)");
    let there = world.ok("set_device", r#"{"setting":"location","value":"-33.8688,151.2093"}"#).await;
    assert_eq!(fact(&there, "value"), "-33.868800,151.209300");
    assert_eq!(set(&world, "location", r#""real""#).await, pair("real", "-33.868800,151.209300"));
}

#[tokio::test(start_paused = true)]
async fn animations_get_back_the_scales_that_they_had() {
    let world = World::started(Timing::Instant).await;
    shell(&world, "settings put global animator_duration_scale 0.5").await;
    assert_eq!(set(&world, "animations", r#""off""#).await, pair("off", "on"));
    assert_eq!(set(&world, "animations", r#""off""#).await, pair("off", "off"), "asked twice");
    assert_eq!(shell(&world, "settings get global animator_duration_scale").await, "0");
    assert_eq!(set(&world, "animations", r#""on""#).await, pair("on", "off"));
    assert_eq!(shell(&world, "settings get global animator_duration_scale").await, "0.5");
    assert_eq!(shell(&world, "settings get global window_animation_scale").await, "1.0");
}

#[tokio::test(start_paused = true)]
async fn the_language_of_an_app_and_the_orientation_are_settings_too() {
    let world = World::started(Timing::Instant).await;
    assert_eq!(set(&world, "locale", r#""de-DE,en""#).await, pair("de-DE,en", ""), "of the app in front");
    let told =
        world.ok("set_device", r#"{"setting":"locale","value":"system","app_id":"com.workbench"}"#).await;
    assert_eq!((fact(&told, "value"), fact(&told, "was")), pair("", "de-DE,en"));
    let turned = world.ok("set_device", r#"{"setting":"orientation","value":"landscape"}"#).await;
    assert!(turned.contains(r#""orientation":"landscape""#), "{turned}");
    assert_eq!(shell(&world, "settings get system user_rotation").await, "1");
    world.ok("set_orientation", r#"{"orientation":"portrait"}"#).await;
    assert_eq!(shell(&world, "settings get system user_rotation").await, "0", "the older name works");
}

#[tokio::test(start_paused = true)]
async fn what_an_older_android_cannot_do_is_said() {
    let config = PhoneConfig {
        timing: Timing::Instant,
        sdk: 30,
        android_version: "11".to_owned(),
        ..PhoneConfig::default()
    };
    let world = World::with(config);
    for (setting, value) in [("locale", "de-DE"), ("clipboard", "x"), ("location", "1,2")] {
        let json = format!(r#"{{"setting":"{setting}","value":"{value}"}}"#);
        assert_eq!(world.code("set_device", &json).await, "PLATFORM_NOT_SUPPORTED", "{setting}");
    }
    // Android's own clipboard takes no commands of the shell, in no version. The helper reaches it.
    let newest = World::with(PhoneConfig::default());
    let set = r#"{"setting":"clipboard","value":"x"}"#;
    assert_eq!(newest.code("set_device", set).await, "PLATFORM_NOT_SUPPORTED");
    let helped = World::served(PhoneConfig::default(), HelperMode::Always);
    let told = helped.ok("set_device", set).await;
    assert_eq!((fact(&told, "value"), helped.phone.truth().clipboard), ("x".to_owned(), "x".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn a_wrong_value_changes_nothing() {
    let world = World::started(Timing::Instant).await;
    let before = world.phone.truth().argvs.len();
    for json in [
        r#"{"setting":"dark_mode","value":"maybe"}"#,
        r#"{"setting":"location","value":"91,0"}"#,
        r#"{"setting":"location","value":"52.5"}"#,
        r#"{"setting":"orientation","value":"upside"}"#,
        r#"{"setting":"wifi","value":"on","app_id":"a.b"}"#,
        r#"{"setting":"locale","value":"de; reboot","app_id":"com.workbench"}"#,
        r#"{"setting":"volume","value":"on"}"#,
    ] {
        assert_eq!(world.code("set_device", json).await, "INVALID_ARGUMENT", "{json}");
    }
    assert_eq!(world.phone.truth().argvs.len(), before, "nothing was sent");
}

#[tokio::test(start_paused = true)]
async fn apps_are_listed_explained_permitted_and_removed() {
    let world = World::started(Timing::Instant).await;
    let listed = world.ok("manage_app", r#"{"action":"list"}"#).await;
    assert!(listed.lines().any(|line| line == "com.workbench (1)"), "{listed}");
    assert!(!listed.contains("com.android.settings"), "{listed}");
    let found = world.ok("manage_app", r#"{"action":"list","app_id":"settings"}"#).await;
    assert!(found.contains("com.android.settings"), "{found}");
    let grant =
        |verb: &str| format!(r#"{{"action":"{verb}","app_id":"com.workbench","permission":"CAMERA"}}"#);
    let granted = world.ok("manage_app", &grant("grant")).await;
    assert!(granted.contains(r#""permission":"android.permission.CAMERA","granted":true"#), "{granted}");
    let info = world.ok("manage_app", r#"{"action":"info","app_id":"com.workbench"}"#).await;
    assert_eq!((fact(&info, "running"), fact(&info, "versionName")), pair("true", "1.0"));
    assert!(info.contains("android.permission.CAMERA: granted\n"), "{info}");
    let revoked = world.ok("manage_app", &grant("revoke")).await;
    assert!(revoked.contains(r#""granted":false"#), "{revoked}");
    let strange = r#"{"action":"grant","app_id":"com.workbench","permission":"android.permission.NFC_X"}"#;
    assert_eq!(world.code("manage_app", strange).await, "ACTION_REJECTED");
    let removed = world.ok("manage_app", r#"{"action":"uninstall","app_id":"com.shop"}"#).await;
    assert_eq!(fact(&removed, "installed"), "false");
    assert!(!world.phone.truth().packages.iter().any(|name| name == "com.shop"));
    assert_eq!(
        world.code("manage_app", r#"{"action":"info","app_id":"com.shop"}"#).await,
        "APP_NOT_INSTALLED"
    );
}

#[tokio::test(start_paused = true)]
async fn a_command_that_fails_is_run_once_and_its_reason_is_told() {
    // W21, W22
    let world = World::started(Timing::Instant).await;
    let answer = world.call("manage_app", r#"{"action":"uninstall","app_id":"com.android.settings"}"#).await;
    assert!(answer.is_error && answer.text().contains("DELETE_FAILED_INTERNAL_ERROR"), "{}", answer.text());
    let ran = world.phone.truth().argvs;
    let removals = ran.iter().filter(|argv| argv.get(1).is_some_and(|verb| verb == "uninstall")).count();
    assert_eq!(removals, 1, "{ran:?}");
}

#[tokio::test(start_paused = true)]
async fn a_screen_is_opened_with_values() {
    let world = World::started(Timing::Instant).await;
    let json = r#"{"action":"open","app_id":"com.workbench","activity":".LoginActivity",
        "extras":{"name":"Ada; reboot","count":3,"big":9000000000,"flag":true}}"#;
    let opened = world.ok("manage_app", json).await;
    assert!(opened.contains(r#""screen":"LoginActivity""#), "{opened}");
    let ran = world.phone.truth().argvs;
    let start = ran.iter().rfind(|argv| argv[0] == "am").unwrap();
    let extras = [
        "--el",
        "big",
        "9000000000",
        "--ei",
        "count",
        "3",
        "--ez",
        "flag",
        "true",
        "--es",
        "name",
        "Ada; reboot",
    ];
    assert_eq!(start[start.len() - extras.len()..], extras);
    assert_eq!(world.code("manage_app", r#"{"action":"open"}"#).await, "INVALID_ARGUMENT");
    let misplaced = r#"{"action":"list","link":"https://example.com"}"#;
    assert_eq!(world.code("manage_app", misplaced).await, "INVALID_ARGUMENT");
    let nobody = r#"{"action":"open","link":"https://example.com/?a=1&b='2"}"#;
    assert_eq!(world.code("manage_app", nobody).await, "ACTION_REJECTED", "no app takes links here");
}

#[tokio::test(start_paused = true)]
async fn files_go_both_ways_inside_the_allowed_folders() {
    // SE-02
    let world = World::started(Timing::Instant).await;
    let folder = std::env::temp_dir().join(format!("mdm-transfer-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (sent, back) = (folder.join("sent"), folder.join("back"));
    std::fs::write(&sent, "hello").unwrap();
    let copy = |action: &str, local: &std::path::Path, remote: &str| {
        let (local, remote) = (serde_json::json!(local), serde_json::json!(remote));
        format!(r#"{{"action":"{action}","local":{local},"remote":{remote}}}"#)
    };
    let remote = "/data/local/tmp/$(reboot); 'a' b";
    let told = world.ok("transfer_file", &copy("push", &sent, remote)).await;
    assert_eq!(fact(&told, "bytes"), "5");
    world.ok("transfer_file", &copy("pull", &back, remote)).await;
    assert_eq!(std::fs::read_to_string(&back).unwrap(), "hello");
    // What was there before stays when nothing comes.
    assert_eq!(world.code("transfer_file", &copy("pull", &back, "/nothing")).await, "ACTION_REJECTED");
    assert_eq!(std::fs::read_to_string(&back).unwrap(), "hello");
    let left: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "no half file: {left:?}");
    for json in [
        copy("pull", std::path::Path::new("/etc/mdm-new"), remote),
        copy("push", std::path::Path::new("/etc/passwd"), remote),
        copy("push", &folder, remote),
        copy("push", &sent, "relative"),
    ] {
        assert_eq!(world.code("transfer_file", &json).await, "INVALID_ARGUMENT", "{json}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[tokio::test(start_paused = true)]
async fn what_is_no_apk_is_refused_by_name() {
    // MG-01
    let world = World::started(Timing::Instant).await;
    let folder = std::env::temp_dir().join(format!("mdm-formats-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("empty")).unwrap();
    let expected = [
        ("a.apk", "INVALID_ARGUMENT", "no readable AndroidManifest.xml"),
        ("a.ipa", "PLATFORM_NOT_SUPPORTED", "no iOS device"),
        ("a.aab", "INVALID_ARGUMENT", "bundletool"),
        ("a.xapk", "INVALID_ARGUMENT", "unpack it"),
        ("empty", "INVALID_ARGUMENT", "holds no project"),
    ];
    let before = world.phone.truth().argvs.len();
    for (name, code, words) in expected {
        let path = folder.join(name);
        if name != "empty" {
            std::fs::write(&path, "PK").unwrap();
        }
        let answer = world.call("install_app", &serde_json::json!({"app_path": path}).to_string()).await;
        let text = answer.text();
        assert!(answer.is_error && fact(&text, "code") == code && text.contains(words), "{name}: {text}");
    }
    assert_eq!(world.phone.truth().argvs.len(), before, "nothing was sent");
    std::fs::remove_dir_all(folder).unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_device_is_not_cut_off_from_the_network_that_it_is_reached_by() {
    let phone = Phone::new(PhoneConfig { timing: Timing::Instant, ..PhoneConfig::default() });
    let endpoint = Endpoint { id: "192.168.1.5:5555".to_owned(), connector: phone_connector(phone.clone()) };
    let app = App::with_source(Arc::new(Hub::new(HubConfig::of_process(vec![endpoint], false))));
    let world = World { phone, app: Arc::new(app) };
    for json in [r#"{"setting":"wifi","value":"off"}"#, r#"{"setting":"airplane_mode","value":"on"}"#] {
        assert_eq!(world.code("set_device", json).await, "PLATFORM_NOT_SUPPORTED", "{json}");
    }
    assert_eq!(set(&world, "mobile_data", r#""off""#).await, pair("off", "on"));
    assert!(!world.phone.truth().argvs.iter().any(|argv| argv.iter().any(|word| word == "wifi")));
}
