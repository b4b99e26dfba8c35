//! The same screen in five formats gives the same elements.

use mdm_core::meaning::label;
use mdm_core::screen::element::{Element, Role};
use mdm_core::screen::geometry::{Rect, Size};
use mdm_core::screen::snapshot::{Platform, Snapshot};
use mdm_ios::tree::{Format, detect};

use crate::check::{TUNER, kinds, read};

/// Returns the elements without containers, on which the sources do not agree.
fn without_containers(snapshot: &Snapshot) -> Vec<&Element> {
    snapshot.elements.iter().filter(|element| element.role != Role::Container).collect()
}

const BACK: (Role, &str, &str) = (Role::Button, "back", "Back");

/// Role, identifier and label of all elements except containers.
const EXPECT: [(Role, &str, &str); 26] = [
    BACK,
    (Role::Heading, "", "Sound & Feel"),
    (Role::List, "controls", ""),
    (Role::Row, "row.dark", "Dark mode"),
    (Role::Text, "", "Dark mode"),
    (Role::Switch, "dark", "Dark mode"),
    (Role::Switch, "haptics", "Haptics"),
    (Role::Slider, "volume", "Volume"),
    (Role::TextField, "name", "Your name"),
    (Role::TextField, "city", "City"),
    (Role::TextField, "pin", "PIN"),
    (Role::TextField, "find", "Search"),
    (Role::TextField, "notes", "Notes"),
    (Role::Stepper, "copies", "Copies"),
    (Role::Button, "copies-dec", "Decrement"),
    (Role::Button, "copies-inc", "Increment"),
    (Role::Picker, "hour", "Hour"),
    (Role::SegmentedControl, "unit", ""),
    (Role::Button, "", "Metric"),
    (Role::Button, "", "Imperial"),
    (Role::Link, "", "Terms of use"),
    (Role::Image, "", "Logo"),
    (Role::Progress, "", "Upload"),
    (Role::Progress, "", "In progress"),
    (Role::Tab, "tab.home", "Home"),
    (Role::Tab, "tab.more", "More"),
];

#[test]
fn roles_identifiers_and_labels_are_the_same_in_all_formats() {
    for (format, source) in TUNER {
        assert_eq!(detect(source.as_bytes()), Some(format));
        let snapshot = read(source);
        assert_eq!(kinds(&snapshot), [], "{format:?}");
        assert_eq!((snapshot.platform, snapshot.elements.len()), (Platform::Ios, 29), "{format:?}");
        assert_eq!(snapshot.size, Size { width: 390, height: 844 }, "{format:?}");
        assert_eq!(snapshot.screen, None, "{format:?}");
        let found: Vec<_> = without_containers(&snapshot)
            .iter()
            .map(|element| {
                let id = element.stable_id.as_deref().unwrap_or_default();
                (element.role, id, label::own_words(element).unwrap_or_default())
            })
            .collect();
        assert_eq!(found, EXPECT, "{format:?}");
    }
}

#[test]
fn states_values_and_bounds_are_the_same_in_all_formats() {
    let (_, first) = TUNER[0];
    let first = read(first);
    for (format, source) in &TUNER[1..] {
        let snapshot = read(source);
        for (a, b) in without_containers(&first).into_iter().zip(without_containers(&snapshot)) {
            let name = b.stable_id.as_deref().or(b.description.as_deref()).unwrap_or_default();
            let place = format!("{name} in {format:?}");
            assert_eq!((a.state.enabled, a.state.selected), (b.state.enabled, b.state.selected), "{place}");
            assert_eq!((a.state.checked, a.state.expanded), (b.state.checked, b.state.expanded), "{place}");
            assert_eq!((&a.text, &a.description, &a.hint), (&b.text, &b.description, &b.hint), "{place}");
            assert_eq!((a.password, a.displayed), (b.password, b.displayed), "{place}");
            // WDA writes whole points into XML.
            let edge = if name == "volume" { Rect { right: b.bounds.right, ..a.bounds } } else { a.bounds };
            assert_eq!(edge, b.bounds, "{place}");
            assert_eq!(a.affordances, b.affordances, "{place}");
        }
    }
}

#[test]
fn every_control_has_its_state_in_all_formats() {
    // ST-02, W26
    for (format, source) in TUNER {
        let snapshot = read(source);
        let by_id = |id: &str| {
            snapshot.elements.iter().find(|element| element.stable_id.as_deref() == Some(id)).unwrap()
        };
        assert_eq!(by_id("dark").state.checked, Some(true), "{format:?}");
        assert_eq!(by_id("dark").state.enabled, Some(true), "{format:?}");
        assert_eq!(by_id("haptics").state.checked, Some(false), "{format:?}");
        assert_eq!(by_id("haptics").state.enabled, Some(false), "{format:?}");
        assert_eq!(by_id("volume").value.as_deref(), Some("50%"), "{format:?}");
        assert_eq!(by_id("name").text.as_deref(), Some("Ada 😀 \"L\" <&>"), "{format:?}");
        assert_eq!(by_id("name").hint.as_deref(), Some("Name"), "{format:?}");
        assert_eq!((&by_id("city").text, &by_id("city").value), (&None, &None), "{format:?}");
        assert_eq!(by_id("notes").text.as_deref(), Some("line 1\nline 2"), "{format:?}");
        assert_eq!(by_id("copies").value.as_deref(), Some("3"), "{format:?}");
        assert_eq!(by_id("hour").value.as_deref(), Some("12 o’clock"), "{format:?}");
        assert_eq!(by_id("tab.home").state.selected, Some(true), "{format:?}");
        assert_eq!(by_id("tab.more").state.selected, Some(false), "{format:?}");
        // ST-07: a secret is only in the guarded text.
        let pin = by_id("pin");
        assert_eq!(
            (pin.password, pin.text.as_deref(), &pin.value),
            (true, Some("••••"), &None),
            "{format:?}"
        );
        assert_eq!(label::value(pin), Some(label::Value::Hidden { chars: Some(4) }), "{format:?}");
    }
}

#[test]
fn a_range_is_known_only_if_the_source_has_it() {
    // W5, W25
    for (format, source) in TUNER {
        let snapshot = read(source);
        let ranges: Vec<(f64, f64)> = snapshot
            .elements
            .iter()
            .filter_map(|element| element.value_range.as_deref())
            .map(|range| (range.min, range.max))
            .collect();
        let expect: &[(f64, f64)] = if format == Format::WdaJson { &[(0.0, 10.0), (1.0, 9.0)] } else { &[] };
        assert_eq!(ranges, expect, "{format:?}");
    }
}

#[test]
fn every_format_is_one_tree_and_a_flat_list_is_in_its_application() {
    for (format, source) in TUNER {
        let snapshot = read(source);
        assert_eq!(snapshot.roots().count(), 1, "{format:?}");
        assert_eq!(snapshot.elements[0].end as usize, snapshot.elements.len());
        let deepest = snapshot.elements.iter().map(|element| element.depth).max();
        assert_eq!(deepest, Some(if format == Format::IdbLegacy { 1 } else { 3 }), "{format:?}");
    }
}

#[test]
fn a_tree_inside_a_json_string_is_read() {
    for (format, source) in TUNER {
        // One source has this envelope already and is skipped below.
        let value = serde_json::Value::String(source.to_owned());
        let answer = format!("{{\"sessionId\":null, \"value\" : {value}}}");
        if source.starts_with("{\"value\"") || source.starts_with("{\n \"value\"") {
            continue;
        }
        assert_eq!(detect(answer.as_bytes()), Some(format));
        assert_eq!(read(&answer), read(source), "{format:?}");
    }
    let json: serde_json::Value = serde_json::from_str(TUNER[1].1).unwrap();
    let inner = json.get("value").unwrap();
    let texts = [inner.to_string(), serde_json::json!({ "value": inner.to_string() }).to_string()];
    for text in texts {
        assert_eq!(detect(text.as_bytes()), Some(Format::WdaJson));
        assert_eq!(read(&text).elements, read(TUNER[1].1).elements);
    }
}
