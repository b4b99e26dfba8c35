//! The crashes that a session knows of: each has a short name, and is told once without being asked for.

use std::collections::VecDeque;

use crate::port::{CrashKind, CrashReport};

/// Crashes that are remembered.
const KEPT_MAX: usize = 50;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// `c3`: never given twice in a session.
    pub number: u64,
    pub report: CrashReport,
    /// When this machine learnt of it.
    pub noted_ms: u64,
    /// An agent has read of it.
    pub told: bool,
}

impl Known {
    pub fn id(&self) -> String {
        format!("c{}", self.number)
    }
}

/// The crashes of one device, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CrashBook {
    known: VecDeque<Known>,
    count: u64,
}

impl CrashBook {
    /// Takes in a report and returns its number. A report that is known is only completed.
    pub fn note(&mut self, report: CrashReport, now_ms: u64) -> u64 {
        if let Some(known) = self.known.iter_mut().rev().find(|known| is_same(&known.report, &report)) {
            known.report = report;
            return known.number;
        }
        if self.known.len() == KEPT_MAX {
            self.known.pop_front();
        }
        self.count += 1;
        self.known.push_back(Known { number: self.count, report, noted_ms: now_ms, told: false });
        self.count
    }

    pub fn all(&self) -> impl DoubleEndedIterator<Item = &Known> {
        self.known.iter()
    }

    pub fn find(&self, number: u64) -> Option<&Known> {
        self.known.iter().find(|known| known.number == number)
    }

    /// True for a report that an agent has read.
    pub fn is_told(&self, report: &CrashReport) -> bool {
        self.known.iter().any(|known| known.told && is_same(&known.report, report))
    }

    pub fn mark_told(&mut self, number: u64) {
        if let Some(known) = self.known.iter_mut().find(|known| known.number == number) {
            known.told = true;
        }
    }

    /// Takes the crashes of which nobody has read, of apps that are of interest.
    pub fn take_untold(&mut self, of_interest: impl Fn(&str) -> bool) -> Vec<Known> {
        let mut taken = Vec::new();
        for known in self.known.iter_mut().filter(|known| !known.told && of_interest(&known.report.app)) {
            known.told = true;
            taken.push(known.clone());
        }
        taken
    }
}

/// The line of a native crash comes before its report and tells less: both are of one process.
fn is_same(known: &CrashReport, report: &CrashReport) -> bool {
    let native = known.kind == CrashKind::Native && report.kind == CrashKind::Native;
    native && known.pid == report.pid && known.app == report.app || known.is_same(report)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::Thrown;

    fn report(pid: u32, kind: CrashKind, exception: &str) -> CrashReport {
        CrashReport {
            app: "com.example".to_owned(),
            pid,
            kind,
            thread: None,
            thrown: vec![Thrown::new(exception, "")],
            time_ms: Some(u64::from(pid)),
            age_ms: None,
            images: Vec::new(),
        }
    }

    #[test]
    fn a_crash_is_told_once_however_often_it_is_read() {
        // F44
        let mut book = CrashBook::default();
        assert_eq!(book.note(report(1, CrashKind::Exception, "E"), 5), 1);
        assert_eq!(book.note(report(1, CrashKind::Exception, "E"), 6), 1);
        assert_eq!(book.note(report(2, CrashKind::Exception, "E"), 7), 2);
        book.mark_told(2);
        assert_eq!(book.take_untold(|app| app == "com.other"), []);
        let ids = |known: Vec<Known>| known.iter().map(Known::id).collect::<Vec<_>>();
        assert_eq!(ids(book.take_untold(|_| true)), ["c1"]);
        assert_eq!(ids(book.take_untold(|_| true)), [""; 0]);
        book.note(report(1, CrashKind::Exception, "E"), 9);
        assert_eq!(ids(book.take_untold(|_| true)), [""; 0], "it is still the same");
        assert_eq!(book.find(1).map(|known| known.noted_ms), Some(5));
    }

    #[test]
    fn the_report_of_a_native_crash_completes_its_line() {
        let mut book = CrashBook::default();
        book.note(report(1, CrashKind::Native, "SIGABRT"), 1);
        let number =
            book.note(CrashReport { time_ms: Some(99), ..report(1, CrashKind::Native, "SIGABRT") }, 2);
        assert_eq!((number, book.all().count()), (1, 1));
    }

    #[test]
    fn the_oldest_are_forgotten() {
        let mut book = CrashBook::default();
        for pid in 0..=KEPT_MAX as u32 {
            book.note(report(pid, CrashKind::Exception, "E"), 0);
        }
        assert!(book.find(1).is_none() && book.find(2).is_some() && book.all().count() == KEPT_MAX);
    }
}
