//! Reads a screen from a file and detects its format by the content.

use std::sync::Arc;

use mdm_core::screen::element::Element;
use mdm_core::screen::geometry::Size;
use mdm_core::screen::nesting::set_parents_and_ends;
use mdm_core::screen::snapshot::{Defect, DefectKind, Limits, Platform, Screen, Snapshot};
use mdm_ios::tree::Format;
use serde::de::{IgnoredAny, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::json::{DefectJson, RawJson};

/// The format of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    AndroidXml,
    Ios(Format),
    /// An answer of `get_ui_tree` with `format: "json"`.
    OwnJson,
}

/// Reads a screen in any known format; `None` if the format is not known.
pub fn read(bytes: &[u8]) -> Option<(Source, Snapshot)> {
    if let Some(snapshot) = own_json(bytes) {
        return Some((Source::OwnJson, snapshot));
    }
    if let Some(format) = mdm_ios::tree::detect(bytes) {
        let snapshot = mdm_ios::tree::parse(bytes, &mdm_ios::tree::Limits::default());
        return Some((Source::Ios(format), snapshot));
    }
    android_xml(bytes).map(|snapshot| (Source::AndroidXml, snapshot))
}

fn android_xml(bytes: &[u8]) -> Option<Snapshot> {
    let start = bytes.iter().position(|byte| *byte == b'<')?;
    let snapshot = mdm_android::hierarchy::parse(&bytes[start..], &mdm_android::hierarchy::Limits::default());
    (!snapshot.elements.is_empty()).then_some(snapshot)
}

#[derive(Deserialize)]
struct OwnTree {
    platform: String,
    #[serde(default)]
    resolution: Option<OwnSize>,
    #[serde(default)]
    rotation: u8,
    #[serde(default)]
    screen: Option<String>,
    #[serde(default, deserialize_with = "defects")]
    defect_list: Vec<Defect>,
    elements: Elements,
}

/// Elements, converted one by one while reading: a second copy of all would need more memory than the file.
#[derive(Default)]
struct Elements {
    kept: Vec<Element>,
    left_out: usize,
}

impl<'de> Deserialize<'de> for Elements {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Elements, D::Error> {
        deserializer.deserialize_seq(ElementsVisitor)
    }
}

struct ElementsVisitor;

impl<'de> Visitor<'de> for ElementsVisitor {
    type Value = Elements;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("elements")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Elements, A::Error> {
        let mut elements = Elements::default();
        let mut names = Names::default();
        let elements_max = Limits::default().elements_max;
        while elements.kept.len() < elements_max {
            let Some(raw) = list.next_element::<RawJson>()? else { return Ok(elements) };
            let mut element = Element::from(raw);
            names.share(&mut element.class);
            names.share(&mut element.app);
            elements.kept.push(element);
        }
        while list.next_element::<IgnoredAny>()?.is_some() {
            elements.left_out += 1;
        }
        Ok(elements)
    }
}

/// Shared class and package names: a screen repeats a few of them on every element.
#[derive(Default)]
struct Names(Vec<Arc<str>>);

/// Limit of shared names.
const NAMES_MAX: usize = 64;

impl Names {
    fn share(&mut self, name: &mut Arc<str>) {
        match self.0.iter().find(|known| *known == name) {
            Some(known) => *name = Arc::clone(known),
            None if self.0.len() < NAMES_MAX => self.0.push(Arc::clone(name)),
            None => {}
        }
    }
}

fn defects<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Defect>, D::Error> {
    let list = Vec::<DefectJson>::deserialize(deserializer)?;
    Ok(list.into_iter().filter_map(defect).take(Limits::default().defects_max).collect())
}

#[derive(Deserialize)]
struct OwnSize {
    width: u32,
    height: u32,
}

fn own_json(bytes: &[u8]) -> Option<Snapshot> {
    let tree: OwnTree = serde_json::from_slice(bytes).ok()?;
    let Elements { kept: mut elements, left_out } = tree.elements;
    let mut depth_max = 0;
    for element in &mut elements {
        // A child is one level below its parent.
        element.depth = element.depth.min(depth_max);
        depth_max = element.depth.saturating_add(1);
    }
    set_parents_and_ends(&mut elements);
    let mut defects = tree.defect_list;
    if left_out > 0 {
        let detail = format!("more than {} elements", elements.len());
        defects.push(Defect { kind: DefectKind::LimitReached, offset: bytes.len(), detail });
    }
    Some(Snapshot {
        platform: if tree.platform == "ios" { Platform::Ios } else { Platform::Android },
        elements,
        size: tree
            .resolution
            .map_or_else(Size::default, |size| Size { width: size.width, height: size.height }),
        rotation: tree.rotation,
        screen: tree.screen.as_deref().and_then(screen),
        defects,
    })
}

fn screen(component: &str) -> Option<Screen> {
    let Some((app, name)) = component.split_once('/') else {
        return Some(Screen { app: component.to_owned(), name: None });
    };
    let name = if name.starts_with('.') { format!("{app}{name}") } else { name.to_owned() };
    Some(Screen { app: app.to_owned(), name: Some(name) })
}

fn defect(json: DefectJson) -> Option<Defect> {
    let kinds = [
        DefectKind::Truncated,
        DefectKind::LimitReached,
        DefectKind::BadUtf8,
        DefectKind::BadAttribute,
        DefectKind::BadMarkup,
        DefectKind::Untold,
    ];
    let kind = kinds.into_iter().find(|kind| format!("{kind:?}") == json.kind)?;
    Some(Defect { kind, offset: json.offset, detail: json.detail })
}

#[cfg(test)]
mod tests {
    use mdm_core::outline::OutlineOptions;
    use mdm_core::screen::element::{Affordances, Element, Role, State, ValueRange};
    use mdm_core::screen::geometry::Rect;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::tree::{OutlinePart, TreeHead, TreeJson, outline_answer, redacted, seen};

    fn text() -> impl Strategy<Value = Option<Box<str>>> {
        prop::option::of(".{0,12}".prop_map(Into::into))
    }

    fn flag() -> impl Strategy<Value = Option<bool>> {
        prop::option::of(any::<bool>())
    }

    fn element() -> impl Strategy<Value = Element> {
        let roles =
            prop::sample::select(vec![Role::Button, Role::Slider, Role::Row, Role::Dialog, Role::Unknown]);
        let texts = (text(), text(), text(), text(), text(), ".{0,9}", ".{0,9}");
        let flags = (flag(), flag(), flag(), flag(), flag(), flag(), any::<[bool; 7]>());
        let range = prop::option::of((-9.0..9.0, 9.0..99.0));
        let place = (0..6u16, any::<[i32; 4]>());
        (roles, texts, flags, range, place).prop_map(|(role, texts, flags, range, (depth, b))| {
            let [clickable, long_clickable, scrollable, focusable, checkable, adjustable, password] = flags.6;
            Element {
                depth,
                role,
                class: texts.5.into(),
                app: texts.6.into(),
                stable_id: texts.0,
                text: texts.1,
                description: texts.2,
                hint: texts.3,
                value: texts.4,
                value_range: range.map(|(min, max)| Box::new(ValueRange { min, max })),
                bounds: Rect::new(b[0], b[1], b[2], b[3]),
                affordances: Affordances {
                    clickable,
                    long_clickable,
                    scrollable,
                    focusable,
                    checkable,
                    adjustable,
                },
                state: State {
                    enabled: flags.0,
                    checked: flags.1,
                    selected: flags.2,
                    focused: flags.3,
                    expanded: flags.4,
                },
                password,
                displayed: flags.5,
                ..Element::default()
            }
        })
    }

    /// Hostile values for a member of the JSON.
    fn hostile() -> impl Strategy<Value = Value> {
        prop_oneof![
            Just(json!(null)),
            Just(json!(true)),
            any::<i64>().prop_map(|number| json!(number)),
            any::<f64>().prop_map(|number| json!(number)),
            Just(json!(u64::MAX)),
            ".{0,9}".prop_map(|text| json!(text)),
            Just(json!([i32::MIN, i32::MIN, i32::MAX, i32::MAX])),
            Just(json!([i32::MAX, i32::MAX, i32::MIN, i32::MIN])),
            Just(json!({"checked": true, "selected": {"id": "x", "itself": true}})),
            Just(json!({"min": 1e308, "max": -1e308})),
            Just(json!(["password", "scroll", "adjust", "check"])),
            Just(json!("slider")),
        ]
    }

    /// Replaces a member of an element or of the tree itself.
    fn damaged(json: &mut Value, element: &prop::sample::Index, member: &prop::sample::Index, value: Value) {
        let count = json["elements"].as_array().map_or(0, Vec::len);
        // One more than there are elements: the tree itself.
        let at = element.index(count + 1);
        let object = if at < count { json["elements"][at].as_object_mut() } else { json.as_object_mut() };
        let Some(object) = object.filter(|object| !object.is_empty()) else { return };
        let key = object.keys().nth(member.index(object.len())).cloned().unwrap_or_default();
        object.insert(key, value);
    }

    fn snapshot() -> impl Strategy<Value = Snapshot> {
        let screen = prop::option::of(("[a-z.]{1,9}", "[a-zA-Z.]{1,9}"));
        let defect = prop::option::of((0..99usize, ".{0,20}"));
        (prop::collection::vec(element(), 0..20), screen, defect, 0..4u8, any::<bool>()).prop_map(
            |(mut elements, screen, defect, rotation, ios)| {
                // As in every parsed tree, a child is one level below its parent.
                let mut above = 0;
                for element in &mut elements {
                    element.depth = element.depth.min(above);
                    above = element.depth + 1;
                }
                set_parents_and_ends(&mut elements);
                Snapshot {
                    platform: if ios { Platform::Ios } else { Platform::Android },
                    elements,
                    size: Size { width: 1080, height: 2400 },
                    rotation,
                    screen: screen.map(|(package, activity)| Screen {
                        app: package,
                        name: Some(format!("x{activity}")),
                    }),
                    defects: defect
                        .map(|(offset, detail)| Defect { kind: DefectKind::Truncated, offset, detail })
                        .into_iter()
                        .collect(),
                }
            },
        )
    }

    proptest! {
        /// A tree written as JSON is read back whole, except for secrets (ST-07).
        #[test]
        fn a_tree_written_as_json_is_read_back(snapshot in snapshot()) {
            let expect = redacted(snapshot.clone());
            let seen = seen(snapshot);
            let json = serde_json::to_vec(&TreeJson::new(TreeHead::new(None, &seen), seen, None)).unwrap();
            prop_assert_eq!(read(&json), Some((Source::OwnJson, expect)));
        }

        /// ID-09: every element has a role, which is `unknown` where it is not known.
        #[test]
        fn every_element_has_a_role(snapshot in snapshot()) {
            let known: Vec<bool> = snapshot.elements.iter().map(|e| e.role != Role::Unknown).collect();
            let seen = seen(snapshot);
            let tree = serde_json::to_value(TreeJson::new(TreeHead::new(None, &seen), seen, None)).unwrap();
            let elements = tree["elements"].as_array().cloned().unwrap_or_default();
            let told: Vec<bool> =
                elements.iter().map(|e| e["role"].as_str().expect("a role") != "unknown").collect();
            prop_assert_eq!(told, known);
        }

        /// From a file that was edited, perhaps with bad intent, a consistent tree is read that can be shown (SE-07).
        #[test]
        fn a_damaged_tree_is_refused_or_consistent(
            snapshot in snapshot(),
            damage in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), hostile()), 1..6),
        ) {
            let seen = seen(snapshot);
            let tree = TreeJson::new(TreeHead::new(None, &seen), seen.clone(), None);
            let mut json = serde_json::to_value(&tree).unwrap();
            for (element, member, value) in damage {
                damaged(&mut json, &element, &member, value);
            }
            let Some((_, snapshot)) = read(json.to_string().as_bytes()) else { return Ok(()) };
            for (index, element) in snapshot.elements.iter().enumerate() {
                prop_assert!(element.end as usize > index && element.end as usize <= snapshot.elements.len());
                prop_assert!(element.parent.is_none_or(|parent| (parent as usize) < index));
            }
            let count = snapshot.elements.len();
            let seen = crate::tree::seen(snapshot);
            let options = OutlineOptions { points: true, stable_ids: true, ..OutlineOptions::default() };
            let wanted = OutlinePart { options, max_tokens: 2000, page: 1 };
            outline_answer(TreeHead::new(None, &seen), &seen, &wanted);
            let again = serde_json::to_vec(&TreeJson::new(TreeHead::new(None, &seen), seen, None)).unwrap();
            prop_assert_eq!(read(&again).map(|(_, snapshot)| snapshot.elements.len()), Some(count));
        }

        #[test]
        fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            read(&bytes);
        }
    }

    #[test]
    fn a_file_with_too_many_elements_is_read_in_part() {
        let one = r#"{"bounds":[0,0,1,1],"depth":65535}"#;
        let file = |count: usize| {
            let all = vec![one; count].join(",");
            let size = r#"{"width":1,"height":1}"#;
            format!(r#"{{"platform":"android","resolution":{size},"elements":[{all}]}}"#)
        };
        let (_, whole) = read(file(50_000).as_bytes()).unwrap();
        assert!(whole.is_whole() && whole.elements.len() == 50_000);
        let (_, cut) = read(file(50_002).as_bytes()).unwrap();
        assert_eq!((cut.elements.len(), cut.is_whole()), (50_000, false), "SE-07");
        assert_eq!((cut.elements[0].depth, cut.elements[1].depth), (0, 1), "no level is left out");
    }

    #[test]
    fn a_secret_is_not_in_the_json() {
        let field = Element {
            text: Some("hunter2".into()),
            description: Some("hunter2".into()),
            value: Some("hunter2".into()),
            password: true,
            end: 1,
            ..Element::default()
        };
        for platform in [Platform::Android, Platform::Ios] {
            let seen = seen(Snapshot { platform, elements: vec![field.clone()], ..Snapshot::default() });
            let json = serde_json::to_string(&TreeJson::new(TreeHead::new(None, &seen), seen.clone(), None))
                .unwrap();
            assert!(!json.contains("hunter2"), "ST-07: {json}");
            assert!(json.contains("\"password_length\":7"));
        }
    }
}
