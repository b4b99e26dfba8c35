//! Element trees for tests, written as text: one element per line, two spaces per level.
//!
//! `Switch [0,0][90,40] click check=on text:"ON" desc:"Wi-Fi" id:wifi`. A class without a dot is in `android.widget`.
//! `role:Slider` sets the role directly, as the driver of another platform would.

use crate::meaning::role::from_android_class;
use crate::screen::element::{Affordances, Element, Role, State, ValueRange};
use crate::screen::geometry::{Rect, Size};
use crate::screen::snapshot::{Platform, Snapshot};

pub(crate) fn sketch(text: &str) -> Snapshot {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let margin = lines.first().map_or(0, |line| line.len() - line.trim_start().len());
    let mut elements: Vec<Element> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    for line in lines {
        let depth = (line.len() - line.trim_start().len() - margin) / 2;
        for done in open.drain(depth..) {
            elements[done].end = elements.len() as u32;
        }
        let parent = open.last().map(|&parent| parent as u32);
        open.push(elements.len());
        elements.push(Element { parent, depth: depth as u16, ..element(line.trim()) });
    }
    for done in open {
        elements[done].end = elements.len() as u32;
    }
    Snapshot {
        platform: Platform::Android,
        elements,
        size: Size { width: 1080, height: 2400 },
        ..Snapshot::default()
    }
}

fn element(line: &str) -> Element {
    let mut element = Element::default();
    let mut role = None;
    for (at, word) in words(line).iter().enumerate() {
        if at == 0 {
            let qualified = word.contains('.');
            element.class = if qualified { (*word).into() } else { format!("android.widget.{word}").into() };
        } else if let Some((name, value)) = word.split_once(':') {
            let value = value.trim_matches('"');
            match name {
                "text" => element.text = Some(value.into()),
                "desc" => element.description = Some(value.into()),
                "hint" => element.hint = Some(value.into()),
                "value" => element.value = Some(value.into()),
                "id" => element.stable_id = Some(format!("app:id/{value}").into()),
                "range" => element.value_range = Some(Box::new(range(value))),
                "role" => role = Some(named_role(value)),
                _ => panic!("{word}"),
            }
        } else if word.starts_with('[') {
            element.bounds = bounds(word);
        } else {
            flag(word, &mut element);
        }
    }
    element.role = role.unwrap_or_else(|| from_android_class(&element.class, element.affordances));
    element
}

/// Parted at spaces outside of quotes.
fn words(line: &str) -> Vec<&str> {
    let mut quoted = false;
    let parts = line.split(|c: char| {
        quoted ^= c == '"';
        c == ' ' && !quoted
    });
    parts.filter(|part| !part.is_empty()).collect()
}

fn flag(word: &str, element: &mut Element) {
    let Element { affordances: can, state, .. } = element;
    match word {
        "click" => can.clickable = true,
        "long" => can.long_clickable = true,
        "focusable" => can.focusable = true,
        "scroll" => can.scrollable = true,
        "adjustable" => can.adjustable = true,
        "password" => element.password = true,
        "maybe-hint" => element.text_may_be_hint = true,
        "selected" => state.selected = Some(true),
        "unselected" => state.selected = Some(false),
        "disabled" => state.enabled = Some(false),
        "expanded" => state.expanded = Some(true),
        "collapsed" => state.expanded = Some(false),
        "check=on" | "check=off" => {
            can.checkable = true;
            state.checked = Some(word == "check=on");
        }
        _ => panic!("{word}"),
    }
}

fn bounds(word: &str) -> Rect {
    let numbers: Vec<i32> =
        word.split(['[', ']', ',']).filter(|n| !n.is_empty()).map(|n| n.parse().unwrap()).collect();
    Rect::new(numbers[0], numbers[1], numbers[2], numbers[3])
}

fn range(word: &str) -> ValueRange {
    let (min, max) = word.split_once("..").unwrap();
    ValueRange { min: min.parse().unwrap(), max: max.parse().unwrap() }
}

fn named_role(word: &str) -> Role {
    let roles = [
        Role::Button,
        Role::Text,
        Role::TextField,
        Role::Switch,
        Role::Slider,
        Role::Stepper,
        Role::Picker,
        Role::Dropdown,
        Role::SegmentedControl,
        Role::Tab,
        Role::Key,
        Role::Progress,
        Role::Row,
        Role::List,
        Role::Image,
        Role::Heading,
        Role::Container,
        Role::Unknown,
    ];
    roles.into_iter().find(|role| format!("{role:?}") == word).unwrap()
}

/// Generates any tree, including broken ones, for properties that must hold for all trees.
pub(crate) fn any_snapshot() -> impl proptest::strategy::Strategy<Value = Snapshot> {
    use proptest::prelude::*;
    let classes = prop::sample::select(vec![
        "android.view.View",
        "android.widget.TextView",
        "android.widget.Switch",
        "android.widget.CheckBox",
        "android.widget.SeekBar",
        "android.widget.Spinner",
        "android.widget.LinearLayout",
        "android.widget.Button",
        "android.widget.RadioButton",
        "android.widget.ProgressBar",
        "android.widget.NumberPicker",
        "android.widget.EditText",
        "androidx.recyclerview.widget.RecyclerView",
        "android.webkit.WebView",
    ]);
    let words = prop::option::of(prop::sample::select(vec![
        "38%",
        "1",
        "+",
        "-",
        "Name",
        "Loading…",
        "Expand",
        "3 of 5",
        "ON",
        "",
        "\u{E000}",
        "Volume, 38 percent",
    ]));
    let ids =
        prop::option::of(prop::sample::select(vec!["a:id/plus", "minus", "x:id/loading_view", "é_shimmer"]));
    let edge = || prop_oneof![0..1080i32, Just(i32::MIN), Just(i32::MAX), -50..0i32];
    let flags = prop::collection::vec(any::<bool>(), 8);
    let node =
        (classes, words.clone(), words, ids, (edge(), edge(), edge(), edge()), flags, 0..9u32, 0..12u32);
    prop::collection::vec(node, 0..40).prop_map(|nodes| {
        let elements = nodes.into_iter().enumerate().map(|(index, node)| {
            let (class, text, description, id, (left, top, right, bottom), flags, up, length) = node;
            let affordances = Affordances {
                clickable: flags[0],
                focusable: flags[1],
                scrollable: flags[2],
                checkable: flags[3],
                adjustable: flags[4],
                long_clickable: false,
            };
            let checked = flags[3].then_some(flags[5]);
            Element {
                parent: (index as u32).checked_sub(up).filter(|_| up < 8),
                end: (index as u32 + length).saturating_sub(1),
                class: class.into(),
                role: from_android_class(class, affordances),
                text: text.map(Into::into),
                description: description.map(Into::into),
                stable_id: id.map(Into::into),
                bounds: Rect::new(left, top, right, bottom),
                affordances,
                state: State { checked, selected: Some(flags[6]), ..State::default() },
                password: flags[7] && flags[6],
                ..Element::default()
            }
        });
        Snapshot { elements: elements.collect(), ..Snapshot::default() }
    })
}
