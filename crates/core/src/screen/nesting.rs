//! The structure of a tree that is written as a list.

use crate::screen::element::Element;

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
