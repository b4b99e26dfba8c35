//! What all calls share: traces, events, one slow device that delays no other.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use mdm_android::adb::key::HostKey;
use mdm_android::{Endpoint, Hub, HubConfig};
use mdm_core::action::event::Event;
use mdm_core::action::trace::Stage;
use mdm_engine::{Progress, WantedDevice};
use mdm_virtual_device::{Phone, PhoneConfig, Timing};
use mobile_debug_mcp::app::{App, phone_connector};
use mobile_debug_mcp::mcp;
use rmcp::model::{CallToolRequestParams, ProgressNotificationParam};
use rmcp::service::{NotificationContext, RoleClient};
use rmcp::{ClientHandler, ServiceExt as _};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::world::{APP, World, call, fact};

/// The stages of the trace that a call left, by the id that its name begins with.
async fn stages(world: &World, action_id: &str) -> Vec<Stage> {
    let progress = Progress::new(Duration::from_secs(5), CancellationToken::new());
    let session = world
        .app
        .fleet
        .choose(&WantedDevice::default(), &world.app.own.binding, &progress)
        .await
        .expect("the phone");
    let memory = session.memory();
    let trace = memory.traces.find(action_id).unwrap_or_else(|| panic!("no trace of {action_id}"));
    assert!(trace.steps.windows(2).all(|pair| pair[0].at_ms <= pair[1].at_ms), "TR-01: {trace:?}");
    trace.steps.iter().map(|step| step.stage).collect()
}

#[tokio::test(start_paused = true)]
async fn typing_scrolling_adjusting_and_waiting_leave_a_trace() {
    // TR-01, F19: written as it happens, so that its times are in order.
    let world = World::started(Timing::Phone).await;
    let typed = world.ok("type_text", r#"{"text":"ada","selector":{"text":"Email"}}"#).await;
    let seen = stages(&world, &fact(&typed, "action_id")).await;
    assert_eq!(seen, [Stage::Resolve, Stage::Execute, Stage::Execute, Stage::Verify], "focus and text");
    let found = world.ok("scroll_to_element", r#"{"selector":{"text":"Log in"}}"#).await;
    assert!(stages(&world, &fact(&found, "action_id")).await.contains(&Stage::Verify));
    world
        .ok("tap_element", r#"{"selector":{"text":"Settings"},"expect":{"screen":"SettingsActivity"}}"#)
        .await;
    let set =
        world.ok("adjust_control", r#"{"selector":{"text":"Volume"},"target_value":75,"tolerance":1}"#).await;
    let seen = stages(&world, &fact(&set, "action_id")).await;
    assert_eq!((seen.first(), seen.last()), (Some(&Stage::Resolve), Some(&Stage::Verify)));
    assert!(seen.contains(&Stage::Execute));

    // Waits have no id in their answers; the number of theirs follows that of the action before.
    let mut listener = world.app.fleet.bus().listen();
    world.ok("wait_for_ui", r#"{"selector":{"text":"Volume"}}"#).await;
    world
        .ok("expect_state", r#"{"selector":{"text":"Dark mode"},"property":"checked","expected":false}"#)
        .await;
    let mut begun = Vec::new();
    while begun.len() < 2 {
        if let Event::CallBegan { name } = listener.next().await.expect("the bus").event {
            begun.push(name);
        }
    }
    assert_eq!(begun, ["wait_for_ui", "expect_state"]);
    let progress = Progress::new(Duration::from_secs(5), CancellationToken::new());
    let session = world
        .app
        .fleet
        .choose(&WantedDevice::default(), &world.app.own.binding, &progress)
        .await
        .expect("the phone");
    let last = session.memory().traces.last_action().map(|trace| trace.name);
    assert_eq!(last, Some("adjust_control"), "a wait is no action");
}

#[tokio::test(start_paused = true)]
async fn events_tell_a_tap_from_beginning_to_end() {
    let world = World::started(Timing::Phone).await;
    let mut listener = world.app.fleet.bus().listen();
    world
        .ok("tap_element", r#"{"selector":{"text":"Settings"},"expect":{"screen":"SettingsActivity"}}"#)
        .await;
    let mut told = Vec::new();
    loop {
        let stamped = listener.next().await.expect("the bus");
        assert_eq!(&*stamped.device, "virtual-android");
        let ended = matches!(stamped.event, Event::CallEnded { .. });
        told.push(stamped);
        if ended {
            break;
        }
    }
    assert!(told.windows(2).all(|pair| pair[0].at_ms <= pair[1].at_ms && pair[0].call == pair[1].call));
    let place = |wanted: fn(&Event) -> bool| told.iter().position(|stamped| wanted(&stamped.event));
    let order = [
        place(|event| matches!(event, Event::CallBegan { name: "tap_element" })),
        place(|event| matches!(event, Event::Looked { .. })),
        place(|event| matches!(event, Event::Resolved { element: Some(_), .. })),
        place(|event| matches!(event, Event::Sent { error: None, .. })),
        place(|event| matches!(event, Event::Settled { .. })),
        place(|event| matches!(event, Event::Judged { met: Some(true), .. })),
        place(|event| matches!(event, Event::CallEnded { error: None })),
    ];
    assert!(order.iter().all(Option::is_some) && order.is_sorted(), "{order:?}");
}

/// A phone, and an address that takes connections and never says a word.
fn beside_a_silent_one() -> App {
    let phone = Phone::new(PhoneConfig { timing: Timing::Instant, ..PhoneConfig::default() });
    let silent: mdm_android::adb::link::Connector = Arc::new(|| Box::pin(std::future::pending()));
    let endpoint = |id: &str, connector| Endpoint { id: id.to_owned(), connector };
    let endpoints = vec![endpoint("silent", silent), endpoint("good", phone_connector(phone))];
    let key = HostKey::at("/nonexistent/adbkey");
    let hub =
        Hub::new(HubConfig { server: None, start: None, endpoints, key, session: 7, problems: Vec::new() });
    App::with_source(Arc::new(hub))
}

#[tokio::test(start_paused = true)]
async fn a_silent_device_delays_no_other() {
    // F61
    let app = beside_a_silent_one();
    let began = Instant::now();
    let named = call(&app, "start_app", &format!(r#"{{"app_id":"{APP}","device_id":"good"}}"#)).await;
    assert!(!named.is_error, "{}", named.text());
    assert!(
        began.elapsed() < Duration::from_millis(100),
        "a named device waits for nobody: {:?}",
        began.elapsed()
    );
    let began = Instant::now();
    let first = call(&app, "get_ui_tree", "{}").await;
    assert_eq!(fact(&first.text(), "device"), "good");
    assert!(
        began.elapsed() <= Duration::from_millis(1100),
        "the first list is bounded: {:?}",
        began.elapsed()
    );
    let began = Instant::now();
    for _ in 0..20 {
        assert!(!call(&app, "get_ui_tree", "{}").await.is_error);
    }
    assert!(began.elapsed() < Duration::from_millis(200), "it is not listed anew: {:?}", began.elapsed());
    for _ in 0..5 {
        tokio::time::sleep(Duration::from_secs(10)).await;
        let began = Instant::now();
        assert!(!call(&app, "get_ui_tree", "{}").await.is_error);
        assert!(began.elapsed() < Duration::from_millis(100), "known to be dead: {:?}", began.elapsed());
    }
    let list = call(&app, "list_devices", "{}").await.text();
    assert!(list.contains(r#""id":"silent","state":"offline""#), "{list}");
}

/// What a client was told on the way.
#[derive(Clone, Default)]
struct Told(Arc<Mutex<Vec<String>>>);

impl ClientHandler for Told {
    async fn on_progress(&self, params: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.0.lock().unwrap().extend(params.message);
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_with_a_progress_token_is_told_how_its_call_goes_on() {
    // MC-01, F47
    let world = World::started(Timing::Phone).await;
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    let app = Arc::clone(&world.app);
    tokio::spawn(async move {
        let (read, write) = tokio::io::split(theirs);
        mcp::serve(app, read, write, std::future::pending()).await.expect("a client");
    });
    let told = Told::default();
    let client = told.clone().serve(tokio::io::split(ours)).await.expect("a server");
    let arguments =
        serde_json::from_str(r#"{"selector":{"text":"Settings"},"expect":{"screen":"SettingsActivity"}}"#);
    let request = CallToolRequestParams::new("tap_element").with_arguments(arguments.expect("JSON"));
    client.call_tool(request).await.expect("an answer");
    tokio::time::sleep(Duration::from_secs(1)).await;
    let words = told.0.lock().unwrap().join("\n");
    assert!(words.contains("found e") && words.contains("sent touch"), "{words}");
}
