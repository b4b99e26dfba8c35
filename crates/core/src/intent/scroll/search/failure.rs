//! Why a search by scrolling ended without its target.

use super::{ScrollTo, Scrolled};
use crate::change::tracker::Observation;
use crate::failure::{Cause, Failure};
use crate::identity::ElementId;
use crate::intent::resolve;
use crate::intent::selector::Selector;

pub fn end_reached(target: &Selector, done: &Scrolled) -> Failure {
    let message = format!(
        "nothing matches {} {} to the end of {}",
        target.describe(),
        done.direction.name(),
        done.container.and_then(|id| described(done, id)).unwrap_or_default()
    );
    Failure::new(Cause::EndReached, message).with_candidates(others(done))
}

/// Refuses to go on when another screen is in front than before the stroke.
pub fn check_screen(before: &Observation, now: &Observation) -> Result<(), Failure> {
    let (was, is) = (screen_of(before), screen_of(now));
    if was == is {
        return Ok(());
    }
    let [was, is] = [was, is].map(|name| name.unwrap_or_else(|| "another screen".to_owned()));
    let message = format!("the screen changed from {was} to {is} while it was scrolled");
    Err(Failure::new(Cause::ScreenLeft, message))
}

fn screen_of(seen: &Observation) -> Option<String> {
    seen.reading.snapshot.screen.as_ref().map(|screen| screen.component())
}

pub fn no_room(container: ElementId, done: &Scrolled) -> Failure {
    let message = format!("{container} shows too little of itself to be scrolled with a finger");
    Failure::new(Cause::NoRoomToScroll, message).with_candidates(others(done))
}

/// Other containers that scroll the same way.
fn others(done: &Scrolled) -> Vec<String> {
    done.others.iter().filter_map(|id| described(done, *id)).collect()
}

fn described(done: &Scrolled, id: ElementId) -> Option<String> {
    let index = done.seen.index_of(id)?;
    Some(resolve::describe(&done.seen, index as u32))
}

pub fn out_of_scrolls(asked: &ScrollTo) -> Failure {
    let (scrolls, direction) = (asked.scrolls_max, asked.direction.name());
    let message = match &asked.target {
        Some(target) => format!("nothing matches {} within {scrolls} scrolls {direction}", target.describe()),
        None => format!("{scrolls} scrolls {direction} did not reach the end"),
    };
    Failure::new(Cause::ScrollsExhausted, message)
}
