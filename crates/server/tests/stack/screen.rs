//! The tree tools over time: ids, revisions, deltas, fingerprints.

use mdm_virtual_device::Timing;

use crate::world::{World, fact, line_of, point_of};

fn id_of(tree: &str, label: &str) -> String {
    line_of(tree, label).split_whitespace().next().expect("an id").to_owned()
}

#[tokio::test(start_paused = true)]
async fn an_id_stays_with_its_element_and_is_refused_when_it_is_gone() {
    let world = World::started(Timing::Instant).await;
    let login = world.tree().await;
    let (email, settings) = (id_of(&login, "Email"), id_of(&login, "Settings"));
    world.ok("tap_element", &format!(r#"{{"elementId":"{email}"}}"#)).await;
    world.ok("type_text", r#"{"text":"ada@example.com"}"#).await;
    world.ok("press_back", "{}").await;
    let typed = world.tree().await;
    assert_eq!(id_of(&typed, "Email"), email, "ID-02");
    world.ok("tap_element", &format!(r#"{{"elementId":"{settings}"}}"#)).await;
    let other = world.tree().await;
    assert!(other.contains("SettingsActivity"), "{other}");
    let taps = world.phone.truth().inputs.len();
    let refused = world.call("tap_element", &format!(r#"{{"elementId":"{email}"}}"#)).await;
    assert!(refused.is_error && refused.text().contains("STALE_REFERENCE"), "ID-02: {}", refused.text());
    assert_eq!(world.phone.truth().inputs.len(), taps, "nothing was sent");
    assert_eq!(world.code("tap_element", r#"{"elementId":"login"}"#).await, "INVALID_ARGUMENT");
    world.ok("press_back", "{}").await;
    assert_eq!(id_of(&world.tree().await, "Email"), email, "the screen came back, and its names with it");
}

#[tokio::test(start_paused = true)]
async fn since_revision_returns_only_the_changes() {
    let world = World::started(Timing::Instant).await;
    let before = world.tree().await;
    let revision = fact(&before, "snapshot_revision");
    let (x, y) = point_of(&before, "Remember me");
    world.ok("tap", &format!(r#"{{"x":{x},"y":{y}}}"#)).await;
    let since = format!(r#"{{"since_revision":{revision}}}"#);
    let changed = world.ok("get_ui_tree", &since).await;
    let lines: Vec<&str> = changed.lines().skip(1).collect();
    assert_eq!(lines.len(), 1, "SY-15: {changed}");
    assert!(lines[0].ends_with("switch \"Remember me\" off -> on"), "{changed}");
    assert_eq!(fact(&changed, "since_revision"), revision, "SY-11: {changed}");
    assert_eq!(fact(&changed, "changed"), "1", "SY-11: {changed}");
    assert_eq!(fact(&changed, "fresh"), "true", "SY-12: {changed}");
    assert!(!changed.contains("device"), "only one device can be meant: {changed}");
    let patch = world.ok("get_ui_tree", &format!(r#"{{"since_revision":{revision},"format":"json"}}"#)).await;
    assert!(patch.contains("\"ops\":[{\"keep\":[0,"), "{patch}");
    let gone = world.ok("get_ui_tree", r#"{"since_revision":999}"#).await;
    assert!(gone.contains("\"since_revision_gone\":true") && gone.contains("Log in"), "{gone}");
}

#[tokio::test(start_paused = true)]
async fn a_tree_lists_the_elements_changed_since_the_previous_one() {
    let world = World::started(Timing::Instant).await;
    let before = world.tree().await;
    assert!(!before.contains("snapshot_delta"), "the first tree has none before it: {before}");
    let id = id_of(&before, "Remember me");
    let (x, y) = point_of(&before, "Remember me");
    world.ok("tap", &format!(r#"{{"x":{x},"y":{y}}}"#)).await;
    let delta = r#""snapshot_delta":{"since_revision":1,"change":"state_change","changed":1,"elements":[""#;
    let after = world.tree().await;
    assert!(after.contains(&format!("{delta}{id}\"]}}")), "SY-11: {after}");
}

#[tokio::test(start_paused = true)]
async fn a_cut_outline_can_be_continued() {
    let world = World::started(Timing::Instant).await;
    let whole = world.ok("get_ui_tree", "{}").await;
    let mut found: Vec<String> = Vec::new();
    let mut arguments = r#"{"max_tokens":20}"#.to_owned();
    for _ in 0..20 {
        let part = world.ok("get_ui_tree", &arguments).await;
        found.extend(part.lines().skip(1).filter(|line| !line.starts_with('…')).map(str::to_owned));
        if !part.contains("\"continue\"") {
            break;
        }
        let next = fact(&part, "continue");
        arguments = format!(r#"{{"max_tokens":20,"continue":"{next}"}}"#);
    }
    let mut all: Vec<String> = whole.lines().skip(1).map(str::to_owned).collect();
    all.sort();
    found.sort();
    assert_eq!(found, all, "every line once");
    world.ok("get_ui_tree", r#"{"max_tokens":20}"#).await;
    let (x, y) = point_of(&world.tree().await, "Remember me");
    world.ok("tap", &format!(r#"{{"x":{x},"y":{y}}}"#)).await;
    assert_eq!(world.code("get_ui_tree", r#"{"continue":"r1.2"}"#).await, "STALE_REFERENCE");
    assert_eq!(world.code("get_ui_tree", r#"{"continue":"next"}"#).await, "INVALID_ARGUMENT");
    assert_eq!(world.code("get_ui_tree", r#"{"max_tokens":0}"#).await, "INVALID_ARGUMENT");
}

#[tokio::test(start_paused = true)]
async fn target_returns_only_a_part_of_the_tree() {
    let world = World::started(Timing::Instant).await;
    let id = id_of(&world.tree().await, "Remember me");
    let part = world.ok("get_ui_tree", &format!(r#"{{"target":"{id}"}}"#)).await;
    assert_eq!(part.lines().count(), 2, "{part}");
    assert_eq!(world.code("get_ui_tree", r#"{"target":"e9999"}"#).await, "STALE_REFERENCE");
}

#[tokio::test(start_paused = true)]
async fn the_fingerprint_changes_with_state_and_screen() {
    let world = World::started(Timing::Instant).await;
    let print = async || fact(&world.ok("get_screen_fingerprint", "{}").await, "fingerprint");
    let first = print().await;
    assert_eq!(print().await, first);
    let tree = world.tree().await;
    let tap = async |label: &str| {
        let (x, y) = point_of(&tree, label);
        world.ok("tap", &format!(r#"{{"x":{x},"y":{y}}}"#)).await;
    };
    tap("Remember me").await;
    let on = print().await;
    assert_ne!(on, first, "OB-01: the state of a switch");
    tap("Remember me").await;
    assert_eq!(print().await, first);
    tap("Settings").await;
    assert_ne!(print().await, first, "another screen");
}

#[tokio::test(start_paused = true)]
async fn all_forms_of_one_capture_agree() {
    let world = World::started(Timing::Instant).await;
    let tree = world.ok("get_ui_tree", "{}").await;
    let json = world.ok("get_ui_tree", r#"{"format":"json"}"#).await;
    let print = world.ok("get_screen_fingerprint", "{}").await;
    for key in ["snapshot_revision", "captured_at_ms"] {
        assert!([&tree, &json, &print].iter().all(|answer| !fact(answer, key).is_empty()), "SY-01");
    }
    assert_eq!(fact(&tree, "snapshot_revision"), fact(&json, "snapshot_revision"), "SY-01");
    assert_eq!(fact(&json, "fingerprint"), fact(&print, "fingerprint"));
}
