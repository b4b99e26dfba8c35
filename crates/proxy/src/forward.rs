//! One request: who caused it, what a rule makes of it, and what the server answers.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::header::{CONNECTION, HOST, HeaderMap, HeaderName, HeaderValue, TE, TRANSFER_ENCODING, UPGRADE};
use hyper::http::uri::{Authority, Scheme};
use hyper::{Method, Request, Response, StatusCode, Uri, Version};
use hyper_util::rt::TokioIo;
use tokio_util::sync::CancellationToken;

use crate::body::{self, Body, Recorded, Side};
use crate::connect;
use crate::record::{self, Kind, Record, Tls};
use crate::rules::{Answer, Effect};
use crate::serve::{Head, Shared};

/// How long a server may take to begin its answer.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(120);
/// Bytes of a request's body that are read for an answer of a rule's own.
const DRAINED_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Characters of an error that are kept.
const ERROR_CHARS_MAX: usize = 300;

/// Ends a connection without an answer.
#[derive(Debug)]
pub struct Cut;

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the connection was cut by a rule")
    }
}

impl std::error::Error for Cut {}

/// What a request inside an opened connection is asked of.
#[derive(Debug, Clone)]
pub struct Scope {
    pub authority: Authority,
    pub host: String,
}

/// Answers a request that is not `CONNECT`: one that names its server, or one inside an opened connection.
pub async fn exchange(
    shared: Arc<Shared>,
    scope: Option<Scope>,
    request: Request<Incoming>,
    stop: CancellationToken,
) -> Result<Response<Body>, Cut> {
    let Some((uri, host)) = absolute(request.uri(), scope.as_ref()) else {
        let is_own = request.uri().path() == crate::IDENTITY_PATH && request.method() == Method::GET;
        return Ok(match is_own {
            true => plain(StatusCode::OK, shared.token.clone()),
            false => plain(StatusCode::BAD_REQUEST, "this is a proxy: ask it for http:// addresses\n"),
        });
    };
    if let Some(scope) = &scope {
        shared.note_request(&scope.host);
    }
    let head = Head { method: request.method().to_string(), url: uri.to_string(), host };
    let entry = Entry::begin(&shared, &head, &request, scope.is_some());
    let Some((rule, rule_said)) = shared.rules.take(&head, &entry.cause) else {
        return Ok(pass(shared, entry, request, uri, stop).await);
    };
    entry.change(|record| record.rule = Some(rule));
    tokio::time::sleep(Duration::from_millis(rule_said.delay_ms)).await;
    match rule_said.effect {
        Effect::Pass => Ok(pass(shared, entry, request, uri, stop).await),
        Effect::Cut => Err(entry.cut("cut by a rule")),
        Effect::Offline => Err(entry.cut("offline by a rule")),
        Effect::Answer(answer) => Ok(answer_by_rule(shared, entry, request, answer).await),
    }
}

/// The whole address of what is asked, and its host.
fn absolute(uri: &Uri, scope: Option<&Scope>) -> Option<(Uri, String)> {
    let mut parts = uri.clone().into_parts();
    match scope {
        Some(scope) => {
            parts.scheme = Some(Scheme::HTTPS);
            parts.authority = Some(scope.authority.clone());
        }
        None if uri.scheme() == Some(&Scheme::HTTP) => {}
        None => return None,
    }
    let uri = Uri::from_parts(parts).ok()?;
    let host = uri.host()?.trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
    Some((uri, host))
}

/// An exchange that is being recorded. One that is dropped before its answer was handed on says so.
struct Entry {
    shared: Arc<Shared>,
    id: u64,
    cause: crate::Cause,
    is_done: bool,
}

impl Entry {
    fn begin(shared: &Arc<Shared>, head: &Head, request: &Request<Incoming>, is_opened: bool) -> Entry {
        let cause = shared.ask_cause(head);
        let mut record = Record::new(Kind::Request, &head.method, &head.url, cause.clone(), shared.now_ms());
        record.version = version(request.version());
        record.request.headers = record::headers(request.headers());
        record.tls = if is_opened { Tls::Opened } else { Tls::None };
        let id = shared.store.begin(record);
        Entry { shared: Arc::clone(shared), id, cause, is_done: false }
    }

    fn change(&self, change: impl FnOnce(&mut Record)) {
        self.shared.store.change(self.id, change);
    }

    fn fail(&mut self, error: &str) {
        self.is_done = true;
        let now_ms = self.shared.now_ms();
        self.change(|record| {
            record.ended_ms = Some(now_ms);
            record.error.get_or_insert_with(|| error.chars().take(ERROR_CHARS_MAX).collect());
        });
    }

    fn cut(mut self, why: &str) -> Cut {
        self.fail(why);
        Cut
    }

    fn answered(&mut self, status: StatusCode, headers: &HeaderMap) {
        self.is_done = true;
        let now_ms = self.shared.now_ms();
        let headers = record::headers(headers);
        self.change(|record| {
            record.answered_ms = Some(now_ms);
            record.active_ms = now_ms;
            record.status = Some(status.as_u16());
            record.response.headers = headers;
        });
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        if !self.is_done {
            self.fail("the client went away before the answer");
        }
    }
}

async fn pass(
    shared: Arc<Shared>,
    mut entry: Entry,
    mut request: Request<Incoming>,
    uri: Uri,
    stop: CancellationToken,
) -> Response<Body> {
    let upgrade = upgrade_of(request.headers());
    let client_side = upgrade.as_ref().map(|_| hyper::upgrade::on(&mut request));
    let outgoing = outgoing(&shared, entry.id, request, uri, upgrade);
    let client = if client_side.is_some() { &shared.client_http1 } else { &shared.client };
    let answer = match tokio::time::timeout(ANSWER_TIME_MAX, client.request(outgoing)).await {
        Ok(Ok(answer)) => answer,
        Ok(Err(error)) => {
            let error = chain(&error);
            entry.fail(&error);
            return plain(StatusCode::BAD_GATEWAY, format!("the proxy could not pass this on: {error}\n"));
        }
        Err(_) => {
            let error = format!("the server did not answer within {} s", ANSWER_TIME_MAX.as_secs());
            entry.fail(&error);
            return plain(StatusCode::GATEWAY_TIMEOUT, error);
        }
    };
    entry.answered(answer.status(), answer.headers());
    match client_side {
        Some(client_side) if answer.status() == StatusCode::SWITCHING_PROTOCOLS => {
            switch(shared, entry.id, client_side, answer, stop)
        }
        _ => incoming(&shared, entry.id, answer),
    }
}

/// What goes to the server: the same request without what is meant for this connection only.
fn outgoing(
    shared: &Arc<Shared>,
    id: u64,
    request: Request<Incoming>,
    uri: Uri,
    upgrade: Option<HeaderValue>,
) -> Request<Body> {
    let (mut parts, body) = request.into_parts();
    let authority = uri.authority().map(|authority| authority.as_str().to_owned());
    parts.uri = uri;
    parts.version = Version::HTTP_11;
    drop_hop_headers(&mut parts.headers);
    if !parts.headers.contains_key(HOST)
        && let Some(host) = authority.and_then(|authority| HeaderValue::from_str(&authority).ok())
    {
        parts.headers.insert(HOST, host);
    }
    if let Some(upgrade) = upgrade {
        parts.headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
        parts.headers.insert(UPGRADE, upgrade);
    }
    let body = Recorded::new(body, Arc::clone(shared), id, Side::Request);
    Request::from_parts(parts, body.boxed())
}

fn incoming(shared: &Arc<Shared>, id: u64, answer: Response<Incoming>) -> Response<Body> {
    let (mut parts, body) = answer.into_parts();
    drop_hop_headers(&mut parts.headers);
    parts.version = Version::HTTP_11;
    let body = Recorded::new(body, Arc::clone(shared), id, Side::Response);
    Response::from_parts(parts, body.boxed())
}

/// Hands a connection over that speaks another protocol from here on, such as a WebSocket.
fn switch(
    shared: Arc<Shared>,
    id: u64,
    client_side: hyper::upgrade::OnUpgrade,
    mut answer: Response<Incoming>,
    stop: CancellationToken,
) -> Response<Body> {
    let server_side = hyper::upgrade::on(&mut answer);
    let cut = shared.cut_token();
    tokio::spawn(async move {
        let copied = async {
            let (client, server) = tokio::try_join!(client_side, server_side).ok()?;
            connect::copy(&shared, id, TokioIo::new(client), TokioIo::new(server)).await;
            Some(())
        };
        tokio::select! {
            () = stop.cancelled() => {}
            () = cut.cancelled() => {}
            _ = copied => {}
        }
        let now_ms = shared.now_ms();
        shared.store.change(id, |record| record.ended_ms = Some(now_ms));
    });
    let (parts, _) = answer.into_parts();
    Response::from_parts(parts, body::empty())
}

async fn answer_by_rule(
    shared: Arc<Shared>,
    mut entry: Entry,
    request: Request<Incoming>,
    answer: Answer,
) -> Response<Body> {
    // The body is read as a server would read it; one that breaks off is the client's own affair.
    let mut body = Recorded::new(request.into_body(), Arc::clone(&shared), entry.id, Side::Request);
    let mut drained_bytes = 0;
    while drained_bytes < DRAINED_BYTES_MAX
        && let Some(Ok(frame)) = body.frame().await
    {
        drained_bytes += frame.data_ref().map_or(0, bytes::Bytes::len);
    }
    let mut response = Response::new(body::empty());
    *response.status_mut() = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::OK);
    for (name, value) in &answer.headers {
        // Both were checked when the rule was made.
        if let (Ok(name), Ok(value)) = (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(value))
        {
            response.headers_mut().append(name, value);
        }
    }
    drop_hop_headers(response.headers_mut());
    response.headers_mut().remove(hyper::header::CONTENT_LENGTH);
    entry.answered(response.status(), response.headers());
    let bytes = bytes::Bytes::from(answer.body);
    let body = Recorded::new(http_body_util::Full::new(bytes), shared, entry.id, Side::Response);
    response.map(|_| body.boxed())
}

/// The protocol that an upgrade asks for.
fn upgrade_of(headers: &HeaderMap) -> Option<HeaderValue> {
    let asks =
        |value: &HeaderValue| value.to_str().is_ok_and(|text| text.to_ascii_lowercase().contains("upgrade"));
    headers.get_all(CONNECTION).iter().any(asks).then(|| headers.get(UPGRADE).cloned()).flatten()
}

/// RFC 9110, 7.6.1: what is meant for one connection only, and all that `Connection` names.
fn drop_hop_headers(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| HeaderName::from_bytes(name.trim().as_bytes()).ok())
        .collect();
    for name in named {
        headers.remove(name);
    }
    for name in [CONNECTION, TE, TRANSFER_ENCODING, UPGRADE] {
        headers.remove(name);
    }
    for name in ["proxy-connection", "proxy-authorization", "proxy-authenticate", "keep-alive"] {
        headers.remove(name);
    }
}

pub fn plain(status: StatusCode, text: impl Into<bytes::Bytes>) -> Response<Body> {
    let mut response = Response::new(body::full(text));
    *response.status_mut() = status;
    response
}

/// An error with all that caused it.
pub fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        let more = error.to_string();
        if !text.ends_with(&more) {
            text.push_str(": ");
            text.push_str(&more);
        }
        source = error.source();
    }
    text
}

fn version(version: Version) -> &'static str {
    match version {
        Version::HTTP_10 => "HTTP/1.0",
        Version::HTTP_2 => "HTTP/2",
        _ => "HTTP/1.1",
    }
}
