//! Lists of random rows, read by random strokes (F43).

use proptest::prelude::*;

use super::*;
use crate::change::tracker::Tracker;
use crate::meaning::sketch::sketch;

const VIEW: (i32, i32) = (200, 1200);

/// Rows with a height and a text, of which the view shows those after `offset_px`.
fn draw(rows: &[(i32, String)], offset_px: i32) -> String {
    let mut tree = String::from("FrameLayout [0,0][1080,2400]\n  RecyclerView [0,200][1080,1200] scroll\n");
    let mut top = VIEW.0 - offset_px;
    for (height, text) in rows {
        let (from, to) = (top.max(VIEW.0), (top + height).min(VIEW.1));
        // The button is in the lower half.
        let middle = (top + height / 2).clamp(VIEW.0, VIEW.1);
        if from < to {
            tree.push_str(&format!("    FrameLayout [0,{from}][1080,{to}] click\n"));
            tree.push_str(&format!("      TextView [0,{from}][800,{to}] text:\"{text}\"\n"));
            if middle < to {
                tree.push_str(&format!("      Button [800,{middle}][1080,{to}] click text:\"Delete\"\n"));
            }
        }
        top += height;
    }
    tree
}

/// Reads the list by strokes of these lengths. Returns the titles, and whether a doubt was told.
fn read(rows: &[(i32, String)], strokes_px: &[i32]) -> (Vec<String>, bool) {
    let end_px = (rows.iter().map(|row| row.0).sum::<i32>() - (VIEW.1 - VIEW.0)).max(0);
    let mut tracker = Tracker::default();
    let mut reader = ListReader::new(Axis::Vertical, 1000);
    let (mut offset_px, mut way) = (0, Way::default());
    let mut strokes = strokes_px.iter().cycle();
    for at_ms in 0..400 {
        let seen = tracker.observe(sketch(&draw(rows, offset_px)), at_ms);
        let container = seen.ids[1];
        reader.take_in(&seen, container, way);
        if offset_px == end_px {
            break;
        }
        let stroke = *strokes.next().expect("there are strokes");
        offset_px = (offset_px + stroke).min(end_px);
        way.travelled_px += stroke;
    }
    let words = |row: &Row| row.parts.join(" ").split('"').nth(1).unwrap_or("?").to_owned();
    let is_doubtful = reader.alike || reader.changed;
    (reader.rows.iter().map(words).collect(), is_doubtful)
}

fn titles(rows: &[(i32, String)]) -> Vec<String> {
    rows.iter().map(|row| row.1.clone()).collect()
}

#[test]
fn a_row_that_both_views_cut_off_is_one_row() {
    let rows: Vec<(i32, String)> = (0..20).map(|row| (230, format!("Order {row}"))).collect();
    assert_eq!(read(&rows, &[800]), (titles(&rows), false));
}

#[test]
fn rows_whose_lengths_differ_by_rounding_are_not_joined_in_pairs() {
    // Found with the helper: where a list stands at a fraction of a point, every second row is a pixel longer.
    let mut tree = String::from("FrameLayout [0,0][1080,2400]\n  RecyclerView [0,200][1080,1200] scroll\n");
    for row in 0..8 {
        let (from, to) = (200 + row * 121 - row / 2, 200 + (row + 1) * 121 - (row + 1) / 2);
        tree.push_str(&format!("    TextView [40,{from}][1080,{to}] text:\"Order {row}\"\n"));
    }
    let seen = Tracker::default().observe(sketch(&tree), 0);
    let mut reader = ListReader::new(Axis::Vertical, 1000);
    reader.take_in(&seen, seen.ids[1], Way::default());
    let rows = flat::join_flat_rows(reader.rows);
    assert_eq!(rows.len(), 8, "{rows:?}");
}

#[test]
fn two_large_rows_with_a_margin_between_them_did_not_change() {
    // Both are cut off in the first view, and only the next view shows the third.
    let mut tracker = Tracker::default();
    let mut reader = ListReader::new(Axis::Vertical, 1000);
    let mut way = Way::default();
    for offset_px in [100, 600] {
        let mut tree =
            String::from("FrameLayout [0,0][1080,2400]\n  RecyclerView [0,200][1080,1200] scroll\n");
        for row in 0..4 {
            let top = VIEW.0 + row * 620 - offset_px;
            let (from, to) = (top.max(VIEW.0), (top + 600).min(VIEW.1));
            if from < to {
                tree.push_str(&format!("    TextView [0,{from}][1080,{to}] click text:\"Card {row}\"\n"));
            }
        }
        let seen = tracker.observe(sketch(&tree), 0);
        let container = seen.ids[1];
        reader.take_in(&seen, container, way);
        way.travelled_px += 500;
    }
    let words: Vec<&str> = reader.rows.iter().map(|row| row.parts[0].trim_start_matches("button ")).collect();
    assert_eq!((words, reader.changed), (vec!["\"Card 0\"", "\"Card 1\"", "\"Card 2\""], false));
}

proptest! {
    /// Rows with names of their own are all read, once and in order, whatever their heights and the strokes are.
    #[test]
    fn rows_with_names_are_read_once(
        heights in prop::collection::vec(60..400_i32, 1..60),
        strokes in prop::collection::vec(100..800_i32, 1..8),
    ) {
        let rows: Vec<(i32, String)> =
            heights.iter().enumerate().map(|(row, height)| (*height, format!("Order {row}"))).collect();
        let (read, _) = read(&rows, &strokes);
        prop_assert_eq!(read, titles(&rows));
    }

    /// Rows with equal names are read once, or a doubt is told.
    #[test]
    fn rows_with_equal_names_are_read_once_or_doubted(
        names in prop::collection::vec(0..4_usize, 1..60),
        height in 60..300_i32,
        strokes in prop::collection::vec(100..800_i32, 1..8),
    ) {
        let rows: Vec<(i32, String)> =
            names.iter().map(|name| (height, ["Kowalski", "Nowak", "Lis", "Zima"][*name].to_owned())).collect();
        let (read, is_doubtful) = read(&rows, &strokes);
        prop_assert!(is_doubtful || read == titles(&rows), "{:?} instead of {:?}", read, titles(&rows));
    }
}
