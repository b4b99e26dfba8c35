//! A screen from a file, recognised by what is in it.

use mdm_core::delta::link;
use mdm_core::device::Platform;
use mdm_core::geometry::Size;
use mdm_core::snapshot::{Defect, DefectKind, Screen, Snapshot};
use serde::Deserialize;

use super::json::{DefectJson, RawJson};

/// What made the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    AndroidXml,
    /// What `get_ui_tree` answers with `format: "json"`.
    OwnJson,
}

impl Source {
    pub fn as_str(self) -> &'static str {
        match self {
            Source::AndroidXml => "uiautomator hierarchy",
            Source::OwnJson => "get_ui_tree json",
        }
    }
}

/// `None` when it is nothing that shows a screen.
pub fn read(bytes: &[u8]) -> Option<(Source, Snapshot)> {
    let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace() && byte.is_ascii())?;
    match first {
        b'{' => own_json(bytes).map(|snapshot| (Source::OwnJson, snapshot)),
        _ => android_xml(bytes).map(|snapshot| (Source::AndroidXml, snapshot)),
    }
}

fn android_xml(bytes: &[u8]) -> Option<Snapshot> {
    let start = bytes.iter().position(|byte| *byte == b'<')?;
    let snapshot = mdm_android::hierarchy::parse(&bytes[start..], &mdm_android::hierarchy::Limits::default());
    (!snapshot.elements.is_empty()).then_some(snapshot)
}

#[derive(Deserialize)]
struct OwnTree {
    platform: String,
    resolution: OwnSize,
    #[serde(default)]
    rotation: u8,
    #[serde(default)]
    screen: Option<String>,
    #[serde(default)]
    defect_list: Vec<DefectJson>,
    elements: Vec<RawJson>,
}

#[derive(Deserialize)]
struct OwnSize {
    width: u32,
    height: u32,
}

fn own_json(bytes: &[u8]) -> Option<Snapshot> {
    let tree: OwnTree = serde_json::from_slice(bytes).ok()?;
    let mut elements: Vec<_> = tree.elements.into_iter().map(mdm_core::element::Element::from).collect();
    link(&mut elements);
    Some(Snapshot {
        platform: if tree.platform == "ios" { Platform::Ios } else { Platform::Android },
        elements,
        size: Size { width: tree.resolution.width, height: tree.resolution.height },
        rotation: tree.rotation,
        screen: tree.screen.as_deref().and_then(screen),
        defects: tree.defect_list.into_iter().filter_map(defect).collect(),
    })
}

fn screen(component: &str) -> Option<Screen> {
    let (package, activity) = component.split_once('/')?;
    let activity =
        if activity.starts_with('.') { format!("{package}{activity}") } else { activity.to_owned() };
    Some(Screen { package: package.to_owned(), activity })
}

fn defect(json: DefectJson) -> Option<Defect> {
    let kinds = [
        DefectKind::Truncated,
        DefectKind::LimitReached,
        DefectKind::BadUtf8,
        DefectKind::BadAttribute,
        DefectKind::BadMarkup,
    ];
    let kind = kinds.into_iter().find(|kind| format!("{kind:?}") == json.kind)?;
    Some(Defect { kind, offset: json.offset, detail: json.detail })
}
