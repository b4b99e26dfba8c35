use proptest::prelude::*;

use super::*;
use crate::meaning::sketch::{any_snapshot, sketch};
use crate::screen::visible::visible_rects;

fn signal(text: &str) -> Option<Signal> {
    let snapshot = sketch(text);
    loading(&snapshot, &visible_rects(&snapshot)).map(|loading| loading.signal)
}

fn page(line: &str) -> Option<Signal> {
    signal(&format!("FrameLayout [0,0][1080,2400]\n  {line}"))
}

#[test]
fn circles_and_bars_without_value_are_signs() {
    assert_eq!(page("ProgressBar [490,1100][590,1200]"), Some(Signal::Spinner));
    assert_eq!(
        page("XCUIElementType.ActivityIndicator [490,1100][590,1200] role:Progress"),
        Some(Signal::Spinner)
    );
    assert_eq!(page("ProgressBar [0,319][1080,325]"), Some(Signal::Progress));
    assert_eq!(page("ProgressBar [100,1100][980,1120]"), Some(Signal::Progress));
    assert_eq!(page("ProgressBar [0,0][0,0]"), None, "it cannot be seen");
}

#[test]
fn the_result_has_signal_source_and_index() {
    let snapshot = sketch("FrameLayout [0,0][1080,2400]\n  ProgressBar [490,1100][590,1200]");
    let found = loading(&snapshot, &visible_rects(&snapshot)).unwrap();
    assert_eq!((found.signal.name(), found.source.name(), found.index), ("spinner", "ui_tree", 1));
}

#[test]
fn a_spinner_class_is_a_dropdown_and_not_a_sign() {
    // W12
    assert_eq!(page(r#"Spinner [0,0][500,80] click text:"Loading bay""#), None);
    assert_eq!(page("androidx.appcompat.widget.AppCompatSpinner [0,0][500,80] click"), None);
}

#[test]
fn ordinary_text_is_not_a_sign() {
    // W12
    for text in [
        "Order pending",
        "3 tasks in progress",
        "The line is busy",
        "Work in progress: loading dock",
        "Loading dock",
        "Loading complete.",
        "Loading docks of the world and what happened to them: a very long story indeed…",
        "Main navigation, notification is pending, open",
        "Skeleton key",
        "Download",
        "Waiting list",
        "Please wait here for the bus",
    ] {
        assert_eq!(page(&format!("TextView [0,0][500,80] text:\"{text}\"")), None, "{text}");
        assert_eq!(page(&format!("ImageView [0,0][500,80] desc:\"{text}\"")), None, "{text}");
    }
}

#[test]
fn a_text_that_only_says_loading_is_a_sign() {
    for text in [
        "Loading",
        "Loading…",
        "LOADING...",
        " Please wait ",
        "Loading messages…",
        "Wird geladen …",
        "Bitte warten",
        "Chargement…",
        "Cargando...",
        "Загрузка…",
        "ЗАГРУЗКА",
        "読み込み中…",
        "加载中...",
        "로딩 중",
        "Yükleniyor…",
    ] {
        assert_eq!(
            page(&format!("TextView [0,0][500,80] text:\"{text}\"")),
            Some(Signal::LoadingText),
            "{text}"
        );
    }
    // W12: the description counts even if there is a text.
    assert_eq!(page(r#"ImageView [0,0][90,90] text:"x" desc:"Loading""#), Some(Signal::LoadingText));
    assert_eq!(page(r#"EditText [0,0][500,80] text:"Loading""#), None, "somebody typed it");
}

#[test]
fn bars_with_a_value_count_only_if_named_or_full_width() {
    assert_eq!(page(r#"ProgressBar [100,500][900,520] text:"38%""#), None, "of what?");
    assert_eq!(page(r#"ProgressBar [0,500][1080,506] text:"25.0""#), Some(Signal::Progress));
    assert_eq!(page(r#"ProgressBar [0,500][1080,506] text:"100.0""#), None, "it has ended");
    assert_eq!(page(r#"ProgressBar [0,500][1080,506] text:"0.0""#), None, "it has not begun");
    assert_eq!(
        page(r#"ProgressBar [100,500][900,520] id:download_progress text:"38%""#),
        Some(Signal::Progress)
    );
    assert_eq!(page(r#"ProgressBar [100,500][900,520] id:download_progress text:"100%""#), None);
    assert_eq!(page(r#"ProgressBar [0,500][1080,520] id:storage_bar"#), None);
    assert_eq!(page(r#"RatingBar [0,0][500,80] text:"4.5""#), None);
    assert_eq!(page(r#"SeekBar [0,0][1080,80] focusable text:"40.0""#), None, "where a song is");
    let named = r#"
        LinearLayout [0,0][1080,200]
          TextView [40,0][600,60] text:"Downloading update"
          ProgressBar [40,80][1000,100] text:"38%"
    "#;
    assert_eq!(signal(named), Some(Signal::Progress));
}

#[test]
fn bars_of_items_and_several_bars_are_not_signs() {
    let player = r#"
        FrameLayout [0,0][1080,2400]
          android.view.View [17,2034][1063,2170] click focusable
            ProgressBar [17,2034][1063,2059]
            TextView [163,2077][935,2107] text:"A song"
    "#;
    assert_eq!(signal(player), None);
    let rows = r#"
        FrameLayout [0,0][1080,2400]
          ProgressBar [100,500][900,520]
          ProgressBar [100,700][900,720]
    "#;
    assert_eq!(signal(rows), None);
}

#[test]
fn skeletons_and_empty_layers_are_signs_but_filled_wrappers_are_not() {
    assert_eq!(page("android.view.View [0,300][1080,500] id:row_skeleton"), Some(Signal::Skeleton));
    assert_eq!(page("com.facebook.shimmer.ShimmerFrameLayout [0,300][1080,500]"), Some(Signal::Skeleton));
    assert_eq!(page("FrameLayout [0,300][1080,2300] id:loading_overlay"), Some(Signal::Overlay));
    assert_eq!(page("FrameLayout [0,300][1080,400] id:loading_overlay"), None, "it covers nothing");
    assert_eq!(page("FrameLayout [0,300][1080,2300] id:upload_history"), None);
    let content = r#"
        FrameLayout [0,0][1080,2400]
          FrameLayout [0,300][1080,2300] id:loading_view_content
            TextView [0,300][500,400] text:"Restaurants"
          com.facebook.shimmer.ShimmerFrameLayout [0,300][1080,2300]
            Button [0,300][500,400] click text:"Order"
    "#;
    assert_eq!(signal(content), None);
}

proptest! {
    #[test]
    fn searching_any_tree_does_not_panic(snapshot in any_snapshot()) {
        let rects = visible_rects(&snapshot);
        if let Some(found) = loading(&snapshot, &rects) {
            prop_assert!(rects[found.index as usize].is_some());
            let shows_work = matches!(found.signal, Signal::Spinner | Signal::Progress);
            let role = snapshot.elements[found.index as usize].role;
            prop_assert_eq!(shows_work, role == Role::Progress, "W12");
        }
        prop_assert_eq!(loading(&snapshot, &vec![None; snapshot.elements.len()]), None);
    }
}
