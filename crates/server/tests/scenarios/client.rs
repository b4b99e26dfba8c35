//! An MCP client on a pipe to the server. It reads exactly what an agent reads.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use mobile_debug_mcp::args::JsonObject;
use mobile_debug_mcp::mcp;
use rmcp::model::{
    CallToolRequestParams, ReadResourceRequestParams, ResourceContents, ResourceUpdatedNotificationParam,
    SubscribeRequestParams, UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, RoleClient, RunningService};
use rmcp::{ClientHandler, ServiceExt as _};
use serde::Deserialize;
use serde_json::Value;

use crate::world::World;

const PIPE_BYTES: usize = 64 * 1024;

/// The resources for which the server sent a change notification.
#[derive(Clone, Default)]
struct Heard(Arc<Mutex<Vec<String>>>);

impl ClientHandler for Heard {
    async fn on_resource_updated(
        &self,
        params: ResourceUpdatedNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.0.lock().unwrap().push(params.uri);
    }
}

pub struct Client {
    service: RunningService<RoleClient, Heard>,
    heard: Heard,
}

/// The text of an answer, and its error flag.
pub struct Reply {
    pub text: String,
    pub is_error: bool,
}

impl Reply {
    fn well(text: String) -> Reply {
        Reply { text, is_error: false }
    }
}

/// The arguments of calls to resources instead of tools.
#[derive(Deserialize)]
struct ResourceArg {
    #[serde(default)]
    uri: String,
    #[serde(default)]
    ms: u64,
}

impl Client {
    pub async fn of(world: &World) -> Client {
        let (ours, theirs) = tokio::io::duplex(PIPE_BYTES);
        let app = Arc::clone(&world.app);
        tokio::spawn(async move {
            let (read, write) = tokio::io::split(theirs);
            mcp::serve(app, read, write, std::future::pending()).await.expect("a client");
        });
        let heard = Heard::default();
        let service = heard.clone().serve(tokio::io::split(ours)).await.expect("a server");
        Client { service, heard }
    }

    /// Calls a tool, or `resources/subscribe`, `resources/unsubscribe` or `resources/read` with a `uri`, or `listen`.
    #[expect(deprecated, reason = "the requests of clients before 2026-07-28")]
    pub async fn ask(&self, what: &str, arguments: JsonObject) -> Result<Reply, String> {
        if what != "listen" && !what.starts_with("resources/") {
            return self.call(what, arguments).await;
        }
        let argument: ResourceArg =
            serde_json::from_value(Value::Object(arguments)).map_err(|e| e.to_string())?;
        let uri = argument.uri;
        let done = match what {
            "resources/subscribe" => self.service.subscribe(SubscribeRequestParams::new(uri)).await,
            "resources/unsubscribe" => self.service.unsubscribe(UnsubscribeRequestParams::new(uri)).await,
            "resources/read" => return self.read(uri).await,
            "listen" => return Ok(Reply::well(self.listen(argument.ms).await)),
            other => return Err(format!("nobody knows how to ask for {other}")),
        };
        Ok(match done {
            Ok(()) => Reply::well("{}".to_owned()),
            Err(error) => Reply { text: error.to_string(), is_error: true },
        })
    }

    async fn call(&self, tool: &str, arguments: JsonObject) -> Result<Reply, String> {
        let request = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let answer = self.service.call_tool(request).await.map_err(|e| e.to_string())?;
        let texts = answer.content.iter().filter_map(|block| block.as_text());
        let text = texts.map(|text| text.text.as_str()).collect::<Vec<_>>().join("\n");
        Ok(Reply { text, is_error: answer.is_error == Some(true) })
    }

    async fn read(&self, uri: String) -> Result<Reply, String> {
        let read = self.service.read_resource(ReadResourceRequestParams::new(uri)).await;
        let contents = read.map_err(|e| e.to_string())?.contents;
        let texts = contents.iter().filter_map(|contents| match contents {
            ResourceContents::TextResourceContents { text, .. } => Some(text.as_str()),
            _ => None,
        });
        Ok(Reply::well(texts.collect::<Vec<_>>().join("\n")))
    }

    /// The notifications since the last call and in the next `ms` milliseconds.
    async fn listen(&self, ms: u64) -> String {
        tokio::time::sleep(Duration::from_millis(ms)).await;
        let heard = std::mem::take(&mut *self.heard.0.lock().unwrap());
        if heard.is_empty() {
            return "(nothing)".to_owned();
        }
        heard
            .iter()
            .map(|uri| format!("notifications/resources/updated {uri}"))
            .collect::<Vec<_>>()
            .join("\n")
    }
}
