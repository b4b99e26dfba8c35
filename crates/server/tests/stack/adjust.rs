//! AD-01 to AD-04 on every slider of Workbench, checked against the phone's own state.

use std::fmt::Write as _;
use std::path::Path;

use mdm_virtual_device::{AppFile, Applied, PhoneConfig, Timing};

use crate::gestures::on_screen;
use crate::world::{World, code_of, fact};

/// The slider's name in the phone's state, the selector that finds it, and values with their tolerance.
const SLIDERS: [(&str, &str, &[f64], f64); 9] = [
    ("brightness", r#"{"resource_id":"brightness"}"#, &[75.0, 0.0, 100.0, 33.0, 5.0], 0.5),
    ("quality", r#"{"text":"Quality"}"#, &[75.0, 0.0, 100.0, 25.0], 0.0),
    ("frequency", r#"{"resource_id":"frequency"}"#, &[8000.0, 440.0, 15_000.0, 20_000.0], 40.0),
    ("balance", r#"{"text":"balance","contains":true}"#, &[75.0, 10.0, 100.0, 50.0], 0.5),
    ("opacity", r#"{"regex":"^Opacity [0-9]+ percent$"}"#, &[20.0, 0.0, 100.0, 55.0], 0.0),
    ("zoom", r#"{"resource_id":"zoom"}"#, &[7.5, 1.0, 10.0, 3.3], 0.1),
    ("warmth", r#"{"resource_id":"warmth"}"#, &[75.0], 1.0),
    ("locked", r#"{"resource_id":"locked"}"#, &[75.0], 1.0),
    ("level", r#"{"resource_id":"level"}"#, &[75.0, 0.0, 100.0, 42.0], 0.5),
];

/// The difficulty of each slider, in the same order.
const KINDS: [&str; 9] = [
    "linear",
    "stepped",
    "non-linear",
    "right to left",
    "Compose, no class",
    "value in a label",
    "no value",
    "disabled",
    "vertical",
];

async fn sliders(timing: Timing) -> World {
    on_screen("SlidersActivity", PhoneConfig { timing, ..PhoneConfig::default() }).await
}

fn real(world: &World, name: &str) -> Option<f64> {
    world.phone.truth().sliders.get(&format!("gallery.{name}")).map(|value| f64::from(*value))
}

/// W4: every touch hit the slider and nothing else.
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

/// The results of one slider for all its targets.
struct Line {
    name: &'static str,
    kind: &'static str,
    targets: usize,
    converged: usize,
    touches: Vec<usize>,
    modes: Vec<String>,
    /// The error of a call that must not converge.
    refused: Option<String>,
}

impl Line {
    fn write(&mut self, out: &mut String) {
        self.touches.sort_unstable();
        self.modes.sort();
        self.modes.dedup();
        let median = self.touches.get(self.touches.len() / 2).map_or("-".to_owned(), ToString::to_string);
        let most = self.touches.last().map_or("-".to_owned(), ToString::to_string);
        let refused = self.refused.as_deref().unwrap_or("-");
        let modes = if self.modes.is_empty() { "-".to_owned() } else { self.modes.join("+") };
        let Line { name, kind, targets, converged, .. } = self;
        let _ = writeln!(out, "{name}\t{kind}\t{targets}\t{converged}\t{median}\t{most}\t{modes}\t{refused}");
    }
}

async fn line_for(at: usize) -> Line {
    let (name, selector, values, tolerance) = SLIDERS[at];
    let world = sliders(Timing::Brisk).await;
    if name == "level" {
        world.ok("scroll_to_element", r#"{"selector":{"resource_id":"level"}}"#).await;
    }
    let kind = KINDS[at];
    let (touches, modes) = (Vec::new(), Vec::new());
    let mut line = Line { name, kind, targets: values.len(), converged: 0, touches, modes, refused: None };
    for target in values {
        let inputs = world.phone.truth().inputs.len();
        let json = format!(r#"{{"selector":{selector},"targetValue":{target},"tolerance":{tolerance}}}"#);
        let answer = world.call("adjust_control", &json).await;
        if answer.is_error {
            line.refused = Some(fact(&answer.text(), "code"));
            assert_eq!(world.phone.truth().inputs.len(), inputs, "W4: {name}: {}", answer.text());
            continue;
        }
        let answer = answer.text();
        assert!(answer.contains(r#""converged":true"#) && answer.contains(r#""pre_state":{"#), "{answer}");
        let value = real(&world, name).expect("it was moved");
        // The slider's description has whole percent only.
        let rounding = if name == "opacity" { 0.5 } else { 0.05 };
        assert!((value - target).abs() <= tolerance + rounding, "AD-01: {name} is at {value}: {answer}");
        let sent = world.phone.truth().inputs.len() - inputs;
        assert_eq!(fact(&answer, "attempts"), sent.to_string(), "AD-04: {answer}");
        only_this_was_hit(&world, name, inputs);
        line.converged += 1;
        line.touches.push(sent);
        line.modes.push(fact(&answer, "adjustment_mode"));
    }
    line
}

#[tokio::test(start_paused = true)]
async fn every_slider_reaches_its_value_or_is_refused() {
    let mut table = "slider\tkind\ttargets\tconverged\ttouches median\tmost\tmodes\trefused\n".to_owned();
    let (mut touches, mut all, mut converged) = (Vec::new(), 0, 0);
    for at in 0..SLIDERS.len() {
        let mut line = line_for(at).await;
        line.write(&mut table);
        touches.append(&mut line.touches);
        all += line.targets;
        converged += line.converged;
        let must = !matches!(line.name, "warmth" | "locked");
        assert_eq!(line.converged, if must { line.targets } else { 0 }, "AD-01, AD-03: {}", line.name);
    }
    touches.sort_unstable();
    let median = touches[touches.len() / 2];
    let most = touches[touches.len() - 1];
    let _ = writeln!(table, "all\t\t{all}\t{converged}\t{median}\t{most}\t\t");
    println!("{table}");
    assert!(median <= 2, "median {median} of {touches:?}");
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/figures/sliders.tsv");
    if std::env::var_os("UPDATE_FIGURES").is_some() {
        std::fs::write(&file, &table).expect("docs/figures can be written");
    }
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(table, kept, "the figures changed; UPDATE_FIGURES=1 writes them");
}

/// An app with a stepper: minus, value, plus, in steps of five from 0 to 60.
const STEPPER: &str = r#"{"package":"org.example.step","label":"Step","start":"Main","values":{"count":10,"other":0},
  "screens":{"Main":{"content":[{"type":"text","text":"Guests"},
   {"type":"row","id":"guests","children":[
    {"type":"text_button","text":"-","enabled_when":[{"value":"count","at_least":5}],"on_tap":[{"add":{"count":-5}}]},
    {"type":"text","text":"{count}","width":80},
    {"type":"text_button","text":"+","enabled_when":[{"value":"count","at_most":55}],"on_tap":[{"add":{"count":5}}]}]},
   {"type":"button","text":"Other","on_tap":[{"add":{"other":1}}]}]}}}"#;

#[tokio::test(start_paused = true)]
async fn steppers_and_pickers_are_set_by_their_buttons() {
    let world = on_screen("ControlsActivity", PhoneConfig::default()).await;
    // The picker goes round: at 0 the button for less shows 20, at 20 the one for more shows 0 (F80).
    for target in [7.0, 0.0, 9.0, 20.0, 12.0] {
        let json = format!(r#"{{"selector":{{"text":"Copies"}},"targetValue":{target}}}"#);
        let answer = world.ok("adjust_control", &json).await;
        assert_eq!(fact(&answer, "adjustment_mode"), "semantic", "AD-02: {answer}");
        assert_eq!(real(&world, "copies"), Some(target), "{answer}");
    }
    let answer = world.call("adjust_control", r#"{"selector":{"text":"Copies"},"targetValue":31}"#).await;
    assert_eq!(code_of(&answer), "CONTROL_CONVERGENCE_FAILED", "F80: {}", answer.text());
    let left_at = real(&world, "copies").unwrap_or_default();
    assert!((12.0..=13.0).contains(&left_at), "F80: it is brought back, not left at {left_at}");
    let app = AppFile::parse(STEPPER).unwrap_or_else(|error| panic!("{error}"));
    let world = World::with(PhoneConfig { apps: vec![app], timing: Timing::Brisk, ..PhoneConfig::default() });
    world.ok("start_app", r#"{"appId":"org.example.step"}"#).await;
    let count = || world.phone.truth().sliders["org.example.step.count"];
    for (target, tolerance, value) in [(45.0, 0.0, 45.0), (5.0, 0.0, 5.0), (32.0, 2.0, 30.0)] {
        let json = format!(
            r#"{{"selector":{{"resource_id":"guests"}},"targetValue":{target},"tolerance":{tolerance}}}"#
        );
        let answer = world.ok("adjust_control", &json).await;
        assert_eq!(count(), value, "AD-01: {answer}");
    }
    for (target, nearest) in [(43.0, "45.0"), (90.0, "60.0")] {
        let json = format!(r#"{{"selector":{{"text":"Guests"}},"targetValue":{target}}}"#);
        let answer = world.call("adjust_control", &json).await;
        assert_eq!(code_of(&answer), "CONTROL_CONVERGENCE_FAILED", "AD-03: {}", answer.text());
        assert_eq!(fact(&answer.text(), "nearest_value"), nearest, "AD-03: {}", answer.text());
    }
    assert_eq!(world.phone.truth().sliders["org.example.step.other"], 0.0, "W4");
}

#[tokio::test(start_paused = true)]
async fn a_focused_slider_is_set_by_keys_and_then_by_touch() {
    let world = sliders(Timing::Brisk).await;
    for _ in 0..20 {
        let tree = world.tree().await;
        if tree.lines().any(|line| line.contains("brightness") && line.contains("focused")) {
            break;
        }
        world.ok("press_key", r#"{"key":"tab"}"#).await;
    }
    let inputs = world.phone.truth().inputs.len();
    let adjust = |target: f64| {
        format!(r#"{{"selector":{{"resource_id":"brightness"}},"targetValue":{target},"tolerance":0.5}}"#)
    };
    let answer = world.ok("adjust_control", &adjust(65.0)).await;
    assert_eq!(fact(&answer, "adjustment_mode"), "semantic", "AD-02: {answer}");
    assert_eq!(real(&world, "brightness"), Some(65.0));
    let keys = world.phone.truth().inputs;
    assert!(keys[inputs..].iter().all(|input| matches!(input, Applied::Key { code: 22 })), "{keys:?}");
    let answer = world.ok("adjust_control", &adjust(33.0)).await;
    assert_ne!(fact(&answer, "adjustment_mode"), "semantic", "keys alone cannot: {answer}");
    let value = real(&world, "brightness").expect("it was moved");
    assert!((value - 33.0).abs() <= 0.55, "{value}: {answer}");
}

#[tokio::test(start_paused = true)]
async fn an_unreachable_value_is_refused_with_the_nearest() {
    let world = sliders(Timing::Brisk).await;
    let json = r#"{"selector":{"text":"Quality"},"targetValue":60,"tolerance":5}"#;
    let answer = world.call("adjust_control", json).await;
    assert!(
        answer.is_error && fact(&answer.text(), "code") == "CONTROL_CONVERGENCE_FAILED",
        "{}",
        answer.text()
    );
    assert_eq!(fact(&answer.text(), "nearest_value"), "50.0", "AD-03: {}", answer.text());
    for key in [r#""pre_state":{"#, r#""actual_state":{"#, r#""within_tolerance":false"#, r#""attempts":"#] {
        assert!(answer.text().contains(key), "AD-04: {}", answer.text());
    }
    only_this_was_hit(&world, "quality", 0);
    let json = r#"{"selector":{"resource_id":"zoom"},"targetValue":11,"tolerance":0.2}"#;
    let inputs = world.phone.truth().inputs.len();
    let answer = world.call("adjust_control", json).await;
    assert!(answer.is_error && answer.text().contains("past the end"), "{}", answer.text());
    assert_eq!(fact(&answer.text(), "nearest_value"), "10.0");
    only_this_was_hit(&world, "zoom", inputs);
}

#[tokio::test(start_paused = true)]
async fn a_control_without_value_or_movement_is_not_touched() {
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
        assert!(answer.is_error && answer.text().contains(says), "{selector}: {}", answer.text());
        assert_eq!(fact(&answer.text(), "code"), code, "{selector}");
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
async fn a_control_with_the_wanted_value_is_not_touched() {
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

/// Every touch of a call has its own point, so a repeated touch would show.
#[tokio::test(start_paused = true)]
async fn a_lost_connection_repeats_no_touch_and_all_are_reported() {
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
            unknown += usize::from(answer.text().contains(r#""dispatched":"unknown""#));
            let reported: usize = fact(&answer.text(), "attempts").parse().expect("AD-04: attempts");
            assert!(
                inputs.len() <= reported,
                "cut at {cut_ms} ms: {} touches, {}",
                inputs.len(),
                answer.text()
            );
        } else {
            read += 1;
            assert_eq!(fact(&answer.text(), "attempts"), inputs.len().to_string());
        }
    }
    println!("{unknown} touches of unknown fate, {read} calls that reached the value all the same");
    assert!(unknown > 0 && read > 0, "the cuts must have hit touches and looks, or this proves nothing");
}
