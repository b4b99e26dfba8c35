use super::*;
use crate::change::tracker::Tracker;
use crate::meaning::sketch::sketch;
use crate::screen::snapshot::Snapshot;

fn read(tree: &str) -> ScreenReading {
    ScreenReading::new(sketch(tree))
}

#[track_caller]
fn tapped_in(reading: &ScreenReading, index: u32, rect: Rect) {
    let point = check(reading, index).unwrap();
    assert!(rect.contains(point), "{point:?}");
}

#[test]
fn the_point_avoids_inner_controls_and_covers() {
    // AC-06
    let nested = read(
        r#"
            LinearLayout [0,0][1000,200] click text:"Row"
              Button [300,0][1000,200] click text:"Delete"
            "#,
    );
    tapped_in(&nested, 0, Rect::new(0, 0, 300, 200));
    let covered = read(
        r#"
            FrameLayout [0,0][1000,2000]
              Button [0,0][1000,200] click text:"Under"
              Button [200,0][1000,200] click text:"Over"
            "#,
    );
    tapped_in(&covered, 1, Rect::new(0, 0, 200, 200));
    tapped_in(&covered, 2, Rect::new(200, 0, 1000, 200));
}

#[test]
fn an_element_that_takes_no_taps_does_not_cover() {
    // AC-05
    let veil = read(
        r#"
            FrameLayout [0,0][1080,2400]
              Button [0,0][1000,200] click text:"Under"
              FrameLayout [0,0][1080,2400]
                ImageView [0,0][1080,2400]
            "#,
    );
    assert_eq!(check(&veil, 1), Ok(Point { x: 500, y: 100 }));
}

#[test]
fn a_page_that_scrolls_below_a_bar_does_not_cover_it() {
    let page = read(
        r#"
            FrameLayout [0,0][1080,2400]
              LinearLayout [0,0][1080,200]
                Button [0,0][200,200] click text:"Up"
              ScrollView [0,0][1080,2400] scroll
                Button [0,150][1080,600] click text:"First"
            "#,
    );
    tapped_in(&page, 2, Rect::new(0, 0, 200, 150));
    let bar_only = read(
        r#"
            FrameLayout [0,0][1080,2400]
              LinearLayout [0,0][1080,200]
                Button [0,0][200,200] click text:"Up"
              ScrollView [0,0][1080,2400] scroll
            "#,
    );
    assert_eq!(check(&bar_only, 2), Ok(Point { x: 100, y: 100 }));
}

#[test]
fn a_sheet_or_another_window_covers_the_target() {
    // AC-05
    let sheet = read(
        r#"
            FrameLayout [0,0][1080,2400]
              LinearLayout [0,0][1080,2400]
                Button [0,2000][1080,2200] click text:"Under"
              FrameLayout [0,1000][1080,2400] click
                TextView [0,1000][1080,1100] text:"Share"
            "#,
    );
    // Document order alone does not refuse (F30): it is told as a doubt.
    assert_eq!(find_place(&sheet, 2, 2).unwrap().maybe_covered_by, Some(3));
    let drawn = |below: u16, above: u16| {
        let mut snapshot = sheet.snapshot.clone();
        snapshot.elements[1].drawing_order = Some(below);
        snapshot.elements[2].drawing_order = Some(1);
        snapshot.elements[3].drawing_order = Some(above);
        find_place(&ScreenReading::new(snapshot), 2, 2)
    };
    assert_eq!(drawn(1, 2), Err(NotActionable::Covered { by: 3 }));
    let free = TapPlace { point: Point { x: 540, y: 2100 }, maybe_covered_by: None };
    assert_eq!(drawn(2, 1), Ok(free), "a page that is drawn below");
    let window = read(
        r#"
            FrameLayout [0,0][1080,2400]
              Button [100,1000][900,1100] click text:"Under"
            FrameLayout [50,900][1000,1500]
              TextView [60,910][900,1000] text:"Really?"
            "#,
    );
    assert_eq!(check(&window, 1), Err(NotActionable::Covered { by: 2 }));
}

#[test]
fn on_ios_a_later_control_over_the_whole_target_is_told_and_rows_below_a_bar_are_not() {
    let ios = |tree: &str| ScreenReading::new(Snapshot { platform: Platform::Ios, ..sketch(tree) });
    let overlay = ios(r#"
            Window [0,0][400,800]
              Other [0,0][400,800]
                Button [0,100][400,140] click text:"Sort"
              Other [0,0][400,800]
                Button [0,90][400,150] click text:"Dismiss"
            "#);
    assert_eq!(find_place(&overlay, 2, 2).unwrap().maybe_covered_by, Some(4));
    let bar = ios(r#"
            Window [0,0][400,800]
              NavigationBar [0,0][400,90]
                Button [0,40][100,80] click text:"Back"
              Table [0,0][400,800] scroll
                Cell [0,30][400,110] click role:Row text:"Row"
            "#);
    assert_eq!(find_place(&bar, 2, 2).unwrap().maybe_covered_by, None);
    let twice = ios(r#"
            Window [0,0][400,800]
              Other [0,0][400,800]
                Button [0,100][400,140] click text:"View all"
              Other [0,100][400,140]
                Button [0,100][400,140] click text:"View all"
            "#);
    assert_eq!(find_place(&twice, 2, 2).unwrap().maybe_covered_by, None);
}

#[test]
fn on_ios_a_keyboard_covers_but_a_later_element_does_not() {
    let tree = r#"
            Window [0,0][400,800]
              Button [0,0][100,40] click text:"Save"
              Other [0,0][400,800] click
              Button [0,700][100,740] click text:"Send"
              Keyboard [0,600][400,800] role:Container
                Key [0,600][400,800] click role:Key
            "#;
    let reading = ScreenReading::new(Snapshot { platform: Platform::Ios, ..sketch(tree) });
    assert!(check(&reading, 1).is_ok());
    assert_eq!(check(&reading, 3), Err(NotActionable::Covered { by: 5 }));
}

#[test]
fn an_element_moves_when_two_captures_differ() {
    // AC-05
    let at = |top: i32| {
        let bottom = top + 50;
        sketch(&format!("FrameLayout [0,0][1080,2400]\n  Button [0,{top}][100,{bottom}] click text:\"Go\""))
    };
    let mut tracker = Tracker::default();
    let first = tracker.observe(at(10), 0);
    let second = tracker.observe(at(60), 1);
    let third = tracker.observe(at(60), 2);
    assert!(is_moving(&first, &second, first.ids[1]));
    assert!(!is_moving(&second, &third, first.ids[1]));
    assert!(is_moving(&second, &third, ElementId(99)), "not proven to rest");
}

#[test]
fn a_view_of_ios_that_speaks_for_itself_may_lie_in_front() {
    // F30: React Native's overlays are plain views, and what they say is in nothing inside them.
    let mut over = sketch(
        r#"
            Application [0,0][393,852]
              Other [16,131][377,691] role:Container desc:"Prairie Pause"
                Button [16,291][377,339] click text:"Prairie"
                Button [16,479][377,527] click text:"Pause"
              Other [16,131][377,691] role:Container desc:"An offer Dismiss"
                Button [32,185][361,233] click text:"Dismiss"
            "#,
    );
    over.platform = Platform::Ios;
    let reading = ScreenReading::new(over.clone());
    assert_eq!(find_place(&reading, 3, 3).unwrap().maybe_covered_by, Some(4));
    over.elements[4].description = Some("Dismiss".into());
    let only_holds = ScreenReading::new(over);
    assert_eq!(find_place(&only_holds, 3, 3).unwrap().maybe_covered_by, None);
}

#[test]
fn a_card_of_ios_is_touched_beside_controls_that_may_lie_over_it() {
    // F30: the tree lists what is drawn behind last.
    let mut page = sketch(
        r#"
            Application [0,0][393,852]
              Button [16,351][377,399] click text:"Open"
              Button [16,175][377,575] click text:"A card behind"
            "#,
    );
    page.platform = Platform::Ios;
    let point = check(&ScreenReading::new(page), 2).unwrap();
    assert!(!Rect::new(16, 351, 377, 399).contains(point), "{point:?}");
}
