//! Explains an id that names nothing on the screen any more: what it named, and what looks like it now (F1).

use super::{candidates, describe};
use crate::change::tracker::Tracker;
use crate::failure::{Cause, Failure};
use crate::identity::ElementId;
use crate::intent::selector::{Selector, TextMatch};
use crate::meaning::label;

/// Elements that look like the one that is gone.
const SIMILAR_MAX: usize = 5;

/// Refuses an id that was handed out and names nothing now; `None` if it names something, or nothing is known of it.
pub fn stale_now(tracker: &Tracker, id: ElementId) -> Option<Failure> {
    let now = tracker.last()?;
    let (seen, index) = tracker.last_with(id).filter(|(seen, _)| seen.index_of(id) != now.index_of(id))?;
    let was = describe(seen, index as u32);
    let named = label::label(&seen.reading.snapshot, index).map(|label| label.text.into_owned());
    let similar = named.map(|name| Selector { text: Some(TextMatch::Is(name)), ..Selector::default() });
    let similar = similar.map_or_else(Vec::new, |selector| candidates(now, &selector));
    let message = format!("{was} is gone, or can no longer be proven to be the same element");
    let lines = similar.iter().take(SIMILAR_MAX).map(|candidate| describe(now, candidate.index)).collect();
    Some(Failure::new(Cause::StaleElement, message).with_candidates(lines))
}
