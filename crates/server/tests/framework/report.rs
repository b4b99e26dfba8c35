//! Adds up what the judge found, and writes the page of figures.

use std::fmt::Write as _;

use crate::API_DEFAULT;
use crate::actions::{Outcome, Verdict};
use crate::controls::Kind;
use crate::product::Reply;
use crate::reading::Reading;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/figures");

#[derive(Default)]
pub struct Report {
    pub seed: u64,
    pub sdk: u32,
    pub started: usize,
    pub not_started: Vec<String>,
    /// Activities of which the product said that it cannot read them, and why.
    pub refused: Vec<String>,
    pub sum: Reading,
    pub outcomes: Vec<Outcome>,
}

impl Report {
    pub fn read(&mut self, activity: &str, reading: Reading) {
        for lost in &reading.lost {
            println!("{activity}: lost: {lost}");
        }
        for untrue in &reading.untrue {
            println!("{activity}: untrue: {untrue}");
        }
        let sum = &mut self.sum;
        sum.facts += reading.facts;
        sum.states += reading.states;
        sum.lines += reading.lines;
        sum.ticking += reading.ticking;
        sum.lost.extend(reading.lost.into_iter().map(|lost| format!("{activity}: {lost}")));
        sum.untrue.extend(reading.untrue.into_iter().map(|untrue| format!("{activity}: {untrue}")));
    }

    pub fn refused(&mut self, activity: &str, tree: &Reply) {
        println!("{activity}: no tree: {}", tree.text);
        self.refused.push(format!("{activity}: {}: {}", tree.fact("code"), tree.fact("message")));
    }

    pub fn add(&mut self, outcome: Outcome) {
        println!("{:?} {:?} {}", outcome.verdict, outcome.kind, outcome.what);
        self.outcomes.push(outcome);
    }

    pub fn lost(&self) -> usize {
        self.sum.lost.len()
    }

    pub fn untrue(&self) -> usize {
        self.sum.untrue.len()
    }

    pub fn wrong(&self) -> usize {
        self.of(Verdict::Wrong).count()
    }

    fn of(&self, verdict: Verdict) -> impl Iterator<Item = &Outcome> {
        self.outcomes.iter().filter(move |outcome| outcome.verdict == verdict)
    }

    pub fn summary(&self) -> String {
        let Reading { facts, states, ticking, lines, .. } = self.sum;
        let verdicts = [Verdict::Right, Verdict::Refused, Verdict::Failed, Verdict::Wrong];
        let [right, refused, failed, wrong] = verdicts.map(|verdict| self.of(verdict).count());
        format!(
            "{} activities started ({} of them refused to be read), {} did not; {facts} facts ({states} states), {lines} lines, {ticking} views that \
             changed meanwhile; {} facts on no line, {} things said that are not so\n{} actions: {right} right, \
             {refused} refused, {failed} failed and said so, {wrong} wrong (seed {})",
            self.started,
            self.refused.len(),
            self.not_started.len(),
            self.lost(),
            self.untrue(),
            self.outcomes.len(),
            self.seed,
        )
    }

    /// Writes the page of this API level in docs/figures.
    pub fn write(&self) {
        let (name, level, option) = match self.sdk {
            API_DEFAULT => ("apidemos.md".to_owned(), String::new(), String::new()),
            sdk => (format!("apidemos-{sdk}.md"), format!(", API level {sdk}"), format!(" --api {sdk}")),
        };
        let mut page = format!(
            "# ApiDemos on the framework phone{level}\n\nWritten by `cargo xtask judge{option}`. \
             [framework-phone.md](../framework-phone.md) says what is counted.\n\n"
        );
        let _ = writeln!(page, "{}\n\n## Actions\n", self.summary().replace('\n', "\n\n"));
        page.push_str("| kind | right | refused | failed and said so | wrong |\n|---|---|---|---|---|\n");
        for (kind, _) in Kind::SHARES {
            let count = |verdict| self.of(verdict).filter(|outcome| outcome.kind == kind).count();
            let [right, refused, failed, wrong] =
                [Verdict::Right, Verdict::Refused, Verdict::Failed, Verdict::Wrong].map(count);
            let _ = writeln!(page, "| {kind:?} | {right} | {refused} | {failed} | {wrong} |");
        }
        for (title, verdict) in [
            ("Refused", Verdict::Refused),
            ("Failed and said so", Verdict::Failed),
            ("Wrong", Verdict::Wrong),
        ] {
            let _ = writeln!(page, "\n## {title}\n");
            for outcome in self.of(verdict) {
                let _ = writeln!(page, "- {}", outcome.what.lines().next().unwrap_or(""));
            }
        }
        for (title, list) in [
            ("Facts on no line", &self.sum.lost),
            ("Things said that are not so", &self.sum.untrue),
            ("Activities that the product refuses to read", &self.refused),
            ("Activities that do not start", &self.not_started),
        ] {
            let _ = writeln!(page, "\n## {title}\n");
            for line in list {
                let _ = writeln!(page, "- {line}");
            }
        }
        let path = format!("{FOLDER}/{name}");
        std::fs::write(&path, page).unwrap_or_else(|e| panic!("{path}: {e}"));
    }
}
