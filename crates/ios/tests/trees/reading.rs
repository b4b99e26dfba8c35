//! Structure: what is read, what is skipped, and which defects are reported.

use mdm_core::screen::element::Role;
use mdm_core::screen::geometry::{Rect, Size};
use mdm_core::screen::snapshot::{DefectKind, Screen, Snapshot};
use mdm_ios::tree::{Format, Limits, detect, parse};

use crate::check::{kinds, read};

fn labels(snapshot: &Snapshot) -> Vec<&str> {
    snapshot.elements.iter().map(|element| element.description.as_deref().unwrap_or("")).collect()
}

#[test]
fn formats_are_detected_by_their_content() {
    let cases = [
        ("<?xml version=\"1.0\"?>\n<!-- x --><AppiumAUT/>", Some(Format::WdaXml)),
        ("\u{FEFF} <XCUIElementTypeApplication/>", Some(Format::WdaXml)),
        ("WARNING: noise\n<AppiumAUT><XCUIElementTypeOther/></AppiumAUT>", Some(Format::WdaXml)),
        ("{\"type\":\"Application\",\"rect\":{}}", Some(Format::WdaJson)),
        (
            "{\"children\":[{\"children\":[{\"isEnabled\":\"1\"}]}],\"type\":\"Application\"}",
            Some(Format::WdaJson),
        ),
        ("{\"children\":[{\"children\":[{\"isEnabled\":\"1", Some(Format::WdaJson)),
        ("{\"type\":\"Application\",\"name\":\"x\",\"label\":\"x\"}", Some(Format::WdaJson)),
        ("{\"sessionId\":\"1\",\"value\":{\"label\":null,\"rawIdentifier\":null}}", Some(Format::WdaJson)),
        ("{\"value\":\"\\n<?xml version=\\\"1.0\\\"?><AppiumAUT>", Some(Format::WdaXml)),
        ("[]", Some(Format::IdbLegacy)),
        ("[{\"AXLabel\":null}]", Some(Format::IdbLegacy)),
        ("{\"AXLabel\":\"at a point\",\"type\":\"Button\"}", Some(Format::IdbLegacy)),
        ("connecting...\n[{\"AXLabel\":null,\"children\":[]}]", Some(Format::IdbNested)),
        ("[{\"children\":[{\"AXLabel\":\"x", Some(Format::IdbNested)),
        ("{\"backend\":\"ax\",\"elements\":[]}", Some(Format::IdbComplete)),
        ("{\"elements\":[{\"label\":", Some(Format::IdbComplete)),
        ("{\"elements\":[{\"type\":\"Button\"}]}", Some(Format::IdbComplete)),
        // Our own output format.
        ("{\"elements\":[{\"type\":\"Button\",\"role\":\"button\"}],\"platform\":\"ios\"}", None),
        ("{\"platform\":\"ios\",\"resolution\":{\"width\":1},\"elements\":[{\"type\":\"Button\"}]}", None),
        ("{\"elements\":[1]}", None),
        ("", None),
        ("null", None),
        ("[1]", None),
        ("[[]]", None),
        ("{}", None),
        ("{\"name\":\"x\"}", None),
        ("{\"value\":{\"error\":\"no such window\",\"message\":\"m\"}}", None),
        ("{\"value\":\"text\"}", None),
        ("{\"value\":\"[]\"}", None),
        ("<hierarchy rotation=\"0\"><node/></hierarchy>", None),
        ("<html><body/></html>", None),
    ];
    for (source, format) in cases {
        assert_eq!(detect(source.as_bytes()), format, "{source}");
        assert_eq!(read(source).is_whole(), format.is_some() && kinds(&read(source)).is_empty(), "{source}");
    }
}

#[test]
fn a_button_that_shows_the_count_1_is_not_selected() {
    let button = |inside: &str| {
        let source =
            format!("<XCUIElementTypeButton value=\"1\" label=\"Tabs\">{inside}</XCUIElementTypeButton>");
        read(&source).elements[0].state.selected
    };
    assert_eq!(button(""), Some(true));
    assert_eq!(button("<XCUIElementTypeStaticText label=\"2\"/>"), Some(true));
    assert_eq!(button("<XCUIElementTypeStaticText label=\"1\"/>"), None);
}

#[test]
fn the_tree_of_xml_is_kept() {
    let snapshot = read(
        "<?xml version='1.0'?><!DOCTYPE x><AppiumAUT><XCUIElementTypeApplication bundleId='com.example.shop' \
         label='Shop' x='0' y='0' width='320' height='568'><XCUIElementTypeOther label=\"a &amp; b&#10;c\"\n x=\"1.5\" \
         y='-3' width='10' height='2.6'></XCUIElementTypeOther ><!-- <XCUIElementTypeOther/> --><XCUIElementTypeTabBar>\
         <XCUIElementTypeOther><XCUIElementTypeButton label='One'/></XCUIElementTypeOther></XCUIElementTypeTabBar>\
         <XCUIElementTypeButton label='Two'/></XCUIElementTypeApplication></AppiumAUT>\nDone. <br>",
    );
    assert_eq!(kinds(&snapshot), []);
    assert_eq!(labels(&snapshot), ["Shop", "a & b\nc", "", "", "One", "Two"]);
    assert_eq!(snapshot.elements[1].bounds, Rect::new(2, -3, 12, 0));
    assert_eq!((snapshot.elements[4].role, snapshot.elements[5].role), (Role::Tab, Role::Button));
    assert_eq!(snapshot.size, Size { width: 320, height: 568 });
    let screen = Screen { app: "com.example.shop".into(), name: None };
    assert_eq!(snapshot.screen, Some(screen));
    assert!(snapshot.elements.iter().all(|element| &*element.app == "com.example.shop"));
}

#[test]
fn keys_may_come_in_any_order() {
    let snapshot = read(
        r#"{"children":[{"children":[{"label":"One","type":"Button"}],"type":"Other"}],"label":"Bar","type":"TabBar",
            "rect":{"height":10,"y":2,"x":1,"width":3.4},"unknown":{"children":[{"type":"Button"}]}}"#,
    );
    assert_eq!(kinds(&snapshot), []);
    assert_eq!(labels(&snapshot), ["Bar", "", "One"]);
    assert_eq!(snapshot.elements[0].bounds, Rect::new(1, 2, 4, 12));
    assert_eq!(snapshot.elements[2].role, Role::Tab);
    assert_eq!((snapshot.elements[0].end, snapshot.elements[2].parent), (3, Some(1)));
}

#[test]
fn a_frame_with_a_missing_edge_gives_empty_bounds() {
    let bounds = |frame: &str| {
        read(&format!("[{{\"type\":\"Button\",\"AXLabel\":\"x\",{frame}}}]")).elements[0].bounds
    };
    assert_eq!(bounds(r#""frame":{"x":1,"y":2,"width":null,"height":4}"#), Rect::default());
    assert_eq!(bounds(r#""AXFrame":"{{1, 2}, {3, 4}}""#), Rect::new(1, 2, 4, 6));
    assert_eq!(
        bounds(r#""AXFrame":"{{9, 9}, {9, 9}}","frame":{"x":1,"y":2,"width":3,"height":4}"#),
        Rect::new(1, 2, 4, 6)
    );
}

#[test]
fn the_truncated_flag_of_idb_is_a_defect() {
    let document = |truncated: bool| {
        let text = format!(
            r#"{{"elements":{{"type":"Button","label":"x","children":[]}},"backend":"axbridge","modal":null,
                "screen":{{"width":402.0,"height":874,"coordinate_space":"screen"}},"truncated":{truncated}}}"#
        );
        read(&text)
    };
    assert!(document(false).is_whole());
    assert_eq!(document(false).size, Size { width: 402, height: 874 });
    assert_eq!(kinds(&document(true)), [DefectKind::LimitReached]);
    assert_eq!(labels(&document(true)), ["x"]);
}

#[test]
fn unreadable_parts_are_defects_and_the_rest_is_kept() {
    let markup = [
        ("<XCUIElementTypeA label='a' x='1e' />", DefectKind::BadAttribute),
        ("<XCUIElementTypeA label='a' enabled='maybe'/>", DefectKind::BadAttribute),
        ("<XCUIElementTypeA label=a />", DefectKind::BadAttribute),
        ("<XCUIElementTypeA visible label='a'/>", DefectKind::BadAttribute),
        ("<XCUIElementTypeA label='a' value='&nope;'/>", DefectKind::BadAttribute),
        ("<XCUIElementTypeA label='a'/></XCUIElementTypeA>", DefectKind::BadMarkup),
        ("<XCUIElementTypeA label='a'><XCUIElementTypeB>", DefectKind::BadMarkup),
        ("<XCUIElementTypeA label='a'/><XCUIElementTypeB label='b<XCUIElementTypeC/>", DefectKind::BadMarkup),
        ("<XCUIElementTypeA label='a'/>< 3", DefectKind::BadMarkup),
    ];
    for (body, kind) in markup {
        let snapshot = read(&format!("<AppiumAUT>{body}</AppiumAUT>"));
        assert_eq!((labels(&snapshot)[0], kinds(&snapshot)), ("a", vec![kind]), "{body}");
    }
    let json = [
        (r#"[{"AXLabel":"a","enabled":"maybe"},{"AXLabel":"b"}]"#, DefectKind::BadAttribute),
        (r#"[{"AXLabel":"a","frame":7},{"AXLabel":"b"}]"#, DefectKind::BadAttribute),
        (r#"[{"AXLabel":"a","AXValue":"\ud83d"},{"AXLabel":"b"}]"#, DefectKind::BadAttribute),
        (r#"[{"AXLabel":"a"},null,{"AXLabel":"b"}]"#, DefectKind::BadMarkup),
        (r#"[{"AXLabel":"a","x":},{"AXLabel":"b"}]"#, DefectKind::BadMarkup),
        (r#"[{"AXLabel":"a","x"},{"AXLabel":"b"}]"#, DefectKind::BadMarkup),
        (r#"[{"AXLabel":"a",7},{"AXLabel":"b"}]"#, DefectKind::BadMarkup),
        (r#"[{"AXLabel":"a","children":[{"AXLabel":"b"}}]"#, DefectKind::BadMarkup),
    ];
    for (source, kind) in json {
        let snapshot = read(source);
        assert_eq!((labels(&snapshot), kinds(&snapshot)), (vec!["a", "b"], vec![kind]), "{source}");
    }
}

#[test]
fn defects_have_the_offset_in_the_source() {
    let source = "[{\"AXLabel\":\"a\"},{\"AXLabel\":\"b\",\"enabled\":\"?\"},{\"AXLabel\":\"c\"";
    let places: Vec<(DefectKind, usize)> = read(source).defects.iter().map(|d| (d.kind, d.offset)).collect();
    let second = source.find("{\"AXLabel\":\"b\"").unwrap();
    assert_eq!(places, [(DefectKind::BadAttribute, second), (DefectKind::Truncated, source.len())]);
    // Also inside a JSON string, where an escaped quote takes two bytes.
    let answer =
        "{\"value\":\"<AppiumAUT>\\n<XCUIElementTypeA label=\\\"a\\\" x=\\\"?\\\"/><XCUIElementTypeB x=\"}";
    let snapshot = read(answer);
    let places: Vec<_> = snapshot.defects.iter().map(|d| &answer[d.offset..][..17]).collect();
    assert_eq!(places, ["<XCUIElementTypeA", "<XCUIElementTypeB"]);
    assert_eq!(kinds(&snapshot), [DefectKind::BadAttribute, DefectKind::Truncated]);
}

#[test]
fn invalid_utf8_is_replaced() {
    for (source, bad) in [
        ("<AppiumAUT><XCUIElementTypeA label=\"naXive\"/></AppiumAUT>", "na\u{FFFD}ive"),
        ("[{\"AXLabel\":\"naXive\"}]", "na\u{FFFD}ive"),
    ] {
        let mut bytes = source.as_bytes().to_vec();
        let at = source.find("naX").unwrap() + 2;
        bytes[at] = 0xEF;
        let snapshot = parse(&bytes, &Limits::default());
        assert_eq!((labels(&snapshot), kinds(&snapshot)), (vec![bad], vec![DefectKind::BadUtf8]));
        assert!(snapshot.is_whole());
    }
}

#[test]
fn a_value_cut_before_its_type_is_left_out() {
    // ST-07: idb may write the value before the key that marks it as a secret.
    let snapshot = read(r#"[{"AXLabel":"PIN","AXValue":"1234","role":"AXTextField","subr"#);
    assert_eq!(labels(&snapshot), ["PIN"]);
    assert_eq!((&snapshot.elements[0].text, &snapshot.elements[0].value), (&None, &None));
    assert_eq!(kinds(&snapshot), [DefectKind::Truncated]);
    // An element without any attribute is left out.
    let begun = read(r#"[{"AXLabel":"a"},{"AXLab"#);
    assert_eq!((labels(&begun), begun.is_whole()), (vec!["a"], false));
}
