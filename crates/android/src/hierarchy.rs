//! Reads a window hierarchy, as the device wrote it, into a [`Snapshot`].
//!
//! Architecture invariant: reading never fails, never panics and never recurses. What cannot be read becomes a
//! [`Defect`](mdm_core::screen::snapshot::Defect), and the rest is kept (SE-07).

mod names;
pub(crate) mod rules;
mod scan;
mod tree;
mod value;

pub use mdm_core::screen::snapshot::Limits;
use mdm_core::screen::snapshot::{DefectKind, Snapshot};

use mdm_wire::markup::{Event, Scanner};
pub(crate) use scan::Flags;
use scan::{DIALECT, Tag};
use tree::Tree;

/// Reads elements, rotation and defects. The caller adds the screen and its size, which are not in the hierarchy.
pub fn parse(xml: &[u8], limits: &Limits) -> Snapshot {
    let bytes = &xml[..xml.len().min(limits.bytes_max)];
    let over_limit = bytes.len() < xml.len();
    let mut tree = Tree::new(limits, bytes.len());
    if over_limit {
        let detail = format!("only the first {} of {} bytes were read", bytes.len(), xml.len());
        tree.defect(DefectKind::LimitReached, bytes.len(), detail);
    }
    let mut scanner = Scanner::new(bytes, 0, DIALECT);
    if !scanner.seek_document() {
        tree.defect(DefectKind::BadMarkup, 0, "no hierarchy in the answer");
        return tree.finish();
    }
    let ended_at = read_events(&mut scanner, &mut tree, bytes.len());
    if let Some(offset) = ended_at.filter(|_| !over_limit) {
        tree.defect(DefectKind::Truncated, offset, "the hierarchy ends before it is complete");
    }
    tree.finish()
}

/// Returns the offset at which the hierarchy was cut off, if it was.
fn read_events<'a>(scanner: &mut Scanner<'a>, tree: &mut Tree<'a>, bytes_len: usize) -> Option<usize> {
    loop {
        match scanner.next_event() {
            Event::Open { name, offset, tag, self_closing } => {
                if !tree.open(&Tag { name, offset, self_closing, ..tag }) {
                    return None;
                }
            }
            Event::Close { name, offset } => tree.close(name, offset),
            Event::Broken { offset, what } => tree.defect(DefectKind::BadMarkup, offset, what),
            Event::Cut { offset } => return Some(offset),
            Event::End => return (!tree.is_complete()).then_some(bytes_len),
        }
        // After a complete document comes either another one or a message of the tool that wrote it.
        if tree.document_ended() && !scanner.seek_document() {
            return None;
        }
    }
}
