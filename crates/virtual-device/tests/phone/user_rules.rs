//! The features of app files, one by one.

use std::time::Duration;

use mdm_virtual_device::{AppFile, Phone, PhoneConfig};

use crate::host::{Host, node, phone_and_host};

/// An app of one screen with these values and widgets.
async fn app(values: &str, content: &str, on_open: &str) -> (Phone, Host) {
    let text = format!(
        r#"{{"package": "org.example.one", "label": "One", "start": "Main", "values": {{{values}}},
        "lists": {{"rows": {{"columns": ["name"]}}}},
        "screens": {{"Main": {{"content": [{content}], "on_open": [{on_open}]}}}}}}"#
    );
    let app = AppFile::parse(&text).unwrap_or_else(|error| panic!("{error}"));
    let (phone, mut host) = phone_and_host(PhoneConfig { apps: vec![app], ..PhoneConfig::default() }).await;
    host.run("am start -n org.example.one/.MainActivity").await;
    (phone, host)
}

fn number(phone: &Phone, name: &str) -> f32 {
    phone.truth().sliders[&format!("org.example.one.{name}")]
}

#[tokio::test(start_paused = true)]
async fn conditions_compare() {
    let content = r#"
        {"type": "button", "text": "more", "on_tap": [{"add": {"n": 1}}, {"set": {"mode": "b{n}"}}]},
        {"type": "text", "text": "few", "when": [{"value": "n", "at_most": 2}]},
        {"type": "text", "text": "many", "when": [{"value": "n", "at_least": 2}]},
        {"type": "text", "text": "other", "when": [{"value": "mode", "not": "a"}]},
        {"type": "text", "text": "same", "when": [{"value": "mode", "is": "b3"}]},
        {"type": "text", "text": "none", "when": [{"value": "n", "empty": true}]}"#;
    let (_phone, mut host) = app(r#""n": 0, "mode": "a""#, content, "").await;
    for wanted in ["few none", "few other", "few many other", "many other same"] {
        let tree = host.dump().await;
        let all = ["few", "many", "other", "same", "none"];
        let shown: Vec<&str> =
            all.into_iter().filter(|text| tree.contains(&format!("text=\"{text}\""))).collect();
        let mut wanted: Vec<&str> = wanted.split(' ').collect();
        wanted.sort_by_key(|text| all.iter().position(|known| known == text));
        assert_eq!(shown, wanted);
        host.tap("text=\"more\"").await;
    }
}

#[tokio::test(start_paused = true)]
async fn one_event_has_an_end() {
    let many = |action: &str, count: usize| vec![action; count].join(",");
    let content = format!(
        r#"{{"type": "button", "text": "steps", "on_tap": [{}]}},
        {{"type": "button", "text": "rows", "on_tap": [{}]}},
        {{"type": "button", "text": "timers", "on_tap": [{}]}}"#,
        many(r#"{"add": {"n": 1}}"#, 1500),
        many(r#"{"add_row": {"to": "rows", "row": {"name": "x"}}}"#, 600),
        many(r#"{"after": {"ms": 5, "do": [{"add": {"late": 1}}]}}"#, 200),
    );
    let (phone, mut host) = app(r#""n": 0, "late": 0"#, &content, "").await;
    host.tap("text=\"steps\"").await;
    assert!((990.0..=1000.0).contains(&number(&phone, "n")), "{}", number(&phone, "n"));
    host.tap("text=\"rows\"").await;
    host.tap("text=\"rows\"").await;
    assert_eq!(number(&phone, "rows.rows"), 1000.0);
    host.tap("text=\"timers\"").await;
    tokio::time::sleep(Duration::from_millis(10)).await;
    assert_eq!(number(&phone, "late"), 64.0);
}

#[tokio::test(start_paused = true)]
async fn opening_disabled_and_secret() {
    let content = r#"
        {"type": "button", "text": "off", "disabled": true, "on_tap": [{"add": {"n": 1}}]},
        {"type": "field", "value": "pin", "hint": "Pin", "password": true},
        {"type": "image_button", "id": "nameless", "on_tap": [{"toast": "one"}, {"toast": "two"}]}"#;
    let (phone, mut host) = app(r#""n": 0, "pin": "123""#, content, r#"{"add": {"n": 10}}"#).await;
    assert_eq!(number(&phone, "n"), 0.0, "not before the first frame");
    tokio::time::sleep(Duration::from_millis(20)).await;
    assert_eq!(number(&phone, "n"), 10.0);
    let tree = host.dump().await;
    assert!(node(&tree, "text=\"off\"").unwrap().contains("enabled=\"false\""));
    assert!(node(&tree, "password=\"true\"").unwrap().contains("text=\"•••\""), "{tree}");
    assert!(node(&tree, "id/nameless").unwrap().contains("NAF=\"true\""));
    host.tap("text=\"off\"").await;
    assert_eq!(number(&phone, "n"), 10.0, "a disabled button does nothing");
    host.tap("id/nameless").await;
    let toasts = phone.truth().toasts;
    assert_eq!(toasts[1].from_ms, toasts[0].until_ms, "toasts wait for each other");
}
