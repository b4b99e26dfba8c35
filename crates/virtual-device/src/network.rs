//! Real requests of the phone's apps: plain HTTP/1.1, one request a connection.

use std::io;

use bytes::BytesMut;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Duration, timeout};

use crate::app::{Answer, Request};
use crate::phone::Phone;

/// From connecting to the last byte: what the usual client waits for a silent server.
const REQUEST_LIMIT: Duration = Duration::from_secs(10);
const HEAD_BYTES_MAX: usize = 64 * 1024;
const BODY_BYTES_MAX: usize = 1024 * 1024;
const CHUNK_LINE_BYTES_MAX: usize = 1024;
const READ_BYTES: usize = 16 * 1024;

trait Wire: AsyncRead + AsyncWrite + Unpin + Send {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send> Wire for T {}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Url {
    host: String,
    port: u16,
    path: String,
}

impl Url {
    /// Nothing when it is no plain `http://` address.
    pub fn parse(url: &str) -> Option<Url> {
        let rest = url.strip_prefix("http://")?;
        if rest.chars().any(|c| c.is_whitespace() || c.is_control()) {
            return None;
        }
        let cut = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(cut);
        let path = path.split('#').next().unwrap_or_default();
        let (host, port) = match authority.rsplit_once(':').filter(|(_, port)| !port.ends_with(']')) {
            Some((host, port)) => (host, port.parse().ok()?),
            None => (authority, 80),
        };
        let host = host.trim_start_matches('[').trim_end_matches(']');
        if host.is_empty() || host.contains('@') {
            return None;
        }
        let slash = if path.starts_with('/') { "" } else { "/" };
        Some(Url { host: host.to_owned(), port, path: format!("{slash}{path}") })
    }

    /// The address on the phone itself, where a reverse forward may listen.
    pub fn on_the_phone(&self) -> Option<String> {
        let own = matches!(self.host.as_str(), "localhost" | "127.0.0.1" | "::1");
        own.then(|| format!("tcp:{}", self.port))
    }
}

pub async fn ask(phone: &Phone, request: &Request) -> Answer {
    match timeout(REQUEST_LIMIT, exchange(phone, request)).await {
        Ok(Ok(answer)) => answer,
        Ok(Err(why)) => Answer::Failed(why),
        Err(_) => Answer::Failed("java.net.SocketTimeoutException: timeout".to_owned()),
    }
}

async fn exchange(phone: &Phone, request: &Request) -> Result<Answer, String> {
    let url = Url::parse(&request.url).ok_or_else(|| {
        format!("java.lang.IllegalArgumentException: this phone speaks plain http only, not {}", request.url)
    })?;
    let Url { host, port, path } = &url;
    let mut wire = connect(phone, &url)
        .await
        .map_err(|_| format!("java.net.ConnectException: Failed to connect to /{host}:{port}"))?;
    let Request { method, body, .. } = request;
    let name = if host.contains(':') { format!("[{host}]") } else { host.clone() };
    let mut head = format!(
        "{method} {path} HTTP/1.1\r\nHost: {name}:{port}\r\nConnection: close\r\nUser-Agent: okhttp/4.12.0\r\n"
    );
    if !body.is_empty() || matches!(method.as_str(), "POST" | "PUT" | "PATCH") {
        head.push_str(&format!(
            "Content-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\n",
            body.len()
        ));
    }
    let lost = |error: io::Error| format!("java.io.IOException: {error}");
    wire.write_all(format!("{head}\r\n{body}").as_bytes()).await.map_err(lost)?;
    wire.flush().await.map_err(lost)?;
    read_answer(&mut Reader { wire, input: BytesMut::new() }, method).await
}

async fn connect(phone: &Phone, url: &Url) -> io::Result<Box<dyn Wire>> {
    if let Some(address) = url.on_the_phone().filter(|address| phone.reverse().contains(address)) {
        return Ok(Box::new(phone.connect_from_device(&address).await?));
    }
    Ok(Box::new(TcpStream::connect((url.host.as_str(), url.port)).await?))
}

struct Reader {
    wire: Box<dyn Wire>,
    input: BytesMut,
}

const CUT: &str = "java.io.IOException: unexpected end of stream";
const BAD: &str = "java.net.ProtocolException: the answer is no HTTP";

impl Reader {
    async fn more(&mut self) -> Result<bool, String> {
        self.input.reserve(READ_BYTES);
        let read = self.wire.read_buf(&mut self.input).await;
        read.map(|count| count > 0).map_err(|error| format!("java.io.IOException: {error}"))
    }

    /// Everything up to and without `end`.
    async fn until(&mut self, end: &[u8], most: usize) -> Result<Vec<u8>, String> {
        loop {
            if let Some(at) = self.input.windows(end.len()).position(|window| window == end) {
                let found = self.input.split_to(at + end.len());
                return Ok(found[..at].to_vec());
            }
            if self.input.len() > most {
                return Err(format!("{BAD}: a line or head is longer than {most} bytes"));
            }
            if !self.more().await? {
                return Err(CUT.to_owned());
            }
        }
    }

    async fn exactly(&mut self, count: usize, body: &mut Vec<u8>) -> Result<(), String> {
        if body.len().saturating_add(count) > BODY_BYTES_MAX {
            return Err(too_long());
        }
        while self.input.len() < count {
            if !self.more().await? {
                return Err(CUT.to_owned());
            }
        }
        body.extend_from_slice(&self.input.split_to(count));
        Ok(())
    }
}

fn too_long() -> String {
    format!("java.io.IOException: the body is longer than {BODY_BYTES_MAX} bytes")
}

async fn read_answer(reader: &mut Reader, method: &str) -> Result<Answer, String> {
    let head = String::from_utf8_lossy(&reader.until(b"\r\n\r\n", HEAD_BYTES_MAX).await?).into_owned();
    let mut lines = head.split("\r\n");
    let mut first = lines.next().unwrap_or_default().splitn(3, ' ');
    let (version, status) = (first.next().unwrap_or_default(), first.next().and_then(|s| s.parse().ok()));
    let status: u16 = status.filter(|_| version.starts_with("HTTP/1.")).ok_or_else(|| BAD.to_owned())?;
    let reason = first.next().unwrap_or_default().to_owned();
    let header = |name: &str| {
        let found = head.split("\r\n").skip(1).filter_map(|line| line.split_once(':'));
        found.filter(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim()).last()
    };
    let mut body = Vec::new();
    let chunked = header("transfer-encoding").is_some_and(|value| value.eq_ignore_ascii_case("chunked"));
    let length = header("content-length").map(|value| value.parse::<usize>().map_err(|_| BAD.to_owned()));
    if method == "HEAD" || status == 204 || status == 304 {
    } else if chunked {
        read_chunks(reader, &mut body).await?;
    } else if let Some(length) = length {
        reader.exactly(length?, &mut body).await?;
    } else {
        while reader.input.len() <= BODY_BYTES_MAX && reader.more().await? {}
        let rest = reader.input.len();
        reader.exactly(rest, &mut body).await?;
    }
    let text = String::from_utf8_lossy(&body).into_owned();
    Ok(Answer::Status { status, reason, bytes: body.len(), body: text })
}

async fn read_chunks(reader: &mut Reader, body: &mut Vec<u8>) -> Result<(), String> {
    loop {
        let line = reader.until(b"\r\n", CHUNK_LINE_BYTES_MAX).await?;
        let line = String::from_utf8_lossy(&line).into_owned();
        let size = line.split(';').next().unwrap_or_default().trim();
        let size = usize::from_str_radix(size, 16).map_err(|_| BAD.to_owned())?;
        if size == 0 {
            return Ok(());
        }
        reader.exactly(size, body).await?;
        reader.until(b"\r\n", CHUNK_LINE_BYTES_MAX).await?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_taken_apart() {
        let url = |text: &str| Url::parse(text).map(|u| (u.host, u.port, u.path));
        let known = |host: &str, port, path: &str| Some((host.to_owned(), port, path.to_owned()));
        assert_eq!(url("http://127.0.0.1:8080/a?b=c#d"), known("127.0.0.1", 8080, "/a?b=c"));
        assert_eq!(url("http://host?x"), known("host", 80, "/?x"));
        assert_eq!(url("http://[::1]:81"), known("::1", 81, "/"));
        for bad in
            ["https://host/", "http://", "http://a b/", "http://a\r\nX: y/", "http://u@h/", "http://h:x/"]
        {
            assert_eq!(url(bad), None, "{bad}");
        }
    }
}
