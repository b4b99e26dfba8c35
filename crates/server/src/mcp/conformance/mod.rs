//! What the official conformance suite wants a server to have, in front of the real one (MC-02). Only
//! `serve --http ADDRESS --conformance` serves it; what it does not know goes on to the real server.

mod asking;
mod prompts;
mod resources;
mod tools;

use std::sync::Arc;

use rmcp::ErrorData;
use rmcp::handler::server::ServerHandler;
#[allow(deprecated, reason = "clients before 2026-07-28 speak it")]
use rmcp::model::SetLevelRequestParams;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, GetPromptRequestParams,
    GetPromptResponse, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ServerConfig,
    SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, RoleServer, SubscriptionContext};
use tokio::sync::broadcast;

use super::McpServer;
use tools::Changed;

/// Changes that a subscriber may be behind.
const CHANGES_MAX: usize = 16;

/// One client's view of the suite's tools, prompts and resources and of the real server behind them.
#[derive(Clone)]
pub struct Conformance {
    real: McpServer,
    tables: Arc<Tables>,
    changes: broadcast::Sender<Changed>,
}

struct Tables {
    tools: Vec<tools::Fixture>,
    prompts: Vec<prompts::Fixture>,
    resources: resources::Fixtures,
}

impl Conformance {
    /// Fails only when a table that is part of this program cannot be read.
    pub fn before(real: McpServer) -> Result<Conformance, String> {
        let unreadable = |error: serde_json::Error| format!("a table for the conformance suite: {error}");
        let tables = Tables {
            tools: serde_json::from_str(include_str!("tools.json")).map_err(unreadable)?,
            prompts: serde_json::from_str(include_str!("prompts.json")).map_err(unreadable)?,
            resources: serde_json::from_str(include_str!("resources.json")).map_err(unreadable)?,
        };
        Ok(Conformance { real, tables: Arc::new(tables), changes: broadcast::Sender::new(CHANGES_MAX) })
    }

    #[must_use]
    pub fn for_another(&self) -> Conformance {
        Conformance { real: self.real.for_another(), ..self.clone() }
    }

    async fn changed(&self, context: &SubscriptionContext) {
        let (sink, mut changes) = (context.sink(), self.changes.subscribe());
        loop {
            let told = match changes.recv().await {
                Ok(Changed::Tools) => sink.notify_tool_list_changed().await,
                Ok(Changed::Prompts) => sink.notify_prompt_list_changed().await,
                Err(broadcast::error::RecvError::Lagged(_)) => continue,
                Err(broadcast::error::RecvError::Closed) => return,
            };
            // What this subscriber did not ask for is refused by the sink, and the next may be for it.
            drop(told);
        }
    }
}

impl ServerHandler for Conformance {
    fn get_info(&self) -> ServerConfig {
        let mut info = self.real.get_info();
        if let Some(tools) = &mut info.capabilities.tools {
            tools.list_changed = Some(true);
        }
        if let Some(prompts) = &mut info.capabilities.prompts {
            prompts.list_changed = Some(true);
        }
        info
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut all = self.real.list_tools(request, context).await?;
        all.tools.splice(..0, self.tables.tools.iter().map(tools::Fixture::listed));
        Ok(all)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let fixture = self.tables.tools.iter().find(|tool| tool.name == name);
        fixture.map_or_else(|| self.real.get_tool(name), |fixture| Some(fixture.listed()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        match self.tables.tools.iter().find(|tool| tool.name == request.name) {
            Some(tool) => tools::call(self, tool, request, &context).await,
            None => self.real.call_tool(request, context).await,
        }
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let mut all = self.real.list_prompts(request, context).await?;
        all.prompts.splice(..0, self.tables.prompts.iter().map(prompts::Fixture::listed));
        Ok(all)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        match self.tables.prompts.iter().find(|prompt| prompt.name == request.name) {
            Some(prompt) => prompts::get(self, prompt, request, &context),
            None => self.real.get_prompt(request, context).await,
        }
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let mut all = self.real.list_resources(request, context).await?;
        all.resources.splice(..0, self.tables.resources.listed.iter().cloned());
        Ok(all)
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let mut all = self.real.list_resource_templates(request, context).await?;
        all.resource_templates.splice(..0, self.tables.resources.templates.iter().cloned());
        Ok(all)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        match self.tables.resources.read(&request.uri) {
            Some(read) => Ok(read.into()),
            None => self.real.read_resource(request, context).await,
        }
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let asked = request.r#ref.as_prompt_name();
        if self.tables.prompts.iter().any(|prompt| Some(prompt.name.as_str()) == asked) {
            return Ok(CompleteResult::default());
        }
        self.real.complete(request, context).await
    }

    #[allow(deprecated, reason = "clients before 2026-07-28 speak it")]
    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.real.set_level(request, context).await
    }

    #[allow(deprecated, reason = "clients before 2026-07-28 speak it")]
    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if self.tables.resources.has(&request.uri) {
            return Ok(());
        }
        self.real.subscribe(request, context).await
    }

    #[allow(deprecated, reason = "clients before 2026-07-28 speak it")]
    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.real.unsubscribe(request, context).await
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        self.real.accepted_subscription_filter(requested)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        tokio::select! {
            () = context.cancelled() => Ok(()),
            () = self.changed(&context) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_can_be_read() {
        // MC-02
        let tools: Vec<tools::Fixture> = serde_json::from_str(include_str!("tools.json")).unwrap();
        let prompts: Vec<prompts::Fixture> = serde_json::from_str(include_str!("prompts.json")).unwrap();
        let resources: resources::Fixtures = serde_json::from_str(include_str!("resources.json")).unwrap();
        assert!(tools.iter().all(|tool| tool.name.starts_with("test_")));
        assert!(prompts.iter().all(|prompt| prompt.name.starts_with("test_")));
        assert!(resources.listed.iter().all(|listed| resources.read(&listed.uri).is_some()));
    }
}
