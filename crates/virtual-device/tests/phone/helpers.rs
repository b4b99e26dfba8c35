//! The helpers of uiautomator2 and Appium, used over their ports.

use bytes::Bytes;
use mdm_virtual_device::Phone;
use mdm_wire::adb::frame::Command;

use crate::host::{Host, workbench};

const APPIUM: &str = "io.appium.uiautomator2.server.test";

/// Starts a helper in a shell of its own, which must stay.
async fn start(phone: &Phone, script: &str) -> Host {
    let mut host = Host::connect(phone).await;
    host.open(&format!("shell:{script}")).await.expect("a shell");
    host
}

/// Sends a request and returns the body of the answer.
async fn http(host: &mut Host, port: u16, method: &str, path: &str, body: &str) -> String {
    let mut ids = None;
    // The helper's program needs its time to start.
    for _ in 0..50 {
        ids = host.open(&format!("tcp:{port}")).await;
        if ids.is_some() {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    let (local, remote) = ids.expect("the helper listens");
    let request = format!("{method} {path} HTTP/1.1\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    host.send(Command::Write, local, remote, request).await;
    let mut heard = String::new();
    loop {
        let whole = heard.split_once("\r\n\r\n").filter(|(head, body)| {
            let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: "));
            length.is_some_and(|length| length.trim() == body.len().to_string())
        });
        if let Some((_, body)) = whole {
            let body = body.to_owned();
            host.send(Command::Close, local, remote, Bytes::new()).await;
            // Its answer is the last frame of this stream.
            while host.frame().await.is_some_and(|frame| frame.command != Command::Close) {}
            return body;
        }
        let frame = host.frame().await.expect("the phone is there");
        heard.push_str(&String::from_utf8_lossy(&frame.payload));
        if frame.command == Command::Write {
            host.send(Command::Okay, local, remote, Bytes::new()).await;
        }
    }
}

async fn rpc(host: &mut Host, method: &str, params: &str) -> String {
    let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
    let answer = http(host, 9008, "POST", "/jsonrpc/0", &body).await;
    let rest = answer.strip_prefix(r#"{"jsonrpc":"2.0","id":1,"#).unwrap_or_else(|| panic!("{answer}"));
    rest.trim_end_matches('}').to_owned()
}

#[tokio::test(start_paused = true)]
async fn uiautomator2_turns_the_screen_and_opens_the_shade() {
    let (phone, mut host) = workbench().await;
    let _helper = start(&phone, "app_process / com.wetest.uia2.Main -p 9008").await;
    assert_eq!(rpc(&mut host, "setOrientation", r#"["left"]"#).await, r#""result":true"#);
    assert!(rpc(&mut host, "deviceInfo", "[]").await.contains(r#""displayRotation":1"#));
    assert_eq!(host.run("settings get system user_rotation").await, "1\n");
    assert!(rpc(&mut host, "setOrientation", r#"["upsidedown"]"#).await.contains("parameters invalid"));
    rpc(&mut host, "setOrientation", r#"["natural"]"#).await;
    assert!(rpc(&mut host, "deviceInfo", "[]").await.contains(r#""displayRotation":0"#));
    let shade = r#"[{"mask":128,"packageName":"com.android.systemui"}]"#;
    assert_eq!(rpc(&mut host, "exist", shade).await, r#""result":false"#);
    assert_eq!(rpc(&mut host, "openNotification", "[]").await, r#""result":true"#);
    assert_eq!(rpc(&mut host, "exist", shade).await, r#""result":true"#);
    assert!(rpc(&mut host, "pinchIn", r#"[{"mask":0},50,10]"#).await.contains("one finger"));
}

#[tokio::test(start_paused = true)]
async fn uiautomator2_hears_toasts_and_names_items() {
    let (phone, mut host) = workbench().await;
    host.run("am start -n com.workbench/.DialogsActivity").await;
    host.tap("text=\"Save\"").await;
    let _helper = start(&phone, "app_process / com.wetest.uia2.Main -p 9008").await;
    assert_eq!(rpc(&mut host, "getLastToast", "[]").await, r#""result":null"#, "it came before the helper");
    tokio::time::sleep(std::time::Duration::from_secs(5)).await;
    assert_eq!(rpc(&mut host, "click", r#"[{"mask":1,"text":"Save"}]"#).await, r#""result":true"#);
    assert_eq!(rpc(&mut host, "getLastToast", "[]").await, r#""result":"Draft saved""#);
    rpc(&mut host, "clearLastToast", "[]").await;
    assert_eq!(rpc(&mut host, "getLastToast", "[]").await, r#""result":null"#);

    host.run("am start -n com.workbench/.LoginActivity").await;
    let form = r#"{"mask":1,"resourceId":"com.workbench:id/login_form"}"#;
    let fields = r#"{"mask":1,"className":"android.widget.EditText"}"#;
    let named = rpc(&mut host, "childByText", &format!(r#"[{form},{fields},"Password"]"#)).await;
    assert_eq!(named, r#""result":"object-1""#);
    assert!(rpc(&mut host, "objInfo", r#"["object-1"]"#).await.contains("com.workbench:id/password"));
    assert_eq!(rpc(&mut host, "setText", r#"["object-1","secret"]"#).await, r#""result":true"#);
    assert_eq!(rpc(&mut host, "getText", r#"["object-1"]"#).await, r#""result":"••••••""#);
    let second = rpc(&mut host, "childByInstance", &format!("[{form},{fields},1]")).await;
    assert_eq!(second, r#""result":"object-2""#);
    assert!(rpc(&mut host, "objInfo", r#"["object-2"]"#).await.contains("com.workbench:id/password"));
    let none = rpc(&mut host, "childByInstance", &format!("[{form},{fields},2]")).await;
    assert!(none.contains("UiObjectNotFoundException"), "{none}");
    assert!(rpc(&mut host, "objInfo", r#"["object-99"]"#).await.contains("UiObjectNotFoundException"));
}

#[tokio::test(start_paused = true)]
async fn appium_turns_the_screen_and_finds_toasts() {
    let (phone, mut host) = workbench().await;
    let file = "/data/local/tmp/a.apk";
    let install = format!("printf 'PK.. package={APPIUM} ' >{file}; pm install {file}");
    let _helper = start(&phone, &format!("{install}; am instrument -w {APPIUM}/.Runner")).await;
    let begun = http(&mut host, 6790, "POST", "/session", "{}").await;
    let id = begun.split("\"sessionId\":\"").nth(1).and_then(|rest| rest.split('"').next()).expect("an id");
    let at = |rest: &str| format!("/session/{id}/{rest}");
    let lying = r#"{"orientation":"LANDSCAPE"}"#;
    http(&mut host, 6790, "POST", &at("orientation"), lying).await;
    assert!(http(&mut host, 6790, "GET", &at("orientation"), "").await.contains("LANDSCAPE"));
    assert!(http(&mut host, 6790, "GET", &at("window/rect"), "").await.contains(r#""width":2400"#));
    assert!(http(&mut host, 6790, "GET", &at("rotation"), "").await.contains(r#""z":90"#));
    http(&mut host, 6790, "POST", &at("rotation"), r#"{"x":0,"y":0,"z":0}"#).await;
    assert!(http(&mut host, 6790, "GET", &at("orientation"), "").await.contains("PORTRAIT"));

    host.run("am start -n com.workbench/.DialogsActivity").await;
    let save = r#"{"strategy":"xpath","selector":"//*[@text='Save']"}"#;
    let toast = r#"{"strategy":"xpath","selector":"//android.widget.Toast[@text='Draft saved']"}"#;
    assert!(http(&mut host, 6790, "POST", &at("element"), toast).await.contains("no such element"));
    let button = element(&http(&mut host, 6790, "POST", &at("element"), save).await);
    http(&mut host, 6790, "POST", &at(&format!("element/{button}/click")), "{}").await;
    let shown = element(&http(&mut host, 6790, "POST", &at("element"), toast).await);
    let text = http(&mut host, 6790, "GET", &at(&format!("element/{shown}/text")), "").await;
    assert!(text.contains("Draft saved"), "{text}");
    assert!(http(&mut host, 6790, "GET", &at("source"), "").await.contains("<android.widget.Toast "));
    tokio::time::sleep(std::time::Duration::from_secs(4)).await;
    let gone = http(&mut host, 6790, "GET", &at(&format!("element/{shown}/text")), "").await;
    assert!(gone.contains("stale element reference"), "{gone}");
    assert!(!http(&mut host, 6790, "GET", &at("source"), "").await.contains("android.widget.Toast"));
    let two = r#"{"actions":[{"type":"pointer","actions":[]},{"type":"pointer","actions":[]}]}"#;
    assert!(http(&mut host, 6790, "POST", &at("actions"), two).await.contains("Only one pointer"));
}

fn element(answer: &str) -> String {
    let id = answer.split("\"ELEMENT\":\"").nth(1).and_then(|rest| rest.split('"').next());
    id.unwrap_or_else(|| panic!("no element in {answer}")).to_owned()
}
