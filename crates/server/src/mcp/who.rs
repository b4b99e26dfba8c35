//! Who calls: the one client behind a pipe, a session over HTTP, or a client of the protocol without sessions.

use std::sync::{Arc, OnceLock};

use hyper::http::request::Parts;
use rmcp::service::{RequestContext, RoleServer};

use crate::app::App;
use crate::caller::Caller;
use crate::http::Admitted;

/// A client says by this header which of several with the same token and name it is.
const CLIENT_HEADER: &str = "mdm-client";
/// Characters of a client's name by which it is told from others.
const CLIENT_CHARS_MAX: usize = 200;

#[derive(Clone)]
pub enum Who {
    /// There is only one.
    Own,
    /// One of many; the session is made with the first call that belongs to one.
    Many(Arc<Session>),
}

/// A session over HTTP. Its devices are given back when the client ends it; one that had to make room for others keeps
/// them until their time is over, or opening sessions would be a way to take them.
pub struct Session {
    app: Arc<App>,
    caller: OnceLock<Arc<Caller>>,
}

impl Drop for Session {
    fn drop(&mut self) {
        if let Some(caller) = self.caller.get() {
            self.app.fleet.stop_logs(&caller.streams());
        }
    }
}

/// By what the caller of a session is known.
pub fn key_of_session(id: &str) -> String {
    format!("session {id}")
}

impl Who {
    pub fn many(app: &Arc<App>) -> Who {
        Who::Many(Arc::new(Session { app: Arc::clone(app), caller: OnceLock::new() }))
    }

    pub fn of(&self, app: &App, context: &RequestContext<RoleServer>) -> Arc<Caller> {
        let Who::Many(session) = self else { return Arc::clone(&app.own) };
        let parts = context.extensions.get::<Parts>();
        let header = |name: &str| parts.and_then(|parts| parts.headers.get(name)?.to_str().ok());
        let info = context.client_info();
        let name = info.as_ref().map_or("an unnamed client", |info| info.name.as_str());
        let admitted = parts.and_then(|parts| parts.extensions.get::<Admitted>());
        let token = admitted.and_then(|admitted| admitted.client.as_deref()).unwrap_or_default();
        if let Some(id) = admitted.and_then(|admitted| admitted.session.as_deref()) {
            // The id itself is what a client shows to be itself: nobody else is told it.
            let made = || Arc::new(Caller::new(key_of_session(id), name).let_in_as(token));
            return Arc::clone(session.caller.get_or_init(made));
        }
        let version = info.as_ref().map_or("", |info| info.version.as_str());
        let client = header(CLIENT_HEADER).unwrap_or_default();
        let bounded = |text: &str| text.chars().take(CLIENT_CHARS_MAX).collect::<String>();
        // Parts are told apart whatever is in them.
        let key = format!("{token:?} {:?} {:?} {:?}", bounded(name), bounded(version), bounded(client));
        let shown = if client.is_empty() { name.to_owned() } else { format!("{name} {client}") };
        app.callers.of(&key, &shown, token)
    }
}
