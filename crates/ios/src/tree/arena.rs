//! Collects the elements of a snapshot while they are read.

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
    /// True after the one defect about too deep elements.
    depth_reported: bool,
    /// The byte limit was reached, so an early end is not reported again.
    bytes_limited: bool,
    /// Buttons with the value 1, which means selected, or is a number that they show.
    selected_by_value: Vec<u32>,
}

/// Siblings of a button that are searched for other numbers.
const SIBLINGS_MAX: usize = 64;
/// Elements of a button that are searched for the number that it shows.
const BUTTON_ELEMENTS_MAX: usize = 16;

impl<'l> Arena<'l> {
    pub fn new(limits: &'l Limits, bytes: usize) -> Arena<'l> {
        Arena {
            limits,
            elements_max: limits.elements_max_for(bytes),
            snapshot: Snapshot { platform: Platform::Ios, ..Snapshot::default() },
            names: Names::default(),
            depth_reported: false,
            bytes_limited: false,
            selected_by_value: Vec::new(),
        }
    }

    pub fn limit_bytes(&mut self, read: usize, all: usize) {
        self.bytes_limited = true;
        self.defect(
            DefectKind::LimitReached,
            read,
            format!("only the first {read} of {all} bytes were read"),
        );
    }

    pub fn truncated(&mut self, offset: usize) {
        if !self.bytes_limited {
            self.defect(DefectKind::Truncated, offset, "the tree ends before it is complete");
        }
    }

    /// Adds an empty element in document order, to be filled later. Returns `None` and reports a defect if the element
    /// limit is reached.
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

    /// True if an element with this parent would be too deep; this is reported once as a defect.
    pub fn is_too_deep(&mut self, parent: Option<u32>, offset: usize) -> bool {
        let above = parent.and_then(|parent| self.snapshot.elements.get(parent as usize));
        let too_deep = above.is_some_and(|above| usize::from(above.depth) + 1 >= self.limits.depth_max);
        if too_deep {
            self.report_depth(offset);
        }
        too_deep
    }

    pub fn report_depth(&mut self, offset: usize) {
        if !std::mem::replace(&mut self.depth_reported, true) {
            let detail = format!("more than {} levels: deeper elements were left out", self.limits.depth_max);
            self.defect(DefectKind::LimitReached, offset, detail);
        }
    }

    pub fn fill(&mut self, index: u32, node: &RawNode<'_>) {
        let mut faults = Faults::default();
        let read = node.element(&mut self.names, self.limits.value_bytes_max, &mut faults);
        if let Some(element) = self.snapshot.elements.get_mut(index as usize) {
            let (parent, end, depth) = (element.parent, element.end, element.depth);
            *element = Element { parent, end, depth, ..read };
            if node.is_selected_by_value(role::short_type(&element.class)) {
                self.selected_by_value.push(index);
            }
        }
        self.report_faults(node, faults);
    }

    pub fn close(&mut self, index: u32) {
        let end = u32::try_from(self.snapshot.elements.len()).unwrap_or(u32::MAX);
        if let Some(element) = self.snapshot.elements.get_mut(index as usize) {
            element.end = end;
            self.unselect_button_with_count(index as usize);
        }
    }

    /// Clears `selected` of a button whose value "1" is a number that it shows, such as a badge or a count of tabs.
    /// Otherwise the value "1" means selected.
    fn unselect_button_with_count(&mut self, index: usize) {
        let Some((button, inside)) = self.snapshot.elements[index..].split_first_mut() else { return };
        let selected_by_value = button.role == Role::Button
            && button.state.selected == Some(true)
            && button.value.as_deref() == Some("1");
        let shown = |element: &Element| element.text.as_deref() == Some("1");
        if selected_by_value && inside.iter().take(BUTTON_ELEMENTS_MAX).any(shown) {
            button.state.selected = None;
        }
    }

    /// Removes the last element if it is the one at `index`.
    pub fn remove_if_last(&mut self, index: u32) {
        if index as usize + 1 == self.snapshot.elements.len() {
            self.snapshot.elements.pop();
        }
    }

    pub fn set_size(&mut self, width: f64, height: f64) {
        // The casts saturate, and NaN becomes 0, which is an unknown size.
        self.snapshot.size = Size { width: width.round() as u32, height: height.round() as u32 };
    }

    /// Adds a defect. The first one of each kind that loses elements is kept even over the limit, because absence
    /// cannot be proven with it.
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

    /// Maps the offsets of the defects from `first` on: a tree inside a JSON string has offsets of its own.
    pub fn map_defect_offsets(&mut self, first: usize, to: impl Fn(usize) -> usize) {
        for defect in self.snapshot.defects.iter_mut().skip(first) {
            defect.offset = to(defect.offset);
        }
    }

    fn report_faults(&mut self, node: &RawNode<'_>, faults: Faults) {
        if let Some(fault) = node.fault {
            self.defect(DefectKind::BadAttribute, node.offset, fault);
        }
        if faults.bad_utf8 {
            self.defect(DefectKind::BadUtf8, node.offset, "invalid UTF-8 was replaced");
        }
        if faults.bad_reference {
            self.defect(DefectKind::BadAttribute, node.offset, "a character reference that means nothing");
        }
        if faults.too_long {
            let detail = format!("a value was cut after {} bytes", self.limits.value_bytes_max);
            self.defect(DefectKind::BadAttribute, node.offset, detail);
        }
    }

    pub fn finish(mut self) -> Snapshot {
        self.unselect_counts();
        self.set_tab_roles();
        self.inherit_apps();
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

    /// Clears `selected` of buttons whose value 1 may be a number that they show (F32). It is a choice only beside other
    /// buttons of which none has a number.
    fn unselect_counts(&mut self) {
        for index in std::mem::take(&mut self.selected_by_value) {
            let elements = &self.snapshot.elements;
            let Some(parent) = elements[index as usize].parent else { continue };
            let others = self.snapshot.children(parent as usize).take(SIBLINGS_MAX);
            let mut others = others.filter(|&other| {
                other != index as usize && matches!(elements[other].role, Role::Button | Role::Tab)
            });
            let is_number = |value: &str| value.bytes().all(|byte| byte.is_ascii_digit());
            let counts = |other: usize| elements[other].value.as_deref().is_some_and(is_number);
            let first = others.next();
            let is_choice = first.is_some_and(|first| !counts(first)) && !others.any(counts);
            drop(others);
            if !is_choice && let Some(button) = self.snapshot.elements.get_mut(index as usize) {
                button.state.selected = None;
            }
        }
    }

    /// Sets the role of tabs. It runs at the end, because JSON may give the type of a tab bar after its children.
    fn set_tab_roles(&mut self) {
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

    /// Copies the app from parents to children, because only the application element has it.
    fn inherit_apps(&mut self) {
        let elements = &mut self.snapshot.elements;
        for index in 0..elements.len() {
            let above = elements[index].parent.map(|parent| Arc::clone(&elements[parent as usize].app));
            if let Some(above) = above.filter(|above| !above.is_empty() && elements[index].app.is_empty()) {
                elements[index].app = above;
            }
        }
    }
}
