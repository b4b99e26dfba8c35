use proptest::prelude::*;

use super::*;
use crate::meaning::sketch::{any_snapshot, sketch};
use crate::screen::element::Affordances;

fn with_state<T>(text: &str, index: usize, inspect: impl Fn(&ControlState<'_>) -> T) -> T {
    let snapshot = sketch(text);
    let state = read(&snapshot, index);
    inspect(&state)
}

/// Returns the value, true if it is a percentage, and the range.
fn numbers(text: &str) -> (Option<f64>, bool, Option<(f64, f64)>) {
    with_state(text, 0, |state| {
        let range = state.value_range.map(|range| (range.min, range.max));
        (state.value, state.unit == Some(Unit::Percent), range)
    })
}

fn choice(text: &str, index: usize) -> Option<(Option<String>, Option<String>)> {
    with_state(text, index, |state| {
        state.choice.as_ref().map(|c| (c.id.map(String::from), c.label.as_deref().map(String::from)))
    })
}

#[test]
fn unreported_state_stays_none() {
    // ST-01
    let snapshot = sketch("TextView [0,0][10,10]");
    assert_eq!(read(&snapshot, 0), ControlState::default());
    assert_eq!(read(&snapshot, 9), ControlState::default());
}

#[test]
fn a_seek_bar_without_text_has_no_value() {
    // W5: an empty description is not zero.
    for text in [
        "SeekBar [0,0][900,80] focusable",
        "SeekBar [0,0][900,80] desc:\"\" text:\"\"",
        "ProgressBar [0,0][9,9]",
    ] {
        let (value, raw) = with_state(text, 0, |state| (state.value, state.raw_value.map(String::from)));
        assert_eq!((value, raw), (None, None), "{text}");
    }
}

#[test]
fn the_text_of_a_seek_bar_is_its_value() {
    // W5
    assert_eq!(numbers(r#"SeekBar [0,0][900,80] text:"50.0" desc:"""#), (Some(50.0), false, None));
    assert_eq!(numbers(r#"SeekBar [0,0][900,80] desc:"38%""#), (Some(38.0), true, None));
    assert_eq!(numbers(r#"SeekBar [0,0][900,80] desc:"Volume, 38 percent""#), (Some(38.0), true, None));
    assert_eq!(numbers(r#"SeekBar [0,0][900,80] desc:"Volume""#), (None, false, None));
    assert_eq!(numbers(r#"ProgressBar [0,0][900,80] text:"25.0""#), (Some(25.0), false, None));
}

#[test]
fn selected_comes_only_from_the_platform() {
    // W6
    let both =
        |word: &str| with_state(&format!("TextView [0,0][9,9] {word} text:\"Dark mode\""), 0, |s| s.selected);
    assert_eq!((both("selected"), both("unselected"), both("click")), (Some(true), Some(false), None));
}

#[test]
fn percent_and_own_unit_are_never_mixed() {
    // W25, ST-03
    let slider = "XCUIElementType.Slider [0,0][900,80] role:Slider adjustable";
    assert_eq!(
        numbers(&format!("{slider} value:\"50%\" range:10..30")),
        (Some(20.0), false, Some((10.0, 30.0)))
    );
    assert_eq!(numbers(&format!("{slider} value:\"29%\" range:0..255")).0, Some(73.95));
    assert_eq!(numbers(&format!("{slider} value:\"50%\"")), (Some(50.0), true, None));
    assert_eq!(
        numbers(&format!("{slider} value:\"12.5\" range:10..30")),
        (Some(12.5), false, Some((10.0, 30.0)))
    );
    assert_eq!(numbers(&format!("{slider} value:\"150%\" range:10..30")), (Some(150.0), true, None));
    assert_eq!(numbers(&format!("{slider} value:\"99\" range:10..30")), (Some(99.0), false, None));
    assert_eq!(
        numbers(&format!("{slider} value:\"5%\" range:30..10")),
        (Some(5.0), true, None),
        "no range at all"
    );
    assert_eq!(numbers(&format!("{slider} range:10..30")), (None, false, Some((10.0, 30.0))));
}

#[test]
fn a_range_with_one_unknown_end_is_left_out() {
    let (value, unit, range) = with_state(r#"RatingBar [0,0][500,80] click desc:"3 of 5""#, 0, |state| {
        (state.value, state.unit.map(|unit| unit == Unit::Of(5.0)), state.value_range)
    });
    assert_eq!((value, unit, range), (Some(3.0), Some(true), None));
}

#[test]
fn a_value_in_words_is_kept_as_raw_value() {
    let text = r#"XCUIElementType.Slider [0,0][900,80] role:Slider adjustable value:"Medium""#;
    let (value, raw) = with_state(text, 0, |state| (state.value, state.raw_value.map(String::from)));
    assert_eq!((value, raw), (None, Some("Medium".into())));
}

#[test]
fn fields_report_their_text_but_never_a_password() {
    // ST-02, ST-07
    let content = |text: &str| {
        with_state(text, 0, |state| match state.text_value {
            Some(Value::Text(text)) => Some(text.to_owned()),
            Some(Value::Hidden { chars }) => Some(format!("hidden {chars:?}")),
            None => None,
        })
    };
    assert_eq!(content(r#"EditText [0,0][9,9] text:"ada" hint:"Name""#), Some("ada".into()));
    assert_eq!(content(r#"EditText [0,0][9,9] text:"Name" hint:"Name""#), None);
    assert_eq!(content("EditText [0,0][9,9]"), None);
    assert_eq!(
        content(r#"EditText [0,0][9,9] password text:"hunter2""#),
        Some("hidden None".into()),
        "or a hint"
    );
    let ios = "XCUIElementType.TextField [0,0][9,9] role:TextField";
    assert_eq!(content(&format!(r#"{ios} desc:"Email" value:"a@b.c""#)), Some("a@b.c".into()));
    assert_eq!(content(&format!(r#"{ios} value:"Email" hint:"Email""#)), None);
    assert_eq!(content(&format!(r#"{ios} password desc:"PIN" value:"••••""#)), Some("hidden Some(4)".into()));
}

#[test]
fn a_number_in_a_password_is_not_a_value() {
    // ST-07
    let text = r#"SeekBar [0,0][900,80] password text:"1234" desc:"1234""#;
    let (value, raw) = with_state(text, 0, |state| (state.value, state.raw_value.map(String::from)));
    assert_eq!((value, raw), (None, None));
}

#[test]
fn the_reported_state_of_a_switch_wins_over_its_text() {
    // ST-06
    let checked = |text: &str| with_state(text, 0, |state| state.checked);
    assert_eq!(checked(r#"Switch [0,0][9,9] check=off text:"ON""#), Some(false));
    assert_eq!(checked(r#"Switch [0,0][9,9] text:"ON""#), Some(true));
    assert_eq!(checked(r#"Switch [0,0][9,9] text:"Выкл.""#), Some(false));
    assert_eq!(checked(r#"Switch [0,0][9,9] text:"On the road""#), None);
    assert_eq!(checked(r#"CheckBox [0,0][9,9] text:"ON""#), None);
}

#[test]
fn a_row_has_the_state_of_its_switch() {
    let text = r#"
        LinearLayout [0,500][1080,660] click
          TextView [40,520][600,580] text:"Airplane mode"
          Switch [880,540][1036,620] check=on
    "#;
    assert_eq!(with_state(text, 0, |state| state.checked), Some(true));
}

#[test]
fn dropdowns_report_their_choice() {
    // ST-02, ST-04
    let own = r#"Spinner [0,0][500,80] click text:"English""#;
    assert_eq!(choice(own, 0), Some((None, Some("English".into()))));
    let inside = r#"
        Spinner [0,0][500,80] click
          TextView [0,0][400,80] id:text1 text:"English"
    "#;
    assert_eq!(choice(inside, 0), Some((None, Some("English".into()))));
    assert_eq!(choice("Spinner [0,0][500,80] click", 0), None);
    let wheel = r#"XCUIElementType.PickerWheel [0,0][500,80] role:Picker adjustable value:"7 o’clock""#;
    assert_eq!(choice(wheel, 0), Some((None, Some("7 o’clock".into()))));
}

#[test]
fn groups_report_the_chosen_option() {
    // ST-04
    let tabs = r#"
        android.view.View [0,2200][1080,2400]
          android.view.View [0,2200][540,2400] selected focusable id:home_tab
            TextView [0,2300][540,2400] text:"Home"
          android.view.View [540,2200][1080,2400] unselected click focusable
            TextView [540,2300][1080,2400] text:"Search"
    "#;
    assert_eq!(choice(tabs, 0), Some((Some("app:id/home_tab".into()), Some("Home".into()))));
    let radios = r#"
        RadioGroup [0,0][500,200]
          RadioButton [0,0][500,100] click check=off text:"Pickup"
          RadioButton [0,100][500,200] click check=on text:"Delivery"
    "#;
    assert_eq!(choice(radios, 0), Some((None, Some("Delivery".into()))));
    let none = radios.replace("check=on", "check=off");
    assert_eq!(choice(&none, 0), None);
    let segments = r#"
        XCUIElementType.SegmentedControl [0,0][500,60] role:SegmentedControl
          XCUIElementType.Button [0,0][250,60] role:Button click desc:"List"
          XCUIElementType.Button [250,0][500,60] role:Button click selected desc:"Map"
    "#;
    assert_eq!(choice(segments, 0), Some((None, Some("Map".into()))));
}

#[test]
fn a_stepper_has_the_value_between_its_buttons() {
    let text = r#"
        LinearLayout [600,940][1000,1040]
          ImageButton [600,940][700,1040] click desc:"Decrease"
          EditText [720,950][880,1030] click text:"2"
          ImageButton [900,940][1000,1040] click desc:"Increase"
    "#;
    assert_eq!(numbers(text), (Some(2.0), false, None));
    let picker = r#"
        NumberPicker [0,0][200,600]
          EditText [0,200][200,400] text:"5"
    "#;
    assert_eq!(numbers(picker), (Some(5.0), false, None));
    let ios = r#"XCUIElementType.Stepper [0,0][90,30] role:Stepper adjustable value:"3" range:0..10"#;
    assert_eq!(numbers(ios), (Some(3.0), false, Some((0.0, 10.0))));
}

#[test]
fn expanded_comes_from_the_platform_or_the_description() {
    let expanded = |text: &str| with_state(text, 0, |state| state.expanded);
    assert_eq!(expanded(r#"ImageButton [0,0][80,80] click desc:"Expand alarm""#), Some(false));
    assert_eq!(expanded(r#"ImageButton [0,0][80,80] click desc:"Collapse alarm""#), Some(true));
    assert_eq!(
        expanded(r#"ImageButton [0,0][80,80] click expanded desc:"Expand alarm""#),
        Some(true),
        "ST-06"
    );
    assert_eq!(expanded(r#"ImageButton [0,0][80,80] click desc:"More""#), None);
}

proptest! {
    #[test]
    fn reading_any_tree_does_not_panic(snapshot in any_snapshot()) {
        for (index, element) in snapshot.elements.iter().enumerate() {
            let state = read(&snapshot, index);
            prop_assert!(state.value.is_none_or(f64::is_finite));
            prop_assert_eq!(state.value.is_some(), state.unit.is_some());
            prop_assert_eq!(state.selected, element.state.selected, "W6");
            if let Some(checked) = element.state.checked {
                prop_assert_eq!(state.checked, Some(checked), "ST-06");
            }
            if element.password {
                prop_assert!(state.raw_value.is_none() && !matches!(state.text_value, Some(Value::Text(_))));
            }
            let _ = label::label(&snapshot, index);
            let _ = crate::meaning::role::in_context(&snapshot, index);
        }
    }

    #[test]
    fn a_percentage_is_converted_into_the_range(percent in 0u32..=100, min in -1000i32..1000, length in 1i32..1000) {
        let (min, max) = (f64::from(min), f64::from(min + length));
        let element = Element {
            role: Role::Slider,
            value: Some(format!("{percent}%").into()),
            value_range: Some(Box::new(ValueRange { min, max })),
            affordances: Affordances { adjustable: true, ..Affordances::default() },
            end: 1,
            ..Element::default()
        };
        let snapshot = Snapshot { elements: vec![element], ..Snapshot::default() };
        let state = read(&snapshot, 0);
        let value = state.value.unwrap();
        prop_assert!(value >= min && value <= max);
        prop_assert_eq!(state.unit, Some(Unit::None));
    }
}
