//! F17, SY-15: the JSON delta applied to the JSON tree gives the next JSON tree.

use mdm_virtual_device::{PhoneConfig, Timing};
use serde_json::{Map, Value, json};

use crate::gestures::on_screen;
use crate::world::World;

async fn tree(world: &World, more: &str) -> Map<String, Value> {
    let answer = world.ok("get_ui_tree", &format!(r#"{{"format":"json"{more}}}"#)).await;
    serde_json::from_str(answer.lines().next().expect("a line")).expect("JSON")
}

fn elements(tree: &Map<String, Value>) -> Vec<Value> {
    tree["elements"].as_array().expect("elements").clone()
}

/// Applies the steps as a client would, who knows nothing but the documentation.
fn apply(before: &[Value], delta: &Map<String, Value>) -> Vec<Value> {
    let mut after: Vec<Value> = Vec::new();
    for op in delta["ops"].as_array().expect("ops") {
        if let Some(kept) = op.get("keep") {
            let (from, count) = (kept[0].as_u64().expect("from"), kept[1].as_u64().expect("count"));
            after.extend_from_slice(&before[from as usize..(from + count) as usize]);
        } else if let Some(patch) = op.get("patch") {
            after.push(patch["element"].clone());
        } else {
            after.push(op["put"].clone());
        }
    }
    placed(after)
}

/// Fills in what follows from the order and the depths.
fn placed(mut elements: Vec<Value>) -> Vec<Value> {
    let depths: Vec<u64> = elements.iter().map(|element| element["depth"].as_u64().expect("depth")).collect();
    let parent = |at: usize| (0..at).rev().find(|before| depths[*before] < depths[at]);
    let parents: Vec<Option<usize>> = (0..elements.len()).map(parent).collect();
    for (at, element) in elements.iter_mut().enumerate() {
        let children: Vec<usize> =
            (at + 1..parents.len()).filter(|child| parents[*child] == Some(at)).collect();
        let element = element.as_object_mut().expect("an object");
        element.insert("index".to_owned(), json!(at));
        element.remove("parentId");
        element.remove("children");
        if let Some(parent) = parents[at] {
            element.insert("parentId".to_owned(), json!(parent));
        }
        if !children.is_empty() {
            element.insert("children".to_owned(), json!(children));
        }
    }
    elements
}

#[tokio::test(start_paused = true)]
async fn the_json_delta_applied_to_the_old_tree_gives_the_new_tree() {
    let taps = [
        ("LoginActivity", "Remember me"),
        ("ControlsActivity", "Dark"),
        ("LongListActivity", "Row 2"),
        ("DuplicatesActivity", "Navigate up"),
        ("SettingsActivity", "Wi-Fi"),
    ];
    for (activity, label) in taps {
        let world =
            on_screen(activity, PhoneConfig { timing: Timing::Brisk, ..PhoneConfig::default() }).await;
        let before = tree(&world, "").await;
        let json = format!(r#"{{"selector":{{"text":"{label}"}}}}"#);
        let answer = world.call("tap_element", &json).await;
        println!("{activity}: {}", answer.text().lines().nth(1).unwrap_or(""));
        let since = format!(r#","since_revision":{}"#, before["snapshot_revision"]);
        let delta = tree(&world, &since).await;
        let after = tree(&world, "").await;
        if delta.contains_key("ops") {
            assert_eq!(apply(&elements(&before), &delta), elements(&after), "{activity}");
        } else {
            panic!("{activity}: {delta:?}");
        }
    }
}
