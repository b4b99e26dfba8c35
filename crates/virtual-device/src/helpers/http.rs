//! The part of HTTP/1.1 that helpers serve: bodies with a length, connections that stay open.

use bytes::{Buf, Bytes, BytesMut};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

const HEAD_BYTES_MAX: usize = 64 * 1024;
const HEADERS_MAX: usize = 100;
const BODY_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Requests that one connection may carry.
const REQUESTS_MAX: usize = 100_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    pub method: String,
    /// The path without its query.
    pub path: String,
    pub body: Bytes,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    pub status: u16,
    pub kind: &'static str,
    pub body: Bytes,
}

impl Response {
    pub fn json(status: u16, body: impl Into<Bytes>) -> Response {
        Response { status, kind: "application/json; charset=utf-8", body: body.into() }
    }

    pub fn text(status: u16, body: &'static str) -> Response {
        Response { status, kind: "text/plain", body: Bytes::from_static(body.as_bytes()) }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Malformed;

/// A connection to one client.
pub struct Connection {
    socket: DuplexStream,
    input: BytesMut,
    requests: usize,
}

impl Connection {
    pub fn new(socket: DuplexStream) -> Connection {
        Connection { socket, input: BytesMut::new(), requests: 0 }
    }

    /// Returns the next request; nothing when the client has gone, or sent something that is not HTTP and was told
    /// so.
    pub async fn next(&mut self) -> Option<Request> {
        self.requests += 1;
        if self.requests > REQUESTS_MAX {
            return None;
        }
        match receive(&mut self.socket, &mut self.input).await? {
            Ok(request) => Some(request),
            Err(Malformed) => {
                self.send(&Response::text(400, "Bad Request")).await;
                None
            }
        }
    }

    /// Sends a response; returns false when the client has gone.
    pub async fn send(&mut self, response: &Response) -> bool {
        self.socket.write_all(&encode(response)).await.is_ok()
    }
}

fn encode(response: &Response) -> Bytes {
    let reason = match response.status {
        200 => "OK",
        400 => "Bad Request",
        404 => "Not Found",
        _ => "Internal Server Error",
    };
    let head = format!(
        "HTTP/1.1 {} {reason}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: keep-alive\r\n\r\n",
        response.status,
        response.kind,
        response.body.len()
    );
    let mut out = BytesMut::with_capacity(head.len() + response.body.len());
    out.extend_from_slice(head.as_bytes());
    out.extend_from_slice(&response.body);
    out.freeze()
}

/// Receives the next request; nothing when the client has gone.
async fn receive(socket: &mut DuplexStream, input: &mut BytesMut) -> Option<Result<Request, Malformed>> {
    let mut head = loop {
        match parse_head(input) {
            Ok(Some(head)) => break head,
            Ok(None) if input.len() <= HEAD_BYTES_MAX => more(socket, input).await?,
            Ok(None) | Err(Malformed) => return Some(Err(Malformed)),
        }
    };
    input.advance(head.bytes);
    while input.len() < head.body_bytes {
        more(socket, input).await?;
    }
    head.request.body = input.split_to(head.body_bytes).freeze();
    Some(Ok(head.request))
}

async fn more(socket: &mut DuplexStream, input: &mut BytesMut) -> Option<()> {
    match socket.read_buf(input).await {
        Ok(0) | Err(_) => None,
        Ok(_) => Some(()),
    }
}

struct Head {
    /// The length of the head itself.
    bytes: usize,
    /// The request without its body.
    request: Request,
    body_bytes: usize,
}

/// Returns nothing while the head is not complete.
fn parse_head(input: &[u8]) -> Result<Option<Head>, Malformed> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut parsed = httparse::Request::new(&mut headers);
    let httparse::Status::Complete(bytes) = parsed.parse(input).map_err(|_| Malformed)? else {
        return Ok(None);
    };
    let (Some(method), Some(target)) = (parsed.method, parsed.path) else { return Err(Malformed) };
    if !target.starts_with('/') {
        return Err(Malformed);
    }
    let mut body_bytes = 0;
    for header in parsed.headers.iter() {
        if header.name.eq_ignore_ascii_case("transfer-encoding") {
            return Err(Malformed);
        }
        if header.name.eq_ignore_ascii_case("content-length") {
            let length = std::str::from_utf8(header.value).ok().and_then(|text| text.trim().parse().ok());
            body_bytes = length.filter(|bytes| *bytes <= BODY_BYTES_MAX).ok_or(Malformed)?;
        }
    }
    let path = target.split('?').next().unwrap_or(target).to_owned();
    let request = Request { method: method.to_owned(), path, body: Bytes::new() };
    Ok(Some(Head { bytes, request, body_bytes }))
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn talk(said: &[u8]) -> String {
        let (ours, mut theirs) = tokio::io::duplex(1024);
        let server = async {
            let mut connection = Connection::new(ours);
            while let Some(request) = connection.next().await {
                let body = [request.path.as_bytes(), b" ", &request.body].concat();
                assert!(connection.send(&Response::json(200, body)).await);
            }
        };
        let client = async {
            theirs.write_all(said).await.unwrap();
            theirs.shutdown().await.unwrap();
            let mut heard = String::new();
            theirs.read_to_string(&mut heard).await.unwrap();
            heard
        };
        tokio::join!(server, client).1
    }

    #[tokio::test]
    async fn two_requests_share_a_connection() {
        let heard =
            talk(b"POST /a?q=1 HTTP/1.1\r\nContent-Length: 2\r\n\r\nhiGET /b HTTP/1.1\r\nHost: x\r\n\r\n")
                .await;
        let bodies: Vec<&str> = heard.split("\r\n\r\n").collect();
        assert_eq!(heard.matches("HTTP/1.1 200 OK").count(), 2);
        assert!(bodies[1].starts_with("/a hi"), "{heard}");
        assert_eq!(bodies[2], "/b ");
    }

    #[tokio::test]
    async fn nonsense_is_refused_and_the_connection_closed() {
        for said in [
            &b"\x00\xff\r\n\r\n"[..],
            b"GET /a SPDY/3\r\n\r\n",
            b"POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n",
            b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
            b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        ] {
            assert!(talk(said).await.starts_with("HTTP/1.1 400 "), "{said:?}");
        }
    }

    #[tokio::test]
    async fn a_request_that_breaks_off_gets_no_answer() {
        assert_eq!(talk(b"POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nhi").await, "");
    }
}
