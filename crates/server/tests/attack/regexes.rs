//! F64: a costly regular expression on a screen full of text freezes nobody.

use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use crate::adbd::{Adbd, Attack};
use crate::server::{Server, call};

#[test]
fn a_costly_pattern_ends_by_its_time_and_others_are_answered_meanwhile() {
    let adbd = Adbd::start(Attack::LongLabels);
    let mut server = Server::start(&["serve", "--device", &adbd.address, "--virtual", "android"]);
    let device = &adbd.address;
    server.call("get_ui_tree", &format!(r#"{{"device_id":"{device}"}}"#));
    let pattern = "(?:[a-z ]{1,30}[a-y ]{1,30}){1,3}[0-9]{7}$";
    let arguments =
        format!(r#"{{"device_id":"{device}","selector":{{"regex":"{pattern}"}},"timeout_ms":15000}}"#);
    let began = Instant::now();
    server.say(&call(2, "tap_element", &arguments));
    let mut waited = Vec::new();
    let answer = loop {
        let asked = Instant::now();
        server.say(&call(3, "get_current_screen", r#"{"device_id":"virtual-android"}"#));
        let mut message = server.hear();
        let ended = message.id == Some(Value::from(2));
        if ended {
            let text = message.result.take().unwrap_or_default();
            assert_eq!(server.hear().id, Some(Value::from(3)));
            waited.push(asked.elapsed());
            break text["content"][0]["text"].as_str().unwrap_or("").to_owned();
        }
        waited.push(asked.elapsed());
    };
    let (took, longest) = (began.elapsed(), waited.iter().max().copied().unwrap_or_default());
    println!(
        "a costly pattern took {} ms; {} calls meanwhile, the longest {} ms: {answer:.200}",
        took.as_millis(),
        waited.len(),
        longest.as_millis()
    );
    assert!(answer.contains("searched in 128 kB of the screen's text only"), "F64: {answer}");
    assert!(took < Duration::from_secs(20), "F64: {took:?}");
    assert!(longest < Duration::from_millis(2500), "F64: others waited {longest:?}");
}
