//! Whether a touch would land on its target, by what the platform says is at the point.

use crate::change::tracker::Observation;
use crate::intent::resolve::describe;
use crate::screen::element::{Element, Role};
use crate::screen::snapshot::Snapshot;

/// Readers round halves of a point in their own ways.
const ROUNDING: u32 = 1;

/// What lies over a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cover {
    /// How to call it.
    pub words: String,
    pub is_keyboard: bool,
}

/// Returns what the touch would land on instead of the target; nothing when it lands on the target, on a part of it, or on
/// what holds it.
pub fn cover(seen: &Observation, target: u32, hit: &Snapshot) -> Option<Cover> {
    let found = hit.elements.first()?;
    let snapshot = &seen.reading.snapshot;
    let wanted = snapshot.elements.get(target as usize)?;
    let is_app = found.class.ends_with("Application") || found.bounds == snapshot.size.rect();
    if is_app || found.is_scroll_bar() || is_same(found, wanted) {
        return None;
    }
    let at = snapshot.elements.iter().position(|element| is_same(found, element));
    let holds = |index: usize| index < target as usize && target < snapshot.elements[index].end;
    let is_within = |index: usize| index > target as usize && (index as u32) < wanted.end;
    // A control inside the target takes the touch for itself, unless the tree says that it is a part of the target.
    let is_part = wanted.bounds.intersection(found.bounds) == Some(found.bounds) && !found.role.is_control();
    match at {
        _ if is_part => None,
        Some(index) if holds(index) || is_within(index) || is_wider(found, wanted) => None,
        Some(index) => Some(Cover { words: describe(seen, index as u32), is_keyboard: false }),
        None if found.role == Role::Key => {
            Some(Cover { words: "the keyboard".to_owned(), is_keyboard: true })
        }
        None if is_wider(found, wanted) => None,
        None => {
            let name =
                found.description.as_deref().or(found.text.as_deref()).unwrap_or("something without a name");
            let words = format!("{name:?}, which is not in the tree");
            Some(Cover { words, is_keyboard: false })
        }
    }
}

/// Elements of two readers are the same where place and name agree: each has its own words for types.
fn is_same(one: &Element, other: &Element) -> bool {
    let near = |a: i32, b: i32| a.abs_diff(b) <= ROUNDING;
    let (a, b) = (one.bounds, other.bounds);
    let is_there =
        near(a.left, b.left) && near(a.top, b.top) && near(a.right, b.right) && near(a.bottom, b.bottom);
    is_there && one.description == other.description
}

/// True for a row that holds the target where trees are flat: it takes the touch for what is in it.
fn is_wider(found: &Element, wanted: &Element) -> bool {
    let holds = found.bounds.intersection(wanted.bounds) == Some(wanted.bounds);
    holds && found.bounds != wanted.bounds && !wanted.role.is_control()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::change::tracker::Tracker;
    use crate::meaning::sketch::sketch;

    fn screen() -> Arc<Observation> {
        let tree = "
            FrameLayout [0,0][1080,2400]
              Button [0,100][500,220] click desc:Pay
              Button [0,80][1080,300] click desc:Cookies
              View [0,400][1080,600] click desc:Row
                TextView [20,420][500,500] text:Milk";
        Tracker::default().observe(sketch(tree), 0)
    }

    #[test]
    fn what_lies_in_front_is_named_and_what_belongs_together_is_no_cover() {
        let seen = screen();
        let told = |target: u32, hit: &str| cover(&seen, target, &sketch(hit));
        assert_eq!(told(1, "Button [0,100][500,220] click desc:Pay"), None);
        let cookies = told(1, "Button [0,80][1080,300] click desc:Cookies").unwrap();
        assert!(cookies.words.contains("Cookies") && !cookies.is_keyboard, "{cookies:?}");
        assert_eq!(told(4, "View [0,400][1080,600] click desc:Row"), None, "the row holds it");
        assert_eq!(told(3, "TextView [20,420][500,500] text:Milk"), None, "a part of it");
        assert_eq!(told(1, "FrameLayout [0,0][1080,2400]"), None, "nothing is there but the app");
        let key = told(1, "Button [0,90][100,230] role:Key desc:q").unwrap();
        assert!(key.is_keyboard);
        let bar =
            "Other [1050,0][1080,2400] role:Container desc:\"Vertical scroll bar, 2 pages\" value:\"25%\"";
        assert_eq!(told(3, bar), None, "touches go through a scroll bar");
    }
}
