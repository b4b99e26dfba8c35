//! Dumps of real apps. They are kept outside the project; without them these tests print that they are skipped.

use std::path::{Path, PathBuf};

use mdm_android::hierarchy::{Limits, parse};
use mdm_core::meaning::label;
use mdm_core::outline::{OutlineOptions, text};
use mdm_core::screen::reading::ScreenReading;
use mdm_core::screen::snapshot::Snapshot;
use mdm_core::screen::visible::visible_rects;
use quick_xml::Reader;
use quick_xml::events::Event;

use crate::dump::assert_well_formed;
use crate::recorded::report_missing;

/// Lists the files of a folder.
fn data(folder: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data").join(folder);
    let mut files = Vec::new();
    collect(&root, &mut files);
    if files.is_empty() {
        report_missing(&format!("real dumps in {folder}"));
    }
    files.sort();
    files
}

/// Collects the XML files of a folder and its subfolders.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "xml") {
            files.push(path);
        }
    }
}

fn whole_files() -> Vec<PathBuf> {
    ["android-ui", "android-traces", "bench"].into_iter().flat_map(data).collect()
}

fn load(path: &Path) -> (Vec<u8>, Snapshot) {
    let xml = std::fs::read(path).unwrap();
    let snapshot = parse(&xml, &Limits::default());
    assert_well_formed(&snapshot);
    (xml, snapshot)
}

/// Reads text and bounds of every node with another parser.
fn read_with_quick_xml(xml: &[u8]) -> Vec<(String, String)> {
    let mut reader = Reader::from_str(std::str::from_utf8(xml).unwrap());
    let mut nodes = Vec::new();
    loop {
        let tag = match reader.read_event().unwrap() {
            Event::Start(tag) | Event::Empty(tag) => tag,
            Event::Eof => return nodes,
            _ => continue,
        };
        if tag.name().as_ref() == "hierarchy" {
            continue;
        }
        let mut node = (String::new(), "[0,0][0,0]".to_owned());
        for attribute in tag.attributes().map(Result::unwrap) {
            let value = || quick_xml::escape::unescape(&attribute.value).unwrap().into_owned();
            match attribute.key.as_ref() {
                "text" => node.0 = value(),
                "bounds" => node.1 = value(),
                _ => {}
            }
        }
        nodes.push(node);
    }
}

#[test]
fn quick_xml_reads_the_same_nodes() {
    for path in whole_files() {
        let (xml, snapshot) = load(&path);
        assert_eq!(snapshot.defects, [], "{}", path.display());
        let ours: Vec<(String, String)> = snapshot
            .elements
            .iter()
            .map(|element| {
                let b = element.bounds;
                let bounds = format!("[{},{}][{},{}]", b.left, b.top, b.right, b.bottom);
                (element.text.as_deref().unwrap_or_default().to_owned(), bounds)
            })
            .collect();
        assert_eq!(ours, read_with_quick_xml(&xml), "{}", path.display());
    }
}

#[test]
fn malformed_files_give_their_elements() {
    for path in data("malformed") {
        let (_, snapshot) = load(&path);
        assert!(!snapshot.elements.is_empty() && !snapshot.is_whole(), "{}", path.display());
        text(&ScreenReading::new(snapshot), &OutlineOptions::default());
    }
}

#[test]
fn every_visible_tappable_element_is_in_the_outline() {
    let (mut tappable, mut reached) = (0, 0);
    for path in whole_files() {
        let (_, snapshot) = load(&path);
        let options = OutlineOptions { points: true, ..OutlineOptions::default() };
        let points = points(&text(&ScreenReading::new(snapshot.clone()), &options));
        let rects = visible_rects(&snapshot);
        for (element, rect) in snapshot.elements.iter().zip(rects) {
            let Some(rect) = rect.filter(|_| element.affordances.clickable) else { continue };
            tappable += 1;
            reached += usize::from(
                points.iter().any(|&(x, y)| rect.contains(mdm_core::screen::geometry::Point { x, y })),
            );
        }
    }
    assert_eq!(reached, tappable);
}

fn points(text: &str) -> Vec<(i32, i32)> {
    let point = |line: &str| {
        let (x, y) = line.rsplit_once(" @")?.1.split_once(',')?;
        Some((x.parse().ok()?, y.parse().ok()?))
    };
    text.lines().filter_map(point).collect()
}

#[test]
fn outlines_are_short_and_never_show_a_password() {
    let (mut lines, mut chars) = (0, 0);
    for path in whole_files() {
        let (xml, snapshot) = load(&path);
        let shown = text(&ScreenReading::new(snapshot.clone()), &OutlineOptions::default());
        assert!(shown.len() * 4 < xml.len(), "{}", path.display());
        lines += shown.lines().count();
        chars += shown.chars().count();
        for secret in snapshot.elements.iter().filter(|element| element.password) {
            let hidden = label::value(secret);
            assert!(matches!(hidden, None | Some(label::Value::Hidden { .. })));
            let text = secret.text.as_deref().filter(|text| text.contains(char::is_numeric));
            assert!(!text.is_some_and(|text| shown.contains(text)), "{}", path.display());
        }
    }
    // A token has about four characters; `cargo xtask bench` counts real tokens.
    assert!(chars <= lines * 44, "{chars} characters in {lines} lines");
}

fn relevant(snapshot: Snapshot) -> u64 {
    ScreenReading::new(snapshot).relevant
}

#[test]
fn one_changed_text_is_a_relevant_change() {
    for size in ["small", "medium", "large"] {
        let files = data("bench");
        let find = |name: String| files.iter().find(|path| path.ends_with(&name)).map(|path| load(path).1);
        let (Some(before), Some(after)) = (find(format!("{size}.xml")), find(format!("{size}_flip.xml")))
        else {
            continue;
        };
        assert_ne!(relevant(before.clone()), relevant(after.clone()), "{size}");
        let moved = |mut snapshot: Snapshot| {
            for element in &mut snapshot.elements {
                let b = &mut element.bounds;
                (b.left, b.right) = (b.left + 1, b.right + 1);
                element.state.focused = None;
            }
            snapshot
        };
        assert_eq!(relevant(moved(before.clone())), relevant(before.clone()), "{size}");
    }
}
