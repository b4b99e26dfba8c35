//! The recorded requests that are no calls: what is announced, and what there is not.

use std::sync::Arc;

use mobile_debug_mcp::app::{App, Devices};
use mobile_debug_mcp::mcp;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, ReadHalf, WriteHalf};

use crate::play::Played;
use crate::recordings::{Block, Recording, Recordings};
use crate::shape;

const PIPE_BYTES: usize = 1 << 20;

struct Client {
    lines: tokio::io::Lines<BufReader<ReadHalf<DuplexStream>>>,
    write: WriteHalf<DuplexStream>,
}

impl Client {
    fn connect() -> Client {
        let app = Arc::new(App::new(Devices::default()).compatible(true));
        let (ours, theirs) = tokio::io::duplex(PIPE_BYTES);
        tokio::spawn(async move {
            let (read, write) = tokio::io::split(theirs);
            drop(mcp::serve(app, read, write, std::future::pending()).await);
        });
        let (read, write) = tokio::io::split(ours);
        Client { lines: BufReader::new(read).lines(), write }
    }

    async fn say(&mut self, message: &Value) {
        self.write.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    async fn ask(&mut self, method: &str, params: Value) -> Value {
        self.say(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})).await;
        let line = self.lines.next_line().await.unwrap().expect("an answer");
        let mut answer: Value = serde_json::from_str(&line).unwrap();
        // Which number a request had says nothing.
        answer.as_object_mut().unwrap().remove("id");
        answer
    }
}

fn hello() -> Value {
    json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}})
}

async fn answer(recording: &Recording) -> Value {
    let mut client = Client::connect();
    let hello = client.ask("initialize", hello()).await;
    client.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    let params = match recording.method.as_str() {
        "initialize" => return hello,
        // Nothing but messages is written to stdout, so there is nothing of the kind.
        "startup" => return json!({"stdout_nonjson": []}),
        "resources/read" => json!({"uri": "file:///x"}),
        "tools/call" => json!({"name": "nope", "arguments": {}}),
        _ => json!({}),
    };
    let mut answer = client.ask(&recording.method, params).await;
    if let Some(tools) = answer.pointer_mut("/result/tools").and_then(Value::as_array_mut) {
        // Their arguments are compared by name.
        tools.iter_mut().for_each(|tool| tool["inputSchema"] = json!({"type": "object"}));
    }
    answer
}

pub async fn all(recordings: &Recordings) -> Vec<Played> {
    let mut played = Vec::new();
    for recording in recordings.all().iter().filter(|recording| recording.tool.is_empty()) {
        let answer = answer(recording).await;
        let [Block::Json(was)] = &recordings.blocks(recording)[..] else { panic!("one object") };
        let mut differences = shape::compare(was, &shape::of([&answer], false, true));
        differences.iter_mut().for_each(|one| one.path.insert(0, '0'));
        let tool = "(protocol)".to_owned();
        played.push(Played { name: recording.name.clone(), tool, differences, answer: answer.to_string() });
    }
    played
}
