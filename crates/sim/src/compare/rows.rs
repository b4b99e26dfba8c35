//! Deleting one row of a list whose rows look alike.

use mdm_virtual_device::{Applied, Random, Truth};

use super::{Report, Score};
use crate::plan::Plan;
use crate::plan::lists::{Delete, Row};

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
    /// Returns a row that only its subtitle tells apart, of a list that can delete rows; nothing if there is none.
    pub fn random(plan: &Plan, random: &mut Random) -> Option<RowIntent> {
        let lists = plan.screens.iter().enumerate().filter_map(|(at, screen)| {
            let list = screen.list.as_ref().filter(|list| list.delete != Delete::Never)?;
            list.rows.iter().all(|row| row.subtitle.starts_with("Order ")).then_some((at, screen, list))
        });
        let (at, screen, list) = random.pick(&lists.collect::<Vec<_>>()).copied()?;
        let place = random.below(list.rows.len());
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
        }
    }
}
