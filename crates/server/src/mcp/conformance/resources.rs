//! Resources of the suite.

use rmcp::model::{CacheScope, ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
use serde::Deserialize;

use crate::mcp::TOOLS_TTL_MS;

#[derive(Deserialize)]
pub struct Fixtures {
    pub listed: Vec<Resource>,
    pub templates: Vec<ResourceTemplate>,
    contents: Vec<ResourceContents>,
}

impl Fixtures {
    pub fn has(&self, uri: &str) -> bool {
        self.listed.iter().any(|listed| listed.uri == uri)
    }

    pub fn read(&self, uri: &str) -> Option<ReadResourceResult> {
        let known = self.contents.iter().find(|contents| uri_of(contents) == Some(uri)).cloned();
        let contents = known.or_else(|| about_an_id(uri))?;
        let read = ReadResourceResult::new(vec![contents]);
        Some(read.with_ttl_ms(TOOLS_TTL_MS).with_cache_scope(CacheScope::Public))
    }
}

fn uri_of(contents: &ResourceContents) -> Option<&str> {
    match contents {
        ResourceContents::TextResourceContents { uri, .. }
        | ResourceContents::BlobResourceContents { uri, .. } => Some(uri),
        _ => None,
    }
}

/// The one template: `test://template/{id}/data`.
fn about_an_id(uri: &str) -> Option<ResourceContents> {
    #[derive(serde::Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Data<'a> {
        id: &'a str,
        template_test: bool,
        data: String,
    }
    let id = uri.strip_prefix("test://template/")?.strip_suffix("/data")?;
    let data = Data { id, template_test: true, data: format!("Data for ID: {id}") };
    let text = serde_json::to_string(&data).ok()?;
    Some(ResourceContents::text(text, uri).with_mime_type("application/json"))
}
