//! A screen as text for an agent: one line for each element worth its attention, in document order.
//!
//! What may not enter: JSON, other captures except as earlier outlines, sending anything to a device.

mod changes;
mod facts;
mod folds;
mod line;
mod list;
mod page;

use std::fmt::Write;

use xxhash_rust::xxh3::xxh3_64;

use crate::identity::ElementId;
use crate::intent::actionable::inner_targets;
use crate::meaning::label::{self, Label, LabelSource};
use crate::meaning::role;
use crate::screen::element::{Element, Role};
use crate::screen::geometry::Rect;
use crate::screen::reading::ScreenReading;
use crate::screen::snapshot::Snapshot;

use line::LineText;

pub use changes::{Changes, changes};
pub use facts::{Fact, FactRecord, facts_of};
pub use list::{ListEnd, ListRead, ListReader, ReadList, Row, Way};
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
    /// Elements that the platform marks as not displayed.
    pub not_displayed: usize,
    /// Which line says what of each element.
    pub record: FactRecord,
}

/// Writes the outline. `ids` holds one id per element.
pub fn lines(reading: &ScreenReading, ids: &[ElementId], options: &OutlineOptions) -> Lines {
    let texts = label_texts(reading);
    let lines = write(reading, ids, options, &texts);
    // A text whose control has no line that says it has a line of its own (F87).
    let words = [Fact::Text, Fact::Description];
    let is_said = |text: &u32| words.iter().any(|fact| lines.record.line(*text as usize, *fact).is_some());
    if texts.iter().all(is_said) {
        return lines;
    }
    let said: Vec<u32> = texts.iter().copied().filter(is_said).collect();
    write(reading, ids, options, &said)
}

fn write(reading: &ScreenReading, ids: &[ElementId], options: &OutlineOptions, label_texts: &[u32]) -> Lines {
    let snapshot = &reading.snapshot;
    let range = match options.root {
        Some(root) if root < snapshot.elements.len() => reading.range(root as u32),
        Some(_) => 0..0,
        None => 0..snapshot.elements.len() as u32,
    };
    let hidden = snapshot.elements.iter().filter(|element| element.displayed == Some(false)).count();
    let total = snapshot.elements.len();
    let mut writer = Writer {
        snapshot,
        reading,
        ids,
        options,
        shared_ids: SharedIds::new(snapshot),
        label_texts,
        frames: Vec::new(),
        last_leaf: None,
        keyboard: None,
        out: Lines { total, not_displayed: hidden, record: FactRecord::new(total), ..Lines::default() },
    };
    for index in range {
        writer.element(index as usize);
    }
    writer.close_until(usize::MAX);
    writer.out
}

/// Returns the texts that are surely the label of a visible control, sorted by index.
fn label_texts(reading: &ScreenReading) -> Vec<u32> {
    let controls = reading.snapshot.elements.iter().enumerate().filter(|(index, element)| {
        element.role.is_control() && element.role != Role::Button && reading.nodes[*index].visible.is_some()
    });
    let mut texts = Vec::new();
    for (index, element) in controls {
        let Some(label) = label::label(&reading.snapshot, index) else { continue };
        texts.extend(label.from.filter(|_| label.sure));
        // A text before the control that repeats its name.
        let near = (index.saturating_sub(NAME_ELEMENTS_MAX)..index).map(|before| before as u32);
        texts.extend(near.filter(|before| {
            let text = reading.element(*before);
            text.parent == element.parent && label.sure && label::own_words(text) == Some(&*label.text)
        }));
    }
    texts.retain(|text| !reading.element(*text).is_tappable());
    texts.sort_unstable();
    texts.dedup();
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

/// Enclosing lines that are searched for something that they already say.
const FRAMES_SEARCHED_MAX: usize = 4;

/// An enclosing element that has a line.
struct Frame<'a> {
    index: usize,
    end: usize,
    /// Indentation of the lines inside it.
    indent: usize,
    kind: Kind,
    /// True if it is scrolled: hidden elements are counted on its line.
    scrolls: bool,
    label: Option<Label<'a>>,
    /// Index of its line.
    line: usize,
    hidden: Hidden,
    /// The control inside an element that carries its role and state.
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
    label_texts: &'a [u32],
    frames: Vec<Frame<'a>>,
    /// Bounds, words and line of the last tappable leaf: a sibling on top of it may repeat its words.
    last_leaf: Option<(Rect, &'a str, usize)>,
    keyboard: Option<folds::Keyboard>,
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
        let Some(rect) = self.rect(index) else {
            let shown = || label::own_words(element).map(|_| Kind::Shown);
            let kind = self.kind_by_use(index, element).or_else(shown);
            return kind.map_or((), |kind| self.count_hidden(element, kind));
        };
        if self.folds_into_group(index) {
            return;
        }
        let Some(kind) = self.kind(index, element) else { return };
        let label = label::label(snapshot, index).filter(|label| label.sure);
        let is_part = kind == Kind::Tappable && self.is_wrapper(index, rect, label.as_ref());
        if (is_part || self.repeats_its_control(index, label.as_ref())) && self.has_said_all(index) {
            return;
        }
        let carrier = role::carrier(snapshot, index);
        let indent = self.frames.last().map_or(0, |frame| frame.indent);
        let written = self.line(index, kind, label.as_ref(), carrier, rect);
        let line = self.push_line(index, indent, written, kind, label.as_ref(), carrier);
        self.last_leaf = None;
        if element.end as usize > index + 1 {
            let deeper = usize::from(matches!(kind, Kind::Tappable | Kind::Scrolls));
            self.frames.push(Frame {
                index,
                end: element.end as usize,
                indent: indent + deeper,
                kind,
                scrolls: kind == Kind::Scrolls || element.affordances.scrollable,
                label,
                line,
                hidden: Hidden::default(),
                carrier,
            });
        } else if kind == Kind::Tappable {
            self.last_leaf = label::own_words(element).map(|words| (rect, words, line));
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
        let inside = self.frames.iter_mut().rev().find(|frame| frame.scrolls);
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

    /// Returns the kind of a line that an element has for what can be done with it.
    fn kind_by_use(&self, index: usize, element: &Element) -> Option<Kind> {
        if element.is_tappable() {
            return Some(Kind::Tappable);
        }
        if element.affordances.scrollable || (element.role == Role::List && self.rows_shown(index) > 1) {
            return Some(Kind::Scrolls);
        }
        // A secret tells no words, but it tells that it is there (ST-07).
        let is_secret = element.password && element.end as usize <= index + 1;
        if element.role == Role::Progress
            || (is_secret && !element.role.is_control() && label::value(element).is_some())
        {
            return Some(Kind::Shown);
        }
        let owner = self.frames.iter().rev().find(|frame| frame.kind != Kind::Shown);
        let owner = owner.filter(|frame| !frame.scrolls);
        let is_part = owner.is_some_and(|owner| element.role == Role::Button || owner.carrier == Some(index));
        if element.role.is_control() && !is_part {
            return Some(Kind::Control);
        }
        if element.role == Role::WebView && element.end as usize <= index + 1 {
            return Some(Kind::Shown);
        }
        role::is_unnamed_slider(self.snapshot, index).then_some(Kind::Control)
    }

    /// Returns the kind of the element's line; `None` if other lines say everything that it tells.
    fn kind(&mut self, index: usize, element: &Element) -> Option<Kind> {
        if let Some(kind) = self.kind_by_use(index, element) {
            return Some(kind);
        }
        let said = self.has_said_all(index);
        self.out.folded += usize::from(said && label::own_words(element).is_some());
        (!said).then_some(Kind::Shown)
    }

    /// True if other lines say everything that the element tells. Each fact is noted on the line that says it.
    fn has_said_all(&mut self, index: usize) -> bool {
        let element = &self.snapshot.elements[index];
        let is_label = self.label_texts.binary_search(&(index as u32)).is_ok();
        let mut all = true;
        for fact in facts_of(element) {
            if self.out.record.line(index, fact).is_some() {
                continue;
            }
            // The line of the control that a text names comes later.
            let names = is_label && facts::words_of(element, fact) == label::own_words(element);
            match self.line_that_says(index, fact) {
                Some(line) => self.out.record.note(index, fact, line),
                None => all &= names,
            }
        }
        all
    }

    /// Finds a line that already says this fact of the element: one around it, or the last leaf under it.
    fn line_that_says(&self, index: usize, fact: Fact) -> Option<usize> {
        let element = &self.snapshot.elements[index];
        let mut frames = self.frames.iter().rev().take(FRAMES_SEARCHED_MAX);
        let Some(words) = facts::words_of(element, fact) else {
            // Android passes "selected" and "disabled" on to the elements inside.
            return frames.find_map(|frame| self.out.record.line(frame.index, fact));
        };
        if label::on_off(element).is_some() && fact != Fact::Hint {
            return self.out.record.line(index, Fact::Checked);
        }
        let around = frames.find(|frame| {
            let said = |text: &str| facts::says_printed(text, words, self.options.text_max_chars);
            let outer = &self.snapshot.elements[frame.index];
            let own = [Fact::Text, Fact::Description, Fact::Value];
            frame.label.as_ref().is_some_and(|label| said(&label.text))
                || own.into_iter().filter_map(|fact| facts::words_of(outer, fact)).any(said)
        });
        let leaf = || match (self.last_leaf, self.rect(index)) {
            (Some((leaf, leaf_words, line)), Some(rect)) => {
                (leaf_words == words && leaf.intersection(rect) == Some(rect)).then_some(line)
            }
            _ => None,
        };
        around.map(|frame| frame.line).or_else(leaf)
    }

    /// True for a tappable element that only wraps others: it has no name of its own, and another target covers its
    /// center, or it fills the screen. The texts inside must not become its label.
    fn is_wrapper(&self, index: usize, rect: Rect, label: Option<&Label<'_>>) -> bool {
        let element = &self.snapshot.elements[index];
        // A scroller that takes taps is something to use (F35).
        let named = label.is_some_and(|label| label.source != LabelSource::Descendants);
        if named || element.affordances.scrollable || element.role == Role::List {
            return false;
        }
        let inner = inner_targets(self.reading, index);
        let center = rect.center();
        let is_ground = !inner.is_empty() && label::is_ground(self.snapshot, index);
        inner.iter().any(|inner| inner.contains(center))
            || is_ground
            || (inner.len() > 1 && self.fills_screen(rect))
    }

    /// True for an iOS row with the same label as the only control inside it; the control's line is enough.
    fn repeats_its_control(&self, index: usize, label: Option<&Label<'_>>) -> bool {
        if self.snapshot.elements[index].role != Role::Row {
            return false;
        }
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

    /// Adds a line, and notes everything that it says. Returns its number; with a limited depth the line may be left
    /// out, and then the elements inside are too.
    fn push_line(
        &mut self,
        index: usize,
        indent: usize,
        written: LineText,
        kind: Kind,
        label: Option<&Label<'_>>,
        carrier: Option<usize>,
    ) -> usize {
        if indent > self.options.depth_max {
            self.out.too_deep += 1;
            return usize::MAX;
        }
        let line = self.out.lines.len();
        for fact in written.said {
            self.out.record.note(index, fact, line);
        }
        for (part, fact) in self.said_of_parts(index, label, carrier) {
            self.out.record.note(part, fact, line);
        }
        let id = self.ids.get(index).copied().unwrap_or(ElementId(0));
        let is_target = matches!(kind, Kind::Tappable | Kind::Control);
        let indent = indent.min(INDENT_MAX);
        self.out.lines.push(Line { index: index as u32, id, indent, text: written.text, is_target });
        line
    }

    /// Returns what a line says of other elements: of those whose words make its label or value, and of its carrier.
    fn said_of_parts(
        &self,
        index: usize,
        label: Option<&Label<'_>>,
        carrier: Option<usize>,
    ) -> Vec<(usize, Fact)> {
        let mut said = Vec::new();
        let element = &self.snapshot.elements[index];
        let mut words_of = |part: usize, words: &str| {
            let part_element = &self.snapshot.elements[part];
            let facts = [Fact::Text, Fact::Description];
            let is_said =
                |fact: &Fact| facts::words_of(part_element, *fact).is_some_and(|own| facts::says(words, own));
            said.extend(facts.into_iter().filter(is_said).map(|fact| (part, fact)));
        };
        if let Some(label) = label {
            if let Some(from) = label.from {
                words_of(from as usize, &label.text);
            }
            if label.source == LabelSource::Descendants {
                let covered = label::own_descendants(self.snapshot, index);
                for part in covered.take_while(|part| (*part as u32) < label.covers_until) {
                    words_of(part, &label.text);
                }
            } else if element.role.is_control() {
                // A text before the control that repeats its name.
                for part in index.saturating_sub(NAME_ELEMENTS_MAX)..index {
                    if label::own_words(&self.snapshot.elements[part]) == Some(&*label.text) {
                        words_of(part, &label.text);
                    }
                }
            }
        }
        if element.role == Role::Dropdown
            && let Some((choice, part)) = label::shown_inside(self.snapshot, index)
        {
            words_of(part, choice);
        }
        if let Some(carrier) = carrier {
            said.extend([Fact::Checked, Fact::Disabled].map(|fact| (carrier, fact)));
        }
        said
    }
}

#[cfg(test)]
mod tests;

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
