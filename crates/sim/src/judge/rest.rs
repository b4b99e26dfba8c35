//! Oracle 2: a screen that the answer calls stable had not changed for a whole window before the last dump.

use mdm_virtual_device::DumpShown;

use super::{Judge, Oracle};
use crate::claim::content;
use crate::world::ToolAnswer;

impl Judge<'_> {
    pub(super) fn rest(&mut self, answer: &ToolAnswer) {
        if answer.text("stability_state") != "stable" {
            return;
        }
        let Some(DumpShown { at_ms: last, frame: shown, .. }) = self.last_looks().last().copied() else {
            return;
        };
        let window = answer.number("stability_window_ms").unwrap_or(self.planned.meaning.window_ms);
        self.judged.rests += 1;
        let film = &self.call.film;
        let begin = last.saturating_sub(window);
        let looks: Vec<&DumpShown> = film.dumps.iter().filter(|dump| dump.at_ms <= last).collect();
        let first = film.frames.partition_point(|frame| frame.at_ms <= begin).saturating_sub(1);
        // What came in the same millisecond, but after the dump, is later.
        for pair in film.frames.get(first..=shown).unwrap_or_default().windows(2) {
            let (before, after) = (&pair[0], &pair[1]);
            if after.at_ms <= begin || content(before) == content(after) {
                continue;
            }
            // Nobody can see what appears and disappears between two dumps.
            let earlier = looks.iter().rev().find(|look| look.at_ms < after.at_ms);
            let earlier = earlier.and_then(|look| self.shown(look));
            let later = looks.iter().find(|look| look.at_ms >= after.at_ms);
            let later = later.and_then(|look| self.shown(look));
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
                self.planned.tool, after.at_ms
            );
            return self.report(Oracle::Rest, why);
        }
    }
}
