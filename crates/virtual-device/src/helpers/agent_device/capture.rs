//! Captures the screen as the helper does: the trees of the keyboard and of the active window, with the helper's own
//! attributes and without the system bars.

use std::fmt::Write as _;

use tokio::time::{Duration, Instant};

use super::{FORMAT, Fields, HelperError, extra};
use crate::app::geometry::{Rect, Screen};
use crate::app::keyboard::Board;
use crate::app::xml::attribute;
use crate::helpers::tree::{self, Node, Tree};
use crate::phone::Phone;

/// Longest wait that a client may ask for.
const WAIT_MS_MAX: u64 = 60_000;
/// Types of windows, as accessibility numbers them.
const APPLICATION: u8 = 1;
const INPUT_METHOD: u8 = 2;
const SYSTEM: u8 = 3;
const KEYBOARD_PACKAGE: &str = "com.android.inputmethod.latin";
const SYSTEM_PACKAGES: [&str; 2] = ["android", "com.android.systemui"];

/// Attributes that the helper copies from a node, in its order.
const NAMES: [&str; 14] = [
    "index",
    "text",
    "resource-id",
    "class",
    "package",
    "content-desc",
    "clickable",
    "enabled",
    "focusable",
    "focused",
    "scrollable",
    "password",
    "selected",
    "bounds",
];

/// The settings with which the client started the helper.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    idle_ms: u64,
    quiet_ms: u64,
    timeout_ms: u64,
    depth: usize,
    nodes: usize,
}

impl Limits {
    /// The helper's default limits, which are those that the client sends.
    pub fn of(words: &[&str]) -> Limits {
        let number =
            |name: &str, usual: u64| extra(words, name).and_then(|n| n.parse().ok()).unwrap_or(usual);
        let ms = |name: &str, usual: u64| number(name, usual).min(WAIT_MS_MAX);
        Limits {
            idle_ms: ms("waitForIdleTimeoutMs", 500),
            quiet_ms: ms("waitForIdleQuietMs", 100),
            timeout_ms: ms("timeoutMs", 8000),
            depth: number("maxDepth", 128) as usize,
            nodes: number("maxNodes", 5000) as usize,
        }
    }
}

/// Returns the tree and its metadata.
pub async fn take(phone: &Phone, limits: &Limits) -> Result<(String, Fields), HelperError> {
    let begun = Instant::now();
    quiet(phone, limits).await;
    // A stuck main thread does not answer accessibility.
    if !phone.with(|state| state.surface.windows(&state.screen()).responding) {
        tokio::time::sleep(Duration::from_millis(limits.timeout_ms)).await;
        let message = format!("no answer from the app in {} ms", limits.timeout_ms);
        return Err(HelperError { kind: "java.util.concurrent.TimeoutException", message });
    }
    let is_rootless = phone.with(|state| state.is_rootless());
    let tree = if is_rootless { Tree::default() } else { Tree::of(phone) };
    let keyboard = phone.with(|state| state.keyboard_shown().then(|| state.screen()));
    let scrolls = tree::scrolls(phone);
    let mut writer = Writer { out: String::new(), count: 0, windows: 0, truncated: false, limits, scrolls };
    writer.document(&tree, keyboard.as_ref());
    let facts = [
        ("outputFormat", FORMAT.to_owned()),
        ("waitForIdleTimeoutMs", limits.idle_ms.to_string()),
        ("waitForIdleQuietMs", limits.quiet_ms.to_string()),
        ("timeoutMs", limits.timeout_ms.to_string()),
        ("maxDepth", limits.depth.to_string()),
        ("maxNodes", limits.nodes.to_string()),
        ("rootPresent", (!tree.nodes.is_empty()).to_string()),
        ("captureMode", "interactive-windows".to_owned()),
        ("windowCount", writer.windows.to_string()),
        ("nodeCount", writer.count.to_string()),
        ("truncated", writer.truncated.to_string()),
        ("elapsedMs", begun.elapsed().as_millis().to_string()),
    ];
    Ok((writer.out, facts.into()))
}

async fn quiet(phone: &Phone, limits: &Limits) {
    let deadline = Instant::now() + Duration::from_millis(limits.idle_ms);
    loop {
        let calm = phone.with(|state| state.changed_at()) + Duration::from_millis(limits.quiet_ms);
        let now = Instant::now();
        if calm <= now || now >= deadline {
            return;
        }
        tokio::time::sleep_until(calm.min(deadline)).await;
    }
}

/// Returns the areas for gestures: the window in front, and the keyboard over it.
pub fn viewport(phone: &Phone) -> Fields {
    let tree = Tree::of(phone);
    let (screen, keyboard) = phone.with(|state| (state.screen(), state.keyboard_shown()));
    let area = tree.nodes.first().map_or_else(|| screen.rect(), |root| root.bounds);
    let mut facts = sides(["x", "y", "width", "height"], &area);
    if keyboard {
        let names = ["keyboardX", "keyboardY", "keyboardWidth", "keyboardHeight"];
        facts.extend(sides(names, &screen.keyboard()));
    }
    facts
}

fn sides(names: [&'static str; 4], area: &Rect) -> Fields {
    let values = [area.left, area.top, area.width(), area.height()];
    names.into_iter().zip(values.map(|value| value.to_string())).collect()
}

struct Writer<'a> {
    out: String,
    count: usize,
    windows: usize,
    truncated: bool,
    limits: &'a Limits,
    scrolls: Vec<(bool, bool)>,
}

impl Writer<'_> {
    /// Windows from the top down.
    fn document(&mut self, tree: &Tree, keyboard: Option<&Screen>) {
        self.out.push_str("<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>");
        let _ = write!(self.out, "<hierarchy rotation=\"{}\">", tree.rotation);
        if let Some(screen) = keyboard {
            self.keyboard(screen);
        }
        for root in (0..tree.nodes.len()).filter(|at| tree.nodes[*at].parent.is_none()) {
            self.node(tree, root, 0);
        }
        self.out.push_str("</hierarchy>");
    }

    /// Writes a node and its children. Recursion is safe: the depth of a tree is limited where it is read.
    fn node(&mut self, tree: &Tree, at: usize, depth: usize) {
        let Some(node) = tree.nodes.get(at) else { return };
        if self.count >= self.limits.nodes || depth > self.limits.depth {
            self.truncated = true;
            return;
        }
        self.count += 1;
        self.out.push_str("<node");
        for name in NAMES {
            attribute(&mut self.out, name, node.get(name));
        }
        self.added(node, self.scrolls.get(at).copied().unwrap_or_default());
        if depth == 0 {
            let is_system = SYSTEM_PACKAGES.contains(&node.get("package"));
            self.window(if is_system { SYSTEM } else { APPLICATION }, &node.bounds);
        }
        if node.children.is_empty() {
            self.out.push_str(" />");
            return;
        }
        self.out.push('>');
        for child in &node.children {
            self.node(tree, *child, depth + 1);
        }
        self.out.push_str("</node>");
    }

    fn added(&mut self, node: &Node, (forward, backward): (bool, bool)) {
        self.out.push_str(" visible-to-user=\"true\"");
        if node.get("class").ends_with("EditText") {
            self.out.push_str(" editable=\"true\"");
        }
        let hint = node.get("hint");
        if !hint.is_empty() && hint == node.get("text") {
            self.out.push_str(" hint-showing=\"true\"");
        }
        if forward {
            self.out.push_str(" can-scroll-forward=\"true\"");
        }
        if backward {
            self.out.push_str(" can-scroll-backward=\"true\"");
        }
        if !node.get("drawing-order").is_empty() {
            attribute(&mut self.out, "drawing-order", node.get("drawing-order"));
        }
    }

    /// Writes a window. The keyboard's never has the focus: the field keeps it.
    fn window(&mut self, kind: u8, area: &Rect) {
        let has_focus = kind != INPUT_METHOD;
        let _ = write!(
            self.out,
            " window-index=\"{}\" window-type=\"{kind}\" window-layer=\"{}\" window-active=\"{has_focus}\" \
             window-focused=\"{has_focus}\"",
            self.windows,
            u8::from(!has_focus)
        );
        attribute(&mut self.out, "window-bounds", &bounds(area));
        self.windows += 1;
    }

    fn keyboard(&mut self, screen: &Screen) {
        self.key("android.widget.FrameLayout", 0, "", &screen.keyboard());
        self.window(INPUT_METHOD, &screen.keyboard());
        self.out.push('>');
        for (index, (cap, area)) in Board::Android.caps(screen).into_iter().enumerate() {
            self.key("android.inputmethodservice.Keyboard$Key", index, &cap.label(), &area);
            self.out.push_str(" />");
        }
        self.out.push_str("</node>");
    }

    fn key(&mut self, class: &str, index: usize, label: &str, area: &Rect) {
        self.count += 1;
        let values = [&index.to_string(), "", "", class, KEYBOARD_PACKAGE, label];
        self.out.push_str("<node");
        for (name, value) in NAMES.into_iter().zip(values) {
            attribute(&mut self.out, name, value);
        }
        let _ = write!(self.out, " clickable=\"{}\" enabled=\"true\"", !label.is_empty());
        attribute(&mut self.out, "bounds", &bounds(area));
        self.out.push_str(" visible-to-user=\"true\"");
    }
}

fn bounds(area: &Rect) -> String {
    format!("[{},{}][{},{}]", area.left, area.top, area.right, area.bottom)
}
