use super::*;
use crate::change::tracker::Tracker;
use crate::intent::selector::TextMatch;
use crate::meaning::sketch::sketch;
use crate::screen::geometry::Point;
use std::sync::Arc;

fn seen(tree: &str) -> Arc<Observation> {
    Tracker::default().observe(sketch(tree), 0)
}

fn named(text: &str) -> Selector {
    Selector { text: Some(TextMatch::Is(text.into())), ..Selector::default() }
}

const PAGE: &str = r#"
    FrameLayout [0,0][1080,2400]
      ScrollView [0,200][1080,2300] scroll id:page
        LinearLayout [0,200][1080,2300]
          TextView [0,200][1080,300] text:"Picked"
          androidx.recyclerview.widget.RecyclerView [0,300][1080,560] scroll id:cards
            TextView [0,300][400,560] click text:"Card 1"
            TextView [420,300][820,560] click text:"Card 2"
            TextView [840,300][1080,560] click text:"Card 3"
          androidx.recyclerview.widget.RecyclerView [0,600][1080,2200] scroll id:rows
            TextView [0,600][1080,800] click text:"Row 1"
            TextView [0,800][1080,1000] click text:"Row 2"
          SeekBar [0,2200][1080,2300] text:"50.0"
    "#;

#[test]
fn the_largest_container_along_the_axis_is_picked() {
    let seen = seen(PAGE);
    let at = |index: u32| seen.reading.element(index).stable_id.as_deref().unwrap_or("").to_owned();
    let down = pick(&seen, None, Axis::Vertical).unwrap();
    assert_eq!((at(down.index), down.others.len()), ("app:id/page".into(), 1), "the nested one is named");
    assert_eq!(at(down.others[0]), "app:id/rows");
    let across = pick(&seen, None, Axis::Horizontal).unwrap();
    assert_eq!((at(across.index), across.others.len()), ("app:id/cards".into(), 0));
    let rows = Selector { resource_id: Some("rows".into()), ..Selector::default() };
    assert_eq!(at(pick(&seen, Some(&rows), Axis::Vertical).unwrap().index), "app:id/rows");
    let by_row = pick(&seen, Some(&named("Row 2")), Axis::Vertical).unwrap();
    assert_eq!(at(by_row.index), "app:id/rows", "what scrolls around something that is named");
    let wrong = pick(&seen, Some(&rows), Axis::Horizontal).unwrap_err();
    assert_eq!(wrong.cause, Cause::DoesNotScroll);
    let gone = pick(&seen, Some(&named("Nothing")), Axis::Vertical).unwrap_err();
    assert_eq!(gone.cause, Cause::ContainerNotFound);
}

#[test]
fn a_stroke_avoids_sliders_and_system_gestures() {
    let seen = seen(PAGE);
    let page = pick(&seen, None, Axis::Vertical).unwrap().index;
    for direction in [Direction::Down, Direction::Up] {
        let stroke = stroke(&seen.reading, page, direction, 1400, StrokeOptions::default()).unwrap();
        assert!(!Rect::new(0, 2200, 1080, 2300).contains(stroke.from), "on a slider: {stroke:?}");
        assert!((120..2280).contains(&stroke.from.y) && (64..1016).contains(&stroke.from.x), "{stroke:?}");
        let back = stroke.to.y < stroke.from.y;
        assert_eq!(back, direction == Direction::Down, "the finger goes the other way: {stroke:?}");
    }
    let cards = pick(&seen, None, Axis::Horizontal).unwrap().index;
    let sideways =
        finger::stroke(&seen.reading, cards, Direction::Right, 700, StrokeOptions::default()).unwrap();
    assert!(sideways.from.y == sideways.to.y && sideways.from.x > sideways.to.x, "{sideways:?}");
    assert!(sideways.from.x < 1016, "not where the system takes it for Back: {sideways:?}");
    assert!((300..560).contains(&sideways.from.y));
}

#[test]
fn a_stroke_does_not_begin_on_the_keyboard() {
    let seen = seen(LIST);
    let keyboard = Some(Rect::new(0, 1500, 1080, 2400));
    let options = StrokeOptions { keyboard, ..StrokeOptions::default() };
    let stroke = stroke(&seen.reading, 1, Direction::Down, 1000, options).unwrap();
    assert!(stroke.from.y < 1500 && stroke.to.y < stroke.from.y - 900, "{stroke:?}");
}

#[test]
fn a_stroke_prefers_to_begin_beside_controls() {
    let tree = r#"
        FrameLayout [0,0][1080,2400]
          ScrollView [0,200][1080,2300] scroll
            LinearLayout [0,200][1080,2300]
              Button [0,200][700,2300] click text:"Big"
              TextView [700,200][1080,2300] text:"Words"
        "#;
    let seen = seen(tree);
    let from = stroke(&seen.reading, 1, Direction::Down, 1000, StrokeOptions::default()).unwrap().from;
    assert!(Rect::new(700, 200, 1080, 2300).contains(from), "{from:?}");
}

const LIST: &str = r#"
    FrameLayout [0,0][1080,2400]
      androidx.recyclerview.widget.RecyclerView [0,200][1080,2200] scroll
        TextView [0,200][1080,240] click text:"Row 1"
        TextView [0,240][1080,440] click text:"Row 2"
        TextView [0,440][1080,640] click text:"Row 3"
        TextView [0,640][1080,840] click text:"Row 4"
        TextView [0,2180][1080,2200] click text:"Row 9"
    "#;

#[test]
fn a_row_cut_at_an_edge_is_not_fully_visible() {
    let seen = seen(LIST);
    assert_eq!(sight(&seen.reading, 3), Sight::Clear);
    let cut = |index| match sight(&seen.reading, index) {
        Sight::Cut { container: 1, direction, way_px } => (direction, way_px),
        other => panic!("{other:?}"),
    };
    assert_eq!(cut(2), (Direction::Up, 240), "one usual row and a bit");
    assert_eq!(cut(6), (Direction::Down, 240));
}

#[test]
fn bars_and_sticky_headings_shrink_the_band() {
    let over = |extra: &str| {
        let tree = format!("{}\n{extra}", LIST.trim_end());
        let seen = seen(&tree);
        band(&seen.reading, 1, Axis::Vertical).map(|rect| (rect.top, rect.bottom)).unwrap()
    };
    assert_eq!(over(""), (200, 2200));
    assert_eq!(over("      TextView [0,200][1080,300] text:\"Section\""), (300, 2200));
    assert_eq!(over("      Button [0,2050][1080,2200] click text:\"Buy\""), (200, 2050));
    assert_eq!(over("      View [0,2050][1080,2200]"), (200, 2200), "a shadow hides nothing");
    assert_eq!(over("      Button [900,2000][1060,2160] click desc:\"Add\""), (200, 2200), "no bar");
    assert_eq!(
        over("        TextView [0,200][1080,300] text:\"Stuck\""),
        (300, 2200),
        "a heading in the list"
    );
}

#[test]
fn a_row_under_a_bar_is_not_fully_visible() {
    let tree = format!("{}\n      TextView [0,200][1080,300] text:\"Section\"", LIST.trim_end());
    let seen = seen(&tree);
    let Sight::Cut { direction, way_px, .. } = sight(&seen.reading, 3) else {
        panic!("Row 2 is half hidden")
    };
    assert_eq!(direction, Direction::Up);
    assert!((60..400).contains(&way_px), "{way_px}");
}

fn moved(trees: [&str; 2]) -> Movement {
    let mut tracker = Tracker::default();
    let [before, after] = trees.map(|tree| tracker.observe(sketch(tree), 0));
    movement(&before, &after, before.ids[1], Axis::Vertical)
}

fn list(first: i32, offset: i32) -> String {
    let mut tree = String::from("FrameLayout [0,0][1080,2400]\n  ListView [0,200][1080,1200] scroll\n");
    for row in 0..6 {
        let top = 200 + row * 200 - offset;
        let (from, to) = (top.max(200), (top + 200).min(1200));
        if from < to {
            tree.push_str(&format!(
                "    TextView [0,{from}][1080,{to}] click text:\"Row {}\"\n",
                first + row
            ));
        }
    }
    tree
}

#[test]
fn movement_is_measured_on_content_in_both_captures() {
    assert_eq!(moved([&list(1, 0), &list(1, 0)]), Movement::None);
    assert_eq!(moved([&list(1, 0), &list(1, 60)]), Movement::By(60));
    assert_eq!(moved([&list(1, 0), &list(4, 50)]), Movement::By(650));
    assert_eq!(moved([&list(4, 50), &list(1, 0)]), Movement::By(-650));
    assert_eq!(moved([&list(1, 0), &list(50, 0)]), Movement::Gap);
    let grown = format!("{}  TextView [0,1300][1080,1400] text:\"Toast\"", list(1, 0));
    assert_eq!(moved([&list(1, 0), &grown]), Movement::None, "something else changed");
}

#[test]
fn an_invisible_element_in_the_tree_shows_where_to_scroll() {
    let tree = r#"
        FrameLayout [0,0][1080,2400]
          ListView [0,200][1080,1200] scroll
            TextView [0,200][1080,400] text:"here"
            TextView [0,2000][1080,2200] text:"below"
            TextView [0,-600][1080,-400] text:"above"
        "#;
    let seen = seen(tree);
    assert_eq!(away(&seen.reading, 3), Some((1, Direction::Down, 1100)));
    assert_eq!(away(&seen.reading, 4), Some((1, Direction::Up, 900)));
    assert_eq!(away(&seen.reading, 2), None);
}

#[test]
fn hostile_bounds_do_not_overflow() {
    let tree = r#"
        FrameLayout [-2147483648,-2147483648][2147483647,2147483647]
          ListView [-2147483648,-2147483648][2147483647,2147483647] scroll
            TextView [2147483640,2147483640][2147483647,2147483647] text:"x"
        "#;
    let seen = seen(tree);
    for direction in [Direction::Down, Direction::Up, Direction::Left, Direction::Right] {
        if let Some(stroke) = stroke(
            &seen.reading,
            1,
            direction,
            i32::MAX,
            StrokeOptions { another: true, ..StrokeOptions::default() },
        ) {
            let screen = Rect::new(0, 0, 1080, 2400);
            assert!(screen.contains(stroke.from) && screen.contains(stroke.to), "{stroke:?}");
        }
    }
    let _ = (sight(&seen.reading, 2), away(&seen.reading, 2), ends(&seen, 1));
    assert!(!Rect::default().contains(Point { x: 0, y: 0 }));
}
