//! Requests as bytes, and two kinds of clients on top: with a session (2025-11-25) and without (2026-07-28).

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::{Value, json};

/// Guards against a hang; nothing here tests speed.
pub const GUARD: Duration = Duration::from_secs(60);

#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Reply {
    pub fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(':'));
        lines.into_iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
    }

    /// The messages, whether they came as one body or as events.
    pub fn messages(&self) -> Vec<Value> {
        let lines = self.body.lines().map(|line| line.strip_prefix("data:").unwrap_or(line).trim());
        lines.filter_map(|line| serde_json::from_str(line).ok()).collect()
    }
}

/// Connects, says `bytes`, and reads all that comes until the server closes.
pub fn exchange(address: SocketAddr, bytes: &[u8]) -> Reply {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(GUARD)).unwrap();
    // The server may answer and close before it has read everything.
    let _ = stream.write_all(bytes);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    reply(&answer)
}

pub fn reply(answer: &[u8]) -> Reply {
    let text = String::from_utf8_lossy(answer);
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    let chunked = head.to_lowercase().contains("transfer-encoding: chunked");
    let body = if chunked { without_chunks(body) } else { body.to_owned() };
    Reply { status, head: head.to_owned(), body }
}

fn without_chunks(mut body: &str) -> String {
    let mut whole = String::new();
    while let Some((size, rest)) = body.split_once("\r\n") {
        let Ok(size) = usize::from_str_radix(size.trim(), 16) else { break };
        let Some(chunk) = rest.get(..size) else { break };
        whole.push_str(chunk);
        body = rest.get(size + 2..).unwrap_or("");
    }
    whole
}

/// A whole request that ends its connection.
pub fn request(method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Vec<u8> {
    let mut text = format!("{method} {path} HTTP/1.1\r\nconnection: close\r\n");
    let has = |name: &str| headers.iter().any(|(given, _)| *given == name);
    let usual = [
        ("host", "localhost"),
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
    ];
    for (name, value) in usual.iter().filter(|(name, _)| !has(name)).chain(headers) {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    if !has("transfer-encoding") && !has("content-length") {
        text.push_str(&format!("content-length: {}\r\n", body.len()));
    }
    [text.as_bytes(), b"\r\n", body.as_bytes()].concat()
}

/// What a client hears for a call.
#[derive(Debug)]
pub struct Heard {
    pub reply: Reply,
    /// The answer to this request.
    pub answer: Value,
}

impl Heard {
    pub fn text(&self) -> String {
        self.answer["result"]["content"][0]["text"].as_str().unwrap_or_default().to_owned()
    }

    pub fn is_error(&self) -> bool {
        self.answer["result"]["isError"] == json!(true) || self.answer.get("error").is_some()
    }

    #[track_caller]
    pub fn done(self) -> String {
        assert!(!self.is_error(), "{:?}", self.answer);
        self.text()
    }
}

pub struct Client {
    pub address: SocketAddr,
    pub name: String,
    pub token: Option<String>,
    /// With one it speaks 2025-11-25, without one 2026-07-28.
    pub session: Option<String>,
    pub capabilities: Value,
    pub next: u64,
}

impl Client {
    pub fn stateless(address: SocketAddr, name: &str) -> Client {
        let name = name.to_owned();
        Client { address, name, token: None, session: None, capabilities: json!({}), next: 1 }
    }

    pub fn with_session(address: SocketAddr, name: &str) -> Client {
        let mut client = Client::stateless(address, name);
        client.session = Some(client.begin().header("mcp-session-id").expect("a session").to_owned());
        client
    }

    /// Asks for a session.
    pub fn begin(&mut self) -> Reply {
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": self.capabilities,
            "clientInfo": {"name": self.name, "version": "1"}});
        let body = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
        let authorization = self.token.as_ref().map(|token| format!("Bearer {token}"));
        let headers: Vec<_> = authorization.iter().map(|value| ("authorization", value.as_str())).collect();
        exchange(self.address, &request("POST", "/mcp", &headers, &body.to_string()))
    }

    pub fn call(&mut self, tool: &str, arguments: Value) -> Heard {
        self.ask("tools/call", json!({"name": tool, "arguments": arguments}))
    }

    pub fn ask(&mut self, method: &str, mut params: Value) -> Heard {
        let id = self.next;
        self.next += 1;
        let name = params["name"].as_str().or(params["uri"].as_str()).unwrap_or_default().to_owned();
        let mut headers = vec![("mcp-method", method.to_owned())];
        if !name.is_empty() {
            headers.push(("mcp-name", name));
        }
        match &self.session {
            Some(session) => {
                headers = vec![
                    ("mcp-session-id", session.clone()),
                    ("mcp-protocol-version", "2025-11-25".to_owned()),
                ];
            }
            None => {
                headers.push(("mcp-protocol-version", "2026-07-28".to_owned()));
                let meta = params["_meta"].take();
                params["_meta"] = json!({
                    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                    "io.modelcontextprotocol/clientInfo": {"name": self.name, "version": "1"},
                    "io.modelcontextprotocol/clientCapabilities": self.capabilities});
                for (key, value) in meta.as_object().into_iter().flatten() {
                    params["_meta"][key] = value.clone();
                }
            }
        }
        if let Some(token) = &self.token {
            headers.push(("authorization", format!("Bearer {token}")));
        }
        let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let body = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string();
        let reply = exchange(self.address, &request("POST", "/mcp", &headers, &body));
        let mut answers = reply.messages().into_iter().filter(|message| message["id"] == json!(id));
        let answer = answers.next_back().unwrap_or_else(|| json!({"error": {"message": reply.body}}));
        Heard { reply, answer }
    }
}
