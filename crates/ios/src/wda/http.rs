//! Requests to WebDriverAgent over one kept connection.

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::{CONTENT_TYPE, HOST};
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::TokioIo;
use mdm_core::port::DeviceError;
use tokio::sync::Mutex;
use tokio_util::task::AbortOnDropHandle;

use super::start::NotStarted;
use crate::connect::Connector;

/// A screenshot as base64 is the longest answer.
const ANSWER_BYTES_MAX: usize = 96 * 1024 * 1024;

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lost {
    /// Nobody listens: nothing was sent.
    Unreachable(String),
    /// Nobody listens, and what could be done about it failed.
    NotStarted(DeviceError),
    /// It broke after the request was sent.
    Broken(String),
}

struct Connection {
    sender: SendRequest<Full<Bytes>>,
    _driver: AbortOnDropHandle<()>,
}

pub struct Http {
    connector: Connector,
    /// The address for people and for the Host header.
    address: String,
    kept: Mutex<Option<Connection>>,
}

impl Http {
    pub fn new(connector: Connector, address: String) -> Http {
        Http { connector, address, kept: Mutex::new(None) }
    }

    pub fn address(&self) -> &str {
        &self.address
    }

    /// Sends one request and reads its answer. WebDriverAgent handles one request after the other, so callers wait here.
    pub async fn ask(&self, method: Method, path: &str, body: Bytes) -> Result<(StatusCode, Bytes), Lost> {
        let mut kept = self.kept.lock().await;
        // Taken out, so that a request which is given up in the middle takes its connection with it.
        let connection = kept.take().filter(|connection| !connection.sender.is_closed());
        let mut connection = match connection {
            Some(connection) => connection,
            None => self.connect().await?,
        };
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(HOST, &self.address)
            .header(CONTENT_TYPE, "application/json; charset=utf-8")
            .body(Full::new(body))
            .map_err(|error| Lost::Unreachable(error.to_string()))?;
        connection.sender.ready().await.map_err(|error| Lost::Unreachable(error.to_string()))?;
        let broken = |error: &dyn std::fmt::Display| Lost::Broken(error.to_string());
        let answer = connection.sender.send_request(request).await.map_err(|error| broken(&error))?;
        let status = answer.status();
        let body = Limited::new(answer.into_body(), ANSWER_BYTES_MAX);
        let bytes = body.collect().await.map_err(|error| broken(&error))?.to_bytes();
        *kept = Some(connection);
        Ok((status, bytes))
    }

    async fn connect(&self) -> Result<Connection, Lost> {
        let unreachable = |error: &dyn std::fmt::Display| Lost::Unreachable(error.to_string());
        let stream = (self.connector)().await.map_err(|error| {
            let failed = error.get_ref().and_then(|told| told.downcast_ref::<NotStarted>());
            failed.map_or_else(|| unreachable(&error), |failed| Lost::NotStarted(failed.0.clone()))
        })?;
        let (sender, driver) =
            http1::handshake(TokioIo::new(stream)).await.map_err(|error| unreachable(&error))?;
        // Its end is told by the sender.
        let driver = tokio::spawn(async move { drop(driver.await) });
        Ok(Connection { sender, _driver: AbortOnDropHandle::new(driver) })
    }

    pub async fn close(&self) {
        *self.kept.lock().await = None;
    }
}
