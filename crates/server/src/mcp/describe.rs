//! Our tools and answers as the protocol writes them.

use std::sync::Arc;

use base64::Engine as _;
use rmcp::model::{CallToolResult, ContentBlock, Tool, ToolAnnotations};

use crate::answer::Answer;
use crate::tools::{Effect, Entry};

pub fn describe(entry: &Entry) -> Tool {
    let tool = Tool::new(entry.name, entry.description, Arc::new(entry.schema()));
    let tool = tool.with_title(title(entry.name)).with_annotations(annotations(entry));
    match entry.output_schema() {
        Some(schema) => tool.with_raw_output_schema(Arc::new(schema)),
        None => tool,
    }
}

/// What is not said has the protocol's default: not read-only, destructive, not idempotent, of an open world. A tap is all
/// of these: nobody knows what an app does with it.
fn annotations(entry: &Entry) -> ToolAnnotations {
    let said = match (entry.effect, entry.hints) {
        (Effect::ReadOnly, hints) if !hints.writes => ToolAnnotations::new().read_only(true),
        (_, hints) if hints.only_adds => ToolAnnotations::new().destructive(false),
        (Effect::Destroys, _) => ToolAnnotations::new().destructive(true),
        _ => ToolAnnotations::new(),
    };
    if entry.hints.idempotent { said.idempotent(true) } else { said }
}

/// `get_ui_tree` is titled "Get UI tree".
fn title(name: &str) -> String {
    let words = name.replace('_', " ").replace(" ui", " UI");
    let mut letters = words.chars();
    letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect()
}

/// The text is always there. Clients that prefer structured content show nothing else of an answer, so only those
/// answers have it of which it says everything.
pub fn to_result(entry: &Entry, answer: Answer) -> CallToolResult {
    let mut content = vec![ContentBlock::text(answer.text())];
    let structured = entry.has_output_schema().then(|| answer.structured()).flatten();
    if let Some(image) = answer.image {
        let data = base64::engine::general_purpose::STANDARD.encode(&image.bytes);
        content.push(ContentBlock::image(data, image.mime_type));
    }
    if answer.is_error {
        return CallToolResult::error(content);
    }
    let mut result = CallToolResult::success(content);
    result.structured_content = structured;
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools;

    #[test]
    fn annotations_are_true() {
        // MC-01: who is told that a call is harmless does not ask before it
        let of = |choose: fn(&ToolAnnotations) -> bool| -> Vec<&str> {
            let listed = tools::TOOLS.iter().filter(|entry| choose(&annotations(entry)));
            listed.map(|entry| entry.name).collect()
        };
        let read_only = [
            "list_devices",
            "get_system_status",
            "get_ui_tree",
            "find_element",
            "get_current_screen",
            "capture_screenshot",
            "expect_element_visible",
            "expect_state",
            "expect_screen",
            "wait_for_ui",
            "wait_for_ui_change",
            "get_logs",
            "read_log_stream",
            "get_crash",
            "classify_action_outcome",
        ];
        assert_eq!(of(|said| said.read_only_hint == Some(true)), read_only);
        // Starting and scrolling take nothing away; the others write only files that were not there.
        let only_adds = [
            "use_device",
            "start_app",
            "capture_debug_snapshot",
            "get_network_activity",
            "scroll_to_element",
            "read_list",
        ];
        assert_eq!(of(|said| said.destructive_hint == Some(false)), only_adds);
        assert_eq!(
            of(|said| said.idempotent_hint == Some(true)),
            ["use_device", "set_device", "adjust_control"]
        );
    }

    #[test]
    fn titles_are_read_by_people() {
        assert_eq!(title("get_ui_tree"), "Get UI tree");
        assert_eq!(title("wait_for_ui"), "Wait for UI");
        assert_eq!(title("tap"), "Tap");
    }
}
