//! Deleting one row of a list whose rows look alike.

use mdm_virtual_device::{Applied, Random, Truth};

use super::{Report, Score};
use crate::plan::Plan;
use crate::plan::lists::{Delete, List, Row, RowChange};

/// A row that somebody wants deleted.
#[derive(Debug, Clone)]
pub struct RowIntent {
    pub row: Row,
    pub asks: bool,
    /// The list's id, which is also its name.
    pub list: String,
    /// The number of the row, which no other row ever has.
    number: usize,
    /// The activity that is opened for it, as `.NameActivity`.
    pub activity: String,
}

impl RowIntent {
    /// Returns a row that only its subtitle tells apart, of a list that can delete rows; nothing if there is
    /// none, or if the app removes the row by itself: then nobody can delete it.
    pub fn random(plan: &Plan, random: &mut Random) -> Option<RowIntent> {
        let lists = plan.screens.iter().enumerate().filter_map(|(at, screen)| {
            let list = screen.list.as_ref().filter(|list| list.delete != Delete::Never)?;
            list.rows.iter().all(|row| row.subtitle.starts_with("Order ")).then_some((at, screen, list))
        });
        let (at, screen, list) = random.pick(&lists.collect::<Vec<_>>()).copied()?;
        let place = random.below(list.rows.len());
        if removed_by_itself(list).contains(&place) {
            return None;
        }
        Some(RowIntent {
            row: list.rows.get(place)?.clone(),
            asks: list.delete == Delete::Asks,
            list: format!("{}_rows", screen.name.to_lowercase()),
            number: place + 1,
            activity: format!(".{}", plan.activity(at)),
        })
    }

    /// Returns how often the row was deleted, and how often another one.
    fn deletions(&self, truth: &Truth) -> (u64, u64) {
        let row = format!("row {} of {}", self.number, self.list);
        let (mut mine, mut others) = (0, 0);
        for input in &truth.inputs {
            let Applied::Tap { hit: Some(hit), .. } = input else { continue };
            let Some(datum) = hit.datum.as_ref().filter(|_| hit.acted && hit.label == "Delete") else {
                continue;
            };
            let is_dialog = datum.thing.starts_with("dialog ");
            if is_dialog != self.asks {
                continue;
            }
            match datum.thing.ends_with(&row) {
                true => mine += 1,
                false => others += 1,
            }
        }
        (mine, others)
    }

    pub fn score(&self, truth: &Truth, report: &Report, doubled: bool) -> Score {
        let (mine, others) = self.deletions(truth);
        let once = mine == 1 || (mine > 1 && doubled);
        Score {
            intents: 1,
            first_try: u64::from(report.taps == 1 && once && others == 0),
            done: u64::from(once && others == 0),
            reported_success: u64::from(report.success),
            false_success: u64::from(report.success && mine == 0),
            twice: u64::from(mine > 1 && !doubled),
            wrong_element: u64::from(others > 0 && !doubled),
            touch_spoilt: 0,
        }
    }
}

/// Returns the places, at the start, of the rows that the list removes by itself.
fn removed_by_itself(list: &List) -> Vec<usize> {
    let mut changes: Vec<&(u64, RowChange)> = list.changes.iter().collect();
    changes.sort_by_key(|(ms, _)| *ms);
    // Rows that are added later have no place at the start.
    let mut rows: Vec<Option<usize>> = (0..list.rows.len()).map(Some).collect();
    let mut removed = Vec::new();
    for (_, change) in changes {
        match change {
            RowChange::Insert { at, .. } => rows.insert((*at).min(rows.len()), None),
            RowChange::Remove { at } if *at < rows.len() => removed.extend(rows.remove(*at)),
            RowChange::Remove { .. } => {}
        }
    }
    removed
}
