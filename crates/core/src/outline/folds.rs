//! Elements that are one thing for a reader, and have one line together: keyboards, scroll bars, bars of buttons (F36).

use std::fmt::Write as _;

use super::{ElementId, Line, Writer, facts_of};
use crate::screen::element::{Element, Role};
use crate::screen::snapshot::Platform;

/// A line that stands for the keys of a keyboard.
pub(super) struct Keyboard {
    line: usize,
    /// The element that holds the keys or the rows of keys.
    around: u32,
    keys: usize,
}

/// Elements of a bar that are searched for a button.
const BAR_ELEMENTS_MAX: usize = 64;
/// A longer value is no position.
const POSITION_BYTES_MAX: usize = 8;

impl Writer<'_> {
    /// True if the element has no line of its own, because it is part of a keyboard or is a scroll bar. Its facts are
    /// noted on the line that stands for it.
    pub(super) fn folds_into_group(&mut self, index: usize) -> bool {
        let element = &self.snapshot.elements[index];
        let line = match element.role {
            Role::Key => Some(self.keyboard_line(index, element)),
            _ => self.scroll_bar_line(index).or_else(|| self.line_of_first_in_bar(index)),
        };
        if let Some(line) = line {
            if element.value.is_some() && element.role != Role::Key {
                self.push_position(line, element);
            }
            for fact in facts_of(element) {
                self.out.record.note(index, fact, line);
            }
        }
        line.is_some()
    }

    /// Writes the position of a scroll bar on the line of what it scrolls.
    fn push_position(&mut self, line: usize, bar: &Element) {
        let (Some(line), Some(value)) = (self.out.lines.get_mut(line), bar.value.as_deref()) else { return };
        let position = format!(" at {}", value.trim());
        if value.len() <= POSITION_BYTES_MAX && !line.text.ends_with(&position) {
            line.text.push_str(&position);
        }
    }

    /// Counts a key on the line of its keyboard. Rows of keys in one element are one keyboard.
    fn keyboard_line(&mut self, index: usize, element: &Element) -> usize {
        let parent = element.parent.unwrap_or(index as u32);
        let above = self.snapshot.elements.get(parent as usize).and_then(|parent| parent.parent);
        let known =
            self.keyboard.as_mut().filter(|known| known.around == parent || Some(known.around) == above);
        if let Some(known) = known {
            known.keys += 1;
            let (line, keys) = (known.line, known.keys);
            if let Some(line) = self.out.lines.get_mut(line) {
                line.text.clear();
                let _ = write!(line.text, "keyboard ({keys} keys)");
            }
            return line;
        }
        let line = self.out.lines.len();
        let rows = self.snapshot.platform == Platform::Android;
        let around = above.filter(|_| rows).unwrap_or(parent);
        self.keyboard = Some(Keyboard { line, around, keys: 1 });
        let id = self.ids.get(around as usize).copied().unwrap_or(ElementId(0));
        let text = "keyboard (1 key)".to_owned();
        self.out.lines.push(Line { index: around, id, indent: 0, text, is_target: false });
        line
    }

    /// Returns the number that the line of the first button in a bar will have. iOS names its bars itself ("Tab Bar"),
    /// which tells no more than the buttons in it.
    fn line_of_first_in_bar(&self, index: usize) -> Option<usize> {
        let element = &self.snapshot.elements[index];
        let is_bar = element.class.ends_with("TabBar") || element.class.ends_with("Toolbar");
        let plain = element.role == Role::Container && element.value.is_none() && !element.is_tappable();
        if self.snapshot.platform != Platform::Ios || !is_bar || !plain {
            return None;
        }
        let inside = self.reading.range(index as u32).skip(1).take(BAR_ELEMENTS_MAX);
        let mut buttons = inside.filter(|inner| self.reading.element(*inner).is_tappable());
        let is_shown = buttons.any(|button| self.rect(button as usize).is_some());
        is_shown.then_some(self.out.lines.len())
    }

    /// Returns the line of the scroll container whose scroll bar the element is. iOS lists scroll bars as thin elements
    /// along an edge of the container, with the position as their value.
    fn scroll_bar_line(&self, index: usize) -> Option<usize> {
        let element = &self.snapshot.elements[index];
        let frame = self.frames.last().filter(|frame| frame.scrolls)?;
        let is_child = element.parent == Some(frame.index as u32);
        let is_leaf = element.end as usize <= index + 1;
        if self.snapshot.platform != Platform::Ios || !is_child || !is_leaf || !element.is_scroll_bar() {
            return None;
        }
        let (bar, around) = (element.bounds, self.snapshot.elements[frame.index].bounds);
        let along = bar.height() * 2 > around.height() || bar.width() * 2 > around.width();
        along.then_some(frame.line)
    }
}
