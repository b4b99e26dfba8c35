//! Makes the recorded calls again.

use mobile_debug_mcp::compat::{Block as Answered, Rendered};
use serde_json::Value;

use crate::recordings::{Block, Recording, Recordings};
use crate::shape::{self, Difference, Shape, What};
use crate::stage::Stage;

/// What came of one recording.
pub struct Played {
    pub name: String,
    pub tool: String,
    pub differences: Vec<Difference>,
    /// For whoever looks into a difference.
    pub answer: String,
}

pub async fn all(recordings: &Recordings) -> Vec<Played> {
    let only = std::env::var("COMPAT_ONLY").ok();
    let mut played = Vec::new();
    let calls = recordings.all().iter().filter(|recording| !recording.tool.is_empty());
    for recording in calls.filter(|recording| only.as_ref().is_none_or(|only| recording.name.contains(only)))
    {
        let stage = Stage::of(recording).await;
        let rendered = stage.call(&recording.tool, Value::Object(stage.arguments.clone())).await;
        played.push(judge(recordings, recording, &rendered));
    }
    played
}

fn judge(recordings: &Recordings, recording: &Recording, rendered: &Rendered) -> Played {
    let recorded = recordings.blocks(recording);
    let mut differences = Vec::new();
    if recorded.len() != rendered.blocks.len() {
        let detail = format!("{} -> {}", recorded.len(), rendered.blocks.len());
        let what = if recorded.len() > rendered.blocks.len() { What::Missing } else { What::Extra };
        differences.push(Difference { path: "blocks".to_owned(), what, detail });
    }
    for (number, (was, is)) in recorded.iter().zip(&rendered.blocks).enumerate() {
        let of_block = |one: Difference| Difference { path: format!("{number}{}", one.path), ..one };
        differences.extend(compare(was, is, !recording.is_ios()).into_iter().map(of_block));
    }
    let shown = rendered.blocks.iter().map(|block| match block {
        Answered::Text(text) => text.clone(),
        Answered::Image(image) => format!("[{}]", image.mime_type),
    });
    Played {
        name: recording.name.clone(),
        tool: recording.tool.clone(),
        differences,
        answer: shown.collect::<Vec<_>>().join("\n"),
    }
}

fn compare(was: &Block, is: &Answered, with_screen: bool) -> Vec<Difference> {
    let other =
        |detail: &str| vec![Difference { path: String::new(), what: What::Type, detail: detail.to_owned() }];
    let read = |text: &str| serde_json::from_str::<Value>(text);
    match (was, is) {
        (Block::Json(was), Answered::Text(text)) => match read(text) {
            Ok(value) => shape::compare(was, &shape::of([&value], false, with_screen)),
            Err(error) => other(&format!("no JSON: {error}")),
        },
        (Block::Lines(was), Answered::Text(text)) => {
            match text.lines().map(read).collect::<Result<Vec<_>, _>>() {
                Ok(lines) => shape::compare(was, &of_lines(&lines, with_screen)),
                Err(error) => other(&format!("no JSON: {error}")),
            }
        }
        (Block::Image(was), Answered::Image(image)) if was == image.mime_type => Vec::new(),
        (Block::Image(was), Answered::Image(image)) => {
            let detail = format!("{was} -> {}", image.mime_type);
            vec![Difference { path: String::new(), what: What::Value, detail }]
        }
        _ => other("another kind of block"),
    }
}

fn of_lines(lines: &[Value], with_screen: bool) -> Shape {
    shape::of(lines, true, with_screen)
}
