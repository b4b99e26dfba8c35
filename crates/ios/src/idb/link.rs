//! One HTTP/2 connection, and what was learnt of the companion behind it.

use std::collections::BTreeSet;
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use hyper::body::Incoming;
use hyper::client::conn::http2::{self, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use mdm_core::port::{DeviceError, DeviceErrorKind};
use mdm_wire::idb::TreeFormat;
use tonic::body::Body;
use tower_service::Service;

use crate::connect::Connector;

/// Bytes that the companion may send before we have read them, of one call and of all.
const WINDOW_BYTES: u32 = 4 * 1024 * 1024;

pub struct Link {
    connector: Connector,
    /// Held while a connection is made, so that calls at the same time share one.
    open: tokio::sync::Mutex<Option<SendRequest<Body>>>,
    learnt: Mutex<Learnt>,
}

/// What this companion cannot do. Forgotten with the connection: the next companion may be another.
#[derive(Debug, Default)]
struct Learnt {
    missing: BTreeSet<&'static str>,
    tree_format: Option<TreeFormat>,
}

impl Link {
    pub fn new(connector: Connector) -> Link {
        Link { connector, open: tokio::sync::Mutex::default(), learnt: Mutex::default() }
    }

    /// Returns the connection, made anew if it is known to be broken. Nothing has been sent by then.
    pub async fn channel(&self) -> Result<Channel, DeviceError> {
        let mut open = self.open.lock().await;
        if let Some(sender) = open.as_ref().filter(|sender| !sender.is_closed()) {
            return Ok(Channel(sender.clone()));
        }
        *open = None;
        *self.learnt() = Learnt::default();
        let offline = |why: &dyn std::fmt::Display| {
            DeviceError::new(
                DeviceErrorKind::Offline,
                format!("idb's companion cannot be reached ({why}); is it running for this simulator?"),
            )
        };
        let stream = (self.connector)().await.map_err(|error| offline(&error))?;
        let mut client = http2::Builder::new(TokioExecutor::new());
        client
            .timer(TokioTimer::new())
            .initial_stream_window_size(WINDOW_BYTES)
            .initial_connection_window_size(WINDOW_BYTES);
        let (sender, connection) =
            client.handshake(TokioIo::new(stream)).await.map_err(|error| offline(&error))?;
        // It ends with the last sender, or with an error that the calls on it get too.
        tokio::spawn(connection);
        *open = Some(sender.clone());
        Ok(Channel(sender))
    }

    pub async fn close(&self) {
        *self.open.lock().await = None;
    }

    pub fn is_missing(&self, method: &'static str) -> bool {
        self.learnt().missing.contains(method)
    }

    pub fn set_missing(&self, method: &'static str) {
        self.learnt().missing.insert(method);
    }

    /// The best format that the companion has, once it is known.
    pub fn tree_format(&self) -> Option<TreeFormat> {
        self.learnt().tree_format
    }

    pub fn set_tree_format(&self, format: TreeFormat) {
        self.learnt().tree_format = Some(format);
    }

    fn learnt(&self) -> MutexGuard<'_, Learnt> {
        self.learnt.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection as tonic wants it.
pub struct Channel(SendRequest<Body>);

impl Service<hyper::Request<Body>> for Channel {
    type Response = hyper::Response<Incoming>;
    type Error = hyper::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, hyper::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), hyper::Error>> {
        self.0.poll_ready(context)
    }

    fn call(&mut self, request: hyper::Request<Body>) -> Self::Future {
        Box::pin(self.0.send_request(request))
    }
}
