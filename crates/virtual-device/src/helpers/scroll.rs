//! UiScrollable: swipes inside a container until a target is in sight or nothing moves.

use super::selector::Selector;
use super::touch;
use super::tree::{Tree, xml};
use crate::phone::Phone;

/// Steps of a slow swipe and of a fling. Each step is a move of the finger, 5 ms apart.
pub const SCROLL_STEPS: u64 = 55;
pub const FLING_STEPS: u64 = 5;
const STEP_MS: u64 = 5;
/// Swipes before a search gives up.
pub const SWIPES_MAX: u64 = 30;
const SWIPES_ASKED_MAX: u64 = 1000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    Forward,
    Backward,
}

/// Swipes once over the container, without a tenth at each end; returns true when the screen moved.
pub async fn once(phone: &Phone, list: &Selector, direction: Direction, vertical: bool, steps: u64) -> bool {
    let tree = Tree::of(phone);
    let Some(node) = list.first(&tree).and_then(|at| tree.nodes.get(at)) else { return false };
    let (area, (cx, cy)) = (node.bounds, node.centre());
    let (far, near) = if vertical {
        let margin = area.height() / 10;
        ((cx, area.bottom - margin), (cx, area.top + margin))
    } else {
        let margin = area.width() / 10;
        ((area.right - margin, cy), (area.left + margin, cy))
    };
    let (from, to) = if direction == Direction::Forward { (far, near) } else { (near, far) };
    let before = xml(phone);
    touch::swipe(phone, from, to, steps.saturating_mul(STEP_MS)).await;
    xml(phone) != before
}

/// Scrolls to the end; returns true when it was reached within the allowed swipes.
pub async fn to_end(
    phone: &Phone,
    list: &Selector,
    direction: Direction,
    vertical: bool,
    swipes: u64,
    steps: u64,
) -> bool {
    for _ in 0..swipes.min(SWIPES_ASKED_MAX) {
        if !once(phone, list, direction, vertical, steps).await {
            return true;
        }
    }
    false
}

/// Scrolls from the beginning until the target is in sight.
pub async fn into_view(phone: &Phone, list: &Selector, target: &Selector, vertical: bool) -> bool {
    let in_sight = || target.first(&Tree::of(phone)).is_some();
    if in_sight() {
        return true;
    }
    to_end(phone, list, Direction::Backward, vertical, SWIPES_MAX, SCROLL_STEPS).await;
    for _ in 0..SWIPES_MAX {
        if in_sight() {
            return true;
        }
        if !once(phone, list, Direction::Forward, vertical, SCROLL_STEPS).await {
            break;
        }
    }
    in_sight()
}
