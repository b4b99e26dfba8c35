//! No input makes reading or outlining fail (SE-07).

use mdm_android::hierarchy::{Limits, parse};
use mdm_core::change::tracker::Tracker;
use mdm_core::identity::ElementId;
use mdm_core::outline::{OutlineOptions, lines, page};
use mdm_core::screen::reading::ScreenReading;
use mdm_core::screen::snapshot::{DefectKind, Snapshot};
use proptest::prelude::*;

use crate::dump::{assert_well_formed, dump};

const FORM: &str = "\
FrameLayout [0,0][1080,2400]
  LinearLayout [0,100][1080,2000] clickable id=row
    TextView [0,100][1080,200] text='Grüße &amp; &#128512; 日本'
    Switch [900,100][1080,200] checkable checked
  EditText [0,300][1080,400] text=secret password id=password hint=Password
  androidx.recyclerview.widget.RecyclerView [0,500][1080,2000] scrollable id=rows
    Button [0,500][1080,600] text='Log in' clickable id=login
";

fn parse_and_check(bytes: &[u8], limits: &Limits) -> Snapshot {
    let snapshot = parse(bytes, limits);
    assert_well_formed(&snapshot);
    assert!(snapshot.elements.len() <= limits.elements_max);
    assert!(snapshot.elements.iter().all(|element| usize::from(element.depth) <= limits.depth_max));
    assert!(snapshot.defects.len() <= limits.defects_max + 3);
    let reading = ScreenReading::new(snapshot.clone());
    let ids: Vec<ElementId> = (1..=snapshot.elements.len() as u32).map(ElementId).collect();
    let shown = lines(&reading, &ids, &OutlineOptions::default());
    let first = page(&shown, 1000, 1);
    assert_eq!(first.text.matches('\n').count(), first.shown);
    assert_eq!(first.shown + first.left_out, shown.lines.len());
    let mut tracker = Tracker::default();
    tracker.observe(snapshot.clone(), 0);
    assert_eq!(tracker.observe(snapshot.clone(), 1).revision, 1);
    snapshot
}

proptest! {
    #[test]
    fn any_bytes_are_read(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
        parse_and_check(&bytes, &Limits::default());
    }

    #[test]
    fn any_markup_is_read(parts in proptest::collection::vec(
        prop::sample::select(vec![
            "<", ">", "/", "=", "\"", "'", " ", "&", ";", "&#", "x", "<node", "</node>", "<hierarchy>", "</hierarchy>",
            "<!--", "-->", "<?xml", "?>", "<![CDATA[", "]]>", " text=\"a\"", " bounds=\"[0,0][-9,2147483647]\"",
            " clickable=\"true\"", " password='true'", "/>", "😀", "<android.view.View", " scrollable=\"true\"",
        ]), 0..200)) {
        parse_and_check(format!("<hierarchy>{}", parts.concat()).as_bytes(), &Limits::default());
    }

    #[test]
    fn any_mutation_is_read(changes in proptest::collection::vec((any::<prop::sample::Index>(), 0..4u8, any::<u8>()), 1..12)) {
        let mut bytes = dump(FORM).into_bytes();
        for (place, kind, byte) in changes {
            let at = place.index(bytes.len());
            match kind {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                2 => drop(bytes.drain(at..(at + usize::from(byte)).min(bytes.len() - 1))),
                _ => bytes.extend_from_within(at..(at + usize::from(byte)).min(bytes.len())),
            }
        }
        parse_and_check(&bytes, &Limits::default());
    }
}

#[test]
fn every_truncation_keeps_the_complete_elements() {
    let xml = dump(FORM);
    let whole = parse_and_check(xml.as_bytes(), &Limits::default());
    assert!(whole.is_whole() && whole.elements.len() == 7);
    // No value of this dump contains '>', so each one ends a tag.
    let tag_ends: Vec<usize> =
        xml.match_indices("<node").map(|(start, _)| start + xml[start..].find('>').unwrap()).collect();
    for cut in 0..xml.len() {
        let snapshot = parse_and_check(&xml.as_bytes()[..cut], &Limits::default());
        let complete = tag_ends.iter().filter(|&&end| end < cut).count();
        assert_eq!(snapshot.elements.len(), complete, "cut at {cut}");
        for (element, original) in snapshot.elements.iter().zip(&whole.elements) {
            let end = original.end.min(complete as u32);
            assert_eq!(
                element,
                &mdm_core::screen::element::Element { end, ..original.clone() },
                "cut at {cut}"
            );
        }
        assert!(!snapshot.is_whole(), "cut at {cut}");
    }
}

#[test]
fn ten_thousand_levels_are_limited() {
    let deep =
        format!("<hierarchy>{}{}</hierarchy>", "<node text=\"x\">".repeat(10_000), "</node>".repeat(10_000));
    let snapshot = parse_and_check(deep.as_bytes(), &Limits::default());
    assert_eq!(snapshot.elements.len(), 10_000);
    let kinds: Vec<_> = snapshot.defects.iter().map(|defect| defect.kind).collect();
    assert_eq!(kinds, [DefectKind::LimitReached]);
}

#[test]
fn twenty_megabytes_are_read() {
    let node = format!("<node text=\"{}\" clickable=\"true\" bounds=\"[0,0][9,9]\"/>", "x".repeat(300));
    let count = (20 << 20) / node.len();
    let snapshot = parse_and_check(
        format!("<hierarchy>{}</hierarchy>", node.repeat(count)).as_bytes(),
        &Limits::default(),
    );
    assert_eq!(snapshot.elements.len(), 50_000);
    assert!(!snapshot.is_whole());
}

/// An element is larger in memory than on the wire, so a small input may not have many of them.
#[test]
fn the_element_limit_grows_with_the_input() {
    let tiny = format!("<hierarchy>{}</hierarchy>", "<a/>".repeat(100_000));
    let snapshot = parse_and_check(tiny.as_bytes(), &Limits::default());
    assert_eq!(snapshot.elements.len(), 20_000 + tiny.len() / 128);
    assert!(!snapshot.is_whole(), "SE-07");
}

#[test]
fn limits_are_kept_and_reported() {
    let limits =
        Limits { bytes_max: 4000, elements_max: 3, depth_max: 2, value_bytes_max: 4, defects_max: 2 };
    let long = parse_and_check(b"<hierarchy><node text=\"abcdefgh\"/></hierarchy>", &limits);
    assert_eq!(long.elements[0].text.as_deref(), Some("abcd"));
    assert_eq!(long.defects[0].kind, DefectKind::BadAttribute);
    assert!(long.is_whole(), "a cut text is no missing element");

    let many = parse_and_check(dump(FORM).as_bytes(), &limits);
    assert_eq!(many.elements.len(), 3);
    assert!(many.defects.iter().any(|defect| defect.kind == DefectKind::LimitReached));

    let big = parse_and_check(
        format!("<hierarchy><node/>{}<node/></hierarchy>", " ".repeat(5000)).as_bytes(),
        &limits,
    );
    assert_eq!((big.elements.len(), big.defects[0].kind), (1, DefectKind::LimitReached));

    // Defects that lose no elements do not displace the one that does.
    let noisy = "<hierarchy><node a/><node a/><node a/>";
    let snapshot = parse_and_check(noisy.as_bytes(), &Limits { elements_max: 10, ..limits });
    assert!(!snapshot.is_whole());
}

/// Each of these inputs takes quadratic time in a naive scanner, which would not finish.
#[test]
fn repetitive_input_takes_linear_time() {
    let parts = [
        "<",
        "<!--",
        "<?",
        "</x>",
        "<node a=\"",
        "<node a='<",
        "<node ",
        "&",
        "<node text=\"&&&&\"/>",
        "<a><b></a>",
        "<hierarchy>",
        "</hierarchy>",
        "<node clickable=\"true\" text=\"x\">",
    ];
    for part in parts {
        let xml = format!("<hierarchy>{}", part.repeat((1 << 20) / part.len()));
        parse_and_check(xml.as_bytes(), &Limits::default());
    }
    let value = format!("<hierarchy><node text=\"{}\"/></hierarchy>", "&".repeat(1 << 20));
    parse_and_check(value.as_bytes(), &Limits::default());
}
