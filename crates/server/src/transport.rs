//! One MCP message a line, in both directions, within limits (F62, F68): every request gets an answer, also one that
//! cannot be read; nothing more is read while the client does not take what was written.

use std::collections::{BTreeSet, VecDeque};
use std::future::Future;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::ErrorData;
use rmcp::model::{
    CancelledNotification, ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorCode,
    JsonRpcMessage, NumberOrString, RequestId, ServerJsonRpcMessage,
};
use rmcp::service::RoleServer;
use rmcp::transport::Transport;
use serde::Deserialize;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::secrets::Secrets;

/// One message of a client. A flow of many steps has a few kB; read into values it may take fifty times as much.
const LINE_BYTES_MAX: usize = 512 * 1024;
/// Requests that are worked on at the same time.
const RUNNING_MAX: usize = 32;
/// Requests that wait for their turn, and their bytes. Above this nothing more is read. What is not a request is taken
/// at once, so that a client can still cancel.
const WAITING_MAX: usize = 256;
/// Bytes of messages that wait; nothing more is read until some are answered.
const WAITING_BYTES_MAX: usize = 1024 * 1024;
/// Requests that last as long as a subscription. They do not count among the others.
const LISTENING_MAX: usize = 16;
/// Bytes that the client has not taken yet. Above this nothing more is read from it.
const UNTAKEN_BYTES_MAX: usize = 256 * 1024;

/// Methods with parameters. The protocol library takes such a request with wrong parameters for an unknown method.
const METHODS: [&str; 15] = [
    "initialize",
    "server/discover",
    "tools/call",
    "tools/list",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "resources/subscribe",
    "resources/unsubscribe",
    "subscriptions/listen",
    "prompts/list",
    "prompts/get",
    "completion/complete",
    "logging/setLevel",
    "ping",
];

pub struct LineTransport<R, W> {
    read: BufReader<R>,
    line: Vec<u8>,
    /// The rest of a message that is too long is skipped.
    skipping: bool,
    waiting: VecDeque<Waiting>,
    out: Arc<Out<W>>,
}

/// A request that waits until fewer are worked on.
struct Waiting {
    key: RequestKey,
    message: ClientJsonRpcMessage,
    bytes: usize,
}

/// The way to the client.
struct Out<W> {
    writer: tokio::sync::Mutex<W>,
    pending: Mutex<Pending>,
    /// Something was taken or answered.
    progressed: Notify,
    closed: CancellationToken,
    secrets: Secrets,
}

/// What the client has not got yet.
#[derive(Default)]
struct Pending {
    bytes: usize,
    running: BTreeSet<RequestKey>,
    listening: BTreeSet<RequestKey>,
}

impl Pending {
    fn is_taken(&self) -> bool {
        self.bytes <= UNTAKEN_BYTES_MAX
    }

    fn has_room(&self) -> bool {
        self.is_taken() && self.running.len() < RUNNING_MAX
    }
}

/// A request id that can be ordered.
type RequestKey = (Option<i64>, Arc<str>);

enum Line {
    Whole,
    /// It is longer than the limit; its beginning was kept.
    TooLong,
    End,
}

impl<R: AsyncRead + Unpin, W> LineTransport<R, W> {
    pub fn new(read: R, write: W, secrets: Secrets) -> LineTransport<R, W> {
        let out = Out {
            writer: tokio::sync::Mutex::new(write),
            pending: Mutex::default(),
            progressed: Notify::new(),
            closed: CancellationToken::new(),
            secrets,
        };
        LineTransport {
            read: BufReader::new(read),
            line: Vec::new(),
            skipping: false,
            waiting: VecDeque::new(),
            out: Arc::new(out),
        }
    }

    /// Cancelled when the client can no longer be written to. Cancelling it ends the connection.
    pub fn closed(&self) -> CancellationToken {
        self.out.closed.clone()
    }

    /// Reads a line into `self.line`. It may be dropped at any time and goes on where it was.
    async fn read_line(&mut self) -> io::Result<Line> {
        loop {
            let available = self.read.fill_buf().await?;
            if available.is_empty() {
                return Ok(Line::End);
            }
            let newline = available.iter().position(|byte| *byte == b'\n');
            let taken = newline.map_or(available.len(), |at| at + 1);
            let room = if self.skipping { 0 } else { (LINE_BYTES_MAX + 1).saturating_sub(self.line.len()) };
            self.line.extend_from_slice(&available[..taken.min(room)]);
            self.read.consume(taken);
            if self.line.len() > LINE_BYTES_MAX && !self.skipping {
                self.skipping = true;
            }
            if newline.is_some() {
                let too_long = std::mem::take(&mut self.skipping);
                return Ok(if too_long { Line::TooLong } else { Line::Whole });
            }
        }
    }
}

impl<R, W> LineTransport<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    /// Takes one line. Returns what the library has to hear at once; requests wait for their turn.
    fn take_line(&mut self, too_long: bool) -> Option<ClientJsonRpcMessage> {
        let line = std::mem::take(&mut self.line);
        if too_long {
            let text = format!("the message is longer than {LINE_BYTES_MAX} bytes");
            self.refuse(ErrorData::invalid_request(text, None), request_id(&line));
            return None;
        }
        let text = line.trim_ascii();
        let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
        if text.is_empty() {
            return None;
        }
        match serde_json::from_slice(text) {
            Ok(message) => self.admit(message, text.len()),
            Err(error) => {
                self.refuse(not_readable(&error, text), request_id(text));
                None
            }
        }
    }

    fn admit(&mut self, message: ClientJsonRpcMessage, bytes: usize) -> Option<ClientJsonRpcMessage> {
        match &message {
            JsonRpcMessage::Request(request) => {
                let key = key(&request.id);
                if let Some((refusal, id)) = self.refusal_of(&request.id, &key, &request.request) {
                    self.refuse(refusal, id);
                    return None;
                }
                match request.request {
                    ClientRequest::PingRequest(_) => return Some(message),
                    ClientRequest::SubscriptionsListenRequest(_) => {
                        self.out.pending().listening.insert(key);
                        return Some(message);
                    }
                    _ => self.waiting.push_back(Waiting { key, message, bytes }),
                }
                None
            }
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(CancelledNotification { params, .. }) =
                    &notification.notification
                    && let Some(id) = &params.request_id
                {
                    // A cancelled request is not answered.
                    self.out.forget(id);
                    let key = key(id);
                    self.waiting.retain(|waiting| waiting.key != key);
                }
                Some(message)
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => Some(message),
        }
    }

    /// Why a request is not passed on, with the id that the answer gets.
    fn refusal_of(
        &self,
        id: &RequestId,
        key: &RequestKey,
        request: &ClientRequest,
    ) -> Option<(ErrorData, Option<RequestId>)> {
        let pending = self.out.pending();
        let waits = self.waiting.iter().any(|waiting| waiting.key == *key);
        if waits || pending.running.contains(key) || pending.listening.contains(key) {
            // The library would answer one of the two. An answer with the id would be taken for that of the other.
            let text = format!("a request with the id {id} is being worked on");
            return Some((ErrorData::invalid_request(text, None), None));
        }
        if let ClientRequest::CustomRequest(custom) = request
            && let Some(refusal) = wrong_parameters(&custom.method)
        {
            return Some((refusal, Some(id.clone())));
        }
        let listens = matches!(request, ClientRequest::SubscriptionsListenRequest(_));
        (listens && pending.listening.len() >= LISTENING_MAX).then(|| {
            let text = format!("there are {LISTENING_MAX} such requests already");
            (ErrorData::invalid_request(text, None), Some(id.clone()))
        })
    }

    /// The next request that may be worked on.
    fn next_waiting(&mut self) -> Option<ClientJsonRpcMessage> {
        let mut pending = self.out.pending();
        if !pending.has_room() {
            return None;
        }
        let waiting = self.waiting.pop_front()?;
        pending.running.insert(waiting.key);
        Some(waiting.message)
    }

    fn refuse(&mut self, refusal: ErrorData, id: Option<RequestId>) {
        // In a task, because the reading may be dropped at any time, and half a message must not stay on the way.
        tokio::spawn(self.out.deliver(JsonRpcMessage::error(refusal, id)));
    }
}

impl<W> Out<W> {
    fn pending(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn forget(&self, id: &RequestId) {
        let key = key(id);
        let mut pending = self.pending();
        pending.running.remove(&key);
        pending.listening.remove(&key);
        drop(pending);
        self.progressed.notify_waiters();
    }

    /// Waits until `ready` holds of what is pending.
    async fn until(&self, ready: impl Fn(&Pending) -> bool) {
        loop {
            let progressed = self.progressed.notified();
            tokio::pin!(progressed);
            progressed.as_mut().enable();
            if ready(&self.pending()) {
                return;
            }
            progressed.await;
        }
    }
}

impl<W: AsyncWrite + Send + Unpin + 'static> Out<W> {
    /// Writes a message, once those before it are written.
    fn deliver(
        self: &Arc<Self>,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let out = Arc::clone(self);
        let answered = match &message {
            JsonRpcMessage::Response(response) => Some(response.id.clone()),
            JsonRpcMessage::Error(error) => error.id.clone(),
            _ => None,
        };
        let line = self.secrets.to_line(&message);
        drop(message);
        let size = line.as_ref().map_or(0, Vec::len);
        self.pending().bytes += size;
        async move {
            let written = match line {
                Ok(line) => out.write(&line, answered.as_ref()).await,
                Err(error) => Err(io::Error::other(error)),
            };
            out.pending().bytes -= size;
            out.progressed.notify_waiters();
            if written.is_err() {
                out.closed.cancel();
            }
            written
        }
    }

    async fn write(&self, line: &[u8], answered: Option<&RequestId>) -> io::Result<()> {
        let mut writer = self.writer.lock().await;
        // Before it is written: a client that has its answer may use the id again at once.
        if let Some(id) = answered {
            self.forget(id);
        }
        writer.write_all(line).await?;
        writer.flush().await
    }
}

impl<R, W> Transport<RoleServer> for LineTransport<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        self.out.deliver(message)
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        let out = Arc::clone(&self.out);
        loop {
            if let Some(message) = self.next_waiting() {
                return Some(message);
            }
            let bytes: usize = self.waiting.iter().map(|waiting| waiting.bytes).sum();
            let reads = self.waiting.len() < WAITING_MAX && bytes < WAITING_BYTES_MAX;
            let line = tokio::select! {
                biased;
                () = out.closed.cancelled() => return None,
                () = out.until(Pending::has_room), if !self.waiting.is_empty() => continue,
                line = async { out.until(Pending::is_taken).await; self.read_line().await }, if reads => line,
            };
            let too_long = match line {
                Ok(Line::Whole) => false,
                Ok(Line::TooLong) => true,
                // What was asked before the end is still answered.
                Ok(Line::End) if !self.waiting.is_empty() => {
                    out.until(Pending::has_room).await;
                    continue;
                }
                Ok(Line::End) | Err(_) => return None,
            };
            if let Some(message) = self.take_line(too_long) {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.out.writer.lock().await.shutdown().await
    }
}

/// What a request must have before its parameters count.
#[derive(Deserialize)]
struct Envelope {
    jsonrpc: String,
    #[serde(rename = "id")]
    _id: RequestId,
    method: String,
}

fn not_readable(error: &serde_json::Error, text: &[u8]) -> ErrorData {
    // The error's own text could repeat a secret out of the message.
    if error.classify() != serde_json::error::Category::Data {
        return ErrorData::parse_error(
            format!("the message is not valid JSON, at byte {}", error.column()),
            None,
        );
    }
    match serde_json::from_slice::<Envelope>(text) {
        Ok(request) if request.jsonrpc == "2.0" => match wrong_parameters(&request.method) {
            Some(refusal) => refusal,
            None => ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "there is no such method", None),
        },
        _ => ErrorData::invalid_request("this is no JSON-RPC 2.0 request", None),
    }
}

fn key(id: &RequestId) -> RequestKey {
    match id {
        NumberOrString::Number(number) => (Some(*number), Arc::from("")),
        NumberOrString::String(text) => (None, Arc::clone(text)),
    }
}

/// The refusal of parameters that a known method does not take.
pub fn wrong_parameters(method: &str) -> Option<ErrorData> {
    let known = METHODS.iter().find(|known| **known == method)?;
    let text = match *known {
        "tools/call" => "tools/call takes an object with `name` and `arguments`, which is an object",
        _ => "the parameters are not those of this method",
    };
    Some(ErrorData::invalid_params(text, None))
}

/// Finds the id of a request that cannot be read, or of which only the beginning is there.
fn request_id(line: &[u8]) -> Option<RequestId> {
    let (mut depth, mut at) = (0_usize, 0);
    while let Some(byte) = line.get(at) {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => {
                let end = at + 1 + string_length(&line[at + 1..])?;
                if depth == 1
                    && &line[at + 1..end] == b"id"
                    && let Some(value) = line[end + 1..].trim_ascii_start().strip_prefix(b":")
                {
                    return id_value(value.trim_ascii_start());
                }
                at = end;
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// Bytes before the quote that ends a string.
fn string_length(rest: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        match rest.get(at)? {
            b'"' => return Some(at),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

fn id_value(value: &[u8]) -> Option<RequestId> {
    let length = match value.strip_prefix(b"\"") {
        Some(rest) => string_length(rest)? + 2,
        None => value.iter().take_while(|byte| **byte == b'-' || byte.is_ascii_digit()).count(),
    };
    let ended = value.get(length).is_none_or(|next| matches!(next, b',' | b'}' | b' ' | b'\t' | b'\r'));
    if ended { serde_json::from_slice(&value[..length]).ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_of_a_broken_request_is_found() {
        // F68
        #[track_caller]
        fn check(line: &str, expected: Option<RequestId>) {
            assert_eq!(request_id(line.as_bytes()), expected, "{line}");
        }
        let number = |number| Some(NumberOrString::Number(number));
        check(r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"x":NaN}}"#, number(7));
        check(r#"{"params":{"id":1,"a":[{"id":2}]},"method":"id","id" : -3 }"#, number(-3));
        check(r#"{"a":"\"id\":4","id":5"#, number(5));
        check(r#"{"id":"a\"b","x":"#, Some(NumberOrString::String("a\"b".into())));
        check(r#"{"id":1.5}"#, None);
        check(r#"{"id":12"#, number(12));
        check(r#"{"id":null}"#, None);
        check(r#"{"id":"cut"#, None);
        check(r#"[{"id":1}]"#, None);
        check("", None);
        check("\"", None);
    }
}
