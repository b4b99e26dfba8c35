//! Lists every target of the real screens that is refused as covered (F30).

use std::fmt::Write as _;

use mdm_core::intent::actionable::{NotActionable, find_place};
use mdm_core::intent::resolve::describe;

use crate::files::{SCREEN_FOLDERS, load, screens, seen};

#[derive(Debug, Default)]
pub struct Count {
    pub targets: usize,
    pub covered: usize,
    /// Targets that may be covered, and are acted on with a lower confidence.
    pub doubtful: usize,
    /// One row for each refused target.
    pub table: String,
}

pub fn count_all() -> Count {
    let mut count = Count::default();
    for path in SCREEN_FOLDERS.into_iter().flat_map(screens) {
        let Some(snapshot) = load(&path) else { continue };
        let seen = seen(snapshot);
        let reading = &seen.reading;
        let shown = |index: &u32| {
            reading.nodes[*index as usize].visible.is_some() && reading.element(*index).is_tappable()
        };
        for index in (0..reading.nodes.len() as u32).filter(shown) {
            count.targets += 1;
            match find_place(reading, index, index) {
                Err(NotActionable::Covered { by }) => {
                    count.covered += 1;
                    let _ = writeln!(
                        count.table,
                        "{}\t{index}\t{}\t{by}\t{}",
                        path.display(),
                        describe(&seen, index),
                        describe(&seen, by)
                    );
                }
                Ok(place) => count.doubtful += usize::from(place.maybe_covered_by.is_some()),
                Err(_) => {}
            }
        }
    }
    count
}
