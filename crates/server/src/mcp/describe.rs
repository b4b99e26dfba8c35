//! Our tools and answers as the protocol writes them.

use std::sync::Arc;

use base64::Engine as _;
use rmcp::model::{CallToolResult, ContentBlock, Tool, ToolAnnotations};

use crate::answer::Answer;
use crate::tools::{Effect, Entry};

pub fn describe(entry: &Entry) -> Tool {
    // What is not said has the protocol's default: not read-only, destructive.
    let annotations = match entry.effect {
        Effect::ReadOnly => ToolAnnotations::new().read_only(true),
        Effect::Acts => ToolAnnotations::new().destructive(false),
        Effect::Destroys => ToolAnnotations::new().destructive(true),
    };
    let tool = Tool::new(entry.name, entry.description, Arc::new(entry.schema()));
    let tool = tool.with_title(title(entry.name)).with_annotations(annotations);
    match entry.output_schema() {
        Some(schema) => tool.with_raw_output_schema(Arc::new(schema)),
        None => tool,
    }
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

    #[test]
    fn titles_are_read_by_people() {
        assert_eq!(title("get_ui_tree"), "Get UI tree");
        assert_eq!(title("wait_for_ui"), "Wait for UI");
        assert_eq!(title("tap"), "Tap");
    }
}
