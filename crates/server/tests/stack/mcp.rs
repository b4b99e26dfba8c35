//! The protocol itself, over a pipe in this process.

use std::sync::Arc;

use mdm_virtual_device::Timing;
use mobile_debug_mcp::mcp::McpServer;
use mobile_debug_mcp::tools::TOOLS;
use rmcp::ServiceExt as _;
use rmcp::model::{CallToolRequestParams, ContentBlock};

use crate::world::World;

#[tokio::test(start_paused = true)]
async fn a_client_lists_and_calls() {
    let world = World::started(Timing::Instant).await;
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    let app = Arc::clone(&world.app);
    tokio::spawn(async move {
        let running = McpServer::new(app).serve(tokio::io::split(theirs)).await.expect("a client");
        drop(running.waiting().await);
    });
    let client = ().serve(tokio::io::split(ours)).await.expect("a server");
    let tools = client.list_all_tools().await.expect("tools");
    assert_eq!(tools.len(), TOOLS.len());
    assert!(tools.iter().all(|tool| tool.annotations.is_some() && tool.title.is_some()), "MC-01, W34");

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

/// Clients stumble over these: null types, number formats, references.
#[test]
fn schemas_are_plain() {
    for tool in &TOOLS {
        let schema = serde_json::to_string(&tool.schema()).expect("a schema");
        for noise in ["\"null\"", "\"format\":\"", "$schema", "$ref", "anyOf", "null"] {
            assert!(!schema.contains(noise), "{}: {noise} in {schema}", tool.name);
        }
        assert!(schema.contains("\"additionalProperties\":false"), "{}", tool.name);
    }
}
