//! Builds the elements from tags.

use mdm_core::meaning::role;
use mdm_core::screen::element::{Element, Role};
use mdm_core::screen::geometry::Rect;
use mdm_core::screen::snapshot::{Defect, DefectKind, Snapshot};

use super::Limits;
use super::names::Names;
use super::rules;
use super::scan::Tag;
use super::value::{self, ValueFaults};

/// Tags that hold elements but are not elements.
const WRAPPERS: [&[u8]; 6] = [b"hierarchy", b"displays", b"display", b"windows", b"window", b"AppiumAUT"];

/// Levels that one end tag may close, if end tags before it are missing.
const MISSING_ENDS_MAX: usize = 16;

/// A tag that was opened and not closed yet.
struct OpenTag<'a> {
    name: &'a [u8],
    wrapper: bool,
    /// The nearest element at this level or above.
    element: Option<u32>,
}

pub(super) struct Tree<'a> {
    limits: &'a Limits,
    elements_max: usize,
    snapshot: Snapshot,
    open: Vec<OpenTag<'a>>,
    classes: Names<'a>,
    packages: Names<'a>,
    /// Open levels below the deepest one allowed.
    levels_over: usize,
    rotation_known: bool,
    /// True if any element has an attribute for its hint, which newer systems write.
    tells_hints: bool,
    root_seen: bool,
    document_ended: bool,
}

impl<'a> Tree<'a> {
    pub fn new(limits: &'a Limits, bytes: usize) -> Tree<'a> {
        Tree {
            limits,
            elements_max: limits.elements_max_for(bytes),
            snapshot: Snapshot::default(),
            open: Vec::new(),
            classes: Names::default(),
            packages: Names::default(),
            levels_over: 0,
            rotation_known: false,
            tells_hints: false,
            root_seen: false,
            document_ended: false,
        }
    }

    /// Adds an element or wrapper. Returns false if the element limit is reached.
    pub fn open(&mut self, tag: &Tag<'a>) -> bool {
        self.root_seen = true;
        self.document_ended = false;
        self.tells_hints |= tag.tells_hint;
        let wrapper = WRAPPERS.contains(&tag.name);
        let above = self.open.last().and_then(|open| open.element);
        let element = if wrapper {
            self.read_rotation(tag);
            above
        } else {
            if self.snapshot.elements.len() >= self.elements_max {
                let detail = format!("more than {} elements", self.elements_max);
                self.defect(DefectKind::LimitReached, tag.offset, detail);
                return false;
            }
            let index = u32::try_from(self.snapshot.elements.len()).unwrap_or(u32::MAX);
            let element = self.element(tag, above);
            self.snapshot.elements.push(element);
            Some(index)
        };
        if tag.self_closing {
            self.document_ended = wrapper && self.open.is_empty();
        } else if self.open.len() < self.limits.depth_max {
            self.open.push(OpenTag { name: tag.name, wrapper, element });
        } else {
            self.enter_too_deep_level(tag.offset);
        }
        true
    }

    fn enter_too_deep_level(&mut self, offset: usize) {
        let first = self.levels_over == 0;
        self.levels_over += 1;
        if first {
            let detail =
                format!("more than {} levels: deeper elements were put at the last", self.limits.depth_max);
            self.defect(DefectKind::LimitReached, offset, detail);
        }
    }

    pub fn close(&mut self, name: &[u8], offset: usize) {
        if self.levels_over > 0 {
            self.levels_over -= 1;
            return;
        }
        let levels = self.open.iter().rev().take(MISSING_ENDS_MAX);
        let Some(missing) = levels.into_iter().position(|open| open.name == name) else {
            return self.defect(DefectKind::BadMarkup, offset, "end tag that closes nothing");
        };
        if missing > 0 {
            self.defect(DefectKind::BadMarkup, offset, "end tags are missing before this one");
        }
        for _ in 0..=missing {
            self.close_innermost();
        }
    }

    fn close_innermost(&mut self) {
        let Some(closed) = self.open.pop() else { return };
        if closed.wrapper {
            self.document_ended = self.open.is_empty();
            return;
        }
        let end = u32::try_from(self.snapshot.elements.len()).unwrap_or(u32::MAX);
        if let Some(element) = closed.element.and_then(|index| self.snapshot.elements.get_mut(index as usize))
        {
            element.end = end;
        }
    }

    /// True if at least one tag was opened and all are closed.
    pub fn is_complete(&self) -> bool {
        self.root_seen && self.open.is_empty()
    }

    pub fn document_ended(&self) -> bool {
        self.document_ended
    }

    pub fn finish(mut self) -> Snapshot {
        while !self.open.is_empty() {
            self.close_innermost();
        }
        if !self.tells_hints {
            self.mark_possible_hints();
        }
        self.snapshot
    }

    /// Marks texts of fields that may be hints. The field inside a number picker always holds its number.
    fn mark_possible_hints(&mut self) {
        let elements = &mut self.snapshot.elements;
        for index in 0..elements.len() {
            let parent = elements[index].parent.and_then(|parent| elements.get(parent as usize));
            let in_picker = parent.is_some_and(|parent| parent.role == Role::Stepper);
            let element = &mut elements[index];
            element.text_may_be_hint =
                element.role == Role::TextField && element.text.is_some() && !in_picker;
        }
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

    fn read_rotation(&mut self, tag: &Tag<'a>) {
        if tag.rotation.is_empty() || self.rotation_known {
            return;
        }
        match value::rotation(tag.rotation) {
            Some(rotation) => {
                self.snapshot.rotation = rotation;
                self.rotation_known = true;
            }
            None => {
                self.defect(DefectKind::BadAttribute, tag.offset, "rotation is not a number of quarter turns")
            }
        }
    }

    fn element(&mut self, tag: &Tag<'a>, parent: Option<u32>) -> Element {
        let mut faults = ValueFaults::default();
        let bytes_max = self.limits.value_bytes_max;
        let class_name = if tag.class.is_empty() && tag.name != b"node" { tag.name } else { tag.class };
        let class = self.classes.read(class_name, bytes_max, &mut faults);
        let app = self.packages.read(tag.package, bytes_max, &mut faults);
        let mut read = |raw| value::text(raw, bytes_max, &mut faults);
        let affordances = rules::affordances(&tag.flags);
        let parent_depth =
            parent.and_then(|index| self.snapshot.elements.get(index as usize)).map(|e| e.depth);
        let index = u32::try_from(self.snapshot.elements.len()).unwrap_or(u32::MAX);
        let element = Element {
            parent,
            end: index.saturating_add(1),
            depth: parent_depth.map_or(0, |depth| depth.saturating_add(1)),
            role: role::from_android_class(&class, affordances),
            system_window: parent.is_none() && rules::is_system_package(&app),
            app,
            stable_id: read(tag.resource_id),
            text: read(tag.text),
            description: read(tag.content_desc),
            hint: read(tag.hint),
            text_may_be_hint: false,
            value: None,
            value_range: None,
            bounds: Rect::default(),
            drawing_order: std::str::from_utf8(tag.drawing_order).ok().and_then(|order| order.parse().ok()),
            affordances,
            state: rules::state(&tag.flags),
            password: tag.flags.password == Some(true),
            displayed: tag.flags.displayed,
            clock: rules::is_clock(&class, tag.resource_id, tag.package),
            details: None,
            class,
        };
        self.report_faults(tag, faults);
        Element { bounds: self.bounds(tag), ..element }
    }

    fn bounds(&mut self, tag: &Tag<'a>) -> Rect {
        if tag.bounds.is_empty() {
            return Rect::default();
        }
        value::bounds(tag.bounds).unwrap_or_else(|| {
            self.defect(DefectKind::BadAttribute, tag.offset, "bounds are not a rectangle");
            Rect::default()
        })
    }

    fn report_faults(&mut self, tag: &Tag<'a>, faults: ValueFaults) {
        if let Some(fault) = tag.fault {
            self.defect(DefectKind::BadAttribute, tag.offset, fault);
        }
        if faults == ValueFaults::default() {
            return;
        }
        if faults.bad_utf8 {
            self.defect(DefectKind::BadUtf8, tag.offset, "invalid UTF-8 was replaced");
        }
        if faults.bad_reference {
            self.defect(
                DefectKind::BadAttribute,
                tag.offset,
                "unknown character reference was kept as it is",
            );
        }
        if faults.too_long {
            let detail = format!("a value was cut after {} bytes", self.limits.value_bytes_max);
            self.defect(DefectKind::BadAttribute, tag.offset, detail);
        }
    }
}
