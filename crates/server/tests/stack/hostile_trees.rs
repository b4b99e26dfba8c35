//! Hostile trees: huge, deep, damaged or empty.

use bytes::Bytes;
use mdm_virtual_device::Timing;

use crate::world::{World, fact};

async fn world_with(xml: impl Into<Bytes>) -> World {
    let world = World::new(Timing::Instant);
    world.phone.set_hierarchy(Some(xml.into()));
    world
}

fn node(text: &str, close: &str) -> String {
    format!(
        "<node text=\"{text}\" class=\"android.widget.Button\" clickable=\"true\" enabled=\"true\" bounds=\"[0,0][9,9]\"{close}>"
    )
}

#[tokio::test(start_paused = true)]
async fn a_tree_of_twenty_megabytes_is_cut_and_the_answer_says_so() {
    let filler = "x".repeat(900);
    let mut xml = String::from("<?xml version='1.0' ?><hierarchy rotation=\"0\">");
    let mut count: usize = 0;
    while xml.len() < 20_000_000 {
        xml.push_str(&node(&format!("{count} {filler}"), " /"));
        count += 1;
    }
    xml.push_str("</hierarchy>");
    let world = world_with(xml).await;
    let tree = world.tree().await;
    // F62: reading all of it would take more memory than a device may cost.
    let read: usize = fact(&tree, "of").parse().expect("a number");
    assert!(read > 5000 && read < count, "SE-07: {read} of {count}");
    assert_eq!(fact(&tree, "partial"), "true", "SE-07");
    assert!(tree.len() < 200_000, "the answer is bounded: {} bytes", tree.len());
    // MC-01: what nobody asked for is not sent, and the answer says how to have it.
    let refused = world.call("get_ui_tree", r#"{"format":"json"}"#).await;
    assert!(refused.is_error && refused.text().contains("more than this server sends"), "{}", refused.text());
    // JSON that is cut is no JSON.
    let larger = world.call("get_ui_tree", r#"{"format":"json","max_tokens":1000000}"#).await;
    assert!(larger.is_error && larger.text().contains("more than this server sends"), "{}", larger.text());
}

#[tokio::test(start_paused = true)]
async fn a_tree_of_ten_thousand_levels_is_read_or_limited() {
    let mut xml = String::from("<hierarchy rotation=\"0\">");
    (0..10_000).for_each(|level| xml.push_str(&node(&level.to_string(), "")));
    (0..10_000).for_each(|_| xml.push_str("</node>"));
    xml.push_str("</hierarchy>");
    let tree = world_with(xml).await.tree().await;
    assert!(
        tree.contains("LimitReached") || fact(&tree, "of") == "10000",
        "SE-07: {}",
        &tree[..tree.len().min(600)]
    );
}

#[tokio::test(start_paused = true)]
async fn truncated_xml_and_bad_utf8_are_reported_as_defects() {
    let cut = format!("<hierarchy rotation=\"0\">{}<node text=\"lo", node("whole", " /"));
    let tree = world_with(cut).await.tree().await;
    assert!(tree.contains("\"whole\"") && tree.contains(r#""partial":true"#), "{tree}");

    let mut bytes = b"<hierarchy rotation=\"0\">".to_vec();
    bytes.extend(node("caf\u{e9}?", " /").replace('é', "\u{1}").into_bytes());
    bytes.extend(b"</hierarchy>");
    bytes.iter_mut().filter(|b| **b == 1).for_each(|b| *b = 0xff);
    let tree = world_with(bytes).await.tree().await;
    assert!(
        tree.contains("BadUtf8") && tree.contains(r#""partial":false"#) && tree.contains("caf\u{fffd}?"),
        "{tree}"
    );
}

#[tokio::test(start_paused = true)]
async fn empty_and_meaningless_dumps_are_refused() {
    assert_eq!(world_with("").await.code("get_ui_tree", "{}").await, "UI_TREE_UNAVAILABLE");
    assert_eq!(world_with("Segmentation fault").await.code("get_ui_tree", "{}").await, "UI_TREE_UNAVAILABLE");
    // A real screen always has elements, so an empty tree means that there was no window to read.
    let empty = world_with("<?xml version='1.0' ?><hierarchy rotation=\"0\"></hierarchy>").await;
    assert_eq!(empty.code("get_ui_tree", "{}").await, "NO_ROOT_WINDOW");
}
