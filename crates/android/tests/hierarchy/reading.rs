//! Reading of single nodes, documents and faulty dumps.

use mdm_android::hierarchy::{Limits, parse};
use mdm_core::screen::element::Role;
use mdm_core::screen::geometry::Rect;
use mdm_core::screen::snapshot::{DefectKind, Snapshot};

use crate::dump::{assert_well_formed, dump, read};

fn kinds(snapshot: &Snapshot) -> Vec<DefectKind> {
    snapshot.defects.iter().map(|defect| defect.kind).collect()
}

fn texts(snapshot: &Snapshot) -> Vec<&str> {
    snapshot.elements.iter().map(|element| element.text.as_deref().unwrap_or("")).collect()
}

#[test]
fn every_attribute_of_a_node_is_read() {
    let snapshot = read(
        r#"<?xml version='1.0'?><hierarchy rotation="1"><node NAF="true" bounds="[-5,10][1080,200]" hint="Your email"
        text="a &lt;b&gt; &amp;&#10;&#128512;" resource-id="com.x:id/email" class="android.widget.EditText"
        package="com.x" content-desc="Email" checkable="false" checked="false" clickable="true" enabled="true"
        focusable="true" focused="true" scrollable="false" long-clickable="true" password="false" selected="false"
        drawing-order="3" unknown="whatever" /></hierarchy>"#,
    );
    assert_eq!(kinds(&snapshot), []);
    assert_eq!(snapshot.rotation, 1);
    let [element] = &snapshot.elements[..] else { panic!("{} elements", snapshot.elements.len()) };
    assert_eq!(element.role, Role::TextField);
    assert_eq!(&*element.class, "android.widget.EditText");
    assert_eq!(&*element.app, "com.x");
    assert_eq!(element.stable_id.as_deref(), Some("com.x:id/email"));
    assert_eq!(element.text.as_deref(), Some("a <b> &\n😀"));
    assert_eq!(element.description.as_deref(), Some("Email"));
    assert_eq!(element.hint.as_deref(), Some("Your email"));
    assert_eq!(element.bounds, Rect::new(-5, 10, 1080, 200));
    assert_eq!(element.drawing_order, Some(3));
    let can = element.affordances;
    assert!(can.clickable && can.long_clickable && can.focusable && !can.scrollable && !can.checkable);
    assert_eq!(element.state.enabled, Some(true));
    assert_eq!(element.state.focused, Some(true));
}

#[test]
fn empty_and_absent_attributes_are_none() {
    // ID-03: no identifier is invented.
    let snapshot =
        read(r#"<hierarchy rotation="0"><node text="" resource-id="" content-desc=""/></hierarchy>"#);
    let element = &snapshot.elements[0];
    assert_eq!(
        (&element.text, &element.stable_id, &element.description, &element.hint),
        (&None, &None, &None, &None)
    );
    // ST-01: an unreported state is not false.
    assert_eq!(element.state, Default::default());
    assert_eq!(kinds(&snapshot), []);
}

#[test]
fn checked_counts_only_on_checkable_nodes() {
    // W6, ST-01
    let snapshot = read(&dump(
        "TextView [0,0][9,9] text='Dark mode' checked\n\
         Switch [0,0][9,9] checkable checked selected\n\
         Switch [0,0][9,9] checkable disabled",
    ));
    let states: Vec<_> = snapshot.elements.iter().map(|element| element.state).collect();
    assert_eq!((states[0].selected, states[0].checked, states[0].enabled), (Some(false), None, Some(true)));
    assert_eq!((states[1].selected, states[1].checked), (Some(true), Some(true)));
    assert_eq!((states[2].checked, states[2].enabled), (Some(false), Some(false)));
}

#[test]
fn text_that_looks_like_an_error_is_text() {
    // W7
    let snapshot =
        read(&dump("TextView [0,0][9,9] text='ERROR: null root node returned by UiTestAutomationBridge.'"));
    assert_eq!(texts(&snapshot), ["ERROR: null root node returned by UiTestAutomationBridge."]);
    assert_eq!(kinds(&snapshot), []);
}

#[test]
fn messages_around_the_document_are_skipped() {
    let xml = dump("TextView [0,0][9,9] text=one");
    let noisy = format!(
        "WARNING: linker: <unknown> & \"odd\"\n\u{FEFF}{xml}UI hierchary dumped to: /dev/tty\n<not a tag> \"'<node-ish"
    );
    let snapshot = read(&noisy);
    assert_eq!(texts(&snapshot), ["one"]);
    assert!(snapshot.is_whole(), "{:?}", snapshot.defects);
}

#[test]
fn an_answer_without_a_hierarchy_is_incomplete() {
    for answer in
        ["", "ERROR: null root node returned by UiTestAutomationBridge.", "<html><body>502</body></html>"]
    {
        let snapshot = read(answer);
        assert!(snapshot.elements.is_empty() && !snapshot.is_whole(), "{answer}");
    }
    let empty = read("<?xml version='1.0' ?><hierarchy rotation=\"0\" />");
    assert!(empty.elements.is_empty() && empty.is_whole());
}

#[test]
fn class_tags_windows_and_several_roots_are_read() {
    let snapshot = read(
        "<displays><display id='0'><window index='0' title='a>b'><hierarchy rotation='3'>\
         <android.widget.Switch checkable = 'true' checked = 'true' displayed='false'><node text='in'/>\
         </android.widget.Switch ><!-- <node/> --><node text='two'></node></hierarchy></window>\
         <window><hierarchy rotation='3'><node text='three'/></hierarchy></window></display></displays>",
    );
    assert_eq!(texts(&snapshot), ["", "in", "two", "three"]);
    assert_eq!(&*snapshot.elements[0].class, "android.widget.Switch");
    assert_eq!(snapshot.elements[0].role, Role::Switch);
    assert_eq!(snapshot.elements[0].displayed, Some(false));
    assert_eq!(snapshot.roots().collect::<Vec<_>>(), [0, 2, 3]);
    assert_eq!(snapshot.rotation, 3);
    assert_eq!(kinds(&snapshot), []);
    assert_well_formed(&snapshot);
}

#[test]
fn unreadable_parts_are_defects_and_the_rest_is_kept() {
    let cases = [
        (r#"<node text="a" bounds="[0,0][9"/>"#, DefectKind::BadAttribute),
        (r#"<node text="a" bounds="[0,0][9,99999999999]"/>"#, DefectKind::BadAttribute),
        (r#"<node text="a" clickable="maybe"/>"#, DefectKind::BadAttribute),
        (r#"<node text=a />"#, DefectKind::BadAttribute),
        (r#"<node checked text="a"/>"#, DefectKind::BadAttribute),
        (r#"<node hint="&nope;" text="a"/>"#, DefectKind::BadAttribute),
        (r#"<node text="a"/></node>"#, DefectKind::BadMarkup),
        (r#"<node text="a"><node></hierarchy>"#, DefectKind::BadMarkup),
        (r#"<node text="a"/><node text="b<node/>"#, DefectKind::BadMarkup),
        (r#"<node text="a"/><node text="b" <node/>"#, DefectKind::BadMarkup),
        (r#"<node text="a"/>< 3"#, DefectKind::BadMarkup),
    ];
    for (body, kind) in cases {
        let snapshot = read(&format!("<hierarchy rotation=\"0\">{body}</hierarchy>"));
        assert_eq!(snapshot.elements[0].text.as_deref(), Some("a"), "{body}");
        assert_eq!(kinds(&snapshot), [kind], "{body}");
        assert_well_formed(&snapshot);
    }
}

#[test]
fn multi_byte_characters_are_kept() {
    // W35
    let snapshot = read(&dump("TextView [0,0][9,9] text='日本語 – עברית – 👩‍👩‍👧 é'"));
    assert_eq!(texts(&snapshot), ["日本語 – עברית – 👩‍👩‍👧 é"]);
    let mut bytes = dump("TextView [0,0][9,9] text=naXive").into_bytes();
    let at = bytes.iter().position(|&byte| byte == b'X').unwrap();
    bytes[at] = 0xEF;
    let snapshot = parse(&bytes, &Limits::default());
    assert_eq!(texts(&snapshot), ["na\u{FFFD}ive"]);
    assert_eq!(kinds(&snapshot), [DefectKind::BadUtf8]);
    assert!(snapshot.is_whole());
}
