//! The tree of all windows, with what `uiautomator dump` leaves out.

use std::collections::HashMap;
use std::sync::Arc;

use super::number::{Broken, Reader, Writer};

/// Texts of one tree; a tree with more is refused.
const STRINGS_MAX: usize = 200_000;
/// Windows of one tree; a tree with more is refused.
const WINDOWS_MAX: usize = 100;
/// Nodes of one tree; a tree with more is refused.
pub const NODES_MAX: usize = 20_000;
/// Actions of one node; a tree with more is refused.
const ACTIONS_MAX: usize = 200;
const HASH_START: u64 = 0xcbf2_9ce4_8422_2325;
const HASH_FACTOR: u64 = 0x0000_0100_0000_01b3;
/// Bytes before those that the hash is of: `serial` and `uptime_ms`.
const UNHASHED_BYTES: usize = 12;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tree {
    /// Names this tree in later requests.
    pub serial: u32,
    pub uptime_ms: u64,
    pub width: u16,
    pub height: u16,
    /// Quarter turns, 0 to 3.
    pub rotation: u8,
    /// The activity in front as `package/class`; empty when the helper could not learn it.
    pub component: String,
    /// False when something was left out.
    pub complete: bool,
    /// In order of layer, the lowest first.
    pub windows: Vec<Window>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Window {
    pub id: i32,
    /// Android's number: 1 application, 2 input method, 3 system, 4 accessibility overlay, 5 split screen divider.
    pub kind: u32,
    pub layer: i32,
    pub flags: WindowFlags,
    pub title: Arc<str>,
    pub bounds: [i32; 4],
    /// The place of the parent window in the list.
    pub parent: Option<usize>,
    /// In document order; [`Node::children`] tells the shape.
    pub nodes: Vec<Node>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WindowFlags(pub u32);

impl WindowFlags {
    pub const ACTIVE: u32 = 1;
    pub const FOCUSED: u32 = 2;

    pub fn has(self, flag: u32) -> bool {
        self.0 & flag != 0
    }
}

/// Yes-or-no facts of a node, by the bits of the protocol.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Flags(pub u32);

impl Flags {
    pub const CHECKABLE: u32 = 1;
    pub const CHECKED: u32 = 1 << 1;
    pub const CLICKABLE: u32 = 1 << 2;
    pub const ENABLED: u32 = 1 << 3;
    pub const FOCUSABLE: u32 = 1 << 4;
    pub const FOCUSED: u32 = 1 << 5;
    pub const SCROLLABLE: u32 = 1 << 6;
    pub const LONG_CLICKABLE: u32 = 1 << 7;
    pub const PASSWORD: u32 = 1 << 8;
    pub const SELECTED: u32 = 1 << 9;
    pub const EDITABLE: u32 = 1 << 10;
    pub const HEADING: u32 = 1 << 11;
    pub const SHOWS_HINT: u32 = 1 << 12;
    pub const MULTI_LINE: u32 = 1 << 14;
    pub const CAN_OPEN_POPUP: u32 = 1 << 21;

    pub fn has(self, flag: u32) -> bool {
        self.0 & flag != 0
    }
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Node {
    pub flags: Flags,
    pub children: usize,
    pub class: Arc<str>,
    pub package: Arc<str>,
    pub id: Arc<str>,
    pub text: Arc<str>,
    pub description: Arc<str>,
    pub bounds: [i32; 4],
    pub drawing_order: u32,
    pub hint: Option<Arc<str>>,
    pub state_description: Option<Arc<str>>,
    pub role_description: Option<Arc<str>>,
    pub error: Option<Arc<str>>,
    pub pane_title: Option<Arc<str>>,
    pub tooltip: Option<Arc<str>>,
    pub range: Option<Range>,
    pub collection: Option<Collection>,
    pub item: Option<CollectionItem>,
    pub live_region: Option<u32>,
    pub input_type: Option<u32>,
    pub selection: Option<(i32, i32)>,
    pub actions: Vec<NodeAction>,
    /// The framework's number of the view, and of what it draws as a node of its own.
    pub source: Option<(u64, u64)>,
    pub container_title: Option<Arc<str>>,
    pub expanded_state: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    /// 0 integers, 1 floats, 2 percent, 3 unknown.
    pub kind: u32,
    pub min: f32,
    pub max: f32,
    pub current: f32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Collection {
    pub rows: i32,
    pub columns: i32,
    pub selection_mode: u32,
    pub hierarchical: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CollectionItem {
    pub row: i32,
    pub row_span: i32,
    pub column: i32,
    pub column_span: i32,
    pub heading: bool,
    pub selected: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeAction {
    pub id: u32,
    pub label: Arc<str>,
}

/// Texts of a tree, each written once.
struct Texts {
    places: HashMap<Arc<str>, u64>,
    all: Vec<Arc<str>>,
}

impl Texts {
    fn place(&mut self, text: &Arc<str>) -> u64 {
        if let Some(place) = self.places.get(text) {
            return *place;
        }
        let place = self.all.len() as u64;
        self.places.insert(text.clone(), place);
        self.all.push(text.clone());
        place
    }
}

impl Tree {
    /// Returns the bytes without a hash before them.
    pub fn encode(&self) -> Vec<u8> {
        let empty: Arc<str> = Arc::default();
        let mut texts = Texts { places: HashMap::from([(empty.clone(), 0)]), all: vec![empty] };
        let mut body = Writer::default();
        body.v(self.windows.len() as u64);
        for window in &self.windows {
            write_window(&mut body, &mut texts, window);
        }
        let mut writer = Writer::default();
        writer.u32(self.serial).u64(self.uptime_ms).u16(self.width).u16(self.height).u8(self.rotation);
        writer.text(&self.component).flag(self.complete).u32(texts.all.len() as u32);
        for text in &texts.all {
            writer.text(text);
        }
        writer.raw(&body.bytes);
        writer.bytes
    }

    /// The hash by which a client knows this tree again. Never 0.
    pub fn hash(&self) -> u64 {
        let bytes = self.encode();
        let hashed = bytes.get(UNHASHED_BYTES..).unwrap_or_default();
        let mix = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(HASH_FACTOR);
        hashed.iter().fold(HASH_START, mix).max(1)
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Tree, Broken> {
        let mut tree = Tree {
            serial: reader.u32()?,
            uptime_ms: reader.u64()?,
            width: reader.u16()?,
            height: reader.u16()?,
            rotation: reader.u8()? & 3,
            component: reader.text()?,
            complete: reader.flag()?,
            windows: Vec::new(),
        };
        let count = reader.u32()? as usize;
        let count = reader.at_most(count, STRINGS_MAX)?;
        let texts =
            (0..count).map(|_| Ok(reader.text()?.into())).collect::<Result<Vec<Arc<str>>, Broken>>()?;
        let windows = reader.count(WINDOWS_MAX)?;
        let mut nodes_left = NODES_MAX;
        for _ in 0..windows {
            let window = read_window(reader, &texts, nodes_left)?;
            nodes_left = nodes_left.saturating_sub(window.nodes.len());
            tree.windows.push(window);
        }
        Ok(tree)
    }
}

fn write_window(writer: &mut Writer, texts: &mut Texts, window: &Window) {
    let title = texts.place(&window.title);
    writer.z(window.id).v(window.kind.into()).z(window.layer).v(window.flags.0.into()).v(title);
    for side in window.bounds {
        writer.z(side);
    }
    writer.v(window.parent.map_or(0, |parent| parent as u64 + 1)).v(window.nodes.len() as u64);
    for node in &window.nodes {
        write_node(writer, texts, node);
    }
}

fn read_window(reader: &mut Reader<'_>, texts: &[Arc<str>], nodes_max: usize) -> Result<Window, Broken> {
    let mut window = Window {
        id: reader.z()?,
        kind: reader.v32()?,
        layer: reader.z()?,
        flags: WindowFlags(reader.v32()?),
        title: text(reader, texts)?,
        bounds: bounds(reader)?,
        parent: usize::try_from(reader.v()?).unwrap_or_default().checked_sub(1),
        nodes: Vec::new(),
    };
    let count = reader.count(nodes_max)?;
    window.nodes = (0..count).map(|_| read_node(reader, texts)).collect::<Result<_, Broken>>()?;
    check_shape(&window.nodes)?;
    Ok(window)
}

/// Every node has as many nodes after it as it and those before it promise, and no more.
fn check_shape(nodes: &[Node]) -> Result<(), Broken> {
    let mut awaited = usize::from(!nodes.is_empty());
    for node in nodes {
        awaited = awaited.checked_sub(1).ok_or(Broken("a node belongs to no parent"))?;
        awaited = awaited.checked_add(node.children).ok_or(Broken("a node has too many children"))?;
    }
    if awaited == 0 { Ok(()) } else { Err(Broken("children are missing")) }
}

fn write_node(writer: &mut Writer, texts: &mut Texts, node: &Node) {
    writer.v(node.flags.0.into()).v(node.children as u64);
    for text in [&node.class, &node.package, &node.id, &node.text, &node.description] {
        writer.v(texts.place(text));
    }
    for side in node.bounds {
        writer.z(side);
    }
    writer.v(node.drawing_order.into()).v(extras(node));
    let first = [
        &node.hint,
        &node.state_description,
        &node.role_description,
        &node.error,
        &node.pane_title,
        &node.tooltip,
    ];
    for text in first.into_iter().flatten() {
        writer.v(texts.place(text));
    }
    if let Some(range) = node.range {
        writer.v(range.kind.into()).f32(range.min).f32(range.max).f32(range.current);
    }
    if let Some(collection) = node.collection {
        writer.z(collection.rows).z(collection.columns);
        writer.v(collection.selection_mode.into()).v(collection.hierarchical.into());
    }
    if let Some(item) = node.item {
        writer.z(item.row).z(item.row_span).z(item.column).z(item.column_span);
        writer.v(item.heading.into()).v(item.selected.into());
    }
    for number in [node.live_region, node.input_type].into_iter().flatten() {
        writer.v(number.into());
    }
    if let Some((start, end)) = node.selection {
        writer.z(start).z(end);
    }
    if !node.actions.is_empty() {
        writer.v(node.actions.len() as u64);
        for action in &node.actions {
            writer.v(action.id.into()).v(texts.place(&action.label));
        }
    }
    if let Some((high, low)) = node.source {
        writer.v(high).v(low);
    }
    if let Some(title) = &node.container_title {
        writer.v(texts.place(title));
    }
    if let Some(state) = node.expanded_state {
        writer.v(state.into());
    }
}

/// Which of the facts that most nodes lack are there, by the bits of the protocol.
fn extras(node: &Node) -> u64 {
    let there = [
        node.hint.is_some(),
        node.state_description.is_some(),
        node.role_description.is_some(),
        node.error.is_some(),
        node.pane_title.is_some(),
        node.tooltip.is_some(),
        node.range.is_some(),
        node.collection.is_some(),
        node.item.is_some(),
        node.live_region.is_some(),
        node.input_type.is_some(),
        node.selection.is_some(),
        !node.actions.is_empty(),
        node.source.is_some(),
        node.container_title.is_some(),
        node.expanded_state.is_some(),
    ];
    there.iter().rev().fold(0, |bits, is_there| bits << 1 | u64::from(*is_there))
}

fn read_node(reader: &mut Reader<'_>, texts: &[Arc<str>]) -> Result<Node, Broken> {
    let mut node = Node {
        flags: Flags(reader.v32()?),
        children: usize::try_from(reader.v()?).unwrap_or(usize::MAX),
        class: text(reader, texts)?,
        package: text(reader, texts)?,
        id: text(reader, texts)?,
        text: text(reader, texts)?,
        description: text(reader, texts)?,
        bounds: bounds(reader)?,
        drawing_order: reader.v32()?,
        ..Node::default()
    };
    let extras = reader.v()?;
    if extras >> 16 != 0 {
        return Err(Broken("a node has facts of another version"));
    }
    let has = |bit: u32| extras >> bit & 1 == 1;
    node.hint = has(0).then(|| text(reader, texts)).transpose()?;
    node.state_description = has(1).then(|| text(reader, texts)).transpose()?;
    node.role_description = has(2).then(|| text(reader, texts)).transpose()?;
    node.error = has(3).then(|| text(reader, texts)).transpose()?;
    node.pane_title = has(4).then(|| text(reader, texts)).transpose()?;
    node.tooltip = has(5).then(|| text(reader, texts)).transpose()?;
    node.range = has(6).then(|| read_range(reader)).transpose()?;
    node.collection = has(7).then(|| read_collection(reader)).transpose()?;
    node.item = has(8).then(|| read_item(reader)).transpose()?;
    node.live_region = has(9).then(|| reader.v32()).transpose()?;
    node.input_type = has(10).then(|| reader.v32()).transpose()?;
    node.selection = has(11).then(|| Ok::<_, Broken>((reader.z()?, reader.z()?))).transpose()?;
    if has(12) {
        let count = reader.count(ACTIONS_MAX)?;
        let action = |_| Ok(NodeAction { id: reader.v32()?, label: text(reader, texts)? });
        node.actions = (0..count).map(action).collect::<Result<_, Broken>>()?;
    }
    node.source = has(13).then(|| Ok::<_, Broken>((reader.v()?, reader.v()?))).transpose()?;
    node.container_title = has(14).then(|| text(reader, texts)).transpose()?;
    node.expanded_state = has(15).then(|| reader.v32()).transpose()?;
    Ok(node)
}

fn text(reader: &mut Reader<'_>, texts: &[Arc<str>]) -> Result<Arc<str>, Broken> {
    let place = usize::try_from(reader.v()?).unwrap_or(usize::MAX);
    texts.get(place).cloned().ok_or(Broken("a node names a text that is not there"))
}

fn bounds(reader: &mut Reader<'_>) -> Result<[i32; 4], Broken> {
    Ok([reader.z()?, reader.z()?, reader.z()?, reader.z()?])
}

fn read_range(reader: &mut Reader<'_>) -> Result<Range, Broken> {
    Ok(Range { kind: reader.v32()?, min: reader.f32()?, max: reader.f32()?, current: reader.f32()? })
}

fn read_collection(reader: &mut Reader<'_>) -> Result<Collection, Broken> {
    Ok(Collection {
        rows: reader.z()?,
        columns: reader.z()?,
        selection_mode: reader.v32()?,
        hierarchical: reader.v()? != 0,
    })
}

fn read_item(reader: &mut Reader<'_>) -> Result<CollectionItem, Broken> {
    Ok(CollectionItem {
        row: reader.z()?,
        row_span: reader.z()?,
        column: reader.z()?,
        column_span: reader.z()?,
        heading: reader.v()? != 0,
        selected: reader.v()? != 0,
    })
}
