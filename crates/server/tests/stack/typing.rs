//! Typing into a target: focus, clear, read back, submit (GE-01, LC-03, ST-07).

use mdm_virtual_device::{Faults, Timing};

use crate::recover::world_of;
use crate::world::{World, fact};

const FORM: &str = r#"{
  "package": "org.example.form", "label": "Form", "style": "view", "start": "Home",
  "values": {"name": "Grace", "city": "", "pin": "", "upper": "", "greeted": false},
  "screens": {"Home": {"content": [
      {"type": "heading", "text": "Form"},
      {"type": "field", "id": "name", "value": "name", "hint": "Name"},
      {"type": "field", "id": "city", "value": "city", "hint": "City"},
      {"type": "field", "id": "pin", "value": "pin", "hint": "PIN", "password": true},
      {"type": "button", "text": "Greet", "on_tap": [{"set": {"greeted": true}}]},
      {"type": "text", "text": "Hello {name}", "when": [{"value": "greeted", "is": true}]}
  ]}}
}"#;

async fn form() -> World {
    world_of(FORM, Timing::Brisk, Faults::default()).await
}

fn field(world: &World, name: &str) -> String {
    let name = format!("org.example.form.{name}");
    world.phone.truth().fields.get(&name).cloned().expect("a field of the app")
}

#[tokio::test(start_paused = true)]
async fn text_is_typed_into_the_named_field() {
    let world = form().await;
    let typed = world.ok("type_text", r#"{"text":"Paris","selector":{"text":"City"}}"#).await;
    assert_eq!(fact(&typed, "read_back"), "seen", "{typed}");
    assert_eq!(fact(&typed, "lifecycle_state"), "verified");
    assert_eq!((field(&world, "city"), field(&world, "name")), ("Paris".into(), "Grace".into()));
    // The other field has to take the focus.
    world.ok("type_text", r#"{"text":" H","selector":{"resource_id":"name"}}"#).await;
    assert_eq!(field(&world, "name"), "Grace H");
}

#[tokio::test(start_paused = true)]
async fn a_field_is_cleared_first_when_asked() {
    let world = form().await;
    let typed =
        world.ok("type_text", r#"{"text":"Ada","selector":{"resource_id":"name"},"clear":true}"#).await;
    assert_eq!(fact(&typed, "field"), "Ada", "{typed}");
    assert_eq!(field(&world, "name"), "Ada");
    let cleared =
        world.ok("type_text", r#"{"text":"","selector":{"resource_id":"name"},"clear":true}"#).await;
    assert_eq!(field(&world, "name"), "", "{cleared}");
}

#[tokio::test(start_paused = true)]
async fn a_secret_is_in_no_answer() {
    // ST-07, S8
    let world = form().await;
    let typed = world.ok("type_text", r#"{"text":"hunter2","selector":{"resource_id":"pin"}}"#).await;
    assert_eq!((fact(&typed, "read_back"), fact(&typed, "characters")), ("hidden".into(), "7".into()));
    let typed = world.ok("type_text", r#"{"text":"Oslo","selector":{"text":"City"},"secure":true}"#).await;
    assert_eq!(fact(&typed, "read_back"), "hidden", "{typed}");
    let outcome = world.ok("classify_action_outcome", "{}").await;
    assert!(!typed.contains("Oslo") && !outcome.contains("Oslo"), "{typed} {outcome}");
    assert_eq!(field(&world, "city"), "Oslo");
}

#[tokio::test(start_paused = true)]
async fn a_target_that_is_no_field_is_refused_and_nothing_is_typed() {
    let world = form().await;
    let button = r#"{"text":"x","selector":{"text":"Greet","role":"button"}}"#;
    assert_eq!(world.code("type_text", button).await, "ELEMENT_NOT_INTERACTABLE");
    assert_eq!(
        world.code("type_text", r#"{"text":"x","selector":{"text":"Nowhere"}}"#).await,
        "ELEMENT_NOT_FOUND"
    );
    assert_eq!(world.code("type_text", r#"{"text":""}"#).await, "INVALID_ARGUMENT");
    assert_eq!(world.phone.truth().inputs.len(), 0);
}

#[tokio::test(start_paused = true)]
async fn typing_takes_an_expectation() {
    let world = form().await;
    world.ok("tap_element", r#"{"selector":{"text":"Greet"}}"#).await;
    let expect = r#"{"text":"Ada","selector":{"resource_id":"name"},"clear":true,"submit":true,"expect":{"text":"Hello Ada"}}"#;
    let typed = world.ok("type_text", expect).await;
    assert_eq!(fact(&typed, "verdict"), "confirmed", "{typed}");
}

#[tokio::test(start_paused = true)]
async fn a_field_with_several_lines_is_cleared_whole() {
    // F81: the end that a key moves to is that of the cursor's line.
    let form = FORM.replace(r#""name": "Grace""#, r#""name": "Two\nlines""#);
    for timing in [Timing::Brisk, Timing::Phone] {
        let world = world_of(&form, timing, Faults::default()).await;
        world.ok("tap_element", r#"{"selector":{"resource_id":"name"}}"#).await;
        for _ in 0..7 {
            world.ok("press_key", r#"{"key":"dpad_left"}"#).await;
        }
        let typed = world.ok("type_text", r#"{"text":"new","clear":true}"#).await;
        assert_eq!(field(&world, "name"), "new", "{typed}");
    }
}
