//! Makes the nodes that accessibility tells a program on the phone, with what a dump leaves out.
//!
//! What each class reports is taken from AOSP's views: ProgressBar and SeekBar a range and a percentage as their state,
//! compound buttons a word for their state, lists their rows, fields their hint.

use std::sync::Arc;

use mdm_wire::helper::{Collection, CollectionItem, Flags, Node, NodeAction, Range};

use super::widget::{Appearance, Numbering, Widget};
use super::xml::{is_list, shown_text, told_flags, told_id};

/// The first Android version in which views tell their state in words.
const SDK_WITH_STATE: u32 = 30;
/// Flags of nodes that have no name in `Flags`, by the bits of the protocol.
const IMPORTANT: u32 = 1 << 18;
const INPUT_TEXT: u32 = 1;
const INPUT_PASSWORD: u32 = 0x81;
/// Kinds of ranges.
const INTEGERS: u32 = 0;
const FLOATS: u32 = 1;
/// The range of a bar that names none, as `ProgressBar` has it.
const USUAL_RANGE: (f32, f32) = (0.0, 100.0);
/// A fraction of a slider's way times its length is a whole number within this.
const WHOLE_WITHIN: f32 = 0.01;
const SOURCE_START: u64 = 0xcbf2_9ce4_8422_2325;
const SOURCE_FACTOR: u64 = 0x0000_0100_0000_01b3;

/// Numbers of actions in `AccessibilityNodeInfo`.
pub mod action {
    pub const FOCUS: u32 = 1;
    pub const CLICK: u32 = 16;
    pub const LONG_CLICK: u32 = 32;
    pub const SCROLL_FORWARD: u32 = 4096;
    pub const SCROLL_BACKWARD: u32 = 8192;
    pub const SET_TEXT: u32 = 0x20_0000;
    pub const SET_PROGRESS: u32 = 0x0102_003d;
}

/// How far each scroll container can scroll.
pub type ScrollMost<'a> = &'a dyn Fn(&Widget) -> i32;

/// Returns a window's nodes in document order, and the widget of each.
pub fn of_window<'a>(
    root: &'a Widget,
    package: &str,
    sdk: u32,
    most: ScrollMost<'_>,
) -> Vec<(Node, &'a Widget)> {
    let package: Arc<str> = root.window.map_or(package, |window| window.package).into();
    let mut nodes = Vec::new();
    add(&mut nodes, root, (0, SOURCE_START, false), &About { package, sdk, most });
    nodes
}

struct About<'a> {
    package: Arc<str>,
    sdk: u32,
    most: ScrollMost<'a>,
}

fn add<'a>(
    nodes: &mut Vec<(Node, &'a Widget)>,
    widget: &'a Widget,
    (order, source, is_row): (usize, u64, bool),
    about: &About<'_>,
) {
    let children = shown_children(widget);
    let mut node = node(widget, is_row, about);
    node.children = children.len();
    node.drawing_order = order as u32;
    node.source = Some((source >> 1, 0));
    nodes.push((node, widget));
    for (index, order, child) in children {
        let same = |other: &&Widget| other.key.is_some() && other.key == child.key;
        let is_alone = child.key.is_some() && widget.children.iter().filter(same).count() == 1;
        let source = source_of(source, index, child, is_alone);
        add(nodes, child, (order, source, is_list(widget)), about);
    }
}

/// Returns the children that can be seen, each with its place among all and its number in the order of drawing.
pub fn shown_children(widget: &Widget) -> Vec<(usize, usize, &Widget)> {
    let drawn = widget.drawn();
    let shown = widget.children.iter().enumerate().filter(|(_, child)| !child.visible.is_empty());
    shown
        .map(|(index, child)| {
            let order = drawn.iter().position(|other| std::ptr::eq(*other, child)).unwrap_or(index);
            let order = match child.flags.numbering {
                Numbering::FromOne => order + 1,
                Numbering::FromZero => order,
                Numbering::None => 0,
            };
            (index, order, child)
        })
        .collect()
}

/// Numbers a view: the same one has the same number for as long as it is on its screen. Rows are known by their keys, so
/// one that scrolls keeps its number.
fn source_of(parent: u64, index: usize, widget: &Widget, has_own_key: bool) -> u64 {
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(SOURCE_FACTOR);
    let key = widget.key.filter(|_| has_own_key);
    let number = key.map_or(index as u64, |key| u64::from(key.index));
    let name = key.map_or("", |key| key.name).bytes();
    name.chain(number.to_be_bytes()).fold(parent, mix)
}

fn node(widget: &Widget, is_row: bool, about: &About<'_>) -> Node {
    let bounds = widget.visible.sides();
    let range = range(widget);
    Node {
        flags: flags(widget, is_row),
        class: widget.class.into(),
        package: about.package.clone(),
        id: told_id(widget).into(),
        text: shown_text(widget).into(),
        description: widget.description.as_str().into(),
        bounds: [bounds.0, bounds.1, bounds.2, bounds.3],
        hint: (!widget.hint.is_empty()).then(|| widget.hint.as_str().into()),
        state_description: state(widget, range).filter(|_| about.sdk >= SDK_WITH_STATE),
        range,
        collection: collection(widget),
        item: widget.item.map(|row| item(row, widget)),
        input_type: is_field(widget).then_some(match widget.flags.password {
            true => INPUT_PASSWORD,
            false => INPUT_TEXT,
        }),
        actions: actions(widget, (about.most)(widget)),
        ..Node::default()
    }
}

fn is_field(widget: &Widget) -> bool {
    widget.appearance == Appearance::Field
}

fn flags(widget: &Widget, is_row: bool) -> Flags {
    let flags = &told_flags(widget, is_row);
    let all = [
        (flags.checkable, Flags::CHECKABLE),
        (flags.checked, Flags::CHECKED),
        (flags.clickable, Flags::CLICKABLE),
        (!flags.disabled, Flags::ENABLED),
        (flags.focusable, Flags::FOCUSABLE),
        (flags.focused, Flags::FOCUSED),
        (flags.scrollable, Flags::SCROLLABLE),
        (flags.long_clickable, Flags::LONG_CLICKABLE),
        (flags.password, Flags::PASSWORD),
        (flags.selected, Flags::SELECTED),
        (is_field(widget), Flags::EDITABLE),
        (widget.text.is_empty() && !widget.hint.is_empty(), Flags::SHOWS_HINT),
        (widget.class.ends_with("Spinner"), Flags::CAN_OPEN_POPUP),
        (true, IMPORTANT),
    ];
    Flags(all.iter().filter(|(is_set, _)| *is_set).fold(0, |bits, (_, bit)| bits | bit))
}

/// Returns where a bar stands, as a program with accessibility reads it.
pub fn level(widget: &Widget) -> Option<f32> {
    range(widget).map(|range| range.current)
}

/// Returns the range of a bar. A spinner that only turns has none.
fn range(widget: &Widget) -> Option<Range> {
    let at = widget.appearance.slider()?;
    let (min, max) = widget.range.unwrap_or(USUAL_RANGE);
    let exact = min + at.clamp(0.0, 1.0) * (max - min);
    let is_whole = (exact - exact.round()).abs() < WHOLE_WITHIN;
    match is_whole && !widget.class.ends_with("RatingBar") {
        true => Some(Range { kind: INTEGERS, min, max, current: exact.round() }),
        // Compose tells its sliders as a SeekBar with any value.
        false => Some(Range { kind: FLOATS, min, max, current: exact }),
    }
}

fn state(widget: &Widget, range: Option<Range>) -> Option<Arc<str>> {
    if let Some(range) = range {
        let part = (range.current - range.min) / (range.max - range.min).max(f32::MIN_POSITIVE);
        return Some(format!("{:.0}%", part * 100.0).into());
    }
    let checked = widget.flags.checked;
    match widget.appearance {
        Appearance::Switch => Some(if checked { "ON" } else { "OFF" }.into()),
        Appearance::CheckBox | Appearance::Radio => {
            Some(if checked { "checked" } else { "not checked" }.into())
        }
        Appearance::Spinner => Some("in progress".into()),
        _ => None,
    }
}

fn collection(widget: &Widget) -> Option<Collection> {
    let items = i32::try_from(widget.items?).unwrap_or(i32::MAX);
    let (rows, columns) = if widget.scrolls_sideways() { (1, items) } else { (items, 1) };
    Some(Collection { rows, columns, selection_mode: 0, hierarchical: false })
}

fn item(place: (u32, bool), widget: &Widget) -> CollectionItem {
    let at = i32::try_from(place.0).unwrap_or(i32::MAX);
    let (row, column) = if place.1 { (0, at) } else { (at, 0) };
    let selected = widget.flags.selected;
    CollectionItem { row, row_span: 1, column, column_span: 1, heading: false, selected }
}

fn actions(widget: &Widget, most: i32) -> Vec<NodeAction> {
    let flags = &widget.flags;
    let enabled = !flags.disabled;
    let all = [
        (flags.focusable && !flags.focused, action::FOCUS),
        (flags.clickable && enabled, action::CLICK),
        (flags.long_clickable && enabled, action::LONG_CLICK),
        (flags.scrollable && widget.scroll_px < most, action::SCROLL_FORWARD),
        (flags.scrollable && widget.scroll_px > 0, action::SCROLL_BACKWARD),
        (is_field(widget) && enabled, action::SET_TEXT),
        (widget.appearance.slider().is_some() && enabled, action::SET_PROGRESS),
    ];
    let named = |(_, id): &(bool, u32)| NodeAction { id: *id, label: Arc::default() };
    all.iter().filter(|(has, _)| *has).map(named).collect()
}
