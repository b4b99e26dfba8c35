//! A client of MCP over HTTP: one session, with one call at a time.

use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::{ACCEPT, CONTENT_TYPE, HOST};
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde::Serialize;
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::answer::{Answer, Message};

/// Far behind the end of every call: a call that takes longer is a finding.
const ANSWER_MAX: Duration = Duration::from_secs(200);
const ANSWER_BYTES_MAX: usize = 4 * 1024 * 1024;
const SESSION: &str = "mcp-session-id";
const PROTOCOL: &str = "2025-11-25";

/// Why there is no answer. Each of these is a finding.
#[derive(Debug)]
pub struct Lost(pub String);

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn lost(what: &str, error: &dyn fmt::Display) -> Lost {
    Lost(format!("{what}: {error}"))
}

/// A session, on one connection at a time.
pub struct Client {
    address: SocketAddr,
    /// Begins every id of a request, so that an answer to somebody else's is noticed.
    pub name: String,
    session: String,
    number: u64,
    connection: Option<SendRequest<Full<Bytes>>>,
}

#[derive(Serialize)]
struct Rpc<'a, P> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    method: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    params: Option<P>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Initialize<'a> {
    protocol_version: &'static str,
    capabilities: Nothing,
    client_info: Info<'a>,
}

#[derive(Serialize)]
struct Nothing {}

#[derive(Serialize)]
struct Info<'a> {
    name: &'a str,
    version: &'static str,
}

#[derive(Serialize)]
struct Call<'a, A> {
    name: &'a str,
    arguments: A,
}

impl Client {
    pub async fn start(address: SocketAddr, name: &str) -> Result<Client, Lost> {
        let (name, session) = (name.to_owned(), String::new());
        let mut client = Client { address, name, session, number: 0, connection: None };
        let client_info = Info { name: &client.name.clone(), version: "1" };
        let params = Initialize { protocol_version: PROTOCOL, capabilities: Nothing {}, client_info };
        let id = client.next_id();
        let response = client.post(Some(&id), "initialize", Some(params)).await?;
        let session = response.headers().get(SESSION).and_then(|value| value.to_str().ok());
        let session = session.ok_or_else(|| Lost("initialize gave no session".to_owned()))?;
        session.clone_into(&mut client.session);
        client.read(&id, response).await?;
        let told = client.post(None, "notifications/initialized", None::<Nothing>).await?;
        let status = told.status();
        drain(told).await?;
        match status {
            StatusCode::ACCEPTED => Ok(client),
            other => Err(Lost(format!("the end of the handshake was answered {other}"))),
        }
    }

    /// Closes the connection, whatever runs on it.
    pub fn hang_up(&mut self) {
        self.connection = None;
    }

    fn next_id(&mut self) -> String {
        self.number += 1;
        format!("{}/{}", self.name, self.number)
    }

    pub async fn call(&mut self, tool: &str, arguments: impl Serialize) -> Result<Answer, Lost> {
        let id = self.next_id();
        let response = self.post(Some(&id), "tools/call", Some(Call { name: tool, arguments })).await?;
        let message = self.read(&id, response).await?;
        match (message.result, message.error) {
            (Some(result), _) => Ok(Answer::of(result)),
            (None, error) => {
                let words = error.map(|error| error.message).unwrap_or_default();
                Err(Lost(format!("{id} {tool} was answered with an error of the protocol: {words}")))
            }
        }
    }

    pub async fn ping(&mut self) -> Result<(), Lost> {
        let id = self.next_id();
        let response = self.post(Some(&id), "ping", None::<Nothing>).await?;
        self.read(&id, response).await.map(drop)
    }

    async fn post<P: Serialize>(
        &mut self,
        id: Option<&str>,
        method: &str,
        params: Option<P>,
    ) -> Result<Response<hyper::body::Incoming>, Lost> {
        let rpc = Rpc { jsonrpc: "2.0", id, method, params };
        let body = serde_json::to_vec(&rpc).map_err(|error| lost("a request", &error))?;
        let mut request = Request::post("/mcp")
            .header(HOST, self.address.to_string())
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "application/json, text/event-stream");
        if !self.session.is_empty() {
            request = request.header(SESSION, &self.session).header("mcp-protocol-version", PROTOCOL);
        }
        let request =
            request.body(Full::new(Bytes::from(body))).map_err(|error| lost("a request", &error))?;
        let sending = async {
            let connection = self.connected().await?;
            connection.send_request(request).await.map_err(|error| lost(method, &error))
        };
        let sent = timeout(ANSWER_MAX, sending).await;
        sent.map_err(|_| Lost(format!("{method}: no answer in {ANSWER_MAX:?}")))?
    }

    async fn connected(&mut self) -> Result<&mut SendRequest<Full<Bytes>>, Lost> {
        let usable = match &mut self.connection {
            Some(connection) => connection.ready().await.is_ok(),
            None => false,
        };
        if !usable {
            let stream =
                TcpStream::connect(self.address).await.map_err(|error| lost("connecting", &error))?;
            stream.set_nodelay(true).map_err(|error| lost("connecting", &error))?;
            let made = http1::handshake(TokioIo::new(stream)).await;
            let (sender, driver) = made.map_err(|error| lost("connecting", &error))?;
            // It ends with the sender; a call on it hears of a failure.
            tokio::spawn(async move { drop(driver.await) });
            self.connection = Some(sender);
        }
        self.connection.as_mut().ok_or_else(|| Lost("no connection".to_owned()))
    }

    /// Reads the answer to one request. An answer to any other is a finding.
    async fn read(&mut self, id: &str, response: Response<hyper::body::Incoming>) -> Result<Message, Lost> {
        let status = response.status();
        let body = timeout(ANSWER_MAX, drain(response)).await;
        let body = body.map_err(|_| Lost(format!("{id}: no whole answer in {ANSWER_MAX:?}")))??;
        let text = String::from_utf8_lossy(&body);
        if status != StatusCode::OK {
            return Err(Lost(format!("{id}: {status} {}", text.trim_end())));
        }
        answer_to(id, &text)
    }
}

/// The one answer to this request. An answer to any other is a finding.
fn answer_to(id: &str, text: &str) -> Result<Message, Lost> {
    let mut found = None;
    for message in messages(text) {
        let message: Message =
            serde_json::from_str(message).map_err(|error| lost(id, &format!("{error} in {message:.200}")))?;
        match &message.id {
            Some(other) if other != id => {
                return Err(Lost(format!("{id} was given the answer to {other}")));
            }
            Some(_) if found.is_some() => return Err(Lost(format!("{id} was answered twice"))),
            Some(_) => found = Some(message),
            None => {}
        }
    }
    found.ok_or_else(|| Lost(format!("{id}: no answer in {:.200}", text.trim_end())))
}

async fn drain(response: Response<hyper::body::Incoming>) -> Result<Bytes, Lost> {
    let body = Limited::new(response.into_body(), ANSWER_BYTES_MAX).collect().await;
    body.map(|body| body.to_bytes()).map_err(|error| lost("reading an answer", &error))
}

/// The messages of a body, which is one message or a stream of events.
fn messages(body: &str) -> impl Iterator<Item = &str> {
    let is_one = body.trim_start().starts_with('{');
    let lines = body.lines().filter_map(|line| line.strip_prefix("data:")).map(str::trim);
    let one = is_one.then_some(body.trim());
    one.into_iter().chain(lines.filter(move |line| !is_one && !line.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_result_of_another_client_is_no_answer() {
        let result = |id: &str| format!(r#"data: {{"id":"{id}","result":{{"content":[]}}}}"#);
        assert!(answer_to("c1/2", &result("c1/2")).is_ok());
        assert!(answer_to("c1/2", &result("c2/2")).is_err(), "another client");
        assert!(answer_to("c1/2", &result("c1/1")).is_err(), "an earlier call");
        assert!(answer_to("c1/2", &format!("{}\n\n{}", result("c1/2"), result("c1/2"))).is_err(), "twice");
        assert!(answer_to("c1/2", ": ping\n\n").is_err(), "none");
    }

    #[test]
    fn messages_are_found_in_both_forms_of_a_body() {
        assert_eq!(messages("{\"id\":\"1\"}\n").collect::<Vec<_>>(), ["{\"id\":\"1\"}"]);
        let events = "id: 0\ndata: \n\nid: 1\ndata: {\"a\":1}\n\n: ping\n\ndata:{\"b\":2}\n\n";
        assert_eq!(messages(events).collect::<Vec<_>>(), ["{\"a\":1}", "{\"b\":2}"]);
    }
}
