//! The protocol as the predecessor spoke it: what it announced, and results without marks of ours.

use std::sync::Arc;

use base64::Engine as _;
use rmcp::model::{CallToolResult, ContentBlock, Implementation, ServerCapabilities, ServerConfig, Tool};

use crate::compat::{Block, Rendered, TOOLS};
use crate::offer::Offer;

/// Tools and resources, and no instructions: those are about answers of ours.
pub fn config() -> ServerConfig {
    let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().build();
    let name = Implementation::new("mobile-debug-mcp", env!("CARGO_PKG_VERSION"));
    ServerConfig::new(capabilities).with_server_info(name)
}

/// The predecessor's tools in its order. The others are answered and not listed.
pub fn tools(offer: &Offer) -> Vec<Tool> {
    let offered = TOOLS.iter().filter_map(|name| offer.find(name));
    offered.map(|entry| Tool::new(entry.name, entry.description, Arc::new(entry.schema()))).collect()
}

/// Only a call that was refused is marked as an error; what did not come true was said in the answer.
pub fn to_result(rendered: Rendered) -> CallToolResult {
    let content = rendered.blocks.into_iter().map(|block| match block {
        Block::Text(text) => ContentBlock::text(text),
        Block::Image(image) => {
            let data = base64::engine::general_purpose::STANDARD.encode(&image.bytes);
            ContentBlock::image(data, image.mime_type)
        }
    });
    let content = content.collect();
    if rendered.is_refused { CallToolResult::error(content) } else { CallToolResult::success(content) }
}
