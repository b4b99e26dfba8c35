//! Trees in the style of View, Compose, Flutter, React Native and iOS.

use proptest::prelude::*;

use super::*;
use crate::meaning::sketch::{any_snapshot, sketch};

fn kinds(text: &str) -> Vec<(usize, ControlKind)> {
    controls(&sketch(text)).map(|(index, control)| (index, control.kind)).collect()
}

fn only(text: &str) -> (usize, Control) {
    let snapshot = sketch(text);
    let mut all = controls(&snapshot);
    let first = all.next().expect("a control");
    assert_eq!(all.next(), None, "only one");
    first
}

#[test]
fn a_settings_row_is_a_toggle_row_with_its_switch() {
    let (index, row) = only(
        r#"
        LinearLayout [0,500][1080,660] click focusable
          RelativeLayout [40,500][830,660]
            TextView [40,520][600,580] text:"Airplane mode"
            TextView [40,590][600,640] text:"Off"
          LinearLayout [840,500][1040,660]
            Switch [880,540][1036,620] check=off
        "#,
    );
    assert_eq!((index, row.kind, row.reason), (0, ControlKind::ToggleRow, Reason::NameBesideToggle));
    assert_eq!((row.target, row.parts.label, row.parts.toggle), (0, Some(2), Some(5)));
    assert_eq!(row.kind.semantic_role(), "composite_control");
}

#[test]
fn a_tappable_switch_wrapper_is_the_target() {
    // AC-07: the row opens a page, the switch switches.
    let (index, row) = only(
        r#"
        LinearLayout [0,220][1080,420] click
          TextView [40,240][600,300] text:"Wi-Fi"
          FrameLayout [860,220][1080,420] click
            Switch [900,260][1040,380] check=on text:"ON"
        "#,
    );
    assert_eq!((index, row.target, row.parts.toggle), (0, 2, Some(3)));
}

#[test]
fn a_react_native_row_is_the_smallest_that_holds_name_and_switch() {
    let (index, row) = only(
        r#"
        android.view.ViewGroup [0,0][1080,400]
          android.view.ViewGroup [0,100][1080,200]
            TextView [40,120][500,180] text:"Dark mode"
            Switch [900,110][1040,190] click focusable check=on text:"ON"
        "#,
    );
    assert_eq!((index, row.target, row.parts.label), (1, 3, Some(2)));
}

#[test]
fn a_row_with_two_switches_or_a_button_is_not_a_toggle_row() {
    let two = r#"
        LinearLayout [0,0][1080,100] click
          TextView [40,0][300,100] text:"Both"
          Switch [400,0][500,100] check=on
          Switch [900,0][1000,100] check=on
    "#;
    assert_eq!(kinds(two), []);
    let button = r#"
        LinearLayout [0,0][1080,100]
          TextView [40,0][300,100] text:"Topic"
          ImageButton [400,0][500,100] click desc:"Remove"
          Switch [900,0][1000,100] click check=on
    "#;
    assert_eq!(kinds(button), []);
    let only_its_own_words = r#"
        FrameLayout [0,0][1080,100]
          ToggleButton [0,0][500,100] click
            TextView [0,0][100,100] text:"56K"
    "#;
    assert_eq!(kinds(only_its_own_words), []);
}

#[test]
fn the_target_of_a_swiftui_row_is_its_inner_switch() {
    let (index, row) = only(
        r#"
        XCUIElementType.Cell [0,100][390,144] role:Row
          XCUIElementType.StaticText [16,110][200,134] role:Text desc:"Sounds"
          XCUIElementType.Switch [210,104][380,140] role:Switch click check=on
            XCUIElementType.Switch [320,106][374,138] role:Switch click check=on
        "#,
    );
    assert_eq!((index, row.kind, row.parts.toggle, row.target), (0, ControlKind::ToggleRow, Some(3), 3));
}

#[test]
fn a_checkable_compose_chip_is_not_a_toggle_row() {
    let chip = r#"
        android.view.View [68,480][195,582] click focusable check=off
          TextView [102,516][161,546] text:"Dark"
          CheckBox [68,497][195,565]
    "#;
    assert_eq!(kinds(chip), []);
}

#[test]
fn a_stepper_of_three_nodes() {
    let text = r#"
        LinearLayout [0,900][1080,1100]
          TextView [40,960][300,1020] text:"Quantity"
          LinearLayout [600,940][1000,1040]
            ImageButton [600,940][700,1040] click desc:"Decrease quantity"
            TextView [720,950][880,1030] text:"2"
            ImageButton [900,940][1000,1040] click desc:"Increase quantity"
    "#;
    let snapshot = sketch(text);
    let found: Vec<_> = controls(&snapshot).collect();
    let (index, stepper) = &found[0];
    assert_eq!((*index, stepper.kind, stepper.reason), (2, ControlKind::Stepper, Reason::MinusValuePlus));
    assert_eq!(
        (stepper.parts.decrease, stepper.parts.value, stepper.parts.increase),
        (Some(3), Some(4), Some(5))
    );
    assert_eq!(stepper.parts.label, Some(1));
    assert_eq!(found.len(), 1);
    assert_eq!(stepper.kind.supported_actions(), ["increment", "decrement"]);
}

#[test]
fn a_stepper_by_signs_by_identifiers_and_on_two_layers() {
    let compose = r#"
        android.view.View [600,940][1000,1040]
          android.view.View [600,940][700,1040] click focusable
            TextView [630,960][670,1020] text:"−"
          TextView [720,950][880,1030] text:"12"
          android.view.View [900,940][1000,1040] click focusable
            TextView [930,960][970,1020] text:"+"
    "#;
    let (index, stepper) = only(compose);
    assert_eq!((index, stepper.kind, stepper.parts.value), (0, ControlKind::Stepper, Some(3)));
    let layers = r#"
        FrameLayout [40,1040][270,1160]
          LinearLayout [40,1040][270,1160]
            android.view.View [40,1040][110,1160] click id:bt_minus_action
            android.view.View [110,1040][200,1160] click id:bt_quantity_action
            android.view.View [200,1040][270,1160] click id:btPlusAction
          LinearLayout [40,1040][270,1160]
            android.view.View [40,1060][110,1130] id:bt_minus
            TextView [110,1060][200,1130] text:"1"
            android.view.View [200,1060][270,1130] id:bt_plus
    "#;
    let snapshot = sketch(layers);
    let stepper = control(&snapshot, 1).unwrap();
    assert_eq!(
        (stepper.parts.decrease, stepper.parts.increase, stepper.parts.value),
        (Some(2), Some(4), Some(7))
    );
}

#[test]
fn two_zoom_buttons_and_texts_are_no_stepper() {
    let text = r#"
        LinearLayout [0,0][1000,100]
          Button [0,0][100,100] click text:"Add"
          TextView [100,0][200,100] text:"3"
          Button [200,0][300,100] click text:"Remove"
    "#;
    assert_eq!(kinds(text), [], "adding and removing could be about anything");
    let minus_only = r#"
        LinearLayout [0,0][1000,100]
          Button [0,0][100,100] click text:"-"
          TextView [100,0][200,100] text:"3"
          Button [200,0][300,100] click text:"OK"
    "#;
    assert_eq!(kinds(minus_only), []);
}

#[test]
fn an_ios_stepper_has_its_buttons_inside() {
    let text = r#"
        XCUIElementType.Stepper [600,0][800,60] role:Stepper
          XCUIElementType.Button [600,0][700,60] role:Button click desc:"Decrement"
          XCUIElementType.Button [700,0][800,60] role:Button click desc:"Increment"
    "#;
    let (_, stepper) = only(text);
    assert_eq!((stepper.kind, stepper.reason), (ControlKind::Stepper, Reason::Class));
    assert_eq!(
        (stepper.parts.decrease, stepper.parts.increase, stepper.parts.value),
        (Some(1), Some(2), None)
    );
}

#[test]
fn the_value_of_a_number_picker_is_its_field() {
    let text = r#"
        NumberPicker [0,0][200,600]
          Button [0,0][200,200] click text:"4"
          EditText [0,200][200,400] text:"5"
          Button [0,400][200,600] click text:"6"
    "#;
    let (_, picker) = only(text);
    assert_eq!((picker.kind, picker.parts.value), (ControlKind::Stepper, Some(2)));
}

#[test]
fn segments_are_adjacent_options_with_one_selected() {
    let text = r#"
        android.view.View [200,300][880,400]
          android.view.View [200,300][420,400] focusable unselected click
            TextView [260,320][360,380] text:"Day"
          android.view.View [420,300][640,400] focusable selected
            TextView [480,320][580,380] text:"Week"
          android.view.View [640,300][880,400] focusable unselected click
            TextView [700,320][800,380] text:"Month"
    "#;
    let (index, segments) = only(text);
    assert_eq!((index, segments.kind), (0, ControlKind::SegmentedControl));
    assert_eq!(segments.parts.options, [1, 3, 5]);
    assert_eq!(segments.kind.semantic_role(), "segmented_control");
}

#[test]
fn bottom_bars_and_navigation_rails_are_tab_rows() {
    let bar = r#"
        FrameLayout [0,0][1080,2400]
          android.view.ViewGroup [0,2200][1080,2400]
            FrameLayout [0,2200][540,2400] click selected desc:"Home"
            FrameLayout [540,2200][1080,2400] click unselected desc:"Search"
    "#;
    assert_eq!(kinds(bar), [(1, ControlKind::TabRow)]);
    let rail = r#"
        android.view.View [0,0][150,1000]
          android.view.View [0,0][150,100] selected focusable
          android.view.View [0,110][150,210] click focusable
          android.view.View [0,220][150,320] click focusable
    "#;
    assert_eq!(kinds(rail), [(0, ControlKind::TabRow)]);
}

#[test]
fn lists_toolbars_and_page_dots_are_not_segments() {
    let suggestions = r#"
        ListView [0,300][1080,800]
          android.view.ViewGroup [0,300][1080,400] click selected
          android.view.ViewGroup [0,400][1080,500] click unselected
    "#;
    assert_eq!(kinds(suggestions), []);
    let column = r#"
        LinearLayout [0,300][1080,800]
          TextView [0,300][1080,400] click selected text:"One"
          TextView [0,400][1080,500] click unselected text:"Two"
    "#;
    assert_eq!(kinds(column), []);
    let dots = r#"
        LinearLayout [518,947][561,964]
          android.view.View [518,947][534,963] selected
          android.view.View [545,947][561,963] unselected
    "#;
    assert_eq!(kinds(dots), []);
    let all_selected = r#"
        LinearLayout [0,0][1080,100]
          TextView [0,0][540,100] click selected text:"One"
          TextView [540,0][1080,100] click selected text:"Two"
    "#;
    assert_eq!(kinds(all_selected), []);
    let with_more = r#"
        RelativeLayout [0,0][1080,100]
          Button [0,0][100,100] click unselected desc:"Back"
          TextView [100,0][900,100] text:"Article"
          Button [900,0][1000,100] click selected desc:"Bookmark"
    "#;
    assert_eq!(kinds(with_more), [], "a toolbar whose bookmark is set");
}

#[test]
fn an_ios_button_that_shows_the_count_1_is_not_selected() {
    let toolbar = r#"
        XCUIElementType.Other [0,623][375,667] role:Container
          XCUIElementType.Button [0,623][125,667] role:Button click desc:"Back"
          XCUIElementType.Button [125,623][250,667] role:Button click selected value:"1" desc:"Show Tabs"
            XCUIElementType.StaticText [150,635][170,655] role:Text desc:"1"
          XCUIElementType.Button [250,623][375,667] role:Button click desc:"Menu"
    "#;
    assert_eq!(kinds(toolbar), []);
    let with_icon = toolbar.replace("role:Text desc:\"1\"", "role:Image");
    assert_eq!(kinds(&with_icon), [(0, ControlKind::SegmentedControl)]);
}

#[test]
fn radio_buttons_in_one_group_are_recognised() {
    let direct = r#"
        RadioGroup [0,0][500,200]
          RadioButton [0,0][500,100] click check=on text:"Pickup"
          RadioButton [0,100][500,200] click check=off text:"Delivery"
    "#;
    let (_, group) = only(direct);
    assert_eq!((group.kind, group.parts.options.as_slice()), (ControlKind::RadioGroup, [1, 2].as_slice()));
    let in_rows = r#"
        RadioGroup [0,0][500,200]
          android.view.ViewGroup [0,0][500,100]
            RadioButton [0,0][500,100] click check=on desc:"Card"
            ImageView [400,0][500,100]
          android.view.ViewGroup [0,100][500,200]
            RadioButton [0,100][500,200] click check=off desc:"Cash"
    "#;
    let (_, group) = only(in_rows);
    assert_eq!(group.parts.options, [2, 5]);
    let page = r#"
        android.view.View [0,0][1080,900]
          RadioButton [0,0][500,100] click check=on text:"Pickup"
          RadioButton [0,100][500,200] click check=off text:"Delivery"
          Button [0,300][500,400] click text:"Order"
    "#;
    assert_eq!(kinds(page), [], "the page holds more than a group");
}

#[test]
fn a_slider_is_its_own_target_with_label_and_value() {
    // AC-07, and the tree of a Flutter app.
    let text = r#"
        android.view.View [0,1211][1080,2337]
          android.view.View [42,1311][968,1358] focusable desc:"Iterations"
          android.view.View [989,1316][1038,1353] focusable desc:"200"
          SeekBar [42,1358][1038,1431] click focusable desc:"38%"
          android.view.View [42,1463][959,1510] focusable desc:"Bailout"
          android.view.View [980,1468][1038,1505] focusable desc:"4.00"
          SeekBar [42,1510][1038,1584] click focusable desc:"33%"
    "#;
    let snapshot = sketch(text);
    let found: Vec<_> =
        controls(&snapshot).map(|(i, c)| (i, c.kind, c.target, c.parts.label, c.parts.value)).collect();
    let slider = ControlKind::Slider;
    assert_eq!(found, [(3, slider, 3, Some(1), Some(2)), (6, slider, 6, Some(4), Some(5))]);
}

#[test]
fn a_compose_slider_without_class_is_recognised() {
    let text = r#"
        android.view.View [0,0][1080,300]
          TextView [40,100][500,150] text:"Brightness"
          android.view.View [40,160][1040,240] focusable desc:"40 percent"
    "#;
    let (index, slider) = only(text);
    assert_eq!((index, slider.kind, slider.target), (2, ControlKind::CustomAdjustable, 2));
    assert_eq!((slider.reason, slider.parts.label), (Reason::WideLeafWithValue, Some(1)));
    assert_eq!(slider.kind.semantic_role(), "custom_adjustable");
}

#[test]
fn a_text_with_a_value_is_not_a_slider() {
    let flutter = r#"
        android.view.View [0,0][1080,300]
          android.view.View [40,100][1040,150] focusable desc:"Battery"
          android.view.View [40,160][1040,240] focusable desc:"40%"
    "#;
    assert_eq!(kinds(flutter), [], "every text of a Flutter tree is such a leaf");
    let small = r#"
        android.view.View [0,0][1080,300]
          android.view.View [40,160][140,240] focusable desc:"40%"
    "#;
    assert_eq!(kinds(small), []);
    let not_focusable = r#"
        android.view.View [0,0][1080,300]
          android.view.View [40,160][1040,240] desc:"40%"
    "#;
    assert_eq!(kinds(not_focusable), []);
}

#[test]
fn elements_reported_as_adjustable_are_controls() {
    let (_, dial) =
        only(r#"XCUIElementType.Other [0,0][200,200] role:Unknown adjustable desc:"Tempo" value:"90""#);
    assert_eq!((dial.kind, dial.reason), (ControlKind::CustomAdjustable, Reason::PlatformAdjustable));
    assert!(dial.kind.adjustable());
    assert_eq!(dial.kind.state_shape().name(), "continuous");
}

#[test]
fn a_read_only_rating_is_not_a_control() {
    assert_eq!(kinds("RatingBar [0,0][500,80] focusable"), [(0, ControlKind::Rating)]);
    assert_eq!(kinds(r#"RatingBar [0,0][500,80] text:"4.5""#), []);
}

#[test]
fn expandable_elements_are_recognised() {
    let (_, reported) = only(r#"XCUIElementType.Cell [0,0][500,80] role:Row collapsed desc:"Details""#);
    assert_eq!((reported.kind, reported.reason), (ControlKind::Expandable, Reason::PlatformExpanded));
    let (_, described) = only(r#"ImageButton [0,0][80,80] click desc:"Expand alarm""#);
    assert_eq!(described.reason, Reason::ExpandWords);
    for words in ["Collapse all", "Expand your business with our new plans", "Expanding", "Close"] {
        assert_eq!(kinds(&format!("ImageButton [0,0][80,80] click desc:\"{words}\"")), [], "{words}");
    }
}

#[test]
fn a_dropdown_has_its_sibling_as_label() {
    let text = r#"
        android.view.ViewGroup [299,618][1038,724]
          TextView [299,646][452,697] text:"Quantity"
          Spinner [473,618][674,724] click
            TextView [483,644][540,695] text:"1"
          TextView [901,642][1038,700] text:"$34.10"
    "#;
    let (index, dropdown) = only(text);
    assert_eq!((index, dropdown.kind, dropdown.parts.label), (2, ControlKind::Dropdown, Some(1)));
}

#[test]
fn clickable_elements_and_containers_are_told_apart() {
    // ID-08
    let snapshot = sketch(
        r#"
        FrameLayout [0,0][100,100] click
          TextView [0,0][50,50] text:"a"
        "#,
    );
    assert!(is_clickable(&snapshot.elements[0]) && is_container(&snapshot, 0));
    assert!(!is_clickable(&snapshot.elements[1]) && !is_container(&snapshot, 1));
    assert!(!is_container(&snapshot, 7));
}

#[test]
fn identifiers_are_split_into_words() {
    let words = |name: &'static str| id_words(name).collect::<Vec<_>>();
    assert_eq!(words("btn_plusAction2"), ["btn", "plus", "Action"]);
    assert_eq!(words("__"), Vec::<&str>::new());
    assert_eq!(words("é_shimmer"), ["shimmer"]);
    assert_eq!(words("surplus"), ["surplus"]);
}

proptest! {
    #[test]
    fn recognising_controls_in_any_tree_does_not_panic(snapshot in any_snapshot()) {
        for (index, control) in controls(&snapshot) {
            prop_assert!((control.target as usize) < snapshot.elements.len());
            let again = super::control(&snapshot, index);
            prop_assert_eq!(Some(control), again, "deterministic");
            let _ = crate::meaning::role::in_context(&snapshot, index);
        }
    }
}
