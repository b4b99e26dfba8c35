//! What is said of a command whose answer is broken, as the whole program says it.

use crate::adbd::{Adbd, Attack};
use crate::server::Server;

const TAP: (&str, &str) = ("tap", r#"{"x":100,"y":50}"#);

/// Makes a call on a device that misbehaves; returns the answer and how much the device has done.
fn call_on(attack: Attack, (tool, arguments): (&str, &str)) -> (String, usize) {
    let adbd = Adbd::start(attack);
    let mut server = Server::start(&["serve", "--device", &adbd.address]);
    (server.call(tool, arguments), adbd.inputs())
}

#[test]
fn a_tap_whose_answer_is_broken_may_have_happened() {
    // F67, RC-04
    for attack in [Attack::TapThenBrokenPacket, Attack::TapThenExit(137), Attack::TapThenMuchOutput] {
        let (answer, inputs) = call_on(attack, TAP);
        assert_eq!(inputs, 1, "{attack:?} was tried again: {answer}");
        assert!(answer.contains(r#""dispatched":"unknown""#), "{attack:?}: {answer}");
        assert!(
            answer.contains(r#""success":false"#) && answer.contains(r#""retryable":false"#),
            "{attack:?}: {answer}"
        );
    }
    let (answer, _) = call_on(Attack::TapThenExit(21), TAP);
    assert!(answer.contains("ACTION_REJECTED"), "a tap knows no app: {answer}");
    let (answer, inputs) = call_on(Attack::None, TAP);
    assert!(answer.contains(r#""success":true"#) && inputs == 1, "{answer}");
}

#[test]
fn a_flow_stops_at_an_expectation_that_nobody_could_check() {
    // F60
    let step = |expect: &str| format!(r#"{{"tool":"tap","arguments":{{"x":100,"y":50{expect}}}}}"#);
    let expect = r#","expect":{"text":"Welcome"},"timeout_ms":1500"#;
    let flow = format!(r#"{{"steps":[{},{}]}}"#, step(expect), step(""));
    let (answer, inputs) = call_on(Attack::NoTreeAfterTap, ("run_flow", &flow));
    assert_eq!(inputs, 1, "it went on: {answer}");
    assert!(answer.contains("undetermined") && answer.contains(r#""success":false"#), "{answer}");
}

#[test]
fn a_text_that_was_typed_before_the_connection_was_lost_is_not_to_be_typed_again() {
    // F63, RC-04
    let (answer, inputs) = call_on(Attack::LostAtEnter, ("type_text", r#"{"text":"abc","submit":true}"#));
    assert_eq!(inputs, 1, "{answer}");
    assert!(
        answer.contains(r#""retryable":false"#) && answer.contains(r#""dispatched":"unknown""#),
        "{answer}"
    );
    assert!(answer.contains(r#""sent":["text"]"#), "{answer}");
}
