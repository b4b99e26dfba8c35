//! Helpers that the tests share.

use mdm_core::screen::element::Element;
use mdm_core::screen::snapshot::{DefectKind, Snapshot};
use mdm_ios::tree::{Format, Limits, parse};

/// One screen, written in each format.
pub const TUNER: [(Format, &str); 5] = [
    (Format::WdaXml, include_str!("fixtures/tuner.wda.xml")),
    (Format::WdaJson, include_str!("fixtures/tuner.wda.json")),
    (Format::IdbLegacy, include_str!("fixtures/tuner.idb-legacy.json")),
    (Format::IdbNested, include_str!("fixtures/tuner.idb-nested.json")),
    (Format::IdbComplete, include_str!("fixtures/tuner.idb-complete.json")),
];

pub fn read(source: &str) -> Snapshot {
    let snapshot = parse(source.as_bytes(), &Limits::default());
    assert_well_formed(&snapshot);
    snapshot
}

/// Returns the only element of a source without defects.
pub fn one(source: &str) -> Element {
    let snapshot = read(source);
    assert_eq!(snapshot.defects, [], "{source}");
    assert_eq!(snapshot.elements.len(), 1, "{source}");
    snapshot.elements[0].clone()
}

pub fn kinds(snapshot: &Snapshot) -> Vec<DefectKind> {
    snapshot.defects.iter().map(|defect| defect.kind).collect()
}

/// Asserts that parents come before their children, and that the descendants of an element are `index + 1 .. end`.
pub fn assert_well_formed(snapshot: &Snapshot) {
    let elements = &snapshot.elements;
    let mut open: Vec<(usize, usize)> = Vec::new();
    for (index, element) in elements.iter().enumerate() {
        while open.last().is_some_and(|&(_, end)| end <= index) {
            open.pop();
        }
        let end = element.end as usize;
        let (parent, parent_end) = open.last().copied().unzip();
        assert!(end > index && end <= parent_end.unwrap_or(elements.len()), "end of {index}");
        assert_eq!(element.depth as usize, open.len(), "depth of {index}");
        assert_eq!(element.parent.map(|parent| parent as usize), parent, "parent of {index}");
        open.push((index, end));
    }
}
