//! Several clients and several devices: what one of them does or reads changes nothing for another, and nobody sees by the
//! way what no tool would show.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use mdm_android::adb::key::HostKey;
use mdm_android::{Endpoint, Hub, HubConfig};
use mdm_virtual_device::{Phone, PhoneConfig, Timing};
use mobile_debug_mcp::answer::Answer;
use mobile_debug_mcp::app::{App, phone_connector};
use mobile_debug_mcp::caller::Caller;
use mobile_debug_mcp::mcp;
use mobile_debug_mcp::offer::{Offer, Wanted};
use mobile_debug_mcp::policy::Policy;
use mobile_debug_mcp::tools::{self, By};
use rmcp::model::{
    CallToolRequestParams, ErrorCode, GetPromptRequestParams, ReadResourceRequestParams,
    SubscribeRequestParams,
};
#[expect(deprecated, reason = "most clients still have a log of this kind")]
use rmcp::model::{LoggingLevel, LoggingMessageNotificationParam, SetLevelRequestParams};
use rmcp::service::{NotificationContext, RoleClient};
use rmcp::{ClientHandler, ServiceError, ServiceExt as _};
use tokio_util::sync::CancellationToken;

use crate::world::{APP, World, call, code_of, fact};

/// Two phones, `one` and `two`.
fn two_new_phones() -> (App, [Phone; 2]) {
    let phones =
        [(); 2].map(|()| Phone::new(PhoneConfig { timing: Timing::Brisk, ..PhoneConfig::default() }));
    let endpoint =
        |id: &str, phone: &Phone| Endpoint { id: id.to_owned(), connector: phone_connector(phone.clone()) };
    let hub = Hub::new(HubConfig {
        server: None,
        start: None,
        endpoints: vec![endpoint("one", &phones[0]), endpoint("two", &phones[1])],
        key: HostKey::at("/nonexistent/adbkey"),
        session: 7,
        problems: Vec::new(),
    });
    (App::with_source(Arc::new(hub)), phones)
}

/// The same with the app in front of each.
async fn two_phones() -> (App, [Phone; 2]) {
    let (app, phones) = two_new_phones();
    for id in ["one", "two"] {
        let started = call(&app, "start_app", &format!(r#"{{"app_id":"{APP}","device_id":"{id}"}}"#)).await;
        assert!(!started.is_error, "{}", started.text());
    }
    app.leases.release(app.own.key());
    (app, phones)
}

async fn call_as(app: &App, caller: &Arc<Caller>, tool: &str, json: &str) -> Answer {
    let arguments = serde_json::from_str(json).expect("the test's own JSON");
    let by = By::new(app, Arc::clone(caller), CancellationToken::new());
    tools::find(tool).expect("the tool exists").call_by(app, arguments, by).await
}

fn client_of(app: &Arc<App>) -> tokio::io::DuplexStream {
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    let app = Arc::clone(app);
    tokio::spawn(async move {
        let (read, write) = tokio::io::split(theirs);
        mcp::serve(app, read, write, std::future::pending()).await.expect("a client");
    });
    ours
}

#[tokio::test(start_paused = true)]
async fn to_read_of_a_device_or_complete_does_not_move_later_calls() {
    // F2, MC-01
    let (app, _phones) = two_phones().await;
    let app = Arc::new(app);
    let client = ().serve(tokio::io::split(client_of(&app))).await.expect("a server");
    let used = CallToolRequestParams::new("use_device")
        .with_arguments(serde_json::from_str(r#"{"device_id":"one"}"#).expect("an object"));
    client.call_tool(used).await.expect("an answer");
    let read =
        client.read_resource(ReadResourceRequestParams::new("screen://two/screen")).await.expect("a screen");
    assert!(format!("{read:?}").contains("\\\"device\\\":\\\"two\\\""), "{read:?}");
    client.complete_prompt_simple("why_a_tap_does_nothing", "element", "").await.expect("labels");
    let screen = client.call_tool(CallToolRequestParams::new("get_current_screen")).await.expect("an answer");
    assert!(format!("{screen:?}").contains("\\\"device\\\":\\\"one\\\""), "{screen:?}");
}

#[tokio::test(start_paused = true)]
async fn a_device_that_the_policy_forbids_is_as_if_it_were_not_there() {
    // SE-04
    let (app, _phones) = two_new_phones();
    let app = app.governed_by(Policy::parse("[devices]\ndeny=['two']").expect("a policy"));
    let somebody = Arc::new(Caller::new("somebody", "somebody"));
    let screen = call_as(&app, &somebody, "get_current_screen", "{}").await;
    assert_eq!(fact(&screen.text(), "device"), "one", "no choice is left: {}", screen.text());
    for (tool, json) in [("list_devices", "{}"), ("get_system_status", "{}")] {
        let told = call_as(&app, &somebody, tool, json).await.text();
        assert!(!told.contains("\"two\""), "{tool}: {told}");
    }
    let named = call_as(&app, &somebody, "get_ui_tree", r#"{"device_id":"two"}"#).await;
    assert_eq!(code_of(&named), "POLICY_DENIED");
    let screen = call_as(&app, &somebody, "get_current_screen", "{}").await;
    assert_eq!(fact(&screen.text(), "device"), "one", "a refused call binds nobody: {}", screen.text());
}

#[tokio::test(start_paused = true)]
async fn a_flow_keeps_its_device_between_its_steps() {
    // SE-04
    let (app, phones) = two_phones().await;
    let (alice, bob) = (Arc::new(Caller::new("a", "alice")), Arc::new(Caller::new("b", "bob")));
    let flow = r#"{"device_id":"one","steps":[
        {"tool":"press_home"},
        {"tool":"wait_for_ui","arguments":{"selector":{"text":"never there"},"timeout_ms":9000}},
        {"tool":"press_home"}]}"#;
    let theft = async {
        tokio::time::sleep(Duration::from_secs(3)).await;
        let taken = call_as(&app, &bob, "use_device", r#"{"device_id":"one","take_over":true}"#).await;
        assert_eq!(code_of(&taken), "DEVICE_LEASED", "{}", taken.text());
        assert!(taken.text().contains("middle of an action"), "{}", taken.text());
        let pressed = call_as(&app, &bob, "press_home", r#"{"device_id":"one"}"#).await;
        assert_eq!(code_of(&pressed), "DEVICE_LEASED");
    };
    let (walked, ()) = tokio::join!(call_as(&app, &alice, "run_flow", flow), theft);
    assert_eq!(fact(&walked.text(), "failed_step"), "2", "it was walked for nine seconds: {}", walked.text());
    // Between two calls it can be taken as ever.
    let taken = call_as(&app, &bob, "use_device", r#"{"device_id":"one","take_over":true}"#).await;
    assert!(!taken.is_error, "{}", taken.text());
    drop(phones);
}

#[tokio::test(start_paused = true)]
async fn a_log_that_one_client_follows_is_its_own() {
    // OB-01
    let (app, phones) = two_phones().await;
    let (alice, bob) = (Arc::new(Caller::new("a", "alice")), Arc::new(Caller::new("b", "bob")));
    let read = r#"{"device_id":"one","after":0}"#;
    for caller in [&alice, &bob] {
        let begun = call_as(&app, caller, "read_log_stream", r#"{"device_id":"one"}"#).await;
        assert_eq!(fact(&begun.text(), "stream_started"), "true", "each begins its own: {}", begun.text());
    }
    let ended = call_as(&app, &bob, "read_log_stream", r#"{"device_id":"one","stop":true}"#).await;
    assert!(!ended.is_error, "{}", ended.text());
    tokio::time::sleep(Duration::from_secs(2)).await;
    let going_on = call_as(&app, &alice, "read_log_stream", read).await;
    assert_eq!(fact(&going_on.text(), "following"), "true", "{}", going_on.text());
    app.fleet.stop_logs(&alice.streams());
    let over = call_as(&app, &alice, "read_log_stream", r#"{"device_id":"one"}"#).await;
    assert_eq!(fact(&over.text(), "stream_started"), "true", "it ended with its client: {}", over.text());
    drop(phones);
}

/// What a client's log was told.
#[derive(Clone, Default)]
#[expect(deprecated, reason = "most clients still have a log of this kind")]
struct Log(Arc<Mutex<Vec<LoggingLevel>>>);

impl ClientHandler for Log {
    #[expect(deprecated, reason = "most clients still have a log of this kind")]
    async fn on_logging_message(
        &self,
        line: LoggingMessageNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.0.lock().unwrap().push(line.level);
    }
}

#[tokio::test(start_paused = true)]
#[expect(deprecated, reason = "most clients still have a log of this kind")]
async fn a_client_is_told_what_its_level_asks_for_and_a_long_call_costs_nothing_meanwhile() {
    // MC-01. With the clock paused a task that never sleeps would keep the time from passing at all.
    let world = World::started(Timing::Brisk).await;
    let log = Log::default();
    let client = log.clone().serve(tokio::io::split(client_of(&world.app))).await.expect("a server");
    let press = || client.call_tool(CallToolRequestParams::new("press_home"));
    press().await.expect("an answer");
    assert!(log.0.lock().unwrap().is_empty(), "nothing was asked for");
    client.set_level(SetLevelRequestParams::new(LoggingLevel::Info)).await.expect("a level");
    press().await.expect("an answer");
    // A notification is handled beside the answer that it came before.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let told = std::mem::take(&mut *log.0.lock().unwrap());
    assert!(told.contains(&LoggingLevel::Info) && !told.contains(&LoggingLevel::Debug), "{told:?}");
    let wait = r#"{"selector":{"text":"never there"},"timeout_ms":60000}"#;
    let wait =
        CallToolRequestParams::new("wait_for_ui").with_arguments(serde_json::from_str(wait).expect("JSON"));
    client.call_tool(wait).await.expect("an answer");
    log.0.lock().unwrap().clear();
    client.set_level(SetLevelRequestParams::new(LoggingLevel::Error)).await.expect("a level");
    press().await.expect("an answer");
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(log.0.lock().unwrap().is_empty(), "nothing went wrong");
}

#[tokio::test(start_paused = true)]
async fn completions_and_prompts_say_what_they_are_for() {
    // MC-01, AG-01
    let world = World::started(Timing::Brisk).await;
    let client = ().serve(tokio::io::split(client_of(&world.app))).await.expect("a server");
    let labels =
        client.complete_prompt_simple("why_a_tap_does_nothing", "element", "sett").await.expect("labels");
    assert_eq!(labels, ["Settings"]);
    let devices =
        client.complete_prompt_simple("triage_a_crash", "device_id", "VIRT").await.expect("devices");
    assert_eq!(devices, ["virtual-android"]);
    let apps = client.complete_prompt_simple("triage_a_crash", "app_id", "workb").await.expect("apps");
    assert_eq!(apps, [APP]);
    let unknown =
        client.complete_prompt_simple("triage_a_crash", "colour", "").await.expect_err("no argument");
    assert!(unknown.to_string().contains("-32602"), "{unknown}");
    let prompts = client.list_all_prompts().await.expect("prompts");
    assert_eq!(prompts.len(), 4);
    let arguments = serde_json::from_str(r#"{"element":"Save"}"#).expect("an object");
    let asked = GetPromptRequestParams::new("why_a_tap_does_nothing").with_arguments(arguments);
    let prompt = format!("{:?}", client.get_prompt(asked).await.expect("a prompt"));
    assert!(prompt.contains("classify_action_outcome") && prompt.contains("Save"), "{prompt}");
    let nobody = client.get_prompt(GetPromptRequestParams::new("no_such_prompt")).await.expect_err("none");
    assert!(matches!(nobody, ServiceError::McpError(error) if error.code == ErrorCode::INVALID_PARAMS));
}

#[tokio::test(start_paused = true)]
#[expect(deprecated, reason = "the requests of clients before 2026-07-28")]
async fn what_no_tool_shows_is_shown_by_nothing_else() {
    // SE-04: one server offers no tool that reads, one asks a person first
    let wanted = Wanted { tools: vec!["tap".to_owned()], ..Wanted::default() };
    let asks = "[confirm]\ntools=['get_ui_tree','find_element','list_devices','capture_screenshot']";
    for (offer, policy) in [
        (Offer::new(&wanted).expect("a tool"), Policy::default()),
        (Offer::default(), Policy::parse(asks).expect("a policy")),
    ] {
        let world = World::started(Timing::Brisk).await;
        let world =
            World { app: Arc::new(around(&world.phone).offering(offer).governed_by(policy)), ..world };
        let client = ().serve(tokio::io::split(client_of(&world.app))).await.expect("a server");
        for (argument, begun) in [("text", "sett"), ("device", "")] {
            let values = client.complete_resource_simple("screen://{device}/element", argument, begun).await;
            assert_eq!(values.expect("an answer"), Vec::<String>::new(), "{argument}");
        }
        let listed = client.list_all_resources().await.expect("resources");
        for part in ["/screen", "/picture", "mdm://devices"] {
            assert!(!listed.iter().any(|resource| resource.uri.ends_with(part)), "{part}: {listed:?}");
        }
        for uri in ["screen://virtual-android/screen", "screen://virtual-android/picture", "mdm://devices"] {
            let refused = client.read_resource(ReadResourceRequestParams::new(uri)).await.expect_err(uri);
            assert!(refused.to_string().contains("not offered"), "{uri}: {refused}");
        }
        for uri in ["screen://virtual-android/screen", "screen://virtual-android/element?text=Settings"] {
            let refused = client.subscribe(SubscribeRequestParams::new(uri)).await.expect_err(uri);
            assert!(refused.to_string().contains("-32602"), "{uri}: {refused}");
        }
    }
}

/// An app of its own around a phone that is there already.
fn around(phone: &Phone) -> App {
    let devices = mobile_debug_mcp::app::Devices { phone: Some(phone.clone()), ..Default::default() };
    App::new(devices)
}
