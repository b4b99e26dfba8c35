//! Reads a screen as written by WebDriverAgent or idb into a [`Snapshot`].
//!
//! Architecture invariant: reading never fails, never panics and never recurses. What cannot be read becomes a
//! [`Defect`](mdm_core::screen::snapshot::Defect), and the rest is kept (SE-07).

mod arena;
pub mod content;
mod document;
mod json;
mod locate;
mod markup;
mod names;
mod raw_node;
mod role;
mod text;

use mdm_core::screen::element::{Element, Role};
use mdm_core::screen::geometry::Rect;
pub use mdm_core::screen::snapshot::Limits;
use mdm_core::screen::snapshot::{DefectKind, Screen, Snapshot};

use arena::Arena;
use document::Document;
use locate::Located;
use raw_node::Dialect;
use text::{Faults, Text};

/// The bundle id of the home screen, whose application also shows the system's alerts.
const SPRINGBOARD: &str = "com.apple.springboard";

/// The tool that wrote a tree, and its format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// The page source of XCUITest as XML: an element is a tag.
    WdaXml,
    /// The page source of XCUITest as JSON.
    WdaJson,
    /// A flat list, or the element at a point.
    IdbLegacy,
    /// A list of elements with their children.
    IdbNested,
    /// A document with metadata and the elements.
    IdbComplete,
}

/// Detects the format from the content, also inside a WebDriver response.
pub fn detect(bytes: &[u8]) -> Option<Format> {
    locate::locate(bytes).map(|located| located.format)
}

/// Reads elements, size, screen and defects.
pub fn parse(bytes: &[u8], limits: &Limits) -> Snapshot {
    let read = &bytes[..bytes.len().min(limits.bytes_max)];
    let mut arena = Arena::new(limits, read.len());
    if read.len() < bytes.len() {
        arena.limit_bytes(read.len(), bytes.len());
    }
    let located = locate::locate(read);
    match located {
        None => arena.defect(DefectKind::BadMarkup, 0, "no tree of an iOS screen in the answer"),
        Some(Located { format, start, quoted: false }) => read_tree(read, start, format, &mut arena),
        Some(Located { format, start, quoted: true }) => read_quoted(read, start, format, &mut arena),
    }
    let mut snapshot = arena.finish();
    if located.is_some_and(|located| located.format == Format::IdbLegacy) {
        put_into_application(&mut snapshot);
    }
    snapshot
}

/// A flat list begins with the application, and all that follows is in it. Elements without a common root would be taken
/// for windows, of which the later ones lie in front.
fn put_into_application(snapshot: &mut Snapshot) {
    let end = snapshot.elements.len() as u32;
    let Some((top, others)) = snapshot.elements.split_first_mut() else { return };
    let is_flat = others.iter().all(|element| element.parent.is_none());
    if !is_flat || role::short_type(&top.class) != "Application" {
        return;
    }
    top.end = end;
    for element in others {
        element.parent = Some(0);
        element.depth += 1;
    }
}

/// Returns the name of the application at the top of a tree; empty when it has none.
pub fn application_name(snapshot: &Snapshot) -> String {
    let top = snapshot.elements.iter().find(|element| role::short_type(&element.class) == "Application");
    top.and_then(|top| top.description.as_deref().or(top.text.as_deref())).unwrap_or_default().to_owned()
}

/// Marks the field at this place as the one that the keyboard types into.
pub fn set_focus(snapshot: &mut Snapshot, place: Rect) {
    let near = |a: i32, b: i32| a.abs_diff(b) <= 1;
    let is_there = |element: &Element| {
        let at = element.bounds;
        near(at.left, place.left)
            && near(at.top, place.top)
            && near(at.right, place.right)
            && near(at.bottom, place.bottom)
    };
    for element in snapshot.elements.iter_mut().filter(|element| element.role == Role::TextField) {
        element.state.focused = Some(is_there(element));
    }
}

/// The indexes of all sliders, in the tree's order.
pub fn sliders(snapshot: &Snapshot) -> Vec<u32> {
    let all = (0u32..).zip(&snapshot.elements);
    let sliders = all.filter(|(_, element)| role::short_type(&element.class) == "Slider");
    sliders.map(|(index, _)| index).collect()
}

/// True if a web view has nothing in it: idb does not tell what another process draws.
pub fn has_empty_web_view(snapshot: &Snapshot) -> bool {
    let all = (0u32..).zip(&snapshot.elements);
    all.into_iter().any(|(index, element)| element.role == Role::WebView && element.end <= index + 1)
}

/// Returns the field that the keyboard types into.
pub fn focused_field(snapshot: &Snapshot) -> Option<&Element> {
    let is_field =
        |element: &&Element| element.role == Role::TextField && element.state.focused == Some(true);
    snapshot.elements.iter().find(is_field)
}

/// True for the on-screen keyboard.
pub fn is_keyboard(element: &Element) -> bool {
    role::short_type(&element.class) == "Keyboard"
}

/// Returns the process of the first element of an answer of idb that names one.
pub fn process(bytes: &[u8]) -> Option<u32> {
    const KEY: &[u8] = b"\"pid\"";
    let mut from = 0;
    while let Some(at) = memchr::memmem::find(&bytes[from..], KEY) {
        from += at + KEY.len();
        let rest = bytes[from..].trim_ascii_start();
        let number = rest.strip_prefix(b":").map(<[u8]>::trim_ascii_start).unwrap_or_default();
        let digits = number.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if let Some(pid) = std::str::from_utf8(&number[..digits]).ok().and_then(|pid| pid.parse().ok()) {
            return Some(pid);
        }
    }
    None
}

/// Names the app in front in a tree that does not tell it.
pub fn set_app(snapshot: &mut Snapshot, app: &str) {
    let name: std::sync::Arc<str> = app.into();
    for element in snapshot.elements.iter_mut().filter(|element| element.app.is_empty()) {
        element.app = std::sync::Arc::clone(&name);
    }
    if let Some(root) = snapshot.elements.first_mut() {
        root.system_window = app == SPRINGBOARD;
    }
    snapshot.screen = Some(Screen { app: app.to_owned(), name: None });
}

fn read_tree(bytes: &[u8], start: usize, format: Format, arena: &mut Arena<'_>) {
    match format {
        Format::WdaXml => markup::read(bytes, start, arena),
        Format::WdaJson => Document::new(bytes, start, Dialect::Wda, arena).read(false),
        Format::IdbLegacy | Format::IdbNested => {
            Document::new(bytes, start, Dialect::Idb, arena).read(false);
        }
        Format::IdbComplete => Document::new(bytes, start, Dialect::Idb, arena).read(true),
    }
}

/// Reads a tree that is the content of the JSON string at `start`.
fn read_quoted(bytes: &[u8], start: usize, format: Format, arena: &mut Arena<'_>) {
    let (raw, complete) = json::string_at(bytes, start);
    let mut faults = Faults::default();
    let inner = Text::Json(raw).read(usize::MAX, &mut faults).unwrap_or_default();
    let first_defect = arena.defects_len();
    if let Some(located) = locate::locate(inner.as_bytes()) {
        read_tree(inner.as_bytes(), located.start, format, arena);
    }
    arena.map_defect_offsets(first_defect, |offset| start + 1 + text::json_offset(raw, offset));
    if faults.bad_utf8 {
        arena.defect(DefectKind::BadUtf8, start, "invalid UTF-8 was replaced");
    }
    if !complete {
        arena.truncated(bytes.len());
    }
}
