//! Every argument that the predecessor took is taken, and what it ignored is reported.

use mobile_debug_mcp::args::is_named;
use mobile_debug_mcp::compat::{Block, TOOLS};
use mobile_debug_mcp::tools;
use serde_json::{Value, json};

use crate::recordings::Recordings;
use crate::stage::Stage;

#[test]
fn the_listed_tools_and_all_their_arguments_are_known() {
    // CO-01
    let recordings = Recordings::load();
    let listed = recordings.named("00_tools_list").tools.as_object().unwrap();
    let mut names: Vec<&str> = TOOLS.to_vec();
    names.sort_unstable();
    let mut recorded: Vec<&str> = listed.keys().map(String::as_str).collect();
    recorded.sort_unstable();
    assert_eq!(names, recorded);
    // How often it looked is its own affair now.
    let spare = ["poll_interval_ms"];
    for (name, arguments) in listed {
        let entry = tools::find(name).expect(name);
        for argument in arguments.as_array().unwrap().iter().filter_map(Value::as_str) {
            let is_known = entry.arguments().iter().any(|known| is_named(&known.name, argument));
            assert!(is_known || spare.contains(&argument), "{name} {argument}");
        }
    }
}

async fn texts(tool: &str, arguments: Value) -> Vec<String> {
    let recordings = Recordings::load();
    let stage = Stage::of(recordings.named("03_get_ui_tree")).await;
    let rendered = stage.call(tool, arguments).await;
    assert!(!rendered.is_refused);
    let text = |block| match block {
        Block::Text(text) => text,
        Block::Image(_) => panic!("a text"),
    };
    rendered.blocks.into_iter().map(text).collect()
}

#[tokio::test(start_paused = true)]
async fn unknown_arguments_are_reported_and_not_fatal() {
    // CO-01
    let asked = json!({"platform": "android", "colour": "red", "selector": {"text": "Sign in", "size": 3}});
    let found = texts("wait_for_ui", asked).await;
    assert!(found[0].contains("\"status\": \"success\""), "{}", found[0]);
    let unknown: Value = serde_json::from_str(&found[1]).unwrap();
    assert_eq!(unknown, json!({"unknown_arguments": ["colour", "selector.size"]}));
    assert_eq!(texts("get_current_screen", json!({})).await.len(), 1, "nothing was unknown");
}
