//! A client like most scripts: it dumps, taps the middle of the first match, dumps again, looks, and tries once more.

use mdm_android::adb::Script;

use super::rows::RowIntent;
use super::{Intent, Report, Shell};
use crate::claim::{By, Claim, State};
use crate::world::World;

const ATTEMPTS: usize = 2;
const SWIPES_MAX: usize = 8;

struct Node {
    texts: [String; 2],
    checked: bool,
    middle: (i64, i64),
}

pub async fn act(world: &World, shell: &Shell, intent: &Intent) -> Report {
    let mut taps = 0;
    let mut success = false;
    for _ in 0..ATTEMPTS {
        let nodes = dump(shell).await;
        if let Some(node) = nodes.iter().find(|node| node.texts.contains(&intent.item.label)) {
            tap(shell, node).await;
            taps += 1;
        }
        success = is_seen(&dump(shell).await, intent);
        if success {
            break;
        }
    }
    Report { success, taps, reported_at_ms: world.now_ms() }
}

/// Deletes a row: swipes until it is there, taps the first Delete after it, and looks whether it is gone.
pub async fn delete(world: &World, shell: &Shell, intent: &RowIntent) -> Report {
    let says = |node: &Node, text: &str| node.texts.iter().any(|shown| shown == text);
    let mut taps = 0;
    let mut success = false;
    for _ in 0..ATTEMPTS {
        for _ in 0..SWIPES_MAX {
            let nodes = dump(shell).await;
            let row = nodes.iter().position(|node| says(node, &intent.row.subtitle));
            let button = row.and_then(|row| nodes[row..].iter().find(|node| says(node, "Delete")));
            if let Some(node) = button {
                tap(shell, node).await;
                taps += 1;
                break;
            }
            shell.run(&Script::new("input swipe 540 1900 540 900 300")).await;
        }
        if intent.asks
            && let Some(node) = dump(shell).await.iter().find(|node| says(node, "Delete"))
        {
            tap(shell, node).await;
        }
        success = taps > 0 && !dump(shell).await.iter().any(|node| says(node, &intent.row.subtitle));
        if success {
            break;
        }
    }
    Report { success, taps, reported_at_ms: world.now_ms() }
}

async fn tap(shell: &Shell, node: &Node) {
    let (x, y) = node.middle;
    shell.run(&Script::new("input tap ").number(x).then(" ").number(y)).await;
}

/// Reads the dump. If the dump failed the client gets an old file and believes it.
async fn dump(shell: &Shell) -> Vec<Node> {
    let script =
        Script::new("uiautomator dump /sdcard/window_dump.xml > /dev/null; cat /sdcard/window_dump.xml");
    let text = shell.run(&script).await.unwrap_or_default();
    text.split("<node ").skip(1).filter_map(node).collect()
}

fn node(text: &str) -> Option<Node> {
    let attribute = |name: &str| {
        let start = text.find(&format!(" {name}=\""))? + name.len() + 3;
        text.get(start..)?.split('"').next().map(str::to_owned)
    };
    let bounds = attribute("bounds")?;
    let numbers: Vec<i64> = bounds.split(['[', ']', ',']).filter_map(|number| number.parse().ok()).collect();
    let [left, top, right, bottom] = numbers[..] else { return None };
    Some(Node {
        texts: [attribute("text")?, attribute("content-desc")?],
        checked: attribute("checked")? == "true",
        middle: ((left + right) / 2, (top + bottom) / 2),
    })
}

fn is_seen(nodes: &[Node], intent: &Intent) -> bool {
    let shows = |text: &str| nodes.iter().any(|node| node.texts.iter().any(|shown| shown == text));
    match &intent.claim {
        Claim::Screen(_) => intent.landmark.as_ref().is_some_and(|landmark| shows(landmark)),
        Claim::Element { by: By::Text(text), state: State::Checked(flag) } => {
            nodes.iter().any(|node| node.texts.contains(text) && node.checked == *flag)
        }
        Claim::Element { by: By::Text(text) | By::Id(text), .. } => shows(text),
    }
}
