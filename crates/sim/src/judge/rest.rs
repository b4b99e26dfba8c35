//! 2: what is called stable had come to rest, for a whole window, when it was looked at last.

use super::{Bench, Oracle};
use crate::claim::content;
use crate::world::Said;

impl Bench<'_> {
    pub(super) fn rest(&mut self, said: &Said) {
        let Some(last) =
            self.last_looks().into_iter().max().filter(|_| said.text("stability_state") == "stable")
        else {
            return;
        };
        let window = said.number("stability_window_ms").unwrap_or(self.step.about.window_ms);
        self.judged.rests += 1;
        let film = &self.call.film;
        let begin = last.saturating_sub(window);
        let looks: Vec<u64> = film.dumps.iter().map(|dump| dump.at_ms).filter(|at| *at <= last).collect();
        for pair in film.between(begin, last).windows(2) {
            let (before, after) = (&pair[0], &pair[1]);
            if after.at_ms <= begin || content(before) == content(after) {
                continue;
            }
            // What came and went between two looks cannot be seen by looking.
            let earlier = looks.iter().rev().find(|at| **at < after.at_ms).and_then(|at| film.at(*at));
            let later = looks.iter().find(|at| **at >= after.at_ms).and_then(|at| film.at(*at));
            if let (Some(earlier), Some(later)) = (earlier, later)
                && content(earlier) == content(later)
            {
                self.judged.unseen += 1;
                continue;
            }
            let (was, is) = (content(before), content(after));
            let gone = was.iter().find(|line| !is.contains(line));
            let come = is.iter().find(|line| !was.contains(line));
            let why = format!(
                "{} says stable for {window} ms at {last}, and at {} {gone:?} became {come:?}",
                self.step.tool, after.at_ms
            );
            return self.blame(Oracle::Rest, why);
        }
    }
}
