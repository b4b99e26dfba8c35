//! The helper's tree as a snapshot: which windows belong to it, and what each node is.

use std::sync::Arc;

use mdm_core::meaning::role;
use mdm_core::screen::element::{CollectionPlace, CollectionSize, Details, Element, Role, ValueRange};
use mdm_core::screen::geometry::{Rect, Size};
use mdm_core::screen::snapshot::{Defect, DefectKind, Limits, Platform, Snapshot};
use mdm_wire::helper::{Flags, Node, Range, Tree, Window, WindowFlags};

use crate::hierarchy::{self, rules};
use crate::screen;

/// Kinds of windows, as Android numbers them.
const APPLICATION: u32 = 1;
const INPUT_METHOD: u32 = 2;
const SYSTEM: u32 = 3;
/// The flag of a window in a corner of the screen, which shows another app.
const PICTURE_IN_PICTURE: u32 = 8;
/// A window of the system counts if it takes at least one part in so many of the screen: the bars of the system, and
/// notices that slide in, are smaller.
const LARGE_PART: i64 = 4;
/// Numbers of actions and states, as Android has them.
const ACTION_EXPAND: u32 = 0x4_0000;
const ACTION_COLLAPSE: u32 = 0x8_0000;
pub const ACTION_CLICK: u32 = 16;
pub const ACTION_SET_PROGRESS: u32 = 0x0102_003d;
const COLLAPSED: u32 = 1;
const FLOATS: u32 = 1;

/// A snapshot, and where each of its elements stands in the tree that it was made of.
#[derive(Debug, Clone, PartialEq)]
pub struct Shown {
    pub snapshot: Snapshot,
    /// The place of each element among the nodes of all windows.
    pub origins: Vec<u32>,
    pub keyboard: Option<Rect>,
}

/// Makes the snapshot. It is empty when no window can be read.
pub fn read(tree: &Tree, limits: &Limits) -> Shown {
    let size = Size { width: tree.width.into(), height: tree.height.into() };
    let mut reader =
        Reader { limits, screen: size.rect(), snapshot: Snapshot::default(), origins: Vec::new() };
    let mut first = 0;
    let chosen = chosen(tree);
    for (place, window) in tree.windows.iter().enumerate() {
        if chosen.contains(&place) {
            reader.window(window, first);
        }
        first += window.nodes.len();
    }
    let Reader { mut snapshot, origins, .. } = reader;
    if !tree.complete {
        let detail =
            "the helper on the device left something out: a window without a root, or too many elements";
        snapshot.defects.push(Defect {
            kind: DefectKind::LimitReached,
            offset: 0,
            detail: detail.to_owned(),
        });
    }
    snapshot.platform = Platform::Android;
    snapshot.size = size;
    snapshot.rotation = tree.rotation;
    snapshot.screen = screen::from_component(&tree.component);
    Shown { snapshot, origins, keyboard: keyboard(tree) }
}

/// Returns the window that `uiautomator dump` writes, and how many nodes stand before it.
pub fn active(tree: &Tree) -> Option<&Window> {
    let has =
        |flag: u32| tree.windows.iter().find(|window| window.flags.has(flag) && !window.nodes.is_empty());
    has(WindowFlags::ACTIVE).or_else(|| has(WindowFlags::FOCUSED))
}

fn keyboard(tree: &Tree) -> Option<Rect> {
    let shown = tree.windows.iter().find(|window| window.kind == INPUT_METHOD)?;
    // Its window may fill the screen; the keys do not.
    let area = shown.nodes.first().map_or(shown.bounds, |root| root.bounds);
    Some(rect(area)).filter(|area| !area.is_empty())
}

/// Returns the places of the windows of a snapshot: the focused one, and what lies in front of it without being the
/// keyboard or a bar of the system.
fn chosen(tree: &Tree) -> Vec<usize> {
    let windows = || tree.windows.iter().enumerate().filter(|(_, window)| !window.nodes.is_empty());
    let flagged = |flag: u32| windows().find(|(_, w)| w.flags.has(flag) && w.kind != INPUT_METHOD);
    let topmost = || windows().filter(|(_, w)| w.kind == APPLICATION).max_by_key(|(_, w)| w.layer);
    let base = flagged(WindowFlags::FOCUSED).or_else(|| flagged(WindowFlags::ACTIVE)).or_else(topmost);
    let Some((base, below)) = base else { return Vec::new() };
    let screen = i64::from(tree.width) * i64::from(tree.height);
    let is_large = |window: &Window| {
        let area = rect(window.bounds);
        i64::from(area.width().max(0)) * i64::from(area.height().max(0)) * LARGE_PART >= screen
    };
    let in_front = |window: &Window| {
        let counts = match window.kind {
            APPLICATION => !window.flags.has(PICTURE_IN_PICTURE),
            SYSTEM => is_large(window),
            _ => false,
        };
        window.layer > below.layer && counts
    };
    windows().filter(|(at, window)| *at == base || in_front(window)).map(|(at, _)| at).collect()
}

struct Reader<'a> {
    limits: &'a Limits,
    screen: Rect,
    snapshot: Snapshot,
    origins: Vec<u32>,
}

impl Reader<'_> {
    /// Adds a window, whose first node has this place in the tree.
    fn window(&mut self, window: &Window, first: usize) {
        // Parents whose children are not all read yet, and how many are missing.
        let mut open: Vec<(u32, usize)> = Vec::new();
        for (offset, node) in window.nodes.iter().enumerate() {
            if self.snapshot.elements.len() >= self.limits.elements_max {
                self.defect(
                    DefectKind::LimitReached,
                    format!("more than {} elements", self.limits.elements_max),
                );
                break;
            }
            let parent = open.last().map(|(parent, _)| *parent);
            let index = u32::try_from(self.snapshot.elements.len()).unwrap_or(u32::MAX);
            let element = self.element(node, parent, index);
            self.snapshot.elements.push(element);
            self.origins.push(u32::try_from(first + offset).unwrap_or(u32::MAX));
            if let Some((_, missing)) = open.last_mut() {
                *missing = missing.saturating_sub(1);
            }
            open.push((index, node.children));
            self.close(&mut open, |missing| missing == 0);
        }
        self.close(&mut open, |_| true);
    }

    /// Ends the innermost parents for which this holds.
    fn close(&mut self, open: &mut Vec<(u32, usize)>, is_over: impl Fn(usize) -> bool) {
        let end = u32::try_from(self.snapshot.elements.len()).unwrap_or(u32::MAX);
        while let Some((index, _)) = open.pop_if(|(_, missing)| is_over(*missing)) {
            if let Some(element) = self.snapshot.elements.get_mut(index as usize) {
                element.end = end;
            }
        }
    }

    fn defect(&mut self, kind: DefectKind, detail: String) {
        if self.snapshot.defects.len() < self.limits.defects_max {
            self.snapshot.defects.push(Defect { kind, offset: 0, detail });
        }
    }

    fn element(&mut self, node: &Node, parent: Option<u32>, index: u32) -> Element {
        let flags = flags(node);
        let range = node.range.filter(is_sensible);
        let mut affordances = rules::affordances(&flags);
        affordances.adjustable = has_action(node, ACTION_SET_PROGRESS);
        let mut state = rules::state(&flags);
        state.expanded = expanded(node);
        let parent_depth = parent.and_then(|at| self.snapshot.elements.get(at as usize)).map(|e| e.depth);
        let shows_hint = node.flags.has(Flags::SHOWS_HINT);
        let text = self.text(&node.text).filter(|_| !shows_hint);
        let hint = node.hint.as_ref().and_then(|hint| self.text(hint));
        Element {
            parent,
            end: index.saturating_add(1),
            depth: parent_depth.map_or(0, |depth| depth.saturating_add(1)),
            role: role_of(node, &affordances),
            system_window: parent.is_none() && rules::is_system_package(&node.package),
            stable_id: self.text(&node.id),
            text,
            description: self.text(&node.description),
            // A field that shows its hint without telling it apart has it as its text.
            hint: hint.or_else(|| self.text(&node.text).filter(|_| shows_hint)),
            text_may_be_hint: false,
            value: range.map(|range| value(range).into()),
            value_range: range.map(|range| Box::new(value_range(range))),
            bounds: clipped(rect(node.bounds), self.screen),
            drawing_order: u16::try_from(node.drawing_order).ok(),
            affordances,
            state,
            password: node.flags.has(Flags::PASSWORD),
            displayed: None,
            clock: rules::is_clock(&node.class, node.id.as_bytes(), node.package.as_bytes()),
            details: self.details(node),
            class: Arc::clone(&node.class),
            app: Arc::clone(&node.package),
        }
    }

    /// Returns a text within the limit; nothing for an empty one, as in a dump.
    fn text(&mut self, text: &str) -> Option<Box<str>> {
        if text.is_empty() {
            return None;
        }
        let max = self.limits.value_bytes_max;
        if text.len() <= max {
            return Some(text.into());
        }
        self.defect(DefectKind::BadAttribute, format!("a value was cut after {max} bytes"));
        let end = (0..=max).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        text.get(..end).map(Into::into)
    }

    fn details(&mut self, node: &Node) -> Option<Box<Details>> {
        let mut told = |text: &Option<Arc<str>>| text.as_ref().and_then(|text| self.text(text));
        let details = Details {
            state_description: told(&node.state_description),
            role_description: told(&node.role_description),
            error: told(&node.error),
            pane_title: told(&node.pane_title),
            collection: node.collection.map(|all| CollectionSize { rows: all.rows, columns: all.columns }),
            item: node.item.map(|item| CollectionPlace { row: item.row, column: item.column }),
            live: node.live_region.is_some_and(|live| live != 0),
            source: node.source.map(source),
        };
        (details != Details::default()).then(|| Box::new(details))
    }
}

/// Makes one number of a view's number and that of the part which it draws.
fn source((view, part): (u64, u64)) -> u64 {
    view.rotate_left(32) ^ part
}

pub fn flags(node: &Node) -> hierarchy::Flags {
    let has = |flag: u32| Some(node.flags.has(flag));
    hierarchy::Flags {
        checkable: has(Flags::CHECKABLE),
        checked: has(Flags::CHECKED),
        clickable: has(Flags::CLICKABLE),
        displayed: None,
        enabled: has(Flags::ENABLED),
        focusable: has(Flags::FOCUSABLE),
        focused: has(Flags::FOCUSED),
        long_clickable: has(Flags::LONG_CLICKABLE),
        password: has(Flags::PASSWORD),
        scrollable: has(Flags::SCROLLABLE),
        selected: has(Flags::SELECTED),
    }
}

fn role_of(node: &Node, affordances: &mdm_core::screen::element::Affordances) -> Role {
    match role::from_android_class(&node.class, *affordances) {
        Role::Text | Role::Unknown if node.flags.has(Flags::HEADING) => Role::Heading,
        Role::Text | Role::Unknown if node.flags.has(Flags::EDITABLE) => Role::TextField,
        role => role,
    }
}

fn has_action(node: &Node, wanted: u32) -> bool {
    node.actions.iter().any(|action| action.id == wanted)
}

fn expanded(node: &Node) -> Option<bool> {
    match node.expanded_state {
        Some(0) | None if has_action(node, ACTION_COLLAPSE) => Some(true),
        Some(0) | None if has_action(node, ACTION_EXPAND) => Some(false),
        Some(0) | None => None,
        Some(state) => Some(state != COLLAPSED),
    }
}

/// False for a range that is no range, which an app may well report.
pub fn is_sensible(range: &Range) -> bool {
    range.current.is_finite() && range.min.is_finite() && range.max.is_finite() && range.min < range.max
}

/// Writes the value of a bar: whole numbers as they are, others with what they need.
fn value(range: Range) -> String {
    match range.kind {
        FLOATS => format!("{}", (f64::from(range.current) * 100.0).round() / 100.0),
        _ => format!("{}", f64::from(range.current).round()),
    }
}

fn value_range(range: Range) -> ValueRange {
    ValueRange { min: range.min.into(), max: range.max.into() }
}

pub fn rect([left, top, right, bottom]: [i32; 4]) -> Rect {
    Rect { left, top, right, bottom }
}

/// Leaves the part on the screen, as a dump does; what lies outside stays where it is.
pub fn clipped(area: Rect, screen: Rect) -> Rect {
    area.intersection(screen).unwrap_or(area)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCREEN: [i32; 4] = [0, 0, 1080, 2400];

    fn node(text: &str, children: usize) -> Node {
        Node {
            text: text.into(),
            children,
            bounds: SCREEN,
            class: "android.view.View".into(),
            ..Node::default()
        }
    }

    fn window(kind: u32, layer: i32, flags: u32, bounds: [i32; 4], text: &str) -> Window {
        let nodes = vec![node(text, 0)];
        Window { kind, layer, flags: WindowFlags(flags), bounds, nodes, ..Window::default() }
    }

    fn tree(windows: Vec<Window>) -> Tree {
        Tree { width: 1080, height: 2400, complete: true, windows, ..Tree::default() }
    }

    fn texts(shown: &Shown) -> Vec<&str> {
        shown.snapshot.elements.iter().map(|element| element.text.as_deref().unwrap_or_default()).collect()
    }

    #[test]
    fn popups_in_front_of_the_focused_window_belong_to_the_screen() {
        // F89
        let (active, focused) = (WindowFlags::ACTIVE, WindowFlags::FOCUSED);
        let all = tree(vec![
            window(APPLICATION, 0, 0, SCREEN, "another app"),
            window(APPLICATION, 1, active | focused, SCREEN, "app"),
            window(APPLICATION, 2, 0, [0, 500, 600, 700], "suggestions"),
            window(INPUT_METHOD, 3, 0, [0, 1500, 1080, 2400], "keyboard"),
            window(SYSTEM, 4, 0, [0, 0, 1080, 60], "status bar"),
            window(SYSTEM, 5, 0, SCREEN, "a window over everything"),
        ]);
        let shown = read(&all, &Limits::default());
        assert_eq!(texts(&shown), ["app", "suggestions", "a window over everything"]);
        assert_eq!(shown.origins, [1, 2, 5], "counted through all windows");
        let dialog = tree(vec![
            window(APPLICATION, 0, 0, SCREEN, "app"),
            window(SYSTEM, 1, active | focused, [100, 900, 900, 1200], "dialog"),
        ]);
        assert_eq!(texts(&read(&dialog, &Limits::default())), ["dialog"]);
        assert!(read(&tree(Vec::new()), &Limits::default()).snapshot.elements.is_empty());
    }

    #[test]
    fn the_shape_is_that_of_the_tree_and_limits_hold() {
        let nodes = vec![node("a", 2), node("b", 1), node("c", 0), node("d", 0)];
        let whole = tree(vec![Window { kind: APPLICATION, nodes, ..Window::default() }]);
        let shown = read(&whole, &Limits::default());
        let shape: Vec<_> = shown.snapshot.elements.iter().map(|e| (e.parent, e.end, e.depth)).collect();
        assert_eq!(shape, [(None, 4, 0), (Some(0), 3, 1), (Some(1), 3, 2), (Some(0), 4, 1)]);
        let cut = read(&whole, &Limits { elements_max: 3, value_bytes_max: 0, ..Limits::default() });
        assert_eq!(cut.snapshot.elements.len(), 3);
        assert!(!cut.snapshot.is_whole() && cut.snapshot.elements.iter().all(|e| e.end <= 3));
        let incomplete = Tree { complete: false, ..whole };
        assert!(!read(&incomplete, &Limits::default()).snapshot.proves_absence());
    }

    #[test]
    fn a_hint_is_no_text_and_a_range_is_a_value() {
        let hint = Node { flags: Flags(Flags::SHOWS_HINT), hint: Some("Email".into()), ..node("Email", 0) };
        let range = Range { kind: FLOATS, min: 0.0, max: 5.0, current: 3.5 };
        let bar = Node { range: Some(range), class: "android.widget.RatingBar".into(), ..node("", 0) };
        let nodes = vec![node("", 2), hint, bar];
        let shown =
            read(&tree(vec![Window { kind: APPLICATION, nodes, ..Window::default() }]), &Limits::default());
        let [_, field, bar] = shown.snapshot.elements.as_slice() else { panic!("three") };
        assert_eq!((field.text.as_deref(), field.hint.as_deref()), (None, Some("Email")));
        assert_eq!(bar.value.as_deref(), Some("3.5"));
    }
}
