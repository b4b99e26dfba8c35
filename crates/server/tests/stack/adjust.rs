//! AD-01 to AD-04 on every slider of Workbench, with the phone's own truth as the judge.

use mdm_virtual_device::{Applied, PhoneConfig, Timing};

use crate::gestures::on_screen;
use crate::world::{World, fact};

/// Its name in the truth, the selector that finds it, and values with their tolerance.
const SLIDERS: [(&str, &str, &[f64], f64); 7] = [
    ("brightness", r#"{"resource_id":"brightness"}"#, &[75.0, 0.0, 100.0, 33.0, 5.0], 0.5),
    ("quality", r#"{"text":"Quality"}"#, &[75.0, 0.0, 100.0, 25.0], 0.0),
    ("frequency", r#"{"resource_id":"frequency"}"#, &[8000.0, 440.0, 15_000.0, 20_000.0], 40.0),
    ("balance", r#"{"text":"balance","contains":true}"#, &[75.0, 10.0, 100.0, 50.0], 0.5),
    ("opacity", r#"{"text":"Opacity 75 percent"}"#, &[20.0], 0.0),
    ("zoom", r#"{"resource_id":"zoom"}"#, &[7.5, 1.0, 10.0, 3.3], 0.1),
    ("level", r#"{"resource_id":"level"}"#, &[75.0, 0.0, 100.0, 42.0], 0.5),
];

async fn sliders(timing: Timing) -> World {
    on_screen("SlidersActivity", PhoneConfig { timing, ..PhoneConfig::default() }).await
}

fn real(world: &World, name: &str) -> Option<f64> {
    world.phone.truth().sliders.get(&format!("gallery.{name}")).map(|value| f64::from(*value))
}

/// W4: whatever was touched belongs to the slider and nothing else.
fn only_this_was_hit(world: &World, name: &str, inputs: usize) {
    for input in &world.phone.truth().inputs[inputs..] {
        let (Applied::Tap { hit, .. } | Applied::Swipe { hit, .. }) = input else { panic!("{input:?}") };
        let hit = hit.as_ref().expect("something was hit");
        let right = hit.resource_id.ends_with(&format!("/{name}"))
            || (name == "opacity" && hit.label.starts_with("Opacity"));
        assert!(right, "W4: {name}: {input:?}");
    }
    assert_eq!(world.phone.truth().activity, "com.workbench/.SlidersActivity");
}

#[tokio::test(start_paused = true)]
async fn every_slider_comes_to_its_value() {
    let mut touches = Vec::new();
    for (name, selector, values, tolerance) in SLIDERS {
        let world = sliders(Timing::Brisk).await;
        if name == "level" {
            world.ok("swipe", r#"{"x1":1060,"y1":1900,"x2":1060,"y2":700,"duration":800}"#).await;
        }
        for target in values {
            let inputs = world.phone.truth().inputs.len();
            let json = format!(r#"{{"selector":{selector},"targetValue":{target},"tolerance":{tolerance}}}"#);
            let answer = world.ok("adjust_control", &json).await;
            assert!(
                answer.contains(r#""converged":true"#) && answer.contains(r#""pre_state":{"#),
                "{answer}"
            );
            let value = real(&world, name).expect("it was moved");
            // A description in whole percent tells no more than that.
            let rounding = if name == "opacity" { 0.5 } else { 0.05 };
            assert!((value - target).abs() <= tolerance + rounding, "AD-01: {name} is at {value}: {answer}");
            let sent = world.phone.truth().inputs.len() - inputs;
            assert_eq!(fact(&answer, "attempts"), sent.to_string(), "AD-04: {answer}");
            only_this_was_hit(&world, name, inputs);
            println!("{name} to {target} ± {tolerance}: {sent} touches");
            touches.push(sent);
        }
    }
    touches.sort_unstable();
    let median = touches[touches.len() / 2];
    println!("touches per success: {touches:?}, median {median}");
    assert!(median <= 2, "median {median} of {touches:?}");
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_had_is_named() {
    let world = sliders(Timing::Brisk).await;
    let json = r#"{"selector":{"text":"Quality"},"targetValue":60,"tolerance":5}"#;
    let answer = world.call("adjust_control", json).await;
    assert!(answer.is_error && fact(&answer.text, "code") == "VERIFICATION_FAILED", "{}", answer.text);
    assert_eq!(fact(&answer.text, "nearest_value"), "50.0", "AD-03: {}", answer.text);
    for key in [r#""pre_state":{"#, r#""actual_state":{"#, r#""within_tolerance":false"#, r#""attempts":"#] {
        assert!(answer.text.contains(key), "AD-04: {}", answer.text);
    }
    only_this_was_hit(&world, "quality", 0);
    let json = r#"{"selector":{"resource_id":"zoom"},"targetValue":11,"tolerance":0.2}"#;
    let inputs = world.phone.truth().inputs.len();
    let answer = world.call("adjust_control", json).await;
    assert!(answer.is_error && answer.text.contains("past the end"), "{}", answer.text);
    assert_eq!(fact(&answer.text, "nearest_value"), "10.0");
    only_this_was_hit(&world, "zoom", inputs);
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_read_or_moved_is_not_touched() {
    let world = sliders(Timing::Instant).await;
    for (selector, code, says) in [
        (r#"{"resource_id":"warmth"}"#, "ELEMENT_NOT_INTERACTABLE", "shows no value"),
        (r#"{"resource_id":"locked"}"#, "ELEMENT_NOT_INTERACTABLE", "is disabled"),
        (r#"{"resource_id":"level"}"#, "ELEMENT_NOT_INTERACTABLE", "out of sight"),
        (r#"{"text":"Sliders"}"#, "ELEMENT_NOT_INTERACTABLE", "no slider"),
        (r#"{"text":"Nothing like it"}"#, "ELEMENT_NOT_FOUND", "nothing on the screen"),
        (r#"{}"#, "INVALID_ARGUMENT", "selector"),
        (r#"{"text":"e","contains":true}"#, "AMBIGUOUS_TARGET", "sliders"),
    ] {
        let json = format!(r#"{{"selector":{selector},"targetValue":75}}"#);
        let answer = world.call("adjust_control", &json).await;
        assert!(answer.is_error && answer.text.contains(says), "{selector}: {}", answer.text);
        assert_eq!(fact(&answer.text, "code"), code, "{selector}");
    }
    for json in [
        r#"{"targetValue":75}"#,
        r#"{"element_id":"e9999","targetValue":75}"#,
        r#"{"element_id":"e18","selector":{"text":"Quality"},"targetValue":75}"#,
        r#"{"selector":{"text":"Quality"},"targetValue":75,"property":"checked"}"#,
        r#"{"selector":{"text":"Quality"},"targetValue":75,"maxAttempts":0}"#,
        r#"{"selector":{"text":"Quality"},"targetValue":"75"}"#,
    ] {
        assert!(world.call("adjust_control", json).await.is_error, "{json}");
    }
    assert_eq!(world.phone.truth().inputs, [], "W4: nothing was touched");
}

#[tokio::test(start_paused = true)]
async fn a_value_that_is_there_needs_no_touch() {
    let world = sliders(Timing::Instant).await;
    let json = r#"{"selector":{"text":"Brightness"},"targetValue":41,"tolerance":2}"#;
    let answer = world.ok("adjust_control", json).await;
    assert_eq!(
        (fact(&answer, "attempts"), fact(&answer, "adjustment_mode")),
        ("0".into(), "semantic".into())
    );
    assert_eq!(world.phone.truth().inputs, []);
    assert_eq!(real(&world, "brightness"), Some(40.0));
}

/// Every touch of a call has its own place, so one that was sent twice would show.
#[tokio::test(start_paused = true)]
async fn a_lost_connection_repeats_no_touch_and_hides_none() {
    let (mut unknown, mut read) = (0, 0);
    for cut_ms in (0..400).step_by(7) {
        let world = sliders(Timing::Brisk).await;
        world.tree().await;
        let phone = world.phone.clone();
        let cutter = tokio::spawn(async move {
            tokio::time::sleep(std::time::Duration::from_millis(cut_ms)).await;
            phone.cut_connections();
        });
        let json = r#"{"selector":{"resource_id":"frequency"},"targetValue":8000,"tolerance":40}"#;
        let answer = world.call("adjust_control", json).await;
        cutter.await.expect("the cut was made");
        let inputs = world.phone.truth().inputs;
        let mut places: Vec<String> = inputs.iter().map(|input| format!("{input:?}")).collect();
        places.sort();
        places.dedup();
        assert_eq!(places.len(), inputs.len(), "RC-04: cut at {cut_ms} ms: {inputs:?}");
        only_this_was_hit(&world, "frequency", 0);
        if answer.is_error {
            unknown += usize::from(answer.text.contains(r#""dispatched":"unknown""#));
            let told: usize = fact(&answer.text, "attempts").parse().expect("AD-04: attempts");
            assert!(inputs.len() <= told, "cut at {cut_ms} ms: {} touches, {}", inputs.len(), answer.text);
        } else {
            read += 1;
            assert_eq!(fact(&answer.text, "attempts"), inputs.len().to_string());
        }
    }
    println!("{unknown} touches of unknown fate, {read} calls that reached the value all the same");
    assert!(unknown > 0 && read > 0, "the cuts must have hit touches and looks, or this proves nothing");
}
