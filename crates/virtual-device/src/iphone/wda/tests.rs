//! WebDriverAgent over a pipe in this process, on a paused clock.

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};
use tokio::time::{Duration, Instant};

use crate::iphone::{IPhone, IPhoneConfig, IPhoneFaults};
use crate::truth::Applied;

const W3C_ID: &str = "element-6066-11e4-a52e-4f735466cecf";
const APP: &str = "com.workbench";

/// A client that keeps its connection.
struct Client {
    socket: DuplexStream,
    session: String,
}

impl Client {
    fn new(phone: &IPhone) -> Client {
        Client { socket: phone.connect_wda().unwrap(), session: String::new() }
    }

    async fn with_app(phone: &IPhone) -> Client {
        let mut client = Client::new(phone);
        client.create(json!({ "bundleId": APP })).await;
        client
    }

    async fn create(&mut self, capabilities: Value) {
        let body = json!({ "capabilities": { "alwaysMatch": capabilities } });
        let (status, answer) = self.ask("POST", "/session", &body).await;
        assert_eq!(status, 200, "{answer}");
        self.session = answer["value"]["sessionId"].as_str().unwrap().to_owned();
        assert_eq!(answer["sessionId"], json!(self.session));
    }

    async fn ask(&mut self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let head =
            format!("{method} {path} HTTP/1.1\r\nHost: phone\r\nContent-Length: {}\r\n\r\n", body.len());
        self.socket.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
        let mut got = Vec::new();
        let end = loop {
            self.socket.read_buf(&mut got).await.unwrap();
            if let Some(at) = got.windows(4).position(|window| window == b"\r\n\r\n") {
                break at + 4;
            }
        };
        let head = String::from_utf8_lossy(&got[..end]).to_lowercase();
        let length = head.split("content-length: ").nth(1).unwrap().split("\r\n").next().unwrap();
        let length: usize = length.parse().unwrap();
        while got.len() < end + length {
            self.socket.read_buf(&mut got).await.unwrap();
        }
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, serde_json::from_slice(&got[end..]).unwrap_or(Value::Null))
    }

    async fn on(&mut self, method: &str, path: &str, body: Value) -> (u16, Value) {
        let path = format!("/session/{}{path}", self.session);
        let (status, answer) = self.ask(method, &path, &body).await;
        (status, answer["value"].clone())
    }

    async fn post(&mut self, path: &str, body: Value) -> Value {
        let (status, value) = self.on("POST", path, body).await;
        assert_eq!(status, 200, "{path}: {value}");
        value
    }

    async fn get(&mut self, path: &str) -> Value {
        let (status, value) = self.on("GET", path, Value::Null).await;
        assert_eq!(status, 200, "{path}: {value}");
        value
    }

    async fn find(&mut self, using: &str, value: &str) -> Option<String> {
        let (status, found) = self.on("POST", "/element", json!({ "using": using, "value": value })).await;
        (status == 200).then(|| found[W3C_ID].as_str().unwrap().to_owned())
    }

    async fn count(&mut self, using: &str, value: &str) -> usize {
        self.post("/elements", json!({ "using": using, "value": value })).await.as_array().unwrap().len()
    }

    async fn named(&mut self, name: &str) -> String {
        self.find("accessibility id", name).await.unwrap_or_else(|| panic!("no element is named {name}"))
    }

    async fn tap(&mut self, name: &str) {
        let id = self.named(name).await;
        self.post(&format!("/element/{id}/click"), json!({})).await;
    }

    async fn value(&mut self, name: &str) -> Value {
        let id = self.named(name).await;
        self.get(&format!("/element/{id}/attribute/value")).await
    }

    async fn error(&mut self, method: &str, path: &str, body: Value) -> (u16, String) {
        let (status, value) = self.on(method, path, body).await;
        assert!(value["message"].is_string() && value["traceback"].is_string(), "{value}");
        (status, value["error"].as_str().unwrap().to_owned())
    }
}

fn phone() -> IPhone {
    IPhone::new(IPhoneConfig::default())
}

fn faulty(faults: IPhoneFaults) -> IPhone {
    IPhone::new(IPhoneConfig { iphone_faults: faults, ..IPhoneConfig::default() })
}

fn open(phone: &IPhone, activity: &str) {
    assert!(phone.phone().with(|state| state.launch(APP, Some(activity))));
}

#[tokio::test(start_paused = true)]
async fn a_session_logs_in() {
    let phone = phone();
    let mut client = Client::with_app(&phone).await;
    let email = client.named("email").await;
    client.post(&format!("/element/{email}/value"), json!({ "value": ["ada@example.org"] })).await;
    assert_eq!(client.value("email").await, json!("ada@example.org"));
    let password = client.named("password").await;
    client.post(&format!("/element/{password}/value"), json!({ "text": "correct horse\n" })).await;
    assert_eq!(client.value("password").await, json!("•".repeat(13)));
    assert!(!phone.phone().truth().keyboard_shown, "return on the last field closes the keyboard");
    client.tap("open_settings").await;
    client.tap("row_staging").await;
    let back =
        client.find("class chain", "**/XCUIElementTypeNavigationBar/XCUIElementTypeButton").await.unwrap();
    client.post(&format!("/element/{back}/click"), json!({})).await;
    client.tap("log_in").await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(client.value("welcome").await, json!("Welcome, Ada"));
}

#[tokio::test(start_paused = true)]
async fn errors_have_the_words_of_the_standard() {
    let phone = phone();
    let mut client = Client::with_app(&phone).await;
    let nothing = json!({ "using": "id", "value": "nothing" });
    assert_eq!(client.error("POST", "/element", nothing).await, (404, "no such element".into()));
    let odd = json!({ "using": "tag name", "value": "x" });
    assert_eq!(client.error("POST", "/element", odd).await, (400, "invalid argument".into()));
    let broken = json!({ "using": "xpath", "value": "//[" });
    assert_eq!(client.error("POST", "/element", broken).await, (400, "invalid selector".into()));
    let chain = json!({ "using": "class chain", "value": "Button" });
    assert_eq!(client.error("POST", "/element", chain).await, (400, "invalid selector".into()));
    let predicate = json!({ "using": "predicate string", "value": "name ==" });
    assert_eq!(client.error("POST", "/element", predicate).await, (500, "unknown error".into()));
    let unknown = json!({ "using": "predicate string", "value": "colour == 'red'" });
    assert_eq!(client.error("POST", "/element", unknown).await, (400, "invalid argument".into()));
    assert_eq!(
        client.error("GET", "/element/00/text", Value::Null).await,
        (404, "stale element reference".into())
    );
    assert_eq!(client.error("GET", "/alert/text", Value::Null).await, (404, "no such alert".into()));
    assert_eq!(client.error("POST", "/alert/accept", json!({})).await, (404, "no such alert".into()));
    assert_eq!(client.error("GET", "/wda/nothing", Value::Null).await, (404, "unknown command".into()));
    let (status, answer) = client.ask("GET", "/session/other/source", &Value::Null).await;
    assert_eq!((status, &answer["value"]["error"]), (404, &json!("invalid session id")));
    let (status, answer) = client.ask("POST", "/session", &json!({})).await;
    assert_eq!((status, &answer["value"]["error"]), (500, &json!("session not created")));
    assert_eq!(answer["sessionId"], Value::Null, "a request for a session kills the one before");
}

#[tokio::test(start_paused = true)]
async fn every_strategy_finds_the_same_button() {
    let phone = phone();
    let mut client = Client::with_app(&phone).await;
    let found = client.named("log_in").await;
    for (using, value) in [
        ("id", "log_in"),
        ("name", "log_in"),
        ("link text", "label=Log in"),
        ("partial link text", "label=Log"),
        ("predicate string", "label == 'Log in' AND type == 'XCUIElementTypeButton'"),
        ("predicate string", "label CONTAINS[c] 'LOG' && enabled == TRUE"),
        ("predicate string", "name IN {'log_in', 'x'} AND NOT (visible == 0)"),
        ("predicate string", "label MATCHES 'Log.*' AND rect.width > 100"),
        ("class chain", "**/XCUIElementTypeButton[`label == 'Log in'`]"),
        ("class chain", "**/XCUIElementTypeButton[1]"),
        ("class chain", "**/XCUIElementTypeOther[$name == 'log_in'$][-1]/XCUIElementTypeButton[1]"),
        ("xpath", "//XCUIElementTypeButton[@label='Log in']"),
        ("xpath", "//*[@name='log_in' and contains(@label,'og')]"),
        ("xpath", "(//XCUIElementTypeButton)[1]"),
        ("xpath", "//XCUIElementTypeSwitch/following-sibling::XCUIElementTypeButton[1]"),
        ("xpath", "/XCUIElementTypeApplication//XCUIElementTypeButton[not(@name='open_settings')]"),
    ] {
        assert_eq!(client.find(using, value).await.as_ref(), Some(&found), "{using} {value}");
    }
    assert_eq!(client.count("class name", "XCUIElementTypeTextField").await, 1);
    assert_eq!(client.count("class name", "XCUIElementTypeSecureTextField").await, 1);
}

#[tokio::test(start_paused = true)]
async fn an_alert_of_the_system_is_read_and_answered() {
    let phone = phone();
    let mut client = Client::with_app(&phone).await;
    open(&phone, ".DialogsActivity");
    let ask = client.named("ask_camera").await;
    client.post(&format!("/element/{ask}/click"), json!({})).await;
    assert!(
        client
            .get("/alert/text")
            .await
            .as_str()
            .unwrap()
            .contains("“Workbench” Would Like to Access the Camera")
    );
    assert_eq!(client.get("/wda/alert/buttons").await, json!(["Don’t Allow", "OK"]));
    // The app's own tree does not have the alert, unless it is asked for.
    assert_eq!(client.count("class name", "XCUIElementTypeAlert").await, 0);
    client.post("/appium/settings", json!({ "settings": { "respectSystemAlerts": true } })).await;
    assert_eq!(client.count("class name", "XCUIElementTypeAlert").await, 1);
    client.post("/alert/dismiss", json!({ "name": "Don’t Allow" })).await;
    assert_eq!(client.error("GET", "/alert/text", Value::Null).await.1, "no such alert");
}

#[tokio::test(start_paused = true)]
async fn apps_have_states() {
    let phone = phone();
    let mut client = Client::new(&phone);
    client.create(json!({})).await;
    let bundle = json!({ "bundleId": APP });
    assert_eq!(client.post("/wda/apps/state", bundle.clone()).await, json!(1));
    client.post("/wda/apps/launch", bundle.clone()).await;
    assert_eq!(client.post("/wda/apps/state", bundle.clone()).await, json!(4));
    assert_eq!(client.get("/wda/activeAppInfo").await["bundleId"], json!(APP));
    let (status, _) = client.ask("POST", "/wda/homescreen", &json!({})).await;
    assert_eq!(status, 200);
    assert_eq!(client.post("/wda/apps/state", bundle.clone()).await, json!(3));
    assert_eq!(client.post("/wda/apps/terminate", bundle.clone()).await, json!(true));
    assert_eq!(client.post("/wda/apps/terminate", bundle).await, json!(false));
    let missing = json!({ "bundleId": "org.example.missing" });
    assert_eq!(client.error("POST", "/wda/apps/launch", missing).await, (500, "unknown error".into()));
}

#[tokio::test(start_paused = true)]
async fn an_app_that_crashed_is_told() {
    let phone = phone();
    let mut client = Client::with_app(&phone).await;
    phone.phone().with(|state| state.kill(APP, false));
    assert_eq!(phone.phone().truth().activity, "com.android.launcher3/.uioverrides.QuickstepLauncher");
    let (status, value) = client.on("GET", "/source", Value::Null).await;
    assert_eq!((status, &value["error"]), (400, &json!("invalid element state")));
    assert!(value["message"].as_str().unwrap().ends_with("is not running, possibly crashed"), "{value}");
}

#[tokio::test(start_paused = true)]
async fn a_locked_phone_shows_the_lock_screen_and_takes_no_taps() {
    let phone = phone();
    let mut client = Client::new(&phone);
    client.create(json!({})).await;
    client.post("/wda/apps/launch", json!({ "bundleId": APP })).await;
    client.post("/wda/lock", json!({})).await;
    assert_eq!(client.get("/wda/locked").await, json!(true));
    assert_eq!(client.get("/wda/activeAppInfo").await["bundleId"], json!("com.apple.springboard"));
    client.post("/wda/tap", json!({ "x": 196, "y": 330 })).await;
    assert!(!phone.phone().truth().switches["remember_me"]);
    client.post("/wda/unlock", json!({})).await;
    client.post("/wda/tap", json!({ "x": 196, "y": 330 })).await;
    assert!(phone.phone().truth().switches["remember_me"]);
}

#[tokio::test(start_paused = true)]
async fn an_app_that_never_rests_is_waited_for_as_long_as_the_settings_say() {
    let phone = phone();
    let mut client = Client::with_app(&phone).await;
    open(&phone, ".AnimationActivity");
    let timed = async |client: &mut Client, path: &str, body: Value| {
        let begun = Instant::now();
        let method = if body.is_null() { "GET" } else { "POST" };
        client.on(method, path, body).await;
        begun.elapsed()
    };
    let tap = json!({ "x": 200, "y": 700 });
    assert!(timed(&mut client, "/wda/tap", tap.clone()).await >= Duration::from_secs(10));
    let read = timed(&mut client, "/source", Value::Null).await;
    assert!(read >= Duration::from_secs(2) && read < Duration::from_secs(3), "{read:?}");
    assert!(timed(&mut client, "/source?format=json", Value::Null).await < Duration::from_millis(100));
    let settings = json!({ "settings": { "waitForIdleTimeout": 0, "animationCoolOffTimeout": 0 } });
    client.post("/appium/settings", settings).await;
    assert!(timed(&mut client, "/wda/tap", tap).await < Duration::from_millis(100));
    assert!(timed(&mut client, "/source", Value::Null).await < Duration::from_millis(100));
}

#[tokio::test(start_paused = true)]
async fn a_stuck_app_is_not_read_before_it_answers() {
    let phone = phone();
    let mut client = Client::with_app(&phone).await;
    open(&phone, ".TroubleActivity");
    let freeze = client.find("predicate string", "label BEGINSWITH[c] 'freeze'").await.unwrap();
    client.post(&format!("/element/{freeze}/click"), json!({})).await;
    let begun = Instant::now();
    client.get("/source?format=json").await;
    assert!(begun.elapsed() >= Duration::from_secs(5), "{:?}", begun.elapsed());
    assert!(!phone.phone().truth().dialog_open, "iOS shows no dialog for an app that is stuck");
}

#[tokio::test(start_paused = true)]
async fn a_deep_tree_is_cut_and_too_deep_a_question_fails() {
    let phone = faulty(IPhoneFaults { deep_tree: true, ..IPhoneFaults::default() });
    let mut client = Client::with_app(&phone).await;
    assert_eq!(client.find("id", "log_in").await, None, "it lies deeper than a snapshot reaches");
    client.post("/appium/settings", json!({ "settings": { "snapshotMaxDepth": 63 } })).await;
    let (status, value) = client.on("GET", "/source", Value::Null).await;
    assert_eq!((status, &value["error"]), (404, &json!("stale element reference")));
    assert!(value["message"].as_str().unwrap().contains("kAXErrorIllegalArgument"), "{value}");
}

#[tokio::test(start_paused = true)]
async fn a_late_gesture_comes_after_its_answer() {
    let phone = faulty(IPhoneFaults { late_gesture_ms: 3000, ..IPhoneFaults::default() });
    let mut client = Client::with_app(&phone).await;
    client.tap("remember_me").await;
    assert!(!phone.phone().truth().switches["remember_me"]);
    tokio::time::sleep(Duration::from_secs(4)).await;
    assert!(phone.phone().truth().switches["remember_me"]);
}

#[tokio::test(start_paused = true)]
async fn a_hang_delays_every_call_until_waiting_is_switched_off() {
    let phone = faulty(IPhoneFaults { idle_hang_ms: 50_000, ..IPhoneFaults::default() });
    let mut client = Client::with_app(&phone).await;
    let begun = Instant::now();
    client.tap("remember_me").await;
    assert!(begun.elapsed() >= Duration::from_secs(50));
    client.post("/appium/settings", json!({ "settings": { "waitForIdleTimeout": 0 } })).await;
    let begun = Instant::now();
    client.tap("remember_me").await;
    assert!(begun.elapsed() < Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn a_gesture_goes_on_when_the_client_has_gone() {
    let phone = phone();
    let mut client = Client::with_app(&phone).await;
    let session = client.session.clone();
    let body = json!({ "x": 196, "y": 331, "duration": 5 }).to_string();
    let head = format!(
        "POST /session/{session}/wda/touchAndHold HTTP/1.1\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    client.socket.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    drop(client);
    tokio::time::sleep(Duration::from_secs(10)).await;
    let inputs = phone.phone().truth().inputs;
    assert!(matches!(inputs.last(), Some(Applied::Swipe { ms: 5000, .. })), "{inputs:?}");
}

#[tokio::test(start_paused = true)]
async fn fingers_tap_drag_and_pinch() {
    let phone = phone();
    let mut client = Client::with_app(&phone).await;
    let finger = |actions: Value| json!({ "type": "pointer", "id": "one", "parameters": { "pointerType": "touch" }, "actions": actions });
    let moved = |x: i32, y: i32, ms: u64| json!({ "type": "pointerMove", "x": x, "y": y, "duration": ms });
    let (down, up) = (json!({ "type": "pointerDown" }), json!({ "type": "pointerUp" }));
    let tap = finger(json!([moved(196, 331, 0), down, { "type": "pause", "duration": 50 }, up]));
    client.post("/actions", json!({ "actions": [tap] })).await;
    assert!(phone.phone().truth().switches["remember_me"]);
    open(&phone, ".LongListActivity");
    let before = phone.elements();
    let drag = finger(
        json!([moved(196, 700, 0), down, moved(196, 300, 500), { "type": "pause", "duration": 200 }, up]),
    );
    client.post("/actions", json!({ "actions": [drag] })).await;
    assert_ne!(phone.elements(), before, "the list moved");
    open(&phone, ".ZoomActivity");
    let photo = client.find("predicate string", "name == 'photo'").await.unwrap();
    client.post(&format!("/wda/element/{photo}/pinch"), json!({ "scale": 2.0, "velocity": 1.0 })).await;
    let zoom = client.value("zoom").await;
    assert!(zoom.as_str().is_some_and(|zoom| zoom != "Zoom 1.0×"), "{zoom}");
    assert!(matches!(phone.phone().truth().inputs.last(), Some(Applied::Pinch { hit: Some(_), .. })));
    let up_first = finger(json!([up]));
    assert_eq!(client.error("POST", "/actions", json!({ "actions": [up_first] })).await.1, "unknown error");
}

#[tokio::test(start_paused = true)]
async fn a_slider_takes_values_from_zero_to_one_and_no_taps() {
    let phone = phone();
    let mut client = Client::with_app(&phone).await;
    client.tap("open_settings").await;
    let slider = client.named("volume").await;
    for (asked, least, most) in [("0.75", 74.0, 76.0), ("0", 0.0, 1.0), ("1.0", 99.0, 100.0)] {
        client.post(&format!("/element/{slider}/value"), json!({ "value": [asked] })).await;
        let volume = phone.phone().truth().sliders["volume"];
        assert!((least..=most).contains(&volume), "{asked}: {volume}");
    }
    let tap = json!({ "x": 20, "y": 20 });
    client.post(&format!("/wda/element/{slider}/tap"), tap).await;
    assert!(phone.phone().truth().sliders["volume"] >= 99.0, "a tap beside the thumb moves nothing");
    let wrong = client.error("POST", &format!("/element/{slider}/value"), json!({ "value": "2" })).await;
    assert_eq!(wrong, (400, "invalid argument".into()));
}

#[tokio::test(start_paused = true)]
async fn a_wheel_turns() {
    let phone = phone();
    let mut client = Client::with_app(&phone).await;
    open(&phone, ".ControlsActivity");
    let wheel = client.find("class name", "XCUIElementTypePickerWheel").await.unwrap();
    let next = json!({ "order": "next", "offset": 0.25 });
    client.post(&format!("/wda/pickerwheel/{wheel}/select"), next).await;
    assert_eq!(client.get(&format!("/element/{wheel}/attribute/value")).await, json!("1"));
    client.post(&format!("/element/{wheel}/value"), json!({ "value": "4" })).await;
    assert_eq!(client.get(&format!("/element/{wheel}/text")).await, json!("4"));
}

#[tokio::test(start_paused = true)]
async fn what_is_out_of_sight_is_scrolled_to_before_it_is_tapped() {
    let phone = phone();
    let mut client = Client::with_app(&phone).await;
    open(&phone, ".FormActivity");
    let swipe_home = json!({ "fromX": 196, "fromY": 848, "toX": 196, "toY": 300, "duration": 0 });
    let last = client.find("xpath", "(//XCUIElementTypeButton)[1]").await.unwrap();
    client.post(&format!("/wda/element/{last}/scroll"), json!({ "toVisible": true })).await;
    client.post("/wda/dragfromtoforduration", swipe_home).await;
    assert_eq!(client.post("/wda/apps/state", json!({ "bundleId": APP })).await, json!(3), "home by a swipe");
}

#[tokio::test(start_paused = true)]
async fn requests_that_are_no_requests_are_refused() {
    let phone = phone();
    for said in
        ["\0\u{1}nonsense\r\n\r\n", "GET\r\n\r\n", "POST /session HTTP/1.1\r\nContent-Length: -1\r\n\r\n"]
    {
        let mut socket = phone.connect_wda().unwrap();
        socket.write_all(said.as_bytes()).await.unwrap();
        let mut heard = Vec::new();
        socket.read_to_end(&mut heard).await.unwrap();
        assert!(heard.is_empty() || heard.starts_with(b"HTTP/1.1 400"), "{said:?}: {heard:?}");
    }
    let mut client = Client::with_app(&phone).await;
    for body in
        [json!([]), json!("x"), json!({ "actions": "x" }), json!({ "actions": [{ "type": "pointer" }] })]
    {
        let (status, _) = client.on("POST", "/actions", body).await;
        assert!(status == 500 || status == 200);
    }
    assert_eq!(client.on("POST", "/wda/tap", json!({ "x": 1 })).await.0, 400);
    assert_eq!(client.on("POST", "/wda/tap", json!({ "x": 1e300, "y": -1e300 })).await.0, 200);
}
