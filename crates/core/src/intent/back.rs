//! The button that leads back, on a platform whose system has no such key.

use crate::change::tracker::Observation;
use crate::intent::actionable;
use crate::screen::element::Role;
use crate::screen::geometry::Point;
use crate::screen::snapshot::Platform;

/// A button of the bar that begins within this part of its width leads back; those on the other side do something else.
const LEFT_PART: i32 = 4;

/// Returns where to tap to go back: the first button at the left end of the topmost navigation bar. In a bar that is
/// read from right to left there is none.
pub fn button(seen: &Observation) -> Option<Point> {
    let snapshot = &seen.reading.snapshot;
    if snapshot.platform != Platform::Ios {
        return None;
    }
    let is_bar = |class: &str| class.ends_with("NavigationBar");
    let bars = (0..snapshot.elements.len()).rev();
    let bar = bars.into_iter().find(|index| is_bar(&snapshot.elements[*index].class))?;
    let place = snapshot.elements[bar].bounds;
    let inside = bar + 1..snapshot.elements[bar].end as usize;
    inside.into_iter().find_map(|index| {
        let element = snapshot.elements.get(index)?;
        let is_left = element.bounds.left < place.left + place.width() / LEFT_PART;
        (element.role == Role::Button && is_left)
            .then(|| actionable::check(&seen.reading, index as u32).ok())
            .flatten()
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::change::tracker::Tracker;
    use crate::meaning::sketch::sketch;
    use crate::screen::snapshot::Snapshot;

    fn seen(platform: Platform) -> Arc<Observation> {
        let tree = "
            FrameLayout [0,0][1080,2400]
              x.NavigationBar [0,100][1080,220]
                Button [0,100][260,220] click desc:General
                Button [900,100][1080,220] click desc:Edit
              Button [0,400][300,500] click desc:Away";
        Tracker::default().observe(Snapshot { platform, ..sketch(tree) }, 0)
    }

    #[test]
    fn the_left_button_of_the_bar_leads_back() {
        assert_eq!(button(&seen(Platform::Ios)), Some(Point { x: 130, y: 160 }));
        assert_eq!(button(&seen(Platform::Android)), None);
    }
}
