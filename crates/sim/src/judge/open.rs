//! Defects of the product that are known and not mended yet: counted, not reported. Empty is the goal, and now so.

use super::Violation;
use crate::world::Said;

pub fn is_known(_violation: &Violation, _said: &Said) -> bool {
    false
}
