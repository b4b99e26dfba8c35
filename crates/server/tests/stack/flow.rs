//! run_flow: several calls in one.

use mdm_virtual_device::Timing;

use crate::world::{World, fact};

#[tokio::test(start_paused = true)]
async fn a_flow_runs_to_its_end_and_reports_in_few_words() {
    let world = World::started(Timing::Brisk).await;
    let flow = r#"{"steps":[
        {"tool":"type_text","arguments":{"text":"ada@example.com","selector":{"text":"Email"}}},
        {"tool":"tap_element","arguments":{"selector":{"text":"Settings"},"expect":{"screen":"SettingsActivity"}}},
        {"tool":"expect_element_visible","arguments":{"selector":{"text":"Dark mode"}}},
        {"tool":"tap_element","arguments":{"selector":{"text":"Dark mode"},"expect":{"text":"Dark mode","checked":true}}}
    ]}"#;
    let report = world.ok("run_flow", flow).await;
    assert_eq!((fact(&report, "success"), fact(&report, "done")), ("true".into(), "4".into()), "{report}");
    assert_eq!(fact(&report, "device"), "virtual-android", "W27: {report}");
    assert!(report.contains("2 tap_element ok"), "{report}");
    assert!(report.contains("confirmed, navigation"), "{report}");
    assert!(
        report.contains("closed the keyboard"),
        "F46: the keyboard covered the button and was hidden first: {report}"
    );
    assert!(report.ends_with("off -> on"), "the last step says what changed: {report}");
    assert_eq!(world.phone.truth().switches.get("dark"), Some(&true));
    println!("{report}");
}

#[tokio::test(start_paused = true)]
async fn a_flow_stops_at_the_first_failure() {
    let world = World::started(Timing::Brisk).await;
    let flow = r#"{"steps":[
        {"tool":"tap_element","arguments":{"selector":{"text":"Remember me"}}},
        {"tool":"wait_for_ui","arguments":{"selector":{"text":"Welcome"},"timeout_ms":1000}},
        {"tool":"tap_element","arguments":{"selector":{"text":"Settings"}}}
    ]}"#;
    let answer = world.call("run_flow", flow).await;
    assert!(answer.is_error, "a wait that failed ends it: {}", answer.text());
    assert_eq!((fact(&answer.text(), "done"), fact(&answer.text(), "failed_step")), ("1".into(), "2".into()));
    assert!(answer.text().contains("2 wait_for_ui FAILED"), "{}", answer.text());
    assert_eq!(world.phone.truth().inputs.len(), 1, "nothing after the failure was done");
    assert!(world.phone.truth().activity.contains("LoginActivity"));
}

#[tokio::test(start_paused = true)]
async fn a_flow_with_a_bad_step_sends_nothing() {
    let world = World::started(Timing::Instant).await;
    let good = r#"{"tool":"tap_element","arguments":{"selector":{"text":"Remember me"}}}"#;
    for bad in [
        r#"{"tool":"teleport"}"#,
        r#"{"tool":"run_flow","arguments":{"steps":[]}}"#,
        r#"{"tool":"tap","arguments":{"x":1}}"#,
        r#"{"tool":"tap_element","arguments":{"elemntId":"e1"}}"#,
    ] {
        let flow = format!(r#"{{"steps":[{good},{bad}]}}"#);
        let answer = world.call("run_flow", &flow).await;
        assert_eq!(fact(&answer.text(), "code"), "INVALID_ARGUMENT", "{}", answer.text());
        assert!(answer.text().contains("step 2"), "{}", answer.text());
    }
    assert_eq!(world.code("run_flow", r#"{"steps":[]}"#).await, "INVALID_ARGUMENT");
    assert_eq!(world.phone.truth().inputs.len(), 0);
}
