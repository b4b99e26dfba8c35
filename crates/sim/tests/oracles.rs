//! Each oracle must report a false answer and accept a true one.

use std::sync::Arc;

use mdm_sim::agent::{Meaning, PlannedCall, Target};
use mdm_sim::claim::{By, Claim, State};
use mdm_sim::handed::HandedOut;
use mdm_sim::judge::{Acted, Oracle, Violation, classified, judge};
use mdm_sim::world::{Call, ToolAnswer};
use mdm_virtual_device::{
    Applied, Datum, DumpShown, Fault, FaultEvent, Film, Frame, Hit, ShownNode, ShownToast,
};
use serde_json::{Value, json};

fn node(id: &str, text: &str, checked: bool) -> ShownNode {
    ShownNode {
        depth: 1,
        class: "android.widget.CheckBox",
        resource_id: format!("org.sim.app:id/{id}"),
        text: text.to_owned(),
        description: String::new(),
        hint: String::new(),
        enabled: true,
        checkable: true,
        checked,
        selected: false,
        focused: false,
        clickable: true,
        visible: (0, 0, 100, 100),
        told: (0, 0, 100, 100),
        drawn_at: 0,
        level: None,
        datum: None,
    }
}

fn frame(at_ms: u64, nodes: Vec<ShownNode>) -> Frame {
    Frame { at_ms, activity: "org.sim.app/.AlphaActivity".to_owned(), nodes: Arc::new(nodes) }
}

/// From 0: a box that is off and a text; at 1000 the box is on; looks every 100 ms up to 2000.
fn film() -> Film {
    let frames = vec![
        frame(0, vec![node("box", "Mute", false), node("text", "Price", false)]),
        frame(1000, vec![node("box", "Mute", true), node("text", "Price", false)]),
    ];
    let dumps =
        (0..=20).map(|n| DumpShown { at_ms: n * 100, frame: usize::from(n >= 10), is_whole: true }).collect();
    Film { frames, dumps, ..Film::default() }
}

fn call(tool: &'static str, from_ms: u64, to_ms: u64, answer: &Value, is_error: bool) -> Call {
    Call {
        tool,
        arguments: json!({}),
        answer: Some(ToolAnswer::read(&answer.to_string(), is_error)),
        from_ms,
        to_ms,
        commands: Vec::new(),
        inputs: Vec::new(),
        faults: Vec::new(),
        film: film(),
        device: String::new(),
        unbound: None,
        tap_lingers: false,
        toasts: Vec::new(),
        elsewhere: Vec::new(),
        front: String::new(),
    }
}

fn step(tool: &'static str, meaning: Meaning) -> PlannedCall {
    PlannedCall { tool, arguments: json!({}), meaning }
}

fn checked(flag: bool) -> Meaning {
    let claim = Claim::Element { by: By::Text("Mute".into()), state: State::Checked(flag) };
    Meaning { claim: Some(claim), window_ms: 250, ..Meaning::default() }
}

fn mute() -> Meaning {
    let target = Some(Target { label: "Mute".into(), id: Some("box".into()) });
    Meaning { target, window_ms: 250, ..Meaning::default() }
}

/// A tap of the product at a point, and what the phone says that it hit.
fn tapped(id: &str, label: &str) -> Call {
    let answer = json!({"action_id": "x", "success": true, "target": {"label": "Mute", "point": [50, 50]}});
    let hit = Hit {
        class: String::new(),
        resource_id: format!("org.sim.app:id/{id}"),
        label: label.to_owned(),
        acted: true,
        datum: None,
    };
    Call {
        commands: vec!["input tap 50 50".into()],
        inputs: vec![(1500, Applied::Tap { at: (50, 50), hit: Some(hit) }, 1)],
        ..call("tap_element", 1400, 2000, &answer, false)
    }
}

#[track_caller]
fn catches(step: &PlannedCall, call: &Call, oracle: Oracle) {
    let found: Vec<Oracle> = judge(step, call).1.into_iter().map(|violation| violation.oracle).collect();
    assert_eq!(found, [oracle], "{:?}", judge(step, call).1);
}

#[track_caller]
fn passes(step: &PlannedCall, call: &Call) {
    assert_eq!(judge(step, call).1, []);
}

#[test]
fn one_a_false_success_is_caught() {
    let yes = json!({"success": true, "stability_state": "transient"});
    passes(&step("expect_state", checked(true)), &call("expect_state", 1400, 1700, &yes, false));
    let lie = call("expect_state", 1400, 1700, &yes, false);
    catches(&step("expect_state", checked(false)), &lie, Oracle::Truthful);
    let early = call("expect_state", 100, 700, &yes, false);
    catches(&step("expect_state", checked(true)), &early, Oracle::Truthful);
    let confirmed = json!({"verdict": "confirmed"});
    let lie = call("press_back", 1400, 1700, &confirmed, false);
    catches(&step("press_back", checked(false)), &lie, Oracle::Truthful);
    let gone = Claim::Element { by: By::Text("Price".into()), state: State::Gone };
    let meaning = Meaning { claim: Some(gone), timeout_ms: Some(5000), ..Meaning::default() };
    catches(&step("wait_for_ui", meaning), &call("wait_for_ui", 0, 700, &yes, false), Oracle::Truthful);
}

#[test]
fn one_a_text_or_a_value_that_is_not_there_is_caught() {
    let verified = json!({"lifecycle_state": "verified"});
    let meaning = |text: &str| Meaning { text: Some(text.to_owned()), ..Meaning::default() };
    passes(&step("type_text", meaning("Price")), &call("type_text", 0, 500, &verified, false));
    let lie = call("type_text", 0, 500, &verified, false);
    catches(&step("type_text", meaning("Prices")), &lie, Oracle::Truthful);
    let slider = PlannedCall { arguments: json!({"targetValue": 7}), ..step("adjust_control", mute()) };
    catches(&slider, &call("adjust_control", 0, 500, &verified, false), Oracle::Truthful);
}

#[test]
fn two_a_false_rest_is_caught() {
    let stable = json!({"success": true, "stability_state": "stable"});
    let meaning = || Meaning { window_ms: 250, timeout_ms: Some(5000), ..Meaning::default() };
    passes(&step("wait_for_ui_change", meaning()), &call("wait_for_ui_change", 400, 1300, &stable, false));
    let lie = call("wait_for_ui_change", 400, 1200, &stable, false);
    catches(&step("wait_for_ui_change", meaning()), &lie, Oracle::Rest);
}

#[test]
fn two_what_comes_and_goes_between_two_looks_is_counted_and_no_lie() {
    let stable = json!({"success": true, "stability_state": "stable"});
    let mut call = call("wait_for_ui_change", 1100, 1900, &stable, false);
    let (shown, hidden) = (vec![node("box", "Flash", true)], call.film.frames[1].nodes.to_vec());
    call.film.frames.push(frame(1810, shown));
    call.film.frames.push(frame(1850, hidden));
    for look in call.film.dumps.iter_mut().filter(|look| look.at_ms >= 1850) {
        look.frame = 3;
    }
    let meaning = Meaning { window_ms: 250, timeout_ms: Some(5000), ..Meaning::default() };
    let (judged, violations) = judge(&step("wait_for_ui_change", meaning), &call);
    assert_eq!((judged.unseen, violations), (2, vec![]));
}

#[test]
fn three_what_was_sent_twice_or_called_unsent_is_caught() {
    passes(&step("tap_element", mute()), &tapped("box", "Mute"));
    let mut twice = tapped("box", "Mute");
    twice.commands.push("input tap 50 50".into());
    catches(&step("tap_element", mute()), &twice, Oracle::Once);
    let refused = json!({"error": {"code": "ELEMENT_NOT_INTERACTABLE"}, "retryable": false});
    passes(&step("tap_element", mute()), &call("tap_element", 0, 100, &refused, true));
    let sent = Call { answer: Some(ToolAnswer::read(&refused.to_string(), true)), ..tapped("box", "Mute") };
    catches(&step("tap_element", mute()), &sent, Oracle::Once);
    let unknown = json!({"error": {"code": "CONNECTION_LOST"}, "retryable": false, "dispatched": "unknown"});
    let lost = Call { answer: Some(ToolAnswer::read(&unknown.to_string(), true)), ..tapped("box", "Mute") };
    passes(&step("tap_element", mute()), &lost);
    let never = Call { commands: Vec::new(), inputs: Vec::new(), ..tapped("box", "Mute") };
    catches(&step("tap_element", mute()), &never, Oracle::Once);
    let reading =
        Call { commands: vec!["input tap 1 1".into()], ..call("get_ui_tree", 0, 1, &json!({}), false) };
    catches(&step("get_ui_tree", Meaning::default()), &reading, Oracle::Once);
}

#[test]
fn four_a_touch_of_another_element_is_caught() {
    catches(&step("tap_element", mute()), &tapped("text", "Price"), Oracle::Aim);
    let nothing =
        Call { inputs: vec![(1500, Applied::Tap { at: (50, 50), hit: None }, 1)], ..tapped("box", "Mute") };
    catches(&step("tap_element", mute()), &nothing, Oracle::Aim);
    let named = json!({"action_id": "x", "success": true, "target": {"label": "Price"}});
    let other = Call { answer: Some(ToolAnswer::read(&named.to_string(), false)), ..tapped("box", "Mute") };
    catches(&step("tap_element", mute()), &other, Oracle::Aim);
}

#[test]
fn three_a_key_that_hid_the_keyboard_has_to_be_told() {
    let refused = |recovery: Value| {
        let answer =
            json!({"error": {"code": "ELEMENT_NOT_INTERACTABLE"}, "success": false, "recovery": recovery});
        Call { commands: vec!["input keyevent 4".into()], ..call("type_text", 0, 500, &answer, true) }
    };
    let told = refused(json!({"strategies": ["step_back"]}));
    passes(&step("type_text", Meaning::default()), &told);
    let silent = refused(json!({"strategies": ["state_refresh"]}));
    catches(&step("type_text", Meaning::default()), &silent, Oracle::Once);
}

#[test]
fn four_a_choice_among_equal_words_has_to_be_told() {
    let datum = |part: &'static str| Some(Datum { thing: "screen".into(), part: part.into() });
    let touched = |confidence: bool| {
        let mut call = tapped("slider", "0.0");
        let slider =
            ShownNode { description: "Mute".into(), datum: datum("slider"), ..node("slider", "0.0", false) };
        let nodes = vec![ShownNode { datum: datum("box"), ..node("box", "Mute", false) }, slider];
        call.film.frames = vec![frame(0, nodes.clone()), frame(1000, nodes)];
        let Applied::Tap { hit: Some(hit), .. } = &mut call.inputs[0].1 else { panic!() };
        hit.datum = datum("slider");
        let mut target = json!({"label": "Mute", "point": [50, 50]});
        if confidence {
            target["confidence"] = 0.85.into();
        }
        let answer = json!({"action_id": "x", "success": true, "target": target});
        Call { answer: Some(ToolAnswer::read(&answer.to_string(), false)), ..call }
    };
    let target = Some(Target { label: "Mute".into(), id: None });
    let meaning = Meaning { target, window_ms: 250, ..Meaning::default() };
    let asked =
        PlannedCall { arguments: json!({"selector": {"text": "Mute"}}), ..step("tap_element", meaning) };
    let (judged, violations) = judge(&asked, &touched(true));
    assert_eq!((judged.chosen, violations), (1, vec![]));
    let found: Vec<Oracle> = judge(&asked, &touched(false)).1.into_iter().map(|found| found.oracle).collect();
    assert_eq!(found, [Oracle::Aim, Oracle::Datum], "in silence");
}

#[test]
fn four_what_moved_away_is_counted_and_what_the_phone_did_is_not_ours() {
    let mut moved = tapped("text", "Price");
    moved.film.frames.push(frame(1450, vec![node("text", "Price", false)]));
    moved.film.dumps.retain(|dump| dump.at_ms < 1450);
    moved.inputs[0].2 = 2;
    let (judged, violations) = judge(&step("tap_element", mute()), &moved);
    assert_eq!((judged.moved, violations), (1, vec![]));
    let late = FaultEvent { at_ms: 1450, fault: Fault::LateTap };
    passes(&step("tap_element", mute()), &Call { faults: vec![late], ..tapped("text", "Price") });
}

#[test]
fn five_a_late_a_broken_and_a_missing_answer_are_caught() {
    let timeout = json!({"success": false, "timeout": true});
    let meaning = || Meaning { timeout_ms: Some(500), ..Meaning::default() };
    passes(&step("wait_for_ui", meaning()), &call("wait_for_ui", 0, 600, &timeout, false));
    let late = call("wait_for_ui", 0, 601, &timeout, false);
    catches(&step("wait_for_ui", meaning()), &late, Oracle::Timely);
    let asked = |timeout_ms| Meaning { timeout_ms: Some(timeout_ms), ..mute() };
    passes(&step("tap_element", asked(450)), &tapped("box", "Mute"));
    catches(&step("tap_element", asked(250)), &tapped("box", "Mute"), Oracle::Timely);
    let forever = Call { to_ms: 200_000, ..tapped("box", "Mute") };
    catches(&step("tap_element", mute()), &forever, Oracle::Timely);
    let broken = json!({"error": {"code": "INTERNAL_ERROR"}, "dispatched": "unknown"});
    catches(&step("find_element", meaning()), &call("find_element", 0, 1, &broken, true), Oracle::Timely);
    let none = Call { answer: None, ..call("find_element", 0, 1, &broken, true) };
    catches(&step("find_element", meaning()), &none, Oracle::Timely);
}

#[test]
fn six_what_was_there_throughout_is_not_missing() {
    let price = |state| Claim::Element { by: By::Text("Price".into()), state };
    let meaning = |claim| Meaning { claim: Some(claim), timeout_ms: Some(5000), ..Meaning::default() };
    let nothing = json!({"found": false});
    let lie = call("find_element", 200, 700, &nothing, false);
    catches(&step("find_element", meaning(price(State::Exists))), &lie, Oracle::Missing);
    let nowhere = Claim::Element { by: By::Text("Nowhere".into()), state: State::Exists };
    passes(&step("find_element", meaning(nowhere)), &call("find_element", 200, 700, &nothing, false));
    let partial = json!({"found": false, "partial": true});
    passes(
        &step("find_element", meaning(price(State::Exists))),
        &call("find_element", 200, 700, &partial, false),
    );
    let contradicted = json!({"verdict": "contradicted"});
    let lie = call("press_back", 1100, 1900, &contradicted, true);
    catches(&step("press_back", checked(true)), &lie, Oracle::Missing);
    passes(&step("press_back", checked(true)), &call("press_back", 800, 1900, &contradicted, true));
    let mismatch = json!({"success": false, "failure_code": "EXPECT_STATE_MISMATCH"});
    let lie = call("expect_state", 1100, 1900, &mismatch, true);
    catches(&step("expect_state", checked(true)), &lie, Oracle::Missing);
    let absent = json!({"error": {"code": "ELEMENT_NOT_FOUND", "hint": ""}, "retryable": true});
    catches(&step("tap_element", mute()), &call("tap_element", 200, 700, &absent, true), Oracle::Missing);
    let other = json!({"success": false, "failure_code": "VERIFICATION_FAILED", "observed": "screen x/.BetaActivity"});
    let screen = Meaning { claim: Some(Claim::Screen("AlphaActivity".into())), ..Meaning::default() };
    catches(&step("expect_screen", screen), &call("expect_screen", 200, 700, &other, true), Oracle::Missing);
}

/// A button in a row of a list: its number, the words of the row, and where it is.
fn delete_button(row: u32, top: i32) -> ShownNode {
    ShownNode {
        class: "android.widget.Button",
        visible: (0, top, 100, top + 100),
        told: (0, top, 100, top + 100),
        drawn_at: row,
        datum: Some(Datum { part: "delete".into(), ..Datum::of(&format!("row {row} of orders")) }),
        ..node("delete", "Delete", false)
    }
}

fn title(row: u32, text: &str, top: i32) -> ShownNode {
    let datum = Some(Datum::of(&format!("row {row} of orders")));
    let place = (100, top, 500, top + 100);
    ShownNode { clickable: false, visible: place, told: place, datum, ..node("title", text, false) }
}

/// Rows as (number, title) from the top, with a button each.
fn rows(at_ms: u64, rows: &[(u32, &str)]) -> Frame {
    let nodes = rows
        .iter()
        .zip(0i32..)
        .flat_map(|((row, text), at)| [title(*row, text, at * 100), delete_button(*row, at * 100)]);
    frame(at_ms, nodes.collect())
}

/// Returns a film of two screens, the second from 1000 on, with a dump at each of these times.
fn two_screens(first: Frame, second: Frame, looks: &[u64]) -> Film {
    let dump = |at_ms: &u64| DumpShown { at_ms: *at_ms, frame: usize::from(*at_ms >= 1000), is_whole: true };
    let dumps = looks.iter().map(dump).collect();
    Film { frames: vec![first, second], dumps, ..Film::default() }
}

/// The answer of get_ui_tree for a frame, with ids from `first` on.
fn tree(frame: &Frame, first: u32) -> Value {
    let element = |(at, node): (usize, &ShownNode)| {
        let (left, top, right, bottom) = node.visible;
        json!({"element_id": format!("e{}", first as usize + at), "bounds": [left, top, right, bottom], "type": node.class})
    };
    json!({"elements": frame.nodes.iter().enumerate().map(element).collect::<Vec<_>>()})
}

/// A touch at 1500 by this call, which met the second screen.
fn touch_at(point: (i32, i32), datum: Option<Datum>, arguments: Value, film: Film) -> Call {
    let hit =
        Hit { class: String::new(), resource_id: String::new(), label: "Delete".into(), acted: true, datum };
    let answer = json!({"action_id": "x", "success": true, "target": {"label": "Delete"}});
    Call {
        arguments,
        commands: vec![format!("input tap {} {}", point.0, point.1)],
        inputs: vec![(1500, Applied::Tap { at: point, hit: Some(hit) }, 1)],
        film,
        ..call("tap_element", 1400, 2000, &answer, false)
    }
}

fn oracles(violations: &[Violation]) -> Vec<Oracle> {
    violations.iter().map(|violation| violation.oracle).collect()
}

#[test]
fn seven_an_id_that_came_to_another_row_is_caught() {
    // F1: the button of row 1 is handed out as e1; after a scroll row 7 is at its place.
    let (was, is) = (rows(0, &[(1, "Eggs"), (2, "Milk")]), rows(1000, &[(7, "Bread"), (8, "Nowak")]));
    let mut handed = HandedOut::default();
    let mut read = call("get_ui_tree", 0, 100, &tree(&was, 0), false);
    read.film = two_screens(was.clone(), is.clone(), &[50]);
    assert_eq!(handed.learn(&read).1, []);
    let meets = |row: u32| {
        let datum = Some(Datum { part: "delete".into(), ..Datum::of(&format!("row {row} of orders")) });
        touch_at(
            (50, 50),
            datum,
            json!({"elementId": "e1"}),
            two_screens(was.clone(), is.clone(), &[50, 1450]),
        )
    };
    assert_eq!(oracles(&handed.touched(&meets(7)).1), [Oracle::Datum]);
    assert_eq!(handed.touched(&meets(1)).1, []);
    let late = FaultEvent { at_ms: 1450, fault: Fault::LateTap };
    assert_eq!(handed.touched(&Call { faults: vec![late], ..meets(7) }).1, [], "the phone did that");
    let mut again = call("get_ui_tree", 1400, 1600, &tree(&is, 0), false);
    again.film = two_screens(was, is, &[1500]);
    let found = handed.learn(&again).1;
    assert_eq!(oracles(&found), [Oracle::Datum, Oracle::Datum], "one for each of the two rows: {found:?}");
}

#[test]
fn seven_what_changed_after_the_look_and_what_nobody_can_tell_apart_is_counted() {
    let (was, is) = (rows(0, &[(1, "Eggs"), (2, "Milk")]), rows(1000, &[(2, "Milk")]));
    let mut handed = HandedOut::default();
    let mut read = call("get_ui_tree", 0, 100, &tree(&was, 0), false);
    read.film = two_screens(was.clone(), is.clone(), &[50]);
    handed.learn(&read);
    let met = Some(Datum { part: "delete".into(), ..Datum::of("row 2 of orders") });
    let blind = two_screens(was, is, &[50, 950]);
    let (judged, violations) = handed.touched(&touch_at((50, 50), met, json!({"elementId": "e1"}), blind));
    assert_eq!((judged.moved, violations), (1, vec![]), "row 1 went after the last look");
    let (was, is) = (rows(0, &[(1, "Eggs")]), rows(1000, &[(2, "Eggs")]));
    let mut handed = HandedOut::default();
    let mut read = call("get_ui_tree", 0, 100, &tree(&was, 0), false);
    read.film = two_screens(was.clone(), is.clone(), &[50]);
    handed.learn(&read);
    let mut again = call("get_ui_tree", 1400, 1600, &tree(&is, 0), false);
    again.film = two_screens(was, is, &[1500]);
    let (judged, violations) = handed.learn(&again);
    assert_eq!((judged.twins, violations), (2, vec![]), "the same words at the same place");
}

#[test]
fn seven_words_that_fit_another_row_or_several_are_caught() {
    let (was, is) = (rows(0, &[]), rows(1000, &[(1, "Eggs"), (2, "Milk")]));
    let film = || two_screens(was.clone(), is.clone(), &[1450]);
    let met = |row: u32| Some(Datum { part: "delete".into(), ..Datum::of(&format!("row {row} of orders")) });
    let asks = |words: Value| PlannedCall { arguments: words, ..step("tap_element", Meaning::default()) };
    let in_milk = json!({"selector": {"text": "Delete", "inside": {"text": "Milk"}}});
    passes(&asks(in_milk.clone()), &touch_at((50, 150), met(2), in_milk.clone(), film()));
    catches(&asks(in_milk.clone()), &touch_at((50, 50), met(1), in_milk, film()), Oracle::Datum);
    let any = json!({"selector": {"text": "Delete"}});
    catches(&asks(any.clone()), &touch_at((50, 50), met(1), any, film()), Oracle::Datum);
}

#[test]
fn eight_an_input_after_the_calls_time_is_caught() {
    // F5: the touch comes at 1500, and the call began at 1400.
    let timed = |timeout_ms| Meaning { timeout_ms: Some(timeout_ms), window_ms: 250, ..Meaning::default() };
    let touch = || touch_at((50, 50), None, json!({}), film());
    passes(&step("swipe", timed(100)), &touch());
    let late = Call { inputs: vec![(1700, Applied::Key { code: 4 }, 1)], ..touch() };
    catches(&step("swipe", timed(100)), &late, Oracle::Deadline);
}

#[test]
fn nine_another_phone_and_a_silent_choice_are_caught() {
    // F2
    let stray =
        Call { elsewhere: vec![Applied::Key { code: 4 }], ..call("get_ui_tree", 0, 1, &json!({}), false) };
    catches(&step("get_ui_tree", Meaning::default()), &stray, Oracle::Device);
    let chosen = Call { unbound: Some("two fit".into()), ..call("get_ui_tree", 0, 1, &json!({}), false) };
    catches(&step("get_ui_tree", Meaning::default()), &chosen, Oracle::Device);
}

/// An action at 950, just before the box is checked at 1000, whose answer says that nothing changed.
fn unmoved(to_ms: u64) -> Call {
    let mut call = Call {
        commands: vec!["input tap 50 50".into()],
        inputs: vec![(950, Applied::Tap { at: (50, 50), hit: None }, 0)],
        ..call("tap", 900, to_ms, &json!({"action_id": "x", "success": true}), false)
    };
    if let Some(answer) = &mut call.answer {
        answer.lines = "nothing that counts changed on the screen\n".into();
    }
    call
}

#[test]
fn ten_a_change_that_is_called_none_is_caught() {
    // F13
    passes(&step("tap", Meaning::default()), &unmoved(990));
    catches(&step("tap", Meaning::default()), &unmoved(1500), Oracle::Unchanged);
    let mut drawn = unmoved(990);
    drawn.film.dumps.push(DumpShown { at_ms: 990, frame: 0, is_whole: true });
    drawn.film.dumps.sort_by_key(|look| look.at_ms);
    drawn.film.drawn_ms.push(960);
    catches(&step("tap", Meaning::default()), &drawn, Oracle::Unchanged);
}

#[test]
fn ten_what_came_and_went_between_two_looks_is_counted() {
    // A dialog comes at 940, after the look at 900, and the touch at 950 closes it.
    let mut call = unmoved(1500);
    let page = call.film.frames[0].nodes.to_vec();
    let dialog = frame(940, vec![node("dialog", "Survey", false)]);
    call.film.frames = vec![frame(0, page.clone()), dialog, frame(951, page)];
    for look in &mut call.film.dumps {
        look.frame = if look.at_ms > 950 { 2 } else { 0 };
    }
    call.inputs[0].2 = 1;
    let (judged, violations) = judge(&step("tap", Meaning::default()), &call);
    assert_eq!((judged.unseen, violations), (1, vec![]));
    // One look that shows it is enough to know better.
    call.film.dumps.iter_mut().filter(|look| look.at_ms == 1000).for_each(|look| look.frame = 1);
    catches(&step("tap", Meaning::default()), &call, Oracle::Unchanged);
}

#[test]
fn ten_an_action_that_did_something_is_no_no_op() {
    // F10
    let no_op = call("classify_action_outcome", 1600, 1600, &json!({"outcome": "no_op"}), false);
    assert_eq!(classified(Acted::of(&unmoved(990)), &no_op), None);
    let found = classified(Acted::of(&unmoved(1500)), &no_op).map(|violation| violation.oracle);
    assert_eq!(found, Some(Oracle::Unchanged));
    let unknown = call("classify_action_outcome", 1600, 1600, &json!({"outcome": "unknown"}), false);
    assert_eq!(classified(Acted::of(&unmoved(1500)), &unknown), None);
}

#[test]
fn eleven_what_could_not_be_seen_is_not_contradicted() {
    // F14 and F15
    let saved = Claim::Element { by: By::Text("Saved".into()), state: State::Visible };
    let meaning = || Meaning { claim: Some(saved.clone()), ..Meaning::default() };
    let contradicted = json!({"verdict": "contradicted"});
    let denial = || call("press_back", 1100, 1900, &contradicted, true);
    passes(&step("press_back", meaning()), &denial());
    let toast = ShownToast { text: "Saved".into(), from_ms: 1200, until_ms: 3200 };
    catches(&step("press_back", meaning()), &Call { toasts: vec![toast], ..denial() }, Oracle::Unseen);
    let mut covered = denial();
    let alert = ShownNode { datum: Some(Datum::of("system window Battery low")), ..node("ok", "OK", false) };
    covered.film.frames[1] = frame(1000, vec![alert]);
    catches(&step("press_back", meaning()), &covered, Oracle::Unseen);
}

#[test]
fn six_a_control_in_front_is_not_called_covered() {
    // F30: what comes later in the document lies behind it.
    let front = ShownNode { drawn_at: 9, datum: Some(Datum::of("front")), ..node("box", "Mute", false) };
    let behind = ShownNode { drawn_at: 4, datum: Some(Datum::of("behind")), ..node("card", "Card", false) };
    let refused = json!({"error": {"code": "ELEMENT_NOT_INTERACTABLE", "message": "e1 is covered at every point by e2"}});
    let arguments = json!({"selector": {"text": "Mute"}});
    let asks = PlannedCall { arguments: arguments.clone(), ..step("tap_element", Meaning::default()) };
    let refusal = |nodes: Vec<ShownNode>| Call {
        arguments: arguments.clone(),
        film: two_screens(frame(0, Vec::new()), frame(1000, nodes), &[1500]),
        ..call("tap_element", 1400, 1600, &refused, true)
    };
    catches(&asks, &refusal(vec![front.clone(), behind.clone()]), Oracle::Missing);
    passes(&asks, &refusal(vec![ShownNode { drawn_at: 2, ..front }, behind]));
}
