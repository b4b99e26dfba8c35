use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::change::tracker::Tracker;
use crate::intent::selector::{Pattern, Relation};
use crate::meaning::sketch::{any_snapshot, sketch};
use crate::screen::geometry::{Rect, Size};
use crate::screen::snapshot::{Platform, Snapshot};

fn seen(tree: &str) -> Arc<Observation> {
    Tracker::default().observe(sketch(tree), 0)
}

fn ios(tree: &str) -> Arc<Observation> {
    Tracker::default().observe(Snapshot { platform: Platform::Ios, ..sketch(tree) }, 0)
}

fn text(text: &str) -> Selector {
    Selector { text: Some(TextMatch::Is(text.to_owned())), ..Selector::default() }
}

fn part(text: &str) -> Selector {
    Selector { text: Some(TextMatch::Contains(text.to_owned())), ..Selector::default() }
}

fn id(id: &str) -> Selector {
    Selector { resource_id: Some(id.to_owned()), ..Selector::default() }
}

fn resolved(seen: &Observation, selector: &Selector) -> Resolution {
    to_act(seen, selector)
}

#[track_caller]
fn found(seen: &Observation, selector: &Selector) -> Resolved {
    match resolved(seen, selector) {
        Resolution::Found(target) => target,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn several(seen: &Observation, selector: &Selector) -> Vec<u32> {
    match resolved(seen, selector) {
        Resolution::Ambiguous(candidates) => candidates.iter().map(|c| c.index).collect(),
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn refused(seen: &Observation, selector: &Selector) -> NotActionable {
    match resolved(seen, selector) {
        Resolution::NotActionable { why, .. } => why,
        other => panic!("{other:?}"),
    }
}

const ROWS: &str = r#"
    FrameLayout [0,0][1080,2400]
      RecyclerView [0,200][1080,2400] scroll
        LinearLayout [0,200][1080,400] click
          TextView [40,220][400,300] text:"Milk"
          Button [800,240][1040,360] click text:"Delete"
        LinearLayout [0,400][1080,600] click
          TextView [40,420][400,500] text:"Bread"
          Button [800,440][1040,560] click text:"Delete"
        LinearLayout [0,2500][1080,2700] click
          TextView [40,2520][400,2600] text:"Eggs"
"#;

#[test]
fn the_owner_of_the_tap_wins_over_its_label() {
    // AC-01
    let seen = seen(ROWS);
    let target = found(&seen, &text("Milk"));
    assert_eq!((target.index, target.matched, target.matched_count), (2, 3, 1));
    assert!(Rect::new(40, 220, 400, 300).contains(target.point), "on the label, which the row owns");
    assert_eq!(target.reasons, [Reason::ExactText, Reason::ClickableParent]);
    assert_eq!(target.expected_change, ExpectedChange::Navigation, "AC-09");
}

#[test]
fn equal_candidates_are_reported_as_ambiguous() {
    // W23, ID-04
    let seen = seen(ROWS);
    assert_eq!(several(&seen, &text("Delete")), [4, 7]);
    let second = Selector { index: Some(1), ..text("Delete") };
    assert_eq!(found(&seen, &second).index, 7);
    let third = Selector { index: Some(2), ..text("Delete") };
    assert!(matches!(resolved(&seen, &third), Resolution::NotFound { near } if near.len() == 2));
    let inside = Selector { near: Some((Relation::Inside, Box::new(part("Bread")))), ..text("Delete") };
    assert_eq!(found(&seen, &inside).index, 7);
}

#[test]
fn one_identifier_on_two_elements_is_a_collision_whatever_else_they_are() {
    // ID-04
    let seen = seen(
        r#"
        FrameLayout [0,0][1080,2400]
          Button [0,0][500,100] click id:title text:"a"
          TextView [0,200][500,300] id:title text:"b"
        "#,
    );
    assert_eq!(several(&seen, &id("title")), [1, 2]);
    assert_eq!(several(&seen, &id("app:id/title")), [1, 2]);
    assert_eq!(found(&seen, &Selector { text: text("b").text, ..id("title") }).index, 2);
    assert_eq!(find(&seen, "title", false).len(), 2);
    assert_eq!(best(&seen, &find(&seen, "title", false)).len(), 2);
}

#[test]
fn exact_matches_beat_partial_ones_and_tappable_elements_beat_texts() {
    // AC-03
    let seen = seen(
        r#"
        FrameLayout [0,0][1080,2400]
          TextView [0,0][500,100] text:"Save"
          Button [0,200][500,300] click text:"Save"
          Button [0,400][500,500] click text:"Save as"
        "#,
    );
    let target = found(&seen, &part("save"));
    assert_eq!(target.index, 2);
    assert_eq!(target.matched_count, 3);
    assert!(target.fallback_available && target.alternates.len() == 2);
    assert!(target.reasons.contains(&Reason::ExactPreferred), "{:?}", target.reasons);
    assert!(target.confidence < found(&seen, &text("Save as")).confidence);
    let pattern =
        Selector { text: Some(TextMatch::Regex(Pattern::new("^save .s$").unwrap())), ..Selector::default() };
    assert_eq!(found(&seen, &pattern).index, 3);
}

#[test]
fn on_ios_a_text_and_a_button_with_one_name_are_ambiguous() {
    let seen = ios(r#"
        Window [0,0][1080,2400]
          StaticText [0,0][500,100] role:Text text:"Favorites"
          Button [0,2200][500,2300] click text:"Favorites"
        "#);
    assert_eq!(several(&seen, &text("Favorites")), [1, 2]);
}

#[test]
fn a_wrapper_and_its_only_control_are_one_target() {
    let seen = seen(
        r#"
        FrameLayout [0,0][1080,2400]
          FrameLayout [0,100][500,200] click id:go
            Button [2,102][498,198] click id:go text:"Go"
          FrameLayout [0,300][500,400] id:wrap
            ImageView [10,310][490,390] click desc:"Pick"
        "#,
    );
    assert_eq!(found(&seen, &id("go")).index, 2, "the inner one");
    let target = found(&seen, &id("wrap"));
    assert_eq!((target.index, target.matched), (4, 3));
    assert!(target.reasons.contains(&Reason::ControlInside));
}

#[test]
fn the_label_beside_a_control_selects_the_control() {
    // AC-07, AC-08
    let seen = seen(
        r#"
        FrameLayout [0,0][1080,2400]
          LinearLayout [0,100][1080,300]
            TextView [0,100][300,300] text:"Volume"
            SeekBar [300,100][1080,300] text:"38.0"
        "#,
    );
    let target = found(&seen, &text("Volume"));
    assert_eq!((target.index, target.expected_change), (3, ExpectedChange::Value));
    assert_eq!(find(&seen, "slider", false)[0].index, 3);
}

#[test]
fn a_compose_label_selects_the_clickable_ancestor() {
    // AC-08
    let seen = seen(
        r#"
        androidx.compose.ui.platform.ComposeView [0,0][1080,2400]
          android.view.View [0,100][1080,300] click
            android.view.View [0,100][100,300]
            TextView [100,100][600,300] text:"Wi-Fi"
            android.view.View [900,100][1080,300] check=on
          android.view.View [0,300][1080,500] disabled
            TextView [100,300][600,500] text:"Send"
        "#,
    );
    assert_eq!(found(&seen, &text("Wi-Fi")).index, 1);
    assert_eq!(refused(&seen, &text("Send")), NotActionable::Disabled, "not the screen around it");
}

#[test]
fn targets_out_of_sight_disabled_or_covered_are_refused() {
    // AC-05
    let seen = seen(
        r#"
        FrameLayout [0,0][1080,2400]
          LinearLayout [0,0][1080,2400]
            Button [0,2500][500,2600] click text:"Below"
            Button [0,0][500,100] click disabled text:"Off"
            Button [300,1000][700,1100] click text:"Pay"
          android.app.Dialog [100,800][900,1300]
            Button [200,1150][400,1250] click text:"Allow"
        "#,
    );
    assert_eq!(refused(&seen, &text("Below")), NotActionable::OutOfSight);
    assert_eq!(refused(&seen, &text("Off")), NotActionable::Disabled);
    assert_eq!(refused(&seen, &text("Pay")), NotActionable::Covered { by: 5 });
    let failure = failure(&seen, &text("Pay"), &resolved(&seen, &text("Pay"))).unwrap();
    assert!(failure.message.contains("e5 button \"Pay\""), "{failure}");
    assert!(failure.message.contains("covered at every point by e6 dialog"), "{failure}");
    assert_eq!(found(&seen, &text("Allow")).index, 6);
}

#[test]
fn an_uncovered_candidate_is_preferred_to_a_covered_one() {
    let seen = seen(
        r#"
        FrameLayout [0,0][1080,2400]
          Button [300,1000][700,1100] click text:"OK"
          android.app.Dialog [100,800][900,1300]
            Button [200,1150][400,1250] click text:"OK"
        "#,
    );
    let target = found(&seen, &text("OK"));
    assert_eq!(target.index, 3);
    assert!(target.reasons.contains(&Reason::UncoveredPreferred));
}

#[test]
fn a_candidate_below_the_confidence_limit_is_refused() {
    // AC-04
    let seen = seen("FrameLayout [0,0][1080,2400]\n  TextView [0,0][500,100] text:\"Save as\"");
    assert!(matches!(
        resolve_above(&seen, &part("save"), 0.7),
        Resolution::NotActionable { why: NotActionable::Doubtful { .. }, .. }
    ));
    assert_eq!(found(&seen, &part("save")).reasons, [Reason::PartialText, Reason::NothingTakesTaps]);
}

#[test]
fn not_found_reports_similar_elements_but_never_for_an_id() {
    let seen = seen(ROWS);
    let Resolution::NotFound { near } = resolved(&seen, &text("Mil")) else { panic!() };
    assert_eq!(near.iter().map(|c| c.index).collect::<Vec<_>>(), [2]);
    let reported = failure(&seen, &text("Mil"), &resolved(&seen, &text("Mil"))).unwrap();
    assert_eq!(reported.code(), crate::failure::ErrorCode::ElementNotFound);
    assert_eq!(reported.candidates, ["e3 row \"Milk\""]);
    let gone = Selector { id: Some(crate::identity::ElementId(999)), ..Selector::default() };
    let reported = failure(&seen, &gone, &resolved(&seen, &gone)).unwrap();
    assert_eq!(reported.code(), crate::failure::ErrorCode::StaleReference, "ID-02");
}

#[test]
fn a_drawn_screen_and_a_system_dialog_are_told_apart_from_a_missing_element() {
    let why = |seen: &Observation| failure(seen, &text("Save"), &resolved(seen, &text("Save"))).unwrap();
    let drawn = seen("FrameLayout [0,0][1080,2400]\n  View [0,0][1080,2400]");
    assert_eq!(why(&drawn).cause, crate::failure::Cause::OnlyDrawn);
    let loading = seen("FrameLayout [0,0][1080,2400]\n  ProgressBar [500,1000][580,1080]");
    assert_eq!(why(&loading).cause, crate::failure::Cause::NotFound);
    let mut asks = sketch("FrameLayout [0,0][1080,2400]\n  TextView [0,0][1080,90] text:\"Allow it?\"");
    asks.elements[0].system_window = true;
    asks.screen = Some(crate::screen::snapshot::Screen { app: "org.example".to_owned(), name: None });
    let asks = why(&Tracker::default().observe(asks, 0));
    assert_eq!(asks.cause, crate::failure::Cause::BehindSystemDialog);
    assert!(asks.message.starts_with("a system dialog is in front: \"Allow it?\""), "{asks}");
}

#[test]
fn an_alert_of_ios_is_one_also_where_the_tree_has_no_containers() {
    let springboard = |tree: &str| {
        let mut screen = Snapshot { platform: Platform::Ios, ..sketch(tree) };
        screen.size = Size { width: 393, height: 852 };
        screen.elements[0].system_window = true;
        let app = "com.apple.springboard".to_owned();
        screen.elements.iter_mut().for_each(|element| element.app = app.as_str().into());
        screen.screen = Some(crate::screen::snapshot::Screen { app, name: None });
        Tracker::default().observe(screen, 0)
    };
    let why = |seen: &Observation| failure(seen, &text("Save"), &resolved(seen, &text("Save"))).unwrap();
    let flat = "Application [0,0][393,852]\n  Content [0,0][393,852] scroll\n  StaticText [60,350][333,380] text:\"Allow it?\"\n  \
                Button [60,440][196,484] click text:OK";
    assert_eq!(why(&springboard(flat)).cause, crate::failure::Cause::BehindSystemDialog);
    let home = "Application [0,0][393,852]\n  Button [24,120][120,232] click text:Shop\n  \
                Button [270,120][369,232] click text:Mail\n  Button [24,760][369,840] click text:Search";
    assert_eq!(why(&springboard(home)).cause, crate::failure::Cause::NotFound);
    // W10: only the application, as after a boot.
    let bare = why(&springboard("Application [0,0][393,852]"));
    assert_eq!(bare.cause, crate::failure::Cause::TreeDamaged);
}

#[test]
fn ambiguous_candidates_are_described_by_their_surroundings() {
    let seen = seen(ROWS);
    let reported = failure(&seen, &text("Delete"), &resolved(&seen, &text("Delete"))).unwrap();
    assert_eq!(reported.message, "2 elements match text \"Delete\"");
    let expect =
        ["e5 button \"Delete\" in row \"Milk\" (index 0)", "e8 button \"Delete\" in row \"Bread\" (index 1)"];
    assert_eq!(reported.candidates, expect);
}

#[test]
fn a_search_by_words_follows_the_order_of_identity() {
    // ID-06
    let seen = seen(
        r#"
        FrameLayout [0,0][1080,2400]
          Button [0,0][500,100] click text:"login"
          Button [0,200][500,300] click id:login text:"Go"
          Switch [0,400][500,500] click check=off text:"Login"
        "#,
    );
    assert_eq!(best(&seen, &find(&seen, "login", false))[0].index, 2, "the identifier");
    assert_eq!(find(&seen, "login switch", false)[0].index, 3, "role and label");
    assert_eq!(find(&seen, "e3", false)[0].index, 2, "the session's own id");
    assert_eq!(find(&seen, "ogi", true), []);
    assert_eq!(find(&seen, "", false), []);
}

#[test]
fn a_secret_field_is_not_found_by_its_text() {
    // ST-07
    let seen = seen(
        "FrameLayout [0,0][1080,2400]\n  EditText [0,0][500,100] password text:\"hunter2\" desc:\"hunter2\" hint:\"Password\"",
    );
    let described =
        Selector { accessibility_id: Some(TextMatch::Is("hunter2".into())), ..Selector::default() };
    for selector in [text("hunter2"), part("hunter"), described] {
        assert!(
            matches!(resolved(&seen, &selector), Resolution::NotFound { near } if near.is_empty()),
            "{selector:?}"
        );
    }
    assert_eq!(find(&seen, "hunter2", false), []);
    assert_eq!(found(&seen, &text("Password")).index, 1);
}

const LABELLED: &str = r#"
    FrameLayout [0,0][1080,2400]
      TextView [0,0][1080,80] id:caption text:"Name"
      EditText [0,80][1080,200] click id:name text:"Ada"
      TextView [0,400][500,500] text:"Wi-Fi"
      Switch [900,400][1080,500] click check=on id:wifi
      TextView [0,2500][1080,2600] text:"Below"
    "#;

#[test]
fn a_label_is_not_verified_when_its_field_is_described_too() {
    // F21
    let seen = seen(LABELLED);
    assert_eq!(text("Name").matches(&seen), [1, 2]);
    assert_eq!(to_verify(&seen, &text("Name")), [2], "the words have no state of their own");
    assert_eq!(to_verify(&seen, &text("Wi-Fi")), [4]);
    assert_eq!(to_verify(&seen, &id("caption")), [1], "only the label is described");
    assert_eq!(to_verify(&seen, &Selector { role: Some(Role::Text), ..text("Name") }), [1]);
}

#[test]
fn what_is_verified_need_not_be_in_sight_and_is_counted_as_for_actions() {
    let below = seen(LABELLED);
    assert_eq!(to_verify(&below, &text("Below")), [5]);
    assert_eq!(to_verify(&below, &text("Nowhere")), []);
    let rows = seen(ROWS);
    assert_eq!(to_verify(&rows, &text("Delete")), [4, 7]);
    assert_eq!(to_verify(&rows, &Selector { index: Some(1), ..text("Delete") }), [7]);
    assert_eq!(to_verify(&rows, &Selector { index: Some(2), ..text("Delete") }), []);
}

proptest! {
    #[test]
    fn the_point_of_a_target_is_in_its_visible_part(snapshot in any_snapshot(), words in "[a-zA-Z0-9%+ -]{0,6}") {
        let seen = Tracker::default().observe(snapshot, 0);
        for selector in [text(&words), part(&words), text("Name"), id("plus"), part("a")] {
            let resolution = resolved(&seen, &selector);
            if let Resolution::Found(target) = &resolution {
                let visible = seen.reading.nodes[target.index as usize].visible.unwrap();
                prop_assert!(visible.contains(target.point));
                prop_assert!((0.6..=1.0).contains(&target.confidence));
            }
            if let Resolution::Ambiguous(candidates) = &resolution {
                prop_assert!(candidates.len() > 1);
            }
            let reported = failure(&seen, &selector, &resolution);
            prop_assert_eq!(reported.is_none(), matches!(resolution, Resolution::Found(_)));
        }
        find(&seen, &words, false);
    }
}

const PAY: &str = r#"
    FrameLayout [0,0][1080,2400]
      TextView [0,0][500,100] text:"Total"
      Button [600,0][1000,100] click text:"Pay"
      LinearLayout [0,200][1080,300] click
        TextView [0,200][500,300] text:"In a row"
      ListView [0,400][1080,900] scroll
        LinearLayout [0,400][1080,500]
          TextView [0,400][500,500] text:"In a list"
      android.view.View [0,1000][1080,1100] click
      TextView [0,1000][500,1100] text:"On a background"
      android.view.View [0,1200][1080,1300] text:"Drawn by the app"
    "#;

#[test]
fn a_plain_text_is_not_tapped_unless_it_is_forced() {
    // F4
    let screen = seen(PAY);
    let refusal = to_tap(&screen, &text("Total"));
    let why = NotActionable::Static { nearest: Some(2) };
    assert!(matches!(&refusal, Resolution::NotActionable { why: w, .. } if *w == why), "{refusal:?}");
    let told = failure(&screen, &text("Total"), &refusal).unwrap().message;
    assert!(told.contains("nothing there reacts") && told.contains("\"Pay\""), "{told}");
    let forced = Selector { force: true, ..text("Total") };
    assert!(matches!(to_tap(&screen, &forced), Resolution::Found(_)));
    assert!(matches!(to_act(&screen, &text("Total")), Resolution::Found(_)), "it can be swiped");
    for words in ["In a row", "In a list", "On a background", "Drawn by the app", "Pay"] {
        assert!(matches!(to_tap(&screen, &text(words)), Resolution::Found(_)), "{words}");
    }
    assert!(
        matches!(to_tap(&ios(PAY), &text("Total")), Resolution::Found(_)),
        "iOS does not say what reacts"
    );
}

#[test]
fn one_of_several_with_the_same_identifier_is_told_with_its_reason() {
    // F3, ID-04
    let screen = seen(
        r#"
        FrameLayout [0,0][1080,2400]
          Button [0,0][500,100] click id:ok text:"Save"
          Button [0,2500][500,2600] click id:ok text:"Send"
        "#,
    );
    let target = found(&screen, &id("ok"));
    assert_eq!((target.index, target.confidence, target.matched_count), (1, 0.8, 2));
    assert!(target.reasons.contains(&Reason::OnScreenPreferred));
    assert_eq!(target.alternates.iter().map(|other| other.index).collect::<Vec<_>>(), [2]);
}

#[test]
fn what_may_be_covered_is_acted_on_with_less_confidence() {
    // F30
    let screen = seen(
        r#"
        FrameLayout [0,0][1080,2400]
          LinearLayout [0,0][1080,2400]
            Button [0,2000][1080,2200] click text:"Under"
          FrameLayout [0,1000][1080,2400] click
            TextView [0,1000][1080,1100] text:"Share"
        "#,
    );
    let target = found(&screen, &text("Under"));
    assert_eq!((target.index, target.confidence), (2, 0.8));
    assert!(target.reasons.contains(&Reason::MaybeCovered));
}

#[test]
fn what_a_field_holds_does_not_compete_with_names() {
    // F35
    let screen = seen(
        r#"
        FrameLayout [0,0][1080,2400]
          EditText [0,0][1080,100] click text:"Search"
          Button [0,200][500,300] click text:"Search"
        "#,
    );
    assert_eq!(found(&screen, &text("Search")).index, 2);
}

#[test]
fn a_drop_down_is_found_by_the_name_and_by_the_choice_that_are_shown() {
    // F21
    let screen = seen(
        r#"
        FrameLayout [0,0][1080,2400]
          LinearLayout [0,0][1080,250]
            TextView [0,0][500,100] text:"Size"
            Spinner [0,100][1080,250] click
              TextView [0,100][500,250] text:"Small"
        "#,
    );
    for words in ["Size", "Small"] {
        let selector = Selector { role: Some(Role::Dropdown), ..text(words) };
        assert_eq!(found(&screen, &selector).index, 3, "{words}");
    }
}

#[test]
fn on_ios_a_tap_on_a_disabled_button_goes_to_its_row() {
    let tree = r#"
        Cell [0,0][390,44] role:Row click desc:"Antiques"
          Button [300,0][390,44] role:Button click disabled desc:"See all"
        "#;
    assert_eq!(found(&ios(tree), &text("See all")).index, 0);
    assert_eq!(refused(&seen(tree), &text("See all")), NotActionable::Disabled, "Android keeps the tap");
}

#[test]
fn a_list_that_takes_long_presses_does_not_take_the_taps_on_its_rows() {
    // F85
    let screen = seen(
        r#"
        ListView [0,0][1080,900] scroll long
          LinearLayout [0,0][1080,100]
            TextView [0,0][500,100] text:"First"
        "#,
    );
    assert_eq!(owner(&screen.reading, 2), None);
    assert!(matches!(to_tap(&screen, &text("First")), Resolution::Found(found) if found.index == 2));
}

#[test]
fn a_title_above_a_slider_means_itself_and_a_text_above_a_field_the_field() {
    // F87
    let screen = |control: &str| {
        seen(&format!(
            r#"
        LinearLayout [0,0][1080,2400]
          TextView [40,100][600,200] text:"Sound"
          {control} [40,220][1040,300] focusable
        "#
        ))
    };
    assert_eq!(found(&screen("SeekBar"), &text("Sound")).matched, 1);
    let slider = Selector { role: Some(Role::Slider), ..text("Sound") };
    assert_eq!(found(&screen("SeekBar"), &slider).matched, 2);
    assert_eq!(found(&screen("EditText"), &text("Sound")).matched, 2);
}
