//! The elements of a snapshot while they are being read.

use std::sync::Arc;

use super::{Limits, role};
use mdm_core::screen::element::{Element, Role};
use mdm_core::screen::geometry::Size;
use mdm_core::screen::snapshot::{Defect, DefectKind, Platform, Screen, Snapshot};

use super::names::Names;
use super::raw_node::RawNode;
use super::text::Faults;

pub(super) struct Arena<'l> {
    pub limits: &'l Limits,
    elements_max: usize,
    snapshot: Snapshot,
    names: Names,
    /// One defect is enough for all that is too deep.
    depth_said: bool,
    /// Bytes were left out on purpose, so that they end early is no news.
    bytes_left_out: bool,
}

/// How far into a button the number that it shows is looked for, in elements.
const BUTTON_REACH: usize = 16;

impl<'l> Arena<'l> {
    pub fn new(limits: &'l Limits, bytes: usize) -> Arena<'l> {
        Arena {
            limits,
            elements_max: limits.elements_max_for(bytes),
            snapshot: Snapshot { platform: Platform::Ios, ..Snapshot::default() },
            names: Names::default(),
            depth_said: false,
            bytes_left_out: false,
        }
    }

    pub fn leave_out_bytes(&mut self, read: usize, all: usize) {
        self.bytes_left_out = true;
        self.defect(
            DefectKind::LimitReached,
            read,
            format!("only the first {read} of {all} bytes were read"),
        );
    }

    pub fn truncated(&mut self, offset: usize) {
        if !self.bytes_left_out {
            self.defect(DefectKind::Truncated, offset, "the tree ends before it is complete");
        }
    }

    /// A place in document order, before it is known what the element says. `None` when there may be no more of them,
    /// and then a defect says so.
    pub fn open(&mut self, parent: Option<u32>, offset: usize) -> Option<u32> {
        let index = self.snapshot.elements.len();
        if index >= self.elements_max {
            let detail = format!("more than {} elements", self.elements_max);
            self.defect(DefectKind::LimitReached, offset, detail);
            return None;
        }
        let index = u32::try_from(index).ok()?;
        let above = parent.and_then(|parent| self.snapshot.elements.get(parent as usize));
        let depth = above.map_or(0, |above| above.depth.saturating_add(1));
        self.snapshot.elements.push(Element { parent, end: index + 1, depth, ..Element::default() });
        Some(index)
    }

    /// Whether an element with this parent would be too deep; a defect says so once.
    pub fn is_too_deep(&mut self, parent: Option<u32>, offset: usize) -> bool {
        let above = parent.and_then(|parent| self.snapshot.elements.get(parent as usize));
        let too_deep = above.is_some_and(|above| usize::from(above.depth) + 1 >= self.limits.depth_max);
        if too_deep {
            self.left_out_below(offset);
        }
        too_deep
    }

    pub fn left_out_below(&mut self, offset: usize) {
        if !std::mem::replace(&mut self.depth_said, true) {
            let detail = format!("more than {} levels: deeper elements were left out", self.limits.depth_max);
            self.defect(DefectKind::LimitReached, offset, detail);
        }
    }

    pub fn fill(&mut self, index: u32, said: &RawNode<'_>) {
        let mut faults = Faults::default();
        let read = said.element(&mut self.names, self.limits.value_bytes_max, &mut faults);
        if let Some(element) = self.snapshot.elements.get_mut(index as usize) {
            let (parent, end, depth) = (element.parent, element.end, element.depth);
            *element = Element { parent, end, depth, ..read };
        }
        self.note_faults(said, faults);
    }

    pub fn close(&mut self, index: u32) {
        let end = u32::try_from(self.snapshot.elements.len()).unwrap_or(u32::MAX);
        if let Some(element) = self.snapshot.elements.get_mut(index as usize) {
            element.end = end;
            self.unselect_counts(index as usize);
        }
    }

    /// A button's value "1" means selected, unless it is the number that the button shows: a badge, a count of tabs.
    fn unselect_counts(&mut self, index: usize) {
        let Some((button, inside)) = self.snapshot.elements[index..].split_first_mut() else { return };
        let by_value = button.role == Role::Button
            && button.state.selected == Some(true)
            && button.value.as_deref() == Some("1");
        let shown = |element: &Element| element.text.as_deref() == Some("1");
        if by_value && inside.iter().take(BUTTON_REACH).any(shown) {
            button.state.selected = None;
        }
    }

    /// Takes a place back that nothing was put into.
    pub fn forget_last(&mut self, index: u32) {
        if index as usize + 1 == self.snapshot.elements.len() {
            self.snapshot.elements.pop();
        }
    }

    pub fn set_size(&mut self, width: f64, height: f64) {
        // Saturating, and a NaN is 0: a screen of unknown size.
        self.snapshot.size = Size { width: width.round() as u32, height: height.round() as u32 };
    }

    /// The first defect of each kind that loses elements is kept in any case: absence hangs on it.
    pub fn defect(&mut self, kind: DefectKind, offset: usize, detail: impl Into<String>) {
        let defects = &mut self.snapshot.defects;
        let must_keep = kind.loses_elements() && !defects.iter().any(|defect| defect.kind == kind);
        if defects.len() < self.limits.defects_max || must_keep {
            defects.push(Defect { kind, offset, detail: detail.into() });
        }
    }

    pub fn defects_len(&self) -> usize {
        self.snapshot.defects.len()
    }

    /// For a tree inside a text: its offsets become those of the answer.
    pub fn move_defects(&mut self, first: usize, to: impl Fn(usize) -> usize) {
        for defect in self.snapshot.defects.iter_mut().skip(first) {
            defect.offset = to(defect.offset);
        }
    }

    fn note_faults(&mut self, said: &RawNode<'_>, faults: Faults) {
        if let Some(fault) = said.fault {
            self.defect(DefectKind::BadAttribute, said.offset, fault);
        }
        if faults.bad_utf8 {
            self.defect(DefectKind::BadUtf8, said.offset, "invalid UTF-8 was replaced");
        }
        if faults.bad_reference {
            self.defect(DefectKind::BadAttribute, said.offset, "a character reference that means nothing");
        }
        if faults.too_long {
            let detail = format!("a value was cut after {} bytes", self.limits.value_bytes_max);
            self.defect(DefectKind::BadAttribute, said.offset, detail);
        }
    }

    pub fn finish(mut self) -> Snapshot {
        self.name_tabs();
        self.spread_apps();
        let application = |element: &&Element| role::short_type(&element.class) == "Application";
        if let Some(app) = self.snapshot.elements.iter().find(application) {
            if self.snapshot.size == Size::default() {
                let side = |points: i32| u32::try_from(points).unwrap_or(0);
                let (width, height) = (side(app.bounds.width()), side(app.bounds.height()));
                self.snapshot.size = Size { width, height };
            }
            if !app.app.is_empty() {
                let screen = Screen { app: app.app.to_string(), name: None };
                self.snapshot.screen = Some(screen);
            }
        }
        self.snapshot
    }

    /// JSON may name the type of a tab bar after its children, so this waits until all is read.
    fn name_tabs(&mut self) {
        let mut bar_end = 0;
        for (index, element) in self.snapshot.elements.iter_mut().enumerate() {
            if index < bar_end {
                element.role = role::in_tab_bar(element.role);
            }
            if role::short_type(&element.class) == "TabBar" {
                bar_end = bar_end.max(element.end as usize);
            }
        }
    }

    /// Only the application says whose the elements are.
    fn spread_apps(&mut self) {
        let elements = &mut self.snapshot.elements;
        for index in 0..elements.len() {
            let above = elements[index].parent.map(|parent| Arc::clone(&elements[parent as usize].app));
            if let Some(above) = above.filter(|above| !above.is_empty() && elements[index].app.is_empty()) {
                elements[index].app = above;
            }
        }
    }
}
