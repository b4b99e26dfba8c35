//! Gestures on elements: where they are now, or not at all.

use mdm_core::actionable::tap_point;
use mdm_core::device::Input;
use mdm_core::error::Failure;
use mdm_core::geometry::Point;
use mdm_core::identity::ElementId;

use crate::progress::Progress;
use crate::session::{Session, Tapped, out_of_sight, stale};

/// One end of a gesture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spot {
    Point(Point),
    Element(ElementId),
}

/// Where a gesture went, and for an element what was seen there.
#[derive(Debug, Clone)]
pub struct Touched {
    pub point: Point,
    pub element: Option<Tapped>,
}

impl Session {
    /// Resolves every spot on one look at the screen, then sends one input. A name whose element is gone is refused
    /// and nothing is sent (ID-02).
    pub async fn gesture<const N: usize>(
        &self,
        spots: [Spot; N],
        input: impl FnOnce([Point; N]) -> Input,
        progress: &Progress,
    ) -> Result<[Touched; N], Failure> {
        let _turn = self.turn(progress).await?;
        let needs_look = spots.iter().any(|spot| matches!(spot, Spot::Element(_)));
        let seen = if needs_look { Some(self.observe_now(progress).await?) } else { None };
        let mut touched = Vec::with_capacity(N);
        for spot in spots {
            touched.push(match (spot, &seen) {
                (Spot::Point(point), _) => Touched { point, element: None },
                (Spot::Element(id), None) => return Err(stale(id)),
                (Spot::Element(id), Some(seen)) => {
                    let index = seen.index_of(id).ok_or_else(|| stale(id))?;
                    let point = tap_point(&seen.reading, index).ok_or_else(|| out_of_sight(id))?;
                    Touched { point, element: Some(Tapped { seen: seen.clone(), index, point }) }
                }
            });
        }
        let points = std::array::from_fn(|at| touched[at].point);
        self.send(input(points), progress).await?;
        let mut touched = touched.into_iter();
        // One was pushed for each spot.
        Ok(std::array::from_fn(|at| touched.next().unwrap_or(Touched { point: points[at], element: None })))
    }
}
