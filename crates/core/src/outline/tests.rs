//! Screens and their lines. Each shows a pattern of real screens, written by hand.

use super::*;
use crate::change::tracker::{Observation, Tracker};
use crate::intent::predicate::{Expected, Judgement, Predicate};
use crate::intent::selector::{Selector, TextMatch};
use crate::meaning::sketch::sketch;
use crate::screen::element::{Details, ValueRange};
use crate::screen::snapshot::Platform;

fn outline(snapshot: Snapshot) -> String {
    let reading = ScreenReading::new(snapshot);
    let ids: Vec<ElementId> = (1..=reading.nodes.len() as u32).map(ElementId).collect();
    let mut text = String::new();
    for line in lines(&reading, &ids, &OutlineOptions::default()).lines {
        text.push_str(&"  ".repeat(line.indent));
        text.push_str(&line.text);
        text.push('\n');
    }
    text
}

#[track_caller]
fn check(tree: &str, expected: &[&str]) {
    assert_eq!(outline(sketch(tree)).lines().collect::<Vec<_>>(), expected);
}

#[track_caller]
fn check_ios(tree: &str, expected: &[&str]) {
    let snapshot = Snapshot { platform: Platform::Ios, ..sketch(tree) };
    assert_eq!(outline(snapshot).lines().collect::<Vec<_>>(), expected);
}

fn seen(tree: &str) -> std::sync::Arc<Observation> {
    Tracker::default().observe(sketch(tree), 0)
}

/// A navigation bar of Compose: the chosen item takes no taps, and its words are in a child that is not selected.
const COMPOSE_TABS: &str = r#"
    android.view.View [0,0][1080,2400]
      android.view.View [0,2200][1080,2400]
        android.view.View [0,2200][540,2400] focusable selected
          TextView [200,2300][340,2380] text:"Home" unselected
        android.view.View [540,2200][1080,2400] click focusable unselected
          TextView [700,2300][900,2380] text:"Search" unselected
    "#;

#[test]
fn a_chosen_tab_that_takes_no_taps_keeps_its_state() {
    // F32
    check(COMPOSE_TABS, &[r#"tab "Home" selected"#, r#"tab "Search""#]);
    let tab = Selector { text: Some(TextMatch::Is("Home".into())), ..Selector::default() };
    let selected = |selector: Selector| {
        Predicate::Element { selector, expected: Expected::Selected(true) }.judge(&seen(COMPOSE_TABS)).holds()
    };
    assert!(selected(tab.clone()));
    assert!(selected(Selector { role: Some(Role::Tab), ..tab }));
}

#[test]
fn a_selected_element_of_any_kind_says_so() {
    // F32: Android passes "selected" on to the elements inside, which is said once.
    let tree = r#"
        FrameLayout [0,0][1080,2400]
          LinearLayout [0,0][1080,200] selected
            ImageView [0,0][200,200] selected
            TextView [200,0][900,200] text:"All articles" selected
          ImageView [0,300][100,400] desc:"Page 2" selected
        "#;
    check(tree, &[r#"text "All articles" selected"#, r#"image "Page 2" selected"#]);
}

#[test]
fn a_radio_button_and_the_container_around_it_are_one_line() {
    // F33
    let radio = |state: &str| {
        format!(
            r#"
        android.view.View [0,0][1080,100] focusable {state}
          TextView [100,0][500,100] text:"Small"
          RadioButton [0,0][100,100]
        "#
        )
    };
    check(&radio("check=on disabled"), &[r#"radio "Small" checked disabled"#]);
    check(&radio("check=on"), &[r#"radio "Small" checked"#]);
    check(&radio("check=off click"), &[r#"radio "Small" unchecked"#]);
}

#[test]
fn a_text_is_left_out_only_if_another_line_says_it() {
    // F34
    let tree = r#"
        FrameLayout [0,0][1080,2400]
          LinearLayout [0,0][1080,200] click desc:"Milk, $1.00"
            TextView [0,0][200,200] text:"Milk"
            TextView [200,0][400,200] text:"$1.00"
            TextView [400,0][600,200] text:"1"
        "#;
    check(tree, &[r#"button "Milk, $1.00""#, r#"  text "1""#]);
}

#[test]
fn the_record_names_the_line_of_each_fact() {
    // F34
    let reading = ScreenReading::new(sketch(
        r#"
        FrameLayout [0,0][1080,2400]
          TextView [0,0][200,100] text:"Wi-Fi"
          Switch [800,0][1080,100] click check=on
          LinearLayout [0,200][1080,300] click
            TextView [0,200][200,300] text:"Milk"
        "#,
    ));
    let ids: Vec<ElementId> = (1..=5).map(ElementId).collect();
    let record = lines(&reading, &ids, &OutlineOptions::default()).record;
    assert_eq!(record.line(1, Fact::Text), Some(0), "the text is on the line of the switch that it names");
    assert_eq!(record.line(2, Fact::Checked), Some(0));
    assert_eq!(record.line(4, Fact::Text), Some(1));
    assert_eq!(record.line(0, Fact::Text), None);
}

#[test]
fn values_of_ios_are_written_on_elements_of_any_role() {
    // F31
    let tree = r#"
        Window [0,0][390,844] role:Container
          Cell [0,0][390,44] role:Row click desc:"Due" value:"Due Tomorrow"
          Button [0,50][100,90] role:Button click desc:"Cart" value:"3"
          Button [0,100][100,140] role:Tab click desc:"Inbox" value:"1 new item" selected
          PageIndicator [0,700][390,720] role:Unknown value:"page 1 of 3"
        "#;
    let lines = [
        r#"row "Due" = "Due Tomorrow""#,
        r#"button "Cart" = "3""#,
        r#"tab "Inbox" = "1 new item" selected"#,
        r#"text = "page 1 of 3""#,
    ];
    check_ios(tree, &lines);
}

#[test]
fn a_scroller_that_takes_taps_keeps_its_line() {
    // F35
    let tree = r#"
        FrameLayout [0,0][1080,2400]
          ListView [0,0][1080,2000] scroll long id:list
            LinearLayout [0,0][1080,1000] click
              TextView [0,0][500,1000] text:"One"
            LinearLayout [0,1000][1080,2000] click
              TextView [0,1000][500,2000] text:"Two"
        "#;
    check(tree, &["list #list long-press scrollable, 2 shown", r#"  row "One""#, r#"  row "Two""#]);
}

#[test]
fn a_badge_names_no_button_and_hides_no_identifier() {
    // F35
    let cart = r#"
        FrameLayout [0,0][200,200] click id:cart
          ImageView [0,0][200,200]
          TextView [120,0][200,80] text:"0"
        "#;
    check(cart, &["button (no label) #cart", r#"  text "0""#]);
    let digit = r#"
        FrameLayout [0,0][200,200] click id:key_7
          TextView [50,50][150,150] text:"7"
        "#;
    check(digit, &[r#"button "7" #key_7"#]);
    let day = r#"
        FrameLayout [0,0][200,200] click
          TextView [0,0][200,150] text:"7"
          ImageView [80,150][120,190]
        "#;
    check(day, &[r#"button "7""#]);
}

#[test]
fn the_ground_of_a_dialog_is_not_one_button() {
    // F35
    let tree = r#"
        FrameLayout [0,0][1080,2400]
          FrameLayout [0,0][1080,2400] click
            LinearLayout [100,700][980,1700] click
              TextView [150,750][900,850] text:"Delete?"
              TextView [150,900][900,1000] text:"This cannot be undone."
              Button [150,1500][500,1650] click text:"Cancel"
              Button [600,1500][950,1650] click text:"Delete"
        "#;
    let lines =
        [r#"text "Delete?""#, r#"text "This cannot be undone.""#, r#"button "Cancel""#, r#"button "Delete""#];
    check(tree, &lines);
}

#[test]
fn keys_and_scroll_bars_have_no_lines_of_their_own() {
    // F36
    let tree = r#"
        Window [0,0][390,844] role:Container
          Table [0,0][390,500] role:List scroll
            Cell [0,0][390,44] role:Row click desc:"One"
            Cell [0,44][390,88] role:Row click desc:"Two"
            Other [360,0][390,500] role:Container desc:"Vertical scroll bar, 2 pages" value:"25%"
          Keyboard [0,600][390,844] role:Container
            Key [0,600][40,640] role:Key click desc:"q"
            Key [40,600][80,640] role:Key click desc:"w"
            Button [300,800][390,844] role:Button click desc:"Return"
        "#;
    let lines = [
        "list scrollable, 3 shown at 25%",
        r#"  row "One""#,
        r#"  row "Two""#,
        "keyboard (2 keys)",
        r#"button "Return""#,
    ];
    check_ios(tree, &lines);
}

#[test]
fn glyphs_of_icon_fonts_are_not_part_of_a_label() {
    // F36
    check("Button [0,0][200,100] click text:\"\u{E02E} Share\"", &[r#"button "Share""#]);
    check("Button [0,0][200,100] click desc:\"\u{E02E}, Share\"", &[r#"button "Share""#]);
}

#[test]
fn a_button_that_stays_pressed_is_a_button() {
    // F36: a toggle button of Compose.
    let tree = r#"
        android.view.View [0,0][200,100] click focusable check=on
          android.view.View [0,0][100,100] desc:"Mute"
          Button [0,0][200,100]
        "#;
    check(tree, &[r#"button "Mute" checked"#]);
}

#[test]
fn what_takes_only_long_presses_is_not_called_a_button() {
    // F36
    check(r#"TextView [0,0][500,100] long text:"Hold me""#, &[r#"text "Hold me" long-press"#]);
}

#[test]
fn a_title_above_a_slider_stays_a_line_and_a_name_does_not() {
    // F87
    let page = r#"
        LinearLayout [0,0][1080,2400]
          TextView [40,100][600,200] text:"Sound settings"
          SeekBar [40,220][1040,300] focusable
        "#;
    check(page, &[r#"text "Sound settings""#, "slider (no label, top center)"]);
    let group = r#"
        LinearLayout [0,0][1080,2400]
          LinearLayout [0,100][1080,300]
            TextView [40,100][600,200] text:"Volume"
            SeekBar [40,220][1040,300] focusable
        "#;
    check(group, &[r#"slider "Volume""#]);
    let same_id = page.replace("Sound settings", "Volume").replace("focusable", "focusable id:volume_bar");
    check(&same_id, &[r#"slider "Volume""#]);
}

#[test]
fn a_password_field_without_a_hint_attribute_may_be_empty() {
    // F83
    let field = |extra: &str| format!("EditText [0,0][900,100] click password {extra}");
    check(&field(r#"text:"Password""#), &["field = (hidden, or empty)"]);
    check(&field(r#"text:"••••••""#), &["field = (hidden, 6)"]);
    check(&field(r#"text:"Password" hint:"Password""#), &[r#"field "Password""#]);
    check(&field(r#"text:"secret" hint:"Password""#), &[r#"field "Password" = (hidden, 6)"#]);
}

#[test]
fn a_text_that_may_be_a_hint_is_not_told_as_a_value() {
    // F83
    let field = |text: &str| format!(r#"EditText [0,0][900,100] click maybe-hint text:"{text}" id:name"#);
    check(&field("Name"), &[r#"field shows "Name" #name"#]);
    check(&field("   "), &["field (no label) #name"]);
    let selector = Selector { resource_id: Some("name".into()), ..Selector::default() };
    let judge = |shown: &str, wanted: &str| {
        let expected = Expected::Text(TextMatch::Is(wanted.into()));
        Predicate::Element { selector: selector.clone(), expected }.judge(&seen(&field(shown)))
    };
    assert!(judge("Ada", "Ada").holds());
    assert!(matches!(judge("Ada", "Bob"), Judgement::Fails { .. }));
    assert!(matches!(judge("Ada", ""), Judgement::Unknown { .. }), "it may be empty");
    assert!(matches!(judge("   ", ""), Judgement::Unknown { .. }), "it may hold three blanks");
}

#[test]
fn a_bar_says_its_state_in_the_words_of_the_app() {
    let line = |words: &str| {
        let mut snapshot = sketch(r#"SeekBar [0,0][900,100] desc:"Rating""#);
        let bar = &mut snapshot.elements[0];
        bar.value = Some("5".into());
        bar.value_range = Some(Box::new(ValueRange { min: 0.0, max: 10.0 }));
        bar.details = Some(Box::new(Details { state_description: Some(words.into()), ..Details::default() }));
        let seen = Tracker::default().observe(snapshot, 0);
        let found = lines(&seen.reading, &seen.ids, &OutlineOptions::default());
        found.lines.into_iter().map(|line| line.text).collect::<Vec<_>>()
    };
    assert_eq!(line("2.5 stars out of 5"), [r#"slider "Rating" 5 of 0..10 "2.5 stars out of 5""#]);
    assert_eq!(line("50%"), [r#"slider "Rating" 5 of 0..10"#]);
}

#[test]
fn a_secret_that_is_no_field_is_told_to_be_there() {
    check(r#"TextView [0,0][900,100] password text:"•••""#, &["text = (hidden, 3)"]);
    check(r#"TextView [0,0][900,100] password"#, &[]);
}

#[test]
fn a_disabled_row_of_a_menu_says_so() {
    let menu = r#"
        ListView [0,0][500,400] focusable
          LinearLayout [0,0][500,100]
            TextView [0,0][400,100] text:"Copy"
          LinearLayout [0,100][500,200] disabled
            TextView [0,100][400,200] text:"Paste"
          LinearLayout [0,200][500,300] disabled
            TextView [0,200][400,300] text:"Wrap"
            CheckBox [400,200][500,300] check=on
          LinearLayout [0,300][500,400] click disabled
            TextView [0,300][400,400] text:"Cut"
        "#;
    check(
        menu,
        &[
            "list, 4 shown",
            r#"  text "Copy""#,
            r#"  text "Paste" disabled"#,
            r#"  checkbox "Wrap" checked disabled"#,
            r#"  row "Cut" disabled"#,
        ],
    );
}

#[test]
fn a_hint_is_not_the_content_of_a_field() {
    // F83
    let tree = r#"EditText [0,0][900,100] click text:"Name" hint:"Name" id:name"#;
    let holds = |text: &str| {
        let selector = Selector { resource_id: Some("name".into()), ..Selector::default() };
        let expected = Expected::Text(TextMatch::Is(text.into()));
        Predicate::Element { selector, expected }.judge(&seen(tree)).holds()
    };
    assert!(holds("") && !holds("Name"));
}

#[test]
fn a_screen_that_is_not_displayed_says_so() {
    // F35
    let mut snapshot = sketch(r#"TextView [0,0][900,100] text:"Behind""#);
    snapshot.elements[0].displayed = Some(false);
    let reading = ScreenReading::new(snapshot);
    let found = lines(&reading, &[ElementId(1)], &OutlineOptions::default());
    assert_eq!((found.lines.len(), found.not_displayed), (0, 1));
}
