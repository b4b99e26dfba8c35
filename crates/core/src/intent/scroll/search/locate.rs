//! Where the target of a search is on a capture.

use super::{InSight, NUDGES_MAX, ScrollSearch, failure};
use crate::change::tracker::Observation;
use crate::failure::Failure;
use crate::intent::actionable::NotActionable;
use crate::intent::resolve::{self, Candidate, Resolution};
use crate::intent::scroll::{self, Direction, Sight};
use crate::intent::selector::Selector;
use crate::screen::geometry::Point;

pub(super) enum Found {
    Here(InSight),
    /// In sight, but not wholly: this container has to go that way.
    Partly(InSight, u32, Direction, i32),
    /// In the tree and out of sight.
    Away(u32, Direction, i32),
    Nowhere,
}

impl ScrollSearch<'_> {
    /// Where the target is on the last capture.
    pub(super) fn locate(&self) -> Result<Found, Failure> {
        let seen = &*self.done.seen;
        let Some(selector) = &self.selector else { return Ok(Found::Nowhere) };
        let resolution = resolve::to_act(seen, selector);
        let (candidate, point, disabled) = match &resolution {
            Resolution::Found(target) => {
                return Ok(self.placed(target.matched, target.index, target.point, target.confidence, false));
            }
            Resolution::NotFound { .. } => return Ok(Found::Nowhere),
            Resolution::NotActionable { candidate, why: NotActionable::OutOfSight } => {
                let away = scroll::away(&seen.reading, candidate.matched);
                let away = away.map(|(container, direction, way)| Found::Away(container, direction, way));
                return Ok(away.unwrap_or(Found::Nowhere));
            }
            Resolution::NotActionable { candidate, why } => match (why, middle(seen, candidate)) {
                (
                    NotActionable::Disabled | NotActionable::Doubtful { .. } | NotActionable::Static { .. },
                    Some(point),
                ) => (candidate, point, *why == NotActionable::Disabled),
                (NotActionable::Covered { by }, Some(point)) => {
                    let found =
                        self.placed(candidate.matched, candidate.index, point, candidate.confidence, false);
                    return self.covered(found, candidate.matched, *by, (selector, &resolution));
                }
                _ => return Err(self.refused((selector, &resolution))),
            },
            Resolution::Ambiguous(_) => return Err(self.refused((selector, &resolution))),
        };
        Ok(self.placed(candidate.matched, candidate.index, point, candidate.confidence, disabled))
    }

    fn placed(&self, matched: u32, index: u32, point: Point, confidence: f64, disabled: bool) -> Found {
        let seen = &*self.done.seen;
        let target = InSight { id: seen.ids[index as usize], point, confidence, disabled };
        match scroll::sight(&seen.reading, matched) {
            Sight::Clear => Found::Here(target),
            Sight::Cut { container, direction, way_px } => {
                Found::Partly(target, container, direction, way_px)
            }
        }
    }

    /// From under a bar it can be scrolled, from under a dialog it cannot.
    fn covered(
        &self,
        found: Found,
        matched: u32,
        by: u32,
        asked: (&Selector, &Resolution),
    ) -> Result<Found, Failure> {
        if self.nudges >= NUDGES_MAX || !self.may_go_on() {
            return Err(self.refused(asked));
        }
        match (found, scroll::uncover(&self.done.seen.reading, matched, by)) {
            (Found::Here(target), Some((container, direction, way_px))) => {
                Ok(Found::Partly(target, container, direction, way_px))
            }
            (found @ Found::Partly(..), _) => Ok(found),
            _ => Err(self.refused(asked)),
        }
    }

    fn refused(&self, (selector, resolution): (&Selector, &Resolution)) -> Failure {
        let failure = resolve::failure(&self.done.seen, selector, resolution);
        failure.unwrap_or_else(|| failure::out_of_scrolls(self.asked))
    }
}

fn middle(seen: &Observation, candidate: &Candidate) -> Option<Point> {
    seen.reading.nodes.get(candidate.matched as usize)?.visible.map(|rect| rect.center())
}
