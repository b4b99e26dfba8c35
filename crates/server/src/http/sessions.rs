//! Sessions of clients that speak a protocol before 2026-07-28: so many and no more. The one that was quiet longest makes
//! room for the next, so that nobody can lock others out by opening thousands (SE-07).

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::Stream;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::SessionManager;
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError,
};
use rmcp::transport::streamable_http_server::session::{ServerSseMessage, SessionId};

/// Sessions at the same time; the one that was quiet longest makes room for the next.
const SESSIONS_MAX: usize = 256;
/// An agent thinks between two calls, and its user answers it.
const QUIET_MAX: Duration = Duration::from_secs(30 * 60);

/// How long an answer is kept for a client whose connection broke before it had read it. There is no limit to how many
/// are kept meanwhile, so it is only a little longer than clients are told to wait before they come back.
const ANSWERED_KEPT: Duration = Duration::from_secs(10);

pub struct BoundedSessions {
    inner: LocalSessionManager,
    used: Mutex<Used>,
}

/// When each session was last used, counted in uses.
#[derive(Default)]
struct Used {
    clock: u64,
    last: BTreeMap<SessionId, Session>,
}

struct Session {
    used: u64,
    /// The name of the token with which it was opened, once that is noted.
    owner: Option<Option<String>>,
}

impl Default for BoundedSessions {
    fn default() -> BoundedSessions {
        let mut inner = LocalSessionManager::default();
        inner.session_config.keep_alive = Some(QUIET_MAX);
        inner.session_config.completed_cache_ttl = ANSWERED_KEPT;
        BoundedSessions { inner, used: Mutex::default() }
    }
}

impl BoundedSessions {
    fn used(&self) -> MutexGuard<'_, Used> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, id: &SessionId) {
        let mut used = self.used();
        used.clock += 1;
        let now = used.clock;
        used.last.entry(id.clone()).or_insert(Session { used: now, owner: None }).used = now;
    }

    /// A session belongs to the token with which it was opened.
    pub fn give(&self, id: &str, client: Option<String>) {
        if let Some(session) = self.used().last.get_mut(id) {
            session.owner.get_or_insert(client);
        }
    }

    /// True if this client opened the session; false if another did, or nobody.
    pub fn is_of(&self, id: &str, client: Option<&str>) -> bool {
        let used = self.used();
        let owner = used.last.get(id).and_then(|session| session.owner.as_ref());
        owner.is_some_and(|owner| owner.as_deref() == client)
    }

    /// The sessions that have to go for a new one.
    fn surplus(&self) -> Vec<SessionId> {
        let used = self.used();
        let mut oldest: Vec<_> = used.last.iter().map(|(id, session)| (session.used, id.clone())).collect();
        oldest.sort();
        let surplus = (oldest.len() + 1).saturating_sub(SESSIONS_MAX);
        oldest.into_iter().take(surplus).map(|(_, id)| id).collect()
    }

    /// Forgets those that ended by themselves.
    async fn forget_ended(&self) {
        let known: Vec<SessionId> = self.used().last.keys().cloned().collect();
        if known.len() < SESSIONS_MAX {
            return;
        }
        for id in known {
            if !self.inner.has_session(&id).await.unwrap_or(false) {
                self.used().last.remove(&id);
            }
        }
    }
}

impl SessionManager for BoundedSessions {
    type Error = LocalSessionManagerError;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        self.forget_ended().await;
        for id in self.surplus() {
            // It may have ended in the meantime.
            let _ = self.close_session(&id).await;
        }
        let created = self.inner.create_session().await?;
        self.note(&created.0);
        Ok(created)
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        self.inner.initialize_session(id, message).await
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        let has = self.inner.has_session(id).await?;
        if has {
            self.note(id);
        }
        Ok(has)
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        self.used().last.remove(id);
        self.inner.close_session(id).await
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.inner.create_stream(id, message).await
    }

    async fn accept_message(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Result<(), Self::Error> {
        self.inner.accept_message(id, message).await
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.inner.create_standalone_stream(id).await
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.inner.resume(id, last_event_id).await
    }
}
