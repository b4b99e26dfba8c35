//! What was recorded.

use serde::Deserialize;
use serde_json::Value;

use crate::differences::file;
use crate::shape::{self, Shape};

#[derive(Debug, Clone, Deserialize)]
pub struct Recording {
    pub name: String,
    /// Of a call of a tool.
    #[serde(default)]
    pub tool: String,
    /// Of another request of the protocol.
    #[serde(default)]
    pub method: String,
    #[serde(default)]
    pub arguments: Value,
    /// The situation of the device.
    #[serde(default)]
    pub setup: Value,
    /// A recording of the same shape.
    like: Option<String>,
    #[serde(default)]
    blocks: Vec<Value>,
    /// The tools and their arguments, where they were listed.
    #[serde(default)]
    pub tools: Value,
}

/// One block of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Block {
    Json(Shape),
    /// A line of JSON each.
    Lines(Shape),
    Image(String),
}

pub struct Recordings {
    all: Vec<Recording>,
}

impl Recordings {
    pub fn load() -> Recordings {
        let file = file("recordings.jsonl");
        let all = file.lines().skip(1).map(|line| serde_json::from_str(line).expect(line)).collect();
        Recordings { all }
    }

    pub fn all(&self) -> &[Recording] {
        &self.all
    }

    pub fn named(&self, name: &str) -> &Recording {
        self.all.iter().find(|one| one.name == name).expect("a recording of that name")
    }

    pub fn blocks(&self, recording: &Recording) -> Vec<Block> {
        let one = recording.like.as_deref().map_or(recording, |like| self.named(like));
        let read = |block: &Value| match (block.get("json"), block.get("lines"), block.get("image")) {
            (Some(json), ..) => Block::Json(shape::read(json)),
            (_, Some(lines), _) => Block::Lines(shape::read(lines)),
            (_, _, image) => Block::Image(image.and_then(Value::as_str).expect("a block").to_owned()),
        };
        one.blocks.iter().map(read).collect()
    }
}

impl Recording {
    pub fn is_ios(&self) -> bool {
        self.name.starts_with('7')
    }

    /// A part of the situation.
    pub fn setup(&self, key: &str) -> Option<&Value> {
        self.setup.get(key).filter(|value| !value.is_null())
    }

    /// The commands that failed, by a part of them, and how often.
    pub fn failing(&self) -> Vec<(String, usize)> {
        let all = self.setup("fail").and_then(Value::as_array).cloned().unwrap_or_default();
        let one = |failure: &Value| {
            // A command that only said something else did not fail.
            let said = failure
                .get("stdout")
                .and_then(Value::as_str)
                .is_some_and(|said| said.contains('4') || said.contains("Resumed"));
            if said && failure.get("rc") == Some(&Value::from(0)) {
                return None;
            }
            let times = failure.get("times").and_then(Value::as_u64).unwrap_or(u64::MAX);
            Some((failure.get("match")?.as_str()?.to_owned(), usize::try_from(times).unwrap_or(usize::MAX)))
        };
        all.iter().filter_map(one).collect()
    }
}

#[test]
fn all_recordings_are_read() {
    let recordings = Recordings::load();
    assert_eq!(recordings.all().len(), 245);
    assert_eq!(recordings.all().iter().filter(|one| !one.tool.is_empty()).count(), 236);
    for one in recordings.all() {
        assert!(!recordings.blocks(one).is_empty(), "{}", one.name);
    }
}
