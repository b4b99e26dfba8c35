//! Which targets of the real screens lie under something (F30), and whether each is tapped where it can be hit (F35).

use std::fmt::Write as _;
use std::path::Path;

use mdm_core::intent::actionable::{NotActionable, find_place, tap_point};
use mdm_core::outline::{OutlineOptions, lines};
use mdm_core::screen::geometry::Rect;
use mdm_core::screen::reading::ScreenReading;

use crate::files::{SCREEN_FOLDERS, load, number, screens, seen};

#[derive(Debug, Default)]
pub struct Count {
    pub targets: usize,
    pub covered: usize,
    /// Targets that may be covered, and are acted on with a lower confidence.
    pub doubtful: usize,
    /// One row for each target that is refused or doubted.
    pub table: String,
}

pub fn count_all() -> Count {
    let mut count = Count::default();
    // The screens of the benchmark are made of several screens.
    for folder in SCREEN_FOLDERS.into_iter().filter(|folder| *folder != "bench") {
        for path in screens(folder) {
            let Some(snapshot) = load(&path) else { continue };
            count_screen(&seen(snapshot).reading, &format!("{folder} {}", number(&path)), &mut count);
        }
    }
    count
}

fn count_screen(reading: &ScreenReading, name: &str, count: &mut Count) {
    let shown = |index: &u32| {
        reading.nodes[*index as usize].visible.is_some() && reading.element(*index).is_tappable()
    };
    for index in (0..reading.nodes.len() as u32).filter(shown) {
        count.targets += 1;
        let (judged, by) = match find_place(reading, index, index) {
            Err(NotActionable::Covered { by }) => ("refused", by),
            Ok(place) => match place.maybe_covered_by {
                Some(by) => ("doubted", by),
                None => continue,
            },
            Err(_) => continue,
        };
        count.covered += usize::from(judged == "refused");
        count.doubtful += usize::from(judged == "doubted");
        let short = |index: u32| {
            let class = &reading.element(index).class;
            class.rsplit('.').next().unwrap_or_default().to_owned()
        };
        let _ = writeln!(count.table, "{name}\t{index} {}\t{by} {}\t{judged}", short(index), short(by));
    }
}

/// The rows of the kept table with the verdict of a person who looked at the tree, and those of this run without one.
fn without_verdicts(table: &str) -> Vec<&str> {
    table.lines().map(|line| line.rsplit_once('\t').map_or(line, |(row, _)| row)).collect()
}

#[test]
fn no_target_is_refused_because_another_element_comes_later() {
    // F30
    let count = count_all();
    if count.targets == 0 {
        return;
    }
    println!(
        "{} targets: {} are refused as covered, {} may be covered",
        count.targets, count.covered, count.doubtful
    );
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/figures/covers.tsv");
    let before = std::fs::read_to_string(&kept).unwrap_or_default();
    let rows: Vec<&str> = count.table.lines().collect();
    let known: Vec<&str> = without_verdicts(&before).into_iter().skip(1).collect();
    if std::env::var_os("UPDATE_FIGURES").is_some() && rows != known {
        let unjudged: String = rows.iter().map(|row| format!("{row}\tnot looked at\n")).collect();
        std::fs::write(&kept, format!("screen\ttarget\tunder\tanswer\tverdict\n{unjudged}")).unwrap();
    }
    assert_eq!(rows, known, "look at the trees, and write a verdict into docs/figures/covers.tsv");
    assert!(!before.contains("not looked at"), "docs/figures/covers.tsv has rows without a verdict");
}

/// True if all of `rect` lies in the others, so that no point of it is free.
fn is_filled(rect: Rect, others: &[Rect]) -> bool {
    const STEPS: i32 = 40;
    let at = |start: i32, length: i32, step: i32| start + (length - 1) * step / STEPS;
    (0..=STEPS).all(|x| {
        (0..=STEPS).all(|y| {
            let point = mdm_core::screen::geometry::Point {
                x: at(rect.left, rect.width(), x),
                y: at(rect.top, rect.height(), y),
            };
            others.iter().any(|other| other.contains(point))
        })
    })
}

#[test]
fn every_tap_point_is_visible_and_not_on_another_control() {
    // F35, AC-06
    let (mut targets, mut filled) = (0, 0);
    for path in SCREEN_FOLDERS.into_iter().flat_map(screens) {
        let Some(snapshot) = load(&path) else { continue };
        let seen = seen(snapshot);
        let reading = &seen.reading;
        let outline = lines(reading, &seen.ids, &OutlineOptions::default());
        for line in outline.lines.iter().filter(|line| line.is_target) {
            let visible = reading.nodes[line.index as usize].visible.unwrap();
            let point = tap_point(reading, line.index as usize).unwrap();
            targets += 1;
            assert!(visible.contains(point), "{} {}", path.display(), line.text);
            let inner =
                reading.range(line.index).skip(1).filter(|inner| reading.element(*inner).is_tappable());
            let inner: Vec<Rect> = inner.filter_map(|inner| reading.nodes[inner as usize].visible).collect();
            if inner.iter().any(|rect| rect.contains(point)) {
                assert!(is_filled(visible, &inner), "{} {}: {point:?}", path.display(), line.text);
                filled += 1;
            }
        }
    }
    println!("{targets} targets are tapped on themselves, but for {filled} that inner controls fill");
}
