//! Real logs and crash reports: every line is accounted for, and crashes are found with the right place (OB-01, W17).

use std::fmt::Write as _;
use std::path::Path;

use mdm_core::port::{CrashKind, LineCounts};
use mobile_debug_mcp::log_file::{self, LogFile};

use crate::files::{below, number};
use crate::page;

const PAGE: &str = "../../docs/figures/logs.md";

fn files() -> Vec<(String, Vec<u8>)> {
    let is_log = |path: &std::path::PathBuf| path.extension().is_some_and(|end| end != "tsv");
    let read = |path: std::path::PathBuf| (number(&path), std::fs::read(&path).unwrap());
    below("logs").into_iter().filter(is_log).map(read).collect()
}

fn crash_cell(file: &LogFile) -> String {
    let told = file.crashes.iter().map(|report| {
        let kind = match report.kind {
            CrashKind::Exception => "exception",
            CrashKind::Native => "native",
            CrashKind::NotResponding => "not responding",
            CrashKind::Script => "script",
        };
        let cause = report.thrown.last().map_or("", |thrown| thrown.exception.as_str());
        let place = report.place().map_or("", |frame| frame.text.as_str());
        format!("{kind} {cause} at `{place:.100}`")
    });
    told.collect::<Vec<_>>().join("<br>")
}

#[test]
fn every_line_of_the_real_logs_is_accounted_for() {
    // OB-01, W17, F50
    let mut page = "# Real logs, read\n\nMade by a test (`UPDATE_FIGURES=1`). Every line is an entry, goes on with one, is a \
                    heading or blank, or a defect; of a report every line goes on.\n\n\
                    | file | form | lines | entries | go on | headings | defects | crashes |\n|---|---|---|---|---|---|---|---|\n"
        .to_owned();
    let mut all = LineCounts::default();
    let files = files();
    for (name, bytes) in &files {
        let file = log_file::read(bytes);
        let lines = log_file::decode(bytes).lines().count();
        let LineCounts { entries, continuations, markers, defects } = file.counts;
        assert_eq!(file.counts.lines(), lines, "{name}: every line is accounted for");
        assert_eq!(file.entries.len(), entries, "{name}: every entry is there");
        all.entries += entries;
        all.continuations += continuations;
        all.markers += markers;
        all.defects += defects;
        let form = file.form.as_str();
        let crashes = crash_cell(&file);
        writeln!(
            page,
            "| {name} | {form} | {lines} | {entries} | {continuations} | {markers} | {defects} | {crashes} |"
        )
        .unwrap();
    }
    if files.is_empty() {
        return;
    }
    let LineCounts { entries, continuations, markers, defects } = all;
    let lines = all.lines();
    writeln!(page, "| all | | {lines} | {entries} | {continuations} | {markers} | {defects} | |").unwrap();
    let difference = page::difference(Path::new(PAGE), &page, "UPDATE_FIGURES");
    assert!(difference.is_none(), "{}", difference.unwrap_or_default());
}
