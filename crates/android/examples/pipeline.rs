//! Microseconds from the bytes of a screen to what changed on it, beside what reading alone costs at least:
//! `cargo run --release -p mdm-android --example pipeline -- FOLDER`, where FOLDER holds small.xml, small_flip.xml and so
//! on. Prints `name value` lines; `cargo xtask bench` makes a table of them.
#![expect(clippy::print_stdout, reason = "a program for the terminal")]
#![expect(clippy::disallowed_methods, reason = "measures real time")]

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use mdm_android::hierarchy::{Limits, parse};
use mdm_core::change::tracker::Tracker;
use mdm_core::meaning::label::label;
use mdm_core::outline::{OutlineOptions, lines};
use mdm_core::screen::snapshot::Snapshot;
use quick_xml::Reader;
use quick_xml::events::Event;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

const WARM_UP_ROUNDS: usize = 60;
const ROUNDS: usize = 400;

fn main() -> std::io::Result<()> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| "../shared/data/bench".to_owned());
    for size in ["small", "medium", "large"] {
        let read = |name: String| std::fs::read(Path::new(&folder).join(name));
        let (before, after) = (read(format!("{size}.xml"))?, read(format!("{size}_flip.xml"))?);
        report(size, &before, &after);
    }
    Ok(())
}

/// A step by name, and one round of it.
type Work<'a> = (&'static str, Box<dyn FnMut() + 'a>);

fn report(size: &str, before: &[u8], after: &[u8]) {
    let read = |xml: &[u8]| parse(xml, &Limits::default());
    // Interleaved, so that a busy machine slows all of them.
    let mut tracker = Tracker::default();
    let mut turn = false;
    let mut unchanging = Tracker::default();
    unchanging.observe(read(before), 0);
    let known = xxh3_64(before);
    let mut work: [Work<'_>; 5] = [
        ("parse", Box::new(|| drop(black_box(read(black_box(before)))))),
        (
            // Parse, enrich, pair, diff, revision, names, fingerprint, loading: all that a call does with a capture.
            "whole",
            Box::new(|| {
                turn = !turn;
                black_box(tracker.observe(read(black_box(if turn { before } else { after })), 0));
            }),
        ),
        (
            "unchanged",
            Box::new(|| {
                if xxh3_64(black_box(before)) == known {
                    black_box(unchanging.observe_unchanged(0));
                }
            }),
        ),
        (
            "floor_events",
            Box::new(|| {
                black_box(events(black_box(before)));
            }),
        ),
        ("floor_arrays", Box::new(|| drop(black_box(arrays(black_box(before)))))),
    ];
    for (name, us) in medians(&mut work) {
        println!("{size}_{name}_us {us:.2}");
    }
    drop(work);
    shown(size, read(before));
}

fn shown(size: &str, snapshot: Snapshot) {
    let seen = Tracker::default().observe(snapshot, 0);
    let outline = lines(&seen.reading, &seen.ids, &OutlineOptions::default());
    let targets = outline.lines.iter().filter(|line| line.is_target);
    let labelled = targets.filter(|line| label(&seen.reading.snapshot, line.index as usize).is_some());
    println!("{size}_nodes {}", seen.ids.len());
    println!("{size}_lines {}", outline.lines.len());
    println!("{size}_told {}", outline.lines.len() + outline.folded);
    println!("{size}_labelled_targets {}", labelled.count());
}

fn medians(work: &mut [Work<'_>]) -> Vec<(&'static str, f64)> {
    let mut times = vec![Vec::with_capacity(ROUNDS); work.len()];
    for round in 0..WARM_UP_ROUNDS + ROUNDS {
        for ((_, work), times) in work.iter_mut().zip(&mut times) {
            let start = Instant::now();
            work();
            if round >= WARM_UP_ROUNDS {
                times.push(start.elapsed().as_secs_f64() * 1e6);
            }
        }
    }
    let middle = |times: &mut Vec<f64>| {
        times.sort_by(f64::total_cmp);
        times[ROUNDS / 2]
    };
    work.iter().zip(&mut times).map(|((name, _), times)| (*name, middle(times))).collect()
}

/// The least that any reader of this XML does: its events with their attributes.
fn events(xml: &[u8]) -> usize {
    let mut reader = Reader::from_reader(xml);
    let mut count = 0;
    loop {
        match reader.read_event() {
            Ok(Event::Start(tag) | Event::Empty(tag)) => count += tag.attributes().flatten().count(),
            Ok(Event::Eof) | Err(_) => return count,
            Ok(_) => {}
        }
    }
}

/// The same, kept as arrays of values and hashed: a floor, not a product.
fn arrays(xml: &[u8]) -> (Vec<Box<str>>, u64) {
    let mut reader = Reader::from_reader(xml);
    let mut values = Vec::new();
    let mut hasher = Xxh3::new();
    loop {
        match reader.read_event() {
            Ok(Event::Start(tag) | Event::Empty(tag)) => {
                for attribute in tag.attributes().flatten() {
                    let wanted = matches!(
                        attribute.key.as_ref(),
                        "text" | "resource-id" | "content-desc" | "class" | "bounds"
                    );
                    if wanted && !attribute.value.is_empty() {
                        hasher.update(attribute.value.as_bytes());
                        values.push(attribute.value.as_ref().into());
                    }
                }
            }
            Ok(Event::Eof) | Err(_) => return (values, hasher.digest()),
            Ok(_) => {}
        }
    }
}
