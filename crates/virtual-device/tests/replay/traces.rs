//! Recorded tests of real apps, played on replay phones: each recorded action leads to the recorded next screen. The
//! test reads the folder by itself, so that it cannot share a misreading with the loader.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use mdm_virtual_device::{Phone, PhoneConfig, Recording};
use serde_json::Value;

use crate::host::Host;
use crate::recorded::report_missing;

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/android-traces")
}

#[derive(Debug, Default)]
struct Tally {
    traces: usize,
    traces_passed: usize,
    actions: usize,
    passed: usize,
    checks: usize,
    after_unknown: usize,
}

#[tokio::test(start_paused = true)]
async fn every_recorded_action_leads_to_the_recorded_next_screen() {
    let Ok(folders) = std::fs::read_dir(data()) else {
        report_missing("traces in android-traces");
        return;
    };
    let mut folders: Vec<PathBuf> =
        folders.filter_map(|f| Some(f.ok()?.path())).filter(|path| path.is_dir()).collect();
    folders.sort();
    let mut tally = Tally::default();
    for folder in folders {
        let before = tally.actions - tally.passed;
        walk(&folder, &mut tally).await;
        tally.traces += 1;
        tally.traces_passed += usize::from(tally.actions - tally.passed == before);
    }
    println!(
        "replay: {} of {} traces, {} of {} actions led to the recorded next screen; {} checks passed by themselves; \
         {} actions after which nobody recorded a screen",
        tally.traces_passed, tally.traces, tally.passed, tally.actions, tally.checks, tally.after_unknown
    );
    assert!(tally.traces > 0);
    assert_eq!((tally.passed, tally.traces_passed), (tally.actions, tally.traces));
}

async fn walk(folder: &Path, tally: &mut Tally) {
    let recording = Recording::load(folder).unwrap_or_else(|e| panic!("{e}"));
    let (phone, mut host) = play(recording).await;
    let text = std::fs::read_to_string(folder.join("trace.json")).expect("a trace");
    let trace: Value = serde_json::from_str(&text).expect("JSON");
    let steps = trace["steps"].as_array().expect("steps");
    for (index, step) in steps.iter().enumerate() {
        let Some(tree) = step["tree"].as_str() else { break };
        assert_shows(&mut host, folder, tree).await;
        let action = &step["action"];
        let next = steps.get(index + 1).and_then(|next| next["tree"].as_str());
        match action["type"].as_str() {
            Some("oracle") => {
                host.run("sleep 1").await;
                tally.checks += 1;
                continue;
            }
            None => continue,
            Some(_) => perform(&mut host, action).await,
        }
        let truth = phone.truth().replay.expect("a replay phone");
        match next {
            Some(_) => {
                tally.actions += 1;
                let name = steps[index + 1]["state"].as_str().expect("a name");
                if truth.state == name {
                    tally.passed += 1;
                } else {
                    println!("{}: {action} on {} led to {}", folder.display(), step["state"], truth.state);
                    return;
                }
            }
            None => {
                assert!(truth.finished, "{}: {action}", folder.display());
                tally.after_unknown += 1;
            }
        }
    }
}

async fn play(recording: Arc<Recording>) -> (Phone, Host) {
    let phone = Phone::new(PhoneConfig { replay: Some(recording), ..PhoneConfig::default() });
    let host = Host::connect(&phone).await;
    (phone, host)
}

/// Returns bounds and class of every node in order, which must be the same in both forms of the tree.
async fn assert_shows(host: &mut Host, folder: &Path, tree: &str) {
    let file = std::fs::read_to_string(folder.join(tree)).expect("a tree");
    let shown = host.dump().await;
    for attribute in ["bounds", "class", "resource-id", "text", "clickable"] {
        assert_eq!(
            values(&shown, attribute),
            values(&file, attribute),
            "{} {tree} {attribute}",
            folder.display()
        );
    }
}

/// Returns an attribute of every node, empty where it has none, with entities decoded. Some files use single quotes.
fn values(tree: &str, attribute: &str) -> Vec<String> {
    let value = |node: &str| {
        let double = node.split_once(&format!(" {attribute}=\"")).map(|(_, rest)| rest.split('"').next());
        let single = || node.split_once(&format!(" {attribute}='")).map(|(_, rest)| rest.split('\'').next());
        let text = double.or_else(single).flatten().unwrap_or("");
        let entities = [("&#xA;", "\n"), ("&#10;", "\n"), ("&#x9;", "\t"), ("&#9;", "\t"), ("&apos;", "'")];
        let more = [("&#39;", "'"), ("&quot;", "\""), ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")];
        entities.iter().chain(&more).fold(text.to_owned(), |text, (entity, c)| text.replace(entity, c))
    };
    tree.split("<node").skip(1).map(value).collect()
}

async fn perform(host: &mut Host, action: &Value) {
    let kind = action["type"].as_str().expect("a type");
    if kind == "back" {
        host.run("input keyevent KEYCODE_BACK").await;
        return;
    }
    let side = |name: &str| action["bounds_px"][name].as_i64().expect("bounds");
    let (x, y) = ((side("x1") + side("x2")) / 2, (side("y1") + side("y2")) / 2);
    host.run(&format!("input tap {x} {y}")).await;
    if let Some(input) = action["input"].as_str() {
        host.run(&format!("input text '{}'", input.replace(' ', "%s"))).await;
    }
    if kind == "send_keys_enter" {
        host.run("input keyevent 66").await;
    }
}
