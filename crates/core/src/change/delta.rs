//! A later capture expressed as changes to an earlier one. Applying them gives exactly the later capture (SY-15).

use crate::identity::{NONE, Pairing};
use crate::screen::element::Element;
use crate::screen::geometry::Size;
use crate::screen::snapshot::{Defect, Platform, Screen, Snapshot};

/// A step that yields the next elements of the later capture, in its order.
#[derive(Debug, Clone, PartialEq)]
pub enum Op {
    /// Copies unchanged elements of the earlier capture.
    Keep { from: u32, count: u32 },
    /// Replaces an element of the earlier capture by its changed version.
    Patch { from: u32, element: Element },
    /// Inserts a new element.
    Put { element: Element },
}

#[derive(Debug, Clone, PartialEq)]
pub struct Delta {
    pub ops: Vec<Op>,
    pub platform: Platform,
    pub size: Size,
    pub rotation: u8,
    pub screen: Option<Screen>,
    pub defects: Vec<Defect>,
}

/// The error for a delta that was made for another capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WrongBase;

pub fn delta(before: &Snapshot, after: &Snapshot, pairing: &Pairing) -> Delta {
    let mut ops: Vec<Op> = Vec::new();
    for (new, element) in after.elements.iter().enumerate() {
        let partner = pairing.to_old.get(new).copied().filter(|old| *old != NONE);
        let Some((from, was)) = partner.and_then(|old| Some((old, before.elements.get(old as usize)?)))
        else {
            ops.push(Op::Put { element: element.clone() });
            continue;
        };
        if !same_except_tree_position(was, element) {
            ops.push(Op::Patch { from, element: element.clone() });
        } else if let Some(Op::Keep { from: start, count }) = ops.last_mut()
            && *start + *count == from
        {
            *count += 1;
        } else {
            ops.push(Op::Keep { from, count: 1 });
        }
    }
    Delta {
        ops,
        platform: after.platform,
        size: after.size,
        rotation: after.rotation,
        screen: after.screen.clone(),
        defects: after.defects.clone(),
    }
}

pub fn apply(delta: &Delta, before: &Snapshot) -> Result<Snapshot, WrongBase> {
    let mut elements = Vec::with_capacity(before.elements.len());
    for op in &delta.ops {
        match op {
            Op::Keep { from, count } => {
                let end = from.checked_add(*count).ok_or(WrongBase)?;
                elements
                    .extend_from_slice(before.elements.get(*from as usize..end as usize).ok_or(WrongBase)?);
            }
            Op::Patch { element, .. } | Op::Put { element } => elements.push(element.clone()),
        }
    }
    set_parents_and_ends(&mut elements);
    Ok(Snapshot {
        platform: delta.platform,
        elements,
        size: delta.size,
        rotation: delta.rotation,
        screen: delta.screen.clone(),
        defects: delta.defects.clone(),
    })
}

/// Fills in `parent` and `end` of each element from the document order and the depths.
pub fn set_parents_and_ends(elements: &mut [Element]) {
    let mut open: Vec<usize> = Vec::new();
    for index in 0..elements.len() {
        let depth = usize::from(elements[index].depth);
        while open.len() > depth {
            if let Some(closed) = open.pop() {
                elements[closed].end = index as u32;
            }
        }
        elements[index].parent = open.last().map(|parent| *parent as u32);
        elements[index].end = index as u32 + 1;
        open.push(index);
    }
    let end = elements.len() as u32;
    for closed in open {
        elements[closed].end = end;
    }
}

fn same_except_tree_position(was: &Element, is: &Element) -> bool {
    // Destructured, so that a new field cannot be forgotten.
    let Element {
        parent: _,
        end: _,
        depth,
        role,
        class,
        app,
        stable_id,
        text,
        description,
        hint,
        value,
        value_range,
        bounds,
        drawing_order,
        affordances,
        state,
        password,
        displayed,
        system_window,
        clock,
    } = was;
    *bounds == is.bounds
        && *drawing_order == is.drawing_order
        && *depth == is.depth
        && *role == is.role
        && *state == is.state
        && *affordances == is.affordances
        && *password == is.password
        && *displayed == is.displayed
        && *text == is.text
        && *description == is.description
        && *stable_id == is.stable_id
        && *hint == is.hint
        && *value == is.value
        && *value_range == is.value_range
        && *class == is.class
        && *app == is.app
        && *system_window == is.system_window
        && *clock == is.clock
}
