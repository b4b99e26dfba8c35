//! A screen as text for an agent: one line for each element worth its attention, in document order.
//!
//! What may not enter: JSON, other captures except as earlier outlines, sending anything to a device.

mod changes;
mod line;
mod page;

use std::fmt::Write;

use xxhash_rust::xxh3::xxh3_64;

use crate::identity::ElementId;
use crate::intent::actionable::inner_targets;
use crate::meaning::label::{self, Label, LabelSource};
use crate::meaning::semantics::{self, ControlKind};
use crate::screen::element::{Element, Role};
use crate::screen::geometry::Rect;
use crate::screen::reading::ScreenReading;
use crate::screen::snapshot::Snapshot;

pub use changes::{Changes, changes};
pub use page::{Page, page};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutlineOptions {
    /// Limit for one text from the device.
    pub text_max_chars: usize,
    /// Appends the tap point: ` @x,y`.
    pub points: bool,
    /// Appends the developer's identifier even if the element has a label.
    pub stable_ids: bool,
    /// Lines with a deeper indentation are left out.
    pub depth_max: usize,
    /// Limits the outline to this element and its descendants.
    pub root: Option<usize>,
}

impl Default for OutlineOptions {
    fn default() -> OutlineOptions {
        OutlineOptions {
            text_max_chars: 160,
            points: false,
            stable_ids: false,
            depth_max: usize::MAX,
            root: None,
        }
    }
}

/// The line of one element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    pub index: u32,
    pub id: ElementId,
    pub indent: usize,
    /// The line without id and indentation.
    pub text: String,
    /// True for elements to act on, false for elements to read.
    pub is_target: bool,
}

impl Line {
    /// Appends the whole line with indentation, id and newline.
    pub fn push_to(&self, out: &mut String) {
        for _ in 0..self.indent {
            out.push_str("  ");
        }
        let _ = writeln!(out, "{} {}", self.id, self.text);
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lines {
    pub lines: Vec<Line>,
    /// Elements in the snapshot.
    pub total: usize,
    /// Elements without a line because they are off the screen.
    pub off_screen: usize,
    /// Lines left out because of `depth_max`.
    pub too_deep: usize,
    /// Elements whose words are part of another element's line.
    pub folded: usize,
}

/// Writes the outline. `ids` holds one id per element.
pub fn lines(reading: &ScreenReading, ids: &[ElementId], options: &OutlineOptions) -> Lines {
    let snapshot = &reading.snapshot;
    let range = match options.root {
        Some(root) if root < snapshot.elements.len() => reading.range(root as u32),
        Some(_) => 0..0,
        None => 0..snapshot.elements.len() as u32,
    };
    let mut writer = Writer {
        snapshot,
        reading,
        ids,
        options,
        shared_ids: SharedIds::new(snapshot),
        label_texts: label_texts(reading),
        frames: Vec::new(),
        last_leaf: None,
        out: Lines { total: snapshot.elements.len(), ..Lines::default() },
    };
    for index in range {
        writer.element(index as usize);
    }
    writer.close_until(usize::MAX);
    writer.out
}

/// Returns the texts that are the label of a visible control, sorted by index.
fn label_texts(reading: &ScreenReading) -> Vec<u32> {
    let controls = reading.snapshot.elements.iter().enumerate().filter(|(index, element)| {
        element.role.is_control() && element.role != Role::Button && reading.nodes[*index].visible.is_some()
    });
    let mut texts = Vec::new();
    for (index, element) in controls {
        let Some(label) = label::label(&reading.snapshot, index) else { continue };
        texts.extend(label.from);
        if element.role == Role::Dropdown && label.source == LabelSource::Descendants {
            texts.extend(label::sibling(&reading.snapshot, index).map(|name| name.index));
        }
        // A text before the control that repeats its name.
        let near = (index.saturating_sub(NAME_ELEMENTS_MAX)..index).map(|before| before as u32);
        texts.extend(near.filter(|before| {
            let text = reading.element(*before);
            text.parent == element.parent && label::own_words(text) == Some(&*label.text)
        }));
    }
    texts.retain(|text| !reading.element(*text).is_tappable());
    texts.sort_unstable();
    texts
}

/// Elements before a control that are checked for a text with the control's name.
const NAME_ELEMENTS_MAX: usize = 3;

/// Writes every line of a single capture, with ids in document order.
pub fn text(reading: &ScreenReading, options: &OutlineOptions) -> String {
    let ids: Vec<ElementId> = (1..=reading.nodes.len() as u32).map(ElementId).collect();
    let mut text = String::new();
    for line in lines(reading, &ids, options).lines {
        line.push_to(&mut text);
    }
    text
}

/// Deeper lines are not indented further, to save tokens.
const INDENT_MAX: usize = 6;

/// Elements of a row that are searched for its controls.
const ROW_ELEMENTS_MAX: usize = 24;

/// Enclosing lines that are searched for a repeated text.
const FRAMES_SEARCHED_MAX: usize = 4;

/// Longer labels are not searched: a hostile screen could put thousands of texts inside one.
const SEARCHED_LABEL_BYTES_MAX: usize = 2000;

/// An enclosing element that has a line.
struct Frame<'a> {
    end: usize,
    /// Indentation of the lines inside it.
    indent: usize,
    kind: Kind,
    label: Option<Label<'a>>,
    /// Index of its line.
    line: usize,
    hidden: Hidden,
    /// The control inside a tappable element that carries its role and state.
    carrier: Option<usize>,
}

/// Counts of a scroll container's elements that lie outside its visible part.
#[derive(Clone, Copy, Default)]
struct Hidden {
    before: usize,
    after: usize,
    sideways: bool,
}

struct Writer<'a> {
    snapshot: &'a Snapshot,
    reading: &'a ScreenReading,
    ids: &'a [ElementId],
    options: &'a OutlineOptions,
    shared_ids: SharedIds,
    /// Texts that are the label of a control, sorted by index.
    label_texts: Vec<u32>,
    frames: Vec<Frame<'a>>,
    /// Bounds and words of the last tappable leaf: a sibling on top of it may repeat its words.
    last_leaf: Option<(Rect, &'a str)>,
    out: Lines,
}

/// Why an element has a line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Tappable,
    /// A control whose node is not marked clickable.
    Control,
    Scrolls,
    Shown,
}

impl<'a> Writer<'a> {
    fn element(&mut self, index: usize) {
        self.close_until(index);
        let snapshot = self.snapshot;
        let element = &snapshot.elements[index];
        let Some(kind) = self.kind(index, element) else { return };
        let Some(rect) = self.rect(index) else { return self.count_hidden(element, kind) };
        let label = label::label(snapshot, index);
        if kind == Kind::Tappable && self.is_wrapper(index, rect, label.as_ref()) {
            return;
        }
        if element.role == Role::Row && self.repeats_its_control(index, label.as_ref()) {
            return;
        }
        let carrier = (kind == Kind::Tappable).then(|| carrier(snapshot, index)).flatten();
        let indent = self.frames.last().map_or(0, |frame| frame.indent);
        let text = self.line(index, kind, label.as_ref(), carrier, rect);
        self.push_line(index, indent, text, kind);
        self.last_leaf = None;
        if element.end as usize > index + 1 {
            let deeper = usize::from(matches!(kind, Kind::Tappable | Kind::Scrolls));
            self.frames.push(Frame {
                end: element.end as usize,
                indent: indent + deeper,
                kind,
                label,
                line: self.out.lines.len().wrapping_sub(1),
                hidden: Hidden::default(),
                carrier,
            });
        } else if kind == Kind::Tappable {
            self.last_leaf = label::own_words(element).map(|words| (rect, words));
        }
    }

    fn rect(&self, index: usize) -> Option<Rect> {
        self.reading.nodes[index].visible
    }

    /// Closes the enclosing elements that end before `index`, and appends the hidden counts to the lines of lists.
    fn close_until(&mut self, index: usize) {
        while let Some(frame) = self.frames.pop_if(|frame| frame.end <= index) {
            let Hidden { before, after, sideways } = frame.hidden;
            let Some(line) = self.out.lines.get_mut(frame.line) else { continue };
            let (start, end) = if sideways { ("left", "right") } else { ("above", "below") };
            for (count, side) in [(before, start), (after, end)] {
                if count > 0 {
                    let _ = write!(line.text, ", {count} more {side}");
                }
            }
        }
    }

    /// Counts an off-screen element on the side of the enclosing list where it lies.
    fn count_hidden(&mut self, element: &Element, kind: Kind) {
        self.out.off_screen += 1;
        let snapshot = self.snapshot;
        let inside = self.frames.iter_mut().rev().find(|frame| frame.kind == Kind::Scrolls);
        let Some(frame) = inside.filter(|_| kind == Kind::Tappable) else { return };
        let Some(line) = self.out.lines.get(frame.line) else { return };
        let list = snapshot.elements[line.index as usize].bounds;
        let at = element.bounds;
        if at.top >= list.bottom || at.bottom <= list.top {
            let count =
                if at.top >= list.bottom { &mut frame.hidden.after } else { &mut frame.hidden.before };
            *count += 1;
        } else if at.left >= list.right || at.right <= list.left {
            frame.hidden.sideways = true;
            let count =
                if at.left >= list.right { &mut frame.hidden.after } else { &mut frame.hidden.before };
            *count += 1;
        }
    }

    fn kind(&mut self, index: usize, element: &Element) -> Option<Kind> {
        if element.is_tappable() {
            return Some(Kind::Tappable);
        }
        if element.affordances.scrollable || (element.role == Role::List && self.rows_shown(index) > 1) {
            return Some(Kind::Scrolls);
        }
        if element.role == Role::Progress {
            return Some(Kind::Shown);
        }
        let enclosing =
            self.frames.iter().rev().find(|frame| matches!(frame.kind, Kind::Tappable | Kind::Scrolls));
        let owner = enclosing.filter(|frame| frame.kind == Kind::Tappable);
        let is_part_of_owner =
            owner.is_some_and(|owner| element.role == Role::Button || owner.carrier == Some(index));
        if element.role.is_control() && !is_part_of_owner {
            return Some(Kind::Control);
        }
        if element.role == Role::WebView && element.end as usize <= index + 1 {
            return Some(Kind::Shown);
        }
        if self.is_unnamed_slider(index) {
            return Some(Kind::Control);
        }
        let words = label::own_words(element).filter(|words| !is_separator(words))?;
        let repeated =
            self.label_texts.binary_search(&(index as u32)).is_ok() || self.is_repeated(index, words);
        self.out.folded += usize::from(repeated);
        (!repeated).then_some(Kind::Shown)
    }

    /// True for a slider without a role, recognised only by its shape and value (AC-08).
    fn is_unnamed_slider(&self, index: usize) -> bool {
        let element = &self.snapshot.elements[index];
        let has_no_role =
            matches!(element.role, Role::Unknown | Role::Container) && element.affordances.focusable;
        let control = has_no_role.then(|| semantics::control(self.snapshot, index)).flatten();
        control.is_some_and(|control| {
            matches!(control.kind, ControlKind::Slider | ControlKind::CustomAdjustable)
        })
    }

    /// True if an enclosing line or the last tappable leaf already has these words.
    fn is_repeated(&self, index: usize, words: &str) -> bool {
        let on_last_leaf = || match (self.last_leaf, self.rect(index)) {
            (Some((leaf, leaf_words)), Some(rect)) => {
                leaf_words == words && leaf.intersection(rect) == Some(rect)
            }
            _ => false,
        };
        let mut labels =
            self.frames.iter().rev().take(FRAMES_SEARCHED_MAX).filter_map(|frame| frame.label.as_ref());
        labels.any(|label| {
            let joined_in = label.source == LabelSource::Descendants && (index as u32) < label.covers_until;
            joined_in || (label.text.len() <= SEARCHED_LABEL_BYTES_MAX && contains_words(&label.text, words))
        }) || on_last_leaf()
    }

    /// True for a tappable element that only wraps others: it has no name of its own, and another target covers its
    /// center, or it fills the screen. The texts inside must not become its label.
    fn is_wrapper(&self, index: usize, rect: Rect, label: Option<&Label<'_>>) -> bool {
        if label.is_some_and(|label| label.source != LabelSource::Descendants) {
            return false;
        }
        let inner = inner_targets(self.reading, index);
        let center = rect.center();
        inner.iter().any(|inner| inner.contains(center)) || (inner.len() > 1 && self.fills_screen(rect))
    }

    /// True for an iOS row with the same label as the only control inside it; the control's line is enough.
    fn repeats_its_control(&self, index: usize, label: Option<&Label<'_>>) -> bool {
        let inside = self.reading.range(index as u32).skip(1).take(ROW_ELEMENTS_MAX);
        let mut targets = inside.filter(|inner| self.reading.element(*inner).is_tappable());
        let (Some(control), None) = (targets.next(), targets.next()) else { return false };
        let control_label = label::label(self.snapshot, control as usize);
        control_label.is_some() && control_label.map(|l| l.text) == label.map(|l| l.text.clone())
    }

    /// True if the rectangle covers the screen except for the bars at its edges.
    fn fills_screen(&self, rect: Rect) -> bool {
        let area = |rect: Rect| i64::from(rect.width()) * i64::from(rect.height());
        let screen = self.snapshot.size.rect();
        let root = self.reading.nodes.first().and_then(|node| node.visible).unwrap_or(rect);
        area(rect) / 8 >= area(if screen.is_empty() { root } else { screen }) / 10
    }

    fn rows_shown(&self, index: usize) -> usize {
        self.snapshot.children(index).filter(|&child| self.rect(child).is_some()).count()
    }

    fn push_line(&mut self, index: usize, indent: usize, text: String, kind: Kind) {
        if indent > self.options.depth_max {
            self.out.too_deep += 1;
            return;
        }
        let id = self.ids.get(index).copied().unwrap_or(ElementId(0));
        let is_target = matches!(kind, Kind::Tappable | Kind::Control);
        let indent = indent.min(INDENT_MAX);
        self.out.lines.push(Line { index: index as u32, id, indent, text, is_target });
    }
}

/// Returns the non-tappable switch or check box that a tappable row operates. Compose also puts the role of a control
/// into a child without text.
fn carrier(snapshot: &Snapshot, index: usize) -> Option<usize> {
    if !matches!(snapshot.elements[index].role, Role::Button | Role::Checkbox) {
        return None;
    }
    let mut controls = label::own_descendants(snapshot, index).filter(|&inner| {
        let role = snapshot.elements[inner].role;
        role.is_control() && role != Role::Button
    });
    let first = controls.next()?;
    controls.next().is_none().then_some(first)
}

/// True for a mark that separates two texts.
fn is_separator(words: &str) -> bool {
    matches!(words, "•" | "·" | "∙" | "‧" | "|" | "/" | ",")
}

/// True if `text` contains `words` as whole words.
fn contains_words(text: &str, words: &str) -> bool {
    let is_word = |neighbour: Option<char>| neighbour.is_some_and(char::is_alphanumeric);
    text.match_indices(words).any(|(at, _)| {
        !is_word(text[..at].chars().next_back()) && !is_word(text[at + words.len()..].chars().next())
    })
}

/// Sorted hashes of identifiers that more than one element has.
struct SharedIds(Vec<u64>);

impl SharedIds {
    fn new(snapshot: &Snapshot) -> SharedIds {
        let ids = snapshot.elements.iter().filter_map(|element| element.stable_id.as_deref());
        let mut hashes: Vec<u64> = ids.map(|id| xxh3_64(id.as_bytes())).collect();
        hashes.sort_unstable();
        let mut shared: Vec<u64> =
            hashes.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
        shared.dedup();
        SharedIds(shared)
    }

    fn is_shared(&self, id: &str) -> bool {
        self.0.binary_search(&xxh3_64(id.as_bytes())).is_ok()
    }
}
