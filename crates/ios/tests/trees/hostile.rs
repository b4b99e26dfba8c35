//! No input makes reading fail (SE-07).

use mdm_core::outline::{OutlineOptions, text};
use mdm_core::screen::element::Element;
use mdm_core::screen::reading::ScreenReading;
use mdm_core::screen::snapshot::{DefectKind, Snapshot};
use mdm_ios::tree::{Format, Limits, detect, parse};
use proptest::prelude::*;

use crate::check::{TUNER, assert_well_formed, kinds};

fn parse_and_check(bytes: &[u8], limits: &Limits) -> Snapshot {
    let snapshot = parse(bytes, limits);
    assert_well_formed(&snapshot);
    assert!(snapshot.elements.len() <= limits.elements_max);
    assert!(snapshot.elements.iter().all(|element| usize::from(element.depth) < limits.depth_max));
    assert!(snapshot.defects.len() <= limits.defects_max + 3);
    assert!(snapshot.defects.iter().all(|defect| defect.offset <= bytes.len()));
    let reading = ScreenReading::new(snapshot);
    text(&reading, &OutlineOptions::default());
    reading.snapshot
}

fn any_json() -> impl Strategy<Value = serde_json::Value> {
    let keys = prop::sample::select(vec![
        "type",
        "children",
        "elements",
        "value",
        "AXValue",
        "AXLabel",
        "label",
        "rect",
        "frame",
        "traits",
        "enabled",
        "rawIdentifier",
        "subrole",
        "screen",
        "truncated",
        "x",
        "width",
        "\"\\\n😀",
    ]);
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<f64>().prop_map(Into::into),
        any::<String>().prop_map(Into::into),
        prop::sample::select(vec!["Button", "TabBar", "Application", "SecureTextField"]).prop_map(Into::into),
    ];
    leaf.prop_recursive(6, 60, 6, move |inner| {
        let list = proptest::collection::vec(inner.clone(), 0..6).prop_map(Into::into);
        let members = proptest::collection::vec((keys.clone(), inner), 0..6);
        let object = members.prop_map(|members| {
            members
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value))
                .collect::<serde_json::Map<_, _>>()
                .into()
        });
        prop_oneof![list, object]
    })
}

proptest! {
    #[test]
    fn any_bytes_are_read(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
        parse_and_check(&bytes, &Limits::default());
    }

    #[test]
    fn any_markup_is_read(parts in proptest::collection::vec(
        prop::sample::select(vec![
            "<", ">", "/", "=", "\"", "'", " ", "&", ";", "&#", "x", "<XCUIElementTypeOther", "</XCUIElementTypeOther>",
            "<AppiumAUT>", "</AppiumAUT>", "<!--", "-->", "<?xml", "?>", "<![CDATA[", "]]>", " label=\"a\"", " x=\"1e999\"",
            " width='-5'", " traits=\"Selected, Header\"", "/>", "😀", " value='1'", "<XCUIElementTypeTabBar>",
        ]), 0..200)) {
        parse_and_check(format!("<AppiumAUT>{}", parts.concat()).as_bytes(), &Limits::default());
    }

    #[test]
    fn any_pieces_of_json_are_read(parts in proptest::collection::vec(
        prop::sample::select(vec![
            "{", "}", "[", "]", ",", ":", "\"", "\\", " ", "\"children\":[", "\"type\":\"Button\"", "\"AXLabel\":\"a\"",
            "\"frame\":{\"x\":1", "1e999", "-", "nul", "null", "true", "\"traits\":[", "\\u", "\\ud83d", "😀", "\"value\":",
            "\"elements\":", "{\"AXValue\":\"x\"}", "\"screen\":{\"width\":", "\"truncated\":true",
        ]), 0..200)) {
        let parts = parts.concat();
        for start in ["[{\"AXLabel\":\"a\",", "{\"elements\":[{", "{\"value\":{\"rect\":{},", "{\"value\":\"[{", "{\"value\":\"<AppiumAUT>"] {
            parse_and_check(format!("{start}{parts}").as_bytes(), &Limits::default());
        }
    }

    /// serde_json is the oracle for what is valid JSON.
    #[test]
    fn valid_json_has_no_markup_defect(value in any_json()) {
        let elements = serde_json::json!({ "AXLabel": "root", "children": [], "extra": value });
        for text in [elements.to_string(), serde_json::to_string_pretty(&elements).unwrap()] {
            let snapshot = parse_and_check(text.as_bytes(), &Limits::default());
            prop_assert_eq!(snapshot.defects, []);
            prop_assert_eq!(snapshot.elements[0].description.as_deref(), Some("root"));
        }
    }

    #[test]
    fn every_text_is_read_back(label in any::<String>(), value in any::<String>()) {
        let source = serde_json::json!([{ "AXLabel": label, "AXValue": value, "type": "Slider" }]).to_string();
        let json = parse_and_check(source.as_bytes(), &Limits::default());
        let non_empty = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        prop_assert_eq!(json.elements[0].description.as_deref().map(str::to_owned), non_empty(&label));
        prop_assert_eq!(json.elements[0].value.as_deref().map(str::to_owned), non_empty(&value));
        // XML cannot represent a null character.
        let label = label.replace('\0', "");
        let escaped = quick_xml::escape::escape(label.as_str());
        let source = format!("<AppiumAUT><XCUIElementTypeButton label=\"{escaped}\"/></AppiumAUT>");
        let xml = parse_and_check(source.as_bytes(), &Limits::default());
        prop_assert_eq!(xml.elements[0].description.as_deref().map(str::to_owned), non_empty(&label));
    }

    #[test]
    fn any_mutation_is_read(
        source in 0..TUNER.len(),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), 0..4u8, any::<u8>()), 1..12),
    ) {
        let mut bytes = TUNER[source].1.as_bytes().to_vec();
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

/// Returns the elements that may have been open when the bytes ended: the last one and its ancestors.
fn maybe_open(snapshot: &Snapshot) -> Vec<u32> {
    let mut next = u32::try_from(snapshot.elements.len()).unwrap().checked_sub(1);
    let up = || {
        let index = next?;
        next = snapshot.elements[index as usize].parent;
        Some(index)
    };
    std::iter::from_fn(up).collect()
}

/// Asserts that an element that was cut off has no attribute that differs from the original; some may be missing.
fn assert_part_of(element: &Element, original: &Element, place: &str) {
    let words = |e: &Element| [&e.stable_id, &e.text, &e.description, &e.hint, &e.value].map(Clone::clone);
    for (read, whole) in words(element).into_iter().zip(words(original)) {
        assert!(read.is_none() || read == whole, "{place}: {read:?} for {whole:?}");
    }
    assert!(
        element.class.is_empty()
            || original.class.ends_with(&*element.class)
            || element.class.starts_with("AX")
    );
    assert!(element.bounds == original.bounds || element.bounds.is_empty(), "{place}");
}

#[test]
fn every_truncation_keeps_the_complete_elements() {
    for (format, source) in TUNER {
        let whole = parse_and_check(source.as_bytes(), &Limits::default());
        assert!(whole.is_whole());
        // The rest of the envelope after the tree is not part of it.
        let document_end = source.rfind(",\n \"sessionId\"").unwrap_or(source.trim_end().len());
        let mut count = 0;
        for cut in 0..document_end {
            let place = format!("{format:?} cut at {cut}");
            let snapshot = parse(&source.as_bytes()[..cut], &Limits::default());
            assert_well_formed(&snapshot);
            assert!(!snapshot.is_whole(), "{place}");
            assert!(snapshot.elements.len() >= count, "{place}: an element was lost");
            count = snapshot.elements.len();
            let open = maybe_open(&snapshot);
            for (index, (element, original)) in snapshot.elements.iter().zip(&whole.elements).enumerate() {
                assert_eq!((element.parent, element.depth), (original.parent, original.depth), "{place}");
                if !open.contains(&(index as u32)) {
                    assert_eq!(element, original, "{place}");
                } else if format == Format::WdaXml {
                    let end = original.end.min(count as u32);
                    assert_eq!(element, &Element { end, ..original.clone() }, "{place}");
                } else {
                    assert_part_of(element, original, &place);
                }
            }
        }
        assert_eq!(count, whole.elements.len(), "{format:?}");
    }
}

#[test]
fn ten_thousand_levels_are_limited() {
    let deep = |open: &str, close: &str| [open.repeat(10_000), close.repeat(10_000)].concat();
    let sources = [
        format!(
            "<AppiumAUT>{}</AppiumAUT>",
            deep("<XCUIElementTypeOther label=\"x\">", "</XCUIElementTypeOther>")
        ),
        format!("[{}]", deep("{\"AXLabel\":\"x\",\"children\":[", "]}")),
        format!("{{\"elements\":{}}}", deep("{\"label\":\"x\",\"children\":", "}").replace(":}", ":[]}")),
    ];
    for source in sources {
        let snapshot = parse_and_check(source.as_bytes(), &Limits::default());
        assert_eq!((snapshot.elements.len(), kinds(&snapshot)), (512, vec![DefectKind::LimitReached]));
    }
    let lists = format!("{{\"elements\":{}", "[".repeat(100_000));
    assert!(!parse_and_check(lists.as_bytes(), &Limits::default()).is_whole());
    // Real trees are far below the limit.
    let real = format!("[{}{}]", "{\"AXLabel\":\"x\",\"children\":[".repeat(62), "]}".repeat(62));
    let snapshot = parse_and_check(real.as_bytes(), &Limits::default());
    assert_eq!((snapshot.elements.len(), snapshot.is_whole()), (62, true));
}

#[test]
fn twenty_megabytes_are_read() {
    let label = "x".repeat(300);
    let node = format!("<XCUIElementTypeButton label=\"{label}\" x=\"0\" y=\"0\" width=\"9\" height=\"9\"/>");
    let xml = format!("<AppiumAUT>{}</AppiumAUT>", node.repeat((20 << 20) / node.len()));
    let node = format!("{{\"AXLabel\":\"{label}\",\"type\":\"Button\"}},");
    let json = format!("[{}]", node.repeat((20 << 20) / node.len()));
    for source in [xml, json] {
        let snapshot = parse_and_check(source.as_bytes(), &Limits::default());
        assert_eq!((snapshot.elements.len(), kinds(&snapshot)), (50_000, vec![DefectKind::LimitReached]));
    }
}

#[test]
fn limits_are_kept_and_reported() {
    let limits = Limits { bytes_max: 400, elements_max: 3, depth_max: 2, value_bytes_max: 4, defects_max: 2 };
    for long in
        ["<AppiumAUT><XCUIElementTypeA label='abcdefgh'/></AppiumAUT>", "[{\"AXLabel\":\"abcdefgh\"}]"]
    {
        let snapshot = parse_and_check(long.as_bytes(), &limits);
        assert_eq!(snapshot.elements[0].description.as_deref(), Some("abcd"));
        assert_eq!(kinds(&snapshot), [DefectKind::BadAttribute]);
        assert!(snapshot.is_whole(), "a cut text is no missing element");
    }
    let limits = Limits { value_bytes_max: 100, ..limits };
    for (many, count) in [
        (
            "<AppiumAUT><XCUIElementTypeA/><XCUIElementTypeA/><XCUIElementTypeA/><XCUIElementTypeA/></AppiumAUT>",
            3,
        ),
        ("[{\"AXLabel\":\"a\"},{},{},{}]", 3),
        ("{\"AXLabel\":\"a\",\"children\":[{\"children\":[{}]}]}", 2),
    ] {
        let snapshot = parse_and_check(many.as_bytes(), &limits);
        assert_eq!(
            (snapshot.elements.len(), kinds(&snapshot)),
            (count, vec![DefectKind::LimitReached]),
            "{many}"
        );
    }
    for big in ["<AppiumAUT><XCUIElementTypeA/>", "[{\"AXLabel\":\"a\"},"] {
        let snapshot = parse_and_check(format!("{big}{}", " ".repeat(500)).as_bytes(), &limits);
        assert_eq!((snapshot.elements.len(), kinds(&snapshot)), (1, vec![DefectKind::LimitReached]), "{big}");
    }
    // Defects that lose no elements do not displace the one that does.
    let noisy = "[{\"AXLabel\":\"a\",\"frame\":1},{\"frame\":1},{\"frame\":1},";
    assert!(!parse_and_check(noisy.as_bytes(), &limits).is_whole());
}

/// Each of these inputs takes quadratic time in a naive reader, which would not finish.
#[test]
fn repetitive_input_takes_linear_time() {
    let parts = [
        "<",
        "<!--",
        "<?",
        "</x>",
        "<XCUIElementTypeA a=\"",
        "<XCUIElementTypeA a='<",
        "<XCUIElementTypeA ",
        "&",
        "{",
        "[",
        "<XCUIElementTypeA/>",
        "<a><b></a>",
        "<AppiumAUT>",
        "</AppiumAUT>",
        "\"",
        "\\",
        "{\"a\":",
        "{\"a\":\n",
        "\n{\"a\":",
        "\n[{\"children\":",
        "{\"children\":[",
        "{\"value\":",
        "{\"value\":\"",
        "\"value\":\"<\",",
        "[{\"a\":1},",
        "]",
        "}",
        "\n<",
        ",",
        ":",
        "{\"frame\":{\"x\":",
        "{\"traits\":[",
        "{\"children\":[{\"type\":1},",
    ];
    for part in parts {
        let repeated = part.repeat((512 << 10) / part.len());
        for start in [
            "",
            "<AppiumAUT>",
            "[{\"AXLabel\":\"a\"},",
            "{\"AXLabel\":\"a\",",
            "{\"elements\":[",
            "{\"value\":\"<AppiumAUT>",
        ] {
            let source = format!("{start}{repeated}");
            parse_and_check(source.as_bytes(), &Limits::default());
            detect(source.as_bytes());
        }
    }
}
