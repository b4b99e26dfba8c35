//! Puts a phone into the situation of a recording, as near as a phone can be put into it.

use std::sync::Arc;

use mdm_android::adb::key::HostKey;
use mdm_android::{Endpoint, Hub, HubConfig};
use mdm_virtual_device::{AppFile, DumpFault, Faults, IPhone, IPhoneConfig, Phone, PhoneConfig};
use mobile_debug_mcp::app::{App, Devices, EmbeddedIPhone, Way, phone_connector};
use mobile_debug_mcp::args::JsonObject;
use mobile_debug_mcp::compat::{self, Block, Rendered};
use mobile_debug_mcp::tools::{self, By};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::differences::file;
use crate::recordings::Recording;

pub const APP: &str = "com.example.app";
const SERIAL: &str = "emulator-5554";
/// How long a cable is out that failed once.
const AWAY: std::time::Duration = std::time::Duration::from_millis(500);

pub struct Stage {
    pub app: Arc<App>,
    phones: Vec<Phone>,
    _iphone: Option<IPhone>,
    pub arguments: JsonObject,
}

impl Stage {
    /// The stage with everything that was done before the recorded call.
    pub async fn of(recording: &Recording) -> Stage {
        let arguments = recording.arguments.as_object().cloned().unwrap_or_default();
        let mut stage = if recording.is_ios() {
            Stage::iphone(recording, arguments)
        } else {
            Stage::android(recording, arguments)
        };
        stage.open(recording).await;
        stage.replace_handles(recording).await;
        stage.go_on(recording).await;
        stage.fail(recording);
        stage
    }

    fn android(recording: &Recording, arguments: JsonObject) -> Stage {
        let is_bare = recording.name.starts_with("47_noadb") || recording.name == "53_ios_tree";
        let serials: Vec<String> = match recording.setup("devices").and_then(Value::as_array) {
            Some(devices) => devices.iter().filter_map(|one| one[0].as_str().map(str::to_owned)).collect(),
            None if is_bare => Vec::new(),
            None => vec![SERIAL.to_owned()],
        };
        let file = AppFile::parse(&android_app(recording)).expect("the test's own app");
        let config = PhoneConfig {
            model: "sdk_gphone64_arm64".to_owned(),
            android_version: "14".to_owned(),
            sdk: 34,
            apps: vec![file],
            faults: Faults {
                failing_dump: if dumps_fail(recording) { 1.0 } else { 0.0 },
                ..Faults::default()
            },
            ..PhoneConfig::default()
        };
        let phones: Vec<Phone> = serials.iter().map(|_| Phone::new(config.clone())).collect();
        let endpoints = serials.iter().zip(&phones);
        let endpoints = endpoints
            .map(|(id, phone)| Endpoint { id: id.clone(), connector: phone_connector(phone.clone()) });
        let hub = Hub::new(HubConfig {
            server: None,
            start: None,
            endpoints: endpoints.collect(),
            key: HostKey::at("/nonexistent/adbkey"),
            session: 7,
            problems: Vec::new(),
        });
        let app = Arc::new(App::with_source(Arc::new(hub)).compatible(true));
        Stage { app, phones, _iphone: None, arguments }
    }

    fn iphone(_: &Recording, arguments: JsonObject) -> Stage {
        let file = AppFile::parse(&iphone_app()).expect("the test's own app");
        let iphone = IPhone::new(IPhoneConfig { apps: vec![file], ..IPhoneConfig::default() });
        let embedded = EmbeddedIPhone { phone: iphone.clone(), ways: vec![Way::Idb] };
        let devices = Devices { iphone: Some(embedded), ..Devices::default() };
        let app = Arc::new(App::new(devices).compatible(true));
        Stage { app, phones: vec![iphone.phone().clone()], _iphone: Some(iphone), arguments }
    }

    pub async fn call(&self, tool: &str, arguments: Value) -> Rendered {
        let entry = tools::find(tool).expect("the tool exists");
        let by = By::new(&self.app, Arc::clone(&self.app.own), CancellationToken::new());
        compat::call(&self.app, entry, arguments.as_object().cloned().unwrap_or_default(), by).await
    }

    /// A call whose answer is one object.
    async fn json(&self, tool: &str, arguments: Value) -> Value {
        match self.call(tool, arguments).await.blocks.first() {
            Some(Block::Text(text)) => serde_json::from_str(text).unwrap_or_default(),
            _ => Value::Null,
        }
    }

    async fn open(&self, recording: &Recording) {
        if let (2, Some(id)) = (self.phones.len(), self.arguments.get("deviceId")) {
            self.json("start_app", json!({"platform": "android", "appId": APP, "deviceId": id})).await;
        }
        if self.phones.len() != 1 || recording.name.starts_with("01_list_devices_unauth") {
            return;
        }
        self.json("start_app", json!({"platform": platform(recording), "appId": APP})).await;
    }

    /// Ids and fingerprints of the recorded device are those of ours now.
    async fn replace_handles(&mut self, recording: &Recording) {
        if self.phones.len() != 1 {
            return;
        }
        let fingerprints = ["previousFingerprint", "fingerprint"];
        for name in fingerprints {
            if self.arguments.contains_key(name) {
                let answer =
                    self.json("get_screen_fingerprint", json!({"platform": platform(recording)})).await;
                self.arguments.insert(name.to_owned(), answer["fingerprint"].clone());
            }
        }
        let wanted = match recording.name.as_str() {
            "26_tap_element_disabled" => "Disabled",
            "26_tap_element"
            | "26_tap_element_exec_fail"
            | "26_tap_element_stale_screen"
            | "78_ios_tap_element" => "Log in",
            _ => return,
        };
        let condition = if wanted == "Disabled" { "exists" } else { "clickable" };
        let answer =
            self.json("wait_for_ui", json!({"selector": {"text": wanted}, "condition": condition})).await;
        self.arguments.insert("elementId".to_owned(), answer["element"]["elementId"].clone());
    }

    /// Goes to the screen on which the call was made, where another one came first.
    async fn go_on(&self, recording: &Recording) {
        match recording.name.as_str() {
            "26_tap_element_stale_screen" | "30_wsc_already_changed" | "32_expect_screen_fp_no" => {
                self.json("wait_for_ui", json!({"selector": {"text": "Log in"}})).await;
                let answer = self
                    .json("wait_for_ui", json!({"selector": {"text": "Log in"}, "condition": "clickable"}))
                    .await;
                let id = answer["element"]["elementId"].clone();
                self.json("tap_element", json!({"elementId": id})).await;
            }
            "22_type_text" | "45_type_text_ios_platform" => {
                let find = json!({"query": "com.example.app:id/username"});
                let found = self.json("find_element", find).await;
                let point = &found["element"]["tapCoordinates"];
                self.json("tap", json!({"x": point["x"], "y": point["y"], "platform": "android"})).await;
            }
            name if name.starts_with("09_read")
                || name.starts_with("09_stop")
                || name == "64_stream_second_same_session" =>
            {
                let session = self.arguments.get("sessionId").cloned().unwrap_or("default".into());
                self.json("start_log_stream", json!({"packageName": APP, "sessionId": session})).await;
            }
            "37_net_after_tap" => {
                self.json("tap", json!({"x": 1, "y": 1})).await;
            }
            "03_get_ui_tree_same" | "50_stale_dump_prep" => {
                self.json("get_ui_tree", json!({"platform": "android"})).await;
            }
            _ => {}
        }
    }

    /// Lets the commands fail that failed.
    fn fail(&self, recording: &Recording) {
        let Some(phone) = self.phones.first() else { return };
        for (command, times) in recording.failing() {
            match command.as_str() {
                "uiautomator dump" if times == 1 => phone.inject_dump_fault(DumpFault::NullRoot),
                // The phone was made so.
                "uiautomator dump" => {}
                "getprop" => phone.set_plugged(false),
                _ => cut_at(phone.clone(), command, times),
            }
        }
    }
}

/// True if every dump fails.
fn dumps_fail(recording: &Recording) -> bool {
    recording.failing().iter().any(|(command, times)| command == "uiautomator dump" && *times > 1)
}

/// Pulls the cable when the phone is given this command, and puts it back when it failed as often as it did.
fn cut_at(phone: Phone, command: String, times: usize) {
    let mut scripts = phone.scripts();
    tokio::spawn(async move {
        while let Ok(script) = scripts.recv().await {
            if script.contains(&command) {
                phone.set_plugged(false);
                break;
            }
        }
        if times == 1 {
            tokio::time::sleep(AWAY).await;
            phone.set_plugged(true);
        }
    });
}

fn platform(recording: &Recording) -> &'static str {
    if recording.is_ios() { "ios" } else { "android" }
}

fn android_app(recording: &Recording) -> String {
    let mut app: Value = serde_json::from_str(&file("app.json")).expect("JSON");
    let start = match recording.setup("screen").and_then(Value::as_str) {
        Some("home") if needs_login_first(&recording.name) => "Login",
        Some("home") => "Home",
        Some("list") => "List",
        _ => "Login",
    };
    app["start"] = start.into();
    let values = [("clock", "clock"), ("username", "user"), ("loading", "loading"), ("slider", "volume")];
    for (setup, value) in values {
        if let Some(given) = recording.setup(setup) {
            app["values"][value] = given.clone();
        }
    }
    if let Some(max) = recording.setup("slider_max") {
        app["screens"]["Login"]["content"][8]["max"] = max.clone();
    }
    if recording.setup("slider_dead").is_some() {
        app["screens"]["Login"]["content"][8]["disabled"] = true.into();
    }
    if let Some(changes) = recording.setup("at_dump").and_then(Value::as_array) {
        app["screens"]["Login"]["on_open"] = changes.iter().enumerate().map(later).collect();
    }
    app.to_string()
}

/// These need the id or the fingerprint of an earlier screen.
fn needs_login_first(name: &str) -> bool {
    matches!(name, "26_tap_element_stale_screen" | "30_wsc_already_changed" | "32_expect_screen_fp_no")
}

/// What happened between two dumps happens some time after the app was opened.
fn later((number, change): (usize, &Value)) -> Value {
    let set = &change["set"];
    let action = match (set.get("screen"), set.get("remember"), set.get("clock")) {
        (Some(_), ..) => json!({"replace": "Home"}),
        (_, Some(remember), _) => json!({"set": {"remember": remember}}),
        (_, _, Some(clock)) => json!({"set": {"clock": clock}}),
        _ => json!("hide_keyboard"),
    };
    json!({"after": {"ms": 6000 + 100 * number, "do": [action]}})
}

fn iphone_app() -> String {
    file("iphone-app.json")
}
