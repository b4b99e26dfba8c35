//! The protocol itself, over a pipe in this process.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use mdm_core::text::tokens::estimate;
use mdm_virtual_device::Timing;
use mobile_debug_mcp::mcp;
use mobile_debug_mcp::tools::TOOLS;
use rmcp::model::{
    CallToolRequestParams, ContentBlock, ProtocolVersion, ReadResourceRequestParams,
    ResourceUpdatedNotificationParam, ServerNotification, SubscribeRequestParams, SubscriptionFilter,
    UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, RoleClient};
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt as _, ServiceExt as _};

use crate::world::World;

#[tokio::test(start_paused = true)]
async fn a_client_lists_and_calls_tools() {
    let world = World::started(Timing::Instant).await;
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    let app = Arc::clone(&world.app);
    tokio::spawn(async move {
        let (read, write) = tokio::io::split(theirs);
        mcp::serve(app, read, write, std::future::pending()).await.expect("a client");
    });
    let client = ().serve(tokio::io::split(ours)).await.expect("a server");
    let tools = client.list_all_tools().await.expect("tools");
    assert_eq!(tools.len(), TOOLS.len());
    assert!(tools.iter().all(|tool| tool.annotations.is_some()), "MC-01, W34");

    let tree = client.call_tool(CallToolRequestParams::new("get_ui_tree")).await.expect("an answer");
    assert_ne!(tree.is_error, Some(true));
    assert_eq!(tree.structured_content, None, "text is what clients show");
    let shot = client.call_tool(CallToolRequestParams::new("capture_screenshot")).await.expect("an answer");
    assert!(matches!(&shot.content[..], [ContentBlock::Text(_), ContentBlock::Image(_)]));

    let bad = client.call_tool(CallToolRequestParams::new("tap")).await.expect("bad arguments are an answer");
    assert_eq!(bad.is_error, Some(true), "W34");
    let unknown =
        client.call_tool(CallToolRequestParams::new("no_such_tool")).await.expect_err("a protocol error");
    assert!(unknown.to_string().contains("-32602"), "W34: {unknown}");
}

/// Some clients do not support null types, number formats or references.
#[test]
fn schemas_avoid_constructs_that_clients_do_not_support() {
    for tool in &TOOLS {
        let schema = serde_json::to_string(&tool.schema()).expect("a schema");
        for noise in ["\"null\"", "\"format\":\"", "$schema", "$ref", "anyOf", "null"] {
            assert!(!schema.contains(noise), "{}: {noise} in {schema}", tool.name);
        }
    }
}

#[test]
fn the_tool_list_is_small_spelt_in_one_way_and_says_nothing_twice() {
    // F40. The exact count is checked by `cargo xtask tokens`; the estimate says 5,500 of a list that counts 4,000.
    let described: Vec<_> = TOOLS.iter().map(mcp::describe).collect();
    let tokens = estimate(&serde_json::to_string(&described).expect("a list"));
    println!("{tokens} tokens by estimate");
    assert!(tokens < 5_500, "{tokens} tokens by estimate");
    let mut said: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for tool in &TOOLS {
        let schema = tool.schema();
        let properties = schema.get("properties").and_then(|p| p.as_object()).cloned().unwrap_or_default();
        for (name, property) in properties {
            let is_snake = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
            assert!(is_snake, "{}: {name}", tool.name);
            let note = property.get("description").and_then(|d| d.as_str()).unwrap_or_default();
            if note.len() > NOTE_BYTES {
                said.entry(note.to_owned()).or_default().push(tool.name);
            }
        }
        said.entry(tool.description.to_owned()).or_default().push(tool.name);
    }
    for (note, tools) in said {
        assert_eq!(tools.len(), 1, "{note:?} stands in {tools:?}: it belongs into the instructions");
    }
}

/// Shorter notes, such as a default, cost no more than a reference to one place.
const NOTE_BYTES: usize = 40;

/// Notifications that a client of the older protocols received.
#[derive(Clone, Default)]
struct Heard(Arc<Mutex<Vec<String>>>);

impl Heard {
    fn uris(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

impl ClientHandler for Heard {
    async fn on_resource_updated(
        &self,
        params: ResourceUpdatedNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.0.lock().unwrap().push(params.uri);
    }
}

/// A screen with two texts; the second is a clock.
fn screen(text: &str, clock: &str) -> Option<Bytes> {
    let node = |class: &str, text: &str, bounds: &str| {
        format!(
            "<node index=\"0\" text=\"{text}\" resource-id=\"\" class=\"android.widget.{class}\" \
             package=\"com.workbench\" content-desc=\"\" checkable=\"false\" checked=\"false\" clickable=\"false\" \
             enabled=\"true\" focusable=\"false\" focused=\"false\" scrollable=\"false\" long-clickable=\"false\" \
             password=\"false\" selected=\"false\" bounds=\"{bounds}\""
        )
    };
    let root = node("FrameLayout", "", "[0,0][1080,2400]");
    let (line, time) =
        (node("TextView", text, "[0,300][1080,400]"), node("TextClock", clock, "[0,0][200,80]"));
    Some(Bytes::from(format!(
        "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?><hierarchy rotation=\"0\">{root}>{line}/>{time}/>\
         </node></hierarchy>"
    )))
}

fn served(world: &World) -> tokio::io::DuplexStream {
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    let app = Arc::clone(&world.app);
    tokio::spawn(async move {
        let (read, write) = tokio::io::split(theirs);
        mcp::serve(app, read, write, std::future::pending()).await.expect("a client");
    });
    ours
}

async fn pass(seconds: u64) {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
}

/// Counts the shell commands that the phone runs in the next seconds.
async fn commands_in(world: &World, seconds: u64) -> usize {
    let mut scripts = world.phone.scripts();
    pass(seconds).await;
    std::iter::from_fn(|| scripts.try_recv().ok()).count()
}

/// F51: `ui://` belongs to MCP Apps, and hosts would take such a resource for a page.
const SCREEN: &str = "screen://virtual-android/screen";
const SAVED: &str = "screen://virtual-android/element?text=saved&contains=true";

#[tokio::test(start_paused = true)]
#[expect(deprecated, reason = "the requests of clients before 2026-07-28")]
async fn a_subscriber_is_notified_of_changes() {
    let world = World::started(Timing::Instant).await;
    world.phone.set_hierarchy(screen("One", "12:00"));
    let heard = Heard::default();
    let client = heard.clone().serve(tokio::io::split(served(&world))).await.expect("a server");
    let listed = client.list_all_resources().await.expect("resources");
    let uris: Vec<&str> = listed.iter().map(|r| r.uri.as_str()).collect();
    let device = SCREEN.trim_end_matches("/screen");
    for part in ["screen", "picture", "log", "trace"] {
        assert!(uris.contains(&format!("{device}/{part}").as_str()), "{part}: {uris:?}");
    }
    let others = uris.iter().filter(|uri| !uri.starts_with("screen://"));
    assert!(others.clone().all(|uri| uri.starts_with("mdm://")), "ui:// belongs to MCP Apps: {uris:?}");
    assert!(others.clone().count() >= 2, "{uris:?}");
    let templates = client.list_all_resource_templates().await.expect("templates");
    assert_eq!(templates.len(), 5, "the parts of a device, and its elements");
    let read = client.read_resource(ReadResourceRequestParams::new(SCREEN)).await.expect("a screen");
    assert!(format!("{read:?}").contains("One"), "{read:?}");
    assert_eq!(commands_in(&world, 5).await, 0, "SY-20: nobody subscribed, nothing is read");

    client.subscribe(SubscribeRequestParams::new(SCREEN)).await.expect("subscribed");
    client.subscribe(SubscribeRequestParams::new(SCREEN)).await.expect("subscribed already");
    assert!(commands_in(&world, 5).await > 0, "it is watched");
    assert_eq!(heard.uris().len(), 0, "SY-20: nothing changed");
    world.phone.set_hierarchy(screen("Two", "12:00"));
    pass(3).await;
    assert_eq!(heard.uris(), [SCREEN], "SY-20: once for a change");
    world.phone.set_hierarchy(screen("Two", "12:01"));
    pass(3).await;
    assert_eq!(heard.uris().len(), 1, "SY-20: a clock is no change");
    world.phone.set_hierarchy(screen("Three", "12:01"));
    pass(3).await;
    assert_eq!(heard.uris().len(), 2);
    let status = world.ok("get_system_status", "{}").await;
    assert!(
        status.contains("\"waits\":0") || !status.contains("\"waits\""),
        "SY-18: no agent waited: {status}"
    );

    client.unsubscribe(UnsubscribeRequestParams::new(SCREEN)).await.expect("unsubscribed");
    world.phone.set_hierarchy(screen("Four", "12:02"));
    assert_eq!(commands_in(&world, 5).await, 0, "SY-20: nobody watches any more");
    assert_eq!(heard.uris().len(), 2, "SY-20: nothing after unsubscribe");

    client.subscribe(SubscribeRequestParams::new(SAVED)).await.expect("subscribed");
    world.phone.set_hierarchy(screen("Five", "12:03"));
    pass(3).await;
    assert_eq!(heard.uris().len(), 2, "SY-20: another element");
    world.phone.set_hierarchy(screen("Draft saved", "12:03"));
    pass(3).await;
    assert_eq!(heard.uris()[2..], [SAVED], "SY-20: it appeared");
    let read = client.read_resource(ReadResourceRequestParams::new(SAVED)).await.expect("an element");
    assert!(format!("{read:?}").contains("Draft saved"), "{read:?}");
    world.phone.set_hierarchy(screen("Six", "12:03"));
    pass(3).await;
    assert_eq!(heard.uris()[3..], [SAVED], "SY-20: it is gone");

    client.cancel().await.expect("the end");
    pass(1).await;
    assert_eq!(commands_in(&world, 5).await, 0, "SY-20: a watcher ends with its connection");
}

#[tokio::test(start_paused = true)]
#[expect(deprecated, reason = "the requests of clients before 2026-07-28")]
async fn subscriptions_to_unknown_resources_are_refused() {
    let world = World::started(Timing::Instant).await;
    let client = ().serve(tokio::io::split(served(&world))).await.expect("a server");
    for uri in ["file:///etc/passwd", "screen://virtual-android/element?text=", "screen://nobody/screen"] {
        let refused = client.subscribe(SubscribeRequestParams::new(uri)).await.expect_err(uri);
        assert!(refused.to_string().contains("-32002"), "what this protocol has for it, {uri}: {refused}");
        client.read_resource(ReadResourceRequestParams::new(uri)).await.expect_err(uri);
    }
    for number in 0..16 {
        let uri = format!("screen://virtual-android/element?text=No+Such+{number}");
        client.subscribe(SubscribeRequestParams::new(uri)).await.expect("there is room");
    }
    let refused = client.subscribe(SubscribeRequestParams::new(SCREEN)).await.expect_err("SY-20: bounded");
    assert!(refused.to_string().contains("16 subscriptions"), "{refused}");
}

#[tokio::test(start_paused = true)]
async fn a_subscriber_of_the_new_protocol_is_notified_too() {
    let world = World::started(Timing::Instant).await;
    world.phone.set_hierarchy(screen("One", "12:00"));
    let lifecycle = ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] };
    let pipe = tokio::io::split(served(&world));
    let client = ().serve_with_lifecycle(pipe, lifecycle).await.expect("a server");
    let wanted = SubscriptionFilter::builder().resource_subscriptions([SCREEN, "screen://nonsense"]).build();
    let mut subscription = client.listen(wanted).await.expect("listening");
    let accepted = subscription.acknowledged().resource_subscriptions.clone();
    assert_eq!(accepted, Some(vec![SCREEN.to_owned()]), "what is no resource is not watched");
    pass(5).await;
    world.phone.set_hierarchy(screen("Two", "12:00"));
    let update = subscription.next().await.expect("an open stream").expect("SY-20: a notification");
    assert!(matches!(&update, ServerNotification::ResourceUpdatedNotification(n) if n.params.uri == SCREEN));
    world.phone.set_hierarchy(screen("Two", "12:01"));
    let more = tokio::time::timeout(Duration::from_secs(5), subscription.next()).await;
    assert!(more.is_err(), "SY-20: one for a change, none for a clock: {more:?}");
    subscription.cancel().await.expect("cancelled");
    pass(1).await;
    assert_eq!(commands_in(&world, 5).await, 0, "SY-20: nobody watches any more");
}

#[tokio::test(start_paused = true)]
#[expect(deprecated, reason = "the requests of clients before 2026-07-28")]
async fn many_subscriptions_on_one_phone_read_it_as_often_as_one() {
    // F69
    let world = World::started(Timing::Instant).await;
    world.phone.set_hierarchy(screen("One", "12:00"));
    let client = Heard::default().serve(tokio::io::split(served(&world))).await.expect("a server");
    client.subscribe(SubscribeRequestParams::new(SCREEN)).await.expect("a subscription");
    let alone = commands_in(&world, 10).await;
    for number in 1..16 {
        let uri = format!("screen://virtual-android/element?text=Row%20{number}");
        client.subscribe(SubscribeRequestParams::new(uri)).await.expect("a subscription");
    }
    let many = commands_in(&world, 10).await;
    assert!(alone > 10 && many <= alone + alone / 10, "{alone} commands for one, {many} for sixteen");
}
