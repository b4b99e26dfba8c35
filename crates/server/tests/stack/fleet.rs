//! Several devices, usable and not, through the adb server's protocol; and several calls at once.

use std::sync::Arc;
use std::time::Duration;

use mdm_android::adb::key::HostKey;
use mdm_android::adb::link;
use mdm_android::adb::server::AdbServer as ServerAddress;
use mdm_android::{Endpoint, Hub, HubConfig};
use mdm_virtual_device::{AdbServer, DumpFault, Phone, PhoneConfig, Timing};
use mobile_debug_mcp::app::{App, phone_connector};
use tokio::net::TcpListener;
use tokio::time::Instant;

use crate::world::{World, call, code_of, fact};

/// A machine whose adb server knows these devices. It uses real sockets, so the clock is not paused.
async fn machine(devices: &[(&str, &str)]) -> (AdbServer, App) {
    let server = AdbServer::new();
    for (serial, state) in devices {
        server.add(serial, state, Phone::new(PhoneConfig::default()));
    }
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("an address").to_string();
    let serving = server.clone();
    tokio::spawn(async move { serving.serve(listener).await });
    let hub = Hub::new(HubConfig {
        server: Some(ServerAddress::at(address)),
        start: None,
        endpoints: Vec::new(),
        key: HostKey::at("/nonexistent/adbkey"),
        session: 7,
        problems: Vec::new(),
    });
    (server, App::with_source(Arc::new(hub)))
}

#[tokio::test]
async fn unauthorized_and_offline_devices_are_never_chosen() {
    let (_server, app) =
        machine(&[("locked", "unauthorized"), ("gone", "offline"), ("good", "device")]).await;
    let tree = call(&app, "get_current_screen", "{}").await;
    assert_eq!(fact(&tree.text(), "device"), "good", "W28: {}", tree.text());
    for (id, code) in
        [("locked", "DEVICE_UNAUTHORIZED"), ("gone", "DEVICE_OFFLINE"), ("other", "DEVICE_NOT_FOUND")]
    {
        let answer = call(&app, "tap", &format!(r#"{{"x":1,"y":1,"deviceId":"{id}"}}"#)).await;
        assert_eq!(code_of(&answer), code);
    }
    let list = call(&app, "list_devices", "{}").await.text();
    assert!(list.contains(r#""id":"locked","state":"unauthorized""#), "{list}");
    let status = call(&app, "get_system_status", "{}").await.text();
    assert_eq!(fact(&status, "status"), "degraded", "{status}");
}

#[tokio::test]
async fn a_single_unusable_device_is_reported_with_its_state() {
    let (_server, app) = machine(&[("locked", "unauthorized")]).await;
    assert_eq!(code_of(&call(&app, "tap", r#"{"x":1,"y":1}"#).await), "DEVICE_UNAUTHORIZED");
    let (_server, app) = machine(&[]).await;
    assert_eq!(code_of(&call(&app, "tap", r#"{"x":1,"y":1}"#).await), "NO_DEVICE");
    assert_eq!(call(&app, "list_devices", "{}").await.text(), r#"{"devices":[]}"#);
}

#[tokio::test]
async fn two_usable_devices_are_ambiguous_unless_one_is_named() {
    let (_server, app) = machine(&[("one", "device"), ("two", "device")]).await;
    let answer = call(&app, "get_ui_tree", "{}").await;
    assert_eq!(code_of(&answer), "AMBIGUOUS_DEVICE", "{}", answer.text());
    assert!(
        answer.text().contains("\none (") && answer.text().contains("\ntwo ("),
        "candidates: {}",
        answer.text()
    );
    let named = call(&app, "get_ui_tree", r#"{"deviceId":"two"}"#).await;
    assert_eq!(fact(&named.text(), "device"), "two", "W27");
}

#[tokio::test]
async fn calls_stay_on_the_device_that_was_used_and_never_go_to_another() {
    // F2
    let (server, app) = machine(&[("one", "device"), ("two", "device")]).await;
    assert_eq!(code_of(&call(&app, "use_device", r#"{"device_id":"three"}"#).await), "DEVICE_NOT_FOUND");
    assert_eq!(code_of(&call(&app, "tap", r#"{"x":1,"y":1}"#).await), "AMBIGUOUS_DEVICE");
    call(&app, "use_device", r#"{"device_id":"two"}"#).await;
    let unnamed = call(&app, "tap", r#"{"x":1,"y":1}"#).await;
    assert_eq!(fact(&unnamed.text(), "device"), "two", "{}", unnamed.text());
    call(&app, "get_ui_tree", r#"{"deviceId":"one"}"#).await;
    let unnamed = call(&app, "tap", r#"{"x":1,"y":1}"#).await;
    assert_eq!(fact(&unnamed.text(), "device"), "one", "the device of the last call");
    server.remove("one");
    wait_for(&app, r#"{"devices":[{"platform":"android","id":"two""#).await;
    let gone = call(&app, "tap", r#"{"x":1,"y":1}"#).await;
    assert_eq!(code_of(&gone), "DEVICE_NOT_FOUND", "not silently another: {}", gone.text());
    assert!(gone.text().contains("two ("), "{}", gone.text());
}

#[tokio::test]
async fn changes_name_the_device_only_if_it_is_ambiguous() {
    let (server, app) = machine(&[("one", "device")]).await;
    call(&app, "get_ui_tree", "{}").await;
    let since = r#"{"since_revision":1}"#;
    let alone = call(&app, "get_ui_tree", since).await.text();
    assert!(
        alone.contains("\"snapshot_delta\":{\"since_revision\":1}") && !alone.contains("device"),
        "{alone}"
    );
    server.add("two", "device", Phone::new(PhoneConfig::default()));
    wait_for(&app, r#""id":"two","state":"device""#).await;
    call(&app, "get_ui_tree", r#"{"deviceId":"two"}"#).await;
    let named = call(&app, "get_ui_tree", r#"{"since_revision":1,"deviceId":"two"}"#).await.text();
    assert!(!named.contains("\"device\""), "the caller said which: {named}");
    server.remove("one");
    wait_for(&app, r#"{"devices":[{"platform":"android","id":"two""#).await;
    let open = call(&app, "get_ui_tree", since).await.text();
    assert_eq!(fact(&open, "device"), "two", "a revision of one could be taken for one of the other");
}

#[tokio::test]
async fn added_and_removed_devices_are_listed() {
    let (server, app) = machine(&[("one", "device")]).await;
    assert!(call(&app, "list_devices", "{}").await.text().contains("one"));
    server.add("two", "unauthorized", Phone::new(PhoneConfig::default()));
    wait_for(&app, r#""id":"two","state":"unauthorized""#).await;
    server.set_state("two", "device");
    wait_for(&app, r#""id":"two","state":"device""#).await;
    server.remove("one");
    server.remove("two");
    wait_for(&app, r#"{"devices":[]}"#).await;
}

async fn wait_for(app: &App, text: &str) {
    for _ in 0..500 {
        if call(app, "list_devices", "{}").await.text().contains(text) {
            return;
        }
        tokio::task::yield_now().await;
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    panic!("{text} never came: {}", call(app, "list_devices", "{}").await.text());
}

#[tokio::test(start_paused = true)]
async fn calls_on_one_device_wait_for_each_other() {
    let world = World::started(Timing::Phone).await;
    // A phone kills the second of two simultaneous captures, which would have to be repeated.
    let trees = (0..4).map(|_| {
        let world = world.clone();
        tokio::spawn(async move { world.tree().await })
    });
    for tree in trees.collect::<Vec<_>>() {
        assert!(tree.await.expect("a tree").contains("Log in"), "W9");
    }
    let commands = world.phone.truth().commands;
    let captures = commands.iter().filter(|command| command.starts_with("uiautomator dump")).count();
    assert_eq!(captures, 4, "W9: none was refused and made again");
}

#[tokio::test(start_paused = true)]
async fn different_devices_do_not_wait_for_each_other() {
    let phones = ["one", "two"].map(|id| (id, Phone::new(PhoneConfig::default())));
    let endpoints = phones
        .iter()
        .map(|(id, phone)| Endpoint { id: (*id).to_owned(), connector: phone_connector(phone.clone()) });
    let hub = Hub::new(HubConfig {
        server: None,
        start: None,
        endpoints: endpoints.collect(),
        key: HostKey::at("/nonexistent/adbkey"),
        session: 7,
        problems: Vec::new(),
    });
    // Both devices are on one server: only state that its calls share could make them wait.
    let app = Arc::new(App::with_source(Arc::new(hub)));
    let started = Instant::now();
    let calls = phones.map(|(id, phone)| {
        phone.inject_dump_fault(DumpFault::Slow(5_000));
        let app = Arc::clone(&app);
        tokio::spawn(async move { call(&app, "get_ui_tree", &format!(r#"{{"deviceId":"{id}"}}"#)).await })
    });
    for call in calls {
        let answer = call.await.expect("an answer");
        assert!(!answer.is_error, "{}", answer.text());
    }
    assert!(started.elapsed() >= Duration::from_secs(5), "both were slow");
    assert!(started.elapsed() < Duration::from_secs(6), "{:?}", started.elapsed());
}

#[tokio::test]
async fn the_status_tells_a_wrong_setting_and_does_not_contradict_itself() {
    // F48: a phone with an address of its own, no adb server, and no program that could start one.
    let phone = Phone::new(PhoneConfig::default());
    let hub = Hub::new(HubConfig {
        server: Some(ServerAddress::at("127.0.0.1:1".to_owned())),
        start: None,
        endpoints: vec![Endpoint { id: "phone".to_owned(), connector: phone_connector(phone) }],
        key: HostKey::at("/nonexistent/adbkey"),
        session: 7,
        problems: vec!["ADB_PATH is /no/such/adb, which is no file; and no other adb was found".to_owned()],
    });
    let status = call(&App::with_source(Arc::new(hub)), "get_system_status", "{}").await.text();
    println!("{status}");
    assert!(status.contains("ADB_PATH is /no/such/adb, which is no file"), "{status}");
    assert!(status.contains("adb was not found") && status.contains(r#""adbAvailable":false"#), "{status}");
    assert_eq!((fact(&status, "devices"), fact(&status, "status")), ("1".to_owned(), "degraded".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn the_status_answers_within_a_second_and_names_what_mends_each_gap() {
    // EN-01: nobody answers at the address.
    let silent: link::Connector = Arc::new(|| Box::pin(std::future::pending()));
    let endpoints = vec![Endpoint { id: "silent".to_owned(), connector: silent }];
    let key = HostKey::at("/nonexistent/adbkey");
    let hub =
        Hub::new(HubConfig { server: None, start: None, endpoints, key, session: 7, problems: Vec::new() });
    let app = App::with_source(Arc::new(hub));
    let start = Instant::now();
    let status = call(&app, "get_system_status", "{}").await;
    println!("{}", status.text());
    let text = status.text();
    assert!(!status.is_error && fact(&text, "status") == "blocked", "it never fails: {text}");
    assert!(text.contains("\"name\":\"JDK\"") && !text.contains("no device is connected"), "{text}");
    assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
}
