//! The derivation rules, control by control: source attributes and the resulting element (ST-01, ST-02).

use mdm_core::screen::element::{Affordances, Element, Role, State};

use crate::check::one;

fn xml(kind: &str, attributes: &str) -> Element {
    one(&format!(
        "<AppiumAUT><XCUIElementType{kind} type=\"XCUIElementType{kind}\" {attributes}/></AppiumAUT>"
    ))
}

fn wda(members: &str) -> Element {
    one(&format!("{{\"rect\":{{\"x\":0,\"y\":0,\"width\":1,\"height\":1}},{members}}}"))
}

fn idb(members: &str) -> Element {
    one(&format!("[{{\"AXFrame\":\"{{{{0, 0}}, {{1, 1}}}}\",{members}}}]"))
}

fn texts(element: &Element) -> [Option<&str>; 5] {
    let Element { stable_id, text, description, value, hint, .. } = element;
    [stable_id, text, description, value, hint].map(Option::as_deref)
}

#[test]
fn unreported_attributes_are_none() {
    // ST-01, ID-03
    let nothing = xml("Other", "");
    assert_eq!(nothing.state, State::default());
    assert_eq!((nothing.displayed, nothing.value_range.is_none()), (None, true));
    assert_eq!(texts(&nothing), [None; 5]);
    let nulls = r#""AXLabel":null,"AXValue":null,"AXUniqueId":null,"enabled":null,"traits":null,"expanded":null,
        "hidden":null,"focused":null,"placeholder":null,"type":"Button","frame":null,"subrole":null"#;
    let nulls = idb(nulls);
    assert_eq!((nulls.state, nulls.displayed), (State::default(), None));
    assert_eq!(texts(&nulls), [None; 5]);
    let empty = wda(r#""type":"Button","label":"","value":"","name":"","rawIdentifier":"","isEnabled":"""#);
    assert_eq!((empty.state, texts(&empty)), (State::default(), [None; 5]));
}

#[test]
fn a_name_is_an_identifier_unless_it_repeats_label_or_value() {
    // ID-03
    let id = |attributes: &str| xml("Button", attributes).stable_id.map(String::from);
    assert_eq!(id("name=\"Log in\" label=\"Log in\""), None);
    assert_eq!(id("name=\"Log in\" label=\"Log in \""), None);
    assert_eq!(id("name=\"12\" label=\"Items\" value=\"12\""), None);
    assert_eq!(id("name=\"login\" label=\"Log in\"").as_deref(), Some("login"));
    assert_eq!(id("name=\"login\"").as_deref(), Some("login"));
    // If the source has a raw identifier, it decides alone, even if it is empty or equals the label.
    let raw = |members: &str| wda(members).stable_id.map(String::from);
    assert_eq!(raw(r#""name":"login","label":"Log in","rawIdentifier":null"#), None);
    assert_eq!(raw(r#""name":"OK","label":"OK","rawIdentifier":"OK""#).as_deref(), Some("OK"));
    assert_eq!(raw(r#""name":"login","label":"Log in","type":"Button""#).as_deref(), Some("login"));
    assert_eq!(idb(r#""AXUniqueId":"a.b","AXLabel":"x""#).stable_id.as_deref(), Some("a.b"));
    assert_eq!(idb(r#""AXLabel":"x","title":"x","type":"Button""#).stable_id, None);
}

#[test]
fn switches_are_checked_by_their_value() {
    let checked = |element: Element| (element.role, element.state.checked, element.affordances.checkable);
    for kind in ["Switch", "Toggle"] {
        assert_eq!(checked(xml(kind, "value=\"1\"")), (Role::Switch, Some(true), true));
        assert_eq!(checked(xml(kind, "value=\"0\"")), (Role::Switch, Some(false), true));
        assert_eq!(checked(xml(kind, "")), (Role::Switch, None, true));
    }
    assert_eq!(checked(xml("CheckBox", "value=\"1\"")), (Role::Checkbox, Some(true), true));
    assert_eq!(checked(xml("RadioButton", "value=\"0\"")), (Role::Radio, Some(false), true));
    for (value, expect) in [
        ("\"1\"", Some(true)),
        ("1", Some(true)),
        ("true", Some(true)),
        ("0", Some(false)),
        ("false", Some(false)),
        // Translated words are not a state.
        ("\"on\"", None),
        ("null", None),
    ] {
        let switch =
            idb(&format!(r#""type":"CheckBox","role":"AXCheckBox","subrole":"AXSwitch","AXValue":{value}"#));
        assert_eq!(checked(switch), (Role::Switch, expect, true), "{value}");
    }
    assert_eq!(checked(idb(r#""type":"CheckBox","AXValue":1"#)), (Role::Checkbox, Some(true), true));
    // A 1 is not a state of an element that cannot be checked.
    assert_eq!(checked(xml("StaticText", "value=\"1\" label=\"One\"")), (Role::Text, None, false));
}

#[test]
fn values_are_kept_verbatim() {
    // W5: an absent value stays absent.
    for (value, expect) in [
        ("\"50%\"", Some("50%")),
        ("0.50", Some("0.50")),
        ("0", Some("0")),
        ("true", Some("true")),
        ("1e3", Some("1e3")),
        ("[1,\"a\"]", Some("[1,\"a\"]")),
        ("{\"page\":1}", Some("{\"page\":1}")),
        ("\"\"", None),
        ("null", None),
    ] {
        let slider = idb(&format!(r#""type":"Slider","role":"AXSlider","AXValue":{value}"#));
        assert_eq!(slider.value.as_deref(), expect, "{value}");
        assert_eq!((slider.role, slider.value_range.is_none()), (Role::Slider, true));
        assert!(slider.affordances.adjustable && slider.text.is_none());
    }
}

#[test]
fn a_range_needs_both_ends() {
    let range = |element: Element| element.value_range.map(|range| (range.min, range.max));
    assert_eq!(range(xml("Slider", "value=\"50%\" minValue=\"-1.5\" maxValue=\"10\"")), Some((-1.5, 10.0)));
    assert_eq!(range(wda(r#""type":"Stepper","value":"3","minValue":0,"maxValue":"9""#)), Some((0.0, 9.0)));
    assert_eq!(range(wda(r#""type":"Slider","value":"50%","minValue":null,"maxValue":null"#)), None);
    assert_eq!(range(xml("Slider", "minValue=\"0\" maxValue=\"inf\"")), None);
    assert_eq!(range(xml("Slider", "maxValue=\"1\"")), None);
}

#[test]
fn the_text_of_a_field_is_its_value_and_not_its_placeholder() {
    for kind in ["TextField", "SearchField", "TextView"] {
        let full = xml(kind, "name=\"q\" label=\"Find\" value=\"cats\" placeholderValue=\"Search\"");
        assert_eq!(texts(&full), [Some("q"), Some("cats"), Some("Find"), Some("cats"), Some("Search")]);
        let empty = xml(kind, "label=\"Find\" value=\"Search\" placeholderValue=\"Search\"");
        assert_eq!(texts(&empty), [None, None, Some("Find"), None, Some("Search")]);
        assert_eq!((full.role, full.password), (Role::TextField, false));
        assert!(full.affordances.clickable);
    }
    let empty = idb(r#""type":"TextField","AXValue":"Search","placeholder":"Search""#);
    assert_eq!(texts(&empty), [None, None, None, None, Some("Search")]);
    let number = idb(r#""type":"TextArea","AXValue":12"#);
    assert_eq!((number.text.as_deref(), number.role), (Some("12"), Role::TextField));
}

#[test]
fn a_password_is_only_in_the_guarded_text() {
    // ST-07
    let sources = [
        xml("SecureTextField", "label=\"PIN\" value=\"1234\""),
        wda(r#""type":"SecureTextField","label":"PIN","value":"1234""#),
        idb(r#""AXValue":"1234","AXLabel":"PIN","type":"TextField","subrole":"AXSecureTextField""#),
        idb(r#""AXValue":1234,"AXLabel":"PIN","type":"TextField","traits":["SecureTextField"]"#),
    ];
    for element in sources {
        assert!(element.password);
        assert_eq!(texts(&element), [None, Some("1234"), Some("PIN"), None, None]);
    }
}

#[test]
fn the_text_of_texts_and_headings_is_their_label() {
    let text = xml("StaticText", "name=\"t\" label=\"Hello\" value=\"Hello\"");
    assert_eq!(texts(&text), [Some("t"), Some("Hello"), Some("Hello"), None, None]);
    // A value that differs from the label is kept.
    let counted = xml("StaticText", "label=\"Steps\" value=\"4,211\"");
    assert_eq!(texts(&counted), [None, Some("Steps"), Some("Steps"), Some("4,211"), None]);
    let heading = wda(r#""type":"StaticText","label":"Title","traits":"Header, StaticText""#);
    assert_eq!((heading.role, heading.text.as_deref()), (Role::Heading, Some("Title")));
    let heading = idb(r#""type":"Heading","AXLabel":"Title""#);
    assert_eq!((heading.role, heading.text.as_deref()), (Role::Heading, Some("Title")));
    assert!(!heading.affordances.clickable);
}

#[test]
fn selected_comes_from_traits_or_the_value_1_of_a_button() {
    let selected = |element: Element| element.state.selected;
    assert_eq!(selected(xml("Button", "traits=\"Button, Selected\"")), Some(true));
    assert_eq!(selected(xml("Button", "traits=\"Button\" value=\"1\"")), Some(false));
    assert_eq!(selected(xml("Button", "value=\"1\"")), Some(true));
    // W6: "not selected" is known only from the traits.
    assert_eq!(selected(xml("Button", "value=\"3\"")), None);
    assert_eq!(selected(xml("Cell", "value=\"1\"")), None);
    assert_eq!(selected(idb(r#""type":"Button","AXValue":"1","traits":null"#)), None);
    assert_eq!(selected(idb(r#""type":"Button","traits":["Button","Selected"]"#)), Some(true));
    assert_eq!(selected(idb(r#""type":"Button","traits":["None"]"#)), Some(false));
}

#[test]
fn enabled_focused_expanded_and_displayed_are_read() {
    let state = |element: Element| (element.state.enabled, element.state.focused);
    assert_eq!(state(xml("Button", "enabled=\"false\"")), (Some(false), None));
    assert_eq!(state(wda(r#""type":"Button","isEnabled":"1","isFocused":"1""#)), (Some(true), Some(true)));
    // WDA reports the focus of a remote control.
    assert_eq!(state(wda(r#""type":"TextField","isEnabled":"0","isFocused":"0""#)), (Some(false), None));
    assert_eq!(
        state(idb(r#""type":"TextField","enabled":null,"traits":["NotEnabled"]"#)),
        (Some(false), None)
    );
    assert_eq!(
        state(idb(r#""type":"TextField","enabled":null,"traits":["IsEditing"]"#)),
        (Some(true), Some(true))
    );
    // ST-06: an explicit attribute wins over traits.
    assert_eq!(
        state(idb(r#""enabled":true,"focused":false,"traits":["NotEnabled","IsEditing"]"#)),
        (Some(true), Some(false))
    );
    assert_eq!(idb(r#""expanded":false,"type":"Button""#).state.expanded, Some(false));
    assert_eq!(idb(r#""hidden":true,"type":"Button""#).displayed, Some(false));
    assert_eq!(xml("Button", "visible=\"false\"").displayed, Some(false));
    assert_eq!(wda(r#""type":"Button","isVisible":"1""#).displayed, Some(true));
}

#[test]
fn affordances_follow_from_type_and_traits() {
    let can = |kind: &str| xml(kind, "").affordances;
    let none = Affordances::default();
    for kind in ["Button", "Link", "Cell", "Key", "Icon", "MenuItem", "PopUpButton", "TextField", "Tab"] {
        assert_eq!(can(kind), Affordances { clickable: true, ..none }, "{kind}");
    }
    for kind in ["ScrollView", "Table", "CollectionView", "WebView"] {
        assert_eq!(can(kind), Affordances { scrollable: true, ..none }, "{kind}");
    }
    for kind in ["Slider", "Stepper", "PickerWheel", "SegmentedControl"] {
        assert_eq!(can(kind), Affordances { adjustable: true, ..none }, "{kind}");
    }
    for kind in ["Other", "Window", "StaticText", "Image", "NavigationBar", "ProgressIndicator", "Alert"] {
        assert_eq!(can(kind), none, "{kind}");
    }
    let custom = idb(r#""type":"CellHostingView","traits":["Button","Adjustable"]"#);
    assert_eq!(custom.role, Role::Button);
    assert_eq!(custom.affordances, Affordances { clickable: true, adjustable: true, ..none });
}

fn tabs(attributes: &[&str]) -> Vec<Option<bool>> {
    let tabs: String = attributes.iter().map(|tab| format!("<XCUIElementTypeButton {tab}/>")).collect();
    let xml = format!("<AppiumAUT><XCUIElementTypeTabBar>{tabs}</XCUIElementTypeTabBar></AppiumAUT>");
    let snapshot = mdm_ios::tree::parse(xml.as_bytes(), &mdm_ios::tree::Limits::default());
    snapshot.elements[1..].iter().map(|element| element.state.selected).collect()
}

#[test]
fn the_value_1_is_a_choice_only_beside_buttons_without_numbers() {
    // F32: a badge looks the same.
    let (home, cart) = (r#"label="Home""#, r#"label="Cart""#);
    let with = |tab: &str, value: &str| format!("{tab} value=\"{value}\"");
    assert_eq!(tabs(&[&with(home, "1"), cart]), [Some(true), None]);
    assert_eq!(tabs(&[&with(home, "1"), &with(cart, "1")]), [None, None]);
    assert_eq!(tabs(&[&with(home, "3"), &with(cart, "1")]), [None, None]);
    assert_eq!(tabs(&[&with(home, "1"), &with(cart, "2 items")]), [Some(true), None]);
    assert_eq!(tabs(&[&with(cart, "1")]), [None], "a button alone: a count");
}

#[test]
fn a_value_in_words_says_what_is_selected() {
    // F32
    let selected = |value: &str| xml("Cell", &format!("label=\"Red\" value=\"{value}\"")).state.selected;
    assert_eq!(
        [selected("Selected"), selected("not selected"), selected("1")],
        [Some(true), Some(false), None]
    );
}
