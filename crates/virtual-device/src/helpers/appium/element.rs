//! Elements that a session has found, and the commands for them.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::source::is_displayed;
use super::{CommandResult, ELEMENTS_MAX, Server, WebDriverError, Window, parse_arguments, success, toast};
use crate::helpers::touch;
use crate::helpers::tree::{Node, Tree};
use crate::phone::Phone;

const W3C_KEY: &str = "element-6066-11e4-a52e-4f735466cecf";
const OLD_KEY: &str = "ELEMENT";
const LONG_CLICK_MS: u64 = 500;
const GESTURE_MS: u64 = 500;

/// The place where an element was found, and its identity at that time.
pub struct KnownElement {
    path: Vec<usize>,
    class: String,
    resource_id: String,
}

impl KnownElement {
    fn of(tree: &Tree, at: usize) -> KnownElement {
        let (mut path, mut here) = (Vec::new(), at);
        while let Some(parent) = tree.nodes.get(here).and_then(|node| node.parent) {
            path.extend(tree.children(parent).iter().position(|child| *child == here));
            here = parent;
        }
        path.reverse();
        let text = |name: &str| tree.nodes.get(at).map_or(String::new(), |node| node.get(name).to_owned());
        KnownElement { path, class: text("class"), resource_id: text("resource-id") }
    }

    /// Returns the element's place in the tree now, or nothing when something else is there.
    fn locate(&self, tree: &Tree) -> Option<usize> {
        if self.class == toast::CLASS {
            return toast::find(tree);
        }
        let mut at = 0;
        for child in &self.path {
            at = *tree.children(at).get(*child)?;
        }
        let node = tree.nodes.get(at)?;
        (node.get("class") == self.class && node.get("resource-id") == self.resource_id).then_some(at)
    }
}

/// The reference to an element that clients receive.
pub fn reference(id: &str) -> BTreeMap<&'static str, String> {
    BTreeMap::from([(W3C_KEY, id.to_owned()), (OLD_KEY, id.to_owned())])
}

#[derive(Deserialize)]
struct Text {
    text: String,
    #[serde(default)]
    replace: bool,
}

#[derive(Deserialize)]
struct Origin {
    #[serde(rename = "element-6066-11e4-a52e-4f735466cecf")]
    id: Option<String>,
    /// The name in the older protocol; some clients send both.
    #[serde(rename = "ELEMENT")]
    old_id: Option<String>,
}

impl Origin {
    fn id(&self) -> &str {
        self.id.as_deref().or(self.old_id.as_deref()).unwrap_or("")
    }
}

#[derive(Deserialize)]
struct Point {
    x: f64,
    y: f64,
}

#[derive(Deserialize)]
struct Area {
    left: f64,
    top: f64,
    width: f64,
    height: f64,
}

/// The arguments of all gestures; each gesture uses some of them.
#[derive(Deserialize)]
struct Gesture {
    origin: Option<Origin>,
    offset: Option<Point>,
    area: Option<Area>,
    direction: Option<String>,
    percent: Option<f64>,
    duration: Option<f64>,
    end: Option<Point>,
}

impl Server {
    /// Remembers an element and returns its id.
    pub fn remember(&self, tree: &Tree, at: usize) -> Result<String, WebDriverError> {
        let mut session = self.session();
        if session.elements.len() >= ELEMENTS_MAX {
            session.elements.clear();
        }
        session.next += 1;
        let id = format!("00000000-0000-{:04x}-ffff-ffff{:08x}", session.next % 0x1_0000, session.next);
        session.elements.insert(id.clone(), KnownElement::of(tree, at));
        Ok(id)
    }

    pub fn locate(&self, tree: &Tree, id: &str) -> Result<usize, WebDriverError> {
        let session = self.session();
        session.elements.get(id).and_then(|known| known.locate(tree)).ok_or_else(WebDriverError::stale)
    }

    fn node(&self, phone: &Phone, id: &str) -> Result<Node, WebDriverError> {
        let tree = toast::tree(phone);
        let at = self.locate(&tree, id)?;
        tree.nodes.get(at).cloned().ok_or_else(WebDriverError::stale)
    }

    pub fn element(
        &self,
        phone: &Phone,
        method: &str,
        id: &str,
        what: &[&str],
        body: &[u8],
    ) -> CommandResult {
        let node = self.node(phone, id)?;
        match (method, what) {
            ("POST", ["click"]) => {
                touch::tap(phone, node.centre());
                success(())
            }
            ("POST", ["clear"]) => set(phone, &node, ""),
            ("POST", ["value"]) => {
                let asked: Text = parse_arguments(body)?;
                // The dump shows a hint in place of the text; it is not a text.
                let is_hint = node.get("text") == node.get("hint");
                let old = if asked.replace || is_hint || node.is("password") { "" } else { node.get("text") };
                set(phone, &node, &format!("{old}{}", asked.text))
            }
            ("GET", ["text"]) => success(node.get("text")),
            ("GET", ["name"]) => success(node.get("class")),
            ("GET", ["displayed"]) => success(is_displayed(&node)),
            ("GET", ["enabled"]) => success(node.is("enabled")),
            ("GET", ["selected"]) => success(node.is("selected") || node.is("checked")),
            ("GET", ["rect"]) => success(Window {
                x: node.bounds.left,
                y: node.bounds.top,
                width: node.bounds.width(),
                height: node.bounds.height(),
            }),
            ("GET", ["attribute", name]) => attribute(&node, name),
            _ => Err(super::unknown()),
        }
    }

    pub async fn gesture(&self, phone: &Phone, name: &str, body: &[u8]) -> CommandResult {
        let asked: Gesture = parse_arguments(body)?;
        let at = self.start(phone, &asked)?;
        match name {
            "click" => touch::tap(phone, at),
            "double_click" => {
                touch::tap(phone, at);
                touch::tap(phone, at);
            }
            "long_click" => {
                let ms = asked.duration.map_or(LONG_CLICK_MS, |ms| ms as u64);
                touch::swipe(phone, at, at, ms).await;
            }
            "drag" => {
                let end = asked.end.as_ref().ok_or_else(WebDriverError::argument)?;
                touch::swipe(phone, at, (end.x as i32, end.y as i32), GESTURE_MS).await;
            }
            "swipe" | "scroll" | "fling" => return self.stroke(phone, name, &asked).await,
            _ => return Err(super::unknown()),
        }
        success(())
    }

    fn start(&self, phone: &Phone, asked: &Gesture) -> Result<(i32, i32), WebDriverError> {
        let node = asked.origin.as_ref().map(|origin| self.node(phone, origin.id())).transpose()?;
        Ok(match (&node, &asked.offset) {
            (Some(node), Some(p)) => (node.bounds.left + p.x as i32, node.bounds.top + p.y as i32),
            (Some(node), None) => node.centre(),
            (None, Some(p)) => (p.x as i32, p.y as i32),
            (None, None) => (0, 0),
        })
    }

    /// Swipes or scrolls over an area. A scroll is opposite to the finger, and its answer says whether there is more.
    async fn stroke(&self, phone: &Phone, name: &str, asked: &Gesture) -> CommandResult {
        let (left, top, width, height) = match (&asked.origin, &asked.area) {
            (Some(origin), _) => {
                let b = self.node(phone, origin.id())?.bounds;
                (b.left, b.top, b.width(), b.height())
            }
            (None, Some(a)) => (a.left as i32, a.top as i32, a.width as i32, a.height as i32),
            (None, None) => return Err(WebDriverError::argument()),
        };
        let share = asked.percent.unwrap_or(1.0).clamp(0.0, 1.0) * 0.9;
        let (dx, dy) = ((f64::from(width) * share / 2.0) as i32, (f64::from(height) * share / 2.0) as i32);
        let (x, y) = match asked.direction.as_deref().map(str::to_lowercase).as_deref() {
            Some("up") => (0, dy),
            Some("down") => (0, -dy),
            Some("left") => (dx, 0),
            Some("right") => (-dx, 0),
            _ => return Err(WebDriverError::argument()),
        };
        // A swipe up moves the finger up; a scroll up moves the content down.
        let sign = if name == "swipe" { -1 } else { 1 };
        let (cx, cy) = (left + width / 2, top + height / 2);
        let before = crate::helpers::tree::xml(phone);
        let (from, to) = ((cx - sign * x, cy - sign * y), (cx + sign * x, cy + sign * y));
        touch::swipe(phone, from, to, GESTURE_MS).await;
        if name == "swipe" { success(()) } else { success(crate::helpers::tree::xml(phone) != before) }
    }
}

fn set(phone: &Phone, node: &Node, text: &str) -> CommandResult {
    if touch::set_text(phone, node.centre(), text) {
        success(())
    } else {
        Err(WebDriverError::new(
            400,
            "invalid element state",
            "Cannot set the element's text. Is it editable?",
        ))
    }
}

fn attribute(node: &Node, name: &str) -> CommandResult {
    let key = match name {
        "resourceId" | "resource-id" => "resource-id",
        "contentDescription" | "content-desc" => "content-desc",
        "className" | "class" => "class",
        "longClickable" => "long-clickable",
        "name" if node.get("content-desc").is_empty() => "text",
        "name" => "content-desc",
        "displayed" => return success(is_displayed(node).to_string()),
        "text" | "package" | "checkable" | "checked" | "clickable" | "enabled" | "focusable" | "focused"
        | "scrollable" | "long-clickable" | "password" | "selected" | "bounds" | "hint" | "index" => name,
        _ => {
            return Err(WebDriverError::new(
                400,
                "invalid argument",
                format!("'{name}' attribute is unknown"),
            ));
        }
    };
    success(node.get(key))
}
