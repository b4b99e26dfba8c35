//! The Model Context Protocol over this program's tools. Nothing else in the program knows MCP.

mod compat;
mod completion;
mod confirm;
pub mod conformance;
mod describe;
mod instructions;
mod logging;
mod progress;
mod prompts;
mod resources;
mod who;

use std::future::Future;
use std::sync::{Arc, OnceLock};

use futures_util::future::join_all;
use rmcp::ErrorData;
use rmcp::handler::server::ServerHandler;
#[allow(deprecated, reason = "clients before 2026-07-28 speak it")]
use rmcp::model::SetLevelRequestParams;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams,
    CompleteResult, CompletionInfo, ErrorCode, GetPromptRequestParams, GetPromptResponse, Implementation,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse,
    ResourceUpdatedNotificationParam, ServerCapabilities, ServerConfig, SubscribeRequestParams,
    SubscriptionFilter, Tool, UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, RoleServer, ServiceExt as _, SubscriptionContext};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::app::App;
use crate::args::JsonObject;
use crate::caller::Caller;
use crate::refusal::Refusal;
use crate::resource::Resource;
use crate::subscribe::{SUBSCRIPTIONS_MAX, Subscriptions, Watcher};
use crate::tools::{By, Entry};
use crate::transport::LineTransport;
use confirm::{Asked, Questions, Reply};
use progress::Wanted;
use who::Who;

pub use describe::describe;
pub use instructions::instructions;

/// The list never changes while the process lives.
const TOOLS_TTL_MS: u64 = 3_600_000;

/// Serves one client until it ends its side, can no longer be written to, or `hung_up` is there.
pub async fn serve<R, W>(
    app: Arc<App>,
    read: R,
    write: W,
    hung_up: impl Future<Output = ()>,
) -> Result<(), String>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let transport = LineTransport::new(read, write, app.secrets.clone());
    let closed = transport.closed();
    let served = async {
        // A client that goes away before it has said hello is not an error of ours.
        let running =
            McpServer::alone(app).serve(transport).await.map_err(|e| format!("no MCP client: {e}"))?;
        running.waiting().await.map(drop).map_err(|e| e.to_string())
    };
    // Nobody would hear of what is done from then on, so nothing more is done.
    tokio::select! {
        biased;
        () = hung_up => Ok(()),
        () = closed.cancelled() => Ok(()),
        served = served => served,
    }
}

/// The server as one client sees it.
#[derive(Clone)]
pub struct McpServer {
    app: Arc<App>,
    listed: Arc<OnceLock<Vec<Tool>>>,
    subscriptions: Arc<Subscriptions>,
    questions: Arc<Questions>,
    log_level: logging::Level,
    who: Who,
}

impl McpServer {
    /// For the one client of this process.
    pub fn alone(app: Arc<App>) -> McpServer {
        let (listed, subscriptions, questions) = (Arc::default(), Arc::default(), Arc::default());
        McpServer {
            app,
            listed,
            subscriptions,
            questions,
            log_level: logging::Level::default(),
            who: Who::Own,
        }
    }

    /// For another session, or another request where the protocol has no sessions.
    #[must_use]
    pub fn for_another(&self) -> McpServer {
        let log_level = logging::Level::default();
        McpServer { subscriptions: Arc::default(), log_level, who: Who::many(&self.app), ..self.clone() }
    }

    /// Built once, when a client first asks.
    fn tools(&self) -> &[Tool] {
        self.listed.get_or_init(|| match self.app.compat {
            true => compat::tools(&self.app.offer),
            false => self.app.listed_tools().map(describe).collect(),
        })
    }

    /// Makes the call and writes its answer, in the form that this server was started with.
    async fn answer(&self, entry: &'static Entry, arguments: JsonObject, by: By) -> CallToolResult {
        if self.app.compat {
            return compat::to_result(crate::compat::call(&self.app, entry, arguments, by).await);
        }
        describe::to_result(entry, entry.call_by(&self.app, arguments, by).await)
    }

    /// Asks a person first, where the policy wants that.
    async fn consent(
        &self,
        entry: &Entry,
        arguments: &JsonObject,
        reply: Reply<'_>,
        caller: &Caller,
        context: &RequestContext<RoleServer>,
    ) -> Result<Asked, Refusal> {
        let Some(question) = self.app.policy.question(entry, arguments) else { return Ok(Asked::Agreed) };
        // The same call has the same arguments in the same order: clients send them back as they were.
        let call = format!("{} {}", entry.name, serde_json::to_string(arguments).unwrap_or_default());
        let asked = confirm::ask(&self.questions, &question, call, reply, caller, context).await;
        match asked {
            Err(_) if self.app.policy.may_do_without_asking() && !can_ask(context) => Ok(Asked::Agreed),
            asked => asked,
        }
    }
}

fn can_ask(context: &RequestContext<RoleServer>) -> bool {
    context.client_capabilities().is_some_and(|can| can.elicitation.is_some())
}

impl ServerHandler for McpServer {
    #[allow(deprecated, reason = "most clients still have a log of this kind")]
    fn get_info(&self) -> ServerConfig {
        if self.app.compat {
            return compat::config();
        }
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_prompts()
            .enable_completions()
            .enable_logging()
            .build();
        let name = Implementation::new("mobile-debug-mcp", env!("CARGO_PKG_VERSION"));
        ServerConfig::new(capabilities)
            .with_server_info(name)
            .with_instructions(instructions(&self.app.offer))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let all = ListToolsResult::with_all_items(self.tools().to_vec());
        if self.app.compat {
            return Ok(all);
        }
        Ok(all.with_ttl_ms(TOOLS_TTL_MS).with_cache_scope(CacheScope::Public))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(entry) = self.app.offer.find(&request.name) else {
            let message = format!("this server offers no tool {:.100?}", request.name);
            return Err(ErrorData::invalid_params(message, None));
        };
        let arguments = request.arguments.unwrap_or_default();
        let reply =
            Reply { responses: request.input_responses.as_ref(), state: request.request_state.as_deref() };
        let call = self.app.next_call();
        let by = By { caller: self.who.of(&self.app, &context), cancelled: context.ct.clone(), call };
        match self.consent(entry, &arguments, reply, &by.caller, &context).await {
            Ok(Asked::Agreed) => {}
            Ok(Asked::Back(question)) => return Ok(question.into()),
            Err(refusal) => {
                let refused = entry.refusing(&self.app, &arguments, &by, &refusal);
                return Ok(describe::to_result(entry, refused).into());
            }
        }
        // It listens before the call begins, so that it hears of the beginning.
        let wanted = Wanted { progress: context.meta.get_progress_token(), log: self.log_level.of(&context) };
        let listening = wanted.anything().then(|| (wanted, self.app.fleet.bus().listen()));
        let answer = self.answer(entry, arguments, by);
        let answer = match listening {
            None => answer.await,
            Some((wanted, listener)) => tokio::select! {
                biased;
                answer = answer => answer,
                never = progress::tell(listener, call, wanted, &context) => match never {},
            },
        };
        Ok(answer.into())
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.tools().iter().find(|tool| tool.name == name).cloned()
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        if self.app.compat {
            return Ok(ListResourcesResult::with_all_items(Vec::new()));
        }
        let all = ListResourcesResult::with_all_items(resources::list(&self.app, context.ct).await);
        Ok(all.with_ttl_ms(0).with_cache_scope(CacheScope::Private))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        if self.app.compat {
            return Ok(ListResourceTemplatesResult::with_all_items(Vec::new()));
        }
        let all = ListResourceTemplatesResult::with_all_items(resources::templates());
        Ok(all.with_ttl_ms(TOOLS_TTL_MS).with_cache_scope(CacheScope::Public))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let by = By {
            caller: self.who.of(&self.app, &context),
            cancelled: context.ct.clone(),
            call: self.app.next_call(),
        };
        resources::read(&self.app, request.uri, by).await.map(Into::into)
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        if self.app.compat {
            return Err(ErrorData::new(
                ErrorCode::METHOD_NOT_FOUND,
                "there are no prompts with --compat",
                None,
            ));
        }
        let all = ListPromptsResult::with_all_items(prompts::list());
        Ok(all.with_ttl_ms(TOOLS_TTL_MS).with_cache_scope(CacheScope::Public))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        prompts::get(&request.name, &request.arguments.unwrap_or_default()).map(Into::into)
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let caller = self.who.of(&self.app, &context);
        let device = request.context.as_ref().and_then(|known| {
            ["device_id", "device"].into_iter().find_map(|name| known.get_argument(name)).cloned()
        });
        let (name, begun) = (&request.argument.name, &request.argument.value);
        let fitting =
            completion::complete(&self.app, &caller, name, begun, device.as_deref(), context.ct).await;
        let total = u32::try_from(fitting.len()).ok();
        let more = fitting.len() > completion::VALUES_MAX;
        let values = fitting.into_iter().take(completion::VALUES_MAX).collect();
        let info = CompletionInfo::with_pagination(values, total, more);
        info.map(CompleteResult::new).map_err(|problem| ErrorData::internal_error(problem, None))
    }

    /// Protocols before 2026-07-28; later each request names its own level.
    #[allow(deprecated, reason = "most clients still speak them")]
    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.log_level.set(request.level);
        Ok(())
    }

    /// Protocols before 2026-07-28.
    #[allow(deprecated, reason = "most clients still speak them")]
    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let (uri, peer) = (request.uri, context.peer);
        let resource = Resource::parse(&uri).map_err(|refusal| no_resource(&uri, &refusal))?;
        let reserved = self.subscriptions.reserve(&uri);
        let Some(ended) = reserved.map_err(|refusal| no_resource(&uri, &refusal))? else { return Ok(()) };
        match Watcher::begin(Arc::clone(&self.app), resource, ended).await {
            Ok(watcher) => {
                tokio::spawn(watcher.run(move || {
                    let (peer, param) = (peer.clone(), ResourceUpdatedNotificationParam::new(uri.clone()));
                    async move { peer.notify_resource_updated(param).await.is_ok() }
                }));
                Ok(())
            }
            Err(failure) => {
                self.subscriptions.end(&uri);
                Err(no_resource(&uri, &failure))
            }
        }
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.subscriptions.end(&request.uri);
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        let mut accepted = requested.clone();
        if let Some(uris) = &mut accepted.resource_subscriptions {
            uris.retain(|uri| Resource::parse(uri).is_ok());
            uris.truncate(SUBSCRIPTIONS_MAX);
        }
        Some(accepted)
    }

    /// Protocols from 2026-07-28: one request that lasts as long as the subscription.
    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let uris = context.accepted().resource_subscriptions.clone().unwrap_or_default();
        let (sink, mut watchers) = (context.sink(), Vec::new());
        for uri in uris {
            let resource = Resource::parse(&uri).map_err(|refusal| no_resource(&uri, &refusal))?;
            // Two requests for the same resource are two subscriptions here.
            let place = self.subscriptions.place(format!("{} {uri}", sink.id()));
            let place = place.map_err(|refusal| no_resource(&uri, &refusal))?;
            let begun = tokio::select! {
                () = context.cancelled() => return Ok(()),
                begun = Watcher::begin(Arc::clone(&self.app), resource, place.ended.clone()) => begun,
            };
            let begun = begun.map_err(|refusal| no_resource(&uri, &refusal))?;
            watchers.push((place, uri, begun));
        }
        let (_places, running): (Vec<_>, Vec<_>) = watchers
            .into_iter()
            .map(|(place, uri, watcher)| {
                let tell = move || {
                    let (sink, uri) = (sink.clone(), uri.clone());
                    async move { sink.notify_resource_updated(uri).await.is_ok() }
                };
                (place, watcher.run(tell))
            })
            .unzip();
        tokio::select! {
            () = context.cancelled() => {}
            _ = join_all(running) => {}
        }
        Ok(())
    }
}

/// The code is the one that the client's protocol has for it.
fn no_resource(uri: &str, refusal: &Refusal) -> ErrorData {
    let message = format!("{}; {}", refusal.failure.message, refusal.hint.text());
    ErrorData::resource_not_found(message, resources::named(uri))
}
