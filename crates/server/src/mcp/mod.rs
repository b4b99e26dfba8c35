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
use mdm_core::failure::{Cause, Failure};
use rmcp::ErrorData;
use rmcp::handler::server::ServerHandler;
#[allow(deprecated, reason = "clients before 2026-07-28 speak it")]
use rmcp::model::SetLevelRequestParams;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams,
    CompleteResult, CompletionInfo, CustomRequest, CustomResult, ErrorCode, GetPromptRequestParams,
    GetPromptResponse, Implementation, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse,
    ResourceUpdatedNotificationParam, ServerCapabilities, ServerConfig, SubscribeRequestParams,
    SubscriptionFilter, Tool, UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, RoleServer, ServiceExt as _, SubscriptionContext};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::app::App;
use crate::args::JsonObject;
use crate::caller::Caller;
use crate::http::SessionEnded;
use crate::refusal::Refusal;
use crate::resource::Resource;
use crate::subscribe::{SUBSCRIPTIONS_MAX, Subscriptions, Watcher};
use crate::tools::{By, Entry};
use crate::transport::{self, LineTransport};
use confirm::{Asked, Questions, Reply};
use progress::{Teller, Wanted};
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

/// Gives back what the client of a session holds when it has ended it.
pub fn when_a_session_ends(app: &Arc<App>) -> SessionEnded {
    let app = Arc::clone(app);
    Arc::new(move |id| app.leases.release(&who::key_of_session(id)))
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

    /// Makes a call that a person agreed to, if one has to.
    async fn asked_and_answered(
        &self,
        entry: &'static Entry,
        request: CallToolRequestParams,
        by: By,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let reply =
            Reply { responses: request.input_responses.as_ref(), state: request.request_state.as_deref() };
        match self.consent(entry, &arguments, reply, &by.caller, context).await {
            Ok(Asked::Agreed) => Ok(self.answer(entry, arguments, by).await.into()),
            Ok(Asked::Back(question)) => Ok(question.into()),
            Err(refusal) => {
                let refused = entry.refusing(&self.app, &arguments, &by, &refusal);
                if self.app.compat {
                    return Ok(compat::to_result(crate::compat::refused(entry, &refusal)).into());
                }
                Ok(describe::to_result(entry, refused).into())
            }
        }
    }

    /// Asks a person first, where the policy wants that.
    async fn consent(
        &self,
        entry: &'static Entry,
        arguments: &JsonObject,
        reply: Reply<'_>,
        caller: &Caller,
        context: &RequestContext<RoleServer>,
    ) -> Result<Asked, Refusal> {
        let Some(question) = self.app.policy.question(entry, arguments) else { return Ok(Asked::Agreed) };
        // The same call has the same arguments in the same order: clients send them back as they were.
        let call = format!("{} {}", entry.name, serde_json::to_string(arguments).unwrap_or_default());
        let asking = confirm::ask(&self.questions, &question, call, reply, caller, context);
        // A call that was cancelled is not begun by an answer that comes after that.
        let asked = tokio::select! {
            biased;
            () = context.ct.cancelled() => Err(Failure::new(Cause::Cancelled, "the call was cancelled").into()),
            asked = asking => asked,
        };
        match asked {
            Err(_) if self.app.policy.may_do_without_asking() && !can_ask(context) => Ok(Asked::Agreed),
            asked => asked,
        }
    }
}

fn can_ask(context: &RequestContext<RoleServer>) -> bool {
    context.client_capabilities().is_some_and(|can| can.elicitation.is_some())
}

impl McpServer {
    fn may_watch(&self, resource: &Resource) -> bool {
        let (tool, arguments) = resource.reader();
        resource.can_be_watched()
            && self.app.policy.allows_device(&resource.device)
            && self.app.shows_freely(tool, &arguments)
    }
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
            .with_instructions(instructions(&self.app.offer, self.app.settles))
    }

    /// A request of a method that there is comes here too when its parameters are wrong.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let unknown = || ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "there is no such method", None);
        Err(transport::wrong_parameters(&request.method).unwrap_or_else(unknown))
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
        let Ok(_running) = self.app.running.try_acquire() else {
            let message = "too many calls are worked on; try again in a second";
            return Err(ErrorData::internal_error(message, None));
        };
        let by = By::new(&self.app, self.who.of(&self.app, &context), context.ct.clone());
        let call = by.call;
        // It listens before the call begins, so that it hears of the beginning.
        let wanted = Wanted { progress: context.meta.get_progress_token(), log: self.log_level.of(&context) };
        let is_told = wanted.anything();
        let teller = is_told.then(|| Teller::new(self.app.fleet.bus().listen(), call, wanted, &context));
        let answer = self.asked_and_answered(entry, request, by, &context);
        let Some(mut teller) = teller else { return answer.await };
        let answer = tokio::select! {
            biased;
            answer = answer => answer,
            never = teller.go_on() => match never {},
        };
        teller.end().await;
        answer
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
        let all = ListResourceTemplatesResult::with_all_items(resources::templates(&self.app));
        Ok(all.with_ttl_ms(TOOLS_TTL_MS).with_cache_scope(CacheScope::Public))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        // To read is not to work with a device: the next call goes where it would have gone.
        let caller = self.who.of(&self.app, &context).beside();
        let by = By::new(&self.app, caller, context.ct);
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
        let all = ListPromptsResult::with_all_items(prompts::list(&self.app.offer));
        Ok(all.with_ttl_ms(TOOLS_TTL_MS).with_cache_scope(CacheScope::Public))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        prompts::get(&self.app.offer, &request.name, &request.arguments.unwrap_or_default()).map(Into::into)
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        if let Some(name) = request.r#ref.as_prompt_name() {
            prompts::check_argument(&self.app.offer, name, &request.argument.name)?;
        }
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
        let full = |refusal: Refusal| ErrorData::invalid_request(refusal.failure.message, None);
        let Some(ended) = reserved.map_err(full)? else { return Ok(()) };
        let place = ended.clone();
        match Watcher::begin(Arc::clone(&self.app), resource, ended).await {
            Ok(watcher) => {
                tokio::spawn(watcher.run(move || {
                    let (peer, param) = (peer.clone(), ResourceUpdatedNotificationParam::new(uri.clone()));
                    async move { peer.notify_resource_updated(param).await.is_ok() }
                }));
                Ok(())
            }
            Err(failure) => {
                place.cancel();
                self.subscriptions.forget_ended(&uri);
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
            uris.retain(|uri| Resource::parse(uri).is_ok_and(|resource| self.may_watch(&resource)));
            uris.truncate(SUBSCRIPTIONS_MAX);
        }
        Some(accepted)
    }

    /// Protocols from 2026-07-28: one request that lasts as long as the subscription.
    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let uris = context.accepted().resource_subscriptions.clone().unwrap_or_default();
        let (sink, mut watchers) = (context.sink(), Vec::new());
        for uri in uris {
            let Ok(resource) = Resource::parse(&uri) else { continue };
            // Two requests for the same resource are two subscriptions here.
            let place = self.subscriptions.place(format!("{} {uri}", sink.id()));
            let full = |refusal: Refusal| ErrorData::invalid_request(refusal.failure.message, None);
            let place = place.map_err(full)?;
            let begun = tokio::select! {
                () = context.cancelled() => return Ok(()),
                begun = Watcher::begin(Arc::clone(&self.app), resource, place.ended.clone()) => begun,
            };
            // One device that is away does not end what is heard of the others.
            if let Ok(watcher) = begun {
                watchers.push((place, uri, watcher));
            }
        }
        if watchers.is_empty() {
            context.cancelled().await;
            return Ok(());
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

/// That there is no such resource has a code of its own, which is the one of the client's protocol.
fn no_resource(uri: &str, refusal: &Refusal) -> ErrorData {
    let message = format!("{}; {}", refusal.failure.message, refusal.hint.text());
    let data = resources::named(uri);
    match refusal.failure.cause {
        Cause::InvalidArgument | Cause::DeviceNotFound => ErrorData::resource_not_found(message, data),
        Cause::Forbidden => ErrorData::invalid_params(message, data),
        _ => ErrorData::internal_error(message, data),
    }
}
