//! Lists of apps from files, and sliders moved by keys.

use mdm_virtual_device::{AppFile, PhoneConfig};

use crate::host::{Host, phone_and_host};

const LISTS: &str = r#"{"package":"org.example.lists","label":"Lists","start":"Cards",
  "values":{"ends":0},
  "lists":{"many":{"columns":["name"],"rows":[ROWS]}},
  "screens":{
    "Cards":{"content":[{"type":"list","rows":"many","id":"cards","sideways":true,"height":96,
        "children":[{"type":"text","text":"{name}","width":120,"height":64}]},
        {"type":"button","text":"Ends","on_tap":[{"go":"Ends"}]},
        {"type":"button","text":"Locked","on_tap":[{"go":"Locked"}]},
        {"type":"button","text":"Ice","on_tap":[{"go":"Ice"}]}]},
    "Ends":{"content":[{"type":"list","rows":"many","on_end":[{"add":{"ends":1}}],
        "children":[{"type":"text","text":"{name}","height":64}]}]},
    "Locked":{"content":[{"type":"list","rows":"many","locked":true,
        "children":[{"type":"text","text":"{name}","height":64}]}]},
    "Ice":{"content":[{"type":"list","rows":"many","glide":6,
        "children":[{"type":"text","text":"{name}","height":64}]}]}}}"#;

fn lists() -> String {
    let rows: Vec<String> = (1..=60).map(|row| format!(r#"{{"name":"Item {row}."}}"#)).collect();
    LISTS.replace("ROWS", &rows.join(","))
}

async fn opened(screen: Option<&str>) -> (mdm_virtual_device::Phone, Host) {
    let app = AppFile::parse(&lists()).unwrap_or_else(|error| panic!("{error}"));
    let (phone, mut host) = phone_and_host(PhoneConfig { apps: vec![app], ..PhoneConfig::default() }).await;
    host.tap("content-desc=\"Lists\"").await;
    if let Some(screen) = screen {
        host.tap(&format!("text=\"{screen}\"")).await;
    }
    (phone, host)
}

/// Returns the number of the first row in sight after one even swipe.
async fn first_after(host: &mut Host, stroke: &str) -> usize {
    host.run(stroke).await;
    tokio::time::sleep(std::time::Duration::from_secs(5)).await;
    let dump = host.dump().await;
    let found = dump.split("text=\"Item ").nth(1).expect("a row");
    found.split('.').next().and_then(|number| number.parse().ok()).expect("its number")
}

#[tokio::test(start_paused = true)]
async fn cards_go_sideways_only() {
    let (_, mut host) = opened(None).await;
    assert_eq!(first_after(&mut host, "input swipe 540 200 540 100 500").await, 1);
    let there = first_after(&mut host, "input swipe 900 200 200 200 800").await;
    assert!(there > 1, "{there}");
    assert_eq!(first_after(&mut host, "input swipe 100 200 1000 200 300").await, 1);
}

#[tokio::test(start_paused = true)]
async fn a_list_tells_when_its_end_was_reached() {
    let (phone, mut host) = opened(Some("Ends")).await;
    let ends = || phone.truth().sliders["org.example.lists.ends"];
    first_after(&mut host, "input swipe 540 1800 540 600 800").await;
    assert_eq!(ends(), 0.0);
    for _ in 0..12 {
        first_after(&mut host, "input swipe 540 1800 540 300 300").await;
    }
    assert_eq!(ends(), 1.0, "once: strokes at the end move nothing");
}

#[tokio::test(start_paused = true)]
async fn a_locked_list_stays_and_one_on_ice_glides_far() {
    let (_, mut host) = opened(Some("Locked")).await;
    assert!(host.dump().await.contains("scrollable=\"true\""));
    let stroke = "input swipe 540 1800 540 600 800";
    assert_eq!(first_after(&mut host, stroke).await, 1);
    let (_, mut usual) = opened(Some("Ends")).await;
    let (_, mut ice) = opened(Some("Ice")).await;
    let (usual, ice) = (first_after(&mut usual, stroke).await, first_after(&mut ice, stroke).await);
    assert!(ice > usual + 5, "{usual} {ice}");
}

#[tokio::test(start_paused = true)]
async fn keys_move_a_bar_that_has_the_focus() {
    let (phone, mut host) = phone_and_host(PhoneConfig::default()).await;
    host.run("am start -n com.workbench/.SlidersActivity").await;
    let value = |name: &str| phone.truth().sliders[&format!("gallery.{name}")];
    host.run("input keyevent DPAD_RIGHT").await;
    assert_eq!(value("brightness"), 40.0, "nothing has the focus");
    for (name, right) in [("brightness", 5.0), ("balance", -5.0)] {
        for _ in 0..20 {
            let dump = host.dump().await;
            let bar = dump.split("<node").find(|node| node.contains(&format!(":id/{name}\"")));
            if bar.is_some_and(|node| node.contains("focused=\"true\"")) {
                break;
            }
            host.run("input keyevent TAB").await;
        }
        let before = value(name);
        host.run("input keyevent DPAD_RIGHT").await;
        assert!((value(name) - before - right).abs() < 0.11, "{name}: {before} to {}", value(name));
        host.run("input keyevent DPAD_LEFT").await;
        assert!((value(name) - before).abs() < 0.21, "{name}: back to {}", value(name));
    }
}

#[test]
fn what_does_not_scroll_has_no_end() {
    for (member, place) in [("\"on_end\":[\"back\"]", "only a list"), ("\"glide\":2", "a list or a scroll")] {
        let text = format!(
            r#"{{"package":"org.example.bad","label":"Bad","start":"A","screens":{{"A":{{"content":[
                {{"type":"text","text":"x",{member}}}]}}}}}}"#
        );
        let error = AppFile::parse(&text).expect_err(member);
        assert!(error.problem.contains(place), "{error}");
    }
}
