//! find_element through the whole stack.

use mdm_virtual_device::Timing;

use crate::world::{World, fact};

#[tokio::test(start_paused = true)]
async fn a_found_element_can_be_tapped_by_its_id() {
    // AC-01, AC-03
    let world = World::started(Timing::Instant).await;
    let found = world.ok("find_element", r#"{"query":"Settings"}"#).await;
    assert_eq!(fact(&found, "found"), "true", "{found}");
    assert_eq!(fact(&found, "reason"), "exact_text_match", "{found}");
    let id = fact(&found, "elementId");
    world.ok("tap_element", &format!(r#"{{"elementId":"{id}"}}"#)).await;
    assert!(world.tree().await.contains("SettingsActivity"));
}

#[tokio::test(start_paused = true)]
async fn several_matches_are_listed_and_none_is_chosen() {
    // W23
    let world = World::started(Timing::Instant).await;
    let found = world.ok("find_element", r#"{"selector":{"role":"button"}}"#).await;
    assert_eq!(fact(&found, "ambiguous"), "true", "{found}");
    assert!(!found.contains("\"element\""), "{found}");
    let lines: Vec<&str> = found.lines().skip(1).collect();
    assert_eq!(lines.len().to_string(), fact(&found, "matched_count"), "{found}");
    assert!(lines.iter().all(|line| line.starts_with('e') && line.contains("(index ")), "{found}");
    let one = world.ok("find_element", r#"{"selector":{"role":"button","text":"Log in"}}"#).await;
    assert_eq!(fact(&one, "reason"), "role_and_label_match", "{one}");
    let counted = world.ok("find_element", r#"{"selector":{"role":"button","index":1}}"#).await;
    let second = lines.iter().find(|line| line.ends_with("(index 1)")).unwrap();
    assert_eq!(second.split(' ').next(), Some(&*fact(&counted, "elementId")), "{counted}");
}

#[tokio::test(start_paused = true)]
async fn a_match_is_returned_at_once_and_a_missing_one_is_waited_for() {
    // W24
    let world = World::started(Timing::Instant).await;
    let begun = tokio::time::Instant::now();
    let partly = world.ok("find_element", r#"{"query":"Log","timeoutMs":5000}"#).await;
    assert_eq!(fact(&partly, "found"), "true", "{partly}");
    assert!(begun.elapsed().as_millis() < 1000, "{:?}", begun.elapsed());
    let begun = tokio::time::Instant::now();
    let nothing = world.told("find_element", r#"{"query":"Nowhere","timeoutMs":2000}"#).await;
    assert!(nothing.contains("\"found\":false,\"error\":\"Element not found\""), "{nothing}");
    let waited = begun.elapsed().as_millis();
    assert!((1800..=2000).contains(&waited), "{waited} ms");
    let later = async {
        tokio::time::sleep(std::time::Duration::from_millis(700)).await;
        world.tap("Settings").await;
    };
    let sought = world.ok("find_element", r#"{"selector":{"text":"Dark mode"},"timeoutMs":5000}"#);
    let (found, ()) = tokio::join!(sought, later);
    assert_eq!(fact(&found, "found"), "true", "{found}");
}

#[tokio::test(start_paused = true)]
async fn bad_search_arguments_are_refused() {
    let world = World::started(Timing::Instant).await;
    for wrong in [
        "{}",
        r#"{"query":" "}"#,
        r#"{"query":"a","selector":{"text":"a"}}"#,
        r#"{"selector":{}}"#,
        r#"{"selector":{"regex":"("}}"#,
        r#"{"selector":{"text":"a","below":{}}}"#,
        r#"{"query":"a","timeoutMs":60001}"#,
    ] {
        assert_eq!(world.code("find_element", wrong).await, "INVALID_ARGUMENT", "{wrong}");
    }
}
